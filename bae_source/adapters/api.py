"""The Python API: one method a verb, each a request to the one door."""

from __future__ import annotations

import os
from collections.abc import Sequence
from copy import copy
from pathlib import Path
from typing import Any, Literal, Self

from msgspec.structs import replace

from bae_source.adapters.asking import Asking
from bae_source.adapters.searching import Searching
from bae_source.adapters.selecting import Selecting
from bae_source.errors import RequestError
from bae_source.model.outcome import Outcome, Text
from bae_source.model.plan import ReloadMode
from bae_source.service import Context, Service, find_root, request


class Source(Asking, Searching, Selecting):
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
        self._budget: int | None = None
        self._cursor: str | None = None

    def within(self, budget: int | None = None, *, cursor: str | None = None) -> Self:
        """Return the same project with answers kept within a budget: they are whole, or an error, or pages.

            src.within(8000).read("app.client", full=True)               `budget_exceeded`, with narrower calls
            src.within(8000, cursor="0").read("app.client", full=True)   the first page; `.outcome.next_actions` goes on

        Parameters:
            budget: bytes that the text of an answer may have; None for any number, or for what the cursor says.
            cursor: which page of an answer is wanted: `0` for the first, for others what the page before says.
        """
        other = copy(self)
        other._budget, other._cursor = budget, cursor  # noqa: SLF001  # its own, but for the name
        return other

    @property
    def root(self) -> Path:
        """The project's folder, links followed."""
        return self._service.root

    def read(
        self,
        target: str = "",
        *,
        full: bool = False,
        dedent: bool = False,
        private: bool = False,
        numbers: bool = False,
    ) -> Text:
        """Return the source of a symbol or a part, the interface of a package or module, or a data file's text.

        Parameters:
            target: dotted name such as `pkg.mod.Class.method`, `pkg.mod.f@body`, `pkg.mod@stub` or `pkg:data.txt`;
                empty for a list of the project.
            full: the whole source of a module, or of a package's `__init__`; a large data file, too.
            dedent: take the symbol's own indentation off.
            private: in an outline, show names that begin with `_` too.
            numbers: put line numbers in front; the etag stays that of the plain text.

        Returns:
            The text, with `.etag` to hand to `if_match` and `.address`, its canonical name.
        """
        given = {"target": target, "full": full, "dedent": dedent, "private": private, "numbers": numbers}
        return Text(self._run("read", given, Context(who=self._who)))

    def outline(self, target: str = "", *, depth: int = 1, private: bool = False, numbers: bool = False) -> Text:
        """Return names, signatures and first docstring lines of what is in the project, a package, module or class.

        Parameters:
            target: dotted name; empty for the project.
            depth: how many levels of members to show: 1 for the direct ones.
            private: show names that begin with `_` too, instead of their number.
            numbers: put line numbers in front.
        """
        given = {"target": target, "depth": depth, "private": private, "numbers": numbers}
        return Text(self._run("outline", given, Context(who=self._who)))

    def where(self, place: str) -> Text:
        """Return the innermost symbol at a place that a traceback, a linter or pytest names by its path.

        Parameters:
            place: such as `app/core.py:12`, `File "app/core.py", line 12`, `tests/test_core.py::test_send`.
        """
        return Text(self._run("where", {"place": place}, Context(who=self._who)))

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

    def telemetry(self) -> Text:
        """Return how many requests there were and how long they took, and parsing by file size against its targets."""
        return Text(self._run("telemetry", {}, Context(who=self._who)))

    def _select(self, verb: str, given: dict[str, Any], context: Context | None = None) -> Outcome:
        return self._run(verb, given, context or Context(who=self._who))

    def _ask(self, verb: str, given: dict[str, Any]) -> Text:
        return Text(self._run(verb, given, Context(who=self._who)))

    def _context(self, dry_run: bool, reload: ReloadMode, why: str | None) -> Context:
        return Context(dry_run=dry_run, reload=reload, why=why, who=self._who)

    def _run(self, verb: str, given: dict[str, Any], context: Context) -> Outcome:
        if self._budget is not None or self._cursor is not None:
            context = replace(context, budget=self._budget, cursor=self._cursor)
        return self._service.run(request(verb, given), context)
