"""Changes that are not made yet, kept under a handle, so that any process of this user can go on with them.

    <our folder>/drafts/draft_9f2c…      the requests, and a digest of what they came to

Invariants:
- a draft holds requests and no plan: it is planned anew where it is used, so nothing in it can be out of date;
- it lies in the folder of state that is this user's, and is read by nobody else; its handle cannot be guessed;
- a draft that is not used ends by itself, and there are never more than the limit: the oldest goes first;
- how a draft ended is known for as long as it would have lived.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from bae_source.errors import HistoryError
from bae_source.model.outcome import DRAFT_HANDLE
from bae_source.model.outcome import DRAFT_LIFETIME as LIFETIME
from bae_source.state.folders import StateFolders
from bae_source.system.descriptors import SAFELY
from bae_source.system.own_files import content_of

MOST = 64
"""How many may be kept for one project."""
_FOLDER = "drafts"
_HANDLE = re.compile(rf"{DRAFT_HANDLE}[0-9a-f]{{24}}")


class Kept(Struct, frozen=True, kw_only=True):
    """One draft.

    Parameters:
        requests: the changes, as `apply` takes them.
        message: the reason, for the history.
        digest: of what they came to, as the caller was shown it.
        refused: whether they were refused because of unsure places; else it is an open transaction.
        ended: how it ended; "" while it can be used.
    """

    requests: tuple[dict[str, Any], ...] = ()
    message: str = ""
    digest: str = ""
    refused: bool = False
    ended: str = ""


class Drafts:
    """The drafts of one project.

    Parameters:
        folders: where our state lies.
        seconds: tells the time, in seconds since the epoch.
    """

    def __init__(self, folders: StateFolders, *, seconds: Callable[[], float]) -> None:
        self._folders = folders
        self._seconds = seconds

    def keep(self, draft: Kept, handle: str | None = None) -> str:
        """Keep a draft and return its handle.

        Parameters:
            handle: of the draft that it takes the place of.

        Raises:
            OSError: nothing can be written.
        """
        name = handle or f"{DRAFT_HANDLE}{os.urandom(12).hex()}"
        folder = self._folders.make(self._place)
        self._let_go()
        unfinished = folder / f".{name}"
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | SAFELY, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(draft))
        unfinished.replace(folder / name)
        return name

    def get(self, handle: str) -> Kept:
        """Return a draft, whose lifetime begins anew.

        Raises:
            HistoryError: `handle_expired`.
        """
        self._let_go()
        path = self._place / handle
        try:
            if self._folders.id is None or not _HANDLE.fullmatch(handle):
                raise FileNotFoundError(handle)
            found = msgspec.json.decode(content_of(path), type=Kept)
            if not found.ended:
                now = self._seconds()
                os.utime(path, (now, now))
        except (OSError, msgspec.DecodeError):
            raise _expired("There is no such draft, or it has ended; nothing of it was written.") from None
        if found.ended:
            raise _expired(f"The draft has ended: {found.ended}.")
        return found

    def end(self, handle: str, how: str) -> None:
        """End a draft, and keep in mind how it ended."""
        with suppress(OSError):
            self.keep(Kept(ended=how), handle)

    def drop(self, handle: str) -> None:
        """End a draft of which no caller knows."""
        if _HANDLE.fullmatch(handle):
            (self._place / handle).unlink(missing_ok=True)

    @property
    def _place(self) -> Path:
        return self._folders.base / _FOLDER

    def _let_go(self) -> None:
        """End drafts that were not used for long, and the oldest of too many."""
        if self._folders.id is None:
            return
        now, ages = self._seconds(), dict[Path, float]()
        try:
            for path in self._place.iterdir():
                ages[path] = now - path.lstat().st_mtime
        except OSError:
            return
        newest = sorted(ages, key=ages.__getitem__)
        for path in newest:
            if ages[path] > LIFETIME or path in newest[MOST - 1 :]:
                path.unlink(missing_ok=True)


def _expired(message: str) -> HistoryError:
    lifetime = f"A draft ends {LIFETIME // 60} minutes after its last use."
    return HistoryError(
        "handle_expired", message, hints=[f"Ask for the change, or begin a transaction, anew. {lifetime}"]
    )
