"""What a block prints, kept in part: its beginning and its end, and how much there was in between.

Invariant: the memory that it takes does not depend on how much is printed.
"""

from __future__ import annotations


class Capture:
    """Bytes as they come.

    Parameters:
        room: how many are kept at most.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0

    def take(self, piece: bytes) -> None:
        """Take some bytes."""
        self._total += len(piece)
        if (free := self._room - len(self._head)) > 0:
            self._head += piece[:free]
            piece = piece[free:]
        if piece:
            self._tail += piece
            del self._tail[: max(0, len(self._tail) - self._room)]

    def taken(self, room: int) -> tuple[str, int]:
        """Return what came, within so many bytes, and how many bytes of it are left out; and begin anew.

        What is left out is said where it was.
        """
        head, tail, total = bytes(self._head), bytes(self._tail), self._total
        self._head, self._tail, self._total = bytearray(), bytearray(), 0
        if total <= min(room, self._room):
            return _text(head), 0
        kept = max(0, min(room, self._room) - _NOTE)
        first = head[: kept - kept // 3]
        last = (head + tail)[len(head) + len(tail) - kept // 3 :] if kept // 3 else b""
        left_out = total - len(first) - len(last)
        return f"{_text(first)}\n… {left_out:,} bytes of output are left out here …\n{_text(last)}", left_out


_NOTE = 80


def _text(content: bytes) -> str:
    """Return bytes as text; a character that the cut went through is left out with its bytes."""
    return content.decode("utf-8", "replace").replace("\ufffd", "?")
