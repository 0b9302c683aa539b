"""The ledger: changes of a project, and attempts, in an append-only file in which each entry seals those before it.

    {"ts": "…", "schema": 2, "event": "change_applied", "meta": {"who": "ana", …}, "prev": "9f2c…", "hash": "41d0…"}
    {"ts": "…", "schema": 2, "event": "change_refused", "meta": {"who": "bot", …}, "prev": "41d0…", "hash": "c7aa…"}

The hash of an entry is the SHA-256 of its canonical JSON without the hash, so of `prev` as well: an entry that is
altered, taken out or put elsewhere breaks the chain behind it. That the last entries were cut off shows only against a
head which is kept elsewhere: each commit of the history has one, and `ledger head` prints it.

    ledger/000001-3f9c….jsonl        the oldest entries; behind the number stands the id of our state (`state.binding`)
    ledger/000002-3f9c….jsonl        begins with the hash that the file before it ends with

Invariants:
- an entry is on the disk before `append` returns; one that was cut off by a crash was never acknowledged, and goes;
- processes append one at a time; readers need no lock;
- a file without the id of our state is none of the ledger, so what an archive puts there does not count;
- no link is followed, and nothing that belongs to another user is read or written;
- no entry has source text in it, and none is long.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from bae_source.model.outcome import Fields
from bae_source.state.binding import user
from bae_source.state.folders import StateFolders
from bae_source.state.ledger_files import FOLDER, LOCK, check, files_of, name_of, number_of
from bae_source.state.lock import project_lock
from bae_source.system.descriptors import SAFELY
from bae_source.system.hashing import sha256
from bae_source.system.own_files import sync

SCHEMA = 2
START = "0" * 64
"""The `prev` of the first entry."""
_LARGEST = 8_000_000
"""Bytes from which on a new file is begun."""
_TAIL = 1 << 16
"""Bytes at the end of a file in which its last entry is looked for first."""
PATIENCE = 10.0
"""Seconds that one process waits for others to append."""
_LONGEST, _MOST = 500, 50
"""Characters of a text, and items of a list, that an entry takes."""


class Event(Fields, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entry.

    Parameters:
        ts: ISO 8601, UTC.
        schema: version of this shape.
        event: what happened, such as `change_applied`.
        meta: facts on it.
        prev: the hash of the entry before it.
        hash: its own.
    """

    ts: str
    schema: int
    event: str
    meta: Mapping[str, Any]
    prev: str
    hash: str


class Fault(Fields, frozen=True, kw_only=True):
    """The first entry that breaks the chain.

    Parameters:
        number: of the entry, counted from 1.
        file: the name of its file.
        line: its line there.
        reason: a clause.
    """

    number: int
    file: str
    line: int
    reason: str


class Verdict(Struct, frozen=True, kw_only=True):
    """Result of following the chain.

    Parameters:
        entries: how many were followed.
        last: the last of them that holds; None where there is none.
        fault: the first that breaks the chain; None where all of it holds.
    """

    entries: int
    last: Event | None
    fault: Fault | None


class Ledger:
    """The entries of one project.

    Parameters:
        folders: where our state lies.
        now: the time, as entries have it.
        largest: bytes from which on a new file is begun.
    """

    def __init__(self, folders: StateFolders, now: Callable[[], str], *, largest: int = _LARGEST) -> None:
        self._folders = folders
        self._now = now
        self._largest = largest

    @property
    def is_there(self) -> bool:
        """Return whether there is state of ours that the ledger can be a part of; `append` makes it otherwise."""
        return self._folders.id is not None

    def head(self) -> str:
        """Return the hash of the last entry; `START` where there is none.

        Raises:
            OSError: it cannot be read.
        """
        return _head(self._files())

    def append(self, event: str, meta: Mapping[str, Any]) -> str:
        """Append an entry, and return its hash once it is on the disk.

        Parameters:
            meta: facts on it; long texts and lists are cut.

        Raises:
            OSError: it cannot be written; nothing of it is there then.
            Refused: `busy`, if another process holds the ledger for too long.
        """
        folder = self._ensured()
        with project_lock(folder / LOCK, wait=PATIENCE, pid=os.getpid()):
            files = self._files()
            prev = _head(files, mend=True)
            entry = Event(ts=self._now(), schema=SCHEMA, event=event, meta=_fitting(meta), prev=prev, hash="")
            entry = sealed(entry)
            number = number_of(files[-1]) if files else 1
            if files and files[-1].lstat().st_size >= self._largest:
                number += 1
            _append(folder / name_of(number, self._folders.id or ""), _line(entry))
            return entry.hash

    def newest(self) -> Iterator[Event | str]:
        """Yield the entries, the newest first, or why one cannot be read.

        Raises:
            OSError: a file cannot be read.
        """
        for path in reversed(self._files()):
            yield from map(_parsed, reversed(_whole_lines(_content(path))))

    def verify(self, head: str = "") -> Verdict:
        """Follow the chain up to the first entry that breaks it.

        Parameters:
            head: a hash, or its beginning, that was the head once, and so has to be among the entries.

        Raises:
            OSError: the folder cannot be read.
        """
        # entries 1, 2, 3 with (prev, hash): (0000, 9f2c) (9f2c, 41d0) (41d0, c7aa)
        #   the text of 2 is altered    it hashes to another value than 41d0: fault at 2
        #   2 is taken out              the next one has the prev 41d0, and not 9f2c: fault at 2
        #   3 is cut off                the chain holds; `head="c7aa"` finds no such hash: fault at 2, the last
        last: Event | None = None
        number, file, line = 0, "", 0
        seen = START.startswith(head)
        for number, file, line, found in self._read():
            reason = found if isinstance(found, str) else _broken(found, START if last is None else last.hash)
            if reason or isinstance(found, str):
                fault = Fault(number=number, file=file, line=line, reason=reason)
                return Verdict(entries=number - 1, last=last, fault=fault)
            last = found
            seen = seen or last.hash.startswith(head)
        if seen:
            return Verdict(entries=number, last=last, fault=None)
        reason = f"no entry has the hash {head[:12]}…, so those from it on were taken out, or it is of another ledger"
        return Verdict(entries=number, last=last, fault=Fault(number=number, file=file, line=line, reason=reason))

    @property
    def _folder(self) -> Path:
        return self._folders.base / FOLDER

    def _ensured(self) -> Path:
        """Return its folder, which is there then, and durable.

        Raises:
            OSError: it cannot be made, or something else is in its place.
        """
        if self._folders.id is None:
            self._folders.make(self._folders.base)
            self._folders.settle()
        with suppress(FileExistsError):
            self._folder.mkdir(mode=0o700)
            sync(self._folders.base)
        check(self._folder)
        return self._folder

    def _files(self) -> list[Path]:
        """Return its files, the oldest first.

        Raises:
            OSError: its folder cannot be read, or is none of ours.
        """
        state_id = self._folders.id
        return [] if state_id is None else files_of(self._folder, state_id)

    def _read(self) -> Iterator[tuple[int, str, int, Event | str]]:
        """Yield number, file and line of each entry, with it or with what is wrong with it."""
        number, files = 0, self._files()
        for expected, path in enumerate(files, 1):
            if number_of(path) != expected:
                yield number + 1, path.name, 1, f"the file before it, number {expected}, is gone"
                return
            try:
                content = _content(path)
            except OSError as error:
                yield number + 1, path.name, 1, f"its file cannot be read: {error.strerror}"
                return
            lines = _whole_lines(content)
            for line, each in enumerate(lines, 1):
                number += 1
                yield number, path.name, line, _parsed(each)
            if path != files[-1] and not content.endswith(b"\n"):
                yield number + 1, path.name, len(lines) + 1, "it is cut off, though entries come behind it"


def sealed(entry: Event) -> Event:
    """Return an entry with its hash."""
    data = {name: value for name, value in entry.as_data().items() if name != "hash"}
    return msgspec.structs.replace(entry, hash=sha256(msgspec.json.encode(data, order="sorted")))


def _line(entry: Event) -> bytes:
    """Return the one line that stands for an entry."""
    meta = msgspec.Raw(msgspec.json.encode(entry.meta, order="sorted"))
    return msgspec.json.encode({**entry.as_data(), "meta": meta}) + b"\n"


def _broken(entry: Event, prev: str) -> str:
    """Return the reason why an entry breaks the chain; "" where it does not."""
    if sealed(entry).hash != entry.hash:
        return "its text is not what its hash was made of"
    return "" if entry.prev == prev else "the entry before it is not the one that it was appended to"


def _parsed(line: bytes) -> Event | str:
    """Return the entry of a line, or a clause that says why it is none."""
    try:
        found = msgspec.json.decode(line, type=Event)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return "it is no entry"
    if found.schema != SCHEMA:
        return f"its schema is {found.schema}, and not {SCHEMA}"
    return found if _line(found) == line + b"\n" else "its text is not as an entry is written"


def _fitting(value: Any) -> Any:
    """Return facts as an entry takes them: cut, and without what is no UTF-8."""
    if isinstance(value, str):
        text = value.encode("utf-8", "backslashreplace").decode()
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    if isinstance(value, Mapping):
        return {str(_fitting(str(name))): _fitting(each) for name, each in value.items()}
    if isinstance(value, Sequence):
        more = [f"… and {len(value) - _MOST:,} more"] if len(value) > _MOST else []
        return [*map(_fitting, value[:_MOST]), *more]
    return value


def _opened(path: Path, flags: int) -> int:
    """Open a file of the ledger.

    Raises:
        OSError: it cannot be opened, or is none of ours.
    """
    descriptor = os.open(path, flags | SAFELY, 0o600)
    status = os.fstat(descriptor)
    if stat.S_ISREG(status.st_mode) and status.st_uid == user():
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EEXIST, "it is no file of ours", str(path))


def _content(path: Path) -> bytes:
    with os.fdopen(_opened(path, os.O_RDONLY), "rb") as file:
        return file.read()


def _whole_lines(content: bytes) -> list[bytes]:
    """Return the lines that are ended; one that is not is being written, or was cut off by a crash."""
    return content.split(b"\n")[:-1]


def _head(files: Sequence[Path], *, mend: bool = False) -> str:
    """Return the hash of the last entry that can be read; `START` where there is none.

    Parameters:
        mend: whether to cut off what a crash left of an entry that was never acknowledged.
    """
    for path in reversed(files):
        with os.fdopen(_opened(path, os.O_RDWR if mend else os.O_RDONLY), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            for length in (min(_TAIL, size), size):
                file.seek(size - length)
                tail = file.read(length)
                lines = _whole_lines(tail)
                if lines and length < size:
                    del lines[0]  # the end of one
                found = next((each for each in map(_parsed, reversed(lines)) if isinstance(each, Event)), None)
                if found is not None:
                    break
            if mend and path == files[-1] and not tail.endswith(b"\n") and tail:
                os.ftruncate(file.fileno(), size - len(tail) + tail.rfind(b"\n") + 1)
                os.fsync(file.fileno())
            if found is not None:
                return found.hash
    return START


def _append(path: Path, data: bytes) -> None:
    """Append to a file, durably, or not at all."""
    is_new = not os.path.lexists(path)
    descriptor = _opened(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        size = os.fstat(descriptor).st_size
        try:
            if os.write(descriptor, data) != len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
            os.fsync(descriptor)
        except BaseException:
            os.ftruncate(descriptor, size)
            raise
    finally:
        os.close(descriptor)
    if is_new:
        sync(path.parent)
