"""The session's end of its worker: started, given orders, listened to, interrupted, and ended with all it started.

Invariants:
- the worker leads a group of its own, has no terminal and no standard input, and dies with the session's process, of
  which a fork has no part in it: a pipe that a fork held would not end;
- what it prints is read all the time and kept in part, so memory is bounded and nobody waits;
- nothing here waits without a limit.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from weakref import WeakSet

import msgspec

from bae_source.adapters.session.child.capture import Capture
from bae_source.adapters.session.child.messages import Frames, Message, Order, Start, frame_of
from bae_source.adapters.session.child.supervisor import GRACE, INTERRUPT, KILL

_CODE = (
    "import sys, os; sys.path += [p for p in sys.argv[6:] if p not in sys.path]; "
    "c, s, o, m = map(int, sys.argv[1:5]); "
    "from bae_source.adapters.session.child.supervisor import supervise; supervise(c, s, (o, m)); "
    "sys.modules['typing_extensions'] = None; import msgspec; del sys.modules['typing_extensions']; "
    "from bae_source.adapters.session.child.worker import serve; "
    "start = sys.argv[5]; del sys.argv[1:]; serve(o, m, start)"
)
"""What the process runs; msgspec can do without typing_extensions, which takes a quarter of the start."""
_PIECE = 1 << 18
_SECONDS_TO_END = 15.0
_SECONDS_TO_FALL_SILENT = 1.0


class Gone(Exception):
    """The worker has ended, or has to be.

    Parameters:
        reason: why, as the end of a sentence: `it ended itself with status 3`.
        code: what an outcome calls it.
    """

    def __init__(self, reason: str, code: str = "namespace_lost") -> None:
        super().__init__(reason, code)
        self.reason = reason
        self.code = code


class Process:
    """One worker.

    Parameters:
        root: the project's folder.
        start: what it is told.
        environment: its environment variables.
        room: how many bytes of output are kept.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self, root: Path, start: Start, environment: Mapping[str, str], room: int) -> None:
        self.output = Capture(room)
        self._frames = Frames(Message)
        self._sending = bytearray()
        self._reason: str | None = None
        self._process = 0
        self._deaf_since: float | None = None
        theirs: list[int] = []
        self._control = self._status = self._orders = self._messages = self._printed = -1
        with ExitStack() as passed_on, ExitStack() as opened:
            opened.callback(self._close)
            for name in ("_control", "_orders"):
                there, here = os.pipe()
                setattr(self, name, here)
                theirs.append(there)
                passed_on.callback(os.close, there)
            for name in ("_status", "_messages", "_printed"):
                here, there = os.pipe()
                setattr(self, name, here)
                theirs.append(there)
                passed_on.callback(os.close, there)
            _begun.add(self)
            self._begin(root, start, environment, theirs)
            opened.pop_all()
        for descriptor in (self._orders, self._messages, self._printed, self._status):
            os.set_blocking(descriptor, False)

    def _begin(self, root: Path, start: Start, environment: Mapping[str, str], theirs: list[int]) -> None:
        import subprocess  # 10 ms, which only those pay who run code

        control, orders, status, messages, printed = theirs
        numbers = [str(each) for each in (control, status, orders, messages)]
        told = msgspec.json.encode(start).decode()
        self._supervisor = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _CODE, *numbers, told, *_search_path()],
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=printed,
            pass_fds=(control, status, orders, messages),
            start_new_session=True,
            cwd=root,
            env=dict(environment),
        )

    def __del__(self) -> None:
        """End the worker of a session that nobody closed: without an end of its pipes it ends."""
        self._close()

    def ask(self, order: Order) -> None:
        """Give an order; it goes out while the worker is listened to."""
        self._sending += frame_of(order)

    def listen(self, seconds: float, wake: int = -1) -> list[Message]:
        """Wait until the worker says something, at most so long, and return its messages.

        Parameters:
            wake: a descriptor that ends the waiting as well.

        Raises:
            Gone: it has ended, and all its messages have been taken.
        """
        waiting = select.poll()
        for descriptor in (self._messages, self._printed, self._status):
            if descriptor >= 0:
                waiting.register(descriptor, select.POLLIN)
        if self._sending:
            waiting.register(self._orders, select.POLLOUT)
        if wake >= 0:
            waiting.register(wake, select.POLLIN)
        if self._messages < 0:
            seconds = min(seconds, _SECONDS_TO_FALL_SILENT)
        ready = [descriptor for descriptor, _ in waiting.poll(max(0.0, seconds) * 1000)]
        if self._orders in ready:
            self._send()
        if self._printed in ready:
            self._take_output()
        found = self._take_messages() if self._messages in ready else []
        if self._status in ready and self._messages not in ready:
            self._take_status()
        elif self._messages < 0 and not ready and self._control >= 0:
            raise Gone("it closed what it speaks through")
        return found

    def settle(self) -> None:
        """Take the output that is there already."""
        while self._take_output():
            continue

    @property
    def has_ended(self) -> bool:
        """Whether it has ended, as far as can be seen without waiting, or was the worker of a process that forked."""
        if self._status < 0:
            return True
        waiting = select.poll()
        waiting.register(self._status, select.POLLIN)
        return bool(waiting.poll(0))

    def interrupt(self) -> None:
        """Have the block end as Ctrl-C does."""
        self._deaf_since = time.monotonic()  # until it says something
        with suppress(OSError):
            os.write(self._control, INTERRUPT)

    def learn(self, process: int) -> None:
        """Learn the worker's process id, for the case that nobody is left to end it."""
        self._process = process

    def end(self) -> str:
        """End the worker with all it started, and return how it ended.

        It is interrupted first, so that a change is taken back; one that was interrupted already, and went on, is not.
        """
        if self._status < 0:
            return "it stayed with the process that this one is a fork of"
        if self._deaf_since is not None and time.monotonic() - self._deaf_since >= GRACE:
            with suppress(OSError):
                os.write(self._control, KILL)
        self._sending.clear()
        for name in ("_control", "_orders"):
            os.close(getattr(self, name))
            setattr(self, name, -1)
        until = time.monotonic() + _SECONDS_TO_END
        reason = "it was ended"
        while (left := until - time.monotonic()) > 0:
            try:
                self.listen(left)
            except Gone as gone:
                reason = gone.reason
                break
            except ValueError:
                continue  # what it says does not matter any more
        self._supervisor.kill()
        self._supervisor.wait()
        self._close()
        return reason

    def _send(self) -> None:
        try:
            while self._sending:
                del self._sending[: os.write(self._orders, self._sending)]
        except BlockingIOError:
            return
        except OSError:
            self._sending.clear()  # it ended; whoever listens to it learns that

    def _take_output(self) -> bool:
        """Take a piece of output; say whether there was one."""
        if self._printed < 0:
            return False
        try:
            piece = os.read(self._printed, _PIECE)
        except BlockingIOError:
            return False
        if not piece:
            os.close(self._printed)
            self._printed = -1
        self.output.take(piece)
        return bool(piece)

    def _take_messages(self) -> list[Message]:
        try:
            piece = os.read(self._messages, _PIECE)
        except BlockingIOError:
            return []
        if not piece:
            os.close(self._messages)
            self._messages = -1
        self._deaf_since = None
        return self._frames.take(piece)  # type: ignore[return-value]  # what is taken is what there may be

    def _take_status(self) -> None:
        try:
            told = os.read(self._status, 4)
        except BlockingIOError:
            return
        self.settle()
        if len(told) == 4:
            raise Gone(_ending(int.from_bytes(told, "big")))
        if self._process and self._messages >= 0:  # whoever should end it was ended itself
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process, signal.SIGKILL)
        raise Gone("it was ended from outside")

    def _close(self) -> None:
        for name in ("_control", "_status", "_orders", "_messages", "_printed"):
            if getattr(self, name, -1) >= 0:
                os.close(getattr(self, name))
                setattr(self, name, -1)


_begun: WeakSet[Process] = WeakSet()


def _let_go() -> None:
    """Hold no pipe in a fork."""
    for each in list(_begun):
        each._close()  # noqa: SLF001  # its own module's


os.register_at_fork(after_in_child=_let_go)


def _ending(status: int) -> str:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        try:
            return f"it was ended by {signal.Signals(number).name}"
        except ValueError:
            return f"it was ended by signal {number}"
    return f"it ended itself with status {os.waitstatus_to_exitcode(status)}"


def _search_path() -> list[str]:
    """Return where the process finds modules, what we need ourselves before anything else that is on our path."""
    first = [str(Path(file).parent.parent) for file in (msgspec.__file__,) if file]
    home = str(Path(__file__).parents[4])
    rest = [path for path in sys.path if path and Path(path).is_absolute()]
    return list(dict.fromkeys([*first, home, *rest]))
