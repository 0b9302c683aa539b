"""A Python file as text: bytes to characters and back, line ends, indentation.

Invariants:
- `Source.encode(text)` of the untouched text gives the very bytes that were decoded, or decoding is refused;
- a line ends where Python's own tokenizer ends it: at `\\n`, `\\r\\n` or a lone `\\r`, and nowhere else;
- encodings, BOMs and line ends are known here and nowhere else.

Source of the encoding rules: PEP 263 and the language reference, section 2.1.4.
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_left, bisect_right
from functools import cached_property
from itertools import accumulate, count
from operator import add

from bae_source.errors import SourceError
from bae_source.model.span import Place
from bae_source.system.hashing import sha256

MAX_CHARACTERS = 20_000_000
"""A longer text is not parsed."""
NEWLINE = re.compile(r"\r\n|\n|\r")
_SPACE = r"[ \t\f]*"
_COOKIE = rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)"
_BLANK = rb"^[ \t\f]*(?:#[^\r\n]*)?$"
_LINE = rb"\r\n|\n|\r"
"""Patterns that are compiled only for a file that may name an encoding; few do."""
_BEGINNING = 4096
"""Bytes; an encoding is not named any later."""
_CONTINUED = bytes(range(0x80, 0xC0))
"""Bytes that continue a character in UTF-8."""
_BINARY = rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BLOCK = 512
"""Bytes in which newlines are counted at once, and then searched for one by one."""


class Lines:
    """The lines of a text as Python counts them, from 1.

    Parameters:
        text: decoded text, line ends as they stand.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def starts(self) -> list[int]:
        """Offset of the first character of each line."""
        return _starts(self.text)

    def __len__(self) -> int:
        return len(self.starts)

    def start(self, line: int) -> int:
        """Offset of the first character of a line; the text's length for the line behind the last."""
        return self.starts[line - 1] if line <= len(self.starts) else len(self.text)

    def end(self, line: int) -> int:
        """Offset behind the line's newline."""
        return self.start(line + 1)

    def cut(self, line: int) -> str:
        """Return a line with its newline."""
        return self.text[self.start(line) : self.end(line)]

    def number(self, offset: int) -> int:
        """Return the line that the character at `offset` is on."""
        return bisect_right(self.starts, offset)

    def place(self, offset: int) -> Place:
        """Return line and column of an offset, both from 1."""
        line = self.number(offset)
        return Place(line=line, column=offset - self.start(line) + 1)

    def logical_start(self, line: int) -> int:
        """Return where the logical line of a line begins: above it may stand lines of a lone backslash."""
        start = self.start(line)
        while self.joined(start) and self.cut(line - 1).strip(" \t\f\r\n") == "\\":
            line -= 1
            start = self.start(line)
        return start

    def indentation(self, line: int) -> str:
        """Return the white space that indents the logical line of a line, its form feeds included.

        Of lines of a lone backslash above it the first counts, as CPython's tokenizer has it, unless it has no indent.
        """
        start = self.logical_start(line)
        first = self.text[start : start + len(_leading_space(self.text, start))]
        own = self.start(line)
        return first or self.text[own : own + len(_leading_space(self.text, own))]

    def joined(self, line_start: int) -> bool:
        """Return whether the line above ends in a backslash that joins it to the one that starts here."""
        if "\\" not in self.text[max(0, line_start - 3) : line_start]:
            return False
        above = self.cut(self.number(line_start) - 1)
        return above.rstrip("\r\n").endswith("\\") and "#" not in above

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a place as `ast` gives it: line from 1, column in UTF-8 bytes from 0."""
        start = self.starts[line - 1]
        if self._ascii:
            return start + column
        text = self.text[start : self.start(line + 1)]
        return start + (column if text.isascii() else len(text.encode("utf-8", "surrogatepass")[:column].decode()))

    @cached_property
    def _ascii(self) -> bool:
        return self.text.isascii()


class Source:
    """One file's bytes, decoded.

    Parameters:
        content: the file's bytes.
        known: their digest, if it is known already.

    Raises:
        SourceError: `encoding_invalid` if they cannot be decoded as their BOM or cookie says;
            `not_lossless` if the codec does not give the same bytes back.
    """

    def __init__(self, content: bytes, known: str | None = None) -> None:
        self.content = content
        self._known = known
        self.bom = content.startswith(codecs.BOM_UTF8)
        self.encoding = _encoding(content, bom=self.bom)
        self.text = _decode(content[3:] if self.bom else content, self.encoding)
        if not self.stateless and self.encode(self.text) != content:
            raise SourceError(
                "not_lossless",
                f"changes when it is written as {self.encoding} and read again, so it cannot be edited without loss.",
                subject="The file",
                hints=["Convert the file to UTF-8 first."],
            )

    @classmethod
    def of_text(cls, text: str, encoding: str = "utf-8") -> Source:
        """Make a source of text that is no Python file, whatever cookie it may hold."""
        source = cls(b"")
        source.text, source.encoding = text, encoding
        return source

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the bytes, in hexadecimal."""
        return self._known or sha256(self.content)

    @cached_property
    def lines(self) -> Lines:
        """The text's lines."""
        return Lines(self.text)

    @cached_property
    def newline(self) -> str:
        """The line end that the file uses most; `\\n` where it has none."""
        return dominant_newline(self.text) or "\n"

    def encode(self, text: str) -> bytes:
        """Return `text` as bytes of this file's encoding, BOM included.

        Raises:
            SourceError: `encoding_invalid` if the encoding has no such character.
        """
        try:
            encoded = text.encode(self.encoding)
        except UnicodeEncodeError as error:
            raise SourceError(
                "encoding_invalid",
                f"is {self.encoding}, which has no {text[error.start]!r}.",
                subject="The file",
                hints=["Write the character as an escape such as \\u20ac, or convert the file to UTF-8 first."],
            ) from None
        return codecs.BOM_UTF8 + encoded if self.bom else encoded

    @cached_property
    def stateless(self) -> bool:
        """Return whether each character's bytes depend on that character alone, and decoding is known to be exact."""
        return self.encoding in ("utf-8", "ascii", "iso8859-1")


class SingleLines:
    """Lines of a file that could be decoded: only those that are asked for are, which are few of many.

    Parameters:
        content: the file's bytes, of which `Source` was made before.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content.removeprefix(codecs.BOM_UTF8)
        self._lines: Lines | None = None
        if may_name_encoding(content):
            self._lines = Source(content).lines
        elif b"\r" in content:
            self._lines = Lines(_loosely(self._content))

    def cut(self, line: int) -> str:
        """Return a line with its newline."""
        if self._lines is not None:
            return self._lines.cut(line)
        start = self._behind(line - 1)
        return _loosely(self._content[start : self._content.find(b"\n", start) + 1 or None])

    @cached_property
    def _above(self) -> list[int]:
        """Return the number of newlines above each block, and in all.

        So a few lines are found in a third of the time that it takes to find where each begins.
        """
        content = self._content
        blocks = range(0, len(content), _BLOCK)
        return list(accumulate([content.count(b"\n", at, at + _BLOCK) for at in blocks], initial=0))

    def _behind(self, newlines: int) -> int:
        """Return the offset behind so many newlines; the content's length where there are not as many."""
        if newlines > self._above[-1]:
            return len(self._content)
        block = max(0, bisect_left(self._above, newlines) - 1)
        end = block * _BLOCK
        for _ in range(newlines - self._above[block]):
            end = self._content.find(b"\n", end) + 1
        return end


def _loosely(content: bytes) -> str:
    """Decode what was UTF-8 a moment ago."""
    return content.decode("utf-8", "surrogateescape")


def source_of(content: bytes) -> Source | None:
    """Return a file's source; None where its bytes are plain ASCII, so that they need no decoding.

    Raises:
        SourceError: as `Source`.
    """
    return None if content.isascii() and not may_name_encoding(content) else Source(content)


def parsable(content: bytes, known: str | None = None) -> Source:
    """Return the source of a file that is to be parsed; one that is too long is not decoded, where its bytes tell.

    Raises:
        SourceError: as `Source`, and `not_lossless` if it is too long.
    """
    if len(content) > MAX_CHARACTERS and not may_name_encoding(content):
        check_length(len(content.removeprefix(codecs.BOM_UTF8).translate(None, _CONTINUED)))
    source = Source(content, known)
    check_length(len(source.text))
    return source


def check_length(characters: int) -> None:
    """Check that a text is not too long to be parsed; raise `not_lossless` if it is."""
    if characters > MAX_CHARACTERS:
        raise SourceError(
            "not_lossless",
            f"has {characters:,} characters, more than {MAX_CHARACTERS:,}.",
            subject="The file",
            hints=["Split the file by hand."],
        )


def codec_of(content: bytes) -> str | None:
    """Return the encoding of a file that is no Python; None for a file that is no text."""
    if b"\0" in content or content.startswith(_UTF_16):
        return None
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return None if re.search(_BINARY, content) else "iso8859-1"
    return "utf-8"


def dominant_newline(text: str) -> str | None:
    """Return the line end that `text` uses most, the first of equals; None where it has none."""
    if "\r" not in text:
        return "\n" if "\n" in text else None
    crlf = text.count("\r\n")
    counts = {"\r\n": crlf, "\n": text.count("\n") - crlf, "\r": text.count("\r") - crlf}
    return max(counts, key=lambda newline: counts[newline])


def newline_kinds(text: str) -> set[str]:
    """Return the line ends that occur in `text`."""
    return set(NEWLINE.findall(text)) if "\r" in text else ({"\n"} if "\n" in text else set())


def with_newlines(text: str, newline: str) -> str:
    """Return `text` with every line end as `newline`; text that mixes line ends is taken to mean them."""
    if len(newline_kinds(text)) > 1 or dominant_newline(text) in (None, newline):
        return text
    return NEWLINE.sub(newline, text)


def kept_uniform(text: str, around: str) -> str:
    """Return new text with the line ends of its file's text, where these are all of one kind."""
    kinds = newline_kinds(around)
    return NEWLINE.sub(next(iter(kinds)), text) if len(kinds) == 1 and text else text


def _leading_space(text: str, start: int) -> str:
    match = re.compile(_SPACE).match(text, start)
    return match[0] if match else ""


def _starts(text: str) -> list[int]:
    if "\r" in text:
        return [0, *(match.end() for match in NEWLINE.finditer(text) if match.end() < len(text))]
    starts = [0, *map(add, accumulate(map(len, text.split("\n"))), count(1))]
    # Behind the last newline no line begins if nothing is there, and behind the text none does at all.
    del starts[-2 if text.endswith("\n") else -1 :]
    return starts or [0]


def _encoding(content: bytes, *, bom: bool) -> str:
    """Return the normalised name of the codec that PEP 263 asks for."""
    named = _cookie(content[3:] if bom else content)
    if named is None:
        return "utf-8"
    try:
        codec = codecs.lookup(named)
    except LookupError:
        codec = None
    if codec is None or not codec._is_text_encoding:  # noqa: SLF001  (the only way to ask)
        raise SourceError(
            "encoding_invalid",
            f"names the encoding {named!r}, which Python does not know.",
            subject="The file",
            hints=["Mend the encoding cookie by other means."],
        )
    if bom and codec.name not in ("utf-8", "utf-8-sig"):
        raise SourceError(
            "encoding_invalid",
            f"has a UTF-8 byte order mark but names {named!r}.",
            subject="The file",
            hints=["Mend the encoding cookie by other means."],
        )
    return "utf-8" if codec.name == "utf-8-sig" else codec.name


def may_name_encoding(content: bytes) -> bool:
    """Return whether the first two lines may name an encoding, by which ASCII might mean other text."""
    end = content.find(b"\n", content.find(b"\n", 0, _BEGINNING) + 1, _BEGINNING)
    return content.find(b"coding", 0, end if end >= 0 else _BEGINNING) >= 0


def _cookie(content: bytes) -> str | None:
    """Return the encoding that the first or, where the first is blank or a comment, the second line names."""
    if not may_name_encoding(content):
        return None
    first, second = [*re.split(_LINE, content[:_BEGINNING], maxsplit=2), b""][:2]
    match = re.match(_COOKIE, first) or (re.match(_COOKIE, second) if re.match(_BLANK, first) else None)
    return match[1].decode("ascii", "replace") if match else None


def _decode(content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except (UnicodeDecodeError, ValueError) as error:
        position = getattr(error, "start", 0)
        line = len(re.findall(_LINE, content[:position])) + 1
        raise SourceError(
            "encoding_invalid",
            f"cannot be decoded as {encoding}: byte {position} on line {line} does not fit.",
            subject="The file",
            hints=["Add an encoding cookie such as # -*- coding: latin-1 -*-, or convert the file to UTF-8."],
        ) from None
