"""The actions of a module while it is imported, in order: names it binds, modules it imports, names it reads of them.

    import app                       imports app, binds `app`
    from app.core import A as B      imports app.core, takes `A` of it, binds `B`
    @app.register                    reads `app.register`
    class C(app.Base):               reads `app.Base`
        from app import LATER        imports as well, and binds nothing of the module
        def f(self): return app.g    runs later, if ever, and is not here
    try: import app.fast             may fail without harm: `coped`
    except ImportError: …

Invariants:
- in doubt a step is `coped`: in an `if`, a loop, a `try` with handlers, a `with` that may swallow;
- a read counts only where it certainly happens; annotations are never looked at;
- in doubt a name is bound: what a function binds by `global` too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from bae_source.syntax.importing.flow import bound_by
from bae_source.syntax.importing.guards import may_swallow
from bae_source.syntax.outline.static_values import chain_of, is_skipped
from bae_source.syntax.outline.tree import parse_module

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_PERHAPS = (ast.Lambda, ast.BoolOp, ast.IfExp, ast.stmt, ast.ExceptHandler, ast.match_case, *_COMPREHENSIONS)
"""Parts of expressions and statements that do not run for certain with the whole."""
_BINDERS = frozenset({"globals", "vars", "locals", "setattr", "exec", "__dict__", "modules"})
_WITHS = (ast.With, ast.AsyncWith)
_TRIES = tuple(getattr(ast, name) for name in ("Try", "TryStar") if hasattr(ast, name))


class Step(Struct, frozen=True, kw_only=True):
    """One thing that a module does.

    Parameters:
        binds: the names that the module has behind it; `*` where that may be any.
        module: the module that it imports, without leading dots; None where it imports none.
        attribute: what it takes of that; None for `import module`.
        level: how many leading dots.
        reads: a name with the attributes that are read of it; empty where nothing is read.
        sets: likewise, where the last of these is set instead; `*` alone where any name of any module may be.
        coped: whether it may not happen, or may fail without harm.
    """

    binds: tuple[str, ...] = ()
    module: str | None = None
    attribute: str | None = None
    level: int = 0
    reads: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    coped: bool = False


def on_import(text: str) -> Sequence[Step] | None:
    """Return the steps of a module's import; None where the running Python cannot read it."""
    try:
        return tuple(_suite(parse_module(text).body, coped=False, hidden=None))
    except (SyntaxError, RecursionError, MemoryError):
        return None


def _suite(body: Sequence[ast.stmt], *, coped: bool, hidden: frozenset[str] | None) -> Iterator[Step]:
    """Yield the steps of statements.

    Parameters:
        hidden: the names of the classes around them, which are none of the module's; None outside any.
    """
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from _imported(node, coped=coped, bound=hidden is None)
            continue
        if not coped:
            yield from _read(_parts(node), hidden or frozenset())
        if isinstance(node, ast.ClassDef):
            inner = (hidden or frozenset()) | {name for each in node.body for name, _ in bound_by(each, imports=True)}
            yield from _suite(node.body, coped=coped, hidden=inner)
        elif not isinstance(node, _FUNCTIONS):
            for suite, copes in _suites(node):
                yield from _suite(suite, coped=coped or copes, hidden=hidden)
        names = tuple(name for name, _ in bound_by(node, imports=True)) if hidden is None else ()
        outside = tuple(_bound_outside(node)) if isinstance(node, (ast.Global, *_FUNCTIONS)) else ()
        if names or outside:
            yield Step(binds=(*names, *outside))


def _imported(node: ast.Import | ast.ImportFrom, *, coped: bool, bound: bool) -> Iterator[Step]:
    """Yield the steps of an import statement, name by name."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            module, attribute, level = node.module or "", alias.name, node.level
            name = alias.asname or alias.name
        else:
            level = 0
            package, _, last = alias.name.rpartition(".") if alias.asname else ("", "", "")
            module, attribute = (package, last) if package else (alias.name, None)  # type: ignore[assignment]
            name = alias.asname or alias.name.partition(".")[0]
        binds = (name,) if bound else ()
        yield Step(binds=binds, module=module, attribute=attribute, level=level, coped=coped)


def _suites(node: ast.stmt) -> Iterator[tuple[list[ast.stmt], bool]]:
    """Yield the suites of a compound statement, and whether each may not run, or fail without harm."""
    body, orelse = getattr(node, "body", []), getattr(node, "orelse", [])
    if isinstance(node, ast.If):
        skipped = is_skipped(node.test)
        yield from [(body, skipped is None)] if not skipped else []
        yield from [(orelse, skipped is None)] if skipped is not False else []
    elif isinstance(node, _TRIES):
        guarded = any(not isinstance(handler.body[-1], ast.Raise) for handler in node.handlers)
        yield from ((body, guarded), *((each.body, True) for each in node.handlers))
        yield from ((orelse, guarded), (node.finalbody, False))
    elif isinstance(node, _WITHS):
        yield body, any(may_swallow(item.context_expr) for item in node.items)
    else:
        yield from ((each, True) for each in (body, orelse, *(case.body for case in getattr(node, "cases", ()))))


def _parts(node: ast.stmt) -> Iterable[ast.AST | None]:
    """Return the expressions that certainly run with a statement, and before any suite of it."""
    if isinstance(node, _FUNCTIONS):
        return (*node.decorator_list, *node.args.defaults, *node.args.kw_defaults)
    if isinstance(node, _WITHS) and any(may_swallow(item.context_expr) for item in node.items):
        return ()
    if isinstance(node, ast.AnnAssign):
        return (node.value, node.target)
    if isinstance(node, ast.Assert):
        return (node.test,)
    return () if hasattr(node, "type_params") and not isinstance(node, ast.ClassDef) else ast.iter_child_nodes(node)


def _read(nodes: Iterable[ast.AST | None], hidden: frozenset[str]) -> Iterator[Step]:
    """Yield the steps of expressions: names that are read or set, and a mark where any may be bound."""
    waiting = list(nodes)[::-1]
    while waiting:
        node = waiting.pop()
        if node is None or isinstance(node, _PERHAPS) or (isinstance(node, ast.Compare) and len(node.ops) > 1):
            continue
        chain, inner = chain_of(node)
        if not chain:
            waiting += [inner] if isinstance(node, ast.Attribute) else list(ast.iter_child_nodes(node))[::-1]
            continue
        if not _BINDERS.isdisjoint(chain):
            yield Step(sets=("*",))
        elif chain[0] not in hidden and len(chain) > 1:
            yield Step(reads=chain) if isinstance(node.ctx, ast.Load) else Step(reads=chain[:-1], sets=chain)  # type: ignore[attr-defined]


def _bound_outside(function: ast.AST) -> Iterator[str]:
    """Yield the names of the module that a function binds when it is called; `*` for any."""
    for node in ast.walk(function):
        if isinstance(node, ast.Global):
            yield from node.names
        elif isinstance(node, ast.Name) and node.id == "globals":
            yield "*"
