"""A match with no more changed than the replacement differs from the pattern, so that its layout and comments stay.

    pattern  requests.get($URL)              get(          get(
    replacement  http.get($URL, timeout=5)       url,  # one       url, timeout=5,  # one
                                             )             )

Tokens are compared: what differs between pattern and replacement is changed in the match, where its tokens are those
of the pattern. The caller checks that the outcome parses as the replacement does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from difflib import SequenceMatcher

from msgspec import Struct

from bae_source.model.span import Span
from bae_source.syntax.text.lexer import lex

_TOKEN = re.compile(
    r"\d(?:[\w.]|(?<=[eE])[+-])*|\w+|\.\.\.|->|:=|(?:\*\*|//|>>|<<|[-+*/%@&|^<>=!])=|\*\*|//|>>|<<|<>|[^\s\\]"
)


class Token(Struct, frozen=True):
    """A token, or all that a hole stands for.

    Parameters:
        text: its text; of a hole its name behind a NUL.
        span: where it stands.
    """

    text: str
    span: Span

    @property
    def is_hole(self) -> bool:
        """Return whether it is a hole."""
        return self.text.startswith("\0")


def tokens_of(text: str, holes: Sequence[tuple[Span, str]]) -> list[Token]:
    """Return the tokens of some code without its comments, with holes as tokens.

    Parameters:
        holes: spans of what holes stand for, and their names.
    """
    lexed = lex(text)
    fixed = [Token(f"\0{name}", span) for span, name in holes]
    fixed += [Token("#", span) for span in lexed.comments]
    fixed += [Token(span.cut(text), span) for span in lexed.strings]
    found: list[Token] = []
    position = 0
    for token in sorted(fixed, key=lambda each: (each.span.start, -each.span.end)):
        if token.span.start < position:
            continue
        found += _plain(text, position, token.span.start)
        found += [token] if token.text != "#" or token.span.start == token.span.end else []
        position = token.span.end
    return [*found, *_plain(text, position, len(text))]


def _plain(text: str, start: int, end: int) -> list[Token]:
    return [Token(found[0], Span(*found.span())) for found in _TOKEN.finditer(text, start, end)]


class Alignment:
    """A match beside its pattern and what replaces it.

    Parameters:
        code: the matched code, and its tokens.
        pattern: its tokens.
        replacement: its text, and its tokens.
        written: returns the text of the replacement between two offsets, with its holes filled; None where it cannot.
    """

    def __init__(
        self,
        code: tuple[str, Sequence[Token]],
        pattern: Sequence[Token],
        replacement: tuple[str, Sequence[Token]],
        written: Callable[[int, int], str | None],
    ) -> None:
        self.text, self.code = code
        self.pattern = [each.text for each in pattern]
        self.source, self.replacement = replacement
        self.written = written
        self.place: dict[int, int] = {}
        """By the number of a token of the pattern that of the same one in the code."""
        pairs = SequenceMatcher(None, self.pattern, [each.text for each in self.code], autojunk=False)
        for block in pairs.get_matching_blocks():
            self.place.update({block.a + number: block.b + number for number in range(block.size)})

        self._steps = [
            step
            for step in SequenceMatcher(
                None, self.pattern, [each.text for each in replacement[1]], autojunk=False
            ).get_opcodes()
            if step[0] != "equal"
        ]

    @property
    def keeps_brackets(self) -> bool:
        """Return whether no bracket goes without the other of its pair, so that a layout of several lines fits."""
        later = [each.text for each in self.replacement]
        return all(
            _is_balanced(self.pattern[first:last]) and _is_balanced(later[start:end])
            for how, first, last, start, end in self._steps
            if how != "insert"
        )

    def needless(self) -> Iterator[tuple[Span, str]]:
        """Yield the splices that take away brackets around a hole, where the replacement has other code beside it."""
        known, later = set(self.place.values()), [each.text for each in self.replacement]
        for before, token, after in zip(self.code, self.code[1:], self.code[2:], strict=False):
            number = self.code.index(token)
            gaps = Span(before.span.end, token.span.start).cut(self.text), Span(token.span.end, after.span.start)
            if (
                token.is_hole
                and (before.text, after.text) == ("(", ")")
                and known.isdisjoint((number - 1, number + 1))
                and _beside(self.pattern, token.text) != _beside(later, token.text)
                and not f"{gaps[0]}{gaps[1].cut(self.text)}".strip(" \t")
            ):
                yield Span(before.span.start, token.span.start), ""
                yield Span(token.span.end, after.span.end), ""

    def splices(self) -> list[tuple[Span, str]] | None:
        """Return the splices on the matched code that make the replacement of it; None where they are not plain."""
        found: list[tuple[Span, str]] = []
        for how, first, last, start, end in self._steps:
            spliced = self._inserted(first, start, end) if how == "insert" else self._replaced(first, last, start, end)
            if spliced is None:
                return None
            found.append(spliced)
        return found

    def _replaced(self, first: int, last: int, start: int, end: int) -> tuple[Span, str] | None:
        numbers = [self.place.get(number, -1) for number in range(first, last)]
        if -1 in numbers or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
            return None
        span = Span(self.code[numbers[0]].span.start, self.code[numbers[-1]].span.end)
        before = self.text[: span.start]
        space = re.match(r"[ \t]*", self.text[span.end :])
        room = len(space[0]) if space else 0
        if start == end and numbers[0] == 0:
            return Span(span.start, span.end + room), ""
        if start == end and numbers[-1] + 1 == len(self.code):
            last = self.code[numbers[0] - 1].span.end
            return Span(last if not before[last:].strip() else span.start, span.end), ""
        gaps = self._gap(start - 1), self._gap(end - 1)
        is_behind = first > 0 and self.place.get(first - 1) == numbers[0] - 1
        is_joined = is_behind and not before[self.code[numbers[0] - 1].span.end :].strip(" \t")
        is_followed = self.text[span.end + room : span.end + room + 1] not in ("", "#", "\r", "\n", "\\")
        left = gaps[0] if is_joined else None
        right = gaps[1] if is_followed else None
        if left is not None:
            span = Span(self.code[numbers[0] - 1].span.end, span.end)
        if right is not None:
            span = Span(span.start, span.end + room)
        if start == end:
            return span, left if left is not None else right or ""
        spliced = self._spliced(span, self.replacement[start].span.start, self.replacement[end - 1].span.end)
        return None if spliced is None else (span, f"{left or ''}{spliced[1]}{right or ''}")

    def _gap(self, number: int) -> str | None:
        """Return what stands behind a token of the replacement; None where that is no space on a line, or nothing."""
        if not 0 <= number < len(self.replacement) - 1:
            return None
        gap = self.source[self.replacement[number].span.end : self.replacement[number + 1].span.start]
        return gap if not gap.strip(" \t") else None

    def _inserted(self, first: int, start: int, end: int) -> tuple[Span, str] | None:
        code, new = self.code, self.replacement
        begin, stop = new[start].span.start, new[end - 1].span.end
        behind = new[end].span.start if end < len(new) else stop
        if first == 0:
            at = code[0].span.start
            return self._spliced(Span(at, at), begin, behind) if self.place.get(0) == 0 else None
        if (before := self.place.get(first - 1)) is None:
            return None
        after = code[before].span.end
        following = code[before + 1] if before + 1 < len(code) else None
        if following is not None and following.text == new[start].text == "," and self.place.get(first) != before + 1:
            if start + 1 == end:
                return Span(after, after), ""
            spliced = self._spliced(Span(following.span.end, following.span.end), new[start].span.end, stop)
            return None if spliced is None else (spliced[0], f"{spliced[1]},")
        until = following.span.start if following is not None else after
        if self.text[after:until].strip(" \t"):
            return self._spliced(Span(after, after), new[start - 1].span.end, stop)
        return self._spliced(Span(after, until), new[start - 1].span.end, behind)

    def _spliced(self, span: Span, start: int, end: int) -> tuple[Span, str] | None:
        new = self.written(start, end)
        return None if new is None else (span, new)


def _is_balanced(tokens: Sequence[str]) -> bool:
    depth = 0
    for token in tokens:
        depth += (token in ("(", "[", "{")) - (token in (")", "]", "}"))
        if depth < 0:
            return False
    return depth == 0


def _beside(tokens: Sequence[str], token: str) -> list[Sequence[str]]:
    """Return the tokens on both sides of a token, for each time it occurs."""
    return [tokens[max(0, at - 1) : at + 2] for at, each in enumerate(tokens) if each == token]


def has_comment(text: str, holes: Sequence[tuple[Span, str]]) -> bool:
    """Return whether a comment stands in some code outside what holes stand for."""
    comments = lex(text).comments if "#" in text else ()
    return any(not any(hole.contains(each) for hole, _ in holes) for each in comments)


def named(tokens: Sequence[Token], names: Mapping[str, str], empty: Set[str]) -> list[Token]:
    """Return the tokens of code with holes as they are in the matched code: a name for one that stands for a name.

    A hole that stands for nothing is none there, nor the comma beside it.
    """
    found: list[Token] = []
    skip = False
    for number, token in enumerate(tokens):
        if skip:
            skip = False
            continue
        name = token.text[1:] if token.is_hole else ""
        if name in empty:
            if found and found[-1].text == ",":
                found.pop()
            else:
                skip = number + 1 < len(tokens) and tokens[number + 1].text == ","
            continue
        found.append(Token(names[name], token.span) if name in names else token)
    return found
