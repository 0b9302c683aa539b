"""Replace a part of a definition: its signature, its decorators, its docstring or its body.

    @decorators                  whole lines, or none
    def f(a: int) -> str:        signature, with its colon
        \"\"\"Docstring.\"\"\"          a string literal
        return str(a)            body: the suite without the docstring

Whatever is given must be just that part: a body where a signature was asked is refused. A body may bring a docstring,
which takes the place of the present one.
"""

from __future__ import annotations

import re

from bae_source.errors import Refused, SourceError
from bae_source.model.address import Part
from bae_source.model.span import Span
from bae_source.syntax.outline.definitions import Definition
from bae_source.syntax.outline.locate import part_span, suite_indent, suite_is_inline, unit_for
from bae_source.syntax.outline.tree import Tree, parse_text
from bae_source.syntax.rewrite.blank_lines import end_of_gap
from bae_source.syntax.rewrite.given import WRAPPER, Given, begins_literal, understand
from bae_source.syntax.rewrite.reindent import Shift
from bae_source.syntax.rewrite.splice import Splices, ended_like, fitted, moved, newline_at
from bae_source.syntax.text.lexer import LineKind, end_of_header, lex
from bae_source.syntax.text.source import Source, kept_uniform, with_newlines

_FIRST_SPACE = re.compile(r"(?:[ \t\f]*(?:\r\n|\n|\r))*([ \t\f]*)")


def replace_part(tree: Tree, index: int, part: Part, new_source: str) -> Splices:
    """Plan to put `new_source` in the place of a part of a definition.

    Raises:
        SourceError: `syntax_invalid`, with line and column in `new_source`.
        Refused: `unsafe_change` if it is something else than that part.
    """
    new_source = kept_uniform(new_source, tree.text)
    span = part_span(tree, index, part)
    definition = tree.outline.definitions[index]
    if span is not None and new_source in _forms(tree, span, definition, part):
        return []
    newline = newline_at(tree.source, definition.span)
    text = with_newlines(new_source, newline)
    if part is Part.SIGNATURE:
        return _signature(tree, index, text)
    if part is Part.DECORATORS:
        return _decorators(tree, index, text, newline)
    if part is Part.DOCSTRING:
        return _docstring(tree, index, text, newline)
    return _body(tree, index, text, newline)


def _forms(tree: Tree, span: Span, definition: Definition, part: Part) -> tuple[str, str]:
    """Return a part as it stands and as reading it dedented shows it."""
    indent = definition.indent if part in (Part.SIGNATURE, Part.DECORATORS) else suite_indent(tree, definition) or ""
    return span.cut(tree.text), moved(tree, span, Shift(old=indent, new=""))


def _signature(tree: Tree, index: int, text: str) -> Splices:
    definition = tree.outline.definitions[index]
    bare = text.rstrip(" \t\f\r\n")
    comments = lex(bare).comments
    if _parses(bare) or (comments and comments[-1].end == len(bare)):
        raise _not_just("a signature", f"a {definition.kind.value}'s line up to its colon", tree, index)
    given = _understood(tree, index, (bare if bare.endswith(":") else f"{bare}:") + " pass")
    header = given.outline.definitions[given.definitions[0]] if given.definitions else None
    if header is None or given.statements != 1 or header.kind is not definition.kind or header.decorators:
        raise _not_just("a signature", f"a {definition.kind.value}'s line up to its colon", tree, index)
    if header.names != definition.names:
        raise Refused(
            "unsafe_change",
            f"The given signature is that of {header.names[0]}, not of {definition.names[0]}.",
            hints=["Keep the name; another name takes a delete and an insert."],
        )
    end = end_of_header(given.text, header.keyword)
    if given.text[end:].strip() != "pass" or given.lead or given.dropped:
        raise _not_just("a signature", f"a {definition.kind.value}'s line up to its colon", tree, index)
    span = part_span(tree, index, Part.SIGNATURE)
    assert span is not None
    piece = Span(header.keyword - len(header.indent), end)
    return [(span, fitted(given, piece, indent=definition.indent, unit=given.unit or ""))]


def _decorators(tree: Tree, index: int, text: str, newline: str) -> Splices:
    definition = tree.outline.definitions[index]
    span = part_span(tree, index, Part.DECORATORS)
    assert span is not None
    if not text.strip():
        return [(span, "")]
    indent = _first_indent(text)
    given = _understood(tree, index, f"{text.rstrip()}{newline}{indent}def _(): pass")
    one = given.outline.definitions[given.definitions[0]] if len(given.definitions) == 1 else None
    if one is None or one.names != ("_",) or given.statements != 1 or not one.decorators:
        raise _not_just("decorators", "lines that start with @", tree, index)
    start = given.lead.start if given.lead else one.span.start
    piece = Span(start, one.keyword - len(one.indent))
    return [(span, fitted(given, piece, indent=definition.indent, unit=given.unit or ""))]


def _docstring(tree: Tree, index: int, text: str, newline: str) -> Splices:
    definition = tree.outline.definitions[index]
    present = part_span(tree, index, Part.DOCSTRING)
    if not text.strip():
        return _without_docstring(tree, index) if present else []
    given = _docstring_tree(text, tree, index)
    literal = given.outline.docstring if given.outline.docstring else given.outline.definitions[0].docstring
    assert literal is not None
    inner = suite_indent(tree, definition)
    if inner is None:
        return [_docstring_inline(tree, index, literal.cut(given.text), present)]
    old = _first_indent(text)
    start = given.source.lines.start(given.source.lines.number(literal.start))
    piece = (
        moved(given, Span(start, literal.end), Shift(old=old, new=inner))
        if old
        else _indented(literal.cut(given.text), inner)
    )
    if present is not None:
        keeps_space = tree.text[present.start : present.start + 1] in (" ", "\t")
        return [(present, piece if keeps_space else piece.lstrip(" \t"))]
    at = part_span(tree, index, Part.BODY)
    assert at is not None
    return [(Span(at.start, at.start), piece + newline)]


def _indented(literal: str, indent: str) -> str:
    """Return a docstring that was given at column 0 with its lines indented, unless one of them follows a backslash."""
    if re.search(r"\\(?:\r\n|\n|\r)", literal):
        return indent + literal
    return indent + re.sub(r"(\r\n|\n|\r)(?=[ \t]*[^ \t\r\n])", lambda match: match[1] + indent, literal)


def _docstring_tree(text: str, tree: Tree, index: int) -> Tree:
    """Parse a docstring as the only statement of a class."""
    body = text.strip("\r\n")
    wrapped = "class _:\n" + (body if _first_indent(body) else " " + body)
    try:
        outline, newer = parse_text(wrapped)
    except SourceError as error:
        if not begins_literal(body):
            raise _not_just("a docstring", 'a string literal such as """Text."""', tree, index) from None
        raise _given_error(error, shifted=not _first_indent(body)) from None
    first = outline.definitions[0]
    suite = outline.suites[first.body] if first.body is not None else None
    module = outline.suites[0]
    alone = suite is not None and suite.size == 1 and module is not None and module.size == 1
    if first.docstring is None or not alone or len(outline.definitions) > 1 or lex(wrapped).comments:
        raise _not_just("a docstring", 'a string literal such as """Text."""', tree, index)
    return Tree(Source.of_text(wrapped), outline, newer=newer)


def _docstring_inline(tree: Tree, index: int, literal: str, present: Span | None) -> tuple[Span, str]:
    definition = tree.outline.definitions[index]
    if present is not None:
        return present, literal
    assert definition.body is not None
    suite = tree.outline.suites[definition.body]
    assert suite is not None
    return Span(suite.start, suite.start), f"{literal}; "


def _without_docstring(tree: Tree, index: int) -> Splices:
    """Take the docstring away; a suite that had nothing else gets `pass`."""
    definition = tree.outline.definitions[index]
    assert definition.body is not None
    assert definition.docstring is not None
    suite, body = tree.outline.suites[definition.body], part_span(tree, index, Part.BODY)
    assert suite is not None
    assert body is not None
    span = Span(suite.start, definition.docstring.end)
    if suite.size == 1:
        while tree.text[span.end : span.end + 1] in (" ", ")") and tree.text[suite.start] == "(":
            span = Span(span.start, span.end + 1)
        return [(span, "pass")]
    lines = tree.source.lines
    if suite_is_inline(tree, definition) or body.start < lines.end(lines.number(definition.docstring.end)):
        return [(Span(suite.start, body.start), "")]
    return [(Span(lines.start(lines.number(suite.start)), end_of_gap(tree.text, body.start)), "")]


def _body(tree: Tree, index: int, text: str, newline: str) -> Splices:
    definition = tree.outline.definitions[index]
    if not text.strip():
        raise Refused("unsafe_change", "A body cannot be empty.", hints=["Give pass or ..., or delete the symbol."])
    given = _understood(tree, index, text, target_indent=suite_indent(tree, definition) or "")
    if definition.docstring is not None and (literal := _leading_docstring(given)):
        return _docstring_and_body(tree, index, given, literal, newline)
    return _statements(tree, index, given, newline)


def _leading_docstring(given: Given) -> Span | None:
    """Return the string that documents the definition whose body the given source is."""
    if not given.indent:
        return given.outline.docstring
    header = "class _:\n"
    literal = parse_text(header + given.text[len(WRAPPER) :])[0].definitions[0].docstring
    moved = len(WRAPPER) - len(header)
    return Span(literal.start + moved, literal.end + moved) if literal else None


def _docstring_and_body(tree: Tree, index: int, given: Given, literal: Span, newline: str) -> Splices:
    """Put a docstring that leads a body in the place of the present one, and what follows in that of its body."""
    definition = tree.outline.definitions[index]
    start = len(WRAPPER) if given.indent else 0
    rest = given.text[literal.end :].lstrip(" \t\f")
    if given.text[start : literal.start].strip() or rest[:1] not in ("", "\r", "\n", ";", "#"):
        raise _not_just("a body", "the docstring as @docstring, the statements below it as @body", tree, index)
    splices = _docstring(tree, index, given.text[start : literal.end], newline)
    if rest[:1] in (";", "#"):
        rest = given.indent + rest.lstrip("; \t\f")
    if rest.strip():
        below = _understood(tree, index, rest, target_indent=suite_indent(tree, definition) or "")
        return [*splices, *_statements(tree, index, below, newline)]
    suite = tree.outline.suites[definition.body or 0]
    if suite is None or suite.size > 1:
        raise Refused(
            "unsafe_change",
            "The given body is a docstring and nothing else.",
            hints=["Give pass or ... below it to take the code out, or edit @docstring to keep the code."],
        )
    return splices


def _statements(tree: Tree, index: int, given: Given, newline: str) -> Splices:
    """Put the statements of a new body in the place of the present ones, below the docstring."""
    definition = tree.outline.definitions[index]
    span = part_span(tree, index, Part.BODY)
    assert span is not None
    lexed = lex(given.text)
    first = next(n for n, kind in enumerate(lexed.kinds) if kind is not LineKind.BLANK and n >= bool(given.indent))
    piece = Span(lexed.starts[first], len(given.text))
    inner = suite_indent(tree, definition)
    if inner is not None:
        body = fitted(given, piece, indent=inner, unit=unit_for(tree, (index,)))
        replaced = span.cut(tree.text)
        lines = tree.source.lines
        if (
            tree.text[lines.start(lines.number(span.start)) : span.start].strip()
            and tree.text[span.start - 1] not in "\r\n"
        ):
            return [_below_docstring(tree, span.start, definition.span.end, body, newline)]
        return [(span, ended_like(body, replaced or newline, newline))]
    logical = [kind for kind in lexed.kinds[first:] if kind is not LineKind.BLANK]
    bare = piece.cut(given.text).strip(" \t\f\r\n")
    alone = tree.outline.suites[definition.body or 0]
    only_docstring = definition.docstring is not None and alone is not None and alone.size == 1
    if (
        len(logical) == 1
        and not only_docstring
        and not re.search(r":[ \t]*$|#", bare)
        and not bare.startswith("@")
        and _parses(f"if 1: {bare}")
    ):
        return [(span, bare)]
    inner = definition.indent + unit_for(tree, (index,))
    body = fitted(given, piece, indent=inner, unit=unit_for(tree, (index,))).rstrip(" \t\f\r\n")
    header = end_of_header(tree.text, definition.keyword)
    if definition.docstring is None:
        return [(Span(header, span.end), newline + body)]
    return _below_opened(tree, definition, Span(header, span.start), span.end, inner, newline + body)


def _below_opened(
    tree: Tree, definition: Definition, line: Span, end: int, indent: str, body: str
) -> list[tuple[Span, str]]:
    """Give a docstring that stands on its header's line a line of its own, and put a body below it.

    Parameters:
        line: from the header to where the present body begins.
        end: where that ends; a comment behind the docstring stays with it, if there is no body.
        body: with the line end in front.
    """
    assert definition.docstring is not None
    suite = tree.outline.suites[definition.body or 0]
    assert suite is not None
    opened = (Span(line.start, suite.start), body[: len(body) - len(body.lstrip("\r\n"))] + indent)
    if suite.size > 1:
        kept = len(tree.text[: line.end].rstrip(" \t;"))
        return [opened, (Span(kept, end), body)]
    lines = tree.source.lines
    ends = lines.end(lines.number(line.end))
    behind = len(tree.text[:ends].rstrip("\r\n"))
    return [opened, (Span(behind, behind), body)]


def _below_docstring(tree: Tree, start: int, end: int, body: str, newline: str) -> tuple[Span, str]:
    """Begin a line for a body that only a semicolon, or the end of the file, parts from its docstring."""
    if start < end:
        start = len(tree.text[:start].rstrip(" \t\f;"))
    return Span(start, end), newline + ended_like(body, tree.text[:end], newline)


def _parses(text: str) -> bool:
    try:
        parse_text(text)
    except SourceError:
        return False
    return True


def _understood(tree: Tree, index: int, text: str, target_indent: str | None = None) -> Given:
    indent = tree.outline.definitions[index].indent if target_indent is None else target_indent
    return understand(text, unit=unit_for(tree, (index,)), target_indent=indent, lift_imports=False)


def _first_indent(text: str) -> str:
    match = _FIRST_SPACE.match(text)
    return match[1].rpartition("\f")[2] if match else ""


def _not_just(what: str, shape: str, tree: Tree, index: int) -> Refused:
    name = tree.outline.definitions[index].names[0]
    return Refused(
        "unsafe_change",
        f"The given source is not just {what}.",
        hints=[f"Give {shape} and nothing else, or edit {name} as a whole."],
    )


def _given_error(error: SourceError, *, shifted: bool) -> SourceError:
    """Return a parser's error with line and column in the docstring as it was handed over."""
    if error.code != "syntax_invalid":
        return error
    details = dict(error.details)
    details["line"] = max(1, details["line"] - 1)
    details["column"] -= 1 if shifted and details["line"] == 1 else 0
    return SourceError(
        "syntax_invalid",
        f"The given source does not parse: line {details['line']}, column {details['column']}: {details['reason']}.",
        hints=["Nothing was changed; give the docstring again, corrected."],
        details=details,
    )
