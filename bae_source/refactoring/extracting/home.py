"""Places for extracted functions, and how they are called from where their code came from.

    class A:
        def f(self): …         a method stands behind the one that it came from, and is called by `self`
    def g(): …                 a function stands before the definition of its module that it came from

A function that stands before everything that may call it is bound whenever that runs.

Invariants:
- the first parameter of a method is taken for the instance or class only where nothing binds it anew.
"""

from __future__ import annotations

import ast
from typing import Literal

from msgspec import Struct

from bae_source.refactoring.extracting.hazards import calls_super, needs_class, private_name, refused
from bae_source.refactoring.extracting.selecting import Piece, first_line
from bae_source.syntax.flow.scopes import Level, Named, Scope, Variable
from bae_source.syntax.inlining.code import Code
from bae_source.syntax.outline.definitions import Definition
from bae_source.syntax.outline.locate import comments_above, owned_comment, runs_of
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.patterns.pattern import span_of
from bae_source.syntax.rewrite.blank_lines import count, start_of_gap, wanted

How = Literal["function", "method", "classmethod", "staticmethod"]
_STATIC = frozenset({"staticmethod"})
_OF_CLASS = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})


class Home(Struct, frozen=True, kw_only=True):
    """The place of an extracted function.

    Parameters:
        how: what it is.
        method: the method whose class it goes to; None for a function of the module.
        receiver: the variable by which it is called; None for none.
        prefix: what stands before its name in calls, with the dot.
    """

    how: How
    method: Named | None = None
    receiver: Variable | None = None
    prefix: str = ""


def home_of(piece: Piece, frame: Scope, taken: tuple[Variable, ...], kind: str | None) -> Home:
    """Return where the function that a piece becomes goes.

    Parameters:
        taken: the variables that it takes from around it.
        kind: `function` or `method`, as it was asked for; None where that is left open.

    Raises:
        Refused: `unsafe_change` where it can be none of that kind.
    """
    method = _method_around(frame)
    receiver = _receiver(piece.code, method) if method is not None else None
    is_bound = needs_class(piece)
    is_used = receiver in taken or is_bound
    if kind == "method" and method is None:
        raise refused("The code stands in no method", "kind function makes a function of it.")
    in_class = kind == "method" or (kind is None and method is not None and is_used)
    decorators = _decorators(method) if method is not None else frozenset()
    if method is not None and not in_class and kind is None and decorators & _STATIC:
        in_class = _is_reached(piece, method)
    if not in_class:
        if is_bound and _in_class(piece):
            what = "super()" if calls_super(piece) else f"the private name {private_name(piece)}"
            hint = "Use kind method." if method is not None else "Leave it out."
            raise refused(f"The code uses {what}, which means something in its class alone", hint)
        return Home(how="function")
    assert method is not None
    if method.name == "__getattribute__":
        raise refused("A method that __getattribute__ calls would be looked up by it again", "Use kind function.")
    if receiver is not None and piece.code.scopes.around[piece.nodes[0]].find(receiver.name) is receiver.scope:
        if calls_super(piece) and frame.node is not method:
            raise refused("super() without arguments means the function around it", "Extract it with that function.")
        is_class = bool(decorators & {"classmethod"}) or method.name in _OF_CLASS or _is_class_by_name(method, receiver)
        return Home(
            how="classmethod" if is_class else "method", method=method, receiver=receiver, prefix=f"{receiver.name}."
        )
    owner = piece.code.scopes.around[method].node
    if calls_super(piece) or not _is_reached(piece, method) or not isinstance(owner, ast.ClassDef):
        raise refused("Nothing that the code can name leads to its class", "Use kind function.")
    return Home(how="staticmethod", method=method, prefix=f"{owner.name}.")


def receiver_of(piece: Piece) -> Variable | None:
    """Return the variable of the instance or class whose method a piece stands in; None where there is none."""
    method = _method_around(piece.code.scopes.around[piece.nodes[0]].frame)
    return _receiver(piece.code, method) if method is not None else None


def _in_class(piece: Piece) -> bool:
    return any(each.level is Level.CLASS for each in piece.code.scopes.around[piece.nodes[0]].chain)


def _method_around(frame: Scope) -> Named | None:
    """Return the innermost function around some code that is a method."""
    for scope in frame.chain:
        is_method = scope.level is Level.FUNCTION and scope.around is not None and scope.around.level is Level.CLASS
        if is_method and isinstance(scope.node, Named):
            return scope.node
        if scope.level is Level.CLASS:
            return None
    return None


def _receiver(code: Code, method: Named) -> Variable | None:
    """Return the variable of a method's instance or class; None where it has none, or binds it anew."""
    positional = [*method.args.posonlyargs, *method.args.args]
    if _decorators(method) & _STATIC or not positional:
        return None
    scope, name = code.scopes.opened[method], positional[0].arg
    is_bound_anew = any(
        isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
        for node, around in code.scopes.around.items()
        if around.find(name) is scope
    )
    return None if is_bound_anew else Variable(scope, name)


def _decorators(method: Named) -> frozenset[str]:
    return frozenset(each.id for each in method.decorator_list if isinstance(each, ast.Name))


def _is_class_by_name(method: Named, receiver: Variable) -> bool:
    """Return whether decorators that are not known may hand a method its class."""
    return receiver.name == "cls" and bool(method.decorator_list)


def _is_reached(piece: Piece, method: ast.AST) -> bool:
    """Return whether the name of a method's class means the class where a piece stands."""
    scopes = piece.code.scopes
    owner = scopes.around[method].node
    if not isinstance(owner, ast.ClassDef) or scopes.around[owner] is not scopes.module:
        return False
    return scopes.around[piece.nodes[0]].find(owner.name) is scopes.module


class Spot(Struct, frozen=True, kw_only=True):
    """A place for a definition.

    Parameters:
        offset: where its text goes.
        indent: what indents it.
        before, after: line ends in front of the text and behind it.
    """

    offset: int
    indent: str
    before: int
    after: int

    def text(self, definition: str, newline: str) -> str:
        """Return a definition with the blank lines around it."""
        return f"{newline * self.before}{definition}{newline * self.after}"


def spot_of(piece: Piece, home: Home, tree: Tree) -> Spot:
    """Return where the text of an extracted function goes."""
    if home.method is None:
        return spot_before(piece, tree)
    source = piece.code.source
    keyword = span_of(source, home.method).start
    outline = tree.outline
    number = next((n for n, each in enumerate(outline.definitions) if each.keyword == keyword), None)
    indent = source.lines.indentation(home.method.lineno).rpartition("\f")[2]
    if number is None:
        end, gap = source.lines.end(home.method.end_lineno or 1), 1
    else:
        own: Definition = outline.definitions[number]
        run = next(each for each in runs_of(outline, outline.named(own.parent, own.names[0])) if number in each)
        end, gap = outline.definitions[run[-1]].span.end, wanted(tree, own.suite, nested=True)
    is_open = bool(end) and source.text[end - 1] not in "\r\n"
    return Spot(offset=end, indent=indent, before=gap + is_open, after=0)


def spot_before(piece: Piece, tree: Tree, *, gap: int | None = None) -> Spot:
    """Return the place before the statement of the module that holds a piece, and its comments.

    Parameters:
        gap: how many blank lines set it apart; None for as many as functions of the module have.
    """
    source, text = piece.code.source, piece.code.source.text
    top = top_of(piece)
    line = first_line(top)
    keyword = span_of(source, top).start
    number = next((n for n, each in enumerate(tree.outline.definitions) if each.keyword == keyword), None)
    comment = owned_comment(tree, number) if number is not None else None
    start = comment.start if comment is not None else source.lines.start(line)
    if number is None and piece.code.tree.body[0] is not top:
        start = source.lines.start(comments_above(source.lines, line))
    wide = wanted(tree, 0, nested=False) if gap is None else gap
    begin = start_of_gap(text, start)
    above = count(text, begin, start)
    before = max(0, wide - above) if text[:begin].strip() else 0
    return Spot(offset=start, indent="", before=before, after=wide)


def top_of(piece: Piece) -> ast.AST:
    """Return the statement of the module that holds a piece; of overloads and their implementation the first."""
    top = piece.nodes[0]
    while not isinstance(piece.code.parents[top], ast.Module):
        top = piece.code.parents[top]
    body = piece.code.tree.body
    number = next(n for n, each in enumerate(body) if each is top)
    while number and _is_overload(body[number - 1], getattr(top, "name", "")):
        number -= 1
    return body[number]


def _is_overload(node: ast.AST, name: str) -> bool:
    if not isinstance(node, Named) or node.name != name:
        return False
    return any(getattr(each, "id", getattr(each, "attr", "")) == "overload" for each in node.decorator_list)
