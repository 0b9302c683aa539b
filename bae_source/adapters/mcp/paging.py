"""Pages of a list that is sorted by name: the cursor holds the last name of the page before.

So a page is right also if the list has changed since: nothing is shown twice, and what was there all the time is not
missed.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence

from bae_source.errors import RequestError

PAGE = 100
"""Entries of a page."""
_MARK = "after:"


def page(names: Sequence[str], cursor: str | None, *, size: int = PAGE) -> tuple[list[str], str | None]:
    """Return a page of names, and the cursor of the next one; None behind the last.

    Parameters:
        names: all of them, sorted.
        cursor: which page; None for the first.

    Raises:
        RequestError: `invalid_arguments` if the cursor is none of ours.
    """
    after = "" if cursor is None else _read(cursor)
    rest = [name for name in names if name > after]
    following = _MARK + rest[size - 1] if len(rest) > size else None
    return rest[:size], base64.urlsafe_b64encode(following.encode()).decode() if following else None


def _read(cursor: str) -> str:
    try:
        text = base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True).decode()
    except (ValueError, binascii.Error):
        text = ""
    if not text.startswith(_MARK):
        raise RequestError(
            "invalid_arguments",
            "That is no cursor of this list.",
            hints=["Leave the cursor out for the first page; each page names the next one's."],
        )
    return text.removeprefix(_MARK)
