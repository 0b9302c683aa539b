"""Imports that a commit breaks by what it takes away, in modules that are not part of it.

    git rm app/client.py                 app:1: MODULE_NOT_FOUND There is no .client.
    def send(): -> def post():           app.core:3: NAME_NOT_FOUND app.client has no send.

Modules and names that the last commit has, and the index has no more, are followed to all in the index that imports
them.

Invariants:
- what was wrong before is no finding: only an import of what this very commit takes away is one;
- what cannot be decided is no finding (`staged.imports`); where that is since it may come from elsewhere, it is named.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence

from bae_source.errors import ResourceError, SourceError
from bae_source.model.finding import Finding
from bae_source.model.plan import ModuleFile
from bae_source.project.files.census import PYTHON
from bae_source.project.importing.by_text import may_import
from bae_source.syntax.names import uses as u
from bae_source.syntax.text.source import Source
from bae_source.verification.staged.imports import MODULE_NOT_FOUND, NAME_NOT_FOUND, Imports, finding

_INIT = "/__init__.py"
_REQUIREMENTS = re.compile(r"requirements[^/]*\.(?:txt|in)|(?:pylock|uv|poetry|pdm)\.\w+|environment\.ya?ml|Pipfile")


class Removed:
    """Things that a commit takes away, and what it breaks by that.

    Parameters:
        imports: of what is staged.
        asked: paths whose names are compared with the last commit; all that are staged where none is given.
    """

    def __init__(self, imports: Imports, asked: Sequence[str] = ()) -> None:
        self.workspace = workspace = imports.workspace
        self.not_looked_at: list[str] = []
        """Modules that were not read, and imports whose target is unknown now."""
        self._imports = imports
        before = workspace.staged.index.before()
        self._gone = frozenset(path for path in workspace.staged.index.gone() if path.endswith(PYTHON))
        changed = (path for path in before if path in workspace.census.stamps and (not asked or path in asked))
        self._names = dict(self._lost({path: before[path] for path in (*changed, *self._gone) if path in before}))

    def findings(self) -> Iterator[Finding]:
        """Yield the imports that find nothing any more."""
        if not self._gone and not any(self._names.values()):
            return
        for module in self._importers():
            for each in self._imports.of(module.path):
                found = self._problem(module, each)
                if found is not None:
                    yield finding(self._imports, module, each, *found)

    def _lost(self, before: Mapping[str, str]) -> Iterator[tuple[str, frozenset[str]]]:
        """Yield where a module lies, without its ending, and the names that it had and does not bind any more.

        Parameters:
            before: the object that each file was in the last commit.
        """
        for path, oid in before.items():
            try:
                had = self._bound(self.workspace.staged.index.content(oid))
                has = self._imports.uses(path).scopes[0].names.keys() if path not in self._gone else ()
            except SourceError:
                continue  # what does not parse has no names, and is a finding itself where it is staged
            except ResourceError:
                self.not_looked_at.append(self._called(path))
                continue
            yield _stem(path), had.difference(has)

    def _bound(self, content: bytes) -> frozenset[str]:
        from bae_source.syntax.names.reading import uses_of  # 10 ms, where something was changed or goes

        return frozenset(uses_of(Source(content)).scopes[0].names)

    def _importers(self) -> list[ModuleFile]:
        """Return the modules whose text may import something that goes."""
        words = {_stem(path).rpartition("/")[2] for path in self._gone}
        words |= {name for stem, names in self._names.items() if f"{stem}{PYTHON}" not in self._gone for name in names}
        plain = sorted(word for word in words if word.isascii() and word)
        pattern = "|".join(plain)
        paths = self.workspace.python_with(pattern) if len(plain) == len(words) and len(pattern) < 50_000 else None
        folders = tuple(path.removesuffix("__init__.py") for path in self._gone if path.endswith(_INIT))
        census = self.workspace.census
        found = set(census.paths if paths is None else paths)
        found = {path for path in found if may_import(self.workspace, path, words)}
        found |= {path for path in census.paths if path.startswith(folders)} if folders else set()
        modules = [each for path in sorted(found) if path.endswith(PYTHON) and (each := census.module(path))]
        self._imports.load([module.path for module in modules])
        self._imports.load(self._imports.sources(modules))
        return modules

    def _problem(self, module: ModuleFile, imported: u.Imported) -> tuple[str, list[str]] | None:
        """Return the code of the finding that an import is, and where what it looks for would lie; None for none."""
        code = self._imports.problem(module, imported)
        stems = self._stems(module.path, imported)
        inner = [f"{stem}/{imported.attribute}" for stem in stems if imported.attribute not in ("", "*")]
        if code == MODULE_NOT_FOUND:
            outer = [stem[:end] for stem in stems for end in _ends(stem)]
            return (code, stems) if any(map(self._imports.goes, outer)) else None
        if code == NAME_NOT_FOUND:
            lost = any(imported.attribute in self._names.get(stem, ()) for stem in stems)
            return (code, inner) if lost or any(map(self._imports.goes, inner)) else None
        return self._beside_packages(module.path, imported, stems, inner)

    def _beside_packages(
        self, path: str, imported: u.Imported, stems: list[str], inner: list[str]
    ) -> tuple[str, list[str]] | None:
        """Return code and places of a finding where no package has what goes, at the top or in namespace packages."""
        gone = [stem for stem in stems if self._imports.goes(stem)]
        if gone and not any(map(self._is_left, gone)):
            code, places = MODULE_NOT_FOUND, gone
        elif inner and not any(map(self._is_left, inner)) and (gone or any(map(self._imports.goes, inner))):
            code, places = NAME_NOT_FOUND, inner
            if not gone and self._imports.provided.names.files(path, imported.module, imported.level):
                return None  # what a package holds was decided
        else:
            return None
        if not all(map(self._imports.is_never_made, places)) or not self._imports.is_sure(path, imported):
            return None
        if not imported.level and self._is_required(imported.module.partition(".")[0]):
            self.not_looked_at.append(f"{self._called(path)}:{imported.line} (another distribution may have it)")
            return None
        return code, places

    def _stems(self, path: str, imported: u.Imported) -> list[str]:
        """Return the path that the file of an imported module would have, without its ending."""
        inner = imported.module.replace(".", "/")
        if imported.level:
            return ["/".join(filter(None, [*path.split("/")[: -imported.level], inner]))]
        roots = self.workspace.layout.roots
        found = [f"{root}/{inner}" if root else inner for root in roots]
        first, _, rest = imported.module.partition(".")
        folder = self.workspace.layout.packages.get(first)
        return [*found, *(["/".join(filter(None, [folder, rest.replace(".", "/")]))] if folder else [])]

    def _is_left(self, stem: str) -> bool:
        """Return whether a module or a folder of modules lies at a place."""
        census = self.workspace.census
        return stem in census.folders or f"{stem}{PYTHON}" in census.stamps

    def _is_required(self, name: str) -> bool:
        """Return whether a file of requirements names a module, or Python has it: it may come from elsewhere then."""
        word = re.compile(rf"\b{re.escape(name)}\b".encode())
        files = (each for each in self.workspace.staged.entries if _REQUIREMENTS.fullmatch(each.rpartition("/")[2]))
        return name in sys.stdlib_module_names or any(word.search(self.workspace.bytes_of(each)) for each in files)

    def _called(self, path: str) -> str:
        module = self.workspace.layout.module_at(path)
        return module.name if module else path


def _stem(path: str) -> str:
    """Return the place of a module: its file without the ending, or the folder of a package."""
    return path.removesuffix(_INIT).removesuffix(PYTHON)


def _ends(stem: str) -> Iterator[int]:
    """Yield where each folder on the way to a place ends, and the place itself."""
    yield from (match.start() for match in re.finditer("/", stem))
    yield len(stem)
