"""Imports whose modules do something when they are imported, so that they may be there for that.

    import app.signals               unsure: app.signals registers handlers, and nothing else here makes it run
    from app.models import User      likewise, where User has a base outside the project, which may keep it
    from app.core import f           no reason to stay: `from app.core import g` stays, and runs app.core anyway
    import google.cloud.storage      unsure: others may take the submodule from its package

Invariants:
- what an import runs in any case counts only by imports that stay: at the top of modules, outside `if` and `try`;
- in doubt a module does something.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property

from bae_source.errors import ResourceError
from bae_source.model.reasons import Purpose
from bae_source.project.importing.graph import ImportGraph
from bae_source.project.references.meaning.project import Project
from bae_source.syntax.importing.effects import first_effect
from bae_source.syntax.importing.purposes import ImportedName
from bae_source.syntax.text.source import parsable
from bae_source.system.graphs import reached

_ACTING = frozenset(
    {
        "antigravity",
        "mpl_toolkits",
        "pyximport",
        "readline",
        "rlcompleter",
        "setuptools",
        "site",
        "sitecustomize",
        "this",
    }
)
"""Modules outside the project that are imported for what that does."""
_MOST_FOLLOWED = 300
"""Most modules read for the code that one import runs."""


class Acting:
    """A search for the effects of imports when they run.

    Parameters:
        project: where they are.
        unread: the imports that nothing reads, and that may go, by path: line and name.
    """

    def __init__(self, project: Project, unread: Mapping[str, Collection[tuple[int, str]]]) -> None:
        self._project = project
        self._workspace = project.workspace
        self._unread = unread
        self._effects: dict[str, int | None] = {}
        self._staying: dict[str, tuple[str, ...]] = {}

    def why(self, path: str, each: ImportedName) -> str:
        """Return the effect that an import of a file may have, as a reason to keep it; "" where there is none."""
        top = each.module.partition(".")[0]
        files = self._files(path, each.module, each.level)
        inner = f"{each.module}.{each.attribute}".lstrip(".") if each.attribute is not None else ""
        modules = self._files(path, inner, each.level) if inner else files
        if not files and not modules:
            if not each.level and top in _ACTING:
                return Purpose.ACTS.of(module=each.module, where="")
            is_dotted = each.attribute is None and "." in each.module and not each.asname
            return Purpose.LOADS.of() if is_dotted and top not in sys.stdlib_module_names else ""
        for file in modules or files:
            if self._first_effect(file, is_whole=bool(modules)) is not None:
                ran = self._run_anyway(path, each)
                found = self._first_effect(file, is_whole=bool(modules), ran=ran) if file not in ran else None
                if found is not None:
                    return found
        return ""

    def _files(self, path: str, module: str, level: int) -> tuple[str, ...]:
        """Return the files that an import may mean, those beside a script among them."""
        names = self._project.names
        return names.files(path, module, level) or (() if level else names.beside(path, module))

    def _first_effect(self, file: str, *, is_whole: bool, ran: Iterable[str] = ()) -> str | None:
        """Return the effect of importing a file, as a reason; None where there is none.

        Parameters:
            is_whole: whether the module itself is imported, and nothing taken from it: then what it imports counts too.
            ran: files that run in any case.
        """
        waiting, seen = [file], {file, *ran}
        most = len(seen) + _MOST_FOLLOWED
        while waiting and len(seen) < most:
            path = waiting.pop(0)
            line = self._effect(path)
            if line is not None:
                module = self._workspace.census.module(path)
                return Purpose.ACTS.of(module=module.name if module else "it", where=f" (line {line})")
            if not is_whole or not path.endswith(".py"):
                continue
            following = [each for each in self._graph.imports(path) if each not in seen]
            seen.update(following)
            waiting += following
        return None

    def _effect(self, path: str) -> int | None:
        """Return the line on which a file does something; None where it does nothing."""
        if path not in self._effects:
            try:
                text = parsable(self._workspace.content(path) or b"").text
                self._effects[path] = first_effect(text, classes=True)
            except ResourceError:
                self._effects[path] = 1
        return self._effects[path]

    @cached_property
    def _graph(self) -> ImportGraph:
        return ImportGraph(self._workspace, self._workspace.census)

    def _run_anyway(self, path: str, each: ImportedName) -> Collection[str]:
        """Return the files that run without an import: by others that stay, and by the packages around its file."""
        unread = self._unread.get(path, ())
        beside = [
            file
            for other in self._project.uses(path).imports
            if other.line == each.line and other.name and (other.line, other.name) not in unread
            for file in self._files(path, other.module, other.level)
        ]
        around = [file for package in self._graph.packages(path) for file in (package, *self._run_by(package))]
        return reached([path, *self._run_by(path), *beside, *around], self._run_by)

    def _run_by(self, path: str) -> tuple[str, ...]:
        """Return the files that a file imports at its top, by imports that stay."""
        if path not in self._staying:
            unread = self._unread.get(path)
            self._staying[path] = tuple(self._graph.imports(path) if unread is None else self._stay(path, unread))
        return self._staying[path]

    def _stay(self, path: str, unread: Collection[tuple[int, str]]) -> Iterator[str]:
        tree = self._workspace.tree_at(path)
        for each in tree.outline.imports:
            if each.top and each.runs and (tree.source.lines.number(each.start), each.name) not in unread:
                yield from self._graph.run_by(path, each.module, each.attribute, each.level)
