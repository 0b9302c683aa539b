"""The part of the Python API that goes back and forth in the history, looks at it, and ends it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from enum import Enum
from typing import Any, Literal, Unpack

from bae_source.adapters.python.editing import How
from bae_source.model.outcome import Outcome, Text


class Last(Enum):
    """Stand-in for the operation that was made, or undone, last."""

    LAST = "last"

    def __repr__(self) -> str:
        return self.name


LAST = Last.LAST


class Remembering:
    """What was done: take it back, make it again, list it, delete it."""

    @abstractmethod
    def _ask(self, verb: str, given: dict[str, Any]) -> Text:
        """Make a reading request and return its answer."""

    @abstractmethod
    def _change(self, verb: str, given: dict[str, Any], how: How) -> Outcome:
        """Make a changing request and return what it comes to."""

    def commit(
        self,
        draft: str,
        *,
        unsure: Literal["refuse", "leave", "change"] = "refuse",
        include: Sequence[str] = (),
        **how: Unpack[How],
    ) -> Outcome:
        """Make a change that was refused because of unsure places, and was kept as a draft.

        Parameters:
            draft: its handle, as `error.details["draft"]` has it.
            unsure: what comes of the unsure places: they stay, or they change, too.
            include: places that change though they are unsure or mentions, as `ADDRESS:LINE` or `ADDRESS:LINE:COLUMN`.
        """
        return self._change("commit", {"draft": draft, "unsure": unsure, "include": include}, how)

    def abandon(self, draft: str) -> Outcome:
        """Forget a draft; nothing of it was written.

        Parameters:
            draft: its handle.
        """
        return self._change("abandon", {"draft": draft}, {})

    def undo(
        self,
        operation_id: str | Sequence[str] | Last = LAST,
        *,
        count: int | None = None,
        to: str | None = None,
        **how: Unpack[How],
    ) -> Outcome:
        """Take back the caller's last change, or not at all.

        Parameters:
            operation_id: instead of the last change, the one of this id, or all of these; never None, which is what a
                change that changed nothing has.
            count: instead, so many of the caller's last changes, all of them or none.
            to: instead, all of the caller's changes that came later than the operation of this id, or than this time.
        """
        return self._change("undo", {**_ids(operation_id), "count": count, "to": to}, how)

    def redo(
        self,
        operation_id: str | Sequence[str] | Last = LAST,
        *,
        count: int | None = None,
        **how: Unpack[How],
    ) -> Outcome:
        """Make the change again that was undone last.

        Parameters:
            operation_id: instead of the change undone last, the one of this id, or all of these.
            count: instead, so many of the changes undone last, all of them or none.
        """
        return self._change("redo", {**_ids(operation_id), "count": count}, how)

    def history(
        self,
        target: str = "",
        *,
        limit: int = 20,
        who: str | None = None,
        since: str | None = None,
        diff: bool = False,
    ) -> Text:
        """Return the operations on this project, newest first, a line each; or all there is to say of one of them.

        Parameters:
            target: only those that changed this code or anything in it; or the id of one operation, to tell it in full.
            limit: at most that many.
            who: only those of this caller.
            since: only those made then or later: `2026-11-21`, `2026-11-21T12:00` in UTC, or an age: `12h`, `30d`.
            diff: show what each of them changed.

        Returns:
            The text; `.outcome.found` has the operations as values (`Told`), `.outcome.diff` what they changed.
        """
        return self._ask("history", {"target": target, "limit": limit, "who": who, "since": since, "diff": diff})

    def prune(self, *, keep: int | None = None, older_than: str | None = None, **how: Unpack[How]) -> Outcome:
        """Delete old operations from the history for ever; with both limits, only what is beyond both.

        Parameters:
            keep: keep that many, the newest.
            older_than: delete only what is older than this: `30d`, `12h`, or a time such as `2026-11-21`.
        """
        return self._change("prune", {"keep": keep, "older_than": older_than}, how)

    def forget(self, *, foreign: bool = False, **how: Unpack[How]) -> Outcome:
        """Remove every trace of bae_source from the project: history, journal, cache, telemetry; nothing of its own.

        Parameters:
            foreign: remove instead what stands in the place of our state and was not made here by this user.
        """
        return self._change("forget", {"foreign": foreign}, how)


def _ids(given: object) -> dict[str, Any]:
    """Return the argument for ids, if it was given."""
    if given is LAST:
        return {}
    return {"operation_id": tuple(given) if isinstance(given, (list, set, frozenset)) else given}
