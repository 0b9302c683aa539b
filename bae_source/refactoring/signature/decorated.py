"""Decorators that may call a function with its old arguments, whatever its signature becomes.

    def logged(function):
        @wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs)        hands on what it is given, and nothing else
        return wrapper
    def on(self, function):
        self.handlers.append(function)              keeps it for others to call

Invariants:
- only what is seen to do no more than to call it with what it is given itself, and to return it, is trusted.
"""

from __future__ import annotations

import ast

from bae_source.project.references.meaning.meanings import Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.types.values import Function, Value, Values
from bae_source.refactoring.renaming.renaming import decorator_from_outside, decorators_from_outside
from bae_source.refactoring.signature.members import Member, member_at
from bae_source.refactoring.signature.sites import ASKING, opening_of
from bae_source.syntax.names import uses as u
from bae_source.syntax.rewrite.name_tokens import written
from bae_source.system.silence import unwarned

_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef)
_CALLING = ("functools.singledispatch", "unittest.mock.patch", "atexit.register")
"""Beginnings of the names of Python's own that pass arguments on to other functions, or give some of their own."""
_COPYING = frozenset({"wraps", "update_wrapper"})


def decorator_handing_on(project: Project, member: Member) -> str:
    """Return the name of a decorator of a function that may hand it on; "" for none."""
    symbol = Symbol(member.symbol.path, member.scope, member.symbol.name)
    standard = (each for each in decorators_from_outside(project, symbol) if each.startswith(_CALLING))
    if outside := decorator_from_outside(project, symbol) or next(standard, ""):
        return outside
    uses = project.uses(symbol.path)
    owner = uses.scopes[member.scope].owner
    for name, mentions in uses.mentions.items():
        for mention in mentions if name else ():
            if mention.kind == u.DECORATOR and mention.owner == owner:
                start = member.tree.source.lines.offset(*mention[:2])
                is_called = opening_of(member.tree.text, start + len(written(member.tree.text, start))) >= 0
                values = _values(project, symbol.path, name, mention)
                if not all(
                    _is_plain(project, each, is_called=is_called) for each in values if isinstance(each, Function)
                ):
                    return name
    return ""


def _values(project: Project, path: str, name: str, mention: u.Mention) -> Values:
    """Return the possible values of a decorator."""
    inference = project.inference
    if mention.receiver != u.PLAIN:
        return inference.taken(path, inference.values(path, mention.receiver), name)
    meanings = project.names.named(path, mention.scope, name)
    return frozenset[Value]().union(*(inference.values_of(each) for each in meanings if isinstance(each, Symbol)))


def _is_plain(project: Project, function: Function, *, is_called: bool) -> bool:
    """Return whether a decorator hands on only the arguments that it is called with.

    Parameters:
        is_called: whether what a call of it returns decorates, as in `@repeat(3)`.
    """
    member = member_at(project, function.path, function.scope)
    if member is None:
        return False
    line = member.tree.source.lines.number(member.tree.outline.definitions[member.number].keyword)
    try:
        with unwarned():
            nodes = list(ast.walk(ast.parse(member.tree.text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    node = next((each for each in nodes if isinstance(each, _DEFINITION) and each.lineno == line), None)
    if node is None:
        return False
    inner = (each for each in ast.walk(node) if isinstance(each, _DEFINITION) and each is not node)
    taking = [each for each in inner if each.args.args and _is_returned(each, node)] if is_called else [node]
    return bool(taking) and all(each.args.args and _hands_on_alone(each, _first(each, member)) for each in taking)


def _first(function: ast.FunctionDef | ast.AsyncFunctionDef, member: Member) -> str:
    """Return the parameter of a decorator that takes the decorated function."""
    names = [each.arg for each in function.args.args]
    is_method = function.name == member.symbol.name and member.bound < len(names)
    return names[member.bound if is_method else 0]


def _is_returned(function: ast.FunctionDef | ast.AsyncFunctionDef, whole: ast.AST) -> bool:
    """Return whether a function that another one has inside is what that returns."""
    values = (each.value for each in ast.walk(whole) if isinstance(each, ast.Return))
    return any(isinstance(each, ast.Name) and each.id == function.name for each in values)


def _hands_on_alone(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> bool:
    """Return whether a function only returns a parameter, or calls it with its own arguments."""
    for outer in ast.walk(function):
        for child in ast.iter_child_nodes(outer):
            if isinstance(child, ast.Name) and child.id == name and not _is_harmless(function, outer, child):
                return False
    return True


def _is_harmless(function: ast.AST, parent: ast.AST, node: ast.Name) -> bool:
    if isinstance(parent, ast.Call):
        called = parent.func.attr if isinstance(parent.func, ast.Attribute) else getattr(parent.func, "id", "")
        return _calls_on(function, parent) if parent.func is node else called in _COPYING | ASKING
    return isinstance(parent, (ast.Return, ast.Attribute, ast.Compare, ast.UnaryOp, ast.BoolOp, ast.IfExp))


def _calls_on(function: ast.AST, call: ast.Call) -> bool:
    """Return whether a call passes exactly the arguments of the function around it."""
    around = [
        each
        for each in ast.walk(function)
        if isinstance(each, _DEFINITION) and any(inside is call for inside in ast.walk(each))
    ]
    arguments = around[-1].args
    own = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    given = [ast.unparse(each) for each in (*call.args, *call.keywords)]
    stars = [f"*{arguments.vararg.arg}"] if arguments.vararg else []
    named = [f"**{arguments.kwarg.arg}"] if arguments.kwarg else []
    return given == [*own, *stars, *named] and bool(stars) and bool(named)
