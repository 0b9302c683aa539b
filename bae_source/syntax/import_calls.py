"""What functions import that a module calls while it is imported itself.

    def _load():
        from app import LATER            runs with the module, since it calls _load()
        if DEBUG: import app.debug       may not run, and neither may what comes behind it

    DEFAULT = _load()

Invariants:
- only what certainly runs is told: the imports that a function begins with, of a name that means nothing else.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Global, ast.Nonlocal, ast.Pass)
_PAUSES = (ast.Yield, ast.YieldFrom, ast.Await)


def imports_of_functions(body: Sequence[ast.stmt]) -> Mapping[str, tuple[ast.Import | ast.ImportFrom, ...]]:
    """Return what the functions at a module's top level import before anything else may end them, by their names."""
    found = {
        each.name: tuple(_first_imports(each))
        for each in body
        if isinstance(each, ast.FunctionDef) and not each.decorator_list
    }
    found = {name: first for name, first in found.items() if first}
    if not found:
        return {}
    bound = Counter(name for each in body for name in _bound(each))
    return {name: first for name, first in found.items() if bound[name] == 1}


def _first_imports(function: ast.FunctionDef) -> Iterator[ast.Import | ast.ImportFrom]:
    imports = [each for each in function.body if isinstance(each, (ast.Import, ast.ImportFrom))]
    if not imports or any(isinstance(node, _PAUSES) for node in ast.walk(function)):
        return
    for each in function.body:
        if isinstance(each, (ast.Import, ast.ImportFrom)):
            yield each
        elif not isinstance(each, _SIMPLE):
            return


def _bound(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement binds, those of what is inside of it too."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
