"""Restore the old content of files: the same way in the process that failed and in one after its death.

What to do is read from the disk, file by file, and from nothing else:

    holds what it held before    nothing
    holds what we wrote          the file that was taken out, or a new one like it, takes its place in one step
    anything else                changed from outside: left as it is, reported, and the old content is kept

A file that was taken out and is neither was saved just before: it takes the place of ours, or is kept if that is gone.

Invariants:
- it may be interrupted anywhere and done again, by anyone, any number of times;
- nothing written from outside is overwritten, nor thrown away, even if it went to the old file by a descriptor
  opened before it was replaced;
- where the old file is still there, taking back is renames alone, which a full disk allows;
- a file that is made again runs with this user's rights only, whatever the record says.
"""

from __future__ import annotations

import errno
import stat
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from enum import Enum, auto

from msgspec import Struct
from msgspec.structs import replace

from bae_source.history.record.entry import MOST_BITS
from bae_source.transaction.commit.journal import Record
from bae_source.transaction.disk.folders import Folders
from bae_source.transaction.disk.port import Disk
from bae_source.transaction.disk.renames import MISSING
from bae_source.transaction.disk.staging import StagedFile, Staging
from bae_source.transaction.disk.targets import Content, Found, look, recordable
from bae_source.transaction.disk.walk import Walk

_FULL = {errno.ENOSPC, errno.EDQUOT}
_REARRANGED = {errno.ELOOP, errno.ENOTDIR, errno.EMLINK}


class Left(Struct, frozen=True, kw_only=True):
    """A file that was not taken back, and where its old content lies; None if there was no file, or it is unknown."""

    path: str
    name: str
    existed: bool
    copy: str | None = None


class Restored(Struct, frozen=True, kw_only=True):
    """The result of taking files back.

    Parameters:
        back: how many files were taken back just now; the others held their old content already.
        foreign: files that were changed from outside since, and left as they are.
        failed: files that could not be taken back.
    """

    back: int = 0
    foreign: tuple[Left, ...] = ()
    failed: tuple[Left, ...] = ()


class _Fate(Enum):
    AS_BEFORE = auto()
    BACK = auto()
    FOREIGN = auto()


class Restorer:
    """Takes back the files of one record."""

    def __init__(self, record: Record, walk: Walk, staging: Staging, disk: Disk) -> None:
        self._record = record
        self._walk = walk
        self._staging = staging
        self._disk = disk
        self._folders = Folders(walk, disk, record.entry.folders)
        self._kept: list[str] = []

    def restore(self, numbers: Collection[int] | None = None) -> Restored:
        """Take back every file that still is what we wrote.

        Parameters:
            numbers: those of the targets that were touched at all; None if that is unknown.
        """
        foreign: list[Left] = []
        failed: list[Left] = []
        back: list[tuple[int, Content]] = []
        with suppress(OSError):
            self._staging.ensure()  # if it cannot be made, the error comes from the files that need it
        with self._staging.keeping():
            for number, content in reversed(tuple(enumerate(self._record.contents))):
                if numbers is not None and number not in numbers:
                    continue
                try:
                    fate = self._restored(number, content)
                except OSError:
                    failed.append(self._left(content, self._copy(number, content)))
                    continue
                if fate is _Fate.BACK:
                    back.append((number, content))
                if fate is _Fate.FOREIGN:
                    foreign.append(self._left(content, self._rescued(number, content)))
            failed += self._not_durable(back)
        return Restored(back=len(back), foreign=tuple(foreign), failed=tuple(failed))

    def stands(self) -> bool:
        """Return whether the only file of the record holds what was written, and make that durable; nothing is changed.

        False also where the old file was saved just before it was taken out, or written to since; what a power cut
        took of it does not count.

        Raises:
            OSError: the disk failed, so that it is unknown.
        """
        (content,) = self._record.contents
        with self._staging.keeping():
            found = self._present(content)
            if found is None or not found.holds(content.after) or self._is_undone(0, content, found):
                return False
            if self._is_theirs(self._look_primary(0, content), content):
                return False
            with suppress(FileNotFoundError):  # it went with its last file
                for length in range(len(content.folder) - content.missing, len(content.folder) + 1):
                    self._folders.sync(content.folder[:length])
        return True

    def abandon(self) -> tuple[str, ...]:
        """Remove every file of ours, and the folders that were made; call it after `restore` left nothing failed.

        Returns:
            The places where files are kept that were saved from outside, and are not in their place any more.

        Raises:
            OSError: such a file could not be kept; it and all others are where they were.
        """
        with self._staging.keeping():
            self._keep(self._is_saved)
            self._remove_ours()
            self._folders.remove_new(self._record.new_folders)
        return tuple(self._kept)

    def finish(self) -> tuple[str, ...]:
        """Remove what a committed transaction leaves: files of ours, and folders that lost their last file.

        Returns:
            Where old files are kept that hold something else than what was read of them.

        Raises:
            OSError: such a file could not be kept.
        """
        with self._staging.keeping():
            self._keep(self._is_changed)
            self._remove_ours()
            self._folders.remove_emptied(self._record.contents)
        return tuple(self._kept)

    def _not_durable(self, back: Sequence[tuple[int, Content]]) -> list[Left]:
        """Make durable what was taken back, folder by folder; return the files for which that failed."""
        bad = set()
        for folder in dict.fromkeys(content.folder for _, content in back):
            try:
                self._folders.sync(folder)
            except OSError:
                bad.add(folder)
        return [self._left(content, self._copy(number, content)) for number, content in back if content.folder in bad]

    def _remove_ours(self) -> None:
        for number, content in enumerate(self._record.contents):
            self._staging.remove(self._staging.every(number, content))

    def _restored(self, number: int, content: Content) -> _Fate:
        try:
            folder = self._walk.at(content.folder)
        except FileNotFoundError:
            if content.before is None:
                return _Fate.AS_BEFORE  # its folder is gone, or was never made
            if content.after is not None:
                return _Fate.FOREIGN
            self._folders.make(content.folder, missing=len(content.folder))
            folder = self._walk.at(content.folder)
        except OSError as error:
            if error.errno not in _REARRANGED:
                raise
            return _Fate.FOREIGN
        return self._in_folder(number, content, folder)

    def _in_folder(self, number: int, content: Content, folder: int) -> _Fate:
        found = look(self._disk, content.parts[-1], folder)
        if found.holds(content.before) and not _is_another(found, content):
            return _Fate.AS_BEFORE
        if not found.holds(content.after) or self._is_undone(number, content, found):
            return _Fate.FOREIGN
        if content.before is None:
            return self._take_out(number, content, folder)
        return self._put_back(number, content, folder)

    def _is_undone(self, number: int, content: Content, found: Found) -> bool:
        """Return whether our new file was never put in place, so that the file there was saved from outside."""
        ours, read = self._look_primary(number, content), content.attributes
        if ours.content is None or ours.is_same(found) or ours.is_file(read) or ours.holds(content.before):
            return False
        if ours.holds(content.after):
            return True
        return may_be_draft(ours, content) and (found.is_file(read) or is_seen_by_mode(content))

    def _present(self, content: Content) -> Found | None:
        """Return the present file at a target; None if the folders above it are others now."""
        try:
            return look(self._disk, content.parts[-1], self._walk.at(content.folder))
        except FileNotFoundError:
            return Found()
        except OSError as error:
            if error.errno not in _REARRANGED:
                raise
            return None

    def _is_theirs(self, old: Found, content: Content) -> bool:
        """Return whether what was taken out is not the file that was read, or was written to since."""
        if old.status is None or content.attributes is None or old.holds(content.before) or old.holds(content.after):
            return False
        is_other = old.status.st_ino != content.attributes.inode[1]  # the device may have another number after a start
        return is_other or recordable(old.status.st_mtime_ns) > content.attributes.modified

    def _keep(self, is_to_keep: Callable[[StagedFile, Content], bool]) -> None:
        for number, content in enumerate(self._record.contents):
            for file in self._staging.every(number, content):
                if is_to_keep(file, content):
                    self._kept.append(self._staging.keep(file, content.parts[-1]))

    def _is_changed(self, file: StagedFile, content: Content) -> bool:
        """Return whether an old file is not what was read, in any way."""
        old = self._look(file)
        return not (file.is_spare or old.status is None or old.holds(content.after) or old.is_as_read(content))

    def _is_saved(self, file: StagedFile, content: Content) -> bool:
        """Return whether a staged file has content that is neither old nor ours; False where it may be ours."""
        try:
            found = self._look(file)
        except PermissionError:
            return True
        if found.status is None or found.holds(content.before) or found.holds(content.after):
            return False
        if file.is_spare:
            return not begins(content.before, found)
        return not (may_be_draft(found, content) and self._is_untouched(content))

    def _is_untouched(self, content: Content) -> bool:
        """Return whether a target shows that nothing was put in its place."""
        found = self._present(content)
        return found is not None and (found.holds(content.before) or found.is_file(content.attributes))

    def _look_primary(self, number: int, content: Content) -> Found:
        """Return the file of ours that a target was, or was to be, exchanged with: beside it, if there is one."""
        for beside in (True, False):
            found = self._look(self._staging.file_of(number, content, beside=beside))
            if found.status is not None:
                return found
        return Found()

    def _take_out(self, number: int, content: Content, folder: int) -> _Fate:
        """Remove a file that was created, by taking it out and looking at what came out."""
        name = content.parts[-1]
        try:
            file = self._taken_out(number, content, folder)
        except OSError as error:
            if error.errno not in _FULL:
                raise
            self._disk.unlink(name, folder)  # a name in another folder may need room, and there is none
            return _Fate.BACK
        ours = self._staging.at(file)
        if look(self._disk, file.name, ours).holds(content.after):
            return _Fate.BACK
        self._return(file, ours, name, folder)
        return _Fate.FOREIGN

    def _taken_out(self, number: int, content: Content, folder: int) -> StagedFile:
        self._staging.remove(self._staging.every(number, content))  # after a power cut it may be there as well
        file = self._staging.file_of(number, content)
        try:
            self._disk.rename(content.parts[-1], file.name, folder, self._staging.at(file))
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            file = self._staging.file_of(number, content, beside=True)
            self._disk.rename(content.parts[-1], file.name, folder, folder)
        return file

    def _put_back(self, number: int, content: Content, folder: int) -> _Fate:
        """Let the old file take the place of ours, or one like it."""
        old = self._old(number, content)
        if old is None:
            beside = self._disk.fstat(folder).st_dev != self._staging.device()
            old = self._like_old(number, content, beside=beside)
        try:
            return self._put(old, content, folder)
        except OSError as error:
            if error.errno != errno.EXDEV or old.beside is not None:
                raise
        return self._put(self._like_old(number, content, beside=True), content, folder)

    def _put(self, old: StagedFile, content: Content, folder: int) -> _Fate:
        name, ours = content.parts[-1], self._staging.at(old)
        is_theirs = not look(self._disk, old.name, ours).holds(content.before)
        try:
            if content.after is None:
                self._disk.rename_new(old.name, name, ours, folder)
                return _Fate.FOREIGN if is_theirs else _Fate.BACK
            self._disk.exchange(old.name, name, ours, folder)
        except FileExistsError:
            return _Fate.FOREIGN  # it came in this very moment
        except FileNotFoundError:
            if content.after is None:
                raise
            return _Fate.FOREIGN  # it went in this very moment
        except OSError as error:
            if error.errno not in MISSING:
                raise
            self._disk.rename(old.name, name, ours, folder)
            return _Fate.BACK
        if look(self._disk, old.name, ours).holds(content.after):
            return _Fate.FOREIGN if is_theirs else _Fate.BACK
        self._disk.exchange(old.name, name, ours, folder)
        return _Fate.FOREIGN

    def _old(self, number: int, content: Content) -> StagedFile | None:
        """Return the old file, or the one that had replaced it when it was taken out; None if it is lost.

        Ours is in place; so what is held, and is not ours as well, came out of there.
        """
        theirs = None
        for file in self._staging.every(number, content):
            found = self._look(file)
            if found.status is None:
                continue
            if found.holds(content.before) or (found.is_file(content.attributes) and not found.holds(content.after)):
                return file
            if not file.is_spare and not found.holds(content.after):
                theirs = file
        return theirs

    def _like_old(self, number: int, content: Content, *, beside: bool) -> StagedFile:
        """Create a file that holds and looks what the old one did."""
        assert content.before is not None
        file = self._staging.file_of(number, content, beside=beside, spare=True)
        attributes = content.attributes and replace(content.attributes, mode=content.attributes.mode & MOST_BITS)
        self._staging.create(file, content.before, attributes, time=True)
        return file

    def _return(self, file: StagedFile, ours: int, name: str, folder: int) -> None:
        """Put back a file that was saved from outside; a newer one that is there by now stays."""
        try:
            self._disk.rename_new(file.name, name, ours, folder)
        except FileExistsError:
            return
        except OSError as error:
            if error.errno not in MISSING:
                raise
            self._disk.rename(file.name, name, ours, folder)

    def _rescued(self, number: int, content: Content) -> str | None:
        """Keep the old content of a file that was changed from outside after our write."""
        for file in self._staging.every(number, content):
            try:
                if content.before is not None and self._look(file).holds(content.before):
                    return self._staging.keep(file, content.parts[-1])
            except OSError:
                return self._staging.place(file)
        return None

    def _copy(self, number: int, content: Content) -> str | None:
        """Return the place of the old content of a file that could not be taken back."""
        for file in self._staging.every(number, content):
            try:
                if content.before is not None and self._look(file).holds(content.before):
                    return self._staging.place(file)
            except OSError:
                continue
        return None

    def _look(self, file: StagedFile) -> Found:
        try:
            return look(self._disk, file.name, self._staging.at(file))
        except (FileNotFoundError, NotADirectoryError):
            return Found()  # the folder beside which it would lie is gone

    def _left(self, content: Content, copy: str | None) -> Left:
        return Left(path=content.path, name=content.name, existed=content.before is not None, copy=copy)


def _is_another(found: Found, content: Content) -> bool:
    """Return whether a file whose bytes stay is not the old one: mode and owner, which it was to get, tell."""
    if content.before != content.after or found.status is None or content.attributes is None:
        return False
    return not (found.is_file(content.attributes) or content.attributes.are_of(found.status))


# Distinguish a file of ours, not whole yet when its process died, from one saved from outside.
#
# Invariant: a file that has a mode to get has none but its owner's until its content is whole, see `staging`.

_OTHERS = stat.S_IXUSR | stat.S_IRWXG | stat.S_IRWXO


def begins(whole: bytes | None, file: Found) -> bool:
    """Return whether a file holds a beginning of what it was to hold."""
    return whole is not None and file.content is not None and whole.startswith(file.content)


def may_be_draft(file: Found, content: Content) -> bool:
    """Return whether a staged file may be a part of the new one, as far as it had been written."""
    if file.status is None or not begins(content.after, file):
        return False
    return content.model is None or not file.status.st_mode & _OTHERS


def is_seen_by_mode(content: Content) -> bool:
    """Return whether what comes out of a target has another mode than a draft, or nothing can come out."""
    if content.before is None or content.attributes is None:
        return True
    return not content.anew and bool(content.attributes.mode & _OTHERS)
