"""Files as they will be once a change is made: planned content in front of the present files.

    Planned(disk, {"app/new.py": b"…", "app/old.py": None})       None for a file that will be gone

Invariants:
- nothing is written, and what is planned is seen by every call of the port alike;
- a folder that only holds what will be gone will be gone as well, as the transaction removes it;
- stamps of planned files, and of folders that the plan changes, belong to this plan alone, and are never a disk's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import count

from bae_source.model.changeset import Contents
from bae_source.project.files.port import FileKind, Files, Folder, Stamp

_LEFTOVERS = ("__pycache__",)
"""Entries that do not keep a folder alive."""

_PLANS = count()


class Planned:
    """Files, with planned ones in front of them.

    Parameters:
        files: what there is.
        contents: what is planned, by path; None for a file that will be gone.
    """

    def __init__(self, files: Files, contents: Contents) -> None:
        self.files = files
        self.contents = dict(contents)
        self._number = next(_PLANS)

    def kind(self, path: str) -> FileKind | None:
        """Return the kind of `path`."""
        if path in self.contents:
            return FileKind.FILE if self.contents[path] is not None else None
        if path in self._new_folders:
            return FileKind.FOLDER
        found = self.files.kind(path)
        return None if found is FileKind.FOLDER and self._is_gone(path) else found

    def read(self, path: str) -> bytes:
        """Return a file's content; raise FileNotFoundError where there will be none."""
        if path not in self.contents:
            return self.files.read(path)
        content = self.contents[path]
        if content is None:
            raise FileNotFoundError(path)
        return content

    def read_stamped(self, path: str) -> tuple[bytes, Stamp]:
        """Return a file's content and its stamp."""
        if path not in self.contents:
            return self.files.read_stamped(path)
        return self.read(path), self._stamp(path)

    def glance(self, path: str, size: int) -> bytes:
        """Return a file's content."""
        return self.read(path) if path in self.contents else self.files.glance(path, size)

    def pieces(self, path: str) -> Iterator[bytes]:
        """Yield a file's content."""
        if path in self.contents:
            yield self.read(path)
        else:
            yield from self.files.pieces(path)

    def inside(self, path: str) -> str | None:
        """Return a path, absolute or from the root, as one below the root."""
        return self.files.inside(path)

    def names(self, folder: str) -> tuple[str, ...]:
        """Return the entries of a folder, sorted."""
        if folder not in self._touched:
            return self.files.names(folder)
        lead = f"{folder}/" if folder else ""
        kept = {name for name in self.files.names(folder) if self._stays(lead + name)}
        return tuple(sorted(kept | self._added(folder)))

    def folder(self, path: str) -> Folder:
        """List a folder as it will be."""
        if path not in self._touched:
            return self.files.folder(path)
        lead = f"{path}/" if path else ""
        present = self.files.folder(path)
        added = self._added(path)
        files = {name for name in present.files if self._stays(lead + name)}
        files |= {name for name in added if lead + name in self.contents}
        folders = {name for name in present.folders if self._stays(lead + name)}
        folders |= {name for name in added if lead + name in self._new_folders}
        links = tuple(name for name in present.links if lead + name not in self.contents)
        outside = tuple(name for name in present.outside if lead + name not in self.contents)
        return Folder(path, tuple(sorted(folders)), tuple(sorted(files)), None, present.readable, links, outside)

    def stamp(self, path: str) -> Stamp | None:
        """Return the stamp of a file or a folder."""
        return self.stamps([path]).get(path)

    def stamps(self, paths: Sequence[str]) -> dict[str, Stamp]:
        """Return the stamps of some files and folders, by path."""
        own = {path: self._stamp(path) for path in paths if path in self.contents or path in self._new_folders}
        others = self.files.stamps([path for path in paths if path not in own])
        gone = {path for path, content in self.contents.items() if content is None}
        found = {**others, **own}
        return {path: found[path] for path in paths if path in found and path not in gone}

    @cached_property
    def _new_folders(self) -> frozenset[str]:
        """The folders of files that will be there."""
        return frozenset(
            folder for path, content in self.contents.items() if content is not None for folder in _above(path)
        )

    @cached_property
    def _touched(self) -> frozenset[str]:
        """The folders above anything that is planned."""
        return frozenset(folder for path in self.contents for folder in _above(path))

    @cached_property
    def _new(self) -> dict[str, set[str]]:
        """Return the planned entries by folder: names of files, and of folders on the way."""
        found: dict[str, set[str]] = {}
        for path, content in self.contents.items():
            while content is not None and path:
                path, _, name = path.rpartition("/")
                found.setdefault(path, set()).add(name)
        return found

    def _added(self, folder: str) -> set[str]:
        return self._new.get(folder, set())

    def _stays(self, path: str) -> bool:
        return self.kind(path) is not None if path in self._touched or path in self.contents else True

    def _is_gone(self, folder: str) -> bool:
        """Return whether all that a folder holds will be gone."""
        if folder not in self._touched or not folder:
            return False
        names = self.files.names(folder)
        inner = [f"{folder}/{name}" for name in names if name not in _LEFTOVERS]
        return all(self.kind(path) is None for path in inner)

    def _stamp(self, path: str) -> Stamp:
        content = self.contents.get(path)
        return Stamp(len(content or b""), -1 - self._number, -1, -1)


def _above(path: str) -> Iterator[str]:
    """Yield every folder that a file lies in, the project's own, "", among them."""
    while path:
        path = path.rpartition("/")[0]
        yield path
