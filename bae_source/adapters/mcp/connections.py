"""Connections to a server over HTTP: how many there are, and how long one may keep its client waiting for a request.

A connection is a stranger's until a request on it has shown the secret. Strangers and clients are counted apart, and
where there are too many of a kind, the one goes that is least missed. So what others left open keeps no client out.

Invariants:
- a stranger's connection ends some seconds after it began, whatever it sends;
- by the clock a client's ends when a request that was begun does not go on, never while it waits for an answer;
- nothing here reads what is sent.
"""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import uvicorn
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

AT_ONCE = 32
"""Connections that are taken before those that were are heard; others wait with the system."""
MOST_STRANGERS = 4 * AT_ONCE
"""More than come, as a rule, before a client that has just come is heard, however fast they do."""
MOST_CLIENTS = 64
STRANGER_SECONDS = 10.0
"""Seconds after which a connection without the secret ends."""
SILENT_SECONDS = 30.0
"""For which a client may be silent in the middle of a request."""
_NAME = "connection"
_WAITING = 128
"""Connections that wait with the system until they are taken."""


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
        """Take incoming bytes; a connection without the secret gains no time by it."""
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


def server(application: Any, **settings: Any) -> uvicorn.Server:
    """Return a server of an application on such connections, which logs nothing of a request.

    Parameters:
        application: calls `admit` once a request has shown the secret.
        settings: more of uvicorn's.
    """
    return _Server(
        uvicorn.Config(
            application,
            http=Connection,
            backlog=AT_ONCE,
            log_config=None,
            log_level="critical",
            access_log=False,
            timeout_graceful_shutdown=2,
            ws="none",
            server_header=False,
            proxy_headers=False,
            **settings,
        )
    )


class _Server(uvicorn.Server):
    """A server that takes fewer connections at once than may wait for it."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to serve."""
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(_WAITING)
