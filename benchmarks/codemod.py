"""Codemods over django, against LibCST's own program doing the same with as many processes.

- *ConvertFormatStringCommand* and *RemoveUnusedImportsCommand*, which LibCST brings, and a small one of our own;
- both begin with the same files, in turn, and what they leave is compared to the byte;
- ours is a whole call of the command line: checked, journalled, recorded, with one undo. Neither formats, nor imports
  what it changed (`--no-format`, `--reload off`).

    python -m benchmarks.codemod                        all of django, which takes long
    python -m benchmarks.codemod --part django/db       a part of it

Ends with 1 where a target is missed: results equal to the byte, in at most 0.7 of the time.
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
    source = corpus.fetch(next(each for each in corpus.RELEASES if each.name == "django"))
    met = True
    print(f"{'codemod':20} {'files':>5} {'changed':>7} {'ours':>8} {'LibCST':>8} {'ratio':>6} {'cpu':>6}  equal")
    for name in options.codemods:
        found = measured(name, source, options.part, options.rounds)
        print(found, flush=True)
        met = met and found.is_met
    return 0 if met else 1


class Measured(Struct, frozen=True, kw_only=True):
    """Result for one codemod.

    Parameters:
        name: of the codemod.
        files: how many it ran on.
        changed: how many of them it changed.
        turns: what each turn took, ours and theirs.
        is_equal: whether both left the same bytes, each time.
    """

    name: str
    files: int
    changed: int
    turns: tuple[tuple[Spent, Spent], ...]
    is_equal: bool

    @property
    def ratio(self) -> float:
        """Ours over theirs, by the clock."""
        return statistics.median(ours.wall / theirs.wall for ours, theirs in self.turns)

    @property
    def is_met(self) -> bool:
        """Whether the targets are met."""
        return self.is_equal and self.ratio <= _MOST

    def __str__(self) -> str:
        cpu = statistics.median(ours.cpu / theirs.cpu for ours, theirs in self.turns)
        ours, theirs = (statistics.median(turn[each].wall for turn in self.turns) for each in (0, 1))
        return (
            f"{self.name:20} {self.files:5} {self.changed:7} {ours:7.1f}s {theirs:7.1f}s {self.ratio:6.2f} {cpu:6.2f}  "
            f"{'yes' if self.is_equal else 'NO'}"
        )


def measured(name: str, source: Path, part: str, rounds: int, small: str = _SMALL) -> Measured:
    """Return what a codemod takes, and whether it comes to the same.

    Parameters:
        source: folder of the package's own folder.
        part: the folder whose files are changed.
        small: another one, on which both run first, so that all is compiled.
    """
    module, kind = CODEMODS[name]
    turns: list[tuple[Spent, Spent]] = []
    is_equal, changed = True, 0
    with tempfile.TemporaryDirectory() as folder:
        first = laid(source, Path(folder) / "first", small)
        for command in (_mine(module, kind, small), _peer(module, kind, small)):
            spent(command, first)
        for _ in range(rounds):
            mine, peer = (laid(source, Path(folder) / each, part) for each in ("ours", "theirs"))
            before = contents(mine)
            turns.append((spent(_mine(module, kind, part), mine), spent(_peer(module, kind, part), peer)))
            after = contents(mine)
            is_equal = is_equal and after == contents(peer)
            changed = sum(before[path] != after[path] for path in before)
        files = sum(path.startswith(f"{part}/") for path in before)
    return Measured(name=name, files=files, changed=changed, turns=tuple(turns), is_equal=is_equal)


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
