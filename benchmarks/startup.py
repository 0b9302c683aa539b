"""How long `python -m bae_source read NAME` takes, against four imports of the standard library.

Whole processes, in pairs, one after the other; the median of the ratios is what counts. Bytecode is cached, as it is
for whoever runs a command twice.

    python -m benchmarks.startup [--pairs 30]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TARGET = 3.0
_BARE = [sys.executable, "-c", "import ast, argparse, json, pathlib"]


def main() -> int:
    """Measure and print; 1 if the target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=30)
    pairs = parser.parse_args().pairs
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        (project / "app").mkdir()
        (project / "app" / "__init__.py").write_text('"""An application."""\n\nfrom .core import A\n')
        (project / "app" / "core.py").write_text("class A:\n    def f(self):\n        return 1\n")
        (project / "pyproject.toml").write_text('[project]\nname = "app"\nversion = "1"\n')
        read = [sys.executable, "-m", "bae_source", "read", "app.A.f", "--root", folder]
        _seconds(read)  # fills the bytecode cache
        measured = [(_seconds(read), _seconds(_BARE)) for _ in range(pairs)]
    ratios = [ours / bare for ours, bare in measured]
    print(f"read, ms:   median {statistics.median(ours for ours, _ in measured) * 1000:.0f}")
    print(f"bare, ms:   median {statistics.median(bare for _, bare in measured) * 1000:.0f}")
    print(f"ratio:      min {min(ratios):.2f}, median {statistics.median(ratios):.2f}, max {max(ratios):.2f}")
    print(f"target:     {TARGET}")
    return 0 if statistics.median(ratios) <= TARGET else 1


def _seconds(command: list[str]) -> float:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


if __name__ == "__main__":
    raise SystemExit(main())
