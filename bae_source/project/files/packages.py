"""The packages and modules of a project as a tree of names.

    ""            pkg, tool
    pkg           pkg.core, pkg.sub, pkg._speed@stub
    pkg.sub       pkg.sub.deep

Invariants:
- every module of the census is in it once, under its own name; two files of one name are both there;
- a file that no dotted name can spell (`.hidden/a.py`, `a.b.py`), or that lies in a folder which only holds source
  roots, is in `unnamed` instead;
- a stub is in it only where there is no code of that name, since otherwise the code stands for both;
- a package without `__init__` (PEP 420) is in it as soon as there is a module below it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from bae_source.model.plan import ModuleFile
from bae_source.project.files.census import Census
from bae_source.project.files.layout import import_name
from bae_source.project.files.snapshot import Snapshot

_COMPONENT = r"\w(?:[\w\-+ ]*[\w+])?"
_NAME = re.compile(rf"{_COMPONENT}(?:\.{_COMPONENT})*")


class Nameable:
    """The files of a project that dotted names can mean.

    Parameters:
        census: the project's files.
    """

    def __init__(self, census: Census) -> None:
        self._layout = census.layout
        self._tops: dict[str, bool] = {}

    def has_name(self, module: ModuleFile) -> bool:
        """Return whether a dotted name can mean a file: a dot in the name of a file or folder would split it."""
        name = import_name(module)
        top = name.partition(".")[0]
        if top not in self._tops:
            self._tops[top] = bool(self._layout.prefixes((top,)) or self._layout.stubs((top,)))
        inner = module.path.removeprefix(module.source_root).rpartition(".")[0]
        return "." not in inner and _NAME.fullmatch(name) is not None and self._tops[top]


class Packages:
    """The tree of a project's modules.

    Parameters:
        census: the project's files.
    """

    def __init__(self, census: Census) -> None:
        self._files: dict[str, list[ModuleFile]] = {}
        self._inside: dict[str, set[str]] = {"": set()}
        nameable = Nameable(census)
        unnamed: list[ModuleFile] = []
        for module in census.modules:
            if nameable.has_name(module):
                self._add(module)
            else:
                unnamed.append(module)
        self.unnamed = tuple(unnamed)
        for path in census.stubs:
            stub = census.module(path)
            if stub is not None and import_name(stub) not in self._files and nameable.has_name(stub):
                self._add(stub)

    def _add(self, module: ModuleFile) -> None:
        self._files.setdefault(module.name, []).append(module)
        name, outer = module.name, import_name(module).rpartition(".")[0]
        while name not in self._inside.setdefault(outer, set()):
            self._inside[outer].add(name)
            name, outer = outer, outer.rpartition(".")[0]
            if not name:
                break

    def files(self, name: str) -> tuple[ModuleFile, ...]:
        """Return the files that have a name: one as a rule, none for a package without `__init__`."""
        return tuple(self._files.get(name, ()))

    def members(self, name: str) -> list[str]:
        """Return the names directly in a package, sorted; those at the top for an empty name."""
        return sorted(self._inside.get(name, ()))

    def is_package(self, name: str) -> bool:
        """Return whether a name is that of a package, with `__init__` or without."""
        return name in self._inside or any(module.package for module in self._files.get(name, ()))

    def counts(self, name: str) -> tuple[int, int]:
        """Return how many subpackages and modules are below a package, at any depth; an `__init__` is no module."""
        return self._counts.get(name, (0, 0))

    @cached_property
    def _counts(self) -> dict[str, tuple[int, int]]:
        found: dict[str, tuple[int, int]] = {}
        for name in sorted(self._inside, key=lambda name: name.count(".") if name else -1, reverse=True):
            below = [(found.get(member, (0, 0)), member) for member in self._inside[name]]
            packages = sum(counts[0] + self.is_package(member) for counts, member in below)
            found[name] = packages, sum(counts[1] + (not self.is_package(member)) for counts, member in below)
        return found

    def walk(self, name: str, depth: int) -> Iterator[tuple[str, int]]:
        """Yield the names below a package with their depth, an outer one first.

        Parameters:
            depth: how many levels are visited.
        """
        waiting = [(member, 1) for member in reversed(self.members(name))] if depth else []
        while waiting:
            member, level = waiting.pop()
            yield member, level
            if level < depth:
                waiting += [(inner, level + 1) for inner in reversed(self.members(member))]


def modules_below(snapshot: Snapshot, package: ModuleFile) -> list[str]:
    """Return the names of all modules below a package, without its own in front."""
    folder = f"{package.path.rpartition('/')[0]}/"
    paths = [path for path in snapshot.census.paths if path.startswith(folder) and path != package.path]
    found = (snapshot.layout.module_at(path) for path in paths)
    lead = f"{import_name(package)}."
    return [each.name[len(lead) :] for each in found if each is not None and each.name.startswith(lead)]
