"""Some files whose facts are looked up, and worked out where they are not known, together."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from bae_source.errors import ResourceError, SourceError
from bae_source.project.facts.kinds import USES, FactKind

if TYPE_CHECKING:
    from bae_source.project.facts.pool import Batch
    from bae_source.state.cache import Seen
    from bae_source.syntax.names.uses import Uses

T = TypeVar("T")


class Window(Generic[T]):
    """Some files that are looked up, read and parsed together.

    Attributes:
        digests: of the files' bytes, by path.
        found: facts by digest.
        errors: why files could not be read, by path.
        seen: what is to be remembered of the paths that were read.
        todo: digests of contents whose facts are being worked out.
        batches: where that is done, in the same order.
    """

    def __init__(self, kind: FactKind[T], paths: Sequence[str]) -> None:
        self.kind = kind
        self.paths = paths
        self.digests: dict[str, str] = {}
        self.found: dict[str | None, T | SourceError] = {}
        self.errors: dict[str, ResourceError] = {}
        self.seen: dict[str, Seen] = {}
        self.todo: list[str] = []
        self.batches: list[Batch] = []

    def sizes(self) -> list[int]:
        """Return how many bytes each of the contents had that were worked out."""
        return [size for batch in self.batches for size in batch.sizes]


def joined(windows: Collection[Window[Uses]]) -> Window[Uses]:
    """Return several windows as one."""
    one = Window(USES, [path for window in windows for path in window.paths])
    for window in windows:
        one.digests |= window.digests
        one.found |= window.found
        one.errors |= window.errors
        one.seen |= window.seen
        one.todo += window.todo
        one.batches += window.batches
    return one
