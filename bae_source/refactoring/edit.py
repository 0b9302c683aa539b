"""Replace a definition, a part of it or of a module, or some text inside them; or a data file, or some text in one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from msgspec import Meta, structs

from bae_source.errors import LookupFailed, Refused, RequestError, ResourceError, SourceError
from bae_source.model.address import Address, Segment, parse_name
from bae_source.model.call import Call
from bae_source.model.plan import Plan
from bae_source.model.request import Effect, IfMatch, Imports, Request, Target, described, parameters
from bae_source.model.span import Span
from bae_source.project.importing.plan import with_imports
from bae_source.project.naming.changeable import check_bounded, resolve_to_change
from bae_source.project.naming.resolve import Resolved
from bae_source.project.naming.spans import single, span_of
from bae_source.project.workspace import Workspace, etag_of
from bae_source.refactoring.planning.plan import check_etag, planned, telling_etag
from bae_source.syntax.outline.groups import check_altered
from bae_source.syntax.outline.locate import find, unit_for
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.rewrite.altered import altered
from bae_source.syntax.rewrite.parts import replace_part
from bae_source.syntax.rewrite.pasted import explained, unfenced
from bae_source.syntax.rewrite.placeholders import check_complete
from bae_source.syntax.rewrite.replace import Replacement, replace
from bae_source.syntax.rewrite.textual import (
    Piece,
    Replaced,
    fitted_to_line,
    is_indented_twice,
    left_suite,
    outside,
    pieces_of,
    replace_texts,
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
    and `new` to replace text inside the symbol, or in a module: several pairs at once, each of which occurs there once,
    or `every` or the `nth` place of it. Further lines of `new` may be indented as in the file, or as if the first one
    stood at the margin; a line end at the end of either counts for nothing; white space at line ends, or another
    indentation of all lines, is overlooked where exactly one place differs by that alone; and where `new`, which holds
    `old`, stands there already, nothing changes. With neither, only the comment
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
        "edit app.config.load --old 5 --new 30 --old 2 --new 3",
        "edit app.config --old OLD_LIMIT --new LIMIT --every",
        "edit app.a.A app.b.B --old Base: --new Other:",
    )

    target: Annotated[
        Target | Annotated[tuple[Target, ...], described("Several.", min_length=1)],
        described("Dotted name of the code, such as pkg.mod.Class.method; or of several, which change alike."),
    ]
    new_source: Annotated[str | None, described("The new source of the symbol or part.", placed=True)] = None
    old: Annotated[
        str | tuple[str, ...] | None,
        described("Text inside the target to replace, which occurs there once; or several, each with its new."),
    ] = None
    new: Annotated[str | tuple[str, ...] | None, described("The replacement of old; one for each old.")] = None
    every: Annotated[bool, described("Replace old wherever it occurs in the target.")] = False
    nth: Annotated[
        Annotated[int, Meta(ge=1)] | None, described("Replace this one of the places of old, counted from 1.")
    ] = None
    imports: Imports = ()
    comment: Annotated[
        str | None, described("The comment block above the symbol; an empty one removes it, none keeps it.")
    ] = None
    if_match: IfMatch = None
    rename_to: Annotated[
        str | None, described("Rename the symbol as well, wherever it is named; new_source may have either name.")
    ] = None

    def steps(self) -> tuple[dict[str, Any], ...]:
        """Return the edits of several targets; or the rename and the edit, in the order that the new source asks for.

            edit app.f --rename-to g --code 'def g(): ...'     rename app.f to g, and then edit app.g
            edit app.f --rename-to g --code 'def f(): ...'     edit app.f, and then rename it to g

        Raises:
            RequestError: `invalid_arguments` for the name of a part, a module or a file.
        """
        if not isinstance(self.target, str):
            return self._for_each(self.target)
        if self.rename_to is None:
            return ()
        self._check_rename(self.target)
        given = self._given("rename_to", "if_match")
        rename = {"do": "rename", "target": self.target, "new_name": self.rename_to}
        edit = {"do": self.verb, "target": self.target, **given}
        matched = {} if self.if_match is None else {"if_match": self.if_match}
        if not given:
            return ({**rename, **matched},)
        if self.new_source is not None and _binds(self.new_source, self.rename_to):
            owner = self.target.rpartition(".")[0]
            return {**rename, **matched}, {**edit, "target": f"{owner}.{self.rename_to}"}
        return {**edit, **matched}, rename

    def _given(self, *besides: str) -> dict[str, Any]:
        """Return the parameters beside the target that have other values than where they are left out."""
        kept = (each for each in parameters(type(self)) if each.name not in ("target", *besides))
        return {each.name: value for each in kept if (value := getattr(self, each.name)) != each.default}

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change.

        Raises:
            RequestError: `invalid_arguments` unless either `new_source` or both of `old` and `new` are given.
            ResourceError: whatever resolving the target and fitting the source raise.
        """
        self._check_arguments()
        if parse_name(self._name).resource is not None:
            return self._plan_data(workspace)
        source, notices = unfenced(self.new_source or "")
        if notices:
            plan = structs.replace(self, new_source=source).plan(workspace)
            return structs.replace(plan, warnings=(*notices, *plan.warnings))
        with explained(self.new_source, "\n".join(piece.new for piece in self._pieces)):
            return self._plan_code(workspace)

    def _plan_code(self, workspace: Workspace) -> Plan:
        """Plan the change of a symbol or a module."""
        resolved = resolve_to_change(workspace, self._name, "edit")
        check_etag(resolved, self.if_match)
        if resolved.group is None:
            return self._plan_module(workspace, resolved)
        if self._pieces:
            return self._plan_text(workspace, resolved)
        check_bounded(resolved)
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

    @property
    def _name(self) -> str:
        """The one target; several are steps of their own."""
        assert isinstance(self.target, str)
        return self.target

    @property
    def _pieces(self) -> tuple[Piece, ...]:
        """The texts to replace."""
        return pieces_of(self.old, self.new, verb=self.verb, every=self.every, nth=self.nth)

    def _for_each(self, targets: tuple[str, ...]) -> tuple[dict[str, Any], ...]:
        """Return the edit of each of several targets."""
        if self.rename_to is not None or self.if_match is not None:
            raise RequestError(
                "invalid_arguments",
                "rename_to and if_match can be given with one target only.",
                hints=["Leave them out, or give one target."],
            )
        return tuple({"do": self.verb, "target": target, **self._given()} for target in dict.fromkeys(targets))

    def _check_rename(self, target: str) -> None:
        """Check that there is a symbol to rename."""
        name = parse_name(target)
        if name.resource is not None or "@" in target or "[" in target or not name.segments[1:]:
            raise RequestError(
                "invalid_arguments",
                f"rename_to goes with a whole symbol, and {target} is none.",
                hints=["Name the symbol, or leave rename_to out and use rename or move."],
            )

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
        self._check_pieces()
        lines = self.comment.splitlines() if self.comment is not None else []
        if lines and any(line.strip()[:1] not in ("", "#") for line in lines):
            raise RequestError("invalid_arguments", "comment takes comment lines.", hints=["Begin each line with #."])
        if self.comment is not None and any(piece):
            raise RequestError("invalid_arguments", "comment does not go with old and new.", hints=["Make two edits."])

    def _check_pieces(self) -> None:
        """Check that it is clear which places of the old texts are meant."""
        count, problem, hint = len(self._pieces), "", ""
        if (self.every or self.nth is not None) and not count:
            problem, hint = "every and nth go with old and new.", "Give old and new as well."
        elif self.every and self.nth is not None:
            problem, hint = "every and nth exclude each other.", "Leave one of them out."
        elif self.nth is not None and count > 1:
            problem, hint = "nth can be given with one old only.", "Give one old and one new."
        if problem:
            raise RequestError("invalid_arguments", problem, hints=[hint])

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

        change = ModuleChange(source=self.new_source, pieces=self._pieces, imports=self.imports)
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

        return edit_data(workspace, self._name, source=self.new_source, pieces=self._pieces, if_match=self.if_match)

    def _plan_text(self, workspace: Workspace, resolved: Resolved) -> Plan:
        """Replace pieces of text; lines that would leave the symbol move into it."""
        assert resolved.group is not None
        tree, span = resolved.tree, span_of(resolved)
        with telling_etag(etag_of(span.cut(tree.text))):
            found = replace_texts(tree, span, self._pieces, name=str(resolved.address))
        if not found.splices:
            return self._planned(workspace, resolved, Replacement())
        given, first = found.splices, list[ResourceError]()
        if not any(is_indented_twice(tree, place, new) for place, new in given):
            are_commented = not any(_COMMENT_AT_MARGIN.search(new) for _, new in given)
            try:
                return self._text_planned(workspace, resolved, found, comments=are_commented)
            except (SourceError, _Leaves) as error:
                first.append(error)
        unit = unit_for(tree, resolved.group.members)
        moved = tuple((place, fitted_to_line(tree, place, new, unit)) for place, new in given)
        at_home = tuple(
            (place, text if text is not None else new) for (place, text), (_, new) in zip(moved, given, strict=True)
        )
        if all(text is not None and stands(tree.text, at.start, at.cut(tree.text), text) for at, text in moved):
            return self._planned(workspace, resolved, Replacement())
        for splices in (at_home, given) if any(text is not None for _, text in moved) else (given,):
            try:
                return self._text_planned(workspace, resolved, structs.replace(found, splices=splices), comments=True)
            except (SourceError, Refused) as error:
                first.append(error)
        raise first[0]

    def _text_planned(
        self, workspace: Workspace, resolved: Resolved, found: Replaced, *, comments: bool = False
    ) -> Plan:
        """Plan replaced pieces of text, all of which stand in the symbol or define something beside it.

        Parameters:
            comments: whether comments may stand elsewhere.
        """
        plan = self._planned(workspace, resolved, Replacement(splices=found.splices, notices=found.notices))
        if not plan.changes:
            return plan
        assert resolved.group is not None
        after = workspace.tree_after(plan.changes.files[0].apply(resolved.tree.source.content))
        members = self._check_still_there(resolved, after)
        every, _ = with_imports(workspace, resolved, found.splices, self.imports)
        for splice in found.splices:
            _check_inside(resolved, after, members, _written(every, splice), splice[1], comments=comments)
        return _compared(workspace, resolved, plan, "\n".join(new for _, new in found.splices))

    def _check_still_there(self, resolved: Resolved, after: Tree) -> tuple[int, ...]:
        """Return the symbol as changed; refuse a text that renames or removes it, or a definition that others need."""
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


def _binds(source: str, name: str) -> bool:
    """Return whether a line of given source defines a name, or assigns to it."""
    word = re.escape(name)
    return (
        re.search(rf"(?m)^[ \t]*(?:(?:async[ \t]+)?def|class)[ \t]+{word}\b|^[ \t]*{word}[ \t]*[:=]", source)
        is not None
    )


def _written(every: Sequence[tuple[Span, str]], splice: tuple[Span, str]) -> Span:
    """Return where a splice among others is written."""
    span, new = splice
    before = (each for each in every if each[0].end <= span.start and each != splice)
    start = span.start + sum(len(text) - len(place) for place, text in before)
    return Span(start, start + len(new))


def _check_inside(
    resolved: Resolved, after: Tree, members: tuple[int, ...], written: Span, new: str, *, comments: bool
) -> None:
    """Check that a piece of text which was put into a symbol stands in it, or defines something beside it.

    Raises:
        Refused: `unsafe_change`.
    """
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


def _compared(workspace: Workspace, resolved: Resolved, plan: Plan, given: str) -> Plan:
    """Return the plan of a changed symbol with its changes of definitions; refuse source that leaves code out.

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
