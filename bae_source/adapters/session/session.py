"""A session on a project: blocks of Python, run in a process of its own that holds their names.

    with Session(".") as session:
        ran = session.run('read("httpx._client.Client.send")')
        print(ran.text)

Invariants:
- no code of the caller's runs in this process;
- a block ends: by itself, interrupted at its time limit, or with the worker, and then the outcome says what is lost;
- code never runs against names that are gone before the caller has had a notice.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Self

from bae_source.adapters.offer import FULL, ProfileName
from bae_source.adapters.session.child.messages import (
    Complete,
    Completed,
    Done,
    Execute,
    Message,
    Ready,
    Shown,
    Start,
)
from bae_source.adapters.session.child.process import Gone, Process
from bae_source.adapters.session.child.remote import Names
from bae_source.adapters.session.events import Called, Entered, LeftOut
from bae_source.adapters.session.profile import Profile
from bae_source.adapters.session.ran import Ran, Telling, finished, lost, refused
from bae_source.adapters.session.trail import OPENING, labels, spot_named, trail_named
from bae_source.engine.service import find_root
from bae_source.errors import HistoryError, Refused, RequestError, ResourceError, TransactionError
from bae_source.model.page import USUAL
from bae_source.model.request import SMALLEST_BUDGET
from bae_source.system.child import CannotStart

LONGEST = 1_000_000
"""Characters of a block."""
SECONDS = 60.0
"""The time that a block may take by default."""
_MOST_SECONDS = 86_400.0
_GRACE = 2.0
_SECONDS_TO_START = 30.0
_SECONDS_TO_COMPLETE = 2.0
_EXPIRED = "handle_expired"
_LINE = 8_000
"""Characters of a line that is completed."""


class _Interrupted(Exception):
    """Ctrl-C came while the worker was listened to, or the session was closed."""


class Session:
    """A session; its worker is started by the first block, and ends with it.

    Parameters:
        root: the project's folder; None for the nearest one upwards from the working directory.
        who: the caller, for the history.
        budget: bytes that a block shows of its calls' values, together, and of whatever else it tells as much again;
            what code does with a value is bounded by nothing.
        seconds: how long a block may take.
        environment: environment variables of the worker; this process's by default.
        profile: `full` for all tools, `core` for ten, and `call` and `change`, which make the calls of the others, or
            `read` for those that change nothing; what the code itself does to files is its own affair.

    Raises:
        RequestError: `invalid_arguments`, or `unknown_operation` for a profile that there is not.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        *,
        who: str | None = None,
        budget: int = USUAL,
        seconds: float = SECONDS,
        environment: Mapping[str, str] | None = None,
        profile: ProfileName = FULL,
    ) -> None:
        self.profile = Profile(profile)
        self._environment = dict(os.environ if environment is None else environment)
        self.root = _folder(root, self._environment)
        _check_limits(budget, seconds)
        self.budget = budget
        self.seconds = float(seconds)
        self._who = who
        self._process: Process | None = None
        self._steps: tuple[str, ...] = tuple(step.name for step in OPENING)
        self._trail: tuple[str, ...] = labels(OPENING)
        self._notices: tuple[str, ...] = ()
        self._noticed: set[str] = set()
        self._number = 0
        self._lost_reason = ""
        self._one_at_a_time = threading.Lock()
        self._interrupts: Interrupts | None = None
        self._noting = threading.RLock()
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def trail(self) -> tuple[str, ...]:
        """The way from home to where the session is."""
        return self._trail

    @property
    def namespace(self) -> Names:
        """The names that the session gives, as callables: their calls are made in the worker, and return here."""
        return Names(lambda code: self._alone(code, whole=True), lambda: spot_named(self._steps[-1]), self.profile)

    def run(self, code: str, *, seconds: float | None = None) -> Ran:
        """Run a block of code, and return what came of it; nothing that the code does is raised here.

        Ctrl-C in this process interrupts the block.

        Parameters:
            code: Python; the value of its last expression is the result, and `await` may stand at its top level. The
                value of a tool's call that is a statement is an event.
            seconds: how long it may take; None for what the session says.
        """
        return self._alone(code, seconds)

    def _alone(self, code: str, seconds: float | None = None, *, whole: bool = False) -> Ran:
        """Run a block if no other one runs.

        Parameters:
            whole: whether its value is wanted whole, whatever the budget.
        """
        if not self._one_at_a_time.acquire(blocking=False):
            busy = Refused("busy", "The session runs another block.", hints=["Wait for it, or open another session."])
            return refused(busy, self._trail)
        try:
            with self._ending_if_left("the block before was left by its host"):
                return self._run(code, seconds, whole=whole)
        finally:
            self._released()

    def complete(self, text: str) -> tuple[tuple[str, ...], int]:
        """Return the completions of a line that is being typed, and the number of characters that they replace.

        Raises:
            HistoryError: `handle_expired`, once the session is closed.
        """
        if self._closed:
            raise _closed()
        if self._lost_reason or not self._one_at_a_time.acquire(blocking=False):
            return (), 0  # the next block says what is lost
        try:
            with self._ending_if_left("its host left it while it completed a line"):
                return self._completed(text)
        finally:
            self._released()

    def close(self) -> None:
        """End the session: the worker, and whatever its code has started.

        A block that another thread runs is ended, and that thread then ends the worker.
        """
        self._closed = True
        if not self._one_at_a_time.acquire(blocking=False):
            with self._noting:
                if self._interrupts is not None:
                    self._interrupts.note()
            return  # the thread that has it checks `closed` after releasing it
        try:
            self._ended()
        finally:
            self._one_at_a_time.release()

    def _released(self) -> None:
        self._one_at_a_time.release()
        if self._closed:
            self.close()

    @contextmanager
    def _ending_if_left(self, how: str) -> Iterator[None]:
        """End the worker if its host leaves by an exception: what it has received by then is unknown."""
        with ExitStack() as left:
            left.callback(self._left, how)
            yield
            left.pop_all()

    def _left(self, how: str) -> None:
        self._lost_reason = how
        self._ended()

    def _completed(self, text: str) -> tuple[tuple[str, ...], int]:
        self._number += 1
        try:
            process = self._living()
            process.ask(Complete(number=self._number, text=text[-_LINE:]))
            found = self._answered(process, time.monotonic() + _SECONDS_TO_COMPLETE, Telling(0))
        except (Gone, ResourceError, ValueError):  # the last one for a line that is no text, too
            return (), 0  # likewise
        except TimeoutError:
            process.interrupt()
            return (), 0
        return (found.words, found.length) if isinstance(found, Completed) else ((), 0)

    def _run(self, code: str, seconds: float | None, *, whole: bool) -> Ran:
        telling = Telling(self.budget)
        try:
            limit = self._checked(code, seconds)
            process = self._living()
            self._notice(telling)
            order = Execute(number=self._number + 1, code=code, whole=whole)
            with Interrupts() as interrupts:
                return self._interruptibly(process, order, limit, telling, interrupts)
        except ResourceError as error:
            return refused(error, self._trail)
        except Gone as gone:
            output, left_out = "", 0
            if (ended := self._process) is not None:
                self._ended()
                output, left_out = ended.output.taken(self.budget // 2)
            return lost(gone, code, telling, output, left_out, self._trail)

    def _interruptibly(
        self, process: Process, order: Execute, seconds: float, telling: Telling, interrupts: Interrupts
    ) -> Ran:
        """Run a block that `close` can end."""
        self._interrupts = interrupts
        try:
            if self._closed:
                raise _end_of_session()
            return self._ran(process, order, seconds, telling, interrupts)
        finally:
            with self._noting:
                self._interrupts = None

    def _checked(self, code: str, seconds: float | None) -> float:
        if self._closed:
            raise _closed()
        if not isinstance(code, str):
            raise RequestError("invalid_arguments", "code is no text.", hints=["run(code: str) takes Python."])
        if len(code) > LONGEST:
            raise RequestError(
                "invalid_arguments",
                f"The block has {len(code):,} characters, more than {LONGEST:,}.",
                hints=["Read what is large from a file, or give it in pieces."],
            )
        try:
            code.encode("utf-8")
        except UnicodeEncodeError:
            raise RequestError("invalid_arguments", "The block is no text: it has surrogates.", hints=[]) from None
        if seconds is None:
            return self.seconds
        _check_limits(self.budget, seconds)
        return float(seconds)

    def _living(self) -> Process:
        """Return the worker, started if there is none.

        Raises:
            Gone: the one that there was has ended since the last block.
            TransactionError: none can be started.
        """
        if self._lost_reason:
            reason, self._lost_reason = self._lost_reason, ""
            raise Gone(f"{reason}, so this one was not run")
        if self._process is not None:
            if self._process.has_ended:
                raise Gone(f"since the last block {self._ended()}, so this one was not run")
            return self._process
        if not hasattr(os, "fork"):
            raise RequestError("unknown_operation", "A session needs Linux or macOS.", hints=["Use the command line."])
        start = Start(who=self._who, budget=self.budget, profile=self.profile.name, steps=self._steps)
        try:
            self._process = process = Process(self.root, start, self._environment, self.budget)
            ready = self._answered(process, time.monotonic() + _SECONDS_TO_START, Telling(0))
            if not isinstance(ready, Ready):
                raise _nonsense()
        except (CannotStart, OSError, ValueError, Gone) as error:
            raise self._unstarted(error) from None
        self._notices = ready.notices
        process.settle()
        process.output.taken(0)
        return process

    def _notice(self, telling: Telling) -> None:
        """Report the notices of a new worker, each fact once a session."""
        for each in self._notices:
            if each not in self._noticed:
                telling.note(each)
        self._noticed.update(self._notices)
        self._notices = ()

    def _unstarted(self, error: Exception) -> TransactionError:
        process, self._process = self._process, None
        output = ""
        if process is not None:
            process.end()
            output = process.output.taken(self.budget)[0]
        hints = [line for line in output.splitlines() if line.strip()][-1:]
        return TransactionError("timed_out", f"The session's worker does not start: {error}.", hints=hints)

    def _ran(self, process: Process, order: Execute, seconds: float, telling: Telling, interrupts: Interrupts) -> Ran:
        self._number = order.number
        process.ask(order)
        until, why = time.monotonic() + seconds, Gone("")
        done: Message | None = None
        while done is None:
            try:
                done = self._answered(process, until, telling, interrupts)
            except (TimeoutError, _Interrupted) as error:
                if why.reason:
                    raise Gone(f"{why.reason} and did not end when it was interrupted", why.code) from None
                why = _end_of_session() if self._closed else _ending(error, seconds)
                process.interrupt()
                until = time.monotonic() + _GRACE
            except ValueError:
                raise _nonsense() from None
        if not isinstance(done, Done):
            raise _nonsense()
        if why.code == _EXPIRED:
            raise why
        process.settle()
        try:
            way = trail_named(done.steps)
            ran = finished(done, labels(way), order.code, telling, process.output, self.budget, why)
        except ValueError:
            raise _nonsense() from None
        self._steps, self._trail = tuple(step.name for step in way), ran.trail
        return ran

    def _answered(
        self, process: Process, until: float, telling: Telling, interrupts: Interrupts | None = None
    ) -> Message:
        """Listen until a worker is ready, or has done its last order; gather its messages meanwhile.

        Raises:
            TimeoutError: it took too long.
            _Interrupted: it is to end.
            Gone: it has ended.
            ValueError: it says what is no message.
        """
        while (left := until - time.monotonic()) > 0:
            for message in process.listen(left, interrupts.wake if interrupts else -1):
                if isinstance(message, (Called, Entered, LeftOut)):
                    telling.take(message)
                elif isinstance(message, Shown):
                    telling.show(message)
                elif isinstance(message, Ready) or message.number == self._number:
                    return message
            if interrupts is not None and interrupts.taken():
                raise _Interrupted
        raise TimeoutError

    def _ended(self) -> str:
        """End the worker, and return how it ended."""
        process, self._process = self._process, None
        return process.end() if process is not None else ""


class Interrupts:
    """Notes what ends a block from outside, Ctrl-C or the end of its session, with no exception anywhere.

    Where the host has a handler of its own, or another thread runs the block, Ctrl-C stays as it is.

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
        """Return whether there was one since the last call."""
        try:
            return bool(os.read(self.wake, 64))
        except BlockingIOError:
            return False

    def note(self) -> None:
        """Wake the thread that waits for an interruption."""
        try:
            os.write(self._waker, b"c")
        except BlockingIOError:
            return  # there are many already

    def _signalled(self, _number: int, _frame: FrameType | None) -> None:
        self.note()


def _ending(error: BaseException, seconds: float) -> Gone:
    if isinstance(error, TimeoutError):
        return Gone(f"the block took longer than {seconds:g} seconds", "timed_out")
    return Gone("the block was interrupted", "interrupted")


def _end_of_session() -> Gone:
    return Gone("the session was closed", _EXPIRED)


def _nonsense() -> Gone:
    return Gone("it sent bytes that are no message")


def _closed() -> HistoryError:
    return HistoryError(_EXPIRED, "The session is closed.", hints=["Open another one: Session(root)."])


def _folder(root: str | os.PathLike[str] | None, environment: Mapping[str, str]) -> Path:
    if root is None:
        return find_root(Path.cwd(), environment)
    if not isinstance(root, (str, os.PathLike)):
        raise RequestError("invalid_arguments", f"The root {root!r} is no path.", hints=["Give a folder's path."])
    folder = Path(os.path.realpath(root))
    if not os.path.isdir(folder):  # noqa: PTH112 - false where one may not look
        raise RequestError("invalid_arguments", f"The root {str(root)!r} is no folder.", hints=["Check the root."])
    return folder


def _check_limits(budget: int, seconds: float) -> None:
    problems = []
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < SMALLEST_BUDGET:
        problems.append(f"budget: {budget!r} is no number from {SMALLEST_BUDGET}")
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds <= _MOST_SECONDS:
        problems.append(f"seconds: {seconds!r} is no number above 0, and at most {_MOST_SECONDS:g}")
    if problems:
        raise RequestError("invalid_arguments", f"A limit is wrong: {'; '.join(problems)}.")
