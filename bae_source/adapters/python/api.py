"""The Python API: one method a verb (`verbs`), each a request to the one door."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from msgspec.structs import replace

from bae_source.adapters.python.methods import method_of, named, return_of, valued
from bae_source.adapters.python.transacting import Transaction, User
from bae_source.adapters.python.verbs import Verbs
from bae_source.engine.meta.service import Meta
from bae_source.engine.registry import REQUESTS, takes
from bae_source.engine.service import Context, Service, find_root
from bae_source.errors import RequestError
from bae_source.model.context import checked, steering
from bae_source.model.request import Request, values_of

if TYPE_CHECKING:
    from typing import Unpack

    from bae_source.adapters.python.verbs import How


class Source(Verbs):
    """A Python project, addressed by name.

        src = Source(".")
        text = src.read("app.client.Client.send")
        src.edit("app.client.Client.send", new_source, if_match=text.etag)
        src.undo()

    A reading method returns a `Text`, whose `.outcome.found` has the same as values, or of selectors their JSON. A
    changing one takes, beside its own parameters, `dry_run`, `reload`, `verify`, `tidy`, `cascade` and `why`, and
    returns an `Outcome`.
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
        folder = Path(root) if root is not None else find_root(Path.cwd(), os.environ)
        self._use(Service(folder, environment=os.environ))
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
    def meta(self) -> Self:
        """The installed bae_source itself as a project: `src.meta.read("bae_source.errors.Refused")`.

        A change of it is imported, and has to do its main work in a child, before it is written. This process takes it
        at once where it can; the outcome says where it cannot.

        Raises:
            RequestError: `invalid_arguments`, where this is the engine's own source already.
            Refused: `forbidden`, where that cannot be read.
        """
        if isinstance(self._service, Meta):
            raise RequestError("invalid_arguments", "This is bae_source itself already.", hints=["Leave one meta out."])
        other = copy(self)
        other._use(Meta(environment=os.environ, stays=True))  # noqa: SLF001  # here, too
        other._limits = {}  # noqa: SLF001
        return other

    @property
    def root(self) -> Path:
        """The project's folder, links followed."""
        return self._service.root

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
        kind = named("apply")
        values = values_of(kind, steering(kind), {**how, "why": reason})
        context = checked(replace(self._context, **values))
        return Transaction(self._service.draft(reason), context, self._user)

    def _use(self, service: Service) -> None:
        """Take an engine, and let go of its files with the last object that uses it: it is in circles itself."""
        self._service, self._user = service, User(service)

    def _call(self, kind: type[Request], placed: Sequence[Any], given: Mapping[str, Any]) -> Any:
        """Make the request of a method's call."""
        limits = {name: each for name, each in self._limits.items() if each is not None and takes(kind.verb, name)}
        asked, context = return_of(kind, placed, given, self._context, limits)
        return valued(asked, self._service.run(asked, context))

    if not TYPE_CHECKING:

        def __getattr__(self, verb: str) -> Any:
            """Return the method of a verb that the engine was given since this was loaded."""
            if verb not in REQUESTS.verbs:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {verb!r}")
            return method_of(verb).__get__(self)
