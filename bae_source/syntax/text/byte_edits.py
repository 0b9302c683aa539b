"""Splices on a file's text as edits on its bytes.

Invariants:
- bytes outside the splices stay as they are, in every encoding; where that cannot be, nothing is edited.
"""

from __future__ import annotations

from bae_source.errors import SourceError
from bae_source.model.changeset import Edit, edit_between
from bae_source.model.span import Span
from bae_source.syntax.text.source import Source


def byte_edits(source: Source, splices: list[tuple[Span, str]]) -> list[Edit]:
    """Turn splices on a file's text into edits on its bytes.

    Parameters:
        splices: disjoint spans of characters and what stands there afterwards.

    Raises:
        SourceError: `encoding_invalid`; `not_lossless` if the encoding carries state from one character to the next,
            so that bytes outside a splice would change.
    """
    if not source.stateless:
        return [_edit_of_whole(source, splices)]
    edits: list[Edit] = []
    offset, position = 3 if source.bom else 0, 0
    one_byte = source.encoding != "utf-8" or source.text.isascii()
    for span, new in coalesced(splices):
        start = offset + _length(source, position, span.start, one_byte=one_byte)
        old = source.content[start : start + _length(source, span.start, span.end, one_byte=one_byte)]
        encoded = source.encode(new)
        edits.append(Edit(start=start, old=old, new=encoded[3:] if source.bom else encoded))
        offset, position = start + len(old), span.end
    return edits


def _length(source: Source, start: int, end: int, *, one_byte: bool) -> int:
    """Return how many bytes some characters have."""
    return end - start if one_byte else len(source.text[start:end].encode(source.encoding))


def _edit_of_whole(source: Source, splices: list[tuple[Span, str]]) -> Edit:
    """Encode the whole new text, and take what lies between the equal head and the equal tail as one edit."""
    new_text = splice(source.text, splices)
    new = source.encode(new_text)
    if Source(new).text != new_text:
        raise SourceError(
            "not_lossless",
            f"The new text changes when it is written as {source.encoding} and read again.",
            hints=["Convert the file to UTF-8 first."],
        )
    return edit_between(source.content, new)


def splice(text: str, splices: list[tuple[Span, str]]) -> str:
    """Return `text` with disjoint spans replaced."""
    pieces: list[str] = []
    position = 0
    for span, new in sorted(splices, key=lambda item: item[0]):
        pieces += (text[position : span.start], new)
        position = span.end
    pieces.append(text[position:])
    return "".join(pieces)


def coalesced(splices: list[tuple[Span, str]]) -> list[tuple[Span, str]]:
    """Return splices sorted by where they are, those that touch each other as one."""
    result: list[tuple[Span, str]] = []
    for span, new in sorted(splices, key=lambda item: item[0]):
        if result and result[-1][0].end == span.start:
            last, text = result.pop()
            result.append((Span(last.start, span.end), text + new))
        else:
            result.append((span, new))
    return result
