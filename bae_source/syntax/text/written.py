"""A whole module's source as the bytes of its file: a new file, or one that takes the place of another.

Invariants:
- a file that is replaced keeps its encoding, its BOM and its line ends;
- the returned bytes decode to the very text that they were made of.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from bae_source.errors import SourceError
from bae_source.model.outcome import Notice
from bae_source.syntax.text.source import NEWLINE, Source, dominant_newline, kept_uniform, with_newlines

_BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"
_COOKIE = re.compile(r"(?:[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\n|\r))?([ \t\f]*#[^\r\n]*?coding[:=][ \t]*[-\w.]+[^\r\n]*)")
_SHEBANG = re.compile(r"#![^\r\n]*(?:\r\n|\n|\r)")


def written(text: str, name: str, *, newline: str, like: Source | None = None) -> tuple[bytes, list[Notice]]:
    """Return the bytes of a module with this source, and notices about them.

    Parameters:
        text: the source; line ends of one kind become `newline`; a mixture is kept in a new file.
        name: the module's name, for messages.
        newline: the line end of the file.
        like: the file that is replaced.

    Raises:
        SourceError: `encoding_invalid` if the encoding has no such character; `not_lossless`.
    """
    notices: list[Notice] = []
    bom = text.startswith(_BOM) if like is None else like.bom
    text = with_newlines(text.removeprefix(_BOM), newline)
    if like is not None:
        text = kept_uniform(text, like.text)
    if text and text[-1] not in "\r\n":
        text += newline
        notices.append(Notice("final_newline_added", f"Added the missing line end at the end of {name}."))
    cookie = like and _COOKIE.match(like.text)
    if like is not None and cookie and like.encoding != "utf-8" and not _COOKIE.match(text):
        shebang = _SHEBANG.match(text)
        at = shebang.end() if shebang else 0
        text = f"{text[:at]}{cookie[1]}{newline}{text[at:]}"
        notices.append(Notice("cookie_kept", f"{name} stays {like.encoding}, so the line that says so stays too."))
    content = (_BOM.encode() if bom else b"") + _encoded(text, name)
    if Source(content).text != text:
        raise SourceError(
            "not_lossless",
            f"The source of {name} changes when it is written in its encoding and read again.",
            hints=["Give it as UTF-8, without an encoding cookie."],
        )
    return content, notices


def usual_newline(contents: Iterable[bytes]) -> str:
    """Return the line end that most of some files use; the first of equals, and a line feed where there are none."""
    counts: dict[str, int] = {}
    for content in contents:
        found = dominant_newline(content.decode("latin-1"))
        if found:
            counts[found] = counts.get(found, 0) + 1
    return max(counts, key=lambda newline: counts[newline]) if counts else "\n"


def _encoded(text: str, name: str) -> bytes:
    """Return text in the encoding that its own cookie names, else in UTF-8."""
    head = "\n".join(NEWLINE.split(text, maxsplit=2)[:2]).encode("ascii", "replace")
    encoding = Source(head).encoding
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as error:
        raise SourceError(
            "encoding_invalid",
            f"{name} is {encoding}, which has no {text[error.start]!r}.",
            hints=["Write the character as an escape such as \\u20ac, or leave the encoding cookie out."],
        ) from None
