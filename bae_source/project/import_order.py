"""Would an import run into a module that has not got that far? Decided from the order of statements, without running.

    pkg/__init__.py    from .new import A         pkg begins, and new before it has bound Later
                       Later = 1
    pkg/new.py         from pkg import Later      which fails

Invariants:
- only what certainly fails is told: a name that a module of the project binds later, which is no submodule, imported at
  the top level; what stands in an `if` or a `try` is taken to cope;
- only the module in question is followed, and not far: what is not certain is left to the import that verifies;
- nothing is executed, and what lies outside the project is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bae_source.errors import ResourceError
from bae_source.model.plan import ModuleFile
from bae_source.project.layout import import_name
from bae_source.project.workspace import Workspace
from bae_source.syntax.outline import MODULE, ImportBinding, Outline

_MOST = 200
"""Modules; what is more is left to the import that verifies a change."""
_DEEPEST = 100

Event = tuple[ImportBinding | None, tuple[str, ...]]


class _TooEarly(Exception):  # no error of the project's, but what the walk ends with
    """An import that would find a name missing.

    Parameters:
        trail: the modules from the one that has begun to the one that asks.
        name: what it asks for.
    """

    def __init__(self, trail: list[str], name: str) -> None:
        super().__init__(name)
        self.trail = trail
        self.name = name


class _TooMuch(Exception):
    """More modules than this is worth."""


def circle(before: Workspace, after: Workspace, package: ModuleFile, module: ModuleFile) -> str | None:
    """Return how a package would run into itself because it now imports a module; None where it would not.

    Only the module is followed, from where the package imports it: with what the packages around it, and others that
    import them, have bound by then.

    Parameters:
        before: the project without the import.
        after: the project with it.
    """
    name = import_name(module)
    if _until(before, package, name) is not None:
        return None
    begun = _begun(after, import_name(package), name)
    if import_name(package) not in begun or _told(after, name, dict.fromkeys(begun)) is not None:
        return None
    walk = _Walk(after, begun)
    if told := walk.told(name):
        return told
    for other in sorted(walk.bound.keys() - begun.keys() - {name}):
        if other.partition(".")[0] == name.partition(".")[0]:
            continue
        file = walk.module(other)
        bound = _until(after, file, name.partition(".")[0]) if file else None
        if bound is not None and (told := _told(after, name, {other: bound, **begun})):
            return told
    return None


def _told(workspace: Workspace, name: str, begun: Mapping[str, set[str] | None]) -> str | None:
    return _Walk(workspace, begun).told(name)


def _begun(workspace: Workspace, package: str, name: str) -> dict[str, set[str] | None]:
    """Return what a package and those around it have bound when it imports a module; None for what has long ended."""
    found: dict[str, set[str] | None] = {}
    parts = package.split(".")
    for length in range(1, len(parts) + 1):
        here, wanted = ".".join(parts[:length]), ".".join(parts[: length + 1]) if length < len(parts) else name
        file = _Walk(workspace, {}).module(here)
        bound = _until(workspace, file, wanted) if file else None
        if bound is not None or length < len(parts):
            found[here] = bound
    return found


def _until(workspace: Workspace, module: ModuleFile, name: str) -> set[str] | None:
    """Return what a module has bound when it first imports a module of this name or below; None if it does not."""
    bound: set[str] = set()
    try:
        outline = workspace.tree(module).outline
    except ResourceError:
        return None
    for binding, names in _events(outline):
        base = _absolute(module, binding) if binding is not None else None
        if base is not None and binding is not None and binding.top:
            whole = f"{base}.{binding.attribute}" if binding.attribute else base
            if any(f"{each}.".startswith(f"{name}.") for each in (base, whole)):
                return bound
        bound.update(names)
    return None


class _Walk:
    """One import statement, followed through the project as the interpreter would.

    Parameters:
        begun: the modules that have begun, in their order, and what they have bound; None for those that have ended.

    Attributes:
        bound: what each module has bound so far, by its name; None where that is not known.
    """

    def __init__(self, workspace: Workspace, begun: Mapping[str, set[str] | None]) -> None:
        self.workspace = workspace
        self.bound: dict[str, set[str] | None] = {name: set(b) if b is not None else None for name, b in begun.items()}
        self._done = {name for name, bound in begun.items() if bound is None}
        self._trail = [name for name, bound in begun.items() if bound is not None]

    def told(self, name: str) -> str | None:
        """Return a sentence on what would fail; None where nothing would, or it cannot be said."""
        try:
            self._import(name)
        except _TooEarly as early:
            began, asks = early.trail[0], early.trail[-1]
            way = " -> ".join((*early.trail, began))
            return f"{asks} imports {early.name} from {began} before {began} has bound it ({way})"
        except _TooMuch:
            return None
        return None

    def _import(self, name: str) -> None:
        """Import a module, its packages first."""
        parts = name.split(".")
        for length in range(1, len(parts) + 1):
            here = ".".join(parts[:length])
            module = self.module(here)
            if module is not None:
                self._run(here, module)
            if length > 1 and (above := self.bound.get(".".join(parts[: length - 1]))) is not None:
                above.add(parts[length - 1])

    def module(self, name: str) -> ModuleFile | None:
        """Return the module of the project that has a name."""
        parts = tuple(name.split("."))
        found = (item.file for item in self.workspace.layout.prefixes(parts) if item.length == len(parts) and item.file)
        return next(found, None)

    def _run(self, name: str, module: ModuleFile) -> None:
        if name in self.bound:
            return
        if len(self.bound) >= _MOST or len(self._trail) >= _DEEPEST:
            raise _TooMuch
        bound = self.bound[name] = set()
        self._trail.append(name)
        try:
            outline = self.workspace.tree(module).outline
        except ResourceError:
            outline = None
        for binding, names in _events(outline) if outline else ():
            if binding is not None:
                self._follow(module, binding, bound)
            bound.update(names)
        self._trail.pop()
        self._done.add(name)

    def _follow(self, module: ModuleFile, binding: ImportBinding, bound: set[str]) -> None:
        base = _absolute(module, binding)
        if base is None:
            return
        self._import(base)
        if binding.attribute is None:
            return
        if binding.attribute == "*":
            bound.update(each for each in self.bound.get(base) or () if not each.startswith("_"))
            return
        there = self.bound.get(base)
        if there is None or binding.attribute in there:
            return
        if self.module(f"{base}.{binding.attribute}") is not None:
            self._import(f"{base}.{binding.attribute}")
        elif base not in self._done and binding.top and "__getattr__" not in there and self._binds(base, binding):
            raise _TooEarly(self._trail[self._trail.index(base) :], binding.attribute)

    def _binds(self, base: str, binding: ImportBinding) -> bool:
        """Say whether a module will bind a name, so that the order alone is at fault."""
        module = self.module(base)
        if module is None:
            return False
        try:
            outline = self.workspace.tree(module).outline
        except ResourceError:
            return False
        return bool(outline.named(MODULE, str(binding.attribute))) or any(
            each.name == binding.attribute and not each.typing_only for each in outline.imports
        )


def _events(outline: Outline) -> Iterator[Event]:
    """Yield what a module's own statements bind, in their order: by an import, or by a definition."""
    found: list[tuple[int, ImportBinding | None, tuple[str, ...]]] = [
        (each.start, each, (each.name,)) for each in outline.imports if not each.typing_only
    ]
    found += [(each.keyword, None, each.names) for each in outline.definitions if each.parent == MODULE]
    for _, binding, names in sorted(found, key=lambda event: event[0]):
        yield binding, names


def _absolute(module: ModuleFile, binding: ImportBinding) -> str | None:
    """Return the absolute name of the module that an import names; None where the dots lead out of the top package."""
    if not binding.level:
        return binding.module
    own = import_name(module).split(".")
    package = own if module.package else own[:-1]
    kept = len(package) - (binding.level - 1)
    return ".".join((*package[:kept], *([binding.module] if binding.module else ()))) if kept > 0 else None
