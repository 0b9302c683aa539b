"""The server of the page, on a socket that is bound already."""

from __future__ import annotations

import socket

import uvicorn

from bae_source.adapters.mcp.secret import Secret
from bae_source.adapters.web.application import application
from bae_source.adapters.web.desk import Desk


def serve(desk: Desk, listening: socket.socket, secret: Secret, hosts: tuple[str, ...]) -> None:
    """Serve until Ctrl-C.

    Parameters:
        desk: the engine, and who decides.
        hosts: the names, with the port, by which the page is called.
    """
    config = uvicorn.Config(
        application(desk, secret, hosts),
        log_config=None,
        log_level="critical",
        access_log=False,
        ws="none",
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=2,
    )
    uvicorn.Server(config).run(sockets=[listening])
