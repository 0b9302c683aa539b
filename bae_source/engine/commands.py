"""Commands: what the engine does by a request that is neither answered from a workspace nor planned as a change.

A request names its command as its `runner`; the command finds what it needs on the door.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from bae_source.model.context import Context
from bae_source.model.outcome import Outcome

if TYPE_CHECKING:
    from bae_source.engine.changing import Changing
    from bae_source.engine.keeping import Keeping
    from bae_source.engine.telemetry import Log
    from bae_source.project.workspace import Workspace
    from bae_source.state.folders import StateFolders


class Door(Protocol):
    """What commands need of the service."""

    environment: dict[str, str]

    @property
    def changing(self) -> Changing:
        """What plans and makes changes."""

    @property
    def keeping(self) -> Keeping:
        """The drafts that outlive a call."""

    @property
    def folders(self) -> StateFolders:
        """Where our own state lies."""

    @property
    def log(self) -> Log:
        """The lines of telemetry."""

    def workspace(self) -> Workspace:
        """Return a fresh snapshot of the project."""

    def is_measuring(self) -> bool:
        """Say whether telemetry is switched on."""

    def close(self) -> None:
        """Let go of what is open between requests."""


def _travel(door: Door, asked: Any, context: Context) -> Outcome:
    from bae_source.engine.travelling import travel  # the history, as below, which no other command needs

    return travel(door.changing, asked, context)


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


def _abandon(door: Door, asked: Any, _: Context) -> Outcome:
    return door.keeping.abandon(asked.draft)


def _telemetry(door: Door, _: Any, __: Context) -> Outcome:
    from bae_source.engine.usage import usage

    return usage(door.log.lines())


def _doctor(door: Door, asked: Any, _: Context) -> Outcome:
    from bae_source.doctor.doctor import examined
    from bae_source.doctor.scene import Scene

    scene = Scene(door.workspace(), folders=door.folders, environment=door.environment, noting=door.is_measuring())
    return examined(asked, scene)


COMMANDS: Mapping[str, Callable[[Door, Any, Context], Outcome]] = {
    "travel": _travel,
    "history": _history,
    "prune": _prune,
    "forget": _forget,
    "commit": _commit,
    "abandon": _abandon,
    "telemetry": _telemetry,
    "doctor": _doctor,
}
"""Every command, by the name that requests give as their `runner`."""
