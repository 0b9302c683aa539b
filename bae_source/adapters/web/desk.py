"""The engine behind the page: what is shown comes from one engine, and what is decided goes through another.

Each is used by one thread at a time, so that a decision that takes a minute of tests blocks no reader.

Invariant: an answer is data, and an error is one as well, with a code and what to do next.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from bae_source.adapters.bug import bug
from bae_source.adapters.web.drawing import drawn
from bae_source.engine.approving.deciding import Deciding, Person
from bae_source.engine.registry import called
from bae_source.engine.service import Service
from bae_source.errors import ResourceError
from bae_source.model.context import Context
from bae_source.model.outcome import Outcome, as_mapping, failed, places

Json = dict[str, Any]
_PLACES = ("plans-*", "ledger*/*", "ledger*", "pending", "history.git/refs/heads/*")
_MOST_WATCHED = 32


class Desk:
    """The engine of one project, for a person at the page.

    Parameters:
        make: makes an engine on the project.
        person: who is at the page.
    """

    def __init__(self, make: Callable[[], Service], person: Person) -> None:
        self.person = person
        self._reading, self._deciding = make(), make()
        self._read, self._decide = threading.Lock(), threading.Lock()
        self._base = self._reading.folders.base
        self._planned_on: dict[str, tuple[str, ...]] = {}

    def project(self) -> Json:
        """Return facts on the project and who is at the page."""
        return {"project": self._reading.root.name, "who": self.person.name}

    def version(self, task: str = "") -> str:
        """Return a value that differs once anything on the page may.

        Parameters:
            task: the proposal that is shown; what it was planned on counts as well.
        """
        places = [path for pattern in _PLACES for path in sorted(self._base.glob(pattern))]
        places += [self._reading.root / path for path in self._planned_on.get(task, ())]
        stamps = []
        for path in places:
            try:
                found = path.lstat()
            except (OSError, ValueError):
                continue
            stamps.append((str(path), found.st_mtime_ns, found.st_size, found.st_ino))
        return hashlib.sha256(repr(stamps).encode("utf-8", "surrogateescape")).hexdigest()[:16]

    def tasks(self, state: str, limit: int) -> Json:
        """Return the queue: facts on each proposal, the riskiest first."""

        def listing(service: Service) -> Json:
            outcome = service.run(*called("pending", {"state": state, "limit": limit}, self._context))
            return _or_errors(
                outcome,
                {
                    "tasks": outcome.found,
                    "counts": outcome.counts,
                    "warnings": [each.message for each in outcome.warnings],
                },
            )

        return self._answered(listing)

    def task(self, task: str) -> Json:
        """Return one proposal whole, and whether what it was planned on has changed."""

        def showing(service: Service) -> Json:
            deciding = service.deciding
            proposal = deciding.shown(task)
            shown = (*self._planned_on.items(), (task, tuple(proposal.base)))
            self._planned_on = dict(shown[-_MOST_WATCHED:])
            return drawn(
                proposal, deciding.files(proposal), is_stale=deciding.is_stale(proposal), now=datetime.now(UTC)
            )

        return self._answered(showing)

    def symbol(self, symbol: str) -> Json:
        """Return the references of a symbol."""

        def asking(service: Service) -> Json:
            outcome = service.run(*called("references", {"target": symbol}, self._context))
            found = {
                "symbol": symbol,
                "public": service.deciding.is_public(symbol),
                "places": places(outcome),
                "counts": outcome.counts,
                "complete": outcome.complete,
            }
            return _or_errors(outcome, found)

        return self._answered(asking)

    def history(self, limit: int) -> Json:
        """Return the operations, the newest first."""
        return self._answered(lambda service: self._operations(service, {"limit": limit}))

    def operation(self, operation_id: str) -> Json:
        """Return one operation whole."""
        return self._answered(lambda service: self._operations(service, {"target": operation_id, "diff": True}))

    def ledger(self, limit: int) -> Json:
        """Return the ledger's entries, and whether its chain holds."""

        def reading(service: Service) -> Json:
            entries = service.run(*called("ledger_show", {"limit": limit}, self._context))
            state = service.run(*called("ledger_verify", {}, self._context))
            found = {"entries": places(entries), "state": state.text, "holds": state.exit_code == 0}
            return _or_errors(entries, found)

        return self._answered(reading)

    def approve(self, task: str, digest: str, reason: str) -> Json:
        """Approve exactly what a digest names, and make it."""
        return self._decided(lambda deciding: deciding.approve(task, digest, self.person, reason))

    def reject(self, task: str, reason: str, parts: tuple[str, ...]) -> Json:
        """Reject a proposal, or parts of it."""
        return self._decided(lambda deciding: deciding.reject(task, self.person, reason, parts))

    def expire(self, task: str) -> Json:
        """Have a proposal expire."""
        return self._decided(lambda deciding: deciding.expire(task, self.person))

    def renew(self, task: str) -> Json:
        """Plan a proposal anew whose files have changed."""

        def renewing(deciding: Deciding) -> Outcome:
            proposal = deciding.current(task)
            return Outcome(status="answer", text=f"{proposal.id} is as its files are now.", task_id=proposal.id)

        return self._decided(renewing)

    def undo(self, operation_id: str) -> Json:
        """Take an operation back."""
        return self._decided(lambda deciding: deciding.undo(operation_id, self.person))

    def _operations(self, service: Service, given: Json) -> Json:
        outcome = service.run(*called("history", given, self._context))
        return _or_errors(outcome, {"operations": [each.as_data() for each in outcome.found]})

    @property
    def _context(self) -> Context:
        return Context(who=self.person.name if self.person.is_named else None)

    def _answered(self, do: Callable[[Service], Json]) -> Json:
        with self._read:
            return _answer(lambda: do(self._reading))

    def _decided(self, do: Callable[[Deciding], Outcome]) -> Json:
        with self._decide:
            return _answer(lambda: _as_json(do(self._deciding.deciding)))


def _or_errors(outcome: Outcome, found: Json) -> Json:
    """Return the answer, or the errors."""
    return _as_json(outcome) if outcome.errors else found


def _as_json(outcome: Outcome) -> Json:
    values = as_mapping(outcome)
    return {name: values[name] for name in ("status", "operation_id", "text", "task_id", "warnings", "errors")}


def _answer(do: Callable[[], Json]) -> Json:
    """Return an answer, also of what failed."""
    try:
        return do()
    except ResourceError as error:
        return _as_json(failed(error))
    except Exception as error:  # noqa: BLE001 - the edge: the page gets one sentence, and goes on
        return _as_json(bug(error, "review"))
