"""The plan of an extraction, checked as a whole, with its report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from bae_source.errors import Refused
from bae_source.model.call import call_of
from bae_source.model.outcome import REPORT, Notice
from bae_source.model.plan import Plan
from bae_source.model.reference import Reference
from bae_source.model.report import Report
from bae_source.model.request import Request
from bae_source.model.span import Span
from bae_source.model.text import counted, listed
from bae_source.project.naming.resolve import Resolved
from bae_source.project.references.meaning.project import shown
from bae_source.project.workspace import Workspace
from bae_source.refactoring.extracting.hazards import Doubt
from bae_source.refactoring.extracting.selecting import Piece
from bae_source.refactoring.planning.choice import Choice, by_reason
from bae_source.refactoring.planning.plan import Spliced, planned_files
from bae_source.syntax.outline.locate import definition_around, qualname_of
from bae_source.syntax.patterns.pattern import span_of

_MOST_SHOWN = 10


class Asked(Struct, frozen=True, kw_only=True):
    """An extraction.

    Parameters:
        request: the request itself, which hints repeat with other choices.
        resolved: what the code stands in.
        piece: the code.
        name: that of what is made of it.
        kind: what that is; None for a function or a method.
        similar: whether equal code is replaced, too.
        choice: about places that are unsure.
        leaves: whether code that is unsure stays as it is.
    """

    request: Request
    resolved: Resolved
    piece: Piece
    name: str
    kind: str | None
    similar: bool
    choice: Choice
    leaves: bool = False


class Made(Struct, frozen=True, kw_only=True):
    """The result of an extraction.

    Parameters:
        what: what was made, such as `function`.
        address: its address.
        splices: the changes of the module.
        pieces: the code that goes, that which was named first.
        alike: equal code that stays.
        left: equal code that cannot go, with the reasons.
        doubts: what is unsure.
    """

    what: str
    address: str
    splices: tuple[tuple[Span, str], ...]
    pieces: tuple[Piece, ...]
    alike: tuple[Piece, ...] = ()
    left: tuple[tuple[Piece, str], ...] = ()
    doubts: tuple[Doubt, ...] = ()
    notices: tuple[Notice, ...] = ()


def planned(workspace: Workspace, asked: Asked, made: Made) -> Plan:
    """Return the plan of an extraction.

    Raises:
        Refused: `unsafe_change` where it is unsure, and that was not asked for.
        SourceError: the code would be at fault.
    """
    report = _report(asked, made)
    if unsure := [each for each in report.unsure if not asked.choice.takes(each)]:
        if not asked.leaves:
            raise _unsafe(asked, made, report, unsure)
        summary = f"No {made.what} was made: the code stays as it is. {by_reason(unsure)}"
        plan = planned_files(workspace, summary=summary, changed=(str(asked.resolved.address),))
        return replace(plan, report=replace(report, changed={}))
    spans = tuple(span for span, _ in made.splices)
    plan = planned_files(
        workspace,
        spliced=[Spliced(module=asked.resolved.module, splices=made.splices, targets=spans)],
        summary=_summary(asked, made),
        changed=tuple(dict.fromkeys((made.address, *report.changed))),
        warnings=(*made.notices, *_notices(asked, made)),
    )
    return replace(plan, report=report)


def address_at(asked: Asked, piece: Piece) -> str:
    """Return the address of the innermost class or function that a piece stands in, or of the module."""
    outline, name = asked.resolved.tree.outline, asked.resolved.module.name
    number = definition_around(outline, span_of(piece.code.source, piece.nodes[0]).start)
    return name if number is None else f"{name}.{'.'.join(map(str, qualname_of(outline, number)))}"


def _report(asked: Asked, made: Made) -> Report:
    changed: dict[str, int] = {}
    for piece in made.pieces:
        address = address_at(asked, piece)
        changed[address] = changed.get(address, 0) + 1
    places = [_place(asked, node, why) for node, why in made.doubts]
    asked.choice.check_included(places)
    return Report(changed=changed, unsure=tuple(places))


def _place(asked: Asked, node: object, why: str) -> Reference:
    source, name = asked.piece.code.source, asked.resolved.module.name
    line = int(getattr(node, "lineno", asked.piece.line))
    offset = source.lines.offset(line, int(getattr(node, "col_offset", 0)))
    return Reference(
        module=name,
        address=address_at(asked, asked.piece),
        line=line,
        column=source.lines.place(offset).column,
        kind="read",
        certainty="unsure",
        why=why,
        text=shown(source.lines.cut(line)),
    )


def _unsafe(asked: Asked, made: Made, report: Report, unsure: Sequence[Reference]) -> Refused:
    where = asked.resolved.address
    return Refused(
        "unsafe_change",
        f"No {made.what} was made of the code in {where}, since it may not be the same: {by_reason(unsure)}",
        hints=[call_of(replace(asked.request, unsure="change")).and_then("extracts it all the same.")],
        details={REPORT: replace(report, changed={}).as_data()},  # without the unsure pieces nothing is made
    )


def _notices(asked: Asked, made: Made) -> Iterator[Notice]:
    if made.alike:
        again = call_of(replace(asked.request, similar=True))
        lines = _lines(made.alike)
        yield Notice("similar_code", f"The same code stands on {lines}, and stays; {again} replaces it, too.")
    for piece, why in made.left:
        yield Notice("similar_code", f"The same code on {_lines([piece])} stays as it is: {why}")


def _lines(pieces: Sequence[Piece]) -> str:
    word = "line" if len(pieces) == 1 else "lines"
    return f"{word} {listed([str(each.line) for each in pieces], _MOST_SHOWN)}"


def _summary(asked: Asked, made: Made) -> str:
    more = f" {counted(len(made.pieces) - 1, 'equal piece')} replaced, too." if len(made.pieces) > 1 else ""
    where = address_at(asked, asked.piece)
    shown = made.address if made.address.endswith(f".{asked.name}") else asked.name
    return f"Made the {made.what} {shown} of code in {where} (line {asked.piece.line}).{more}"
