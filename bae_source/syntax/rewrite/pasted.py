"""Text as it was pasted: in a Markdown fence, or with line numbers in front of its lines.

    ```python            12  def f():         12→def f():         12: def f():         12 | def f():
    def f(): ...         13      return 1     13→    return 1     13:     return 1     13 |     return 1
    ```

One fence around all of a source is taken off and named. Line numbers are refused: how much of the white space behind
them belongs to the code differs from tool to tool. Text that Python reads, such as the rows of a dictionary, has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

from bae_source.errors import SourceError
from bae_source.model.outcome import Notice
from bae_source.syntax.outline.tree import parse_text
from bae_source.syntax.text.source import NEWLINE

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[^`\r\n]*")
_NUMBER = re.compile(r"[ \t]*(\d+)(\t|→|[ ]*[|│](?![|=])|[:.)-](?![=\d])|[ ]+|\Z)")
_COLUMN = re.compile(r"[ \t]*(\d+)[ ]*[|│]")
_SURE = {"\t", "→", "|", "│", ":"}
_BY_GREP = {":", "-"}
_SHOWN = 30
_FENCE_REMOVED = Notice("fence_removed", "The Markdown fence around the given source was taken off.")


def unfenced(text: str) -> tuple[str, tuple[Notice, ...]]:
    """Return source without the one fence that stands around all of it, and a notice about that."""
    if "```" not in text and "~~~" not in text:
        return text, ()
    lines = re.findall(r"[^\r\n]*(?:\r\n|\n|\r|\Z)", text.removeprefix("\ufeff"))
    full = [number for number, line in enumerate(lines) if line.strip()]
    opening = _FENCE.fullmatch(lines[full[0]].rstrip()) if len(full) > 1 else None
    if opening is None:
        return text, ()
    closing = lines[full[-1]].strip()
    if set(closing) != {opening[1][0]} or len(closing) < len(opening[1]):
        return text, ()
    return "".join(lines[full[0] + 1 : full[-1]]), (_FENCE_REMOVED,)


def unnumbered(text: str) -> str | None:
    """Return text without the line numbers that its lines begin with; None where they begin with none.

    Each line but blank ones has one, and they rise. A single line has one if what is behind it is put there by tools.
    """
    lines = _full(text)
    found = [match for line in lines if (match := _NUMBER.match(line))]
    if not lines or len(found) < len(lines):
        return None
    numbers = [int(match[1]) for match in found]
    gaps = {match[2] for match in found if match[2].strip(" ") or match.end() < len(match.string.rstrip())}
    signs = {gap.strip(" ") for gap in gaps}
    if any(b <= a for a, b in pairwise(numbers)) or not (len(signs) == 1 or signs == _BY_GREP):
        return None
    if len(lines) == 1 and not (signs & _SURE or len(next(iter(gaps))) > 1):
        return None
    return "\n".join(_NUMBER.sub("", line, count=1) for line in NEWLINE.split(text))


def _is_inside_brackets(text: str) -> bool:
    """Return whether Python reads a text as the rows of a dictionary, a list or a call."""
    for opening, closing in ("{}", "[]"):
        try:
            parse_text(f"{opening}{text}\n{closing}")
        except SourceError:
            continue
        return True
    return False


def _pasted_as(text: str) -> str | None:
    """Return the clause about a mark of pasted text that no source has; None where it has none."""
    lines = NEWLINE.split(text)
    if unnumbered(text) is not None and not _is_inside_brackets(text):
        return _begins_with_numbers(text)
    fence = next((number for number, line in enumerate(lines, 1) if _FENCE.fullmatch(line.rstrip())), None)
    if fence is not None:
        return f"it is Markdown around code: line {fence} is {lines[fence - 1].strip()[:_SHOWN]!r}"
    return None


def _begins_with_numbers(text: str) -> str:
    return f"its lines begin with line numbers: {_full(text)[0].strip()[:_SHOWN]!r}"


@contextmanager
def explained(source: str | None, new: str | None = None) -> Iterator[None]:
    """Have an error of code that does not parse name what was pasted along with it.

    Raises:
        SourceError: `syntax_invalid`, also for lines with their numbers and bars, which Python would compute.
    """
    if source is not None and _has_column(source):
        raise _refused("The given source does not parse", _begins_with_numbers(source), {})
    try:
        yield
    except SourceError as error:
        given = {"The given source does not parse": source, "With the change the code would not parse": new}
        if error.code == "syntax_invalid":
            for verdict, text in given.items():
                if text is not None and (reason := _pasted_as(text)):
                    raise _refused(verdict, reason, error.details) from None
        raise


def why_absent(old: str, text: str) -> tuple[str, str] | None:
    """Return why a text that was pasted does not occur in another one, and what to do; None for any other text."""
    bare, (open_text, fence) = unnumbered(old), unfenced(old)
    if bare is not None:
        stands = _spaced(bare) in _spaced(text)
        if len(_full(old)) == 1 and not stands:
            return None
        return _begins_with_numbers(old), "Give the text without line numbers."
    if fence and _spaced(open_text) in _spaced(text):
        return "it has a Markdown fence around it", "Give the text without the fence."
    return None


def _full(text: str) -> list[str]:
    return [line for line in NEWLINE.split(text) if line.strip()]


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _has_column(text: str) -> bool:
    """Return whether each of several lines begins with its number and a bar, which Python would read as an operator."""
    if not _COLUMN.match(text.lstrip()):
        return False
    lines = _full(text)
    numbers = [int(match[1]) for line in lines if (match := _COLUMN.match(line))]
    return len(lines) > 1 and len(numbers) == len(lines) and numbers == list(range(numbers[0], numbers[0] + len(lines)))


def _refused(verdict: str, reason: str, details: Mapping[str, Any]) -> SourceError:
    without = "line numbers" if "numbers" in reason else "anything around it"
    hints = [f"Nothing was changed; give the code without {without}."]
    return SourceError("syntax_invalid", f"{verdict}: {reason}.", hints=hints, details=details)
