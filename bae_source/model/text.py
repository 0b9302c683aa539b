"""Strings that can be written anywhere, and on one line; how Python reads names, and how several are listed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

Progress = Callable[[int, int, str], None]
"""Called while something takes long: how much is done, of how much (0 for not known), and what came last."""
_CONTROL = r"[\x00-\x1f\x7f-\x9f\u2028\u2029]"
"""Compiled for a name that has one, which hardly any does."""


def is_text(string: str) -> bool:
    """Return whether a string can be encoded: half a pair of surrogates, which an escape may stand for, cannot."""
    try:
        string.encode()
    except UnicodeEncodeError:
        return False
    return True


def normalised(text: str) -> str:
    """Return a name, or text with names in it, as Python reads it (NFKC)."""
    if text.isascii():
        return text
    from unicodedata import normalize  # which hardly any name needs

    return normalize("NFKC", text)


def on_a_line(name: str) -> str:
    """Return the name of a file with escapes for what would end a line of an answer; no request can name it."""
    return name if name.isprintable() else re.sub(_CONTROL, lambda it: it[0].encode("unicode_escape").decode(), name)


def listed(names: Iterable[str], most: int = 5) -> str:
    """Return names with commas, each once.

    Parameters:
        most: the number of names; that of the others follows them.
    """
    every = list(dict.fromkeys(names))
    return ", ".join(every[:most]) + (f" and {len(every) - most:,} more" if len(every) > most else "")


def counted(number: int, what: str) -> str:
    """Return a number of things as a sentence has it: `1 place`, `2 places`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def so_far(done: int, of: int, last: str) -> str:
    """Return the progress of something in a line: `3 of 151: tests.test_core.test_send`."""
    return f"{done:,} of {of:,}: {last}" if of else f"{done:,}: {last}"
