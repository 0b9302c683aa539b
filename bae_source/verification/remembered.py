"""The judges of a project that cannot judge in a copy of it, remembered in our state.

Invariant: it counts while the project's settings are as they were when it was found out.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgspec

from bae_source.state.folders import StateFolders
from bae_source.verification.shadow import place_of, tag_of

_NAME = "in_project"


class Remembered:
    """The judges of one project that judge in the project itself.

    Parameters:
        folders: where our state lies.
        digest: of the project's settings.
    """

    def __init__(self, folders: StateFolders, digest: str) -> None:
        self._folders = folders
        self._digest = digest
        self._reasons: dict[str, str] | None = None

    def has(self, name: str) -> bool:
        """Return whether a judge is known to be none in a copy."""
        return name in self._known()

    def note(self, name: str, reason: str) -> None:
        """Remember it of a judge; where our state cannot be written, it is found out again."""
        known = {**self._known(), name: reason}
        self._reasons = known
        with suppress(OSError):
            self._place.write_bytes(msgspec.json.encode([self._digest, known]))

    @property
    def _place(self) -> Path:
        return place_of(self._folders) / f"{tag_of(self._folders)}{_NAME}"

    def _known(self) -> dict[str, str]:
        if self._reasons is None:
            self._reasons = {}
            if self._folders.id is not None:
                with suppress(OSError, msgspec.MsgspecError):
                    digest, reasons = msgspec.json.decode(self._place.read_bytes(), type=tuple[str, dict[str, str]])
                    self._reasons = reasons if digest == self._digest else {}
        return self._reasons
