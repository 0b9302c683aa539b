"""Part A: found, missed and false references of every engine, against the adjudicated truth."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import corpus
from benchmarks.read import ours
from benchmarks.read.goals import Goal, head, show
from benchmarks.read.peers import PEERS, Peers
from benchmarks.read.processes import Failed, TooSlow, apart
from benchmarks.read.subjects import SUBJECTS, Place, Subject
from benchmarks.read.truth import Score, Spot, Truth, load, score, spots

_COLUMNS = f"{'':<18}{'found':>8}{'missed':>8}{'false':>8}{'dynamic':>10}"


def accuracy(root: Path, peers: Peers, *, skip: set[str], limit: float, subjects: Sequence[Subject] = SUBJECTS) -> bool:
    """Print a table for each subject; return whether we miss none and have no false sure one.

    Parameters:
        root: a copy of the release that the truth is about.
        skip: engines that are not asked.
        limit: seconds that a peer has for one answer.
        subjects: what is asked for.
    """
    goals: list[Goal] = []
    for subject in subjects:
        truth = load(subject)
        print(f"\n{subject.target}: {len(truth.references)} references, {len(truth.dynamic)} more when it runs")
        print(_COLUMNS)
        for name, asked in PEERS.items():
            if name not in skip:
                try:
                    answer = asked(peers, subject, root, limit)
                except (TooSlow, Failed) as error:
                    print(f"{name:<18}{error}", flush=True)
                else:
                    _engine(name, truth, spots(root, answer.places))
        _engine("every word", truth, spots(root, words(root, subject)))
        goals += _ours(root, subject, truth)
    head("references of ours: no miss and no false sure one (counts)")
    return show(goals)


def words(root: Path, subject: Subject) -> Iterator[Place]:
    """Yield every place where a subject's name stands as a word in a `.py` file, its definition left out."""
    word = re.compile(rf"\b{re.escape(subject.name)}\b")
    definition = subject.definition(root)
    for file in corpus.python_files(root):
        content = file.read_bytes()
        if subject.name.encode() in content:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
            path = file.relative_to(root).as_posix()
            for number, line in enumerate(content.decode(encoding).split("\n"), 1):
                places = (Place(path, number, match.start() + 1) for match in word.finditer(line))
                yield from (place for place in places if place != definition)


def _engine(name: str, truth: Truth, found: set[Spot]) -> None:
    fared = score(truth, found)
    _row(name, fared, truth, missed=fared.missed)


def _ours(root: Path, subject: Subject, truth: Truth) -> Iterator[Goal]:
    found = apart(ours.found, root, subject.target)
    sure, unsure = score(truth, found["sure"]), score(truth, found["probable"] | found["unsure"])
    either = score(truth, found["sure"] | found["probable"] | found["unsure"])
    _row("ours, sure", sure, truth, missed=either.missed)
    _row("ours, unsure", unsure, truth, missed=None)
    print(f"{'ours, mentions':<18}{len(found['mention']):>8} listed apart", flush=True)
    name = subject.name
    yield Goal(what=f"{name}: missed, neither sure nor unsure", ratios=(either.missed,), limit=0)
    lost = len(truth.dynamic) - either.dynamic
    yield Goal(what=f"{name}: missed of those that mean it when they run", ratios=(lost,), limit=0)
    yield Goal(what=f"{name}: sure and false", ratios=(sure.false,), limit=0)


def _row(name: str, fared: Score, truth: Truth, *, missed: int | None) -> None:
    lacking = "" if missed is None else missed
    dynamic = f"{fared.dynamic}/{len(truth.dynamic)}" if truth.dynamic else ""
    print(f"{name:<18}{fared.found:>8}{lacking:>8}{fared.false:>8}{dynamic:>10}", flush=True)
