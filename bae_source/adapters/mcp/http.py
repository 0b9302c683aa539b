"""The protocol over HTTP, on this machine's loopback address alone.

    connection (how many, how long) -> gate (the secret) -> sessions (how many) -> the SDK

Invariants:
- a client without the secret gets no answer (`gate`), and takes no place of one that has it (`connections`);
- a web page cannot use it through a name of its own: requests with another Host or Origin than ours are refused;
- a body beyond the limit is refused before it is looked at.
"""

from __future__ import annotations

import asyncio
import socket
import time
from typing import Any

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from msgspec import Struct
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from bae_source.adapters.mcp.gate import Application, Gate, Receive, Scope, Send
from bae_source.adapters.mcp.loopback import HOST, NAMES, PATH, Listening

LARGEST = 64 * 1024 * 1024
"""Bytes of a body."""
MOST_SESSIONS = 256
IDLE_SECONDS = 30 * 60.0
"""After which a session ends that nothing was asked in."""
_WAITING = 128
"""Connections that wait with the system until they are taken."""


def web_server(server: Server[Any], listening: Listening) -> uvicorn.Server:
    """Return what serves a server to those clients that have the secret."""
    port = listening.socket.getsockname()[1]
    application = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=LARGEST,
        max_sessions=MOST_SESSIONS + MOST_CLIENTS,  # those that begin at this moment are not counted yet
        session_idle_timeout=IDLE_SECONDS,
        host=HOST,
        transport_security=TransportSecuritySettings(
            allowed_hosts=[f"{name}:{port}" for name in NAMES],
            allowed_origins=[f"http://{name}:{port}" for name in NAMES],
        ),
    )
    return _Server(
        uvicorn.Config(
            Gate(Sessions(application, MOST_SESSIONS), listening.secret, admit),
            http=Connection,
            backlog=AT_ONCE,
            log_config=None,
            log_level="critical",
            access_log=False,
            timeout_graceful_shutdown=2,
            ws="none",
            server_header=False,
        )
    )


class _Server(uvicorn.Server):
    """A server that takes fewer connections at once than may wait for it."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to serve."""
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(_WAITING)


# Sessions of the protocol over HTTP: where there are too many, the one that was idle for longest ends for a new one.
#
# Clients that forget to end theirs, and those that begin one for each call, so shut nobody out. A client whose session
# has ended gets the status 404 for its next request, and begins another one.
#
# Invariant: a session that is waited for ends only if all others are, too; one with an open stream after those without.

SESSION = b"mcp-session-id"
_KEPT = (b"host", b"mcp-protocol-version")


class _Session(Struct, kw_only=True):
    """State of one session: requests that are being answered, streams that are open, when it was used."""

    asked: int = 0
    streams: int = 0
    used: float

    def missed(self) -> tuple[bool, bool, float]:
        return self.asked > 0, self.streams > 0, self.used


class Sessions:
    """Counts the sessions of an application.

    Parameters:
        most: how many there may be.
    """

    def __init__(self, application: Application, most: int) -> None:
        self._application = application
        self._most = most
        self._open: dict[bytes, _Session] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        name = _session_in(scope["headers"])
        session = self._open.get(name) if scope["method"] != "DELETE" else self._open.pop(name, None)
        if session is None:
            await self._application(scope, receive, self._noting(scope, send))
            return
        kind = "streams" if scope["method"] == "GET" else "asked"
        setattr(session, kind, getattr(session, kind) + 1)
        try:
            await self._application(scope, receive, send)
        finally:
            setattr(session, kind, getattr(session, kind) - 1)
            session.used = time.monotonic()

    def _noting(self, scope: Scope, send: Send) -> Send:
        """Return what passes messages on, and notes the session that an answer begins."""

        async def passed(message: dict[str, Any]) -> None:
            begun = _session_in(message.get("headers", ()))
            if begun and message["status"] < 300:
                self._open[begun] = _Session(used=time.monotonic())
                await self._make_room(scope, begun)
            await send(message)

        return passed

    async def _make_room(self, scope: Scope, begun: bytes) -> None:
        while len(self._open) > self._most:
            others = (each for each in self._open if each != begun)
            await self._end(scope, min(others, key=lambda each: self._open[each].missed()))

    async def _end(self, scope: Scope, session: bytes) -> None:
        """End a session as its own client would."""
        del self._open[session]
        headers = [header for header in scope["headers"] if header[0] in _KEPT]
        asked = {**scope, "method": "DELETE", "headers": [*headers, (SESSION, session)]}
        await self._application(asked, _nothing, _unheard)


def _session_in(headers: Any) -> bytes:
    return next((value for name, value in headers if name.lower() == SESSION), b"")


async def _nothing() -> dict[str, Any]:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _unheard(_: Any) -> None:
    """Let an answer go by."""


# Connections to a server over HTTP: how many there are, and how long one may keep its client waiting for a request.
#
# A connection is a stranger's until a request on it has shown the secret. Strangers and clients are counted apart, and
# where there are too many of a kind, the one goes that is least missed. So what others left open keeps no client out.
#
# Invariants:
# - a stranger's connection ends some seconds after it began, whatever it sends;
# - by the clock a client's ends when a request that was begun does not go on, never while it waits for an answer;
# - nothing here reads what is sent.

AT_ONCE = 32
"""Connections that are taken before those that were are heard; others wait with the system."""
MOST_STRANGERS = 4 * AT_ONCE
"""More than come, as a rule, before a client that has just come is heard, however fast they do."""
MOST_CLIENTS = 64
STRANGER_SECONDS = 10.0
"""After which a stranger's connection ends."""
SILENT_SECONDS = 30.0
"""For which a client may be silent in the middle of a request."""
_NAME = "connection"


class Connection(H11Protocol):
    """One connection; the state of its requests leads to it."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, {**app_state, _NAME: self}, _loop)
        self._is_client = False
        self._heard = self.loop.time()
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, as a stranger's."""
        super().connection_made(transport)
        self._heard = self.loop.time()
        self._timer = self.loop.call_later(STRANGER_SECONDS, self._look)
        self._make_room(MOST_STRANGERS)

    def data_received(self, data: bytes) -> None:
        """Take what was sent; a stranger gains no time by it."""
        if self._is_client:
            self._heard = self.loop.time()
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def admit(self) -> None:
        """Count as a client's from now on."""
        self._heard = self.loop.time()
        if not self._is_client:
            self._is_client = True
            self._make_room(MOST_CLIENTS)

    def _make_room(self, most: int) -> None:
        """End the connection of this kind that is least missed, if there are too many."""
        alike = [
            each
            for each in self.connections
            if isinstance(each, Connection)
            and each._is_client is self._is_client  # noqa: SLF001  # its own class's
            and not each.transport.is_closing()
        ]
        if len(alike) > most:
            min((each for each in alike if each is not self), key=Connection._missed).transport.abort()

    def _missed(self) -> tuple[bool, float]:
        return self._is_answered, self._heard

    @property
    def _is_answered(self) -> bool:
        """True while a whole request is being answered."""
        return self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete

    def _look(self) -> None:
        """End if it is time, and look again later otherwise."""
        limit = SILENT_SECONDS if self._is_client else STRANGER_SECONDS
        if self._is_client and self._is_answered:
            self._heard = self.loop.time()
        left = self._heard + limit - self.loop.time()
        if left <= 0:
            self.transport.abort()
        else:
            self._timer = self.loop.call_later(left, self._look)


def admit(state: dict[str, Any]) -> None:
    """Count the connection of a request as a client's, by the request's state."""
    connection = state[_NAME]
    assert isinstance(connection, Connection)
    connection.admit()
