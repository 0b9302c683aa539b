"""Classes that are registered with an abstract one, and so stand for it without being below it.

Shape.register(Tri)           Tri, and what is below it, may stand where a Shape is asked for
@Shape.register
class Box: …                  likewise
Sequence.register(Rows)       likewise, for an abstract class of the standard library
ABCMeta.register(Shape, Tri)  the first, said otherwise
visit.register(Tri)           nothing, where `visit` is no such class: a function that dispatches, a registry

Invariants:
- a class registered through a name in lower case other than `cls` is not seen: such names are those of registries;
- callers ask only after an abstract class was seen, since the answer needs files to be read.

Source: `abc.ABCMeta.register`.
"""

from __future__ import annotations

import collections.abc
import re
from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.model.reasons import Reason
from bae_source.project.references.meaning.meanings import InModule, Outside, Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Mentioned
from bae_source.project.references.types.values import FITTED, Class, Value, Values, class_around
from bae_source.syntax.names import uses as u

_NAME = "register"
_PIECE = f".{_NAME}"
_REGISTERING = re.compile(rb"\.\s*register\b")
_LAST_WORD = re.compile(rb"\w+\Z")
_MOST_BEFORE = 500
"""Bytes before the dot in which the name before it is searched for; from the front, all words would be tried."""
_BY_METACLASS = Outside("abc.ABCMeta")
_MOST_LINES = 50
"""Lines of a call's arguments."""


class Registration(Struct, frozen=True):
    """One place where classes are registered.

    Parameters:
        abstract: what they are registered with; a class of the project or the name of one outside.
        classes: these; None for what may be any.
        mentioned: where.
    """

    abstract: frozenset[Class | str]
    classes: frozenset[Class | None]
    mentioned: Mentioned


class Registered:
    """The classes that are registered with abstract ones.

    Parameters:
        project: where to look.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.uses = project.uses
        self.inference = project.inference
        self.unreadable: dict[str, ResourceError] = {}

    def under(self, above: Class | str) -> frozenset[Class | None]:
        """Return the classes that are registered with one, or with one below it; None where it may be any class.

        Parameters:
            above: a class, or the name of one outside.
        """
        return frozenset[Class | None]().union(*(each.classes for each in self.places(above)))

    def places(self, above: Class | str) -> Iterator[Registration]:
        """Return where classes are registered with one, or with one below it; one of the project must be abstract."""
        return (each for each in self._all if any(self._is_below(abstract, above) for abstract in each.abstract))

    def _is_below(self, abstract: Class | str, above: Class | str) -> bool:
        if isinstance(abstract, str):
            return isinstance(above, str) and _is_kind_of(abstract, above)
        order = self.inference.orders.of(abstract)
        if isinstance(above, Class):
            return above in order.nodes
        return any(_is_kind_of(name, above) for name in order.outside)

    @cached_property
    def _all(self) -> tuple[Registration, ...]:
        found: list[Registration] = []
        paths = list(self._paths())
        self.project.load(paths)
        for path in paths:
            try:
                found += self._in(path)
            except ResourceError as error:
                self.unreadable[path] = error
        return tuple(found)

    def _paths(self) -> Iterator[str]:
        workspace = self.project.workspace
        mentioning = workspace.index.mentioning([_PIECE])
        self.unreadable.update(mentioning.unreadable)
        for path in mentioning.paths:
            content = workspace.content(path) or b""
            if not content.isascii() or any(name == b"cls" or name != name.lower() for name in _before_dots(content)):
                yield path

    def _in(self, path: str) -> Iterator[Registration]:
        for mention in self.uses(path).mentions.get(_NAME, ()):
            kind, receiver = mention.kind, mention.receiver
            if receiver <= 0 or kind not in (u.CALL, u.DECORATOR):
                continue
            values = self.inference.values(path, receiver)
            abstract: set[Class | str] = set(filter(None, map(self._abstract, values)))
            if abstract or _BY_METACLASS in values:
                classes = self._decorated(path, mention) if kind == u.DECORATOR else self._given(path, mention)
                if _BY_METACLASS in values:
                    abstract |= {each for each in classes if each and self.inference.orders.is_abstract(each)}
                yield Registration(
                    frozenset(abstract), classes - abstract, Mentioned(path, mention, "unsure", Reason.REGISTERED.of())
                )

    def _abstract(self, value: Value) -> Class | str | None:
        """Return the abstract class that a value is, if its `register` is that of `ABCMeta`."""
        if isinstance(value, Outside):
            return value.name if value.name.rpartition(".")[0] in FITTED else None
        owner, orders = class_around(value), self.inference.orders
        if owner is None or not orders.is_abstract(owner) or orders.members(orders.of(owner), _NAME):
            return None
        return owner

    def _decorated(self, path: str, mention: u.Mention) -> frozenset[Class | None]:
        scopes = self.uses(path).scopes
        return frozenset(
            Class(path, number)
            for number, scope in enumerate(scopes)
            if scope.kind == u.CLASS_SCOPE and scope.owner == mention.owner and scope.parent == mention.scope
        )

    def _given(self, path: str, mention: u.Mention) -> frozenset[Class | None]:
        """Return the classes that a call is given; None where it is given something else that is not known."""
        start, scope = mention[:2], mention.scope
        end = self._end(path, *start)
        values: set[Value] = set()
        for name, mentions in self.uses(path).mentions.items():
            for line, column, at, kind, receiver, _ in mentions:
                if kind in (u.READ, u.CALL) and start < (line, column) < end and at == scope:
                    values |= self._values_of(path, scope, name, line, receiver)
        classes = frozenset(each for each in values if isinstance(each, Class))
        return classes or frozenset(None for each in values if not isinstance(each, (Outside, InModule)))

    def _values_of(self, path: str, scope: int, name: str, line: int, receiver: int) -> Values:
        meanings = (
            self.project.names.named(path, scope, name, line)
            if receiver == u.PLAIN
            else frozenset().union(
                *(self.inference.attribute(value, name) for value in self.inference.values(path, receiver) if value)
            )
        )
        values = (self.inference.values_of(each) if isinstance(each, Symbol) else {each} for each in meanings)
        return frozenset[Value]().union(*values)

    def _end(self, path: str, line: int, column: int) -> tuple[int, int]:
        """Return where the arguments of a call end whose name stands at a place."""
        lines, depth = self.project.lines(path), 0
        for number in range(line, line + _MOST_LINES):
            text = lines.cut(number).encode()
            for place in range(column if number == line else 0, len(text)):
                depth += (text[place] in b"([{") - (text[place] in b")]}")
                if depth == 0 and text[place] in b")]}":
                    return number, place
        return line + _MOST_LINES, 0


def _before_dots(content: bytes) -> Iterator[bytes]:
    """Yield the names that something is registered with."""
    for each in _REGISTERING.finditer(content):
        word = _LAST_WORD.search(content[max(0, each.start() - _MOST_BEFORE) : each.start()].rstrip())
        if word:
            yield word[0]


def _is_kind_of(name: str, above: str) -> bool:
    """Return whether a class outside the project is another one, or below it, as far as the standard library says."""
    name, above = name.rpartition(".")[2], above.rpartition(".")[2]
    found, other = getattr(collections.abc, name, None), getattr(collections.abc, above, None)
    return name == above or (isinstance(found, type) and isinstance(other, type) and issubclass(found, other))
