"""Text that a caller hands over, in a file or on standard input: read as bytes, decoded strictly, newlines kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bae_source.adapters.cli.streams import STANDARD_INPUT, Streams
from bae_source.errors import RequestError


def read_text(flag: str, name: str, streams: Streams) -> str:
    """Return the text of the file `name`, or of standard input for `-`.

    Parameters:
        flag: the option that named it, for messages.

    Raises:
        RequestError: `invalid_arguments`, if it cannot be read or is not UTF-8.
    """
    return decoded(_content(flag, name, streams), name)


def read_escaped(flag: str, name: str, streams: Streams) -> str:
    """Return the text with surrogate escapes for bytes that are not UTF-8.

    Raises:
        RequestError: `invalid_arguments`, if it cannot be read.
    """
    return _content(flag, name, streams).decode("utf-8-sig", "surrogateescape")


def _content(flag: str, name: str, streams: Streams) -> bytes:
    if name == STANDARD_INPUT:
        return _standard_input(flag, streams)
    try:
        return Path(name).read_bytes()
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise RequestError(
            "invalid_arguments",
            f"{flag}: {name!r} cannot be read: {reason}.",
            hints=[f"{flag} takes a file, or - for standard input."],
        ) from None


def _standard_input(flag: str, streams: Streams) -> bytes:
    if streams.stdin_terminal:
        streams.stderr.write(f"Type or paste the text for {flag}, then press Ctrl-D on a line of its own.\n")
    try:
        return streams.stdin.read()
    except OSError as error:
        raise RequestError("invalid_arguments", f"{flag}: standard input cannot be read: {error.strerror}.") from None


def origin(name: str) -> str:
    """Return a file's name as messages have it, which for `-` is standard input."""
    return "Standard input" if name == STANDARD_INPUT else repr(name)


def decoded(content: bytes, name: str) -> str:
    """Return the text of a file that was read, or of standard input for `-`.

    Raises:
        RequestError: `invalid_arguments`, if it is not UTF-8.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise RequestError(
            "invalid_arguments",
            f"{origin(name)} is not UTF-8: byte 0x{content[error.start]:02x} in line {line} ({error.reason}).",
            hints=["Give source text as UTF-8, whatever encoding the project's file has."],
        ) from None


def values_of(text: str | bytes | bytearray) -> object:
    """Return the value of a JSON text.

    Raises:
        json.JSONDecodeError: it is no JSON.
        ValueError: it says something twice, or a number that JSON does not have.
        RecursionError: it is nested too deeply.
    """
    return json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its pairs; a key that is there twice is refused as ambiguous."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"{twice[:80]!r} is there twice")
    return found


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number in JSON")
