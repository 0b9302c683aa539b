"""Patches in any form that they come in: unified, or `*** Begin Patch`; in prose, in a fence, as shells are given them.

apply_patch <<'EOF'         ```diff
*** Begin Patch             --- a/app.py
…                           …
EOF                         ```
"""

from __future__ import annotations

import re

from bae_source.syntax.patches import begin_patch, unified
from bae_source.syntax.patches.patch import USUAL, Section, malformed

_BEGINS = re.compile(
    r"\s*(?:diff --git |--- \S|\*\*\* Begin Patch|Index: |From [0-9a-f]{40} |```(?:diff|patch)\s|apply_patch\b)"
)
_NONE = "git diff writes nothing for files as they are staged, nor for new ones; git diff HEAD has what is staged."
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?\s*")


def is_patch(text: str) -> bool:
    """Return whether a text is a patch, by its first line."""
    return _BEGINS.match(text) is not None


def read_patch(text: str) -> tuple[Section, ...]:
    """Return the files of a patch, in its order.

    Parameters:
        text: decoded as UTF-8; bytes that are none stand as surrogate escapes.

    Raises:
        RequestError: `invalid_arguments` if it is none, or not whole.
    """
    if not text.strip():
        raise malformed("The patch is empty", None, _NONE, USUAL)
    if "\0" in text:
        raise malformed("it holds NUL, so it is no text", text.count("\n", 0, text.index("\0")) + 1)
    lines = text.removeprefix("\ufeff").split("\n")
    if lines[-1] == "":
        lines.pop()
    if lines and all(line.endswith("\r") for line in lines):  # the patch itself, not the files
        lines = [line[:-1] for line in lines]
    begun = next((number for number, line in enumerate(lines) if line.strip() == begin_patch.BEGIN), len(lines))
    others = (number for number, line in enumerate(lines[:begun]) if line.startswith((unified.GIT, "+++ ")))
    if begun < len(lines) and next(others, None) is None:
        found = tuple(begin_patch.Reader(lines).sections())
    else:
        heredoc = next((match[1] for line in lines[:5] if (match := _HEREDOC.search(line))), "")
        found = tuple(unified.Reader(lines, heredoc).sections())
    if not found:
        raise malformed("That is no patch: no file is named in it")
    return found
