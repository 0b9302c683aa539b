"""The imports of a module."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from typing import ClassVar

from bae_source.model.outcome import Outcome
from bae_source.model.request import Effect
from bae_source.project.importing.importers import imports_of, module_asked
from bae_source.project.references.meaning.project import project_of
from bae_source.project.references.search.answering import answer_of, named
from bae_source.project.references.search.narrowing import AboutPlaces
from bae_source.project.workspace import Workspace


class ImportsOf(AboutPlaces, frozen=True, kw_only=True):
    """List what a module imports: modules and names, of the project by where they are defined."""

    verb: ClassVar[str] = "imports_of"
    effect: ClassVar[Effect] = Effect.READS
    when: ClassVar[str] = "Use it to see what a module depends on."
    examples: ClassVar[tuple[str, ...]] = ("imports_of app.net",)

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer from the workspace."""
        resolved = module_asked(workspace, self.target, instead="callees")
        project, path = project_of(workspace), resolved.module.path
        found = imports_of(project, path)
        return answer_of(workspace, self, found, project.unanalysed(path).items(), nothing="(no imports)", draw=named)
