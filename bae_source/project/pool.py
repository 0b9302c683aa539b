"""Several processes that work facts out of files: started when there is much to do, gone when the caller is done.

    with Pool("summary") as pool:
        batch = pool.submit([content, …])
        batch.results()             facts of each as bytes; None for one on which the process ended

Invariants:
- a process leads a session of its own, has no terminal, and is killed with all it started, whatever happens here;
- the caller's own program is never imported or copied: neither fork nor spawn of `multiprocessing` is used;
- a process that dies or hangs costs the one file it was on; the others of its batch are done by another;
- where no process can be started, the work is done here.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import Self

import msgspec

from bae_source.project.worker import read_frame, timed, write_frame

MANY = 100
MUCH = 1_500_000
"""Files, or bytes of them, from which on other processes are worth their start."""
_MOST_PROCESSES = 8
_SECONDS = 60.0
_BATCH_BYTES = 200_000
_CODE = "import sys; sys.path += [p for p in sys.argv[1:] if p not in sys.path]; " \
        "from bae_source.project.worker import serve; serve()"  # fmt: skip
_ANSWER = msgspec.msgpack.Decoder(list[tuple[bytes, int]])

Result = tuple[bytes, int] | None


class Batch:
    """Some files' bytes, and their facts once they are there."""

    def __init__(self, name: str, contents: list[bytes]) -> None:
        self.name = name
        self.contents = contents
        self.sizes = [len(content) for content in contents]
        self.answered: list[Result] = []
        self.done: threading.Event | None = None

    def results(self) -> list[Result]:
        """Return facts and nanoseconds of each, once they are known; None for a file that ended the process."""
        if self.done is None:
            self.answered = list(timed(self.name, self.contents))
        else:
            self.done.wait()
        self.contents = []
        return self.answered


class Pool:
    """Processes that work out one kind of facts; none is started before there are many files to do.

    Parameters:
        name: of the kind of facts.
        processes: how many at most; as many as there are processors for us if left out.
        seconds: how long one batch may take.
    """

    def __init__(self, name: str, processes: int | None = None, *, seconds: float = _SECONDS) -> None:
        self.name = name
        self.processes = min(_processors(), _MOST_PROCESSES) if processes is None else processes
        self.seconds = seconds
        self._submitted = self._bytes = 0
        self._queue: SimpleQueue[Batch | None] = SimpleQueue()
        self._children: list[_Child] = []
        self._threads: list[threading.Thread] = []
        self._closed = False
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def submit(self, contents: Sequence[bytes]) -> list[Batch]:
        """Have facts worked out; returns batches that hold the contents in order."""
        batches = [Batch(self.name, part) for part in _parts(contents)]
        self._submitted += len(contents)
        self._bytes += sum(map(len, contents))
        if (self._submitted > MANY or self._bytes > MUCH) and self.processes > 1:
            self._start()
            for batch in batches:
                batch.done = threading.Event()
                self._queue.put(batch)
        return batches

    def close(self) -> None:
        """Kill every process; what has not been done is not done."""
        with self._lock:
            self._closed = True
            children = list(self._children)
        for _ in self._threads:
            self._queue.put(None)
        for child in children:
            child.stop()
        for thread in self._threads:
            thread.join()

    def _start(self) -> None:
        while len(self._threads) < self.processes:
            thread = threading.Thread(target=self._work, name="bae_source facts", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _work(self) -> None:
        """Hand batches to a process of this thread's own, until there are no more."""
        child: _Child | None = None
        while (batch := self._queue.get()) is not None and not self._closed:
            assert batch.done is not None
            try:
                child = self._answer(batch, child)
            finally:
                batch.done.set()
        if child is not None:
            child.end()

    def _answer(self, batch: Batch, child: _Child | None) -> _Child | None:
        child = child or self._child()
        if child is None:
            batch.answered = list(timed(batch.name, batch.contents))
            return None
        answered = child.ask(batch.name, batch.contents, self.seconds)
        if answered is not None:
            batch.answered = list(answered)
            return child
        self._forget(child)
        return self._one_by_one(batch)

    def _one_by_one(self, batch: Batch) -> _Child | None:
        """Find the file that ended the process."""
        child: _Child | None = None
        batch.answered = [None] * len(batch.contents)
        for number, content in enumerate(batch.contents):
            child = child or self._child()
            if self._closed or child is None:
                return child
            answered = child.ask(batch.name, [content], self.seconds)
            if answered is None:
                self._forget(child)
                child = None
            else:
                batch.answered[number] = answered[0]
        return child

    def _child(self) -> _Child | None:
        with self._lock:
            if self._closed:
                return None
            try:
                child = _Child()
            except OSError:
                return None
            self._children.append(child)
            return child

    def _forget(self, child: _Child) -> None:
        child.end()
        with self._lock:
            self._children.remove(child)


class _Child:
    """One process.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self) -> None:
        import subprocess  # 10 ms, which only those pay who ask about many files

        paths = [path for path in sys.path if path and Path(path).is_absolute()]
        home = str(Path(__file__).parent.parent.parent)
        self._lock = threading.Lock()
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-c", _CODE, *paths, home],
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def ask(self, name: str, contents: list[bytes], seconds: float) -> list[tuple[bytes, int]] | None:
        """Return the facts of some files' bytes; None if the process ended or took too long."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            write_frame(stdin, msgspec.msgpack.encode((name, contents)))  # type: ignore[arg-type]
            waiting = select.poll()
            waiting.register(stdout, select.POLLIN)
            if not waiting.poll(seconds * 1000):
                return None
            frame = read_frame(stdout)  # type: ignore[arg-type]
            return None if frame is None else _ANSWER.decode(frame)
        except (OSError, ValueError):
            return None

    def stop(self) -> None:
        """Kill the process and all that it started; whoever waits for its answer gets none."""
        with self._lock:
            if self.process.returncode is None:
                _killed(self.process.pid)

    def end(self) -> None:
        """Kill the process and leave nothing of it; nobody may be waiting for an answer."""
        self.stop()
        with self._lock:
            self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            try:
                stream.close()
            except OSError:
                continue  # what was not sent is not wanted


def _killed(session: int) -> None:
    try:
        os.killpg(session, signal.SIGKILL)
    except ProcessLookupError:
        return


def _parts(contents: Sequence[bytes]) -> list[list[bytes]]:
    """Cut contents into batches of about equal size."""
    parts: list[list[bytes]] = []
    size = _BATCH_BYTES
    for content in contents:
        if size >= _BATCH_BYTES:
            parts.append([])
            size = 0
        parts[-1].append(content)
        size += len(content)
    return parts


def _processors() -> int:
    """Return how many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else (os.cpu_count() or 1)
