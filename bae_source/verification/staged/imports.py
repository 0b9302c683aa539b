"""Imports of the project's own modules and names that find nothing, among what is staged.

    from app.client import sned          app.core:3: NAME_NOT_FOUND app.client has no sned.
    from app.clinet import send          app.core:3: MODULE_NOT_FOUND There is no app.clinet.

Invariants:
- what cannot be decided is no finding: what lies outside of the project, is made by code or by a build, may come from
  another distribution or source root, or is expected to fail by the code around it;
- only what looks like a finding is looked at twice, so what is in order costs no more than reading it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from functools import cached_property

from bae_source.errors import ResourceError
from bae_source.model.finding import Finding
from bae_source.model.plan import ModuleFile
from bae_source.project.files.census import STUB
from bae_source.project.git.staged import StagedWorkspace
from bae_source.project.references.meaning.provided import Provided
from bae_source.syntax.importing.guards import guarded_imports
from bae_source.syntax.names import uses as u
from bae_source.verification.staged.set_outside import SetOutside

_INIT = "/__init__.py"
NAME_NOT_FOUND, MODULE_NOT_FOUND = "NAME_NOT_FOUND", "MODULE_NOT_FOUND"
_BUILDS = frozenset({"setup.py", "setup.cfg", "pyproject.toml", "meson.build", "CMakeLists.txt", "Cargo.toml",
                     "Makefile", "hatch_build.py", "build.py", "BUILD", "BUILD.bazel", "tox.ini"})  # fmt: skip
_MADE_BY_CONVENTION = re.compile(r"\w+_pb2(?:_grpc)?")
_GUARD = "importorskip"
"""pytest's call that skips tests where an import fails; it stands before the import."""


def unresolved_imports(imports: Imports, modules: Sequence[ModuleFile]) -> Iterator[Finding]:
    """Yield the imports of some modules that find nothing.

    Parameters:
        imports: of what is staged.
        modules: whose imports to look at; stubs, and what does not parse, are passed over.
    """
    checked = [module for module in modules if not module.path.endswith(STUB)]
    imports.load([module.path for module in checked])
    imports.load(imports.sources(checked))
    for module in checked:
        for imported in imports.of(module.path):
            if code := imports.problem(module, imported):
                yield finding(imports, module, imported, code, imports.places(module, imported, code))


class Imports:
    """Findings about the imports of the modules of a project, as it is staged."""

    def __init__(self, workspace: StagedWorkspace) -> None:
        self.workspace = workspace
        self._uses: dict[str, u.Uses | ResourceError] = {}
        self._never_made: dict[str, bool] = {}
        self._guarded: dict[str, frozenset[int]] = {}
        self.provided = Provided(workspace.census, self.uses, self._others)
        self.outside = SetOutside(workspace, self.provided.names)

    def load(self, paths: Sequence[str]) -> None:
        """Get what some files refer to, many at once where they have to be parsed."""
        new = [path for path in dict.fromkeys(paths) if path not in self._uses]
        self._uses.update(self.workspace.index.uses_of(new))

    def uses(self, path: str) -> u.Uses:
        """Return the references in a file; raise ResourceError where they are not known."""
        self.load([path])
        found = self._uses[path]
        if isinstance(found, ResourceError):
            raise found
        return found

    def of(self, path: str) -> Iterator[u.Imported]:
        """Yield the imports of a file."""
        found = self._uses[path]
        if not isinstance(found, ResourceError):
            yield from (each for each in found.imports if not each.begins)

    def sources(self, modules: Sequence[ModuleFile]) -> list[str]:
        """Return the files in which the imports of some modules look for names."""
        census, files = self.workspace.census, self.provided.names.files
        return [
            path
            for module in modules
            for each in self.of(module.path)
            if each.attribute not in ("", "*")
            for path in files(module.path, each.module, each.level)
            if not census.beside(path.rpartition("/")[0], each.attribute)
        ]

    def problem(self, module: ModuleFile, imported: u.Imported) -> str | None:
        """Return the code of the finding that an import is; None for none."""
        path, provided = module.path, self.provided
        if not imported.level and imported.module.partition(".")[0] in sys.stdlib_module_names:
            return None
        there = provided.module(path, imported.module, imported.level)
        if there is False:
            sure = self.is_sure(path, imported) and self.is_never_made(self.stem(path, imported))
            return MODULE_NOT_FOUND if sure else None
        files = provided.names.files(path, imported.module, imported.level)
        if there is None or not files or imported.attribute in ("", "*"):
            return None
        name = imported.attribute
        if any(self._may_find(file, name) for file in files):
            return None
        inner = submodules(files, name)
        if not all(map(self.is_never_made, inner)):
            return None
        by_any_name = () if any(map(self.goes, inner)) else files
        return NAME_NOT_FOUND if self.is_sure(path, imported) and not self.outside.may_set(by_any_name, name) else None

    def _may_find(self, file: str, name: str) -> bool:
        """Return whether a module may have a name; `__getattr__` does not count for a module that goes now."""
        found = self.provided.name(file, name)
        if found is None and any(map(self.goes, submodules([file], name))):
            found = self.provided.name(file, name, makers=())
        return found is not False

    def goes(self, stem: str) -> bool:
        """Return whether the last commit has a module at a place, and what is staged has none any more."""
        ends = (f"{stem}.py", f"{stem}{_INIT}")
        return not self._gone.isdisjoint(ends) and not any(each in self.workspace.census.stamps for each in ends)

    @cached_property
    def _gone(self) -> frozenset[str]:
        return frozenset(self.workspace.staged.index.gone())

    def is_sure(self, path: str, imported: u.Imported) -> bool:
        """Return whether an import has to succeed, and can mean nothing but what was looked at."""
        if path not in self._guarded:
            self._guarded[path] = guarded_imports(self.workspace.kept.trees.get(self.workspace.bytes_of(path)).text)
        guarded = imported.line in self._guarded[path] or _GUARD in self.uses(path).mentions
        return not guarded and not self._lies_elsewhere(path, imported)

    def _lies_elsewhere(self, path: str, imported: u.Imported) -> bool:
        """Return whether a folder other than a source root has the target of an absolute import."""
        if imported.level:
            return False
        ends = tuple(f"/{imported.module.replace('.', '/')}{end}" for end in (".py", "/__init__.py"))
        known = self.provided.names.files(path, imported.module, 0)
        return any(each.endswith(ends) and each not in known for each in self.workspace.staged.entries)

    def is_never_made(self, stem: str) -> bool:
        """Return whether nothing hints at a module that is only made when the project is built; git is called once."""
        if stem not in self._never_made:
            last = stem.rpartition("/")[2]
            by_convention = _MADE_BY_CONVENTION.fullmatch(last) is not None
            ignored = self.workspace.staged.index.ignored([f"{stem}.py", f"{stem}{_INIT}"])
            in_builds = not self.goes(stem) and self._is_in_builds(last)
            self._never_made[stem] = not (by_convention or ignored or in_builds)
        return self._never_made[stem]

    def _is_in_builds(self, name: str) -> bool:
        word = re.compile(rf"\b{re.escape(name)}\b".encode())
        builds = (each for each in self.workspace.staged.entries if each.rpartition("/")[2] in _BUILDS)
        return any(word.search(self.workspace.bytes_of(each)) for each in builds)

    def stem(self, path: str, imported: u.Imported) -> str:
        """Return the path that the file of a missing module would have, without its ending."""
        inner = imported.module.replace(".", "/")
        if imported.level:
            return "/".join([*path.split("/")[: -imported.level], inner])
        first = imported.module.partition(".")[0]
        package = next(each for each in self.workspace.census.find(first) if each.endswith(_INIT))
        return package.removesuffix(_INIT) + inner.removeprefix(first)

    def places(self, module: ModuleFile, imported: u.Imported, code: str) -> list[str]:
        """Return where the file of what a finding is about would lie, without its ending."""
        if code == MODULE_NOT_FOUND:
            return [self.stem(module.path, imported)]
        files = self.provided.names.files(module.path, imported.module, imported.level)
        return submodules(files, imported.attribute)

    def _others(self, folder: str) -> tuple[str, ...]:
        """Return the names in a folder: staged, in parts that git hides, and on the disk."""
        staged = self.workspace.staged
        lead = f"{folder}/" if folder else ""
        hidden = (path[len(lead) :] for path in staged.opaque if path.startswith(lead))
        on_disk = (name for name in self.workspace.names_on_disk(folder) if "." in name)
        return (*staged.names(folder), *(name.partition(".")[0] for name in hidden if "/" not in name), *on_disk)


def submodules(files: Sequence[str], name: str) -> list[str]:
    """Return the paths that the file of a module of some packages would have, without its ending."""
    return [f"{file.removesuffix(_INIT)}/{name}" for file in files if file.endswith(_INIT)]


def finding(imports: Imports, module: ModuleFile, imported: u.Imported, code: str, stems: Sequence[str]) -> Finding:
    """Return the finding that an import is.

    Parameters:
        stems: where the file of what it looks for would lie, without its ending.
    """
    written = "." * imported.level + imported.module
    message = f"{written} has no {imported.attribute}" if code == NAME_NOT_FOUND else f"There is no {written}"
    if any(imports.workspace.is_on_disk(f"{stem}{end}") for stem in stems for end in (".py", _INIT)):
        message += "; it is in the working tree, and not staged"
    return Finding(address=module.name, line=imported.line, code=code, message=f"{message}.")
