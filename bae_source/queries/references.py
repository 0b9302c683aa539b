"""Who refers to a symbol or a module."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from typing import ClassVar

from bae_source.model.outcome import Outcome
from bae_source.model.request import Effect
from bae_source.project.resolve import resolve
from bae_source.project.usage.answering import answer_of, told_of_python
from bae_source.project.usage.narrowing import AboutPlaces
from bae_source.project.usage.project import project_of
from bae_source.project.usage.references import references_to
from bae_source.project.workspace import Workspace


class References(AboutPlaces, frozen=True, kw_only=True):
    """List who refers to a symbol or a module: every place, and how sure it is.

    Names are decided by bindings and imports, attributes by what stands before the dot; where that cannot be told
    without running the code, the place is listed as unsure, with the reason. Strings that could name it come last. Of a
    special method, such as `A.__init__`, code that does not name it is left out, and the answer says so.
    """

    verb: ClassVar[str] = "references"
    effect: ClassVar[Effect] = Effect.READS
    when: ClassVar[str] = "Use it before you change or delete what others may use."

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer from the workspace."""
        with workspace.index.expecting():
            resolved = resolve(workspace, self.target)
            references = references_to(project_of(workspace), resolved)
        answer = answer_of(workspace, self, references.found, references.unreadable, nothing="(no references)")
        return told_of_python(answer, resolved)
