"""Scopes of one module's tree, and the variable that each name in it stands for.

    def f(xs):
        return [x for x in xs]       `x` is a variable of the comprehension, `xs` one of `f`, though both stand in it
    class A:
        size = 1
        def g(self): return size     `size` is a name of the module: a class's names are seen by no function in it

Invariants:
- names are as they are written: those that a class mangles are so wherever they stand in it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from enum import Enum

from msgspec import Struct

from bae_source.syntax.outline.static_values import names_bound

Named = ast.FunctionDef | ast.AsyncFunctionDef
Function = Named | ast.Lambda
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Level(Enum):
    """The kind of code that opens a scope."""

    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    COMPREHENSION = "comprehension"
    TYPES = "type parameters"


class Scope:
    """One scope: the names that it binds, and those that it takes from outside by `global` and `nonlocal`."""

    def __init__(self, node: ast.AST, level: Level, around: Scope | None) -> None:
        self.node = node
        self.level = level
        self.around = around
        self.bound: set[str] = set()
        self.of_module: set[str] = set()
        self.outer: set[str] = set()

    @property
    def own(self) -> set[str]:
        """The names that it binds, less those of other scopes."""
        return self.bound - self.of_module - self.outer

    @property
    def chain(self) -> Iterator[Scope]:
        """Yield the scope and those around it, from the inside."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.around

    @property
    def frame(self) -> Scope:
        """The function, class or module that runs its code: a comprehension's is that around it."""
        return next(each for each in self.chain if each.level not in (Level.COMPREHENSION, Level.TYPES))

    def find(self, name: str) -> Scope | None:
        """Return the scope that a name written in this one is bound in; None where nothing in the module binds it."""
        for scope in self.chain:
            if name in scope.of_module:
                break
            is_seen = scope is self or scope.level is not Level.CLASS
            if is_seen and scope.around is not None and name in scope.bound and name not in scope.outer:
                return scope
        module = list(self.chain)[-1]
        return module if name in module.bound else None


class Variable(Struct, frozen=True):
    """A name of one scope."""

    scope: Scope
    name: str


class Scopes:
    """The scopes of a module.

    Parameters:
        tree: the module.

    Attributes:
        around: by each node, the scope that its names are looked up in.
        opened: by each node that opens a scope, that scope.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.around: dict[ast.AST, Scope] = {}
        self.opened: dict[ast.AST, Scope] = {}
        self.module = self._open(tree, Level.MODULE, None)
        self._each(tree.body, self.module)

    def variable(self, node: ast.AST, name: str) -> Variable | None:
        """Return the variable that a name means where a node stands; None for a name of the module, or of Python."""
        scope = self.around[node].find(name)
        return None if scope is None or scope is self.module else Variable(scope, name)

    def _open(self, node: ast.AST, level: Level, around: Scope | None) -> Scope:
        scope = self.opened[node] = Scope(node, level, around)
        return scope

    def _each(self, nodes: Iterable[ast.AST | None], scope: Scope) -> None:
        for node in nodes:
            if node is not None:
                self._visit(node, scope)

    def _visit(self, node: ast.AST, scope: Scope) -> None:
        self.around[node] = scope
        if isinstance(node, FUNCTIONS):
            self._function(node, scope)
        elif isinstance(node, ast.ClassDef):
            scope.bound.add(node.name)
            self._each(node.decorator_list, scope)
            outside = self._types(node, scope)
            self._each([*node.bases, *node.keywords], outside)
            self._each(node.body, self._open(node, Level.CLASS, outside))
        elif isinstance(node, COMPREHENSIONS):
            self._comprehension(node, scope)
        elif isinstance(node, ast.NamedExpr):
            owner = next(each for each in scope.chain if each.level is not Level.COMPREHENSION)
            owner.bound.add(node.target.id)
            self.around[node.target] = owner
            self._visit(node.value, scope)
        else:
            self._bind(node, scope)
            self._each(ast.iter_child_nodes(node), scope)

    def _bind(self, node: ast.AST, scope: Scope) -> None:
        if isinstance(node, ast.Global):
            scope.of_module.update(node.names)
            self.module.bound.update(node.names)
        elif isinstance(node, ast.Nonlocal):
            scope.outer.update(node.names)
        else:
            scope.bound.update(names_bound(node))

    def _function(self, node: Function, scope: Scope) -> None:
        arguments = node.args
        if not isinstance(node, ast.Lambda):
            scope.bound.add(node.name)
            self._each(node.decorator_list, scope)
        self._each([*arguments.defaults, *arguments.kw_defaults], scope)
        outside = self._types(node, scope)
        inner = self._open(node, Level.FUNCTION, outside)
        for each in parameters_of(node):
            inner.bound.add(each.arg)
            self._each([each.annotation], outside)
        if isinstance(node, ast.Lambda):
            self._visit(node.body, inner)
        else:
            self._each([node.returns], outside)
            self._each(node.body, inner)

    def _types(self, node: ast.AST, scope: Scope) -> Scope:
        """Open the scope of the type parameters of PEP 695, if there are some."""
        parameters = getattr(node, "type_params", ())
        if not parameters:
            return scope
        inner = Scope(node, Level.TYPES, scope)
        inner.bound.update(each.name for each in parameters)
        self._each(parameters, inner)
        return inner

    def _comprehension(self, node: ast.AST, scope: Scope) -> None:
        inner = self._open(node, Level.COMPREHENSION, scope)
        first, *others = node.generators  # type: ignore[attr-defined]  # comprehensions have them
        self._visit(first.iter, scope)
        self.around[first] = inner
        self._each([first.target, *first.ifs, *others], inner)
        self._each([getattr(node, field, None) for field in ("key", "value", "elt")], inner)


def parameters_of(node: Function) -> list[ast.arg]:
    """Return the parameters of a function in their order."""
    arguments = node.args
    every = (*arguments.posonlyargs, *arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg)
    return [each for each in every if each is not None]


def running(*nodes: ast.AST) -> Iterator[ast.AST]:
    """Yield nodes and all below them that run with them: nothing of what functions in them have as their bodies."""
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, FUNCTIONS):
            waiting += [*getattr(node, "decorator_list", ()), *node.args.defaults]
            waiting += [each for each in node.args.kw_defaults if each is not None]
        else:
            waiting += ast.iter_child_nodes(node)
