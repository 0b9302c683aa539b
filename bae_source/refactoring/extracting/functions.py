"""A piece of code as a function of its own: its text, and the call that stands where the code was.

    def f(self, xs):                        def f(self, xs):
        total = 0                               total = 0
        for x in xs:                            for x in xs:
            size = self.measure(x)                  total = self.add(x, total)
            total += size                       return total
        return total
                                            def add(self, x, total):
                                                size = self.measure(x)
                                                total += size
                                                return total

Invariants:
- the code keeps its text, but for its indentation, which strings of several lines do not follow;
- what is not the same in a function of its own is refused; what may not be is listed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from msgspec import Struct

from bae_source.errors import Refused
from bae_source.model.reasons import Reason
from bae_source.model.span import Span
from bae_source.refactoring.extracting.annotating import Annotations, is_annotated
from bae_source.refactoring.extracting.hazards import (
    Doubt,
    check_expression,
    check_movable,
    doubts_of,
    is_async,
    refused,
    yields,
)
from bae_source.refactoring.extracting.home import Home, home_of, receiver_of
from bae_source.refactoring.extracting.layout import NO_DEFINITIONS, place_of, value_of
from bae_source.refactoring.extracting.selecting import Piece
from bae_source.syntax.flow.piece import Flows, flows_of
from bae_source.syntax.flow.scopes import Level, Scope, Variable, running
from bae_source.syntax.patterns.pattern import span_of
from bae_source.syntax.rewrite.reindent import Shift, reindent
from bae_source.syntax.templates.surroundings import (
    Statement,
    fits_in_string,
    in_brackets_where_needed,
    shows_itself,
    statement_around,
)
from bae_source.syntax.text.byte_edits import splice


class Extracted(Struct, frozen=True, kw_only=True):
    """A piece as a function.

    Parameters:
        piece: the piece.
        frame: the function, class or module that it came from.
        home: where the function goes.
        taken: its parameters, without the one that it is called by.
        given: the variables that it gives back.
        is_async: whether it is a coroutine.
        yields: whether it is a generator.
        ends: whether what it returns is returned at once.
        of_module: names of the module that it binds there.
        doubts: what is unsure.
        fails_earlier: variables that may have no value, which is found out before the piece begins.
    """

    piece: Piece
    frame: Scope
    home: Home
    taken: tuple[Variable, ...]
    given: tuple[Variable, ...]
    is_async: bool
    yields: bool
    ends: bool
    of_module: tuple[str, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    fails_earlier: tuple[Variable, ...] = ()

    @property
    def shape(self) -> tuple[object, ...]:
        """Return the part that two pieces have in common if one function serves both."""
        home = self.home
        owner = self.piece.code.scopes.around[home.method] if home.method is not None else None
        return home.how, owner, self.is_async, self.yields, self.ends, self.of_module


def extracted(piece: Piece, kind: str | None) -> Extracted:
    """Return a piece as a function.

    Parameters:
        kind: `function` or `method`; None where that is left open.

    Raises:
        Refused: `unsafe_change` with the reason why it can be none.
    """
    frame = piece.code.scopes.around[piece.nodes[0]].frame
    check_expression(piece)
    check_movable(piece, frame)
    flows = flows_of(piece.code.scopes, frame, piece.nodes)
    of_module: tuple[str, ...] = ()
    if frame is piece.code.scopes.module and not piece.is_expression and _doubtful(flows):
        of_module = tuple(each.name for each in _bound(frame, flows))
        flows = Flows(taken=(), given=(), goes_on=True)
    _check_flows(piece, flows, frame)
    home = home_of(piece, frame, flows.taken, kind)
    is_generator = yields(piece)
    if is_generator:
        _check_generator(piece, frame)
    return Extracted(
        piece=piece,
        frame=frame,
        home=home,
        taken=_parameters(piece, flows.taken, home),
        given=flows.given,
        is_async=is_async(piece),
        yields=is_generator,
        ends=flows.returns,
        of_module=(*of_module, *_declared(piece, frame)),
        doubts=(*doubts_of(piece), *_lost(piece, flows)),
        fails_earlier=flows.fails_earlier,
    )


def _lost(piece: Piece, flows: Flows) -> Iterator[Doubt]:
    """Yield what a `with` around a piece may lose."""
    for each in flows.lost_in_with:
        yield piece.nodes[0], Reason.LOST_IN_WITH.of(name=each.name)


def _parameters(piece: Piece, taken: tuple[Variable, ...], home: Home) -> tuple[Variable, ...]:
    """Return the parameters of a function: an instance that it is not called by comes first."""
    instance = receiver_of(piece)
    first = [each for each in taken if each == instance]
    return tuple(each for each in (*first, *(e for e in taken if e not in first)) if each != home.receiver)


def _doubtful(flows: Flows) -> bool:
    """Return whether a variable may get lost on its way."""
    unsafe = (flows.perhaps_unbound, flows.lost_on_raise, flows.seen_by_closures, flows.rebound_by_closures)
    return any((*unsafe, flows.bound_later, flows.deleted))


def _bound(frame: Scope, flows: Flows) -> Sequence[Variable]:
    every = (*flows.given, *flows.deleted, *flows.taken)
    return list(dict.fromkeys(each for each in every if each.scope is frame))


def _declared(piece: Piece, frame: Scope) -> tuple[str, ...]:
    """Return the names of the module that a function declares outside of a piece, and binds in it."""
    inside = [each for each in running(*piece.nodes) if isinstance(each, ast.Name)]
    own = {name for each in running(*piece.nodes) if isinstance(each, ast.Global) for name in each.names}
    bound = [each.id for each in inside if not isinstance(each.ctx, ast.Load)]
    return tuple(dict.fromkeys(each for each in bound if each in frame.of_module and each not in own))


def _check_flows(piece: Piece, flows: Flows, frame: Scope) -> None:
    """See that no value is lost on its way.

    Raises:
        Refused: `unsafe_change`.
    """
    if flows.perhaps_unbound:
        name = flows.perhaps_unbound[0].name
        raise refused(
            f"{name} may have no value where the piece begins, and would have to be handed over",
            f"Bind {name} before, or extract the code that binds it as well.",
        )
    if flows.seen_by_closures:
        name = flows.seen_by_closures[0].name
        raise refused(f"A function that the piece may call looks at {name}, which the piece binds before")
    if flows.lost_on_raise:
        name = flows.lost_on_raise[0].name
        raise refused(
            f"{name} would keep its old value if the piece raised, and the code that catches it reads {name}",
            "Extract the whole try, or fewer lines.",
        )
    if flows.rebound_by_closures:
        name = flows.rebound_by_closures[0].name
        raise refused(f"{name} is bound by a function around the piece or in it, too")
    if flows.bound_later:
        name = flows.bound_later[0].name
        raise refused(
            f"A function in the piece reads {name} when it is called, and code behind the piece binds it anew"
        )
    if flows.deleted:
        raise refused(f"The piece deletes {flows.deleted[0].name}, which is a variable of the code around it")
    if piece.is_expression and flows.given:
        raise refused(f"The expression binds {flows.given[0].name}, which is read behind it", "Extract the statement.")
    if flows.returns and flows.goes_on and (not flows.is_last or flows.given):
        raise refused(
            "The piece returns on some ways and goes on behind itself on others",
            "Extract lines that return on every way, or up to the end of the function.",
        )
    if flows.returns and frame.level is not Level.FUNCTION:
        raise refused("The piece returns outside of a function")


def _check_generator(piece: Piece, frame: Scope) -> None:
    if piece.is_expression:
        raise refused("The expression yields", "Extract the statement that it is part of.")
    if isinstance(frame.node, ast.AsyncFunctionDef):
        raise refused("The piece yields in an asynchronous function, which has no `yield from`")


def call_of(function: Extracted, name: str, given: Sequence[str], results: Sequence[str]) -> str:
    """Return the statement or the expression that calls an extracted function.

    Parameters:
        name: of the function, with what it is called by.
        given: its arguments.
        results: what it gives back is bound to.
    """
    call = f"{name}({', '.join(given)})"
    if function.is_async:
        call = f"await {call}"
    if function.piece.is_expression:
        return call
    if function.yields:
        call = f"yield from {call}"
    if function.ends:
        return f"return ({call})" if function.yields else f"return {call}"
    return f"{', '.join(results)} = {call}" if results else call


def replacement(piece: Piece, call: str) -> str:
    """Return what stands in the place of a piece.

    Raises:
        Refused: `unsafe_change` where a call cannot stand there.
    """
    source, text = piece.code.source, piece.code.source.text
    if not piece.is_expression:
        if not piece.on_own_lines:
            return call
        indent = source.lines.indentation(piece.line).rpartition("\f")[2]
        own = piece.span.cut(text)
        end = own[len(own.rstrip("\r\n")) :]
        return f"{indent}{call}{end[: len(source.newline)] or ''}"
    return in_place(piece, call)


def in_place(piece: Piece, new: str) -> str:
    """Return an expression as it stands in the place of another.

    Raises:
        Refused: `unsafe_change` where it cannot.
    """
    source, node, parents = piece.code.source, piece.nodes[0], piece.code.parents
    if not fits_in_string(source, node, parents, piece.span, new):
        raise refused("The f-string around the expression cannot hold the new code before Python 3.12")
    if shows_itself(source, node, parents):
        raise refused("An f-string shows the code of the expression", "Leave out the `=` behind it.")
    around = parents[node]
    if (
        isinstance(around, ast.Call)
        and isinstance(node, ast.GeneratorExp)
        and span_of(source, around).end == piece.span.end
    ):
        return f"({new})"  # its brackets are those of the call
    place, statement = place_of(piece), statement_around(source, node, parents)
    if not statement.span.contains(place):
        statement = Statement(statement.before, place, statement.after)
    text = source.text
    spaced = f"{_gap(text[place.start - 1 : place.start])}{new}{_gap(text[place.end : place.end + 1])}"
    fitting = in_brackets_where_needed(statement, text, place, spaced)
    if fitting is None:
        raise refused("Nothing can stand in the place of the expression")
    return fitting if fitting == spaced else f"({new})"


def why_not(piece: Piece) -> str:
    """Return why a name or a call cannot stand for an expression; "" where it can."""
    try:
        check_expression(piece)
        in_place(piece, "name")
    except Refused as error:
        return error.message
    return ""


def _gap(beside: str) -> str:
    """Return the space between a name and the character beside it, as in `not(⏎x⏎)`."""
    return " " if beside.isalnum() or beside == "_" else ""


def definition_of(function: Extracted, name: str, *, indent: str, unit: str) -> str:
    """Return the text of an extracted function.

    Parameters:
        name: its name.
        indent: what indents it.
        unit: what indents its suite against it.
    """
    newline, home = function.piece.code.source.newline, function.home
    notes = Annotations(function.piece, function.frame) if is_annotated(function.frame) else None
    parameters = [home.receiver.name] if home.receiver is not None else []
    for each in function.taken:
        note = notes.of(each) if notes is not None else None
        parameters.append(f"{each.name}: {note}" if note else each.name)
    returns = _returns(function, notes) if notes is not None else None
    arrow = f" -> {returns}" if returns else ""
    keyword = "async def" if function.is_async else "def"
    lines = [f"@{home.how}"] if home.how in ("classmethod", "staticmethod") else []
    lines.append(f"{keyword} {name}({', '.join(parameters)}){arrow}:")
    inner = indent + unit
    body = [f"{inner}global {', '.join(dict.fromkeys(function.of_module))}{newline}"] if function.of_module else []
    body.append(_body(function, inner, unit))
    if function.given:
        body.append(f"{inner}return {', '.join(each.name for each in function.given)}{newline}")
    return "".join([*(f"{indent}{line}{newline}" for line in lines), *body])


def _returns(function: Extracted, notes: Annotations) -> str | None:
    if function.yields or function.piece.is_expression:
        return None
    if function.ends:
        return None if _generates(function) else notes.of_function()
    return notes.returned(function.given)


def _generates(function: Extracted) -> bool:
    body = getattr(function.frame.node, "body", ())
    return any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in running(*body))


def _body(function: Extracted, indent: str, unit: str) -> str:
    piece, source = function.piece, function.piece.code.source
    text, newline = source.text, source.newline
    if piece.is_expression:
        return f"{indent}return {value_of(piece, indent=indent, unit=unit, lead='return ')}{newline}"
    if not piece.on_own_lines:
        return f"{indent}{piece.span.cut(text)}{newline}"
    old = source.lines.indentation(piece.line).rpartition("\f")[2]
    splices = reindent(text, piece.span, NO_DEFINITIONS, Shift(old=old, new=indent))
    start = piece.span.start
    moved = splice(piece.span.cut(text), [(Span(s.start - start, s.end - start), new) for s, new in splices])
    return moved if moved.endswith(("\n", "\r")) else moved + newline
