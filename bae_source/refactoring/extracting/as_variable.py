"""An expression that becomes a variable, which is bound before the statement that it stands in.

    send(len(data) + 4)          size = len(data) + 4
                                 send(size)

Invariants:
- an expression that may not be evaluated there, or several times, moves only if it is a value, whenever that is taken;
- what was evaluated before it may not make a difference to it, nor it to that: otherwise it is unsure.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from bae_source.model.plan import Plan
from bae_source.model.reasons import Reason
from bae_source.model.span import Span
from bae_source.project.references.classes.running import RunningAttributes
from bae_source.project.references.meaning.project import project_of
from bae_source.project.workspace import Workspace
from bae_source.refactoring.extracting.functions import in_place, why_not
from bae_source.refactoring.extracting.hazards import Doubt, check_expression, refused
from bae_source.refactoring.extracting.lasting import is_set
from bae_source.refactoring.extracting.layout import place_of, value_of
from bae_source.refactoring.extracting.naming import check_free_in_function, check_free_in_module
from bae_source.refactoring.extracting.planned import Asked, Made, address_at, planned
from bae_source.refactoring.extracting.selecting import Piece, first_line, piece_of
from bae_source.refactoring.extracting.similar import pieces_like
from bae_source.syntax.flow.evaluation import is_running
from bae_source.syntax.flow.order import Timing, Weight, weight_of
from bae_source.syntax.flow.piece import kept_variables
from bae_source.syntax.flow.scopes import FUNCTIONS, Level, Variable, running
from bae_source.syntax.inlining.code import Code
from bae_source.syntax.inlining.hazards import suite_of
from bae_source.syntax.outline.locate import unit_for
from bae_source.syntax.patterns.pattern import span_of
from bae_source.syntax.templates.statements import is_elif

_SHOWN = 40


def plan_variable(workspace: Workspace, asked: Asked) -> Plan:
    """Plan to make a variable of an expression.

    Raises:
        Refused: `unsafe_change` where that is not the same, or is unsure; `name_collision`.
    """
    piece = _as_expression(asked.piece)
    code, node = piece.code, piece.nodes[0]
    check_expression(piece)
    timing = Timing(node, code.parents)
    frame = code.scopes.around[timing.statement].frame
    if frame.level is Level.CLASS:
        raise refused("A variable of a class would be one of its members", "Use kind constant.")
    kept = kept_variables(code.scopes, frame, [timing.statement])
    calling = calling_attributes(workspace, piece, timing)
    weight = weight_of(node, code.scopes, kept, calling)
    _check_timing(piece, timing, weight)
    alike = [each for each in pieces_like(piece) if _is_in_reach(each, timing.statement, node)]
    found = [(each, _why_not(piece, timing.statement, each, weight)) for each in alike]
    same = [each for each, why in found if not why]
    pieces = (piece, *(same if asked.similar else ()))
    if frame.level is Level.MODULE:
        check_free_in_module(workspace, asked.resolved.module, pieces, asked.name)
    for each in pieces:
        check_free_in_function(each, frame, asked.name)
    doubts = [*doubts_of_order(piece, timing, weight, kept, calling)]
    if weight:
        doubts += [(each.nodes[0], Reason.EVALUATED_ONCE.of(when="the first is")) for each in pieces[1:]]
    where = address_at(asked, piece)
    return planned(
        workspace,
        asked,
        Made(
            what="variable",
            address=f"{where}.{asked.name}" if frame.level is Level.MODULE else where,
            splices=_splices(asked.name, timing.statement, pieces, unit_for(asked.resolved.tree, ())),
            pieces=pieces,
            alike=() if asked.similar else tuple(same),
            left=tuple((each, why) for each, why in found if why) if asked.similar else (),
            doubts=tuple(doubts),
        ),
    )


def _as_expression(piece: Piece) -> Piece:
    """Return the expression that a piece is; of a statement the one that it consists of.

    Raises:
        Refused: `unsafe_change` for other statements.
    """
    [first, *others] = piece.nodes
    if isinstance(first, ast.Expr) and not others:
        return piece_of(piece.code, [first.value])
    if not piece.is_expression:
        raise refused(
            "The lines are statements, and a value is an expression", "Give the code of an expression (code)."
        )
    return piece


def _check_timing(piece: Piece, timing: Timing, weight: Weight) -> None:
    code, node, statement = piece.code, piece.nodes[0], timing.statement
    inner = code.scopes.around[statement].frame
    for each in ast.walk(node):
        variable = code.scopes.variable(each, each.id) if isinstance(each, ast.Name) else None
        if variable is not None and not _is_outside(code, variable, node, statement):
            what = "lambda" if isinstance(variable.scope.node, FUNCTIONS) else "comprehension"
            raise refused(
                f"The expression depends on {variable.name}, a variable of the {what} around it", "Use kind function."
            )
    if timing.perhaps and (weight or (timing.again and not _is_fixed(code, node, statement))):
        raise refused(
            f"The expression stands in {timing.perhaps}, where it may be evaluated never, later, or several times",
            "Use kind function, or extract what it is part of.",
        )
    if isinstance(statement, ast.If) and is_elif(code.source.text, span_of(code.source, statement).start):
        raise refused(
            "The expression is the condition of an `elif`, before which nothing can stand", "Use kind function."
        )
    if inner.level is Level.FUNCTION and isinstance(inner.node, ast.Lambda):
        raise refused("The expression stands in a lambda, which has no statements", "Use kind function.")


def _is_outside(code: Code, variable: Variable, node: ast.AST, statement: ast.stmt) -> bool:
    """Return whether a variable is known where the statement begins, or is one of the expression itself."""
    around = code.scopes.around[statement]
    if variable.scope in around.chain:
        return True
    return any(code.scopes.opened.get(each) is variable.scope for each in ast.walk(node))


def _is_fixed(code: Code, node: ast.AST, statement: ast.stmt) -> bool:
    """Return whether an expression has the same value whenever it is evaluated once its statement has begun."""
    own = {code.scopes.variable(each, each.id) for each in ast.walk(node) if isinstance(each, ast.Name)}
    return all(each is not None and not _bound_from(code, each, statement) for each in own)


def _bound_from(code: Code, variable: Variable, statement: ast.stmt) -> bool:
    """Return whether anything binds a variable from a statement on; what stands above it in a loop may, too."""
    return any(
        isinstance(each, ast.Name)
        and each.id == variable.name
        and not isinstance(each.ctx, ast.Load)
        and scope.find(variable.name) is variable.scope
        and (each.lineno, each.col_offset) >= (statement.lineno, statement.col_offset)
        for each, scope in code.scopes.around.items()
    )


def _is_in_reach(piece: Piece, statement: ast.stmt, node: ast.AST) -> bool:
    """Return whether an equal expression stands where the variable is bound: in the same statement, or behind it."""
    code = piece.code
    suite = suite_of(statement, code.parents)
    behind = suite[suite.index(statement) :]
    up: ast.AST = piece.nodes[0]
    while up in code.parents and up not in behind:
        up = code.parents[up]
    return up in behind and not isinstance(piece.nodes[0], ast.Lambda) and node is not piece.nodes[0]


def _why_not(piece: Piece, statement: ast.stmt, other: Piece, weight: Weight) -> str:
    """Return why an equal expression cannot take the variable's value; "" where it can."""
    code = piece.code
    if weight is Weight.CALLS:
        return "it calls something, which may give another value each time"
    own, variables = (
        [code.scopes.variable(each, each.id) for each in ast.walk(one.nodes[0]) if isinstance(each, ast.Name)]
        for one in (piece, other)
    )
    if variables != own:
        return "it is about other variables"
    if any(each is not None and _bound_from(code, each, statement) for each in variables):
        return "its variables are bound anew"
    return why_not(other)


def calling_attributes(workspace: Workspace, piece: Piece, timing: Timing) -> frozenset[str]:
    """Return the attributes that run code, as `read_as` writes them, if a piece or what is before it has attributes."""
    if not any(isinstance(each, ast.Attribute) for each in running(*piece.nodes, *timing.earlier)):
        return frozenset()
    return RunningAttributes(project_of(workspace)).of(piece.code.source.text)


def doubts_of_order(
    piece: Piece, timing: Timing, weight: Weight, kept: frozenset[Variable], calling: Set[str]
) -> Iterator[Doubt]:
    """Yield what is evaluated before the expression, and may make a difference to it, or it to that."""
    code, node = piece.code, piece.nodes[0]
    read = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    own = {each.target.id for each in ast.walk(node) if isinstance(each, ast.NamedExpr)}
    for each in timing.earlier:
        before = {one.id for one in ast.walk(each) if isinstance(one, ast.Name)}
        if before & own:
            raise refused(f"The expression binds {min(before & own)}, which its statement reads before")
        names = (one for one in ast.walk(each) if isinstance(one, ast.Name))
        bound = {one.id for one in names if not isinstance(one.ctx, ast.Load)}
        if bound & read:
            raise refused(f"The expression reads {min(bound & read)}, which its statement binds before")
        other = Weight.CALLS if _may_fail(code, each, kept) else weight_of(each, code.scopes, kept, calling)
        is_steady = weight is Weight.CALLS and not is_running(each, calling) and _is_steady(code, each)
        if weight + other > Weight.CALLS and not is_steady:
            text = span_of(code.source, each).cut(code.source.text) if hasattr(each, "lineno") else "the parameters"
            bare = " ".join(text.split())
            shown = bare if len(bare) <= _SHOWN else f"{bare[:_SHOWN]}…"
            yield node, Reason.EVALUATED_EARLIER.of(code=shown)


def _may_fail(code: Code, node: ast.AST, kept: frozenset[Variable]) -> bool:
    """Return whether a variable that is read may have no value."""
    every = (each for each in running(node) if isinstance(each, ast.Name))
    names = (each for each in every if isinstance(each.ctx, ast.Load) or each is node)  # itself is that of a `+=`
    variables = (code.scopes.variable(each, each.id) for each in names)
    return any(each is not None and each not in kept for each in variables)


def _is_steady(code: Code, node: ast.AST) -> bool:
    """Return whether reading a name or a method is the same before a call as behind it.

    It is of a name that only a definition or an import binds in its module, or that Python has; and of an attribute of
    a name, to which nothing in the module assigns.
    """
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        variable = code.scopes.variable(node.value, node.value.id)
        return not is_set(code, node.attr) and (variable is not None or _is_steady(code, node.value))
    if not isinstance(node, ast.Name) or code.scopes.variable(node, node.id) is not None:
        return False
    return not any(
        isinstance(each, ast.Name) and each.id == node.id and not isinstance(each.ctx, ast.Load)
        for each in code.scopes.around
    )


def _splices(name: str, statement: ast.stmt, pieces: tuple[Piece, ...], unit: str) -> tuple[tuple[Span, str], ...]:
    [piece, *others] = pieces
    source = piece.code.source
    node, line = piece.nodes[0], first_line(statement)
    indent, lead = source.lines.indentation(line), f"{name} = "
    assigned = f"{lead}{value_of(piece, indent=indent.rpartition(chr(12))[2], unit=unit, lead=lead)}"
    if isinstance(statement, ast.Expr) and statement.value is node and not others:
        return ((span_of(source, statement), assigned),)
    start = source.lines.start(line)
    begin = span_of(source, statement).start
    is_first = line < statement.lineno or not source.text[start:begin].strip(" \t\f")
    if is_first and not source.lines.joined(start):
        splice = (Span(start, start), f"{indent}{assigned}{source.newline}")
    elif hasattr(statement, "body"):
        raise refused("Nothing can stand before the statement on its line")
    else:
        splice = (Span(begin, begin), f"{assigned}; ")
    return (splice, *((place_of(each), in_place(each, name)) for each in pieces))
