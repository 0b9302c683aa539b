"""A look at what the writing half has on the disk, for whoever asks whether all is well: nothing is written.

    examined = examine(folders, search_path)

Invariants:
- nothing is created, recovered, recorded or waited for; of the project's lock a shared one is tried for a moment;
- whatever is found, damaged or not ours, is told and never raised.
"""

from __future__ import annotations

import os
import shlex
import shutil
import stat
from pathlib import Path

from msgspec import Struct, structs

from bae_source.history.record.git import HistoryUnavailable, Repository
from bae_source.history.record.history import HISTORY_LOCK
from bae_source.history.record.pending import Pending
from bae_source.history.record.stream import entries_of
from bae_source.state.folders import StateFolders
from bae_source.state.journal_head import NAME
from bae_source.system.descriptors import HAS_LOCKS, SAFELY
from bae_source.transaction.commit.journal import Foreign, Journal, Record, State, Unreadable
from bae_source.transaction.commit.lock import busy, is_held_now
from bae_source.transaction.disk.port import RealDisk

_LOCKLESS = "cannot be locked, since this system or its file system has no locks"


class UnderWay(Struct, frozen=True, kw_only=True):
    """A transaction that stands in the journal.

    Parameters:
        operation_id, summary: of it; empty where the journal cannot be read.
        committed: whether it is made, and only its traces are left; None where its file alone tells.
        problem: why the journal cannot be read.
    """

    operation_id: str = ""
    summary: str = ""
    committed: bool | None = False
    problem: str = ""


class Past(Struct, frozen=True, kw_only=True):
    """What the history holds.

    Parameters:
        git: the program; None where there is none.
        operations: how many, of all projects of the repository; None where nobody can tell.
        newest: the newest of them; empty where there is none.
        bytes: what they take on the disk.
        waiting: how many are made and not recorded yet.
        problem, hint: why it cannot be read, and what to do.
    """

    git: str | None
    operations: int | None = None
    newest: str = ""
    bytes: int = 0
    waiting: int = 0
    problem: str = ""
    hint: str = ""


class Examined(Struct, frozen=True, kw_only=True):
    """What was found.

    Parameters:
        obstacles: files and folders of ours that are not what they should be, and what is wrong with each.
        held: whether a process holds the project's lock now.
        holder: which one; None where that is not known.
        under_way: what stands in the journal; None for nothing.
        journal: where it lies.
        past: the history.
        kept: how many files recovery kept for a person.
    """

    obstacles: dict[Path, str]
    held: bool
    holder: int | None
    under_way: UnderWay | None
    journal: Path
    past: Past
    kept: int = 0


def examine(folders: StateFolders, search_path: str) -> Examined:
    """Look at lock, journal, history and what was kept.

    Parameters:
        search_path: where git is looked for, as in `PATH`.
    """
    if folders.id is None:  # nothing in it counts, whatever it says
        git = shutil.which("git", path=search_path)
        past = Past(git=git, operations=0)
        lockless = {} if HAS_LOCKS else {folders.lock: _LOCKLESS}
        return Examined(
            obstacles=lockless, held=False, holder=None, under_way=None, journal=folders.base / NAME, past=past
        )
    held = is_held_now(folders.lock)
    lockless = {folders.lock: _LOCKLESS} if held is None else {}
    return Examined(
        obstacles=_obstacles(folders) | lockless,
        held=bool(held),
        holder=busy(folders.lock, 0).details["pid"] if held else None,
        under_way=_under_way(folders),
        journal=folders.base / NAME,
        past=_past(folders, search_path),
        kept=sum(len(files) for _, _, files in os.walk(folders.kept)),
    )


def _obstacles(folders: StateFolders) -> dict[Path, str]:
    """Return what keeps changes from being made or recorded; that the journal is none is told with what it says."""
    journal = folders.base / NAME
    files = dict.fromkeys((journal, folders.lock, folders.base / HISTORY_LOCK), stat.S_IFREG)
    found: dict[Path, str] = {}
    for place, kind in (files | dict.fromkeys((folders.staging, folders.pending), stat.S_IFDIR)).items():
        there = _kind(place)
        if there not in (kind, None):
            found |= {place: "is not what we keep under that name"} if place != journal else {}
        elif there is not None and not os.access(place, os.R_OK | os.W_OK):
            found[place] = "cannot be read and written"
    return found


def _kind(path: Path) -> int | None:
    """Return what kind of thing stands at a path, itself and not what it links to; None for nothing that we may see."""
    try:
        return stat.S_IFMT(path.lstat().st_mode)
    except OSError:
        return None


def _under_way(folders: StateFolders) -> UnderWay | None:
    folder = folders.base
    journal = folder / NAME
    if os.path.lexists(journal) and not journal.is_file():
        return UnderWay(problem="it is no file")
    if folders.is_idle():
        return None
    try:
        state, record = _read(folder, folders.id or "")
    except (Unreadable, Foreign):
        return UnderWay(problem="it is damaged, or a newer version wrote it")
    except OSError as error:
        return UnderWay(problem=error.strerror or type(error).__name__)
    if state is State.IDLE or record is None:
        return None
    committed = None if state in (State.SINGLE, State.JUDGED) else state is not State.OPEN
    return UnderWay(operation_id=record.entry.id, summary=record.entry.summary, committed=committed)


def _read(folder: Path, state_id: str) -> tuple[State, Record | None]:
    descriptor = os.open(folder / NAME, os.O_RDONLY | SAFELY)
    try:
        return Journal(descriptor, folder, RealDisk(), state_id).read()
    finally:
        os.close(descriptor)


def _past(folders: StateFolders, search_path: str) -> Past:
    git = shutil.which("git", path=search_path)
    places = (folders.history, folders.history.with_suffix(".1.git"))
    found = [
        each
        for each in (Repository(place, search_path, lambda: folders.id) for place in places)
        if os.path.lexists(each.folder)
    ]
    size = sum(sum(each.packs.values()) for each in found)
    waiting = len(Pending(folders.pending, lambda: folders.id).names())
    past = Past(git=git, bytes=size, waiting=waiting)
    try:
        if strange := [shlex.quote(str(each.folder)) for each in found if not each.exists]:
            hint = f"mv {strange[0]} {strange[0]}.moved"
            return structs.replace(past, problem="it is no repository of ours", hint=hint)
        operations = sum(each.count() for each in found)
        return structs.replace(past, operations=operations, newest=_newest(found) if git else "")
    except HistoryUnavailable as error:
        return structs.replace(past, problem=error.message, hint=error.hint)
    except OSError as error:
        hint = f"ls -lR {shlex.quote(str(folders.history))}"
        return structs.replace(past, problem=error.strerror or type(error).__name__, hint=hint)


def _newest(found: list[Repository]) -> str:
    for repository in found:
        if repository.tip() is not None:
            for _, _, entry in entries_of(repository.log(limit=1)):
                return f"{entry.id} at {entry.when}"
    return ""
