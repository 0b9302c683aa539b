"""The server of the page, on a socket that is bound already."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

from bae_source.adapters.mcp.connections import admit, server
from bae_source.adapters.mcp.secret import Secret
from bae_source.adapters.web.application import application
from bae_source.adapters.web.desk import Desk


def serve(
    desk: Desk, listening: socket.socket, secret: Secret, hosts: tuple[str, ...], arrived: Callable[[], None]
) -> None:
    """Serve until Ctrl-C.

    Parameters:
        desk: the engine, and who decides.
        hosts: the names, with the port, by which the page is called.
        arrived: called whenever a request has shown the token.
    """

    def admitted(state: Any) -> None:
        admit(state)
        arrived()

    answering = application(desk, secret, hosts, admitted)
    server(answering, date_header=False).run(sockets=[listening])
