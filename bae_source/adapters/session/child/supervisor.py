"""The process above a worker: it ends the worker and everything that the worker's code started, whatever happens.

    session -> supervisor -> worker -> what the code starts

It learns through a pipe what the session wants: a byte to interrupt the block, the end of the pipe to end everything;
so a session that was killed ends its worker as well. A worker is interrupted before it is killed, so that a change
that it is making is taken back. When nothing is left alive, it says how the worker ended.

Invariants:
- it runs none of the caller's code, and holds nothing that the worker could need;
- processes are ended while they are known to be its own descendants, so no number is taken for another process's.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from contextlib import suppress
from types import FrameType

INTERRUPT = b"i"
KILL = b"k"
"""The worker was interrupted long ago, and takes no notice."""
_ADOPT = 36
"""PR_SET_CHILD_SUBREAPER: whatever the worker's children leave behind becomes ours."""
_SECONDS = 10.0
GRACE = 2.0
"""Seconds that a worker has to end what it does, once it was interrupted."""
_MILLISECONDS = 50


def supervise(control: int, status: int, others: tuple[int, ...]) -> None:
    """Fork: return in the worker, stay above it in this process until everything has ended.

    Parameters:
        control: says what the session wants.
        status: takes how the worker ended: its wait status, as four bytes.
        others: descriptors that are the worker's alone.
    """
    wake, woken = os.pipe()
    worker = os.fork()
    if not worker:
        for descriptor in (control, status, wake, woken):
            os.close(descriptor)
        os.setpgid(0, 0)
        return
    try:
        _prepare(others, woken)
        ended = _watch(worker, control, wake)
        _end_all(worker)
        os.write(status, ended.to_bytes(4, "big"))
    finally:
        os._exit(0)


def _prepare(others: tuple[int, ...], woken: int) -> None:
    """Let go of what is the worker's, and be the one that its orphans are given to."""
    with suppress(OSError):
        os.setpgid(0, 0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    for descriptor in others:
        os.close(descriptor)
    os.set_blocking(woken, False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, _woken)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    if sys.platform == "linux":
        import ctypes  # here, beside the worker that loads the engine meanwhile

        ctypes.CDLL(None).prctl(_ADOPT, 1, 0, 0, 0)


def _woken(_number: int, _frame: FrameType | None) -> None:
    """Be woken, which a signal that is ignored would not do."""


def _watch(worker: int, control: int, wake: int) -> int:
    """Wait until the worker has ended, or shall end; return its wait status."""
    waiting = select.poll()
    waiting.register(control, select.POLLIN)
    waiting.register(wake, select.POLLIN)
    while True:
        for descriptor, _ in waiting.poll():
            said = os.read(descriptor, 64)
            if descriptor == control and not said:
                return _interrupted(worker, wake)
            if descriptor == control and KILL in said:
                return _kill(worker)
            if descriptor == control and INTERRUPT in said:
                os.kill(worker, signal.SIGINT)
        ended = _reaped(worker)
        if ended is not None:
            return ended


def _reaped(worker: int) -> int | None:
    """Take note of every child that has ended; return how the worker did, if it did."""
    found = None
    with suppress(ChildProcessError):
        while True:
            child, ended = os.waitpid(-1, os.WNOHANG)
            if not child:
                break
            if child == worker:
                found = ended
    return found


def _interrupted(worker: int, wake: int) -> int:
    """Interrupt the worker, and kill it only if it does not end; return its wait status."""
    os.kill(worker, signal.SIGINT)  # it has not been waited for, so the number is still its own
    waiting = select.poll()
    waiting.register(wake, select.POLLIN)
    until = time.monotonic() + GRACE
    while (left := until - time.monotonic()) > 0:
        if waiting.poll(left * 1000):
            os.read(wake, 64)
        ended = _reaped(worker)
        if ended is not None:
            return ended
    return _kill(worker)


def _kill(worker: int) -> int:
    with suppress(ProcessLookupError):
        os.kill(worker, signal.SIGKILL)
    return os.waitpid(worker, 0)[1]


def _end_all(worker: int) -> None:
    """Kill what is left: the worker's group, and, generation by generation, whatever has become ours."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(worker, signal.SIGKILL)
    until = time.monotonic() + _SECONDS
    while time.monotonic() < until:
        for child in _children():
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        try:
            if not os.waitpid(-1, os.WNOHANG)[0]:
                time.sleep(_MILLISECONDS / 10_000)
        except ChildProcessError:
            return


def _children() -> list[int]:
    """Return the children of this process, where the system tells them."""
    own = os.getpid()
    try:
        with open(f"/proc/{own}/task/{own}/children", encoding="ascii") as listed:  # noqa: PTH123 - pathlib takes 10 ms
            return [int(each) for each in listed.read().split()]
    except OSError:
        return []
