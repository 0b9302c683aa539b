"""The messages of a session and its worker, frames of JSON on descriptors of their own.

Standard input, output and error are the code's, which may print what it likes and close them.

Invariant: no signal interrupts the writing of a frame, and threads take turns.
"""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

import msgspec
from msgspec import Struct

from bae_source.adapters.session.displays import Entry
from bae_source.adapters.session.events import Called, Entered, LeftOut
from bae_source.system.frames import Frames, frame


class Start(Struct, frozen=True, kw_only=True):
    """The first message to a worker, which is started in the project's folder.

    Parameters:
        who: the caller, for the history.
        budget: bytes of an answer.
        profile: which tools there are, by its name.
        steps: the places that lead to where the session is, by their names.
    """

    who: str | None
    budget: int
    profile: str
    steps: tuple[str, ...] = ()


class Execute(Struct, frozen=True, kw_only=True, tag="execute"):
    """Run a block of code.

    Parameters:
        number: which block of the session it is, from 1.
        whole: whether its value is wanted whole, whatever the budget.
    """

    number: int
    code: str
    whole: bool = False


class Complete(Struct, frozen=True, kw_only=True, tag="complete"):
    """Complete a line of code at its end."""

    number: int
    text: str


class Ready(Struct, frozen=True, kw_only=True, tag="ready"):
    """The worker can take code.

    Parameters:
        notices: facts to know before anything is imported.
    """

    notices: tuple[str, ...] = ()


class Shown(Struct, frozen=True, kw_only=True, tag="shown"):
    """The value of a call that is a statement, and not the last one of its block.

    Parameters:
        outcome: as much of it as is shown, as the JSON of an outcome.
        address: of what was read or changed.
        exit_code: status of a command that came to this.
        answer: the JSON that the call answers with, where that is another one.
    """

    outcome: str
    address: str | None = None
    exit_code: int = 0
    answer: str = ""


class Done(Struct, frozen=True, kw_only=True, tag="done"):
    """A block has ended.

    Parameters:
        number: which.
        outcome: what it came to, as the JSON of an outcome.
        address: of what was read or changed.
        exit_code: status of a command that came to this.
        answer: the JSON that the call whose value it is answers with, where that is another one.
        value: the value, if it is not a call's; its beginning, if it is long.
        value_length: how many characters it has in all.
        traceback: of the error that ended the block; empty for one of the engine's.
        is_call: whether the outcome is a call's.
        entry: what the place shows that it is.
        steps: the places that lead to where the session is now, by their names.
        trail: the same as a breadcrumb shows it.
    """

    number: int
    outcome: str
    steps: tuple[str, ...]
    trail: tuple[str, ...]
    address: str | None = None
    exit_code: int = 0
    answer: str = ""
    value: str = ""
    value_length: int = 0
    traceback: str = ""
    is_call: bool = False
    entry: Entry | None = None


class Completed(Struct, frozen=True, kw_only=True, tag="completed"):
    """Completions.

    Parameters:
        words: what may stand in place of the last characters of the line.
        length: how many characters those are.
    """

    number: int
    words: tuple[str, ...]
    length: int


Order = Execute | Complete
Message = Ready | Called | Entered | Shown | LeftOut | Done | Completed

_encode = msgspec.json.Encoder().encode


class Received:
    """Received bytes, as the messages that they hold.

    Parameters:
        kinds: the messages that there may be.
    """

    def __init__(self, kinds: object) -> None:
        self._frames = Frames()
        self._decode = msgspec.json.Decoder(kinds).decode

    def take(self, piece: bytes) -> list[Any]:
        """Take some bytes, and return the messages that are whole now; raise ValueError where they are none."""
        return [self._decode(body) for body in self._frames.take(piece)]


class Mouth:
    """The stream on which a worker writes its messages.

    Parameters:
        descriptor: takes frames.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self._process = os.getpid()

    def say(self, message: Message) -> None:
        """Write a message; a process that the code has forked off says nothing."""
        if os.getpid() != self._process:
            return
        content = frame_of(message)
        with self._lock:
            before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
            try:
                while content:
                    content = content[os.write(self._descriptor, content) :]
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)


def frame_of(message: Message | Order) -> bytes:
    """Return a message as its frame."""
    return frame(_encode(message))
