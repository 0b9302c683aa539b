"""Type comments: annotations that stand in the comment behind a statement, a header, or a parameter (PEP 484).

x = []  # type: List[C]                      for x, y in zs:  # type: C, D
def f(a, b):                                 def f(a,  # type: C
    # type: (C, D) -> E                            b):

Invariants:
- they are the parser's: a comment that only looks like one, as in a string, is none, and neither is `# type: ignore`.
"""

from __future__ import annotations

import ast
import re

from bae_source.syntax.names import uses as u
from bae_source.syntax.names.expressions import Expressions
from bae_source.syntax.names.gathering import Gathering, Place
from bae_source.system.silence import unwarned

Function = ast.FunctionDef | ast.AsyncFunctionDef

_BEGINS = re.compile(rb"#\s*type:")


class TypeComments:
    """Visits type comments.

    Parameters:
        gathering: takes what they mention.
        expressions: visits what they say.
    """

    def __init__(self, gathering: Gathering, expressions: Expressions) -> None:
        self.gathering = gathering
        self.expressions = expressions

    def of_targets(
        self, comment: str | None, targets: list[ast.expr], place: Place, first: int, last: int
    ) -> list[int]:
        """Visit the comment of what is assigned; return the number of each target's annotation, or nothing.

        Parameters:
            first, last: lines in which the comment stands.
        """
        inner = self._parsed(comment, "eval") if comment else None
        if not isinstance(inner, ast.Expression):
            return []
        rows = [each for each in targets if isinstance(each, (ast.Tuple, ast.List))]
        self._put(inner.body, first, last)
        if len(targets) == len(rows) == 1 and isinstance(inner.body, ast.Tuple):
            return [self.expressions.annotation(each, place) for each in inner.body.elts]
        return [self.expressions.annotation(inner.body, place)]

    def of_parameter(self, argument: ast.arg, place: Place, last: int) -> int:
        """Visit the comment behind a parameter; return the number of what it says, or `OPAQUE`."""
        found = self.of_targets(argument.type_comment, [], place, argument.lineno, last)
        return found[0] if found else u.OPAQUE

    def of_function(self, node: Function, place: Place) -> tuple[dict[ast.arg, int], int]:
        """Visit the comment below a header; return the annotations of parameters, and of what is returned."""
        inner = self._parsed(node.type_comment, "func_type") if node.type_comment else None
        if not isinstance(inner, ast.FunctionType):
            return {}, u.OPAQUE
        types = ast.Tuple([*inner.argtypes, inner.returns], ast.Load())
        self._put(types, node.lineno, node.body[0].lineno)
        given, arguments = [self.expressions.annotation(each, place) for each in inner.argtypes], node.args
        several = [*arguments.posonlyargs, *arguments.args, *filter(None, [arguments.vararg]), *arguments.kwonlyargs,
                   *filter(None, [arguments.kwarg])]  # fmt: skip
        several = several[1:] if len(several) == len(given) + 1 else several
        returned = self.expressions.annotation(inner.returns, place)
        return (dict(zip(several, given, strict=True)) if len(several) == len(given) else {}), returned

    def _parsed(self, comment: str, mode: str) -> ast.AST | None:
        try:
            with unwarned():
                return ast.parse(comment.strip(), mode=mode)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    def _put(self, inner: ast.expr, first: int, last: int) -> None:
        """Give the names of a comment the places that they have in the file."""
        lines = self.gathering.lines
        for number in range(first, min(last, len(lines)) + 1):
            if found := _BEGINS.search(lines[number - 1].encode("utf-8", "surrogatepass")):
                self.expressions.place_in(inner, number, found.end(), last)
                return
