"""Starts of processes of `facts.pool`: as a program, or as a copy of this process where that is ours.

    Program()       Python, which loads what it needs: a tenth of a second
    Copy()          a fork, which has all that is loaded here: a few milliseconds

Invariants:
- it leads a session of its own, and has no terminal and no open file but its two pipes;
- it is killed with all that it started, and ends by itself when nobody is left to write to it;
- a copy is taken only where the caller says that the process is ours, and where one thread runs and nobody watches;
- a copy does nothing of what this process would do: it handles no signal, finishes nothing, and writes nothing.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # what signal is, without the time that its names take
import os
import sys
from collections.abc import Collection
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NoReturn, Protocol

import msgspec

from bae_source.project.facts.worker import serve
from bae_source.system.watching import is_watched

_CODE = (
    "import gc; gc.disable(); import sys, os; os.chdir('/'); "
    "sys.path += [p for p in sys.argv[1:] if p not in sys.path]; "
    "sys.modules['typing_extensions'] = None; import msgspec; del sys.modules['typing_extensions']; "
    "from bae_source.project.facts.worker import serve; serve()"
)
"""What a program runs; msgspec can do without typing_extensions, which takes a quarter of the start."""
_THREADS, _OPEN = Path("/proc/self/task"), Path("/proc/self/fd")


class Process(Protocol):
    """A process that was started.

    Attributes:
        pid: of the process, and of the session that it leads.
        stdin: the descriptor that it reads from, this end.
        stdout: the descriptor that it writes to, this end.
    """

    pid: int
    stdin: int
    stdout: int

    def end(self) -> None:
        """Kill the process with all that it started, and leave nothing of it."""


class Program:
    """A process that runs Python anew.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self) -> None:
        import subprocess  # 10 ms, which only those pay who ask about many files and cannot be copied

        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _CODE, *_search_path()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.pid = self._process.pid
        self.stdin, self.stdout = self._process.stdin.fileno(), self._process.stdout.fileno()

    def end(self) -> None:
        """Kill the process with all that it started, and leave nothing of it."""
        if self._process.returncode is None:
            _kill(self.pid)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            with suppress(OSError):  # what was not sent is not wanted
                stream.close()


class Copy:
    """A process that is a copy of this one; only for a process that `can_be_copied`.

    Raises:
        OSError: there can be no other process now.
    """

    def __init__(self) -> None:
        handled = [number for number in signal.valid_signals() if callable(signal.getsignal(number))]
        with ExitStack() as failed:
            with ExitStack() as its:
                asked, self.stdin = _pipe(its, failed)
                self.stdout, answered = _pipe(failed, its)
                # a signal in between would be handled by the copy too, or leave us with one that we know nothing of
                before = signal.pthread_sigmask(signal.SIG_BLOCK, handled)
                its.callback(signal.pthread_sigmask, signal.SIG_SETMASK, before)
                self.pid = os.fork()
                if self.pid == 0:
                    _work(asked, answered, handled, before)
                failed.pop_all()
                failed.callback(self.end)
            failed.pop_all()

    def end(self) -> None:
        """Kill the process with all that it started, and leave nothing of it."""
        _kill(self.pid)
        with suppress(ChildProcessError):  # whoever started us has the system forget children as they end
            os.waitpid(self.pid, 0)
        os.close(self.stdin)
        os.close(self.stdout)


def can_be_copied() -> bool:
    """Say whether nothing goes on in this process that a copy would break: one thread alone, and nobody who watches."""
    if sys.platform != "linux" or is_watched():
        return False
    try:
        return len(list(_THREADS.iterdir())) == 1  # threads that Python does not know of included
    except OSError:
        return False


def _pipe(reading: ExitStack, writing: ExitStack) -> tuple[int, int]:
    """Return the ends of a pipe to read from and to write to; each stack closes one."""
    reader, writer = os.pipe()
    reading.callback(os.close, reader)
    writing.callback(os.close, writer)
    return reader, writer


def _work(asked: int, answered: int, handled: Collection[int], mask: Collection[int]) -> NoReturn:
    """Be the copy, to its end: nothing that was begun in this process is ever gone on with."""
    try:
        for number in handled:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        os.setsid()
        _keep_only(asked, answered)
        serve()
    finally:
        os._exit(1)


def _keep_only(asked: int, answered: int) -> None:
    """Have two pipes as standard input and output, and close every other file: locks, the cache, pipes of others."""
    _close({2} - {asked, answered})  # so that there is room to look, though no more files could be opened
    _close({int(each.name) for each in _OPEN.iterdir()} - {asked, answered})
    import fcntl  # which Windows has not, as it has no forks

    files = asked, answered, os.open(os.devnull, os.O_RDWR)
    ends = [fcntl.fcntl(file, fcntl.F_DUPFD, 3) for file in files]
    for number, file in enumerate(ends):
        os.dup2(file, number)
    _close({*files, *ends} - {0, 1, 2})


def _close(files: Collection[int]) -> None:
    for file in files:
        with suppress(OSError):  # the folder of open files is among them, and closed already
            os.close(file)


def _kill(pid: int) -> None:
    """Kill a session, and its leader, which may not have come to make it one."""
    for kill in (os.killpg, os.kill):
        with suppress(ProcessLookupError):
            kill(pid, signal.SIGKILL)


def _search_path() -> list[str]:
    """Return where the process finds modules, what we need ourselves before anything else that is on our path."""
    first = [str(Path(file).parent.parent) for file in (msgspec.__file__,) if file]
    home = str(Path(__file__).parents[3])
    rest = [path for path in sys.path if path and Path(path).is_absolute()]
    return list(dict.fromkeys([*first, home, *rest]))
