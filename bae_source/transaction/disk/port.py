"""The port to the disk: the few calls of the operating system that writing uses, so that tests can make each one fail.

Invariants:
- nothing else in this package writes to the project, to the journal or to what is staged;
- every call takes a descriptor, or a name inside a folder that is open by descriptor; none follows a link;
- each call is one call of the system, tried once: a failed `fsync` is never repeated, since the second one would say
  that all is well although the data is gone.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Protocol

from bae_source.system.descriptors import SAFELY
from bae_source.transaction.disk import renames


class Disk(Protocol):
    """The calls of the writer to the operating system; each raises OSError as the call of that name in `os` does."""

    def open(self, name: str, flags: int, mode: int, folder: int | None) -> int:
        """Open `name` in `folder`; an absolute name where `folder` is None."""

    def close(self, file: int) -> None:
        """Close a descriptor."""

    def read(self, file: int, size: int) -> bytes:
        """Read up to `size` bytes."""

    def write(self, file: int, content: memoryview) -> int:
        """Write, and return how much was written."""

    def read_at(self, file: int, size: int, offset: int) -> bytes:
        """Read up to `size` bytes from a place in the file."""

    def write_at(self, file: int, content: memoryview, offset: int) -> int:
        """Write at a place in the file, and return how much was written."""

    def truncate(self, file: int, size: int) -> None:
        """Cut a file off."""

    def fsync(self, file: int) -> None:
        """Make a file or folder durable."""

    def write_out(self, file: int) -> None:
        """Start writing a file's content to the disk, see `start_writing`; nothing is durable by it."""

    def sync_content(self, file: int) -> None:
        """Make the content of a file durable, and of its description what is needed to read it."""

    def names(self, folder: int) -> list[str]:
        """List a folder."""

    def fstat(self, file: int) -> os.stat_result:
        """Describe an open file."""

    def lstat(self, name: str, folder: int) -> os.stat_result:
        """Describe `name` in `folder`, itself and not what it links to."""

    def readlink(self, name: str, folder: int) -> str:
        """Return the text of a link."""

    def access(self, name: str, folder: int) -> bool:
        """Return whether `name` in `folder` may be written."""

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

    def rename_new(self, source: str, target: str, source_folder: int, target_folder: int) -> None:
        """Rename to a name that must be free, see `renames`."""

    def exchange(self, source: str, target: str, source_folder: int, target_folder: int) -> None:
        """Exchange two files, see `renames`."""

    def unlink(self, name: str, folder: int) -> None:
        """Remove a file."""

    def mkdir(self, name: str, folder: int, mode: int) -> None:
        """Create a folder, with these permission bits but for those that the process's mask takes away."""

    def rmdir(self, name: str, folder: int) -> None:
        """Remove an empty folder."""


class RealDisk:
    """The operating system itself."""

    def open(self, name: str, flags: int, mode: int, folder: int | None) -> int:
        """Open `name` in `folder`, never following a link at its end, never waiting for a FIFO's other end."""
        return os.open(name, flags | SAFELY, mode, dir_fd=folder)

    def close(self, file: int) -> None:
        """Close a descriptor."""
        os.close(file)

    def read(self, file: int, size: int) -> bytes:
        """Read up to `size` bytes."""
        return os.read(file, size)

    def write(self, file: int, content: memoryview) -> int:
        """Write, and return how much was written."""
        return os.write(file, content)

    def read_at(self, file: int, size: int, offset: int) -> bytes:
        """Read up to `size` bytes from a place in the file."""
        return os.pread(file, size, offset)

    def write_at(self, file: int, content: memoryview, offset: int) -> int:
        """Write at a place in the file, and return how much was written."""
        return os.pwrite(file, content, offset)

    def truncate(self, file: int, size: int) -> None:
        """Cut a file off."""
        os.ftruncate(file, size)

    def fsync(self, file: int) -> None:
        """Make a file or folder durable; on macOS only this call reaches behind the drive's own cache."""
        if sys.platform == "darwin":
            import fcntl  # not on Windows

            fcntl.fcntl(file, fcntl.F_FULLFSYNC)
        else:
            os.fsync(file)

    def write_out(self, file: int) -> None:
        """Start writing a file's content to the disk, see `start_writing`; nothing is durable by it."""
        start_writing(file)

    def sync_content(self, file: int) -> None:
        """Make the content of a file durable, and of its description what is needed to read it."""
        if sys.platform == "darwin":
            import fcntl  # not on Windows

            fcntl.fcntl(file, fcntl.F_FULLFSYNC)
        else:
            os.fdatasync(file)

    def names(self, folder: int) -> list[str]:
        """List a folder."""
        return os.listdir(folder)

    def fstat(self, file: int) -> os.stat_result:
        """Describe an open file."""
        return os.fstat(file)

    def lstat(self, name: str, folder: int) -> os.stat_result:
        """Describe `name` in `folder`, itself and not what it links to."""
        return os.stat(name, dir_fd=folder, follow_symlinks=False)

    def readlink(self, name: str, folder: int) -> str:
        """Return the text of a link."""
        return os.readlink(name, dir_fd=folder)

    def access(self, name: str, folder: int) -> bool:
        """Return whether `name` in `folder` may be written."""
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

    def rename_new(self, source: str, target: str, source_folder: int, target_folder: int) -> None:
        """Rename to a name that must be free, see `renames`."""
        renames.rename_new(source, target, source_folder, target_folder)

    def exchange(self, source: str, target: str, source_folder: int, target_folder: int) -> None:
        """Exchange two files, see `renames`."""
        renames.exchange(source, target, source_folder, target_folder)

    def unlink(self, name: str, folder: int) -> None:
        """Remove a file."""
        os.unlink(name, dir_fd=folder)

    def mkdir(self, name: str, folder: int, mode: int) -> None:
        """Create a folder, with these permission bits but for those that the process's mask takes away."""
        os.mkdir(name, mode, dir_fd=folder)

    def rmdir(self, name: str, folder: int) -> None:
        """Remove an empty folder."""
        os.rmdir(name, dir_fd=folder)


# The call that has the system write a file to the disk, and does not wait for it, which Python does not offer.
#
# Linux has it as `sync_file_range`; it is looked up in the C library once, at the first use.
#
# Invariant: nothing is durable by it. Making the file durable then takes less time, and where the system
# has no such call, or does not take it, as much as without.

_WRITE = 2


def start_writing(file: int) -> None:
    """Start writing a file's content to the disk."""
    sync_call()(file, 0, 0, _WRITE)  # from its beginning to its end


@cache
def sync_call() -> Callable[[int, int, int, int], object]:
    """Return the system's call that begins to write a file to the disk; one that does nothing where it has none."""
    import ctypes  # 5 ms, which who only reads need not pay

    try:
        found = ctypes.CDLL(None).sync_file_range
    except (OSError, AttributeError):
        return lambda *_: None
    found.argtypes = (ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint)
    return found
