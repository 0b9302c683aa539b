"""Which modules of a project run when one of them is imported, read off the import statements of each.

    import app.late                  in app/core.py: app.late; the package app runs already
    from other.pkg import sub        other, other.pkg, and other.pkg.sub where that is a module
    from . import NAME               the package itself, if NAME is no module of it

Invariants:
- what stands in a function or under `if TYPE_CHECKING` runs later or never, and is no import here;
- a module's own packages have begun to run before it does: they are imported only where it takes a name from them;
- the facts of a file come from the index, and nothing is read again but lines that are shown.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.project.census import PYTHON, Census
from bae_source.project.usage.meaning import Names
from bae_source.project.workspace import Workspace
from bae_source.syntax.outline import ImportBinding
from bae_source.syntax.source import Source
from bae_source.syntax.summary import Summary

_MAIN = re.compile(
    r"(?:el)?if\b[^#]*\b__name__\s*==\s*['\"]__main__|(?:el)?if\b[^#]*['\"]__main__['\"]\s*==\s*__name__"
)


class Step(Struct, frozen=True):
    """One import: which file imports which, and the offset of the statement."""

    importer: str
    imported: str
    start: int


class ImportGraph:
    """The imports of a project that happen when its modules are run.

    Parameters:
        workspace: the project.
        census: its files.
        typing: whether imports under `if TYPE_CHECKING` count as well.
    """

    def __init__(self, workspace: Workspace, census: Census, *, typing: bool = False) -> None:
        self.workspace = workspace
        self.unreadable: set[str] = set()
        self._census = census
        self._typing = typing
        self._names = Names(census, workspace.index.uses)
        self._known: dict[str, dict[str, ImportBinding]] = {}
        self._cut: set[tuple[str, str]] = set()

    def imports(self, path: str) -> Collection[str]:
        """Return the files that a file imports."""
        self._load([path])
        return [target for target in self._known[path] if (path, target) not in self._cut]

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

    def step(self, importer: str, imported: str) -> Step:
        """Return where a file first imports another one."""
        return Step(importer, imported, self._known[importer][imported].start)

    def name(self, path: str) -> str:
        """Return the module that a file is."""
        module = self._census.module(path)
        return module.name if module else path.rpartition("/")[2].removesuffix(PYTHON)

    def line(self, step: Step) -> tuple[int, str]:
        """Return the line of an import, and its text."""
        lines = Source(self.workspace.content(step.importer) or b"").lines
        number = lines.number(step.start)
        return number, lines.cut(number).strip()

    def way(self, start: str, end: str) -> list[Step] | None:
        """Return the shortest way of imports that leads from one file to another, None where there is none.

        An import under `if __name__ == "__main__"` is found out only now, since that needs the file's text.
        """
        while True:
            steps = self._shortest(start, end)
            late = next((step for step in steps or () if self.is_main_only(step.importer, step.imported)), None)
            if late is None:
                return steps
            self._cut.add((late.importer, late.imported))

    def is_main_only(self, importer: str, imported: str) -> bool:
        """Say whether an import runs only where the importing file is the program itself."""
        binding = self._known[importer][imported]
        return not binding.top and _below_main(Source(self.workspace.content(importer) or b""), binding.start)

    def _shortest(self, start: str, end: str) -> list[Step] | None:
        came: dict[str, str] = {start: ""}
        level = [start]
        while level and end not in came:
            self._load(level)
            following: list[str] = []
            for path in level:
                for target in self._known[path]:
                    if target not in came and (path, target) not in self._cut:
                        came[target] = path
                        following.append(target)
            level = following
        if end not in came:
            return None
        steps: list[Step] = []
        while came[end]:
            steps.append(self.step(came[end], end))
            end = came[end]
        return steps[::-1]

    def _load(self, paths: Iterable[str]) -> None:
        unknown = [path for path in paths if path not in self._known]
        for path, summary in self.workspace.index.summaries(unknown):
            if isinstance(summary, ResourceError):
                self.unreadable.add(path)
                self._known[path] = {}
            else:
                self._known[path] = self._targets(path, summary)

    def _targets(self, path: str, summary: Summary) -> dict[str, ImportBinding]:
        found: dict[str, ImportBinding] = {}
        for binding in (*summary.imports, *summary.class_imports):
            if self._typing or not binding.typing_only:
                for target in self._of(path, binding):
                    before = found.get(target)
                    if target != path and (before is None or (binding.top and not before.top)):
                        found[target] = binding
        return found

    def _of(self, path: str, binding: ImportBinding) -> Iterator[str]:
        """Yield the files that one name of an import statement makes run."""
        named = self._files(path, binding.module, binding.level)
        if binding.attribute is not None:
            inner = f"{binding.module}.{binding.attribute}" if binding.module else binding.attribute
            modules = self._files(path, inner, binding.level) if binding.attribute != "*" else ()
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


def _below_main(source: Source, start: int) -> bool:
    """Say whether a statement stands in a block of `if __name__ == "__main__"`, by how lines are indented."""
    lines = source.lines
    number = lines.number(start)
    depth = len(lines.indentation(number))
    while depth and number > 1:
        number -= 1
        text = lines.cut(number)
        own = len(text) - len(text.lstrip(" \t\f"))
        if text.strip() and own < depth and not text.lstrip().startswith("#"):
            depth = own
            if _MAIN.match(text.lstrip()):
                return True
    return False
