"""The definitions of text that does not parse, as far as lines alone tell: what is broken is overwritten, and passed.

    def f():                    def f():                <- at equal length, so that every offset still fits
        return = 1                  0
    def g():                    def g():
        return 2                    return 2

A statement that parses by itself is let stand. A class is read; of any other statement that does not parse, a
definition keeps its name and its lines, and all else becomes a plain `0`.

A bracket that nothing closes ends where a line begins a statement as far out as its own:

    def f(:                     def f :                 <- the bracket is overwritten
        return max(1, 2             return max 1, 2
    def g(): ...                def g(): ...            <- no part of f

A string that nothing closes takes all that follows with it, and so does a bracket below which no such line stands:
where that ends is not known (`Tree.open_from`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bae_source.errors import SourceError
from bae_source.syntax.outline.tree import Tree, parse_text
from bae_source.syntax.text.lexer import Lexed, LineKind, end_of_header, lex
from bae_source.syntax.text.source import Source

_HEADER = re.compile(r"((?:async[ \t]+)?def|class)[ \t]+(\w+)")
_BEGINS = re.compile(
    r"(?:(?:async[ \t]+)?def|class)[ \t]+\w|@\w|(?:from[ \t]+[\w.]+[ \t]+)?import[ \t]"
    r"|(?:return|raise|with|try|while|assert|del|pass|break|continue|global|nonlocal)\b|\w+[ \t]*(?::[^=\n]*)?=[ \t]"
)
"""The beginning of a line that hardly stands inside brackets."""
_MOST_OPEN = 100
"""Brackets without an end that are searched for one by one."""
_CLAUSE = re.compile(r"(?:else|elif|except|finally|case)\b")
_SPACE = re.compile(r"[ \t\f]*")


def suites_of(text: str) -> Iterator[tuple[int, int]]:
    """Yield the first and last line of the suite of each outermost function, by indentation.

    Parameters:
        text: whose lines end with a line feed.
    """
    lexed, lines = lex(text), text.split("\n")
    first = last = column = behind = 0
    for number, (kind, start) in enumerate(zip(lexed.kinds, lexed.starts, strict=True), 1):
        if kind in (LineKind.BLANK, LineKind.COMMENT) or start < behind:
            continue
        line = lines[number - 1]
        indent = len(_indent(line))
        if first and (kind is LineKind.STRING or indent > column):
            last = number
            continue
        if last:
            yield first, last
        first = last = 0
        if (header := _HEADER.match(line, indent)) and header[1] != "class":
            behind, column = end_of_header(text, start + indent), indent
            first = number + text.count("\n", start, behind) + 1
    if last:
        yield first, last


def broken_tree(content: bytes) -> Tree:
    """Return the definitions recognised in a file that does not parse; there may be none.

    Raises:
        SourceError: `encoding_invalid`.
    """
    source = Source(content)
    text, open_from = _bounded(source.text)
    try:
        outline, newer = parse_text(_Passing(text).mended(), source.lines)
    except SourceError:  # none are recognised, but a piece of its text can be replaced
        outline, newer = parse_text(re.sub(r"[^\r\n]", " ", text), source.lines)
        open_from = 0
    return Tree(source, outline, newer=newer, open_from=open_from)


def _bounded(text: str) -> tuple[str, int | None]:
    """Return a text in which brackets end with their statement, and the offset from which its end is not known."""
    for _ in range(_MOST_OPEN):
        lexed = lex(text)
        if lexed.closed:
            return text, None
        opening = lexed.open[0] if lexed.open else None
        if opening is None or not _ends_below(text, lexed, opening):
            last = lexed.strings[-1].start if lexed.strings else len(text)
            return text, last if opening is None else opening
        text = f"{text[:opening]} {text[opening + 1 :]}"
    return text, 0


def _ends_below(text: str, lexed: Lexed, opening: int) -> bool:
    """Return whether a line below a bracket begins a statement as far out as the one that the bracket stands in."""
    first = max(number for number, start in enumerate(lexed.starts) if start <= opening)
    while first and lexed.kinds[first] is not LineKind.LOGICAL:
        first -= 1
    indent = len(_indent(text[lexed.starts[first] : opening]))
    for kind, start in zip(lexed.kinds, lexed.starts, strict=True):
        if start <= opening or kind is not LineKind.CONTINUATION:
            continue
        column = len(_indent(text[start : start + 500]))
        if column <= indent and _BEGINS.match(text, start + column):
            return True
    return False


class _Passing:
    """Overwrites the statements of a text that do not parse."""

    def __init__(self, text: str) -> None:
        lexed = lex(text)
        self.kinds = lexed.kinds
        self.starts = (*lexed.starts, len(text))
        self.lines = [text[a:b] for a, b in zip(self.starts, self.starts[1:], strict=False)]

    def mended(self) -> str:
        self._mend(0, len(self.lines), "")
        return "".join(self.lines)

    def _mend(self, first: int, last: int, indent: str) -> None:
        """Overwrite what does not parse among the statements of one suite, which stands in a range of lines."""
        for start, end in self._statements(first, last, indent):
            text = "".join(self.lines[start:end])
            if _parses(f"if 1:\n{text}" if indent else text):
                continue
            logical = (n for n in range(start, end) if self.kinds[n] is LineKind.LOGICAL)
            header = next((n for n in logical if not self.lines[n].lstrip(" \t\f").startswith("@")), start)
            match = _HEADER.match(self.lines[header], len(indent))
            decorators = "".join(self.lines[start:header])
            if match and not _parses(f"{'if 1:' if indent else ''}\n{decorators}{indent}def f(): 0"):
                for number in range(start, header):
                    self._write(number, "")
            inner = next((n for n in range(header + 1, end) if self.kinds[n] is LineKind.LOGICAL), None)
            if match and match[1] == "class" and inner is not None and _parses(f"{self.lines[header].strip()} 0"):
                self._mend(inner, end, _indent(self.lines[inner]))
            else:
                self._pass(header if match else start, end, f"{indent}{match[1]} {match[2]}" if match else indent)

    def _statements(self, first: int, last: int, indent: str) -> list[tuple[int, int]]:
        found: list[list[int]] = []
        decorated = False
        for number in range(first, last):
            line, kind = self.lines[number], self.kinds[number]
            own = kind is LineKind.LOGICAL and len(_indent(line)) <= len(indent)
            bare = line[len(_indent(line)) :]
            if own and not decorated and not (found and _CLAUSE.match(bare)):
                found.append([number, number + 1])
            elif found and kind not in (LineKind.BLANK, LineKind.COMMENT):
                found[-1][1] = number + 1
            if own:
                decorated = bare.startswith("@")
        return [(start, end) for start, end in found]

    def _pass(self, start: int, end: int, lead: str) -> None:
        """Overwrite a statement by one that goes over the same lines."""
        is_definition = bool(lead.strip())
        forms = [(f"{lead}():", "0"), (f"{lead}(", "):0")] if is_definition else [(f"{lead}(", ")")]
        whole = f"{lead}():0" if is_definition else f"{lead}0"
        if end - start == 1:
            self._write(start, whole)
            return
        final = self.lines[end - 1]
        for opening, closing in forms:
            inner = "0" if closing == "0" else ""
            space = _indent(final) if inner or not is_definition else ""
            if inner and len(space) <= len(_indent(lead)):
                continue  # a bracket that nothing closes has drawn it in; it stands in no suite
            if len(opening) > len(self.lines[start].rstrip("\r\n")) or len(space + closing) > len(final.rstrip("\r\n")):
                continue
            middle = range(start + 1, end - 1)
            if inner and middle:
                second = self.lines[start + 1].rstrip("\r\n")
                if len(second) <= len(space):
                    continue
                self._write(start + 1, f"{space}(")
                closing, middle = ")", range(start + 2, end - 1)
            self._write(start, opening)
            for number in middle:
                self._write(number, "")
            self._write(end - 1, space + closing)
            return

    def _write(self, number: int, text: str) -> None:
        line = self.lines[number]
        bare = line.rstrip("\r\n")
        if len(text) <= len(bare):
            self.lines[number] = text + " " * (len(bare) - len(text)) + line[len(bare) :]


def _indent(line: str) -> str:
    match = _SPACE.match(line)
    return match[0] if match else ""


def _parses(text: str) -> bool:
    try:
        parse_text(text)
    except SourceError:
        return False
    return True
