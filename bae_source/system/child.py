"""A child process that cannot write on our terminal, or outlive its time or this process, however this one ends.

    Child(command, folder=…, environment=…)     started; ended with all that it started by `end`, or when unreferenced
    run(command, …)                             started, read, and ended

Invariants:
- the command is a list, never a shell's line; there is no terminal;
- the child leads a session of its own below a process that ends all of it with us (`supervisor`): on Ctrl-C, when this
  process is killed, and when nothing refers to the child any more; a fork of this process has no part in it;
- of what `run` reads, at most the last `limit` bytes of each stream are kept, however much is written;
- of Python's own environment variables only `PYTHONPATH` goes through, of git's none, and none that asks for colours,
  since what a child says is read, quoted and searched for addresses; nor does the secret of a server (`scrubbed`).
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any
from weakref import WeakSet

from msgspec import Struct

from bae_source.system.descriptors import widen

ANSWER = "{answer}"
_LIMIT = 64_000
_CHUNK = 1 << 20
_COLOURS = ("FORCE_COLOR", "CLICOLOR_FORCE", "PY_COLORS", "MYPY_FORCE_COLOR", "PRE_COMMIT_COLOR")
_OURS = "BAE_SOURCE_MCP_SECRET"
_DROPPED = ("PYTHON", "GIT_", "PYTEST_", "COVERAGE_PROCESS", _OURS, *_COLOURS)
_KEPT = {"PYTHONPATH"}
_SUPERVISE = f"import sys; sys.path.append({str(Path(__file__).parent)!r}); import supervisor; supervisor.main()"
"""Code of the process above the child: a module by itself, which Python need not compile each time as a script."""
_SECONDS = 15.0
"""Longest wait for the end of everything."""


class CannotStart(Exception):
    """The program does not exist or cannot be executed; the message says which of it."""


class Finished(Struct, frozen=True, kw_only=True):
    """The end of a child.

    Parameters:
        status: exit status; negative for a signal.
        timed_out: whether it was stopped at the limit.
        output: end of its stdout.
        errors: end of its stderr.
        answer: end of what it wrote to the descriptor that stood for `ANSWER` in its command.
    """

    status: int
    timed_out: bool
    output: bytes
    errors: bytes
    answer: bytes


def scrubbed(environment: Mapping[str, str], bytecode: Path | None = None) -> dict[str, str]:
    """Return the environment for a child.

    Parameters:
        environment: what the caller's has.
        bytecode: a fresh folder for compiled files, so that no stale one is run. Without it the child reads the caches
            that there are, which saves it from compiling the standard library, and must itself see to it that changed
            files are compiled from source; it writes none.
    """
    kept = {name: value for name, value in environment.items() if name in _KEPT or not name.startswith(_DROPPED)}
    compiled = {"PYTHONDONTWRITEBYTECODE": "1"} if bytecode is None else {"PYTHONPYCACHEPREFIX": str(bytecode)}
    return kept | compiled | {"TERM": "dumb"}


class Child:
    """A child process.

    Parameters:
        grace: seconds that it has to end by itself once it was interrupted; it is killed at once where there are none.
        passed: descriptors that it gets besides its streams.
        streams: what `subprocess.Popen` is to do about its standard streams; there is no input by default.

    Attributes:
        status: a descriptor that can be read once the child has ended with all that it started.

    Raises:
        CannotStart: no process can be started; that there is no such program is only seen from how it ends.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        folder: Path,
        environment: Mapping[str, str],
        grace: float = 0.0,
        passed: Sequence[int] = (),
        **streams: Any,
    ) -> None:
        self._control = self.status = -1
        self._status_lines = b""
        with ExitStack() as its, ExitStack() as failed:
            failed.callback(self._let_go)
            _living.add(self)
            asked, self._control = os.pipe()
            its.callback(os.close, asked)
            self.status, status = os.pipe()
            its.callback(os.close, status)
            words = [str(asked), str(status), str(grace), " ".join(map(str, passed)), *command]
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", _SUPERVISE, *words],
                    cwd=folder,
                    env=dict(environment),
                    start_new_session=True,
                    pass_fds=(asked, status, *passed),
                    bufsize=0,
                    **{"stdin": subprocess.DEVNULL, **streams},
                )
            except (OSError, ValueError) as error:
                raise CannotStart(getattr(error, "strerror", None) or type(error).__name__) from error
            failed.pop_all()
        os.set_blocking(self.status, False)

    def __del__(self) -> None:
        """End a child that was not ended: it ends when its pipe does."""
        self._let_go()

    @property
    def streams(self) -> tuple[IO[bytes] | None, IO[bytes] | None, IO[bytes] | None]:
        """This side's ends of its standard input, output and error; None where that is no pipe."""
        return self._process.stdin, self._process.stdout, self._process.stderr

    @property
    def has_ended(self) -> bool:
        """True once everything has ended, as far as can be seen without waiting; also in a fork."""
        return self.status < 0 or self._read_status(0)

    def interrupt(self) -> None:
        """Have it do what Ctrl-C has it do."""
        with suppress(OSError):
            os.write(self._control, b"i")

    def kill(self) -> None:
        """Have everything ended, after its grace."""
        if self._control >= 0:
            os.close(self._control)
            self._control = -1

    def end(self) -> int | None:
        """End it with all that it started, and return its wait status; None where that was not reported.

        Raises:
            CannotStart: it never began, since there is no such program, or it cannot be executed.
        """
        if self.status < 0:
            return None
        self.kill()
        self._read_status(_SECONDS)
        reports = {line[:1]: int(line[1:]) for line in self._status_lines.splitlines()}
        if b"s" not in reports:  # what should end it was ended itself
            with suppress(KeyError, ProcessLookupError, PermissionError):
                os.killpg(reports[b"p"], signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        self._let_go()
        if b"e" in reports:
            raise CannotStart(os.strerror(reports[b"e"]))
        return reports.get(b"s")

    def _read_status(self, seconds: float) -> bool:
        """Read what the supervisor tells, at most so long; return whether there is no more to come."""
        deadline = time.monotonic() + seconds
        waiting = select.poll()
        waiting.register(self.status, select.POLLIN)
        while b"s" not in self._status_lines:  # a fork from another thread may keep the pipe from its end
            if not waiting.poll(max(0.0, deadline - time.monotonic()) * 1000):
                return False
            if not (piece := os.read(self.status, 64)):
                break
            self._status_lines += piece
        return True

    def _let_go(self) -> None:
        """Hold no pipe any more."""
        self.kill()
        if self.status >= 0:
            os.close(self.status)
            self.status = -1
        for stream in self.streams if hasattr(self, "_process") else ():
            if stream is not None:
                with suppress(OSError):
                    stream.close()


_living: WeakSet[Child] = WeakSet()


def _forget() -> None:
    """Hold no pipe in a fork, which may live on."""
    for child in list(_living):
        child._let_go()  # noqa: SLF001  # its own module's


if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(after_in_child=_forget)


def run(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    time_limit: float,
    limit: int = _LIMIT,
    given: bytes | None = None,
    answered: Callable[[bytes], None] | None = None,
    meanwhile: Callable[[], None] | None = None,
) -> Finished:
    """Run `command` in `folder` to its end, at most `time_limit` seconds.

    Parameters:
        command: the element `ANSWER` becomes the number of a descriptor that the child can write its answer to.
        limit: bytes kept of each stream; of the answer, sixty-four times as many.
        given: what it reads from its stdin; None for none.
        answered: takes each piece of the answer as it comes; what it raises ends the child.
        meanwhile: called once the child is started, before its time begins to count; likewise.

    Raises:
        CannotStart: the program cannot be started.
    """
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb", buffering=0):
        words = [str(writer) if word == ANSWER else word for word in command]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        try:
            with _file_of(given) as file:
                child = Child(words, folder=folder, environment=environment, passed=[writer], stdin=file, **streams)
        finally:
            os.close(writer)
        try:
            if meanwhile is not None:
                meanwhile()
            _, output, errors = child.streams
            assert output is not None
            assert errors is not None
            tails = {output.fileno(): _Tail(limit), errors.fileno(): _Tail(limit), reader: _Tail(limit * 64, answered)}
            timed_out = not _gather(child, tails, time.monotonic() + time_limit)
        finally:
            status = child.end()
    outputs = [bytes(tail.content) for tail in tails.values()]
    code = -signal.SIGKILL if status is None else os.waitstatus_to_exitcode(status)
    return Finished(status=code, timed_out=timed_out, output=outputs[0], errors=outputs[1], answer=outputs[2])


@contextmanager
def _file_of(given: bytes | None) -> Iterator[IO[bytes] | int]:
    """Have a file that holds some bytes, which a child may read at its own pace; nothing where there are none."""
    if given is None:
        yield subprocess.DEVNULL
        return
    with _file() as file:
        file.write(given)
        file.seek(0)
        yield file


def _file() -> IO[bytes]:
    """Make a file that has no name."""
    if hasattr(os, "memfd_create"):  # on Linux
        return os.fdopen(os.memfd_create("given"), "w+b")

    return TemporaryFile()


class _Tail:
    """The last bytes of a stream; each piece is handed on as well where something takes it."""

    def __init__(self, limit: int, taking: Callable[[bytes], None] | None = None) -> None:
        self.content = bytearray()
        self._limit = limit
        self._taking = taking

    def drain(self, descriptor: int, pieces: int) -> bool:
        """Read what is there, at most so many pieces of it; return False at the end of the stream."""
        for _ in range(pieces):
            try:
                piece = os.read(descriptor, _CHUNK)
            except BlockingIOError:
                return True
            if not piece:
                return False
            if self._taking is not None:
                self._taking(piece)
            self.content += piece[-self._limit :]
            del self.content[: -self._limit]
        return True


def _gather(child: Child, tails: Mapping[int, _Tail], deadline: float) -> bool:
    """Read until the child has ended with all that it started; return False if the time is up first."""
    waiting = select.poll()
    waiting.register(child.status, select.POLLIN)
    for descriptor in tails:
        widen(descriptor, _CHUNK)
        os.set_blocking(descriptor, False)
        waiting.register(descriptor, select.POLLIN)
    while not child.has_ended:
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        for descriptor, _ in waiting.poll(left * 1000):
            if descriptor in tails and not tails[descriptor].drain(descriptor, 1):
                waiting.unregister(descriptor)
    for descriptor, tail in tails.items():
        tail.drain(descriptor, 16)
    return True
