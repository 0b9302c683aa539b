"""Evaluation of code as a list of steps in their order, and what may move over them.

    total = rate * count          steps: rate, count, rate * count, total is bound
    log(total)                           log, total, log(total)

The value `rate * count` can stand in the place of the second `total`: between the two only `log` is read, and nothing
runs. With `log()` in a line between it may not, since that call may change what the operator reads; with `rate = 2`
between it may not for sure. In `for x in xs: log(total)` all steps of the loop count, since they come before the
second round. In `lambda: total` the read comes later than any step that can be seen, so only a value that nothing
changes can go there.

Invariants:
- attributes, items and operators give a value and do nothing else, but for attributes that are known to run code;
  calls, `await`, `yield`, imports and loops over what is not known may do anything;
- code that is not known is taken for code that may do anything.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence, Set
from enum import IntEnum

from msgspec import Struct

from bae_source.syntax.flow.parts import parts_of
from bae_source.syntax.flow.scopes import COMPREHENSIONS
from bae_source.syntax.outline.static_values import names_bound

LOOPS = (ast.For, ast.AsyncFor, ast.While)
PURE_CALLS = frozenset(
    {"abs", "bool", "bytes", "callable", "chr", "float", "hasattr", "hash", "id", "int", "isinstance", "issubclass",
     "len", "ord", "range", "repr", "round", "str", "type"}
)  # fmt: skip
"""Built-in functions that give a value and do nothing else, as operators do."""
_FRESH = (ast.List, ast.Dict, ast.Set, *COMPREHENSIONS, ast.Lambda)
_EFFECTS = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, *COMPREHENSIONS)
_READS = (ast.Attribute, ast.Subscript, ast.BinOp, ast.UnaryOp, ast.Compare, ast.JoinedStr, ast.Starred)


class Depends(IntEnum):
    """The state that the value of an expression depends on, the least first."""

    NOTHING = 0  # a constant, or made of constants
    NAMES = 1  # what names are bound to
    STATE = 2  # what objects hold, which other code may change
    RUNS = 3  # it runs code that may do anything


class Step(Struct, frozen=True):
    """One step of an evaluation.

    Parameters:
        node: what is evaluated, or the statement that has an effect.
        binds: names that it binds or deletes.
        effect: whether it may run other code, or changes an object.
        maybe: whether it may be left out.
        later: whether it runs after the statement, if at all.
    """

    node: ast.AST
    binds: tuple[str, ...] = ()
    effect: bool = False
    maybe: bool = False
    later: bool = False


def depends(node: ast.AST, bound: Set[str] = frozenset(), constants: Set[str] = frozenset()) -> Depends:
    """Return what the value of an expression depends on.

    Parameters:
        bound: names that the file binds, so that they are no built-in ones, and attributes that run code (`read_as`).
        constants: names that are bound once, to a number or a string.
    """
    found = Depends.NOTHING
    waiting: list[ast.AST] = [node]
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.Lambda):
            waiting += [*each.args.defaults, *(one for one in each.args.kw_defaults if one is not None)]
            found = max(found, Depends.NAMES)
            continue
        if isinstance(each, _EFFECTS) or (isinstance(each, ast.Call) and not is_pure_call(each, bound)):
            return Depends.RUNS
        if is_running(each, bound):
            return Depends.RUNS
        if isinstance(each, ast.Name):
            found = max(found, Depends.NAMES)
        elif isinstance(each, (*_READS, ast.Call)) and not _is_of_constants(each, constants):
            found = max(found, Depends.STATE)
        waiting += ast.iter_child_nodes(each)
    return found


def _is_of_constants(node: ast.AST, constants: Set[str]) -> bool:
    """Return whether an operator works on numbers or strings alone: `-1`, `60 * 60`."""
    return isinstance(node, (ast.BinOp, ast.UnaryOp)) and all(
        isinstance(each, (ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context))
        or (isinstance(each, ast.Name) and each.id in constants)
        for each in ast.walk(node)
    )


def read_as(attribute: str) -> str:
    """Return an attribute as it stands among names: those that run code when they are read stand there so."""
    return f".{attribute}"


def is_running(node: ast.AST, bound: Set[str]) -> bool:
    """Return whether a node is an attribute that runs code."""
    return isinstance(node, ast.Attribute) and read_as(node.attr) in bound


def is_pure_call(node: ast.Call, bound: Set[str]) -> bool:
    """Return whether a call is one of a built-in function that does nothing but give a value."""
    return isinstance(node.func, ast.Name) and node.func.id in PURE_CALLS and node.func.id not in bound


def is_fresh(node: ast.expr, bound: Set[str] = frozenset()) -> bool:
    """Return whether each evaluation may give another object that can be told from the others, as `[]` does."""
    if isinstance(node, (ast.IfExp, ast.BoolOp)):
        several = [node.body, node.orelse] if isinstance(node, ast.IfExp) else node.values
        return any(is_fresh(each, bound) for each in several)
    if isinstance(node, (ast.Tuple, ast.Starred, ast.NamedExpr)):
        return any(is_fresh(each, bound) for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr))
    is_call = isinstance(node, ast.Call) and not is_pure_call(node, bound)
    return isinstance(node, _FRESH) or is_call or is_running(node, bound)


def steps_of(nodes: Sequence[ast.AST], bound: Set[str] = frozenset()) -> list[Step]:
    """Return the steps of some statements or expressions, in the order in which they are evaluated.

    Parameters:
        bound: as of `depends`.
    """
    return [step for node in nodes for step in _Walk(bound).steps(node)]


class _Walk:
    """Walks code in the order of its evaluation.

    Parameters:
        bound: as of `depends`.
    """

    def __init__(self, bound: Set[str]) -> None:
        self.bound = bound

    def steps(self, node: ast.AST | None, *, maybe: bool = False, later: bool = False) -> Iterator[Step]:
        """Yield the steps of a node."""
        if node is None:
            return
        for part, is_maybe, is_later in parts_of(node):
            yield from self.steps(part, maybe=maybe or is_maybe, later=later or is_later)
        yield Step(node, tuple(names_bound(node)), self._effect(node), maybe, later)

    def _effect(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Call):
            return not is_pure_call(node, self.bound)
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            return not isinstance(node.ctx, ast.Load) or is_running(node, self.bound)
        if isinstance(node, ast.AugAssign):
            return not (isinstance(node.target, ast.Name) and isinstance(node.value, ast.Constant))
        if isinstance(node, (ast.For, ast.comprehension)):
            return not _counts(node.iter, self.bound)
        return isinstance(node, _RUN)


def _counts(node: ast.expr, bound: Set[str]) -> bool:
    """Return whether a loop over something only counts, and runs no code to get the next one."""
    return isinstance(node, (ast.Tuple, ast.List, ast.Constant)) or (
        isinstance(node, ast.Call) and is_pure_call(node, bound)
    )


_RUN = (
    ast.Await, ast.Yield, ast.YieldFrom, ast.Import, ast.ImportFrom, ast.withitem, ast.AsyncFor,
    ast.ClassDef, ast.Match,
)  # fmt: skip
"""Nodes that may run other code by themselves, or change what an object holds."""
