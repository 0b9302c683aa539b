"""Which modules of a project stand on a circle of imports, and what each does when it is imported.

Invariants:
- what a module does is read when it is asked for, many modules at a time;
- a module that could not be read does nothing;
- of a module and a package that have the same name it is the package, as Python has it;
- one of the standard library's name is taken to be that one, which it may be.
"""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from bae_source.errors import ResourceError
from bae_source.model.plan import ModuleFile
from bae_source.project.workspace import Workspace

if TYPE_CHECKING:
    from bae_source.syntax.importing.on_import import OnImport
    from bae_source.syntax.importing.steps import Step

MOST_MODULES = 20_000


class Modules:
    """The modules of one snapshot by the names that imports have for them.

    Parameters:
        workspace: the snapshot.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._files: dict[str, ModuleFile | None] = {}
        self._inside: dict[str, frozenset[str]] = {}
        self._known: dict[str, OnImport | None] = {}
        self._names: dict[str, frozenset[str]] = {}

    def file(self, name: str) -> ModuleFile | None:
        """Return the module of the project that has a name."""
        if name not in self._files:
            self._files[name] = self._found(name) if self._may_be_there(name) else None
        return self._files[name]

    def _found(self, name: str) -> ModuleFile | None:
        parts = tuple(name.split("."))
        items = self._workspace.layout.prefixes(parts) if parts[0] not in sys.stdlib_module_names else ()
        found = [each.file for each in items if each.length == len(parts) and each.file]
        return next((file for file in found if file.package), found[0] if found else None)

    def _may_be_there(self, name: str) -> bool:
        """Say whether a name may be a module's, by what lies in the package around it: most are a definition's."""
        around, _, last = name.rpartition(".")
        layout, package = self._workspace.layout, self.file(around) if around else None
        if package is None or name in layout.packages:
            return True
        if around not in self._inside:
            folder = posixpath.dirname(package.path)
            self._inside[around] = frozenset(layout.files.names(folder) if package.package else ())
        return last in self._inside[around] or f"{last}.py" in self._inside[around]

    def may_be_outside(self, name: str, attribute: str) -> bool:
        """Say whether an attribute may be a module that is none of the project's: compiled, or made by a build."""
        inner = f"{name}.{attribute}"
        for step in self.steps(name):
            base = self.base(name, step)
            taken = f"{base}.{step.attribute}" if step.attribute else base
            if base is not None and any(f"{each}.".startswith(f"{inner}.") for each in (base, taken)):
                return self.file(inner) is None
        return False

    def load(self, names: Iterable[str]) -> None:
        """Read several modules at once."""
        files = {name: self.file(name) for name in names if name not in self._known}
        paths = {file.path: name for name, file in files.items() if file is not None}
        self._known.update(dict.fromkeys(files))
        for path, found in self._workspace.index.on_import(list(paths)):
            self._known[paths[path]] = None if isinstance(found, ResourceError) else found

    def on_import(self, name: str) -> OnImport | None:
        """Return what a module does when it is imported; None where that is not known."""
        if name not in self._known:
            self.load([name])
        return self._known[name]

    def steps(self, name: str) -> tuple[Step, ...]:
        """Return what a module does when it is imported, step by step; nothing where that is not known."""
        found = self.on_import(name)
        return found.steps if found is not None else ()

    def base(self, name: str, step: Step) -> str | None:
        """Return the absolute name of the module that an import names; None where it is no import, or names none."""
        if step.module is None or not step.level:
            return step.module
        file = self.file(name)
        own = name.split(".")
        package = own if file is not None and file.package else own[:-1]
        kept = len(package) - (step.level - 1)
        return ".".join((*package[:kept], *([step.module] if step.module else ()))) if kept > 0 else None

    def names(self, name: str) -> frozenset[str]:
        """Return the names that a module has in the end: by its statements, or because its `__all__` says so."""
        if name not in self._names:
            found, waiting = self._own_names(name)
            seen = {name}
            while waiting:
                base = waiting.pop()
                inner = self.on_import(base) if base not in seen else None
                seen.add(base)
                if inner is not None and inner.exported is not None:
                    found.update(inner.exported)
                elif inner is not None:
                    names, further = self._own_names(base)
                    found.update(each for each in names if not each.startswith("_"))
                    waiting += further
            self._names[name] = frozenset(found - {"*"})
        return self._names[name]

    def _own_names(self, name: str) -> tuple[set[str], list[str]]:
        """Return the names that a module's own statements bind, and the modules of which it takes all."""
        found: set[str] = set()
        starred: list[str] = []
        whole = self.on_import(name)
        for step in whole.steps if whole is not None else ():
            found.update(step.binds)
            if whole is not None and step.module is None and "*" in step.binds:
                found.update(whole.exported or ())
            base = self.base(name, step) if step.attribute == "*" and step.binds else None
            starred += [base] if base is not None else []
        return found, starred

    def imported(self, name: str) -> Iterator[str]:
        """Yield the modules that a module imports or takes names from; those around it only if it takes some."""
        meant: dict[str, str] = {}
        for step in self.steps(name):
            if step.reads:
                yield from self._read(meant, step.reads)
                continue
            base = self.base(name, step)
            if base is None:
                continue
            inner = f"{base}.{step.attribute}" if step.attribute else base
            asked = inner if self.file(inner) is not None else base
            parts = asked.split(".")
            wanted = (".".join(parts[:length]) for length in range(1, len(parts)))
            yield from (each for each in wanted if not f"{name}.".startswith(f"{each}.") and self.file(each))
            if self.file(asked) is not None:
                yield asked
            whole = step.attribute is not None or step.binds != (base.partition(".")[0],)
            meant.update(dict.fromkeys(step.binds, asked if whole else base.partition(".")[0]))

    def _read(self, meant: dict[str, str], reads: tuple[str, ...]) -> Iterator[str]:
        here = meant.get(reads[0], "")
        for attribute in reads[1:]:
            if self.file(here) is None:
                return
            yield here
            here = f"{here}.{attribute}"


def circle_through(modules: Modules, package: str, name: str) -> set[str]:
    """Return the modules that stand on a circle with a package because it imports a module; none if it makes no circle.

    What lies between the two is imported as well.
    """
    parts = name.split(".")
    level = [".".join(parts[:length]) for length in range(package.count(".") + 2, len(parts) + 1)]
    importers: dict[str, list[str]] = {each: [package] for each in level}
    seen = set(level)
    while level:
        modules.load(level)
        following: list[str] = []
        for each in level:
            for target in dict.fromkeys(modules.imported(each)):
                importers.setdefault(target, []).append(each)
                if target not in seen:
                    seen.add(target)
                    following.append(target)
        level = following
    return _reaching(importers, package) if package in seen else set()


def _reaching(importers: dict[str, list[str]], end: str) -> set[str]:
    found, waiting = {end}, [end]
    while waiting:
        for importer in importers.get(waiting.pop(), ()):
            if importer not in found:
                found.add(importer)
                waiting.append(importer)
    return found
