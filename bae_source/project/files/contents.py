"""The bytes of many files for one look into each, and the stamps under which what is seen in them may be kept.

Invariants:
- a stamp is given out only if the bytes were read after it was taken, and if it will tell of every later change;
- a file that cannot be read is named as such, never left out in silence.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from msgspec import UNSET, Struct, UnsetType

from bae_source.errors import ResourceError
from bae_source.project.files.port import gone
from bae_source.project.files.stamps import TOGETHER, is_settled, whole
from bae_source.syntax.text.source import Source, source_of

if TYPE_CHECKING:
    from bae_source.project.files.port import Stamp
    from bae_source.project.files.snapshot import Snapshot

LARGE = 10_000_000
"""Bytes; whether a larger file may be read is asked."""


class Content(Struct):
    """The content of one file.

    Parameters:
        path: where it is.
        found: its bytes, or why it cannot be read.
        stamp: under which what is seen in them may be kept; None where it may not.
    """

    path: str
    found: bytes | ResourceError
    stamp: Stamp | None
    _source: Source | UnsetType | None = UNSET

    def read(self) -> bytes:
        """Return the bytes; raise the error where there are none."""
        if isinstance(self.found, ResourceError):
            raise self.found
        return self.found

    def source(self) -> Source | None:
        """Return what `source_of` gives for the bytes, decoded once for all callers; raise as it and `read` do."""
        if self._source is UNSET:
            self._source = source_of(self.read())
        return self._source


def contents_of(snapshot: Snapshot, paths: Collection[str]) -> Iterator[Content]:
    """Yield the content of each file of the census; it is not kept."""
    stamps, glance, is_read = snapshot.census.stamps, snapshot.files.glance, snapshot.is_read
    if len(paths) > TOGETHER:
        stamps = whole(stamps)
    now = snapshot.clock()
    for path in paths:
        stamp = stamps[path]
        content: bytes | ResourceError
        kept: Stamp | None
        try:
            if stamp.size > LARGE:
                snapshot.check_size(path)
            if is_read(path):
                content, kept = content_of(snapshot, path), snapshot.stamp_of(path)
            else:
                content, kept = glance(path, stamp.size), stamp
        except FileNotFoundError:
            content, kept = gone(), None
        except ResourceError as error:
            content, kept = error, None
        yield Content(path, content, kept if kept is not None and is_settled(kept, now) else None)


def content_of(snapshot: Snapshot, path: str) -> bytes:
    """Return a file's bytes as the snapshot has them; they are not kept.

    Raises:
        SourceError: it is too large.
        Refused: `forbidden` if it may not be read, `stale` if it has gone meanwhile.
    """
    snapshot.check_size(path)
    content = snapshot.glance(path)
    if content is None:
        raise gone()
    return content
