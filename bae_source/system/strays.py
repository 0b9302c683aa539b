"""Kill what a child started and sent out of reach: a daemon leads a session of its own, and no group names it.

Every process that we start carries a mark in its environment, which its descendants inherit: that of the process that
started it, and something random. Linux shows the environment that a process began with; elsewhere nothing is found, and
only the child's own session is killed.

Invariant: only a process that bears the mark is killed, and it is told by a descriptor: a process id that was given
to somebody else meanwhile harms nobody.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from bae_source.system.holder_mark import holder_mark

_NAME = "BAE_SOURCE_CHILD"
_ROUNDS = 20
_PROCESSES = Path("/proc")


def new_mark() -> str:
    """Return a mark for a process that is about to be started, and for all that it starts."""
    return f"{holder_mark()}-{os.urandom(12).hex()}"


def marked(environment: Mapping[str, str], mark: str) -> dict[str, str]:
    """Return an environment with a mark beside those it has: a child of ours may start such children itself."""
    marks = [*filter(None, [environment.get(_NAME)]), mark]
    return {**environment, _NAME: " ".join(marks)}


def kill_strays(mark: str) -> None:
    """Kill the processes that bear a mark, until none is left; those that start others meanwhile too."""
    _kill_all(lambda marks: mark in marks)


def kill_strays_of(holder: str) -> None:
    """Kill what a process of ours left behind when it was killed, by the mark of that process; never our own."""
    if holder != holder_mark():
        _kill_all(lambda marks: any(mark.startswith(f"{holder}-") for mark in marks))


def _kill_all(is_one: Callable[[list[str]], bool]) -> None:
    for _ in range(_ROUNDS):
        found = list(_bearing(is_one))
        for descriptor in found:
            _kill(descriptor)
        if not found:
            return


def _bearing(is_one: Callable[[list[str]], bool]) -> Iterator[int]:
    """Yield a descriptor of each living process that is one by its marks; the caller closes it."""
    if not hasattr(os, "pidfd_open") or not _PROCESSES.is_dir():
        return
    for name in os.listdir(_PROCESSES):  # noqa: PTH208 - some hundred names, of which numbers count
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            descriptor = os.pidfd_open(int(name))
        except OSError:
            continue
        if is_one(_marks(name)):
            yield descriptor
        else:
            os.close(descriptor)


def _marks(process: str) -> list[str]:
    """Return the marks that a process began with; of one that has ended, or is not ours, none."""
    lead = f"{_NAME}=".encode()
    try:
        variables = (_PROCESSES / process / "environ").read_bytes().split(b"\0")
    except OSError:
        return []
    return next(
        (line.removeprefix(lead).decode("ascii", "replace").split() for line in variables if line.startswith(lead)), []
    )


def _kill(descriptor: int) -> None:
    try:
        signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    except OSError:
        return  # it has ended meanwhile
    finally:
        os.close(descriptor)
