"""The part of the Python API that changes code; what a transaction takes, too."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Literal, TypedDict, Unpack

from bae_source.model.outcome import Outcome
from bae_source.model.plan import ReloadMode


class How(TypedDict, total=False):
    """How a change is made; every changing method takes these by name.

    Parameters:
        dry_run: plan and show the change, write nothing.
        reload: verify it by loading: `auto`, in this `process`, in a `child`, or `off`.
        why: the reason, for the history.
    """

    dry_run: bool
    reload: ReloadMode
    why: str | None


class Editing:
    """Changes code by name; every method takes what `How` says, beside its own parameters, and returns an `Outcome`."""

    @abstractmethod
    def _change(self, verb: str, given: dict[str, Any], how: How) -> Outcome:
        """Make a changing request and return what it comes to."""

    def edit(
        self,
        target: str,
        new_source: str | None = None,
        *,
        old: str | None = None,
        new: str | None = None,
        imports: Sequence[str] = (),
        comment: str | None = None,
        if_match: str | None = None,
        **how: Unpack[How],
    ) -> Outcome:
        """Replace a symbol, a part of it, or one piece of text inside it.

        Parameters:
            target: dotted name of the symbol or part.
            new_source: its new source, at any indentation.
            old, new: instead: text that occurs exactly once inside the symbol, and what shall stand there.
            imports: import statements that the module shall have.
            comment: the comment block above the symbol; "" removes it, None keeps it.
            if_match: etag that the symbol must still have.
        """
        given = {
            "target": target,
            "new_source": new_source,
            "old": old,
            "new": new,
            "imports": imports,
            "comment": comment,
            "if_match": if_match,
        }
        return self._change("edit", given, how)

    def insert(
        self,
        target: str,
        new_source: str,
        *,
        position: Literal["before", "after", "first", "last"] = "after",
        imports: Sequence[str] = (),
        if_match: str | None = None,
        **how: Unpack[How],
    ) -> Outcome:
        """Insert new source beside or inside a symbol or module.

        Parameters:
            target: dotted name of the symbol or module.
            new_source: what to insert, at any indentation.
            position: `before` or `after` the symbol, or `first` or `last` inside it; in a module, `first` is behind its
                docstring and imports.
            imports: import statements that the module shall have.
            if_match: etag that the target must still have.
        """
        given = {
            "target": target,
            "new_source": new_source,
            "position": position,
            "imports": imports,
            "if_match": if_match,
        }
        return self._change("insert", given, how)

    def delete(
        self,
        target: str,
        *,
        if_match: str | None = None,
        **how: Unpack[How],
    ) -> Outcome:
        """Delete a symbol with its decorators and comments, or its decorators or docstring alone.

        Parameters:
            target: dotted name of the symbol or part.
            if_match: etag that the symbol must still have.
        """
        return self._change("delete", {"target": target, "if_match": if_match}, how)
