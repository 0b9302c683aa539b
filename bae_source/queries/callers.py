"""Who calls a function, a method or a class."""

from __future__ import annotations

from typing import ClassVar

from bae_source.model.outcome import Outcome
from bae_source.model.request import Effect, Request, Target
from bae_source.project.resolve import resolve
from bae_source.project.usage.answering import answer_of
from bae_source.project.usage.project import project_of
from bae_source.project.usage.references import references_to
from bae_source.project.workspace import Workspace

_CALLS = ("call", "decorator")


class Callers(Request, frozen=True, kw_only=True):
    """List who calls a function, a method or a class, decorating with it included."""

    verb: ClassVar[str] = "callers"
    effect: ClassVar[Effect] = Effect.READS

    target: Target

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer from the workspace."""
        resolved = resolve(workspace, self.target)
        references = references_to(project_of(workspace), resolved)
        return answer_of(
            workspace,
            [each for each in references.found if each.kind in _CALLS],
            references.unreadable,
            address=str(resolved.address.whole),
            nothing="(no callers)",
        )
