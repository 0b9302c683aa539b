"""A piece of code that becomes a function or a method, with the equal ones that it stands for."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bae_source.model.outcome import Notice
from bae_source.model.plan import Plan
from bae_source.model.span import Span
from bae_source.model.text import listed
from bae_source.project.workspace import Workspace
from bae_source.refactoring.extracting.functions import Extracted, call_of, definition_of, extracted, replacement
from bae_source.refactoring.extracting.home import spot_before, spot_of
from bae_source.refactoring.extracting.layout import place_of
from bae_source.refactoring.extracting.naming import check_free_in_class, check_free_in_module, taken
from bae_source.refactoring.extracting.planned import Asked, Made, address_at, planned
from bae_source.refactoring.extracting.selecting import Piece
from bae_source.refactoring.extracting.similar import Same, pieces_like, same_function
from bae_source.refactoring.inlining.counting import counting_calls
from bae_source.syntax.flow.scopes import DEFINITIONS
from bae_source.syntax.outline.locate import unit_for


def plan_function(workspace: Workspace, asked: Asked) -> Plan:
    """Plan to make a function or a method of a piece.

    Raises:
        Refused: `unsafe_change` where that is not the same, or is unsure; `name_collision`.
    """
    function = extracted(asked.piece, asked.kind)
    own = Same(
        piece=asked.piece,
        prefix=function.home.prefix,
        given=tuple(each.name for each in function.taken),
        results=tuple(each.name for each in function.given),
    )
    found = [(piece, same_function(function, piece, asked.kind)) for piece in pieces_like(asked.piece)]
    same = [each for _, each in found if isinstance(each, Same)]
    replaced = [own, *same] if asked.similar else [own]
    pieces = tuple(each.piece for each in replaced)
    notices = _check_name(workspace, asked, function, pieces)
    return planned(
        workspace,
        asked,
        Made(
            what="function" if function.home.method is None else "method",
            address=_address(asked, function),
            splices=_splices(asked, function, replaced),
            pieces=pieces,
            alike=() if asked.similar else tuple(each.piece for each in same),
            left=tuple((piece, why) for piece, why in found if isinstance(why, str)) if asked.similar else (),
            doubts=function.doubts,
            notices=(*notices, *counting_calls(workspace, asked.piece.nodes, "one more"), *_notices(asked, function)),
        ),
    )


def _splices(asked: Asked, function: Extracted, replaced: list[Same]) -> tuple[tuple[Span, str], ...]:
    tree, piece = asked.resolved.tree, asked.piece
    first = min((each.piece for each in replaced), key=lambda each: each.span)
    spot = spot_before(first, tree) if function.home.method is None else spot_of(piece, function.home, tree)
    members = asked.resolved.group.members if asked.resolved.group is not None else ()
    text = definition_of(function, asked.name, indent=spot.indent, unit=unit_for(tree, members))
    calls = [
        (
            place_of(each.piece),
            replacement(each.piece, call_of(function, f"{each.prefix}{asked.name}", each.given, each.results)),
        )
        for each in replaced
    ]
    return ((Span(spot.offset, spot.offset), spot.text(text, piece.code.source.newline)), *calls)


def _check_name(workspace: Workspace, asked: Asked, function: Extracted, pieces: tuple[Piece, ...]) -> list[Notice]:
    """See that the name is free, and return what is not known of that."""
    name, module, code = asked.name, asked.resolved.module, asked.piece.code
    if name in {each.name for each in (*function.taken, *function.given)}:
        raise taken(name, "the code has a variable of that name")
    if function.home.method is None:
        check_free_in_module(workspace, module, pieces, name)
        return []
    owner = code.scopes.around[function.home.method].node
    assert isinstance(owner, ast.ClassDef)
    return check_free_in_class(workspace, module, owner, code, name)


def _notices(asked: Asked, function: Extracted) -> Iterator[Notice]:
    """Yield what is the same but for names of inner functions, and for the place of an error."""
    inside = [each for node in asked.piece.nodes for each in ast.walk(node)]
    names = [each.name for each in inside if isinstance(each, DEFINITIONS)]
    if names:
        text = f"The __qualname__ of {listed(names)} begins with {asked.name} now."
        yield Notice("qualified_name", text)
    if function.fails_earlier:
        shown = listed(each.name for each in function.fails_earlier)
        text = f"{shown} may have no value there: then it fails as before, but before the code has begun."
        yield Notice("fails_earlier", text)


def _address(asked: Asked, function: Extracted) -> str:
    """Return the address of the new function."""
    if function.home.method is None:
        return f"{asked.resolved.module.name}.{asked.name}"
    around = address_at(asked, asked.piece)
    method = function.home.method.name
    return f"{around[: around.rindex(f'.{method}')]}.{asked.name}"
