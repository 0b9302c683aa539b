"""The bindings of statements beside names of a scope: definitions, and the module itself.

a, b = 1, 2                        defines `a` and `b`
sys.modules[__name__] = Conf()     importers of this module get another object
"""

from __future__ import annotations

import ast


class _TypeAlias(ast.stmt):
    """`type X = …`, where the running Python has no node for it."""

    _fields = ("name", "type_params", "value")


ALIAS: type[ast.stmt] = getattr(ast, "TypeAlias", _TypeAlias)


def defined(statement: ast.stmt) -> tuple[str, ...]:
    """Return the names of the definition that a statement is."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return (statement.name,)
    if isinstance(statement, ast.Assign):
        first = statement.targets[0]
        if len(statement.targets) == 1 and isinstance(first, ast.Name):
            return (first.id,)
        return tuple(dict.fromkeys(name for target in statement.targets for name in names_of(target)))
    if isinstance(statement, (ast.AnnAssign, ast.AugAssign)):
        return names_of(statement.target)
    return (statement.name.id,)  # type: ignore[attr-defined]  # `type X = …`


def replaces_module(target: ast.expr) -> bool:
    """Return whether to assign to a target puts something else in the place of a module, or makes it one of a class."""
    if isinstance(target, ast.Attribute) and target.attr == "__class__":
        target = target.value
    if not isinstance(target, ast.Subscript) or not isinstance(target.slice, ast.Name):
        return False
    table = target.value
    return target.slice.id == "__name__" and isinstance(table, ast.Attribute) and table.attr == "modules"


def names_of(target: ast.expr) -> tuple[str, ...]:
    """Return the names that a target binds."""
    if isinstance(target, ast.Name):
        return (target.id,)
    if isinstance(target, (ast.Tuple, ast.List)):
        return tuple(name for element in target.elts for name in names_of(element))
    return names_of(target.value) if isinstance(target, ast.Starred) else ()
