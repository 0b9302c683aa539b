"""The server of the page, on a socket that is bound already."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from pathlib import Path

import uvicorn

from bae_source.adapters.mcp.secret import Secret
from bae_source.adapters.web.application import application
from bae_source.adapters.web.desk import Desk
from bae_source.engine.approving.deciding import Person


def serve(
    root: Path,
    environment: Mapping[str, str],
    person: Person,
    listening: socket.socket,
    secret: Secret,
    hosts: tuple[str, ...],
) -> None:
    """Serve until Ctrl-C.

    Parameters:
        root: the project's folder.
        person: who decides.
        hosts: the names, with the port, by which the page is called.
    """
    config = uvicorn.Config(
        application(Desk(root, environment, person), secret, hosts),
        log_config=None,
        log_level="critical",
        access_log=False,
        ws="none",
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=2,
    )
    uvicorn.Server(config).run(sockets=[listening])
