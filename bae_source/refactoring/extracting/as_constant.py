"""An expression that becomes a constant of its module, bound before the first statement that uses it.

    def f(text):                         WORD = re.compile("[a-z]+")
        return re.findall("[a-z]+", …)

Invariants:
- a constant stands before the statement of the module that its first use is part of, whenever that runs.
"""

from __future__ import annotations

import ast
from itertools import pairwise

from bae_source.model.plan import Plan
from bae_source.model.span import Span
from bae_source.project.workspace import Workspace
from bae_source.refactoring.extracting.as_variable import calling_attributes, doubts_of_order
from bae_source.refactoring.extracting.functions import in_place, why_not
from bae_source.refactoring.extracting.hazards import check_expression, refused
from bae_source.refactoring.extracting.home import Spot, spot_before, top_of
from bae_source.refactoring.extracting.lasting import check_lasting, doubts_of_value
from bae_source.refactoring.extracting.layout import place_of, value_of
from bae_source.refactoring.extracting.naming import check_free_in_module
from bae_source.refactoring.extracting.planned import Asked, Made, planned
from bae_source.refactoring.extracting.selecting import Piece, piece_of
from bae_source.refactoring.extracting.similar import pieces_like
from bae_source.syntax.flow.order import Timing, is_literal, weight_of
from bae_source.syntax.flow.piece import kept_variables
from bae_source.syntax.flow.scopes import DEFINITIONS
from bae_source.syntax.outline.locate import unit_for


def plan_constant(workspace: Workspace, asked: Asked) -> Plan:
    """Plan to make a constant of an expression.

    Raises:
        Refused: `unsafe_change` where that is not the same, or is unsure; `name_collision`.
    """
    piece = asked.piece
    check_value(piece)
    found = [(each, why_not(each)) for each in pieces_like(piece)]
    same = tuple(each for each, why in found if not why)
    pieces = (piece, *(same if asked.similar else ()))
    first = min(pieces, key=lambda each: each.span)
    top = top_of(first)
    check_lasting(piece, top)
    check_free_in_module(workspace, asked.resolved.module, pieces, asked.name)
    spot = _spot(asked, first, top)
    newline = piece.code.source.newline
    lead = f"{asked.name} = "
    value = value_of(piece, indent="", unit=unit_for(asked.resolved.tree, ()), lead=lead)
    text = spot.text(f"{lead}{value}{newline}", newline)
    at_once = len(pieces) == 1 and _is_met_once(workspace, piece, top)
    every = () if at_once else (each for one in pieces for each in doubts_of_value(one, "the module is imported"))
    return planned(
        workspace,
        asked,
        Made(
            what="constant",
            address=f"{asked.resolved.module.name}.{asked.name}",
            splices=(
                (Span(spot.offset, spot.offset), text),
                *((place_of(each), in_place(each, asked.name)) for each in pieces),
            ),
            pieces=pieces,
            alike=() if asked.similar else same,
            left=tuple((each, why) for each, why in found if why) if asked.similar else (),
            doubts=tuple(every),
        ),
    )


def _spot(asked: Asked, first: Piece, top: ast.AST) -> Spot:
    """Return the place of a constant: below the assignment above its first use, else before the statement of that."""
    body, source = first.code.tree.body, first.code.source
    above = next((each for each, below in pairwise(body) if below is top), None)
    if isinstance(above, (ast.Assign, ast.AnnAssign)) and isinstance(top, DEFINITIONS):
        end = piece_of(first.code, [above])
        if end.on_own_lines and source.text[: end.span.end].endswith(("\n", "\r")):
            return Spot(offset=end.span.end, indent="", before=0, after=0)
    return spot_before(first, asked.resolved.tree, gap=None if isinstance(top, DEFINITIONS) else 0)


def _is_met_once(workspace: Workspace, piece: Piece, top: ast.AST) -> bool:
    """Say whether an expression is evaluated once as it is, when its module is imported, and as well a little before.

    ROOT = Path(__file__).parent        so is Path(__file__) in a statement of the module,
    class A:
        here = Path(__file__)           and in one of a class, below nothing that calls something
    """
    code, node = piece.code, piece.nodes[0]
    timing = Timing(node, code.parents)
    statement = timing.statement
    frame = code.scopes.around[statement].frame
    kept = kept_variables(code.scopes, frame, [statement])
    calling = calling_attributes(workspace, piece, timing)
    weight = weight_of(node, code.scopes, kept, calling)
    if timing.perhaps or any(doubts_of_order(piece, timing, weight, kept, calling)):
        return False
    around = code.parents[statement]
    if isinstance(around, ast.Module):
        return statement is top
    if around is not top or not isinstance(around, ast.ClassDef) or around.decorator_list or around.keywords:
        return False
    above = around.body[: around.body.index(statement)]
    return all(isinstance(each, (ast.Name, ast.Attribute)) for each in around.bases) and all(map(_is_idle, above))


def _is_idle(node: ast.stmt) -> bool:
    """Return whether a statement of a class evaluates nothing but literals."""
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.Expr)):
        return node.value is None or is_literal(node.value)
    return isinstance(node, ast.Pass)


def check_value(piece: Piece) -> None:
    """See that a piece is an expression which a name can stand for.

    Raises:
        Refused: `unsafe_change`.
    """
    if not piece.is_expression:
        raise refused("The code is statements, and a value is an expression", "Give the code of an expression (code).")
    check_expression(piece)
