"""Run a child process that cannot hold us up, write on our terminal, or outlive its time or this process.

Invariants:
- the command is a list, never a shell's line; stdin is empty; there is no terminal;
- the child leads a session of its own, and the whole of it is killed at the limit, at its end, on Ctrl-C, and when
  this process is killed (`watched`); where the system tells (Linux), so is whatever of it moved to another session;
- of each stream at most the last `limit` bytes are kept, however much is written;
- of Python's own environment variables only `PYTHONPATH` goes through, of git's none, and none that asks for colours,
  since what a child says is read, quoted and searched for addresses; nor does the secret of a server.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from bae_source.system.descriptors import widen
from bae_source.system.watched import Watched

ANSWER = "{answer}"
_LIMIT = 64_000
_CHUNK = 1 << 20
_COLOURS = ("FORCE_COLOR", "CLICOLOR_FORCE", "PY_COLORS", "MYPY_FORCE_COLOR", "PRE_COMMIT_COLOR")
_OURS = "BAE_SOURCE_MCP_SECRET"
_DROPPED = ("PYTHON", "GIT_", "PYTEST_", "COVERAGE_PROCESS", _OURS, *_COLOURS)
_KEPT = {"PYTHONPATH"}


class CannotStart(Exception):
    """The program does not exist or cannot be executed; the message says which of it."""


class Finished(Struct, frozen=True, kw_only=True):
    """How a child ended.

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


def run(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    time_limit: float,
    limit: int = _LIMIT,
) -> Finished:
    """Run `command` in `folder` to its end, at most `time_limit` seconds.

    Parameters:
        command: the element `ANSWER` becomes the number of a descriptor that the child can write its answer to.
        limit: bytes kept of each stream; of the answer, sixty-four times as many.

    Raises:
        CannotStart: the program cannot be started.
    """
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb", buffering=0) as answer:
        try:
            words = [str(writer) if word == ANSWER else word for word in command]
            child = _start(words, folder, environment, writer)
        finally:
            os.close(writer)
        process = child.process
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            tails = {process.stdout.fileno(): _Tail(limit), process.stderr.fileno(): _Tail(limit)}
            tails[answer.fileno()] = _Tail(limit * 64)
            timed_out = not _gather(process, tails, time.monotonic() + time_limit)
            child.kill()
            output, errors, answered = (bytes(tail.content) for tail in tails.values())
            status = process.wait()
        finally:
            child.end()
    return Finished(status=status, timed_out=timed_out, output=output, errors=errors, answer=answered)


def _start(command: Sequence[str], folder: Path, environment: Mapping[str, str], answer: int) -> Watched:
    pipe = subprocess.PIPE
    try:
        return Watched(
            command,
            folder=folder,
            environment=environment,
            stdin=subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
            pass_fds=[answer],
        )
    except (OSError, ValueError) as error:
        raise CannotStart(getattr(error, "strerror", None) or type(error).__name__) from error


class _Tail:
    """The last bytes of a stream."""

    def __init__(self, limit: int) -> None:
        self.content = bytearray()
        self._limit = limit

    def add(self, chunk: bytes) -> None:
        self.content += chunk[-self._limit :]
        del self.content[: -self._limit]


def _gather(process: subprocess.Popen[bytes], tails: Mapping[int, _Tail], deadline: float) -> bool:
    """Read until the child has ended; return False if the time is up first.

    The end of the child counts, not the end of its streams: what it started in the background may hold them open.
    """
    with selectors.DefaultSelector() as selector:
        for descriptor in tails:
            widen(descriptor, _CHUNK)
            os.set_blocking(descriptor, False)
            selector.register(descriptor, selectors.EVENT_READ)
        while not _ended(process):
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            if not selector.get_map():
                time.sleep(min(left, 0.005))
                continue
            for key, _ in selector.select(min(left, 0.05)):
                if not _drain(key.fd, tails[key.fd], once=True):
                    selector.unregister(key.fd)
    for descriptor, tail in tails.items():
        _drain(descriptor, tail, once=False)
    return True


def _drain(descriptor: int, tail: _Tail, *, once: bool) -> bool:
    """Read what is there, at most some chunks of it; return False at the end of the stream."""
    for _ in range(1 if once else 16):
        try:
            chunk = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return True
        if not chunk:
            return False
        tail.add(chunk)
    return True


def _ended(process: subprocess.Popen[bytes]) -> bool:
    """Say whether the child has ended, without letting go of its process id, which names the group to kill."""
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
