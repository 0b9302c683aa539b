"""The move of an extracted definition to another module, in the same change.

Invariants:
- the module that it comes from imports it, so code that uses what that module defines cannot go: it would be a circle.
"""

from __future__ import annotations

import ast

from msgspec.structs import replace

from bae_source.model.plan import Plan
from bae_source.model.text import listed
from bae_source.project.files.layout import import_name
from bae_source.project.naming.resolve import resolve
from bae_source.project.workspace import Workspace
from bae_source.refactoring.extracting.hazards import refused
from bae_source.refactoring.extracting.naming import check_unread
from bae_source.refactoring.extracting.planned import Asked
from bae_source.refactoring.extracting.selecting import Piece, read_code
from bae_source.refactoring.moving.choice import Choice
from bae_source.refactoring.moving.planned import plan_symbols
from bae_source.refactoring.planning.joining import joined
from bae_source.syntax.outline.static_values import names_bound


def moved_to(workspace: Workspace, asked: Asked, made: Plan, to: str) -> Plan:
    """Return the plan of an extraction with what it makes in another module.

    Parameters:
        made: the plan that makes it here.

    Raises:
        Refused: `unsafe_change` where that would be a circle of imports; `name_collision`.
        RequestError: `invalid_arguments` for a place that is no module.
    """
    if own := _own_names(asked.piece):
        here = asked.resolved.module.name
        raise refused(
            f"The code uses {listed(own)} of {here}: {to} would have to import {here}, which would import {to}",
            "Extract it without to, or move what it uses first.",
        )
    if not made.changes:
        return made
    after = workspace.after(made.changes)
    moved = plan_symbols(after, [made.changed[0]], to, Choice())
    now = after.after(moved.changes)
    module = resolve(now, moved.changed[0]).module
    if workspace.census.find(import_name(module)):
        check_unread(workspace, module, read_code(module.name, workspace.source(module)), asked.name)
    plan = joined(workspace, now, [made, moved])
    report = made.report
    return replace(
        plan,
        summary=made.summary.replace(made.changed[0], moved.changed[0], 1),
        changed=(*moved.changed[:1], *made.changed[1:]),
        report=report and replace(report, changed={moved.changed[0]: 1, **report.changed}),
    )


def _names_of_module(piece: Piece) -> set[str]:
    """Return the names in a piece that are those of its module."""
    scopes = piece.code.scopes
    names = (each for top in piece.nodes for each in ast.walk(top) if isinstance(each, ast.Name))
    return {each.id for each in names if scopes.around[each].find(each.id) is scopes.module}


def _own_names(piece: Piece) -> list[str]:
    """Return the names in a piece that its module itself defines."""
    scopes, read = piece.code.scopes, _names_of_module(piece)
    bindings = ((node, scope) for node, scope in scopes.around.items() if not isinstance(node, ast.alias))
    return sorted(
        {name for node, scope in bindings for name in read & {*names_bound(node)} if scope.find(name) is scopes.module}
    )
