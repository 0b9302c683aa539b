"""Insert new definitions or statements beside or inside something that can be named."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from msgspec.structs import replace

from bae_source.errors import Refused
from bae_source.model.address import Address, Segment
from bae_source.model.plan import Plan
from bae_source.model.request import Effect, IfMatch, Imports, Request, Target, described
from bae_source.project.importing.plan import with_imports
from bae_source.project.naming.changeable import resolve_to_change
from bae_source.project.workspace import Workspace
from bae_source.refactoring.planning.plan import check_etag, planned
from bae_source.syntax.rewrite.pasted import explained, unfenced
from bae_source.syntax.rewrite.place import Position, insert
from bae_source.syntax.rewrite.placeholders import check_complete


class Insert(Request, frozen=True, kw_only=True):
    """Insert new source beside or inside a symbol or module.

    In a module, `first` is behind its docstring and imports, and `last` is its end, before `if __name__ == "__main__"`.
    Blank lines are set as PEP 8 and the neighbours have them.
    """

    verb: ClassVar[str] = "insert"
    effect: ClassVar[Effect] = Effect.WRITES
    runner: ClassVar[str] = "change"
    when: ClassVar[str] = "Use it for new functions, classes, methods and statements in a module that exists."
    examples: ClassVar[tuple[str, ...]] = (
        "insert app.net.Client.send --source - < close.py",
        'insert app.config --position first --code "RETRIES = 3"',
        "insert app.net.Client --position last --source close.py",
    )

    target: Target
    new_source: Annotated[str, described("The source to insert, at any indentation.", min_length=1)]
    position: Annotated[
        Literal["before", "after", "first", "last"], described("Where: beside the target, or inside it.")
    ] = "after"
    imports: Imports = ()
    if_match: IfMatch = None

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change.

        Raises:
            ResourceError: whatever resolving the target and placing the source raise.
        """
        source, notices = unfenced(self.new_source)
        with explained(source):
            plan = self._planned(workspace, source)
        return replace(plan, warnings=(*notices, *plan.warnings)) if notices else plan

    def _planned(self, workspace: Workspace, source: str) -> Plan:
        resolved = resolve_to_change(workspace, self.target, "insert")
        if resolved.address.part is not None:
            raise Refused(
                "unsafe_change",
                "Code is inserted beside or into a whole symbol, not a part of one.",
                hints=[f"Use {resolved.address.whole}."],
            )
        check_etag(resolved, self.if_match)
        members = resolved.group.members if resolved.group else ()
        insertion = insert(resolved.tree, members, Position(self.position), source)
        wanted = [*self.imports, *([insertion.imports] if insertion.imports else [])]
        splices, notices = with_imports(workspace, resolved, insertion.splices, wanted)
        outer = resolved.address.qualname if self.position in ("first", "last") else resolved.address.qualname[:-1]
        changed = [
            Address(module=resolved.address.module, qualname=(*outer, Segment(name))) for name in insertion.names
        ]
        what = ", ".join(map(str, changed)) or "code"
        plan = planned(
            workspace,
            resolved,
            splices,
            summary=f"Inserted {what}.",
            changed=changed or [resolved.address],
            warnings=notices,
        )
        if plan.changes:
            after = workspace.kept.trees.get(plan.changes.files[0].apply(resolved.tree.source.content))
            check_complete(source, resolved.tree, after, resolved.module.name)
        return plan
