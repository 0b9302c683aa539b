"""Calls of a method as calls of the function that it becomes.

    obj.send(1)              send(obj, 1), or send(1) where it ignores the instance
    Mail.send(obj, 1)        send(obj, 1)
    Mail.parse(1)            parse(1), of a static method
    a.b().send(1).send(2)    send(send(a.b(), 1), 2)

Invariants:
- an instance that is no longer handed over is one that reading it has no effect: a name, or a name's attribute;
- what is no call of it that is sure is left.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from bae_source.model.reasons import Reason
from bae_source.model.span import Span
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Mentioned
from bae_source.project.references.types.values import Class, Instance, Rebound
from bae_source.syntax.names import uses as u
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.rewrite.name_tokens import written

_OPEN = re.compile(r"(?:\s|\\\r?\n)*\((\s*)")
_NAMES = re.compile(r"[^\W\d]\w*(?:\s*\.\s*[^\W\d]\w*)*")
_NO_CALL = "it is not called here"
_NOT_KNOWN = "it is not known whether this is an instance or the class"
_HAS_EFFECTS = "the instance, which the function takes no more, is made here"
_OTHERWISE = "it is called in a way that could not be rewritten"
_ASSIGNED = "it is assigned here"
_NAMED = "a string names it as an attribute of its class"
_BY = (Reason.DOTTED_NAME.of(), Reason.LEADING_NAME.of())


class Calls(Struct, frozen=True, kw_only=True):
    """What calls of a method come to in one file.

    Parameters:
        splices: on its text.
        scopes: where each name of the function stands then: scope, and line.
        left: what is no call that could be rewritten.
    """

    splices: tuple[tuple[Span, str], ...]
    scopes: tuple[tuple[int, int], ...]
    left: tuple[Mentioned, ...]


class MethodCalls:
    """The calls of a method in one file.

    Parameters:
        new: the function's name.
        takes_self: whether the function takes the instance.
        is_static: whether the method took none.
    """

    def __init__(
        self, project: Project, path: str, tree: Tree, name: str, new: str, *, takes_self: bool, is_static: bool
    ) -> None:
        self.project = project
        self.path = path
        self.tree = tree
        self.name = name
        self.new = new
        self.takes_self = takes_self
        self.is_static = is_static
        self._calls: dict[int, ast.Call] = {}
        lines = tree.source.lines
        for node in ast.walk(ast.parse(tree.text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                assert node.func.end_lineno is not None
                assert node.func.end_col_offset is not None
                self._calls[lines.offset(node.func.end_lineno, node.func.end_col_offset)] = node
        self._begun: dict[int, int] = {}
        self._replaced: list[tuple[Span, str]] = []

    def found(self, mentions: Sequence[Mentioned]) -> Calls:
        """Return what calls come to."""
        left: list[Mentioned] = []
        scopes: list[tuple[int, int]] = []
        for each in mentions:
            why = self._rewritten(each)
            if why is None:
                scopes.append((each.mention[2], each.mention[0]))
            elif why:
                left.append(Mentioned(each.path, each.mention, each.certainty if why == each.why else "unsure", why))
        begun = ((Span(start, start), f"{self.new}(" * count) for start, count in self._begun.items())
        return Calls(splices=(*begun, *self._replaced), scopes=tuple(scopes), left=tuple(left))

    def _rewritten(self, mentioned: Mentioned) -> str | None:
        """Rewrite one call; return the reason why it stays: None if it does not, nothing if it is no use."""
        kind, receiver = mentioned.mention[3:5]
        start = self.tree.source.lines.offset(*mentioned.mention[:2])
        if kind == u.STRING:
            return _NAMED if mentioned.why in _BY else mentioned.why
        if mentioned.certainty != "sure":
            return mentioned.why
        if kind in (u.WRITE, u.DELETE):
            return _ASSIGNED
        name = written(self.tree.text, start)
        call = self._calls.get(start + len(name))
        if name != self.name or receiver <= 0:
            return _NO_CALL
        found = self.project.inference.values(self.path, receiver)
        values = [each for each in found if not isinstance(each, Rebound)]  # which the certainty knows of
        by_class = bool(values) and all(isinstance(each, Class) for each in values)
        if not by_class and not (values and all(isinstance(each, Instance) for each in values)) and not self.is_static:
            return _NOT_KNOWN
        if call is None:
            return self._as_value(start, by_class=by_class)
        return self._as_call(call, start, by_class=by_class)

    def _as_value(self, start: int, *, by_class: bool) -> str | None:
        """Rewrite what takes the method without calling it."""
        chain = re.compile(rf"(?<![\w.])({_NAMES.pattern}\s*\.\s*)\Z").search(self.tree.text, 0, start)
        if chain is None or not (self.is_static or self.takes_self == by_class):
            return _NO_CALL
        self._replaced.append((Span(chain.start(1), start + len(self.name)), self.new))
        return None

    def _as_call(self, call: ast.Call, start: int, *, by_class: bool) -> str | None:
        assert isinstance(call.func, ast.Attribute)
        lines, text = self.tree.source.lines, self.tree.text
        begin = lines.offset(call.lineno, call.col_offset)
        dot = text.rfind(".", begin, start)
        opening = _OPEN.match(text, start + len(self.name))
        receiver = text[begin:dot]
        if opening is None or dot < 0 or "#" in receiver or "#" in text[dot:start]:
            return _OTHERWISE
        if by_class and not self.is_static:
            return self._by_class(call, begin, opening)
        if self.takes_self:
            has_arguments = bool(call.args or call.keywords)
            on_next_line = has_arguments and opening[1].strip(" \t") != ""
            comma = ("," if on_next_line else ", ") if has_arguments else ""
            if (
                isinstance(call.args[0] if call.args else None, ast.GeneratorExp)
                and len(call.args + call.keywords) == 1
            ):
                end = lines.offset(call.end_lineno or 0, call.end_col_offset or 0) - 1
                self._replaced.append((Span(end, end), ")"))  # what stands alone needs no brackets of its own
                comma = f"{comma}("
            self._begun[begin] = self._begun.get(begin, 0) + 1
            self._replaced.append((Span(dot, opening.start(1) if on_next_line else opening.end()), comma))
            return None
        if not _NAMES.fullmatch(receiver.strip()):
            return _HAS_EFFECTS
        self._replaced.append((Span(begin, start + len(self.name)), self.new))
        return None

    def _by_class(self, call: ast.Call, begin: int, opening: re.Match[str]) -> str | None:
        """Rewrite `Mail.send(obj, 1)`."""
        lines, text = self.tree.source.lines, self.tree.text
        if not call.args or isinstance(call.args[0], ast.Starred):
            return _OTHERWISE
        if not self.takes_self:
            first = call.args[0]
            assert first.end_lineno is not None
            assert first.end_col_offset is not None
            start = lines.offset(first.lineno, first.col_offset)
            end = lines.offset(first.end_lineno, first.end_col_offset)
            if not _NAMES.fullmatch(text[start:end]):
                return _HAS_EFFECTS
            comma = re.compile(r"\s*,\s*").match(text, end)
            self._replaced.append((Span(start, comma.end() if comma else end), ""))
        self._replaced.append((Span(begin, opening.start()), self.new))
        return None


def scopes_taken(project: Project, path: str, places: Sequence[tuple[int, int]], name: str) -> Iterator[int]:
    """Yield the lines at which a name means something in its scope already."""
    for scope, line in places:
        if project.names.scope_of(path, scope, name) is not None:
            yield line
