"""The project lock, watched from outside, and edits of a third process while two others verify with tests.

Invariants:
- the watcher asks for the lock without waiting, lets go at once, and never writes the lock's file;
- a stretch belongs to one holder, by what the file says of it: two holders in a row are two stretches;
- a stretch counts from the first to the last time that the lock was busy, so a watcher that is not scheduled makes it
  shorter by at most the pause around it, which is reported as well.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict

from bae_source.state.binding import UserState
from bae_source.state.folders import StateFolders
from benchmarks.verify.projects import Change, Project
from benchmarks.verify.runs import Answer, edit

_PAUSE = 0.0005
_WIDTH = 40


class Watched(Struct, kw_only=True):
    """Observations of a watcher.

    Parameters:
        longest: seconds of the longest stretch.
        pause: seconds of the longest time between two looks at the lock.
        stretches: how many there were.
    """

    longest: float = 0.0
    pause: float = 0.0
    stretches: int = 0


class Beside(Struct, frozen=True, kw_only=True):
    """Results of edits while others verify.

    Parameters:
        edits: of the third process.
        verified: of the two that verify; each ends well or is refused.
        watched: what was seen of the lock.
    """

    edits: Sequence[Answer]
    verified: Sequence[Answer]
    watched: Watched


def beside(project: Project, verifying: Sequence[Change], third: Change, *, edits: int) -> Beside:
    """Make edits of one module while a process for each of `verifying` verifies a change of another with tests."""
    over = threading.Event()
    answers: list[Answer] = []
    threads = [
        threading.Thread(target=_verify, args=(project, change, f"verifier {number}", over, answers))
        for number, change in enumerate(verifying)
    ]
    with watching(lock_of(project)) as watched:
        for thread in threads:
            thread.start()
        time.sleep(1.0)  # until both have begun
        made = _edits(project, third, edits)
        over.set()
        for thread in threads:
            thread.join()
    return Beside(edits=made, verified=answers, watched=watched)


def lock_of(project: Project) -> Path:
    """Return the lock's file."""
    return StateFolders(project.root, UserState(os.environ)).lock


@contextmanager
def watching(path: Path) -> Iterator[Watched]:
    """Watch a lock with a process of its own; the value is filled in when the context ends."""
    watched = Watched()
    command = [sys.executable, "-m", "benchmarks.verify.locking", str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield watched
        finally:
            output, _ = process.communicate()
    for name, value in json.loads(output).items():
        setattr(watched, name, value)


def watch(path: Path, over: threading.Event) -> Watched:
    """Look at a lock until an event."""
    watched, holder, since = Watched(), b"", 0.0
    last = time.perf_counter()
    while not over.is_set():
        found, now = _holder(path), time.perf_counter()
        watched.pause = max(watched.pause, now - last)
        if found != holder or not found:
            since = now
            watched.stretches += bool(found)
        holder, last = found, now
        watched.longest = max(watched.longest, now - since)
        time.sleep(_PAUSE)
    return watched


def _holder(path: Path) -> bytes:
    """Return what the lock's file says of who has it now; empty if it is free."""
    with suppress(FileNotFoundError), path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return os.pread(file.fileno(), _WIDTH, 0) or b"unsigned"
    return b""


def _verify(project: Project, change: Change, who: str, over: threading.Event, answers: list[Answer]) -> None:
    """Make a change and take it back, verified both times, until an event; the project is as before in the end."""
    following = change
    while not over.is_set():
        answers.append(edit(project, following, "--verify", "tests", "--who", who))
        following = following.back if answers[-1].status == "applied" else following
    if following != change:
        edit(project, following, "--reload", "off", "--who", who)


def _edits(project: Project, change: Change, count: int) -> list[Answer]:
    """Make a change and take it back, so many edits in all; the project is as before in the end."""
    following, made = change, []
    for _ in range(count):
        made.append(edit(project, following, "--reload", "off", "--who", "third"))
        following = following.back if made[-1].status == "applied" else following
    if following != change:
        edit(project, following, "--reload", "off", "--who", "third")
    return made


def _until_end(over: threading.Event) -> None:
    """Set an event when standard input ends."""
    sys.stdin.read()
    over.set()


if __name__ == "__main__":
    ended = threading.Event()
    threading.Thread(target=_until_end, args=(ended,), daemon=True).start()
    print("ready", flush=True)
    print(json.dumps(asdict(watch(Path(sys.argv[1]), ended))))
