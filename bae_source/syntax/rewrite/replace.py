"""Replace a whole symbol by the source that was handed over.

    class C:                             new_source:    import os
        # owned comment                                 # new comment
        @decorator                                      def f(self):
        def f(self):                                        return os.sep
            return 1

What is replaced is the symbol's span, and the owned comment where the new source brings one. The string below an
attribute stays as well where the new source has none and is an attribute again. The new source must bind every name
that the old one bound; what it defines beside that is added, unless the very same is there already.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from bae_source.errors import Refused
from bae_source.model.outcome import Notice
from bae_source.model.span import Span
from bae_source.model.text import listed
from bae_source.syntax.outline.definitions import MODULE, Definition, Outline
from bae_source.syntax.outline.groups import check_left, check_whole
from bae_source.syntax.outline.locate import (
    Group,
    comment_apart,
    effective_roles,
    group_span,
    on_one_line,
    owned_comment,
    shared_comment,
    unit_for,
)
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.rewrite.blank_lines import start_of_gap
from bae_source.syntax.rewrite.given import understand
from bae_source.syntax.rewrite.remove import lost_comment, lost_inside
from bae_source.syntax.rewrite.splice import Splices, dedented, ended_like, fitted, kept_docstrings, newline_at
from bae_source.syntax.text.source import NEWLINE, kept_uniform

_SPACES = " \t\f"
_COMMENTS_DROPPED = Notice("comments_dropped", "Comments that stood apart from the definitions given were left out.")


class Replacement(Struct, frozen=True, kw_only=True):
    """The result of replacing.

    Parameters:
        splices: what changes in the file; empty where nothing does.
        imports: import statements that led the new source, for the module.
        notices: what the caller should know.
    """

    splices: tuple[tuple[Span, str], ...] = ()
    imports: str = ""
    notices: tuple[Notice, ...] = ()


def replace(tree: Tree, module: str, group: Group, new_source: str, *, comment: str | None = None) -> Replacement:
    """Plan to put `new_source` in the place of a symbol.

    Parameters:
        module: the module's name, for errors.
        comment: comment lines that shall stand above the symbol instead of those there; "" for none.

    Raises:
        SourceError: `syntax_invalid`, with line and column in `new_source`.
        Refused: `unsafe_change` if it does not bind what it replaces; `name_collision` if it brings a name that exists.
    """
    new_source = kept_uniform(new_source, tree.text)
    span = group_span(tree.outline, group.members)
    if comment is None and _is_present(tree, span, tree.outline.definitions[group.members[0]].indent, new_source):
        return Replacement()
    return _Replacing(tree, module, group, new_source, comment).plan()


def _is_present(tree: Tree, span: Span, indent: str, new_source: str) -> bool:
    """Return whether the new source equals the present one, as it stands or as reading it dedented shows it."""
    present = span.cut(tree.text)
    if new_source == present:
        return True
    # Dedenting only takes white space away, and finding that out costs much less than dedenting.
    return bool(indent) and new_source.split() == present.split() and new_source == dedented(tree, span, indent)


class _Replacing:
    def __init__(self, tree: Tree, module: str, group: Group, new_source: str, comment: str | None) -> None:
        self.tree = tree
        self.module = module
        self.group = group
        self.name = group.qualname[-1].name
        self.first = tree.outline.definitions[group.members[0]]
        self.span = group_span(tree.outline, group.members)
        self.newline = newline_at(tree.source, self.span)
        self.unit = unit_for(tree, group.members)
        self.comment = comment
        self.put_first = -1  # the first given definition that is not there already
        self.given = understand(new_source, unit=self.unit, newline=self.newline, target_indent=self.first.indent)

    def plan(self) -> Replacement:
        targets = self._targets()
        self._check_roles(targets)
        present = self._present(targets)
        self.put_first = next(index for index in self.given.definitions if index not in present)
        text = self._text(targets, present)
        return Replacement(
            splices=tuple(self._splices(text, targets)),
            imports=self.given.imports,
            notices=tuple(self._notices(targets)),
        )

    def _targets(self) -> tuple[int, ...]:
        """Return the given definitions that replace the symbol."""
        given, definitions = self.given, self.given.outline.definitions
        targets = tuple(index for index in given.definitions if self.name in definitions[index].names)
        bound = sorted({name for index in given.definitions for name in definitions[index].names})
        if not targets:
            brings = f"binds {', '.join(bound)}" if bound else "binds no name"
            raise Refused(
                "unsafe_change",
                f"The given source {brings}, not {self.name}, which it should replace.",
                hints=[f"Give source that defines {self.name}; to add code beside it, use insert."],
            )
        if len({definitions[index].position for index in given.definitions}) < given.statements:
            raise Refused(
                "unsafe_change",
                f"The given source holds statements that are not definitions beside {self.name}.",
                hints=["Give definitions, assignments and leading imports only; use insert for other statements."],
            )
        positions = [definitions[index].position for index in targets]
        if positions != list(range(positions[0], positions[0] + len(positions))):
            raise Refused(
                "unsafe_change",
                f"The given source defines {self.name} in separate places.",
                hints=["Give its definitions next to each other."],
            )
        if not self.first.inline and any(definitions[index].inline for index in given.definitions):
            raise Refused(
                "unsafe_change",
                "The given source has several statements on one line.",
                hints=["Give each definition a line of its own."],
            )
        required = {name for index in self.group.members for name in self.tree.outline.definitions[index].names}
        missing = sorted(required.difference(bound))
        if missing:
            raise Refused(
                "unsafe_change",
                f"The statement also binds {', '.join(missing)}, which the given source does not.",
                hints=[f"Give source that binds {', '.join(sorted(required))}."],
            )
        return targets

    def _check_roles(self, targets: tuple[int, ...]) -> None:
        """A group is replaced by a whole group, and one of a group by one."""
        outline, members = self.tree.outline, self.group.members
        present = effective_roles(outline, members)
        given = effective_roles(self.given.outline, targets)
        if "impl" in present:
            given = [role or "impl" for role in given]
        segment = self.group.qualname[-1]
        if not segment.plain and len(targets) > len(members):
            raise Refused(
                "unsafe_change",
                f"{segment} is one definition, and the given source has {len(targets)}.",
                hints=[f"Give one definition, or address the whole of {segment.name}."],
            )
        if not segment.plain and set(present) != set(given) and None not in (present[0], given[0]):
            raise Refused(
                "unsafe_change",
                f"{segment} is a {present[0]}, and the given source is a {given[0]}.",
                hints=[f"Address {segment.name}@{given[0]}, or give a {present[0]}."],
            )
        check_whole(self.tree, self.module, self.group, self.given.outline, targets)
        roles = [self.given.outline.definitions[index].role for index in targets]
        check_left(self.tree, self.module, self.group, roles)

    def _present(self, targets: tuple[int, ...]) -> list[int]:
        """Return the other given definitions that are there already."""
        others = (index for index in self.given.definitions if index not in targets)
        return [index for index in others if self._is_there(self.given.outline.definitions[index])]

    def _is_there(self, definition: Definition) -> bool:
        """Return whether a given definition is in the file, the very same; refuse if another one has its name."""
        outline, scope = self.tree.outline, self.first.parent
        existing = {other for name in definition.names for other in outline.named(scope, name)}
        existing.difference_update(self.group.members)
        if any(self._same(outline.definitions[other], definition) for other in existing):
            return True
        imported = scope == MODULE and any(binding.name in definition.names for binding in outline.imports)
        if existing or imported:
            raise Refused(
                "name_collision",
                f"The given source also defines {definition.names[0]}, which exists already and is different.",
                hints=[f"Leave it out, or edit {definition.names[0]} on its own."],
            )
        return False

    def _same(self, there: Definition, given: Definition) -> bool:
        mine = dedented(self.tree, there.span, there.indent)
        other = dedented(self.given.tree, given.span, given.indent)
        return mine.split() == other.split() and mine.rstrip() == other.rstrip()

    def _text(self, targets: tuple[int, ...], present: list[int]) -> str:
        """Return the given definitions that are not there yet, each with its comment and the blank lines above it."""
        if self.first.inline:
            return self._inline_text(targets)
        given, definitions = self.given, self.given.outline.definitions
        kept = kept_docstrings(self.tree, self.group.members, given, targets)
        pieces: list[str] = []
        for place, index in enumerate(given.definitions):
            if index in present:
                continue
            definition, comment = definitions[index], self._comment_of(index)
            start = comment.start if comment else definition.span.start
            if pieces:
                above = given.definitions[place - 1]
                gap_start = start_of_gap(given.text, start) if above in present else definitions[above].span.end
                pieces.append(self._fitted(Span(gap_start, start), {}))
            pieces += (self._lead(index, targets[0], comment), self._fitted(definition.span, kept))
            if index == targets[-1]:
                pieces.append(self._string_below(targets))
        return ended_like("".join(pieces), self.span.cut(self.tree.text), self.newline)

    def _fitted(self, span: Span, kept: dict[int, str]) -> str:
        text = fitted(self.given, span, indent=self.first.indent, unit=self.unit, kept=kept)
        return text if not text or text.endswith(("\n", "\r")) else text + self.newline

    def _keeps_string(self, targets: tuple[int, ...]) -> bool:
        """Return whether the string that documents the present attribute goes on to document the new one."""
        present, new = (
            tree.outline.definitions[members[-1]]
            for tree, members in ((self.tree, self.group.members), (self.given.tree, targets))
        )
        return present.body is None and present.docstring is not None and new.body is None and new.docstring is None

    def _string_below(self, targets: tuple[int, ...]) -> str:
        """Return what stands below the present attribute and stays: its string, and comments in between."""
        if not self._keeps_string(targets):
            return ""
        last, lines = self.tree.outline.definitions[self.group.members[-1]], self.tree.source.lines
        assert last.docstring is not None
        below = Span(lines.end(lines.number(last.end - 1)), last.span.end)
        if below.contains(last.docstring):
            return below.cut(self.tree.text)
        return last.indent + self.tree.text[last.docstring.start : last.span.end]

    def _comment_of(self, index: int) -> Span | None:
        """Return the comment block above a given definition; above the first one, blank lines may stand between."""
        return self.given.lead if index == self.given.definitions[0] else owned_comment(self.given.tree, index)

    def _lead(self, index: int, target: int, comment: Span | None) -> str:
        """Return the comment lines that shall stand above a given definition.

        Above the symbol itself these are the ones asked for, else the given ones, else those that stand there.
        """
        text = comment.cut(self.given.text) if comment else ""
        if index == target and self.comment is not None:
            text = self.comment
        elif index == target and not comment and self._replaces_comment(target):
            owned = owned_comment(self.tree, self.group.members[0])
            text = owned.cut(self.tree.text) if owned else ""
        lines = [line.strip(_SPACES) for line in NEWLINE.split(text.strip(" \t\f\r\n"))] if text.strip() else []
        if index == self.put_first:
            lines = lines[self._there_above(lines) :]
        return "".join(f"{self.first.indent}{line}{self.newline}" for line in lines)

    def _there_above(self, lines: list[str]) -> int:
        """Return how many of some comment lines stand above the symbol already, and stay: a file's header, say."""
        apart = comment_apart(self.tree, self.group.members[0])
        if apart is None or self.first.inline:
            return 0
        there = [line.strip(_SPACES) for line in NEWLINE.split(apart.cut(self.tree.text).strip("\r\n"))]
        return next((n for n in range(len(lines), 0, -1) if lines[:n] == there[-n:]), 0)

    def _replaces_comment(self, target: int) -> bool:
        """Return whether what is put in begins above the owned comment."""
        return self.comment is not None or self.put_first != target or self._comment_of(target) is not None

    def _inline_text(self, targets: tuple[int, ...]) -> str:
        """Return the one simple statement that can stand on a shared line."""
        definitions = self.given.outline.definitions
        first, last = definitions[targets[0]], definitions[targets[-1]]
        text = self.given.text[first.keyword : last.end]
        one_line = first is last or not NEWLINE.search(text)
        if len(self.given.definitions) > len(targets) or first.body is not None or not one_line:
            raise Refused(
                "unsafe_change",
                f"{self.name} shares its line with other code, where only one simple statement fits.",
                hints=["Edit the symbol around it, or give a single assignment."],
            )
        if self.given.dropped or self.given.lead or "#" in self.given.text[last.end :]:
            raise Refused(
                "unsafe_change",
                f"{self.name} shares its line with other code, where no comment of its own fits.",
                hints=["Give the assignment without comments."],
            )
        return text

    def _splices(self, text: str, targets: tuple[int, ...]) -> Splices:
        start = self.span.start
        if not self.first.inline and self._replaces_comment(targets[0]):
            owned = owned_comment(self.tree, self.group.members[0])
            start = owned.start if owned else start
        span = Span(start, self.span.end)
        if self.first.inline and self._keeps_string(targets):
            span = Span(start, self.tree.outline.definitions[self.group.members[-1]].end)
        return [(span, text)] if span.cut(self.tree.text) != text else []

    def _comment_lost(self, target: int) -> list[Notice]:
        """Name a comment that the given one replaces, though it may be about the code below the symbol, too."""
        given = self._comment_of(target)
        shared = shared_comment(self.tree, self.group.members) if given and self.comment is None else None
        if given is None or shared is None or on_one_line(shared) in on_one_line(given.cut(self.given.text)):
            return []
        return [lost_comment(self.name, shared)]

    def _strings_lost(self, targets: tuple[int, ...]) -> list[Notice]:
        """Name the strings below attributes that go without another one in their place."""
        strings = _strings(self.tree.outline, self.group.members, self.tree.text)
        new = len(_strings(self.given.outline, targets, self.given.text)) + self._keeps_string(targets)
        if len(strings) <= new:
            return []
        shown = listed(map(on_one_line, strings))
        return [Notice("docstring_dropped", f"The string below {self.name} went with it: {shown}")]

    def _notices(self, targets: tuple[int, ...]) -> list[Notice]:
        lost = [*self._strings_lost(targets), *self._comment_lost(targets[0])]
        dropped = [_COMMENTS_DROPPED] if self.given.dropped else []
        return [*lost, *lost_inside(self.tree, self.group, self.given.text), *dropped]


def _strings(outline: Outline, indices: Sequence[int], text: str) -> list[str]:
    """Return the strings that document some attributes."""
    definitions = [outline.definitions[index] for index in indices]
    return [each.docstring.cut(text) for each in definitions if each.body is None and each.docstring]
