"""An expression that becomes a parameter of its function, with itself as the default.

    def wait():                          def wait(seconds=30):
        sleep(30)                            sleep(seconds)

Invariants:
- calls stay as they are, and come to the same.
"""

from __future__ import annotations

import ast

from bae_source.errors import LookupFailed
from bae_source.model.call import Call
from bae_source.model.plan import Plan
from bae_source.model.reasons import Reason
from bae_source.model.span import Span
from bae_source.model.text import listed
from bae_source.project.references.meaning.instance_attributes import resolve_asked
from bae_source.project.references.meaning.project import project_of
from bae_source.project.workspace import Workspace
from bae_source.refactoring.extracting.annotating import is_annotated
from bae_source.refactoring.extracting.as_constant import check_value
from bae_source.refactoring.extracting.functions import in_place, why_not
from bae_source.refactoring.extracting.hazards import Doubt, refused
from bae_source.refactoring.extracting.home import top_of
from bae_source.refactoring.extracting.lasting import check_lasting, doubts_of_value
from bae_source.refactoring.extracting.layout import place_of, value_of
from bae_source.refactoring.extracting.naming import check_free_in_function
from bae_source.refactoring.extracting.planned import Asked, Made, planned
from bae_source.refactoring.extracting.selecting import Piece
from bae_source.refactoring.extracting.similar import pieces_like
from bae_source.refactoring.signature.members import Member, family_of_function, header_of, members_of_family
from bae_source.syntax.flow.scopes import Level, Named, parameters_of
from bae_source.syntax.patterns.pattern import span_of
from bae_source.syntax.text.source import Source

_HARMLESS = frozenset(
    {"staticmethod", "classmethod", "abstractmethod", "override", "final", "cache", "lru_cache", "wraps"}
    | {"contextmanager", "asynccontextmanager"}
)
"""Decorators that do not mind another parameter with a default."""
_PROPERTIES = frozenset({"property", "cached_property", "setter", "getter", "deleter", "overload"})


def plan_parameter(workspace: Workspace, asked: Asked) -> Plan:
    """Plan to make a parameter of an expression.

    Raises:
        Refused: `unsafe_change` where that is not the same, or is unsure; `name_collision`.
    """
    piece = asked.piece
    check_value(piece)
    node = _function_of(piece)
    names = {each.id if isinstance(each, ast.Name) else each.attr for each in map(_called, node.decorator_list) if each}
    if names & _PROPERTIES:
        raise refused(f"{node.name} is a property or an overload, whose calls give no such argument")
    if node.args.kwarg is not None:
        raise refused(
            f"{node.name} takes any keywords by **{node.args.kwarg.arg}, and may get {asked.name} among them",
            "change_signature adds a parameter with the calls.",
        )
    check_lasting(piece, top_of(piece))
    frame = piece.code.scopes.opened[node]
    own = [each for each in pieces_like(piece) if _is_in(each, node)]
    found = [(each, why_not(each)) for each in own]
    same = tuple(each for each, why in found if not why)
    pieces = (piece, *(same if asked.similar else ()))
    for each in pieces:
        check_free_in_function(each, frame, asked.name)
    doubts: list[Doubt] = [*doubts_of_value(piece, "the function is defined")]
    unknown = sorted(names - _HARMLESS)
    if unknown:
        doubts.append((node.decorator_list[0], Reason.PASSED_BY_NAME.of(decorator=unknown[0])))
    address = f"{asked.resolved.module.name}.{_qualname(piece, node)}"
    declared = _declared(piece, node, asked.name)
    _check_alone(workspace, piece, node, address, declared)
    return planned(
        workspace,
        asked,
        Made(
            what="parameter",
            address=address,
            splices=(
                declared,
                *((place_of(each), in_place(each, asked.name)) for each in pieces),
            ),
            pieces=pieces,
            alike=() if asked.similar else same,
            left=tuple((each, why) for each, why in found if why) if asked.similar else (),
            doubts=tuple(doubts),
        ),
    )


def _called(node: ast.expr) -> ast.Name | ast.Attribute | None:
    """Return the name in a decorator."""
    func = node.func if isinstance(node, ast.Call) else node
    return func if isinstance(func, (ast.Name, ast.Attribute)) else None


def _function_of(piece: Piece) -> Named:
    frame = piece.code.scopes.around[piece.nodes[0]].frame
    if frame.level is Level.FUNCTION and isinstance(frame.node, Named):
        return frame.node
    raise refused("The expression stands in no function that can take a parameter", "Use kind constant or variable.")


def _is_in(piece: Piece, node: Named) -> bool:
    return piece.code.scopes.around[piece.nodes[0]].frame.node is node


def _check_alone(workspace: Workspace, piece: Piece, node: Named, address: str, declared: tuple[Span, str]) -> None:
    """See that no stub, overload or override has the signature of a function, too.

    Raises:
        Refused: `unsafe_change` with the call that changes them all.
    """
    if any(each.level is Level.FUNCTION for each in piece.code.scopes.around[node].chain):
        return
    try:
        resolved = resolve_asked(workspace, address)
    except LookupFailed as error:
        if not error.candidates:
            return
        resolved = resolve_asked(workspace, error.candidates[-1])
    project = project_of(workspace)
    members = list(members_of_family(project, family_of_function(project, resolved).symbols))
    if len(members) < 2:
        return
    text, brackets = piece.code.source.text, header_of(resolved).brackets
    place, added = declared
    hints: list[str] = []
    if brackets.contains(place):
        signature = f"{text[brackets.start : place.start]}{added}{text[place.end : brackets.end]}"
        call = Call("change_signature", target=address, signature=signature)
        hints.append(call.and_then("gives all of them the parameter; its name can then take the place of the code."))
    others = sorted({each.address for each in members if isinstance(each, Member)} - {address})
    what = f"{listed(others, 3)} {'have' if len(others) > 1 else 'has'}" if others else "Other definitions of it have"
    raise refused(f"{what} the signature of {address} as well, which would not be the same any more", *hints)


def _qualname(piece: Piece, node: ast.AST) -> str:
    chain = [each.node for each in piece.code.scopes.opened[node].chain]
    return ".".join(each.name for each in reversed(chain) if isinstance(each, (Named, ast.ClassDef)))


def _declared(piece: Piece, node: Named, name: str) -> tuple[Span, str]:
    """Return the splice that adds a parameter behind all others, by keyword alone where there is a `*`."""
    source, arguments = piece.code.source, node.args
    value = piece.nodes[0]
    is_noted = (
        is_annotated(piece.code.scopes.opened[node]) and isinstance(value, ast.Constant) and value.value is not None
    )
    kind = type(value.value).__name__ if isinstance(value, ast.Constant) else ""
    lead = f"{name}: {kind} = " if is_noted else f"{name}="
    text = f"{lead}{value_of(piece, indent=source.lines.indentation(node.lineno), unit='    ')}"
    every = parameters_of(node)
    if not every:
        start = source.text.index("(", span_of(source, node).start) + 1
        return Span(start, start), text
    ends = [_end(source, each) for each in (*every, *arguments.defaults, *arguments.kw_defaults) if each is not None]
    end = max(ends)
    if arguments.posonlyargs and not (arguments.args or arguments.vararg or arguments.kwonlyargs):
        end = source.text.index("/", end) + 1
    return Span(end, end), f", {text}"


def _end(source: Source, node: ast.AST) -> int:
    """Return where a parameter or a default ends, with the brackets around it."""
    span, text = span_of(source, node), source.text
    before = text[: span.start].rstrip()
    end = span.end
    for _ in range(len(before) - len(before.rstrip("("))) if not isinstance(node, ast.arg) else ():
        end = text.index(")", end) + 1
    return end
