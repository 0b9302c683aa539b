"""The code of the files that an inlining looks into, each parsed once."""

from __future__ import annotations

import ast

from bae_source.errors import Refused, ResourceError
from bae_source.project.references.classes.running import RunningAttributes
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Mentioned
from bae_source.syntax.inlining.code import Code
from bae_source.syntax.rewrite.name_tokens import written
from bae_source.syntax.text.source import Source


class Codes:
    """Gives the code of files.

    Parameters:
        project: where they are.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._running = RunningAttributes(project)
        self._known: dict[str, Code | None] = {}

    def code(self, path: str) -> Code:
        """Return the code of a file.

        Raises:
            Refused: `unsafe_change` where the Python that runs here does not read it.
        """
        found = self._code(path)
        if found is None:
            module = self._project.workspace.census.module(path)
            raise Refused(
                "unsafe_change",
                f"{module.name if module else path} cannot be read by the Python that runs here",
                unchanged=True,
                hints=["Run bae_source with the project's own Python, or mend the file first."],
            )
        return found

    def of(self, source: Source) -> Code:
        """Return the code of a text that a file of the project has, or is to have."""
        return Code(source, self._running.of(source.text))

    def node(self, mentioned: Mentioned) -> tuple[Code, ast.Name | ast.Attribute] | None:
        """Return the name or the attribute at a place, with its file's code; None where there is none of its own."""
        code = self._code(mentioned.path)
        if code is None:
            return None
        start = code.source.lines.offset(*mentioned.mention[:2])
        node = code.named_at(start, written(code.text, start))
        return None if node is None else (code, node)

    def _code(self, path: str) -> Code | None:
        if path not in self._known:
            try:
                self._known[path] = self.of(self._project.workspace.tree_at(path).source)
            except (ResourceError, SyntaxError, RecursionError, MemoryError):
                self._known[path] = None
        return self._known[path]
