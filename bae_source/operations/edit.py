"""Replace a definition, a part of it, or some text inside it."""

from __future__ import annotations

from typing import Annotated, ClassVar

from bae_source.model.plan import Plan
from bae_source.model.request import Effect, Request, Target, described
from bae_source.project.workspace import Workspace

Imports = Annotated[tuple[str, ...], described("Import statements that the module shall have, added where missing.")]
IfMatch = Annotated[str | None, described("Etag that the symbol must still have; get it from read.")]


class Edit(Request, frozen=True, kw_only=True):
    """Replace a symbol, a part of it, or one piece of text inside it.

    Give the whole new source of the symbol (or of a part such as `pkg.mod.f@body`), at any indentation; or give `old`
    and `new` to replace text that occurs exactly once inside the symbol.
    """

    verb: ClassVar[str] = "edit"
    effect: ClassVar[Effect] = Effect.WRITES

    target: Target
    new_source: Annotated[str | None, described("The new source of the symbol or part.")] = None
    old: Annotated[str | None, described("Text inside the symbol to replace; it must occur exactly once.")] = None
    new: Annotated[str | None, described("What stands there instead of old.")] = None
    imports: Imports = ()
    comment: Annotated[
        str | None, described("The comment block above the symbol; an empty one removes it, none keeps it.")
    ] = None
    if_match: IfMatch = None

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change."""
        raise NotImplementedError
