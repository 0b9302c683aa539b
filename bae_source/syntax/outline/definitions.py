"""The definitions and imports of one module as values, in source order.

Invariants:
- offsets count characters of the decoded text; a tree is read once, here, and never walked twice;
- both parsers fill the same values through `Collector`, so the rest of the engine does not know which one ran;
- names inside a function's body are its classes and functions; its local variables are not definitions.

    # comment above          <- owned, not part of the span
    @decorator               <- span.start is the start of this line
    def f(a):                <- keyword is the offset of `def`
        '''Docstring.'''     <- docstring
        return a  # why      <- end is behind `a`
        # trailing comment   <- span.end is behind this line: it is indented deeper than the definition

    x: int = 1               <- end is behind `1`
    '''What x is.'''         <- docstring; span.end is behind this line, and the next statement's position one more
"""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

import re
from enum import Enum
from functools import cached_property

from msgspec import Struct

from bae_source.model.span import Span
from bae_source.syntax.text.source import Lines

_REST_OF_LINE = r"[ \t\f]*;?[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\n|\r|\Z)"
_COMMENT_LINE = r"([ \t\f]*)#[^\r\n]*(?:\r\n|\n|\r|\Z)"
_BLANK_LINE = r"[ \t\f]*(?:\r\n|\n|\r)"
_TO_TEXT = r"[ \t\f\r\n]*"
"""Patterns that are compiled where an outline is made, and not where one is recalled."""

MODULE = -1
"""The parent of a definition at the module's own level."""


class Kind(Enum):
    """The kind of a definition."""

    CLASS = "class"
    FUNCTION = "function"
    ASSIGNMENT = "assignment"
    TYPE_ALIAS = "type alias"


class Definition(Struct, frozen=True, kw_only=True, array_like=True):
    """One statement that binds a name which can be addressed.

    Parameters:
        names: what it binds; several for `a, b = …` and `a = b = …`.
        kind: what it is.
        parent: index of the enclosing definition in `Outline.definitions`, or `MODULE`.
        suite: index in `Outline.suites` of the suite that it stands in.
        position: its number among the statements of that suite; a string that documents an attribute is part of it.
        role: `getter`, `setter`, `deleter`, `overload`, or None.
        span: what is read and replaced: whole lines, or the statement alone where it shares a line with others.
        keyword: offset of `def`, `class`, or of the statement's first token.
        end: offset behind the statement's last token.
        indent: white space in front of it; empty where it shares a line.
        inline: whether it shares a line with another statement or a clause header.
        decorators: what decorates it, as text without `@` and arguments.
        body: index in `Outline.suites` of its own suite; None for a simple statement.
        docstring: span of the docstring's literals, as `ast` has docstrings; of an attribute of a module or class, of
            the string that is the next statement.
        floor: the line that the statement or clause before it ends on; comments above belong to it only below this.
    """

    names: tuple[str, ...]
    kind: Kind
    parent: int
    suite: int
    position: int
    role: str | None
    span: Span
    keyword: int
    end: int
    indent: str
    inline: bool
    decorators: tuple[str, ...]
    body: int | None
    docstring: Span | None
    floor: int


class Suite(Struct, frozen=True, kw_only=True, array_like=True):
    """A run of statements under one header, or a module's own.

    Parameters:
        owner: index of the definition that the names in it belong to, or `MODULE`.
        size: how many statements it has; an attribute and the string that documents it are one.
        start: offset of its first statement's first token; its decorators' `@` where it has some.
        end: offset behind its last statement's last token.
        placeholder: whether `pass` or `...` is all it holds.
    """

    owner: int
    size: int
    start: int
    end: int
    placeholder: bool


class ImportBinding(Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """One name that an import statement binds, of the module's own scope or in a class.

    Parameters:
        name: the bound name; `*` for a star import.
        module: the module named, without leading dots; `import a.b` binds `a` and names `a.b`.
        attribute: what is imported from it; None for `import module`.
        level: how many leading dots.
        top: whether the statement stands directly in the module, outside `if`, `try` and the like.
        typing_only: whether it stands under `if TYPE_CHECKING`.
        start: offset of the statement.
        end: offset behind it.
        runs: whether an import of the module runs it: not below `if TYPE_CHECKING` or `if __name__ == "__main__"`.
    """

    name: str
    module: str
    attribute: str | None
    level: int
    top: bool
    typing_only: bool
    start: int
    end: int
    runs: bool = True


class Outline(Struct, kw_only=True, array_like=True, dict=True, eq=False):
    """The definitions and imports of one module.

    Parameters:
        definitions: in source order; an enclosing definition comes before what it encloses.
        suites: as definitions refer to them; the first one is the module's. None for one that holds no definition.
        imports: bindings by import statements of the module's scope, in source order.
        class_imports: bindings by import statements in classes, which run when the module does, too.
        docstring: span of the module's docstring.
        exported: the names in a static `__all__`; None where there is none, or it cannot be read off.
        exports_known: whether `exported` says it all: there is no `__all__`, or it is static.
    """

    definitions: tuple[Definition, ...]
    suites: tuple[Suite | None, ...]
    imports: tuple[ImportBinding, ...]
    class_imports: tuple[ImportBinding, ...] = ()
    docstring: Span | None
    exported: tuple[str, ...] | None
    exports_known: bool = True

    @cached_property
    def _members(self) -> dict[tuple[int, str], list[int]]:
        members: dict[tuple[int, str], list[int]] = {}
        for index, definition in enumerate(self.definitions):
            for name in definition.names:
                members.setdefault((definition.parent, name), []).append(index)
        return members

    @property
    def public(self) -> tuple[str, ...]:
        """The names for the public: those in a static `__all__`, else what it defines without a leading underscore."""
        if self.exported is not None:
            return tuple(dict.fromkeys(self.exported))
        return tuple(name for name in self.names_in(MODULE) if not name.startswith("_"))

    def lets_out(self, name: str) -> bool:
        """Return whether a star import takes a name of the module, as far as a static `__all__` says so."""
        return name in self.exported if self.exported is not None else not name.startswith("_")

    def named(self, parent: int, name: str) -> list[int]:
        """Return the definitions that bind `name` directly in `parent`, as indices in source order."""
        return self._members.get((parent, name), [])

    def names_in(self, parent: int) -> list[str]:
        """Return the names bound directly in `parent`, in source order."""
        return [name for owner, name in self._members if owner == parent]

    def qualname(self, index: int) -> tuple[str, ...]:
        """Return the path of names that leads to a definition."""
        path: list[str] = []
        while index != MODULE:
            path.append(self.definitions[index].names[0])
            index = self.definitions[index].parent
        return tuple(reversed(path))


class Collector:
    """Gathers an outline while a parser's tree is walked in source order.

    The walker opens a suite, reports its statements, and closes it; the collector works out lines, spans and
    indentation from the text.
    """

    def __init__(self, text: str, lines: Lines) -> None:
        from bae_source.syntax.outline.exported import Exports  # which kept outlines do without

        self.text = text
        self.lines = lines
        self.definitions: list[Definition | None] = []
        self.suites: list[Suite | None] = []
        self.imports: list[ImportBinding] = []
        self.inner_imports: list[tuple[int, ImportBinding]] = []
        """With the definition that each stands in."""
        self.docstring: Span | None = None
        self.exports = Exports()
        self.joins = "\\\n" in text or "\\\r" in text  # most files join no lines, and need not be asked at each

    def outline(self) -> Outline:
        """Return the gathered outline."""
        return Outline(
            definitions=tuple(definition for definition in self.definitions if definition),
            suites=tuple(self.suites),
            imports=tuple(self.imports),
            class_imports=tuple(each for owner, each in self.inner_imports if self._runs(owner)),
            docstring=self.docstring,
            exported=self.exports.names,
            exports_known=self.exports.known,
        )

    def note_import(self, owner: int, binding: ImportBinding) -> None:
        """Take a name that an import binds in the module, or in the suite of a definition."""
        if owner == MODULE:
            self.imports.append(binding)
        else:
            self.inner_imports.append((owner, binding))

    def _runs(self, owner: int) -> bool:
        """Return whether the suite of a definition runs with the module: only classes are around it."""
        while owner != MODULE:
            definition = self.definitions[owner]
            if definition is None or definition.kind is not Kind.CLASS:
                return False
            owner = definition.parent
        return True

    def open_suite(self) -> int:
        """Reserve the number of a suite whose statements follow."""
        self.suites.append(None)
        return len(self.suites) - 1

    def close_suite(self, number: int, *, owner: int, size: int, start: int, end: int, placeholder: bool) -> None:
        """Fill in a suite that was opened."""
        self.suites[number] = Suite(owner=owner, size=size, start=start, end=end, placeholder=placeholder)

    def open_definition(self) -> int:
        """Reserve the number of a definition whose suite follows."""
        self.definitions.append(None)
        return len(self.definitions) - 1

    def close_definition(
        self,
        number: int,
        *,
        names: tuple[str, ...],
        kind: Kind,
        parent: int,
        suite: int,
        position: int,
        start: int,
        first_line: int,
        keyword: int,
        end: int,
        last_line: int,
        decorators: tuple[str, ...] = (),
        body: int | None = None,
        docstring: Span | None = None,
        floor: int,
        documented: int | None = None,
    ) -> None:
        """Fill in a definition that was opened.

        Parameters:
            start: offset of its first decorator's `@`, or of its keyword.
            first_line: the line that `start` is on.
            last_line: the line that its last token is on, that of the string which documents it included.
            documented: offset behind the statement that is the string which documents it.
        """
        compound, last = body is not None, documented or end
        line_start = self.lines.start(first_line)
        indent = self.text[line_start:start]
        if self.joins and self.lines.joined(line_start):
            line_start = self.lines.logical_start(first_line)
            indent = self.lines.indentation(first_line)
        # Nothing can stand in front of a compound statement, and what is behind its suite's statements is theirs.
        inline = not compound and (
            self._follows_code(start, line_start)
            or not (self.text.startswith("\n", last) or rest_of_line(self.text, last))
        )
        if inline:
            indent, span = "", Span(start, last)
        else:
            if "\f" in indent:  # a page separator stays where it is
                line_start += indent.rindex("\f") + 1
                indent = indent.rpartition("\f")[2]
            below = self.lines.end(last_line)
            span = Span(line_start, after_comments(self.text, below, indent) if compound else below)
        self.definitions[number] = Definition(
            names=names,
            kind=kind,
            parent=parent,
            suite=suite,
            position=position,
            role=role_of(names[0], decorators) if decorators and kind is Kind.FUNCTION else None,
            span=span,
            keyword=keyword,
            end=end,
            indent=indent,
            inline=inline,
            decorators=decorators,
            body=body,
            docstring=docstring,
            floor=floor,
        )

    def _follows_code(self, start: int, line_start: int) -> bool:
        """Return whether something else stands in front of `start` on its logical line."""
        prefix = self.text[line_start:start]
        return bool(prefix and prefix.strip(" \t\f\\\r\n")) or (self.joins and self.lines.joined(line_start))


def rest_of_line(text: str, position: int) -> re.Match[str] | None:
    """Match the rest of a line behind a statement, with its end; None where another statement stands there."""
    return re.compile(_REST_OF_LINE).match(text, position)


def after_comments(text: str, position: int, indent: str) -> int:
    """Return the offset behind the last comment line from `position` on that is indented deeper than `indent`."""
    following = re.compile(_TO_TEXT).match(text, position)
    if following is None or not text.startswith("#", following.end()):
        return position
    result, own = position, width(indent)
    blank_line, comment_line = re.compile(_BLANK_LINE), re.compile(_COMMENT_LINE)
    while position < len(text):
        if blank := blank_line.match(text, position):
            position = blank.end()
            continue
        comment = comment_line.match(text, position)
        if not comment or width(comment[1]) <= own:
            break
        position = result = comment.end()
    return result


def width(indent: str) -> int:
    """Return the column that white space leads to, as Python's tokenizer counts: tabs to 8, a form feed to 0."""
    column = 0
    for char in indent:
        column = 0 if char == "\f" else (column // 8 + 1) * 8 if char == "\t" else column + 1
    return column


def role_of(name: str, decorators: tuple[str, ...]) -> str | None:
    """Return which accessor of `name`, or which kind of overload, the decorators make a function."""
    for decorator in decorators:
        owner, _, last = decorator.rpartition(".")
        if owner == name and last in ("getter", "setter", "deleter"):
            return last
        if last == "overload":
            return "overload"
        if last in ("property", "cached_property", "abstractproperty", "classproperty", "hybrid_property"):
            return "getter"
    return None
