"""The measures of one project, each a row: what it is, what it came to, and what it may be at most."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from benchmarks.read.processes import run
from benchmarks.verify.locking import beside
from benchmarks.verify.mutants import End, Verdict, judged, mutants
from benchmarks.verify.projects import Change, Project, another
from benchmarks.verify.runs import OUTCOMES, Answer, Suite, ask, edit, suite

SLOWER, MORE = 1.1, 0.3
"""A verified change costs at most so many times the whole suite, or so many seconds more."""
FEW = 0.1
"""The share of the tests up to which few are affected."""
FEW_SLOWER, FEW_MOST = 0.4, 1.2
"""Then it costs at most so many times the whole suite, or so many seconds."""
LOCKED = 100.0
"""Milliseconds for which one holder has the project lock at most."""
IMPORT_MORE = 80.0
"""Milliseconds that the import check costs at most beside the import itself."""
EDITS = 10


class Row(Struct, frozen=True, kw_only=True):
    """One measure.

    Parameters:
        what: the measure, with its unit.
        value: what it came to; None where there is nothing to measure yet.
        limit: what it may be at most; None where there is no target.
        note: what else there is to know.
    """

    what: str
    value: float | None
    limit: float | None = None
    note: str = ""

    @property
    def met(self) -> bool:
        """True where the target is reached, or there is none."""
        return self.limit is None or (self.value is not None and self.value <= self.limit)

    def __str__(self) -> str:
        value = "not there yet" if self.value is None else f"{self.value:.2f}"
        limit = "" if self.limit is None else f"{self.limit:.2f}"
        verdict = "" if self.limit is None else "met" if self.met else "MISSED"
        return f"  {self.what:<66}{value:>14}{limit:>8}  {verdict:<7}{self.note}".rstrip()


def times(project: Project, changes: Sequence[Change], *, rounds: int) -> tuple[Suite, list[Row]]:
    """Measure the whole suite, and verified changes; they take turns.

    Returns:
        The suite's median run, and the rows.
    """
    suite(project)  # writes the bytecode
    firsts = [_verified(project, each) for each in changes]
    runs: list[Suite] = []
    answers: list[list[Answer]] = [[] for _ in changes]
    for _ in range(rounds):
        runs.append(suite(project))
        for each, found in zip(changes, answers, strict=True):
            found.append(_verified(project, each))
    plain = Suite(seconds=_median(runs, "seconds"), cpu=_median(runs, "cpu"), counts=runs[-1].counts)
    rows = [Row(what="plain pytest of the whole suite, s", value=plain.seconds, note=str(plain))]
    for each, first, found in zip(changes, firsts, answers, strict=True):
        rows.append(_row(each, first, found, plain))
    return plain, rows


def tests_run(project: Project, plain: Suite, *, rounds: int) -> list[Row]:
    """Compare `tests run` with plain pytest: its counts, and its seconds."""
    answers = [ask(project, "tests", "run") for _ in range(rounds)]
    what = "tests run: outcomes counted differently than by pytest"
    if answers[0].code == "unknown_operation":
        return [Row(what=what, value=None, limit=0, note="there is no verb `tests`")]
    counts = answers[-1].check("tests").get("counts") or answers[-1].outcome["counts"]
    other = [name for name in OUTCOMES if counts.get(name, 0) != plain.counts.get(name, 0)]
    note = "; ".join(f"{name} {counts.get(name, 0)}, pytest {plain.counts.get(name, 0)}" for name in other)
    seconds = _median(answers, "seconds")
    return [
        Row(what=what, value=len(other), limit=0, note=note or answers[-1].message.partition("\n")[0]),
        Row(what="tests run, s", value=seconds, note=f"{seconds / plain.seconds:.2f} times pytest"),
    ]


def killed(
    project: Project, copy: Path, plain: Suite, *, count: int, seed: int, show: Callable[[Verdict], None]
) -> Row:
    """Have seeded mutants judged by the whole suite in a copy, and by our verification; each is shown at once."""
    verdicts: list[Verdict] = []
    for each in judged(project, another(project, copy), mutants(project, count, seed), plain=plain.seconds):
        show(each)
        verdicts.append(each)
    kills = [each for each in verdicts if each.killed]
    ends = ", ".join(f"{sum(each.end is end for each in kills)} {end.value}" for end in End)
    note = f"of {len(kills)} killed: {ends}; {len(verdicts) - len(kills)} survive"
    missed = sum(each.missed for each in verdicts)
    return Row(what=f"mutants missed, of {len(verdicts)} (seed {seed})", value=missed, limit=0, note=note)


def locked(project: Project, verifying: Sequence[Change], third: Change, *, edits: int = EDITS) -> Iterator[Row]:
    """Measure edits of a third process while two others verify, and for how long the project lock is taken."""
    alone = [edit(project, each, "--reload", "off").seconds for each in (third, third.back)]
    found = beside(project, verifying, third, edits=edits)
    busy = [each for each in found.edits if each.status != "applied"]
    seconds = [each.seconds for each in found.edits]
    yield Row(
        what=f"edits refused, of {edits} beside two that verify",
        value=len(busy),
        limit=0,
        note=", ".join(sorted({each.code for each in busy})),
    )
    shown = " ".join(f"{each:.2f}" for each in seconds)
    yield Row(what="the longest of them, s", value=max(seconds), note=f"{shown}; alone {statistics.median(alone):.2f}")
    ends = [each.code or each.status for each in found.verified]
    note = ", ".join(f"{ends.count(end)} {end}" for end in sorted(set(ends)))
    refused = sum(end != "applied" for end in ends)
    yield Row(what=f"verified changes refused, of {len(ends)} meanwhile", value=refused, limit=0, note=note)
    watched = found.watched
    yield Row(
        what="the project lock, longest stretch of one holder, ms",
        value=watched.longest * 1000,
        limit=LOCKED,
        note=f"{watched.stretches} stretches; at most {watched.pause * 1000:.0f} ms between two looks",
    )


def import_check(project: Project, change: Change, package: str, *, rounds: int) -> Row:
    """Measure what the import check adds to an edit, against the import's own time; the three take turns."""
    command = [str(project.python), "-c", f"import {package}"]

    def once() -> tuple[float, float, float]:
        importing = run(command, cwd=project.root)[0].wall
        bare = _applied(edit(project, change, "--reload", "off")).seconds
        return importing, bare, _applied(edit(project, change.back)).seconds

    once()  # writes the bytecode
    own, off, on = (statistics.median(each) * 1000 for each in zip(*(once() for _ in range(rounds)), strict=True))
    return Row(
        what=f"the import check of {package}, ms more than without",
        value=on - off,
        limit=own + IMPORT_MORE,
        note=f"edit {on:.0f}, edit --reload off {off:.0f}, python -c 'import {package}' {own:.0f}",
    )


def _verified(project: Project, change: Change) -> Answer:
    """Make a change that tests verify, and take it back."""
    answer = _applied(edit(project, change, "--verify", "tests"))
    _applied(ask(project, "undo", "--reload", "off"))
    return answer


def _applied(answer: Answer) -> Answer:
    if answer.status != "applied":
        raise AssertionError(f"{answer.status} {answer.code}: {answer.message}")
    return answer


def _row(change: Change, first: Answer, answers: Sequence[Answer], plain: Suite) -> Row:
    seconds, cpu = _median(answers, "seconds"), _median(answers, "cpu")
    check = answers[-1].check("tests")
    ran = sum(check["counts"].values())
    limit = max(SLOWER * plain.seconds, plain.seconds + MORE)
    if ran <= FEW * plain.total:
        limit = max(FEW_SLOWER * plain.seconds, FEW_MOST)
    left = " and names others" if answers[-1].warning("tests_left_out") else ""
    ratio = f"{seconds / plain.seconds:.2f} times pytest, {cpu / plain.cpu:.2f} of its CPU"
    note = f"{ratio}; first {first.seconds:.2f}; ran {ran:,} of {plain.total:,}{left}"
    return Row(what=f"{change.target}, s", value=seconds, limit=limit, note=note)


def _median(runs: Sequence[Suite] | Sequence[Answer], field: str) -> float:
    values: list[float] = [getattr(each, field) for each in runs]
    return statistics.median(values)
