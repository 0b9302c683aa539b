"""A text that is changed step by step, and what all steps together are as splices on the text it began as.

Each step sees what the steps before it left, so none has to reckon with the others. What no step has touched is known
to be untouched: the splices never span it.
"""

from __future__ import annotations

from collections.abc import Iterable

from bae_source.model.span import Span

Splices = list[tuple[Span, str]]


class Revision:
    """One text being changed.

    Parameters:
        text: what it begins as.
    """

    def __init__(self, text: str) -> None:
        self._first = text
        self._pieces: list[Span | str] = [Span(0, len(text))]
        self.text = text

    def apply(self, splices: Iterable[tuple[Span, str]]) -> None:
        """Make some splices on the present text."""
        for span, new in sorted(splices, key=lambda item: item[0], reverse=True):
            self._pieces = [*self._cut(0, span.start), new, *self._cut(span.end, len(self.text))]
            self.text = "".join(map(self._shown, self._pieces))

    def splices(self) -> Splices:
        """Return the result of all steps, as splices on the first text."""
        result: Splices = []
        position, new = 0, ""
        for piece in (*self._pieces, Span(len(self._first), len(self._first))):
            if isinstance(piece, str):
                new += piece
                continue
            if new or piece.start > position:
                result.append((Span(position, piece.start), new))
            position, new = piece.end, ""
        return [(span, text) for span, text in result if span.cut(self._first) != text]

    def _cut(self, start: int, end: int) -> list[Span | str]:
        """Return the pieces of a stretch of the present text; none is empty."""
        found: list[Span | str] = []
        position = 0
        for piece in self._pieces:
            low, high = max(start - position, 0), min(end - position, len(piece))
            if low < high:
                part = piece[low:high] if isinstance(piece, str) else Span(piece.start + low, piece.start + high)
                found.append(part)
            position += len(piece)
        return found

    def _shown(self, piece: Span | str) -> str:
        return piece if isinstance(piece, str) else piece.cut(self._first)
