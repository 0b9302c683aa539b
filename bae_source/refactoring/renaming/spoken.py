"""Comments, docstrings, text files and settings that mention the renamed symbol.

    [project.scripts] run = "app.core:main"      changed: it is an entry point, and would lead nowhere
    # see app.core.main                          changed with `exact`: the name stands with what it belongs to
    \"\"\"Call `main` first.\"\"\"                     changed with `words`, which takes the bare name, too
    >>> main(3)                                  changed, where the module of the docstring knows `main`

Invariants:
- an unchanged place is listed as a mention.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from msgspec import Struct
from msgspec.structs import replace

from bae_source.errors import ResourceError
from bae_source.model.outcome import Notice
from bae_source.model.reference import Reference
from bae_source.model.span import Span
from bae_source.project.references.calls.keywords import MAKING
from bae_source.project.references.calls.parameters import is_given
from bae_source.project.references.classes.family import Family
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.search.prose import Spoken, code_of, spoken_of
from bae_source.project.references.search.prose_edits import Wanted, edited, other_word
from bae_source.project.references.search.references import Matches
from bae_source.project.references.search.strings import in_settings, offset_in
from bae_source.refactoring.renaming.places import Place

_DOCTEST = re.compile(r"\s*(?:>>>|\.\.\.)\s")


class SpokenPlaces(Struct, frozen=True, kw_only=True):
    """The places that mention a family.

    Parameters:
        changed: places in source code that change.
        files: the new content of text files, by path.
        counts: how many places change in each of these, by its address.
        left: mentions that stay.
        notices: what could not be searched.
    """

    changed: tuple[Place, ...]
    files: dict[str, bytes]
    counts: dict[str, int]
    left: tuple[Reference, ...]
    notices: tuple[Notice, ...]


def spoken_places(
    project: Project,
    family: Family,
    new: str,
    wanted: Wanted,
    listed: Collection[tuple[str, int]],
    matches: Matches,
    is_chosen: Callable[[Reference], bool],
    changing: Collection[tuple[str, int]],
) -> SpokenPlaces:
    """Return the places in prose and settings that mention a family.

    Parameters:
        listed: module and line of strings that are listed already.
        matches: what the search found of it.
        is_chosen: says of a mention whether it changes all the same.
        changing: paths and offsets of places that change anyway.
    """
    changed: list[Place] = []
    left: list[Reference] = []
    texts: dict[str, list[tuple[Reference, str]]] = {}
    is_alias = not project.names.kept.isdisjoint(family.symbols)  # as good as a local name, and mostly a short one
    is_spoken_of = not (family.is_local or is_alias) or any(is_given(project, each) for each in family.symbols)
    spoken, notices = spoken_of(project.workspace, family.sought, code_of(matches.files)) if is_spoken_of else ([], ())
    if family.is_local:
        spoken = [each for each in spoken if _is_keyword(project, family, each)]
    for each in spoken:
        place = _in_code(project, each, family.sought.word, new) if each.python else None
        if place is not None and (place.path, place.span.start) in changing:
            continue
        if not (_is_wanted(project, family, each, wanted) or is_chosen(each.reference)):
            left += [each.reference] if (each.reference.module, each.reference.line) not in listed else []
        elif each.python:
            changed += [] if place is None else [place]
            left += [each.reference] if place is None else []
        else:
            texts.setdefault(each.path, []).append((each.reference, each.reference.module))
    settings = (
        in_settings(project.workspace, family.sought, matches.names, project.inference) if not family.is_local else ()
    )
    known = {(path, each.line, each.column) for path, found in texts.items() for each, _ in found}
    for reference in settings:
        word = _own_part(project, reference, family)
        left = [each for each in left if (each.module.lstrip(":"), each.line) != (reference.module, reference.line)]
        if word is None:
            left.append(reference)
        elif (reference.module, reference.line, word.column) not in known:
            texts.setdefault(reference.module, []).append((word, f":{reference.module}"))
    files, counts = dict[str, bytes](), dict[str, int]()
    for path, found in texts.items():
        at = [(each.line, each.column) for each, _ in found]
        content = edited(project.workspace.content(path) or b"", at, other_word(family.sought.word, new))
        if content is None:
            left += [each for each, _ in found]
        else:
            files[path] = content
            counts[found[0][1]] = len(found)
    return SpokenPlaces(changed=tuple(changed), files=files, counts=counts, left=tuple(left), notices=notices)


def _is_wanted(project: Project, family: Family, spoken: Spoken, wanted: Wanted) -> bool:
    if spoken.reference.kind == "string":
        return False  # it may be compared with what code makes of another name
    if family.is_local or wanted == "words" or (wanted == "exact" and spoken.dotted):
        return True
    return spoken.reference.kind == "docstring" and is_doctest(project, family, spoken)


def _is_keyword(project: Project, family: Family, spoken: Spoken) -> bool:
    """Return whether a place is a keyword of a call in a doctest, of the function whose parameter is renamed."""
    line = project.lines(spoken.path).cut(spoken.reference.line) if spoken.python else ""
    if not _DOCTEST.match(line):
        return False
    at = spoken.reference.column - 1
    called = "|".join(map(re.escape, _called(project, family)))
    behind = line[at + len(family.sought.word) :]
    return re.match(r"\s*=(?!=)", behind) is not None and re.search(rf"\b(?:{called})\(", line[:at]) is not None


def _called(project: Project, family: Family) -> set[str]:
    """Return the names of the functions of a family of parameters; for one that makes a class the name of that."""
    names: set[str] = set()
    for symbol in family.symbols:
        uses = project.uses(symbol.path)
        owner, _, called = re.sub(r"\[\d+\]", "", uses.owners[uses.scopes[symbol.scope].owner]).rpartition(".")
        names.add(owner.rpartition(".")[2] if called in MAKING else called)
    return names


def is_doctest(project: Project, family: Family, spoken: Spoken) -> bool:
    """Return whether a place is code of a doctest, in whose module the name means the renamed symbol."""
    if not _DOCTEST.match(project.lines(spoken.path).cut(spoken.reference.line)):
        return False
    if spoken.dotted:
        return True
    try:
        meanings = project.names.named(spoken.path, 0, family.sought.word)
    except ResourceError:
        return False
    return bool(meanings) and meanings <= frozenset(family.symbols)


def _in_code(project: Project, spoken: Spoken, word: str, new: str) -> Place | None:
    """Return the place in the text of a file; None where the word is written otherwise there."""
    try:
        tree = project.workspace.tree_at(spoken.path)
    except ResourceError:
        return None
    line = spoken.reference.line
    start = tree.source.lines.start(line) + spoken.reference.column - 1
    span = Span(start, start + len(word))
    return Place(path=spoken.path, span=span, new=new, line=line) if tree.text[start : span.end] == word else None


def _own_part(project: Project, reference: Reference, family: Family) -> Reference | None:
    """Return the place of the name itself in a dotted name of the settings; None where that is another's."""
    content = (project.workspace.content(reference.module) or b"").decode("utf-8", "replace")
    line = content.split("\n")[reference.line - 1]
    start = reference.column - 1
    offset = offset_in(re.split(r"[^\w.:]", line[start:], maxsplit=1)[0], family.sought, project.inference)
    return None if offset is None else replace(reference, column=start + offset + 1)
