"""Remove compiled files of changed sources.

A compiled file is told from its source's time of modification in whole seconds and its size: after an edit of the same
size within the same second Python would silently run the old code.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path


def remove_bytecode(sources: Iterable[Path]) -> None:
    """Remove what any Python has compiled of these files; what cannot be removed is left."""
    for source in sources:
        folder = source.parent / "__pycache__"
        if not folder.is_symlink():
            for compiled in folder.glob(f"{_literal(source.stem)}.*.pyc"):
                _remove(compiled)
        if sys.pycache_prefix is not None:
            _remove(Path(importlib.util.cache_from_source(str(source))))


def _literal(stem: str) -> str:
    return "".join(f"[{char}]" if char in "*?[" else char for char in stem)


def _remove(compiled: Path) -> None:
    try:
        compiled.unlink(missing_ok=True)
    except OSError:
        return
