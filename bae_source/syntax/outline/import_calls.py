"""Calls that import a module by a name that stands in them.

import_module("app.core")            app.core
import_module(".core", __package__)  core, of the importer's own package
import_module(".core", "app")        app.core
__import__("app.core")               app.core
import_module(name)                  nothing that can be told
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from itertools import islice

from bae_source.syntax.outline.static_values import chain_of

IMPORTERS = ("import_module", "__import__")
"""The functions that import a module whose name they are given."""
_END = re.compile(r"\)")
_MOST_ENDS = 8
"""How many brackets are tried as that which ends a call."""
_OWN_PACKAGE = ("__package__", "__name__")  # the second one is the package in an `__init__`, and fails elsewhere

Loaded = tuple[str, int]
"""A module, without leading dots, and how many of them it had."""


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
    """Return what a call imports; None where it imports nothing, or that cannot be told.

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
