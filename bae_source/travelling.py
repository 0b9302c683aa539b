"""Undo and redo: back and forth in the history, each as an operation of its own, and the list of what was done.

Invariants:
- nothing is planned anew: an undo leads to bytes that were there before, or it is refused;
- that a state gone back to does not import is told, and no reason to refuse it.
"""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from bae_source.changing import Changing
from bae_source.errors import TransactionError
from bae_source.model.context import Context
from bae_source.model.outcome import Notice, Outcome
from bae_source.model.plan import ModuleFile, Plan
from bae_source.model.request import as_mapping
from bae_source.transaction.commands import History, Redo, Undo, draw, plan_history, plan_redo, plan_undo

__all__ = ("History", "Redo", "Undo", "told", "travel")


def travel(changing: Changing, asked: Undo | Redo, context: Context) -> Outcome:
    """Undo or redo.

    Raises:
        HistoryError: the history cannot do it; nothing was changed.
        TransactionError: it was written and taken back.
    """
    workspace = changing.workspace(None)
    who = changing.who(context)
    if isinstance(asked, Undo):
        changes, entry = plan_undo(asked, changing.history, who, changing.transactions.read)
    else:
        changes, entry = plan_redo(asked, changing.history, who, changing.transactions.read)
    modules = [workspace.layout.module_at(file.path) for file in changes.files]
    plan = Plan(
        changes=changes,
        changed=entry.changed,
        modules=tuple(workspace.module_file(module) for module in modules if isinstance(module, ModuleFile)),
        summary=f"{'Undid' if isinstance(asked, Undo) else 'Redid'} {entry.id}: {entry.summary}",
    )
    if context.dry_run:
        return changing.outcome(plan, workspace, status="planned")
    kind: Literal["undo", "redo"] = "undo" if isinstance(asked, Undo) else "redo"
    try:
        return changing.commit(plan, workspace, context, as_mapping(asked), verb=asked.verb, kind=kind, of=entry.id)
    except TransactionError as error:
        if error.code != "reload_failed":
            raise
        notice = Notice("import_failed_before", f"{error.message.partition(';')[0]}; it was so before, too.")
        unchecked = replace(context, reload="off")
        return changing.commit(
            replace(plan, warnings=(notice,)),
            workspace,
            unchecked,
            as_mapping(asked),
            verb=asked.verb,
            kind=kind,
            of=entry.id,
        )


def told(changing: Changing, asked: History, context: Context) -> Outcome:
    """List what was done."""
    entries = plan_history(asked, changing.history)
    undone = changing.history.timeline(changing.who(context)).undone
    return Outcome(status="answer", text=draw(entries, undone) if entries else "(no operations)")
