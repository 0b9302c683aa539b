"""Remove every trace of us from a project: what we keep beside its repository, and what we keep in it.

Invariants:
- nothing of the project itself is touched, and nothing of its repository but our own folder;
- nothing is removed while a transaction runs, or while one that a crash left is not taken back;
- old content of the project that recovery kept for a person is the person's: it is never removed;
- other projects of the same repository keep their history.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from bae_source.errors import HistoryError, Refused
from bae_source.state.folders import StateFolders
from bae_source.transaction.history import History

_KINDS = (
    ("facts", "the cache"),
    ("telemetry", "the telemetry"),
    ("history", "the history"),
    ("pending", "the history"),
    ("journal", "the journal"),
    ("staging", "the journal"),
    ("lock", "the lock"),
    ("proposals", "the proposals"),
    ("ledger", "the ledger"),
)
_MARKS = "marks of its folders"
_ORDER = (*dict.fromkeys(told for _, told in _KINDS), _MARKS)


def traces(folders: StateFolders, history: History) -> tuple[str, ...]:
    """Say what there is of us, as pieces of a sentence; nothing if there is nothing.

    Raises:
        Refused: `unsafe_change`, if old content of the project lies among it.
    """
    kept = sorted(path.name for path in _below(folders.kept))
    if kept:
        raise Refused(
            "unsafe_change",
            f"Recovery kept {len(kept)} old files of this project for you; they are nowhere else.",
            hints=[f"Look at them, and move them out of {folders.kept}; then forget again."],
            details={"kept": str(folders.kept)},
        )
    found: dict[str, int] = {}
    for folder in dict.fromkeys((folders.base, folders.local)):
        for path in _below(folder):
            name = path.relative_to(folder).parts[0]
            kind = next((told for start, told in _KINDS if name.startswith(start)), _MARKS)
            found[kind] = found.get(kind, 0) + _size(path)
    if not found and not any(folder.exists() for folder in (folders.base, folders.local)):
        return ()
    counted = _counted(history) if "the history" in found else ""
    return tuple(
        f"{kind} ({counted}{_told(size)})" if kind == "the history" else f"{kind} ({_told(size)})"
        for kind, size in sorted(found.items(), key=lambda each: _ORDER.index(each[0]))
    ) or ("empty folders",)


def forget(folders: StateFolders, history: History, held: AbstractContextManager[None]) -> tuple[str, ...]:
    """Remove them, and say what was removed.

    Parameters:
        held: keeps transactions out, and takes back what a crash left.

    Raises:
        Refused: `busy` while a transaction runs; `unsafe_change`, if old content of the project lies among it.
        HistoryError: nobody can tell whether other projects have operations in the history; nothing was removed.
        OSError: something could not be removed; the rest may be gone.
    """
    if not any(folder.exists() for folder in (folders.base, folders.local)):
        return ()
    with held:
        found = traces(folders, history)
        if folders.base != folders.local and _is_shared(folders, history):
            history.prune(lambda _: False)
        else:
            _remove(folders.base)
        _remove(folders.local)
    return found


def _is_shared(folders: StateFolders, history: History) -> bool:
    """Say whether other projects of the repository have operations in the same history."""
    return folders.history.exists() and history.is_shared()


def _remove(folder: Path) -> None:
    """Remove a folder of ours, the lock last: who waits for it must not begin before the rest is gone."""
    if not folder.is_dir() or folder.is_symlink():
        return
    for name in sorted(os.listdir(folder), key=lambda name: (name == "lock", name)):
        path = folder / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    folder.rmdir()


def _counted(history: History) -> str:
    try:
        count = sum(1 for _ in history.walk())
        return f"{count:,} operation{'' if count == 1 else 's'}, "
    except HistoryError:
        return ""


def _below(folder: Path) -> Iterator[Path]:
    for top, _, names in os.walk(folder):
        yield from (Path(top) / name for name in names)


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def _told(size: int) -> str:
    return f"{size:,} bytes" if size < 10_000 else f"{size / 1e6:,.1f} MB"
