"""The obstacle of an undo for a person: the text that was left, the present one, and the one that undoing would give.

Invariant: a preview is a text. It is never written to the project, whether it merges cleanly or not.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from bae_source.history.record.diff import unified_diff
from bae_source.history.travel.merging import MOST_LINES, Merged, merged
from bae_source.model.changeset import between

_MOST_BYTES = 64_000


class Conflict(Struct, frozen=True, kw_only=True):
    """A file that is not what it must be for a change to be undone or made again; each version None for no file.

    Parameters:
        path, name: of the file, and what it is called in messages.
        left: what it must hold.
        now: what it holds.
        aim: what it would hold afterwards.
    """

    path: str
    name: str
    left: bytes | None
    now: bytes | None
    aim: bytes | None


def preview(conflict: Conflict, operation_id: str, deed: str) -> str:
    """Draw a conflict as two diffs: what happened since, and what the change would come to on top of that.

    Parameters:
        deed: `undo` or `redo`.
    """
    since = _diff(conflict, conflict.left, conflict.now)
    lines = [f"# {conflict.name}: what changed since {operation_id} {_LEFT[deed]}\n", since]
    both = _both(conflict, operation_id, deed)
    if both is None:
        return "".join([*lines, f"# {conflict.name}: what {deed} would give cannot be shown line by line\n"])
    how = "would give now" if both.clean else "would give now; the marked lines were changed on both sides"
    return "".join([*lines, f"# {conflict.name}: what {deed} {how}\n", _diff(conflict, conflict.now, both.content)])


def versions(conflict: Conflict, operation_id: str, deed: str) -> dict[str, Any]:
    """Return a conflict as data for programs: the versions as text, None for no file, or for one too large for that."""
    both = _both(conflict, operation_id, deed)
    return {
        "module": conflict.name,
        "left": _text(conflict.left),
        "now": _text(conflict.now),
        "aim": _text(conflict.aim),
        "merged": None if both is None else _text(both.content),
        "clean": both is not None and both.clean,
    }


_LEFT = {"undo": "left it", "redo": "was undone"}


def _both(conflict: Conflict, operation_id: str, deed: str) -> Merged | None:
    """Merge what happened since with what the change would do; None where that is no question of lines."""
    if conflict.left is None or conflict.now is None or conflict.aim is None:
        return None
    parts = (conflict.left, conflict.now, conflict.aim)
    if any(b"\0" in part or part.count(b"\n") > MOST_LINES for part in parts):
        return None
    return merged(*parts, names=("now", f"{deed} of {operation_id}"))


def _diff(conflict: Conflict, before: bytes | None, after: bytes | None) -> str:
    sides = [text for text in (before, after) if text is not None]
    if any(b"\0" in text or text.count(b"\n") > MOST_LINES for text in sides):
        return "# (not shown: it is too large, or no text)\n"
    contents = {} if before is None else {conflict.path: before}
    return unified_diff(between({conflict.path: before}, {conflict.path: after}), contents)


def _text(content: bytes | None) -> str | None:
    if content is None or len(content) > _MOST_BYTES:
        return None
    return content.decode("utf-8", "replace")
