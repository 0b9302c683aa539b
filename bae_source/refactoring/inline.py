"""Put a value, or the body of a function, in the place of what names it.

inline app.net.Client.send.limit     the local variable goes, and its value stands where it was read
inline app.net.clean                 calls give way to the body of the function
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, ClassVar, Literal

from msgspec.structs import replace

from bae_source.errors import Refused, RequestError
from bae_source.model.call import Call
from bae_source.model.outcome import REPORT
from bae_source.model.plan import Plan
from bae_source.model.reasons import CHANGES_THEM, has_word
from bae_source.model.report import Report
from bae_source.model.request import Effect, IfMatch, Request, SkipGenerated, Target, described
from bae_source.model.text import counted
from bae_source.project.naming.changeable import through
from bae_source.project.naming.resolve import Resolved
from bae_source.project.workspace import Workspace
from bae_source.refactoring.delete import Delete
from bae_source.refactoring.inlining.planned import inlining_of
from bae_source.refactoring.planning.choice import Choice, by_reason, left_as_they_are
from bae_source.refactoring.planning.generated import refusing
from bae_source.refactoring.planning.plan import check_etag
from bae_source.refactoring.rename import resolved_whole


class Inline(Request, frozen=True, kw_only=True):
    """Put a value, or the body of a function, in the place of what names it.

    A local variable, a constant of a module or class, a function, a method or a parameter goes, and its value, its
    body or its default stands where it was read or called: in brackets where it needs them, with the imports that it
    needs, and with other names for what would clash. A parameter goes where every call leaves it at its default.
    Evaluation keeps its order: where the value or the body would run at another time, as often as not, or mean
    something else, the change is refused with the list of these places, and kept as a draft: `commit` says what comes
    of it. The definition goes, with imports of it, once nothing is left that names it.
    """

    verb: ClassVar[str] = "inline"
    effect: ClassVar[Effect] = Effect.WRITES
    runner: ClassVar[str] = "change"
    when: ClassVar[str] = "Use it to do away with a name: what it stands for takes its place."
    examples: ClassVar[tuple[str, ...]] = (
        "inline app.net.Client.send.limit",
        "inline app.net.clean --dry-run",
        "inline app.config.LIMIT --only app.web:7",
    )

    target: Target
    only: Annotated[
        tuple[str, ...],
        described(
            "The places that alone change, as ADDRESS:LINE or ADDRESS:LINE:COLUMN; the definition stays then.",
            metavar="PLACE",
        ),
    ] = ()
    unsure: Annotated[
        Literal["refuse", "leave", "change"],
        described(
            "What comes of places that may mean it, or where it may come out otherwise: refuse the change, leave them,"
            " with the definition, or change those that can be."
        ),
    ] = "refuse"
    include: Annotated[
        tuple[str, ...],
        described("Places that change though they are unsure, as ADDRESS:LINE or ADDRESS:LINE:COLUMN."),
    ] = ()
    skip_generated: SkipGenerated = False
    if_match: IfMatch = None

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change.

        Raises:
            RequestError: `invalid_arguments` for a module, a class or a part, or a place that is not there.
            LookupFailed: there is no such thing, or several.
            Refused: `unsafe_change` where it cannot go, or would mean something else; `stale`.
        """
        resolved = resolved_whole(workspace, self.target)
        if resolved.group is None:
            raise RequestError(
                "invalid_arguments",
                f"{resolved.address} is a module, and has no value to put anywhere.",
                hints=["Name a variable, a constant, a function, a method or a parameter."],
            )
        if resolved.group.members:
            check_etag(resolved, self.if_match)
        choice = Choice(unsure=self.unsure == "change", include=self.include, skip_generated=self.skip_generated)
        with workspace.index.expecting():
            inlining = inlining_of(workspace, resolved, choice, self.only, _removed)
            report = inlining.report()
            if self.unsure == "refuse" and refusing(report):
                raise _unsafe(self, resolved, report)
            plan = inlining.plan(report)
        return replace(
            plan,
            report=report,
            summary=_summary(resolved, report, stays=inlining.stays),
            summaries=(),
            changed=(str(resolved.address), *(each for each in report.changed if each != str(resolved.address))),
            warnings=(*through(resolved, self.target, "inlined"), *plan.warnings),
        )


def _removed(workspace: Workspace, address: str) -> Plan:
    """Return the plan to delete a definition that nothing reads any more, and what imports it."""
    return Delete(target=address, with_imports=True).plan(workspace)


def _unsafe(asked: Inline, resolved: Resolved, report: Report) -> Refused:
    unsure = refusing(report)
    many = "1 place stands" if len(unsure) == 1 else f"{len(unsure):,} places stand"
    others = f", beside {report.places:,} that can change" if report.places else ""
    call = partial(Call, "inline", target=asked.target)
    call = partial(call, only=asked.only) if asked.only else call
    leaving = call(unsure="leave", then="inlines it elsewhere, and leaves these places and the definition.")
    return Refused(
        "unsafe_change",
        f"{resolved.address} was not inlined: {many} in the way{others}. {by_reason(unsure)}",
        hints=[
            leaving if report.places else "Edit these places first, so that they do without it.",
            *([call(unsure="change", then=CHANGES_THEM)] if any(has_word(each.why) for each in unsure) else []),
            Call("references", target=resolved.address, then="lists what names it, with lines."),
        ],
        details={REPORT: report.as_data()},
    )


def _summary(resolved: Resolved, report: Report, *, stays: bool) -> str:
    goes = "its definition stays" if stays else "its definition is gone"
    left = left_as_they_are(len(report.unsure))
    return f"Inlined {resolved.address} in {counted(report.places, 'place')}; {goes}{left}."
