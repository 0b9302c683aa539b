"""Line numbers in front of a text, each of whose lines keeps its own end."""

from __future__ import annotations

from bae_source.syntax.text.source import NEWLINE


def numbered(text: str, first: int) -> str:
    """Return lines with their numbers in front; each keeps its own line end."""
    lines, start = [], 0
    for end in [*(match.end() for match in NEWLINE.finditer(text)), len(text)]:
        if start < end:
            lines.append(text[start:end])
        start = end
    width = max(4, len(str(first + len(lines) - 1)))
    return "".join(f"{number:>{width}}  {line}" for number, line in enumerate(lines, first))
