"""Tell a file of ours whose content was not whole yet when its process died from one that somebody saved.

Invariant: a file that has a mode to get has none but its owner's until its content is whole, see `staging`.
"""

from __future__ import annotations

import stat

from bae_source.transaction.disk.targets import Content, Found

_OTHERS = stat.S_IXUSR | stat.S_IRWXG | stat.S_IRWXO


def begins(whole: bytes | None, found: Found) -> bool:
    """Say whether a file holds a beginning of what it was to hold."""
    return whole is not None and found.content is not None and whole.startswith(found.content)


def may_be_draft(held: Found, content: Content) -> bool:
    """Say whether a held file may be as much of the new one as had been written."""
    if held.status is None or not begins(content.after, held):
        return False
    return content.model is None or not held.status.st_mode & _OTHERS


def is_told_by_mode(content: Content) -> bool:
    """Say whether what comes out of a target has another mode than a draft, or nothing can come out."""
    if content.before is None or content.looks is None:
        return True
    return not content.anew and bool(content.looks.mode & _OTHERS)
