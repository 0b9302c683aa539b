"""The lines of a file as a hunk is fitted into them, and where a block of lines stands among them.

Lines end at `\\n` alone, as git has it; a carriage return in front of it belongs to the line's end. So do a missing
last line feed and a byte order mark, which no hunk has to know of.

Invariant: text that no edit touches is not decoded and encoded again: edits are made on the bytes.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from bae_source.errors import SourceError
from bae_source.model.changeset import Edit
from bae_source.syntax.patches.patch import Hunk
from bae_source.syntax.text.source import Source, codec_of

_CHARACTERS = 0x110000
MOST_PLACES = 1000
"""Most places that are searched for; more would not be told apart either."""


def bare(line: str) -> str:
    """Return a line without the white space around it."""
    return line.strip()


def loose(line: str) -> str:
    """Return a line without the white space at its end."""
    return line.rstrip()


def exact(line: str) -> str:
    """Return a line without the carriage return that belongs to its end."""
    return line.removesuffix("\r")


class View:
    """One file.

    Parameters:
        content: its bytes.
        hunks: what is to be fitted; they tell how the text is decoded.
        python: whether it is Python, which may name its encoding.
    """

    def __init__(self, content: bytes, hunks: Iterable[Hunk], *, python: bool) -> None:
        texts = [line.text for hunk in hunks for line in hunk.lines]
        with_mark = any(text.startswith("\ufeff") for text in texts)
        self._lead = 3 if content.startswith(codecs.BOM_UTF8) and not with_mark else 0
        self.codec, self._errors = _codec(content, texts, python=python)
        self._pieces = content[self._lead :].split(b"\n")
        self.ended = self._pieces[-1] == b""
        if self.ended:
            self._pieces.pop()
        self.lines = [piece.decode(self.codec, self._errors) for piece in self._pieces]
        self._found: dict[Callable[[str], str], tuple[dict[str, int], list[str], str]] = {}

    def __len__(self) -> int:
        return len(self.lines)

    @cached_property
    def is_crlf(self) -> bool:
        """True if all its lines end in carriage return and line feed."""
        ended = self.lines if self.ended else self.lines[:-1]
        return bool(ended) and all(line.endswith("\r") for line in ended)

    def newline_at(self, line: int) -> str:
        """Return the line end that a new line there has: that of the one above, else of the one below."""
        near = [each for each in (line - 1, line) if 0 <= each < len(self.lines) - (not self.ended)]
        return "\r\n" if near and self.lines[near[0]].endswith("\r") else "\n"

    def places(self, block: Sequence[str], key: Callable[[str], str]) -> list[int]:
        """Return the lines, from 0, at which a block of lines stands.

        Parameters:
            key: makes two lines the same that count as such.
        """
        if not block:
            return []
        codes, keys, text = self._coded(key)
        wanted = [key(line) for line in block]
        if any(each not in codes for each in wanted):
            return []
        sought = "".join(chr(codes[each]) for each in wanted)
        found: list[int] = []
        at = text.find(sought)
        while at >= 0 and len(found) < MOST_PLACES:
            if len(codes) < _CHARACTERS or keys[at : at + len(wanted)] == wanted:
                found.append(at)
            at = text.find(sought, at + 1)
        return found

    def _coded(self, key: Callable[[str], str]) -> tuple[dict[str, int], list[str], str]:
        """Return the file as a string with a character for each line, in which blocks are found fast."""
        if key not in self._found:
            codes: dict[str, int] = {}
            keys = [key(line) for line in self.lines]
            text = "".join(chr(codes.setdefault(each, len(codes)) % _CHARACTERS) for each in keys)
            self._found[key] = ({each: code % _CHARACTERS for each, code in codes.items()}, keys, text)
        return self._found[key]

    @cached_property
    def _offsets(self) -> list[int]:
        """Offset of each line in the file's bytes, and the offset behind the last."""
        found, at = [], self._lead
        for piece in self._pieces:
            found.append(at)
            at += len(piece) + 1
        return [*found, at if self.ended or not self._pieces else at - 1]

    def edit(self, start: int, stop: int, text: str) -> Edit:
        """Return the edit of the file's bytes that puts a text in the place of some lines.

        Raises:
            UnicodeEncodeError: the file's encoding has no such character.
        """
        old = b"".join(piece + b"\n" for piece in self._pieces[start:stop])
        if stop == len(self._pieces) and stop > start and not self.ended:
            old = old[:-1]
        return Edit(start=self._offsets[start], old=old, new=text.encode(self.codec, self._errors))


def _codec(content: bytes, texts: Sequence[str], *, python: bool) -> tuple[str, str]:
    """Return the encoding in which a hunk's text and a file are compared, and the handling of other characters.

    A diff that git made has the very bytes of the file, which stand as surrogate escapes where they are no UTF-8; one
    that was written as text has characters.
    """
    by_bytes = ("utf-8", "surrogateescape")
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        has_bytes = any(not text.isascii() and any("\udc80" <= each <= "\udcff" for each in text) for text in texts)
        named = None if has_bytes or all(map(str.isascii, texts)) else _named(content, python=python)
        return (named, "strict") if named else by_bytes
    return by_bytes


def _named(content: bytes, *, python: bool) -> str | None:
    """Return the encoding of a file that is not UTF-8; None where each line cannot be decoded by itself."""
    try:
        codec = Source(content).encoding if python else codec_of(content)
    except SourceError:
        return None
    try:
        for piece in content.split(b"\n") if codec else ():
            if piece.decode(codec or "").encode(codec or "") != piece:
                return None
    except (UnicodeError, LookupError):
        return None
    return codec
