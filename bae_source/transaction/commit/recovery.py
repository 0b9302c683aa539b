"""Finish the transaction of a process that died in the middle of it; run under the project's lock.

    OPEN         not committed: every file is taken back
    SINGLE       as COMMITTED if its file holds what was written, and the old one is as it was read, or if the history
                 has it; else as OPEN
    COMMITTED    made, but maybe not in the history, which takes no operation twice: it waits in `pending`, what it left
                 is removed

How recovery finds a SINGLE after each step, where there was a death or a power cut; what is not durable may be lost:

    begun, staged                    the file is as before: there is nothing to take back
    exchanged                        made; as before if the power took the exchange with it. If something else came out
                                     than was read, it is put back
    folder synced                    likewise, and no power takes it
    given back, folder not synced    as before, or likewise
    marked                           made; from the mark on, which no death loses, it is COMMITTED to processes
    answered                         made: whatever the power took of the mark and of what followed, the file is durable
    OPEN again, taking back          as OPEN; nothing is taken back before that is durable
    edited from outside since        left as it is: made if it was recorded, which it is before it is answered; else as
                                     OPEN leaves it

Invariants:
- files of the project are touched only where the transaction was not committed;
- a record leads to its own project and nowhere else, checked as a plan is: else it is no record of ours, and `Foreign`;
- it may be killed anywhere and done again: it reads from the disk what is to be done, and closes the journal last;
- it takes no time for git, and imports nothing heavy, unless a SINGLE does not stand;
- what cannot be taken back stays in the journal, so that the next one tries again.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from bae_source.history.record.entry import Entry
from bae_source.history.record.history import History
from bae_source.history.record.pending import Pending
from bae_source.model.changeset import Contents
from bae_source.state.folders import StateFolders
from bae_source.state.journal_head import NAME
from bae_source.system.compiled import HEADER, may_pass
from bae_source.transaction.commit.journal import Foreign, Journal, Record, State
from bae_source.transaction.commit.restoring import Left, Restored, Restorer
from bae_source.transaction.disk.names import speaker_of
from bae_source.transaction.disk.port import Disk
from bae_source.transaction.disk.staging import Staging
from bae_source.transaction.disk.targets import Content
from bae_source.transaction.disk.walk import Walk, are_names, is_out_of_reach

_CACHE = "__pycache__"


class Recovered(Struct, frozen=True, kw_only=True):
    """The result of recovery.

    Parameters:
        operation_id, summary: of the transaction that was under way; None if none was.
        committed: whether it had been made, and stands.
        recorded: whether that was seen from the history alone, since its file is another now.
        restored: if not: what became of its files.
        names: what its files are called.
        kept: where files are kept that were saved or written to from outside, and are not in their place.
        journal: where the journal lies, for a person.
        set_aside: where a journal lies now that was not of our making, and was not followed; empty for none.
    """

    operation_id: str | None = None
    summary: str = ""
    committed: bool = False
    recorded: bool = False
    restored: Restored = Restored()
    names: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    journal: str = ""
    set_aside: str = ""

    @property
    def failed(self) -> tuple[Left, ...]:
        """Files that could not be taken back; no other transaction may begin before they are."""
        return self.restored.failed


class Recovery:
    """Recovers one project.

    Parameters:
        journal: open, so that no other process uses it.
        history: asked whether it has a SINGLE that does not stand.
    """

    def __init__(
        self,
        journal: Journal,
        *,
        root: Path,
        folders: StateFolders,
        disk: Disk,
        history: History,
    ) -> None:
        self._journal = journal
        self._root = root
        self._folders = folders
        self._disk = disk
        self._history = history

    def run(self, state: State, record: Record | None) -> Recovered:
        """Finish what is unfinished, as the journal says.

        Raises:
            Foreign: the record is not of our making.
            OSError: the disk failed; what was to be done is still to be done.
        """
        # a.py 1 -> 2 and b.py 3 -> 4, and the process died between the two exchanges: the journal is OPEN
        #   a.py   2, as we wrote it    exchanged with its staged file, which has the old content 1
        #   b.py   3, as before         nothing to do
        #   then the staged files are removed, and the journal is closed as IDLE
        # Where it is COMMITTED, both are as we wrote them: the entry goes to `pending`, with 1 and 3 as old content.
        if record is not None and not is_sound(record):
            raise Foreign(str(self._folders.base / NAME))
        if record is None:
            if state is not State.IDLE:
                self._journal.close(durable=False)  # its record was never finished, so nothing had been touched
            return Recovered()
        stands = state is State.COMMITTED or (state is State.SINGLE and self._restorer(record).stands())
        if not stands and not (state is State.SINGLE and self._history.has_lately(record.entry.id)):
            return self._take_back(record)
        self._forget_compiled(record)  # which its process would have done
        return self._finish(record, recorded=not stands)

    def _take_back(self, record: Record) -> Recovered:
        restorer = self._restorer(record)
        restored = restorer.restore()
        kept: tuple[str, ...] = ()
        if not restored.failed:
            self._forget_compiled(record)
            kept = restorer.abandon()
            self._journal.close(durable=True)
        return self._result(record, restored=restored, kept=kept)

    def _finish(self, record: Record, *, recorded: bool = False) -> Recovered:
        if not recorded:
            before, after = contents_of(record.contents)
            put_off(self._folders, record.entry, before, after)
        kept = self._restorer(record).finish()
        self._journal.close(durable=False)
        return self._result(record, committed=True, recorded=recorded, kept=kept)

    def _restorer(self, record: Record) -> Restorer:
        walk = self._walk(record)
        staging = Staging(self._folders.staging, self._folders.kept, record.entry.id, walk, self._disk)
        staging.ensure()
        return Restorer(record, walk, staging, self._disk)

    def _result(
        self,
        record: Record,
        *,
        committed: bool = False,
        recorded: bool = False,
        restored: Restored | None = None,
        kept: tuple[str, ...] = (),
    ) -> Recovered:
        return Recovered(
            operation_id=record.entry.id,
            summary=record.entry.summary,
            committed=committed,
            recorded=recorded,
            restored=restored or Restored(),
            names=tuple(content.name for content in record.contents),
            kept=kept,
            journal=str(self._folders.base / NAME),
        )

    def _walk(self, record: Record) -> Walk:
        """Return the folders of the project that the record is about: projects of one repository share a journal.

        Another project counts only if it finds this very journal itself, under the name that the record has for it.
        """
        root, project = self._root, record.entry.project
        if project != self._folders.project:
            other = StateFolders(self._folders.top / project, self._folders.users)
            if (other.base, other.project) != (self._folders.base, project) or not other.root.is_dir():
                raise Foreign(str(self._folders.base / NAME))
            root = other.root
        return Walk(root, self._disk, speaker_of({content.path: content.name for content in record.contents}))

    def _forget_compiled(self, record: Record) -> None:
        """Remove compiled code of files that were changed, where it may pass for that of what is there."""
        walk = self._walk(record)
        with walk.keeping():
            for content in record.contents:
                stem, dot, suffix = content.parts[-1].rpartition(".")
                if suffix != "py" or not dot:
                    continue
                with suppress(OSError):  # there is none, or it is not ours to remove
                    source = self._disk.lstat(content.parts[-1], walk.at(content.folder))
                    folder = walk.at((*content.folder, _CACHE))
                    for name in self._disk.names(folder):
                        if (
                            name.startswith(f"{stem}.")
                            and name.endswith(".pyc")
                            and may_pass(self._header(name, folder), size=source.st_size, since=int(source.st_mtime))
                        ):
                            self._disk.unlink(name, folder)

    def _header(self, name: str, folder: int) -> bytes:
        """Return the first bytes of a compiled file; nothing where it is no plain file."""
        if not stat.S_ISREG(self._disk.lstat(name, folder).st_mode):
            return b""
        file = self._disk.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0, folder)
        try:
            return self._disk.read(file, HEADER)
        finally:
            self._disk.close(file)


def is_sound(record: Record) -> bool:
    """Return whether every path of a record leads to something inside of a project, as every path of a plan does."""
    places = [content.parts for content in record.contents] + [*record.new_folders]
    places += [tuple(content.path.split("/")) for content in record.contents]
    places += [tuple(path.split("/")) for path in record.entry.folders]
    return are_names((record.entry.id,)) and all(
        are_names(parts) and not any(map(is_out_of_reach, parts)) for parts in places
    )


def sweep(folders: StateFolders, root: Path, disk: Disk) -> None:
    """Remove what lies in the staging folder though nothing is under way, as a power cut may bring it back."""
    if os.listdir(folders.staging):
        Staging(folders.staging, folders.kept, "", Walk(root, disk, speaker_of({})), disk).sweep()


def put_off(folders: StateFolders, entry: Entry, before: Contents, after: Contents) -> None:
    """Let an operation wait for being recorded.

    Raises:
        OSError: the disk failed.
    """
    Pending(folders.pending, lambda: folders.id).put(entry, before, after)


def contents_of(contents: Sequence[Content]) -> tuple[dict[str, bytes | None], dict[str, bytes | None]]:
    """Return the contents before and after, by path."""
    return (
        {content.path: content.before for content in contents},
        {content.path: content.after for content in contents},
    )
