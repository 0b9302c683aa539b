"""Statements by which a module does something beyond itself when it is imported.

    register(Handler)                        calls something for what that does
    registry["json"] = encode                sets an item, or an attribute, of something imported
    @app.route("/")                          hands the function to what the decorator belongs to
    class User(models.Model): …              hands the class to the metaclass of its base

    LIMIT = int(os.environ["LIMIT"])         binds a name of its own
    @functools.cache                         makes something of the function, and keeps it nowhere

Invariants:
- in doubt a statement does something;
- code for type checkers alone, and code below `if __name__ == "__main__"`, runs on no import.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator, Sequence

from bae_source.syntax.outline.ast_walk import suites_of
from bae_source.syntax.outline.static_values import chain_of, is_skipped
from bae_source.syntax.outline.tree import parse_module

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_PASSIVE = frozenset({"attr", "attrs", "click", "pytest", "typing_extensions"})
"""Packages outside the standard library whose decorators and classes keep none of their arguments."""
_KEEPING = frozenset({"atexit"})
_NEAR = " "


def first_effect(text: str, *, classes: bool) -> int | None:
    """Return the line of the first statement that does something; None where there is none.

    Parameters:
        classes: whether classes count below others that may keep them.
    """
    try:
        body = parse_module(text).body
    except (SyntaxError, RecursionError, MemoryError):
        return 1
    return next(_Effects(body, classes=classes).lines(body), None)


class _Effects:
    def __init__(self, body: Sequence[ast.stmt], *, classes: bool) -> None:
        self._classes = classes
        self._imported = {
            alias.asname or alias.name.partition(".")[0]: _module(node, alias)
            for node in body
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for alias in node.names
        }

    def lines(self, body: Sequence[ast.stmt]) -> Iterator[int]:
        """Yield the lines of those statements that have an effect."""
        for node in body:
            if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
                if any(self._keeps(each) for each in node.decorator_list) or self._is_kept(node):
                    yield node.lineno
            elif hasattr(node, "body") or isinstance(node, ast.Match):
                for suite in _suites(node):
                    yield from self.lines(suite)
            elif self._acts(node):
                yield node.lineno

    def _is_kept(self, node: ast.stmt) -> bool:
        if not (self._classes and isinstance(node, ast.ClassDef)):
            return False
        return bool(node.keywords) or any(self._keeps(base) for base in node.bases)

    def _keeps(self, node: ast.expr) -> bool:
        """Return whether a decorator or a base may keep what it is given."""
        while isinstance(node, (ast.Call, ast.Subscript)):
            node = node.func if isinstance(node, ast.Call) else node.value
        first = chain_of(node)[0][:1]
        if not first:
            return True
        package = self._imported.get(first[0], "").partition(".")[0]
        if not package:
            return not isinstance(getattr(builtins, first[0], None), type)
        return package in _KEEPING or not (package in sys.stdlib_module_names or package in _PASSIVE)

    def _acts(self, node: ast.stmt) -> bool:
        if isinstance(node, ast.Expr):
            return isinstance(node.value, (ast.Call, ast.Await))
        if isinstance(node, (ast.Assign, ast.Delete)):
            targets = node.targets
        elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
            targets = [node.target]
        else:
            return False
        return any(self._is_of_others(each) for each in targets)

    def _is_of_others(self, target: ast.expr) -> bool:
        """Return whether the target of an assignment belongs to an imported object."""
        is_part = False
        while isinstance(target, (ast.Attribute, ast.Subscript)):
            target, is_part = target.value, True
        return is_part and (not isinstance(target, ast.Name) or target.id in self._imported)


def _module(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    """Return the module that an import names; something that is no package outside where it begins with dots."""
    if isinstance(node, ast.Import):
        return alias.name
    return f"{_NEAR}.{node.module}" if node.level else node.module or ""


def _suites(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Yield the suites of a compound statement that may run on import."""
    if isinstance(node, ast.If):
        skipped = is_skipped(node.test)
        yield from [node.body] if not skipped else []
        yield from [node.orelse] if skipped is not False else []
    else:
        yield from suites_of(node)
