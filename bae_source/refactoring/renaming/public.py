"""Names that others than the project may use, since it hands them out: in `__all__`, or in a package's `__init__`.

app/__init__.py: from app.core import send      app.send, beside app.core.send
app/core.py: __all__ = ["Client"]               app.core.Client, and app.core.Client.send
"""

from __future__ import annotations

from collections.abc import Iterator

from bae_source.model.outcome import Notice
from bae_source.project.files.layout import import_name
from bae_source.project.references.classes.family import Family
from bae_source.project.references.meaning.meaning import Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.refactoring.renaming.exported import Exported
from bae_source.syntax.names import uses as u


def public_gone(project: Project, family: Family) -> Iterator[Notice]:
    """Yield that a name which others may use is no more."""
    word = family.sought.word
    names = (each for symbol in family.symbols for each in _names(project, family, symbol))
    shortest = min(names, key=lambda name: (name.count("."), name), default="") if not word.startswith("_") else ""
    if shortest:
        yield Notice(
            "public_name_gone", f"{shortest} was public: code outside this project that uses it has to change."
        )


def _names(project: Project, family: Family, symbol: Symbol) -> Iterator[str]:
    """Yield the names under which a symbol is handed out."""
    scope = project.uses(symbol.path).scopes[symbol.scope]
    if scope.kind == u.MODULE_SCOPE:
        exported = Exported(project, family.sought)
        lazily = (name for path, name in _packages(project, symbol.path) if exported.offsets(path))
        yield from (f"{name}.{symbol.name}" for name in (*_handing_out(project, symbol), *lazily))
    elif scope.kind == u.CLASS_SCOPE:
        owner = project.uses(symbol.path).owners[scope.owner]
        if not owner.startswith("_") and owner.isidentifier():
            for name in _handing_out(project, Symbol(symbol.path, 0, owner)):
                yield f"{name}.{owner}.{family.sought.word}"


def _handing_out(project: Project, symbol: Symbol) -> Iterator[str]:
    """Yield the modules that hand a name out."""
    module = project.workspace.census.module(symbol.path)
    if module is not None and symbol.name in (project.uses(symbol.path).exported or ()):
        yield import_name(module)
    for path, name in _packages(project, symbol.path):
        if symbol in project.names.attribute(path, symbol.name) - project.names.kept:
            yield name


def _packages(project: Project, path: str) -> Iterator[tuple[str, str]]:
    """Yield path and name of the packages around a file."""
    folder = path
    while "/" in folder:
        folder = folder.rpartition("/")[0]
        module = project.workspace.census.module(f"{folder}/__init__.py")
        if module is None:
            return
        yield module.path, import_name(module)
