"""Locks of dependencies among the files of a change: they follow from the others, and are too long to be shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from bae_source.model.changeset import ChangeSet
from bae_source.model.outcome import Notice

_LOCK = "uv.lock"
ABOUT = ("pyproject.toml", _LOCK)
"""Files that change with the environment."""


def shown(changes: ChangeSet) -> ChangeSet:
    """Return the changes that a diff shows: those of a lock follow from others, and are as long as it."""
    return replace(changes, files=tuple(file for file in changes.files if file.path != _LOCK)) or changes


def locked(changes: ChangeSet, before: Mapping[str, bytes]) -> Iterator[Notice]:
    """Yield a notice of a lock that follows, whose diff is not shown."""
    file = next((each for each in changes.files if each.path == _LOCK), None)
    if file is not None and len(changes.files) > 1 and file.after is not None:
        lines = file.apply(before[_LOCK]).count(b"\n") - before[_LOCK].count(b"\n")
        text = f"{_LOCK} changes with it ({lines:+,} lines), which the diff leaves out."
        yield Notice("lock_follows", text)
