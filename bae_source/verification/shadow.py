"""A copy of a project in our state, in which a planned change is judged while the project itself stays as it is.

    shadow/<id>/1/lock            a slot: one process at a time, which holds this
    shadow/<id>/1/manifest        what each file of the copy was made of
    shadow/<id>/1/<project>/      the copy, called as the project's folder is
    shadow/<id>/1/caches/         what is kept from run to run, compiled files among it

    with shadow_of(folders) as shadow:
        shadow.bring_up({"app/core.py": b"…"})      the project as it is now, with these files instead of its own
        shadow.bring_up({})                         without them

Invariants:
- the project is read, and never written; what is copied are its files, ignored ones too, but for environments, caches,
  version control and build output; no link leads out of the copy, and nothing but files, folders and links is made;
- a file stays as it is where neither the project's nor the copy's stamp has changed since it was made. A stamp that was
  younger than two seconds is not believed, so whatever tests write into the copy is gone the next time;
- the compiled files of a source go when the source is written;
- a process that dies leaves a slot that the next one brings up to date: what the manifest does not say is made anew;
- no link is followed on the way to a copy, and its folder bears the random id of our state, so nothing that a project
  brings along is believed.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from bae_source.state.folders import LOCAL, StateFolders
from bae_source.state.lock import take
from bae_source.system.clock import nanoseconds
from bae_source.system.descriptors import CLOSED_IN_CHILDREN, WITHOUT_LINKS
from bae_source.system.hashing import sha256

FOLDER = "shadow"
COMPILED = "compiled"
"""The folder among the caches that gathers what commands compile."""
MOST_COPIES = 8
"""Copies of one project, and so processes that verify changes of it at once."""
_ID = 12
"""Characters of the id of our state in the name of a folder."""
_COMPILED = "__pycache__"
_CACHES = frozenset(
    {_COMPILED, ".git", ".hg", ".svn", ".bzr", LOCAL, ".tox", ".nox", ".eggs", ".mypy_cache", ".pytest_cache",
     ".ruff_cache", ".hypothesis", ".pyre", ".pytype", ".ipynb_checkpoints", "node_modules", "__pypackages__"}
)  # fmt: skip
_TAGS = ("pyvenv.cfg", "conda-meta", "CACHEDIR.TAG")
"""Names by which a folder shows that it is an environment or a cache."""
_BUILT = ("build", "dist")
_BELIEVED = 2_000_000_000
"""Nanoseconds after which a stamp is believed."""
_GIT = b"gitdir: none-in-a-copy\n"
"""The `.git` of a copy: a repository that is not there, so that git fails and finds none above, nor what that ignores.

With an empty one a program that asks git for the project's files would find none, and nothing wrong with them.
"""

Stamp = str
"""Time of modification and of change in nanoseconds, which may be any numbers, size, inode, and mode."""
Contents = Mapping[str, bytes | None]


class NoShadow(Exception):
    """No copy can be made; the message is a clause that says why."""


class _Copied(Struct, frozen=True, array_like=True):
    """A file of the copy: what it was made of, and its own stamp since.

    Parameters:
        source: stamp of the project's file; the digest of planned content; "" where the source was too young.
        stamp: of the copy.
    """

    source: Stamp
    stamp: Stamp


class Shadow:
    """One copy, held by this process.

    Parameters:
        project: the project's folder, links followed.
        slot: the folder of the copy, its manifest and what is kept beside it.
        progress: called with the number of files copied so far, and of all that are to be copied.
        part: the one folder of the project that is copied; "" for all of it.

    Attributes:
        root: the folder of the copy.
        caches: a folder for what is kept of it.
    """

    def __init__(
        self,
        project: Path,
        slot: Path,
        progress: Callable[[int, int], None] = lambda _, __: None,
        part: str = "",
    ) -> None:
        self.root = slot / (project.name or "project")
        self.caches = slot / "caches"
        self._project = project
        self._part = part
        self._manifest = slot / "manifest"
        self._progress = progress
        self._copied = self._read()
        self._seen: dict[str, Stamp] = {}
        self._planned: set[str] = set()

    def changed(self) -> list[str]:
        """Return the paths of the project's files that changed since the copy was brought up, but for planned ones."""
        now = {path: _stamp(entry) for path, entry in _walk(self._project, self._part)}
        paths = {*now, *self._seen} - self._planned
        return sorted(path for path in paths if now.get(path) != self._seen.get(path))

    def bring_up(self, planned: Contents) -> None:
        """Have the copy hold the project as it is now, but for the files of a plan.

        Parameters:
            planned: content by path, relative to the project; None for a file that goes.

        Raises:
            NoShadow: the copy cannot be written, or the project cannot be read.
        """
        try:
            self._bring_up(planned)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise NoShadow(f"no copy of the project can be made in bae_source's state: {reason.lower()}") from error

    def _bring_up(self, planned: Contents) -> None:
        for folder in (self.root, self.caches):
            folder.mkdir(parents=True, exist_ok=True)
            _refuse_link(folder)
        now = nanoseconds()
        wanted: dict[str, os.stat_result | None] = dict(_walk(self._project, self._part))
        planned = {self._behind_links(path): content for path, content in planned.items()}
        self._planned = set(planned)
        self._seen = {path: _stamp(entry) for path, entry in wanted.items() if entry is not None}
        for path, content in planned.items():
            wanted.pop(path, None)
            if content is not None:
                wanted[path] = None
        there = dict(_walk(self.root, everything=True))
        self._remove(there, wanted)
        pending = [path for path, entry in wanted.items() if not self._is_current(path, entry, there, planned)]
        copied = {path: self._copied[path] for path in wanted if path in self._copied}
        for number, path in enumerate(pending):
            self._progress(number, len(pending))
            try:
                source = self._make(path, wanted[path], planned, now)
            except FileNotFoundError:
                if wanted[path] is None or os.path.lexists(self._project / path):
                    raise
                copied.pop(path, None)  # it went while files were copied
                continue
            copied[path] = _Copied(source, _stamp(os.lstat(self.root / path)))
        (self.root / ".git").write_bytes(_GIT)
        if pending or copied.keys() != self._copied.keys():
            self._copied = copied
            self._write()

    def _behind_links(self, path: str) -> str:
        """Return the path at which a file of a plan is written, where links inside of the project lead there."""
        root, real = os.path.realpath(self._project), os.path.realpath(self._project / path)
        return os.path.relpath(real, root).replace(os.sep, "/") if real.startswith(root + os.sep) else path

    def _is_current(
        self, path: str, entry: os.stat_result | None, there: Mapping[str, os.stat_result], planned: Contents
    ) -> bool:
        """Return whether a file of the copy is what it is to be."""
        copied = self._copied.get(path)
        if copied is None or path not in there or copied.stamp != _stamp(there[path]):
            return False
        if entry is not None:
            return copied.source == _stamp(entry)
        return copied.source == sha256(planned[path] or b"")

    def _make(self, path: str, entry: os.stat_result | None, planned: Contents, now: int) -> Stamp:
        """Write one file of the copy, and return what it was made of."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            target.unlink()
        if path.endswith(".py"):
            _forget_compiled(target, self.caches / COMPILED)
        if entry is None:
            content = planned[path] or b""
            target.write_bytes(content)
            with suppress(OSError):
                target.chmod(stat.S_IMODE((self._project / path).stat().st_mode))
            return sha256(content)
        source = self._project / path
        if stat.S_ISLNK(entry.st_mode):
            leads = source.readlink()
            if leads.is_absolute():
                leads = Path(os.path.relpath(os.path.realpath(source), os.path.realpath(source.parent)))
            target.symlink_to(leads)
        else:
            shutil.copyfile(source, target)
            shutil.copymode(source, target)
            with suppress(OverflowError, OSError):  # a time that no copy can have
                os.utime(target, ns=(entry.st_atime_ns, entry.st_mtime_ns))
        return _stamp(entry) if now - max(entry.st_mtime_ns, entry.st_ctime_ns) > _BELIEVED else ""

    def _remove(self, there: dict[str, os.stat_result], wanted: Mapping[str, object]) -> None:
        """Remove what the copy has and should not have; folders that are left empty, too."""
        folders = {folder for path in wanted for folder in _above(path)}
        for path, entry in sorted(there.items(), reverse=True):
            is_folder = stat.S_ISDIR(entry.st_mode)
            if path in wanted and not is_folder:
                continue
            if is_folder and path in folders:
                continue
            place = self.root / path
            shutil.rmtree(place) if is_folder else place.unlink()
            del there[path]

    def _read(self) -> dict[str, _Copied]:
        with suppress(OSError, msgspec.MsgspecError):
            return msgspec.msgpack.decode(self._manifest.read_bytes(), type=dict[str, _Copied])
        return {}

    def _write(self) -> None:
        unfinished = self._manifest.with_name("manifest.new")
        unfinished.write_bytes(msgspec.msgpack.encode(self._copied))
        unfinished.replace(self._manifest)


@contextmanager
def shadow_of(folders: StateFolders, progress: Callable[[int, int], None] = lambda _, __: None) -> Iterator[Shadow]:
    """Take a copy of a project that no other process uses, until the context ends.

    Raises:
        NoShadow: our state cannot be written, or all copies are in use.
    """
    try:
        folders.check()
        place = place_of(folders)
        for number in range(1, MOST_COPIES + 1):
            slot = place / f"{tag_of(folders)}{number}"
            slot.mkdir(exist_ok=True)
            _refuse_link(slot)
            flags = os.O_RDWR | os.O_CREAT | CLOSED_IN_CHILDREN | WITHOUT_LINKS
            taken = take(os.open(slot / "lock", flags, 0o600))
            if taken is not None:
                break
        else:
            raise NoShadow(f"{MOST_COPIES} other processes verify changes of this project")
    except OSError as error:
        reason = (error.strerror or "an error of the system").lower()
        raise NoShadow(f"bae_source cannot write its own state: {reason}") from error
    try:
        yield Shadow(folders.root, slot, progress, folders.part)
    finally:
        taken.release()


def place_of(folders: StateFolders) -> Path:
    """Return the folder of all copies, which bears the id of our state.

    Raises:
        OSError: it cannot be made, or a link stands in its place.
    """
    place = folders.make(folders.base / FOLDER)
    _refuse_link(place)
    place /= (folders.id or "")[:_ID]
    place.mkdir(exist_ok=True)
    _refuse_link(place)
    return place


def _refuse_link(folder: Path) -> None:
    if folder.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(folder))


def tag_of(folders: StateFolders) -> str:
    """Return the prefix of a project's own names, where projects of a repository share a folder."""
    return f"{sha256(folders.project.encode())[:8]}-" if folders.project else ""


def _walk(root: Path, part: str = "", *, everything: bool = False) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the files and links below a folder by path; of a project those that belong to it.

    Parameters:
        part: the one folder in it that is walked; "" for all of it.
        everything: whether a copy of ours is walked: all that is there, folders too, but for compiled files.
    """
    waiting = [part]
    real = os.path.realpath(root)
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(root / folder) as found:
                entries = list(found)
        except (PermissionError, FileNotFoundError):
            if everything or not folder:
                raise
            continue  # it may not be looked into, or went
        names = {entry.name for entry in entries}
        if folder and not everything and not names.isdisjoint(_TAGS):
            continue
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_dir(follow_symlinks=False):
                if everything and entry.name != _COMPILED:
                    yield path, entry.stat(follow_symlinks=False)
                    waiting.append(path)
                elif not everything and entry.name not in _CACHES and not _is_output(entry, folder):
                    waiting.append(path)
            elif entry.is_symlink():
                if everything or _stays(entry.path, real):
                    yield path, entry.stat(follow_symlinks=False)
            elif everything or (path != ".git" and entry.is_file(follow_symlinks=False)):  # `.git` of a worktree
                yield path, entry.stat(follow_symlinks=False)


def _is_output(entry: os.DirEntry[str], folder: str) -> bool:
    """Return whether a folder holds what a build made: one at the top that is no package."""
    is_named_so = not folder and entry.name in _BUILT
    return is_named_so and not os.path.lexists(os.path.join(entry.path, "__init__.py"))  # noqa: PTH118


def _stays(link: str, root: str) -> bool:
    """Return whether a link leads to something inside of a project."""
    leads = os.path.realpath(link)
    return leads.startswith(root + os.sep) and os.path.exists(leads)  # noqa: PTH110


def _stamp(entry: os.stat_result) -> Stamp:
    return f"{entry.st_mtime_ns} {entry.st_ctime_ns} {entry.st_size} {entry.st_ino} {entry.st_mode}"


def _above(path: str) -> Iterator[str]:
    """Yield the folders around a path."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _forget_compiled(source: Path, gathered: Path) -> None:
    """Remove the compiled files of a source of the copy, beside it and below a folder that gathers such files."""
    for folder in (source.parent / _COMPILED, gathered / source.parent.relative_to(source.anchor)):
        with suppress(FileNotFoundError, NotADirectoryError):
            for compiled in folder.iterdir():
                if compiled.name.startswith(f"{source.stem}."):
                    compiled.unlink()
