"""Replace a definition, a part of it or of a module, or some text inside them; or a data file, or some text in one."""

from __future__ import annotations

import re
from typing import Annotated, ClassVar

from msgspec import structs

from bae_source.errors import LookupFailed, Refused, RequestError, ResourceError, SourceError
from bae_source.model.address import Address, Segment, parse_name
from bae_source.model.call import Call
from bae_source.model.plan import Plan
from bae_source.model.request import Effect, IfMatch, Imports, Request, Target, described
from bae_source.model.span import Span
from bae_source.project.importing.plan import with_imports
from bae_source.project.naming.changeable import resolve_to_change
from bae_source.project.naming.resolve import Resolved
from bae_source.project.naming.spans import single, span_of
from bae_source.project.workspace import Workspace
from bae_source.refactoring.planning.plan import check_etag, planned
from bae_source.syntax.outline.groups import check_altered
from bae_source.syntax.outline.locate import find, unit_for
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.rewrite.altered import altered
from bae_source.syntax.rewrite.parts import replace_part
from bae_source.syntax.rewrite.pasted import explained, unfenced
from bae_source.syntax.rewrite.placeholders import check_complete
from bae_source.syntax.rewrite.replace import Replacement, replace
from bae_source.syntax.rewrite.textual import (
    fitted_to_line,
    is_indented_twice,
    left_suite,
    outside,
    replace_text,
    stands,
)
from bae_source.syntax.text.source import NEWLINE

_COMMENT_AT_MARGIN = re.compile(r"[\r\n]#")
_ONLY_COMMENTS = re.compile(r"(?:\s|#[^\r\n]*)*")


class _Leaves(Refused):
    """A piece of text leaves the symbol that it was put into."""


class Edit(Request, frozen=True, kw_only=True):
    """Replace a symbol, a part of it, or a piece of text in a symbol, a module or a data file; or a whole data file.

    Give the whole new source of the symbol (or of a part such as `pkg.mod.f@body`), at any indentation; or give `old`
    and `new` to replace text that occurs exactly once inside the symbol, or in a module. Further lines of `new` may be
    indented as in the file, or as if the first one stood at the margin; a line end at the end of either counts for
    nothing; and where `new`, which holds `old`, stands there already, nothing changes. With neither, only the comment
    above the symbol or the module's imports change, as `comment` and `imports` say. The string below an attribute,
    which documents it, is read with it and stays unless the new source has another. A module has the parts
    `pkg.mod@docstring`, `@imports` and `@main`; a data file is named as `pkg:dir/file.txt`. Warnings name what goes and
    comes: `decorators_dropped`, `definitions_gone`, `added`, `definitions_hidden` by another of the same name,
    `bodies_emptied` and `docstring_dropped`.
    """

    verb: ClassVar[str] = "edit"
    effect: ClassVar[Effect] = Effect.WRITES
    runner: ClassVar[str] = "change"
    when: ClassVar[str] = "Use it for any change to code that exists; the source may come at any indentation."
    examples: ClassVar[tuple[str, ...]] = (
        "edit app.net.Client.send --source send.py",
        "edit app.net.Client.send --dry-run --source - < send.py",
        'edit app.config.load --old "wait=5" --new "wait=30"',
    )

    target: Target
    new_source: Annotated[str | None, described("The new source of the symbol or part.", placed=True)] = None
    old: Annotated[str | None, described("Text inside the target to replace; it must occur exactly once.")] = None
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
        source, notices = unfenced(self.new_source or "")
        if notices:
            plan = structs.replace(self, new_source=source).plan(workspace)
            return structs.replace(plan, warnings=(*notices, *plan.warnings))
        with explained(self.new_source, self.new):
            return self._plan_code(workspace)

    def _plan_code(self, workspace: Workspace) -> Plan:
        """Plan the change of a symbol or a module."""
        resolved = resolve_to_change(workspace, self.target, "edit")
        check_etag(resolved, self.if_match)
        if resolved.group is None:
            return self._plan_module(workspace, resolved)
        if self.old is not None:
            return self._plan_text(workspace, resolved)
        part = resolved.address.part
        if part is not None and self.comment is not None:
            raise RequestError(
                "invalid_arguments",
                "comment goes with a whole symbol, not with a part of one.",
                hints=["Leave the part out."],
            )
        if part is not None and self.new_source is not None:
            splices = replace_part(resolved.tree, single(resolved), part, self.new_source)
            replacement = Replacement(splices=tuple(splices))
        else:
            present = span_of(resolved).cut(resolved.tree.text)
            new_source = present if self.new_source is None else self.new_source
            replacement = replace(resolved.tree, resolved.module.name, resolved.group, new_source, comment=self.comment)
        return _compared(workspace, resolved, self._planned(workspace, resolved, replacement), self.new_source or "")

    def _check_arguments(self) -> None:
        whole, piece = self.new_source is not None, (self.old is not None, self.new is not None)
        neither = not whole and not any(piece) and self.comment is None and not self.imports
        if neither or (whole and any(piece)) or (any(piece) and not all(piece)):
            raise RequestError(
                "invalid_arguments",
                "edit takes either new_source, or old and new together.",
                hints=["Give new_source for the whole symbol, or old and new for a piece of text in it."],
                details={"missing": ["new_source"] if neither else []},
            )
        lines = self.comment.splitlines() if self.comment is not None else []
        if lines and any(line.strip()[:1] not in ("", "#") for line in lines):
            raise RequestError("invalid_arguments", "comment takes comment lines.", hints=["Begin each line with #."])
        if self.comment is not None and any(piece):
            raise RequestError("invalid_arguments", "comment does not go with old and new.", hints=["Make two edits."])

    def _plan_module(self, workspace: Workspace, resolved: Resolved) -> Plan:
        """Change a piece of a module's text, a part of it, or its imports."""
        if self.comment is not None:
            raise RequestError(
                "invalid_arguments",
                f"{resolved.address} is no symbol, which a comment could stand above.",
                hints=["Give old and new to change a comment of the module."],
            )
        from bae_source.refactoring.planning.module_changes import (  # what symbols need not wait for
            ModuleChange,
            edit_module,
        )

        change = ModuleChange(source=self.new_source, old=self.old, new=self.new, imports=self.imports)
        return edit_module(workspace, resolved, change)

    def _plan_data(self, workspace: Workspace) -> Plan:
        """Change a data file: all of it, or text that occurs exactly once in it."""
        if self.comment is not None or self.imports:
            raise RequestError(
                "invalid_arguments",
                f"{self.target} is a data file, which has no comment above it and no imports.",
                hints=["Give new_source, or old and new."],
            )
        from bae_source.refactoring.planning.data_changes import edit_data  # what code need not wait for

        return edit_data(
            workspace, self.target, source=self.new_source, old=self.old, new=self.new, if_match=self.if_match
        )

    def _plan_text(self, workspace: Workspace, resolved: Resolved) -> Plan:
        """Replace `old` by `new` where it occurs exactly once; lines that would leave the symbol move into it."""
        assert self.old is not None
        assert self.new is not None
        assert resolved.group is not None
        tree = resolved.tree
        splice = replace_text(tree, span_of(resolved), self.old, self.new, name=str(resolved.address))
        if splice is None:
            return self._planned(workspace, resolved, Replacement())
        span, new = splice
        first: ResourceError | None = None
        if not is_indented_twice(tree, span, new):
            try:
                return self._text_planned(workspace, resolved, splice, comments=not _COMMENT_AT_MARGIN.search(new))
            except (SourceError, _Leaves) as error:
                first = error
        moved = fitted_to_line(tree, span, new, unit_for(tree, resolved.group.members))
        if moved is not None and stands(tree.text, span.start, span.cut(tree.text), moved):
            return self._planned(workspace, resolved, Replacement())
        for text in (moved, new):
            try:
                if text is not None:
                    return self._text_planned(workspace, resolved, (span, text), comments=True)
            except (SourceError, Refused) as error:
                first = first or error
        assert first is not None
        raise first

    def _text_planned(
        self, workspace: Workspace, resolved: Resolved, splice: tuple[Span, str], *, comments: bool = False
    ) -> Plan:
        """Plan one replaced piece of text, all of which stands in the symbol or defines something beside it.

        Parameters:
            comments: whether comments may stand elsewhere.
        """
        plan = self._planned(workspace, resolved, Replacement(splices=(splice,)))
        if not plan.changes:
            return plan
        assert resolved.group is not None
        after = workspace.tree_after(plan.changes.files[0].apply(resolved.tree.source.content))
        members = self._check_still_there(resolved, after)
        span, new = splice
        every, _ = with_imports(workspace, resolved, (splice,), self.imports)
        before = (each for each in every if each[0].end <= span.start and each != splice)
        start = span.start + sum(len(text) - len(place) for place, text in before)
        written = Span(start, start + len(new))
        if (strayed := left_suite(after, members, written)) is not None:
            raise Refused(
                "unsafe_change",
                f"With the change, {strayed.names[0]} would be defined outside of what holds {resolved.address}.",
                hints=[
                    Call(
                        "insert",
                        target=resolved.address,
                        position="after",
                        then="puts code beside it, at its indentation.",
                    )
                ],
            )
        left = outside(after, members, written) if NEWLINE.search(new) else ""
        if left and not (comments and _ONLY_COMMENTS.fullmatch(left)):
            raise _Leaves(
                "unsafe_change",
                f"With the change, {NEWLINE.split(left)[0]!r} would stand outside of {resolved.address}.",
                hints=["Indent the further lines of new as the line of old is; use insert for code beside a symbol."],
            )
        return _compared(workspace, resolved, plan, new)

    def _check_still_there(self, resolved: Resolved, after: Tree) -> tuple[int, ...]:
        """Return what the symbol is then; refuse a text that renames or removes it, or what others of its name need."""
        assert resolved.group is not None
        try:
            found = find(after, resolved.module.name, resolved.group.qualname)
        except LookupFailed:
            raise Refused(
                "unsafe_change",
                f"With the change {resolved.address} would no longer be there under its name.",
                hints=["Keep its name; another name takes a delete and an insert."],
            ) from None
        check_altered(resolved.tree, resolved.module.name, resolved.group, after.outline, found.members)
        return found.members

    def _planned(self, workspace: Workspace, resolved: Resolved, replacement: Replacement) -> Plan:
        wanted = [*self.imports, *([replacement.imports] if replacement.imports else [])]
        splices, notices = with_imports(workspace, resolved, replacement.splices, wanted)
        plan = planned(
            workspace,
            resolved,
            splices,
            summary=f"Edited {resolved.address}.",
            warnings=(*replacement.notices, *notices),
        )
        return plan if plan.changes else structs.replace(plan, summary=f"{resolved.address} is like that already.")


def _compared(workspace: Workspace, resolved: Resolved, plan: Plan, given: str) -> Plan:
    """Return the plan of a changed symbol with what it comes to in definitions; refuse what leaves code out.

    Parameters:
        given: the source or text that was handed over.
    """
    if not plan.changes:
        return plan
    assert resolved.group is not None
    after = workspace.tree_after(plan.changes.files[0].apply(resolved.tree.source.content))
    check_complete(given, resolved.tree, after, resolved.module.name)
    found = altered(resolved.tree, after, resolved.group)
    outer = resolved.address.qualname[:-1]
    beside = [Address(module=resolved.address.module, qualname=(*outer, Segment(name))) for name in found.added]
    return structs.replace(plan, changed=(*plan.changed, *map(str, beside)), warnings=(*found.notices, *plan.warnings))
