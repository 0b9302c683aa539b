"""Standard input, output and error as the command line uses them: bytes, exact, with newlines untouched.

Invariants:
- what is written to a pipe is the text's own bytes; surrogate escapes become the bytes that they stand for;
- what is written to a terminal cannot drive it: control characters are shown as escapes (`visible`).
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO, TextIO

from msgspec import Struct

STANDARD_INPUT = "-"
"""The file name that stands for standard input."""

# C0 without tab and newline, DEL, C1, marks and overrides of direction, other ends of lines, what has no width, and
# surrogates
_DRIVING = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


class Sink(Struct, frozen=True, kw_only=True):
    """A stream to write to.

    Parameters:
        raw: takes bytes.
        terminal: whether a person reads along.
        colour: whether escape sequences are welcome.
    """

    raw: BinaryIO
    terminal: bool = False
    colour: bool = False

    @property
    def seen(self) -> bool:
        """Return whether the text is shown on a terminal, and not read by a program."""
        return self.terminal or self.colour

    def write(self, text: str) -> None:
        """Write the text's bytes and flush."""
        self.raw.write(encoded(text))
        self.raw.flush()


class Streams(Struct, frozen=True, kw_only=True):
    """The streams that a command reads from and writes to.

    Parameters:
        stdin: gives bytes.
        stdin_terminal: whether a person types them.
        environment: the process's environment variables.
        program: how a person starts this program, for usage lines and hints.
        folder: where the command was typed; None for this process's current folder.
    """

    stdin: BinaryIO
    stdin_terminal: bool
    stdout: Sink
    stderr: Sink
    environment: Mapping[str, str]
    program: str = "bae-source"
    folder: Path | None = None


def standard() -> Streams:
    """Return the streams of this process."""
    environment = dict(os.environ)
    return Streams(
        stdin=_binary(sys.stdin, "rb"),
        stdin_terminal=_is_terminal(sys.stdin),
        stdout=_sink(sys.stdout, environment),
        stderr=_sink(sys.stderr, environment),
        environment=environment,
        program="python -m bae_source" if Path(sys.argv[0]).stem == "__main__" else "bae-source",
    )


def wants_colour(environment: Mapping[str, str], *, terminal: bool) -> bool:
    """Return whether to colour: NO_COLOR forbids it, FORCE_COLOR asks for it anywhere, a terminal that can has it."""
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return terminal and environment.get("TERM") != "dumb"


def visible(text: str) -> str:
    """Return `text` with every character that drives a terminal, reorders a line, or hides in it, as an escape."""
    return re.sub(_DRIVING, lambda match: ascii(match[0])[1:-1], text)


def encoded(text: str) -> bytes:
    """Return the bytes of `text`, with surrogate escapes as the bytes they stand for."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace")


def abandon(stream: Sink) -> None:
    """Drop the buffered text for a reader that went away, without an error."""
    try:
        number = stream.raw.fileno()
    except OSError:
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)


def _sink(stream: TextIO | None, environment: Mapping[str, str]) -> Sink:
    terminal = _is_terminal(stream)
    return Sink(raw=_binary(stream, "wb"), terminal=terminal, colour=wants_colour(environment, terminal=terminal))


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()


def _binary(stream: TextIO | None, mode: str) -> BinaryIO:
    if stream is None:  # closed by the parent process
        return Path(os.devnull).open(mode)  # type: ignore[return-value]  # a mode that is no literal
    return stream.buffer
