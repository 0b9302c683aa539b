"""The first sector of the journal: enough to see that nothing was cut short, which every request asks for.

    bae_source journal 2 / state / operation / length / checksum / id      a line each, then zeros

The id is that of the folder (`binding`): a journal that was put there by anything else does not have it, and is none.
What is behind the sector is known to `commit.journal`, which takes as long to load as a small file takes to read.
"""

from __future__ import annotations

from pathlib import Path

from bae_source.system.own_files import beginning_of

NAME = "journal"
STAGING = "staging"
MAGIC = b"bae_source journal 2"
SECTOR = 512
IDLE, OPEN, SINGLE = b"idle", b"open", b"single"


def is_idle(folder: Path, state_id: str | None) -> bool:
    """Return whether nothing is left to recover, by one short read; True also where nothing tells.

    Parameters:
        folder: the one that the journal lies in.
        state_id: its id; None where it is not ours, so that nothing in it counts.
    """
    return _state(folder, state_id) == IDLE


def is_open(folder: Path, state_id: str | None) -> bool:
    """Return whether a change is under way that may still be taken back, by one short read."""
    return _state(folder, state_id) in (OPEN, SINGLE)


def is_of(folder: Path, state_id: str) -> bool:
    """Return whether a folder has a journal with its id."""
    return id_in(folder) == state_id


def id_in(folder: Path) -> str:
    """Return the id that the journal of a folder bears; "" where it bears none."""
    return _id(head_of(folder)).decode("ascii", "replace")


def head_of(folder: Path) -> bytes:
    """Return a value that differs after each change, made or taken back; while it is equal, none was begun."""
    try:
        return beginning_of(folder / NAME, SECTOR)
    except OSError:
        return b""


def _state(folder: Path, state_id: str | None) -> bytes:
    if state_id is None:
        return IDLE
    head = head_of(folder)
    magic, state, *_ = [*head.split(b"\n", 2), b""]
    if not any(head):
        return IDLE
    if magic != MAGIC or not _id(head):
        return b""  # damaged, or of another version
    return state if _id(head) == state_id.encode() else IDLE


def _id(head: bytes) -> bytes:
    """Return the id in a first sector; nothing where it has none."""
    lines = head.rstrip(b"\0").split(b"\n")
    return lines[5] if len(lines) > 5 else b""
