"""Files held in a dictionary: the port `Files` without a disk, for plans on text that lies nowhere, as in tests."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from bae_source.project.files.port import FileKind, Folder, Stamp


class Memory:
    """Files held in a dictionary.

    Parameters:
        contents: bytes by path.
    """

    def __init__(self, contents: Mapping[str, bytes]) -> None:
        self.contents = dict(contents)

    def kind(self, path: str) -> FileKind | None:
        """Say what stands at `path`."""
        if path in self.contents:
            return FileKind.FILE
        return FileKind.FOLDER if not path or any(name.startswith(f"{path}/") for name in self.contents) else None

    def read(self, path: str) -> bytes:
        """Return a file's content; raise FileNotFoundError where there is none."""
        if path not in self.contents:
            raise FileNotFoundError(path)
        return self.contents[path]

    def read_stamped(self, path: str) -> tuple[bytes, Stamp]:
        """Return a file's content and its stamp."""
        return self.read(path), self._stamp(path)

    def glance(self, path: str, size: int) -> bytes:  # the port's
        """Return a file's content."""
        return self.read(path)

    def names(self, folder: str) -> tuple[str, ...]:
        """Return what a folder holds, sorted."""
        lead = f"{folder}/" if folder else ""
        return tuple(sorted({name[len(lead) :].partition("/")[0] for name in self.contents if name.startswith(lead)}))

    def pieces(self, path: str) -> Iterator[bytes]:
        """Yield a file's content; raise FileNotFoundError where there is none."""
        yield self.read(path)

    def inside(self, path: str) -> str | None:
        """Return a path, absolute or from the root, as one below the root, which is `/`."""
        return os.path.normpath(path).lstrip("/")

    def folder(self, path: str) -> Folder:
        """List a folder."""
        lead = f"{path}/" if path else ""
        names = self.names(path)
        files = tuple(name for name in names if f"{lead}{name}" in self.contents)
        return Folder(path, tuple(name for name in names if name not in files), files, self.stamp(path))

    def stamp(self, path: str) -> Stamp | None:
        """Return a stamp made of the content; that of a folder is made of its names."""
        if path in self.contents:
            return self._stamp(path)
        names = self.names(path)
        return Stamp(len(names), hash(names), 0, 0) if names else None

    def stamps(self, paths: Sequence[str]) -> dict[str, Stamp]:
        """Return the stamps of some files and folders, by path."""
        return {path: stamp for path in paths if (stamp := self.stamp(path)) is not None}

    def _stamp(self, path: str) -> Stamp:
        content = self.contents[path]
        return Stamp(len(content), hash(content), 0, 0)
