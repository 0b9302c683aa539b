"""What runs when a function of a module is called, and what a module runs by itself that its steps do not tell.

    from app import registry
    def load():                          load: takes LATER of app, calls app.tools.look
        from app import LATER, tools
        return tools.look(LATER)
    registry.add(load())                 the module itself: calls registry.add, load
    if DEBUG: import app.debug           the module itself: imports app.debug

Invariants:
- what is inside of a `try` that copes, or never runs in an import, is left out;
- a function inside of a function is taken to run with it;
- nothing is executed; what takes modules by names that do not stand there is `unclear`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from msgspec import Struct

from bae_source.syntax.importing.conditions import chain_of, is_skipped
from bae_source.syntax.importing.guards import may_swallow
from bae_source.syntax.importing.steps import IMPORTERS, Step, step_of_call, steps_of
from bae_source.syntax.outline.tree import parse_module

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_TRIES = tuple(getattr(ast, name) for name in ("Try", "TryStar") if hasattr(ast, name))


class Body(Struct, frozen=True, kw_only=True):
    """What runs in one piece.

    Parameters:
        imports: in their order.
        reads: names with attributes, in their pieces.
        calls: what is called, likewise; of decorators too.
        unclear: calls that take modules in a way that cannot be read off, as they stand.
    """

    imports: tuple[Step, ...]
    reads: tuple[tuple[str, ...], ...]
    calls: tuple[tuple[str, ...], ...]
    unclear: tuple[str, ...]


class Bodies(Struct, frozen=True, kw_only=True):
    """What a module's pieces do.

    Parameters:
        pieces: by the path to each function in the module; that of the module itself by the empty one.
        bases: of each class, what it is made of, by its path.
        made: names of the module that are the result of a call, with what is called.
    """

    pieces: Mapping[str, Body]
    bases: Mapping[str, tuple[tuple[str, ...], ...]]
    made: Mapping[str, tuple[str, ...]]


def bodies_of(text: str) -> Bodies:
    """Return what a module's pieces do; nothing where the text is newer than this Python, or too deep."""
    gathered = _Gathered()
    try:
        own = _Piece(gathered, "")
        own.suite(parse_module(text).body)
        gathered.pieces[""] = own.found()
    except (SyntaxError, RecursionError, MemoryError):
        return Bodies(pieces={}, bases={}, made={})
    return Bodies(pieces=gathered.pieces, bases=gathered.bases, made=gathered.made)


class _Gathered:
    """What was found in a module so far."""

    def __init__(self) -> None:
        self.pieces: dict[str, Body] = {}
        self.bases: dict[str, tuple[tuple[str, ...], ...]] = {}
        self.made: dict[str, tuple[str, ...]] = {}


class _Piece:
    """Gathers what one piece does.

    Parameters:
        gathered: where other pieces go that stand in this one.
        path: the class or the function that it is; empty for the module.
        inside: whether it is a function's, so that all that it defines is taken to run with it.
    """

    def __init__(self, gathered: _Gathered, path: str, *, inside: bool = False) -> None:
        self._gathered = gathered
        self._path = path
        self._inside = inside
        self._imports: dict[Step, None] = {}
        self._reads: dict[tuple[str, ...], None] = {}
        self._calls: dict[tuple[str, ...], None] = {}
        self._unclear: dict[str, None] = {}

    def found(self) -> Body:
        """Return it."""
        return Body(
            imports=tuple(self._imports),
            reads=tuple(self._reads),
            calls=tuple(self._calls),
            unclear=tuple(self._unclear),
        )

    def suite(self, body: Sequence[ast.stmt]) -> None:
        """Walk statements."""
        for statement in body:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                self._imports.update(dict.fromkeys(steps_of(statement)))
            elif isinstance(statement, _FUNCTIONS):
                self._function(statement)
            elif isinstance(statement, ast.ClassDef):
                self._class(statement)
            elif isinstance(statement, ast.If):
                never = is_skipped(statement.test)
                self._exprs(statement.test)
                self.suite(statement.body if never is not True else [])
                self.suite(statement.orelse if never is not False else [])
            else:
                self._other(statement)

    def _other(self, statement: ast.stmt) -> None:
        copes = isinstance(statement, _TRIES) and any(
            not isinstance(handler.body[-1], ast.Raise) for handler in statement.handlers
        )
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            copes = any(may_swallow(item.context_expr) for item in statement.items)
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and isinstance(statement.value, ast.Call):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            made = chain_of(statement.value.func)[0]
            if made and not self._path:
                self._gathered.made.update((each.id, made) for each in targets if isinstance(each, ast.Name))
        for field, value in ast.iter_fields(statement):
            if copes and field in ("body", "orelse", "handlers"):
                continue
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, ast.stmt):
                    self.suite([each])
                elif isinstance(each, (ast.ExceptHandler, ast.match_case)):
                    self.suite(each.body)
                elif isinstance(each, ast.AST) and not (isinstance(statement, ast.AnnAssign) and field == "annotation"):
                    self._exprs(each)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._decorated(node.decorator_list)
        for each in (*node.args.defaults, *node.args.kw_defaults):
            self._exprs(each)
        if self._inside:
            self.suite(node.body)
            return
        inner = f"{self._path}.{node.name}".lstrip(".")
        piece = _Piece(self._gathered, inner, inside=True)
        piece.suite(node.body)
        self._gathered.pieces[inner] = piece.found()

    def _class(self, node: ast.ClassDef) -> None:
        self._decorated(node.decorator_list)
        for each in (*node.bases, *node.keywords):
            self._exprs(each)
        bases = [chain for base in node.bases if (chain := chain_of(base)[0])]
        self._calls.update(((*chain, "__init_subclass__"), None) for chain in bases)
        if self._inside:
            self.suite(node.body)
            return
        path, self._path = self._path, f"{self._path}.{node.name}".lstrip(".")
        self._gathered.bases[self._path] = tuple(bases)
        self.suite(node.body)
        self._path = path

    def _decorated(self, decorators: Sequence[ast.expr]) -> None:
        for each in decorators:
            chain = chain_of(each)[0]
            self._calls.update({chain: None} if chain else {})
            self._exprs(each)

    def _exprs(self, node: ast.AST | None) -> None:
        waiting = [node]
        while waiting:
            each = waiting.pop()
            if each is None or (isinstance(each, ast.Lambda) and not self._inside):
                continue
            chain, inner = chain_of(each)
            if chain and isinstance(each, ast.Attribute):
                self._reads[chain] = None
                continue
            if isinstance(each, ast.Attribute) and (module := _of_modules(inner)) is not None:
                self._kept(each, module)
                continue
            if isinstance(each, ast.Subscript) and _of_modules(each) is not None:
                self._kept(each, _of_modules(each) or "")
                continue
            if isinstance(each, ast.Call):
                self._call(each)
            waiting += ast.iter_child_nodes(each)

    def _call(self, node: ast.Call) -> None:
        chain = chain_of(node.func)[0]
        if not chain:
            return
        self._calls[chain] = None
        if chain == ("sys", "modules", "get"):
            self._unclear["sys.modules"] = None
        if chain[-1] in IMPORTERS and node.args:
            step = step_of_call(node)
            if step is not None:
                self._imports[step] = None
            else:
                self._unclear[ast.unparse(node.func)] = None

    def _kept(self, node: ast.expr, module: str) -> None:
        """Note what is taken of `sys.modules[…]`: an attribute, if it is known of which module."""
        attributes = []
        while isinstance(node, ast.Attribute):
            attributes.append(node.attr)
            node = node.value
        if module and attributes:
            self._imports[Step(module=module, attribute=attributes[-1])] = None
        else:
            self._unclear["sys.modules"] = None


def _of_modules(node: ast.AST | None) -> str | None:
    """Return the module that `sys.modules["a.b"]` is; empty if it cannot be read off, None for anything else."""
    if (
        not isinstance(node, ast.Subscript)
        or not isinstance(node.ctx, ast.Load)
        or chain_of(node.value)[0] != ("sys", "modules")
    ):
        return None
    key = node.slice
    if isinstance(key, ast.Name) and key.id == "__name__":
        return None  # the module itself, which is there
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""
