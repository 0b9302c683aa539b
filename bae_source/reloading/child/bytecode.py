"""Remove compiled files that may be taken for changed sources.

A compiled file is told from its source's time of modification in whole seconds and its size: after an edit of the same
size within the same second Python would silently run the old code.

Invariants:
- what any Python compiled, whatever its version, and pytest with it, is looked for beside the source and below the
  folders where compiled files are gathered; nothing behind a linked `__pycache__` is touched;
- one that cannot be removed, and that Python takes for the source as it is now, is told of;
- what Python sees by itself to be of another source stays: it may be part of the user's repository.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from bae_source.system.compiled import HEADER, is_taken, may_pass


class Replaced(Struct, frozen=True):
    """What is known of a source that a change replaces.

    Parameters:
        size: bytes that it has now.
        since: it was not modified before, in whole seconds since the epoch.
    """

    size: int
    since: int


def remove_bytecode(sources: Mapping[Path, Replaced], *, prefixes: Iterable[str] = ()) -> tuple[Path, ...]:
    """Remove what any Python has compiled and might take for these files.

    Parameters:
        sources: by absolute path.
        prefixes: folders that gather compiled files, beside the one that this process uses.

    Returns:
        The files for which Python takes one that could not be removed, as they are now.
    """
    gathered = [Path(prefix) for prefix in {*prefixes, *([sys.pycache_prefix] if sys.pycache_prefix else [])}]
    stale: dict[Path, None] = {}
    for source, replaced in sources.items():
        below = source.parent.relative_to(source.anchor)
        for folder in (source.parent / "__pycache__", *(prefix / below for prefix in gathered)):
            is_own = not folder.is_symlink()
            for compiled in folder.glob(f"{_literal(source.stem)}.*.pyc"):
                header = _header(compiled)
                if is_own and may_pass(header, size=replaced.size, since=replaced.since):
                    _remove(compiled)
                if _is_taken(header, source) and compiled.exists():
                    stale[source] = None
    return tuple(stale)


def _is_taken(header: bytes, source: Path) -> bool:
    try:
        status = source.stat()
    except OSError:
        return False
    return is_taken(header, size=status.st_size, modified=int(status.st_mtime))


def _literal(stem: str) -> str:
    return "".join(f"[{char}]" if char in "*?[" else char for char in stem)


def _header(compiled: Path) -> bytes:
    """Return the first bytes of a compiled file; nothing where they cannot be read, or where it is a link."""
    try:
        file = os.open(compiled, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(file, HEADER)
    except OSError:
        return b""
    finally:
        os.close(file)


def _remove(compiled: Path) -> None:
    try:
        compiled.unlink(missing_ok=True)
    except OSError:
        return
