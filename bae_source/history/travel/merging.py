"""Three versions of a text merged: the changes of both sides to the text that they began with.

    merged(b"a\\nb\\nc\\n", b"A\\nb\\nc\\n", b"a\\nb\\nC\\n")      A b C, clean

Invariant: lines are taken from the versions as they are; nothing is invented but the marks around what both sides
changed in different ways, and what has marks is never written to the project.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from msgspec import Struct

MOST_LINES = 5_000
"""Of a longer text no one wants to see a preview, and comparing it would take minutes."""


class Merged(Struct, frozen=True, kw_only=True):
    """The merge of three versions.

    Parameters:
        content: with conflict marks where it is not clean.
        clean: whether no place was changed by both in different ways.
    """

    content: bytes
    clean: bool


def merged(base: bytes, ours: bytes, theirs: bytes, *, names: tuple[str, str] = ("ours", "theirs")) -> Merged:
    """Merge by lines.

    Parameters:
        base: what both sides began with.
        names: what the two sides are called in conflict marks.
    """
    a, b, c = (text.splitlines(keepends=True) for text in (base, ours, theirs))
    pieces: list[bytes] = []
    clean = True
    for first, second, third in _regions(a, b, c):
        if second == third or third == first:
            pieces += second
        elif second == first:
            pieces += third
        else:
            clean = False
            pieces += _conflict(second, third, names)
    return Merged(content=b"".join(pieces), clean=clean)


def _conflict(ours: Sequence[bytes], theirs: Sequence[bytes], names: tuple[str, str]) -> Iterator[bytes]:
    yield f"<<<<<<< {names[0]}\n".encode()
    yield from map(_ended, ours)
    yield b"=======\n"
    yield from map(_ended, theirs)
    yield f">>>>>>> {names[1]}\n".encode()


def _ended(line: bytes) -> bytes:
    return line if line.endswith((b"\n", b"\r")) else line + b"\n"


def _regions(
    base: Sequence[bytes], ours: Sequence[bytes], theirs: Sequence[bytes]
) -> Iterator[tuple[Sequence[bytes], Sequence[bytes], Sequence[bytes]]]:
    """Yield pieces of the three that belong together, alternately changed in one and common to all."""
    at_a = at_b = at_c = 0
    for a, b, c, size in (*_common(base, ours, theirs), (len(base), len(ours), len(theirs), 0)):
        yield base[at_a:a], ours[at_b:b], theirs[at_c:c]
        yield base[a : a + size], ours[b : b + size], theirs[c : c + size]
        at_a, at_b, at_c = a + size, b + size, c + size


def _common(
    base: Sequence[bytes], ours: Sequence[bytes], theirs: Sequence[bytes]
) -> Iterator[tuple[int, int, int, int]]:
    """Yield where lines of the base stand in both others, and how many."""
    left = [block for block in SequenceMatcher(None, base, ours, autojunk=False).get_matching_blocks() if block.size]
    right = [block for block in SequenceMatcher(None, base, theirs, autojunk=False).get_matching_blocks() if block.size]
    i = j = 0
    while i < len(left) and j < len(right):
        start = max(left[i].a, right[j].a)
        end = min(left[i].a + left[i].size, right[j].a + right[j].size)
        if start < end:
            yield start, left[i].b + start - left[i].a, right[j].b + start - right[j].a, end - start
        if left[i].a + left[i].size < right[j].a + right[j].size:
            i += 1
        else:
            j += 1
