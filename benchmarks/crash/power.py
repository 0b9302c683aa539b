"""Power cuts, simulated: every call of a change is recorded, and replayed up to each of them on a model of a disk.

What the model promises is less than any real file system does:

- content that was written to a file and not made durable is there, is not, or is there in some sectors;
- a name that came or went in a folder is so after a power cut, or is not, as long as the folder has not been made
  durable: each change of a folder by itself, so that of a rename from one folder to another a half may be there;
- what was made durable stays.

What the disk may hold then is laid out as real files, recovered by the real recovery, and judged.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from bae_source.errors import TransactionError
from bae_source.transaction.disk.port import RealDisk
from benchmarks.crash.arena import Arena
from benchmarks.crash.calls import failed
from benchmarks.crash.scenario import Scenario, bind, commit, lay_out, transactions

STATE = ".bae-source"
_SECTOR = 512
_WAYS = 4


class Event(Struct, frozen=True, kw_only=True):
    """One call that changed something.

    Parameters:
        kind: the call.
        path: what it was about, relative to the project.
        handle: number of the opening, for what works on an open file.
        other: the second path of a rename.
        content, offset: of a write; the offset of one that appends is -1.
    """

    kind: str
    path: str = ""
    handle: int = 0
    other: str = ""
    content: bytes = b""
    offset: int = -1


class TracingDisk(RealDisk):
    """The real disk, which keeps a list of what was changed; nothing is really made durable."""

    def __init__(self, root: Path) -> None:
        self.events: list[Event] = []
        self._root = os.path.realpath(root)
        self._places: dict[int, tuple[int, str]] = {}
        self._handles = 0

    def open(self, name: str, flags: int, mode: int, folder: int | None) -> int:
        """Open, and note whether that created a file."""
        path = self._path(name, folder)
        is_new = bool(flags & os.O_CREAT) and not os.path.lexists(f"{self._root}/{path}")
        file = super().open(name, flags, mode, folder)
        self._handles += 1
        self._places[file] = (self._handles, path)
        self.events.append(Event(kind="create" if is_new else "open", path=path, handle=self._handles))
        return file

    def write(self, file: int, content: memoryview) -> int:
        """Write, and note it."""
        written = super().write(file, content)
        self._note("write", file, bytes(content[:written]))
        return written

    def write_at(self, file: int, content: memoryview, offset: int) -> int:
        """Write, and note it."""
        written = super().write_at(file, content, offset)
        self._note("write", file, bytes(content[:written]), offset)
        return written

    def truncate(self, file: int, size: int) -> None:
        """Cut off, and note it."""
        super().truncate(file, size)
        self._note("truncate", file, offset=size)

    def fsync(self, file: int) -> None:
        """Note it."""
        self._note("sync", file)

    def sync_content(self, file: int) -> None:
        """Note it."""
        self._note("sync", file)

    def rename(self, source: str, target: str, source_folder: int, target_folder: int) -> None:
        """Rename, and note it."""
        super().rename(source, target, source_folder, target_folder)
        self._note_names("rename", source, target, source_folder, target_folder)

    def rename_new(self, source: str, target: str, source_folder: int, target_folder: int) -> None:
        """Rename, and note it."""
        super().rename_new(source, target, source_folder, target_folder)
        self._note_names("rename", source, target, source_folder, target_folder)

    def exchange(self, source: str, target: str, source_folder: int, target_folder: int) -> None:
        """Exchange, and note it."""
        super().exchange(source, target, source_folder, target_folder)
        self._note_names("exchange", source, target, source_folder, target_folder)

    def unlink(self, name: str, folder: int) -> None:
        """Remove, and note it."""
        super().unlink(name, folder)
        self.events.append(Event(kind="unlink", path=self._path(name, folder)))

    def mkdir(self, name: str, folder: int, mode: int) -> None:
        """Make a folder, and note it."""
        super().mkdir(name, folder, mode)
        self.events.append(Event(kind="mkdir", path=self._path(name, folder)))

    def rmdir(self, name: str, folder: int) -> None:
        """Remove a folder, and note it."""
        super().rmdir(name, folder)
        self.events.append(Event(kind="unlink", path=self._path(name, folder)))

    def _note(self, kind: str, file: int, content: bytes = b"", offset: int = -1) -> None:
        handle, path = self._places[file]
        self.events.append(Event(kind=kind, path=path, handle=handle, content=content, offset=offset))

    def _note_names(self, kind: str, source: str, target: str, source_folder: int, target_folder: int) -> None:
        first, second = self._path(source, source_folder), self._path(target, target_folder)
        self.events.append(Event(kind=kind, path=first, other=second))

    def _path(self, name: str, folder: int | None) -> str:
        place = name if folder is None else f"{self._root}/{self._places[folder][1]}/{name}"
        return os.path.relpath(place, self._root)


class OtherDisk(TracingDisk):
    """A disk whose files are none of those that the journal speaks of: what is laid out anew may get their numbers."""

    def fstat(self, file: int) -> os.stat_result:
        """Describe an open file, as one of another device."""
        return _elsewhere(super().fstat(file))

    def lstat(self, name: str, folder: int) -> os.stat_result:
        """Describe a file, as one of another device."""
        return _elsewhere(super().lstat(name, folder))


class Found(Struct, frozen=True, kw_only=True):
    """What a power cut leaves.

    Parameters:
        contents: by path; None for a folder.
        files: what file a path is a name of; one file may have two names then.
    """

    contents: dict[str, bytes | None]
    files: dict[str, int]


class _File:
    """A file of the model: what a program sees in it, what is durable, and how far it has been written."""

    def __init__(self, content: bytes) -> None:
        self.seen = bytearray(content)
        self.durable = content
        self.position = 0


Node = _File | None
"""A file, or None for a folder."""


class Storage:
    """The model: names and files as a program sees them, and as they would be found after a power cut.

    Parameters:
        found: what is there and durable.
    """

    def __init__(self, found: Found) -> None:
        nodes = {found.files[path]: _File(content) for path, content in found.contents.items() if content is not None}
        self._seen: dict[str, Node] = {path: nodes[number] for path, number in found.files.items()}
        for path in found.contents:
            self._seen |= dict.fromkeys(_above(path))
        self._seen |= {path: None for path, content in found.contents.items() if content is None}
        self._seen |= dict.fromkeys((STATE, f"{STATE}/staging", "."))
        self._durable = dict(self._seen)
        self._loose: list[tuple[str, dict[str, Node | str]]] = []
        self._open: dict[int, Node] = {}

    def play(self, event: Event) -> None:
        """Let an event happen."""
        match event.kind:
            case "open":
                self._open[event.handle] = self._seen.get(event.path)
                return
            case "create":
                self._open[event.handle] = file = _File(b"")
                self._change({event.path: file})
            case "write":
                self._write(event)
            case "truncate":
                del self._file(event).seen[event.offset :]
            case "sync":
                self._sync(event)
            case "mkdir":
                self._change({event.path: None})
            case "unlink":
                self._change({event.path: _GONE})
            case "rename":
                self._change({event.path: _GONE, event.other: self._seen[event.path]})
            case "exchange":
                self._change({event.path: self._seen[event.other], event.other: self._seen[event.path]})

    def after_cut(self, chance: random.Random | None, *, names: bool) -> Found:
        """Return what may be found after a power cut.

        Parameters:
            chance: says what of all that is not durable is there; if None, no content is.
            names: whether all names are as last seen, if `chance` is None.
        """
        found = dict(self._durable)
        for _, changed in self._loose:
            if names if chance is None else chance.random() < 0.5:
                _apply(found, changed)
        there = {path: node for path, node in found.items() if all(above in found for above in _above(path))}
        nodes = {id(node): node for node in there.values() if node is not None}
        contents = {number: _content(node, chance) for number, node in nodes.items()}
        return Found(
            contents={path: None if node is None else contents[id(node)] for path, node in there.items()},
            files={path: id(node) for path, node in there.items() if node is not None},
        )

    def _change(self, changed: dict[str, Node | str]) -> None:
        """Change names; what lies in one folder changes together, what lies in two by itself."""
        _apply(self._seen, changed)
        folders: dict[str, dict[str, Node | str]] = {}
        for path, node in changed.items():
            folders.setdefault(path.rpartition("/")[0] or ".", {})[path] = node
        self._loose += folders.items()

    def _write(self, event: Event) -> None:
        file = self._file(event)
        start = file.position if event.offset < 0 else event.offset
        file.seen[start : start + len(event.content)] = event.content
        file.position = start + len(event.content)

    def _sync(self, event: Event) -> None:
        node = self._open[event.handle]
        if node is not None:
            node.durable = bytes(node.seen)
            return
        for folder, changed in self._loose:
            if folder == event.path:
                _apply(self._durable, changed)
        self._loose = [(folder, changed) for folder, changed in self._loose if folder != event.path]

    def _file(self, event: Event) -> _File:
        node = self._open[event.handle]
        assert node is not None
        return node


_GONE = "gone"


def cut_everywhere(
    arena: Arena,
    made: Scenario,
    name: str,
    chance: random.Random,
    *,
    rolls_back: bool = False,
    share: float = 1.0,
) -> int:
    """Cut the power after each call of a change, in several ways, and recover; return how many trials it took.

    Parameters:
        rolls_back: whether the change fails once it is written, so that its rollback is cut short as well.
        share: how many of the calls to try.
    """
    events = _recorded(arena, made, failed if rolls_back else None)
    end = ("before" if rolls_back else "after",)
    decided = 0 if rolls_back and not made.is_single else _decided(events, b"open" if rolls_back else b"committed")
    storage, trials = Storage(_as_found(made.before)), 0
    for number, event in enumerate(events, 1):
        storage.play(event)
        if event.kind == "open" or chance.random() > share:
            continue
        allowed = end if number >= decided else ("before", "after")
        for found in _ways(storage, chance):
            trials += 1
            _lay_out(arena.taken(), found)
            about = f"{name}: power cut after call {number}, {event.kind} {event.path}"
            _recover(arena, found, chance)
            arena.recover(OtherDisk(arena.root))
            with transactions(arena.root).locked():  # the next change also removes names that came back from the dead
                arena.judge(made, about, allowed=allowed)
    return trials


def _recover(arena: Arena, found: Found, chance: random.Random) -> None:
    """Recover, or have the power cut in the middle of that as well."""
    if chance.random() < 0.5:
        return
    disk = OtherDisk(arena.root)
    transactions(arena.root, disk).recover()
    storage = Storage(found)
    for event in disk.events[: chance.randrange(len(disk.events) + 1)]:
        storage.play(event)
    _lay_out(arena.root, storage.after_cut(chance, names=False))


def _recorded(arena: Arena, made: Scenario, meanwhile: Callable[[], object] | None) -> list[Event]:
    root = arena.taken()
    lay_out(root, made.before)
    bind(root)
    (root / STATE / "staging").mkdir(exist_ok=True)
    disk = TracingDisk(root)
    with suppress(TransactionError):
        commit(root, made, disk, meanwhile)
    return disk.events


def _decided(events: list[Event], state: bytes) -> int:
    """Return the number of the call after which there is one end: the journal's state is durable, or needs not be."""
    journal = [(n, event) for n, event in enumerate(events, 1) if event.path == f"{STATE}/journal"]
    heads = ((n, event.content.split(b"\n")[1:2]) for n, event in journal if event.kind == "write")
    written = max(n for n, found in heads if found == [state])
    return min((n for n, event in journal if event.kind == "sync" and n > written), default=written)


def _elsewhere(status: os.stat_result) -> os.stat_result:
    fields = list(status)
    fields[2] += 1  # the device
    times = {name: getattr(status, name) for name in ("st_atime_ns", "st_mtime_ns", "st_ctime_ns")}
    return os.stat_result(fields, times)


def _as_found(files: dict[str, bytes]) -> Found:
    return Found(contents=dict(files), files={path: number for number, path in enumerate(files)})


def _ways(storage: Storage, chance: random.Random) -> Iterator[Found]:
    yield storage.after_cut(None, names=False)
    yield storage.after_cut(None, names=True)
    for _ in range(_WAYS):
        yield storage.after_cut(chance, names=False)


def _content(file: _File, chance: random.Random | None) -> bytes:
    """Return what may be found in a file: sectors of what was written and of what is durable."""
    seen = bytes(file.seen)
    if chance is None or seen == file.durable:
        return file.durable
    way = chance.randrange(3)
    if way < 2:
        return (file.durable, seen)[way]
    size = chance.choice((len(seen), len(file.durable)))
    both = (seen.ljust(size, b"\0"), file.durable.ljust(size, b"\0"))
    sectors = (chance.choice(both)[start : start + _SECTOR] for start in range(0, size, _SECTOR))
    return b"".join(sectors)[:size]


def _apply(names: dict[str, Node], changed: dict[str, Node | str]) -> None:
    for path, node in changed.items():
        if isinstance(node, str):
            names.pop(path, None)
        else:
            names[path] = node


def _above(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:length]) for length in range(1, len(parts))]


def _lay_out(root: Path, found: Found) -> None:
    first: dict[int, str] = {}
    for path, number in found.files.items():
        first.setdefault(number, path)
    contents = {path: content for path, content in found.contents.items() if content is not None}
    lay_out(root, {path: content for path, content in contents.items() if first[found.files[path]] == path})
    for path, content in found.contents.items():
        if content is None:
            (root / path).mkdir(parents=True, exist_ok=True)
    for path in contents:
        if first[found.files[path]] != path:
            (root / path).hardlink_to(root / first[found.files[path]])
    bind(root)
