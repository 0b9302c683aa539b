"""A method's source as that of a function in its module: without `@staticmethod`, and without a `self` that it ignores.

    @staticmethod
    def f(x): …                def f(x): …
    def g(self, x): return x   def g(x): return x
    def h(self): self.x = 1    def h(self): self.x = 1

Invariants:
- code that works in a class alone is a reason to refuse: `super()`, `__class__`, private names, other decorators.
"""

from __future__ import annotations

import ast
import re

from msgspec import Struct

from bae_source.model.span import Span
from bae_source.syntax.text.source import Lines

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_OF_CLASS = frozenset({"super", "__class__", "Self"})
_ALL_NAMES = frozenset({"locals", "vars", "eval", "exec"})


class AsFunction(Struct, frozen=True, kw_only=True):
    """A method as a function.

    Parameters:
        text: its source, at the indentation that it had.
        takes_self: whether it still has the instance as its first parameter.
        is_static: whether it had none.
        blocked: the reason why it cannot be one; empty where it can.
    """

    text: str
    takes_self: bool
    is_static: bool
    blocked: str = ""


def as_function(text: str, name: str, new: str) -> AsFunction:
    """Return a method as a function.

    Parameters:
        text: whole lines of the method, with its comment.
        name: what it is called.
        new: what it is to be called.
    """
    node = _parsed(text)
    is_static = any(ast.unparse(each) == "staticmethod" for each in node.decorator_list)
    blocked = _blocked(node, name, is_static=is_static)
    takes_self = not is_static and not blocked and _uses(node, _first(node).arg)
    spans = [_name(text, name, new)]
    if not blocked and is_static:
        spans.append(_decorator(text))
    elif not blocked and not takes_self:
        spans.append(_parameter(text, node))
    for span, replacement in sorted(spans, key=lambda each: each[0].start, reverse=True):
        text = text[: span.start] + replacement + text[span.end :]
    return AsFunction(text=text, takes_self=takes_self, is_static=is_static, blocked=blocked)


def _parsed(text: str) -> _Function:
    """Return a method, whose lines are counted from 2: it is indented, so something has to stand around it."""
    around = ast.parse(f"if 1:\n{text}").body[0]
    assert isinstance(around, ast.If)
    inner = around.body[0]
    assert isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef))
    return inner


def _first(node: _Function) -> ast.arg:
    return [*node.args.posonlyargs, *node.args.args][0]


def _blocked(node: _Function, name: str, *, is_static: bool) -> str:
    """Return the reason why a method cannot be a function; empty where it can."""
    others = [ast.unparse(each) for each in node.decorator_list if ast.unparse(each) != "staticmethod"]
    if others:
        return f"it is decorated by {others[0].partition('(')[0]}"
    if name.startswith("__"):
        return "its name means something in a class alone"
    if not is_static and not [*node.args.posonlyargs, *node.args.args]:
        return "it has no parameter for the instance"
    for each in ast.walk(node):
        found = each.id if isinstance(each, ast.Name) else each.attr if isinstance(each, ast.Attribute) else ""
        if isinstance(each, ast.Name) and found in _OF_CLASS:
            return f"it uses {found}, which means nothing outside of its class"
        if found.startswith("__") and not found.endswith("__"):
            return f"it uses {found}, a private name of its class"
    return ""


def _uses(node: _Function, name: str) -> bool:
    """Return whether a function uses a parameter, or may."""
    defaults = [*node.args.defaults, *(each for each in node.args.kw_defaults if each is not None)]
    names = {e.id for part in (*node.body, *defaults) for e in ast.walk(part) if isinstance(e, ast.Name)}
    return name in names or bool(names & _ALL_NAMES)


def _name(text: str, name: str, new: str) -> tuple[Span, str]:
    match = re.search(rf"^[ \t]*(?:async\s+)?def\s+({re.escape(name)})\b", text, re.MULTILINE)
    assert match is not None
    return Span(*match.span(1)), new


def _decorator(text: str) -> tuple[Span, str]:
    match = re.search(r"^[ \t]*@[ \t]*staticmethod\b[^\r\n]*(?:\r\n|\n|\r)", text, re.MULTILINE)
    assert match is not None
    return Span(*match.span()), ""


def _parameter(text: str, node: _Function) -> tuple[Span, str]:
    """Return the splice that takes the first parameter out, with its comma, and a slash that would come first then."""
    lines, first = Lines(text), _first(node)
    assert first.end_lineno is not None
    assert first.end_col_offset is not None
    start = lines.offset(first.lineno - 1, first.col_offset)
    end = lines.offset(first.end_lineno - 1, first.end_col_offset)
    behind = re.compile(r"\s*,[ \t]*(?:(?:\r\n|\n|\r)[ \t]*)?").match(text, end)
    end = behind.end() if behind is not None else end
    if len(node.args.posonlyargs) == 1 and (slash := re.compile(r"/\s*,?\s*").match(text, end)):
        end = slash.end()
    return Span(start, end), ""
