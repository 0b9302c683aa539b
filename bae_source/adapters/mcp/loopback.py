"""The address on which a server over HTTP listens: this machine's own, which no other machine reaches."""

from __future__ import annotations

import socket

from msgspec import Struct

from bae_source.adapters.mcp.secret import Secret
from bae_source.errors import RequestError

HOST = "127.0.0.1"
NAMES = (HOST, "localhost")
"""By which clients may call it."""
PATH = "/mcp"
"""The end of an address, behind the secret unless that is sent as a header."""


class Listening(Struct, frozen=True, kw_only=True):
    """The address at which clients come in, and the secret that they have to show."""

    socket: socket.socket
    secret: Secret


def bound(port: int) -> socket.socket:
    """Return a socket that listens on a port of the loopback address; on any free one for 0.

    Raises:
        RequestError: `invalid_arguments` if there is no such port, or another process has it.
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


def sentence_on(listening: Listening) -> str:
    """Return a sentence that says where clients find the server; it has the secret if there is no other way to it."""
    base, secret = f"http://{HOST}:{listening.socket.getsockname()[1]}", listening.secret
    if not secret.origin:
        return f"Listening on {base}/{secret.text}{PATH}"
    return f"Listening on {base}{PATH}, for clients that send the secret from {secret.origin} as Authorization: Bearer"
