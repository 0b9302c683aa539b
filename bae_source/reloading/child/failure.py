"""The error of a failed import: the exception, its place and traceback; in module names, never in paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bae_source.errors import TransactionError
from bae_source.reloading.child.addresses import Addresses

_LEAKS = (
    "What an import did outside its own module before it failed (threads, registrations, the environment), or inside "
    "its lists and other objects, cannot be taken back."
)


def import_failed(
    name: str,
    described: Mapping[str, Any],
    addresses: Addresses,
    *,
    here: bool,
    others: Sequence[str] = (),
    left: str = "",
) -> TransactionError:
    """Return the error for a module that does not import.

    Parameters:
        name: the module.
        described: the exception, as `probe.describe` gives it.
        here: whether it was loaded in this very process.
        others: further modules that failed with it.
        left: what came into this process meanwhile and stays there, as `Leftovers` says it.
    """
    place = place_of(described, addresses)
    at = f", at {place}" if place else ""
    also = f" (and {len(others)} more)" if others else ""
    hints = [f"Mend {place} and try again." if place else f"Mend {name} and try again."]
    if left:
        hints.append(f"Until it failed, something {left}; that was not taken back.")
    if here:
        hints.append(_LEAKS)
    return TransactionError(
        "reload_failed",
        f"{name}{also} does not import with the change: {shown(described, addresses)}{at}",
        unchanged=True,
        hints=hints,
        details={
            "module": name,
            "also": list(others),
            "exception": described["type"],
            "problem": shown(described, addresses),
            "place": place,
            "left": left,
            "traceback": traceback_text(described, addresses),
        },
    )


def shown(described: Mapping[str, Any], addresses: Addresses) -> str:
    """Return `NameError: name 'x' is not defined`."""
    message = addresses.convert(described["message"]).strip()
    return f"{described['type']}: {message}" if message else described["type"]


def traceback_text(described: Mapping[str, Any], addresses: Addresses) -> str:
    """Draw the traceback, a line for each frame and one for its source."""
    lines = ["Traceback (most recent call last):"]
    for frame in described["frames"]:
        inside = f", in {frame['function']}" if frame["function"] else ""
        lines.append(f"  {_module(frame, addresses)}:{frame['line']}{inside}")
        if frame["text"]:
            lines.append(f"    {frame['text']}")
    return "\n".join([*lines, shown(described, addresses)])


def place_of(described: Mapping[str, Any], addresses: Addresses) -> str | None:
    """Return the innermost place in the project as `module:line`."""
    for frame in reversed(described["frames"]):
        if addresses.inside(frame["file"]):
            return f"{_module(frame, addresses)}:{frame['line']}"
    return None


def _module(frame: Mapping[str, Any], addresses: Addresses) -> str:
    return addresses.module(frame["file"]) or (
        frame["module"] if frame["module"] != "?" else addresses.convert(frame["file"])
    )
