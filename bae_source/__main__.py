"""Start the command line: `python -m bae_source VERB …`, and the console script `bae-source`.

Invariants:
- whatever interrupts the process, also while it is still loading, ends it without a traceback;
- what was registered for the end of the process is done, and what was written is flushed, before it ends;
- no module of the project is taken for one of ours or of a library: `python -m` would look in the current folder first.
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]  # before anything else is imported

import _signal as signal  # type: ignore[import-not-found]  # what signal is, without the 1 ms that its names take
import gc
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import FrameType, SimpleNamespace
from typing import NoReturn

INTERRUPTED = 130


def main(*, process_is_ours: bool = False) -> int:
    """Run the command line on this process's arguments and return its exit status.

    Parameters:
        process_is_ours: whether the process was started for this and nothing else.
    """
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:  # nohup has it ignored
            signal.signal(number, _interrupt)
    try:
        return _loaded(process_is_ours)()
    except KeyboardInterrupt:
        return INTERRUPTED


def start() -> NoReturn:
    """Run the command line and end this process, without taking apart first what it holds: that takes 20 ms.

    No thread of ours has work left by then, and connections have been closed by those who opened them. A debugger or
    profiler that watches gets its usual end.
    """
    import atexit  # only a process that is ours is ended so

    status = main(process_is_ours=True)
    if sys.gettrace() is not None or sys.getprofile() is not None:
        sys.exit(status)
    with suppress(KeyboardInterrupt):  # whatever is being ended is then not waited for
        atexit._run_exitfuncs()  # noqa: SLF001  # there is no other way to have them run before `_exit`
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # gone or closed; what matters was flushed when written
            stream.flush()
    os._exit(status)


def _loaded(process_is_ours: bool) -> Callable[[], int]:
    """Load the command line; nothing of it will ever be garbage, so the collector need not look at it."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        _load_values(process_is_ours)
        from bae_source.adapters import cli  # heavy: Ctrl-C while it loads must not show a traceback

        gc.freeze()
    finally:
        if collecting:
            gc.enable()
    door = cli.through_own_process if process_is_ours else cli.through_service
    return lambda: cli.main(door=door)


def _load_values(process_is_ours: bool) -> None:
    """Load what values are made of without what it takes for things that we do not ask of it: that costs 25 ms.

    msgspec takes typing_extensions before typing where it is there, and textwrap to dedent what schemas say of a class.
    Before Python 3.13, uuid has platform tell the system's name, and pathlib loads all of urllib to quote what becomes
    a URI; who shares a process may want them.
    """
    if process_is_ours and sys.version_info < (3, 13):
        _load("uuid", {"platform": SimpleNamespace(system=lambda: os.uname().sysname)})
        _load("pathlib", {"urllib.parse": SimpleNamespace(quote_from_bytes=_quoted)})
    dedenting = {"textwrap": SimpleNamespace(dedent=_dedented)} if process_is_ours else {}
    _load("msgspec", {"typing_extensions": None, **dedenting})


def _load(name: str, instead: Mapping[str, SimpleNamespace | None]) -> None:
    """Load a library while others that it asks for are missing, or something else stands there in their place."""
    replaced = {each: it for each, it in instead.items() if each not in sys.modules}
    if name in sys.modules or not replaced:
        return
    sys.modules.update(replaced)  # type: ignore[arg-type]
    try:
        __import__(name)
    finally:
        for each in replaced:
            del sys.modules[each]


def _quoted(path: bytes) -> str:
    from urllib.parse import quote_from_bytes  # heavy, and hardly anybody asks

    return quote_from_bytes(path)


def _dedented(text: str) -> str:
    from textwrap import dedent  # 1 ms, which only those pay who ask for schemas

    return dedent(text)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    """End as Ctrl-C does: what was begun is taken back, and no child is left behind."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    start()
