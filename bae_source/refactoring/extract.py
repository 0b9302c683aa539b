"""Make a function, a method, a variable, a constant or a parameter of a piece of code.

extract app.net.send --lines 12-18 --as encode
extract app.net.send --code 'len(data) * 8' --as bits --kind variable
"""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, Literal

from msgspec import structs

from bae_source.errors import RequestError
from bae_source.model.call import Call, call_of
from bae_source.model.plan import Plan
from bae_source.model.request import Effect, IfMatch, Request, Target, described
from bae_source.project.naming.resolve import Resolved
from bae_source.project.workspace import Workspace
from bae_source.refactoring.extracting.as_constant import plan_constant
from bae_source.refactoring.extracting.as_function import plan_function
from bae_source.refactoring.extracting.as_parameter import plan_parameter
from bae_source.refactoring.extracting.as_variable import plan_variable
from bae_source.refactoring.extracting.planned import Asked
from bae_source.refactoring.extracting.selecting import choose, parse_range, read_code
from bae_source.refactoring.planning.choice import Choice
from bae_source.refactoring.planning.plan import check_etag
from bae_source.refactoring.rename import resolved_whole
from bae_source.refactoring.renaming.safety import identifier
from bae_source.syntax.flow.order import is_literal
from bae_source.syntax.outline.locate import group_span

_PLANS: Mapping[str, Callable[[Workspace, Asked], Plan]] = {
    "variable": plan_variable,
    "constant": plan_constant,
    "parameter": plan_parameter,
}


class Extract(Request, frozen=True, kw_only=True):
    """Make a function, a method, a variable, a constant or a parameter of a piece of code.

    The piece is given by its lines, as read shows them, or by its code: whole statements of one suite, or one
    expression, however it is laid out. What it reads becomes parameters, what it binds and other code reads is
    returned; it is awaited where it awaits, and `yield from` stands where it yields. A method stands behind the one
    that it came from, a function before the definition of the module. What would not be the same is refused with the
    reason; what may not be is unsure. Equal code is listed, or replaced as well with `similar`.
    """

    verb: ClassVar[str] = "extract"
    effect: ClassVar[Effect] = Effect.WRITES
    runner: ClassVar[str] = "change"
    when: ClassVar[str] = "Use it to give a piece of code a name of its own; nothing need be copied."
    examples: ClassVar[tuple[str, ...]] = (
        "extract app.net.send --lines 12-18 --as encode",
        "extract app.f --code 'len(x) * 8' --as n --kind variable",
        "extract app --code 3600 --as HOUR --kind constant",
    )

    target: Target
    as_name: Annotated[str | None, described("The name that it is to have.", flag="as", metavar="NAME")] = None
    lines: Annotated[
        str | None, described("Its lines, such as 10-14; of an expression also 12:5, the line and the column.")
    ] = None
    code: Annotated[str | None, described("Its code: an expression, or statements.")] = None
    kind: Annotated[
        Literal["function", "method", "variable", "constant", "parameter"] | None,
        described(
            "What is made of it; if left out a method where it uses the instance, a constant where it is a literal"
            " and the name is in capitals, else a function."
        ),
    ] = None
    similar: Annotated[bool, described("Replace equal code in the module, too.")] = False
    to_module: Annotated[
        str | None, described("The module that a function or constant goes to.", flag="to", metavar="MODULE")
    ] = None
    unsure: Annotated[
        Literal["refuse", "leave", "change"],
        described("What comes of code that may not be the same: refuse it, leave it, or extract it all the same."),
    ] = "refuse"
    include: Annotated[
        tuple[str, ...], described("Unsure places that are taken all the same, as ADDRESS:LINE or ADDRESS:LINE:COLUMN.")
    ] = ()
    if_match: IfMatch = None

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change.

        Raises:
            RequestError: `invalid_arguments` for lines or code that are no piece; `invalid_name`.
            LookupFailed: there is no such symbol or code, or several.
            Refused: `unsafe_change` where it would not be the same, or may not be; `name_collision`; `stale`.
        """
        if self.as_name is None:
            raise _wrong("as is missing", "Give the name that it is to have.")
        if self.lines is None and self.code is None:
            raise _wrong("neither lines nor code is given", "Give lines as read shows them, or the code.")
        if self.to_module is not None and self.kind in ("method", "variable", "parameter"):
            raise _wrong(f"a {self.kind} cannot stand in another module", "Leave out to, or use kind function.")
        name = identifier(self.as_name)
        resolved = resolved_whole(workspace, self.target)
        check_etag(resolved, self.if_match)
        return self._plan(workspace, resolved, name)

    def _plan(self, workspace: Workspace, resolved: Resolved, name: str) -> Plan:
        outline, group = resolved.tree.outline, resolved.group
        within = group_span(outline, group.members) if group is not None and group.members else None
        code = read_code(resolved.module.name, workspace.source(resolved.module))
        lines = parse_range(self.lines) if self.lines is not None else None
        piece = choose(code, str(resolved.address), within, lines, self.code, again=self._again, several=self.similar)
        kind = self.kind
        if kind is None and name.isupper() and piece.is_expression and is_literal(piece.nodes[0]):
            kind = "constant"  # by which name a literal goes
        asked = Asked(
            request=self,
            resolved=resolved,
            piece=piece,
            name=name,
            kind="function" if self.to_module is not None and kind is None else kind,
            similar=self.similar,
            choice=Choice(unsure=self.unsure == "change", include=self.include),
            leaves=self.unsure == "leave",
        )
        plan = _PLANS.get(kind or "function", plan_function)(workspace, asked)
        if self.to_module is None:
            return plan
        from bae_source.refactoring.extracting.elsewhere import moved_to  # few extractions go elsewhere

        return moved_to(workspace, asked, plan, self.to_module)

    def _again(self, *, then: str, **other: Any) -> Call:
        """Return the call of this extraction with other parameters."""
        return call_of(structs.replace(self, **other)).and_then(then)


def _wrong(what: str, hint: str) -> RequestError:
    return RequestError("invalid_arguments", what, unchanged=True, hints=[hint])
