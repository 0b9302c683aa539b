"""The Python API: one method a verb, each a request to the one door."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any, Self, Unpack

from msgspec.structs import replace

from bae_source.adapters.python.asking import Asking
from bae_source.adapters.python.editing import Editing, How
from bae_source.adapters.python.fitting import fitting
from bae_source.adapters.python.reading import Reading
from bae_source.adapters.python.remembering import Remembering
from bae_source.adapters.python.searching import Searching
from bae_source.adapters.python.selecting import Selecting
from bae_source.adapters.python.transacting import Transaction
from bae_source.engine.registry import REQUESTS
from bae_source.engine.service import Context, Service, called, find_root, takes
from bae_source.errors import RequestError
from bae_source.model.context import checked, steering
from bae_source.model.outcome import Outcome, Text
from bae_source.model.request import check_said, values_of


@fitting
class Source(Reading, Asking, Searching, Selecting, Editing, Remembering):
    """A Python project, addressed by name.

        src = Source(".")
        text = src.read("app.client.Client.send")
        src.edit("app.client.Client.send", new_source, if_match=text.etag)
        src.undo()

    Every changing method takes, beside its own parameters, what `How` says: `dry_run`, `reload`, `verify`, `cascade`,
    `why`; and returns an `Outcome`.
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
        self._service = Service(
            Path(root) if root is not None else find_root(Path.cwd(), os.environ), environment=os.environ
        )
        self._context = Context(who=who, calls="python")
        self._limits: dict[str, Any] = {}

    def within(self, budget: int | None = None, *, cursor: str | None = None) -> Self:
        """Return the same project with answers kept within a budget: they are whole, or an error, or pages.

            src.within(8000).read("app.client", full=True)               `budget_exceeded`, with narrower calls
            src.within(8000, cursor="0").read("app.client", full=True)   the first page; `.outcome.next_actions` goes on

        Parameters:
            budget: bytes that the text of an answer may have; None for any number, or for what the cursor says.
            cursor: which page of an answer is wanted: `0` for the first, for others what the page before says.
        """
        other = copy(self)
        other._limits = {"budget": budget, "cursor": cursor}  # noqa: SLF001  # its own, but for the name
        return other

    @property
    def root(self) -> Path:
        """The project's folder, links followed."""
        return self._service.root

    def apply(self, requests: Sequence[Mapping[str, Any]], *, message: str = "", **how: Unpack[How]) -> Outcome:
        """Make several changes in one transaction, all of them or none.

        Parameters:
            requests: the changes in their order: each has the verb as `do`, and the verb's parameters.
            message: the reason, for the history.
        """
        listed = [dict(each) if isinstance(each, Mapping) else each for each in _items(requests)]
        return self._change("apply", {"requests": listed, "message": message}, how)

    def transaction(self, why: str = "", /, **how: Unpack[How]) -> Transaction:
        """Begin a transaction: what is changed in it is planned, and made by one commit at its end.

            with src.transaction("retry on timeouts") as tx:
                tx.edit("app.client.Client.send", new_source)
                tx.insert("app.client", helper, position="last")
                print(tx.diff())

        Parameters:
            why: the reason, for the history.

        Raises:
            RequestError: `invalid_arguments`.
        """
        reason = how.get("why") or why
        kind = REQUESTS.named("apply")
        assert kind is not None, "transactions are committed by it"
        values = values_of(kind, steering(kind), {**how, "why": reason})
        context = checked(replace(self._context, **values))
        return Transaction(self._service.draft(reason), context)

    def telemetry(self) -> Text:
        """Return how many requests there were and how long they took, and parsing by file size against its targets."""
        return self._ask("telemetry", {})

    def doctor(self, *, limit: int = 10) -> Text:
        """Return what the project and its tools look like from here, what is wrong, and how to mend it.

        Parameters:
            limit: how many files that do not parse are named.

        Returns:
            The text, with paths; `.outcome.found` has the findings as values (`doctor.health.Trouble`).
        """
        return self._ask("doctor", {"limit": limit})

    def _select(self, verb: str, given: dict[str, Any]) -> Outcome:
        return self._run(verb, given)

    def _ask(self, verb: str, given: dict[str, Any]) -> Text:
        return Text(self._run(verb, given))

    def _change(self, verb: str, given: dict[str, Any], how: How) -> Outcome:
        return self._run(verb, {**given, **how})

    def _run(self, verb: str, arguments: dict[str, Any]) -> Outcome:
        if (kind := REQUESTS.named(verb)) is not None:
            check_said(kind, arguments)
        taken = {name: limit for name, limit in self._limits.items() if limit is not None and takes(verb, name)}
        asked, context = called(verb, {**taken, **arguments}, self._context)
        return self._service.run(asked, context)


def _items(given: Any) -> Any:
    """Return a sequence's items; what is none is left for the door to refuse."""
    return given if isinstance(given, Sequence) and not isinstance(given, (str, bytes)) else (given,)
