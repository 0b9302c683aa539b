"""A project as it is about to be committed: the files of git's index, and nothing of the working tree.

    with GitIndex(root, environment) as index:
        workspace = StagedWorkspace(Staged(index), kept=kept)
        workspace.content("app/core.py")        as staged, whatever the file on the disk holds
        workspace.asked(["app/core.py"])        the modules of it, and the packages around them

Invariants:
- only staged files are there: no untracked ones, none that are only to be added, none removed from the index;
- a link, a submodule and a path in conflict stand in the way of knowing, and are never taken for something else;
- nothing is written, and of the working tree is only asked whether a file is there, or the same.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from bae_source.errors import Refused, RequestError, ResourceError
from bae_source.model.plan import ModuleFile
from bae_source.project.facts.kept import Derived, Kept
from bae_source.project.files.census import PYTHON, STUB, Census
from bae_source.project.files.ignored import is_ignored, never_entered
from bae_source.project.files.port import Disk, FileKind, Folder, Stamp, read_or_none
from bae_source.project.files.visits import VENV
from bae_source.project.git.index import Entry, GitIndex
from bae_source.project.workspace import Workspace

_ENDINGS = (PYTHON, STUB, ".pyw")
_STARTS_PYTHON = re.compile(rb"#![^\n]*\b(?:python3?(?:\.\d+)?|pypy3?|uv run)(?![\w.])")

_NEVER_SETTLED = 1 << 62
"""A time so far ahead that no stamp with it counts as that of a file that will not change."""


class Staged:
    """The files in an index, as the port `Files`.

    Parameters:
        index: where their bytes are asked for.
    """

    def __init__(self, index: GitIndex) -> None:
        self.index = index
        self.entries: Mapping[str, Entry] = index.entries()
        self.unread: set[str] = set()
        """The paths of files whose content was asked for, and did not come."""
        self._folders: dict[str, dict[str, FileKind]] = {"": {}}
        for path, entry in self.entries.items():
            # patterns say what git ignores; nothing in the index is ignored, so they are not shown
            if entry.regular and not path.endswith(".gitignore"):
                folder, _, name = path.rpartition("/")
                kinds = self._folders.get(folder)
                if kinds is None:
                    kinds = self._add_folder(folder)
                kinds[name] = FileKind.FILE

    def kind(self, path: str) -> FileKind | None:
        """Return the kind of `path`."""
        if path in self._folders:
            return FileKind.FOLDER
        folder, _, name = path.rpartition("/")
        return self._folders.get(folder, {}).get(name)

    def read(self, path: str) -> bytes:
        """Return a file's content.

        Raises:
            FileNotFoundError: there is no such file.
            Refused: `forbidden` where git does not have it.
            SourceError: `not_lossless` for a gigantic one.
        """
        if self.kind(path) is not FileKind.FILE:
            raise FileNotFoundError(path)
        try:
            return self.index.content(self.entries[path].oid)
        except (Refused, RequestError):
            self.unread.add(path)
            raise

    def read_stamped(self, path: str) -> tuple[bytes, Stamp]:
        """Return a file's content, and a stamp that says nothing of later."""
        return self.read(path), stamp_of(self.entries[path])

    def glance(self, path: str, size: int) -> bytes:  # noqa: ARG002  # the port's
        """Return a file's content."""
        return self.read(path)

    def names(self, folder: str) -> tuple[str, ...]:
        """Return the entries of a folder, sorted."""
        return tuple(sorted(self._folders.get(folder, {})))

    def pieces(self, path: str) -> Iterator[bytes]:
        """Yield a file's content; raise as `read` does."""
        yield self.read(path)

    def inside(self, path: str) -> str | None:
        """Return an absolute path as a path below the root; None where it lies elsewhere."""
        return Disk(self.index.root).inside(path)

    def folder(self, path: str) -> Folder:
        """List a folder."""
        kinds = self._folders.get(path, {})
        names = {kind: tuple(sorted(name for name in kinds if kinds[name] is kind)) for kind in FileKind}
        return Folder(path, names[FileKind.FOLDER], names[FileKind.FILE])

    def stamp(self, path: str) -> Stamp | None:
        """Return a stamp that says nothing of later."""
        return stamp_of(self.entries.get(path)) if self.kind(path) is not None else None

    def stamps(self, paths: Sequence[str]) -> dict[str, Stamp]:
        """Return the stamps of some files and folders, by path."""
        return {path: stamp for path in paths if (stamp := self.stamp(path)) is not None}

    @cached_property
    def opaque(self) -> frozenset[str]:
        """The paths at which something stands that is no file with one content."""
        return frozenset(path for path, entry in self.entries.items() if not entry.regular)

    def _add_folder(self, folder: str) -> dict[str, FileKind]:
        """Note a folder, and those around it, and return its entries."""
        kinds = self._folders[folder] = {}
        outer, _, name = folder.rpartition("/")
        around = self._folders.get(outer)
        (self._add_folder(outer) if around is None else around)[name] = FileKind.FOLDER
        return kinds


def stamp_of(entry: Entry | None) -> Stamp:
    """Return the stamp of a staged file, or of a folder: it says nothing of later."""
    return Stamp(0, _NEVER_SETTLED, _NEVER_SETTLED, int(entry.oid[:15], 16) if entry else 0)


class StagedWorkspace(Workspace):
    """One snapshot of the staged files.

    Parameters:
        staged: the files.
        kept: what to share with other workspaces: facts by content; nothing is kept by path.
        unfinished: whether a transaction of ours was cut short, or is being made.
    """

    def __init__(self, staged: Staged, *, kept: Kept | None = None, unfinished: bool = False) -> None:
        super().__init__(staged, kept=kept)
        self.staged = staged
        self.unfinished = unfinished

    @cached_property
    def census(self) -> Census:
        """Every Python file that is staged."""
        files = self.staged
        entered: dict[str, bool] = {"": True}
        folders: dict[str, tuple[str, ...]] = {"": ()}
        stamps: dict[str, Stamp] = {}
        for path, entry in files.entries.items():
            if entry.regular and path.endswith((PYTHON, STUB)):
                folder = path.rpartition("/")[0]
                if _is_entered(files, folder, entered):
                    stamps[path] = stamp_of(entry)
                    while folder not in folders:
                        folders[folder] = ()
                        folder = folder.rpartition("/")[0]
        return Census(self.layout, stamps, folders)

    @cached_property
    def settled(self) -> bool:
        """Facts of staged files are not kept by path."""
        return False

    @cached_property
    def derived(self) -> Derived:
        """Values worked out from all files together."""
        return Derived(self.census)

    def is_on_disk(self, path: str) -> bool:
        """Return whether something stands at a path in the working tree."""
        return os.path.lexists(self.staged.index.root / path)

    def names_on_disk(self, folder: str) -> tuple[str, ...]:
        """Return the entries of a folder of the working tree."""
        return Disk(self.staged.index.root).names(folder)

    def is_same_on_disk(self, path: str) -> bool:
        """Return whether the working tree has the file that is staged, but for line ends, which git may change."""
        try:
            content = read_or_none(Disk(self.staged.index.root), path)
        except ResourceError:
            return False
        return content is not None and _lines(content) == _lines(self.bytes_of(path))

    def bytes_of(self, path: str) -> bytes:
        """Return the content of a file; nothing where there is none, or it cannot be had."""
        try:
            return self.content(path) or b""
        except ResourceError:
            return b""

    def is_python(self, path: str) -> bool:
        """Return whether a staged file is Python, by its ending, or by its first line where it has none."""
        name = path.rpartition("/")[2]
        return name.endswith(_ENDINGS) or ("." not in name and _STARTS_PYTHON.match(self.bytes_of(path)) is not None)

    def python_with(self, pattern: str) -> tuple[str, ...] | None:
        """Return the paths of the Python files that hold an extended regular expression; None where git cannot say."""
        found = self.staged.index.files_with(pattern)
        return None if found is None else tuple(filter(self.is_python, found))

    def apart(self, paths: Iterable[str]) -> tuple[list[str], list[str]]:
        """Return what some paths name that is no module of the project, and may be Python.

        Returns:
            The paths of Python files, and those of what is not there; links, submodules and conflicts are neither.
        """
        python: list[str] = []
        unknown: list[str] = []
        for path in dict.fromkeys(paths):
            entry = self.staged.entries.get(path)
            if path in self.census.stamps and self.census.module(path) is not None:
                continue
            if not may_be_python(path) and self.staged.kind(path) is not FileKind.FOLDER:
                continue
            if entry is None:
                unknown.append(path)
            elif entry.regular and self.is_python(path):
                python.append(path)
        if unknown:
            gone = self.staged.index.gone()
            unknown = [path for path in unknown if path not in gone]
        return python, unknown

    def modules_around(self, paths: Iterable[str]) -> tuple[ModuleFile, ...]:
        """Return the modules of some files, and the packages around them, also around files that are gone.

        What is no module of the project has none.
        """
        found: dict[str, ModuleFile] = {}
        gone = self.staged.index.gone()
        for path in paths:
            module = self.census.module(path) if path in self.census.stamps else None
            if module is not None:
                found[path] = module
            elif path not in gone or not path.endswith((PYTHON, STUB)):
                continue
            folder = path.rpartition("/")[0]
            while (around := f"{folder}/__init__.py" if folder else "__init__.py") in self.census.stamps:
                package = self.census.module(around)
                if package is not None:
                    found[around] = package
                if not folder:
                    break
                folder = folder.rpartition("/")[0]
        return tuple(found[path] for path in sorted(found))


def _lines(content: bytes) -> bytes:
    return content.replace(b"\r\n", b"\n")


def may_be_python(path: str) -> bool:
    """Return whether a file's name leaves open that it is Python."""
    name = path.rpartition("/")[2]
    return "." not in name[1:] or name.endswith(_ENDINGS)


def _is_entered(files: Staged, folder: str, entered: dict[str, bool]) -> bool:
    """Return whether a folder is part of the project.

    Parameters:
        entered: what is known of folders; the answer is noted there.
    """
    known = entered.get(folder)
    if known is None:
        outer, _, name = folder.rpartition("/")
        known = _is_entered(files, outer, entered) and not never_entered(name)
        known = known and files.kind(f"{folder}/{VENV}") is None and (bool(outer) or not is_ignored(files, f"{name}/"))
        entered[folder] = known
    return known
