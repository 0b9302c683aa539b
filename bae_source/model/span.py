"""Spans: half-open ranges of offsets, and places as line and column.

A span says nothing of what it counts: `syntax` counts characters of decoded text, `ChangeSet` counts bytes.
"""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from msgspec import Struct


class Span(Struct, frozen=True, order=True):
    """The half-open range `[start, end)` of offsets."""

    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start

    def cut(self, text: str) -> str:
        """Return the part of `text` that the span covers."""
        return text[self.start : self.end]

    def contains(self, other: "Span") -> bool:
        """Return whether `other` lies wholly inside this span."""
        return self.start <= other.start and other.end <= self.end


class Place(Struct, frozen=True, order=True):
    """A line and a column, both counted from 1; columns count characters."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"
