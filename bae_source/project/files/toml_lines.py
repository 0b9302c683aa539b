"""The lines on which the values of a TOML file stand, which Python's reader does not tell.

    [project]                          ("project",)                       1
    dependencies = [                   ("project", "dependencies")        2
        "httpx>=0.27",                 ("project", "dependencies", 0)     3
    ]

Invariants:
- the text has been parsed before, so it is TOML; of any other, some lines are missing, and nothing else happens;
- the time that it takes grows with the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

Path = tuple[str | int, ...]

_TOKEN = re.compile(
    r"(?P<line>\n)|(?P<blank>[ \t\r]++|\#[^\n]*+)"
    r'|(?P<string>"""(?>(?:[^\\"]++|\\.|"(?!""))*)"{3,5}'
    r"|'''(?>(?:[^']++|'(?!''))*)'{3,5}"
    r'|"(?>(?:[^"\\\n]++|\\.)*)"'
    r"|'[^'\n]*+')"
    r"|(?P<sign>[\[\]{}=,])|(?P<bare>[^\s\[\]{}=,#\"']++)|(?P<other>.)",
    re.DOTALL,
)
_Token = tuple[str, str, int]
_END: _Token = ("end", "", 0)


def lines_of(text: str) -> dict[Path, int]:
    """Return the line of each table, key and item of a TOML file, counted from 1, by its path."""
    found: dict[Path, int] = {}
    with suppress(RecursionError):  # the reader of the format has refused it before
        _Reader(text, found).read()
    return found


class _Reader:
    """Reads the tokens of a file, one ahead."""

    def __init__(self, text: str, found: dict[Path, int]) -> None:
        self._tokens = _tokens(text)
        self._next = next(self._tokens, _END)
        self._found = found
        self._counts: dict[Path, int] = {}

    def read(self) -> None:
        """Note the lines of all that stands in the file."""
        table: Path = ()
        while self._next[0] != "end":
            if self._is("\n"):
                self._take()
            elif self._is("["):
                table = self._header()
            else:
                self._pair(table)

    def _header(self) -> Path:
        """Read `[a.b]`, or `[[a.b]]`, of which each is an item of its own."""
        line = self._take()[2]
        is_item = self._is("[")
        if is_item:
            self._take()
        path = self._absolute(self._key("]"))
        while self._is("]"):
            self._take()
        if is_item:
            number = self._counts.get(path, -1) + 1
            self._counts[path] = number
            self._found.setdefault(path, line)
            path = (*path, number)
        self._found.setdefault(path, line)
        return path

    def _absolute(self, key: Path) -> Path:
        """Return the path of a header's key: what lies below an array of tables is in the last one."""
        path: Path = ()
        for each in key[:-1]:
            path = (*path, each)
            if path in self._counts:
                path = (*path, self._counts[path])
        return (*path, *key[-1:])

    def _pair(self, table: Path) -> None:
        line = self._next[2]
        path = (*table, *self._key("="))
        if not self._is("="):
            self._take()  # no TOML
            return
        self._take()
        self._found.setdefault(path, line)
        self._value(path)

    def _key(self, end: str) -> Path:
        """Read `a."b c".d` up to a sign."""
        parts: list[str] = []
        while self._next[0] in ("bare", "string") and not self._is(end):
            kind, text, _ = self._take()
            parts += [_unquoted(text)] if kind == "string" else [each for each in text.split(".") if each]
        return tuple(parts)

    def _value(self, path: Path) -> None:
        self._skip_lines()
        self._found.setdefault(path, self._next[2])
        if self._is("["):
            self._array(path)
        elif self._is("{"):
            self._inline(path)
        else:
            while self._next[0] in ("bare", "string"):
                self._take()

    def _array(self, path: Path) -> None:
        self._take()
        number = 0
        self._skip_lines()
        while self._next[0] in ("bare", "string") or self._is("[") or self._is("{"):
            self._value((*path, number))
            number += 1
            self._skip_lines()
            if self._is(","):
                self._take()
            self._skip_lines()
        if self._is("]"):
            self._take()

    def _inline(self, path: Path) -> None:
        self._take()
        self._skip_lines()
        while self._next[0] in ("bare", "string"):
            self._pair(path)
            self._skip_lines()
            if self._is(","):
                self._take()
            self._skip_lines()
        if self._is("}"):
            self._take()

    def _skip_lines(self) -> None:
        while self._is("\n"):
            self._take()

    def _is(self, sign: str) -> bool:
        return self._next[1] == sign and self._next[0] in ("sign", "line")

    def _take(self) -> _Token:
        taken, self._next = self._next, next(self._tokens, _END)
        return taken


def _tokens(text: str) -> Iterator[_Token]:
    line = 1
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "other"
        if kind != "blank":
            yield kind, match[0], line
        line += match[0].count("\n")


def _unquoted(text: str) -> str:
    import tomllib  # which has read the file before

    try:
        return str(tomllib.loads(f"key = {text}")["key"])
    except tomllib.TOMLDecodeError:
        return text
