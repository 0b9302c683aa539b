"""Lines as they are typed, gathered into blocks of code: a block is complete when Python would run it.

    for name in names:          more is to come
        read(name)              more may come
                                an empty line ends it; so does a line that belongs to nothing above

Invariant: nothing runs here; lines are compiled only to see whether they are complete.
"""

from __future__ import annotations

import ast
import codeop
from collections.abc import Iterable, Iterator

_LONGEST = 200_000
"""Characters; of more, whether they are complete is not asked."""
_GOING_ON = ("else", "elif", "except", "finally", "case")


def is_complete(text: str) -> bool:
    """Return whether a text is a whole block, or can be none whatever follows."""
    if len(text) > _LONGEST:
        return True
    compiler = codeop.CommandCompiler()
    compiler.compiler.flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        return compiler(text, "<line>", "exec" if "\n" in text.strip("\n") else "single") is not None
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
        return True  # running it says what is wrong


def blocks(lines: Iterable[str]) -> Iterator[str]:
    """Yield blocks from lines without their line ends, each as soon as it is complete."""
    gathered: list[str] = []
    for line in lines:
        if gathered and _begins_anew(line) and _is_ended("\n".join(gathered)):
            yield "\n".join(gathered)
            gathered = []
        gathered.append(line)
        text = "\n".join(gathered)
        if not text.strip():
            gathered = []
        elif ends_here(text):
            yield text
            gathered = []
    if any(line.strip() for line in gathered):
        yield "\n".join(gathered)


def ends_here(text: str) -> bool:
    """Return whether a block ends with its last line: a simple statement, or a compound one and an empty line."""
    last = text.rpartition("\n")[2]
    if last.strip() and ("\n" in text or last.rstrip().endswith(":")) and _is_compound(text):
        return False
    return is_complete(text)


def _is_compound(text: str) -> bool:
    """Return whether the last statement of a text has a body, which another line could go on with."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return bool(tree.body) and hasattr(tree.body[-1], "body")


def _begins_anew(line: str) -> bool:
    """Return whether a line begins at the margin, and with a word that goes on with nothing."""
    first = line.split(maxsplit=1)[:1]
    return bool(first) and not line[0].isspace() and first[0].rstrip(":") not in _GOING_ON and line[0] not in ")]}"


def _is_ended(text: str) -> bool:
    return is_complete(f"{text}\n")
