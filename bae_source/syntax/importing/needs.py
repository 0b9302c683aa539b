"""Which statements of a module read a name while the module is loaded.

    @json.register               reads json
    def f(a=json.x): json.y      reads json for the default; the suite runs later
    X = f()                      reads json, since f may be called
    class A(json.B): c = json.d  reads json

Invariants:
- in doubt a statement reads it: whatever names a function may call it;
- a statement that binds the name itself, as `try: import json` does, needs nobody else to.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterator, Sequence

from bae_source.syntax.importing.flow import bound_by

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)


class Needs:
    """Finds the statements that need a name.

    Parameters:
        body: the statements of a module.
    """

    def __init__(self, body: Sequence[ast.stmt]) -> None:
        self._body = body
        self._loaded: dict[int, frozenset[str]] = {}

    def of(self, name: str, end: int, touched: Collection[int] | None = None) -> Iterator[int]:
        """Yield the numbers of the statements that read a name when they run.

        Parameters:
            end: number of the statement to end before.
            touched: numbers of the statements whose own code counts; all if left out, but for names that Python has.
        """
        if touched is None and hasattr(builtins, name):
            return
        functions: dict[str, int] = {}
        for number, statement in enumerate(self._body[:end]):
            if isinstance(statement, _DEFINITIONS):
                functions[statement.name] = number
            if self._reads(number, name, functions, touched) and not _binds(statement, name):
                yield number

    def _reads(self, number: int, name: str, functions: dict[str, int], touched: Collection[int] | None) -> bool:
        loaded = self._loaded_by(number)
        if name in loaded and (touched is None or number in touched):
            return True
        waiting, seen = [each for each in loaded if each in functions], set[str]()
        while waiting:
            called = waiting.pop()
            if called in seen:
                continue
            seen.add(called)
            mentioned = _mentioned(self._body[functions[called]])
            if name in mentioned and (touched is None or functions[called] in touched):
                return True
            waiting += [each for each in mentioned if each in functions]
        return False

    def _loaded_by(self, number: int) -> frozenset[str]:
        if number not in self._loaded:
            self._loaded[number] = frozenset(_read_at_once(self._body[number]))
        return self._loaded[number]


def _read_at_once(statement: ast.AST) -> Iterator[str]:
    """Yield the names that run with a statement; all of a lambda, of annotations, and of what is called in it."""
    waiting = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            yield node.id
        if isinstance(node, _FUNCTIONS):
            waiting += [*node.decorator_list, node.args, *([node.returns] if node.returns else [])]
        else:
            waiting += ast.iter_child_nodes(node)


def _mentioned(node: ast.AST) -> frozenset[str]:
    return frozenset(each.id for each in ast.walk(node) if isinstance(each, ast.Name))


def _binds(statement: ast.stmt, name: str) -> bool:
    """Say whether a compound statement binds a name itself, on one way at least."""
    if isinstance(statement, _DEFINITIONS):
        return False
    imported = (
        (alias.asname or alias.name).partition(".")[0]
        for each in ast.walk(statement)
        if isinstance(each, (ast.Import, ast.ImportFrom))
        for alias in each.names
    )
    return name in imported or any(bound == name for bound, _ in bound_by(statement))
