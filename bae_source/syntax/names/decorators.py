"""The effect of decorators on a function, by their names.

@property                   PROPERTY: an instance gives what the function returns
@size.setter                SETTER: an instance calls it where the attribute is assigned; DELETER likewise
@staticmethod               STATIC
@wrapped                    WRAPPED: it is not known what a call gives
@lib.cache                  DECORATED: a call gives what the function does, but it may have attributes of its own

Invariants:
- a name of the standard library's is believed wherever it comes from, as to what a call gives.
"""

from __future__ import annotations

import ast
import sys

from bae_source.syntax.names import uses as u
from bae_source.syntax.names.gathering import Gathering
from bae_source.syntax.names.uses import Flag
from bae_source.syntax.outline.static_values import chain_of

_PROPERTIES = frozenset({"property", "cached_property", "abstractproperty", "getter"})
_HARMLESS = frozenset(
    {"staticmethod", "classmethod", "abstractmethod", "override", "final", "overload", "setter", "deleter",
     "wraps", "lru_cache", "cache"} | _PROPERTIES
)  # fmt: skip
"""Decorators that leave what a call returns as the annotation says."""
_MANAGERS = frozenset({"contextmanager", "asynccontextmanager"})


def flags_of(node: ast.FunctionDef | ast.AsyncFunctionDef, gathering: Gathering, scope: int) -> tuple[u.Flag, ...]:
    """Return the flags of a function, by its decorators.

    Parameters:
        gathering: the bindings of the module so far; a decorator that it defines hides any other one of that name.
        scope: where the decorators are evaluated.
    """
    if not node.decorator_list:
        return (Flag.ASYNC,) if isinstance(node, ast.AsyncFunctionDef) else ()
    flags = {Flag.ASYNC} if isinstance(node, ast.AsyncFunctionDef) else set()
    names = gathering.scopes[0].names
    for decorator in node.decorator_list:
        call = decorator.func if isinstance(decorator, ast.Call) else decorator
        last = call.attr if isinstance(call, ast.Attribute) else call.id if isinstance(call, ast.Name) else ""
        own = (each for each in names.get(last, ()) if each[0] != u.IMPORTED and each[3] <= node.lineno)
        is_own = isinstance(call, ast.Name) and any(own)
        if is_own or last not in _HARMLESS:
            flags.update([Flag.WRAPPED, Flag.ENTERED] if last in _MANAGERS and not is_own else [Flag.WRAPPED])
            continue
        if last in _PROPERTIES:
            flags.add(Flag.PROPERTY)
        elif last in ("staticmethod", "classmethod"):
            flags.add(Flag(last.removesuffix("method")))
        elif last in ("setter", "deleter"):
            flags.add(Flag(last))
        if _is_from_elsewhere(call, gathering, scope):
            flags.add(Flag.DECORATED)
    return tuple(sorted(flags))


def _is_from_elsewhere(decorator: ast.expr, gathering: Gathering, scope: int) -> bool:
    """Return whether a decorator is imported, and not from the standard library."""
    name = next(iter(chain_of(decorator)[0]), "")
    while scope > 0 and name not in gathering.scopes[scope].names:
        scope = gathering.scopes[scope].parent
    bindings = gathering.scopes[max(scope, 0)].names.get(name, ())
    imports = (gathering.imports[number] for how, number, *_ in bindings if how == u.IMPORTED)
    return any(each.level or each.module.partition(".")[0] not in sys.stdlib_module_names for each in imports)
