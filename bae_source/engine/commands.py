"""Requests that are neither queries nor changes, by the name that they give as their `runner`.

Adding one is adding a function and its line in `COMMANDS`; what it needs is loaded with its first call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from bae_source.model.context import Context
from bae_source.model.outcome import Outcome
from bae_source.model.request import parse

if TYPE_CHECKING:
    from bae_source.engine.approving.seeing import Seeing
    from bae_source.engine.changing import Changing
    from bae_source.engine.measuring.telemetry import Log
    from bae_source.model.text import Progress
    from bae_source.project.workspace import Workspace
    from bae_source.state.folders import StateFolders


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


def _travel(door: Door, asked: Any, context: Context) -> Outcome:
    from bae_source.engine.travelling import travel  # the history, as below, which no other command needs

    return travel(door.changing, asked, context)


def undone(changing: Changing, operation_id: str, context: Context) -> Outcome:
    """Undo an operation that does not hold."""
    from bae_source.engine.travelling import travel
    from bae_source.history.travel.commands import Undo

    return travel(changing, parse(Undo, {"operation_id": operation_id}), context)


def _history(door: Door, asked: Any, context: Context) -> Outcome:
    from bae_source.engine.travelling import listed_operations

    return listed_operations(door.changing, asked, context)


def _prune(door: Door, asked: Any, context: Context) -> Outcome:
    from bae_source.engine.travelling import pruned

    return pruned(door.changing, asked, context)


def _forget(door: Door, asked: Any, context: Context) -> Outcome:
    from bae_source.engine.travelling import forgotten

    door.close()
    return forgotten(door.changing, asked, context)


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


def _telemetry(door: Door, _: Any, __: Context) -> Outcome:
    from bae_source.engine.measuring.usage import usage

    return usage(door.log.lines())


def _doctor(door: Door, asked: Any, _: Context) -> Outcome:
    from bae_source.doctor.doctor import examined
    from bae_source.doctor.scene import Scene

    scene = Scene(door.workspace(), folders=door.folders, environment=door.environment, noting=door.is_measuring())
    scene.policies = door.seeing.described
    return examined(asked, scene)


def _ledger(door: Door, asked: Any, _: Context) -> Outcome:
    from bae_source.engine.approving.recording import shown

    return shown(door.folders, asked)


def _tests(door: Door, asked: Any, context: Context) -> Outcome:
    from bae_source.engine.testing import run_tests, tests_results  # what runs code

    return (run_tests if asked.verb == "tests_run" else tests_results)(door, asked, context)


def _logs(door: Door, asked: Any, context: Context) -> Outcome:
    from bae_source.resources.logs.folders import Logs
    from bae_source.resources.logs.listing import listed_logs
    from bae_source.resources.logs.reading import read_log

    logs = Logs(door.root, door.environment, door.seeing.refusal_of_log)
    if asked.verb == "logs_list":
        return listed_logs(logs)
    return read_log(asked, logs, room=context.budget, arriving=door.arriving)


COMMANDS: Mapping[str, Callable[[Door, Any, Context], Outcome]] = {
    "travel": _travel,
    "history": _history,
    "prune": _prune,
    "forget": _forget,
    "commit": _commit,
    "amend": _amend,
    "abandon": _abandon,
    "proposals": _proposals,
    "withdraw": _withdraw,
    "telemetry": _telemetry,
    "doctor": _doctor,
    "tests_run": _tests,
    "tests_results": _tests,
    "logs_list": _logs,
    "logs_read": _logs,
    "ledger": _ledger,
}
"""Every command, by the name that requests give as their `runner`."""
