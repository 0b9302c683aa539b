"""Remove compiled files of changed sources.

A compiled file is told from its source's time of modification in whole seconds and its size: after an edit of the same
size within the same second Python would silently run the old code.

Invariant: what any Python compiled, whatever its version, and pytest with it, is looked for beside the source and
below the folders where compiled files are gathered; nothing behind a linked `__pycache__` is touched.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path


def remove_bytecode(sources: Iterable[Path], *, prefixes: Iterable[str] = ()) -> None:
    """Remove what any Python has compiled of these files; what cannot be removed is left.

    Parameters:
        sources: absolute paths.
        prefixes: folders that gather compiled files, beside the one that this process uses.
    """
    gathered = [Path(prefix) for prefix in {*prefixes, *([sys.pycache_prefix] if sys.pycache_prefix else [])}]
    for source in sources:
        below = source.parent.relative_to(source.anchor)
        for folder in (source.parent / "__pycache__", *(prefix / below for prefix in gathered)):
            if not folder.is_symlink():
                for compiled in folder.glob(f"{_literal(source.stem)}.*.pyc"):
                    _remove(compiled)


def _literal(stem: str) -> str:
    return "".join(f"[{char}]" if char in "*?[" else char for char in stem)


def _remove(compiled: Path) -> None:
    try:
        compiled.unlink(missing_ok=True)
    except OSError:
        return
