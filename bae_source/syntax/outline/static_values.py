"""Facts that a node of CPython's tree tells by itself: chains of names, what it binds, which conditions hold."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from itertools import islice

TYPE_CHECKING = "TYPE_CHECKING"
_TYPE_PARAMETERS = frozenset({"TypeVar", "TypeVarTuple", "ParamSpec"})
"""Nodes that only newer Pythons have."""
IMPORTERS = ("import_module", "__import__")
"""The functions that import a module whose name they are given."""
_END = re.compile(r"\)")
_MOST_ENDS = 8
"""Number of brackets that are tried as the end of a call."""
_OWN_PACKAGE = ("__package__", "__name__")  # the second one is the package in an `__init__`, and fails elsewhere

Loaded = tuple[str, int]
"""A module, without leading dots, and how many of them it had."""


def is_typing_test(test: ast.expr) -> bool:
    """Return whether a condition is `TYPE_CHECKING`, by itself or of a module."""
    return (test.id if isinstance(test, ast.Name) else getattr(test, "attr", "")) == TYPE_CHECKING


def is_skipped(test: ast.expr) -> bool | None:
    """Return whether an import of the module skips the suite of an `if`; None where that is not known.

    if TYPE_CHECKING:                       skipped, and so is `if TYPE_CHECKING and DEBUG`
    if not TYPE_CHECKING:                   runs
    if __name__ == "__main__":              skipped
    if DEBUG:                               not known
    """
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        skipped = is_skipped(test.operand)
        return None if skipped is None else not skipped
    if isinstance(test, ast.BoolOp):
        deciding = isinstance(test.op, ast.And)
        found = {is_skipped(each) for each in test.values}
        return deciding if deciding in found else None if None in found else not deciding
    if isinstance(test, (ast.Attribute, ast.Name)):
        return is_typing_test(test) or None
    if isinstance(test, ast.Constant):
        return not test.value
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq):
        sides = (test.left, *test.comparators)
        named = any(isinstance(each, ast.Name) and each.id == "__name__" for each in sides)
        main = any(isinstance(each, ast.Constant) and each.value == "__main__" for each in sides)
        return True if named and main else None
    return None


def chain_of(node: ast.AST) -> tuple[tuple[str, ...], ast.AST | None]:
    """Return `a.b.c` in its pieces; nothing, and what stands before the attributes, where that is no name."""
    pieces: list[str] = []
    while isinstance(node, ast.Attribute):
        pieces.append(node.attr)
        node = node.value
    return ((node.id, *reversed(pieces)), None) if isinstance(node, ast.Name) else ((), node)


def names_bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node itself binds, or deletes; nothing of the nodes in it."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.alias(name=name, asname=asname):
            yield asname or name.partition(".")[0]
        case (
            ast.ExceptHandler(name=str(name))
            | ast.MatchAs(name=str(name))
            | ast.MatchStar(name=str(name))
            | ast.MatchMapping(rest=str(name))
        ):
            yield name
        case _ if type(node).__name__ in _TYPE_PARAMETERS:
            yield node.name  # type: ignore[attr-defined]


def loaded_at(text: str, others: Collection[str]) -> Loaded | None:
    """Return what a call imports that a text begins with, the dots before its name left out; as `loaded_by`."""
    for end in islice(_END.finditer(text), _MOST_ENDS):
        try:
            found = ast.parse(text[: end.end()], mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue  # it goes on in brackets, or this one is part of a string
        return loaded_by(found, others) if isinstance(found, ast.Call) else None
    return None


def loaded_by(node: ast.Call, others: Collection[str] = ()) -> Loaded | None:
    """Return the module that a call imports; None where it imports none, or that is not known.

    import_module("app.core")            app.core
    import_module(".core", __package__)  core, of the importer's own package
    import_module(".core", "app")        app.core
    __import__("app.core")               app.core
    import_module(name)                  None: not known

    Parameters:
        others: names under which `import_module` was imported.
    """
    function = chain_of(node.func)[0]
    given = {each.arg: each.value for each in node.keywords}
    name = _text(node.args[0] if node.args else given.get("name"))
    if not name or not function or (function[-1] not in IMPORTERS and function[0] not in others):
        return None
    module = name.lstrip(".")
    level = len(name) - len(module)
    if not level or function[-1] == IMPORTERS[1]:
        return module, 0
    package = node.args[1] if len(node.args) > 1 else given.get("package")
    if isinstance(package, ast.Name) and package.id in _OWN_PACKAGE:
        return module, level
    around = (_text(package) or "").split(".")
    kept = len(around) - (level - 1)
    return (".".join((*around[:kept], module)).rstrip("."), 0) if around[0] and kept > 0 else None


def _text(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
