"""Kill what a process of ours had started and left behind, where what should have ended it was killed as well.

Every child carries in its environment the mark of the process that started it, and its descendants inherit that. Linux
shows the environment that a process began with; elsewhere nothing is found.

Invariant: only a process that bears the mark is killed, and it is told by a descriptor: a process id that was given
to somebody else meanwhile harms nobody.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # what signal is, without the 4 ms that its names take
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

_NAME = "BAE_SOURCE_CHILD"
_ROUNDS = 20
_PROCESSES = Path("/proc")
_mark = ""


def holder_mark() -> str:
    """Return what tells this process from every other one, living or dead, whatever its number; a fork has another."""
    global _mark
    if not _mark:
        _mark = os.urandom(8).hex()
    return _mark


def _forget() -> None:
    global _mark
    _mark = ""


if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(after_in_child=_forget)


def marked(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment with our mark beside those it has: a child of ours may start such children itself."""
    return {**environment, _NAME: f"{environment.get(_NAME, '')} {holder_mark()}".lstrip()}


def kill_strays_of(holder: str) -> None:
    """Kill what bears the mark of a dead process, until none is left; those that start others meanwhile too."""
    for _ in range(_ROUNDS if holder != holder_mark() else 0):
        found = list(_bearing(holder.encode()))
        for descriptor in found:
            with suppress(OSError):  # it has ended meanwhile
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
            os.close(descriptor)
        if not found:
            return


def _bearing(mark: bytes) -> Iterator[int]:
    """Yield a descriptor of each living process that bears a mark; the caller closes it."""
    lead = f"{_NAME}=".encode()
    if not hasattr(os, "pidfd_open") or not _PROCESSES.is_dir():
        return
    for process in _PROCESSES.glob("[0-9]*"):
        try:
            descriptor = os.pidfd_open(int(process.name))
        except OSError:
            continue
        with suppress(OSError):  # it has ended, or is not ours
            variables = (process / "environ").read_bytes().split(b"\0")
            if any(mark in line.removeprefix(lead).split() for line in variables if line.startswith(lead)):
                yield descriptor
                continue
        os.close(descriptor)
