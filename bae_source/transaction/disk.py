"""The port to the disk: the few calls of the operating system that writing uses, so that tests can make each one fail.

Invariant: nothing else in this package writes to the project. Every call takes a descriptor, or a name inside a folder
that is open by descriptor; none follows a link.
"""

from __future__ import annotations

import os
from typing import Protocol


class Disk(Protocol):
    """What the writer asks of the operating system; each call raises OSError as the call of that name in `os` does."""

    def open(self, name: str, flags: int, mode: int, folder: int | None) -> int:
        """Open `name` in `folder`; an absolute name where `folder` is None."""

    def close(self, file: int) -> None:
        """Close a descriptor."""

    def read(self, file: int, size: int) -> bytes:
        """Read up to `size` bytes."""

    def write(self, file: int, content: memoryview) -> int:
        """Write, and return how much was written."""

    def fsync(self, file: int) -> None:
        """Make a file or folder durable."""

    def fstat(self, file: int) -> os.stat_result:
        """Describe an open file."""

    def lstat(self, name: str, folder: int) -> os.stat_result:
        """Describe `name` in `folder`, itself and not what it links to."""

    def readlink(self, name: str, folder: int) -> str:
        """Return what a link says."""

    def access(self, name: str, folder: int) -> bool:
        """Say whether `name` in `folder` may be written."""

    def chmod(self, file: int, mode: int) -> None:
        """Set the mode of an open file."""

    def chown(self, file: int, user: int, group: int) -> None:
        """Set the owner of an open file."""

    def utime(self, file: int, accessed: int, modified: int) -> None:
        """Set the times of an open file, in nanoseconds."""

    def attributes(self, file: int) -> dict[str, bytes]:
        """Return the extended attributes of an open file; empty where there are none."""

    def set_attribute(self, file: int, name: str, value: bytes) -> None:
        """Set an extended attribute of an open file."""

    def rename(self, source: str, target: str, source_folder: int, target_folder: int) -> None:
        """Rename, replacing the target."""

    def unlink(self, name: str, folder: int) -> None:
        """Remove a file."""

    def mkdir(self, name: str, folder: int) -> None:
        """Create a folder."""

    def rmdir(self, name: str, folder: int) -> None:
        """Remove an empty folder."""


class RealDisk:
    """The operating system itself."""

    def open(self, name: str, flags: int, mode: int, folder: int | None) -> int:
        """Open `name` in `folder`, never following a link at its end, never waiting for a FIFO's other end."""
        return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, mode, dir_fd=folder)

    def close(self, file: int) -> None:
        """Close a descriptor."""
        os.close(file)

    def read(self, file: int, size: int) -> bytes:
        """Read up to `size` bytes."""
        return os.read(file, size)

    def write(self, file: int, content: memoryview) -> int:
        """Write, and return how much was written."""
        return os.write(file, content)

    def fsync(self, file: int) -> None:
        """Make a file or folder durable."""
        os.fsync(file)

    def fstat(self, file: int) -> os.stat_result:
        """Describe an open file."""
        return os.fstat(file)

    def lstat(self, name: str, folder: int) -> os.stat_result:
        """Describe `name` in `folder`, itself and not what it links to."""
        return os.stat(name, dir_fd=folder, follow_symlinks=False)

    def readlink(self, name: str, folder: int) -> str:
        """Return what a link says."""
        return os.readlink(name, dir_fd=folder)

    def access(self, name: str, folder: int) -> bool:
        """Say whether `name` in `folder` may be written."""
        return os.access(name, os.W_OK, dir_fd=folder)

    def chmod(self, file: int, mode: int) -> None:
        """Set the mode of an open file."""
        os.fchmod(file, mode)

    def chown(self, file: int, user: int, group: int) -> None:
        """Set the owner of an open file."""
        os.fchown(file, user, group)

    def utime(self, file: int, accessed: int, modified: int) -> None:
        """Set the times of an open file, in nanoseconds."""
        os.utime(file, ns=(accessed, modified))

    def attributes(self, file: int) -> dict[str, bytes]:
        """Return the extended attributes of an open file; empty where Python offers no call for them (macOS)."""
        if not hasattr(os, "listxattr"):
            return {}
        return {name: os.getxattr(file, name) for name in os.listxattr(file)}

    def set_attribute(self, file: int, name: str, value: bytes) -> None:
        """Set an extended attribute of an open file."""
        os.setxattr(file, name, value)

    def rename(self, source: str, target: str, source_folder: int, target_folder: int) -> None:
        """Rename, replacing the target."""
        os.rename(source, target, src_dir_fd=source_folder, dst_dir_fd=target_folder)

    def unlink(self, name: str, folder: int) -> None:
        """Remove a file."""
        os.unlink(name, dir_fd=folder)

    def mkdir(self, name: str, folder: int) -> None:
        """Create a folder."""
        os.mkdir(name, dir_fd=folder)

    def rmdir(self, name: str, folder: int) -> None:
        """Remove an empty folder."""
        os.rmdir(name, dir_fd=folder)
