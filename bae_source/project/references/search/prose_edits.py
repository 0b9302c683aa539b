"""Prose with other words where it spoke of something: in comments, docstrings and text files.

    # see core.send         post, of a rename: core.post; net.send, of a move
    Use app.core.send       app.net.send
    from app.core import send               from app.net import send

Invariants:
- a place that does not hold the target as it is written is None, and stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from bae_source.model.span import Span
from bae_source.syntax.text.source import Lines

Wording = Callable[[str, int], "tuple[Span, str] | None"]
"""Returns what changes in a text, for the offset of a word; None where it stays."""

Wanted = Literal["none", "exact", "words"]
"""The mentions in prose that change: none, those with a module or class before them, or bare names, too."""
_LEAD = re.compile(r"[\w.]*\Z")
_FROM = re.compile(r"\bfrom\s+([\w.]+)\s+import\s+\Z")
_LONGEST = 300


def other_word(word: str, new: str) -> Wording:
    """Return the wording that puts one word for another."""

    def wording(text: str, start: int) -> tuple[Span, str] | None:
        end = start + len(word)
        return (Span(start, end), new) if text[start:end] == word else None

    return wording


def other_name(old: str, new: str) -> Wording:
    """Return the wording that puts one dotted name for another, as much of it as stands there."""
    around, _, word = old.rpartition(".")
    later, _, last = new.rpartition(".")

    def wording(text: str, start: int) -> tuple[Span, str] | None:
        end, before = start + len(word), text[max(0, start - _LONGEST) : start]
        if text[start:end] != word:
            return None
        if imported := _FROM.search(before):
            alone = re.match(r"[ \t]*(?:#.*)?$", text[end:].split("\n", 1)[0].rstrip("\r"))
            if imported[1] != around or not later or not alone:
                return None
            begin = start - len(before) + imported.start(1)
            return Span(begin, end), f"{later}{text[begin + len(around) : start]}{last}"
        lead = _LEAD.search(before)
        owner = lead[0].strip(".") if lead else ""
        if owner != around and not (owner and around.endswith(f".{owner}")):
            return None
        parts, count = later.split("."), owner.count(".") + 1
        shown = later if owner == around else ".".join(parts[-count:])
        return Span(start - len(owner) - bool(owner), end), f"{shown}.{last}".lstrip(".")

    return wording


def edits(text: str, places: Iterable[tuple[int, int]], wording: Wording) -> list[tuple[Span, str]] | None:
    """Return the changes at some places of a text, by line and column from 1; None if one of them stays."""
    lines = Lines(text)
    found = [wording(text, lines.start(line) + column - 1) for line, column in sorted(set(places))]
    splices = [each for each in found if each is not None]
    return splices if len(splices) == len(found) else None


def edited(content: bytes, places: Sequence[tuple[int, int]], wording: Wording) -> bytes | None:
    """Return a text file with other words at some places; None if one of them stays, or the file cannot hold them."""
    try:
        text, codec = content.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        text, codec = content.decode("latin-1"), "latin-1"
    found = edits(text, places, wording)
    for span, new in reversed(found or []):
        text = text[: span.start] + new + text[span.end :]
    try:
        return text.encode(codec) if found is not None else None
    except UnicodeEncodeError:
        return None
