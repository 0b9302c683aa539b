"""Whole processes, measured: wall time, the CPU time of all their descendants, and the peak of memory.

Invariants:
- a process that takes too long is killed with its whole group; nothing of it stays behind;
- the system counts the memory of whoever starts a process as the new one's, so nothing that needs much memory is done
  in this one: see `apart`. A peak is therefore never less than the 40 MB of the benchmark itself.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import ParamSpec, TypeVar

from msgspec import Struct

P = ParamSpec("P")
R = TypeVar("R")

_NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"


class TooSlow(Exception):
    """A process was killed at its time limit."""


class Failed(Exception):
    """A process ended with a status that means failure; the message has the end of what it said."""


class Cost(Struct, frozen=True, kw_only=True):
    """What an answer took: seconds of wall clock and of CPU, and the peak of resident memory in MB."""

    wall: float
    cpu: float
    peak: float


def run(
    command: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str] | None = None,
    limit: float = 600,
    accepted: Collection[int] = (0,),
) -> tuple[Cost, str]:
    """Run a command to its end; return what it cost and what it wrote to stdout.

    Parameters:
        command: the program and its arguments.
        cwd: where it runs.
        environment: variables beside our own.
        limit: seconds that it may take.
        accepted: exit statuses that are no failure.

    Raises:
        TooSlow: it took more than `limit` seconds.
        Failed: it ended with another exit status.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        began = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=environment_of(environment),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        cost = reap(process, began, limit=limit)
        out.seek(0)
        err.seek(0)
        if process.returncode not in accepted:
            output = err.read().decode("utf-8", "replace").strip()
            raise Failed(f"{' '.join(command[:4])} … ended with {process.returncode}: {output[-500:]}")
        return cost, out.read().decode("utf-8")


def reap(process: subprocess.Popen[bytes], began: float, *, limit: float) -> Cost:
    """Wait for a process that leads its own group; return its cost since `began`.

    Raises:
        TooSlow: it took more than `limit` seconds, and was killed.
    """
    late = threading.Event()

    def end() -> None:
        late.set()
        kill(process)

    timer = threading.Timer(limit, end)
    timer.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
    finally:
        timer.cancel()
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if late.is_set():
        raise TooSlow(f"killed after {limit:.0f} s")
    return Cost(wall=wall, cpu=usage.ru_utime + usage.ru_stime, peak=usage.ru_maxrss / 1024)


def apart(call: Callable[P, R], *arguments: P.args, **named: P.kwargs) -> R:
    """Return what a function of a module returns when it is called in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(call, *arguments, **named).result()


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and its group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def environment_of(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a measured process.

    Bytecode is cached, as for whoever runs a command twice, and no variable leads git to another repository.
    """
    kept = {name: value for name, value in os.environ.items() if name != _NO_BYTECODE and not name.startswith("GIT_")}
    return {**kept, **(more or {})}
