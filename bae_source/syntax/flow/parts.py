"""Parts of nodes in the order in which they are evaluated.

    f(a=x, *y)            f, then `*y`, then `x`
    a[i] = value          value, then `a` and `i`
    first and second      first, and second perhaps

Invariants:
- a part that is none of a node's own evaluation, such as the body of a function, is one that runs later.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from bae_source.syntax.flow.scopes import Named, parameters_of

Part = tuple["ast.AST | None", bool, bool]
"""A part of a node, whether it may be left out, and whether it runs later."""


def parts_of(node: ast.AST) -> Iterator[Part]:
    """Yield the parts of a node in the order in which they are evaluated."""
    parts = _ORDER.get(type(node))
    yield from parts(node) if parts is not None else ((each, False, False) for each in ast.iter_child_nodes(node))


def _all(nodes: Sequence[ast.AST | None], *, maybe: bool = False, later: bool = False) -> Iterator[Part]:
    return ((each, maybe, later) for each in nodes)


def _assigned(node: ast.Assign) -> Iterator[Part]:
    yield from _all([node.value, *node.targets])


def _annotated(node: ast.AnnAssign) -> Iterator[Part]:
    yield from _all([node.value, node.target, node.annotation])


def _in_order_of_tests(node: ast.BoolOp) -> Iterator[Part]:
    yield node.values[0], False, False
    yield from _all(node.values[1:], maybe=True)


def _compared(node: ast.Compare) -> Iterator[Part]:
    yield from _all([node.left, node.comparators[0]])
    yield from _all(node.comparators[1:], maybe=True)


def _chosen(node: ast.IfExp | ast.If) -> Iterator[Part]:
    yield node.test, False, False
    several = [node.body, node.orelse] if isinstance(node, ast.IfExp) else [*node.body, *node.orelse]
    yield from _all(several, maybe=True)


def _asserted(node: ast.Assert) -> Iterator[Part]:
    yield from _all([node.test])
    yield node.msg, True, False


def _looped(node: ast.For | ast.AsyncFor) -> Iterator[Part]:
    yield node.iter, False, False
    yield from _all([node.target, *node.body, *node.orelse], maybe=True)


def _repeated(node: ast.While) -> Iterator[Part]:
    yield node.test, False, False
    yield from _all([*node.body, *node.orelse], maybe=True)


def _tried(node: ast.Try | ast.TryStar) -> Iterator[Part]:
    yield from _all([*node.body, *node.handlers, *node.orelse], maybe=True)
    yield from _all(node.finalbody)


def _called(node: ast.Call) -> Iterator[Part]:
    yield from _all([node.func, *node.args, *node.keywords])


def _mapped(node: ast.Dict) -> Iterator[Part]:
    for key, value in zip(node.keys, node.values, strict=True):
        yield from _all([key, value])


def _collected(node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> Iterator[Part]:
    is_later = isinstance(node, ast.GeneratorExp)
    first, *others = node.generators
    yield first.iter, False, False
    yield from _all([first.target, *first.ifs, *others], maybe=True, later=is_later)
    several = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    yield from _all(several, maybe=True, later=is_later)


def _deferred(node: ast.Lambda) -> Iterator[Part]:
    yield from _all([*node.args.defaults, *node.args.kw_defaults])
    yield node.body, True, True


def _defaulted(node: ast.arguments) -> Iterator[Part]:
    yield from _all([*node.defaults, *node.kw_defaults])


def _named(node: ast.NamedExpr) -> Iterator[Part]:
    yield from _all([node.value, node.target])


def _defined(node: Named) -> Iterator[Part]:
    notes = [each.annotation for each in parameters_of(node)]
    yield from _all([*node.decorator_list, node.args, *notes, node.returns])
    yield from _all(node.body, maybe=True, later=True)


def _classified(node: ast.ClassDef) -> Iterator[Part]:
    yield from _all([*node.decorator_list, *node.bases, *node.keywords, *node.body])


def _matched(node: ast.Match) -> Iterator[Part]:
    yield node.subject, False, False
    yield from _all(node.cases, maybe=True)


def _with(node: ast.With | ast.AsyncWith) -> Iterator[Part]:
    yield from _all([*node.items, *node.body])


_ORDER: dict[type[ast.AST], Callable[..., Iterator[Part]]] = {
    ast.Assign: _assigned,
    ast.AnnAssign: _annotated,
    ast.BoolOp: _in_order_of_tests,
    ast.Compare: _compared,
    ast.IfExp: _chosen,
    ast.If: _chosen,
    ast.Assert: _asserted,
    ast.For: _looped,
    ast.AsyncFor: _looped,
    ast.While: _repeated,
    ast.Try: _tried,
    ast.TryStar: _tried,
    ast.Call: _called,
    ast.Dict: _mapped,
    ast.ListComp: _collected,
    ast.SetComp: _collected,
    ast.DictComp: _collected,
    ast.GeneratorExp: _collected,
    ast.Lambda: _deferred,
    ast.arguments: _defaulted,
    ast.NamedExpr: _named,
    ast.FunctionDef: _defined,
    ast.AsyncFunctionDef: _defined,
    ast.ClassDef: _classified,
    ast.Match: _matched,
    ast.With: _with,
    ast.AsyncWith: _with,
}
"""By types of nodes, their parts in the order of evaluation; of others, the order in which they stand."""
