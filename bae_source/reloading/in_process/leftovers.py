"""What running a module left behind in this process outside of modules: said, since it cannot be taken back.

Only what is cheap to see is looked at. It is seen by comparing before and after, so that what another thread did
meanwhile is seen as well: the words say "meanwhile".

Invariant: nothing is changed. The environment is read here, and only to tell which variables changed.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Mapping
from typing import Any

_MOST = 5


class Leftovers:
    """What there was before modules ran."""

    def __init__(self) -> None:
        self._before = _look()

    def said(self) -> str:
        """Return what came since, as a part of a sentence; "" for nothing."""
        before, after = self._before, _look()
        threads = [thread.name for thread in after["threads"] if thread not in before["threads"]]
        variables = _changed(before["environment"], after["environment"])
        signals = [signal.Signals(number).name for number in _changed(before["signals"], after["signals"])]
        parts = [
            _listed("started threads", threads),
            _counted("atexit registrations", after["atexit"] - before["atexit"]),
            _listed("changed environment variables", variables),
            _counted("logging handlers", after["handlers"] - before["handlers"]),
            _listed("set signal handlers", signals),
            "changed the working directory" if before["folder"] != after["folder"] else "",
            "changed sys.path" if before["path"] != after["path"] else "",
            _listed("replaced", [f"sys.{name}" for name in _changed(before["streams"], after["streams"])]),
        ]
        return ", ".join(part for part in parts if part)


def _look() -> dict[str, Any]:
    return {
        "threads": threading.enumerate(),
        "atexit": getattr(atexit, "_ncallbacks", int)(),
        "environment": dict(os.environ),
        "handlers": _logging_handlers(),
        "signals": {number: signal.getsignal(number) for number in signal.Signals},
        "folder": _folder(),
        "path": list(sys.path),
        "streams": {name: id(getattr(sys, name, None)) for name in ("stdin", "stdout", "stderr", "excepthook")},
    }


def _logging_handlers() -> int:
    logging = sys.modules.get("logging")  # a process that never imported it has none
    if logging is None:
        return 0
    loggers = [logging.getLogger(), *list(logging.Logger.manager.loggerDict.values())]
    return sum(len(logger.handlers) for logger in loggers if isinstance(logger, logging.Logger))


def _folder() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 - compared, never shown
    except OSError:
        return ""


def _changed(before: Mapping[Any, Any], after: Mapping[Any, Any]) -> list[Any]:
    return [key for key in {**before, **after} if before.get(key) != after.get(key)]


def _listed(what: str, names: list[str]) -> str:
    if not names:
        return ""
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return f"{what} ({', '.join(names[:_MOST])}{more})"


def _counted(what: str, count: int) -> str:
    return f"added {what} ({count})" if count > 0 else ""
