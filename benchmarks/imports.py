"""Unused imports in real packages: none is found where ruff finds none, and what is put in comes out again.

For every package of the corpus:

1. whatever `imports organise` would take out stands in a file in which ruff reports an unused import (F401), whether
   with the package's own settings or with none;
2. in a seeded sample of modules, imports that nothing needs are added by `imports add`; then `imports organise` takes
   them out, and leaves the code that was there, mostly to the byte.

    python -m benchmarks.imports                 all packages
    python -m benchmarks.imports attrs httpx     some
    python -m benchmarks.imports --modules 50    so many modules of each are added to

Prints a line a package, what is wrong below it, and whether the targets are met.
"""

from __future__ import annotations

import argparse
import ast
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.model.plan import ModuleFile
from bae_source.project.files.port import Disk
from bae_source.project.importing.lint_settings import LintSettings
from bae_source.project.importing.unread import unread_imports
from bae_source.project.workspace import Workspace
from bae_source.refactoring.imports import ImportsAdd
from bae_source.refactoring.planning.unneeded import without_unneeded
from bae_source.syntax.importing.purposes import imported_names, with_purposes
from benchmarks import corpus

SEED = 32
STATEMENTS = (
    "import colorsys",
    "from colorsys import hls_to_rgb",
    "from typing import LiteralString",
    "import wave as w",
)
"""Imports that hardly any module has: plain, by name, into a statement that is there, and under another name."""


class Result(Struct, kw_only=True):
    """Measures of one package.

    Parameters:
        found: how many imports `imports organise` would take out, and how many it is unsure about.
        unclean: those among the first that stand in files which ruff calls clean.
        added: how many imports were added, and how many of them were taken out again.
        kept: how many of the others are listed as unsure, or plainly meant to stay, as all of an `__init__` are.
        exact: how many modules got every byte back; others a blank line more, or a statement on several lines.
        wrong: modules that came to other code.
    """

    found: tuple[int, int] = (0, 0)
    unclean: list[str] = []
    added: int = 0
    out: int = 0
    kept: int = 0
    exact: int = 0
    wrong: list[str] = []
    seconds: float = 0.0

    @property
    def is_right(self) -> bool:
        """True if the package meets the targets."""
        return not self.unclean and not self.wrong and self.added == self.out + self.kept


def measured(root: Path, modules: int) -> Result:
    """Return what a package comes to.

    Parameters:
        modules: how many of its modules imports are added to.
    """
    result, workspace = Result(), Workspace(Disk(root))
    every = [module for path in workspace.census.sources if (module := workspace.census.module(path))]
    begun = time.perf_counter()
    with workspace.index.expecting():
        found = unread_imports(workspace, every).imports
    result.seconds = time.perf_counter() - begun
    sure = [each for each in found if not each.why]
    result.found = (len(sure), len(found) - len(sure))
    flagged = _flagged(root, "--isolated") & _flagged(root)
    result.unclean += (f"{each.path}:{each.imported.line}" for each in sure if each.path not in flagged)
    for module in random.Random(SEED).sample(every, min(modules, len(every))):
        _add_to(workspace, module, result)
    return result


def _flagged(root: Path, *options: str) -> set[str]:
    """Return the files in which ruff reports unused imports; those that it cannot read count as well."""
    words = [sys.executable, "-m", "ruff", "check", "--select", "F401", "--no-cache", "--output-format", "concise"]
    done = subprocess.run([*words, *options, "."], cwd=root, capture_output=True, text=True, check=False)
    return {line.partition(":")[0] for line in done.stdout.splitlines() if ":" in line}


def _add_to(workspace: Workspace, module: ModuleFile, result: Result) -> None:
    """Add imports to a module, take out what nothing needs, and compare its bytes."""
    now, before = workspace, workspace.content(module.path)
    present = unread_imports(workspace, [module]).imports
    if any(not each.why for each in present):
        return  # it has some of its own
    unsure = len(present)
    added = 0
    for statement in STATEMENTS:
        try:
            plan = ImportsAdd(target=module.name, statements=(statement,)).plan(now)
        except ResourceError:
            continue
        added += bool(plan.changes)
        now = now.after(plan.changes)
    if not added:
        return
    result.added += added
    found = without_unneeded(now, [module])
    result.out += found.count
    if found.count < added:
        result.kept += len(found.unsure) - unsure + _staying(now, module, workspace.source(module).text)
        return
    for each in found.spliced:
        after = now.change(each.module, each.splices).apply(now.content(module.path) or b"")
        result.exact += after == before
        if ast.dump(ast.parse(after)) != ast.dump(ast.parse(before or b"")):
            result.wrong.append(module.name)


def _staying(workspace: Workspace, module: ModuleFile, before: str) -> int:
    """Return how many of the imports that a module has more than before are meant to stay, and so are not listed."""
    text = workspace.source(module).text
    names = {each.shown for each in imported_names(before)}
    added = [each for each in with_purposes(text, imported_names(text)) if each.shown not in names]
    if module.package or LintSettings(workspace.files).lets_stay(module.path):
        return len(added)
    return sum(each.purpose is not None and not each.purpose.sentence for each in added)


def main(words: Sequence[str] | None = None) -> int:
    """Measure what the command line asks for; return 1 where a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.imports")
    parser.add_argument("packages", nargs="*")
    parser.add_argument("--modules", type=int, default=25)
    asked = parser.parse_args(words)
    right = True
    for name, root in corpus.packages():
        if asked.packages and name not in asked.packages:
            continue
        result = measured(root, asked.modules)
        right = right and result.is_right
        sure, unsure = result.found
        print(
            f"{name:<12} {result.seconds:6.1f} s  unused {sure:>4}, unsure {unsure:>4}, in clean files"
            f" {len(result.unclean)}; added {result.added:>4}, out {result.out:>4}, kept {result.kept:>4},"
            f" exact {result.exact:>3}, other code {len(result.wrong)}",
            flush=True,
        )
        for each in (*result.unclean, *result.wrong):
            print(f"    {each}")
    print("targets met" if right else "targets missed")
    return not right


if __name__ == "__main__":
    raise SystemExit(main())
