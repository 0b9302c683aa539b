"""The statements inside of a compound one that may run with it, as a module is imported.

if A: x = 1              x = 1
else: y = 2              y = 2
if TYPE_CHECKING: z = 3  nothing
def f(): w = 4           no compound statement of this kind: it runs on its own
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bae_source.syntax.importing.conditions import is_skipped

BLOCKS = (ast.If, ast.Try, ast.With, ast.For, ast.While, ast.Match, getattr(ast, "TryStar", ast.Try))
"""Statements that hold others which run with them."""


def inside(node: ast.stmt) -> Iterator[ast.stmt]:
    """Yield the statements that may run with one and hold no others; itself if it is such a one."""
    if not isinstance(node, BLOCKS):
        yield node
        return
    never = is_skipped(node.test) if isinstance(node, ast.If) else None
    around = [*getattr(node, "handlers", ()), *getattr(node, "cases", ())]
    body = getattr(node, "body", []) if never is not True else []
    orelse = getattr(node, "orelse", []) if never is not False else []
    for suite in (body, orelse, getattr(node, "finalbody", []), *(each.body for each in around)):
        for each in suite:
            yield from inside(each)
