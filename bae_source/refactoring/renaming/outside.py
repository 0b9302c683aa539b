"""Members that a class outside the project may have under the same name, so that renaming them leaves those behind.

class Handler(logging.Handler):      Handler.emit overrides one of the standard library: it cannot be renamed
def emit(self, record): ...
class Worker(unknown.Base):          Worker.run may override one of a package that is not installed: unsure
def run(self): ...
    class Page:                          Page.title: a descriptor gets the name, and may look something up by it
        title = Field()
"""

from __future__ import annotations

import builtins
import sys
import sysconfig
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec

from bae_source.project.references.calls.keywords import MAKING_BASES, may_be_field
from bae_source.project.references.classes.family import Family
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.search.sole import files_of, is_standard, may_have
from bae_source.project.references.types.values import BUILTINS, STANDARD, Class, Instance
from bae_source.syntax.names import uses as u

_RUN_SOMETHING = frozenset({"antigravity", "idlelib", "test", "this", "turtledemo"})
"""Modules of the standard library that do more than define things when they are loaded."""

_STAND_INS = {
    f"{module}.{name}": kind
    for module in ("typing", "typing_extensions")
    for name, kind in (("NamedTuple", tuple), ("TypedDict", None))
}
"""Bases that are no classes, with the class that stands in their place; a TypedDict has keys and no attributes."""


def overridden(project: Project, family: Family) -> dict[str, str]:
    """Return the classes outside, above a family, that have its name or may have it, each with the reason."""
    word = family.sought.word
    if word.startswith("__"):
        return {}  # private, so another class's is another name
    fields = are_fields(project, family)
    above = (name for name in family.outside if not (fields and name in MAKING_BASES))  # which have no fields
    reasons = ((name, _reason(project, name, word)) for name in above)
    return {name: reason for name, reason in reasons if reason}


def are_fields(project: Project, family: Family) -> bool:
    """Return whether a family is of fields, which constructors set."""
    owners = ((Class(each.path, each.scope), each.name) for each in family.symbols)
    return bool(family.classes) and all(may_be_field(project.inference, owner, name) for owner, name in owners)


def _reason(project: Project, name: str, word: str) -> str:
    """Return why a class outside may have a member of a name; nothing where it has none."""
    some = f"{'an' if word[0] in 'aeiou' else 'a'} {word}"
    package, may = name.partition(".")[0], f"{name}, which is above it, may have {some} too"
    if name.startswith(BUILTINS) or name in _STAND_INS:
        kind = _STAND_INS[name] if name in _STAND_INS else getattr(builtins, name.removeprefix(BUILTINS), None)
        return f"{kind.__name__} has {some} too" if isinstance(kind, type) and hasattr(kind, word) else ""
    if package in STANDARD:
        known = _standard_class(name)
        return may if (hasattr(known, word) if known is not None else is_standard(word)) else ""
    if own := _in_project(project, name):
        has_it = any(word.encode() in (project.workspace.content(path) or b"") for path in own)
        return f"{name}, which is above it, may be a class of the project, from another source root" if has_it else ""
    files = list(files_of(project.workspace.kept.packages, package))
    if not files:
        return f"{name}, which is above it, could not be read: {package} is not installed"
    return may if may_have(files, word) else ""


def handed_on(project: Project, family: Family) -> str:
    """Return the class of a descriptor that gets the name of a family; "" where there is none."""
    for symbol in family.symbols if family.classes else ():
        for how, first, second, _ in project.uses(symbol.path).scopes[symbol.scope].names.get(symbol.name, ()):
            value = {u.ASSIGNED: first, u.ANNOTATED: second}.get(how, u.OPAQUE)
            for each in project.inference.values(symbol.path, value) if value else ():
                if isinstance(each, Instance) and project.inference.members(each, "__set_name__"):
                    return project.address(each.of.path, project.uses(each.of.path).scopes[each.of.scope].owner)
    return ""


def _in_project(project: Project, name: str) -> list[str]:
    """Return the files of the project that may be the module of a name, seen from a folder that is no source root."""
    module = name.rpartition(".")[0].replace(".", "/")
    ends = (f"/{module}.py", f"/{module}/__init__.py")
    return [path for path in project.workspace.census.stamps if module and path.endswith(ends)]


def _standard_class(name: str) -> type | None:
    """Return a class of the standard library; None where it cannot be had without running other code."""
    module, _, last = name.rpartition(".")
    top = module.partition(".")[0]
    if top in _RUN_SOMETHING or not _lies_in_standard_library(top):
        return None
    try:
        found = getattr(import_module(module), last, None)
        found = getattr(found, "__origin__", found)  # typing.List stands for list
    except ImportError:
        return None  # of another system
    return found if isinstance(found, type) else None


def _lies_in_standard_library(module: str) -> bool:
    """Return whether a module would be loaded from the folder of the running Python, and from nowhere else."""
    if module in sys.builtin_module_names:
        return True
    found = PathFinder.find_spec(module, [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")])
    known = sys.modules.get(module)
    if found is None or known is None:
        usual = find_spec(module)
        return found is not None and usual is not None and usual.origin == found.origin
    folders = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))
    return (getattr(known, "__file__", None) or found.origin or "").startswith(folders)
