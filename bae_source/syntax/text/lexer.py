"""Strings, brackets, comments and line ends of a text: just enough to know what each physical line is.

Invariants:
- every character belongs to one line of `lex`'s answer, and the answer never depends on which Python is running, so
  that nested f-strings (PEP 701) and template strings (PEP 750) are understood on every interpreter;
- nothing is refused: in text that is no Python, an unterminated string ends with its line.

The scanner jumps from one interesting character to the next; it recognises no names, numbers or operators.
Source of the lexical rules: the language reference, chapter 2; PEP 701 for replacement fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum

from msgspec import Struct

from bae_source.model.span import Span

_INTERESTING = re.compile(r"""[#'"()\[\]{}\\\r\n]""")
_HEADER = re.compile(r"""[#'"()\[\]{}\\]|:(?!=)|\blambda\b""")
_NEWLINE = re.compile(r"\r\n|\n|\r")
_COMMENT_END = re.compile(r"[\r\n]|\Z")
_STRING_BODY = {
    "'": re.compile(r"(?:[^'\\\r\n]+|\\(?:\r\n|[\s\S]))*"),
    '"': re.compile(r'(?:[^"\\\r\n]+|\\(?:\r\n|[\s\S]))*'),
    "'''": re.compile(r"(?:[^'\\]+|\\[\s\S]|'(?!''))*"),
    '"""': re.compile(r'(?:[^"\\]+|\\[\s\S]|"(?!""))*'),
}
_PREFIX = re.compile(r"(?:^|(?<=\W))(?:[rbuft]|rb|br|fr|rf|tr|rt)$", re.IGNORECASE)
_FIELD_STOP = re.compile(r"""[#'"()\[\]{}:!\\]""")
_FIELDED = re.compile(r"[rR]?[fFtT]")
_MAX_FIELD_DEPTH = 30
_Memo = dict[int, tuple[int, bool]]


class LineKind(Enum):
    """The kind of a physical line, by what stands at its start."""

    LOGICAL = "logical"  # a statement, a clause or a decorator begins here
    CONTINUATION = "continuation"  # inside brackets, or behind a backslash
    STRING = "string"  # inside a string literal
    COMMENT = "comment"  # outside brackets, nothing but a comment
    BLANK = "blank"  # outside brackets, nothing at all


class Lexed(Struct, frozen=True):
    """The result of `lex`.

    Parameters:
        kinds: one `LineKind` a physical line.
        starts: the offset of each physical line.
        strings: spans of the string literals, prefix and quotes included.
        comments: spans of the comments, without their newline.
        brackets: spans of the bracket pairs with the depth of what they hold; unclosed ones are missing.
        depth: the deepest nesting of brackets.
        closed: whether the text ends outside strings and brackets.
        open: offsets of the brackets that nothing closes, the outermost first.
    """

    kinds: tuple[LineKind, ...]
    starts: tuple[int, ...]
    strings: tuple[Span, ...]
    comments: tuple[Span, ...]
    brackets: tuple[tuple[Span, int], ...]
    depth: int
    closed: bool
    open: tuple[int, ...] = ()

    def plain_strings(self, text: str) -> list[Span]:
        """Return the literals of the text that `lex` read which cannot have fields, as f-strings do."""
        return [each for each in self.strings if not _FIELDED.match(text, each.start)]


def lex(text: str) -> Lexed:
    """Scan `text` once from its start."""
    scanner = _Scanner(text)
    scanner.run()
    return Lexed(
        kinds=tuple(scanner.kinds),
        starts=tuple(scanner.starts),
        strings=tuple(scanner.strings),
        comments=tuple(scanner.comments),
        brackets=tuple(scanner.brackets),
        depth=scanner.deepest,
        closed=not scanner.stack and not scanner.unterminated,
        open=tuple(scanner.stack),
    )


def end_of_header(text: str, start: int) -> int:
    """Return the offset behind the colon that ends the clause header beginning at `start`.

    The first colon outside brackets, strings and lambdas is the one: annotations and slices stand inside brackets,
    and a return annotation holds a colon only inside brackets or a lambda. That of `:=` is none.
    """
    lambdas = 0
    for match, depth in _signs(text, start, _HEADER):
        if match[0] == "lambda":
            lambdas += depth == 0
        elif depth == 0:
            if not lambdas:
                return match.end()
            lambdas -= 1
    return len(text)


def end_of_line(text: str, start: int) -> int:
    """Return the offset behind the logical line that goes on at `start`, which stands outside strings and brackets.

    Statements behind a semicolon belong to the line, with all the lines of their strings and brackets.
    """
    for match, depth in _signs(text, start, _INTERESTING):
        newline = _NEWLINE.match(text, match.start())
        if newline and depth <= 0:
            return newline.end()
    return len(text)


def end_of_bracket(text: str, start: int) -> int:
    """Return the offset behind the bracket that closes the one at `start`; that of the text's end where none does."""
    depth, position = 0, start
    memo: _Memo = {}
    while match := _INTERESTING.search(text, position):
        char, position = match[0], match.end()
        if char in "'\"":
            position = _end_of_string(text, match.start(), memo)[0]
        elif char == "#":
            position = _end_of_comment(text, match.start())
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth == 0:
                return position
    return len(text)


def end_of_string(text: str, quote: int) -> int:
    """Return the offset behind the literal whose opening quote stands at `quote`."""
    return _end_of_string(text, quote, {})[0]


def _signs(text: str, start: int, pattern: re.Pattern[str]) -> Iterator[tuple[re.Match[str], int]]:
    """Yield what a pattern finds outside strings and comments, brackets left out, and how deep it stands in them.

    Parameters:
        pattern: finds brackets, quotes, `#` and backslashes as well; a line end that is escaped is passed over.
    """
    depth, position = 0, start
    memo: _Memo = {}
    for match in pattern.finditer(text, start):
        if match.start() < position:
            continue
        char = match[0]
        position = match.end()
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "#":
            position = _end_of_comment(text, match.start())
        elif char in "'\"":
            position = _end_of_string(text, match.start(), memo)[0]
        elif char == "\\":
            newline = _NEWLINE.match(text, position)
            position = newline.end() if newline else position
        else:
            yield match, depth


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.kinds: list[LineKind] = []
        self.starts: list[int] = []
        self.strings: list[Span] = []
        self.comments: list[Span] = []
        self.brackets: list[tuple[Span, int]] = []
        self.stack: list[int] = []
        self.deepest = 0
        self.unterminated = False
        self.memo: _Memo = {}

    def run(self) -> None:
        # x = f(1,  \        LOGICAL: `(` goes on the stack; the backslash joins the next line
        #       "a)")        CONTINUATION; the string is one step, so its `)` is not seen; `)` takes `(` off
        #   # why            COMMENT, since the stack is empty
        # f"""{x}            LOGICAL
        # """                STRING, which `_string` adds for each line end inside the literal
        text, position = self.text, 0
        self._begin_line(0, joined=False)
        while match := _INTERESTING.search(text, position):
            char, start = match[0], match.start()
            if char in "'\"":
                position = self._string(start)
            elif char in "([{":
                self.stack.append(start)
                self.deepest = max(self.deepest, len(self.stack))
                position = start + 1
            elif char in ")]}":
                if self.stack:
                    self.brackets.append((Span(self.stack[-1], start + 1), len(self.stack)))
                    self.stack.pop()
                position = start + 1
            elif char == "#":
                position = _end_of_comment(text, start)
                self.comments.append(Span(start, position))
            elif char == "\\":
                newline = _NEWLINE.match(text, start + 1)
                position = newline.end() if newline else start + 1
                if newline:
                    self._begin_line(position, joined=True)
            else:
                newline = _NEWLINE.match(text, start)
                position = newline.end() if newline else start + 1
                self._begin_line(position, joined=False)
        if self.starts and self.starts[-1] == len(text) and len(self.starts) > 1:
            self.starts.pop()
            self.kinds.pop()

    def _begin_line(self, start: int, *, joined: bool) -> None:
        self.starts.append(start)
        if self.stack or joined:
            self.kinds.append(LineKind.CONTINUATION)
            return
        position = start
        while position < len(self.text) and self.text[position] in " \t\f":
            position += 1
        char = self.text[position : position + 1]
        if char in ("", "\r", "\n"):
            self.kinds.append(LineKind.BLANK)
        else:
            self.kinds.append(LineKind.COMMENT if char == "#" else LineKind.LOGICAL)

    def _string(self, quote: int) -> int:
        start = quote - _length_of_prefix(self.text, quote)
        end, closed = _end_of_string(self.text, quote, self.memo)
        self.unterminated = self.unterminated or not closed
        self.strings.append(Span(start, end))
        for newline in _NEWLINE.finditer(self.text, start, end):
            self.starts.append(newline.end())
            self.kinds.append(LineKind.STRING)
        return end


def _end_of_comment(text: str, start: int) -> int:
    match = _COMMENT_END.search(text, start)
    return match.start() if match else len(text)


def _length_of_prefix(text: str, quote: int) -> int:
    match = _PREFIX.search(text[max(0, quote - 3) : quote]) if quote and text[quote - 1].isalpha() else None
    return len(match[0]) if match else 0


def _end_of_string(text: str, quote: int, memo: _Memo, depth: int = 0) -> tuple[int, bool]:
    """Return the offset behind the literal whose opening quote stands at `quote`, and whether it is closed.

    Parameters:
        memo: what was found out about other quotes: a field that never closes would be scanned anew at every level.
    """
    if quote not in memo:
        memo[quote] = _scan_string(text, quote, memo, depth)
    return memo[quote]


def _scan_string(text: str, quote: int, memo: _Memo, depth: int) -> tuple[int, bool]:
    char = text[quote]
    mark = char * 3 if text.startswith(char * 3, quote) else char
    prefix = text[quote - _length_of_prefix(text, quote) : quote].lower()
    if ("f" in prefix or "t" in prefix) and depth < _MAX_FIELD_DEPTH:
        end = _end_of_interpolated(text, quote + len(mark), mark, raw="r" in prefix, memo=memo, depth=depth)
        if end is not None:
            return end, True
    body = _STRING_BODY[mark].match(text, quote + len(mark))
    end = body.end() if body else quote + len(mark)
    closed = text.startswith(mark, end)
    return (end + len(mark) if closed else end), closed


def _end_of_interpolated(text: str, position: int, mark: str, *, raw: bool, memo: _Memo, depth: int) -> int | None:
    """Return the offset behind an f-string's closing quotes; None where its fields do not balance."""
    # f"a{x!r:>{w}}{{b}}"    `_end_of_field` reads `x!r:`, and leaves the rest to `_end_of_spec` from the colon on
    #         >{w}}          there `{w}` is a field of its own, and the next `}` ends the outer one
    #              {{b}}     text; then the quote ends the literal
    while position < len(text):
        char = text[position]
        if text.startswith(mark, position):
            return position + len(mark)
        if char == "\\":
            escaped = text[position + 1 : position + 3]
            # In a raw literal `\{` is a backslash and a field; elsewhere too, but `\N{…}` is a name.
            if not raw and escaped == "N{":
                closing = text.find("}", position)
                position = closing + 1 if closing >= 0 else len(text)
            elif escaped[:1] in "{}":
                position += 1
            else:
                position += 3 if escaped == "\r\n" else 2
        elif char in "\r\n" and len(mark) == 1:
            return None
        elif char == "{" and text.startswith("{{", position):
            position += 2
        elif char == "{":
            end = _end_of_field(text, position + 1, mark, raw=raw, memo=memo, depth=depth)
            if end is None:
                return None
            position = end
        else:
            position += 1
    return None


def _end_of_field(text: str, position: int, mark: str, *, raw: bool, memo: _Memo, depth: int) -> int | None:
    """Return the offset behind the `}` that ends a replacement field; `position` is behind its `{`."""
    nesting = 0
    while match := _FIELD_STOP.search(text, position):
        char, position = match[0], match.end()
        if char in "([{":
            nesting += 1
        elif char == "}" and nesting == 0:
            return position
        elif char in ")]}":
            nesting -= 1
        elif char == "#":
            position = _end_of_comment(text, match.start())
        elif char in "'\"":
            # Before PEP 701 the outer quote always ended the literal; then the field was never closed.
            position, closed = _end_of_string(text, match.start(), memo, depth + 1)
            if not closed:
                return None
        elif char == ":" and nesting == 0:
            return _end_of_spec(text, position, mark, raw=raw, memo=memo, depth=depth)
    return None


def _end_of_spec(text: str, position: int, mark: str, *, raw: bool, memo: _Memo, depth: int) -> int | None:
    """Return the offset behind the `}` that ends a field at its format specifier."""
    while position < len(text):
        char = text[position]
        if char == "}":
            return position + 1
        if char == "{":
            if depth >= _MAX_FIELD_DEPTH:
                return None
            end = _end_of_field(text, position + 1, mark, raw=raw, memo=memo, depth=depth + 1)
            if end is None:
                return None
            position = end
        elif text.startswith(mark, position):
            return None
        else:
            position += 1
    return None
