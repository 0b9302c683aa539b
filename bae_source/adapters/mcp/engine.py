"""The main thread, which does all work on the project, one job after the other, while another one speaks the protocol.

    client -> protocol's thread -> submit -> main thread: do -> protocol's thread -> client

So the engine works where it always works, and a client's cancellation is to it what Ctrl-C is to a command: the same
`KeyboardInterrupt` in the same thread, which wakes it from whatever it waits for and takes back what was begun.

Invariants:
- jobs are begun in the order in which they came, and never run at the same time;
- only the job that was cancelled is interrupted: the decision is made in the main thread itself, by the handler of the
  signal;
- the result of a job that was cancelled is dropped, also when it had been done by then;
- a signal to end is never lost: neither in a job that is being taken back, nor in one that goes on all
  the same.
"""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from types import FrameType
from typing import Any, Generic, TypeVar

T = TypeVar("T")

SIGNAL = signal.SIGUSR1
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals that end the process."""
_AGAIN = 0.05
"""Seconds after which a signal is sent once more."""


class Job(Generic[T]):
    """Something to do, and who waits for it."""

    def __init__(self, do: Callable[[], T]) -> None:
        self.do: Callable[[], T] | None = do
        self.loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[T] = self.loop.create_future()
        self.begun = False
        self.cancelled = False
        self.interrupted = False

    def deliver(self, settle: Callable[[], None]) -> None:
        """Have the waiting thread settle the answer, if it is still there."""
        try:
            self.loop.call_soon_threadsafe(lambda: None if self.answer.done() else settle())
        except RuntimeError:  # the loop has ended, and with it all that waited
            return


class Engine:
    """Jobs for the main thread.

    Parameters:
        interrupted: called in the main thread after a job that was interrupted.
    """

    def __init__(self, interrupted: Callable[[], None] = lambda: None) -> None:
        self._interrupted = interrupted
        self._jobs: SimpleQueue[Job[Any] | None] = SimpleQueue()
        self._current: Job[Any] | None = None
        self._is_asked_to_end = False

    async def done(self, do: Callable[[], T], *, seen: Callable[[Job[T]], None] = lambda _: None) -> T:
        """Have the main thread do something, and return what it came to; to cancel the wait is to interrupt it.

        Parameters:
            seen: is given the job, so that the caller can see whether it has begun.
        """
        job = Job(do)
        seen(job)
        self._jobs.put(job)
        try:
            return await job.answer
        except asyncio.CancelledError:
            self._cancel(job)
            raise

    def add(self, do: Callable[[], None]) -> None:
        """Have the main thread do something after what it was given before, without waiting for it."""
        self._jobs.put(Job(do))

    def stop(self) -> None:
        """Let `run` return once it has done what it is doing."""
        self._jobs.put(None)

    def run(self) -> None:
        """Do jobs until the last client is gone; for the main thread.

        Raises:
            KeyboardInterrupt: the process itself is to end.
        """
        signal.signal(SIGNAL, self._interrupt)
        before = self._heeded()
        try:
            while (job := self._jobs.get()) is not None:
                try:
                    self._carry_out(job)
                except KeyboardInterrupt:
                    if not job.interrupted:
                        raise
                if self._is_asked_to_end:  # whatever the job made of it
                    raise KeyboardInterrupt
                if job.interrupted:
                    self._interrupted()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            signal.signal(SIGNAL, _nothing)  # one may be on its way, and must not end the process

    def _heeded(self) -> dict[signal.Signals, Callable[[int, FrameType | None], Any]]:
        """Remember signals to end from now on; return the handlers that were set before."""
        before = {number: handler for number in _ENDING if callable(handler := signal.getsignal(number))}

        def heed(number: int, frame: FrameType | None) -> None:
            self._is_asked_to_end = True
            before[signal.Signals(number)](number, frame)

        for number in before:
            signal.signal(number, heed)
        return before

    def _carry_out(self, job: Job[T]) -> None:
        try:
            self._current = job
            if job.cancelled or job.do is None:
                return
            job.begun = True
            result = job.do()
        except Exception as error:  # noqa: BLE001  # the edge: the waiting caller gets it
            failure = error
            job.deliver(lambda: job.answer.set_exception(failure))
        else:
            job.deliver(lambda: job.answer.set_result(result))
        finally:
            self._current = None

    def _cancel(self, job: Job[T]) -> None:
        job.cancelled = True
        if self._current is not job:  # it has been done, or will be skipped
            job.do = None  # with what it holds; the job itself stays in the queue
            return
        threading.Thread(target=self._wake, args=(job,), daemon=True).start()

    def _wake(self, job: Job[T]) -> None:
        """Signal until it is heard: a signal that comes right before a system call does not end its waiting."""
        while self._current is job and not job.interrupted and not self._is_asked_to_end:
            signal.pthread_kill(threading.main_thread().ident or 0, SIGNAL)
            time.sleep(_AGAIN)

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        """Interrupt the job that is being done, if it is the one that was cancelled; once."""
        job = self._current
        if job is not None and job.cancelled and not job.interrupted and not self._is_asked_to_end:
            job.interrupted = True
            raise KeyboardInterrupt


def _nothing(_number: int, _frame: FrameType | None) -> None:
    """Let a signal pass."""
