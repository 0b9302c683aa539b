"""The first sector of the journal: enough to see that nothing was cut short, which every request asks for.

    bae_source journal 1 / state / operation / length / checksum      a line each, then zeros

What is behind it is known to `transaction.journal`, which takes as long to load as a small file takes to read.
"""

from __future__ import annotations

from pathlib import Path

from bae_source.state.reading import beginning_of

NAME = "journal"
STAGING = "staging"
MAGIC = b"bae_source journal 1"
SECTOR = 512
IDLE, OPEN, SINGLE = b"idle", b"open", b"single"
_HIDDEN = b"hidden"
"""Another user's, and not idle: files lie in the staging folder, which is empty between changes."""


def is_idle(folder: Path) -> bool:
    """Say whether nothing is left to recover, by one short read; True also where nothing tells.

    Parameters:
        folder: the one that the journal lies in.
    """
    return _state(folder) == IDLE


def is_open(folder: Path) -> bool:
    """Say whether a change is under way that may still be taken back, by one short read."""
    return _state(folder) in (OPEN, SINGLE, _HIDDEN)


def is_hidden(folder: Path) -> bool:
    """Say whether a change may be unfinished whose journal is not for this user to read."""
    return _state(folder) == _HIDDEN


def head_of(folder: Path) -> bytes:
    """Return what differs after each change, made or taken back; while it is the same, nobody has begun one."""
    try:
        return beginning_of(folder / NAME, SECTOR)
    except OSError:
        return b""


def _state(folder: Path) -> bytes:
    try:
        head = beginning_of(folder / NAME, SECTOR)
    except PermissionError:
        return _HIDDEN if _holds_any(folder / STAGING) else IDLE
    except OSError:
        return IDLE
    magic, state, *_ = [*head.split(b"\n", 2), b""]
    return IDLE if not any(head) else state if magic == MAGIC else b""


def _holds_any(folder: Path) -> bool:
    try:
        return any(True for _ in folder.iterdir())
    except OSError:
        return False
