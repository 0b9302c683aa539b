"""The answer of `symbols`, `snippet` and `hover` to a selector, key by key as it is printed.

    {"status", "kind", "data": {"uri", "range", "content", "signature", "children"}, "refs", "errors", "next_actions"}

Invariants:
- `status` is `error` if and only if `errors` is not empty, and then `data` is null;
- fields stand in the order of the printed keys, so the declarations here are the format;
- bytes and lines decide what is too long; tokens never do.
"""

from __future__ import annotations

import json
import re
from typing import Any, Literal

import msgspec
from msgspec import Struct

from bae_source.errors import Refused, ResourceError
from bae_source.model.navigation import Question
from bae_source.model.outcome import Failure, Outcome, failed
from bae_source.model.outcome import as_mapping as outcome_as_mapping

SelectionKind = Literal["skeleton", "snippet", "hover"]

KINDS: dict[str, SelectionKind] = {"symbols": "skeleton", "snippet": "snippet", "hover": "hover"}
"""The kind of answer of each verb."""
MAX_BYTES = 32_000
MAX_SNIPPET_BYTES = 2_000
MAX_SNIPPET_LINES = 50
MAX_SNIPPETS = 5
MAX_URIS = 1_000
"""The most that one request selects: of more, the names alone would go beyond every limit."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")
_LINE_END = re.compile(r"(?:\r\n|\n|\r)\Z")


class LineRange(Struct, frozen=True, kw_only=True):
    """Lines from 1, the last one included."""

    start_line: int
    end_line: int


class Shown(Struct, frozen=True, kw_only=True):
    """Answer about one definition or module.

    Parameters:
        uri: as the request has it, byte for byte.
        range: the lines of the definition, its decorators included; of a module all.
        content: the skeleton, the source, or signature and docstring.
        signature: the header in one line without its colon; None for a module.
        children: the classes and functions directly inside, in source order.
    """

    uri: str
    range: LineRange
    content: str
    signature: str | None
    children: tuple[str, ...] = ()


class Ref(Struct, frozen=True, kw_only=True):
    """The definition of a name that the selected definition mentions."""

    kind: Literal["definition"] = "definition"
    uri: str


class Fault(Struct, frozen=True, kw_only=True):
    """An error as this answer has it: its code in upper case, and details for programs."""

    code: str
    message: str
    details: dict[str, Any]


class Selection(Struct, frozen=True, kw_only=True):
    """The answer to one URI."""

    status: Literal["ok", "error"]
    kind: SelectionKind
    data: Shown | None
    refs: tuple[Ref, ...] = ()
    errors: tuple[Fault, ...] = ()
    next_actions: tuple[str, ...] = ()


class Selected(Outcome, frozen=True, kw_only=True):
    """An outcome that consists of selections, one for each URI that was answered.

    Parameters:
        selections: in the order of the URIs; one alone where the whole was too long.
        questions: for each selection what a language server could add, None where nothing; not part of the answer.
    """

    selections: tuple[Selection, ...]
    questions: tuple[Question | None, ...] = ()


def line_of(selection: Selection) -> str:
    """Return a selection as one line of JSON, in plain ASCII."""
    return json.dumps(msgspec.to_builtins(selection))


def answered(outcome: Outcome) -> dict[str, Any]:
    """Return an answer as JSON: the outcome, or of `ast` the selection, or several of them as `answers`."""
    if not isinstance(outcome, Selected):
        return outcome_as_mapping(outcome)
    found = [as_mapping(each) for each in outcome.selections]
    return found[0] if len(found) == 1 else {"answers": found}


def as_mapping(selection: Selection) -> dict[str, Any]:
    """Return a selection as JSON-like data, keys in the order of the format."""
    mapping: dict[str, Any] = json.loads(line_of(selection))
    return mapping


def selection_of_error(error: ResourceError, kind: SelectionKind, next_actions: tuple[str, ...] = ()) -> Selection:
    """Return the selection that an error comes to."""
    fault = Fault(code=error.code.upper(), message=error.message, details=error.details)
    actions = tuple(map(str, next_actions))  # in the words of the command line, which the format has
    return Selection(status="error", kind=kind, data=None, errors=(fault,), next_actions=actions)


def selected(
    selections: tuple[Selection, ...], failures: tuple[ResourceError, ...], questions: tuple[Question | None, ...] = ()
) -> Selected:
    """Return the outcome of some selections.

    Parameters:
        failures: the errors among them; the highest exit status is the outcome's.
    """
    return Selected(
        status="error" if failures else "answer",
        text="".join(f"{line_of(selection)}\n" for selection in selections),
        complete=not failures,
        errors=tuple(_failure(error) for error in failures),
        next_actions=tuple(dict.fromkeys(action for each in selections for action in each.next_actions)),
        exit_code=max((error.exit_code for error in failures), default=0),
        selections=selections,
        questions=questions,
    )


def failed_selection(error: ResourceError, kind: SelectionKind) -> Selected:
    """Return the outcome of a call that came to nothing but an error."""
    return selected((selection_of_error(error, kind, error.hints),), (error,))


def selected_failure(outcome: Outcome, kind: SelectionKind) -> Selected:
    """Return an outcome that never came to a look-up as the selection that its caller expects."""
    faults = tuple(
        Fault(code=each.code.upper(), message=each.message, details={"hints": list(each.hints)})
        for each in outcome.errors
    )
    selection = Selection(status="error", kind=kind, data=None, errors=faults, next_actions=outcome.next_actions)
    return Selected(
        status="error",
        text=f"{line_of(selection)}\n",
        complete=False,
        warnings=outcome.warnings,
        errors=outcome.errors,
        next_actions=outcome.next_actions,
        exit_code=outcome.exit_code,
        selections=(selection,),
    )


def within_budget(outcome: Selected, kind: SelectionKind, narrower: tuple[str, ...]) -> Selected:
    """Return the outcome, or the error `budget_exceeded` alone where it has more than `MAX_BYTES` bytes.

    Parameters:
        narrower: calls that ask for less.
    """
    size = len(outcome.text.encode("ascii"))
    if size <= MAX_BYTES:
        return outcome
    error = Refused(
        "budget_exceeded",
        f"The answer has {size:,} bytes, more than {MAX_BYTES:,}; ask for less at a time.",
        hints=narrower,
        details={"bytes": size, "limit": MAX_BYTES},
    )
    return failed_selection(error, kind)


def shortened(text: str) -> str:
    """Return source cut to what one snippet may have, with a marker that says how; short source as it stands.

    The stricter of the limits cuts, at a line; a first line that is too long itself is cut at a character. The marker
    does not count, nor does the line end in front of it.
    """
    lines = [match[0] for match in _LINE.finditer(text) if match[0]]
    by_bytes, by_lines = _fitting(lines), min(len(lines), MAX_SNIPPET_LINES)
    if by_bytes == by_lines == len(lines):
        return text
    if by_bytes >= by_lines:
        return f"{_unended(lines[:by_lines])}\n# ... {len(lines) - by_lines} lines hidden"
    if by_bytes == 0:
        start = _encoded(lines[0])[:MAX_SNIPPET_BYTES].decode("utf-8", "ignore")
        return f"{start}\n# ... truncated"
    return f"{_unended(lines[:by_bytes])}\n# ... truncated"


def _fitting(lines: list[str]) -> int:
    """Return the number of first lines that fit into a snippet, the last one's line end not counted."""
    size = 0
    for number, line in enumerate(lines):
        if size + len(_encoded(line.rstrip("\r\n"))) > MAX_SNIPPET_BYTES:
            return number
        size += len(_encoded(line))
    return len(lines)


def _unended(lines: list[str]) -> str:
    return _LINE_END.sub("", "".join(lines))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _failure(error: ResourceError) -> Failure:
    return failed(error).errors[0]
