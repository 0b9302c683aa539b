"""The Python API: one method a verb, each a request to the one door."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from bae_source.errors import RequestError
from bae_source.model.outcome import Outcome, Text
from bae_source.model.plan import ReloadMode
from bae_source.service import Context, Service, find_root, request


class Source:
    """A Python project, addressed by name.

        src = Source(".")
        text = src.read("app.client.Client.send")
        src.edit("app.client.Client.send", new_source, if_match=text.etag)
        src.undo()

    Every changing method takes, beside its own parameters, `dry_run` (plan and show the change, write nothing),
    `reload` (verify it by loading: `auto`, in this `process`, in a `child`, or `off`) and `why` (the reason, for the
    history), and returns an `Outcome`.
    Every method raises `ResourceError`: `RequestError` for a malformed call, `LookupFailed` where a name means nothing
    or several things, `SourceError` where code is at fault, `Refused` where nothing was written to prevent harm,
    `TransactionError` where writing was taken back, `HistoryError` where history cannot do it.

    Parameters:
        root: the project's folder; None for the nearest one upwards from the working directory.
        who: the caller, for the history; `undo` takes back the last change of the same caller. None for the user.
    """

    def __init__(self, root: str | os.PathLike[str] | None = None, *, who: str | None = None) -> None:
        if root is not None and not isinstance(root, (str, os.PathLike)):
            raise RequestError("invalid_arguments", f"The root {root!r} is no path.", hints=["Give a folder's path."])
        self._service = Service(Path(root) if root is not None else find_root(Path.cwd()), environment=os.environ)
        self._who = who

    @property
    def root(self) -> Path:
        """The project's folder, links followed."""
        return self._service.root

    def read(self, target: str, *, dedent: bool = False) -> Text:
        """Return the source of a module, a symbol or a part.

        Parameters:
            target: dotted name such as `pkg.mod.Class.method` or `pkg.mod.f@body`.
            dedent: take the symbol's own indentation off.

        Returns:
            The text, with `.etag` to hand to `if_match` and `.address`, its canonical name.
        """
        return Text(self._run("read", {"target": target, "dedent": dedent}, Context(who=self._who)))

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
        dry_run: bool = False,
        reload: ReloadMode = "auto",
        why: str | None = None,
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
        return self._run("edit", given, self._context(dry_run, reload, why))

    def insert(
        self,
        target: str,
        new_source: str,
        *,
        position: Literal["before", "after", "first", "last"] = "after",
        imports: Sequence[str] = (),
        if_match: str | None = None,
        dry_run: bool = False,
        reload: ReloadMode = "auto",
        why: str | None = None,
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
        return self._run("insert", given, self._context(dry_run, reload, why))

    def delete(
        self,
        target: str,
        *,
        if_match: str | None = None,
        dry_run: bool = False,
        reload: ReloadMode = "auto",
        why: str | None = None,
    ) -> Outcome:
        """Delete a symbol with its decorators and comments, or its decorators or docstring alone.

        Parameters:
            target: dotted name of the symbol or part.
            if_match: etag that the symbol must still have.
        """
        return self._run("delete", {"target": target, "if_match": if_match}, self._context(dry_run, reload, why))

    def undo(
        self,
        operation_id: str | None = None,
        *,
        dry_run: bool = False,
        reload: ReloadMode = "auto",
        why: str | None = None,
    ) -> Outcome:
        """Take back the caller's last change.

        Parameters:
            operation_id: instead of the last change, the one of this id.
        """
        return self._run("undo", {"operation_id": operation_id}, self._context(dry_run, reload, why))

    def redo(
        self,
        operation_id: str | None = None,
        *,
        dry_run: bool = False,
        reload: ReloadMode = "auto",
        why: str | None = None,
    ) -> Outcome:
        """Make the change again that was undone last.

        Parameters:
            operation_id: instead of the change undone last, the one of this id.
        """
        return self._run("redo", {"operation_id": operation_id}, self._context(dry_run, reload, why))

    def history(self, limit: int = 20, *, who: str | None = None) -> Text:
        """Return the operations on this project, newest first, a line each.

        Parameters:
            limit: at most that many.
            who: only those of this caller.
        """
        return Text(self._run("history", {"limit": limit, "who": who}, Context(who=self._who)))

    def _context(self, dry_run: bool, reload: ReloadMode, why: str | None) -> Context:
        return Context(dry_run=dry_run, reload=reload, why=why, who=self._who)

    def _run(self, verb: str, given: dict[str, Any], context: Context) -> Outcome:
        return self._service.run(request(verb, given), context)
