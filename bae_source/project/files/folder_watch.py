"""Which folders of a project may have changed, told by the kernel (inotify), so that nobody has to ask each of them.

Entries of folders are watched, not what is in files: a file may be written through another link, or in memory, without
an event. A folder has neither, so nothing in it comes or goes without one.

Invariants:
- what is not said to have changed is as it was; whatever casts a doubt on that means that any folder may have changed;
- only file systems are believed whose every change passes through this kernel (`_SOUND`);
- a folder is watched after those around it, up to the top of the file system, so no path leads elsewhere without an
  event; what is mounted, the process, its root and its mount namespace are compared each time;
- an error of the system is a doubt, and never reaches the caller.
"""

from __future__ import annotations

import ctypes
import os
import re
import select
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from struct import Struct

_SOUND = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "tmpfs"})
"""Not overlay, whose layers may change; not zfs, which can be rolled back; not what a network or a program serves."""
_FEWEST = 300
"""Folders; to ask fewer for their stamps takes a millisecond."""
_MOST, _MOST_WATCHES = 20_000, 8
"""Folders, and projects, of this process at a time; all of a user's watch 128 at once, and other programs want some."""
_WORTH = 8
"""How often nothing has to be asked for until that has saved what the beginning took."""
_LONG = 1_000
"""Requests; how long to do without what the system has refused."""

_ATTRIB, _MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x4, 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF = 0x400, 0x800
_UNMOUNT, _OVERFLOW, _IGNORED, _IS_FOLDER = 0x2000, 0x4000, 0x8000, 0x4000_0000
_ONLY_FOLDERS, _NO_LINKS = 0x0100_0000, 0x0200_0000
_GOING = _DELETE_SELF | _MOVE_SELF | _ONLY_FOLDERS | _NO_LINKS
_CHANGING = _GOING | _ATTRIB | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE
_DOUBTFUL = _DELETE_SELF | _MOVE_SELF | _UNMOUNT | _OVERFLOW | _IGNORED
_ESCAPED = re.compile(r"\\(\d{3})")
_EVENT = Struct("iIII")
_BUFFER = 1 << 18
_MOUNTS, _NAMESPACE = "/proc/thread-self/mountinfo", "/proc/thread-self/ns/mnt"
_LIMIT = "/proc/sys/fs/inotify/max_user_watches"

_taken: dict[int, int] = {}
"""How many folders this process watches, by descriptor."""


class FolderWatch:
    """Tells which folders of a project may have changed.

    It begins when it is asked, and anew some time after a doubt. Only one may ask at a time.

    Parameters:
        root: the project's root, absolute, links followed.
        fewest: so many folders are worth it.
    """

    def __init__(self, root: str, *, fewest: int = _FEWEST) -> None:
        self._root = root
        self._fewest = fewest
        self._folders: tuple[str, ...] | None = None
        self._paths: dict[int, str] = {}
        self._closed: set[str] = set()
        self._place: object = None
        self._events = self._mounts = -1
        self._quiet = self._rest = 0

    def changed(self, folders: tuple[str, ...]) -> Collection[str] | None:
        """Return which folders may have changed since this was asked last; None if any may have.

        After None, whoever asks all of them from then on misses nothing: what changes later is told, or doubted.

        Parameters:
            folders: paths below the root, "" for the root itself, an outer one before its inner ones.
        """
        watched, self._folders = self._folders, None  # who is interrupted has nothing to rely on
        try:
            if watched is not None:
                found = self._told(folders) if watched == folders else None
                if found is None:
                    self._doubt(max(1, _WORTH - self._quiet))  # the next walk may meet other folders
                else:
                    self._folders = folders
                    self._quiet += 1
                return found
            self.close()
            if self._rest:
                self._rest -= 1
            elif len(folders) >= self._fewest:
                self._begin(folders)
                self._folders = folders
        except (FileNotFoundError, NotADirectoryError):  # a folder that has just gone
            self._doubt(_WORTH)
        except (OSError, ValueError, AttributeError):  # no more watches, no inotify, no /proc
            self._doubt(_LONG)
        return None

    def close(self) -> None:
        """Let go of the kernel's queue; it is opened again when somebody asks."""
        self._folders = None
        events, mounts, self._events, self._mounts = self._events, self._mounts, -1, -1
        _taken.pop(events, None)
        for descriptor in (events, mounts):
            with suppress(OSError):
                os.close(descriptor)

    def __del__(self) -> None:
        """Let go of the queue of an engine that nobody closed."""
        self.close()

    def _doubt(self, rest: int) -> None:
        self.close()
        self._quiet, self._rest = 0, rest

    def _told(self, folders: tuple[str, ...]) -> Collection[str] | None:
        """Return the folders of which events came; None where that does not say everything."""
        if self._place != _place(self._root):
            return None
        poll = select.poll()
        poll.register(self._events, select.POLLIN)
        poll.register(self._mounts, select.POLLPRI)
        ready = poll.poll(0)
        if not ready:
            return self._closed
        if ready != [(self._events, select.POLLIN)]:
            return None
        changed, entries = set(self._closed), set()
        for number, mask, name in _events_of(self._events):
            folder = self._paths.get(number)
            if folder is None or mask & _DOUBTFUL:
                return None
            if name and mask & _ATTRIB:
                continue  # of what is in the folder and stays there
            if name and mask & _IS_FOLDER:
                entries.add(f"{folder}/{name}" if folder else name)
            changed.add(folder)
        return None if _may_be_among(entries, folders) else changed

    def _begin(self, folders: tuple[str, ...]) -> None:
        """Watch folders; raise OSError or ValueError where that cannot be done, or is not to be relied on."""
        room = min(int(_content(_LIMIT)) // 2, _MOST) - sum(_taken.values())
        if len(folders) > room or len(_taken) >= _MOST_WATCHES:
            raise ValueError("others want some as well")
        library = ctypes.PyDLL(None, use_errno=True)  # other threads do not run between calls
        add = library.inotify_add_watch
        add.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32)
        self._mounts = os.open(_MOUNTS, os.O_RDONLY | os.O_CLOEXEC)
        self._events = _done(library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        _taken[self._events] = len(folders)
        for around in (*_above(self._root), self._root):
            _done(add(self._events, os.fsencode(around), _GOING))
        self._place = _place(self._root)
        if not _is_sound(self._root, _content(self._mounts)):
            raise ValueError("what is mounted there may change by itself")
        self._add(folders, lambda path: _done(add(self._events, path, _CHANGING)))

    def _add(self, folders: tuple[str, ...], add: Callable[[bytes], int]) -> None:
        self._paths, self._closed = {}, set()
        met = set()
        lead = self._root.rstrip("/")
        for folder in folders:
            if folder and folder.rpartition("/")[0] not in met:
                raise ValueError("an outer folder is not watched")
            met.add(folder)
            try:
                number = add(os.fsencode(f"{lead}/{folder}"))
            except PermissionError:
                self._closed.add(folder)
            else:
                self._paths[number] = folder
        if len(self._paths) + len(self._closed) != len(folders):
            raise ValueError("a folder stands at two places")


def _events_of(queue: int) -> Iterator[tuple[int, int, str]]:
    """Yield the number of the watch, what happened, and the entry's name, of all that has happened."""
    while True:
        try:
            read = os.read(queue, _BUFFER)
        except BlockingIOError:
            return
        at = 0
        while at < len(read):
            number, mask, _, length = _EVENT.unpack_from(read, at)
            at += _EVENT.size + length
            yield number, mask, os.fsdecode(read[at - length : at].rstrip(b"\0"))


def _may_be_among(entries: Collection[str], folders: Collection[str]) -> bool:
    """Say whether any of some folders that came or went may be one of others, also where case makes no difference."""
    if not entries:
        return False
    folded = {each.casefold() for each in entries}
    return not all(map(str.isascii, entries)) or any(folder.casefold() in folded for folder in folders)


def _place(root: str) -> object:
    """Return what has to be the same, so that nothing but a move or a mount makes a path lead elsewhere."""
    found = map(os.stat, (root, "/", _NAMESPACE))
    return os.getpid(), os.geteuid(), os.getegid(), [(status.st_dev, status.st_ino) for status in found]


def _above(root: str) -> list[str]:
    """Return the folders above a root, the outermost first."""
    parts = root.rstrip("/").split("/")
    return ["/".join(parts[:count]) or "/" for count in range(1, len(parts))]


def _is_sound(root: str, mounts: str) -> bool:
    """Say whether the file systems at a root and below it are all believed.

    Parameters:
        mounts: the system's table; proc(5) has its fields.
    """
    own, inside = _mount_of(root), f"{root.rstrip('/')}/"
    kinds = {}
    for line in filter(None, mounts.split("\n")):
        number, _, _, _, point, *rest = line.split(" ")
        if number == own or f"{_ESCAPED.sub(_unescaped, point)}/".startswith(inside):
            kinds[number] = rest[rest.index("-") + 1]
    return own in kinds and _SOUND.issuperset(kinds.values())


def _mount_of(root: str) -> str:
    """Return the number of the mount that a folder lies on."""
    opened = os.open(root, os.O_PATH | os.O_CLOEXEC)
    try:
        return _content(f"/proc/thread-self/fdinfo/{opened}").partition("mnt_id:")[2].split()[0]
    finally:
        os.close(opened)


def _unescaped(escaped: re.Match[str]) -> str:
    return chr(int(escaped[1], 8))


def _content(path: str | int) -> str:
    """Return the content of a file of the system; a descriptor stays open."""
    with open(path, "rb", closefd=isinstance(path, str)) as file:
        return os.fsdecode(file.read())


def _done(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
