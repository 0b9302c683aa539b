"""Real files to test on: a seeded sample of the running interpreter's standard library, its own tests included."""

from __future__ import annotations

import ast
import random
import warnings
from functools import cache
from pathlib import Path

from benchmarks import corpus


@cache
def sample(count: int, seed: str, *, largest: int = 60_000) -> tuple[Path, ...]:
    """Choose files that this Python parses, by their own names, so that one that comes or goes leaves the others."""
    files = sorted(_files(), key=lambda path: random.Random(f"{seed}:{path.parent.name}:{path.name}").random())
    chosen: list[Path] = []
    for path in files:
        if len(chosen) == count:
            break
        if 200 < path.stat().st_size < largest and _parses(path.read_bytes()):
            chosen.append(path)
    return tuple(chosen)


def shown(path: Path) -> str:
    """Return a file's name below the standard library, for a test's id."""
    return path.relative_to(corpus.standard_library()).as_posix()


@cache
def _files() -> tuple[Path, ...]:
    return tuple(corpus.python_files(corpus.standard_library()))


def _parses(content: bytes) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(content)
        except (SyntaxError, ValueError):
            return False
    return True
