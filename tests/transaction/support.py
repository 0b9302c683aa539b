"""A small project on the disk, a loader that does as it is told, and a disk that fails when it is told."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bae_source.history.record.entry import Entry, Kind
from bae_source.history.record.history import History
from bae_source.model.changeset import ChangeSet, between
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile, Plan
from bae_source.transaction.commit.loading import Loader
from bae_source.transaction.commit.transaction import Committed, Transactions
from bae_source.transaction.disk.port import Disk, RealDisk
from benchmarks.crash.faults import replaced
from tests.state_folders import state_folders

NO_GIT = ""
PATH = os.environ["PATH"]


class Loads:
    """A loader that remembers what it was called for, and does what a test wants of it."""

    def __init__(
        self,
        on_load: Callable[[], Any] = lambda: None,
        on_written: Callable[[], Any] = lambda: None,
        on_roll_back: Callable[[], Any] = lambda: None,
    ) -> None:
        self.calls: list[str] = []
        self._on = {"load": on_load, "written": on_written, "roll_back": on_roll_back}

    def load(self) -> tuple[Notice, ...]:
        return self._called("load")

    def written(self) -> tuple[Notice, ...]:
        return self._called("written")

    def roll_back(self) -> None:
        self._called("roll_back")

    def _called(self, name: str) -> tuple[Notice, ...]:
        self.calls.append(name)
        return self._on[name]() or ()


class Project:
    """A project in a folder, and transactions on it.

    Parameters:
        history: what they hand their operations to, if it is not the project's own.
    """

    def __init__(
        self, root: Path, *, path: str = NO_GIT, disk: Disk | None = None, wait: float = 5.0, history: Any = None
    ) -> None:
        self.root = root
        self.disk = disk or RealDisk()
        root.mkdir(exist_ok=True)
        self.folders = state_folders(root)
        folders = self.folders
        self.history = History(folders.history, project=folders.project, search_path=path, state_id=lambda: folders.id)
        self._ids = iter(f"op_{number:04d}" for number in range(10_000))
        self._now = datetime(2026, 11, 21, 12, tzinfo=UTC)
        self.transactions = Transactions(
            root,
            folders=self.folders,
            history=history or self.history,
            clock=self._tick,
            new_id=lambda: next(self._ids),
            disk=self.disk,
            wait=wait,
        )

    def _tick(self) -> datetime:
        self._now += timedelta(seconds=1)
        return self._now

    def write(self, path: str, content: str | bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def content(self, path: str) -> bytes | None:
        file = self.root / path
        return file.read_bytes() if file.exists() else None

    def commit(self, new: Mapping[str, bytes | None], **more: Any) -> Committed:
        """Make files what `new` says, planned on what is there now."""
        old = {path: self.content(path) for path in new}
        return self.make(between(old, new), **more)

    def make(
        self,
        changes: ChangeSet,
        *,
        loader: Loader | None = None,
        meanwhile: Callable[[], object] | None = None,
        who: str = "me",
        kind: Kind = "change",
        of: tuple[str, ...] = (),
        summary: str = "edit",
    ) -> Committed:
        """Make a change.

        Parameters:
            meanwhile: is done when every target has been replaced, and the change is not committed yet.
        """
        with nullcontext() if meanwhile is None else replaced(self.disk, meanwhile):
            return self.transactions.commit(
                plan(changes, summary),
                loader=loader or Loads(),
                who=who,
                why="",
                request={"verb": kind},
                kind=kind,
                of=of,
            )


def plan(changes: ChangeSet, summary: str = "edit") -> Plan:
    modules = tuple(
        ModuleFile(name=file.path.removesuffix(".py").replace("/", "."), path=file.path)
        for file in changes.files
        if file.path.endswith(".py")
    )
    return Plan(changes=changes, changed=(), modules=modules, summary=summary)


def ids(entries: Sequence[Entry]) -> list[str]:
    return [entry.id for entry in entries]


def picture(root: Path) -> dict[str, tuple[object, ...]]:
    """Everything below a folder: kind, mode, owner, content, time; without our lock, history, and state folders."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if name.startswith(".bae-source") and (
            "history.git" in name or "pending" in name or not path.is_file() or path.name in _OURS
        ):
            continue
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            found[name] = ("link", str(path.readlink()))
        elif stat.S_ISDIR(status.st_mode):
            found[name] = ("folder", stat.S_IMODE(status.st_mode))
        else:
            owner = (status.st_uid, status.st_gid)
            found[name] = ("file", stat.S_IMODE(status.st_mode), owner, path.read_bytes(), status.st_mtime_ns)
    return found


_OURS = ("id", "lock", "journal", "history.lock", ".gitignore")


class FaultyDisk(RealDisk):
    """The real disk until call number `at`, counted from 1, of the calls named in `only`; that one fails.

    With `forever`, all those after it fail too. Nothing is really made durable: that would take most of the time.
    """

    def __init__(self, at: int, error: int, *, forever: bool = False, only: frozenset[str] | None = None) -> None:
        self.at = at
        self.error = error
        self.forever = forever
        self.only = only
        self.calls: list[str] = []
        self.fired = False

    def fsync(self, file: int) -> None:
        pass

    def sync_content(self, file: int) -> None:
        pass

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name not in _CALLS or (self.only is not None and name not in self.only):
            return found

        def call(*arguments: Any) -> Any:
            self.calls.append(name)
            number = len(self.calls)
            if number == self.at or (self.forever and number > self.at):
                self.fired = True
                if name == "close":
                    found(*arguments)
                raise OSError(self.error, os.strerror(self.error))
            return found(*arguments)

        return call


_CALLS = frozenset(name for name in vars(RealDisk) if not name.startswith("_"))
