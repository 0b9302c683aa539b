"""Some files whose facts are looked up, and worked out where they are not known, together."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Generic, TypeGuard, TypeVar

from bae_source.errors import ResourceError, SourceError
from bae_source.project.facts.kinds import USES, FactKind, Words

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
        words: what is looked for, if only what has to do with it need be known.
        again: digests of contents of which others asked for something else; all of them is worked out now.
        todo: digests of contents whose facts are being worked out.
        batches: where that is done, in the same order.
    """

    def __init__(self, kind: FactKind[T], paths: Sequence[str], words: Words = None) -> None:
        self.kind = kind
        self.paths = paths
        self.words = words
        self.again: set[str] = set()
        self.digests: dict[str, str] = {}
        self.found: dict[str | None, T | SourceError] = {}
        self.errors: dict[str, ResourceError] = {}
        self.seen: dict[str, Seen] = {}
        self.todo: list[str] = []
        self.batches: list[Batch] = []

    def suffices(self, found: object) -> bool:
        """Say whether as much is known of a file as was asked for."""
        if not may_grow(found):
            return True
        from bae_source.syntax.names.growing import holds  # loaded already, where something may grow

        return self.words is not None and not holds(found, self.words)

    def sizes(self) -> list[int]:
        """Return how many bytes each of the contents had that were worked out."""
        return [size for batch in self.batches for size in batch.sizes]


def joined(windows: Collection[Window[Uses]]) -> Window[Uses]:
    """Return several windows as one."""
    one = Window(USES, [path for window in windows for path in window.paths], ())
    for window in windows:
        one.digests |= window.digests
        one.found |= window.found
        one.errors |= window.errors
        one.seen |= window.seen
        one.todo += window.todo
        one.batches += window.batches
    return one


def may_grow(found: object) -> TypeGuard[Uses]:
    """Say whether these are uses of which something was left out."""
    return bool(getattr(found, "left_out", False))
