"""Cost and findings of `--verify tests`, against plain pytest, on attrs, marshmallow, starlette and httpx.

For each project, unpacked as a git repository with an environment in which it is installed editable:

1. plain `python -m pytest -q` of the whole suite;
2. `edit … --verify tests` of a change that few tests reach and of a central one, as processes, undone in between: at
   most 1.1 times the suite, or 0.3 s more; where at most a tenth of the tests run, at most 0.4 times, or 1.2 s;
3. `tests run`: the same numbers of passed, failed and skipped tests;
4. seeded mutants: each that the whole suite kills is refused, or the outcome names tests that were not run;
5. edits by a third process while two others verify: none is refused, and no holder has the lock for more than 100 ms;
6. the import check of a change: at most what the import itself takes, and 80 ms.

    python -m benchmarks.verify                              everything
    python -m benchmarks.verify attrs httpx --parts times import
    python -m benchmarks.verify --seed 7 --mutants 5 --parts mutants --verbose

Prints a table, the mutants that were missed, and whether the targets are met. 5 runs on attrs, since the suite of httpx
has a server at a fixed port, and 6 on httpx.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.verify import measures
from benchmarks.verify.measures import Row
from benchmarks.verify.mutants import Verdict
from benchmarks.verify.projects import Project, Recipe, copied
from benchmarks.verify.recipes import RECIPES
from benchmarks.verify.runs import isolate

PARTS = ("times", "run", "mutants", "lock", "import")
SEED = 33
MUTANTS = 20
ROUNDS = 3
_LOCKED, _IMPORTED = "attrs", "httpx"


def main(words: Sequence[str] | None = None) -> int:
    """Measure what the command line asks for; return 1 where a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.verify")
    parser.add_argument("projects", nargs="*", metavar="project", help=", ".join(each.name for each in RECIPES))
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--mutants", type=int, default=MUTANTS, help="of each project [%(default)s]")
    parser.add_argument("--rounds", type=int, choices=(1, 2, 3), default=ROUNDS)
    parser.add_argument("--verbose", action="store_true", help="print every mutant, not only those that were missed")
    asked = parser.parse_args(words)
    isolate()
    rows: list[Row] = []
    for recipe in RECIPES:
        if asked.projects and recipe.name not in asked.projects:
            continue
        with tempfile.TemporaryDirectory(prefix="verify-") as folder:
            print(f"{recipe.release.folder:<68}{'value':>14}{'limit':>8}", flush=True)
            for row in measured(recipe, copied(recipe, Path(folder).resolve() / recipe.name), asked):
                print(row, flush=True)
                rows.append(row)
    missed = sum(not row.met for row in rows)
    print(f"{missed} of {sum(row.limit is not None for row in rows)} targets missed" if missed else "targets met")
    return bool(missed)


def measured(recipe: Recipe, project: Project, asked: argparse.Namespace) -> Iterator[Row]:
    """Yield the rows of one project."""
    plain, rows = measures.times(
        project, (recipe.rare, recipe.central) if "times" in asked.parts else (), rounds=asked.rounds
    )
    yield from rows
    if "run" in asked.parts:
        yield from measures.tests_run(project, plain, rounds=asked.rounds)
    if "mutants" in asked.parts:
        copy = project.root.with_name("copy") / project.root.name
        yield measures.killed(
            project, copy, plain, count=asked.mutants, seed=asked.seed, show=lambda each: _show(each, asked.verbose)
        )
    if "lock" in asked.parts and recipe.name == _LOCKED:
        yield from measures.locked(project, (recipe.rare, recipe.central), recipe.third)
    if "import" in asked.parts and recipe.name == _IMPORTED:
        yield measures.import_check(project, recipe.central, recipe.name, rounds=asked.rounds)


def _show(verdict: Verdict, every: bool) -> None:
    if every or verdict.missed:
        print(f"    {verdict}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
