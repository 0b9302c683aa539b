"""Seeded renames, moves and inlinings in real packages, by ours and by rope, each judged by the package's own tests.

    python -m benchmarks.semantic        100 renames, 50 moves, 40 signatures, 30 extracts, 30 inlinings
    python -m benchmarks.semantic --only pluggy --count 5 --moves 0 --signatures 0 --extracts 0 --inlines 0 --seed 7
    python -m benchmarks.semantic --engine ours          without rope, and its environment

For each name and engine: a fresh copy, one rename, or one move to another module of the package or to a new one,
without options, then the package's tests. The others are for ours alone. A change *breaks* where a
test fails that passed before. It is *announced* where the report has each place that broke, as `judging` says. Names
that pytest itself takes from a package are left out: no change in the package can reach them.

Invariants:
- all engines are given the same changes;
- a test that failed before is not counted.

Ends with 1 if a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, structs

from benchmarks.corpus import CACHE, Unavailable, fetch
from benchmarks.read.goals import Goal, head, show
from benchmarks.read.peers import Peers
from benchmarks.read.processes import Failed
from benchmarks.semantic.drawing import MEMBERS, MODULE_LEVEL, Change, moves, names_of, renames
from benchmarks.semantic.engines import OURS, ROPE, Made, NotMade, by_rope, ours
from benchmarks.semantic.extracts import EXTRACTS, extracts
from benchmarks.semantic.inlines import INLINES, inlines
from benchmarks.semantic.judging import Suite, environment_of, is_announced, words_of_pytest
from benchmarks.semantic.signatures import SIGNATURES, signatures
from benchmarks.semantic.subjects import SUBJECTS

GROUPS = {
    "module level": MODULE_LEVEL,
    "members": MEMBERS,
    "parameters": ("parameter",),
    "locals": ("local",),
    "modules": ("module",),
    "moves": tuple(f"move {kind}" for kind in MODULE_LEVEL),
    "signatures": SIGNATURES,
    "extracts": EXTRACTS,
    "inlines": INLINES,
}


class Row(Struct, frozen=True, kw_only=True):
    """One change by one engine, and what came of it.

    Parameters:
        subject: the package.
        reason: why it was not made, or the first error of the tests that it broke.
        is_made: whether the engine made it.
        broken: the tests that failed because of it.
        is_announced: whether the report has the places that broke.
    """

    engine: str
    subject: str
    kind: str
    change: str
    is_made: bool = True
    reason: str = ""
    broken: tuple[str, ...] = ()
    is_announced: bool = False

    @property
    def result(self) -> str:
        """The row's verdict in a word or two."""
        if not self.is_made:
            return "refused"
        if not self.broken:
            return "applied"
        return f"BROKEN {len(self.broken)}{' (announced)' if self.is_announced else ''}"

    @property
    def line(self) -> str:
        """The row as it is printed."""
        what = f"{self.engine:<6}{self.subject:<16}{self.kind:<20}{self.change:<62}"
        return f"{what} {self.result}  {self.reason[:160]}".rstrip()


def main(arguments: Sequence[str] | None = None) -> int:
    """Change names that a seed draws, run the packages' own tests after each, and print what broke."""
    given = _options(arguments)
    rows: list[Row] = []
    try:
        python = given.python or environment_of(CACHE / "semantic-environment")
        engines = _engines(given.engine or [OURS, ROPE], given.peers)
        for subject in SUBJECTS:
            if not given.only or subject.release.name in given.only:
                suite = Suite(python=python, subject=subject)
                counts = (given.count, given.moves, given.signatures, given.extracts, given.inlines)
                for row in measured(suite, engines, counts, given.seed):
                    rows.append(row)
                    print(row.line, flush=True)
    except (Unavailable, Failed) as error:
        sys.exit(str(error))
    if given.json:
        given.json.write_text(json.dumps([structs.asdict(row) for row in rows], indent=1), encoding="utf-8")
    for engine in engines:
        _table(engine, [row for row in rows if row.engine == engine])
    head("goals of ours")
    return 0 if show(goals_of([row for row in rows if row.engine == OURS])) else 1


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.semantic", description=main.__doc__)
    parser.add_argument("--only", action="append", default=[], help="a package; may be given several times")
    parser.add_argument("--engine", action="append", default=[], choices=(OURS, ROPE), help="one of the engines alone")
    parser.add_argument("--count", type=int, default=20, help="renames of each package (default: %(default)s)")
    parser.add_argument("--moves", type=int, default=10, help="moves in each package (default: %(default)s)")
    parser.add_argument("--signatures", type=int, default=8, help="other signatures in each (default: %(default)s)")
    parser.add_argument("--extracts", type=int, default=6, help="extracts in each (default: %(default)s)")
    parser.add_argument("--inlines", type=int, default=6, help="inlinings in each package (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="a file for the rows")
    parser.add_argument("--python", type=Path, help="an interpreter that can run the tests, instead of an own one")
    parser.add_argument("--peers", type=Path, default=CACHE / "peers", help="the environment of rope")
    return parser.parse_args(arguments)


def _engines(names: Sequence[str], folder: Path) -> dict[str, Made]:
    found: dict[str, Made] = {}
    if OURS in names:
        found[OURS] = ours
    if ROPE in names:
        peers = Peers(folder=folder.resolve())
        peers.ready()
        found[ROPE] = by_rope(peers)
    return found


def measured(
    suite: Suite, engines: Mapping[str, Made], counts: tuple[int, int, int, int, int], seed: int
) -> Iterator[Row]:
    """Yield what comes of each change in a package, by each engine.

    Parameters:
        counts: of renames, moves, other signatures, extracts and inlinings.
    """
    pristine = fetch(suite.subject.release)
    before, _ = suite.failing(pristine)
    used = words_of_pytest(suite.python) if suite.subject.release.name == "pluggy" else frozenset[str]()
    names = names_of(pristine, suite.subject)
    renamed, moved, signed, extracted, inlined = counts
    other = [
        *signatures(pristine, suite.subject, signed, seed, used),
        *extracts(pristine, suite.subject, extracted, seed),
        *inlines(pristine, suite.subject, inlined, seed, used),
    ]
    for change in (*renames(names, renamed, seed, used), *moves(names, moved, seed), *other):
        for engine, made in engines.items():
            if engine == OURS or not (change.signature or change.extract or change.inlines):
                yield _tried(suite, pristine, change, engine, made, before)


def _tried(suite: Suite, pristine: Path, change: Change, engine: str, made: Made, before: set[str]) -> Row:
    row = Row(engine=engine, subject=suite.subject.release.name, kind=change.kind, change=change.shown)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, pristine.name)
        shutil.copytree(pristine, root)
        try:
            report = made(root, suite.subject, change)
        except NotMade as error:
            return structs.replace(row, is_made=False, reason=str(error))
        after, printed = suite.failing(root)
    broken = sorted(after - before)
    if not broken:
        return row
    reason = next((line for line in printed.splitlines() if line.startswith("E  ")), "")
    announced = is_announced(report, printed, broken, pristine)
    return structs.replace(row, broken=tuple(broken), reason=reason, is_announced=announced)


def _table(engine: str, rows: Sequence[Row]) -> None:
    print(f"\n{engine:<14}{'asked':>8}{'applied':>9}{'refused':>9}{'broken':>9}{'announced':>11}")
    for group, kinds in (*GROUPS.items(), ("all", tuple(row.kind for row in rows))):
        some = [row for row in rows if row.kind in kinds]
        made = [row for row in some if row.is_made]
        broken = [row for row in made if row.broken]
        announced = sum(row.is_announced for row in broken)
        print(f"{group:<14}{len(some):>8}{len(made):>9}{len(some) - len(made):>9}{len(broken):>9}{announced:>11}")


def goals_of(rows: Sequence[Row]) -> list[Goal]:
    """Return how the rows of ours compare with what is asked of it: shares and counts that may not be larger."""
    broken = [row for row in rows if row.broken]
    silent = sum(not row.is_announced for row in broken)
    goals = [
        Goal(what="broken of all changes", ratios=(len(broken) / max(len(rows), 1),), limit=0.02),
        Goal(what="broken without a line of the report at that place", ratios=(silent,), limit=0),
    ]
    signed = [row for row in rows if row.kind in SIGNATURES]
    if signed:
        broke = sum(bool(row.broken) for row in signed) / len(signed)
        goals.append(Goal(what="broken of other signatures", ratios=(broke,), limit=1 / 40))
    pieces = [row for row in rows if row.kind in (*EXTRACTS, *INLINES)]
    if pieces:
        broken = [row for row in pieces if row.broken]
        goals.append(Goal(what="extracts and inlinings that break", ratios=(len(broken),), limit=2))
        silent = sum(not row.is_announced for row in broken)
        goals.append(Goal(what="of these without a line of the report", ratios=(silent,), limit=0))
    for group, limit in (("module level", 0.05), ("members", 0.2)):
        some = [row for row in rows if row.kind in GROUPS[group]]
        if some:
            refused = sum(not row.is_made for row in some) / len(some)
            goals.append(Goal(what=f"renames refused: {group}", ratios=(refused,), limit=limit))
    return goals


if __name__ == "__main__":
    sys.exit(main())
