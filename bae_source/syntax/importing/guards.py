"""The import statements that may fail without harm, by what stands around them.

    try:
        from app import fast            guarded: its author reckons with its failure
    except ImportError:
        from app import slow as fast    guarded: where the first one succeeds it is not run
    with suppress(ImportError):
        import app.extra                guarded, and likewise below `pytest.raises(…)`
    if False:
        import app.gone                 guarded: it never runs
    if TYPE_CHECKING:
        import app.types                for types alone, of which `typing_imports` tells

Invariants:
- in doubt a statement is guarded.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from bae_source.syntax.outline.static_values import is_skipped, is_typing_test
from bae_source.syntax.outline.tree import parse_module

_TRIES = tuple(getattr(ast, name) for name in ("Try", "TryStar") if hasattr(ast, name))
_TOLERANT = ("suppress", "raise", "ignore", "warn", "fail", "catch", "optional", "try_")
"""Parts of the names of context managers that may swallow what goes wrong inside."""


def guarded_imports(text: str) -> frozenset[int]:
    """Return the lines of the import statements that may fail without harm; all lines where the text is too deep."""
    try:
        return frozenset(_guarded(parse_module(text).body, guarded=False))
    except (SyntaxError, RecursionError, MemoryError):
        return frozenset(range(1, text.count("\n") + text.count("\r") + 2))


def typing_imports(text: str) -> frozenset[int]:
    """Return the lines of the import statements under `if TYPE_CHECKING`; none where the text does not parse."""
    try:
        return frozenset(_for_types(parse_module(text).body, typing=False))
    except (SyntaxError, RecursionError, MemoryError):
        return frozenset()


def may_swallow(manager: ast.expr) -> bool:
    """Return whether a context manager may swallow what goes wrong inside, by its name."""
    names = [node.attr if isinstance(node, ast.Attribute) else node.id
             for node in ast.walk(manager) if isinstance(node, (ast.Attribute, ast.Name))]  # fmt: skip
    return any(part in name.lower() for name in names for part in _TOLERANT)


def _guarded(body: Sequence[ast.stmt], *, guarded: bool) -> Iterator[int]:
    """Yield the lines of the guarded imports in a suite."""
    for statement in body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            if guarded:
                yield statement.lineno
            continue
        tolerant = guarded or _is_tolerant(statement)
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(statement, name, ())
            if name in ("handlers", "cases"):
                for each in inner:
                    yield from _guarded(each.body, guarded=tolerant)
            elif name == "finalbody":
                yield from _guarded(inner, guarded=guarded)
            else:
                yield from _guarded(inner, guarded=tolerant)


def _for_types(body: Sequence[ast.stmt], *, typing: bool) -> Iterator[int]:
    """Yield the lines of the imports in a suite that type checkers alone read."""
    for statement in body:
        if typing and isinstance(statement, (ast.Import, ast.ImportFrom)):
            yield statement.lineno
            continue
        skipped = is_skipped(statement.test) if isinstance(statement, ast.If) and _asks(statement.test) else None
        yield from _for_types(getattr(statement, "body", ()), typing=typing or skipped is True)
        yield from _for_types(getattr(statement, "orelse", ()), typing=typing or skipped is False)
        yield from _for_types(getattr(statement, "finalbody", ()), typing=typing)
        for name in ("handlers", "cases"):
            for each in getattr(statement, name, ()):
                yield from _for_types(each.body, typing=typing)


def _asks(test: ast.expr) -> bool:
    return any(is_typing_test(each) for each in ast.walk(test) if isinstance(each, ast.expr))


def _is_tolerant(statement: ast.stmt) -> bool:
    if isinstance(statement, _TRIES):
        return bool(statement.handlers)
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return any(may_swallow(item.context_expr) for item in statement.items)
    if isinstance(statement, (ast.If, ast.While)):
        return isinstance(statement.test, ast.Constant)
    return False
