"""Parameters and arguments as runs of items between brackets, and how a run becomes another one.

    (a, b=(1, 2), *, c)      the items `a`, `b=(1, 2)`, `*` and `c`
    ((x), y)                 `(x)` and `y`: brackets of its own belong to an item

Invariants:
- an item that stays keeps its bytes, unless another text is wanted for it;
- the text between items stays: line breaks, comments; a comment behind an item on its line goes where the item goes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from msgspec import Struct

from bae_source.model.span import Span
from bae_source.syntax.outline.ast_walk import span_of
from bae_source.syntax.text.items import Items, items_of, put_in, take_out
from bae_source.syntax.text.revision import Revision
from bae_source.syntax.text.source import Lines
from bae_source.system.silence import unwarned

_BLANK = re.compile(r"(?:[ \t\f\r\n]|\\(?:\r\n|\n|\r)|#[^\r\n]*)*")
_BLANK_OR_COMMA = re.compile(r"#[^\r\n]*|,")
_BEHIND = re.compile(r",?((?:[ \t\f]*#[^\r\n]*)?)")
_CALL, _HEADER = ("f", ""), ("def f", ": pass")


class Wanted(Struct, frozen=True):
    """One item as it shall be.

    Parameters:
        old: the number of the present item that it is; None for a new one.
        text: what it shall be; None for what it is.
    """

    old: int | None = None
    text: str | None = None


def call_of(text: str) -> ast.Call | None:
    """Return the call that the brackets of a call make, with positions of `f` and the text; None if they make none."""
    body = _parsed(text, _CALL)
    node = body.value if isinstance(body, ast.Expr) else None
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return None
    return node if _moved(text, _CALL[0], node).end == len(text) else None


def arguments_of(text: str) -> ast.arguments | None:
    """Return the parameters that the brackets of a function's header hold, with positions of `def f` and the text."""
    body = _parsed(text, _HEADER)
    return body.args if isinstance(body, ast.FunctionDef) else None


def _parsed(text: str, around: tuple[str, str]) -> ast.stmt | None:
    try:
        with unwarned():
            body = ast.parse(f"{around[0]}{text}{around[1]}").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return body[0] if len(body) == 1 else None


def spans_in_call(text: str, call: ast.Call) -> list[Span]:
    """Return where the arguments of a call stand in the text of its brackets."""
    nodes: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    spans = sorted(_moved(text, _CALL[0], each) for each in nodes)
    if len(spans) == 1 and spans[0] == Span(0, len(text)):  # a generator takes the call's own brackets
        spans = [Span(1, len(text) - 1)]
    return split(text, spans)


def spans_in_header(text: str, arguments: ast.arguments) -> list[Span]:
    """Return where parameters, `*` and `/` stand in the text of a header's brackets."""
    nodes = [*arguments.posonlyargs, *arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg]
    parts: list[ast.arg | ast.expr | None] = [*nodes, *arguments.defaults, *arguments.kw_defaults]
    return split(text, sorted(_moved(text, _HEADER[0], each) for each in parts if each is not None))


def _moved(text: str, before: str, node: ast.expr | ast.keyword | ast.arg) -> Span:
    """Return where a node stands in a text that was parsed behind another one."""
    span = span_of(Lines(before + text), node)
    return Span(span.start - len(before), span.end - len(before))


def split(text: str, known: Sequence[Span]) -> list[Span]:
    """Return the items of a run in brackets.

    Parameters:
        text: from the opening bracket to the closing one.
        known: spans of expressions in it, outside which every comma separates items.
    """
    commas: list[int] = []
    start = 1
    for span in (*known, Span(len(text) - 1, len(text) - 1)):
        gaps = _BLANK_OR_COMMA.finditer(text, start, max(start, span.start))
        commas += [each.start() for each in gaps if each[0] == ","]
        start = max(start, span.end)
    found: list[Span] = []
    begin = 1
    for end in (*commas, len(text) - 1):
        blank = _BLANK.match(text, begin, end)
        first = blank.end() if blank else begin
        if first < end:
            found.append(Span(first, _last(text, first, end, known)))
        begin = end + 1
    return found


def _last(text: str, first: int, end: int, known: Sequence[Span]) -> int:
    """Return where an item ends behind which nothing but white space and comments stands."""
    start = max((each.end for each in known if first <= each.start and each.end <= end), default=first)
    last = start
    for match in re.finditer(r"#[^\r\n]*|[^\s\\#]", text[start:end]):
        if match[0][0] != "#":
            last = start + match.end()
    return last


def arranged(text: str, spans: Sequence[Span], wanted: Sequence[Wanted], newline: str) -> str | None:
    """Return the text of brackets with other items in them; None where its commas stand in some other way.

    Parameters:
        text: from the opening bracket to the closing one.
        spans: where its items stand.
        wanted: the items as they shall be.
        newline: the line end of the file.
    """
    # (a, b, c) -> [c, "x=1", a]: `b` is taken out, which leaves (a, c); the items that stay are written into the
    # places of one another, (c, a); `x=1` is put in behind the first one: (c, x=1, a).
    revision, present = Revision(text), list(spans)
    staying = [each for each in wanted if each.old is not None]
    kept = sorted(each.old for each in staying if each.old is not None)
    for number in reversed(range(len(present))):
        if number not in kept:
            items = _items(revision.text, present)
            if items is None:
                return None
            splices = take_out(revision.text, items, number)
            revision.apply(splices)
            present = _shifted(present[:number] + present[number + 1 :], splices)
    texts = {number: spans[number].cut(text) for number in kept}
    notes = {number: _comment(text, spans[number]).cut(text) for number in kept}
    is_moved = [each.old for each in staying] != kept
    takes_notes = is_moved and all(_ends_line(revision.text, each) for each in present)
    splices = []
    for span, each in zip(present, staying, strict=True):
        assert each.old is not None
        splices.append((span, texts[each.old] if each.text is None else each.text))
        if takes_notes:
            splices.append((_comment(revision.text, span), notes[each.old]))
    revision.apply([(span, new) for span, new in splices if span.cut(revision.text) != new])
    present = _replaced(present, splices)
    for number, each in enumerate(wanted):
        if each.old is None:
            assert each.text is not None
            items = _items(revision.text, present)
            if items is None:
                return None
            splices = put_in(revision.text, items, each.text, number, newline)
            revision.apply(splices)
            present = _put(revision.text, present, splices, number, each.text)
    return revision.text


def _items(text: str, spans: Sequence[Span]) -> Items | None:
    return items_of(text, spans, [""] * len(spans), Span(1, len(text) - 1))


def _comment(text: str, span: Span) -> Span:
    """Return where the comment stands behind an item on its line; an empty span where none does."""
    match = _BEHIND.match(text, span.end)
    assert match is not None
    return Span(*match.span(1))


def _ends_line(text: str, span: Span) -> bool:
    """Return whether nothing but a comment stands behind an item on its line, so that another comment may."""
    return re.compile(r"[ \t\f]*[\r\n]").match(text, _comment(text, span).end) is not None


def _shifted(spans: Sequence[Span], splices: Sequence[tuple[Span, str]]) -> list[Span]:
    """Return where spans stand that splices do not touch, once these are made."""
    return [_shift(each, splices) for each in spans]


def _shift(span: Span, splices: Sequence[tuple[Span, str]]) -> Span:
    by = sum(len(new) - len(old) for old, new in splices if old.end <= span.start)
    return Span(span.start + by, span.end + by)


def _replaced(spans: Sequence[Span], splices: Sequence[tuple[Span, str]]) -> list[Span]:
    """Return where spans stand that are replaced themselves, or stay."""
    found: list[Span] = []
    for span in spans:
        start = _shift(span, [each for each in splices if each[0] != span]).start
        own = next((new for old, new in splices if old == span and len(old)), span.cut)
        length = len(own) if isinstance(own, str) else len(span)
        found.append(Span(start, start + length))
    return found


def _put(text: str, spans: Sequence[Span], splices: Sequence[tuple[Span, str]], number: int, new: str) -> list[Span]:
    """Return where items stand once one more has been put in before the one with a number."""
    after = _shifted(spans, splices)
    begin = after[number - 1].end if number else 1
    start = text.index(new, begin)
    return [*after[:number], Span(start, start + len(new)), *after[number:]]
