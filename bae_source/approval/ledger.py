"""The ledger: what was done to a project, and tried, in an append-only file in which each entry seals those before it.

    {"ts": "…", "schema": 2, "event": "change_applied", "meta": {"who": "ana", …}, "prev": "9f2c…", "hash": "41d0…"}
    {"ts": "…", "schema": 2, "event": "change_refused", "meta": {"who": "bot", …}, "prev": "41d0…", "hash": "c7aa…"}

The hash of an entry is the SHA-256 of its canonical JSON without the hash, so of `prev` as well: an entry that is
altered, taken out or put elsewhere breaks the chain behind it. That the last entries were cut off shows only against a
head which is kept elsewhere: each commit of the history has one, and `ledger head` prints it.

    ledger/000001.jsonl        the oldest entries
    ledger/000002.jsonl        begins with the hash that the file before it ends with

Invariants:
- an entry is on the disk before `append` returns; one that was cut off by a crash was never acknowledged, and goes;
- processes append one at a time; who reads needs no lock;
- no entry has source text in it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from bae_source.state.folders import StateFolders
from bae_source.state.lock import project_lock
from bae_source.system.descriptors import SAFELY

FOLDER = "ledger"
SCHEMA = 2
START = "0" * 64
"""The `prev` of the first entry."""
_NAME = re.compile(r"\d{6}\.jsonl")
_LARGEST = 8_000_000
"""Bytes from which on a new file is begun."""
_TAIL = 1 << 20
"""Bytes at the end of a file in which its last entry lies."""
_LOCK = "lock"
_PATIENCE = 10.0
"""Seconds that one process waits for others to append."""


class Event(Struct, frozen=True, kw_only=True):
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


class Fault(Struct, frozen=True, kw_only=True):
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
    def _folder(self) -> Path:
        return self._folders.base / FOLDER

    def head(self) -> str:
        """Return the hash of the last entry; `START` where there is none."""
        files = self._files()
        for path in reversed(files):
            last = _last(path)
            if last is not None:
                return last.hash
        return START

    def append(self, event: str, meta: Mapping[str, Any]) -> str:
        """Append an entry, and return its hash once it is on the disk.

        Raises:
            OSError: it cannot be written.
            Refused: `busy`, if another process holds the ledger for too long.
        """
        self._folders.make(self._folders.base)
        self._folder.mkdir(mode=0o700, exist_ok=True)
        with project_lock(self._folder / _LOCK, wait=_PATIENCE, pid=os.getpid()):
            files = self._files()
            for path in files[-1:]:
                _without_torn_end(path)
            prev = self.head()
            entry = sealed(Event(ts=self._now(), schema=SCHEMA, event=event, meta=meta, prev=prev, hash=""))
            path = files[-1] if files else self._folder / "000001.jsonl"
            if files and path.stat().st_size > self._largest:
                path = self._folder / f"{int(path.stem) + 1:06}.jsonl"
            _append(path, msgspec.json.encode(entry) + b"\n")
            return entry.hash

    def events(self) -> Iterator[Event]:
        """Yield the entries that can be read, the oldest first."""
        for _, _, _, found in self._read():
            if isinstance(found, Event):
                yield found

    def verify(self, head: str = "") -> Fault | None:
        """Return the first entry that breaks the chain; None where all of it holds.

        Parameters:
            head: a hash that was the head once, and so has to be among the entries.
        """
        prev, number, file, line = START, 0, "", 0
        seen = not head or head == START
        for number, file, line, found in self._read():
            reason = found if isinstance(found, str) else _broken(found, prev)
            if reason:
                return Fault(number=number, file=file, line=line, reason=reason)
            assert isinstance(found, Event)
            prev = found.hash
            seen = seen or prev == head
        if not seen:
            reason = f"no entry has the hash {head[:12]}…, so entries behind this one were taken out"
            return Fault(number=number, file=file, line=line, reason=reason)
        return None

    def _files(self) -> list[Path]:
        try:
            names = sorted(name for name in os.listdir(self._folder) if _NAME.fullmatch(name))  # noqa: PTH208 - names
        except OSError:
            return []
        return [self._folder / name for name in names]

    def _read(self) -> Iterator[tuple[int, str, int, Event | str]]:
        """Yield number, file and line of each entry, with it or with what is wrong with it."""
        number = 0
        expected = 1
        for path in self._files():
            if int(path.stem) != expected:
                yield number + 1, path.name, 1, f"the file {expected:06}.jsonl is gone"
                return
            expected += 1
            with path.open("rb") as file:
                for line, content in enumerate(file, 1):
                    if not content.endswith(b"\n"):
                        return  # being written, or cut off by a crash: never acknowledged
                    number += 1
                    yield number, path.name, line, _parsed(content)


def sealed(entry: Event) -> Event:
    """Return an entry with its hash."""
    return msgspec.structs.replace(entry, hash=sha256(_canonical(entry)).hexdigest())


def _canonical(entry: Event) -> bytes:
    """Return the bytes that are hashed: JSON with sorted keys, without the hash."""
    data = {name: getattr(entry, name) for name in entry.__struct_fields__ if name != "hash"}
    return msgspec.json.encode(data, order="sorted")


def _broken(entry: Event, prev: str) -> str:
    """Return why an entry breaks the chain, as a clause; "" where it does not."""
    if sealed(entry).hash != entry.hash:
        return "its text is not what its hash was made of"
    return "" if entry.prev == prev else "the entry before it is another one"


def _parsed(content: bytes) -> Event | str:
    try:
        found = msgspec.json.decode(content, type=Event)
    except msgspec.DecodeError as error:
        return f"it is no entry: {error}"
    return found if found.schema == SCHEMA else f"its schema is {found.schema}, and not {SCHEMA}"


def _last(path: Path) -> Event | None:
    """Return the last whole entry of a file; None where it has none that can be read."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL))
        lines = file.read().split(b"\n")[:-1]
    for content in reversed(lines):
        found = _parsed(content)
        return found if isinstance(found, Event) else None
    return None


def _without_torn_end(path: Path) -> None:
    """Cut off what a crash left of an entry that was never acknowledged."""
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL))
        tail = file.read()
        if tail and not tail.endswith(b"\n"):
            file.truncate(size - len(tail) + tail.rfind(b"\n") + 1)


def _append(path: Path, data: bytes) -> None:
    is_new = not path.exists()
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | SAFELY, 0o600)
    try:
        os.write(descriptor, data)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if is_new:
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
