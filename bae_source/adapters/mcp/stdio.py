"""The protocol over standard input and output: a JSON object a line.

The SDK's own transport reads lines of any length, drops what is no message without a word, and cannot end while the
client does not read; so this one takes its place.

Invariants:
- standard output belongs to the protocol: whatever else the process or its children print goes to standard error, and
  nothing else in this process reads from standard input;
- what is no message is answered with an error, and so is a line that is too long, and a request whose id is that of
  another one which is not answered yet; an answer that cannot be written becomes an error, too;
- a client that sends and does not read is not read from any more: it holds no more than `MOST` requests here;
  of one that it cancels before it is begun, nothing is kept;
- when the client has gone, the connection ends, also while something is being written to it.
"""

from __future__ import annotations

import asyncio
import json
import os
import select
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from queue import SimpleQueue
from typing import Any, BinaryIO

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.dispatcher import as_request_id, coerce_request_id
from mcp.shared.message import SessionMessage
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

LONGEST = 64 * 1024 * 1024
"""Bytes of one message."""
MOST = 64
"""Requests of a client that are not answered yet."""
_SHOWN = 80
"""Characters of an id that is named in an error."""
_GLANCE = 0.5
"""Seconds after which to see whether a client that is kept waiting is still there."""

Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


class Wire:
    """The two ends of a client's pipe, which nothing else in this process has any more."""

    def __init__(self, source: BinaryIO, sink: int) -> None:
        self._source = source
        self._sink = sink

    @classmethod
    def taken(cls) -> Wire:
        """Take standard input and output for the protocol alone."""
        source, sink = _private(0), _private(1)
        nowhere = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nowhere, 0)
        os.close(nowhere)
        os.dup2(2, 1)
        return cls(os.fdopen(source, "rb"), sink)

    def lines(self) -> Any:
        """Yield lines; None for one that is too long."""
        while line := self._source.readline(LONGEST):
            if line.endswith(b"\n") or len(line) < LONGEST:
                yield line
                continue
            while (rest := self._source.readline(LONGEST)) and not rest.endswith(b"\n"):
                pass
            yield None

    def is_hung_up(self) -> bool:
        """Return whether the client writes no more, also where there is something left to read."""
        poll = select.poll()
        poll.register(self._source.fileno(), 0)
        return bool(poll.poll(0))

    def write(self, data: bytes) -> None:
        """Write everything.

        Raises:
            OSError: the client has gone.
        """
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._sink, rest) :]


class Connection:
    """The messages that pass over a wire, until the client goes."""

    def __init__(
        self,
        wire: Wire,
        incoming: MemoryObjectSendStream[SessionMessage | Exception],
        outgoing: MemoryObjectReceiveStream[SessionMessage],
    ) -> None:
        self._wire = wire
        self._incoming = incoming
        self._outgoing = outgoing
        self._loop = asyncio.get_running_loop()
        self._unanswered: set[str | int] = set()
        self._room = asyncio.Event()
        self._writing: SimpleQueue[tuple[bytes, Callable[[BaseException | None], None]]] = SimpleQueue()

    def start(self) -> None:
        """Begin to read and to write; the threads end with the process at the latest."""
        for do in (self._read, self._write):
            threading.Thread(target=do, daemon=True).start()

    async def send_all(self) -> None:
        """Send what the server has to say, until it or the client has gone."""
        async with self._outgoing:
            async for each in self._outgoing:
                if not await self._sent(each.message):
                    self._incoming.close()
                    return

    def _read(self) -> None:
        with suppress(RuntimeError):  # the loop has ended
            for line in self._wire.lines():
                if not self._handed_on(line):
                    break
            self._loop.call_soon_threadsafe(self._incoming.close)

    def _handed_on(self, line: bytes | None) -> bool:
        """Wait until a line is handed on; False if the client goes meanwhile, or the server is no more."""
        arriving = asyncio.run_coroutine_threadsafe(self._arrived(line), self._loop)
        while True:
            try:
                return arriving.result(_GLANCE)
            except TimeoutError:
                if self._wire.is_hung_up():
                    return False

    def _write(self) -> None:
        while True:
            data, done = self._writing.get()
            failure: BaseException | None = None
            try:
                self._wire.write(data)
            except OSError as error:
                failure = error
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(done, failure)

    async def _arrived(self, line: bytes | None) -> bool:
        """Hand a line on to the server; False if there is none any more."""
        message = _message(line)
        if message is None:
            return True
        if isinstance(message, JSONRPCError):
            return await self._sent(message)
        if isinstance(message, JSONRPCRequest):
            if coerce_request_id(message.id) in self._unanswered:  # the id of an error would be taken for the other's
                reason = f"The id {json.dumps(message.id)[:_SHOWN]} is in use: what has it is not answered yet."
                return await self._sent(_refused(None, INVALID_REQUEST, reason))
            while len(self._unanswered) >= MOST:
                self._room.clear()
                await self._room.wait()
            self._unanswered.add(coerce_request_id(message.id))
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._settled((message.params or {}).get("requestId"))
        try:
            await self._incoming.send(SessionMessage(message))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return False
        return True

    async def _sent(self, message: Any) -> bool:
        """Write a message; False if the client has gone."""
        written = self._loop.create_future()

        def done(failure: BaseException | None) -> None:
            if not written.done():
                written.set_result(failure is None)

        self._writing.put((_encoded(message), done))
        is_there: bool = await written
        if isinstance(message, (JSONRPCResponse, JSONRPCError)):
            self._settled(message.id)
        return is_there

    def _settled(self, request: Any) -> None:
        if (known := as_request_id(request)) is not None:
            self._unanswered.discard(coerce_request_id(known))
            self._room.set()


@asynccontextmanager
async def connected(wire: Wire) -> AsyncIterator[Streams]:
    """Connect a client, until it goes."""
    sender, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, receiver = anyio.create_memory_object_stream[SessionMessage](0)
    connection = Connection(wire, sender, receiver)
    async with anyio.create_task_group() as group:
        group.start_soon(connection.send_all)
        connection.start()
        yield incoming, outgoing
        group.cancel_scope.cancel()


def _message(line: bytes | None) -> Any:
    """Return the message that a line is, or the error that answers it; None for a blank line."""
    if line is None:
        return _refused(None, INVALID_REQUEST, f"A message may have {LONGEST:,} bytes.")
    if not line.strip():
        return None
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        if not isinstance(message, JSONRPCNotification) or b'"id"' not in line or "id" not in json.loads(line):
            return message  # what has an id that is none is no notification, though it reads as one
    except ValidationError:
        pass  # the reason is logged below
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return _refused(None, PARSE_ERROR, "That is no JSON, or is nested too deeply.")
    return _refused(_id_in(found), INVALID_REQUEST, "That is no message of JSON-RPC 2.0, or is nested too deeply.")


def _id_in(found: Any) -> str | int | None:
    """Return the id of what was meant as a request."""
    name = found.get("id") if isinstance(found, dict) and "method" in found else None
    return name if isinstance(name, (str, int)) and not isinstance(name, bool) else None


def _refused(request: str | int | None, code: int, message: str) -> JSONRPCError:
    error = {"code": code, "message": message}
    return JSONRPCError.model_validate({"jsonrpc": "2.0", "id": request, "error": error})


def _encoded(message: Any) -> bytes:
    if isinstance(message, JSONRPCError) and message.id is None:  # which the client has to see
        return json.dumps(message.model_dump(by_alias=True, exclude_none=True) | {"id": None}).encode() + b"\n"
    try:
        text: str = message.model_dump_json(by_alias=True, exclude_unset=True)
        return text.encode() + b"\n"
    except ValueError:  # it holds what is no text
        return _encoded(_refused(getattr(message, "id", None), INTERNAL_ERROR, "The answer cannot be written."))


def _private(number: int) -> int:
    """Return another descriptor of a standard stream, which no child inherits and which is none of the first three."""
    found = os.dup(number)
    if found > 2:
        return found
    try:
        return _private(number)
    finally:
        os.close(found)
