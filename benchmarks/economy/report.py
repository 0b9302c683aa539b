"""The tables: what each way took, the ratios of ours to the plain one, the sums, and which goals are missed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from benchmarks.economy.counting import MEASURES, Call, Count, summed
from benchmarks.economy.model import Shell, Task, Way

IN_SUM = {"calls": 0.7, "written": 0.6, "read": 0.8}
"""What ours may take at most of all tasks together, over the plain way."""
IN_ONE = 1.2
"""What ours may take at most of any one task, by each measure."""
_PLAIN: Way = "plain"
_LINE = "{:<34}{:>9}{:>10}{:>10}{:>9}"
_TYPED, _ANSWERED = ">>> ", "  | "


class Result(Struct, frozen=True, kw_only=True):
    """What came of one task: the count of each way."""

    task: Task
    counts: Mapping[Way, Count]


def table(result: Result) -> Iterator[str]:
    """Yield the lines of one task."""
    yield _LINE.format(f"{result.task.number:>2} {result.task.title}", *MEASURES, "seconds")
    yield from _rows(result.counts)


def sums(results: Sequence[Result]) -> Iterator[str]:
    """Yield the lines of all tasks together."""
    yield _LINE.format(f"   sum of {len(results)} tasks", *MEASURES, "seconds")
    yield from _rows(_summed(results))


def missed(results: Sequence[Result]) -> list[str]:
    """List the goals that are missed."""
    found = [
        f"task {result.task.number}, {way}: {measure} {ratio:.2f} of plain, at most {IN_ONE}"
        for result in results
        for way, ratios in _ratios(result.counts)
        for measure, ratio in ratios.items()
        if ratio > IN_ONE
    ]
    return found + [
        f"sum, {way}: {measure} {ratio:.2f} of plain, at most {IN_SUM[measure]}"
        for way, ratios in _ratios(_summed(results))
        for measure, ratio in ratios.items()
        if ratio > IN_SUM[measure]
    ]


def transcript(way: Way, calls: Sequence[Call]) -> Iterator[str]:
    """Yield what is typed and what is answered, with the numbers of characters that are counted."""
    for number, call in enumerate(calls, 1):
        yield f"\n[{way}, call {number}: {len(call.step.typed):,} written, {len(call.answer):,} read]"
        prompt = "$ " if isinstance(call.step, Shell) else _TYPED
        yield prompt + call.step.typed
        yield from (_ANSWERED + line for line in call.answer.splitlines())


def _rows(counts: Mapping[Way, Count]) -> Iterator[str]:
    for way, count in counts.items():
        numbers = (f"{getattr(count, measure):,}" for measure in MEASURES)
        yield _LINE.format(f"   {way}", *numbers, f"{count.seconds:.1f}")
    for way, ratios in _ratios(counts):
        yield _LINE.format(f"   {way} / plain", *(f"{ratio:.2f}" for ratio in ratios.values()), "")


def _ratios(counts: Mapping[Way, Count]) -> Iterator[tuple[Way, dict[str, float]]]:
    """Yield each way of ours with its ratios to the plain way; none where that was not done."""
    if (plain := counts.get(_PLAIN)) is None:
        return
    for way, count in counts.items():
        if way != _PLAIN:
            yield (
                way,
                {measure: getattr(count, measure) / max(getattr(plain, measure), 1) for measure in MEASURES},
            )


def _summed(results: Sequence[Result]) -> dict[Way, Count]:
    ways = results[0].counts if results else ()
    return {way: summed(result.counts[way] for result in results) for way in ways}
