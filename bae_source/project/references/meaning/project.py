"""The facts of a project that questions about references need: uses of files, meanings of names, how they are shown."""

from __future__ import annotations

import re
from _thread import get_ident
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import structs

from bae_source.errors import ResourceError, SourceError
from bae_source.model.reference import Certainty, Reference
from bae_source.project.references.classes.bases import Bases
from bae_source.project.references.meaning.meaning import Names
from bae_source.project.references.meaning.meanings import InModule
from bae_source.project.references.meaning.sought import Mentioned
from bae_source.project.references.types.inference import Inference
from bae_source.project.workspace import Workspace
from bae_source.syntax.names import uses as u
from bae_source.syntax.outline.tree import parse
from bae_source.syntax.text.source import SingleLines, Source

if TYPE_CHECKING:
    from bae_source.project.references.calls.fixtures import Fixtures

_LONGEST_TEXT = 1_000
"""Characters of a line; thousands of places may stand in a single one."""
_IMPORTED = rb"\b(?:import|from)\b(?:[^\n#]|\\\r?\n)*\b%b\b"
"""Text in every file that imports a module of a name as such, and in some others."""
_MOST_FILES = 1_000
"""Most files that a project may have read and still be kept for the next request."""


def project_of(workspace: Workspace) -> Project:
    """Return the facts of a project, shared with earlier requests of this thread as long as no file changed."""
    key = (Project, get_ident())
    project = workspace.derived.get(key, lambda: Project(workspace))
    if project.loaded > _MOST_FILES:
        workspace.derived.drop(key)
        return Project(workspace)
    project.renew(workspace)
    return project


class Project:
    """The facts of a project that a search for references needs.

    Parameters:
        workspace: the project.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._uses: dict[str, u.Uses | ResourceError] = {}
        self._lines: dict[str, SingleLines] = {}
        self._loaded: dict[str, bool] = {}
        self.bases = Bases(workspace)
        self.names = Names(workspace.census, self.uses, self._is_loaded, stubs=True)
        self.inference = Inference(self.names)
        self.inference.requested = lambda parameter: self.fixtures.given(parameter)

    @cached_property
    def fixtures(self) -> Fixtures:
        """The fixtures of pytest that its tests ask for."""
        from bae_source.project.references.calls.fixtures import Fixtures  # most questions meet no test

        return Fixtures(self.inference, self.lines)

    def renew(self, workspace: Workspace) -> None:
        """Go on with another snapshot of the same files."""
        self.workspace = self.bases.workspace = workspace
        self._uses = {path: uses for path, uses in self._uses.items() if not isinstance(uses, ResourceError)}

    def uses(self, path: str) -> u.Uses:
        """Return the references in a file.

        Raises:
            ResourceError: why that is not known.
        """
        if path not in self._uses:
            self.load([path])
        found = self._uses[path]
        if isinstance(found, u.Uses):
            return found
        raise found

    def knows(self, path: str) -> bool:
        """Return whether the references in a file are known."""
        return path in self._uses

    def unanalysed(self, path: str) -> dict[str, ResourceError]:
        """Return a file with the reason why not all of it could be analysed; nothing if it was.

        Raises:
            ResourceError: as `uses`.
        """
        if self.uses(path).whole:
            return {}
        try:
            parse(Source(self.workspace.content(path) or b""))
        except SourceError as error:
            return {path: error}
        module = self.workspace.census.module(path)
        unknown = SourceError(
            "not_lossless",
            f"{module.name if module else 'The file'} has code that is too new or too deep to be analysed.",
            hints=["Run bae_source with a Python that knows the syntax; references lists such code word by word."],
        )
        return {path: unknown}

    @property
    def loaded(self) -> int:
        """Return the number of files that were parsed or recalled so far."""
        return len(self._uses)

    def load(self, paths: Iterable[str]) -> None:
        """Get what some files refer to, many at once where they have to be parsed."""
        new = [each for each in paths if each not in self._uses]
        if new:
            self._uses.update(self.workspace.index.uses_of(new, broken=True))

    def address(self, path: str, owner: int) -> str:
        """Return the address of a definition of a file, which need not parse if it is the module itself."""
        module = self.workspace.census.module(path)
        name = module.name if module else ""
        qualname = self.uses(path).owners[owner] if owner else ""
        return f"{name}.{qualname}" if qualname else name

    def shown(self, mentioned: Mentioned, lines: SingleLines) -> Reference:
        """Return a mention as it is answered.

        Parameters:
            lines: of its file.
        """
        line, column, _, kind, _, owner = mentioned.mention
        module = self.workspace.census.module(mentioned.path)
        content = lines.cut(line)
        return Reference(
            module=module.name if module else "",
            address=self.address(mentioned.path, owner),
            line=line,
            column=(column if content.isascii() else len(content.encode()[:column].decode(errors="ignore"))) + 1,
            kind=u.KINDS[kind],
            certainty=mentioned.certainty,
            why=mentioned.why,
            text=shown(content),
        )

    def definition(
        self, path: str, owner: int, line: int, kind: str, certainty: Certainty = "sure", why: str = ""
    ) -> Reference:
        """Return a definition as it is answered: its own address and line."""
        module = self.workspace.census.module(path)
        lines = self.lines(path)
        return Reference(
            module=module.name if module else "",
            address=self.address(path, owner),
            line=line,
            column=1,
            kind=kind,
            certainty=certainty,
            why=why,
            text=shown(lines.cut(line)),
        )

    def bound(self, path: str, scope: int, name: str, binding: u.Binding) -> Reference:
        """Return one binding of a name in a scope as a definition."""
        if binding.how in (u.FUNCTION, u.CLASS):
            return self.definition(path, self.uses(path).scopes[binding.first].owner, binding.line, "definition")
        around = self.definition(path, self.uses(path).scopes[scope].owner, binding.line, "definition")
        is_member = self.uses(path).scopes[scope].kind == u.CLASS_SCOPE
        written = u.written(name, around.address.rpartition(".")[2]) if is_member else name
        return structs.replace(around, address=f"{around.address}.{written}")

    def _is_loaded(self, path: str) -> bool:
        """Return whether any file imports another as a module: few packages bind the name of a submodule themselves."""
        if path not in self._loaded:
            self._loaded[path] = False  # until it is known
            naming = self.workspace.index.naming([_stem(path)])
            self._loaded[path] = any(self._loads(each, path) for each in naming.paths)
        return self._loaded[path]

    def _loads(self, path: str, module: str) -> bool:
        if not re.search(_IMPORTED % re.escape(_stem(module).encode()), self.workspace.content(path) or b""):
            return False
        try:
            return bool(self.names.loading(path, _stem(module), frozenset({InModule(module)})))
        except ResourceError:
            return True

    def lines(self, path: str) -> SingleLines:
        """Return the lines of a file, as Python counts them."""
        if path not in self._lines:
            self._lines[path] = SingleLines(self.workspace.content(path) or b"")
        return self._lines[path]


def _stem(path: str) -> str:
    """Return the last component of a module's name."""
    *_, folder, name = f"/{path}".split("/")
    return folder if name == "__init__.py" else name.partition(".")[0]


def shown(line: str) -> str:
    """Return a line as an answer shows it: without the white space around it, and cut where it is very long."""
    text = line.strip()
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…"
