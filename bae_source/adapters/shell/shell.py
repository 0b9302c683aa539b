"""`shell`, the verb of the command line: a session whose blocks a person types, or a pipe gives.

Invariants:
- what is typed runs in the session's worker, never here;
- Ctrl-C ends the line or the block, Ctrl-D the shell; with it ends whatever its code has started.
"""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import Any

from bae_source.adapters.cli.streams import Streams
from bae_source.adapters.offer import FULL
from bae_source.adapters.session.events import breadcrumb
from bae_source.adapters.session.session import SECONDS, Session
from bae_source.adapters.shell.blocks import blocks, ends_here
from bae_source.adapters.shell.showing import show
from bae_source.engine.service import typed_lines
from bae_source.model.outcome import Failure, Outcome
from bae_source.model.page import USUAL

_LEAVING = ("exit", "quit", "exit()", "quit()")
_PIPE_WIDTH = 100
_GOING_ON = "... "
_GREETING = "{}: Python, with tools that {} this project. nav() shows them, Ctrl-D leaves.\n"
_UNAIDED = 'Lines are neither completed nor remembered: pip install "bae-source[shell]" does that.\n'


class _Ended(BaseException):
    """A signal that ends this process."""


def shell(given: Mapping[str, Any], streams: Streams) -> Outcome:
    """Run blocks until there are no more.

    Parameters:
        given: `root`, `who`, `profile`, `budget` and `seconds`, as far as they were given.

    Raises:
        RequestError: `invalid_arguments`, or `unknown_operation` for a profile that there is not.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    session = Session(
        given.get("root"),
        who=given.get("who"),
        budget=given.get("budget", USUAL),
        seconds=given.get("seconds", SECONDS),
        environment=streams.environment,
        profile=given.get("profile", FULL),
    )
    with session:
        try:
            return _run(session, _given(session, streams), streams)
        except (_Ended, KeyboardInterrupt):
            return _failed("interrupted", "The shell was ended.", 130)


def _run(session: Session, given: Iterator[str], streams: Streams) -> Outcome:
    """Run blocks; of those that a pipe gives, the last one that failed says how all of it went."""
    last: Outcome | None = None
    for code in given:
        if code.strip() in _LEAVING:
            break
        try:
            ran = session.run(code)
            show(ran, streams, width=_width(streams))
        except KeyboardInterrupt:  # before the block had begun, or while what came of it was shown
            streams.stderr.write("\n")
            continue
        if ran.outcome.errors:
            last = ran.outcome
    if last is None or streams.stdin_terminal:
        return Outcome(status="answer")
    return Outcome(status="answer", exit_code=last.exit_code or 1)


def _given(session: Session, streams: Streams) -> Iterator[str]:
    if not streams.stdin_terminal:
        return blocks(line.decode("utf-8", "surrogateescape").rstrip("\r\n") for line in streams.stdin)
    does = "read" if session.profile.only_reads else "read and change"
    streams.stderr.write(_GREETING.format(breadcrumb(session.trail), does))
    prompt = lambda: f"{_place(session)}> "  # noqa: E731
    try:
        from bae_source.adapters.shell.typed import typed  # prompt_toolkit is an extra, and takes 200 ms
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("prompt_toolkit", "pygments"):
            raise
        streams.stderr.write(_UNAIDED)
        return _plain(prompt, streams)
    remembered = typed_lines(session.root, streams.environment)
    return typed(prompt, session.complete, remembered, colour=streams.stdout.colour)


def _plain(prompt: Callable[[], str], streams: Streams) -> Iterator[str]:
    """Yield blocks as they are typed, where nothing edits their lines."""
    gathered: list[str] = []
    while True:
        try:
            gathered.append(input(_GOING_ON if gathered else prompt()))
        except KeyboardInterrupt:
            gathered = []
            streams.stderr.write("\n")
        except EOFError:
            return
        text = "\n".join(gathered)
        if not text.strip():
            gathered = []
        elif ends_here(text):
            gathered = []
            yield text


def _place(session: Session) -> str:
    trail = session.trail[1:]
    return ".".join(trail) if trail else session.trail[0]


def _width(streams: Streams) -> int:
    return shutil.get_terminal_size().columns if streams.stdout.terminal else _PIPE_WIDTH


def _failed(code: str, message: str, exit_code: int) -> Outcome:
    return Outcome(
        status="error",
        text=message,
        complete=False,
        errors=(Failure(code=code, message=message),),
        exit_code=exit_code,
    )


def _end(_number: int, _frame: FrameType | None) -> None:
    raise _Ended
