"""One splice in one file, in bytes; it knows what it replaces, so it can be inverted and checked."""

from __future__ import annotations

from msgspec import Struct


class Edit(Struct, frozen=True, order=True):
    """Replace the bytes `old`, which stand at offset `start`, by `new`."""

    start: int
    old: bytes
    new: bytes

    @property
    def end(self) -> int:
        """Offset just behind the replaced bytes."""
        return self.start + len(self.old)

    @property
    def growth(self) -> int:
        """By how many bytes everything behind this edit moves."""
        return len(self.new) - len(self.old)
