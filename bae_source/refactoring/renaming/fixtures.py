"""Fixtures of pytest: everything that has to have their name, since pytest gives them by it.

    @pytest.fixture
    def db(): ...                       one family with each that overrides it, or is overridden by it
    def test_one(db): ...               the parameter asks for it by its name, so it is renamed with its uses
    @pytest.mark.usefixtures("db")      likewise, as are `getfixturevalue("db")` and an indirect `parametrize("db", …)`

Invariants:
- a fixture that pytest knows by another name than its function's is renamed alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import structs

from bae_source.errors import ResourceError
from bae_source.project.references.calls.fixtures import CONFTEST
from bae_source.project.references.classes.family import Family
from bae_source.project.references.meaning.meanings import Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.search.references import requests_for
from bae_source.project.references.types.values import in_order
from bae_source.syntax.names import uses as u
from bae_source.system.graphs import reached

_INDIRECT = re.compile(r"parametrize\s*\(\s*(?:[\[(][^)\]]*)?\Z|indirect\s*=\s*[\[(][^)\]]*\Z")
_MOST_TEXT = 2_000


def fixture_family(project: Project, family: Family) -> Family:
    """Return the family of a fixture with its overrides and the parameters that request it; any other as it is."""
    unreadable = dict(family.unreadable)
    word = family.sought.word
    own = {each for each in family.symbols if project.fixtures.bears_name(each, word)}
    if not own:
        return family
    found = _overriding(project, unreadable, word, own)
    symbols = {*family.symbols, *found}
    sought = structs.replace(family.sought, meanings=frozenset({*family.sought.meanings, *symbols}))
    for each in requests_for(project, sought, unreadable):
        scope = project.uses(each.path).scopes[each.mention.scope]
        if each.certainty == "sure" and each.mention.kind == u.REQUEST and word in scope.names:
            symbols.add(Symbol(each.path, each.mention.scope, word))
    return structs.replace(
        family,
        sought=structs.replace(sought, meanings=frozenset({*sought.meanings, *symbols})),
        symbols=tuple(sorted(symbols, key=in_order)),
        unreadable=tuple(sorted(unreadable.items())),
        fixtures=frozenset(found),
    )


def fixtures_in_reach(project: Project, family: Family, new: str) -> list[Symbol]:
    """Return the fixtures of a name that would be given in the place of those of a family, or the other way round."""
    paths = sorted({each.path for each in family.fixtures})
    others = _named(project, {}, new) if paths else ()
    return sorted((each for each in others if any(_are_near(path, each.path) for path in paths)), key=in_order)


def strings_asking(project: Project, family: Family, path: str) -> Iterator[tuple[int, int]]:
    """Yield line and column of the strings of a file that ask for a fixture of a family."""
    if not family.fixtures:
        return
    word, fixtures = family.sought.word, set(family.fixtures)
    texts = project.uses(path).strings.get(word, ())
    if not texts or project.fixtures.why(path, 0, word, fixtures) != "":
        return
    for mentioned in project.fixtures.strings(path, word, fixtures):
        yield mentioned.mention[:2]
    for text in texts:
        if text.text == word and _is_indirect(project, path, text):
            yield text.line, text.column


def _is_indirect(project: Project, path: str, text: u.Text) -> bool:
    """Return whether a string names what a fixture is given by `parametrize`."""
    tree = project.workspace.tree_at(path)
    start = tree.source.lines.offset(text.line, text.column)
    before = tree.text[max(0, start - _MOST_TEXT) : start].removesuffix('"').removesuffix("'")
    behind = tree.text[start : start + _MOST_TEXT].partition("\n@")[0].partition("def ")[0]
    return _INDIRECT.search(before) is not None and ("indirect" in behind or "indirect" in before[-len(before) // 2 :])


def _overriding(
    project: Project, unreadable: dict[str, ResourceError], word: str, own: Iterable[Symbol]
) -> set[Symbol]:
    """Return the fixtures of one name of which any may be given in the place of another."""
    every = _named(project, unreadable, word)
    return set(reached(own, lambda one: (other for other in every if _are_near(one.path, other.path))))


def _named(project: Project, unreadable: dict[str, ResourceError], word: str) -> set[Symbol]:
    """Return every fixture whose function has a name, and that pytest knows by it."""
    found: set[Symbol] = set()
    for path in project.workspace.index.naming([word]).paths:
        try:
            found |= {each for (_, name), each in project.fixtures.defined(path).items() if name == word == each.name}
        except ResourceError as error:
            unreadable[path] = error
    return found


def _are_near(path: str, other: str) -> bool:
    return _reaches(path, other) or _reaches(other, path)


def _reaches(path: str, other: str) -> bool:
    """Return whether the tests of one file are given the fixtures of another."""
    folder, _, name = path.rpartition("/")
    return path == other or (name == CONFTEST and (not folder or other.startswith(f"{folder}/")))
