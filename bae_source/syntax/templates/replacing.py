"""Matches of a pattern in one file, each with the text that takes its place.

    f($X) -> g($X)       f(f(1))         g(g(1)): matches in what a hole stands for are replaced, too
    f($X) -> $X.g        f(a + b)        (a + b).g
    if $X == None: $$$B  -> if $X is None: $$$B          the suite stays as it is, with its comments

Invariants:
- the code of a hole is put in as it is written, with its comments and its layout;
- a text is read by Python as the replacement is, with what its holes stand for in their places;
- a place that cannot take the replacement has a reason, and no text.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.model.reasons import Reason
from bae_source.model.span import Span
from bae_source.syntax.patterns.holes import Parameter
from bae_source.syntax.patterns.pattern import Match, Pattern, span_of
from bae_source.syntax.rewrite.given import WRAPPER, understand
from bae_source.syntax.rewrite.splice import fitted
from bae_source.syntax.templates.alignment import Alignment, has_comment, named, tokens_of
from bae_source.syntax.templates.statements import Block, block_of, continued_at, is_elif, moved_to, reads_as_statements
from bae_source.syntax.templates.surroundings import (
    Parents,
    bracketed_holes,
    compiles_at,
    fits_in_string,
    in_brackets_where_needed,
    is_bracketed,
    is_inside_brackets,
    may_be_out_of_place,
    parents_of,
    statement_around,
)
from bae_source.syntax.templates.template import Hole, Template, depths, holes_of, reading, untold_in
from bae_source.syntax.text.byte_edits import splice
from bae_source.syntax.text.lexer import Lexed, lex
from bae_source.syntax.text.source import NEWLINE, Lines, Source, with_newlines

_BLANK = re.compile(r"^[ \t\f]*$", re.MULTILINE)


class Replaced(Struct, frozen=True, kw_only=True):
    """A match with what takes its place.

    Parameters:
        match: the match.
        span: of the code that goes; it may end behind the match, with a comment.
        text: what stands there instead; None where it cannot.
        why: the reason why it cannot.
        comments: those that go.
        is_same: whether nothing changes there but other matches in it.
    """

    match: Match
    span: Span
    text: str | None = None
    why: str = ""
    comments: tuple[str, ...] = ()
    is_same: bool = False


class _Unfit(Exception):
    """A place that cannot take the replacement; its argument is the reason."""


class Replacer:
    """The replacement of matches in one file.

    Parameters:
        source: the file.
        tree: its tree.
        matches: those to be replaced, in the order of their places.
        pattern: what they match.
        template: what takes their places.
    """

    def __init__(
        self, source: Source, tree: ast.Module, matches: Sequence[Match], pattern: Pattern, template: Template
    ) -> None:
        self.source = source
        self.tree = tree
        self.pattern = pattern
        self.template = template
        self.matches = matches
        number = source.lines.number
        self.parents: Parents = parents_of(tree, [(number(each.span.start), number(each.span.end)) for each in matches])
        self._replaced: dict[int, Replaced] = {}
        self._placed: dict[str, str] = {}

    @cached_property
    def lexed(self) -> Lexed:
        """Comments, strings and lines of the file."""
        return lex(self.source.text)

    @cached_property
    def _in_holes(self) -> set[ast.AST]:
        """Return the nodes that a hole of a match stands for by itself."""
        several = (things for match in self.matches for things in match.bound.values())
        return {things[0] for things in several if len(things) == 1 and isinstance(things[0], ast.AST)}

    @cached_property
    def unit(self) -> str:
        """The indentation of a suite of the file against that around it."""
        lines = self.source.lines
        for node in ast.walk(self.tree):
            suite = getattr(node, "body", None)
            if isinstance(suite, list) and suite and isinstance(node, ast.stmt) and suite[0].lineno > node.lineno:
                outer, inner = lines.indentation(node.lineno), lines.indentation(suite[0].lineno)
                if inner.startswith(outer) and inner != outer:
                    return inner[len(outer) :]
        return "    "

    def replaced(self) -> Iterator[Replaced]:
        """Yield every match with its replacement; those in others, too."""
        for number in reversed(range(len(self.matches))):
            self._of(number)  # what stands in others first, so that no chain leads too deep
        for number in range(len(self.matches)):
            yield self._of(number)

    def outermost(self) -> Iterator[Replaced]:
        """Yield the matches that can be replaced and stand in no other such."""
        end = 0
        for each in self.replaced():
            if each.text is not None and each.span.start >= end:
                end = each.span.end
                yield each

    def _of(self, number: int) -> Replaced:
        if number not in self._replaced:
            match = self.matches[number]
            try:
                self._replaced[number] = self._render(number, match)
            except _Unfit as error:
                self._replaced[number] = Replaced(match=match, span=match.span, why=str(error))
            except (ResourceError, RecursionError):
                self._replaced[number] = Replaced(match=match, span=match.span, why=Reason.REPLACEMENT_UNREAD.of())
        return self._replaced[number]

    def _render(self, number: int, match: Match) -> Replaced:
        if match.in_string:
            raise _Unfit(Reason.IN_F_STRING.of())
        if self.template.is_expression:
            text, span = self._expression(number, match), match.span
        else:
            text, span = self._statements(number, match)
        new = f"({text})" if self.template.is_expression else text
        if self._is_out_of_place and not compiles_at(self.source, match.first, self.parents, span, new):
            raise _Unfit(Reason.OUT_OF_PLACE.of())
        if not fits_in_string(self.source, match.first, self.parents, span, text):
            raise _Unfit(Reason.IN_F_STRING.of())
        is_same = text == self._cut(number, span)
        return Replaced(
            match=match, span=span, text=text, comments=_gone(span.cut(self.source.text), text), is_same=is_same
        )

    @cached_property
    def _is_out_of_place(self) -> bool:
        """Return whether the replacement may stand outside the function or loop that it needs."""
        return may_be_out_of_place(self.template.tree, self.pattern.tree)

    def _expression(self, number: int, match: Match) -> str:
        """Return the text of an expression that takes the place of another, with brackets where it needs them."""
        # -get(  a or b  )  by  get($URL)  ->  http.get($URL) + 1
        #   texts           {0: "a or b"}
        #   filled          http.get(a or b) + 1
        #   aligned         http.get(  a or b  ) + 1: it parses to the same tree, so the spaces stay
        #   with brackets   (http.get(  a or b  ) + 1), as `-` binds closer than `+`
        texts = self._hole_texts(number, match)
        around = statement_around(self.source, match.first, self.parents)
        code, holes, indent = self.template.code, self.template.holes, self._indent_at([match.first])
        if self._breaks_lines:
            code = self._at(indent)
            holes = tuple(holes_of(code))
        is_long = any("\n" in text or "\r" in text for text in (code, *texts.values()))
        inside = is_long and is_inside_brackets(around, self.source.text, match.span)
        filled = self._filled(code, holes, match, texts, inside=inside, indent=indent)
        text = self._aligned(number, match.span, (code, holes), texts, {})
        if text is None or reading(f"({text}\n)") != reading(f"({filled}\n)"):
            text = filled
        if match.first in self._in_holes:
            return text  # it stands in the place of a hole, which puts it in brackets where needed
        fitting = in_brackets_where_needed(around, self.source.text, match.span, text)
        if fitting is None:
            raise _Unfit(Reason.REPLACEMENT_UNREAD.of())
        return fitting

    def _statements(self, number: int, match: Match) -> tuple[str, Span]:
        """Return the text of statements that take the place of others, and what goes."""
        source, span = self.source, match.span
        if isinstance(match.first, ast.expr) and not isinstance(self.parents[match.first], ast.Expr):
            raise _Unfit(Reason.PART_OF_EXPRESSION.of())
        line = source.lines.number(span.start)
        indent, start = source.lines.indentation(line), source.lines.start(line)
        is_first = not source.text[start : match.span.start].strip(" \t\f")
        blocks = dict(self._blocks(match))
        if isinstance(match.first, ast.If) and is_elif(source.text, span.start):
            if not self.template.is_if:
                raise _Unfit(Reason.CLAUSE.of())
            span = Span(span.start + 2, span.end)
        span = Span(span.start, max([span.end, *(block.span.end for block in blocks.values())]))
        texts = self._hole_texts(number, match)
        placed = self._at(indent)
        holes = tuple(holes_of(placed))
        text, is_moved = self._with_statements(number, match, (placed, holes), texts, blocks, indent)
        aligned = None if is_moved else self._aligned(number, span, (placed, holes), texts, blocks)
        whole = reading(reads_as_statements(text, indent))
        if whole is None:
            raise _Unfit(Reason.REPLACEMENT_UNREAD.of())
        if aligned is not None and reading(reads_as_statements(aligned, indent)) == whole:
            text = aligned
        elif self.pattern.leaves_out:
            text = self._with_untold(span, text, aligned, indent)
        behind = NEWLINE.split(source.text[span.end :], maxsplit=1)[0].strip(" \t\f")
        is_alone = is_first and (not behind or behind.startswith("#"))
        if not is_alone and (self.template.is_compound or NEWLINE.search(text)):
            raise _Unfit(Reason.SHARED_LINE.of())
        return text, span

    def _with_untold(self, span: Span, text: str, aligned: str | None, indent: str) -> str:
        """Return the replacement of a definition with the annotations that the pattern leaves out."""
        without = partial(reading, untold=False)
        if aligned is not None and without(reads_as_statements(aligned, indent)) == without(
            reads_as_statements(text, indent)
        ):
            return aligned
        if untold_in(reads_as_statements(span.cut(self.source.text), indent)) > untold_in(
            reads_as_statements(text, indent)
        ):
            raise _Unfit(Reason.UNTOLD.of())
        return text

    def _at(self, indent: str) -> str:
        """Return the replacement as it stands at an indentation, without that of its first line."""
        if indent not in self._placed:
            code = with_newlines(self.template.code, self.source.newline)
            given = understand(code, unit=self.unit, target_indent=indent, lift_imports=False)
            start = len(WRAPPER) if given.indent else 0
            text = fitted(given, Span(start, len(given.text)), indent=indent, unit=self.unit)
            self._placed[indent] = text.removeprefix(indent).rstrip("\r\n")
        return self._placed[indent]

    def _blocks(self, match: Match) -> Iterator[tuple[str, Block]]:
        """Yield the holes that stand for statements, with these."""
        for name, things in match.bound.items():
            if things and all(isinstance(each, ast.stmt) for each in things):
                suite = next(
                    suite
                    for field in ("body", "orelse", "finalbody")
                    if isinstance(suite := getattr(self.parents[things[0]], field, None), list) and things[0] in suite
                )
                is_last = suite[-1] is things[-1] or span_of(self.source, things[-1]).end < match.span.end
                yield name, block_of(self.source, self.lexed, things[0], things[-1], is_last=is_last)

    def _with_statements(
        self,
        number: int,
        match: Match,
        placed: tuple[str, tuple[Hole, ...]],
        texts: Mapping[int, str],
        blocks: Mapping[str, Block],
        indent: str,
    ) -> tuple[str, bool]:
        """Return the replacement with its holes filled, and whether lines of an expression moved with its statement."""
        code, holes = placed
        expressions = self._bracketed(match, texts, inside=False)
        result, position, is_moved = "", 0, False
        for index, hole in enumerate(holes):
            declared = self.template.holes[index]
            line_start = max(code.rfind("\n", 0, hole.span.start), code.rfind("\r", 0, hole.span.start)) + 1
            lead = code[line_start : hole.span.start]
            here = lead[: len(lead) - len(lead.lstrip(" \t\f"))] if line_start else indent
            result += code[position : hole.span.start]
            position = hole.span.end
            if hole.name in blocks and declared.is_statement:
                result = self._with_block(number, result, blocks[hole.name], lead, here)
            elif declared.is_statement and declared.many and not texts.get(index):
                result, position = self._without_line(code, result, position, is_alone=declared.is_alone)
            else:
                own = self._indent_of(match, hole.name)
                whole = expressions.get(index, texts.get(index, ""))
                text = continued_at(whole, own, here)
                is_moved = is_moved or text != whole
                result, position = self._put(code, result, position, text, declared)
        return result + code[position:], is_moved

    def _with_block(self, number: int, result: str, block: Block, lead: str, here: str) -> str:
        """Return the text so far with statements behind it."""
        text = block.before + self._cut(number, block.span)
        if not block.on_own_lines:
            return result + text
        if not lead.strip(" \t\f"):
            shifted = moved_to(text, block.indent, here)
            return self._unfit() if shifted is None else result + shifted.removeprefix(here)
        shifted = moved_to(text, block.indent, here + self.unit)
        if shifted is None or not lead.rstrip().endswith(":"):
            return self._unfit()
        return result.rstrip(" \t\f") + self.source.newline + shifted

    def _without_line(self, code: str, result: str, position: int, *, is_alone: bool) -> tuple[str, int]:
        """Return the text so far without the line of a hole that stands for no statement; a suite needs one."""
        if is_alone:
            return f"{result}pass", position
        newline = NEWLINE.match(code, position)
        bare = result.rstrip(" \t\f")
        return (bare, newline.end()) if newline else (bare.rstrip("\r\n"), position)

    def _unfit(self) -> str:
        raise _Unfit(Reason.REPLACEMENT_UNREAD.of())

    def _hole_texts(self, number: int, match: Match) -> dict[int, str]:
        """Return the text of each hole of the replacement, by its number."""
        return {
            index: self._text(number, match.bound[hole.name], many=hole.many)
            for index, hole in enumerate(self.template.holes)
        }

    def _text(self, number: int, things: Sequence[Any], *, many: bool) -> str:
        """Return the source text of a hole's code, with the matches in it replaced."""
        if not things:
            return ""
        if isinstance(things[0], str):
            return things[0]
        spans = self._spans(things, many=many)
        if self._are_apart(things):
            return ", ".join(self._cut(number, span) for span in sorted(spans))
        return self._cut(number, Span(min(each.start for each in spans), max(each.end for each in spans)))

    def _spans(self, things: Sequence[Any], *, many: bool) -> list[Span]:
        """Return the spans of a hole's code; each of several things with the brackets around it."""
        spans = [self._span(each) for each in things]
        if not many:
            return spans
        return [
            self._with_brackets(thing, span) if isinstance(thing, ast.expr) else span
            for thing, span in zip(things, spans, strict=True)
        ]

    def _with_brackets(self, node: ast.expr, span: Span) -> Span:
        """Return the span of an element with the brackets of its own, which are not those that it is an element in."""
        text, around = self.source.text, self.parents[node]
        limit = span_of(self.source, around).end if hasattr(around, "end_lineno") else len(text)
        if not isinstance(around, ast.Tuple) or is_bracketed(self.source, around):
            limit -= 1
        while True:
            start, end = span.start, span.end
            while start and text[start - 1].isspace():
                start -= 1
            while end < len(text) and text[end].isspace():
                end += 1
            if not (text.startswith("(", start - 1) and text.startswith(")", end) and start and end < limit):
                return span
            span = Span(start - 1, end + 1)

    def _span(self, thing: Any) -> Span:
        if isinstance(thing, Parameter):
            span = span_of(self.source, thing.node)
            end = span_of(self.source, thing.default).end if thing.default is not None else span.end
            before = self.source.text[: span.start].rstrip()
            stars = {"star": "*", "stars": "**"}.get(thing.kind, "")
            start = span.start if not before.endswith(stars) or not stars else len(before) - len(stars)
            return self._with_marker(thing, Span(start, end))
        span = span_of(self.source, thing)
        before = self.source.text[: span.start].rstrip()
        is_double = before.endswith("**") and isinstance(self.parents.get(thing), ast.Dict)
        return Span(len(before) - 2, span.end) if is_double and self._is_unpacked(thing) else span

    def _with_marker(self, parameter: Parameter, span: Span) -> Span:
        """Return the span of a parameter with the `*,` before it, or the `/` behind it, that says how it is given."""
        text = self.source.text
        star = re.search(r"\*\s*,\s*\Z", text[: span.start]) if parameter.kind == "keyword" else None
        slash = re.match(r"\s*,\s*/", text[span.end :]) if parameter.kind == "positional" else None
        return Span(star.start() if star else span.start, span.end + (slash.end() if slash else 0))

    def _is_unpacked(self, thing: ast.AST) -> bool:
        """Return whether an expression stands behind `**` in a dictionary."""
        node = self.parents[thing]
        assert isinstance(node, ast.Dict)
        return any(key is None and value is thing for key, value in zip(node.keys, node.values, strict=True))

    def _are_apart(self, things: Sequence[Any]) -> bool:
        """Return whether other arguments stand between those that a hole stands for."""
        call = self.parents.get(things[0]) if isinstance(things[0], ast.AST) else None
        if not isinstance(call, (ast.Call, ast.ClassDef)):
            return False
        every: list[ast.AST] = [*(call.args if isinstance(call, ast.Call) else call.bases), *call.keywords]
        every.sort(key=lambda each: span_of(self.source, each))
        places = [index for index, each in enumerate(every) if any(each is thing for thing in things)]
        return bool(places) and places[-1] - places[0] + 1 != len(places)

    def _cut(self, number: int, span: Span) -> str:
        """Return a piece of the file with the other matches in it replaced."""
        splices, end = [], span.start
        for index in range(number + 1, len(self.matches)):
            inner = self.matches[index].span
            if inner.start >= span.end:
                break
            if inner.end <= end or inner.end > span.end:
                continue
            other = self._of(index)  # an `elif` is replaced from its `if` on
            if other.text is not None and end <= other.span.start and other.span.end <= span.end:
                splices.append((Span(other.span.start - span.start, other.span.end - span.start), other.text))
                end = other.span.end
        return splice(span.cut(self.source.text), splices)

    def _bracketed(self, match: Match, texts: Mapping[int, str], *, inside: bool) -> dict[int, str]:
        """Return the texts of the holes that stand for expressions, with brackets where they need them."""
        single = {
            index: text
            for index, text in texts.items()
            if not (hole := self.template.holes[index]).many and isinstance(match.bound[hole.name][0], ast.expr)
        }
        found = bracketed_holes(self.template, single, inside=inside)
        if found is None:
            raise _Unfit(Reason.REPLACEMENT_UNREAD.of())
        return found

    def _filled(
        self, code: str, holes: Sequence[Hole], match: Match, texts: Mapping[int, str], *, inside: bool, indent: str
    ) -> str:
        """Return the replacement of an expression with its holes filled.

        Parameters:
            indent: of the line where it begins.
        """
        expressions = self._bracketed(match, texts, inside=inside)
        result, position = "", 0
        for index, hole in enumerate(holes):
            result += code[position : hole.span.start]
            text = expressions.get(index, texts[index])
            if self._breaks_lines:
                _, *further = NEWLINE.split(code[: hole.span.start])
                lead = further[-1] if further else indent
                text = continued_at(
                    text, self._indent_at(match.bound[hole.name]), lead[: len(lead) - len(lead.lstrip())]
                )
            result, position = self._put(code, result, hole.span.end, text, hole)
        return result + code[position:]

    def _put(self, code: str, result: str, position: int, text: str, hole: Hole) -> tuple[str, int]:
        """Return the text so far with that of a hole behind it, and where its code goes on; no stray comma stays."""
        if text or not hole.many:
            return result + text, position
        bare = result.rstrip()
        if bare.endswith(","):
            return bare if self._makes_tuple(code, position) else bare[:-1], position
        rest = code[position:].lstrip()
        if rest.startswith(",") and not bare.endswith(","):
            return result, len(code) - len(rest[1:].lstrip())
        return result, position

    def _makes_tuple(self, code: str, position: int) -> bool:
        """Return whether the comma before a hole at an offset is all that makes a tuple."""
        return any(
            isinstance(node, ast.Tuple) and len(node.elts) == 2 and _ends_at(code, node, position)
            for node in ast.walk(self.template.tree)
        )

    def _indent_of(self, match: Match, name: str) -> str:
        """Return the indentation of the statement that a hole's code stands in."""
        things = match.bound[name]
        node = things[0] if things and isinstance(things[0], ast.AST) else match.first
        while not isinstance(node, ast.stmt) and node in self.parents:
            node = self.parents[node]
        return self.source.lines.indentation(getattr(node, "lineno", 1))

    def _indent_at(self, things: Sequence[Any]) -> str:
        """Return the indentation of the line where something begins."""
        return self.source.lines.indentation(getattr(things[0], "lineno", 1) if things else 1)

    @cached_property
    def _breaks_lines(self) -> bool:
        """Return whether the replacement has line ends in brackets, and the pattern has none."""
        return _has_line_ends(self.template.code) and not _has_line_ends(self.pattern.code)

    def _aligned(
        self,
        number: int,
        span: Span,
        placed: tuple[str, Sequence[Hole]],
        texts: Mapping[int, str],
        blocks: Mapping[str, Block],
    ) -> str | None:
        """Return the match with no more changed than the replacement differs from the pattern; None if that fails."""
        match = self.matches[number]
        filled = {name: things for name, things in match.bound.items() if things}
        if self._breaks_lines or not self._is_in_order or any(self._are_apart(things) for things in filled.values()):
            return None
        names = {name: things[0] for name, things in filled.items() if isinstance(things[0], str)}
        many = {hole.name for hole in holes_of(self.pattern.code) if hole.many}
        code, holes = self._without_empty(placed, texts)
        empty = match.bound.keys() - filled.keys()
        within = [
            (Span(region.start - span.start, region.end - span.start), name)
            for name, things in filled.items()
            if name not in names
            for region in (_region(blocks.get(name), self._spans(things, many=name in many)),)
        ]
        text = span.cut(self.source.text)
        pattern = named(tokens_of(self.pattern.code, _spans(holes_of(self.pattern.code))), names, empty)
        replacement = named(tokens_of(code, _spans([hole for _, hole in holes])), names, empty)
        bracketed = self._bracketed(match, texts, inside=True) if self.template.is_expression else texts

        def written(start: int, end: int) -> str | None:
            result, position = "", start
            for index, hole in holes:
                if start <= hole.span.start and hole.span.end <= end:
                    if self.template.holes[index].is_statement and not self.template.is_expression:
                        return None
                    result += code[position : hole.span.start] + bracketed.get(index, texts[index])
                    position = hole.span.end
            return result + code[position:end]

        alignment = Alignment((text, tokens_of(text, within)), pattern, (code, replacement), written)
        splices = alignment.splices()
        is_plain = alignment.keeps_brackets or not NEWLINE.search(text) or has_comment(text, within)
        if splices is None or not is_plain:
            return None
        splices += alignment.needless()
        for piece, _ in within:
            whole = Span(piece.start + span.start, piece.end + span.start)
            is_gone = any(piece.start < gone.end and gone.start < piece.end for gone, _ in splices)
            if not is_gone and (new := self._cut(number, whole)) != whole.cut(self.source.text):
                splices.append((piece, new))
        aligned = splice(text, sorted(splices, key=lambda each: (each[0].start, each[0].end)))
        return aligned if len(_BLANK.findall(aligned.strip())) <= len(_BLANK.findall(text)) else None

    def _without_empty(
        self, placed: tuple[str, Sequence[Hole]], texts: Mapping[int, str]
    ) -> tuple[str, list[tuple[int, Hole]]]:
        """Return the replacement without the holes that stand for nothing, and the others with their numbers."""
        code, result, position = placed[0], "", 0
        kept = [index for index, hole in enumerate(self.template.holes) if texts[index] or not hole.many]
        for index, hole in enumerate(placed[1]):
            result += code[position : hole.span.start]
            own = code[hole.span.start : hole.span.end] if index in kept else ""
            result, position = self._put(code, result, hole.span.end, own, hole)
        result += code[position:]
        return result, list(zip(kept, holes_of(result), strict=True))

    @cached_property
    def _is_in_order(self) -> bool:
        """Return whether the replacement has the pattern's holes in their order, each once, suites as deep."""
        order = [hole.name for hole in holes_of(self.pattern.code)]
        own = [order.index(hole.name) for hole in self.template.holes]
        before, after = dict(depths(self.pattern.tree)), dict(depths(self.template.tree))
        is_moved = any(before[name] != after[name] for name in before.keys() & after.keys())
        return own == sorted(set(own)) and not is_moved


def _region(block: Block | None, spans: Sequence[Span]) -> Span:
    """Return the span of a hole's code; statements with their comments."""
    start, end = min(each.start for each in spans), max(each.end for each in spans)
    return Span(block.span.start + len(block.lead), block.span.end) if block is not None else Span(start, end)


def _gone(before: str, after: str) -> tuple[str, ...]:
    """Return the comments that stand in one text and not in another."""
    if "#" not in before:
        return ()
    left = Counter(each.cut(before) for each in lex(before).comments)
    return tuple((left - Counter(each.cut(after) for each in lex(after).comments)).elements())


def _spans(holes: Sequence[Hole]) -> list[tuple[Span, str]]:
    return [(hole.span, hole.name) for hole in holes]


def _ends_at(code: str, node: ast.AST, position: int) -> bool:
    """Return whether a node of the replacement's tree ends at an offset, or at the bracket behind it."""
    end = Lines(code).offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
    return end in (position, position + 1)


def _has_line_ends(code: str) -> bool:
    """Return whether a line of some code ends in brackets."""
    return "\n" in code and any("\n" in span.cut(code) for span, _ in lex(code).brackets)
