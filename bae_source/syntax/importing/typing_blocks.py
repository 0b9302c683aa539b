"""Imports under `if TYPE_CHECKING`: one more of them.

if TYPE_CHECKING:
    from a import A           goes where the order of the others has it
if TYPE_CHECKING: import b    goes behind a semicolon
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from bae_source.model.span import Span
from bae_source.syntax.importing.placing import Line, Ranks, place_in
from bae_source.syntax.importing.present import Present
from bae_source.syntax.outline.static_values import is_typing_test
from bae_source.syntax.text.revision import Splices


def put_in_block(present: Present, new: Line, rows: Sequence[str], ranks: Ranks, *, newline: str) -> Splices | None:
    """Return the splices that add an import to a block that is there; None where there is none.

    Parameters:
        rows: the lines of the statement.
    """
    block = next((n for n in present.body or () if isinstance(n, ast.If) and is_typing_test(n.test)), None)
    if block is None:
        return None
    lines, text = present.tree.source.lines, present.tree.text
    first, last = block.body[0], block.body[-1]
    if first.lineno == block.lineno:
        end = lines.offset(last.end_lineno or last.lineno, last.end_col_offset or 0)
        return [(Span(end, end), f"; {rows[-1]}")] if len(rows) == 1 and "#" not in rows[0] else None
    start = lines.start(first.lineno)
    indent = text[start : lines.offset(first.lineno, first.col_offset)]
    imports = [each for each in block.body if isinstance(each, (ast.Import, ast.ImportFrom))]
    at = place_in(present.tree, [_line(present, each, ranks) for each in imports], new, otherwise=start)
    ended = at == 0 or text[at - 1] in "\r\n"
    written = newline.join(f"{indent}{row}" for row in rows)
    return [(Span(at, at), f"{written}{newline}" if ended else f"{newline}{written}")]


def _line(present: Present, node: ast.Import | ast.ImportFrom, ranks: Ranks) -> Line:
    lines = present.tree.source.lines
    module, level = (node.names[0].name, 0) if isinstance(node, ast.Import) else (node.module or "", node.level)
    return Line(
        rank=ranks.of(module, level),
        plain=isinstance(node, ast.Import),
        level=level,
        module=module,
        start=lines.offset(node.lineno, node.col_offset),
        end=lines.offset(node.end_lineno or node.lineno, node.end_col_offset or 0),
    )
