"""Requests that are neither queries nor changes, by the name that they give as their `runner`.

Adding one is adding a function and its line in `COMMANDS`; most are loaded when they run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from bae_source.model.context import Context
from bae_source.model.outcome import Outcome

if TYPE_CHECKING:
    from bae_source.engine.approving.seeing import Seeing
    from bae_source.engine.changing import Changing
    from bae_source.engine.measuring.telemetry import Log
    from bae_source.model.text import Progress
    from bae_source.project.workspace import Workspace
    from bae_source.state.folders import StateFolders


Command = Callable[["Door", Any, Context], Outcome]


class Drafts(Protocol):
    """The drafts that outlive a call."""

    def commit(self, handle: str, unsure: str, include: Sequence[str], context: Context) -> Outcome:
        """Make a draft."""

    def amend(self, asked: Any, context: Context) -> Outcome:
        """Change a piece of a draft."""

    def abandon(self, handle: str) -> Outcome:
        """Forget a draft."""


class Door(Protocol):
    """The part of the engine that commands need."""

    root: Path
    environment: dict[str, str]
    clock: Callable[[], int]
    progress: Progress | None
    arriving: Callable[[str], bool] | None

    @property
    def changing(self) -> Changing:
        """Planner and maker of changes."""

    @property
    def seeing(self) -> Seeing:
        """The files as the caller may read them."""

    @property
    def folders(self) -> StateFolders:
        """Folders of our own state."""

    def workspace(self) -> Workspace:
        """Return a fresh snapshot of the project."""

    @property
    def keeping(self) -> Drafts:
        """The drafts that outlive a call."""

    @property
    def log(self) -> Log:
        """The lines of telemetry."""

    def is_measuring(self) -> bool:
        """Return whether telemetry is switched on."""

    def close(self) -> None:
        """Let go of what is open between requests."""


def _commit(door: Door, asked: Any, context: Context) -> Outcome:
    return door.keeping.commit(asked.draft, asked.unsure, asked.include, context)


def _amend(door: Door, asked: Any, context: Context) -> Outcome:
    return door.keeping.amend(asked, context)


def _abandon(door: Door, asked: Any, _: Context) -> Outcome:
    return door.keeping.abandon(asked.draft)


def _proposals(door: Door, asked: Any, _: Context) -> Outcome:
    return door.changing.proposing.answer(asked)


def _withdraw(door: Door, asked: Any, context: Context) -> Outcome:
    return door.changing.proposing.withdraw(asked, context)


def undone(changing: Changing, operation_id: str, context: Context) -> Outcome:
    """Undo an operation that does not hold."""
    outcome: Outcome = _loaded("history.undo")(changing, operation_id, context)
    return outcome


def _late(place: str) -> Command:
    """Return a command of another module of this room, which is loaded when the command runs."""

    def run(door: Door, asked: Any, context: Context) -> Outcome:
        outcome: Outcome = _loaded(place)(door, asked, context)
        return outcome

    return run


def _loaded(place: str) -> Any:
    module, _, name = place.partition(".")
    return getattr(import_module(f"bae_source.engine.running.{module}"), name)


COMMANDS: Mapping[str, Command] = {
    "travel": _late("history.travelled"),
    "history": _late("history.listed"),
    "prune": _late("history.pruned"),
    "forget": _late("history.forgotten"),
    "commit": _commit,
    "amend": _amend,
    "abandon": _abandon,
    "proposals": _proposals,
    "withdraw": _withdraw,
    "telemetry": _late("examining.telemetry"),
    "doctor": _late("examining.doctor"),
    "tests_run": _late("testing.run_tests"),
    "tests_results": _late("testing.tests_results"),
    "logs_list": _late("examining.list_logs"),
    "logs_read": _late("examining.read_logs"),
    "ledger": _late("examining.ledger"),
}
"""Every command, by the name that requests give as their `runner`."""
