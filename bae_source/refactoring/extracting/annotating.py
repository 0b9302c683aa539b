"""Annotations of extracted functions: those that variables have where they come from.

    def f(items: list[Item]):        items: list[Item]
        count: int = 0               count: int
        name = "x"                   name: str, if nothing else binds it

Invariants:
- an annotation is taken over only where its names mean the same at the new place; what may not be bound yet when the
  function is defined stands in quotes;
- a function without annotations leads to one without.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from bae_source.refactoring.extracting.home import top_of
from bae_source.refactoring.extracting.selecting import Piece
from bae_source.syntax.flow.scopes import Level, Named, Scope, Variable, parameters_of
from bae_source.syntax.outline.static_values import names_bound
from bae_source.syntax.patterns.pattern import span_of

_LITERALS = (bool, int, float, str, bytes)
_NO_TYPES = ("Final", "ClassVar", "TypeAlias", "InitVar")


def is_annotated(frame: Scope) -> bool:
    """Return whether a function has any annotation."""
    node = frame.node
    if not isinstance(node, Named):
        return False
    return node.returns is not None or any(each.annotation is not None for each in parameters_of(node))


class Annotations:
    """Finds the annotations of variables around a piece.

    Parameters:
        piece: the piece.
        frame: the function that runs it.
    """

    def __init__(self, piece: Piece, frame: Scope) -> None:
        self.piece = piece
        self.frame = frame
        self.code = piece.code
        self._bound = set(self._bound_above(top_of(piece)))
        self._is_late = any(
            isinstance(each, ast.ImportFrom)
            and each.module == "__future__"
            and any(alias.name == "annotations" for alias in each.names)
            for each in self.code.tree.body
        )

    def of(self, variable: Variable) -> str | None:
        """Return the annotation of a variable as it can stand at the new place; None where none is known."""
        node = variable.scope.node
        if isinstance(node, Named):
            plain = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            for each in plain:
                if each.arg == variable.name:
                    return self._shown(each.annotation)
        noted, values = list(self._noted(variable)), list(self._values(variable))
        if noted:
            return self._shown(noted[0])
        kinds = {type(each.value) if isinstance(each, ast.Constant) else None for each in values}
        if len(values) == 1 and kinds <= set(_LITERALS):
            return next(kind.__name__ for kind in kinds if kind is not None)
        return None

    def returned(self, given: Sequence[Variable]) -> str | None:
        """Return the annotation of what gives back some variables; None where one of them has none."""
        if not given:
            return "None"
        each = [self.of(variable) for variable in given]
        known = [one for one in each if one is not None]
        if len(known) < len(each):
            return None
        if len(known) == 1:
            return known[0]
        return None if any(one.startswith(("'", '"')) for one in known) else f"tuple[{', '.join(known)}]"

    def of_function(self) -> str | None:
        """Return the annotation of what the function itself returns."""
        return self._shown(self.frame.node.returns) if isinstance(self.frame.node, Named) else None

    def _bound_above(self, top: ast.AST) -> Iterator[str]:
        """Yield the names that statements of the module above one bind in any case."""
        for each in self.code.tree.body:
            if each is top:
                return
            yield from names_bound(each)
            if isinstance(each, (ast.Import, ast.ImportFrom, ast.Assign)):
                yield from (name for node in ast.walk(each) for name in names_bound(node))

    def _bindings(self, variable: Variable) -> Iterator[ast.AST]:
        for node, scope in self.code.scopes.around.items():
            if variable.name in names_bound(node) and scope.find(variable.name) is variable.scope:
                yield node

    def _noted(self, variable: Variable) -> Iterator[ast.expr]:
        for node in self._bindings(variable):
            parent = self.code.parents.get(node)
            if isinstance(parent, ast.AnnAssign) and parent.target is node:
                yield parent.annotation

    def _values(self, variable: Variable) -> Iterator[ast.expr | None]:
        """Yield what is assigned to a variable; None for what is not simply assigned."""
        for node in self._bindings(variable):
            parent = self.code.parents.get(node)
            yield parent.value if isinstance(parent, ast.Assign) and node in parent.targets else None

    def _shown(self, node: ast.expr | None) -> str | None:
        if node is None:
            return None
        text = span_of(self.code.source, node).cut(self.code.source.text)
        names = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
        if any(self._is_local(each) for each in names) or "\n" in text or "\r" in text:
            return None
        if any(getattr(each, "id", getattr(each, "attr", "")) in _NO_TYPES for each in ast.walk(node)):
            return None
        is_bound = all(self._is_bound(each) for each in names)
        if is_bound or self._is_late:
            return text
        return None if "'" in text or '"' in text else f'"{text}"'

    def _is_local(self, node: ast.Name) -> bool:
        scope = self.code.scopes.around[node].find(node.id)
        return scope is not None and scope.level is not Level.MODULE

    def _is_bound(self, node: ast.Name) -> bool:
        return self.code.scopes.around[node].find(node.id) is None or node.id in self._bound
