"""Start the command line: `python -m bae_source VERB …`, and the console script `bae-source`.

Invariants:
- whatever interrupts the process, also while it is still loading, ends it without a traceback;
- what was registered for the end of the process is done, and what was written is flushed, before it ends;
- no module of the project is taken for one of ours or of a library: run as a program, this looks in no folder that was
  put first on the path for it. `python -m` has left it out already; `python FILE` and a profiler's `-m` have not.
"""

import sys

if (
    __name__ == "__main__"
    and not sys.flags.safe_path
    and getattr(sys.modules.get("bae_source"), "_folder_left_out", None) is None
):
    del sys.path[0]  # before anything else is imported

import _signal as signal  # type: ignore[import-not-found]  # what signal is, without the 1 ms that its names take
import atexit
import gc
import os
import time

TYPE_CHECKING = False
"""As `typing` has it: nothing is loaded here that an answer of a server does without."""
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import NoReturn

INTERRUPTED = 130
_OBJECTS = 500_000
"""New objects after which a process of our own looks for cycles among them: one answer makes fewer, and ends with its
process, so that no time goes into a search (a tenth of it, else), and garbage stays bounded."""


_UNNEEDED = "typing_extensions"
"""Loaded by msgspec where it is installed, for 15 ms, of what `typing` has as well."""


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
        if not process_is_ours:
            return _loaded(process_is_ours)()
        from bae_source.adapters.serve import client  # Ctrl-C while it loads must not show a traceback

        return client.through_server(lambda: _loaded(process_is_ours), _unwritten)
    except KeyboardInterrupt:
        return INTERRUPTED


def start() -> "NoReturn":
    """Run the command line and end this process, without taking apart first what it holds: that takes 20 ms.

    No thread of ours has work left by then, and connections have been closed by those who opened them. A debugger or
    profiler that watches gets its usual end.
    """
    _stop_clock()
    status = main(process_is_ours=True)
    try:
        from bae_source.system.watching import is_watched  # Ctrl-C while it loads must not show a traceback

        if is_watched():
            sys.exit(status)
        atexit._run_exitfuncs()  # noqa: SLF001  # there is no other way to have them run before `_exit`
    except KeyboardInterrupt:  # whatever is being ended is then not waited for
        pass
    for stream in (sys.stdout, sys.stderr):
        try:  # noqa: SIM105 - contextlib takes a millisecond
            stream.flush()
        except (OSError, ValueError, AttributeError):  # gone or closed; what matters was flushed when written
            pass
    os._exit(status)


def _loaded(process_is_ours: bool) -> "Callable[[], int]":
    """Load the command line; nothing of it will ever be garbage, so the collector need not look at it."""
    collecting = gc.isenabled()
    gc.disable()
    is_left_out = process_is_ours and sys.modules.setdefault(_UNNEEDED, None) is None  # type: ignore[arg-type]
    try:
        from bae_source.adapters.cli import cli  # heavy: Ctrl-C while it loads must not show a traceback

        gc.freeze()
        if process_is_ours:
            gc.set_threshold(_OBJECTS)
    finally:
        if is_left_out:
            del sys.modules[_UNNEEDED]
        if collecting:
            gc.enable()
    door = cli.through_own_process if process_is_ours else cli.through_service
    return lambda: cli.main(door=door)


def _unwritten(error: OSError, status: int) -> int:
    from bae_source.adapters.cli import cli  # heavy, as above

    return cli.unwritten(error, status)


def _stop_clock() -> None:
    """Let a clock that Python cannot tell stand still: from the year 2262 on, libraries that ask it would not load."""
    try:
        time.time()
    except OverflowError:
        last = 2**63 - 1
        time.time_ns, time.time = lambda: last, lambda: last / 1e9


def _interrupt(_number: int, _frame: "FrameType | None") -> None:
    """End as Ctrl-C does: what was begun is taken back, and no child is left behind."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    start()
