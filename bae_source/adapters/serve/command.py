"""`serve`, the verb of the command line: a server in the foreground, and the state of one that runs."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from bae_source.adapters.cli.streams import Streams
from bae_source.adapters.serve import meeting
from bae_source.adapters.serve.client import NoServer, asked
from bae_source.adapters.serve.server import IDLE, Running, Server, served
from bae_source.errors import RequestError, TransactionError
from bae_source.model.outcome import Outcome

_SECONDS = 10.0
_NONE = "No server runs."


def serve(given: Mapping[str, Any], streams: Streams) -> Outcome:
    """Serve until it is time to end; or say how it stands with the server that runs, or end that.

    Parameters:
        given: `idle`, `status` and `stop`, as far as they were given.

    Raises:
        RequestError: `unknown_operation` where there can be no server, `invalid_arguments`.
        TransactionError: `write_failed` where it cannot listen.
    """
    stem = meeting.stem_in(dict(streams.environment)) if sys.platform == "linux" else None
    if stem is None:
        raise RequestError(
            "unknown_operation",
            "A server needs Linux, and XDG_RUNTIME_DIR has to name a folder that is closed to all other users.",
            hints=["Commands work without one."],
        )
    if "stop" in given or "status" in given:
        return Outcome(status="answer", text=_reply(stem, meeting.STOP if "stop" in given else meeting.STATUS))
    idle = given.get("idle")
    if idle is not None and not (math.isfinite(idle) and idle > 0):
        raise RequestError("invalid_arguments", "--idle takes a number of seconds above 0.", hints=["Check --idle."])
    return Outcome(status="answer", text=_served(stem, idle, streams))


def _reply(stem: str, kind: bytes) -> str:
    """Send the running server a request, and return its answer as an outcome."""
    request = meeting.framed(b"\0".join((meeting.MAGIC, kind, meeting.world())))
    try:
        if not meeting.is_private(os.path.dirname(stem)):
            return _NONE
        reply = asked(stem + meeting.SOCKET, request, _SECONDS)
    except NoServer:
        return _NONE
    except OSError as error:
        return f"A server runs, and does not answer now: {error.strerror or error}. It may be busy; ask again."
    if not reply.startswith(meeting.ACCEPTED):
        return "A server runs that this version does not understand; it ends when it is not asked any more."
    text = reply[1:].decode("utf-8", "surrogateescape")
    return text if kind == meeting.STATUS else f"The server that ran as process {text} ends."


def _served(stem: str, idle: float | None, streams: Streams) -> str:
    """Be the server."""
    os.chdir("/")  # so that no folder stays in use
    try:
        with suppress(KeyboardInterrupt):
            served(
                Server(stem, idle=IDLE if idle is None else idle),
                lambda: streams.stderr.write("Serving reads of this user's shells; Ctrl-C ends it.\n"),
            )
    except Running:
        raise RequestError(
            "invalid_arguments", "A server runs already.", hints=["serve --status tells of it, serve --stop ends it."]
        ) from None
    except OSError as error:
        raise TransactionError("write_failed", f"The server cannot listen: {error.strerror}.") from None
    return "The server has ended."
