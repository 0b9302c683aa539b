"""The files of kept plans, looked at from outside: where they lie, and which drafts are in them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


def plan_files(root: Path) -> list[Path]:
    """Return the files of plans below a folder."""
    return sorted(root.glob("**/plans-*.sqlite"))


def drafts_of(root: Path) -> list[str]:
    """Return the handles of the drafts in them."""
    return [handle for (handle,) in asked(root, "SELECT handle FROM drafts ORDER BY handle")]


def asked(root: Path, statement: str, *given: object) -> list[tuple[object, ...]]:
    """Return what SQLite answers about each file, and keep what it changes."""
    found: list[tuple[object, ...]] = []
    for path in plan_files(root):
        with closing(sqlite3.connect(path)) as connection, connection:
            found += connection.execute(statement, given)
    return found
