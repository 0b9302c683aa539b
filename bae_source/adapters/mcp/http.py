"""The protocol over HTTP, on this machine's loopback address alone.

Invariants:
- a web page cannot use it through a name of its own: requests with another Host or Origin than ours are refused;
- a body beyond the limit is refused before it is looked at, and so are clients beyond the limit.
"""

from __future__ import annotations

import socket
from typing import Any

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings

from bae_source.adapters.mcp.loopback import HOST, NAMES, PATH

LARGEST = 64 * 1024 * 1024
"""Bytes of a body."""
MOST = 256
"""Connections at once."""
MOST_SESSIONS = 1_000


def web_server(server: Server[Any], listening: socket.socket) -> uvicorn.Server:
    """Return what serves a server to the clients of a socket."""
    port = listening.getsockname()[1]
    application = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=LARGEST,
        max_sessions=MOST_SESSIONS,
        host=HOST,
        transport_security=TransportSecuritySettings(
            allowed_hosts=[f"{name}:{port}" for name in NAMES],
            allowed_origins=[f"http://{name}:{port}" for name in NAMES],
        ),
    )
    return uvicorn.Server(
        uvicorn.Config(
            application,
            log_config=None,
            log_level="critical",
            access_log=False,
            limit_concurrency=MOST,
            timeout_graceful_shutdown=2,
            ws="none",
            server_header=False,
        )
    )
