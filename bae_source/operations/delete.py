"""Delete a definition: its decorators, its comments and the blank lines that only it needed go with it."""

from __future__ import annotations

from typing import ClassVar

from bae_source.errors import LookupFailed, Refused
from bae_source.model.address import Part
from bae_source.model.outcome import Notice
from bae_source.model.plan import Plan
from bae_source.model.request import Effect, IfMatch, Request, Target
from bae_source.project.planning import check_etag, definition_of, planned, single, span_of
from bae_source.project.resolve import resolve
from bae_source.project.workspace import Workspace
from bae_source.syntax.parts import replace_part
from bae_source.syntax.remove import remove


class Delete(Request, frozen=True, kw_only=True):
    """Delete a symbol, with its decorators and comments.

    A suite that would be left empty gets `pass`. The decorators or the docstring of a symbol can be deleted on their
    own (`pkg.mod.f@docstring`).
    """

    verb: ClassVar[str] = "delete"
    effect: ClassVar[Effect] = Effect.DESTROYS

    target: Target
    if_match: IfMatch = None

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change.

        Raises:
            Refused: `unsafe_change` for a module, a body or a signature, or a statement that binds other names too.
        """
        resolved = resolve(workspace, self.target)
        part = resolved.address.part
        if resolved.group is None or part in (Part.BODY, Part.SIGNATURE):
            what = "A module" if resolved.group is None else f"A {part.value}" if part else ""
            raise Refused("unsafe_change", f"{what} cannot be deleted.", hints=["Delete a symbol, or edit it."])
        check_etag(resolved, self.if_match)
        notices: list[Notice] = []
        if part is Part.DECORATORS and not definition_of(resolved).decorators:
            raise LookupFailed(
                "symbol_not_found",
                f"{resolved.address.whole} has no decorators.",
                hints=["There is nothing to delete."],
            )
        if part is not None:
            span_of(resolved)  # a docstring that is not there is not found
            splices = replace_part(resolved.tree, single(resolved), part, "")
        else:
            splices, notices = remove(resolved.tree, resolved.group)
        return planned(workspace, resolved, splices, summary=f"Deleted {resolved.address}.", warnings=notices)
