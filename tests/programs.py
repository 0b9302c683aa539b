"""Small programs that tests run before and after a change, to compare what they print."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import NamedTuple


class Run(NamedTuple):
    """The end of a program, and its output."""

    status: int
    printed: str
    errors: str


def run(root: Path, program: str) -> Run:
    """Run a program of a project; what is installed is on its path, and nothing of that runs as Python starts."""
    command, path = [sys.executable, "-S", "-B", program], {"PYTHONPATH": sysconfig.get_path("platlib")}
    done = subprocess.run(command, cwd=root, env=path, capture_output=True, text=True, timeout=60, check=False)
    return Run(done.returncode, done.stdout, done.stderr)
