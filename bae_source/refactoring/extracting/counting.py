"""Code of a project that counts the calls around it, and finds one more once code on the way there is a function.

    warnings.warn("old", stacklevel=4)      names the line three calls further out
    sys._getframe(2)

Invariants:
- the callers of such code are not followed: that it is there is said wherever the extracted code calls something.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from bae_source.errors import ResourceError
from bae_source.model.outcome import Notice
from bae_source.model.text import listed
from bae_source.project.workspace import Workspace
from bae_source.refactoring.extracting.selecting import Piece

_COUNTS = re.compile(r"\bstacklevel\s*=\s*(?!None\b|[012]\b|True\b|stacklevel\b)\S|\b_getframe\(\s*[^01\s)]")
_WORDS = ("stacklevel", "_getframe")
_MOST_SHOWN = 3


def counting_calls(workspace: Workspace, pieces: Sequence[Piece]) -> Iterator[Notice]:
    """Yield that the project has code which counts calls, if a piece calls something."""
    if not any(isinstance(each, ast.Call) for piece in pieces for node in piece.nodes for each in ast.walk(node)):
        return
    if found := list(_places(workspace)):
        shown = listed(found, _MOST_SHOWN)
        text = (
            f"{shown} count the calls around them: if the code leads there, they find one more, and name another line."
        )
        yield Notice("counts_calls", text)


def _places(workspace: Workspace) -> Iterator[str]:
    for path in workspace.index.naming(_WORDS).paths:
        module = workspace.census.module(path)
        try:
            source = workspace.source(module) if module is not None else None
        except ResourceError:
            continue
        if module is not None and source is not None:
            for match in _COUNTS.finditer(source.text):
                yield f"{module.name}:{source.lines.number(match.start())}"
