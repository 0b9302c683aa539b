"""Names that code puts together to look something up: the known part may fit what is looked for.

getattr(self, "handle_" + method)          may be `handle_get` of the class around, of one above or below it
getattr(core, f"{kind}_filter")            may be `date_filter` of the module `core`
getattr(self, "handle")                    is put together of nothing

Invariants:
- what a receiver surely is decides: a name that is looked up in another class or module is none;
- it is only asked about what nothing names in the code, as names that are dispatched to mostly are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.model.reasons import Reason
from bae_source.project.references.meaning.meaning import InModule, Outside, Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Mentioned, Sought
from bae_source.project.references.types.values import Value, class_around
from bae_source.syntax.names import uses as u

_LOOKUPS = ("getattr", "hasattr", "setattr", "delattr")
_LOOKED_UP = re.compile(
    rb"attr\s*\(\s*(?P<receiver>[\w.]+)\s*,\s*(?:"
    rb"[\"'](?P<begin>\w+)[\"']\s*\+|[\w.]+\s*\+\s*[\"'](?P<end>\w+)[\"']"
    rb"|[fF][\"'](?P<before>\w*)\{[^{}\n]*\}(?P<behind>\w*)[\"']"
    rb"|[\"'](?P<head>\w*)(?:%s|\{\w*\})(?P<tail>\w*)[\"']\s*(?:%|\.\s*format\b))"
)
_LEAST = 2
"""Characters that are known of a name; less fits too much."""


class _Lookup(Struct, frozen=True):
    """One place: its file and line, what a name is looked up in there, and what is known of the name."""

    path: str
    line: int
    receiver: str
    begin: str
    end: str


class PutTogether:
    """Tells where a name may be put together, of which all places are gathered once.

    Parameters:
        project: where to look.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.unreadable: dict[str, ResourceError] = {}

    def of(self, sought: Sought) -> Iterator[Mentioned]:
        """Yield where a name is put together that may be the one that is looked for."""
        word = sought.word
        for each in self._lookups:
            known = len(each.begin) + len(each.end)
            if known < len(word) and word.startswith(each.begin) and word.endswith(each.end):
                try:
                    yield from _decided(self.project, sought, each)
                except ResourceError as error:
                    self.unreadable[each.path] = error

    @cached_property
    def _lookups(self) -> tuple[_Lookup, ...]:
        workspace = self.project.workspace
        naming = workspace.index.naming(_LOOKUPS)
        self.unreadable.update(naming.unreadable)
        found: list[_Lookup] = []
        for path in naming.paths:
            try:
                content = workspace.content(path) or b""
            except ResourceError as error:
                self.unreadable[path] = error
                continue
            for match in _LOOKED_UP.finditer(content):
                begin = match["begin"] or match["before"] or match["head"] or b""
                end = match["end"] or match["behind"] or match["tail"] or b""
                if len(begin) + len(end) >= _LEAST:
                    line = content.count(b"\n", 0, match.start()) + 1
                    words = (each.decode("utf-8", "replace") for each in (match["receiver"], begin, end))
                    found.append(_Lookup(path, line, *words))
        return tuple(found)


def _decided(project: Project, sought: Sought, at: _Lookup) -> Iterator[Mentioned]:
    for name in _LOOKUPS:
        for mention in project.uses(at.path).mentions.get(name, ()):
            if (
                mention[0] == at.line
                and mention[3] == u.CALL
                and _may_be(project, sought, at.path, mention[2], at.receiver)
            ):
                string = (*mention[:2], 0, u.STRING, u.OPAQUE, mention[5])
                yield Mentioned(at.path, string, "mention", Reason.PUT_TOGETHER.of())


def _may_be(project: Project, sought: Sought, path: str, scope: int, receiver: str) -> bool:
    """Say whether what a name is looked up in may have what is looked for."""
    first, *rest = receiver.split(".")
    values: set[Value] = set()
    for meaning in project.names.named(path, scope, first):
        values |= project.inference.held(meaning) if isinstance(meaning, Symbol) else {meaning}
    for attribute in rest:
        values = set(project.inference.taken(path, frozenset(values), attribute))
    return any(_may_have(project, sought, each) for each in values)


def _may_have(project: Project, sought: Sought, value: Value) -> bool:
    if isinstance(value, InModule):
        return any(isinstance(each, Symbol) and each.path == value.path for each in sought.meanings)
    if isinstance(value, Outside):
        return False
    of, orders = class_around(value), project.inference.orders
    if of is None:
        return True
    return any(owner in orders.of(of).nodes or of in orders.of(owner).nodes for owner in sought.classes)
