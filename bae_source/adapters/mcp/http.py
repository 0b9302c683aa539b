"""The protocol over HTTP, on this machine's loopback address alone.

    connection (how many, how long) -> gate (the secret) -> sessions (how many) -> the SDK

Invariants:
- a client without the secret gets no answer (`gate`), and takes no place of one that has it (`connections`);
- a web page cannot use it through a name of its own: requests with another Host or Origin than ours are refused;
- a body beyond the limit is refused before it is looked at.
"""

from __future__ import annotations

from typing import Any

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings

from bae_source.adapters.mcp import connections
from bae_source.adapters.mcp.gate import Gate
from bae_source.adapters.mcp.loopback import HOST, NAMES, PATH, Listening
from bae_source.adapters.mcp.sessions import Sessions

LARGEST = 64 * 1024 * 1024
"""Bytes of a body."""
MOST_SESSIONS = 256
IDLE_SECONDS = 30 * 60.0
"""Seconds without a request after which a session ends."""


def web_server(server: Server[Any], listening: Listening) -> uvicorn.Server:
    """Return the web server of an MCP server, for clients that have the secret."""
    port = listening.socket.getsockname()[1]
    application = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=LARGEST,
        max_sessions=MOST_SESSIONS + connections.MOST_CLIENTS,  # those that begin at this moment are not counted yet
        session_idle_timeout=IDLE_SECONDS,
        host=HOST,
        transport_security=TransportSecuritySettings(
            allowed_hosts=[f"{name}:{port}" for name in NAMES],
            allowed_origins=[f"http://{name}:{port}" for name in NAMES],
        ),
    )
    return connections.server(Gate(Sessions(application, MOST_SESSIONS), listening.secret, connections.admit))
