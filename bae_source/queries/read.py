"""Read the source of a module, a symbol, or a part of one."""

from __future__ import annotations

from typing import Annotated, ClassVar

from bae_source.model.outcome import Outcome
from bae_source.model.request import Effect, Request, Target, described
from bae_source.project.workspace import Workspace


class Read(Request, frozen=True, kw_only=True):
    """Read the source of a module, a symbol or a part, as it stands or dedented."""

    verb: ClassVar[str] = "read"
    effect: ClassVar[Effect] = Effect.READS

    target: Target
    dedent: Annotated[bool, described("Take the symbol's own indentation off.")] = False

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer from the workspace."""
        raise NotImplementedError
