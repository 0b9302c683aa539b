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
from collections.abc import Callable, Iterator, Sequence, Set
from enum import IntEnum

from msgspec import Struct

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
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


def depends(node: ast.expr, bound: Set[str] = frozenset(), constants: Set[str] = frozenset()) -> Depends:
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
    """Return whether an attribute is read that runs code."""
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and read_as(node.attr) in bound


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
        inner = _ORDER.get(type(node))
        parts = inner(node) if inner is not None else ((each, False, False) for each in ast.iter_child_nodes(node))
        for part, is_maybe, is_later in parts:
            yield from self.steps(part, maybe=maybe or is_maybe, later=later or is_later)
        yield Step(node, tuple(bound_by(node)), self._effect(node), maybe, later)

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

_Part = tuple["ast.AST | None", bool, bool]
"""A part of a node, whether it may be left out, and whether it runs later."""


def _all(nodes: Sequence[ast.AST | None], *, maybe: bool = False, later: bool = False) -> Iterator[_Part]:
    return ((each, maybe, later) for each in nodes)


def _assigned(node: ast.Assign) -> Iterator[_Part]:
    yield from _all([node.value, *node.targets])


def _annotated(node: ast.AnnAssign) -> Iterator[_Part]:
    yield from _all([node.value, node.target, node.annotation])


def _in_order_of_tests(node: ast.BoolOp) -> Iterator[_Part]:
    yield node.values[0], False, False
    yield from _all(node.values[1:], maybe=True)


def _compared(node: ast.Compare) -> Iterator[_Part]:
    yield from _all([node.left, node.comparators[0]])
    yield from _all(node.comparators[1:], maybe=True)


def _chosen(node: ast.IfExp | ast.If) -> Iterator[_Part]:
    yield node.test, False, False
    several = [node.body, node.orelse] if isinstance(node, ast.IfExp) else [*node.body, *node.orelse]
    yield from _all(several, maybe=True)


def _asserted(node: ast.Assert) -> Iterator[_Part]:
    yield from _all([node.test])
    yield node.msg, True, False


def _looped(node: ast.For | ast.AsyncFor) -> Iterator[_Part]:
    yield node.iter, False, False
    yield from _all([node.target, *node.body, *node.orelse], maybe=True)


def _repeated(node: ast.While) -> Iterator[_Part]:
    yield node.test, False, False
    yield from _all([*node.body, *node.orelse], maybe=True)


def _tried(node: ast.Try) -> Iterator[_Part]:
    yield from _all([*node.body, *node.handlers, *node.orelse], maybe=True)
    yield from _all(node.finalbody)


def _called(node: ast.Call) -> Iterator[_Part]:
    yield from _all([node.func, *node.args, *node.keywords])


def _mapped(node: ast.Dict) -> Iterator[_Part]:
    for key, value in zip(node.keys, node.values, strict=True):
        yield from _all([key, value])


def _collected(node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> Iterator[_Part]:
    is_later = isinstance(node, ast.GeneratorExp)
    first, *others = node.generators
    yield first.iter, False, False
    yield from _all([first.target, *first.ifs, *others], maybe=True, later=is_later)
    several = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    yield from _all(several, maybe=True, later=is_later)


def _deferred(node: ast.Lambda) -> Iterator[_Part]:
    yield from _all([*node.args.defaults, *node.args.kw_defaults])
    yield node.body, True, True


def _defined(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[_Part]:
    yield from _all([*node.decorator_list, node.args, node.returns])
    yield from _all(node.body, maybe=True, later=True)


def _classified(node: ast.ClassDef) -> Iterator[_Part]:
    yield from _all([*node.decorator_list, *node.bases, *node.keywords, *node.body])


def _matched(node: ast.Match) -> Iterator[_Part]:
    yield node.subject, False, False
    yield from _all(node.cases, maybe=True)


def _with(node: ast.With | ast.AsyncWith) -> Iterator[_Part]:
    yield from _all([*node.items, *node.body])


_ORDER: dict[type[ast.AST], Callable[..., Iterator[_Part]]] = {
    ast.Assign: _assigned,
    ast.AnnAssign: _annotated,
    ast.BoolOp: _in_order_of_tests,
    ast.Compare: _compared,
    ast.IfExp: _chosen,
    ast.If: _chosen,
    ast.Assert: _asserted,
    ast.For: _looped,
    ast.AsyncFor: _looped,
    ast.While: _repeated,
    ast.Try: _tried,
    ast.Call: _called,
    ast.Dict: _mapped,
    ast.ListComp: _collected,
    ast.SetComp: _collected,
    ast.DictComp: _collected,
    ast.GeneratorExp: _collected,
    ast.Lambda: _deferred,
    ast.FunctionDef: _defined,
    ast.AsyncFunctionDef: _defined,
    ast.ClassDef: _classified,
    ast.Match: _matched,
    ast.With: _with,
    ast.AsyncWith: _with,
}
"""By types of nodes, their parts in the order of evaluation; of others, the order in which they stand."""
if hasattr(ast, "TryStar"):  # since Python 3.11
    _ORDER[ast.TryStar] = _tried


def bound_by(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node binds or deletes by itself, not by its parts."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        yield from (node.name,) if node.name else ()
    elif isinstance(node, ast.MatchMapping):
        yield from (node.rest,) if node.rest else ()
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from ((each.asname or each.name).partition(".")[0] for each in node.names)
