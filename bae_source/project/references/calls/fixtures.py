"""Users of a pytest fixture: tests and fixtures in whose reach it is, and that have a parameter of its name.

    @pytest.fixture
    def db(): …                        in conftest.py: every test below its folder may ask for it
    def test_one(db): …                does
    def helper(db): …                  does not: pytest gives it no fixtures
    @pytest.fixture
    def db(db): …                      in a test module: it asks for the outer one, and hides it from the tests there

Invariants:
- the nearest fixture of a name is the one that is given: of the class, the module, and the conftest of each folder up;
- a fixture that one of these imports is a fixture there;
- a parameter with a default is no request, and what `parametrize` gives comes before a fixture.

Source: pytest, "Fixture availability" and "Overriding fixtures on various levels".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

from bae_source.model.reasons import Reason
from bae_source.project.references.meaning.meanings import Meaning, Symbol
from bae_source.project.references.meaning.sought import Mentioned
from bae_source.project.references.types.values import Class
from bae_source.syntax.names import uses as u

if TYPE_CHECKING:
    from bae_source.project.references.types.inference import Inference
    from bae_source.syntax.text.source import SingleLines

MAKERS = ("fixture", "yield_fixture")
_NAMED = re.compile(r"fixture\s*\([^)]*\bname\s*=\s*[\"'](\w+)[\"']")
_ASKING = re.compile(r"(?:usefixtures\s*\([^)]*|getfixturevalue\s*\(\s*)\Z")
CONFTEST = "conftest.py"
_TEST = "test"
_ANY_TEST_FILE = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py\Z")
_NO_FIXTURE = Symbol("", 0, "")


class Fixtures:
    """The tests and fixtures that request a fixture.

    Parameters:
        inference: of the project.
        lines: gives the lines of a file.
    """

    def __init__(self, inference: Inference, lines: Callable[[str], SingleLines]) -> None:
        self.inference = inference
        self.names = inference.names
        self.uses = inference.names.uses
        self.lines = lines
        self._known: dict[str, dict[tuple[int, str], Symbol]] = {}

    def requested_in(self, path: str, name: str, symbols: set[Symbol], word: str) -> Iterator[Mentioned]:
        """Yield where parameters of a file ask for fixtures of a name, and strings where their functions have another.

        Parameters:
            word: what the functions are called.
        """
        yield from self._requests(path, name, symbols)
        if name != word:
            yield from self.strings(path, name, symbols)

    def defined(self, path: str) -> dict[tuple[int, str], Symbol]:
        """Return the fixtures that a file defines, by their scope and the name that pytest knows them by."""
        if path not in self._known:
            uses, found = self.uses(path), dict[tuple[int, str], Symbol]()
            for maker in MAKERS:
                for line, _, scope, kind, _, owner in uses.mentions.get(maker, ()):
                    if kind == u.DECORATOR:
                        for name, at in self._functions(uses, scope, owner):
                            text = "".join(map(self.lines(path).cut, range(line, at)))
                            named = _NAMED.search(text)
                            found[scope, named[1] if named else name] = Symbol(path, scope, name)
            self._known[path] = found
        return self._known[path]

    def bears_name(self, symbol: Symbol, name: str) -> bool:
        """Return whether something is a fixture that pytest knows by a name."""
        return self.defined(symbol.path).get((symbol.scope, name)) == symbol

    def _functions(self, uses: u.Uses, scope: int, owner: int) -> Iterator[tuple[str, int]]:
        """Yield name and line of the function of a scope that is a definition."""
        for name, bindings in uses.scopes[scope].names.items():
            for how, number, _, line in bindings:
                if how == u.FUNCTION and uses.scopes[number].owner == owner:
                    yield name, line

    def _requests(self, path: str, name: str, symbols: set[Symbol]) -> Iterator[Mentioned]:
        uses = self.uses(path)
        for number, scope in enumerate(uses.scopes):
            bindings = scope.names.get(name, []) if scope.kind == u.FUNCTION_SCOPE else []
            itself = self._asking(path, number) if bindings and bindings[0].how == u.PARAMETER else None
            if itself is None:
                continue
            line = bindings[0].line
            column = self._column(path, name, line)
            why = self.why(path, scope.parent, name, symbols, itself)
            if column is None or why is None:
                continue
            why = why or self._parametrized(path, number, name)
            mention = u.Mention(line, column, number, u.REQUEST, u.PLAIN, scope.owner)
            yield Mentioned(path, mention, "unsure" if why else "sure", why)

    def _asking(self, path: str, number: int) -> Symbol | None:
        """Return the function that has a scope, if pytest calls it and gives it fixtures."""
        uses = self.uses(path)
        scopes = uses.scopes
        scope = scopes[number]
        called = uses.owners[scope.owner].rpartition(".")[2].partition("[")[0]
        itself = Symbol(path, scope.parent, called)
        if scope.kind != u.FUNCTION_SCOPE or scopes[scope.parent].kind == u.FUNCTION_SCOPE:
            return None
        return itself if called.startswith(_TEST) or itself in self.defined(path).values() else None

    def given(self, parameter: Symbol) -> Collection[Symbol]:
        """Return the fixtures that a parameter is given; nothing where it may be given something else."""
        itself = self._asking(parameter.path, parameter.scope)
        if itself is None or self._parametrized(parameter.path, parameter.scope, parameter.name):
            return ()
        if self._is_patched(parameter.path, parameter.scope):
            return ()
        found = self._given(parameter.path, itself.scope, parameter.name, itself)
        return [each for each in found if isinstance(each, Symbol)]

    def is_asked(self, parameter: Symbol) -> bool:
        """Return whether a parameter asks for a fixture, be it one of the project or of a plugin."""
        path, itself = parameter.path, self._asking(parameter.path, parameter.scope)
        bindings = self.uses(path).scopes[parameter.scope].names.get(parameter.name, ())
        if itself is None or any(how != u.PARAMETER or default for how, _, default, _ in bindings):
            return False
        if self._parametrized(path, parameter.scope, parameter.name) or self._is_patched(path, parameter.scope):
            return False
        is_fixture = itself in self.defined(path).values()
        return is_fixture or _ANY_TEST_FILE.search(path) is not None or bool(self.given(parameter))

    def _column(self, path: str, name: str, line: int) -> int | None:
        """Return the column of a parameter in its line; None where it has a default."""
        text = self.lines(path).cut(line)
        match = re.search(rf"(?:[(,]\s*|^\s*(?:\*\s*,\s*)?){name}\b(?=(\s*(?::[^,=)]*)?=(?!=))?)", text)
        if match is None or match[1]:
            return None
        return len(text[: match.start() + match[0].rindex(name)].encode())

    def why(self, path: str, scope: int, name: str, symbols: set[Symbol], itself: Symbol = _NO_FIXTURE) -> str | None:
        """Return the reason why a parameter may not get a fixture, "" where it surely does; None where it does not."""
        nearest = self._given(path, scope, name, itself)
        if nearest:
            return None if symbols.isdisjoint(nearest) else "" if nearest <= symbols else Reason.PLUGIN.of()
        in_reach_of_none = all(_ANY_TEST_FILE.search(each.path) or each.scope for each in symbols)
        return None if in_reach_of_none else Reason.PLUGIN.of()

    def _given(self, path: str, scope: int, name: str, itself: Symbol) -> frozenset[Meaning]:
        """Return the nearest fixtures of a name, but for the one that asks."""
        uses = self.uses(path)
        if uses.scopes[scope].kind == u.CLASS_SCOPE:
            for owner in self.inference.orders.of(Class(path, scope)).classes:
                found = self.defined(owner.path).get((owner.scope, name))
                if found is not None and found != itself:
                    return frozenset({found})
        folder = path.rpartition("/")[0]
        folders = [folder[: len(folder) - len(rest)].rstrip("/") for rest in _tails(folder)]
        conftests = (f"{each}/{CONFTEST}" if each else CONFTEST for each in folders)
        for place in dict.fromkeys((path, *(each for each in conftests if each in self.names.census.stamps))):
            found = self.defined(place).get((0, name))
            if found is not None and found != itself:
                return frozenset({found})
            meanings = self.names.attribute(place, name) if found is None else frozenset()
            imported = {each for each in meanings if isinstance(each, Symbol) and each.path != place}
            given = frozenset(each for each in imported if each in self.defined(each.path).values())
            if given:
                return given
        return frozenset()

    def _parametrized(self, path: str, number: int, name: str) -> str:
        """Return the reason why a decorator of a test may give it another value; "" where none does."""
        uses = self.uses(path)
        owner = uses.scopes[number].owner
        lines = [
            mention.line
            for mention in uses.mentions.get("parametrize", ())
            if (mention.kind, mention.owner) == (u.DECORATOR, owner)
        ]
        for first in lines:
            last = next((at for _, at in self._functions(uses, uses.scopes[number].parent, owner)), first)
            text = "".join(map(self.lines(path).cut, range(first, last)))
            if re.search(rf"parametrize\s*\(\s*[\"'\[(][^)]*?\b{name}\b", text) and "indirect" not in text:
                return Reason.PARAMETRIZED.of()
        return ""

    def _is_patched(self, path: str, number: int) -> bool:
        """Return whether a decorator of a function gives it replacements, as those of `unittest.mock` do."""
        uses = self.uses(path)
        scope = uses.scopes[number]
        lines = [line for _, line in self._functions(uses, scope.parent, scope.owner)]
        patching = (each for each in uses.mentions.get("patch", ()) if each[5] == scope.owner)
        return any(each[0] < line for each in patching for line in lines)

    def strings(self, path: str, name: str, symbols: set[Symbol]) -> Iterator[Mentioned]:
        """Yield the strings that ask for a fixture that has another name than its function."""
        for text in self.uses(path).strings.get(name, ()):
            before = self.lines(path).cut(text.line).encode()[: text.column - 1].decode("utf-8", "replace")
            is_asked = text.text == name and _ASKING.search(before)
            if is_asked and self.why(path, 0, name, symbols) is not None:
                mention = u.Mention(text.line, text.column, 0, u.STRING, u.OPAQUE, text.owner)
                yield Mentioned(path, mention, "mention", Reason.FIXTURE_NAME.of())


def _tails(folder: str) -> Iterator[str]:
    """Yield what is left of a folder's path, from nothing to all of it."""
    parts = folder.split("/") if folder else []
    for count in range(len(parts) + 1):
        yield "/".join(parts[len(parts) - count :])
