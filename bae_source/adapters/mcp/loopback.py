"""The address on which a server over HTTP listens: this machine's own, which nobody else reaches."""

from __future__ import annotations

import socket

from bae_source.errors import RequestError

HOST = "127.0.0.1"
NAMES = (HOST, "localhost")
"""By which clients may call it."""
PATH = "/mcp"


def bound(port: int) -> socket.socket:
    """Return a socket that listens on a port of the loopback address; on any free one for 0.

    Raises:
        RequestError: `invalid_arguments` if there is no such port, or somebody else has it.
    """
    try:
        return socket.create_server((HOST, port))
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or "there is no such port"
        raise RequestError(
            "invalid_arguments",
            f"Port {port} cannot be listened on: {why}.",
            hints=["Give another one, or 0 for any that is free."],
        ) from None


def url_of(listening: socket.socket) -> str:
    """Return where clients find the server."""
    return f"http://{HOST}:{listening.getsockname()[1]}{PATH}"
