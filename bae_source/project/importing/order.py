"""Would an import run into a module that has not got that far? Decided from the order of statements, without running.

    pkg/__init__.py    from .new import A         pkg begins, and new before it has bound Later
                       Later = 1
    pkg/new.py         from pkg import Later      which fails; so would `import pkg` and `class B(pkg.Later)`

Each way into the circle is followed, from nothing loaded: `import pkg`, and any module that the new import closes the
circle with.

Invariants:
- only what certainly fails is told, and did not before: a name that a module of the project binds later, which is no
  submodule; what stands in an `if` or a `try` is taken to cope;
- functions are not followed into, even if they are called meanwhile, but for what a module's own ones begin with
  importing: that is left to the import that verifies, and `import_unfollowed` says it where there is none;
- nothing is executed, and what lies outside the project is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING

from bae_source.model.plan import ModuleFile
from bae_source.project.files.layout import import_name
from bae_source.project.importing.circle import MOST_MODULES, Modules, circle_through
from bae_source.project.workspace import Workspace

if TYPE_CHECKING:
    from bae_source.syntax.importing.steps import Step

_DEEPEST = 120
"""Modules that import each other in turn; Python's own limit comes soon after."""
_MOST_IN_ALL = 100_000
"""Modules, each counted once a way into the circle: about a second."""
_MOST_NAMES = 12
FROM_THE_START = frozenset(
    (*dir(ModuleType), *vars(ModuleType("")), "__builtins__", "__cached__", "__file__", "__path__")
)
"""What each module has before its first statement."""


class _TooEarly(Exception):  # no error of the project's, but what the walk ends with
    """An import that would find a name missing.

    Parameters:
        trail: the modules from the one that has begun to the one that asks.
        name: what it asks for.
        whose: the module that has not bound it.
    """

    def __init__(self, trail: list[str], name: str, whose: str) -> None:
        super().__init__(name)
        self.trail = trail
        self.name = name
        self.whose = whose

    def __str__(self) -> str:
        began, asks = self.trail[0], self.trail[-1]
        names = list(self.trail)
        if len(names) > _MOST_NAMES:
            names[_MOST_NAMES - 1 : -1] = [f"… ({len(names) - _MOST_NAMES} more) …"]
        way = " -> ".join((*names, began))
        return f"{asks} imports {self.name} from {self.whose} before {self.whose} has bound it ({way})"


class _TooMuch(Exception):
    """More modules than this is worth."""


def circle(before: Workspace, after: Workspace, package: ModuleFile, module: ModuleFile) -> str | None:
    """Return how a package would run into itself because it now imports a module; None where it would not.

    Parameters:
        before: the project without the import.
        after: the project with it.
    """
    will, was = Modules(after), Modules(before)
    around, name = import_name(package), import_name(module)
    if list(_imported(will, around)) == list(_imported(was, around)):
        return None
    circular = circle_through(will, around, name)
    try:
        if not circular and Walk(will).alone(name) is not None:
            circular = {around}  # it cannot be the first one to be imported of a circle of its own
        return _told(was, will, around, circular)
    except (_TooMuch, RecursionError):  # the caller may stand deep itself
        return None


def _imported(modules: Modules, name: str) -> Iterator[str]:
    """Yield the modules that a module imports, each time it does."""
    last = ""
    for step in modules.steps(name):
        base = modules.base(name, step)
        if base is not None:
            inner = f"{base}.{step.attribute}"
            asked = inner if step.attribute and modules.file(inner) is not None else base
            if asked != last:
                yield asked
            last = asked


def _told(was: Modules, will: Modules, package: str, circular: set[str]) -> str | None:
    """Return what fails by one of the ways into a circle, and does not without the change.

    A package is imported before what is in it; where the circle has been gone through by then, so it has for all that
    the package holds.
    """
    followed = 0
    waiting = sorted({name.partition(".")[0] for name in circular}, reverse=True)
    while waiting:
        entry = waiting.pop()
        if followed > _MOST_IN_ALL:
            return None
        walk = Walk(will)
        early = walk.early(entry)
        followed += len(walk.bound)
        if early is not None:
            if Walk(was).early(entry) is None:
                return str(early)
        elif package not in walk.bound:
            depth = entry.count(".") + 2
            below = {".".join(each.split(".")[:depth]) for each in circular if each.startswith(f"{entry}.")}
            waiting += sorted(below, reverse=True)
    return None


class Arrival(Exception):  # no error either: what was asked for has been seen
    """A module has been imported.

    Parameters:
        began: the modules that had begun then, from the first on, and have not ended.
        new: the modules that were imported for it, itself too.
    """

    def __init__(self, began: list[str], new: list[str]) -> None:
        super().__init__(*new[:1])
        self.began = began
        self.new = new


class Walk:
    """One import, followed through the project as the interpreter would, from nothing loaded.

    Parameters:
        modules: those of the project.
        until: a module behind which it ends, by an `Arrival`.

    Attributes:
        bound: what each module that has begun has bound so far, by its name; `*` where that may be anything.
    """

    def __init__(self, modules: Modules, *, until: str | None = None) -> None:
        self.bound: dict[str, set[str]] = {}
        self._modules = modules
        self._until = until
        self._meant: dict[str, dict[str, str]] = {}
        self._exported: dict[str, tuple[str, ...] | None] = {}
        self._short: dict[str, str] = {}
        self._done: set[str] = set()
        self._trail: list[str] = []

    def arrival(self, name: str) -> Arrival | None:
        """Import a module up to the one to end behind; return how that was, None where it does not come to that."""
        try:
            self._import(name)
        except Arrival as arrival:
            return arrival
        except (_TooEarly, _TooMuch, RecursionError):
            return None
        return None

    def early(self, name: str) -> _TooEarly | None:
        """Import a module; return what comes too early, None where nothing does, or it cannot be said."""
        try:
            self._import(name)
        except _TooEarly as early:
            return early
        return None

    def alone(self, name: str) -> _TooEarly | None:
        """Likewise, as if the packages around it had been imported, whatever they have."""
        parts = name.split(".")
        for length in range(1, len(parts)):
            around = ".".join(parts[:length])
            self.bound[around] = {"*"}
            self._meant[around] = {}
            self._done.add(around)
        return self.early(name)

    def _import(self, name: str) -> None:
        """Import a module, its packages first."""
        if name in self._done:
            return
        parts = name.split(".")
        for length in range(1, len(parts) + 1):  # a loop, because each call takes of the interpreter's limit
            here, above, last = ".".join(parts[:length]), ".".join(parts[: length - 1]), parts[length - 1]
            if here in self.bound or self._modules.file(here) is None:
                continue
            self._run(here)
            self._done.add(here)
            if above in self.bound:
                self.bound[above].add(last)
                self._meant[above][last] = here

    def _run(self, name: str) -> None:
        if len(self.bound) >= MOST_MODULES or len(self._trail) >= _DEEPEST:
            raise _TooMuch
        found, already = self._modules.on_import(name), len(self.bound)
        self.bound[name] = set() if found is not None else {"*"}
        self._meant[name] = {}
        self._trail.append(name)
        try:
            for step in found.steps if found else ():
                self._do(name, step)
        except _TooEarly:
            del self.bound[name]  # as Python forgets what failed
            raise
        finally:
            self._trail.pop()
        if name == self._until:
            raise Arrival(list(self._trail), list(self.bound)[already:])

    def _do(self, name: str, step: Step) -> None:
        meant = None
        if step.sets:
            self._set(name, step.sets)
        elif step.reads:
            self._read(name, step.reads)
        elif step.module is not None:
            try:
                meant = self._follow(name, step)
            except _TooEarly:
                if not step.coped:
                    raise
        names = self._meant[name]
        for each in step.binds:
            names.pop(each, None)
            if meant is not None and not step.coped:
                names[each] = meant
            if each != "*" or step.module is None:
                self.bound[name].add(each)
        if "__all__" in step.binds:
            self._exported[name] = step.exported

    def _follow(self, name: str, step: Step) -> str | None:
        """Import what a step names; return the module that is bound by it, if it is one."""
        base = self._modules.base(name, step)
        if base is None:
            return None
        self._import(base)
        if step.attribute is None:
            first = base.partition(".")[0]
            return first if step.binds == (first,) else base
        if step.attribute == "*":
            self._star(name, base)
            return None
        return self._take(base, step.attribute)

    def _take(self, base: str, attribute: str) -> str | None:
        """Take a name of a module; return the module that it is, if it is one."""
        there, inner = self.bound.get(base), f"{base}.{attribute}"
        if there is None:
            self._import(inner)
            return inner if inner in self.bound else None
        if attribute in there:
            return self._meant[base].get(attribute)
        if self._modules.file(inner) is not None:
            self._import(inner)
            return inner
        self._check(base, attribute)
        return None

    def _star(self, name: str, base: str) -> None:
        """Take whatever a module has for the public by now."""
        there = self.bound.get(base)
        found = self._modules.on_import(base)
        if there is None or found is None:
            self.bound[name].add("*")
            return
        exported = self._exported.get(base)
        if exported is not None:
            for each in exported:
                self._take(base, each)
            public = set(exported)
        else:
            public = {each for each in there if not each.startswith("_")}
            if base not in self._done:
                self._short[name] = base
        self.bound[name] |= public | (there & {"*"})
        for each in public:
            self._meant[name].pop(each, None)
        self._meant[name].update((each, meant) for each, meant in self._meant[base].items() if each in public)

    def _read(self, name: str, reads: tuple[str, ...]) -> None:
        """Follow a name and its attributes as long as they are modules."""
        here = self._meant[name].get(reads[0])
        for attribute in reads[1:]:
            there = self.bound.get(here) if here is not None else None
            if here is None or there is None:
                return
            inner = f"{here}.{attribute}"
            if attribute not in there:
                if inner in self._trail and not there & {"*", "__getattr__"}:
                    raise _TooEarly(self._trail[self._trail.index(inner) :], attribute, here)
                self._check(here, attribute)
                return
            here = self._meant[here].get(attribute)

    def _set(self, name: str, sets: tuple[str, ...]) -> None:
        """Bind what is set as an attribute of a module."""
        here: str | None = name
        for each in sets[:-1]:
            here = self._meant[here].get(each) if here in self.bound else None
        if here is not None and here in self.bound:
            self.bound[here].add(sets[-1])
            self._meant[here].pop(sets[-1], None)

    def _check(self, base: str, attribute: str) -> None:
        """See that a name which a module does not have is not only late."""
        if self.bound[base] & {"*", "__getattr__"} or attribute not in self._modules.names(base):
            return
        if attribute in FROM_THE_START or self._modules.may_be_outside(base, attribute):
            return
        whose = base
        while whose in self._short and whose in self._done:  # what a star import could not give it
            whose = self._short[whose]
        if whose in self._trail:
            raise _TooEarly(self._trail[self._trail.index(whose) :], attribute, whose)
