"""A TOML file as text that is read and changed by key, without the loss of a byte.

    Document(text).set("tool.ruff.line-length", 100)            the whole new text
    Document(text).add("project.dependencies", "httpx")         likewise
    Document(text).remove("tool.mypy.overrides[1]")

The keys are found by their spans (`entries`), and a change is splices on the text (`layout`, `arrays`); tomlkit writes
values, and no more: it knows no positions, and a key that it sets and removes may leave other bytes behind.

Invariants, checked for each new text before it is handed out:
- Python's reader finds in it the old data with exactly that change; else it is `not_lossless`;
- bytes outside the splices stay: comments, order, quotes, line ends, byte order mark;
- what was put in last, and is taken out again, leaves the very text that there was.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from bae_source.errors import LookupFailed, Refused, RequestError, SourceError
from bae_source.model.closest import closest
from bae_source.model.span import Span
from bae_source.model.text import counted, listed
from bae_source.project.files.settings import LARGEST, parsed_toml
from bae_source.resources.config.arrays import Splices, with_item, with_pair, without
from bae_source.resources.config.entries import Entry, Scope, file_scope, inside, newline_at, scope_of
from bae_source.resources.config.key import Path, header_of, path_of, written_key, written_name
from bae_source.resources.config.layout import extents, pair_like, with_key, with_table, without_entries
from bae_source.resources.config.written import Written, kind_of, laid_out, written
from bae_source.syntax.text.byte_edits import splice

NAME = "pyproject.toml"
_MOST_ENDING = 10


class Found(Struct, frozen=True, kw_only=True):
    """Text and value of a key.

    Parameters:
        path: the way to it.
        text: as it stands; of a table its header, its keys and the tables below it, of a key its lines.
        value: as Python's reader gives it.
        line: where it begins.
    """

    path: Path
    text: str
    value: Any
    line: int


class Document:
    """A TOML file.

    Parameters:
        text: its whole text; a byte order mark is a part of it, and bytes that are no UTF-8 are surrogates in it.
        name: the file's, for messages.

    Raises:
        SourceError: `syntax_invalid` if it does not parse.

    Every method takes a key as a text, `tool."my.tool".x` or `tool.mypy.overrides[1].module`, or as the parts of it,
    with numbers for items. Values are plain, or `Written`. Besides what the methods say, they raise:

        RequestError: `invalid_arguments` for what is no key, leads through something that is no table, or is no value.
        Refused: `unsafe_change` if the text would be too long for a file of settings.
        SourceError: `not_lossless` if the text cannot be changed so without changing more.
    """

    def __init__(self, text: str, name: str = NAME) -> None:
        self.text = text
        self.name = name
        self.data = parsed_toml(text.encode("utf-8", "surrogateescape"), name)  # which refuses what is no UTF-8
        self._scope = file_scope(text)

    @property
    def statements(self) -> tuple[Entry, ...]:
        """The headers and keys of the file, in their order."""
        return self._scope.entries

    def has(self, key: str | Path) -> bool:
        """Return whether there is a key; False also for one that leads through something that is no table."""
        path = path_of(key)
        try:
            return self._known(path) == len(path)
        except (LookupFailed, RequestError):
            return False

    def value(self, key: str | Path) -> Any:
        """Return the value of a key.

        Raises:
            LookupFailed: `symbol_not_found` if there is none.
        """
        return _at(self.data, self._present(key))

    def read(self, key: str | Path) -> Found:
        """Return a key with its text.

        Raises:
            LookupFailed: `symbol_not_found` if there is none.
        """
        path = self._present(key)
        scope = scope_of(self.text, self._scope, path)
        found = scope.below(path)
        is_apart = scope.kind != "file"  # pairs of an inline table, or an item
        spans = [each.span for each in found] if is_apart else extents(self.text, scope, found)
        line = self.text.count("\n", 0, spans[0].start) + 1
        text = (", " if is_apart else "").join(each.cut(self.text) for each in spans)
        return Found(path=path, text=text, value=self.value(path), line=line)

    def line(self, key: str | Path) -> int:
        """Return the line on which a key begins, counted from 1; of an item that has no line of its own, its array's.

        Raises:
            LookupFailed: `symbol_not_found` if there is none.
        """
        path = self._present(key)
        return self.text.count("\n", 0, scope_of(self.text, self._scope, path).below(path)[0].span.start) + 1

    def ending(self, path: Path) -> list[Path]:
        """Return the keys whose last parts are a way, the shortest first: project.version for version."""
        found: list[Path] = []
        waiting: list[tuple[Path, Any]] = [((), self.data)]
        while waiting:
            outer, value = waiting.pop()
            pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
            inner = [((*outer, name), each) for name, each in pairs]
            found += [each for each, _ in inner if each[-len(path) :] == path]
            waiting += inner
        return sorted(found, key=lambda each: (len(each), str(each)))[:_MOST_ENDING]

    def set(self, key: str | Path, value: Any) -> str:
        """Return the text with another value of a key, or with a new key; its table is made where it is missing.

        Raises:
            LookupFailed: `symbol_not_found` for an item that an array does not have.
        """
        path, given = path_of(key), written(value)
        known = self._known(path)
        data = _with(self.data, path, given.value)
        if known < len(path):
            return self._checked(self._added(path, path[:known], given.text), data)
        [entry, *more] = scope_of(self.text, self._scope, path).below(path)
        if more or entry.path != path or entry.value is None:
            kind = "an array of tables" if isinstance(self.value(path), list) else "a table"
            raise RequestError(
                "invalid_arguments",
                f"{written_key(path)} is {kind} that spans lines, which is not set as a whole.",
                hints=["Set its keys one by one, or remove it first."],
            )
        line = self.text[self.text.rfind("\n", 0, entry.span.start) + 1 :]
        indent = line[: len(line) - len(line.lstrip(" \t"))]
        newline = newline_at(self.text, entry.value.start)
        text = laid_out(given, entry.value.cut(self.text), indent, newline)
        return self._checked([(entry.value, text)], data)

    def add(self, key: str | Path, value: Any) -> str:
        """Return the text with one more item at the end of an array, which is made where there is none.

        Raises:
            LookupFailed: `symbol_not_found` for an item that an array does not have.
        """
        path, given = path_of(key), written(value)
        if self._known(path) < len(path):
            return self.set(path, Written(f"[{given.text}]", [given.value]))
        present = self.value(path)
        if not isinstance(present, list):
            raise _wrong(f"{written_key(path)} is {kind_of(present)}, and takes no items", "Set it instead.")
        data = _with(self.data, path, [*present, given.value])
        entries = scope_of(self.text, self._scope, path).below(path)
        if entries[0].path == path and (array := inside(self.text, entries[0])):
            return self._checked(with_item(self.text, array, given.text), data)
        if not isinstance(given.value, Mapping):
            raise _wrong(f"{written_key(path)} is an array of tables; {given.text} is {kind_of(given.value)}", "")
        pairs = [(written_name(name), written(each).text) for name, each in given.value.items()]
        return self._checked(with_table(self.text, self._scope, path, f"[[{header_of(path)}]]", pairs), data)

    def remove(self, key: str | Path) -> str:
        """Return the text without a key, a table with all that is below it, or an item.

        A table that only this key implied goes with it; one that has a header of its own stays, be it empty.

        Raises:
            LookupFailed: `symbol_not_found` if there is none.
        """
        path = self._present(key)
        scope = scope_of(self.text, self._scope, path)
        gone = scope.below(path)
        taking_out = without_entries if scope.kind == "file" else without
        splices = taking_out(self.text, scope, gone)
        return self._checked(splices, self._without(path, scope))

    def remove_item(self, key: str | Path, index: int) -> str:
        """Return the text without an item of an array.

        Raises:
            LookupFailed: `symbol_not_found` if there is none.
        """
        return self.remove((*path_of(key), index))

    def rename(self, key: str | Path, new: str) -> str:
        """Return the text with another name for a key or a table, which stays in its place.

        Parameters:
            new: the new name, of one part: `new-name` or `"a.b"`.

        Raises:
            LookupFailed: `symbol_not_found` if there is none.
            Refused: `name_collision` if there is one of that name already.
        """
        path, to = self._present(key), path_of(new)
        if len(to) != 1 or not isinstance(path[-1], str):
            raise _wrong("A key gets a new name of one part", "Give the last part alone, as in rename tool.a.old new.")
        if to[0] == path[-1]:
            return self.text
        if self.has((*path[:-1], *to)):
            raise Refused(
                "name_collision",
                f"{written_key((*path[:-1], *to))} is there already.",
                hints=["Choose another name, or remove that one first."],
            )
        scope = scope_of(self.text, self._scope, path)
        names = [name for each in scope.below(path) for name in each.names if name.at == len(path) - 1]
        data = _with(_cut(self.data, path), (*path[:-1], *to), self.value(path))
        return self._checked([(each.span, written_name(str(to[0]))) for each in names], data)

    def _added(self, path: Path, parent: Path, value: str) -> Splices:
        """Return the splices that put in a key whose way is there up to its parent."""
        scope = scope_of(self.text, self._scope, path)
        if scope.kind != "table":
            return with_key(self.text, self._scope, path, value)
        beside = scope.below(parent) if len(parent) > len(scope.path) else scope.entries
        behind = beside[-1] if beside else None
        return with_pair(self.text, scope, pair_like(self.text, path[len(scope.path) :], value, behind), behind)

    def _present(self, key: str | Path) -> Path:
        path = path_of(key)
        known = self._known(path)
        if known == len(path):
            return path
        table = self.value(path[:known])
        raise LookupFailed(
            "symbol_not_found",
            f"{self.name} has no {written_key(path[: known + 1])}.",
            hints=[f"{written_key(path[:known]) or 'It'} has {listed(map(written_name, table), 20) or 'no key'}."],
            candidates=[*map(written_key, self.ending(path)), *_close(path, known, table)],
        )

    def _known(self, path: Path) -> int:
        """Return the number of parts of a path that are there.

        Raises:
            RequestError, LookupFailed: it leads through something else than tables and items.
        """
        value: Any = self.data
        for depth, part in enumerate(path):
            shown = written_key(path[:depth])
            if isinstance(part, int):
                if not isinstance(value, list):
                    raise _wrong(f"{shown} is {kind_of(value)}, and has no items", "Leave out the number.")
                if part >= len(value):
                    raise LookupFailed(
                        "symbol_not_found",
                        f"{shown} has {counted(len(value), 'item')}, and none with the number {part}.",
                        hints=["Items are counted from 0."],
                    )
            elif isinstance(value, list):
                raise _wrong(f"{shown} is an array; its items have numbers", f"Write {shown}[0] for the first one.")
            elif not isinstance(value, dict):
                raise _wrong(f"{shown} is {kind_of(value)}, and has no keys", "Name a table.")
            elif part not in value:
                if any(isinstance(each, int) for each in path[depth:]):
                    raise LookupFailed("symbol_not_found", f"There is no {written_key(path[: depth + 1])}.", hints=[])
                return depth
            value = value[part]
        return len(path)

    def _without(self, path: Path, scope: Scope) -> Any:
        """Return the data without a key, and without tables that nothing else in the text stands for."""
        data = _cut(self.data, path)
        kept = {each.path for each in scope.entries if each.path[: len(path)] != path}
        while (path := path[:-1]) and len(path) > len(scope.path) and path not in kept and not _at(data, path):
            data = _cut(data, path)
        return data

    def _checked(self, splices: Splices, data: Any) -> str:
        """Return the text with splices, after checking that it has the expected data.

        Raises:
            Refused: `unsafe_change` if it is too long for a file of settings.
            SourceError: `not_lossless`.
        """
        text = splice(self.text, splices)
        content = text.encode()
        if len(content) > LARGEST:
            raise Refused(
                "unsafe_change",
                f"With this change {self.name} would have more than {LARGEST:,} bytes, too many to be read as settings",
                unchanged=True,
                hints=["Give a shorter value."],
            )
        try:
            if same(parsed_toml(content, self.name), data):
                return text
        except SourceError:
            pass
        spans = [each for each, _ in splices] or [Span(0, 0)]
        line = self.text.count("\n", 0, min(spans).start) + 1
        raise SourceError(
            "not_lossless",
            f"{self.name} cannot be changed so at line {line} without changing more than that; nothing was changed.",
            hints=[f"Edit :{self.name} as text."],
            details={"line": line},
        )


def same(first: Any, second: Any) -> bool:
    """Return whether two values of TOML are the same, and of the same types; the order of keys does not count."""
    waiting = [(first, second)]
    while waiting:
        one, other = waiting.pop()
        if type(one) is not type(other):
            return False
        if isinstance(one, dict):
            if one.keys() != other.keys():
                return False
            waiting += [(value, other[name]) for name, value in one.items()]
        elif isinstance(one, list):
            if len(one) != len(other):
                return False
            waiting += zip(one, other, strict=True)
        elif (repr(one) if isinstance(one, float) else one) != (repr(other) if isinstance(other, float) else other):
            return False
    return True


def _with(data: Any, path: Path, value: Any) -> Any:
    """Return the data with another value of a key; tables on the way to it are copied, or made."""
    if not path:
        return value
    copy: Any = list(data) if isinstance(data, list) else dict(data or {})
    inner = copy.get(path[0]) if isinstance(copy, dict) else copy[path[0]]
    copy[path[0]] = _with(inner, path[1:], value)
    return copy


def _cut(data: Any, path: Path) -> Any:
    """Return the data without a key; tables on the way to it are copied."""
    copy: Any = list(data) if isinstance(data, list) else dict(data)
    if len(path) == 1:
        del copy[path[0]]
    else:
        copy[path[0]] = _cut(copy[path[0]], path[1:])
    return copy


def _at(data: Any, path: Path) -> Any:
    for part in path:
        data = data[part]
    return data


def _close(path: Path, known: int, table: Any) -> list[str]:
    close = closest(str(path[known])[:100], list(table), n=3)
    return [written_key((*path[:known], each)) for each in close]


def _wrong(reason: str, hint: str) -> RequestError:
    return RequestError("invalid_arguments", f"{reason}.", hints=[hint] if hint else [])
