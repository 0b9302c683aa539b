"""Sessions of the protocol over HTTP: where there are too many, the one that was idle for longest ends for a new one.

Clients that forget to end theirs, and those that begin one for each call, so displace no others. A client whose session
has ended gets the status 404 for its next request, and begins another one.

Invariant: a session that is waited for ends only if all others are, too; one with an open stream after those without.
"""

from __future__ import annotations

import time
from typing import Any

from msgspec import Struct

from bae_source.adapters.mcp.gate import Application, Receive, Scope, Send

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
        """Return a sender that passes messages on, and notes the session that an answer begins."""

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
