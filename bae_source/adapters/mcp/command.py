"""`mcp`, the verb of the command line that serves; what it needs is loaded only once it is called."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from bae_source.adapters.cli.streams import Streams
from bae_source.adapters.mcp.loopback import Listening, bound
from bae_source.adapters.mcp.offer import offered
from bae_source.adapters.mcp.secret import OPTION, secret_from
from bae_source.adapters.offer import CORE
from bae_source.engine.service import find_root
from bae_source.errors import RequestError
from bae_source.model.outcome import Outcome
from bae_source.model.page import USUAL
from bae_source.model.request import SMALLEST_BUDGET


def serve(given: Mapping[str, Any], streams: Streams) -> Outcome:
    """Serve until the client has gone.

    Parameters:
        given: `root`, `http`, `secret_file`, `profile`, `read_only`, `tools`, `meta`, `who` and `budget`, as far as
            they were given.

    Raises:
        RequestError: `unknown_operation` without the extra, or for a tool that there is not; `invalid_arguments`.
    """
    if not hasattr(signal, "pthread_kill"):
        raise RequestError("unknown_operation", "The server needs Linux or macOS.", hints=["Use the command line."])
    root = Path(given["root"]) if "root" in given else find_root(Path.cwd(), streams.environment)
    if not os.path.isdir(root):  # noqa: PTH112 - false where one may not look
        raise RequestError("invalid_arguments", f"The root {str(root)!r} is no folder.", hints=["Check --root."])
    budget = given.get("budget", USUAL)
    if budget < SMALLEST_BUDGET:
        raise RequestError("invalid_arguments", f"The budget is at least {SMALLEST_BUDGET}.", hints=["Check --budget."])
    if "http" not in given and (sys.stdin is None or sys.stdout is None):  # closed by the parent process
        raise RequestError(
            "invalid_arguments",
            "Standard input or output is closed, and the protocol needs both.",
            hints=["Have the client start the server, or use --http PORT."],
        )
    profile, read_only = given.get("profile", CORE), bool(given.get("read_only"))
    tools, meta = given.get("tools", ()), bool(given.get("meta"))
    offer = offered(tools, profile=profile, read_only=read_only, meta=meta)
    if meta and tools:
        raise RequestError(
            "invalid_arguments",
            "--meta is reached through call and change, which make the calls of all verbs, and --tools names a few.",
            hints=["Leave one of them out."],
        )
    if "secret_file" in given and "http" not in given:
        raise RequestError("invalid_arguments", f"{OPTION} is for --http alone.", hints=["Give --http PORT as well."])
    listening = None
    if "http" in given:
        secret = secret_from(given.get("secret_file"), streams.environment)
        listening = Listening(socket=bound(given["http"]), secret=secret)
    with _apart_from(root):
        serving = _serving()
    if listening is None and streams.stdin_terminal:
        streams.stderr.write("Waiting for an MCP client on standard input; Ctrl-C ends it.\n")
    wanted = serving.Wanted(
        root=root,
        offer=offer,
        who=given.get("who") or streams.environment.get("BAE_SOURCE_WHO"),
        budget=budget,
        listening=listening,
    )
    serving.serve(wanted, dict(streams.environment), lambda text: streams.stderr.write(text + "\n"))
    return Outcome(status="answer")


@contextmanager
def _apart_from(root: Path) -> Iterator[None]:
    """Import nothing that lies in the project: `python -m` looks first where it is started."""
    before = list(sys.path)
    folders = {os.path.realpath(root), os.path.realpath(Path.cwd())}
    sys.path[:] = [folder for folder in before if os.path.realpath(folder or Path.cwd()) not in folders]
    try:
        yield
    finally:
        sys.path[:] = before


def _serving() -> ModuleType:
    """Load what needs the SDK.

    Raises:
        RequestError: `unknown_operation`, if a package of the extra is not there.
    """
    collecting = gc.isenabled()
    gc.disable()  # what is loaded now is never garbage, and there is much of it
    try:
        from bae_source.adapters.mcp import serving  # a second, for the SDK

        gc.freeze()
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "bae_source":
            raise
        raise RequestError(
            "unknown_operation",
            f"The MCP server cannot start: its package {error.name} is not installed.",
            hints=['pip install "bae-source[mcp]"'],
        ) from None
    finally:
        if collecting:
            gc.enable()
    return serving
