"""Pieces of a module that are the same as one but for the names of their variables.

    total = price * 2 + fee          a * 2 + b  in another function is the same with `a` for `price` and `b` for `fee`
    print(total)

Invariants:
- names of the module, attributes, keywords, and names that are bound otherwise than by an assignment are compared as
  they are written.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from msgspec import Struct

from bae_source.errors import Refused
from bae_source.refactoring.extracting.functions import Extracted, extracted, why_not
from bae_source.refactoring.extracting.selecting import Piece, is_unplaced, piece_of, suites
from bae_source.syntax.flow.scopes import Variable
from bae_source.syntax.inlining.code import Code
from bae_source.syntax.outline.static_values import names_bound

Key = int | str
"""A variable by its number among those of a piece, or a name."""


class Form:
    """A piece as it is compared.

    Attributes:
        text: the same for pieces that are the same.
        keys: its variables, each with its number.
    """

    def __init__(self, code: Code, nodes: Sequence[ast.AST]) -> None:
        self._code = code
        self.keys: dict[Variable, int] = {}
        every = [each for node in nodes for each in ast.walk(node)]
        self._fixed = {name for each in every if not isinstance(each, ast.Name) for name in names_bound(each)}
        self.text = "\n".join(map(self._shown, nodes))

    def key(self, variable: Variable) -> Key:
        """Return what stands for a variable in equal pieces."""
        return self.keys.get(variable, variable.name)

    def _shown(self, node: object) -> str:
        if isinstance(node, ast.Name) and node.id not in self._fixed:
            variable = self._code.scopes.variable(node, node.id)
            if variable is not None:
                number = self.keys.setdefault(variable, len(self.keys))
                return f"${number} {type(node.ctx).__name__}"
        if isinstance(node, ast.AST):
            fields = (f"{name}={self._shown(value)}" for name, value in ast.iter_fields(node))
            return f"{type(node).__name__}({', '.join(fields)})"
        if isinstance(node, list):
            return f"[{', '.join(map(self._shown, node))}]"
        return repr(node)


class Same(Struct, frozen=True, kw_only=True):
    """A piece that is the same as another, with what it gives for the parameters and takes of the results.

    Parameters:
        prefix: what stands before the function's name in its call, with the dot.
    """

    piece: Piece
    prefix: str
    given: tuple[str, ...]
    results: tuple[str, ...]


def pieces_like(piece: Piece) -> Iterator[Piece]:
    """Yield the other pieces of a module that are the same, in order; none overlaps another."""
    code, wanted = piece.code, Form(piece.code, piece.nodes).text
    end = 0
    for nodes in sorted(_candidates(piece), key=lambda each: piece_of(code, each).span):
        other = piece_of(code, nodes)
        is_apart = other.span.end <= piece.span.start or other.span.start >= piece.span.end
        if is_apart and other.span.start >= end and Form(code, nodes).text == wanted:
            end = other.span.end
            yield other


def _candidates(piece: Piece) -> Iterator[Sequence[ast.AST]]:
    code, first, many = piece.code, type(piece.nodes[0]), len(piece.nodes)
    if piece.is_expression:
        every = (each for each in ast.walk(code.tree) if type(each) is first and each in code.parents)
        yield from ([each] for each in every if not is_unplaced(code, each))
        return
    kinds = [type(each) for each in piece.nodes]
    for suite in suites(code.tree):
        runs = (suite[number : number + many] for number in range(len(suite) - many + 1))
        yield from (run for run in runs if [type(each) for each in run] == kinds)


def same_function(first: Extracted, piece: Piece, kind: str | None) -> Same | str:
    """Return a piece that the function of another can stand for; the reason where it cannot."""
    try:
        other = extracted(piece, kind)
    except Refused as error:
        return error.message
    if piece.is_expression and (why := why_not(piece)):
        return why
    mine = Form(first.piece.code, first.piece.nodes)
    own = Form(piece.code, piece.nodes)
    if other.shape != first.shape:
        return "the function cannot be called from there in the same way"
    if first.home.receiver and other.home.receiver and mine.key(first.home.receiver) != own.key(other.home.receiver):
        return "it is about another instance"
    names: dict[Key, str] = {own.key(variable): variable.name for variable in (*other.taken, *other.given)}
    names.update({number: variable.name for variable, number in own.keys.items()})
    taken, given = [mine.key(each) for each in first.taken], [mine.key(each) for each in first.given]
    if {own.key(each) for each in other.taken} != set(taken):
        return "it takes other values from around it"
    if not {own.key(each) for each in other.given} <= set(given):
        return "other values of it are used behind it"
    return Same(
        piece=piece,
        prefix=other.home.prefix,
        given=tuple(names.get(each, str(each)) for each in taken),
        results=tuple(names.get(each, str(each)) for each in given),
    )
