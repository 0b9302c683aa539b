"""Applies a regular expression to texts; run as a program, it does so where it can be stopped.

`re` cannot be interrupted from outside while it matches, and some expressions take longer than the universe is old. So
an expression that may backtrack runs in a process of its own, which the system's own clock ends.

Invariants:
- nothing but the standard library is imported, for the process starts with this file alone;
- the answer on a text depends on the expression and the text only, in whichever process it is found.

Protocol: frames (`system.frames`). On standard input comes the request as JSON, then each text as UTF-8; on standard
output goes, for each text, JSON of its hits, or of its replacements.
"""

from __future__ import annotations

import re
import signal
import sys

Hit = tuple[int, int, int, int]
"""Line from 1, column from 1, offset of the match in the text, and its end."""
Replacement = tuple[int, int, str]
"""Offset of a match in the text, its end, and what takes its place."""


class Stopped(Exception):
    """The search was stopped; what was found until then stands.

    Parameters:
        text: the first text that was not searched to its end.
        in_time: whether the time was not up: the process ended for another reason.
    """

    def __init__(self, text: object, *, in_time: bool) -> None:
        super().__init__("the search was stopped")
        self.text = text
        self.in_time = in_time


def hits_in(
    expression: re.Pattern[str],
    text: str,
    *,
    by_line: bool,
    spanning: bool,
    every: bool = False,
    inverted: bool = False,
) -> list[Hit]:
    """Return the first match that begins on each line.

    Parameters:
        text: lines end in `\\n` alone.
        by_line: whether each line is a text of its own to the expression; otherwise all of it is searched at once.
        spanning: whether a match may go on over several lines.
        every: whether all matches of a line are wanted that are not empty.
        inverted: whether it is the lines without a match that are wanted, each as a whole; only by line.
    """
    if every:
        return _every(expression, text, by_line=by_line)
    return _by_line(expression, text, inverted) if by_line else _at_once(expression, text, spanning=spanning)


def _every(expression: re.Pattern[str], text: str, *, by_line: bool) -> list[Hit]:
    hits: list[Hit] = []
    number, offset, counted = 1, 0, 0
    for piece in text.split("\n") if by_line else (text,):
        for match in expression.finditer(piece):
            start, end = offset + match.start(), offset + match.end()
            if start < end:
                number += text.count("\n", counted, start)
                counted = start
                hits.append((number, start - text.rfind("\n", 0, start), start, end))
        offset += len(piece) + 1
    return hits


def _by_line(expression: re.Pattern[str], text: str, inverted: bool) -> list[Hit]:
    hits: list[Hit] = []
    offset = 0
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    search = expression.search
    for number, line in enumerate(lines, 1):
        match = search(line)
        if (match is None) is inverted:
            start, end = match.span() if match else (0, len(line))
            hits.append((number, start + 1, offset + start, offset + end))
        offset += len(line) + 1
    return hits


def _at_once(expression: re.Pattern[str], text: str, *, spanning: bool) -> list[Hit]:
    hits: list[Hit] = []
    line, counted, position = 1, 0, 0
    while match := expression.search(text, position):
        start, end = match.span()
        if start == len(text) and text[-1:] in ("", "\n"):
            break  # behind the last line there is none
        line += text.count("\n", counted, start)
        counted = start
        hits.append((line, start - text.rfind("\n", 0, start), start, end))
        last = max(start, end - 1) if spanning else start
        following = text.find("\n", last)
        if following < 0:
            break
        position = following + 1
    return hits


def replacements_in(expression: re.Pattern[str], text: str, new: str | None) -> list[Replacement]:
    """Return every match with what takes its place.

    Parameters:
        text: lines end in `\\n` alone.
        new: the replacement, in which `\\1` and `\\g<name>` stand for groups; None for none, which an empty text stands
            for.
    """
    matches = expression.finditer(text)
    return [(*each.span(), "" if new is None else each.expand(new)) for each in matches]


def main() -> None:
    """Answer texts from standard input until there are no more, or the time is up."""
    import json  # which this process needs, and the one that asks does not

    source, sink = sys.stdin.buffer, sys.stdout.buffer
    asked = json.loads(source.read(int.from_bytes(source.read(4), "big")))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, asked["limit"])
    expression = re.compile(asked["expression"], asked["flags"])
    while length := source.read(4):
        text = source.read(int.from_bytes(length, "big")).decode("utf-8", "surrogatepass")
        if "new" in asked:
            found: object = replacements_in(expression, text, asked["new"])
        else:
            found = hits_in(expression, text, **asked["how"])
        answer = json.dumps(found).encode()
        sink.write(len(answer).to_bytes(4, "big") + answer)
        sink.flush()


if __name__ == "__main__":
    main()
