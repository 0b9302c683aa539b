"""A project's modules as resources: `source://pkg.mod` is a module's source, `source://pkg.mod.f` that of a symbol.

Invariants:
- a resource is whole, or one of its pages, or an error: what is too long is never cut;
- its name is the dotted name that every tool takes; a file whose name is no text has none, and is no resource.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, quote, unquote

from msgspec.structs import replace

from bae_source.adapters.mcp.paging import page
from bae_source.errors import RequestError
from bae_source.model.outcome import Outcome
from bae_source.model.page import FIRST
from bae_source.model.text import is_text

SCHEME = "source://"
BUDGET = 64_000
"""Bytes of one: more than of a tool's answer, since it is a person who chooses it."""
MIME = "text/x-python"
_SAFE = ".:@[]<>/"
_CURSOR = re.compile(r'cursor="(\S+?)"')
TEMPLATE: dict[str, Any] = {
    "uriTemplate": SCHEME + "{name}",
    "name": "source",
    "title": "Source of a module or symbol",
    "description": "The source of what a dotted name means: source://pkg.mod, source://pkg.mod.Class.method.",
    "mimeType": MIME,
}

Ask = Callable[[str, dict[str, Any], int | None], Outcome]
"""Answers a reading request: its verb, its arguments, its budget."""


def names(ask: Ask) -> list[str] | Outcome:
    """Return the names of all modules that can be asked for, sorted; or the error that there is instead."""
    found: set[str] = set()
    for kind in ("package", "module"):
        outcome = ask("glob", {"pattern": "**", "kind": kind}, None)
        if outcome.errors:
            return outcome
        if outcome.found:  # else the text says that there is nothing
            found.update(line.removesuffix("@module") for line in outcome.text.splitlines())
    return sorted(name for name in found if is_text(name))


def listed(all_names: list[str], cursor: str | None) -> dict[str, Any]:
    """Return a page of resources as the protocol describes them.

    Raises:
        RequestError: `invalid_arguments` if the cursor is none of ours.
    """
    shown, following = page(all_names, cursor)
    resources = [{"uri": uri_of(name), "name": name, "title": name, "mimeType": MIME} for name in shown]
    return {"resources": resources, **({"nextCursor": following} if following else {})}


def uri_of(name: str) -> str:
    """Return the URI of a dotted name."""
    return SCHEME + quote(name, safe=_SAFE)


def read(ask: Ask, uri: str) -> Outcome:
    """Read a resource.

    Raises:
        RequestError: `invalid_name` if the URI is none of ours.
    """
    name, _, query = uri.removeprefix(SCHEME).partition("?")
    asked = parse_qs(query, keep_blank_values=True)
    if not uri.startswith(SCHEME) or not name or set(asked) - {"cursor"}:
        raise RequestError(
            "invalid_name",
            "That is no resource of this server.",
            hints=["A resource is source:// and a dotted name: source://pkg.mod."],
        )
    arguments: dict[str, Any] = {"target": unquote(name), "full": True}
    if "cursor" in asked:
        arguments["cursor"] = asked["cursor"][-1]
    outcome = ask("read", arguments, BUDGET)
    if any(each.code == "budget_exceeded" for each in outcome.errors):
        pages = f"{SCHEME}{name}?cursor={FIRST} is its first page, and names the next one."
        return replace(outcome, errors=tuple(replace(each, hints=(pages, *each.hints)) for each in outcome.errors))
    return outcome


def content(uri: str, outcome: Outcome) -> dict[str, Any]:
    """Return a read resource in the protocol's form; the cursor of the next page stands in `_meta`."""
    found: dict[str, Any] = {"uri": uri, "mimeType": MIME, "text": outcome.text}
    if outcome.complete:
        return found
    cursors = (_CURSOR.search(action) for action in outcome.next_actions)
    following = [f"{uri.partition('?')[0]}?cursor={match[1]}" for match in cursors if match]
    return found | {
        "_meta": {"complete": False, "next": following, "warnings": [each.message for each in outcome.warnings]}
    }


def completed(all_names: list[str], begun: str) -> dict[str, Any]:
    """Return the modules whose names begin so, as the protocol wants completions."""
    fitting = [name for name in all_names if name.startswith(begun)]
    return {"completion": {"values": fitting[:100], "total": len(fitting), "hasMore": len(fitting) > 100}}
