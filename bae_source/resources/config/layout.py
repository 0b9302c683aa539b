"""Lines of a TOML file put in and taken out: keys below the header of their table, and tables with their keys.

    [tool.ruff]                          [tool.ruff]
    line-length = 100     + select =     line-length = 100
                                         select = ["E"]
    [tool.mypy]                                               <- blank lines above a table go and come with it
    strict = true         + tool.uv      [tool.mypy]
                                         strict = true

                                         [tool.uv]
                                         package = false

Invariants:
- lines are only added and taken out as a whole; comments that do not stand inside a table stay;
- to take out what was put in last gives every byte back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from bae_source.model.span import Span
from bae_source.resources.config.arrays import Splices
from bae_source.resources.config.entries import BOM, Entry, Scope, line_end, newline_at
from bae_source.resources.config.key import Path, header_of, written_name

_COMMENTS = re.compile(r"(?>(?:[ \t]*#[^\n]*(?:\n|\Z))*)")
_BLANKS = re.compile(r"(?>(?:[ \t]*\r?\n)*)")
_BLANK = re.compile(r"[ \t]*\r?\n")
_EQUALS = re.compile(r" ?= ?")
_INDENT = re.compile(r"[ \t]*")


def with_key(text: str, scope: Scope, path: Path, value: str) -> Splices:
    """Return the splices that put a key with its value into a table of a file, which is made where it is missing.

    Parameters:
        scope: the file's.
        value: as TOML writes it.
    """
    depth = next(depth for depth in range(len(path) - 1, -1, -1) if not depth or scope.below(path[:depth]))
    parent, rest = path[:depth], path[depth:]
    below = scope.below(parent)
    header = next((each for each in below if each.path == parent and each.value is None), None)
    dotted = [each for each in below if each.value is not None and len(_table_of(scope, each)) < depth]
    if len(rest) > 1 and not dotted:
        pair = (written_name(str(path[-1])), value)
        return with_table(text, scope, parent, f"[{header_of(path[:-1])}]", [pair])
    if not parent:
        return _at_top(text, scope, path, value)
    if header is not None:
        last = _last_of(scope, header)
        blank = _BLANK.match(text, last.span.end)
        if last is header and blank and _is_implied(scope, header):
            return _inserted(text, blank.end(), [_pair(rest, value), ""])  # else its removal would take the header, too
        return _line(text, last, rest, value)
    if dotted:
        return _line(text, dotted[-1], path[len(_table_of(scope, dotted[-1])) :], value)
    lines = [f"[{header_of(parent)}]", _pair(rest, value), ""]
    return _inserted(text, _above(text, below[0].span.start), lines)


def with_table(text: str, scope: Scope, path: Path, header: str, pairs: Sequence[tuple[str, str]]) -> Splices:
    """Return the splices that put a table behind all that stands at or below a way.

    Parameters:
        header: its header with the brackets.
        pairs: its keys and their values, as TOML writes them.
    """
    lines = [header, *(f"{name} = {value}" for name, value in pairs)]
    below = scope.below(path)
    if not text.strip(f"{BOM} \t\r\n"):
        return _inserted(text, _top(text), lines)
    last = below[-1] if below else None
    if last is not None and (around := _header_of(scope, last)) is not None and around in below:
        last = around
    end = _with_comments(text, _extent(text, scope, last).end) if last else len(text.rstrip(" \t\r\n"))
    end = end if below else line_end(text, end)
    is_close = end < len(text) and not _BLANK.match(text, end)  # to the next table, as all may be
    return _inserted(text, end, lines if is_close else ["", *lines])


def pair_like(text: str, names: Sequence[str | int], value: str, like: Entry | None) -> str:
    """Return a key and its value, with the spaces around the sign that another pair has."""
    sign = " = "
    if like is not None and like.value is not None:
        found = text[like.names[-1].span.end : like.value.start]
        sign = found if _EQUALS.fullmatch(found) else sign
    return f"{'.'.join(written_name(str(each)) for each in names)}{sign}{value}"


def extents(text: str, scope: Scope, entries: Sequence[Entry]) -> list[Span]:
    """Return the lines of statements, those of a table with its keys, without blank lines around; sorted."""
    found: list[Span] = []
    for each in sorted(_extent(text, scope, each) for each in entries):
        if found and each.start < found[-1].end:
            continue
        if found and not text[found[-1].end : each.start].strip():
            found[-1] = Span(found[-1].start, each.end)
        else:
            found.append(each)
    return found


def without_entries(text: str, scope: Scope, gone: Sequence[Entry]) -> Splices:
    """Return the splices that take statements out of a file: keys with their lines, tables with all their keys."""
    splices: Splices = []
    at = {each.span.start: each for each in gone}
    if len(gone) == 1 and (needless := _needless(text, scope, gone[0])):
        return [(needless, "")]
    for lines in extents(text, scope, gone):
        first = at[lines.start]
        start, end = lines.start, lines.end
        if first.value is None:
            is_close = end < len(text) and not _BLANK.match(text, end)
            start = start if is_close else _blanks_above(text, start)
            if not text[:start].strip(BOM) and text[end:].strip():
                start, end = lines.start, _BLANKS.match(text, end).end()  # type: ignore[union-attr]
        elif _is_sole(scope, first) and _stands_apart(text, scope, first):
            end = blank.end() if (blank := _BLANK.match(text, end)) else end
        if end == len(text) and not text.endswith("\n"):
            start -= len(newline_at(text, start)) if text[:start].endswith("\n") else 0
        splices.append((Span(start, end), ""))
    return splices


def _at_top(text: str, scope: Scope, path: Path, value: str) -> Splices:
    """Put a key above the first header."""
    own = [each for each in scope.entries if each.section == -1]
    if own:
        return _line(text, own[-1], path, value)
    if scope.entries:
        return _inserted(text, _above(text, scope.entries[0].span.start), [_pair(path, value), ""])
    return _inserted(text, len(text), [_pair(path, value)])


def _line(text: str, behind: Entry, names: Path, value: str) -> Splices:
    """Put a key on the line behind a statement, indented as that is where it is a key."""
    is_key = behind.value is not None
    indent = _INDENT.match(text, behind.span.start)[0] if is_key else ""  # type: ignore[index]
    return _inserted(text, behind.span.end, [indent + pair_like(text, names, value, behind if is_key else None)])


def _pair(names: Path, value: str) -> str:
    return pair_like("", names, value, None)


def _inserted(text: str, position: int, lines: Sequence[str]) -> Splices:
    """Put lines at the start of a line; at the end of a text whose last line has no end, the last one gets none."""
    newline = newline_at(text, position)
    body = newline.join(lines)
    if position == len(text) and text.strip(BOM) and not text.endswith("\n"):
        return [(Span(position, position), f"{newline}{body}")]
    return [(Span(position, position), f"{body}{newline}")]


def _needless(text: str, scope: Scope, entry: Entry) -> Span | None:
    """Return the lines of a table's only key with its header, where tables below it follow, which imply it."""
    if entry.value is None or entry.section < 0 or not _is_sole(scope, entry):
        return None
    header = scope.entries[entry.section]
    blank = _BLANK.match(text, entry.span.end)
    if blank is None or header.path != entry.path[:-1] or not _is_implied(scope, header):
        return None
    follows = scope.entries[entry.section + 2]
    if header.span.end != entry.span.start or _above(text, follows.span.start) != blank.end():
        return None
    return Span(header.span.start, blank.end())


def _is_implied(scope: Scope, header: Entry) -> bool:
    """Return whether the next header below a table's own implies the table, too."""
    number = _number_of_last(scope, header) + 1
    follows = scope.entries[number].path if number < len(scope.entries) else ()
    is_below = len(follows) > len(header.path) and follows[: len(header.path)] == header.path
    return is_below and not isinstance(header.path[-1], int)


def _stands_apart(text: str, scope: Scope, entry: Entry) -> bool:
    """Return whether a key was put between blank lines: above the first header, or apart from its own."""
    if entry.section < 0:
        return scope.entries[-1].section >= 0
    between = text[scope.entries[entry.section].span.end : entry.span.start]
    return bool(between) and not between.strip()


def _is_sole(scope: Scope, entry: Entry) -> bool:
    own = scope.entries[entry.section + 1 : entry.section + 3]  # those right below the header
    return own[0] == entry and all(each.section != entry.section for each in own[1:])


def _extent(text: str, scope: Scope, entry: Entry) -> Span:
    """Return the lines of a statement; of a header those of its keys, too, and comments right below the last one."""
    if entry.value is not None:
        return entry.span
    return Span(entry.span.start, _with_comments(text, _last_of(scope, entry).span.end))


def _with_comments(text: str, end: int) -> int:
    """Return the end of the comments right behind a statement; its own end where they stand above another one."""
    behind = _COMMENTS.match(text, end).end()  # type: ignore[union-attr]
    return behind if behind == len(text) or _BLANK.match(text, behind) else end


def _last_of(scope: Scope, header: Entry) -> Entry:
    """Return the last statement below a header, before the next one; itself where it has none."""
    return scope.entries[_number_of_last(scope, header)]


def _number_of_last(scope: Scope, header: Entry) -> int:
    number = header.section
    while number + 1 < len(scope.entries) and scope.entries[number + 1].section == header.section:
        number += 1
    return number


def _header_of(scope: Scope, entry: Entry) -> Entry | None:
    """Return the header that a statement stands below."""
    return scope.entries[entry.section] if entry.section >= 0 else None


def _table_of(scope: Scope, entry: Entry) -> Path:
    """Return the way to the table that a statement stands in."""
    header = _header_of(scope, entry)
    return header.path if header else ()


def _above(text: str, position: int) -> int:
    """Return the start of the comments right above a line."""
    return _up(text, position, lambda line: line.lstrip(" \t").startswith("#"))


def _blanks_above(text: str, position: int) -> int:
    return _up(text, position, lambda line: not line.strip())


def _up(text: str, position: int, goes: Callable[[str], bool]) -> int:
    """Return the start of the lines right above a position with which it goes."""
    while position > _top(text):
        start = max(text.rfind("\n", 0, position - 1) + 1, _top(text))
        if not goes(text[start:position]):
            break
        position = start
    return position


def _top(text: str) -> int:
    return len(BOM) if text.startswith(BOM) else 0
