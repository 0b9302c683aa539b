"""The calls in a definition."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from typing import ClassVar

from bae_source.model.outcome import Outcome
from bae_source.model.request import Effect
from bae_source.project.naming.resolve import resolve
from bae_source.project.references.calls.calls import called_by
from bae_source.project.references.meaning.project import project_of
from bae_source.project.references.search.answering import answer_of, named
from bae_source.project.references.search.narrowing import AboutPlaces
from bae_source.project.workspace import Workspace


class Callees(AboutPlaces, frozen=True, kw_only=True):
    """List what a function, a class or a module calls, in the project and outside it."""

    verb: ClassVar[str] = "callees"
    effect: ClassVar[Effect] = Effect.READS
    when: ClassVar[str] = "Use it to follow what a function does, one step down."
    examples: ClassVar[tuple[str, ...]] = ("callees app.net.Client.send",)

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer from the workspace."""
        resolved = resolve(workspace, self.target)
        within = ".".join(map(str, resolved.address.qualname))
        project, path = project_of(workspace), resolved.module.path
        found, unreadable = called_by(project, path, within)
        unreadable = {**unreadable, **project.unanalysed(path)}
        return answer_of(workspace, self, found, unreadable.items(), nothing="(no calls)", draw=named)
