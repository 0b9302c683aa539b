"""Parsing: CPython's parser first, libcst for newer syntax, and never a crash.

Invariants:
- text is called invalid only when both parsers refuse it;
- text too deep for a parser is made shallow (`depth`) and its definitions are still found;
- an error gives line and column in the very text that was handed in.
"""

from __future__ import annotations

import ast
import re
import sys
from typing import TYPE_CHECKING

import msgspec

from bae_source.errors import SourceError
from bae_source.syntax.outline.definitions import Outline
from bae_source.syntax.text.source import Lines, Source, check_length
from bae_source.system.collecting import collector_off

if TYPE_CHECKING:
    import ast

_ENDED = r"(?:[ \t\f]|\\(?:\r\n|\n|\r))*(?:[;#\r\n]|\Z)"
_FIELDS_ARE_CODE = (3, 12)
"""Since this Python what stands in the fields of an f-string is no part of its text (PEP 701)."""
_TYPE_COMMENT = "type:"
_MOST_ODD_COMMENTS = 20
_BARE_EXCEPTIONS = "multiple exception types must be parenthesized"
_NEVER_VALID = ("too many nested parentheses", "too many levels of indentation", "source code cannot contain")


class Tree:
    """One file's text together with its definitions.

    Parameters:
        source: the decoded file.
        outline: its definitions.
        newer: whether only libcst could read it, its syntax being newer than the running interpreter.
        open_from: of a file that does not parse, the offset of a string or bracket whose end is not known.
    """

    def __init__(self, source: Source, outline: Outline, *, newer: bool, open_from: int | None = None) -> None:
        self.source = source
        self.outline = outline
        self.newer = newer
        self.open_from = open_from

    @property
    def text(self) -> str:
        """The decoded text."""
        return self.source.text


def saved(tree: Tree) -> bytes:
    """Return a file's outline as bytes to keep, so that a large file need not be parsed again."""
    return msgspec.msgpack.encode((tree.outline, tree.newer))


def recalled(source: Source, content: bytes) -> Tree | None:
    """Return the tree of a file whose outline was saved, as its caller knows; None if these are no such bytes."""
    try:
        outline, newer = msgspec.msgpack.decode(content, type=tuple[Outline, bool])
    except msgspec.MsgspecError:
        return None
    return Tree(source, outline, newer=newer)


def parse(source: Source) -> Tree:
    """Parse a file.

    Raises:
        SourceError: `syntax_invalid`, with `line` and `column` in its details.
    """
    outline, newer = parse_text(source.text, source.lines)
    return Tree(source, outline, newer=newer)


def parse_text(text: str, lines: Lines | None = None) -> tuple[Outline, bool]:
    """Return the outline of `text`, and whether its syntax is newer than the running interpreter.

    Raises:
        SourceError: `syntax_invalid`.
    """
    lines = lines or Lines(text)
    check_length(len(text))
    try:
        return _outline(text, text, lines), False
    except SyntaxError as error:
        refused = error
    except (RecursionError, MemoryError):
        return _parse_shallow(text, lines)
    if str(refused.msg).startswith(_NEVER_VALID):
        raise _invalid(refused)
    return _parse_newer(text, lines, _invalid(refused)), True


def parses(text: str) -> bool:
    """Return whether one of the two parsers takes a text, or might if it were less deep."""
    try:
        parse_text(text)
    except SourceError as error:
        return error.code != "syntax_invalid"
    return True


def _outline(parsed: str, text: str, lines: Lines) -> Outline:
    """Return the outline of `text`, of which CPython's parser gets what it can take."""
    from bae_source.syntax.outline.ast_walk import outline_of_ast  # 5 ms with ast, which kept outlines do without

    with collector_off():
        return outline_of_ast(parse_module(parsed), text, lines)


def _parse_newer(text: str, lines: Lines, otherwise: SourceError) -> Outline:
    """Return the outline that libcst finds; raise `otherwise` where libcst refuses the text too."""
    from bae_source.syntax.outline.cst_walk import (  # seldom needed, slow to load
        CannotParse,
        NotLossless,
        outline_by_libcst,
    )
    from bae_source.syntax.text.depth import shallow

    reduced = shallow(text)
    try:
        outline = outline_by_libcst(reduced, lines)
    except CannotParse:
        raise otherwise from None
    except NotLossless:
        raise SourceError(
            "not_lossless",
            "is newer than the Python that runs here, and the parser for newer code does not keep its text.",
            subject="The code",
            hints=["Run bae_source with a Python that knows the syntax."],
        ) from None
    return _whole(outline, text, reduced)


def _whole(outline: Outline, text: str, reduced: str) -> Outline:
    """Return an outline of reduced text, once it is sure that no statement was cut short by the reduction."""
    if reduced != text and not all(re.compile(_ENDED).match(text, each.end) for each in outline.definitions):
        raise _too_deep()
    return outline


def too_new_for(text: str, version: tuple[int, int]) -> SourceError | None:
    """Return the error that a Python of `version` would give for the text; None if it has no newer syntax.

    Only syntax that CPython's parser tells apart counts, such as `match`, `except*` and type parameters; and what
    Python 3.12 allows in the fields of f-strings, which newer parsers accept for all versions.
    """
    try:
        parse_module(text, version)
    except SyntaxError as error:
        return _invalid(error)
    except (RecursionError, MemoryError):
        return None
    if version < _FIELDS_ARE_CODE <= sys.version_info:
        from bae_source.syntax.text.fstrings import newer_field  # only some projects run on older Pythons as well

        newer = newer_field(text)
        return None if newer is None else _invalid(newer)
    return None


def has_bare_exceptions(text: str) -> bool:
    """Return whether the running parser refuses the text for an `except A, B`, which Python 3.14 lets in."""
    try:
        parse_module(text)
    except SyntaxError as error:
        return str(error.msg).startswith(_BARE_EXCEPTIONS)
    except (RecursionError, MemoryError):
        pass
    return False


def parse_module(text: str, version: tuple[int, int] | None = None) -> ast.Module:
    """Return CPython's own tree of `text`, with type comments where they are those of statements.

    Parameters:
        version: the Python whose syntax is let in; None for the running one.

    Raises:
        SyntaxError: the parser refuses it.
        RecursionError, MemoryError: it is too deep for the parser.
    """
    if "\0" in text:
        place = Lines(text).place(text.index("\0"))
        raise SyntaxError("source code cannot contain null bytes", ("", place.line, place.column, None))

    from bae_source.system.silence import unwarned

    with unwarned():
        if version is None and _TYPE_COMMENT in text and (found := _with_type_comments(text)):
            return found
        try:
            return ast.parse(text, feature_version=version)
        except SystemError:  # a wrong count of CPython's, where several threads parse at once (gh-106905)
            return ast.parse(text, feature_version=version)


def _with_type_comments(text: str) -> ast.Module | None:
    """Return a tree with type comments; None where the parser refuses it.

    It refuses comments that look like that and stand where nothing is annotated: they are made to look otherwise.
    """
    for _ in range(_MOST_ODD_COMMENTS):
        try:
            return ast.parse(text, type_comments=True)
        except SystemError:
            return None
        except SyntaxError as error:
            lines = text.split("\n")
            number = (error.lineno or 0) - 1
            if not 0 <= number < len(lines):
                return None
            odd = re.sub(r"#(\s*)type:", r"#\1type;", lines[number])
            if odd == lines[number]:
                return None
            lines[number] = odd
            text = "\n".join(lines)
    return None


def _parse_shallow(text: str, lines: Lines) -> tuple[Outline, bool]:
    from bae_source.syntax.text.depth import shallow

    reduced = shallow(text)
    try:
        return _whole(_outline(reduced, text, lines), text, reduced), False
    except SyntaxError:
        return _parse_newer(text, lines, _too_deep()), True
    except (RecursionError, MemoryError):
        raise _too_deep() from None


def _too_deep() -> SourceError:
    return SourceError(
        "not_lossless",
        "is nested too deeply for any parser to be trusted with it.",
        subject="The code",
        hints=["Split the deep expression into several statements by hand."],
    )


def _invalid(error: SyntaxError) -> SourceError:
    line, column = error.lineno or 1, error.offset or 1
    message = error.msg or "invalid syntax"
    return SourceError(
        "syntax_invalid",
        f"does not parse: line {line}, column {column}: {message}.",
        subject="The code",
        details={"line": line, "column": column, "reason": message},
    )
