"""A process that runs nothing but code of ours, as a program or as a copy of this process where that is ours.

    Own(python("package.module:function"))      Python anew, which loads what it needs: a tenth of a second
    Own(function)                               a fork, which has all that is loaded here: a few milliseconds

It is spoken with by frames on its standard input and output, and is to end when its input does.

Invariants:
- it leads a session of its own (on Linux; elsewhere a group), and is killed with all that it started;
- a copy is made only where the caller says that the process is ours, and where one thread runs and nothing traces it;
- a copy does nothing of what this process would do: it handles no signal, finishes nothing, and writes nothing.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # what signal is, without the time that its names take
import os
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NoReturn

from bae_source.system.frames import Channel, Frames
from bae_source.system.own_path import own_path
from bae_source.system.watching import is_watched

_CODE = (
    "import sys; function, count, *rest = sys.argv[1:]; given, path = rest[:int(count)], rest[int(count):]; "
    "sys.path += [each for each in path if each not in sys.path]; del sys.argv[1:], rest, path, count; "
    "getattr(__import__(function.partition(':')[0], fromlist=['*']), function.partition(':')[2])(*given)"
)
_APART = {"setsid": True} if sys.platform == "linux" else {"setpgroup": 0}
_NO_ERRORS = (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_RDWR, 0)


def python(function: str, *given: str) -> list[str]:
    """Return the command by which Python calls a function of ours; it finds modules where this process has its own."""
    import msgspec  # what we need ourselves comes before anything else that is on our path

    first = [str(Path(file).parent.parent) for file in (msgspec.__file__,) if file]
    rest = [path for path in own_path() if path and Path(path).is_absolute()]
    path = dict.fromkeys([*first, str(Path(__file__).parents[2]), *rest])
    return [sys.executable, "-I", "-S", "-c", _CODE, function, str(len(given)), *given, *path]


class Own:
    """The process.

    Parameters:
        work: the command that it runs, or what a copy of this process does; that only where `can_be_copied`.

    Attributes:
        pid: of the process.
        channel: to it.

    Raises:
        OSError: there can be no other process now.
    """

    def __init__(self, work: Sequence[str] | Callable[[], Any]) -> None:
        handled = [number for number in signal.valid_signals() if callable(signal.getsignal(number))]
        with ExitStack() as failed:
            with ExitStack() as its:
                asked, out = _pipe(its, failed)
                into, answered = _pipe(failed, its)
                self.channel = Channel(out, into, Frames().take)
                # a signal in between would be handled by a copy too, or leave us with a process of unknown id
                before = signal.pthread_sigmask(signal.SIG_BLOCK, handled)
                its.callback(signal.pthread_sigmask, signal.SIG_SETMASK, before)
                if callable(work):
                    self.pid = os.fork()
                    if self.pid == 0:
                        _work(work, asked, answered, handled, before)
                else:
                    streams = (os.POSIX_SPAWN_DUP2, asked, 0), (os.POSIX_SPAWN_DUP2, answered, 1), _NO_ERRORS
                    how: dict[str, Any] = {"file_actions": streams, "setsigmask": before, **_APART}
                    self.pid = os.posix_spawn(work[0], list(work), os.environ, **how)
                failed.pop_all()
                failed.callback(self.end)
            failed.pop_all()

    def end(self) -> None:
        """Kill the process with all that it started, and leave nothing of it."""
        for kill in (os.killpg, os.kill):  # a copy may not have come to lead a session
            with suppress(ProcessLookupError, PermissionError):
                kill(self.pid, signal.SIGKILL)
        with suppress(ChildProcessError):  # our parent has the system forget children as they end
            os.waitpid(self.pid, 0)
        os.close(self.channel.out)
        os.close(self.channel.into)


def can_be_copied() -> bool:
    """Return whether this process can be copied safely: it has one thread alone, and nothing traces it."""
    if sys.platform != "linux" or is_watched():
        return False
    try:
        return len(os.listdir("/proc/self/task")) == 1  # noqa: PTH208  # threads that Python does not know of included
    except OSError:
        return False


def keep_streams() -> None:
    """Close every file of this process but standard input and output: locks, the cache, pipes of others."""
    with suppress(OSError):
        os.close(2)  # so that there is room to look, though no more files could be opened
    os.closerange(3, max(map(int, os.listdir("/dev/fd"))) + 1)  # noqa: PTH208
    os.open(os.devnull, os.O_RDWR)  # which is standard error then


def _work(
    work: Callable[[], Any], asked: int, answered: int, handled: Collection[int], mask: Collection[int]
) -> NoReturn:
    """Be the copy, to its end: nothing that was begun in this process is ever gone on with."""
    try:
        for number in handled:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        os.setsid()
        os.dup2(asked, 0)
        os.dup2(answered, 1)
        work()
    finally:
        os._exit(1)


def _pipe(reading: ExitStack, writing: ExitStack) -> tuple[int, int]:
    """Return the ends of a pipe to read from and to write to; each stack closes one."""
    reader, writer = os.pipe()
    reading.callback(os.close, reader)
    writing.callback(os.close, writer)
    return reader, writer
