"""Imports of a package's own modules in its `__init__`: one more, in the style of those that are there, or one less.

    from .a import A                  from .b import B goes between
    from .c import (C1, C2)           C3 goes in here

Invariants:
- an import goes after those that are there, in their order if they have one; never into a `try`, and into
  `if TYPE_CHECKING` only where lazily loaded names are listed there;
- taking out what was put in gives every byte back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.model.span import Span
from bae_source.syntax.exports.view import FromImport, View, view_of
from bae_source.syntax.importing import meaning
from bae_source.syntax.importing.adding import add
from bae_source.syntax.outline.locate import unit_for
from bae_source.syntax.outline.tree import parse
from bae_source.syntax.text.byte_edits import splice
from bae_source.syntax.text.items import folded, natural, place_of, put_in, take_out
from bae_source.syntax.text.revision import Splices
from bae_source.syntax.text.source import Lines, Source, dominant_newline
from bae_source.syntax.text.statement_lines import behind as put_behind
from bae_source.syntax.text.statement_lines import own_lines, without

_WIDE = 88
_BLANK_ABOVE = re.compile(r"(?:\r\n|\n|\r(?!\n))([ \t\f]*(?:\r\n|\n|\r))\Z")
_BLANK_BELOW = re.compile(r"[ \t\f]*(?:\r\n|\n|\r)")
_NOTE = re.compile(r"[ \t\f]*#[ \t]*(?:noqa|isort|type|pylint|ruff|fmt)\b[^\r\n]*")
_MOST_BLANK = 3


class Place(Struct, frozen=True, kw_only=True):
    """An import of the package's own, as it stands or shall stand.

    Parameters:
        module: below the package; empty for the package itself.
        names: what is imported, and as what; none for `import pkg.module`.
        absolute: whether it names the package instead of a dot.
        typing_only: whether it stands under `if TYPE_CHECKING`.
    """

    module: str
    names: tuple[tuple[str, str | None], ...]
    absolute: bool
    typing_only: bool = False

    def head(self, package: str) -> str:
        """Return the statement up to the names; the whole of it where there are none."""
        below = f".{self.module}" if self.module else ""
        whole = f"{package}{below}"
        if not self.names:
            return f"import {whole}"
        return f"from {whole if self.absolute else below or '.'} import "


def own_module(statement: FromImport, package: str) -> str | None:
    """Return the module that an import names, without the package in front; None where it is not the package's own."""
    if statement.level == 1:
        return statement.module
    if statement.level == 0 and (statement.module == package or statement.module.startswith(f"{package}.")):
        return statement.module[len(package) + 1 :]
    return None


def own_froms(view: View, package: str, *, typing_only: bool = False) -> list[tuple[str, FromImport]]:
    """Return the from-imports of a package's own modules, with the module of each."""
    pairs = ((own_module(each, package), each) for each in view.froms if each.typing_only is typing_only)
    return [(module, each) for module, each in pairs if module is not None]


def shown(name: tuple[str, str | None]) -> str:
    """Return an imported name as it stands in a statement."""
    return name[0] if name[1] is None else f"{name[0]} as {name[1]}"


def extended(view: View, statement: FromImport, name: tuple[str, str | None]) -> Splices | None:
    """Return the splices that put a name into a from-import; None where its line would become too long."""
    items = statement.items
    if items is None:
        return None
    if not items.bracketed:
        line = view.lines.cut(view.lines.number(statement.span.end - 1)).rstrip("\r\n")
        if len(line) + len(shown(name)) + 2 > _WIDE:
            return None
    return put_in(view.text, items, shown(name), place_of(items.keys, name[0]), _newline(view.text))


def added(view: View, package: str, place: Place, *, behind: bool = False) -> Splices:
    """Return the splices that add an import as a statement of its own.

    Parameters:
        behind: whether it goes behind all that are there, whatever their order.

    Raises:
        Refused: `name_collision` if the module binds the name to something else.
    """
    siblings = _siblings(view, package, place)
    if not siblings:
        return _added_first(view, package, place)
    keys = [module for module, _ in siblings]
    at = len(keys) if behind else place_of(keys, place.module, (str, folded, natural))
    span = siblings[max(at - 1, 0)][1]
    line = view.lines.start(view.lines.number(span.start))
    indent = view.text[line : span.start]
    newline = _newline(view.text)
    text = _wrapped(view.text, package, place, indent) + _note(view.text, [each for _, each in siblings])
    if at == 0 and not indent.strip():
        return [(Span(line, line), f"{indent}{text}{newline}")]
    indent = "" if indent.strip() else indent
    return put_behind(view.text, span, f"{indent}{text}", newline)


def removed(view: View, package: str, place: Place, span: Span) -> Splices:
    """Return the splices that take an import statement out, such that adding it again gives the same text.

    Parameters:
        span: the statement.
    """
    text, line = view.text, own_lines(view.text, view.lines, span)
    if line is None:
        return without(text, view.lines, span)
    if place.typing_only and len(_siblings(view, package, place)) == 1:
        return [(span, "pass")]
    for whole in _stretches(text, line):
        if _again(splice(text, [(whole, "")]), package, place) == text:
            return [(whole, "")]
    return [(line, "")]


def dropped(view: View, statement: FromImport, number: int) -> Splices | None:
    """Return the splices that take one name out of several; None where they are not understood."""
    return take_out(view.text, statement.items, number) if statement.items is not None else None


def _siblings(view: View, package: str, place: Place) -> list[tuple[str, Span]]:
    """Return the statements among which an import belongs: of the same form, in the same block."""
    if not place.names:
        lead = f"{package}."
        return [(each.module[len(lead) :], each.span) for each in view.plain if each.module.startswith(lead)]
    froms = own_froms(view, package, typing_only=place.typing_only)
    return [(module, each.span) for module, each in froms if (each.level == 0) is place.absolute]


def _added_first(view: View, package: str, place: Place) -> Splices:
    """Add an import where there is none of its form, the way that any import is added."""
    plain = Place(module=place.module, names=tuple((name, None) for name, _ in place.names), absolute=place.absolute)
    wanted = plain.head(package) + ", ".join(map(shown, plain.names))
    whole = parse(Source.of_text(view.text))
    found = add(whole, meaning.Place(module=package, package=True), [wanted], merge=False)
    splices, missing = found.splices, found.statements
    if not missing:
        return []
    text = _wrapped(view.text, package, place, "")
    if view.text and view.text[-1] not in "\r\n" and splices[0][0].end == len(view.text):
        span, new = splices[0]  # the last line goes on to have no end
        return [(span, new.replace(missing[0], text).removesuffix(_newline(view.text)))]
    return [
        (span, f"{text}{_newline(view.text)}" if _is_dense(view.text, span.start) else new.replace(missing[0], text))
        for span, new in splices
    ]


def _is_dense(text: str, at: int) -> bool:
    """Return whether code follows code there without a blank line; none is added then, so that undoing fits."""
    lines = Lines(text)
    line = lines.number(at)
    return line > 1 and at < len(text) and all(lines.cut(each).strip() for each in (line - 1, line))


def _wrapped(text: str, package: str, place: Place, indent: str) -> str:
    """Return a statement, in brackets and a name a line where it would be too long."""
    head, names = place.head(package), list(map(shown, place.names))
    line = head + ", ".join(names)
    if len(indent + line) <= _WIDE or not names:
        return line
    newline, unit = _newline(text), unit_for(parse(Source.of_text(text)), ())
    inner = "".join(f"{indent}{unit}{name},{newline}" for name in names)
    return f"{head}({newline}{inner}{indent})"


def _note(text: str, spans: Sequence[Span]) -> str:
    """Return the remark to a linter that stands behind all of some statements."""
    notes = {match[0] if (match := _NOTE.match(text, span.end)) else "" for span in spans}
    return notes.pop() if len(notes) == 1 and len(spans) > 1 else ""


def _newline(text: str) -> str:
    return dominant_newline(text) or "\n"


def _stretches(text: str, line: Span) -> list[Span]:
    """Return the lines of a statement with more or fewer of the blank lines around them.

    First come those that leave the blank lines below, and among them those that take most of the ones above.
    """
    starts, ends = [line.start], [line.end]
    while len(starts) <= _MOST_BLANK and (match := _BLANK_ABOVE.search(text, 0, starts[-1])):
        starts.append(match.start(1))
    while len(ends) <= _MOST_BLANK and (match := _BLANK_BELOW.match(text, ends[-1])):
        ends.append(match.end())
    if line.end == len(text) and text[-1:] not in ("\n", "\r") and line.start:
        starts += [start - (2 if text[:start].endswith("\r\n") else 1) for start in starts]
    return [Span(start, end) for end in ends for start in reversed(starts)]


def _again(text: str, package: str, place: Place) -> str | None:
    """Return a text with an import added; None where it cannot be."""
    try:
        return splice(text, added(view_of(text), package, place))
    except ResourceError:
        return None
