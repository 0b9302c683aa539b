"""The journal: what one transaction is about to do, so that any later process can take it back or see that it is done.

    journal      one file, written over by each transaction in turn
      0          one sector: state, operation, length and checksum of what follows, and the id of the folder around it
      512        the `Record`: the entry for the history, and of each target old and new content, and attributes

    IDLE -begin-> OPEN -mark-> COMMITTED -close-> IDLE
                  OPEN -close-> IDLE                    taken back
    IDLE -begin_single-> SINGLE -mark-> COMMITTED ...
                         SINGLE -reopen-> OPEN ...

SINGLE is one file: it is replaced in one step, and durable before `mark`. So the file itself says after a power cut
whether the change was made, and the mark need not be durable; it is for processes.

Invariants:
- what `begin` wrote is durable when `persist` returns, and the mark when `mark` does, but for a SINGLE; that is the
  commit point;
- a state is one sector, which is written whole or not at all. A record that does not fit its checksum was never
  finished, so nothing had been touched;
- the file keeps its room, so that writing over it needs no space and one `sync_content` each, no more; it gets its
  first sector when its name is durable;
- what is no journal of this version is never written over, nor what has another id: it came from elsewhere;
- it is locked while it is open for writing. So no two processes write a project even if the lock file is removed.
"""

from __future__ import annotations

import os
import stat
from enum import Enum
from pathlib import Path
from zlib import crc32

import msgspec
from msgspec import Struct, field

from bae_source.history.record.entry import Entry
from bae_source.state.journal_head import IDLE, MAGIC, NAME, OPEN, SECTOR, SINGLE
from bae_source.state.lock import Taken, take
from bae_source.system.descriptors import FOLDER
from bae_source.transaction.disk.port import Disk
from bae_source.transaction.disk.targets import Content, Parts

_ROOM = 1 << 17
_MOST_ROOM = 1 << 22


class State(Enum):
    """The stage of the transaction in the journal."""

    IDLE = IDLE
    OPEN = OPEN
    SINGLE = SINGLE
    COMMITTED = b"committed"


class Record(Struct, frozen=True, kw_only=True):
    """All that is needed to take a transaction back, or to record it.

    Parameters:
        entry: what the history is to hold of it.
        contents: its targets, in the order of their numbers.
        new_folders: the folders that it creates, outer ones first; `made` in the file.
    """

    entry: Entry
    contents: tuple[Content, ...]
    new_folders: tuple[Parts, ...] = field(default=(), name="made")


class Unreadable(Exception):
    """The journal is of another version, or damaged; the message is where it lies."""


class Foreign(Exception):
    """The journal was put into our folder by something else; the message is where it lies."""


class InUse(Exception):
    """Another process has the journal open, though it does not hold the lock file that is there now."""


class Journal:
    """The journal, open; locked until its context ends, if it is to be written.

    Parameters:
        file: its descriptor.
        state_id: the id of the folder.
        taken: the lock on it; None where it is only read.
    """

    def __init__(self, file: int, folder: Path, disk: Disk, state_id: str, taken: Taken | None = None) -> None:
        self._file = file
        self._state_id = state_id.encode("ascii")
        self._folder = folder
        self._disk = disk
        self._head = (b"none", 0, b"0")
        self._room = 0
        self._begun = State.IDLE
        self._taken = taken

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Let others have it."""
        if self._taken is not None:
            self._taken.release()

    def read(self) -> tuple[State, Record | None]:
        """Return the state, and the record where it is whole; with IDLE there is none.

        Raises:
            Unreadable: it is no journal of this version.
            Foreign: it is none of this folder.
            OSError: the disk failed.
        """
        status = self._disk.fstat(self._file)
        if not stat.S_ISREG(status.st_mode):  # a device would forget what is written to it
            raise Unreadable(str(self._folder / NAME))
        head = self._disk.read_at(self._file, SECTOR, 0)
        if not any(head):
            self._lay_out()
            return State.IDLE, None
        state = _state(head)
        if state is None:
            raise Unreadable(str(self._folder / NAME))
        _, _, operation, length, checksum, state_id, _ = head.rstrip(b"\0").split(b"\n")
        if state_id != self._state_id:
            raise Foreign(str(self._folder / NAME))
        self._room = status.st_size
        if state is State.IDLE:
            return state, None
        if len(checksum) != len(_checksum(b"")):
            raise Unreadable(str(self._folder / NAME))
        content = self._payload(int(length))
        if _checksum(content) != checksum:
            return state, None
        self._head = (operation, int(length), checksum)
        try:
            return state, msgspec.msgpack.decode(content, type=Record)
        except msgspec.ValidationError as error:
            raise Unreadable(str(self._folder / NAME)) from error

    def begin(self, record: Record) -> None:
        """Write the record; `read` has been called. It is found after a death, and once it persists after a power cut.

        Raises:
            OSError: the disk failed; then nothing may be touched.
        """
        self._begin(State.OPEN, record)

    def begin_single(self, record: Record) -> None:
        """Write the record of one file whose replacement is all that there is to do; otherwise as `begin`."""
        self._begin(State.SINGLE, record)

    def write_out(self) -> None:
        """Have the record go to the disk from now on."""
        self._disk.write_out(self._file)

    def persist(self) -> None:
        """Make the record durable.

        Raises:
            OSError: the disk failed; then nothing may be touched.
        """
        self._disk.sync_content(self._file)

    def mark(self) -> None:
        """Mark the transaction as committed, durable unless its file says so; its commit point.

        Raises:
            OSError: the disk failed; `reopen` before anything is taken back.
        """
        self._write(self._sector(State.COMMITTED))
        if self._begun is not State.SINGLE:
            self._disk.sync_content(self._file)

    def reopen(self) -> None:
        """Mark the transaction as to be taken back, durable: the disk may have its mark already."""
        self._write(self._sector(State.OPEN))
        self._disk.sync_content(self._file)

    def close(self, *, durable: bool) -> None:
        """Mark the journal as idle.

        Parameters:
            durable: whether it must not be forgotten: after taking back, since a record that is found open again would
                be taken back again.
        """
        self._write(self._sector(State.IDLE))
        if durable:
            self._disk.sync_content(self._file)
        if self._room > _MOST_ROOM:
            self._disk.truncate(self._file, _ROOM)
            self._room = _ROOM

    def _begin(self, state: State, record: Record) -> None:
        content = _ENCODER.encode(record)
        self._head = (os.fsencode(record.entry.id), len(content), _checksum(content))
        whole = self._sector(state) + content
        if len(whole) > self._room:
            self._room = -(-len(whole) // _ROOM) * _ROOM
            whole += bytes(self._room - len(whole))
        self._begun = state
        self._write(whole)

    def _payload(self, length: int) -> bytes:
        pieces, position = [], 0
        while position < length:
            piece = self._disk.read_at(self._file, length - position, SECTOR + position)
            if not piece:
                break
            pieces.append(piece)
            position += len(piece)
        return b"".join(pieces)

    def _sector(self, state: State) -> bytes:
        operation, length, checksum = self._head
        line = b"\n".join((MAGIC, state.value, operation, b"%d" % length, checksum, self._state_id, b""))
        return line.ljust(SECTOR, b"\0")

    def _write(self, content: bytes) -> None:
        rest, position = memoryview(content), 0
        while rest:
            written = self._disk.write_at(self._file, rest, position)
            rest, position = rest[written:], position + written

    def _lay_out(self) -> None:
        """Give a new journal its room, and make its name durable, and that of its folder, which may be as new."""
        self._write(bytes(_ROOM))
        self._disk.fsync(self._file)
        self._room = _ROOM
        for folder in (self._folder, self._folder.parent):
            descriptor = self._disk.open(str(folder), FOLDER, 0, None)
            try:
                self._disk.fsync(descriptor)
            finally:
                self._disk.close(descriptor)
        self._write(self._sector(State.IDLE))


def opened(folder: Path, disk: Disk, state_id: str) -> Journal:
    """Open the journal in `folder`, which exists, and lock it; the project's lock is held.

    Parameters:
        state_id: the id of the folder.

    Raises:
        InUse: another process has it open.
        OSError: it cannot be opened.
    """
    file = disk.open(f"{folder}/{NAME}", os.O_RDWR | os.O_CREAT, 0o600, None)
    taken = take(file)
    if taken is None:
        raise InUse
    return Journal(file, folder, disk, state_id, taken)


def _state(head: bytes) -> State | None:
    """Return the state that a first sector says; None if it is no sector of ours."""
    lines = head.rstrip(b"\0").split(b"\n")
    if len(lines) != 7 or lines[0] != MAGIC or not lines[3].isdigit():
        return None
    try:
        return State(lines[1])
    except ValueError:
        return None


def _checksum(content: bytes) -> bytes:
    return b"%08x" % crc32(content)


_ENCODER = msgspec.msgpack.Encoder(enc_hook=repr)
