"""The tools as clients see them: those of the requests, with a transaction's handle, and those of transactions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from bae_source.adapters.mcp.transactions import KINDS, PARAMETER, PARAMETER_HELP, can_be_part, declared
from bae_source.adapters.tools import Tool, tools
from bae_source.engine.registry import REQUESTS
from bae_source.errors import RequestError

TRANSACTIONS = tuple(Tool(name=kind.verb, kind=kind) for kind in KINDS)


class Offer:
    """What a server offers; the requests are loaded once somebody asks for their tools.

    Parameters:
        names: only these tools; all of them if there are none.
        read_only: only those that read.
    """

    def __init__(self, names: tuple[str, ...] = (), *, read_only: bool = False) -> None:
        self._names = names
        self._read_only = read_only

    @cached_property
    def requests(self) -> tuple[Tool, ...]:
        """The tools of requests, in the registry's order."""
        wanted = tuple(name for name in self._names if name in REQUESTS.verbs)
        return tools(wanted, read_only=self._read_only) if wanted or not self._names else ()

    @cached_property
    def transactions(self) -> tuple[Tool, ...]:
        """The tools of transactions; none where nothing can be changed."""
        if self._read_only:
            return ()
        return tuple(tool for tool in TRANSACTIONS if not self._names or tool.name in self._names)

    @cached_property
    def tools(self) -> Mapping[str, Tool]:
        """All of them by their names, in their order."""
        return {tool.name: tool for tool in (*self.requests, *self.transactions)}

    def takes_transaction(self, tool: Tool) -> bool:
        """Say whether a tool can be called as part of a transaction."""
        return bool(self.transactions) and tool not in self.transactions and can_be_part(tool.kind)

    def described(self, tool: Tool) -> dict[str, Any]:
        """Return a tool as the protocol describes one."""
        return {
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": self.input_schema(tool),
            "outputSchema": tool.output_schema,
            "annotations": {"title": tool.title, **tool.annotations},
        }

    def input_schema(self, tool: Tool) -> dict[str, Any]:
        """Return the schema of a tool's arguments."""
        schema = tool.input_schema
        if tool in self.transactions:
            known = {each.name for each in declared(tool.kind)}
            return schema | {"properties": {name: each for name, each in schema["properties"].items() if name in known}}
        if not self.takes_transaction(tool):
            return schema
        handle = {"type": ["string", "null"], "description": PARAMETER_HELP}
        return schema | {"properties": {**schema["properties"], PARAMETER: handle}}


def offered(names: Iterable[str] = (), *, read_only: bool = False) -> Offer:
    """Return what a server is to offer.

    Parameters:
        names: only these tools; all of them if there are none.
        read_only: only those that read.

    Raises:
        RequestError: `unknown_operation`, if there is no tool of a name, or none is left.
    """
    known = (*REQUESTS.verbs, *(tool.name for tool in TRANSACTIONS))
    wanted = tuple(names)
    unknown = [name for name in wanted if name not in known]
    offer = Offer(wanted, read_only=read_only)
    if unknown or (wanted and read_only and not offer.tools):
        message = f"There is no tool {unknown[0]!r}." if unknown else "No tool is left: none of these only reads."
        raise RequestError("unknown_operation", message, hints=[f"There are {', '.join(known)}."])
    return offer
