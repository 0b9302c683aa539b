"""Remove every trace of us from a project: what we keep beside its repository, and what we keep in it.

Invariants:
- nothing of the project itself is touched, and nothing of its repository but our own folder;
- state that is not ours (`state.binding`) is left, unless it is what shall go;
- nothing is removed while a transaction runs, or while one that a crash left is not taken back;
- old content of the project that recovery kept for a person is the person's: it is never removed;
- foreign files in our folders stay, and so does a link in their place, and its target; both are reported;
- other projects of the same repository keep their history and their plans.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from bae_source.errors import HistoryError, Refused
from bae_source.history.record.history import History
from bae_source.model.outcome import Notice
from bae_source.state.binding import ID, IGNORE, Place, Standing
from bae_source.state.folders import StateFolders, foreign
from bae_source.state.lock import busy, is_held_now

_HISTORY = "the history"
_PLANS = "the drafts and proposals"
_KINDS = (
    ("facts-", "the cache"),
    ("telemetry.", "the telemetry"),
    ("history.", _HISTORY),
    ("pending", _HISTORY),
    ("journal", "the journal"),
    ("staging", "the journal"),
    ("lock", "the lock"),
    ("shadow", "copies of the project that changes were judged in"),
    ("before", "old text of the engine"),
    ("tests", "the runs of tests"),
    ("plans-", _PLANS),
    ("ledger", "the ledger"),
)
_MARKS = "marks of its folders"
_MARKED = (IGNORE, ID, "kept")
_MOST_NAMED = 10
_ORDER = (*dict.fromkeys(label for _, label in _KINDS), _MARKS)


class Plans(Protocol):
    """The kept plans of the projects that share a folder of state."""

    def is_shared(self) -> bool:
        """Return whether other projects have any that has to stay."""

    def is_used(self) -> bool:
        """Return whether this project has any."""

    def clear(self) -> None:
        """Remove those of this project."""


def traces(folders: StateFolders, history: History, plans: Plans) -> tuple[str, ...]:
    """Return our files here, as pieces of a sentence; none if there are none.

    Raises:
        Refused: `unsafe_change`, if old content of the project lies among it.
    """
    ours = _folders(folders)
    _check_kept([folder / folders.kept.name for folder in ours])
    is_shared = _is_shared(folders, history, plans)
    entries = [each for folder in ours for each in _entries(folder)]
    going = [each for each in entries if not (is_shared and each.parent == folders.base)]
    found = {kind for each in going if (kind := _kind(each.name)) is not None}
    if found <= {_MARKS} and any(_kind(each.name) is None for each in entries):
        return ()  # the marks stay with what is not ours
    counted = _counted(history) if is_shared or _HISTORY in found else ""
    if is_shared:
        found = found - {_HISTORY} | ({_HISTORY} if counted else set()) | ({_PLANS} if plans.is_used() else set())
    if not found and any(not any(_entries(folder)) for folder in ours):
        return ("empty folders",)
    named = sorted(found, key=_ORDER.index)
    return tuple(f"{kind} ({counted})" if kind == _HISTORY and counted else kind for kind in named)


def left(folders: StateFolders) -> tuple[Notice, ...]:
    """Return a notice of the foreign files in our folders, which stay."""
    lines: list[str] = []
    for place, standing in folders.standings().items():
        if standing is Standing.NO_FOLDER and place.is_symlink():
            lines.append(f"{place.name} is a link, and was left with what it leads to.")
        elif standing is Standing.FOREIGN:
            lines.append(f"{place.name} was not made here by you, and was left; forget --foreign removes it.")
        elif standing is Standing.OTHERS:
            lines.append(f"{place.name} belongs to another user, and was left.")
    for folder in _folders(folders):
        if names := [entry.name for entry in _entries(folder) if _kind(entry.name) is None]:
            more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
            shown = ", ".join(names[:_MOST_NAMED])
            lines.append(f"{folder.name} holds what is not ours, and was left: {shown}{more}.")
    return (Notice("left", " ".join(lines)),) if lines else ()


def forget(
    folders: StateFolders, history: History, plans: Plans, lock: AbstractContextManager[None]
) -> tuple[str, ...]:
    """Remove them, and say what was removed.

    Parameters:
        lock: keeps transactions out, and takes back what a crash left.

    Raises:
        Refused: `busy` while a transaction runs; `unsafe_change`, if old content of the project lies among it.
        HistoryError: nothing was removed: whether other projects have operations in the history is unknown.
        OSError: something could not be removed; the rest may be gone.
    """
    if not traces(folders, history, plans):
        return ()
    folders.check()
    with lock:
        found = traces(folders, history, plans)
        is_shared = _is_shared(folders, history, plans)
        if is_shared:
            history.prune(lambda _: False)
            plans.clear()
        for place in folders.places():
            if place.standing() is Standing.OURS and not (is_shared and place.folder == folders.base):
                _remove(place)
    return found


def forget_foreign(folders: StateFolders, *, dry_run: bool) -> tuple[str, ...]:
    """Remove what stands in the place of our state and was not made here by this user, and say what was removed.

    A link is removed, and what it leads to stays.

    Raises:
        Refused: `busy` where another process uses it; `unsafe_change`, if old content of a project lies among it;
            `forbidden` where it is another user's.
        OSError: something could not be removed; the rest may be gone.
    """
    removed: list[str] = []
    for place in folders.places():
        standing = place.standing()
        if standing is Standing.OTHERS:
            raise foreign(standing, place.folder)
        if standing not in (Standing.FOREIGN, Standing.NO_FOLDER):
            continue
        removed.append(_foreign(place.folder))
        if not dry_run:
            place.folder.unlink() if standing is Standing.NO_FOLDER else shutil.rmtree(place.folder)
    return tuple(removed)


def _foreign(folder: Path) -> str:
    """Return the sentence on foreign state, after checking that nothing is lost with it and no process uses it."""
    if folder.is_symlink() or not folder.is_dir():
        return f"{folder.name} ({'a link' if folder.is_symlink() else 'a file'})"
    if is_held_now(folder / "lock"):
        raise busy(folder / "lock", 0)
    _check_kept([folder / "kept"])
    return f"{folder.name} ({sum(1 for _ in _below(folder)):,} files)"


def _folders(folders: StateFolders) -> list[Path]:
    """Return our folders, as far as they are there and ours."""
    return [place.folder for place in folders.places() if place.standing() is Standing.OURS]


def _entries(folder: Path) -> list[Path]:
    """Return the files of a folder, the lock last: a process that waits for it begins once the rest is gone."""
    return [folder / name for name in sorted(os.listdir(folder), key=lambda name: (name == "lock", name))]


def _kind(name: str) -> str | None:
    """Return the label of a file or folder in a folder of ours; None where it is not ours."""
    if name in _MARKED:
        return _MARKS
    return next(
        (label for start, label in _KINDS if name == start or (start[-1] in ".-" and name.startswith(start))), None
    )


def _is_shared(folders: StateFolders, history: History, plans: Plans) -> bool:
    """Return whether other projects of the repository have operations in the same history, or plans beside it."""
    return folders.base != folders.local and (history.is_shared() or plans.is_shared())


def _check_kept(places: Iterable[Path]) -> None:
    """Check that no old content of the project lies in these folders."""
    kept = [path for place in places for path in _below(place)]
    if kept:
        place = kept[0].parent
        raise Refused(
            "unsafe_change",
            f"Recovery kept {len(kept)} old files of this project for you; they are nowhere else.",
            hints=[f"Look at them, and move them out of {place}; then forget again."],
            details={"kept": str(place)},
        )


def _remove(place: Place) -> None:
    """Remove what is ours of a folder of ours, and the folder; where something else is in it, it stays ours."""
    folder = place.folder
    entries = _entries(folder)
    marks = [path for path in entries if path.name in (IGNORE, ID)]
    for path in entries:
        if _kind(path.name) is None or path in marks:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    if len(os.listdir(folder)) == len(marks):
        for path in marks:
            path.unlink(missing_ok=True)
        folder.rmdir()
        place.release()


def _counted(history: History) -> str:
    try:
        count = sum(1 for _ in history.walk())
        return f"{count:,} operation{'' if count == 1 else 's'}" if count else ""
    except HistoryError:
        return ""


def _below(place: Path) -> Iterator[Path]:
    """Yield the files of a folder, and of those in it, or the file itself; a link is one."""
    if place.is_symlink() or place.is_file():
        yield place
        return
    for top, _, names in os.walk(place):
        yield from (Path(top) / name for name in names)
