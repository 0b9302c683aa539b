"""The engine's own source, as a caller may read it."""

from __future__ import annotations

from functools import cached_property

from bae_source.engine.approving.seeing import Seeing, Seen
from bae_source.engine.meta.installation import NAME
from bae_source.project.files.part import Part
from bae_source.project.files.port import Disk


class PartSeeing(Seeing):
    """Gives out the files of the engine's own package."""

    def files(self) -> Seen:
        """Return the files as the caller may read them now."""
        return SeenPart(self)

    @cached_property
    def disk(self) -> Disk:
        """The files themselves."""
        return Part(self.root, NAME)


class SeenPart(Seen, Part):
    """The files of the engine's own package, as a caller may read them.

    Parameters:
        seeing: gives them out.
    """

    def __init__(self, seeing: Seeing) -> None:
        self._name = NAME
        super().__init__(seeing)
