"""The tools as clients of MCP see them: those of requests, with a transaction's handle, and those of transactions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bae_source.adapters import offer
from bae_source.adapters.mcp.transactions import KINDS, PARAMETER, PARAMETER_HELP, can_be_part, declared
from bae_source.adapters.offer import FULL, Offer, Relay
from bae_source.adapters.tools import Tool

TRANSACTIONS = tuple(Tool(name=kind.verb, kind=kind) for kind in KINDS)


def takes_transaction(among: Offer, tool: Tool) -> bool:
    """Return whether a tool can be called as part of a transaction."""
    return "transaction_begin" in among.reached and tool not in TRANSACTIONS and can_be_part(tool.kind)


def described(among: Offer, tool: Tool | Relay) -> dict[str, Any]:
    """Return a tool as the protocol describes one; briefly, where few are offered."""
    if isinstance(tool, Relay) or tool.prompt:
        return {
            "name": tool.name,
            "description": tool.description,
            "inputSchema": tool.input_schema,
            "annotations": _hints(tool.annotations),
        }
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": input_schema(among, tool),
        "outputSchema": tool.output_schema,
        "annotations": {"title": tool.title, **tool.annotations},
    }


_USUAL = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True}
"""Values that the protocol takes for hints which are left out."""
_OF_CHANGES = ("destructiveHint", "idempotentHint")
"""Hints that mean nothing of a tool which only reads."""


def _hints(annotations: Mapping[str, bool]) -> dict[str, bool]:
    """Return the hints that say something."""
    reads = annotations["readOnlyHint"]
    stated = {name: each for name, each in annotations.items() if not (reads and name in _OF_CHANGES)}
    return {name: each for name, each in stated.items() if each is not _USUAL[name]}


def input_schema(among: Offer, tool: Tool | Relay) -> dict[str, Any]:
    """Return the schema of a tool's arguments."""
    schema = tool.input_schema
    if isinstance(tool, Relay) or tool.prompt:
        return schema
    if tool in TRANSACTIONS:
        known = {each.name for each in declared(tool.kind)}
        return schema | {"properties": {name: each for name, each in schema["properties"].items() if name in known}}
    if not takes_transaction(among, tool):
        return schema
    handle = {"type": ["string", "null"], "description": PARAMETER_HELP}
    return schema | {"properties": {**schema["properties"], PARAMETER: handle}}


def offered(names: Iterable[str] = (), *, profile: str = FULL, read_only: bool = False, meta: bool = False) -> Offer:
    """Return the offer of a server.

    Parameters:
        names: only these tools; all of the profile if there are none.
        profile: which tools there are, and how they are described.
        read_only: only those that read.
        meta: whether the engine's own source is within reach.

    Raises:
        RequestError: `unknown_operation`, if there is no tool or profile of a name, or none is left.
    """
    return offer.offered(names, profile=profile, read_only=read_only, further=TRANSACTIONS, meta=meta)
