"""Modules of a project that run when one of them is imported, read off the import statements of each.

    import app.late                  in app/core.py: app.late; the package app runs already
    from other.pkg import sub        other, other.pkg, and other.pkg.sub where that is a module
    from . import NAME               the package itself, if NAME is no module of it

Invariants:
- an import in a function runs later, and does not count; nor does one for type checkers alone, unless requested;
- a module's own packages have begun to run before it does: they are imported only where it takes a name from them;
- the facts of a file come from the index, and nothing is read again but lines that are shown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.project.files.census import PYTHON, Census
from bae_source.project.references.meaning.meaning import Names
from bae_source.project.workspace import Workspace
from bae_source.syntax.outline.definitions import ImportBinding
from bae_source.syntax.text.source import Source
from bae_source.system.graphs import inverted, reached


class Edge(Struct, frozen=True):
    """One import: which file imports which, and by what."""

    importer: str
    imported: str
    binding: ImportBinding


class ImportGraph:
    """The imports of a project that happen when its modules are run.

    Parameters:
        workspace: the project.
        census: its files.
        typing: whether imports under `if TYPE_CHECKING` and the like count as well.
    """

    def __init__(self, workspace: Workspace, census: Census, *, typing: bool = False) -> None:
        self.workspace = workspace
        self.unreadable: set[str] = set()
        self._census = census
        self._typing = typing
        self._names = Names(census, workspace.index.uses)
        self._known: dict[str, dict[str, ImportBinding]] = {}
        self._circles: dict[str, Collection[str]] = {}

    def imports(self, path: str) -> Collection[str]:
        """Return the files that a file imports."""
        self._load([path])
        return self._known[path].keys()

    def importing(self, paths: Iterable[str]) -> list[str]:
        """Return some files and all that import them, at any distance, sorted."""
        self._load(self._census.paths)
        importers = inverted(self._known)
        return sorted(reached(paths, lambda path: importers.get(path, ())))

    def edge(self, importer: str, imported: str) -> Edge:
        """Return how a file first imports another one."""
        return Edge(importer, imported, self._known[importer][imported])

    def name(self, path: str) -> str:
        """Return the module that a file is."""
        module = self._census.module(path)
        return module.name if module else path.rpartition("/")[2].removesuffix(PYTHON)

    def line(self, edge: Edge) -> tuple[int, str]:
        """Return the line of an import, and its text."""
        lines = Source(self.workspace.content(edge.importer) or b"").lines
        number = lines.number(edge.binding.start)
        return number, lines.cut(number).strip()

    def circle(self, path: str) -> Collection[str]:
        """Return the files on a circle of imports with a file, that one too; none where it is on none."""
        if path not in self._circles:
            came = self._followed(path)
            importers = inverted({each: self._known[each] for each in came})
            found = reached([path], lambda each: importers.get(each, ()))
            self._circles.update(dict.fromkeys(found, found if len(found) > 1 else ()))
        return self._circles[path]

    def way(self, start: str, end: str) -> list[Edge] | None:
        """Return the shortest way of imports that leads from one file to another, None where there is none."""
        came = self._followed(start, end)
        if end not in came:
            return None
        edges: list[Edge] = []
        while came[end]:
            edges.append(self.edge(came[end], end))
            end = came[end]
        return edges[::-1]

    def run_by(self, path: str, module: str, attribute: str | None, level: int) -> Iterator[str]:
        """Yield the files that one name of an import statement makes run, in their order.

        Parameters:
            path: the file that imports.
            attribute: what it takes of the module; None for the module itself.
        """
        named, inner = self.file(path, module, level), None
        if attribute is not None and attribute != "*":
            inner = self.file(path, f"{module}.{attribute}".lstrip("."), level)
        if named and inner and _is_around(named, path):
            named = None  # the package that a module is taken from runs first, unless it is running already
        for file in filter(None, (named, inner)):
            yield from (around for around in self.packages(file) if not _is_around(around, path))
            yield file

    def file(self, path: str, module: str, level: int) -> str | None:
        """Return the file that Python takes for a module: of the importer's own source root, else of the first."""
        found = [file for file in self._names.files(path, module, level) if file.endswith(PYTHON)]
        root = self._root(path)
        return next((file for file in found if self._root(file) == root), found[0] if found else None)

    def packages(self, path: str) -> list[str]:
        """Return the files of the packages around a module, the outermost first."""
        module = self._census.module(path)
        folder = path.removesuffix("/__init__.py") if path.endswith("/__init__.py") else path
        found: list[str] = []
        for _ in range(module.name.count(".") if module is not None else 0):
            folder = folder.rpartition("/")[0]
            found += [f"{folder}/__init__.py"] if f"{folder}/__init__.py" in self._census.stamps else []
        return found[::-1]

    def _root(self, path: str) -> str | None:
        module = self._census.module(path)
        return module.source_root if module else None

    def _followed(self, start: str, end: str = "") -> dict[str, str]:
        """Return the files that a file imports, at any distance, each with its importer on the way; as far as `end`."""
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
        return came

    def _load(self, paths: Iterable[str]) -> None:
        unknown = [path for path in paths if path not in self._known]
        for path, found in self.workspace.index.summaries(unknown):
            if isinstance(found, ResourceError):
                self.unreadable.add(path)
                self._known[path] = {}
                continue
            targets = self._known[path] = dict[str, ImportBinding]()
            for each in (*found.imports, *found.class_imports):
                if each.runs or self._typing:
                    for target in self.run_by(path, each.module, each.attribute, each.level):
                        if target != path:
                            targets.setdefault(target, each)


def _is_around(package: str, path: str) -> bool:
    """Return whether a file is the `__init__` of a package that another one is in."""
    return package.endswith("__init__.py") and path.startswith(package.removesuffix("__init__.py"))
