"""The lines of an open log of any size, in memory that does not grow with it, and how they are shown.

    OpenLog(descriptor)          `end` is its size when it was opened: what is added later is no part of an answer
    last_lines(log, end, 100)    read from the end, block by block
    blocks(log, 0, end)          all of it, some whole lines at a time

A line ends in `\\n`. A carriage return before that, and a long run of NULs, as a log has that was emptied while a
program had it open, are no part of what is shown; bytes that are no UTF-8 and control characters are shown as escapes.

Invariants:
- no more than `LOOK` bytes are in memory at once, and a block more;
- a file that becomes shorter while it is read ends where it ends.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from bae_source.resources.logs.folders import Logs

LOOK = 8_000_000
"""Bytes that are looked through for the lines that are wanted; what is longer is no line for people."""
COUNTED = 256_000_000
"""Bytes of a log whose lines are counted, and in which a line is searched for."""
LONGEST = 2_000
"""Characters of a line that are shown."""
BLOCK = 1 << 20
"""Bytes that are read at once where all of a part is wanted."""
SAMPLE = 65_536
"""Bytes that are read at once where a line end is looked for."""
_MOST_CONTROLS = 0.04
"""The part of a text that may be control characters; of compressed data a tenth is."""
_NULS = bytes(16)
_HOLE = re.compile(rb"\x00{16,}")
_CONTROLS = bytes(each for each in range(32) if each not in b"\t\n\r\x1b") + b"\x7f"
_PLAIN = bytes(range(32, 127)) + b"\t\n"
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_KINDS = {
    b"\x1f\x8b": "gzip data",
    b"BZh": "bzip2 data",
    b"\xfd7zXZ": "xz data",
    b"\x28\xb5\x2f\xfd": "zstd data",
    b"PK\x03\x04": "a zip archive",
    b"LPKSHHRH": "a systemd journal",
    b"SQLite format 3": "an SQLite database",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}


class OpenLog:
    """A log that was opened; what a name leads to later may be another one.

    Parameters:
        logs: where it is.
        name: of the log.

    Attributes:
        id: its device and inode.
        end: its size in bytes when it was looked at last: as it was opened.
        changed: when it had been changed then, in nanoseconds since the epoch.

    Raises:
        as `Logs.opened`.
    """

    def __init__(self, logs: Logs, name: str) -> None:
        self.name = name
        self._logs = logs
        self._open()

    def reopen(self) -> None:
        """Let go of the file, and open the one that has the log's name now; if that cannot be, keep what there is.

        Raises:
            as `Logs.opened`.
        """
        before = self._file
        self._open()
        before.close()

    def _open(self) -> None:
        self._file = open(self._logs.opened(self.name), "rb", buffering=0)  # noqa: SIM115 - closed by `close`
        self.renew()

    def renew(self) -> None:
        """Look how large it is now, and when it was changed."""
        status = os.fstat(self._file.fileno())
        self.id = (status.st_dev, status.st_ino)
        self.end, self.changed = status.st_size, status.st_mtime_ns

    def __enter__(self) -> OpenLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    @property
    def size(self) -> int:
        """Its size now."""
        return os.fstat(self._file.fileno()).st_size

    def at(self, offset: int, size: int) -> bytes:
        """Return so many bytes from an offset on, or as many as there are."""
        self._file.seek(offset)
        pieces: list[bytes] = []
        while size > 0 and (piece := self._file.read(min(size, BLOCK))):
            pieces.append(piece)
            size -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


class Lines(Struct, frozen=True, kw_only=True):
    """Lines of a log, one after the other.

    Parameters:
        raw: each as it stands there, without its `\\n`.
        start: the offset of the first.
        end: the offset behind the last one.
        is_cut: whether one is longer than what is looked through: of the first only the end is here, or of the only one
            the beginning.
    """

    raw: tuple[bytes, ...]
    start: int
    end: int
    is_cut: bool = False


class Block(Struct, frozen=True, kw_only=True):
    """Some whole lines of a log that is read from one end to the other.

    Parameters:
        first: how many lines stand before it, from where the reading began.
        offset: of its first byte.
        raw: its bytes; of a line that is longer than `LOOK` the beginning.
    """

    first: int
    offset: int
    raw: bytes

    @property
    def text(self) -> str:
        """Its lines as they are shown."""
        return readable(self.raw)

    @property
    def is_plain(self) -> bool:
        """Return whether it is shown as it stands there."""
        return not self.raw.translate(None, _PLAIN)

    def offsets(self, lines: Iterable[int]) -> Iterator[int]:
        """Yield the offsets of some of its lines, counted from 0, which are in order."""
        position = at = 0
        for line in lines:
            for _ in range(line - at):
                position = self.raw.index(b"\n", position) + 1
            at = line
            yield self.offset + position


def last_lines(log: OpenLog, end: int, most: int) -> Lines:
    """Return the last lines before an offset.

    Blocks are read backwards until there are enough line ends: one more than lines, for the one before the first.
    """
    start, found = end, b""
    while start > 0 and found.count(b"\n") <= most and len(found) < LOOK:
        step = min(max(SAMPLE, len(found)), start)
        found = log.at(start - step, step) + found
        start -= step
    lines = found.split(b"\n")
    if not lines[-1]:
        lines.pop()
    is_cut = start > 0 and len(lines) <= most and log.at(start - 1, 1) != b"\n"
    kept = lines[-most:]
    length = sum(map(len, kept)) + len(kept) - (not found.endswith(b"\n"))
    behind = start + len(found)
    return Lines(raw=tuple(kept), start=behind - length if kept else behind, end=behind, is_cut=is_cut)


def first_lines(log: OpenLog, start: int, end: int, most: int) -> Lines:
    """Return the first lines from an offset on."""
    found, offset = b"", start
    while offset < end and found.count(b"\n") < most and len(found) < LOOK:
        piece = log.at(offset, min(max(SAMPLE, len(found)), end - offset))
        if not piece:
            break
        found += piece
        offset += len(piece)
    lines = found.split(b"\n", most)
    rest = lines.pop()  # what stands behind the last line end, or behind the last line that is wanted
    if rest and len(lines) < most and (offset >= end or not lines):
        return Lines(raw=(*lines, rest), start=start, end=start + len(found), is_cut=offset < end)
    return Lines(raw=tuple(lines), start=start, end=start + len(found) - len(rest))


def blocks(log: OpenLog, start: int, end: int) -> Iterator[Block]:
    """Yield whole lines, some at a time, from an offset on."""
    offset, first, kept = start, 0, b""
    while offset < end and (piece := log.at(offset, min(BLOCK, end - offset))):
        kept = behind_hole(kept + piece)
        offset += len(piece)
        cut = len(kept) if offset >= end else kept.rfind(b"\n") + 1
        if cut:
            yield Block(first=first, offset=offset - len(kept), raw=kept[:cut])
            first += kept.count(b"\n", 0, cut)
            kept = kept[cut:]
        elif len(kept) >= LOOK:
            yield Block(first=first, offset=offset - len(kept), raw=kept)
            offset = _behind_line(log, offset, end)
            first, kept = first + 1, b""


def line_count(log: OpenLog, start: int, end: int) -> int:
    """Count the lines between two offsets, of which the first begins one; the last need not be ended."""
    count, last = 0, b"\n"
    while start < end and (piece := log.at(start, min(BLOCK, end - start))):
        count += piece.count(b"\n")
        last = piece[-1:]
        start += len(piece)
    return count + (last != b"\n")


def offset_of_line(log: OpenLog, line: int, end: int) -> int | None:
    """Return the offset of a line, counted from 1; None where there are not so many, or they are not counted."""
    offset, before = 0, line - 1
    while before > 0:
        piece = log.at(offset, min(BLOCK, end - offset))
        count = piece.count(b"\n")
        if not piece or offset > COUNTED:
            return None
        if count >= before:
            position = 0
            for _ in range(before):
                position = piece.index(b"\n", position) + 1
            return offset + position
        before -= count
        offset += len(piece)
    return offset


def readable(raw: bytes) -> str:
    """Return bytes of a log as text, line by line; what cannot be shown is an escape."""
    raw = _HOLE.sub(b"", raw) if b"\0" in raw else raw
    raw = raw.removesuffix(b"\r").replace(b"\r\n", b"\n") if b"\r" in raw else raw
    text = raw.decode("utf-8", "backslashreplace")
    return text if not raw.translate(None, _PLAIN) else _HIDDEN.sub(_escaped, text)


def shown(raw: bytes, column: int = 1) -> str:
    """Return a line as it is shown: of a long one a part, with the number of characters that are left out.

    Parameters:
        column: which character is to be seen, from 1.
    """
    text = readable(raw)
    start = 0 if column <= LONGEST else column - LONGEST // 2
    before, after = start, len(text) - start - LONGEST
    head = f"(+{before:,} characters) …" if before else ""
    return f"{head}{text[start : start + LONGEST]}" + (f"… (+{after:,} characters)" if after > 0 else "")


def behind_hole(raw: bytes) -> bytes:
    """Return bytes without a long run of NULs at their beginning."""
    return raw.lstrip(b"\0") if raw.startswith(_NULS) else raw


def hole_in(lines: Sequence[bytes]) -> int:
    """Return the number of NULs in long runs that are not shown."""
    return sum(len(hole) for each in lines if b"\0" in each for hole in _HOLE.findall(each))


def kind_of_binary(log: OpenLog, sample: bytes) -> str:
    """Return the kind of a log that is no text; empty for text.

    Parameters:
        sample: bytes of what is to be shown: a text log may begin with NULs where it was emptied.
    """
    start = log.at(0, 16)
    if kind := next((kind for sign, kind in _KINDS.items() if start.startswith(sign)), ""):
        return kind
    sample = sample[-SAMPLE:]
    if b"\0" in sample:
        sample = _HOLE.sub(b"", sample)
        if not sample.strip():
            return "nothing but NUL bytes"
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    return "binary data" if controls > max(len(sample) * _MOST_CONTROLS, 8) else ""


def _behind_line(log: OpenLog, offset: int, end: int) -> int:
    """Return the offset behind the line that an offset lies in."""
    while offset < end and (piece := log.at(offset, min(BLOCK, end - offset))):
        found = piece.find(b"\n") + 1
        if found:
            return offset + found
        offset += len(piece)
    return offset


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()
