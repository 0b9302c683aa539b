"""The rules of counting, as functions; `python -m benchmarks.economy --show N` prints what they are applied to.

*Calls*: steps. Commands chained in one call of the shell are one call, for every way.

*Written*: characters of what the caller types, less those of `Task.spelled`: source text that is new in the final diff
and that every way has to write. It is subtracted once from every way, each line without the blanks around it. So what
counts is commands, flags, tool names, JSON with its escapes, names, old text, indentation, and new text that one way
writes twice or another need not write at all.

*Read*: characters of all that the steps answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from benchmarks.economy.model import Step, Task, Way, texts


class Call(Struct, frozen=True, kw_only=True):
    """One step, carried out."""

    step: Step
    answer: str
    seconds: float


class Count(Struct, frozen=True, kw_only=True):
    """What one way took, of one task or of several."""

    calls: int
    written: int
    read: int
    seconds: float


MEASURES = ("calls", "written", "read")
"""What the goals are about; seconds depend on the machine, and are printed alone."""


def counted(task: Task, calls: Sequence[Call]) -> Count:
    """Count what one way took."""
    return Count(
        calls=len(calls),
        written=sum(len(call.step.typed) for call in calls) - subtracted(task.spelled),
        read=sum(len(call.answer) for call in calls),
        seconds=sum(call.seconds for call in calls),
    )


def summed(counts: Iterable[Count]) -> Count:
    """Add counts up."""
    all_of_them = list(counts)
    return Count(
        calls=sum(count.calls for count in all_of_them),
        written=sum(count.written for count in all_of_them),
        read=sum(count.read for count in all_of_them),
        seconds=sum(count.seconds for count in all_of_them),
    )


def subtracted(pieces: Iterable[str]) -> int:
    """Count the characters of new source text, each line without the blanks around it."""
    return sum(map(len, _lines(pieces)))


def not_spelled(task: Task, way: Way) -> list[str]:
    """List the lines of `spelled` that a way does not write, and that must not be subtracted from it therefore."""
    written = "\n".join(text for step in task.steps(way) for text in texts(step))
    return [line for line in _lines(task.spelled) if line not in written]


def not_new(task: Task, diff: str) -> list[str]:
    """List the lines of `spelled` that the final diff does not add."""
    added = "\n".join(line[1:] for line in diff.splitlines() if line.startswith("+"))
    return [line for line in _lines(task.spelled) if line not in added]


def not_read(task: Task, calls: Iterable[Call]) -> list[str]:
    """List the facts that the answers did not show."""
    answers = "\n".join(call.answer for call in calls)
    return [fact for fact in task.facts if fact not in answers]


def _lines(pieces: Iterable[str]) -> Iterator[str]:
    for piece in pieces:
        yield from filter(None, map(str.strip, piece.splitlines()))
