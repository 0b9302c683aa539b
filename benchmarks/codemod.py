"""Codemods over django, against LibCST's own program doing the same with as many processes.

- *ConvertFormatStringCommand* and *RemoveUnusedImportsCommand*, which LibCST brings, and a small one of our own;
- both begin with the same files, in turn, and what they leave is compared to the byte;
- ours is a whole call of the command line: checked, journalled, recorded, with one undo. Neither formats, nor imports
  what it changed (`--no-format`, `--reload off`).

    python -m benchmarks.codemod                        all of django, which takes long
    python -m benchmarks.codemod --part django/db       a part of it

Prints a table and whether the targets are met: results equal to the byte, in at most 0.7 of the time.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from benchmarks import corpus

_MOST = 0.7
_PROCESSES = "2"
_SMALL = "django/dispatch"
_COMMANDS = "libcst.codemod.commands"
_OWN = '''"""A codemod that calls a name otherwise."""
from libcst.codemod import VisitorBasedCodemodCommand


class CallOtherwise(VisitorBasedCodemodCommand):
    def leave_Name(self, original_node, updated_node):
        return updated_node.with_changes(value="cnx") if updated_node.value == "connection" else updated_node
'''
CODEMODS: Mapping[str, tuple[str, str]] = {
    "ConvertFormatString": (f"{_COMMANDS}.convert_format_to_fstring", "ConvertFormatStringCommand"),
    "RemoveUnusedImports": (f"{_COMMANDS}.remove_unused_imports", "RemoveUnusedImportsCommand"),
    "own": ("mods.own", "CallOtherwise"),
}


class Spent(Struct, frozen=True):
    """Seconds of one call: as the clock has them, and of all processors."""

    wall: float
    cpu: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print a table; 1 if a target is missed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.codemod", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--rounds", type=int, default=3, help="how often both take turns [3]")
    parser.add_argument("--part", default="django", help="the folder whose files are changed [django]")
    parser.add_argument("codemods", nargs="*", default=list(CODEMODS), help="all if left out")
    options = parser.parse_args(arguments)
    met = True
    print(f"{'codemod':22} {'files':>5} {'changed':>7} {'ours':>8} {'LibCST':>8} {'ratio':>6} {'cpu':>6}  equal")
    for name in options.codemods:
        met = measured(name, options.part, options.rounds) and met
    return 0 if met else 1


def measured(name: str, part: str, rounds: int) -> bool:
    """Print a line about one codemod, and say whether its targets are met."""
    module, kind = CODEMODS[name]
    source = corpus.fetch(next(each for each in corpus.RELEASES if each.name == "django"))
    ours: list[Spent] = []
    theirs: list[Spent] = []
    is_equal, changed = True, 0
    with tempfile.TemporaryDirectory() as folder:
        small = laid(source, Path(folder) / "small", _SMALL)
        for command in (_mine(module, kind, _SMALL), _peer(module, kind, _SMALL)):
            spent(command, small)  # so that all is compiled
        for _ in range(rounds):
            mine, peer = (laid(source, Path(folder) / each, part) for each in ("ours", "theirs"))
            before = contents(mine)
            ours.append(spent(_mine(module, kind, part), mine))
            theirs.append(spent(_peer(module, kind, part), peer))
            after = contents(mine)
            is_equal = is_equal and after == contents(peer)
            changed = sum(before[path] != after[path] for path in before)
    wall = statistics.median(a.wall / b.wall for a, b in zip(ours, theirs, strict=True))
    cpu = statistics.median(a.cpu / b.cpu for a, b in zip(ours, theirs, strict=True))
    seconds = [statistics.median(each.wall for each in every) for every in (ours, theirs)]
    print(
        f"{name:22} {len(before):5} {changed:7} {seconds[0]:7.1f}s {seconds[1]:7.1f}s {wall:6.2f} {cpu:6.2f}  "
        f"{'yes' if is_equal else 'NO'}",
        flush=True,
    )
    return is_equal and wall <= _MOST


def _mine(module: str, kind: str, part: str) -> list[str]:
    scope = part.replace("/", ".")
    return [sys.executable, "-m", "bae_source", "codemod", f"{module}:{kind}", scope, "--reload", "off", "-q"]


def _peer(module: str, kind: str, part: str) -> list[str]:
    start = [sys.executable, "-m", "libcst.tool", "codemod", f"{module}.{kind}", "-x"]
    return [*start, part, "--no-format", "--hide-progress", "-j", _PROCESSES]


def laid(source: Path, folder: Path, part: str) -> Path:
    """Lay out a fresh project with a part of a package, and return it."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source / part, folder / part)
    for each in list(Path(part).parents)[:-1]:
        shutil.copy(source / each / "__init__.py", folder / each)
    (folder / "mods").mkdir()
    (folder / "mods/own.py").write_text(_OWN)
    (folder / "pyproject.toml").write_text('[project]\nname = "project"\nversion = "1"\n')
    return folder


def contents(root: Path) -> dict[str, bytes]:
    """Return what the Python files of a project hold, by path."""
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*.py"))}


def spent(command: Sequence[str], root: Path) -> Spent:
    """Run a command on two processors in a project, and return what it took."""
    environment = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
        "BAE_SOURCE_SERVE": "off",
        "PYTHONPATH": str(Path(__file__).parent.parent),
        "PYTHONPYCACHEPREFIX": str(root.parent / "compiled"),
    }
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{' '.join(command)}: {done.stderr[-2000:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Spent(wall, cpu)


if __name__ == "__main__":
    sys.exit(main())
