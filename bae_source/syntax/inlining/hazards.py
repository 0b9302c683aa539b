"""Reasons why a value cannot go, or may not go, from where it is evaluated to where its name is read.

    rate = self.rate        the value reads what an object holds
    self.reset()            which this may change: the read below is unsure
    rate = rate             ... and a rebinding of a name in the value would make it wrong
    return rate * 2

Invariants:
- a hazard is *certain* where the value would mean something else on some way through the code, else it is a doubt that
  a caller may overrule.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from bae_source.model.reasons import Reason
from bae_source.syntax.flow.evaluation import (
    LOOPS,
    Depends,
    Step,
    depends,
    is_fresh,
    steps_of,
)
from bae_source.syntax.flow.graph import TRIES
from bae_source.syntax.flow.scopes import COMPREHENSIONS, FUNCTIONS
from bae_source.syntax.inlining.scopes import names_read

Parents = Mapping[ast.AST, ast.AST]
_LEAVING = (ast.Return, ast.Raise, ast.Break, ast.Continue, ast.Assert)
_STATE = (ast.Attribute, ast.Subscript, ast.BinOp, ast.Compare, ast.UnaryOp, ast.JoinedStr)


class Hazard(Struct, frozen=True):
    """A reason why a value cannot take the place of a read; `is_certain` where no caller may overrule it."""

    why: str
    is_certain: bool


class Value(Struct, frozen=True, kw_only=True):
    """A value that is to go elsewhere.

    Parameters:
        node: its expression.
        depends: what it depends on.
        is_fresh: whether each evaluation may give another object.
        names: names that it reads.
        volatile: those of them that other code may bind anew.
        unsteady: those of them that are bound more than once, or in a loop.
        bound: names that the file binds.
    """

    node: ast.expr
    depends: Depends
    is_fresh: bool
    names: frozenset[str]
    volatile: frozenset[str] = frozenset()
    unsteady: frozenset[str] = frozenset()
    bound: frozenset[str] = frozenset()


class Way(Struct, frozen=True, kw_only=True):
    """The way from where a value is evaluated to where it is read.

    Parameters:
        between: the steps that run on it.
        is_maybe: whether the read may be left out.
        is_later: whether it runs when the code around is through.
        is_repeated: whether it may run several times.
        is_caught: whether exceptions that are raised there are caught, and those at the beginning are not.
        looks_up: names whose methods are looked up on the way, to be called behind the read.
    """

    between: Sequence[Step]
    is_maybe: bool
    is_later: bool
    is_repeated: bool
    is_caught: bool
    looks_up: frozenset[str] = frozenset()


def value_of(
    node: ast.expr,
    bound: frozenset[str],
    volatile: frozenset[str] = frozenset(),
    unsteady: frozenset[str] = frozenset(),
    constants: frozenset[str] = frozenset(),
) -> Value:
    """Return a value; the parameters are those of `Value`.

    Parameters:
        constants: names that are bound once, to a number or a string.
    """
    names = frozenset(names_read(node))
    return Value(
        node=node,
        depends=depends(node, bound, constants),
        is_fresh=is_fresh(node, bound),
        names=names,
        volatile=volatile & names,
        unsteady=unsteady & names,
        bound=bound,
    )


def way_to(root: ast.AST, start: ast.stmt | None, read: ast.AST, parents: Parents, bound: frozenset[str]) -> Way:
    """Return the way from a statement of some code to a read in it.

    Parameters:
        root: the function, class or module that all of the code stands in, or an expression.
        start: the statement; None for the beginning of the code.
        bound: names that the file binds.
    """
    begin = start if start is not None else root
    steps = steps_of(root.body if hasattr(root, "body") and isinstance(root.body, list) else [root], bound)
    first = next((n + 1 for n, each in enumerate(steps) if each.node is start), 0)
    last = next((n for n, each in enumerate(steps) if each.node is read), None)
    if last is None:
        return Way(between=steps[first:], is_maybe=True, is_later=True, is_repeated=True, is_caught=True)
    others = {id(inner) for each in _other_branches(read, parents) for inner in ast.walk(each)}
    between = [each for each in steps[first:last] if not each.later and id(each.node) not in others]
    loops = list(_loops_around(read, begin, parents))
    for loop in loops:
        between += [each for each in steps_of([loop], bound) if not each.later and each.node is not read]
    is_maybe = any(_conditions(read, begin, parents))
    looked_up = [each for each in between if _is_lookup(each.node, read, parents)]
    return Way(
        between=[each for each in between if each not in looked_up],
        looks_up=frozenset(each.node.value.id for each in looked_up),  # type: ignore[attr-defined]
        is_maybe=is_maybe or bool(loops),
        is_later=steps[last].later,
        is_repeated=bool(loops),
        is_caught=_is_caught(read, begin, parents),
    )


def is_reached(start: ast.stmt, read: ast.AST, parents: Parents) -> bool:
    """Say whether a statement has surely run wherever a read behind it runs: it stands before it, in a suite around."""
    suite = suite_of(start, parents)
    node: ast.AST = read
    while node in parents:
        if node in suite:
            return suite.index(node) > suite.index(start)
        node = parents[node]
    return False


def suite_of(statement: ast.stmt, parents: Parents) -> list[ast.stmt]:
    """Return the suite that a statement stands in."""
    around = parents[statement]
    for field in ("body", "orelse", "finalbody"):
        suite = getattr(around, field, None)
        if isinstance(suite, list) and statement in suite:
            return suite
    return [statement]


def hazard(value: Value, way: Way, *, is_alone: bool, shared: frozenset[str] = frozenset()) -> Hazard | None:
    """Return the reason why a value cannot go a way; None where it can.

    Parameters:
        is_alone: whether no other read takes it.
        shared: names that any call may bind anew.
    """
    rebound = value.names.intersection(name for each in way.between for name in each.binds)
    if rebound:
        return Hazard(Reason.BOUND_ANEW.of(name=min(rebound)), True)
    if way.is_later and value.unsteady:
        return Hazard(Reason.EVALUATED_LATER.of(), True)
    runs_again = way.is_repeated or way.is_later or not is_alone
    if runs_again and (value.is_fresh or value.depends is Depends.RUNS):
        return Hazard(Reason.EVALUATED_AGAIN.of(), True)
    leaves = any(isinstance(each.node, _LEAVING) for each in way.between)
    if value.depends is Depends.RUNS and (way.is_maybe or leaves):
        return Hazard(Reason.EVALUATED_PERHAPS.of(), True)
    if way.is_later and value.depends is Depends.STATE:
        return Hazard(Reason.EVALUATED_LATER.of(), False)
    has_effect = any(each.effect for each in way.between)
    if has_effect and (value.depends is Depends.STATE or value.volatile):
        return Hazard(Reason.STATE_MAY_CHANGE.of(), False)
    if value.depends is Depends.RUNS and (has_effect or any(reads_state(each, shared) for each in way.between)):
        return Hazard(Reason.RUNS_BEHIND.of(), False)
    if value.depends >= Depends.STATE and way.is_caught:
        return Hazard(Reason.CAUGHT_HERE.of(), False)
    return None


def _is_lookup(node: ast.AST, read: ast.AST, parents: Parents) -> bool:
    """Return whether a method of a name is looked up that is called with what a read gives: `log.info(read)`."""
    call = parents.get(node)
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return False
    return isinstance(call, ast.Call) and call.func is node and any(each is read for each in ast.walk(call))


def reads_state(step: Step, shared: frozenset[str]) -> bool:
    """Return whether a step reads what a call may change: what an object holds, or a name that functions bind anew."""
    return isinstance(step.node, _STATE) or (isinstance(step.node, ast.Name) and step.node.id in shared)


def _other_branches(read: ast.AST, parents: Parents) -> Iterator[ast.AST]:
    """Yield the branches that do not run where a read runs, and that stand before it."""
    node = read
    while node in parents and not isinstance(node, FUNCTIONS):
        around = parents[node]
        if isinstance(around, ast.If) and node in around.orelse:
            yield from around.body
        elif isinstance(around, ast.IfExp) and node is around.orelse:
            yield around.body
        node = around


def _around(read: ast.AST, start: ast.AST, parents: Parents) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Yield what stands around a read and not around a statement, each with the part of it that the read is in."""
    outer: set[int] = set()
    node: ast.AST | None = start
    while node is not None:
        outer.add(id(node))
        node = parents.get(node)
    node = read
    while node in parents and id(parents[node]) not in outer:
        yield node, parents[node]
        node = parents[node]


def _loops_around(read: ast.AST, start: ast.AST, parents: Parents) -> Iterator[ast.AST]:
    for part, around in _around(read, start, parents):
        if isinstance(around, ast.comprehension):
            whole = parents[around]
            assert isinstance(whole, COMPREHENSIONS)
            if part is not around.iter or around is not whole.generators[0]:
                yield whole
            continue
        is_loop = isinstance(around, LOOPS) and part is not getattr(around, "iter", None)
        if is_loop or (isinstance(around, COMPREHENSIONS) and part is not around.generators[0]):
            yield around


def _conditions(read: ast.AST, start: ast.AST, parents: Parents) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Yield parts around a read that may be left out though what they are parts of runs."""
    for part, around in _around(read, start, parents):
        is_optional = (
            (isinstance(around, (ast.If, ast.IfExp)) and part is not around.test)
            or isinstance(around, (*LOOPS, ast.ExceptHandler, ast.match_case))
            or (isinstance(around, ast.BoolOp) and part is not around.values[0])
            or (isinstance(around, ast.Compare) and part in around.comparators[1:])
            or (isinstance(around, ast.Assert) and part is around.msg)
            or (isinstance(around, TRIES) and part not in around.finalbody)
        )
        if is_optional:
            yield part, around


def _is_caught(read: ast.AST, start: ast.AST, parents: Parents) -> bool:
    return any(
        (isinstance(around, TRIES) and part in around.body) or isinstance(around, (ast.With, ast.AsyncWith))
        for part, around in _around(read, start, parents)
    )
