"""The output of the `ast` verbs: one JSON object a line, or the same for people and chat models as markdown.

Invariants:
- standard output holds the answer and nothing else, on errors too: wrong usage, Ctrl-C and our own bugs included;
- kind and format of the request are known from the bare command line, before anything can go wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from bae_source.adapters.cli.arguments import FORMATS
from bae_source.adapters.cli.invocation import asks_json, command_line
from bae_source.adapters.cli.streams import Streams, visible
from bae_source.errors import RequestError
from bae_source.model.outcome import Outcome
from bae_source.model.selection import (
    KINDS,
    Fault,
    Selected,
    Selection,
    SelectionKind,
    Shown,
    line_of,
    selected_failure,
)

_TICKS = re.compile(r"`+")


class Shape(Struct, frozen=True, kw_only=True):
    """The form in which the answer of an `ast` verb is printed."""

    kind: SelectionKind
    markdown: bool


def shape_of(tokens: Sequence[str], families: Collection[str]) -> Shape | None:
    """Return the format of a command line's answer; None for any other verb's, and for help."""
    try:
        line = command_line(tokens, families)
        line = command_line(line.tokens, families) if line.verb == "meta" else line
    except RequestError:
        return None
    kind = KINDS.get((line.verb or "").removeprefix("ast "))
    if kind is None or line.asks("-h", "--help"):
        return None
    pairs = [*pairwise(tokens), *(token.split("=", 1) for token in tokens if "=" in token)]
    asked = ["--format", FORMATS[1]] in [list(pair) for pair in pairs]
    return Shape(kind=kind, markdown=asked and not asks_json(tokens))


def render_selected(outcome: Outcome, shape: Shape, streams: Streams) -> None:
    """Write an outcome to standard output, whatever it is, as selections."""
    selections = (outcome if isinstance(outcome, Selected) else selected_failure(outcome, shape.kind)).selections
    if shape.markdown:
        text = "\n".join(markdown(selection) for selection in selections)
    else:
        text = "".join(f"{line_of(selection)}\n" for selection in selections)
    streams.stdout.write(visible(text) if streams.stdout.seen else text)


def markdown(selection: Selection) -> str:
    """Return a selection as a section of markdown."""
    lines = [*_data(selection.data, selection.kind)] if selection.data else []
    for fault in selection.errors:
        lines += _fault(fault)
    if selection.refs:
        lines += ["", *(f"- {ref.kind}: `{ref.uri}`" for ref in selection.refs)]
    if selection.next_actions:
        lines += ["", "Next:", "", *(f"- {_code(action)}" for action in selection.next_actions)]
    return "\n".join(lines) + "\n"


def _data(data: Shown, kind: SelectionKind) -> Iterator[str]:
    lines = f"lines {data.range.start_line} to {data.range.end_line}"
    yield f"## {kind} of `{data.uri}` ({lines})"
    if data.signature is not None and kind == "snippet":
        yield from ("", _code(data.signature))
    fence = "`" * max(3, _longest_run(data.content) + 1)
    yield from ("", f"{fence}python" if kind != "hover" else fence, data.content, fence)
    if data.children:
        yield from ("", f"Inside: {', '.join(f'`{child}`' for child in data.children)}")


def _fault(fault: Fault) -> Iterator[str]:
    yield f"## {fault.code}"
    yield from ("", fault.message)
    candidates = fault.details.get("candidates")
    if isinstance(candidates, list) and candidates:
        yield from ("", *(f"- {_code(each['sym'])} ({each['kind']}, {each['file_rel']})" for each in candidates))


def _code(text: str) -> str:
    """Return text as a code span: its fence is longer than any run of backticks in it."""
    ticks = "`" * (_longest_run(text) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def _longest_run(text: str) -> int:
    return max((len(match[0]) for match in _TICKS.finditer(text)), default=0)
