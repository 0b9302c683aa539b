"""The gate of a server over HTTP: a request without the secret gets that answer only, whatever its path.

    /SECRET/mcp, or /mcp with `Authorization: Bearer SECRET`

Invariant: nothing behind the gate sees the secret, and nothing of a refused request but its path and headers is read.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from bae_source.adapters.mcp.loopback import PATH
from bae_source.adapters.mcp.secret import Secret

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

_AUTHORIZATION = b"authorization"
_REFUSED = (
    b"This server answers only clients that have its secret. Use the address that it printed at its start, or send the "
    b"secret that it was given as Authorization: Bearer.\n"
)


class Gate:
    """Lets requests with the secret through to an application.

    Parameters:
        admitted: called with the state of a connection once a request of it has shown the secret.
    """

    def __init__(self, application: Application, secret: Secret, admitted: Callable[[Any], None]) -> None:
        self._application = application
        self._secret = secret
        self._admitted = admitted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
        elif self._has_secret(scope):
            self._admitted(scope["state"])
            await self._application(_cleaned(scope), receive, send)
        else:
            await _refuse(scope, send)

    def _has_secret(self, scope: Scope) -> bool:
        path = scope["path"]
        if path != PATH:
            return path.endswith(PATH) and self._secret.is_this(path.removesuffix(PATH).removeprefix("/"))
        given = [value.decode("latin-1") for name, value in scope["headers"] if name == _AUTHORIZATION]
        scheme, _, token = "".join(given[:1]).partition(" ")
        return scheme.lower() == "bearer" and self._secret.is_this(token.strip())


def _cleaned(scope: Scope) -> Scope:
    """Return a request without the secret."""
    headers = [header for header in scope["headers"] if header[0] != _AUTHORIZATION]
    return {**scope, "path": PATH, "raw_path": PATH.encode(), "headers": headers}


async def _refuse(scope: Scope, send: Send) -> None:
    """Answer that the secret is missing, and hang up."""
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
    headers.append((b"content-length", str(len(_REFUSED)).encode()))
    is_known = scope["path"] == PATH
    if is_known:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": 401 if is_known else 404, "headers": headers})
    await send({"type": "http.response.body", "body": _REFUSED})
