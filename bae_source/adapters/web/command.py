"""`review`, which opens the page; what it needs is loaded only once it is called."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from bae_source.adapters.cli.streams import Streams
from bae_source.adapters.deciding.review import review as at_terminal
from bae_source.adapters.deciding.terminal import check_terminal, engine_of, person_of
from bae_source.adapters.mcp.loopback import HOST, NAMES, bound
from bae_source.adapters.mcp.secret import secret_from
from bae_source.adapters.web.opening import opened
from bae_source.errors import RequestError
from bae_source.model.outcome import Outcome


def review(given: Mapping[str, Any], streams: Streams) -> Outcome:
    """Serve the page until Ctrl-C, or go through what waits at the terminal.

    Parameters:
        given: `terminal`, `port`, `no_browser`, `who`, `meta`, `root`, as far as they were given.

    Raises:
        Refused: `forbidden` where no person is at a terminal.
        RequestError: `unknown_operation` without the extra; `invalid_arguments`.
    """
    if given.get("terminal"):
        return at_terminal(given, streams)
    check_terminal(streams, "review")
    try:
        from bae_source.adapters.web.desk import Desk
        from bae_source.adapters.web.serving import serve
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn"):
            raise
        raise RequestError(
            "unknown_operation",
            "The page needs starlette and uvicorn.",
            hints=['pip install "bae-source[web]", or review --terminal.'],
        ) from None
    environment = dict(streams.environment)
    desk = Desk(lambda: engine_of(given, environment), person_of(given, streams))
    secret = secret_from(None, {})
    socket = bound(given.get("port", 0))
    port = socket.getsockname()[1]
    address = f"http://{HOST}:{port}/#{secret.text}"
    streams.stderr.write(f"Review on {address}\nWho has this address decides as you. Ctrl-C ends it.\n")
    hosts = tuple(f"{name}:{port}" for name in NAMES)
    with ExitStack() as until_there:
        if not given.get("no_browser"):
            try:
                until_there.enter_context(opened(address))
            except (OSError, RuntimeError):  # no home
                streams.stderr.write("No browser was started, as the home folder cannot be written.\n")
        serve(desk, socket, secret, hosts, until_there.close)
    return Outcome(status="answer", text="The page is closed; what was decided stands.")
