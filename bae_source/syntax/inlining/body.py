"""The body of a function, as far as it can stand elsewhere.

    def clean(text, mark="#"):       one expression: `return text.strip(mark)`
        "Docstring."                 statements that end with the only return: the call may be assigned
        return text.strip(mark)      statements that return at several places: only `return clean(x)` can take them

Invariants:
- a body that could not mean the same anywhere else has a reason, and no shape.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from functools import cached_property

from bae_source.syntax.flow.graph import CONSUMING, TRIES
from bae_source.syntax.flow.scopes import FUNCTIONS, Named, parameters_of, running
from bae_source.syntax.inlining.code import Code
from bae_source.syntax.inlining.scopes import Use, uses_in

OF_FRAME = frozenset({"locals", "vars", "eval", "exec", "dir"})
"""Functions that may read the variables of what calls them by their names."""
_OF_PLACE = OF_FRAME | {"super", "__class__"}
_OF_DEPTH = frozenset(
    {
        "_getframe",
        "_getframemodulename",
        "currentframe",
        "getouterframes",
        "extract_stack",
        "format_stack",
        "print_stack",
    }
)
"""Functions that give what stands so many calls above them, or how many those are; so does `inspect.stack`."""
_PLAIN = frozenset({"staticmethod", "classmethod"})
_DEFERRING = (*FUNCTIONS, ast.ClassDef, ast.GeneratorExp)


class Shape(Enum):
    """The shape of a body, as its calls see it."""

    NOTHING = auto()
    EXPRESSION = auto()
    TAIL = auto()
    RETURNS = auto()


class Body:
    """The body of one function.

    Parameters:
        code: of its file.
        function: its definition.
    """

    def __init__(self, code: Code, function: Named) -> None:
        self.code = code
        self.function = function
        self.is_async = isinstance(function, ast.AsyncFunctionDef)
        self.decorators = [ast.unparse(each) for each in function.decorator_list]
        has_docstring = ast.get_docstring(function, clean=False) is not None
        self.statements = [each for each in function.body[int(has_docstring) :] if not _is_placeholder(each)]
        scope = code.scopes.opened[function]
        self.uses: list[Use] = list(uses_in(code.scopes, scope))
        self.parameters = [each.arg for each in parameters_of(function)]
        self.own = scope.own

    @cached_property
    def returns(self) -> list[ast.Return]:
        """All returns of the function itself."""
        return [each for each in running(*self.statements) if isinstance(each, ast.Return)]

    @cached_property
    def shape(self) -> Shape:
        """Return the shape of the body."""
        if not self.statements:
            return Shape.NOTHING
        last = self.statements[-1]
        if len(self.statements) == 1 and isinstance(last, ast.Return):
            return Shape.EXPRESSION if last.value is not None else Shape.NOTHING
        return Shape.TAIL if self.returns in ([], [last]) else Shape.RETURNS

    @property
    def result(self) -> ast.expr | None:
        """The expression that the last statement returns; None where it returns none."""
        last = self.statements[-1] if self.statements else None
        return last.value if isinstance(last, ast.Return) else None

    @property
    def free(self) -> frozenset[str]:
        """Names that the body takes from around the function."""
        return frozenset(each.name for each in self.uses if not each.is_own)

    @property
    def locals(self) -> frozenset[str]:
        """Names that the body binds, without those of parameters."""
        return frozenset(self.own) - frozenset(self.parameters)

    def reads_of(self, name: str) -> list[Use]:
        """Return where the body reads one of its own names."""
        return [each for each in self.uses if each.name == name and each.is_own and _is_load(each.node)]

    def is_rebound(self, name: str) -> bool:
        """Return whether the body binds or deletes a parameter."""
        return any(each.name == name and each.is_own and not _is_load(each.node) for each in self.uses)

    def is_kept(self, use: Use) -> bool:
        """Say whether a place runs when the body is through: a function or a generator that the body makes keeps it."""
        node: ast.AST = use.node
        while node is not self.function:
            node = self.code.parents[node]
            if isinstance(node, _DEFERRING) and node is not self.function and not self._is_consumed(node):
                return True
        return False

    def _is_consumed(self, node: ast.AST) -> bool:
        """Return whether a generator is used up where it is made: `sum(x for x in xs)`."""
        call = self.code.parents[node]
        if not isinstance(node, ast.GeneratorExp) or not isinstance(call, ast.Call):
            return False
        func = call.func
        if isinstance(func, ast.Attribute):
            return func.attr == "join"
        return isinstance(func, ast.Name) and func.id in CONSUMING - self.code.bound and hasattr(builtins, func.id)

    @property
    def falls_off(self) -> bool:
        """Return whether the end of the body may be reached."""
        return not _ends(self.statements)

    @property
    def private(self) -> str:
        """A name of the body that is private to the class around; nothing where it has none."""
        return next(filter(None, map(private_in, self.statements)), "")

    def why_not(self) -> str:
        """Return the reason why the body can stand nowhere else; nothing where it can."""
        if any(isinstance(each, ast.Expr) and _is_ellipsis(each.value) for each in self.function.body[-1:]):
            return "its body is left out"
        decorated = [each for each in self.decorators if each not in _PLAIN]
        if decorated:
            return f"{decorated[0]} decorates it"
        for node in running(*self.statements):
            if isinstance(node, (ast.Yield, ast.YieldFrom)):
                return "it is a generator"
            if isinstance(node, (ast.Global, ast.Nonlocal)):
                return f"it declares {node.names[0]} as {'global' if isinstance(node, ast.Global) else 'nonlocal'}"
        if getattr(self.function, "type_params", None):
            return "it has type parameters"
        for node in ast.walk(self.function):
            is_warning = isinstance(node, ast.Call) and ast.unparse(node.func) in ("warn", "warnings.warn")
            if is_warning or counts_calls(node):
                called = node.func if isinstance(node, ast.Call) else node
                return f"it calls {ast.unparse(called)}, which counts the calls around it"
        frame = sorted(_OF_PLACE & self.free)
        if frame:
            return f"it uses {frame[0]}, which means its own frame or class"
        for each in self.uses:
            if each.is_own and each.name in self.locals and self.is_kept(each):
                return f"a function or generator that it makes keeps its variable {each.name}"
        return ""


def counts_calls(node: ast.AST) -> bool:
    """Return whether a node itself depends on how many calls stand around it, or names what does."""
    if isinstance(node, ast.Call):
        return any(each.arg == "stacklevel" for each in node.keywords)
    name = getattr(node, "attr", getattr(node, "id", ""))
    return name in _OF_DEPTH or (name == "stack" and ast.unparse(node) == "inspect.stack")


def private_in(node: ast.AST) -> str:
    """Return a name in some code that is private to the class around; nothing where it has none."""
    return next((name for _, name in private_names(node)), "")


def private_names(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Yield what bears a name that is private to the class around some code, with the name; keywords never are."""
    for each in ast.walk(node):
        name = each.attr if isinstance(each, ast.Attribute) else each.id if isinstance(each, ast.Name) else ""
        if name.startswith("__") and not name.endswith("__"):
            yield each, name


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _is_placeholder(node: ast.stmt) -> bool:
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _is_load(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)


def _ends(statements: Sequence[ast.stmt]) -> bool:
    """Return whether the end of some statements is surely not reached."""
    last = statements[-1] if statements else None
    if isinstance(last, ast.If):
        return _ends(last.body) and _ends(last.orelse)
    if isinstance(last, TRIES):
        handled = all(_ends(each.body) for each in last.handlers)
        return _ends(last.finalbody) or (handled and (_ends(last.body) or _ends(last.orelse)))
    return isinstance(last, (ast.Return, ast.Raise))
