"""Put the new content of files in place, each whole or not at all.

    stage     each new content in a staged file of ours, on its way to the disk
    persist   wait for that, while the journal is on its way as well
    replace   exchange staged file and target in one step; what came out must be what the plan was made on
    keep      wait until that is durable
    settle    before the commit: the old files were not written to meanwhile
    clean     after it: remove the staged files, and folders that lost their last file

Invariants:
- mode, owner, group and extended attributes are kept as far as the system lets us, and what it does not let us keep
  of the owner is known afterwards;
- an exchange brings out whatever was there in that very moment, so there is no gap between comparing and replacing;
  what is not as planned goes back the same way. Where a file system cannot exchange, files are compared just before
  they are replaced; only there an editor that saves within those microseconds loses what it saved;
- `restoring` can take every file back at any time until `clean`.
"""

from __future__ import annotations

import errno
import stat
from collections.abc import Mapping, Sequence

from msgspec import Struct

from bae_source.errors import Refused
from bae_source.transaction.disk.folders import Folders
from bae_source.transaction.disk.port import Disk
from bae_source.transaction.disk.renames import MISSING
from bae_source.transaction.disk.staging import StagedFile, Staging
from bae_source.transaction.disk.targets import Content, Parts, look, nearest_folder, runnable
from bae_source.transaction.disk.walk import Walk, close_quietly

_BATCH = 64  # files that are open at a time


class WriteFailed(Exception):
    """The system refused a call while `name` was written."""

    def __init__(self, name: str, error: OSError) -> None:
        super().__init__(name, error)
        self.name = name
        self.error = error


class Owners(Struct, frozen=True, kw_only=True):
    """User and group of a file, before and after it was written."""

    before: tuple[int, int]
    after: tuple[int, int]


class Writer:
    """Writes one set of files of a project; use it once, and while the walk keeps folders.

    Parameters:
        contents: the targets; their order gives them their numbers.
        modes: permission bits of folders that have to be made for them, by path.

    Attributes:
        touched: the numbers of those that were replaced, or may have been.
        disowned: whose they were and whose they are, by name, of those that could not be given to their owner.
    """

    def __init__(
        self,
        contents: Sequence[Content],
        walk: Walk,
        staging: Staging,
        disk: Disk,
        modes: Mapping[str, int],
    ) -> None:
        self.touched: set[int] = set()
        self.disowned: dict[str, Owners] = {}
        self._contents = contents
        self._walk = walk
        self._staging = staging
        self._disk = disk
        self._folders = Folders(walk, disk, modes)
        self._beside: dict[Parts, bool] = {}
        self._files: list[StagedFile] = []
        self._spare: list[StagedFile] = []
        self._staged: list[tuple[int, Content]] = []
        self._changed: dict[Parts, Content] = {}

    def stage(self) -> None:
        """Write new content in our own folder; nothing of the project is touched, and nothing durable yet.

        Raises:
            OSError: our own folder cannot be looked at.
            WriteFailed: the disk failed.
        """
        own_device = self._staging.device()
        try:
            for number, content in enumerate(self._contents):
                self._files.append(self._planned_file(number, content, own_device))
        except OSError as error:
            raise WriteFailed(content.name, error) from error
        self._stage(beside=False)

    def persist(self) -> None:
        """Make durable what was staged.

        Raises:
            WriteFailed: the disk failed.
        """
        try:
            for each in self._staged:
                descriptor, content = each
                self._disk.fsync(descriptor)
        except OSError as error:
            raise WriteFailed(content.name, error) from error
        finally:
            self._let_go()

    def replace(self) -> None:
        """Put the new content in place; the journal is durable.

        Raises:
            Refused: `stale`, if a file changed since it was read.
            WriteFailed: the disk failed.
        """
        if any(self._beside.values()):
            self._stage(beside=True)
            self.persist()
        try:
            for number, content in enumerate(self._contents):
                folder, depth = content.folder, len(content.folder)
                self._folders.make(folder, missing=content.missing)
                self.touched.add(number)
                self._put_near(number, content)
                for length in range(depth - content.missing, depth + 1):
                    self._changed[folder[:length]] = content
        except OSError as error:
            raise WriteFailed(content.name, error) from error

    def keep(self) -> None:
        """Make durable what was put in place, folder by folder.

        Raises:
            WriteFailed: the disk failed.
        """
        try:
            for parts, content in self._changed.items():  # noqa: B007 - the one that fails is named
                self._folders.sync(parts)
        except OSError as error:
            raise WriteFailed(content.name, error) from error

    def settle(self) -> None:
        """Make sure, before the commit, that no old file was written to since it was taken out.

        Raises:
            Refused: `stale`.
            WriteFailed: the disk failed.
        """
        try:
            for file, content in zip(self._files, self._contents, strict=True):
                if content.before is None or file in self._spare:
                    continue
                if not look(self._disk, file.name, self._staging.at(file)).holds(content.before):
                    raise stale(content)
        except OSError as error:
            raise WriteFailed(content.name, error) from error

    def drop(self) -> None:
        """Remove what was staged, where nothing of it was put in place."""
        self._let_go()
        self._staging.remove(self._files)

    def clean(self) -> None:
        """Remove every file of ours, and folders of the project that the deletion of their last file left empty."""
        self._staging.remove([*self._files, *self._spare])
        self._folders.remove_emptied(self._contents)

    def _planned_file(self, number: int, content: Content, own_device: int) -> StagedFile:
        """Decide where a target's file of ours lies: beside the target if that is on another device."""
        beside = self._beside.get(content.folder)
        if beside is None:
            beside = self._beside[content.folder] = self._device(content) != own_device
        return self._staging.file_of(number, content, beside=beside)

    def _device(self, content: Content) -> int:
        if content.before is not None and content.attributes is not None:
            return content.attributes.inode[0]
        return self._disk.fstat(nearest_folder(self._walk, content.folder)[0]).st_dev

    def _stage(self, *, beside: bool) -> None:
        """Stage what lies beside its target, or what does not; each goes to the disk while the next one is written."""
        try:
            for content, file in zip(self._contents, self._files, strict=True):
                if content.after is None or (file.beside is not None) != beside:
                    continue
                if len(self._staged) == _BATCH:
                    self.persist()
                self._staged.append((self._written(file, content, content.after), content))
        except BaseException as error:
            self._let_go()
            if isinstance(error, OSError):
                raise WriteFailed(content.name, error) from error
            raise

    def _let_go(self) -> None:
        """Close the files that are being staged."""
        while self._staged:
            close_quietly(self._disk, self._staged.pop()[0])

    def _written(self, file: StagedFile, content: Content, after: bytes) -> int:
        if file.beside is not None:
            self._folders.make(content.folder, missing=content.missing)
        moved = content.before is None and content.attributes is not None and not content.edited
        is_shut = content.model is not None or content.mode is not None
        descriptor = self._staging.write(file, after, content.model, time=moved, is_shut=is_shut)
        try:
            self._dress(descriptor, file, content)
        except BaseException:
            close_quietly(self._disk, descriptor)
            raise
        return descriptor

    def _dress(self, descriptor: int, file: StagedFile, content: Content) -> None:
        if content.model is None and file.beside is None:
            self._staging.give_group(descriptor, nearest_folder(self._walk, content.folder)[0])
        if content.owner is not None:
            self._staging.give_owner(descriptor, content.owner)
        if content.mode is not None:
            self._staging.give_mode(descriptor, content.mode, content.intended)
        elif content.runs and content.model is None:
            usual = stat.S_IMODE(self._disk.fstat(descriptor).st_mode)
            self._staging.give_mode(descriptor, runnable(usual, may=True), content.intended)
        if content.intended is not None:
            status = self._disk.fstat(descriptor)
            if content.intended != (owner := (status.st_uid, status.st_gid)):
                self.disowned[content.name] = Owners(before=content.intended, after=owner)

    def _put_near(self, number: int, content: Content) -> None:
        """Put a file in place; from beside its target if there is no other way."""
        file = self._files[number]
        try:
            self._put(file, number, content)
        except OSError as error:
            if error.errno != errno.EXDEV or file.beside is not None:
                raise
            # one device, and yet no rename between the two folders: a bind mount or an overlay
            near = self._staging.file_of(number, content, beside=True)
            if content.after is not None:
                descriptor = self._written(near, content, content.after)
                try:
                    self._disk.fsync(descriptor)
                finally:
                    self._disk.close(descriptor)
            self._spare.append(file)
            self._files[number] = near
            self._put(near, number, content)

    def _put(self, file: StagedFile, number: int, content: Content) -> None:
        # a.py is planned 1 -> 2, and the staged file op_7f3a-0 has 2. After the exchange op_7f3a-0 has
        #   1   as planned; `settle` compares it once more, and `clean` removes it
        #   9   saved by an editor just before: exchanged back, so a.py has 9, and the change is refused as `stale`
        # A new file (no `before`) and a deleted one (no `after`) are renames that never replace a file.
        name, folder, ours = content.parts[-1], self._walk.at(content.folder), self._staging.at(file)
        try:
            if content.before is None:
                self._disk.rename_new(file.name, name, ours, folder)
                return
            if content.after is None:
                self._disk.rename_new(name, file.name, folder, ours)
            else:
                self._disk.exchange(file.name, name, ours, folder)
        except (FileExistsError, FileNotFoundError) as error:
            raise self._stale(number, content) from error
        except OSError as error:
            if error.errno not in MISSING:
                raise
            self._put_plainly(file, number, content, ours, folder)
            return
        self._compare(file, number, content, ours, folder)

    def _compare(self, file: StagedFile, number: int, content: Content, ours: int, folder: int) -> None:
        """Make sure that what came out is as planned, or give it back."""
        try:
            if self._as_planned(content, file.name, ours):
                return
            reason = None
        except PermissionError as error:  # the file there may be another's, and unreadable
            reason = error
        self._give_back(content, file.name, ours, folder)
        self._disk.fsync(folder)  # lest a power cut leave ours there, with no record that takes it back
        raise reason or self._stale(number, content)

    def _stale(self, number: int, content: Content) -> Refused:
        """Return the refusal of a file that was saved from outside, and stays so."""
        self.touched.discard(number)
        return stale(content)

    def _as_planned(self, content: Content, name: str, folder: int) -> bool:
        return look(self._disk, name, folder).is_as_read(content)

    def _give_back(self, content: Content, file: str, ours: int, folder: int) -> None:
        """Put back what came out; if something newer is there by now, that stays, and `restoring` keeps the other."""
        name = content.parts[-1]
        try:
            if content.after is None:
                self._disk.rename_new(file, name, ours, folder)
                return
            self._disk.exchange(file, name, ours, folder)
            if not look(self._disk, file, ours).holds(content.after):
                self._disk.exchange(file, name, ours, folder)
        except FileExistsError:
            return
        except FileNotFoundError:
            self._disk.rename_new(file, name, ours, folder)

    def _put_plainly(self, file: StagedFile, number: int, content: Content, ours: int, folder: int) -> None:
        """Compare and rename, where nothing better is to be had."""
        name = content.parts[-1]
        if content.before is not None and content.after is not None:
            spare = self._staging.file_of(number, content, beside=file.beside is not None, spare=True)
            self._spare.append(spare)
            self._staging.create(spare, content.before, content.attributes, time=True)
        if not self._as_planned(content, name, folder):
            raise self._stale(number, content)
        if content.after is None:
            self._disk.rename(name, file.name, folder, ours)
        else:
            self._disk.rename(file.name, name, ours, folder)
            self._spare.append(file)


def stale(content: Content) -> Refused:
    """Return the refusal of a file that changed while it was being replaced."""
    return Refused(
        "stale",
        f"{content.name} was changed from outside in this very moment.",
        hints=["Read it again and plan the change anew."],
        details={"paths": [content.path]},
    )
