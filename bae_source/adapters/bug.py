"""The report of an unexpected exception: one sentence and how to report it, never a traceback."""

from __future__ import annotations

import sys
import time

from bae_source.errors import Refused
from bae_source.model.outcome import Failure, Outcome, failed

BUG = 70
"""The exit status of a command that met one."""


def bug(error: BaseException, doing: str) -> Outcome:
    """Return the outcome of an unexpected exception.

    Parameters:
        doing: the verb of the request.
    """
    if isinstance(error, OverflowError) and _clock_is_lost():
        message = f"This machine's clock is past the year 2262, where Python cannot tell the time that {doing} needs."
        return failed(Refused("forbidden", message, hints=["Set the clock, and try again."]))
    python = ".".join(map(str, sys.version_info[:3]))
    message = (
        f"This is a bug of bae_source {version()}: {doing} raised {type(error).__name__} "
        f"(Python {python}, {sys.platform})."
    )
    hints = (
        "Please report it with this message, the command, and the traceback that BAE_SOURCE_TRACEBACK=1 shows.",
        "If a change had begun, it was taken back.",
    )
    return Outcome(
        status="error",
        text=message,
        complete=False,
        errors=(Failure(code="internal_error", message=message, hints=hints),),
        next_actions=hints,
        exit_code=BUG,
    )


def _clock_is_lost() -> bool:
    try:
        time.time()
    except OverflowError:
        return True
    return False


def version() -> str:
    """Return the version of the package that is installed."""
    from importlib import metadata  # 8 ms, for reports and --version

    try:
        return metadata.version("bae-source")
    except metadata.PackageNotFoundError:
        return "(run from a checkout)"
