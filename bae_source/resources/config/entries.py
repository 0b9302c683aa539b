"""Places of the statements of a TOML file: headers of tables, keys and their values, as spans.

    [[tool.mypy.overrides]]          ("tool", "mypy", "overrides", 0)               a header
    module = ["a", "b"]              ("tool", "mypy", "overrides", 0, "module")     a key, with the span of its value
    extra.x = { y = 1 }              (…, 0, "extra", "x")                           names: extra, x

The text is one that Python's reader takes, so nothing is checked here. What stands in arrays and inline tables is
looked into one level at a time, and only where a key leads there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from bae_source.model.span import Span
from bae_source.resources.config.key import NAME, Path, decoded

BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"
_BLANK = re.compile(r"[ \t]*+")
_STRING = (
    r'"""(?>(?:[^"\\]|\\.|"{1,2}(?!"))*)"{3,5}'
    r"|'''(?>(?:[^']|'{1,2}(?!'))*)'{3,5}"
    r'|"(?>(?:[^"\\\n]|\\.)*)"'
    r"|'[^'\n]*+'"
)
_VALUE = re.compile(rf"{_STRING}|[^\s#,\]}}]++(?:[ ][^\s#,\]}}]++)?", re.DOTALL)
_INSIDE = re.compile(rf"{_STRING}|#[^\n]*+|[\[{{]|[\]}}]|[^\[\]{{}}\"'#]++", re.DOTALL)
_BETWEEN = re.compile(r"(?>(?:[ \t\r\n,]++|#[^\n]*+)*)")
_EQUALS = re.compile(r"[ \t]*+=[ \t]*+")
_DOT = re.compile(r"[ \t]*+\.[ \t]*+")


class Name(Struct, frozen=True):
    """A part of a key where it is written.

    Parameters:
        span: the part with its quotes.
        at: which part of the entry's path it is.
    """

    span: Span
    at: int


class Entry(Struct, frozen=True, kw_only=True):
    """A statement of a file, a pair of an inline table, or an item of an array.

    Parameters:
        path: the way to it from the file's top.
        names: the parts of the path that are written here.
        span: a statement with its lines; a pair from key to value; an item.
        value: the span of its value; None for a header.
        section: the number of the header that a statement stands below, among the statements; -1 above the first one.
            A header has its own.
    """

    path: Path
    names: tuple[Name, ...]
    span: Span
    value: Span | None
    section: int = -1


class Scope(Struct, frozen=True, kw_only=True):
    """Entries that stand side by side: all statements of a file, or what an inline table or an array holds.

    Parameters:
        kind: where they stand.
        path: the way to what holds them.
        span: what holds them, with its brackets.
        entries: in the order of the text.
    """

    kind: str
    path: Path
    span: Span
    entries: tuple[Entry, ...]

    def below(self, path: Path) -> tuple[Entry, ...]:
        """Return the entries at a way, or below it."""
        return tuple(each for each in self.entries if each.path[: len(path)] == path)


def file_scope(text: str) -> Scope:
    """Return the statements of a file."""
    entries = tuple(_statements(text))
    return Scope(kind="file", path=(), span=Span(0, len(text)), entries=entries)


def scope_of(text: str, whole: Scope, path: Path) -> Scope:
    """Return the innermost scope that has a way: an inline table's or an array's where the way leads into one."""
    scope = whole
    while holder := next((each for each in scope.entries if _leads_into(each, path)), None):
        assert holder.value is not None
        inner = inside(text, holder)
        if inner is None:
            return scope
        scope = inner
    return scope


def newline_at(text: str, position: int) -> str:
    """Return the line end that is used at a position: that of the line before, else the first one."""
    end = text.rfind("\n", 0, position)
    end = text.find("\n") if end < 0 else end
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"


def line_end(text: str, position: int) -> int:
    """Return the end of the line at a position, its line break included."""
    return text.find("\n", position) + 1 or len(text)


def inside(text: str, holder: Entry) -> Scope | None:
    """Return the content of an entry's value; None where it is no inline table and no array."""
    span = holder.value
    if span is None or text[span.start] not in "[{":
        return None
    if text[span.start] == "[":
        items = enumerate(_items(text, span))
        entries = [Entry(path=(*holder.path, n), names=(), span=each, value=each) for n, each in items]
        return Scope(kind="array", path=holder.path, span=span, entries=tuple(entries))
    return Scope(kind="table", path=holder.path, span=span, entries=tuple(_pairs(text, span, holder.path)))


def _leads_into(entry: Entry, path: Path) -> bool:
    return entry.value is not None and len(entry.path) < len(path) and path[: len(entry.path)] == entry.path


def _statements(text: str) -> Iterator[Entry]:
    start = len(BOM) if text.startswith(BOM) else 0
    lasts: dict[Path, int] = {}  # the number of the last item of each array of tables
    table: Path = ()
    section, count = -1, 0
    while start < len(text):
        position = _BLANK.match(text, start).end()  # type: ignore[union-attr]
        if text[position : position + 1] in ("", "\r", "\n", "#"):
            start = line_end(text, position)
            continue
        value = None
        if text[position] == "[":
            is_item = text.startswith("[[", position)
            position = _BLANK.match(text, position + 1 + is_item).end()  # type: ignore[union-attr]
            names, end = _names(text, position)
            table, places = _resolved(names, lasts, is_item=is_item)
            section, path = count, table
        else:
            names, end = _names(text, position)
            path = (*table, *(name for name, _ in names))
            places = tuple(Name(span, len(table) + n) for n, (_, span) in enumerate(names))
            value = _value_at(text, _EQUALS.match(text, end).end())  # type: ignore[union-attr]
            end = value.end
        stop = line_end(text, end)
        yield Entry(path=path, names=places, span=Span(start, stop), value=value, section=section)
        start, count = stop, count + 1


def _resolved(names: list[tuple[str, Span]], lasts: dict[Path, int], *, is_item: bool) -> tuple[Path, tuple[Name, ...]]:
    """Return the way that a header means: through an array of tables, to the last item that it has so far."""
    path: Path = ()
    places: list[Name] = []
    for number, (name, span) in enumerate(names, 1):
        places.append(Name(span, len(path)))
        path = (*path, name)
        if is_item and number == len(names):
            lasts[path] = lasts.get(path, -1) + 1
        if path in lasts:
            path = (*path, lasts[path])
    return path, tuple(places)


def _names(text: str, position: int) -> tuple[list[tuple[str, Span]], int]:
    """Return the parts of the key that stands at a position, and the end of the last one."""
    found: list[tuple[str, Span]] = []
    while name := NAME.match(text, position):
        found.append((decoded(name[0]), Span(*name.span())))
        dot = _DOT.match(text, name.end())
        if dot is None:
            return found, name.end()
        position = dot.end()
    return found, position


def _value_at(text: str, start: int) -> Span:
    if text[start] not in "[{":
        return Span(start, _VALUE.match(text, start).end())  # type: ignore[union-attr]
    depth, position = 0, start
    while True:
        token = _INSIDE.match(text, position)
        assert token is not None
        depth += (token[0] in ("[", "{")) - (token[0] in ("]", "}"))
        position = token.end()
        if not depth:
            return Span(start, position)


def _items(text: str, span: Span) -> Iterator[Span]:
    position = _between(text, span.start + 1)
    while position < span.end - 1:
        item = _value_at(text, position)
        yield item
        position = _between(text, item.end)


def _pairs(text: str, span: Span, path: Path) -> Iterator[Entry]:
    position = _between(text, span.start + 1)
    while position < span.end - 1:
        names, end = _names(text, position)
        value = _value_at(text, _EQUALS.match(text, end).end())  # type: ignore[union-attr]
        places = tuple(Name(each, len(path) + n) for n, (_, each) in enumerate(names))
        whole = Span(position, value.end)
        yield Entry(path=(*path, *(name for name, _ in names)), names=places, span=whole, value=value)
        position = _between(text, value.end)


def _between(text: str, position: int) -> int:
    return _BETWEEN.match(text, position).end()  # type: ignore[union-attr]
