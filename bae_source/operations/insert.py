"""Insert new definitions or statements beside or inside something that can be named."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from bae_source.model.plan import Plan
from bae_source.model.request import Effect, Request, Target, described
from bae_source.project.workspace import Workspace

Imports = Annotated[tuple[str, ...], described("Import statements that the module shall have, added where missing.")]


class Insert(Request, frozen=True, kw_only=True):
    """Insert new source before, after, or first or last inside a symbol or module.

    In a module, `first` is behind its docstring and imports, and `last` is its end. Blank lines are set as PEP 8 and
    the neighbours have them.
    """

    verb: ClassVar[str] = "insert"
    effect: ClassVar[Effect] = Effect.WRITES

    target: Target
    new_source: Annotated[str, described("The source to insert, at any indentation.", min_length=1)]
    position: Annotated[
        Literal["before", "after", "first", "last"], described("Where: beside the target, or inside it.")
    ] = "after"
    imports: Imports = ()
    if_match: Annotated[str | None, described("Etag that the target must still have.")] = None

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change."""
        raise NotImplementedError
