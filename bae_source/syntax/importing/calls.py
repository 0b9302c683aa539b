"""What functions import that a module calls while it is imported itself.

    def _load():
        from app import LATER            runs with the module, since it calls _load()
        if DEBUG: import app.debug       may run with it, and so may what comes behind: left out, as nobody can tell
        import app.more                  told as one that may not happen
        return _more()                   and what that one imports, too

    DEFAULT = _load()

Invariants:
- what certainly runs is the imports that a function begins with, of a name that means nothing else;
- what runs unless the function ends before is `coped`; what stands in an `if`, a loop or a handler is left out.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

from msgspec.structs import replace

from bae_source.syntax.importing.conditions import called, inside, is_skipped, parts_run
from bae_source.syntax.importing.steps import CalledNames, Step, steps_of, steps_of_call

_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Global, ast.Nonlocal, ast.Pass)
_MAKING = ("__new__", "__init__", "__post_init__")
_ITSELF = ("self", "cls")
_PAUSES = (ast.Yield, ast.YieldFrom, ast.Await)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_TRIES = tuple(getattr(ast, name) for name in ("Try", "TryStar") if hasattr(ast, name))


class OwnFunctions:
    """The functions of a module that it may call while it is imported; each is looked into when it is asked for.

    Parameters:
        body: the statements of the module.
        typing_names: those that it has for `typing.TYPE_CHECKING`.
        called: what its names mean in calls that import.
    """

    def __init__(self, body: Sequence[ast.stmt], typing_names: frozenset[str], called: CalledNames) -> None:
        self._body = body
        self._typing_names = typing_names
        self._called = called
        self._nodes: dict[str, list[ast.FunctionDef]] = {}
        self._classes: set[str] = set()
        for each in body:
            for inner in inside(each):
                if isinstance(inner, ast.FunctionDef):
                    self._nodes.setdefault(inner.name, []).append(inner)
                elif isinstance(inner, ast.ClassDef):
                    self._classes.add(inner.name)
                    for method in inner.body:
                        if isinstance(method, ast.FunctionDef):
                            self._nodes.setdefault(f"{inner.name}.{method.name}", []).append(method)
                            if method.name in _MAKING:
                                self._nodes.setdefault(inner.name, []).append(method)

    def has(self, name: str) -> bool:
        """Say whether the module has a function of a name: `f`, `A.f`, or `A` for what making an object of it calls."""
        return name in self._nodes

    def steps(self, name: str) -> Iterator[tuple[int, Step]]:
        """Yield what a call of a function imports, and the functions that it calls in turn, with the lines of that.

        Nothing of it is bound in the module.
        """
        certain = list(self._certain(name))
        for statement in certain:
            yield from ((statement.lineno, replace(step, binds=())) for step in steps_of(statement))
        waiting, seen = [name], {name}
        while waiting:
            function = waiting.pop()
            owner = function if function in self._classes else function.rpartition(".")[0]
            for node in self._nodes.get(function, ()):
                for each, done in self._inside(node, owner):
                    if isinstance(each, str):
                        waiting += [each] if each not in seen else []
                        seen.add(each)
                    elif done not in certain:
                        yield done.lineno, replace(each, binds=(), coped=True)

    def _certain(self, name: str) -> Iterator[ast.Import | ast.ImportFrom]:
        nodes = self._nodes.get(name, []) if name not in self._classes else []
        if len(nodes) == 1 and not nodes[0].decorator_list:
            first = list(_first_imports(nodes[0]))
            yield from first if first and self._bound[name] == 1 else ()

    def _inside(self, function: ast.FunctionDef, owner: str) -> Iterator[tuple[Step | str, ast.stmt | ast.expr]]:
        """Yield what a function imports, which of the module's functions it calls, and what else; with the code.

        Parameters:
            owner: the class that it is a method of; empty for none.
        """
        if any(isinstance(each, _PAUSES) for each in ast.walk(function)):
            return  # nothing of it runs by the call alone
        local = {*_bound(function.args), *(bound for each in function.body for bound in _bound(each))}
        for statement in self._straight(function.body):
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                yield from ((step, statement) for step in steps_of(statement))
                continue
            for call in _calls(statement):
                chain = called(call.func)
                is_own = len(chain) == 2 and chain[0] in _ITSELF and bool(owner)
                name = f"{owner}.{chain[1]}" if is_own else ".".join(chain)
                if name in self._nodes:
                    yield from [(name, call)] if is_own or chain[0] not in local else []
                    continue
                yield from ((step, call) for step in steps_of_call(call, self._called))
                if chain and chain[0] not in local:
                    yield Step(calls=chain), call

    @cached_property
    def _bound(self) -> Counter[str]:
        """How often each name is bound in the module."""
        return Counter(bound for each in self._body for bound in _bound(each))

    def _straight(self, body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
        """Yield the statements of a function that run unless it ends before, up to where it does."""
        waiting = list(reversed(body))
        while waiting:
            each = waiting.pop()
            if isinstance(each, ast.If):
                never = is_skipped(each.test, self._typing_names)
                if never is not None:
                    waiting += reversed(each.orelse if never else each.body)
            elif isinstance(each, _TRIES):
                waiting += reversed([*each.body, *each.orelse, *each.finalbody])
            elif isinstance(each, ast.With):
                waiting += reversed([*(ast.Expr(item.context_expr) for item in each.items), *each.body])
            elif isinstance(each, (ast.For, ast.While)):
                yield ast.Expr(each.iter if isinstance(each, ast.For) else each.test)
                yield from self._straight(each.body)
                waiting += reversed(each.orelse)
            elif not isinstance(each, (*_DEFINITIONS, ast.Match)):
                yield each
                if isinstance(each, (ast.Return, ast.Raise)):
                    return


def _calls(statement: ast.stmt) -> Iterator[ast.Call]:
    """Yield the calls that certainly happen with a statement."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call):
            yield node
        waiting += [each for each, sure in parts_run(node) if sure and each is not None]


def _first_imports(function: ast.FunctionDef) -> Iterator[ast.Import | ast.ImportFrom]:
    imports = [each for each in function.body if isinstance(each, (ast.Import, ast.ImportFrom))]
    if not imports or any(isinstance(node, _PAUSES) for node in ast.walk(function)):
        return
    for each in function.body:
        if isinstance(each, (ast.Import, ast.ImportFrom)):
            yield each
        elif not isinstance(each, _SIMPLE):
            return


def _bound(statement: ast.AST) -> Iterator[str]:
    """Yield the names that a statement binds, those of what is inside of it too."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, _DEFINITIONS):
            yield node.name
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, ast.arg):
            yield node.arg
