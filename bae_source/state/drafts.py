"""Refused changes, kept with their plan's digest under a handle, so that any process of this user can commit them.

    <our folder>/drafts/draft_9f2c…      the request, who made it and when, and what it came to

Invariants:
- a draft is a request and not a plan: it is planned anew when it is committed, so nothing in it can be out of date;
- it lies in the folder of state that is this user's, and is read by nobody else;
- a draft that is not used ends by itself, and there are never more than the limit: the oldest goes first.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from bae_source.errors import HistoryError
from bae_source.model.outcome import DRAFT_HANDLE
from bae_source.state.descriptors import SAFELY
from bae_source.state.folders import StateFolders
from bae_source.state.reading import content_of

LIFETIME = 30 * 60
"""Seconds after which a draft that is not used ends by itself."""
MOST = 64
"""How many may be kept for one project."""
_FOLDER = "drafts"
_HANDLE = re.compile(rf"{DRAFT_HANDLE}[0-9a-f]{{24}}")


class Kept(Struct, frozen=True, kw_only=True):
    """One draft.

    Parameters:
        requests: the changes that were refused, as `apply` takes them.
        message: the reason, for the history.
        who: the caller who was refused.
        digest: of what the plan came to, as the caller was shown it.
    """

    requests: tuple[dict[str, Any], ...]
    message: str = ""
    who: str = ""
    digest: str = ""


class Drafts:
    """The drafts of one project.

    Parameters:
        folders: where our state lies.
        seconds: tells the time, in seconds since the epoch.
    """

    def __init__(self, folders: StateFolders, *, seconds: Callable[[], float]) -> None:
        self._folders = folders
        self._seconds = seconds

    def keep(self, draft: Kept, handle: str | None = None) -> str | None:
        """Keep a draft and return its handle; None where nothing can be written.

        Parameters:
            handle: of the draft that it takes the place of.
        """
        name = handle or f"{DRAFT_HANDLE}{os.urandom(12).hex()}"
        try:
            folder = self._folders.make(self._place)
            self._let_go()
            unfinished = folder / f".{name}"
            descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | SAFELY, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(msgspec.json.encode(draft))
            unfinished.replace(folder / name)
        except OSError:
            return None
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
            if not found.requests:
                raise FileNotFoundError(handle)
            now = self._seconds()
            os.utime(path, (now, now))
        except (OSError, msgspec.DecodeError):
            raise HistoryError(
                "handle_expired",
                "There is no such draft, or it has ended; nothing of it was written.",
                hints=[f"Ask for the change again. A draft ends {LIFETIME // 60} minutes after its last use."],
            ) from None
        return found

    def drop(self, handle: str) -> None:
        """End a draft."""
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
