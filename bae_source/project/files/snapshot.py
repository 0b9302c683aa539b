"""One state of a project's files, as what looks into many of them needs it.

`Workspace` is one, with what files define on top of it; what stands in the rooms of files and facts knows this alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from bae_source.project.files.port import Files, Stamp

if TYPE_CHECKING:
    from bae_source.project.files.census import Census
    from bae_source.project.files.layout import Layout


class Snapshot(Protocol):
    """One state of a project's files, planned content included.

    Attributes:
        files: the files themselves.
        overlay: planned content by path, None for a file that will be gone.
    """

    files: Files
    overlay: Mapping[str, bytes | None]

    @property
    def census(self) -> Census:
        """Every Python file of the project."""

    @property
    def layout(self) -> Layout:
        """The project's source roots."""

    def clock(self) -> int:
        """Return nanoseconds since the epoch, as the file system counts them."""

    def is_read(self, path: str) -> bool:
        """Return whether a file's bytes are known already."""

    def glance(self, path: str) -> bytes | None:
        """Return a file's bytes, which are not kept; None where there is no such file."""

    def content(self, path: str) -> bytes | None:
        """Return a file's bytes, which are kept; None where there is no such file."""

    def check_size(self, path: str) -> None:
        """Check that a file is not too large to be read whole."""

    def stamp_of(self, path: str) -> Stamp | None:
        """Return the stamp of a file that was read, if it will tell of every later change."""
