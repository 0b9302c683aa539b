"""One step of what a module does while it is imported, and the steps that an import is.

import app                           imports app, binds `app`
import app.core as c                 takes `core` of app, binds `c`
from .core import A as B             imports .core, takes `A` of it, binds `B`
import_module("app.core")            imports app.core
import_module(".core", __package__)  imports .core
import_module(name)                  nothing that can be read off
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from itertools import islice

from msgspec import Struct

from bae_source.syntax.import_conditions import chain_of

IMPORTERS = ("import_module", "__import__")
"""The functions that import a module whose name they are given."""
_END = re.compile(r"\)")
_MOST_ENDS = 8
"""How many brackets are tried as that which ends a call."""
_OWN_PACKAGE = ("__package__", "__name__")  # the second one is the package in an `__init__`, and fails elsewhere


class Step(Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """One thing that a module does.

    Parameters:
        binds: the names that the module has behind it; `*` for a star import, and for what code binds by names that do
            not stand in it.
        module: the module that it imports, without leading dots; None where it imports none.
        attribute: what it takes of that; None for `import module`.
        level: how many leading dots.
        reads: a name that an import binds, with the attributes that are read of it; empty where nothing is read.
        sets: likewise, where the last of these is set instead; `*` stands for any.
        exported: the names in `__all__` from here on, where the step binds it; None where they cannot be read off.
        coped: whether it may not happen, or may fail without harm.
    """

    binds: tuple[str, ...] = ()
    module: str | None = None
    attribute: str | None = None
    level: int = 0
    reads: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    exported: tuple[str, ...] | None = None
    coped: bool = False


def steps_of(node: ast.Import | ast.ImportFrom) -> Iterator[Step]:
    """Yield what an import statement does, name by name."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            binds = (alias.asname or alias.name,)
            yield Step(binds=binds, module=node.module or "", attribute=alias.name, level=node.level)
        elif alias.asname and "." in alias.name:
            module, _, attribute = alias.name.rpartition(".")
            yield Step(binds=(alias.asname,), module=module, attribute=attribute)
        else:
            yield Step(binds=(alias.asname or alias.name.partition(".")[0],), module=alias.name)


def step_of_call(node: ast.Call, others: Collection[str] = ()) -> Step | None:
    """Return what a call imports by a name that stands in it; None where it imports nothing, or that cannot be told.

    Parameters:
        others: names under which `import_module` was imported.
    """
    function = chain_of(node.func)[0]
    if not function or (function[-1] not in IMPORTERS and function[-1] not in others) or not node.args:
        return None
    name = _text(node.args[0])
    given = {each.arg: each.value for each in node.keywords}
    if function[-1] == "__import__":
        return Step(module=name) if name and len(node.args) < 5 and "level" not in given else None
    if not name or not name.startswith("."):
        return Step(module=name) if name else None
    package = node.args[1] if len(node.args) > 1 else given.get("package")
    module = name.lstrip(".")
    level = len(name) - len(module)
    if isinstance(package, ast.Name) and package.id in _OWN_PACKAGE:
        return Step(module=module, level=level)
    around = (_text(package) or "").split(".")
    kept = len(around) - (level - 1)
    return Step(module=".".join((*around[:kept], *([module] if module else ())))) if around[0] and kept > 0 else None


def step_at(text: str, others: Collection[str]) -> Step | None:
    """Return what a call imports that a text begins with, the dots before its name left out; as `step_of_call`.

    Parameters:
        others: as those of `step_of_call`.
    """
    for end in islice(_END.finditer(text), _MOST_ENDS):
        try:
            found = ast.parse(text[: end.end()], mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue  # it goes on in brackets, or this one is part of a string
        return step_of_call(found, others) if isinstance(found, ast.Call) else None
    return None


def _text(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
