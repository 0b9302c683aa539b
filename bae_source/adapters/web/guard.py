"""The guard of the page and its API: which clients, host names and bodies are let in.

Invariants:
- a request under another `Host` than ours gets nothing, so no name that leads here by DNS does;
- a request that a page of another origin sends gets nothing, with the token or without it;
- the API answers those who have the token, which is compared in constant time and stands in no address that is sent;
- no answer is framed, kept, or read as another kind than it is; no script, style or image comes from elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Mapping, MutableMapping, Sequence
from typing import Any

from starlette.responses import JSONResponse

from bae_source.adapters.mcp.secret import Secret

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

API = "/api/"
LARGEST = 64 * 1024
"""Bytes of a request's body."""
_LENGTH = re.compile(r"[0-9]{1,9}")
_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
        "trusted-types 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class Guard:
    """Lets in what may come in.

    Parameters:
        application: what answers.
        secret: the token.
        hosts: the names, with the port, by which the page is called.
        admitted: called with the state of a connection once a request of it has shown the token.
    """

    def __init__(
        self, application: Application, secret: Secret, hosts: Collection[str], admitted: Callable[[Any], None]
    ) -> None:
        self._application = application
        self._secret = secret
        self._hosts = frozenset(hosts)
        self._admitted = admitted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        refusal = self._refusal(scope)
        guarded = _with_headers(send)
        if refusal is not None:
            status, code, message = refusal
            answer = JSONResponse({"error": {"code": code, "message": message}}, status_code=status)
            await answer(scope, receive, guarded)
            return
        await self._application(scope, _limited(receive), guarded)

    def _refusal(self, scope: Scope) -> tuple[int, str, str] | None:
        """Return the refusal of a request as status, code and message; None where it may come in."""
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        hosts = headers.get("host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return 421, "forbidden", "This page answers under its own address alone."
        origins = headers.get("origin", [])
        own = f"http://{hosts[0].lower()}"
        if any(each.lower() != own for each in origins):
            return 403, "forbidden", "Another page sent this; it is not answered."
        if not (_is_ours(headers) or _opens_the_page(scope, headers)):
            return 403, "forbidden", "Another page sent this; it is not answered."
        if not scope["path"].isprintable():
            return 404, "invalid_arguments", "There is no such address."
        if not scope["path"].startswith(API):
            return None
        given = headers.get("authorization", [])
        scheme, _, token = "".join(given[:1]).partition(" ")
        if len(given) != 1 or scheme.lower() != "bearer" or not self._secret.is_this(token.strip(" ")):
            return 401, "forbidden", "The token is missing or another one. Open the address that was printed."
        self._admitted(scope.get("state"))
        if scope["method"] == "POST":
            return self._refusal_of_body(headers)
        return None

    def _refusal_of_body(self, headers: dict[str, list[str]]) -> tuple[int, str, str] | None:
        kinds = headers.get("content-type", [""])
        if len(kinds) != 1 or kinds[0].partition(";")[0].strip().lower() != "application/json":
            return 415, "invalid_arguments", "The body has to be JSON, with that content type."
        lengths = headers.get("content-length", [])
        if len(lengths) != 1 or not _LENGTH.fullmatch(lengths[0]) or int(lengths[0]) > LARGEST:
            return 413, "budget_exceeded", f"The body needs a Content-Length of at most {LARGEST:,} bytes."
        return None


def _is_ours(headers: Mapping[str, Sequence[str]]) -> bool:
    """Return whether a browser, if it is one that says so, sends a request for a page of ours or for a person."""
    return all(each in ("same-origin", "none") for each in headers.get("sec-fetch-site", ()))


def _opens_the_page(scope: Scope, headers: Mapping[str, Sequence[str]]) -> bool:
    """Return whether a link leads a person to the page itself, as the file does by which a browser is started.

    Nothing of the project is in it, and no page has it in a frame.
    """
    goes = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == (["navigate"], ["document"])
    return goes and scope["method"] == "GET" and scope["path"] == "/"


def _with_headers(send: Send) -> Send:
    """Return a sender of answers with the headers that keep them private."""

    async def guarded(message: Any) -> None:
        if message["type"] == "http.response.start":
            own = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
            message = {**message, "headers": [*message.get("headers", ()), *own]}
        await send(message)

    return guarded


def _limited(receive: Receive) -> Receive:
    """Return a receiver of a body, up to the limit."""
    taken = 0

    async def limited() -> Any:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > LARGEST:
            return {"type": "http.disconnect"}
        return message

    return limited
