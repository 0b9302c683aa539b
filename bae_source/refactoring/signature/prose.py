"""Calls of a function that comments, docstrings and text files show.

>>> send(1, 2)          in a docstring: a doctest, which changes as a call does
Use `send(1, 2)`.       anywhere else it is listed
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from bae_source.model.outcome import Notice
from bae_source.model.reference import Reference
from bae_source.project.references.calls.parameters import classes_built_by
from bae_source.project.references.classes.family import Family
from bae_source.project.references.meaning.meanings import Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.search.prose import Spoken, spoken_of
from bae_source.refactoring.renaming.spoken import is_doctest

_MOST_CLASSES = 20
"""Classes that one constructor makes whose calls are searched for in prose."""


class ShownCall(Struct, frozen=True, kw_only=True):
    """One call.

    Parameters:
        path: the file.
        opening: where its brackets begin, if it stands in a doctest; -1 for any other.
        reference: the place as it is listed.
    """

    path: str
    opening: int
    reference: Reference


def shown_calls(project: Project, family: Family) -> tuple[list[ShownCall], tuple[Notice, ...]]:
    """Return the calls of a function, or of the class whose constructor it is, and what could not be searched."""
    found: dict[Reference, ShownCall] = {}
    notices: dict[Notice, None] = {}
    for each in _families(project, family):
        spoken, unsearched = spoken_of(project.workspace, each.sought)
        notices.update(dict.fromkeys(unsearched))
        call = re.compile(rf"{re.escape(each.sought.word)}\(")
        for place in spoken:
            if call.match(_text_from(project, place)) or (not place.python and call.search(place.reference.text)):
                shown = ShownCall(path=place.path, opening=_opening(project, each, place), reference=place.reference)
                found.setdefault(place.reference, shown)
    return list(found.values()), tuple(notices)


def shown_keywords(project: Project, family: Family, names: Iterable[str]) -> list[Reference]:
    """Return the calls in prose that give one of some keywords, but for doctests, which a rename changes."""
    keyword = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\s*=(?!=)")
    calls, _ = shown_calls(project, family)
    return [each.reference for each in calls if each.opening < 0 and keyword.search(each.reference.text)]


def _families(project: Project, family: Family) -> Iterator[Family]:
    if not family.sought.word.startswith("__"):  # which every class has
        yield family
    for sought in classes_built_by(project, set(family.symbols))[:_MOST_CLASSES]:
        symbols = tuple(each for each in sought.meanings if isinstance(each, Symbol))
        yield Family(sought=sought, symbols=symbols)


def _text_from(project: Project, spoken: Spoken) -> str:
    """Return the line of a place in code, from there on."""
    lines = project.lines(spoken.path) if spoken.python else None
    return lines.cut(spoken.reference.line)[spoken.reference.column - 1 :] if lines is not None else ""


def _opening(project: Project, family: Family, spoken: Spoken) -> int:
    reference = spoken.reference
    if not (spoken.python and reference.kind == "docstring" and is_doctest(project, family, spoken)):
        return -1
    lines = project.workspace.tree_at(spoken.path).source.lines
    return lines.start(reference.line) + reference.column - 1 + len(family.sought.word)
