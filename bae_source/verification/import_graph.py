"""Which modules of a project run when one of them is imported, read off the import statements of each.

    import app.late                  in app/core.py: app.late; the package app runs already
    from other.pkg import sub        other, other.pkg, and other.pkg.sub where that is a module
    from . import NAME               the package itself, if NAME is no module of it

Invariants:
- what stands in a function or under `if TYPE_CHECKING` runs later or never, and is no import here; but a function that
  the module calls as it runs does run, as far as `importing.calls` can tell, and so does one of another module;
- a module's own packages have begun to run before it does: they are imported only where it takes a name from them;
- the facts of a file come from the index, and nothing is read again but lines that are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.project.files.census import PYTHON, Census
from bae_source.project.references.meaning.meaning import Names
from bae_source.project.workspace import Workspace
from bae_source.syntax.importing.steps import Step
from bae_source.syntax.text.source import Source

_MOST_TURNS = 20
"""Re-exports of a function, one after the other."""


class Edge(Struct, frozen=True):
    """One import: which file imports which, and by what."""

    importer: str
    imported: str
    step: Step


class ImportGraph:
    """The imports of a project that happen when its modules are run.

    Parameters:
        workspace: the project.
        census: its files.
        typing: whether imports under `if TYPE_CHECKING` count as well.
        calling: whether what functions of other modules import that a module calls as it runs counts as well.

    Attributes:
        unclear: of the files that were looked into, what imports modules of which cannot be told which ones, and how.
    """

    def __init__(self, workspace: Workspace, census: Census, *, typing: bool = False, calling: bool = False) -> None:
        self.workspace = workspace
        self.unreadable: set[str] = set()
        self.unclear: dict[str, Mapping[Step, str]] = {}
        self._census = census
        self._typing = typing
        self._calling = calling
        self._names = Names(census, workspace.index.uses)
        self._known: dict[str, dict[str, Step]] = {}
        self._binds: dict[str, dict[str, Step]] = {}
        self._when_called: dict[str, Callable[[str], tuple[Step, ...]]] = {}

    def imports(self, path: str) -> Collection[str]:
        """Return the files that a file imports."""
        self._load([path])
        return self._known[path].keys()

    def importing(self, paths: Iterable[str]) -> list[str]:
        """Return some files and all that import them, at whatever distance, sorted."""
        self._load(self._census.paths)
        importers: dict[str, list[str]] = {}
        for path, targets in self._known.items():
            for target in targets:
                importers.setdefault(target, []).append(path)
        waiting = list(paths)
        found = set(waiting)
        while waiting:
            for importer in importers.get(waiting.pop(), ()):
                if importer not in found:
                    found.add(importer)
                    waiting.append(importer)
        return sorted(found)

    def edge(self, importer: str, imported: str) -> Edge:
        """Return how a file first imports another one."""
        return Edge(importer, imported, self._known[importer][imported])

    def name(self, path: str) -> str:
        """Return the module that a file is."""
        module = self._census.module(path)
        return module.name if module else path.rpartition("/")[2].removesuffix(PYTHON)

    def reached(self, paths: Iterable[str]) -> list[str]:
        """Return some files and all that they import, at whatever distance."""
        found = dict.fromkeys(paths)
        level = list(found)
        while level:
            self._load(level)
            level = [target for path in level for target in self._known[path] if target not in found]
            found.update(dict.fromkeys(level))
        return list(found)

    def line(self, importer: str, done: Step) -> tuple[int, str]:
        """Return the line of what a file does that imports, and its text."""
        from bae_source.syntax.importing.on_import import import_lines  # seldom needed

        source = Source(self.workspace.content(importer) or b"")
        number = next(line for line, step in import_lines(source) if step == done)
        return number, source.lines.cut(number).strip()

    def way(self, start: str, end: str) -> list[Edge] | None:
        """Return the shortest way of imports that leads from one file to another, None where there is none."""
        came: dict[str, str] = {start: ""}
        level = [start]
        while level and end not in came:
            self._load(level)
            following: list[str] = []
            for path in level:
                for target in self._known[path]:
                    if target not in came:
                        came[target] = path
                        following.append(target)
            level = following
        if end not in came:
            return None
        edges: list[Edge] = []
        while came[end]:
            edges.append(self.edge(came[end], end))
            end = came[end]
        return edges[::-1]

    def _load(self, paths: Iterable[str]) -> None:
        unknown = [path for path in paths if path not in self._known]
        for path, steps in self._typed(unknown) if self._typing else self._run(unknown):
            if isinstance(steps, ResourceError):
                self.unreadable.add(path)
            told = () if isinstance(steps, ResourceError) else tuple(steps)
            self._known[path] = self._targets(path, told)

    def _run(self, paths: Iterable[str]) -> Iterator[tuple[str, Iterable[Step] | ResourceError]]:
        """Yield what files import when they run."""
        for path, found in self.workspace.index.on_import(paths):
            if isinstance(found, ResourceError):
                yield path, found
            else:
                yield path, (*found.steps, *(Step(calls=chain) for chain in found.calls if self._calling))

    def _typed(self, paths: Iterable[str]) -> Iterator[tuple[str, Iterable[Step] | ResourceError]]:
        """Yield what files import when they run, or would for a type checker."""
        for path, found in self.workspace.index.summaries(paths):
            if isinstance(found, ResourceError):
                yield path, found
            else:
                every = (*found.imports, *found.class_imports)
                yield path, [Step(module=each.module, attribute=each.attribute, level=each.level) for each in every]

    def _targets(self, path: str, steps: Iterable[Step]) -> dict[str, Step]:
        found: dict[str, Step] = {}
        unclear: dict[Step, str] = {}
        for step in steps:
            if step.module is not None:
                for target in self._of(path, step.module, step.attribute, step.level):
                    before = found.get(target)
                    if target != path and (before is None or (before.coped and not step.coped)):
                        found[target] = step
            elif step.calls:
                for file, inner in self._imported_by(path, step.calls):
                    if inner.unclear:
                        unclear[step] = f"{'.'.join(step.calls)}: {inner.unclear}"
                    for target in self._of(file, inner.module or "", inner.attribute, inner.level):
                        if target != path:
                            found.setdefault(target, step)
            elif step.unclear:
                unclear[step] = step.unclear
        if unclear:
            self.unclear[path] = unclear
        return found

    def _imported_by(self, path: str, chain: tuple[str, ...]) -> Iterator[tuple[str, Step]]:
        """Yield what a call of another module's function imports, with the file where that stands."""
        called = self._called(path, chain)
        if called is None:
            return
        file, name = called
        if file not in self._when_called:
            from bae_source.syntax.importing.on_import import imported_when_called

            try:
                self._when_called[file] = imported_when_called(Source(self.workspace.glance(file) or b""))
            except ResourceError:
                self._when_called[file] = lambda _: ()
        yield from ((file, step) for step in self._when_called[file](name))

    def _called(self, path: str, chain: tuple[str, ...], turns: int = 0) -> tuple[str, str] | None:
        """Return the file in which something is defined that another one imports, and its name there.

        Parameters:
            chain: how the file at `path` calls it.
        """
        if path not in self._binds:
            [(_, found)] = self.workspace.index.on_import([path])
            steps = () if isinstance(found, ResourceError) else found.steps
            self._binds[path] = {name: step for step in steps if step.module is not None for name in step.binds}
        step = self._binds[path].get(chain[0])
        if step is None or step.module is None:
            return (path, ".".join(chain)) if turns else None
        module, rest = step.module, chain[1:]
        if step.attribute is not None:
            rest = (step.attribute, *rest)
        elif step.binds == (module.partition(".")[0],):
            module = step.binds[0]
        while rest and self._files(path, f"{module}.{rest[0]}".lstrip("."), step.level):
            module, rest = f"{module}.{rest[0]}".lstrip("."), rest[1:]
        file = next(iter(self._files(path, module, step.level)), None)
        return self._called(file, rest, turns + 1) if file is not None and rest and turns < _MOST_TURNS else None

    def _of(self, path: str, module: str, attribute: str | None, level: int) -> Iterator[str]:
        """Yield the files that one name of an import statement makes run."""
        named = self._files(path, module, level)
        if attribute is not None:
            inner = f"{module}.{attribute}" if module else attribute
            modules = self._files(path, inner, level) if attribute != "*" else ()
            if modules:  # the package that it is taken from runs first, unless it is running already
                named = (*(file for file in named if not _is_around(file, path)), *modules)
        for file in named:
            yield from (around for around in self._packages(file) if not _is_around(around, path))
            yield file

    def _files(self, path: str, module: str, level: int) -> tuple[str, ...]:
        """Return the file that Python takes for a module: of the importer's own source root, else of the first."""
        found = [file for file in self._names.files(path, module, level) if file.endswith(PYTHON)]
        root = self._root(path)
        return tuple(([file for file in found if self._root(file) == root] or found)[:1])

    def _root(self, path: str) -> str | None:
        module = self._census.module(path)
        return module.source_root if module else None

    def _packages(self, path: str) -> Iterator[str]:
        """Yield the files of the packages around a module, the outermost first."""
        module = self._census.module(path)
        if module is None:
            return
        outer = module.name.rpartition(".")[0]
        for length in range(1, outer.count(".") + 2 if outer else 0):
            name = ".".join(outer.split(".")[:length])
            yield from (file for file in self._files(path, name, 0) if _is_around(file, path))


def _is_around(package: str, path: str) -> bool:
    """Say whether a file is the `__init__` of a package that another one is in."""
    return package.endswith("__init__.py") and path.startswith(package.removesuffix("__init__.py"))
