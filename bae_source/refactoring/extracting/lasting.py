"""Expressions that may be evaluated once, when their module or function is defined, instead of whenever they are met.

    3 * 60                      the same, whenever it is evaluated
    re.compile("[a-z]+")        so is what cannot be changed, made of such
    [1, 2]                      a new list each time: one for all is unsure, but where it is only looked into
    load()                      unsure
    size                        refused where it is a variable

Invariants:
- what a name means where it is evaluated then is what it means where it stands.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bae_source.model.reasons import Reason
from bae_source.refactoring.extracting.hazards import Doubt, calls_super, is_async, private_name, refused
from bae_source.refactoring.extracting.selecting import Piece
from bae_source.syntax.flow.order import is_literal
from bae_source.syntax.flow.scopes import DEFINITIONS, running
from bae_source.syntax.inlining.code import Code
from bae_source.syntax.outline.static_values import names_bound

_UNCHANGING = frozenset(
    {"re.compile", "frozenset", "tuple", "complex", "range", "slice", "int", "float", "str", "bytes", "bool"}
    | {"decimal.Decimal", "fractions.Fraction", "datetime.timedelta", "pathlib.Path", "pathlib.PurePath"}
    | {"operator.itemgetter", "operator.attrgetter", "operator.methodcaller"}
)
"""Callables whose values never change, and depend on nothing but what they are given."""
_DISPLAYS = (ast.List, ast.Set)


def check_lasting(piece: Piece, top: ast.AST) -> None:
    """See that an expression can be evaluated where its module runs, before a statement of it.

    Parameters:
        top: the statement.

    Raises:
        Refused: `unsafe_change`.
    """
    code, node = piece.code, piece.nodes[0]
    bound = {each.target.id for each in ast.walk(node) if isinstance(each, ast.NamedExpr)}
    if is_async(piece) or bound or any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in running(node)):
        raise refused("The expression awaits, yields or binds something", "Use kind function.")
    if calls_super(piece) or private_name(piece):
        raise refused("The expression uses names that mean something in its class alone", "Use kind variable.")
    for each in names_of(code, node):
        variable = code.scopes.variable(each, each.id)
        if variable is not None:
            what = variable.scope.level.value
            raise refused(
                f"The expression depends on {each.id}, a variable of the {what} around it", "Use kind variable."
            )
        if code.scopes.around[each].find(each.id) is not None:
            _check_bound_once(code, each, top)


def names_of(code: Code, node: ast.AST) -> Iterator[ast.Name]:
    """Yield the names in an expression that are not bound by itself."""
    own = {code.scopes.opened[each] for each in ast.walk(node) if each in code.scopes.opened}
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and code.scopes.around[each].find(each.id) not in own:
            yield each


def _check_bound_once(code: Code, name: ast.Name, top: ast.AST) -> None:
    """See that a name of the module has one value, from before a statement on.

    Raises:
        Refused: `unsafe_change`.
    """
    body = code.tree.body
    above = body[: body.index(top)] if isinstance(top, ast.stmt) else []
    plain = [each for each in above if name.id in _bound_by(each)]
    module = code.scopes.module
    every = [
        each
        for each, scope in code.scopes.around.items()
        if name.id in names_bound(each) and scope.find(name.id) is module
    ]
    if not plain:
        raise refused(
            f"{name.id} is bound further down, or only on some ways, and would have no value there yet",
            "Extract it to a variable, or move what binds it up.",
        )
    if len(every) > 1:
        raise refused(f"{name.id} is bound several times in the module, so its value changes", "Use kind variable.")


def _bound_by(statement: ast.stmt) -> set[str]:
    """Return the names that a statement of a module binds in any case."""
    if isinstance(statement, DEFINITIONS):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom, ast.Assign)):
        return {name for each in ast.walk(statement) for name in names_bound(each)}
    is_bound = isinstance(statement, ast.AnnAssign) and statement.value is not None
    return set(names_bound(statement.target)) if is_bound and isinstance(statement, ast.AnnAssign) else set()


def doubts_of_value(piece: Piece, when: str) -> Iterator[Doubt]:
    """Yield why evaluating an expression once may make a difference.

    Parameters:
        when: the time at which it would be.
    """
    node = piece.nodes[0]
    if not _is_unchanging(piece.code, node) and not _is_looked_into(piece):
        yield node, Reason.EVALUATED_ONCE.of(when=when)


def _is_unchanging(code: Code, node: ast.AST) -> bool:
    """Return whether an expression has one value for ever, which cannot be changed."""
    if is_literal(node):
        return True
    match node:
        case ast.Tuple(elts=parts):
            return all(_is_unchanging(code, each) for each in parts)
        case ast.JoinedStr(values=parts):
            return all(isinstance(each, ast.Constant) for each in parts)
        case ast.Call(func=func, args=args, keywords=keywords):
            parts = [*args, *(each.value for each in keywords)]
            is_plain = all(_is_unchanging(code, each) or _is_plain(each) for each in parts)
            return is_plain and _dotted(code, func) in _UNCHANGING
        case ast.Attribute(value=ast.Name(), attr=name):
            return name.isupper() and bool(_dotted(code, node)) and not is_set(code, name)
        case ast.BinOp(left=left, right=right):
            return _is_unchanging(code, left) and _is_unchanging(code, right) and bool(_names(left) | _names(right))
        case ast.Name(id=name):
            return name.isupper() or _is_defined(code, name)
    return False


def is_set(code: Code, attribute: str) -> bool:
    """Return whether the module binds or deletes an attribute of that name."""
    every = (each for each in ast.walk(code.tree) if isinstance(each, ast.Attribute) and each.attr == attribute)
    return any(not isinstance(each.ctx, ast.Load) for each in every)


def _is_plain(node: ast.AST) -> bool:
    """Return whether an expression is a display of values that cannot be changed, and that its users copy."""
    return isinstance(node, _DISPLAYS) and all(map(is_literal, node.elts))


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _is_defined(code: Code, name: str) -> bool:
    """Return whether a name is that of a function, a class or an import of the module."""
    return any(name in _bound_by(each) for each in code.tree.body if not isinstance(each, (ast.Assign, ast.AnnAssign)))


def _dotted(code: Code, node: ast.AST) -> str:
    """Return what a name or an attribute of one is by the imports of the module; "" where that is not known."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        around = _dotted(code, node.value)
        return f"{around}.{node.attr}" if around else ""
    if not isinstance(node, ast.Name):
        return ""
    if code.scopes.around[node].find(node.id) is None:
        return node.id
    for statement in code.tree.body:
        for alias in getattr(statement, "names", ()) if isinstance(statement, (ast.Import, ast.ImportFrom)) else ():
            if node.id in names_bound(alias):
                module = getattr(statement, "module", None)
                return f"{module}.{alias.name}" if module else alias.name
    return ""


def _is_looked_into(piece: Piece) -> bool:
    """Return whether a display is only searched or iterated over, so that nothing can change it."""
    node = piece.nodes[0]
    if not isinstance(node, _DISPLAYS) or not all(map(is_literal, node.elts)):
        return False
    around = piece.code.parents[node]
    if isinstance(around, ast.Compare):
        return isinstance(around.ops[-1], (ast.In, ast.NotIn)) and around.comparators[-1] is node
    return isinstance(around, (ast.For, ast.comprehension)) and around.iter is node
