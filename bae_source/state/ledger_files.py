"""The files of the ledger by their names: which of them are of our state, and how they come to be of another.

    ledger/000001-3f9c….jsonl        the number, and the id of the state that it is of (`binding`)

What is in them is known to `approval.ledger`.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from bae_source.state.binding import user
from bae_source.system.own_files import sync

FOLDER, LOCK = "ledger", "lock"
_NAME = re.compile(r"(\d{6})-([0-9a-f]{32})\.jsonl")


def name_of(number: int, state_id: str) -> str:
    """Return the name of a file."""
    return f"{number:06}-{state_id}.jsonl"


def number_of(path: Path) -> int:
    """Return the number of a file of the ledger, counted from 1."""
    return int(path.name[:6])


def files_of(folder: Path, state_id: str) -> list[Path]:
    """Return the files of a ledger that are of a state, the oldest first; none where there is no such folder.

    Raises:
        OSError: the folder cannot be read, or is none of ours.
    """
    try:
        return sorted(path for path, found in _named(folder) if found == state_id)
    except FileNotFoundError:
        return []


def carry_on(folder: Path, old: str, new: str) -> None:
    """Let the files of a ledger be of another state.

    Parameters:
        old: the id of the state that they were of, whose file is taken where several have one number; "" where nothing
            tells it.

    Raises:
        OSError: it could not be done; what is done stays so, and can be done again.
    """
    try:
        found = sorted(_named(folder), key=lambda each: each[1] != old)
    except FileNotFoundError:
        return
    for path, _ in found:
        target = path.with_name(name_of(number_of(path), new))
        if not os.path.lexists(target):
            path.rename(target)
    sync(folder)


def check(folder: Path) -> None:
    """Check that the folder of a ledger is a folder, and this user's.

    Raises:
        OSError: it is not.
    """
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != user():
        raise OSError(errno.EEXIST, "the place of the ledger is taken by a file or link that is not ours", str(folder))


def _named(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the files with a ledger's name and the id."""
    check(folder)
    for name in os.listdir(folder):
        if found := _NAME.fullmatch(name):
            yield folder / name, found[2]
