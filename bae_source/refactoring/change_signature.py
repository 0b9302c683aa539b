"""Give a function other parameters, with its calls.

change_signature app.net.send "def send(data, *, timeout: float = 5)"
change_signature app.net.Client.send "(self, data, retries)" --value retries=3 --renamed item=data
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, ClassVar, Literal

from msgspec.structs import replace

from bae_source.errors import Refused, RequestError
from bae_source.model.call import Call, call_of
from bae_source.model.outcome import REPORT, Notice
from bae_source.model.plan import Plan
from bae_source.model.reference import Reference
from bae_source.model.report import Report, together
from bae_source.model.request import Effect, IfMatch, Imports, Request, SkipGenerated, Target, described
from bae_source.model.text import counted, listed
from bae_source.project.naming.changeable import through
from bae_source.project.naming.resolve import Resolved
from bae_source.project.references.meaning.project import project_of
from bae_source.project.workspace import Workspace
from bae_source.refactoring.planning.choice import Choice, by_reason, left_as_they_are
from bae_source.refactoring.planning.generated import refusing
from bae_source.refactoring.planning.joining import joined
from bae_source.refactoring.planning.plan import check_etag, planned_files
from bae_source.refactoring.rename import Rename, resolved_whole
from bae_source.refactoring.signature.members import addresses_of_family, family_of_function, header_of
from bae_source.refactoring.signature.planned import check_names, passing_on, planned_change, threaded_plans
from bae_source.refactoring.signature.prose import shown_keywords
from bae_source.refactoring.signature.views import Wanted
from bae_source.syntax.outline.definitions import Kind
from bae_source.syntax.outline.locate import effective_role
from bae_source.syntax.signatures.arguments import arguments_in
from bae_source.syntax.signatures.signature import Signature, given_signature

_PAIR = re.compile(r"\s*([^\W\d]\w*)\s*=\s*(.+?)\s*", re.DOTALL)


class ChangeSignature(Request, frozen=True, kw_only=True):
    """Give a function other parameters, with its calls.

    The new signature is written as it shall be; parameters are matched by their names. One without any annotation
    leaves those that are there, and one without that of what is returned leaves that. Calls, partial functions,
    methods that override it or are overridden, calls by `super()`, those of classes that its constructor makes,
    entries of docstrings and stubs go along. What calls give keeps its text and its order of evaluation. Where it is
    unsure what a call gives, the change is refused, with the list, and kept as a draft.
    """

    verb: ClassVar[str] = "change_signature"
    effect: ClassVar[Effect] = Effect.WRITES
    runner: ClassVar[str] = "change"
    when: ClassVar[str] = "Use it to add, remove, rename or reorder parameters: calls follow."
    examples: ClassVar[tuple[str, ...]] = (
        'change_signature app.net.send "(data, *, timeout=5)"',
        'change_signature app.send "(data, n)" --value n=3',
        'change_signature app.send "(data, n=3)" --thread n',
    )

    target: Target
    signature: Annotated[
        str,
        described(
            "The new signature, as code has it: `def send(self, data, *, timeout: float = 5)`, or its brackets alone.",
            min_length=1,
        ),
    ]
    renamed: Annotated[
        tuple[str, ...], described("A parameter that gets another name, as old=new.", metavar="OLD=NEW")
    ] = ()
    value: Annotated[
        tuple[str, ...],
        described("Value of a parameter in calls that pass none, as name=EXPRESSION.", metavar="NAME=EXPR"),
    ] = ()
    thread: Annotated[
        tuple[str, ...],
        described("A new parameter that callers get, too, and pass on.", metavar="NAME"),
    ] = ()
    up_to: Annotated[
        tuple[str, ...],
        described(
            "Functions at which passing on begins: all on the way from them to the target get the parameter; without"
            " any, its callers do.",
            metavar="FUNCTION",
        ),
    ] = ()
    describe: Annotated[
        tuple[str, ...],
        described("The text of a new parameter's entry in docstrings, as name=TEXT.", metavar="NAME=TEXT"),
    ] = ()
    imports: Imports = ()
    unsure: Annotated[
        Literal["refuse", "leave", "change"],
        described("Handling of unsure calls: refuse the change, leave them, or change them, too."),
    ] = "refuse"
    include: Annotated[
        tuple[str, ...],
        described("Calls that change though they are unsure, as ADDRESS:LINE or ADDRESS:LINE:COLUMN."),
    ] = ()
    skip_generated: SkipGenerated = False
    if_match: IfMatch = None

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change.

        Raises:
            RequestError: `invalid_arguments` for what is no function or no signature, or where calls lack a parameter.
            LookupFailed: there is no such function, or several.
            Refused: `unsafe_change` where it is unsure what a call gives, or a body uses what goes; `name_collision`;
                `stale`.
        """
        resolved = _function(workspace, self.target)
        check_etag(resolved, self.if_match)
        before = header_of(resolved).signature
        after = _checked(resolved, before, self.signature)
        renames = self._renames(before, after)
        if not after.is_annotated:
            after = after.with_annotations_of(before, {new: old for old, new in renames.items()})
        elif not after.returns:
            after = replace(after, returns=before.returns)
        if not renames and before.is_like(after):
            address = str(resolved.address)
            return planned_files(workspace, summary=f"{address} has that signature already.", changed=(address,))
        with workspace.index.expecting():
            return self._plan(workspace, resolved, after, renames)

    def _plan(self, workspace: Workspace, resolved: Resolved, after: Signature, renames: Mapping[str, str]) -> Plan:
        choice = Choice(unsure=self.unsure == "change", include=self.include, skip_generated=self.skip_generated)
        address = str(resolved.address)
        plans: list[Plan] = []
        now = workspace
        for old, new in renames.items():
            unsure: Literal["leave", "change"] = "change" if self.unsure == "change" else "leave"
            step = Rename(
                target=f"{address}.{old}", new_name=new, unsure=unsure, skip_generated=self.skip_generated
            ).plan(now)
            plans.append(step)
            now = now.after(step.changes)
        wanted = Wanted(
            after=after,
            given=_expressions(_pairs("value", self.value)),
            threaded=self.thread,
            documented=_pairs("describe", self.describe),
            imports=self.imports,
        )
        found = _function(now, address) if plans else resolved
        self._check_names(header_of(found).signature, after)
        if self.thread:
            up_to = [str(_function(now, each).address) for each in self.up_to]
            wanted = replace(wanted, passing=frozenset(passing_on(project_of(now), found, up_to)))
        plans.append(planned_change(now, found, wanted, choice))
        now = now.after(plans[-1].changes)
        callers = sorted(wanted.passing)
        if callers:  # which the function itself may call in turn
            own = addresses_of_family(project_of(now), _function(now, address))
            wanted = replace(wanted, passing=wanted.passing | own)
        for each in threaded_plans(now, callers, wanted, choice):
            plans.append(each)
            now = now.after(each.changes)
        report = together([each.report for each in plans if each.report is not None])
        assert report is not None
        mentions = report.mentions
        if renames:
            project = project_of(workspace)
            mentions = (*mentions, *shown_keywords(project, family_of_function(project, resolved), renames))
        report = replace(report, unsure=_each_once(report.unsure), mentions=_each_once(mentions))
        self._check_unsure(resolved, report)
        whole = joined(workspace, now, plans) if len(plans) > 1 else plans[0]
        check_names(workspace, now, whole)
        return replace(
            whole,
            report=report,
            changed=(address,),
            summary=_summary(address, after, report),
            warnings=(
                *through(resolved, self.target, "changed"),
                *_dropped(address, header_of(found).signature, after),
                *whole.warnings,
            ),
        )

    def _renames(self, before: Signature, after: Signature) -> dict[str, str]:
        """Return the new names of parameters by the old ones, in the order in which they can be given.

        Raises:
            RequestError: `invalid_arguments` for a name that is not there.
        """
        old_names = {each.name for each in before.parameters}
        given = _pairs("renamed", self.renamed).items()
        pairs = {old: new for old, new in given if new not in old_names or old in old_names - {new}}  # else it was
        new_names = {each.name for each in after.parameters}
        for old, new in pairs.items():
            if old not in old_names:
                what = f"renamed has {old}, which is no parameter of {self.target}"
                raise _wrong(what, f"It has {listed(sorted(old_names))}.")
            if new not in new_names:
                raise _wrong(
                    f"renamed gives {old} the name {new}, which the new signature lacks",
                    f"It has {listed(sorted(new_names))}.",
                )
            if old in new_names and old not in pairs.values():
                raise _wrong(
                    f"renamed gives {old} another name, and the new signature has it still", "Leave one of the two out."
                )
        order: dict[str, str] = {}
        while pairs:
            free = next((old for old, new in pairs.items() if new not in pairs), None)
            if free is None:
                raise _wrong("renamed exchanges names", "Make it in two changes, by way of another name.")
            order[free] = pairs.pop(free)
        return order

    def _check_names(self, before: Signature, after: Signature) -> None:
        """Check that values and entries are given for new parameters only.

        Raises:
            RequestError: `invalid_arguments`.
        """
        for name, given in (("value", _pairs("value", self.value)), ("describe", _pairs("describe", self.describe))):
            for each in given:
                if each not in after.named:
                    raise _wrong(f"{name} has {each}, which the new signature lacks", f"It has {listed(after.named)}.")
        if self.up_to and not self.thread:
            raise _wrong("up_to is given without thread", "Say with thread which parameter is passed on.")
        for each in self.thread:
            if each not in after.named or each in before.named:
                raise _wrong(f"thread has {each}, which is no new parameter", "Name one that the signature adds.")

    def _check_unsure(self, resolved: Resolved, report: Report) -> None:
        """Check that no place is unsure but for those that are to stay.

        Raises:
            Refused: `unsafe_change`.
        """
        unsure = refusing(report)
        if not unsure or self.unsure != "refuse":
            return
        may = "1 place is" if len(unsure) == 1 else f"{len(unsure):,} places are"
        raise Refused(
            "unsafe_change",
            f"{resolved.address} was not changed: {may} unsure, beside {report.places:,} that would follow."
            f" {by_reason(unsure)}",
            hints=[
                call_of(replace(self, unsure="leave")).and_then("changes it, and leaves these places as they are."),
                Call("callers", target=resolved.address, then="lists its calls with their lines."),
            ],
            details={REPORT: report.as_data()},
        )


def _function(workspace: Workspace, target: str) -> Resolved:
    """Return the function that a name means.

    Raises:
        RequestError: `invalid_arguments` for anything else.
    """
    resolved = resolved_whole(workspace, target)
    definitions, members = resolved.tree.outline.definitions, resolved.group.members if resolved.group else ()
    if not members or any(definitions[each].kind is not Kind.FUNCTION for each in members):
        is_class = bool(members) and definitions[members[0]].kind is Kind.CLASS
        hint = _constructor(resolved) if is_class else "Name a function or a method."
        raise _wrong(f"{resolved.address} is no function", hint)
    role = effective_role(resolved.tree.outline, members[-1])
    if role in ("getter", "setter", "deleter") or "property" in definitions[members[-1]].decorators:
        raise _wrong(f"{resolved.address} is a property, whose parameters Python gives", "Name a function or a method.")
    return resolved


def _constructor(resolved: Resolved) -> str:
    """Return the hint that names the constructor of a class."""
    assert resolved.group is not None
    has_own = resolved.tree.outline.named(resolved.group.members[-1], "__init__")
    own = "Its constructor comes from its fields, or from a class above: edit the fields, or name that."
    return f"Name its constructor: {resolved.address}.__init__." if has_own else own


def _checked(resolved: Resolved, before: Signature, text: str) -> Signature:
    """Return the signature that a request gives.

    Raises:
        RequestError: `invalid_arguments` if it is none, or of another function.
    """
    example = f"Write it as code has it: def {before.name}{before.shown()}"
    given = given_signature(text)
    if isinstance(given, str):
        raise _wrong(f"the signature is not valid: {given}", example)
    if given.name not in ("", before.name):
        raise _wrong(
            f"the signature is that of {given.name}",
            Call("rename", target=resolved.address, new_name=given.name, then="gives it another name."),
        )
    if given.name and given.is_async != before.is_async:
        is_now = "a coroutine" if before.is_async else "no coroutine"
        raise _wrong(f"{resolved.address} is {is_now}, and its calls would have to await it otherwise", "Edit it.")
    return given


def _each_once(places: Sequence[Reference]) -> tuple[Reference, ...]:
    """Return places without those that stand where another one does."""
    return tuple({(each.module, each.line, each.column): each for each in reversed(places)}.values())[::-1]


def _dropped(address: str, before: Signature, after: Signature) -> Iterator[Notice]:
    """Yield notices about annotations that staying parameters lose."""
    names = [
        name
        for name, each in before.named.items()
        if each.annotation and name in after.named and not after.named[name].annotation
    ]
    if names:
        text = f"The new signature of {address} has no annotation of {listed(names)} any more."
        yield Notice("annotations_dropped", text)


def _pairs(name: str, given: Sequence[str]) -> dict[str, str]:
    """Return the pairs given as NAME=TEXT.

    Raises:
        RequestError: `invalid_arguments` for what is given otherwise, or twice.
    """
    found: dict[str, str] = {}
    for each in given:
        match = _PAIR.fullmatch(each)
        if match is None or match[1] in found:
            raise _wrong(f"{name} has {each!r}", f"It takes NAME=TEXT, each name once: {name} timeout=5.")
        found[match[1]] = match[2]
    return found


def _expressions(given: Mapping[str, str]) -> Mapping[str, str]:
    """Return the values for calls, which have to be expressions.

    Raises:
        RequestError: `invalid_arguments` for what is no expression.
    """
    for name, text in given.items():
        arguments = arguments_in(f"({name}={text})")
        if arguments is None or len(arguments) != 1 or arguments[0].stars:
            raise _wrong(f"value has {text!r} for {name}, which is no expression", f"Write one: value {name}=None.")
    return given


def _wrong(what: str, hint: str) -> RequestError:
    return RequestError("invalid_arguments", what, unchanged=True, hints=[hint])


def _summary(address: str, after: Signature, report: Report) -> str:
    left = left_as_they_are(len(report.unsure))
    places, files = report.places, len(report.changed)
    shown = f"{counted(places, 'place')} in {counted(files, 'definition')}"
    return f"Changed the signature of {address} to {after.shown()}: {shown}{left}."
