"""Renames planned, side by side with other engines on django's source distribution, all in one run.

    python -m benchmarks.refactor                            four renames, ten engines; takes half an hour
    python -m benchmarks.refactor --only function            one kind: function, class, method or module
    python -m benchmarks.refactor --skip rope --limit 60     without an engine, or with less time for each
    python -m benchmarks.refactor --table                    each rename as a table of Markdown, too

Each engine plans the same rename in a fresh process without a cache, on the same copy, and nothing is written: those
that have no plan to give make it in a copy of their own, which is not counted (`benchmarks/refactor/writers.py`). The
table has what that took, and how its places fare: *right* and *missed* of those that have to change, *wrong* in code,
and what it changes in strings, in comments and docstrings and in text files, which is counted apart. What is right is
adjudicated place by place (`benchmarks/truth`; see `benchmarks/refactor/subjects.py`); every place on which an engine
and this truth do not agree is listed, with the engines that change it, so that a reader can judge.

Seconds of CPU are those of the process and all that it waited for, and say more than the wall clock on a machine that
others use, too. Memory is the peak of the largest process; of our plan it is the sum over all, at its highest.

Invariants:
- unsure places are left, as they are by engines that know of none; those that ours names are no silent misses;
- an engine that its time limit ends counts as having taken that much.

Ends with 1 if a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks import corpus
from benchmarks.read import ours as reading
from benchmarks.read.goals import Goal, head, show
from benchmarks.read.peers import WRITING, Peers
from benchmarks.read.processes import Cost, Failed, TooSlow, apart, run
from benchmarks.read.subjects import Place
from benchmarks.refactor.engines import ENGINES, OURS, ROPE
from benchmarks.refactor.subjects import RENAMINGS, Renaming, Where, line_at, where
from benchmarks.refactor.table import Fared, Measured, markdown

_RELEASE = "django"
_HERE = Path(__file__).resolve().parent.parent.parent
_COLUMNS = ("wall", "CPU", "memory", "right", "missed", "wrong", "strings", "prose", "text")
_MOST_SHOWN = 20


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is asked for and print tables; 1 if a goal is missed."""
    options = _options(arguments)
    peers = Peers(folder=options.peers.resolve())
    peers.ready(WRITING)
    goals: list[Goal] = []
    with _copy() as root:
        for renaming in RENAMINGS:
            if not options.only or renaming.kind in options.only:
                right = apart(renaming.right, root)
                measured = _measured(peers, renaming, root, right, skip=set(options.skip), limit=options.limit)
                goals += _goals(renaming, root, measured)
                if options.table:
                    print(f"\n{markdown(renaming, len(right), measured, peers.version)}", flush=True)
    head("renames (ratios and counts)")
    return 0 if show(goals) else 1


def fared(root: Path, right: frozenset[Place], places: frozenset[Place]) -> Fared:
    """Compare the places of a plan with those that have to change."""
    more: dict[Where, set[Place]] = {"code": set(), "string": set(), "prose": set(), "text": set()}
    for place in places - right:
        more[where(root, place)].add(place)
    return Fared(
        right=places & right,
        missed=right - places,
        wrong=frozenset(more["code"]),
        strings=frozenset(more["string"]),
        prose=frozenset(more["prose"]),
        text=frozenset(more["text"]),
    )


def goals_of(
    renaming: Renaming,
    costs: Mapping[str, Cost],
    results: Mapping[str, Fared],
    warm: Mapping[str, float],
    left: frozenset[Place] = frozenset(),
) -> Iterator[Goal]:
    """Yield what our rename has to reach.

    Parameters:
        costs: of each engine that planned it or was ended by its time limit.
        results: of each engine that planned it.
        warm: seconds of our own plans, references and parses in one process.
        left: places that ours names as unsure.
    """
    kind, mine = renaming.kind, costs[OURS]
    if rope := costs.get(ROPE):
        yield Goal(what=f"{kind}: cold over cold rope, CPU", ratios=(mine.cpu / rope.cpu,), limit=0.1)
        yield Goal(what=f"{kind}: cold over cold rope, wall", ratios=(mine.wall / rope.wall,), limit=0.1)
        if ROPE in results:
            yield Goal(what=f"{kind}: memory over rope's", ratios=(mine.peak / rope.peak,), limit=1.0)
    ratio = warm["rename"] / (warm["references"] + warm["parses"])
    yield Goal(what=f"{kind}: warm over references and two parses, CPU", ratios=(ratio,), limit=1.0)
    peers = (each.right for name, each in results.items() if _engine(name) != OURS)
    others = frozenset[Place]().union(*peers)
    lost = len(others - results[OURS].right)
    yield Goal(what=f"{kind}: missed of what a peer rightly changes", ratios=(lost,), limit=0)
    unnamed = len(results[OURS].missed - left)
    yield Goal(what=f"{kind}: missed, and not named as unsure", ratios=(unnamed,), limit=0)
    yield Goal(what=f"{kind}: wrong places", ratios=(len(results[OURS].wrong),), limit=0)


def _measured(
    peers: Peers, renaming: Renaming, root: Path, right: frozenset[Place], *, skip: set[str], limit: float
) -> Measured:
    """Ask every engine for one rename, and print what came of it."""
    print(f"\n{renaming.kind} {renaming.target} -> {renaming.new}: {len(right)} places have to change")
    print(f"{'':<20}" + "".join(f"{column:>10}" for column in _COLUMNS), flush=True)
    costs: dict[str, Cost] = {}
    results: dict[str, Fared] = {}
    refused: dict[str, str] = {}
    left = frozenset[Place]()
    for name, asked in ENGINES.items():
        if name in skip:
            continue
        try:
            planned = asked(peers, renaming, root, limit)
        except TooSlow:
            costs[name] = Cost(wall=limit, cpu=limit, peak=0)
            refused[name] = f"no plan within {limit:.0f} s"
        except Failed as error:
            refused[name] = f"no plan: {error}"
        else:
            costs[name] = planned.cost
            results[name] = fared(root, right, planned.places)
            left |= planned.left
        _row(name, costs.get(name), results.get(name), refused.get(name, ""))
    return Measured(costs=costs, results=results, refused=refused, left=left)


def _goals(renaming: Renaming, root: Path, measured: Measured) -> Iterator[Goal]:
    """Print our warm plans and the places in dispute, and yield the goals."""
    if OURS not in measured.results:
        yield Goal(what=f"{renaming.kind}: planned by ours", ratios=(1,), limit=0)
        return
    warm = _warm(renaming, root)
    print(
        f"{'ours, warm':<20}{warm['wall']:>8.2f} s{warm['rename']:>8.2f} s   references {warm['references']:.2f} s CPU,"
        f" two parses of the changed files {warm['parses']:.2f} s CPU, with the collector on {warm['collected']:.2f} s",
        flush=True,
    )
    _disputed(root, measured.results)
    yield from goals_of(renaming, measured.costs, measured.results, warm, measured.left)


def _warm(renaming: Renaming, root: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.refactor.ours", str(root), renaming.target, renaming.new, "--warm"]
    _, out = run(command, cwd=_HERE)
    found: dict[str, float] = json.loads(out)
    return found


def _row(name: str, cost: Cost | None, result: Fared | None, refused: str) -> None:
    if cost is None or result is None:
        print(f"{name:<20}{refused}", flush=True)
        return
    counts = (len(getattr(result, field)) for field in Fared.__struct_fields__)
    costs = f"{cost.wall:>8.2f} s{cost.cpu:>8.2f} s{cost.peak:>7.0f} MB"
    print(f"{name:<20}{costs}" + "".join(f"{count:>10}" for count in counts), flush=True)


def _disputed(root: Path, results: Mapping[str, Fared]) -> None:
    """Print the places that some engine changes without having to, or leaves though others change it."""
    changing: dict[Place, list[str]] = {}
    for name, each in results.items():
        for place in each.wrong | each.strings | each.prose | each.text:
            changing.setdefault(place, []).append(name)
    _listed(root, "changed, though it need not be", changing)
    found = frozenset[Place]().union(*(each.right for each in results.values()))
    changers = {place: [name for name, each in results.items() if place in each.right] for place in found}
    alone = {place: names for place, names in changers.items() if len({_engine(name) for name in names}) == 1}
    _listed(root, "right, and changed by one engine alone", alone)
    nobody = frozenset[Place]().union(*(each.missed for each in results.values())) - found
    _listed(root, "right, and changed by none", {place: [] for place in nobody})


def _engine(name: str) -> str:
    """Return the engine of a way to use it: `rope` of `rope, no collector`."""
    return name.partition(",")[0]


def _listed(root: Path, title: str, places: Mapping[Place, Sequence[str]]) -> None:
    if places:
        print(f"  {title}: {len(places)}", flush=True)
    for place, names in sorted(places.items())[:_MOST_SHOWN]:
        print(f"    {place.path}:{place.line}:{place.column}  {line_at(root, place)[:90]}  [{', '.join(names)}]")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.refactor", description=(__doc__ or "").partition("\n")[0]
    )
    kinds = [each.kind for each in RENAMINGS]
    parser.add_argument("--only", action="append", choices=kinds, help="one rename; may be given several times")
    names = [name for name in ENGINES if name != OURS]
    parser.add_argument("--skip", action="append", default=[], choices=names, help="an engine that is not asked")
    parser.add_argument("--table", action="store_true", help="print each rename as a table of Markdown, too")
    parser.add_argument("--limit", type=float, default=600, help="seconds that an engine has for a plan (default: 600)")
    parser.add_argument(
        "--peers", type=Path, default=corpus.CACHE / "peers", help="environment of the other engines (%(default)s)"
    )
    return parser.parse_args(arguments)


@contextmanager
def _copy() -> Iterator[Path]:
    """Yield a fresh copy of the release, old enough for what is seen in it to be kept."""
    release = next(release for release in corpus.RELEASES if release.name == _RELEASE)
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder).resolve() / release.folder
        shutil.copytree(corpus.fetch(release), copied, ignore=shutil.ignore_patterns(".bae-source"))
        reading.let_age()
        yield copied


if __name__ == "__main__":
    sys.exit(main())
