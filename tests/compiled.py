"""Compiled code for the processes that run the tests: each would compile all of it, and pytest's asserts take long."""

from __future__ import annotations

import compileall
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(__file__).parent
_PACKAGE = FOLDER.parent / "bae_source"
_AT_ONCE = 2


def compile_all() -> None:
    """Compile what has changed: the package, and the tests by pytest, in several processes that each collect some.

    What cannot be compiled, or not be written, is left to those that run it: they say what is the matter.
    """
    files = [path for path in sorted(FOLDER.rglob("test_*.py")) if not _is_compiled(path)]
    files.sort(key=lambda path: path.stat().st_size)
    started = [_started(files[number::_AT_ONCE]) for number in range(min(_AT_ONCE, len(files)))]
    compileall.compile_dir(_PACKAGE, quiet=2)  # children that judge read compiled files, and write none
    for process in started:
        process.wait()


def _is_compiled(path: Path) -> bool:
    changed = path.stat().st_mtime
    compiled = path.parent.glob(f"__pycache__/{path.stem}.{sys.implementation.cache_tag}-pytest-*.pyc")
    return any(each.stat().st_mtime >= changed for each in compiled)


def _started(files: Sequence[Path]) -> subprocess.Popen[bytes]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    options = ("-n", "0", "--collect-only", "-qq", "-p", "no:cacheprovider")
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", *options, *map(str, files)],
        cwd=FOLDER.parent,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
