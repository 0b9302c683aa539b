"""Replace a definition, a part of it, or some text inside it; or a data file, or some text in one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

from msgspec import structs

from bae_source.errors import LookupFailed, Refused, RequestError
from bae_source.model.address import Address, Segment, parse_name
from bae_source.model.outcome import Notice
from bae_source.model.plan import Plan
from bae_source.model.request import Effect, IfMatch, Imports, Request, Target, described
from bae_source.project.planning import check_etag, planned, single, span_of
from bae_source.project.resolve import Resolved, resolve
from bae_source.project.workspace import Workspace
from bae_source.syntax.altered import altered
from bae_source.syntax.imports import add_imports
from bae_source.syntax.locate import find
from bae_source.syntax.parts import replace_part
from bae_source.syntax.replace import Replacement, replace
from bae_source.syntax.textual import replace_text
from bae_source.syntax.tree import Tree


class Edit(Request, frozen=True, kw_only=True):
    """Replace a symbol, a part of it, or one piece of text inside it; or a data file, or one piece of text in it.

    Give the whole new source of the symbol (or of a part such as `pkg.mod.f@body`), at any indentation; or give `old`
    and `new` to replace text that occurs exactly once inside the symbol. With neither, only the comment above the
    symbol or the module's imports change, as `comment` and `imports` say. A data file is named as `pkg:dir/file.txt`.
    """

    verb: ClassVar[str] = "edit"
    effect: ClassVar[Effect] = Effect.WRITES
    when: ClassVar[str] = "Use it for any change to code that exists; the source may come at any indentation."
    idempotent: ClassVar[bool] = True

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
        """Plan the change.

        Raises:
            RequestError: `invalid_arguments` unless either `new_source` or both of `old` and `new` are given.
            ResourceError: whatever resolving the target and fitting the source raise.
        """
        self._check_arguments()
        if parse_name(self.target).resource is not None:
            return self._plan_data(workspace)
        resolved = resolve(workspace, self.target)
        if resolved.group is None:
            raise Refused(
                "unsafe_change",
                f"{resolved.address} is a module, which is not edited as a whole.",
                hints=["Name a symbol in it, or insert into it."],
            )
        check_etag(resolved, self.if_match)
        if self.old is not None:
            return self._plan_text(workspace, resolved)
        part = resolved.address.part
        if part is not None and self.comment is not None:
            raise RequestError(
                "invalid_arguments",
                "comment goes with a whole symbol, not with a part of one.",
                hints=["Leave the part out."],
            )
        if self.new_source is None:
            present = span_of(resolved).cut(resolved.tree.text)
            return self._planned(
                workspace,
                resolved,
                replace(resolved.tree, resolved.module.name, resolved.group, present, comment=self.comment),
            )
        if part is not None:
            splices = replace_part(resolved.tree, single(resolved), part, self.new_source)
            return self._planned(workspace, resolved, Replacement(splices=tuple(splices)))
        return self._planned(
            workspace,
            resolved,
            replace(resolved.tree, resolved.module.name, resolved.group, self.new_source, comment=self.comment),
        )

    def _check_arguments(self) -> None:
        whole, piece = self.new_source is not None, (self.old is not None, self.new is not None)
        neither = not whole and not any(piece) and self.comment is None and not self.imports
        if neither or (whole and any(piece)) or (any(piece) and not all(piece)):
            raise RequestError(
                "invalid_arguments",
                "edit takes either new_source, or old and new together.",
                hints=["Give new_source for the whole symbol, or old and new for a piece of text in it."],
            )
        lines = self.comment.splitlines() if self.comment is not None else []
        if lines and any(line.strip()[:1] not in ("", "#") for line in lines):
            raise RequestError("invalid_arguments", "comment takes comment lines.", hints=["Begin each line with #."])
        if self.comment is not None and any(piece):
            raise RequestError("invalid_arguments", "comment does not go with old and new.", hints=["Make two edits."])

    def _plan_data(self, workspace: Workspace) -> Plan:
        """Change a data file: all of it, or text that occurs exactly once in it."""
        if self.comment is not None or self.imports:
            raise RequestError(
                "invalid_arguments",
                f"{self.target} is a data file, which has no comment above it and no imports.",
                hints=["Give new_source, or old and new."],
            )
        from bae_source.project.data_changes import edit_data  # what code need not wait for

        return edit_data(
            workspace, self.target, source=self.new_source, old=self.old, new=self.new, if_match=self.if_match
        )

    def _plan_text(self, workspace: Workspace, resolved: Resolved) -> Plan:
        """Replace `old` by `new` where it occurs exactly once."""
        assert self.old is not None
        assert self.new is not None
        span = span_of(resolved)
        splice = replace_text(resolved.tree, span, self.old, self.new, name=str(resolved.address))
        plan = self._planned(workspace, resolved, Replacement(splices=(splice,) if splice else ()))
        if not plan.changes:
            return plan
        assert resolved.group is not None
        after = workspace.kept.trees.get(plan.changes.files[0].apply(resolved.tree.source.content))
        self._check_still_there(resolved, after)
        found = altered(resolved.tree.outline, after.outline, resolved.group)
        return structs.replace(
            plan,
            changed=(*plan.changed, *map(str, _beside(resolved, found.added))),
            warnings=(*found.notices, *plan.warnings),
        )

    def _check_still_there(self, resolved: Resolved, after: Tree) -> None:
        """Refuse a piece of text that renames or removes the symbol it is in."""
        assert resolved.group is not None
        try:
            find(after, resolved.module.name, resolved.group.qualname)
        except LookupFailed:
            raise Refused(
                "unsafe_change",
                f"With the change {resolved.address} would no longer be there under its name.",
                hints=["Keep its name; another name takes a delete and an insert."],
            ) from None

    def _planned(self, workspace: Workspace, resolved: Resolved, replacement: Replacement) -> Plan:
        wanted = [*self.imports, *([replacement.imports] if replacement.imports else [])]
        imports, added = add_imports(resolved.tree, resolved.module.name, wanted)
        notices = list(replacement.notices)
        if added:
            notices.append(Notice("imports_added", f"Added to {resolved.module.name}: {'; '.join(added)}."))
        splices = [*replacement.splices, *imports]
        summary = f"Edited {resolved.address}." if splices else f"{resolved.address} is like that already."
        return planned(
            workspace,
            resolved,
            splices,
            summary=summary,
            changed=(resolved.address, *_beside(resolved, replacement.added)),
            warnings=notices,
        )


def _beside(resolved: Resolved, names: Sequence[str]) -> list[Address]:
    """Return the addresses of names that are defined next to the symbol."""
    outer = resolved.address.qualname[:-1]
    return [Address(module=resolved.address.module, qualname=(*outer, Segment(name))) for name in names]
