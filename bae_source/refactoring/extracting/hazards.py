"""Code that means something else in a function of its own, or cannot stand there.

    break                     whose loop stays outside       refused
    locals(), eval(text)      look at the variables           refused
    warn(…, stacklevel=2)     counts the calls around it      unsure

Invariants:
- a piece that is let through has none of it, but for what is unsure, which is listed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from bae_source.errors import Refused
from bae_source.model.reasons import Reason
from bae_source.refactoring.extracting.selecting import Piece
from bae_source.syntax.flow.evaluation import LOOPS
from bae_source.syntax.flow.scopes import DEFINITIONS, FUNCTIONS, Level, Named, Scope, running
from bae_source.syntax.inlining.body import OF_FRAME, counts_calls, private_names
from bae_source.syntax.patterns.pattern import span_of
from bae_source.syntax.templates.statements import is_elif

Doubt = tuple[ast.AST, str]
"""A place, and why it is unsure."""

_ASYNC = (ast.Await, ast.AsyncFor, ast.AsyncWith)


def refused(what: str, *hints: str) -> Refused:
    """Return the refusal to extract a piece."""
    return Refused(
        "unsafe_change", what, unchanged=True, hints=hints or ["Choose other lines, or edit the code first."]
    )


def check_movable(piece: Piece, frame: Scope) -> None:
    """See that a piece can stand in a function of its own.

    Raises:
        Refused: `unsafe_change` with the reason.
    """
    start = span_of(piece.code.source, piece.nodes[0]).start
    if isinstance(piece.nodes[0], ast.If) and is_elif(piece.code.source.text, start):
        raise refused("The piece is an `elif` clause, which is part of the `if` above", "Extract the whole `if`.")
    for node in piece.nodes:
        if jump := next(_jumps(node), None):
            word = type(jump).__name__.lower()
            raise refused(
                f"Line {jump.lineno} has a {word} whose loop is not part of the piece",
                "Extract the whole loop, or the lines without it.",
            )
    for node in running(*piece.nodes):
        _check_statement(piece, node, frame)
    if looking := next(_looking(piece, frame), None):
        raise refused(
            f"Line {looking.lineno} calls {looking.func.id}, which looks at the variables around it",  # type: ignore[attr-defined]
            "Hand over what it needs by name first.",
        )
    if not piece.is_expression and _is_docstring(piece, frame):
        raise refused("The piece begins with a docstring, which would be lost", "Leave the docstring out.")


def check_expression(piece: Piece) -> None:
    """See that an expression is one that a name or a call can stand for.

    Raises:
        Refused: `unsafe_change` with the reason.
    """
    node, parents = piece.nodes[0], piece.code.parents
    if not piece.is_expression:
        return
    if isinstance(node, (ast.Starred, ast.Slice)) or any(isinstance(e, ast.Slice) for e in getattr(node, "elts", ())):
        raise refused("A slice or a starred expression is no value by itself", "Choose what is in it.")
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        raise refused("The expression is assigned to, or deleted", "Choose an expression that is read.")
    child, around = node, parents.get(node)
    while around is not None and not isinstance(around, ast.stmt):
        if isinstance(around, ast.pattern):
            raise refused("The expression is part of a pattern", "Choose an expression outside of it.")
        if isinstance(around, ast.arg):
            raise _in_annotation()
        child, around = around, parents.get(around)
    is_note = isinstance(around, ast.AnnAssign) and child is around.annotation
    if is_note or (isinstance(around, Named) and child is around.returns):
        raise _in_annotation()


def _in_annotation() -> Refused:
    return refused("The expression is part of an annotation", "Write a type alias instead.")


def is_async(piece: Piece) -> bool:
    """Return whether a piece awaits something."""
    return any(
        isinstance(each, _ASYNC) or (isinstance(each, ast.comprehension) and each.is_async)
        for each in running(*piece.nodes)
    )


def yields(piece: Piece) -> bool:
    """Return whether a piece yields something."""
    return any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in running(*piece.nodes))


def needs_class(piece: Piece) -> bool:
    """Return whether a piece has to stand in its class: it calls `super()`, or names private members."""
    return calls_super(piece) or (private_name(piece) is not None)


def calls_super(piece: Piece) -> bool:
    """Return whether a piece calls `super()` without arguments, or reads `__class__`."""
    every = [each for node in piece.nodes for each in ast.walk(node)]
    is_super = any(isinstance(e, ast.Call) and not e.args and getattr(e.func, "id", "") == "super" for e in every)
    return is_super or any(isinstance(each, ast.Name) and each.id == "__class__" for each in every)


def private_name(piece: Piece) -> str | None:
    """Return a name in a piece that its class mangles; None for none."""
    scopes = piece.code.scopes
    every = (each for top in piece.nodes for each in private_names(top))
    return next(
        (name for node, name in every if isinstance(node, ast.Attribute) or not scopes.variable(node, name)), None
    )


def doubts_of(piece: Piece) -> Iterator[Doubt]:
    """Yield what is unsure in a piece that becomes a function."""
    for node in running(*piece.nodes):
        if counts_calls(node):
            yield node, Reason.COUNTS_CALLS.of()


def _jumps(node: ast.AST) -> Iterator[ast.Break | ast.Continue]:
    """Yield the jumps out of a statement to a loop around it."""
    if isinstance(node, (ast.Break, ast.Continue)):
        yield node
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return
    if isinstance(node, LOOPS):
        for each in node.orelse:
            yield from _jumps(each)
        return
    for child in ast.iter_child_nodes(node):
        yield from _jumps(child)


def _check_statement(piece: Piece, node: ast.AST, frame: Scope) -> None:
    line = getattr(node, "lineno", piece.line)
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        word = type(node).__name__.lower()
        if word == "nonlocal" or _is_mentioned_outside(piece, frame, node.names):
            raise refused(f"Line {line} declares {', '.join(node.names)} {word}, for the code around the piece, too")
    if isinstance(node, ast.ImportFrom):
        if node.module == "__future__":
            raise refused(f"Line {line} imports from __future__, which is for the whole module")
        if any(each.name == "*" for each in node.names):
            raise refused(f"Line {line} imports all names of a module, which no function can")
    is_member = frame.level in (Level.MODULE, Level.CLASS) and piece.code.scopes.around.get(node) is frame
    if is_member and isinstance(node, DEFINITIONS):
        raise refused(f"Line {line} defines {node.name}, which others find by its place", "move puts it elsewhere.")
    if is_member and isinstance(node, ast.AnnAssign):
        raise refused(f"Line {line} annotates a name of the {frame.level.value}, which would have no annotation then")


def _is_mentioned_outside(piece: Piece, frame: Scope, names: Sequence[str]) -> bool:
    inside = {each for node in piece.nodes for each in ast.walk(node)}
    return any(
        isinstance(each, ast.Name) and each.id in names and each not in inside and scope.frame is frame
        for each, scope in piece.code.scopes.around.items()
    )


def _looking(piece: Piece, frame: Scope) -> Iterator[ast.Call]:
    """Yield calls that look at the variables of the function, in the piece or around it."""
    is_function = frame.level is Level.FUNCTION
    every = ast.walk(frame.node) if is_function else (each for node in piece.nodes for each in ast.walk(node))
    for node in every:
        name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
        if name not in OF_FRAME or piece.code.scopes.around[node].find(name) is not None:
            continue
        assert isinstance(node, ast.Call)
        given = len(node.args)
        if name == "locals" or (name in ("vars", "dir") and not given) or (name in ("eval", "exec") and given < 2):
            yield node


def _is_docstring(piece: Piece, frame: Scope) -> bool:
    body = getattr(frame.node, "body", None)
    first = piece.nodes[0]
    if not isinstance(body, list) or body[0] is not first or not isinstance(first, ast.Expr):
        return False
    return isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
