"""The order in which parts of a statement are evaluated, and how much evaluating one earlier may matter.

    show(read(), size + 1)      `show` and `read()` come before `size + 1`
    ready and load()            `load()` may not be evaluated at all
    [f(x) for x in xs]          `xs` comes once and first, `f(x)` any number of times

Invariants:
- what is called a value neither fails nor depends on when it is evaluated, so long as its variables keep theirs.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Set
from enum import IntEnum

from bae_source.syntax.flow.evaluation import PURE_CALLS, Depends, depends
from bae_source.syntax.flow.parts import parts_of
from bae_source.syntax.flow.scopes import COMPREHENSIONS, Scopes, Variable


class Weight(IntEnum):
    """The weight of the time at which an expression is evaluated."""

    VALUE = 0
    READS = 1
    CALLS = 2


_EVALUATED = (ast.expr, ast.keyword, ast.withitem, ast.arguments)
_SAFE_OPERATORS = (ast.Add, ast.Sub, ast.Mult)


def weight_of(node: ast.AST, scopes: Scopes, kept: Collection[Variable], calling: Set[str] = frozenset()) -> Weight:
    """Return how much it may matter when an expression is evaluated.

    Parameters:
        kept: variables that nothing else binds while the statement runs.
        calling: attributes that run code, as `read_as` writes them.
    """
    if isinstance(node, ast.keyword):
        node = node.value
    if isinstance(node, ast.withitem) or depends(node, PURE_CALLS | calling) is Depends.RUNS:
        return Weight.CALLS
    if isinstance(node, ast.Name):
        return Weight.VALUE if scopes.variable(node, node.id) in kept else Weight.READS
    if is_literal(node):
        return Weight.VALUE
    parts = [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr)]
    is_plain = isinstance(node, ast.Tuple) or (isinstance(node, ast.JoinedStr) and not parts)
    if isinstance(node, ast.Compare):
        is_plain = all(isinstance(each, (ast.Is, ast.IsNot)) for each in node.ops)
    if isinstance(node, ast.Lambda):
        is_plain, parts = True, [each for each in (*node.args.defaults, *node.args.kw_defaults) if each is not None]
    return Weight(not (is_plain and all(not weight_of(each, scopes, kept, calling) for each in parts)))


def is_literal(node: ast.AST) -> bool:
    """Return whether an expression is numbers and texts, and sums and products of these."""
    if isinstance(node, ast.Constant) or _kind_of_text(node) is not None:
        return True
    if isinstance(node, ast.UnaryOp):
        return _is_number(node.operand) and not isinstance(node.op, ast.Invert)
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, _SAFE_OPERATORS) and _is_number(node.left) and _is_number(node.right)
    return isinstance(node, ast.Tuple) and all(map(is_literal, node.elts))


def _kind_of_text(node: ast.AST) -> type | None:
    """Return the type of a text, or of texts that are put together; None for all else."""
    if isinstance(node, ast.Constant):
        return type(node.value) if isinstance(node.value, (str, bytes)) else None
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add):
        return None
    kind = _kind_of_text(node.left)
    return kind if kind is _kind_of_text(node.right) else None


def _is_number(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return type(node.value) in (int, float)
    return not isinstance(node, ast.Tuple) and is_literal(node)


class Timing:
    """The evaluations before an expression in its statement, and whether it is surely evaluated there, once.

    Parameters:
        node: the expression.
        parents: by each node the one that it stands in.

    Attributes:
        statement: the statement around it.
        earlier: expressions that are evaluated before it.
        perhaps: why it may be evaluated never or several times; "" where it is not so.
        again: whether it may be evaluated several times, or later.
    """

    def __init__(self, node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> None:
        self.earlier: list[ast.AST] = []
        self.perhaps = ""
        self.again = False
        child, around = node, parents[node]
        while not isinstance(child, ast.stmt):
            self._step(child, around, parents)
            child, around = around, parents.get(around, around)
        self.statement: ast.stmt = child

    def _step(self, child: ast.AST, around: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> None:
        """Go up from a node to that around it."""
        if isinstance(around, ast.comprehension):
            owner = parents[around]
            is_first = owner.generators[0] is around and child is around.iter  # type: ignore[attr-defined]
            self._note("" if is_first else "a comprehension", again=not is_first)
            return
        if isinstance(around, COMPREHENSIONS):
            if not isinstance(child, ast.comprehension):
                self._note("a comprehension", again=True)
            return
        if why := _on_condition(child, around):
            self._note(why, again=isinstance(around, (ast.Lambda, ast.While, ast.For, ast.AsyncFor)))
        parts = list(_evaluated(around))
        if child in parts:
            self.earlier += parts[: parts.index(child)]

    def _note(self, why: str, *, again: bool = False) -> None:
        self.perhaps = self.perhaps or why
        self.again |= again


def _on_condition(child: ast.AST, around: ast.AST) -> str:
    """Return why a part of a node may be evaluated never, later, or several times; "" where it is not so."""
    match around:
        case ast.Lambda(body=body) if child is body:
            return "a lambda"
        case ast.BoolOp(values=[first, *_]) if child is not first:
            return "`and` or `or`"
        case ast.IfExp(test=test) if child is not test:
            return "a conditional expression"
        case ast.Compare(comparators=[_, *others]) if child in others:
            return "a chain of comparisons"
        case ast.While():
            return "the condition of a loop"
        case ast.Assert():
            return "an assert, which Python may leave out"
        case ast.withitem(optional_vars=target) if child is target:
            return "the target of a `with`"
        case ast.ExceptHandler() | ast.match_case():
            return "a clause that is not always reached"
        case ast.With() | ast.AsyncWith() if child is not around.items[0]:
            return "a `with` that enters another thing before"
        case ast.For() | ast.AsyncFor() if child is not around.iter:
            return "the target of a loop"
    return ""


def _evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the expressions that a node has as its parts, in the order in which they are evaluated."""
    yield from (each for each, *_ in parts_of(node) if isinstance(each, _EVALUATED))
