"""A child process that ends with this one, and all that it started as well, however this one ends.

    ours, alive -- pipe --> shell, waiting          the child and what it starts, in a session of their own
    ours, killed: the pipe ends; the shell kills the child's group, then has `strays` look for what left that

After kill -9 there is nobody left who could end a child: the system ends none, and Linux's parent-death signal goes by
the thread that started it. So a shell waits beside each child until the pipe ends that this process alone holds open.

Invariants:
- the shell is outside of the child's session, where the child's own signals do not reach it, and it has gone before
  the child is waited for, after which another process may get the child's number;
- no other process holds the pipe: a program that is started does not get it, and a fork of this process lets go of it;
- a child that starts a session of its own ends with the rest where the system shows marks (Linux), as long as it keeps
  its environment; elsewhere it is out of reach. Where there is no shell, nothing watches.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from bae_source.system.strays import kill_strays, marked, new_mark

_SHELL = "/bin/sh"
_SCRIPT = 'read -r child; read -r end; [ -z "$child" ] || kill -9 "-$child"; exec "$@"'
_STRAYS = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from bae_source.system.strays import kill_strays; kill_strays(sys.argv[2])"
)
_HOME = str(Path(__file__).parents[2])
_held: set[int] = set()
"""This process's ends of the pipes."""


class Watched:
    """A child that leads a session of its own.

    Parameters:
        streams: what `subprocess.Popen` is to do about its streams and descriptors.

    Attributes:
        process: the child; to be waited for only after `kill`.
        end: kills it, waits for it, closes its streams; called at the latest when nobody has this any more, as where
            Ctrl-C came before anybody had it; in a fork it does nothing.

    Raises:
        OSError, ValueError: it cannot be started.
    """

    def __init__(self, command: Sequence[str], *, folder: Path, environment: Mapping[str, str], **streams: Any) -> None:
        self._mark = new_mark()
        self._watcher = _Watcher(self._mark)
        try:
            self.process: subprocess.Popen[bytes] = subprocess.Popen(
                command, cwd=folder, env=marked(environment, self._mark), start_new_session=True, **streams
            )
        except BaseException as error:
            if not isinstance(error, Exception):  # Ctrl-C, and there may be a child
                kill_strays(self._mark)
            self._watcher.end()
            raise
        self.end = weakref.finalize(self, _end, self.process, self._mark, self._watcher, os.getpid())
        self._watcher.watch(self.process.pid)

    def kill(self) -> None:
        """Kill the child with all that it started, as far as the system tells what that is."""
        _kill(self.process, self._mark, self._watcher)


def _kill(process: subprocess.Popen[bytes], mark: str, watcher: _Watcher) -> None:
    with suppress(ProcessLookupError, PermissionError):  # nobody is left; macOS says so in the second way
        os.killpg(process.pid, signal.SIGKILL)
    kill_strays(mark)
    watcher.end()


def _end(process: subprocess.Popen[bytes], mark: str, watcher: _Watcher, owner: int) -> None:
    if os.getpid() != owner:
        return
    if process.returncode is None:
        _kill(process, mark, watcher)
        process.wait()
    watcher.end()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()


class _Watcher:
    """The shell beside one child, and the pipe that it waits at."""

    def __init__(self, mark: str) -> None:
        reader, self._writer = os.pipe()
        _held.add(self._writer)
        words = [_SHELL, "-c", _SCRIPT, _SHELL, sys.executable, "-I", "-S", "-c", _STRAYS, _HOME, mark]
        null = subprocess.DEVNULL
        self._shell: subprocess.Popen[bytes] | None = None
        try:
            self._shell = subprocess.Popen(
                words, stdin=reader, stdout=null, stderr=null, cwd="/", env={}, start_new_session=True
            )
        except OSError:
            return  # there is none here
        finally:
            os.close(reader)

    def watch(self, child: int) -> None:
        """Say which child it is; one that nobody named is found by its mark alone."""
        with suppress(BrokenPipeError):  # there is no shell
            os.write(self._writer, b"%d\n" % child)

    def end(self) -> None:
        """End the shell while it waits."""
        if self._shell is not None:
            self._shell.kill()
            self._shell.wait()
        if self._writer in _held:
            _held.discard(self._writer)
            os.close(self._writer)


def _let_go() -> None:
    """Hold no pipe in a fork, which may live on."""
    while _held:
        with suppress(OSError):
            os.close(_held.pop())


if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(after_in_child=_let_go)
