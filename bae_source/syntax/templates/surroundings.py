"""Brackets around an expression that takes the place of another, where Python would read it otherwise without them.

    not $X        a == b  in the place of  f(x)  of  not f(x)          as it is
    $A * 2        x + 1  in the place of  $A                           (x + 1) * 2
    1 .real       an integer before a dot, text of several lines outside brackets, a walrus, a lambda, a yield

Invariants:
- nothing is known of precedence here: code is read with the brackets and without, and they are left out where both
  come to the same.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate

from msgspec import Struct

from bae_source.model.span import Span
from bae_source.syntax.outline.compiling import compiles
from bae_source.syntax.patterns.pattern import span_of
from bae_source.syntax.templates.template import Template, reading
from bae_source.syntax.text.lexer import end_of_header, end_of_line, lex
from bae_source.syntax.text.source import Source

_BOUND_TO_PLACE = (
    *(ast.Await, ast.Yield, ast.YieldFrom, ast.Return, ast.Break, ast.Continue, ast.Nonlocal, ast.Global),
    *(ast.AsyncFor, ast.AsyncWith, ast.For, ast.While, ast.comprehension),
    *(ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
)
"""Nodes that cannot stand everywhere, or that decide whether other code can."""
_ATOM = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")

Parents = Mapping[ast.AST, ast.AST]
"""By each node of a tree the one that it stands in."""


class Statement(Struct, frozen=True):
    """The statement around an expression, or its header, as text that can be read alone.

    Parameters:
        before, after: what makes a statement of it.
        span: its own text.
    """

    before: str
    span: Span
    after: str

    def with_text(self, text: str, place: Span, new: str) -> str:
        """Return the statement with new text at a place."""
        return f"{self.before}{text[self.span.start : place.start]}{new}{text[place.end : self.span.end]}{self.after}"


def parents_of(tree: ast.Module, lines: Sequence[tuple[int, int]]) -> Parents:
    """Return the parent of each node that has to do with some lines, which most nodes of a file have not.

    Parameters:
        lines: first and last of each piece of code in question, in order.
    """
    starts = [first for first, _ in lines]
    ends = list(accumulate((last for _, last in lines), max))
    found: dict[ast.AST, ast.AST] = {}
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if (last := getattr(child, "end_lineno", None)) is not None:
                number = bisect_right(starts, last) - 1
                if number < 0 or ends[number] < _first_line(child):
                    continue
            found[child] = node
            waiting.append(child)
    return found


def _first_line(node: ast.AST) -> int:
    pieces: Sequence[ast.AST] = [node, *getattr(node, "decorator_list", ())]
    return min(int(getattr(each, "lineno", 1)) for each in pieces)


def may_be_out_of_place(*trees: ast.AST) -> bool:
    """Return whether putting one for the other may have code outside the function or the loop that it needs."""
    return any(isinstance(node, _BOUND_TO_PLACE) for tree in trees for node in ast.walk(tree))


def compiles_at(source: Source, node: ast.AST, parents: Parents, span: Span, new: str) -> bool:
    """Return whether the code around a place compiles with new text, or does not do so now either.

    `await go()` parses outside an asynchronous function, and does not compile there. The function around the place
    decides; where there is none, the statement of the module or class.
    """
    child, around = node, parents[node]
    while not isinstance(around, (ast.Module, ast.ClassDef)):
        if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)) and child in around.body:
            child = around
            break
        child, around = around, parents[around]
    start = min(source.lines.start(_first_line(child)), span.start)
    end = max(span_of(source, child).end, span.end)
    header = "class _:\n" if source.text[start : start + 1] in (" ", "\t", "\f") else ""
    statement = Statement(header, Span(start, end), "\n")
    return compiles(statement.with_text(source.text, span, new)) or not compiles(f"{header}{source.text[start:end]}\n")


def fits_in_string(source: Source, node: ast.AST, parents: Parents, span: Span, new: str) -> bool:
    """Return whether new code can take the place of an expression in the f-strings around it, if there are any.

    Before Python 3.12 no field may hold the quotes of its literal, a backslash, a comment or the end of a line.
    """
    marks: set[str] = set()
    while node in parents and not isinstance(node, ast.stmt):
        node = parents[node]
        if isinstance(node, ast.JoinedStr):
            text = span_of(source, node).cut(source.text)
            marks |= {*"\\#\r\n", *(each.cut(text)[-1] for each in lex(text).strings)}
    return all(mark not in new or mark in span.cut(source.text) for mark in marks)


def shows_itself(source: Source, node: ast.AST, parents: Parents) -> bool:
    """Return whether a field of an f-string shows the code of an expression in it, as `{x + 1=}` does."""
    while node in parents and not isinstance(node, ast.stmt):
        around = parents[node]
        if isinstance(around, ast.FormattedValue) and node is around.value:
            behind = source.text[span_of(source, node).end :].lstrip(" \t\f\r\n)")
            if behind.startswith("="):
                return True
        node = around
    return False


def statement_around(source: Source, node: ast.AST, parents: Parents) -> Statement:
    """Return the statement around an expression; of one in brackets, between commas, a statement with these brackets.

    So what thousands of elements of one display are replaced by is not read with all the others each time.
    """
    child, around, text = node, parents[node], source.text
    while not isinstance(around, (ast.stmt, ast.ExceptHandler, ast.match_case, ast.Module)):
        if (brackets := _brackets(source, child, around)) is not None:
            return Statement(brackets[0], span_of(source, child), brackets[1])
        child, around = around, parents[around]
    if isinstance(around, ast.match_case):
        start = text.rfind("case", 0, span_of(source, around.pattern).start)
        return Statement("match x:\n ", Span(start, end_of_header(text, start)), " pass")
    start = span_of(source, around).start
    decorators: Sequence[ast.AST] = getattr(around, "decorator_list", ())
    if child in decorators:
        first = text.rfind("@", 0, span_of(source, child).start)
        return Statement("", Span(first, end_of_line(text, first)), "def f(): pass")
    if isinstance(around, ast.ExceptHandler):
        return Statement("try: pass\n", Span(start, end_of_header(text, start)), " pass")
    if isinstance(around, ast.Match):
        return Statement("", Span(start, end_of_header(text, start)), "\n case _: pass")
    if hasattr(around, "body"):
        start += 2 if text.startswith("elif", start) else 0
        return Statement("", Span(start, end_of_header(text, start)), " pass")
    return Statement("", span_of(source, around), "")


def _brackets(source: Source, child: ast.AST, around: ast.AST) -> tuple[str, str] | None:
    """Return code to stand before and behind an argument, an element or an index; None for any other expression."""
    if isinstance(around, ast.FormattedValue):
        mark = "'''" if "'''" not in span_of(source, child).cut(source.text) else '"' * 3
        return f"f{mark}{{", f" }}{mark}"
    if isinstance(around, ast.Call):
        return ("f(", ", 0)") if child is not around.func and isinstance(child, ast.expr) else None
    if isinstance(around, ast.keyword):
        return ("f(k=", ")") if around.arg is not None else ("f(**", ")")
    if isinstance(around, ast.Set) or (isinstance(around, ast.List) and isinstance(around.ctx, ast.Load)):
        return "[", ", 0]"
    if isinstance(around, ast.Subscript) and child is around.slice:
        return "a[", "]"
    if isinstance(around, ast.Tuple) and isinstance(around.ctx, ast.Load):
        return ("(", ", 0)") if is_bracketed(source, around) else None
    if isinstance(around, ast.Dict) and child in around.keys:
        return "{", ": 0}"
    return None


def is_bracketed(source: Source, node: ast.Tuple) -> bool:
    """Return whether a tuple has brackets of its own, and does not only begin with those of its first element."""
    text = span_of(source, node).cut(source.text)
    first = next((span for span, _ in lex(text).brackets if span.start == 0), None)
    return text.startswith("(") and first is not None and first.end == len(text)


def is_inside_brackets(statement: Statement, text: str, place: Span) -> bool:
    """Return whether a place of a statement lies in brackets, where lines may end."""
    return reading(statement.with_text(text, place, "\n0")) is not None


def in_brackets_where_needed(statement: Statement, text: str, place: Span, new: str) -> str | None:
    """Return an expression as it can stand at a place; None where it cannot."""
    if place == statement.span and _ATOM.fullmatch(new):
        return new
    bare = reading(statement.with_text(text, place, new))
    bracketed = reading(statement.with_text(text, place, f"({new})"))
    if bare is not None and bracketed in (None, bare):
        return new
    return f"({new})" if bracketed is not None else None


def bracketed_holes(template: Template, texts: Mapping[int, str], *, inside: bool) -> dict[int, str] | None:
    """Return the texts of holes that are expressions as they can stand in a replacement; None where one cannot.

    Parameters:
        texts: by the numbers of the holes.
        inside: whether the replacement comes to stand in brackets.
    """
    lead, tail = ("(", "\n)") if inside and template.is_expression else ("", "")
    found: dict[int, str] = {}
    for number, text in texts.items():
        span = template.holes[number].span
        if _ATOM.fullmatch(text):
            found[number] = text
            continue
        before, after = lead + template.code[: span.start], template.code[span.end :] + tail
        bare, bracketed = reading(f"{before}{text}{after}"), reading(f"{before}({text}){after}")
        if bare is not None and bracketed in (None, bare):
            found[number] = text
        elif bracketed is not None:
            found[number] = f"({text})"
        else:
            return None
    return found
