"""Code of a project that counts the calls around it, and finds another number once a function comes or goes between.

    warnings.warn("old", stacklevel=4)      names the line three calls further out
    sys._getframe(2)
    inspect.stack()[2]

Invariants:
- the callers of such code are not followed: that it is there is said wherever moved code calls something.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from bae_source.errors import ResourceError
from bae_source.model.outcome import Notice
from bae_source.model.text import listed
from bae_source.project.workspace import Workspace

_COUNTS = re.compile(
    r"\bstacklevel\s*=\s*(?!None\b|[012]\b|True\b|stacklevel\b)\S|\b_getframe\(\s*[^01\s)]"
    r"|\bf_back\.f_back\b|\binspect\.stack\([^()]*\)\[\s*[^01\s]"
)
_WORDS = ("stacklevel", "_getframe", "f_back", "inspect")
_MOST_SHOWN = 3


def counting_calls(workspace: Workspace, nodes: Iterable[ast.AST], change: str) -> Iterator[Notice]:
    """Yield that the project has code which counts calls, if some code calls something.

    Parameters:
        change: what such code finds where this code leads there, as `one more`.
    """
    if not any(isinstance(each, ast.Call) for node in nodes for each in ast.walk(node)):
        return
    if found := list(_places(workspace)):
        shown = listed(found, _MOST_SHOWN)
        text = (
            f"{shown} count the calls around them: if the code leads there, they find {change}, and name another line."
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
