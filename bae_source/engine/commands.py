"""Commands: what the engine does by a request that is neither answered from a workspace nor planned as a change.

A request names its command as its `runner`; the command finds what it needs on the door.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from bae_source.model.context import Context
from bae_source.model.outcome import Outcome

if TYPE_CHECKING:
    from bae_source.engine.service import Service


def _travel(door: Service, asked: Any, context: Context) -> Outcome:
    from bae_source.engine.travelling import travel  # the history, as below, which no other command needs

    return travel(door.changing, asked, context)


def _history(door: Service, asked: Any, context: Context) -> Outcome:
    from bae_source.engine.travelling import listed_operations

    return listed_operations(door.changing, asked, context)


def _prune(door: Service, asked: Any, context: Context) -> Outcome:
    from bae_source.engine.travelling import pruned

    return pruned(door.changing, asked, context)


def _forget(door: Service, asked: Any, context: Context) -> Outcome:
    from bae_source.engine.travelling import forgotten

    door.close()
    return forgotten(door.changing, asked, context)


def _commit(door: Service, asked: Any, context: Context) -> Outcome:
    return door.keeping.commit(asked.draft, asked.unsure, asked.include, context)


def _abandon(door: Service, asked: Any, _: Context) -> Outcome:
    return door.keeping.abandon(asked.draft)


def _telemetry(door: Service, _: Any, __: Context) -> Outcome:
    from bae_source.engine.usage import usage

    return usage(door.log.lines())


def _doctor(door: Service, asked: Any, _: Context) -> Outcome:
    from bae_source.doctor.doctor import examined
    from bae_source.doctor.scene import Scene

    scene = Scene(door.workspace(), folders=door.folders, environment=door.environment, noting=door.is_measuring())
    return examined(asked, scene)


COMMANDS: Mapping[str, Callable[[Service, Any, Context], Outcome]] = {
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
