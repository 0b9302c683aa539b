"""The methods that override a method."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from typing import ClassVar

from bae_source.errors import RequestError
from bae_source.model.outcome import Outcome
from bae_source.model.request import Effect
from bae_source.project.naming.resolve import resolve
from bae_source.project.references.classes.overriding import overriding
from bae_source.project.references.meaning.of_resolved import sought_of
from bae_source.project.references.meaning.project import project_of
from bae_source.project.references.search.answering import answer_of, named
from bae_source.project.references.search.narrowing import AboutPlaces
from bae_source.project.workspace import Workspace


class Overrides(AboutPlaces, frozen=True, kw_only=True):
    """List the members of subclasses that override a method or an attribute of a class.

    Subclasses are those that `subclasses` lists, and what it does not see is missing here too. What is assigned to one,
    as by `S.go = other`, overrides as well, and so does what code sets that runs when the class is made. A class that a
    call of `type` makes is listed by the place of the call, since its members are not looked at.
    """

    verb: ClassVar[str] = "overrides"
    effect: ClassVar[Effect] = Effect.READS
    when: ClassVar[str] = "Use it before you change a method that subclasses may override."
    examples: ClassVar[tuple[str, ...]] = ("overrides app.net.Client.send",)

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer from the workspace."""
        resolved = resolve(workspace, self.target)
        project = project_of(workspace)
        sought = sought_of(project.names, resolved)
        if not sought.classes:
            if unanalysed := project.unanalysed(resolved.module.path):
                raise unanalysed[resolved.module.path]
            raise RequestError(
                "invalid_arguments",
                f"{resolved.address} is no member of a class, so nothing can override it.",
                hints=["Name a method, such as pkg.mod.Class.method."],
            )
        listed = overriding(project, sought)
        return answer_of(workspace, self, listed.found, listed.unreadable, nothing="(no overrides)", draw=named)
