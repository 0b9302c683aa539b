"""A line about every request, in `.bae-source/telemetry.jsonl`: how long it took, and nothing about the code.

    {"request": "read", "code": "answer", "ms": 3.1, "bytes": 812, "ast_tokens": 240, "parse": {"5": {"0.8": 2}}}

`parse` counts, by size of the file, how many files took how many milliseconds to parse, rounded to two digits.

Invariants:
- it never leaves this machine, and holds no source, no name of the project and no path;
- a line is appended by one write, so that several processes do not mix theirs; what is no line is skipped by readers;
- at most two files of about a megabyte are kept, and what cannot be written is not; nothing is raised.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from bae_source.system.descriptors import SAFELY
from bae_source.system.own_files import content_of

if TYPE_CHECKING:
    from pathlib import Path

    from bae_source.state.folders import StateFolders

_NAME = "telemetry.jsonl"
_OLDER = "telemetry.1.jsonl"
_LARGEST = 1_000_000
_COUNTED = 8_000
_TOKEN = re.compile(r"\w+|[^\w\s]")

SUCCESSES = ("answer", "applied", "unchanged", "planned", "pending")
"""Codes of requests that did not fail."""
BUCKETS = ((5_000, "5"), (50_000, "50"), (200_000, "200"))
"""Sizes below which a file belongs to a bucket, in bytes, and the bucket's name; larger files are in `more`."""


class Line(Struct, frozen=True, kw_only=True):
    """One request.

    Parameters:
        request: its name.
        code: the status of its outcome, or the code of its error.
        ms: milliseconds that it took.
        bytes: of the answer's text.
        ast_tokens: words and signs of the answer's text, about.
        parse: by bucket, how many files took how many milliseconds to parse.
    """

    request: str
    code: str
    ms: float
    bytes: int
    ast_tokens: int
    parse: dict[str, dict[str, int]] = {}


class Log:
    """The lines.

    Parameters:
        folders: where our state lies.
        most: bytes from which on a new file is begun.
    """

    def __init__(self, folders: StateFolders, *, most: int = _LARGEST) -> None:
        self.folders = folders
        self.most = most

    def note(self, line: Line) -> None:
        """Append a line; a request that failed leaves nothing in a project in which nothing of ours is yet."""
        data = msgspec.json.encode(line) + b"\n"
        try:
            if self.folders.local_id is None:
                if line.code not in SUCCESSES:
                    return
                self.folders.make(self.folders.local)
            try:
                self._append(data)
            except FileNotFoundError:
                self.folders.make(self.folders.local)
                self._append(data)
        except OSError:
            return  # read-only, full, or no folder at all: no harm is done

    def lines(self) -> Iterator[Line]:
        """Yield the notes, the oldest first."""
        for name in (_OLDER, _NAME) if self.folders.local_id else ():
            for text in _content(self.folders.local / name).splitlines():
                try:
                    yield msgspec.json.decode(text, type=Line)
                except msgspec.DecodeError:
                    continue  # cut off by a full disk, or not ours

    def _append(self, data: bytes) -> None:
        path = self.folders.local / _NAME
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | SAFELY
        descriptor = os.open(path, flags, 0o600)
        try:
            os.write(descriptor, data)
            status = os.fstat(descriptor)
        finally:
            os.close(descriptor)
        if status.st_size > self.most and path.stat().st_ino == status.st_ino:
            path.replace(self.folders.local / _OLDER)


def buckets(taken: Iterable[tuple[int, int]]) -> dict[str, dict[str, int]]:
    """Count parsed files by size and time.

    Parameters:
        taken: bytes and nanoseconds of each.
    """
    counted: dict[str, dict[str, int]] = {}
    for size, nanoseconds in taken:
        bucket = counted.setdefault(next((name for limit, name in BUCKETS if size < limit), "more"), {})
        time = f"{nanoseconds / 1e6:.2g}"
        bucket[time] = bucket.get(time, 0) + 1
    return counted


def tokens(text: str) -> int:
    """Return about how many words and signs a text has; a long one is judged by its beginning."""
    counted = len(_TOKEN.findall(text[:_COUNTED]))
    return counted if len(text) <= _COUNTED else counted * len(text) // _COUNTED


def _content(path: Path) -> bytes:
    try:
        return content_of(path)
    except OSError:
        return b""
