"""Operations that are committed and wait for being recorded: a file each, until the history takes them over.

    pending/01732253400123456789-op_7f3a…       the entry, and what its files held before and after

Each change puts its operation here, or the process that recovers it after a death does: that takes a millisecond
and needs no git. The history takes them over before it is read.

Invariants:
- a file is put here whole and durable, or not at all; names sort as the operations were made;
- what is here already is not put here again;
- no more than the newest thousand wait: without git they would wait for ever.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from bae_source.history.record.entry import Entry
from bae_source.model.changeset import Contents
from bae_source.system.own_files import content_of, replace_durably, sync

_DRAFT = ".new-"
MOST = 1_000
"""Operations that wait; older ones are dropped."""


class Waiting(Struct, frozen=True, kw_only=True):
    """An operation that waits for being recorded.

    Parameters:
        entry: what the history is to hold of it.
        before: what its files held, by path; None where there was no file.
        after: likewise, afterwards.
        state: the id of the folder of ours that it was put in.
    """

    entry: Entry
    before: dict[str, bytes | None]
    after: dict[str, bytes | None]
    state: str = ""


class Pending:
    """The folder of operations that wait for being recorded; it need not exist.

    Parameters:
        folder: where it lies.
        state_id: the id of the folder of ours that it lies in, which each file bears; None where that is not ours.
    """

    def __init__(self, folder: Path, state_id: Callable[[], str | None] = lambda: "") -> None:
        self.folder = folder
        self._state_id = state_id

    def put(self, entry: Entry, before: Contents, after: Contents) -> None:
        """Let an operation wait; it is durable then. The folder above this one exists, and the project is locked.

        Raises:
            OSError: it could not be written, or made durable; nothing is here then that is half an operation.
        """
        state_id = self._state_id() or ""
        content = _ENCODER.encode(Waiting(entry=entry, before=dict(before), after=dict(after), state=state_id))
        if self.folder.is_symlink():
            raise OSError(errno.ELOOP, "it is a link", str(self.folder))
        self.folder.mkdir(exist_ok=True)
        names = self.names()
        if not any(name.partition("-")[2] == entry.id for name in names):
            moment = int(datetime.fromisoformat(entry.when).timestamp()) * 10**9
            last = int(names[-1].partition("-")[0]) if names else 0  # the clock may have been put back
            name = f"{max(moment, last + 1):020d}-{entry.id}"
            replace_durably(self.folder / name, self.folder / f"{_DRAFT}{name}", content)
        for folder in (self.folder, self.folder.parent):
            sync(folder)
        with suppress(OSError):  # they are dropped with the next one
            self.drop(self.names()[:-MOST])

    def names(self) -> tuple[str, ...]:
        """Return the operations that wait, the oldest first, by one look at the folder."""
        if self._state_id() is None:
            return ()
        try:
            found = [] if self.folder.is_symlink() else os.listdir(self.folder)
        except OSError:
            return ()
        return tuple(sorted(name for name in found if name.partition("-")[0].isdigit()))

    def waiting(self) -> Iterator[tuple[str, Waiting]]:
        """Yield waiting operations with their file names, the oldest first; other files are passed over."""
        for name in self.names():
            try:
                found = msgspec.msgpack.decode(content_of(self.folder / name), type=Waiting)
            except (OSError, msgspec.DecodeError):
                continue  # taken over meanwhile, or left by a version that will take it over itself
            if found.state == self._state_id():
                yield name, found

    def drop(self, names: Iterable[str]) -> None:
        """Forget operations that are recorded now."""
        for name in names:
            (self.folder / name).unlink(missing_ok=True)


_ENCODER = msgspec.msgpack.Encoder(enc_hook=repr)
