"""Several processes that work facts out of files: started when there is much to do, gone when the caller is done.

    with Pool("summary") as pool:
        [batch, …] = pool.submit([content, …])
        batch.results()             facts of each as bytes; None for one on which the process ended

This process is one of them: while it waits for an answer, it does small files that no other has begun.

Invariants:
- a process leads a session of its own, has no terminal, and is killed with all it started, whatever happens here;
- the caller's own program is never imported or copied, unless it is ours and its caller says so (`system.own_process`);
- a process that dies or hangs costs the one file it was on; the others of its batch are done by another;
- a file large enough to break a parser is parsed by another process, as long as there is one;
- where no process can be started, the work is done here;
- no thread is needed: a caller that waits for an answer feeds the processes meanwhile.
"""

from __future__ import annotations

import gc
import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

import msgspec

from bae_source.project.facts.kinds import KINDS
from bae_source.system.collecting import keep_memory

MANY = 100
MUCH = 400_000
"""Files, or bytes of them, from which on other processes are worth their start."""
Result = tuple[bytes, int]
"""A file's facts as bytes, and how many nanoseconds they took."""
_MOST_PROCESSES = 8
_SECONDS = 60.0
_BATCH_BYTES = 40_000
_AHEAD = 3
"""Batches queued for each process, so that it never waits while this one is busy."""
_SAFE_BYTES = 500_000
"""The largest file that is done here while there are other processes."""
_LONGEST_WAIT = 90
"""More than any caller waits for one answer."""
_LITTER = 5_000_000
"""Bytes of files after which it is time to look for garbage in circles, of which trees leave none."""
SERVE = "bae_source.project.facts.pool:serve"
"""The function that a new process runs; a copy of this one (by fork) has it already."""


class Batch:
    """Some files' bytes, and their facts once they are there."""

    def __init__(self, pool: Pool, contents: list[bytes]) -> None:
        self.contents = contents
        self.sizes = [len(content) for content in contents]
        self.answered: list[Result | None] | None = None
        self._pool = pool

    def results(self) -> list[Result | None]:
        """Return facts and nanoseconds of each, once they are known; None for a file that ended the process."""
        found = self._pool.finish(self)
        self.contents = []
        return found


class Pool:
    """Processes that work out one kind of facts; none is started before there are many files to do.

    Parameters:
        name: of the kind of facts.
        processes: how many at most, this one included; as many as there are processors for us if left out.
        process_is_ours: whether only our own code has run in this one, so that the others may be copies of it.
        seconds: how long one batch may take.

    Attributes:
        is_started: whether others were started.
    """

    def __init__(
        self, name: str, processes: int | None = None, *, process_is_ours: bool = False, seconds: float = _SECONDS
    ) -> None:
        self.name = name
        self.process_is_ours = process_is_ours
        self.processes = min(processors(), _MOST_PROCESSES) if processes is None else processes
        self.seconds = seconds
        self._submitted = self._bytes = 0
        self._waiting: deque[Batch] = deque()
        self._children: list[Child] = []
        self.is_started = False
        if process_is_ours:
            keep_memory()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pids(self) -> tuple[int, ...]:
        """The other processes that there are now."""
        return tuple(child.process.pid for child in self._children)

    def start(self) -> None:
        """Start the processes, because there will be much to do."""
        if self.is_started:
            return
        self.is_started = True
        for _ in range(self.processes - 1):
            self._begin_one()

    def submit(self, contents: Sequence[bytes]) -> list[Batch]:
        """Have facts worked out; returns batches that hold the contents in order."""
        batches = [Batch(self, part) for part in _parts(contents)]
        self._submitted += len(contents)
        self._bytes += sum(map(len, contents))
        waiting = (*self._waiting, *batches)
        self._waiting = deque(sorted(waiting, key=lambda batch: -sum(batch.sizes)))  # the last ones shall end together
        if self._submitted > 1 and (self._submitted > MANY or self._bytes > MUCH):
            self.start()
        self._listen(0)
        self._feed()
        return batches

    def finish(self, batch: Batch) -> list[Result | None]:
        """Return the result of a batch; work on it, or on another one, until it is there."""
        while batch.answered is None:
            own = self._own(batch)
            if own is None:
                self._listen(self.seconds)
            else:
                self._do(own)
        return batch.answered

    def close(self) -> None:
        """Kill every process; what has not been done is not done."""
        for child in self._children:
            child.end()
        self._children.clear()
        self._waiting.clear()

    def _begin_one(self) -> None:
        try:
            self._children.append(Child(self.name, process_is_ours=self.process_is_ours))
        except OSError:
            return  # there are fewer then, and without any the work is done here

    def _own(self, wanted: Batch) -> Batch | None:
        """Return a batch to be done here: the one that is waited for, or the next; None where others have to do it."""
        for batch in (wanted, *self._waiting) if wanted in self._waiting else tuple(self._waiting):
            if not self._children or max(batch.sizes) <= _SAFE_BYTES:
                self._waiting.remove(batch)
                return batch
        return None

    def _do(self, batch: Batch) -> None:
        answered: list[Result | None] = []
        for content in batch.contents:
            answered += timed(self.name, [content])
            self._listen(0)
        batch.answered = answered

    def _feed(self) -> None:
        for child in self._children:
            while self._waiting and len(child.pending) < _AHEAD:
                child.ask(self._waiting.popleft())

    def _listen(self, seconds: float) -> None:
        """Take what processes have answered, waiting for it at most so long; do something about those that ended."""
        if not self._children:
            return
        now = time.monotonic()
        ends = [child.begun + self.seconds - now for child in self._children if child.pending]
        self._children[0].wait(self._children, min([seconds, *ends]))
        for child in list(self._children):
            if not child.exchange() or (child.pending and time.monotonic() > child.begun + self.seconds):
                self._replace(child)
        self._feed()

    def _replace(self, child: Child) -> None:
        """Go on without a process that ended or hangs; what it was on is done file by file, to find the culprit."""
        self._children.remove(child)
        child.end()
        pending = list(child.pending)
        self._waiting.extendleft(reversed(pending[1:]))
        for batch in pending[:1]:
            batch.answered = [self._alone(content) for content in batch.contents]
            self._begin_one()

    def _alone(self, content: bytes) -> Result | None:
        """Have one file done by a process of its own; None if it ends or hangs again."""
        try:
            child = Child(self.name)  # a program: what may be wrong with a copy of ours is not the file's fault
        except OSError:
            return timed(self.name, [content])[0]
        batch = Batch(self, [content])
        try:
            child.ask(batch)
            while batch.answered is None and (left := child.begun + self.seconds - time.monotonic()) > 0:
                Child.wait([child], left)
                if not child.exchange():
                    break
        finally:
            child.end()
        return batch.answered[0] if batch.answered else None


def serve() -> None:
    """Answer frames until standard input ends, and end this process, which was made for nothing else.

    Each frame is a MessagePack array: the kind of facts and the contents of some files. The answer is one, too: for
    each file its facts as bytes, and how many nanoseconds they took. It depends on the frame alone; no file is opened
    and nothing is written. Where standard input does not end, the system's own clock ends the process: it waits for a
    frame no longer than it works on one, so it does not outlive the process that started it.
    """
    import _signal as signal  # type: ignore[import-not-found]  # without the time that its names take

    from bae_source.system.frames import read_frame  # which only such a process needs
    from bae_source.system.own_process import keep_streams

    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(_LONGEST_WAIT)
    keep_streams()
    os.chdir("/")
    pending, answered = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library might print is no frame
    gc.disable()  # trees hold no cycles, and looking for some takes a third of the time
    gc.freeze()
    keep_memory()
    read = 0
    while (body := read_frame(pending)) is not None:
        name, contents = msgspec.msgpack.decode(body, type=tuple[str, list[bytes]])
        answered.write(_framed(timed(name, contents)))
        answered.flush()
        signal.alarm(_LONGEST_WAIT)
        read += len(body)
        if read > _LITTER:
            gc.collect()
            read = 0
    os._exit(0)  # nothing is left to be tidied up, which would take a while


class Child:
    """One other process: asked ahead of time, and listened to without waiting.

    Parameters:
        name: of the kind of facts that it works out.
        process_is_ours: whether only our own code has run in this one, so that it may be copied.

    Attributes:
        pending: what it has not answered yet, in order.
        begun: when it began the first of these, by the monotonic clock.
        process: as it was started.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self, name: str, *, process_is_ours: bool = False) -> None:
        from bae_source.system.own_process import Own, can_be_copied, python  # what is done here needs no process

        self.pending: deque[Batch] = deque()
        self.begun = 0.0
        self._name = name
        copied = process_is_ours and can_be_copied()
        if copied:
            timed(name, [b""])  # what this loads is needed here as well, and so it is loaded once
        self.process = Own(serve if copied else python(SERVE))

    def ask(self, batch: Batch) -> None:
        """Have it work on a batch when it has done those before."""
        if not self.pending:
            self.begun = time.monotonic()
        self.pending.append(batch)
        self.process.channel.send(_framed((self._name, batch.contents)))

    @staticmethod
    def wait(children: Sequence[Child], seconds: float) -> None:
        """Wait until one of several processes has sent something, or can take more; at most so long."""
        from bae_source.system.frames import wait  # as above

        wait(seconds, [child.process.channel for child in children])

    def exchange(self) -> bool:
        """Send and take what can be without waiting; return whether the process is in order."""
        try:
            for body in self.process.channel.exchange():
                answered = msgspec.msgpack.decode(body, type=list[Result])
                if not self.pending or len(answered) != len(self.pending[0].contents):
                    return False  # an answer to something else
                self.pending.popleft().answered = list(answered)
                self.begun = time.monotonic()
        except (EOFError, ValueError):
            return False
        return True

    def end(self) -> None:
        """Kill the process with all that it started, and leave nothing of it."""
        self.process.end()


def timed(name: str, contents: list[bytes], timer: Callable[[], int] = time.perf_counter_ns) -> list[Result]:
    """Return the facts of some files' bytes, and how many nanoseconds each took."""
    kind, results = KINDS[name], []
    for content in contents:
        begun = timer()
        results.append((kind.extract(content), timer() - begun))
    return results


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


def processors() -> int:
    """Return how many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else (os.cpu_count() or 1)


def _framed(what: object) -> bytes:
    from bae_source.system.frames import frame  # what is done here is sent nowhere

    return frame(msgspec.msgpack.encode(what))
