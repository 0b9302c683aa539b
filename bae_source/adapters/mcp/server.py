"""The server on the SDK's low level: each request of the protocol becomes a job for the engine, its outcome an answer.

Invariants:
- what cannot be done is a tool's result with `isError`, for the model to read; what the protocol itself has an error
  for (an unknown tool, prompt or resource, a cursor that is none) is that error, with the same data;
- text and structured content of a result say the same;
- lists are in the same order each time; of resources a page has so many entries, not bytes, and tools and prompts come
  all at once: the budget is for what tools say;
- whatever is answered can be written as UTF-8.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import cached_property
from typing import Any, TypeVar

import anyio
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CompleteRequestParams,
    GetPromptRequestParams,
    PaginatedRequestParams,
    ReadResourceRequestParams,
)

from bae_source.adapters.bug import version
from bae_source.adapters.mcp import prompts, resources
from bae_source.adapters.mcp.door import Door
from bae_source.adapters.mcp.engine import Engine, Job
from bae_source.adapters.mcp.offer import described, input_schema
from bae_source.adapters.mcp.paging import page
from bae_source.adapters.mcp.transactions import TransactionBegin
from bae_source.adapters.offer import INSTRUCTIONS, Offer
from bae_source.adapters.tools import as_text, as_texts
from bae_source.errors import RequestError, ResourceError
from bae_source.model.outcome import Outcome, failed
from bae_source.model.selection import answered
from bae_source.model.shortened import shortened_error

T = TypeVar("T")
Asked = ServerRequestContext[Any, Any]
Json = dict[str, Any]

_CACHED: Mapping[CacheableMethod, CacheHint] = {
    "server/discover": CacheHint(ttl_ms=3_600_000),
    "tools/list": CacheHint(ttl_ms=3_600_000),
    "prompts/list": CacheHint(ttl_ms=3_600_000),
    "resources/templates/list": CacheHint(ttl_ms=3_600_000),
    "resources/list": CacheHint(ttl_ms=0),
    "resources/read": CacheHint(ttl_ms=0),
}
"""For how long a client may keep an answer: what changes with the project, not at all."""
_WITHOUT_SESSIONS = "2026"
"""Protocols from then on have none, and the header is any text that a client sent."""
_LONGEST_NAME = 64
_RESOURCE_NOT_FOUND = -32002
"""The error code of protocols before 2026."""


class Answers:
    """The answers of the server.

    Parameters:
        door: carries out requests; called in the engine's thread alone.
        who: the name for the history; None for the client's own.
    """

    def __init__(self, engine: Engine, door: Door, offer: Offer, *, who: str | None = None, budget: int) -> None:
        self._engine = engine
        self._door = door
        self._who = who
        self._budget = budget
        self._offer = offer

    def server(self) -> Server[Any]:
        """Return a server that answers so."""
        return Server(
            "bae-source",
            version=version(),
            title="bae_source",
            instructions=INSTRUCTIONS,
            cache_hints=_CACHED,
            get_tool_input_schema=self._input_schema,
            on_list_tools=_complete(self.list_tools),
            on_call_tool=_complete(self.call_tool),
            on_list_resources=_complete(self.list_resources),
            on_list_resource_templates=_complete(self.list_templates),
            on_read_resource=_complete(self.read_resource),
            on_list_prompts=_complete(self.list_prompts),
            on_get_prompt=_complete(self.get_prompt),
            on_completion=_complete(self.complete),
        )

    async def list_tools(self, _: Asked, params: PaginatedRequestParams | None) -> Json:
        """Answer `tools/list`; all of them fit on the first page."""
        self._or_refused(lambda: page([], params.cursor if params else None))
        return {"tools": self._described}

    async def call_tool(self, asked: Asked, params: CallToolRequestParams) -> Json:
        """Answer `tools/call`."""
        name, arguments, who = params.name, params.arguments or {}, self._client(asked)
        if name not in self._offer.tools:
            raise _protocol_error(await self._engine.done(lambda: self._door.call(name[:_LONGEST_NAME], {}, who)))
        jobs: list[Job[Json]] = []
        done: list[Outcome] = []

        def call() -> Json:
            done.append(self._door.call(name, arguments, who))
            return _result(done[0])

        def tell() -> str:
            if not jobs or not jobs[0].begun:
                return "Another request is being answered first"
            return ": ".join(filter(None, (f"{name} is at work", self._door.at)))

        def forget() -> None:  # is done after the call, which may be at work yet
            for each in done:
                self._door.unheard(each)

        try:
            async with progress(asked, tell):
                return await self._engine.done(call, seen=jobs.append)
        except asyncio.CancelledError:
            if TransactionBegin.verb in (name, arguments.get("verb")):
                self._engine.add(forget)
            raise

    async def list_resources(self, _: Asked, params: PaginatedRequestParams | None) -> Json:
        """Answer `resources/list`."""
        found = await self._names()
        return self._or_refused(lambda: resources.listed(found, params.cursor if params else None))

    async def list_templates(self, _: Asked, params: PaginatedRequestParams | None) -> Json:
        """Answer `resources/templates/list`."""
        self._or_refused(lambda: page([], params.cursor if params else None))
        return {"resourceTemplates": [resources.TEMPLATE]}

    async def read_resource(self, asked: Asked, params: ReadResourceRequestParams) -> Json:
        """Answer `resources/read`."""
        uri = str(params.uri)
        try:
            outcome = await self._engine.done(lambda: resources.read(self._ask, uri))
        except ResourceError as error:
            outcome = failed(error)
        if outcome.errors:
            is_missing = any(each.code == "symbol_not_found" for each in outcome.errors)
            is_old = asked.protocol_version < _WITHOUT_SESSIONS
            raise _protocol_error(outcome, _RESOURCE_NOT_FOUND if is_missing and is_old else INVALID_PARAMS)
        return {"contents": [resources.content(uri, outcome)]}

    async def list_prompts(self, _: Asked, params: PaginatedRequestParams | None) -> Json:
        """Answer `prompts/list`."""
        return self._or_refused(lambda: prompts.listed(self._prompts, params.cursor if params else None))

    async def get_prompt(self, _: Asked, params: GetPromptRequestParams) -> Json:
        """Answer `prompts/get`."""
        return self._or_refused(lambda: prompts.filled(self._prompts, params.name, params.arguments or {}))

    async def complete(self, _: Asked, params: CompleteRequestParams) -> Json:
        """Answer `completion/complete`: names of modules, for whatever takes a dotted name."""
        if params.argument.name not in ("name", "target"):
            return resources.completed([], "")
        return resources.completed(await self._names(), params.argument.value)

    @cached_property
    def _described(self) -> list[Json]:
        return [described(self._offer, tool) for tool in self._offer.tools.values()]

    @cached_property
    def _prompts(self) -> dict[str, prompts.Prompt]:
        return prompts.offered(self._offer.tools)

    async def _names(self) -> list[str]:
        found = await self._engine.done(lambda: resources.names(self._ask))
        if isinstance(found, Outcome):
            raise _protocol_error(found)
        return found

    def _ask(self, verb: str, arguments: Mapping[str, Any], budget: int | None) -> Outcome:
        return self._door.ask(verb, arguments, budget=budget)

    def _input_schema(self, name: str) -> Json | None:
        tool = self._offer.tools.get(name)
        return input_schema(self._offer, tool) if tool else None

    def _client(self, asked: Asked) -> str | None:
        """Return the name of the client, as it gives it."""
        client = asked.session.client_params
        name = self._who or (client.client_info.name if client else "")
        return "".join(each for each in name if each.isprintable())[:_LONGEST_NAME].strip() or None

    def _or_refused(self, do: Callable[[], T]) -> T:
        """Return a function's result; its exceptions become errors of the protocol."""
        try:
            return do()
        except RequestError as error:
            raise _protocol_error(failed(shortened_error(error, self._budget))) from None


def _complete(answer: Callable[[Asked, Any], Awaitable[Json]]) -> Callable[[Asked, Any], Awaitable[Any]]:
    """Return a handler whose answer can be written, and says that nothing follows, as the protocol of 2026 wants."""

    async def handle(asked: Asked, params: Any) -> Json:
        return {"resultType": "complete", **_clean(await answer(asked, params))}

    return handle


def _result(outcome: Outcome) -> Json:
    """Return the result of a call; where only some of several selectors failed, it is no error."""
    structured = answered(outcome)
    failures = [each["status"] == "error" for each in structured.get("answers", [structured])]
    return {
        "content": [{"type": "text", "text": text} for text in as_texts(outcome)],
        "structuredContent": structured,
        "isError": all(failures),
    }


def _protocol_error(outcome: Outcome, code: int = INVALID_PARAMS) -> MCPError:
    return MCPError(code=code, message=_clean(as_text(outcome)), data=_clean(answered(outcome)))


def _clean(value: Any) -> Any:
    """Return JSON without lone surrogates, which JSON's readers refuse: they stand as they are written in Python."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_clean(key): _clean(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(each) for each in value]
    return value


EVERY = 1.0
"""Seconds between two signs."""


@asynccontextmanager
async def progress(context: ServerRequestContext[Any, Any], tell: Callable[[], str]) -> AsyncIterator[None]:
    """Report progress while the block runs.

    Parameters:
        tell: returns a message about the present step.
    """
    if not context.meta or context.meta.get("progress_token") is None:
        yield
        return
    async with anyio.create_task_group() as group:
        group.start_soon(_report, context, tell)
        yield
        group.cancel_scope.cancel()


async def _report(context: ServerRequestContext[Any, Any], tell: Callable[[], str]) -> None:
    begun = time.monotonic()
    while True:
        await asyncio.sleep(EVERY)
        await context.session.report_progress(round(time.monotonic() - begun, 1), message=tell())
