"""Commands that look at a project and at our own state: doctor, telemetry, the ledger, logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bae_source.doctor.doctor import examined
from bae_source.doctor.scene import Scene
from bae_source.engine.approving.recording import shown
from bae_source.engine.measuring.usage import usage
from bae_source.model.context import Context
from bae_source.model.outcome import Outcome
from bae_source.resources.logs.folders import Logs
from bae_source.resources.logs.listing import listed_logs
from bae_source.resources.logs.reading import read_log

if TYPE_CHECKING:
    from bae_source.engine.running.commands import Door


def doctor(door: Door, asked: Any, _: Context) -> Outcome:
    """Examine the project."""
    scene = Scene(door.workspace(), folders=door.folders, environment=door.environment, noting=door.is_measuring())
    scene.policies = door.seeing.described
    return examined(asked, scene)


def telemetry(door: Door, _: Any, __: Context) -> Outcome:
    """Sum up the lines of telemetry."""
    return usage(door.log.lines())


def ledger(door: Door, asked: Any, _: Context) -> Outcome:
    """Show or verify the ledger."""
    return shown(door.folders, asked)


def list_logs(door: Door, _: Any, __: Context) -> Outcome:
    """List the logs."""
    return listed_logs(_logs(door))


def read_logs(door: Door, asked: Any, context: Context) -> Outcome:
    """Read lines of a log."""
    return read_log(asked, _logs(door), room=context.budget, arriving=door.arriving)


def _logs(door: Door) -> Logs:
    return Logs(door.root, door.environment, door.seeing.refusal_of_log)
