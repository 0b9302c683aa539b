"""What ends a block from outside, Ctrl-C or the end of its session, as something to look at, no exception anywhere.

Invariant: where the host has a handler of its own, or another thread runs the block, Ctrl-C stays as it is.
"""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self


class Interrupts:
    """Notes each Ctrl-C, from the beginning of the block to its end, and each `note`.

    Attributes:
        wake: a descriptor that can be read once there was one; -1 before the beginning and after the end.
    """

    def __init__(self) -> None:
        self.wake = self._waker = -1
        self._before: Any = None

    def __enter__(self) -> Self:
        self.wake, self._waker = os.pipe()
        for descriptor in (self.wake, self._waker):
            os.set_blocking(descriptor, False)
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._before = signal.signal(signal.SIGINT, self._signalled)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
        for descriptor in (self.wake, self._waker):
            os.close(descriptor)
        self.wake = self._waker = -1

    def taken(self) -> bool:
        """Say whether there was one since this was asked last."""
        try:
            return bool(os.read(self.wake, 64))
        except BlockingIOError:
            return False

    def note(self) -> None:
        """Wake whoever looks."""
        try:
            os.write(self._waker, b"c")
        except BlockingIOError:
            return  # there are many already

    def _signalled(self, _number: int, _frame: FrameType | None) -> None:
        self.note()
