"""Which suites of an `if` are skipped when a module is imported, told by the condition alone.

if TYPE_CHECKING:                       skipped
if not TYPE_CHECKING:                   runs
if __name__ == "__main__":              skipped
if sys.version_info >= (3,):            runs, with any Python that this is for
if DEBUG:                               cannot be told
"""

from __future__ import annotations

import ast

_OLDEST = (3, 6)


def is_skipped(test: ast.expr) -> bool | None:
    """Say whether the suite of an `if` is skipped in an import; None where that cannot be told."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        skipped = is_skipped(test.operand)
        return None if skipped is None else not skipped
    if isinstance(test, ast.Attribute):
        return True if test.attr == "TYPE_CHECKING" else None
    if isinstance(test, ast.Name):
        return True if test.id == "TYPE_CHECKING" else None
    if isinstance(test, ast.Constant):
        return not test.value
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        sides = (test.left, test.comparators[0])
        if isinstance(test.ops[0], ast.Eq):
            named = any(isinstance(each, ast.Name) and each.id == "__name__" for each in sides)
            main = any(isinstance(each, ast.Constant) and each.value == "__main__" for each in sides)
            return True if named and main else None
        return _is_skipped_by_version(test.left, test.ops[0], test.comparators[0])
    return None


def _is_skipped_by_version(left: ast.expr, how: ast.cmpop, right: ast.expr) -> bool | None:
    """Say whether no Python, or each, that may run the code has such a `sys.version_info`."""
    if chain_of(left)[0] != ("sys", "version_info") or not isinstance(right, ast.Tuple):
        return None
    version = [each.value if isinstance(each, ast.Constant) else None for each in right.elts]
    if not all(isinstance(each, int) for each in version) or tuple(version) > _OLDEST:
        return None
    if isinstance(how, (ast.Gt, ast.GtE)):
        return False
    return True if isinstance(how, ast.Lt) else None


def chain_of(node: ast.AST) -> tuple[tuple[str, ...], ast.AST | None]:
    """Return `a.b.c` in its pieces; nothing, and what stands before the attributes, where that is no name."""
    pieces: list[str] = []
    while isinstance(node, ast.Attribute):
        pieces.append(node.attr)
        node = node.value
    return ((node.id, *reversed(pieces)), None) if isinstance(node, ast.Name) else ((), node)
