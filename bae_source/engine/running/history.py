"""Commands on the history: undo and redo, its list, and what shortens it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bae_source.engine import travelling
from bae_source.history.travel.commands import History, Redo, Undo
from bae_source.history.travel.upkeep import Forget, Prune
from bae_source.model.context import Context
from bae_source.model.outcome import Outcome
from bae_source.model.request import parse

if TYPE_CHECKING:
    from bae_source.engine.changing import Changing
    from bae_source.engine.running.commands import Door


def travelled(door: Door, asked: Undo | Redo, context: Context) -> Outcome:
    """Undo or redo operations."""
    return travelling.travel(door.changing, asked, context)


def undo(changing: Changing, operation_id: str, context: Context) -> Outcome:
    """Undo an operation that does not hold."""
    return travelling.travel(changing, parse(Undo, {"operation_id": operation_id}), context)


def listed(door: Door, asked: History, context: Context) -> Outcome:
    """List operations."""
    return travelling.listed_operations(door.changing, asked, context)


def pruned(door: Door, asked: Prune, context: Context) -> Outcome:
    """Delete old operations."""
    return travelling.pruned(door.changing, asked, context)


def forgotten(door: Door, asked: Forget, context: Context) -> Outcome:
    """Remove the history, or state of others."""
    door.close()
    return travelling.forgotten(door.changing, asked, context)
