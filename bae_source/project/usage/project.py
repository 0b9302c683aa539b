"""What questions about references need to know of a project: uses of files, meanings of names, how they are shown."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import structs

from bae_source.errors import ResourceError
from bae_source.model.reference import Certainty, Reference
from bae_source.project.usage.bases import Bases
from bae_source.project.usage.inference import Inference
from bae_source.project.usage.meaning import Names
from bae_source.project.usage.sought import Mentioned
from bae_source.project.workspace import Workspace
from bae_source.syntax import uses as u
from bae_source.syntax.source import Lines, Source


class Project:
    """What looking for references needs to know of a project; made once a request.

    Parameters:
        workspace: the project.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._uses: dict[str, u.Uses | ResourceError] = {}
        self.bases = Bases(workspace)
        self.names = Names(workspace.census, self.uses)
        self.inference = Inference(self.names)

    def uses(self, path: str) -> u.Uses:
        """Return what a file refers to.

        Raises:
            ResourceError: why that is not known.
        """
        if path not in self._uses:
            self.load([path])
        found = self._uses[path]
        if isinstance(found, ResourceError):
            raise found
        return found

    @property
    def loaded(self) -> int:
        """How many files were parsed or recalled so far."""
        return len(self._uses)

    def load(self, paths: Iterable[str]) -> None:
        """Get what some files refer to, many at once where they have to be parsed."""
        self._uses.update(self.workspace.index.uses_of([path for path in paths if path not in self._uses]))

    def address(self, path: str, owner: int) -> str:
        """Return the address of a definition of a file."""
        module = self.workspace.census.module(path)
        name = module.name if module else ""
        qualname = self.uses(path).owners[owner]
        return f"{name}.{qualname}" if qualname else name

    def shown(self, mentioned: Mentioned, lines: Lines) -> Reference:
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
            column=len(content.encode()[:column].decode(errors="ignore")) + 1,
            kind=u.KINDS[kind],
            certainty=mentioned.certainty,
            why=mentioned.why,
            text=content.strip(),
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
            text=lines.cut(line).strip(),
        )

    def bound(self, path: str, scope: int, name: str, binding: u.Binding) -> Reference:
        """Return one binding of a name in a scope as a definition."""
        scopes = self.uses(path).scopes
        if binding[0] in (u.FUNCTION, u.CLASS):
            return self.definition(path, scopes[binding[1]].owner, binding[3], "definition")
        around = self.definition(path, scopes[scope].owner, binding[3], "definition")
        return structs.replace(around, address=f"{around.address}.{name}")

    def lines(self, path: str) -> Lines:
        """Return the lines of a file, as Python counts them."""
        content = self.workspace.content(path)
        return Source(content).lines if content else Lines("")
