"""The class headers of a file and its imports under another name, read from its text without parsing it.

    class A(core.Base, metaclass=M): …      names core, Base, metaclass, M
    from core import Base as B              imports Base as B

Invariants:
- every name in a header is found, and every alias; more may be, where what looks like one is none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from bae_source.syntax.text.source import Source

# Both begin with plain letters, which a search skips to much faster than to any word.
_CLASS = re.compile(rb"class[\s\\]+[\w\x80-\xff]+[\s\\]*(?:\(([^()#\"']*)\)[\s\\]*:|[(\[])")
"""A class header, and its bases; without them where it takes a closer look to tell where they end."""
_IMPORT = re.compile(rb"import(?:[^\r\n\\(]+|\\\s*|\([^)#]*(?:#[^\r\n]*[^)#]*)*)*")
"""An import up to the end of its line, with all that stands in parentheses."""
_STRING = rb'"""(?:[^\\]|\\.)*?"""|"(?:[^"\\\r\n]|\\(?:\r\n|.))*"'
_END = re.compile(rb"#[^\r\n]*|%b|%b|\)[\s\\]*:" % (_STRING, _STRING.replace(b'"', b"'")), re.DOTALL)
"""Comments and strings, which are skipped on the way to the end of a class header, and possible ends."""
_NO_WORD = [re.compile(rb"%b|[,;.()\\]" % comment) for comment in (rb"#[^\r\n]*", rb"#[^#\r\n]*(?![^\r\n])", rb"#")]
"""Text between words: a comment from the first `#` of a line on; where that is in a string, from the last on, or
none."""
_SPACED = bytes.maketrans(b"\t\n\v\f\r\\#", b"       ")
"""Table by which all that may stand around `as` becomes a space."""
_INDENT = b" \t\f\\\xef\xbb\xbf"
_MOST_READS = 2
"""Times that a file's text may be searched for the ends of headers, which may overlap where one is none."""


Named = tuple[str, str]
"""Names in the class headers of a file, and its imports with aliases: names and aliases in turn. No NULs."""


def named_in(content: bytes, source: Source | None) -> Named:
    """Look through a file's bytes.

    Parameters:
        source: the file's, as `source_of` gives it.
    """
    if source is not None and source.encoding != "utf-8":
        content = source.text.encode("utf-8", "surrogatepass")
    headers = _CLASS.findall(content)
    if b"" in headers:
        headers = list(_headers(content))
    imports = _IMPORT.findall(content)
    return _text(b" ".join(headers)) if headers else "", _aliases(imports) if _renames(b"\n".join(imports)) else ""


def _renames(imported: bytes) -> bool:
    """Return whether `as` stands in an import."""
    return b" as " in imported.translate(_SPACED)


def _aliases(imports: list[bytes]) -> str:
    found: dict[str, None] = {}
    for imported in filter(_renames, imports):
        in_string = b"#" in imported and (b"'" in imported or b'"' in imported)
        for no_word in _NO_WORD if in_string else _NO_WORD[:1]:
            words = _text(no_word.sub(b" ", imported)).split()
            for name, word, alias in zip(words, words[1:], words[2:], strict=False):
                if word == "as" and name != alias:
                    found[f"{name} {alias}"] = None
    return " ".join(found)


def _headers(content: bytes) -> Iterator[bytes]:
    """Yield the text between the parentheses of each class header, and perhaps more.

    What looks like a header and is none may seem to end inside a true one, so the search goes on where it began.
    """
    position, left = 0, _MOST_READS * len(content)
    while found := _CLASS.search(content, position):
        bases = found[1]
        position = found.end()
        if bases is None and _begins_line(content, found.start()):
            bases = _closer(content, position) if left > 0 else content[position:]
            left -= len(bases)
        if bases:
            yield bases
            if position + len(bases) == len(content):
                return


def _begins_line(content: bytes, start: int) -> bool:
    """Return whether nothing but indentation stands before a place in its line, as before every class statement."""
    while start and content[start - 1] in _INDENT:
        start -= 1
    return not start or content[start - 1] in b"\r\n"


def _closer(content: bytes, start: int) -> bytes:
    """Return what follows the first bracket of a class header, up to where the header may end at the earliest."""
    depth, position = 1, start
    for end in _END.finditer(content, start):
        depth += _depth(content[position : end.start()])
        position = end.end()
        if content.startswith(b")", end.start()):
            depth -= 1
            if depth <= 0:
                return content[start : end.start()]
    return content[start:]


def _depth(content: bytes) -> int:
    """Return how many more brackets open in it than close."""
    return sum(map(content.count, (b"(", b"[", b"{"))) - sum(map(content.count, (b")", b"]", b"}")))


def _text(content: bytes) -> str:
    """Return a piece of text as Python reads the names in it."""
    text = content.decode("utf-8", "surrogatepass").replace("\0", " ")
    return text if text.isascii() else unicodedata.normalize("NFKC", text)
