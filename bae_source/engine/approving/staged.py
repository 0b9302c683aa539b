"""The files that git has staged, as a caller may read them."""

from __future__ import annotations

from collections.abc import Iterator

from bae_source.engine.approving.hiding import Hidden
from bae_source.project.git.index import GitIndex
from bae_source.project.git.staged import Staged


class VeiledStaged(Staged):
    """The files in an index, as a caller may read them.

    Parameters:
        index: the source of their bytes.
        hidden: decides which files may not be read.
    """

    def __init__(self, index: GitIndex, hidden: Hidden) -> None:
        super().__init__(index)
        self._hidden = hidden

    def pieces(self, path: str) -> Iterator[bytes]:
        """Yield a file's content, also of one that the caller may not read: the engine reads settings so."""
        yield super().read(path)

    def read(self, path: str) -> bytes:
        """Return a file's content."""
        refusal = self._hidden.refusal(path)
        if refusal is not None:
            self.unread.add(path)
            raise refusal
        return super().read(path)
