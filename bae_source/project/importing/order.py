"""Imports that would run into a module which has not got that far, decided from the order of statements alone.

    pkg/__init__.py    from .new import A         pkg begins, and new before it has bound Later
                       Later = 1
    pkg/new.py         from pkg import Later      which fails; so would `import pkg` and `class B(pkg.Later)`

Each way into the circle is followed, from nothing loaded: `import pkg`, and any module that the new import closes the
circle with.

Invariants:
- only a certain and new failure is reported: a name that a module of the project binds later, which is no submodule;
  code in an `if` or a `try` is taken to cope;
- only modules on a circle with one of the two are followed, and no functions, even if they are called meanwhile: that
  is left to the import that verifies, and has no notice where none does;
- nothing is executed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from functools import cache
from types import ModuleType

from bae_source.errors import ResourceError
from bae_source.model.plan import ModuleFile
from bae_source.project.importing.graph import ImportGraph
from bae_source.project.references.meaning.provided import Provided
from bae_source.project.workspace import Workspace
from bae_source.syntax.importing.on_import import Step, on_import
from bae_source.syntax.text.source import Source

_DEEPEST = 120
"""Modules that import each other in turn; Python's own limit comes soon after."""
MOST_FOLLOWED = 100_000
"""Most modules followed, each counted once for each way into the circle: about a second."""
_MOST_NAMES = 12
_FROM_THE_START = frozenset(
    (*dir(ModuleType), *vars(ModuleType("")), "__builtins__", "__cached__", "__file__", "__path__")
)
"""Names that each module has before its first statement."""
_ANY = {"*", "__getattr__"}


class _TooEarly(Exception):  # no error of the project's, but what the walk ends with
    """An import that would find a name missing.

    Parameters:
        trail: the files from the one that has begun, and has not bound the name, to the one that asks.
        name: what it asks for.
        whose: the file that has not bound it.
    """

    def __init__(self, trail: list[str], name: str, whose: str) -> None:
        super().__init__(name)
        self.trail = trail
        self.name = name
        self.whose = whose


class _TooMuch(Exception):
    """More modules than this is worth, or code that may bind anything."""


def circle(before: Workspace, after: Workspace, package: ModuleFile, module: ModuleFile) -> str | None:
    """Return how a package would run into itself because it now imports a module; None where it would not.

    Parameters:
        before: the project without the import.
        after: the project with it.
    """
    was, will = _Followed(before), _Followed(after)
    around = package.path
    if module.path not in will.graph.imports(around) or module.path in was.graph.imports(around):
        return None
    inside = {around, *will.graph.circle(around), *will.graph.circle(module.path)}
    try:
        early = _early(was, will, around, inside)
    except (_TooMuch, RecursionError):  # the caller may stand deep itself
        return None
    if early is None:
        return None
    names = [will.graph.name(path) for path in early.trail]
    asks, whose = names[-1], will.graph.name(early.whose)
    if len(names) > _MOST_NAMES:
        names[_MOST_NAMES - 1 : -1] = [f"… ({len(early.trail) - _MOST_NAMES} more) …"]
    way = " -> ".join((*names, names[0]))
    return f"{asks} imports {early.name} from {whose} before {whose} has bound it ({way})"


class _Followed:
    """A project whose imports are followed."""

    def __init__(self, workspace: Workspace) -> None:
        self.graph = ImportGraph(workspace, workspace.census)
        self.steps: Callable[[str], Sequence[Step] | None] = cache(self._steps)
        self._workspace = workspace
        self._provided = Provided(workspace.census, workspace.index.uses, workspace.files.names)

    def _steps(self, path: str) -> Sequence[Step] | None:
        try:
            return on_import(Source(self._workspace.content(path) or b"").text)
        except ResourceError:
            return None

    def has(self, path: str, name: str) -> bool:
        """Return whether a module has a name in the end, which is no module that a build makes."""
        imports = self._workspace.index.summary(path).imports
        is_built = any(each.level == 1 and each.module.partition(".")[0] == name for each in imports)
        return not is_built and self._provided.name(path, name) is True


def _early(was: _Followed, will: _Followed, package: str, inside: Collection[str]) -> _TooEarly | None:
    """Return the import that fails by one of the ways into a circle, and does not without the change.

    A package is imported before what is in it; where the circle has been gone through by then, so it has for all that
    the package holds.
    """
    followed = 0
    through: set[str] = set()
    for entry in sorted(inside, key=lambda path: (path.count("/"), not path.endswith("__init__.py"), path)):
        if not through.isdisjoint(will.graph.packages(entry)):
            continue
        if followed > MOST_FOLLOWED:
            return None
        walk = _Walk(will, inside)
        early = walk.early(entry)
        followed += len(walk.bound)
        if early is not None and _Walk(was, inside).early(entry) is None:
            return early
        if early is None and package in walk.bound:
            through.add(entry)
    return None


class _Walk:
    """One import, followed through the modules on a circle as the interpreter would, from nothing loaded.

    Parameters:
        project: what is known of the modules.
        inside: the files on the circle.

    Attributes:
        bound: what each file that has begun has bound so far; `*` where that may be anything.
    """

    def __init__(self, project: _Followed, inside: Collection[str]) -> None:
        self.bound: dict[str, set[str]] = {}
        self._project = project
        self._graph = project.graph
        self._inside = inside
        self._meant: dict[str, dict[str, str]] = {}
        self._trail: list[str] = []

    def early(self, entry: str) -> _TooEarly | None:
        """Import a file; return what comes too early, None where nothing does."""
        try:
            for path in (*self._graph.packages(entry), entry):
                self._run(path)
        except _TooEarly as early:
            return early
        return None

    def _run(self, path: str) -> None:
        if path in self.bound or path not in self._inside:
            return
        if len(self._trail) >= _DEEPEST:
            raise _TooMuch
        steps = self._project.steps(path)
        self.bound[path] = set(_FROM_THE_START if steps is not None else _ANY)
        self._meant[path] = {}
        self._trail.append(path)
        try:
            for step in steps or ():
                self._do(path, step)
        except _TooEarly:
            del self.bound[path]  # as Python forgets what failed
            raise
        finally:
            self._trail.pop()
        for package in self._graph.packages(path)[-1:]:
            if package in self.bound:
                name = self._graph.name(path).rpartition(".")[2]
                self.bound[package].add(name)
                self._meant[package][name] = path

    def _do(self, path: str, step: Step) -> None:
        meant = None
        if step.sets and (step.sets[0] in self._meant[path] or step.sets == ("*",)):
            raise _TooMuch
        try:
            if step.reads:
                self._read(path, step.reads)
            elif step.module is not None:
                meant = self._import(path, step)
        except _TooEarly:
            if not step.coped:
                raise
        for name in step.binds:
            self._meant[path].pop(name, None)
            if meant is not None and not step.coped:
                self._meant[path][name] = meant
        self.bound[path].update(step.binds)

    def _import(self, path: str, step: Step) -> str | None:
        """Import what a step names; return the module that is bound by it, if it is one."""
        module, attribute, level = step.module or "", step.attribute, step.level
        if not level and module.partition(".")[0] in sys.stdlib_module_names:
            return None
        for target in self._graph.run_by(path, module, attribute, level):
            self._run(target)
        if attribute is None:
            first = module.partition(".")[0]
            return self._graph.file(path, first if step.binds == (first,) else module, level)
        base = self._graph.file(path, module, level) or ""
        if attribute == "*":
            self._meant[path].clear()
            self.bound[path] |= self.bound.get(base, _ANY)
            return None
        if attribute not in self.bound.get(base, _ANY):
            inner = self._graph.file(path, f"{module}.{attribute}".lstrip("."), level)
            if inner:
                return inner
            self._check(base, attribute)
        return self._meant.get(base, {}).get(attribute)

    def _read(self, path: str, reads: tuple[str, ...]) -> None:
        """Follow a name and its attributes as long as they are modules."""
        here = self._meant[path].get(reads[0], "")
        for attribute in reads[1:]:
            if attribute not in self.bound.get(here, _ANY):
                self._check(here, attribute)
                return
            here = self._meant.get(here, {}).get(attribute, "")

    def _check(self, base: str, attribute: str) -> None:
        """Check that a name which a module does not have is not only late."""
        there = self.bound.get(base, _ANY)
        if base in self._trail and there.isdisjoint(_ANY) and self._project.has(base, attribute):
            raise _TooEarly(self._trail[self._trail.index(base) :], attribute, base)
