"""Delete a definition: its decorators, its comments and the blank lines that only it needed go with it."""

from __future__ import annotations

from typing import Annotated, ClassVar

from bae_source.model.plan import Plan
from bae_source.model.request import Effect, Request, Target, described
from bae_source.project.workspace import Workspace


class Delete(Request, frozen=True, kw_only=True):
    """Delete a symbol, with its decorators and comments.

    A suite that would be left empty gets `pass`. The decorators or the docstring of a symbol can be deleted on their
    own (`pkg.mod.f@docstring`).
    """

    verb: ClassVar[str] = "delete"
    effect: ClassVar[Effect] = Effect.DESTROYS

    target: Target
    if_match: Annotated[str | None, described("Etag that the symbol must still have.")] = None

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change."""
        raise NotImplementedError
