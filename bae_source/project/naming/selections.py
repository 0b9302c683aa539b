"""Answer several selectors at once: one selection each, errors among them, within the budgets.

Invariants:
- a URI is answered on its own: what is wrong with one says nothing of another; the highest exit status is the whole's;
- an answer that is too long in total is the error `budget_exceeded` and nothing else;
- a dotted name is no selector: it is refused, with the selector that it means as the next call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from bae_source.errors import Refused, ResourceError, SourceError
from bae_source.model.address import is_selector
from bae_source.model.navigation import Question
from bae_source.model.selection import (
    LineRange,
    Ref,
    Selected,
    Selection,
    SelectionKind,
    Shown,
    selected,
    selection_of_error,
    within_budget,
)
from bae_source.model.selector import parse_selector
from bae_source.project.naming.resolve import Resolved, resolve
from bae_source.project.naming.select import select, selector_for
from bae_source.project.naming.spans import span_of
from bae_source.project.workspace import Workspace
from bae_source.syntax.outline.skeleton import children, signature

_MOST_CALLS = 20
_EXTENSION = re.compile(r"\.pyi?(?=[/#]|\Z)")

Show = Callable[[str, Resolved], tuple[Selection, Question | None]]
"""A function that makes the selection of one URI from its meaning."""


def answer_each(
    workspace: Workspace, uris: Sequence[str], kind: SelectionKind, show: Show, *, exact: bool, most: int | None = None
) -> Selected:
    """Answer URIs in turn.

    Parameters:
        kind: of the selections; it also is what the command is called after `ast`, but for `skeleton`.
        most: how many may be answered with something found; the last one names the rest as its next action.
    """
    verb = _verb(kind)
    selections: list[Selection] = []
    failures: list[ResourceError] = []
    questions: list[Question | None] = []
    shown = 0
    for number, uri in enumerate(uris):
        if most is not None and shown == most:
            selections[-1] = _with_action(selections[-1], _call(verb, uris[number:], exact=exact))
            break
        try:
            selection, question = show(uri, select(workspace, parse_selector(uri), exact=exact, verb=verb))
            shown += 1
        except ResourceError as problem:
            error = _in_format(problem)
            selection, question = _failed(workspace, uri, error, kind), None
            failures.append(error)
        selections.append(selection)
        questions.append(question)
    outcome = selected(tuple(selections), tuple(failures), tuple(questions))
    return within_budget(outcome, kind, _narrower(verb, uris, selections, exact=exact))


def selection_of(
    kind: SelectionKind, uri: str, resolved: Resolved, content: str, refs: Sequence[Ref], next_action: str
) -> Selection:
    """Return the selection of something that was found."""
    members = resolved.group.members if resolved.group else None
    shown = Shown(
        uri=uri,
        range=line_range(resolved),
        content=content,
        signature=signature(resolved.tree, members) if members else None,
        children=children(resolved.tree, members),
    )
    return Selection(status="ok", kind=kind, data=shown, refs=tuple(refs), next_actions=(next_action,))


def line_range(resolved: Resolved) -> LineRange:
    """Return the lines of a resolved symbol; an empty module has its first line."""
    span, lines = span_of(resolved), resolved.tree.source.lines
    last = max(span.start, span.end - 1)
    return LineRange(start_line=lines.number(span.start), end_line=lines.number(last))


def _in_format(error: ResourceError) -> ResourceError:
    """Return an error with a code of the format, which has none for a refusal.

    A file that may not be read counts as one that cannot be decoded; one that changed or has gone meanwhile as one that
    does not parse.
    """
    if not isinstance(error, Refused):
        return error
    if error.code != "forbidden":
        return SourceError("syntax_invalid", error.message, hints=error.hints, details=error.details)
    return SourceError("encoding_invalid", error.message, hints=["doctor"], details=error.details)


def _failed(workspace: Workspace, uri: str, error: ResourceError, kind: SelectionKind) -> Selection:
    error.details.setdefault("sym", uri)
    if error.code == "invalid_selector_syntax":
        meant = _meant(workspace, uri)
        actions: tuple[str, ...] = (f"{_verb(kind)} {meant}",) if meant else ()
        if meant:
            error.details["selector"] = meant
    else:
        actions = () if error.code == "language_not_supported" else error.hints
    return selection_of_error(error, kind, actions)


def _meant(workspace: Workspace, text: str) -> str | None:
    """Return the selector that a dotted name means, or a URI with a file extension; None where neither is given."""
    if is_selector(text):
        bare = _EXTENSION.sub("", text)
        try:
            return str(parse_selector(bare)) if bare != text else None
        except ResourceError:
            return None
    try:
        selector = selector_for(resolve(workspace, text))
    except ResourceError:
        return None
    return str(selector) if selector else None


def _narrower(verb: str, uris: Sequence[str], selections: Sequence[Selection], *, exact: bool) -> tuple[str, ...]:
    """Return calls that ask for less: each URI by itself, what is inside a single one, or what it may have meant."""
    if len(uris) > 1:
        return tuple(_call(verb, (uri,), exact=exact) for uri in dict.fromkeys(uris))[:_MOST_CALLS]
    data = selections[0].data
    if data is None:
        return selections[0].next_actions[:_MOST_CALLS]
    inside = [parse_selector(data.uri).inside(name) for name in data.children]
    return tuple(_call(verb, (str(selector),), exact=exact) for selector in inside if selector)[:_MOST_CALLS]


def _with_action(selection: Selection, action: str) -> Selection:
    return replace(selection, next_actions=(*selection.next_actions, action))


def _call(verb: str, uris: Sequence[str], *, exact: bool) -> str:
    return " ".join((verb, *uris, *(("--exact",) if exact else ())))


def _verb(kind: SelectionKind) -> str:
    return "ast symbols" if kind == "skeleton" else f"ast {kind}"
