"""The importers of a module."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from typing import ClassVar

from bae_source.model.outcome import Outcome
from bae_source.model.request import Effect
from bae_source.project.importing.importers import importers_of, module_asked
from bae_source.project.references.meaning.of_resolved import sought_of
from bae_source.project.references.meaning.project import project_of
from bae_source.project.references.search.answering import answer_of
from bae_source.project.references.search.narrowing import AboutPlaces
from bae_source.project.workspace import Workspace


class ImportersOf(AboutPlaces, frozen=True, kw_only=True):
    """List the import statements that name a module or something in it."""

    verb: ClassVar[str] = "importers_of"
    effect: ClassVar[Effect] = Effect.READS
    when: ClassVar[str] = "Use it before you move or delete a module."
    examples: ClassVar[tuple[str, ...]] = ("importers_of app.net",)

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer from the workspace."""
        resolved = module_asked(workspace, self.target, instead="references")
        project = project_of(workspace)
        found, unreadable = importers_of(project, sought_of(project.names, resolved))
        return answer_of(workspace, self, found, sorted(unreadable.items()), nothing="(no importers)")
