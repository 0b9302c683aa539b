"""The things that names of a module may stand for at each of its statements, on every way that leads there.

    try: import json                     behind it: json, the module
    except ImportError: json = None                 or something else
    if DEBUG: import pdb                 behind it: pdb, the module, or unbound
    if TYPE_CHECKING: import re          never runs: unbound
    del os                               behind it: unbound

Invariants:
- nothing is executed; in doubt a statement may run, and may not;
- names that functions bind by `global` are not followed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence

from bae_source.syntax.importing.guards import may_swallow
from bae_source.syntax.importing.meaning import Place, bindings
from bae_source.syntax.outline.static_values import is_skipped, names_bound
from bae_source.syntax.outline.tree import parse_module

Thing = tuple[str, str]
UNBOUND: Thing = ("", "")
OTHER: Thing = ("", "=")
"""Anything that no import binds."""
State = dict[str, frozenset[Thing]]

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_TRIES = tuple(getattr(ast, name) for name in ("Try", "TryStar") if hasattr(ast, name))
_LEAVES = (ast.Raise, ast.Continue, ast.Break, ast.Return)
_ENDS = ("exit", "_exit", "abort", "skip")


class Flow:
    """The states of names through the statements of a module.

    Parameters:
        body: the statements.
        place: the module.
        names: the keys of what is followed, as `Bound` has them.
    """

    def __init__(self, body: Sequence[ast.stmt], place: Place, names: frozenset[str]) -> None:
        self._body = body
        self._place = place
        self._names = names

    def states(self, first: int = 0, start: Mapping[str, frozenset[Thing]] | None = None) -> list[State]:
        """Return the state before each statement from one on, and the one behind the last.

        Parameters:
            first: number of the statement to begin with.
            start: what is bound before it; nothing if left out.
        """
        state: State | None = {name: frozenset({UNBOUND}) for name in self._names} | dict(start or {})
        found: list[State] = []
        for statement in self._body[first:]:
            found.append(state or {})
            state = self._statement(statement, state)
        return [*found, state or {}]

    def _suite(self, body: Sequence[ast.stmt], state: State | None) -> State | None:
        """Return the state behind some statements; None where their end is not reached."""
        for statement in body:
            if state is None:
                return None
            state = self._statement(statement, state)
        return state

    def _statement(self, node: ast.stmt, state: State | None) -> State | None:
        if state is None:
            return None
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            return self._imported(node, state)
        if isinstance(node, ast.If):
            return self._if(node, state)
        if isinstance(node, _TRIES):
            return self._try(node, state)
        if isinstance(node, (ast.With, ast.AsyncWith)):
            inner = self._suite(node.body, self._simple(node.items, state))
            swallows = any(_may_swallow(item.context_expr) for item in node.items)
            return _joined(self._anywhere(node.body, state), inner) if swallows else inner
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            begun = self._simple([node.test] if isinstance(node, ast.While) else [node.target, node.iter], state)
            inside = self._anywhere(node.body, begun)
            return _joined(self._suite(node.orelse, _joined(state, inside)), inside if _breaks(node) else None)
        if isinstance(node, ast.Match):
            cases = (self._suite(case.body, self._simple([case.pattern], state)) for case in node.cases)
            return _joined(state, *cases)
        if isinstance(node, _LEAVES) or _exits(node):
            return None
        return self._simple([node], state)

    def _imported(self, node: ast.Import | ast.ImportFrom, state: State) -> State:
        found = dict(state)
        for alias in node.names:
            for bound in bindings(node, alias, self._place):
                if bound.key in found:
                    found[bound.key] = frozenset({bound.thing})
        return found

    def _if(self, node: ast.If, state: State) -> State | None:
        state = self._simple([node.test], state)
        never = is_skipped(node.test)
        if never is not None:
            return self._suite(node.orelse if never else node.body, state)
        return _joined(self._suite(node.body, state), self._suite(node.orelse, state))

    def _try(self, node: ast.Try, state: State) -> State | None:
        failed = self._anywhere(node.body, state)
        ends = [self._suite(node.orelse, self._suite(node.body, state))]
        for handler in node.handlers:
            begun = failed | {handler.name: frozenset({OTHER})} if handler.name in failed else failed
            end = self._suite(handler.body, begun)
            ends.append(end | {handler.name: frozenset({UNBOUND})} if end and handler.name in end else end)
        end = _joined(*ends)
        return self._suite(node.finalbody, end) if node.finalbody else end

    def _anywhere(self, body: Sequence[ast.stmt], state: State) -> State:
        """Return the state that may hold wherever some statements are left."""
        found: State = state
        reached: State | None = state
        for each in body:
            reached = self._statement(each, reached)
            found = _joined(found, reached) or found
        return found

    def _simple(self, nodes: Sequence[ast.AST], state: State) -> State:
        """Return the state behind what runs as one."""
        found = state
        for node in nodes:
            for name, deleted in bound_by(node):
                if name in state:
                    found = found | {name: frozenset({UNBOUND if deleted else OTHER})}
        return found


def perhaps_unbound(text: str, names: Iterable[str]) -> frozenset[str]:
    """Return those of some names that a module may not have once it has run; none where that cannot be read."""
    wanted = frozenset(names)
    if not wanted:
        return wanted
    try:
        states = Flow(parse_module(text).body, Place(module=""), wanted).states()
    except (SyntaxError, RecursionError, MemoryError):
        return frozenset()
    return frozenset(name for name in wanted if UNBOUND in states[-1].get(name, {UNBOUND}))


def bound_by(node: ast.AST, *, imports: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield the names that a node binds in its own scope, and whether it deletes them instead.

    Parameters:
        imports: whether those count which import statements bind.
    """
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if imports or not isinstance(each, ast.alias):
            yield from ((name, isinstance(getattr(each, "ctx", None), ast.Del)) for name in names_bound(each))
        if isinstance(each, ast.comprehension):
            waiting += [each.iter, *each.ifs]  # its targets are bound in a scope of their own
        elif not isinstance(each, _SCOPES):
            waiting += ast.iter_child_nodes(each)
        elif not isinstance(each, ast.Lambda):
            waiting += each.decorator_list


def _joined(*states: State | None) -> State | None:
    """Return the state that may hold where several branches meet."""
    reached = [state for state in states if state is not None]
    if not reached:
        return None
    return {name: frozenset().union(*(state[name] for state in reached)) for name in reached[0]}


def _may_swallow(manager: ast.expr) -> bool:
    return may_swallow(manager) and "catch_warnings" not in ast.dump(manager)


def _breaks(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Break) for each in ast.walk(node))


def _exits(node: ast.stmt) -> bool:
    """Return whether a statement is a call such as `sys.exit()`."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    function = node.value.func
    owner = function.value if isinstance(function, ast.Attribute) else None
    return isinstance(owner, ast.Name) and owner.id in ("sys", "os", "pytest") and function.attr in _ENDS  # type: ignore[attr-defined]
