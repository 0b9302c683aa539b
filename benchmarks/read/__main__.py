"""Finding and reading, side by side with other engines on django's source distribution, all in one run.

    python -m benchmarks.read                          everything; takes about an hour
    python -m benchmarks.read --only accuracy          found, missed and false references, against adjudicated truth
    python -m benchmarks.read --only timings           references: ours and ty's in turn, whole processes
    python -m benchmarks.read --only outlines          the whole project's outline, and generated trees
    python -m benchmarks.read --only greps             grep against git grep
    python -m benchmarks.read --only parses            parse times, as our telemetry reports them
    python -m benchmarks.read --only certainties       how sure the answers about kombu, rich and flask are

The other engines are installed at the versions of `benchmarks/peers/requirements.txt`, into an environment of their own
(`--peers DIR`). Works on a copy of the distribution, so that no cache and no state of anybody is in it. Ends with 1 if
a goal is missed.

How the interpreter was built counts: CPython with profile-guided optimisation, as distributions ship it, answers a
search for references in 0.8 to 0.85 of the time of a plain build.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks import corpus
from benchmarks.read import ours
from benchmarks.read.accuracy import accuracy
from benchmarks.read.certainties import certainties
from benchmarks.read.greps import greps
from benchmarks.read.outlines import outlines
from benchmarks.read.parses import parses
from benchmarks.read.peers import PEERS, Peers
from benchmarks.read.processes import Failed, TooSlow
from benchmarks.read.timings import timings

_RELEASE = "django"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is asked for and print tables; 1 if a goal is missed."""
    options = _options(arguments)
    skip = set(options.skip)
    peers = Peers(folder=options.peers.resolve())
    rounds = options.rounds
    parts: dict[str, Callable[[Path], bool]] = {
        "accuracy": lambda root: accuracy(root, peers, skip=skip, limit=options.limit),
        "timings": lambda root: timings(root, peers, rounds=rounds, skip=skip, limit=options.limit),
        "outlines": lambda root: outlines(root, rounds=rounds, trees=not options.no_trees),
        "greps": lambda root: greps(root, rounds=rounds),
        "parses": parses,
        "certainties": lambda _: certainties(),
    }
    chosen = options.only or list(parts)
    if {"accuracy", "timings"} & set(chosen):
        peers.ready()
    met = True
    for name in chosen:
        print(f"\n== {name}", flush=True)
        with _copy() as root:
            try:
                met = parts[name](root) and met
            except (Failed, TooSlow) as error:
                print(f"{name} could not be finished: {error}", flush=True)
                met = False
    return 0 if met else 1


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.read", description=(__doc__ or "").partition("\n")[0])
    names = ["accuracy", "timings", "outlines", "greps", "parses", "certainties"]
    parser.add_argument("--only", action="append", choices=names, help="one part; may be given several times")
    parser.add_argument("--rounds", type=int, default=5, help="how often two engines take turns (default: 5)")
    parser.add_argument("--skip", action="append", default=[], choices=list(PEERS), help="an engine that is not asked")
    parser.add_argument("--limit", type=float, default=120, help="seconds that a peer has for an answer (default: 120)")
    parser.add_argument("--no-trees", action="store_true", help="leave the generated projects out")
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
        ours.let_age()
        yield copied


if __name__ == "__main__":
    sys.exit(main())
