"""Members that a class outside the project may have under the same name, so that renaming them leaves those behind.

class Handler(logging.Handler):      Handler.emit overrides one of the standard library: it cannot be renamed
def emit(self, record): ...
class Worker(unknown.Base):          Worker.run may override one of a package that is not installed: unsure
def run(self): ...
"""

from __future__ import annotations

import builtins
import sys
import sysconfig
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec

from bae_source.project.renaming.family import Family
from bae_source.project.usage.project import Project
from bae_source.project.usage.sole import files_of, is_standard, may_have
from bae_source.project.usage.values import BUILTINS, STANDARD

_RUN_SOMETHING = frozenset({"antigravity", "idlelib", "test", "this", "turtledemo"})
"""Modules of the standard library that do more than define things when they are loaded."""

_MADE_OF = {
    f"{module}.{name}": kind
    for module in ("typing", "typing_extensions")
    for name, kind in (("NamedTuple", tuple), ("TypedDict", None))
}
"""Bases that are no classes, with the class that stands in their place; a TypedDict has keys and no attributes."""


def overridden(project: Project, family: Family) -> dict[str, str]:
    """Return the classes outside, above a family, that have its name or may have it, each with the reason."""
    word = family.sought.word
    found: dict[str, str] = {}
    if word.startswith("__"):
        return found  # private, so another class's is another name
    for name in family.outside:
        package = name.partition(".")[0]
        if name.startswith(BUILTINS):
            kind = getattr(builtins, name.removeprefix(BUILTINS), None)
            if isinstance(kind, type) and hasattr(kind, word):
                found[name] = f"{name.removeprefix(BUILTINS)} has a {word} too"
        elif name in _MADE_OF:
            kind = _MADE_OF[name]
            if kind is not None and hasattr(kind, word):
                found[name] = f"{kind.__name__} has a {word} too"
        elif package in STANDARD:
            kind = _standard_class(name)
            if hasattr(kind, word) if kind is not None else is_standard(word):
                found[name] = f"{name}, which is above it, may have a {word} too"
        else:
            files = list(files_of(project.workspace.kept.packages, package))
            if not files:
                found[name] = f"{name}, which is above it, could not be looked into: {package} is not installed"
            elif may_have(files, word):
                found[name] = f"{name}, which is above it, may have a {word} too"
    return found


def _standard_class(name: str) -> type | None:
    """Return a class of the standard library; None where it cannot be had without running other code."""
    module, _, last = name.rpartition(".")
    top = module.partition(".")[0]
    if top in _RUN_SOMETHING or not _lies_in_standard_library(top):
        return None
    try:
        found = getattr(import_module(module), last, None)
    except ImportError:
        return None  # of another system
    return found if isinstance(found, type) else None


def _lies_in_standard_library(module: str) -> bool:
    """Say whether a module would be loaded from the folder of the running Python, and from nowhere else."""
    if module in sys.builtin_module_names:
        return True
    found = PathFinder.find_spec(module, [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")])
    known = sys.modules.get(module)
    if found is None or known is None:
        usual = find_spec(module)
        return found is not None and usual is not None and usual.origin == found.origin
    folders = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))
    return (getattr(known, "__file__", None) or found.origin or "").startswith(folders)
