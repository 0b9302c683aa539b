"""The common part of the outcomes of all searches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bae_source.errors import RequestError, ResourceError
from bae_source.model.address import Address, parse_name
from bae_source.model.call import Call
from bae_source.model.outcome import Notice, Outcome
from bae_source.model.selector import selector_of

NO_MATCHES = "(no matches)"
"""The text of an answer that is sure to have missed nothing, unless it says that it is not complete."""


def answer_of(
    lines: Sequence[str],
    values: Sequence[Any],
    notices: Sequence[Notice],
    *,
    complete: bool | None = None,
    next_actions: Sequence[str] = (),
) -> Outcome:
    """Return the outcome of a search.

    Parameters:
        lines: what a person reads.
        values: the same as values.
        notices: what was not searched, and why.
        complete: whether everything was searched; if left out, there is nothing to notice.
        next_actions: calls that make sense now.
    """
    return Outcome(
        status="answer",
        text="\n".join(lines) if lines else NO_MATCHES,
        found=tuple(values),
        warnings=tuple(notices),
        complete=not notices if complete is None else complete,
        next_actions=tuple(next_actions),
    )


def not_searched(name: str, error: ResourceError) -> Notice:
    """Return the notice about a file that could not be searched."""
    reason = f"it {error.reason}" if error.subject else error.message
    return Notice(error.code, f"{name} was not searched: {reason}")


def closer_look(module: str, address: str = "", kind: str = "") -> str:
    """Return the call that shows what was found from nearer: its names and signatures; a data file itself.

    Parameters:
        module: where it was found, as answers name it.
        address: of the symbol.
        kind: what the symbol is; only classes and functions have signatures of their own.
    """
    try:
        name = parse_name(module)
        inner = parse_name(address).segments[len(name.segments) :] if kind in ("class", "function", "method") else ()
    except RequestError:  # a file whose name no dotted name can spell
        return Call("outline")
    if name.resource is not None or name.marked is not None:
        return Call("read", target=module)
    selector = selector_of(Address(module=module, qualname=inner)) or selector_of(Address(module=module))
    if selector is None:
        return Call("read", target=address or module)
    return Call("ast symbols", line=f"ast symbols {selector}", uris=(str(selector),))
