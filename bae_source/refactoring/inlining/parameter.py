"""A parameter that goes: its default stands where the bodies read it, and calls that give the default give it no more.

    def send(data, mode="w"): open(data, mode)      def send(data): open(data, "w")
    send(x); send(x, mode="w")                      send(x); send(x)
    send(x, "a")                                    refused: it gives another value

Invariants:
- methods that override each other lose it together, and have one default for it;
- the default gives the same whenever it is evaluated.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from msgspec import structs

from bae_source.errors import Refused, RequestError
from bae_source.model.plan import Plan
from bae_source.model.reasons import Reason
from bae_source.model.report import Report, together
from bae_source.model.span import Span
from bae_source.project.naming.resolve import Resolved, resolve
from bae_source.project.references.calls.parameters import keywords_of, parameter_family
from bae_source.project.references.classes.family import family_of
from bae_source.project.references.meaning.project import Project, project_of
from bae_source.project.workspace import Workspace
from bae_source.refactoring.inlining.codes import Codes
from bae_source.refactoring.inlining.found import Places
from bae_source.refactoring.inlining.needed import needs_at, value_at
from bae_source.refactoring.planning.choice import Choice, by_reason
from bae_source.refactoring.planning.joining import joined
from bae_source.refactoring.planning.plan import Spliced, planned_files
from bae_source.refactoring.signature.changing import SignatureChange
from bae_source.refactoring.signature.members import Member, header_of
from bae_source.refactoring.signature.planned import check_names, planned_change
from bae_source.refactoring.signature.sites import How, Site, sites_of
from bae_source.refactoring.signature.views import Wanted
from bae_source.syntax.flow.evaluation import Depends
from bae_source.syntax.flow.scopes import Named
from bae_source.syntax.inlining.body import OF_FRAME, Body
from bae_source.syntax.inlining.code import Code, parsed
from bae_source.syntax.inlining.hazards import Hazard, value_of
from bae_source.syntax.signatures.arguments import arguments_in, given_to
from bae_source.syntax.signatures.signature import Signature
from bae_source.syntax.templates.statements import block_of
from bae_source.syntax.text.lexer import end_of_bracket, lex


class ParameterInlining:
    """The inlining of one parameter.

    Parameters:
        workspace: the project.
        resolved: the parameter.
    """

    stays = False

    def __init__(self, workspace: Workspace, resolved: Resolved, choice: Choice, only: Sequence[str]) -> None:
        if only:
            raise RequestError(
                "invalid_arguments",
                f"{resolved.address} is a parameter, which goes from all calls or from none",
                unchanged=True,
                hints=["Leave only out."],
            )
        self.workspace, self.choice = workspace, choice
        self.project: Project = project_of(workspace)
        self.codes = Codes(self.project)
        self.places = Places(self.project, choice, ())
        self.address = str(resolved.address)
        self.owner, _, self.name = self.address.rpartition(".")
        self.function = resolve(workspace, self.owner)
        self.family = parameter_family(self.project, family_of(self.project, resolved))
        self.before = header_of(self.function).signature
        self.asked = Wanted(after=_without(self.before, self.name), given={}, threaded=(), documented={}, imports=())
        self.change = SignatureChange(self.project, self.function, self.asked, choice)

    def report(self) -> Report:
        """Work out what changes, and return the report on it.

        Raises:
            Refused: `unsafe_change` where the default cannot stand in a body.
        """
        edits: dict[str, list[tuple[Span, str]]] = {}
        self._check_defaults()
        for member in self.change.members:
            if not member.module.path.endswith(".pyi"):
                edits.setdefault(member.module.path, []).extend(self._in_body(member))
        self._check_calls()
        if self.others:  # no call can be left with an argument for a parameter that is gone
            return Report(changed={}, unsure=self.others)
        spliced = [
            Spliced(module=self._module(path), splices=tuple(made), targets=(Span(0, len(self.codes.code(path).text)),))
            for path, made in edits.items()
            if made
        ]
        self.plans = [planned_files(self.workspace, spliced=spliced, summary="", changed=(self.owner,))]
        now = self.workspace.after(self.plans[0].changes)
        found = resolve(now, self.owner)
        self.plans.append(planned_change(now, found, self.asked, self.choice))
        self.now = now.after(self.plans[1].changes)
        own = Report(changed=self.places.changed, unsure=tuple(self.places.left))
        made = self.plans[1].report
        whole = together([own, *([made] if made is not None else [])])
        assert whole is not None
        once = {(each.module, each.line): each for each in reversed(whole.unsure)}
        return structs.replace(whole, unsure=tuple(sorted(once.values(), key=lambda each: (each.module, each.line))))

    def plan(self, report: Report) -> Plan:
        """Return the plan of what was worked out.

        Raises:
            Refused: `unsafe_change` where a call gives something else than the default, whatever its caller wants.
        """
        if self.others:
            raise self._refused(by_reason(self.others).rstrip("."))
        whole = joined(self.workspace, self.now, self.plans)
        check_names(self.workspace, self.now, whole)
        return structs.replace(whole, report=report)

    def _module(self, path: str):  # type: ignore[no-untyped-def]
        return next(each.module for each in self.change.members if each.module.path == path)

    def _refused(self, why: str) -> Refused:
        return Refused(
            "unsafe_change",
            f"{self.address} cannot be inlined: {why}",
            unchanged=True,
            hints=["Give it one default, or take it away with change_signature once no body reads it."],
        )

    def _check_defaults(self) -> None:
        """See that all definitions have one default for it, which is the same at any time.

        Raises:
            Refused: `unsafe_change`.
        """
        texts: dict[str, str] = {}
        for member in self.change.members:
            parameter = member.header.signature.named.get(self.name)
            if parameter is None or not parameter.default:
                raise self._refused(f"{member.address} has no default for it")
            if not member.module.path.endswith(".pyi"):
                texts[member.address] = parameter.default
        if len(set(texts.values())) > 1:
            raise self._refused(f"its defaults differ: {', '.join(f'{a}: {text}' for a, text in texts.items())}")
        for member in self.change.members:
            if not member.module.path.endswith(".pyi"):
                self._check_default(member)

    def _check_default(self, member: Member) -> None:
        code, path = self.codes.code(member.module.path), member.symbol.path
        default = parsed(member.header.signature.named[self.name].default_text)
        value = value_at(self.project, code, code.loops, (path, self._home(member)), default)
        if value.is_fresh or value.depends >= Depends.STATE or value.unsteady:
            raise self._refused(Reason.DEFAULT_KEPT.of(name=self.name))

    def _home(self, member: Member) -> int:
        return self.project.uses(member.symbol.path).scopes[member.scope].parent

    def _in_body(self, member: Member) -> Iterator[tuple[Span, str]]:
        """Yield the splices that put the default into a body.

        Raises:
            Refused: `unsafe_change` where it cannot stand there.
        """
        code, path = self.codes.code(member.module.path), member.symbol.path
        start = member.tree.outline.definitions[member.number].keyword
        function = next(
            each for each in ast.walk(code.tree) if isinstance(each, Named) and code.span(each).start == start
        )
        body, text = Body(code, function), member.header.signature.named[self.name].default_text
        asking = sorted(OF_FRAME & body.free)
        if asking:
            raise self._refused(Reason.READS_FRAME.of(name=asking[0]))
        value = parsed(text)
        names = value_of(value, code.bound).names
        needs = needs_at(self.project, (path, self._home(member)), (path, member.scope), names)
        reads = body.reads_of(self.name)
        if needs.hazard is not None and (reads or body.is_rebound(self.name)):
            raise self._refused(needs.hazard.why)
        if body.is_rebound(self.name) or any(each.node in code.unplaced for each in reads):
            yield self._assignment(code, function, text)
            self._count(member)
            return
        for use in reads:
            assert isinstance(use.node, ast.Name)
            if not names.isdisjoint(use.hidden):
                raise self._refused(Reason.CAPTURED.of(name=min(names & use.hidden)))
            new, why = code.fitted(use.node, text, value)
            if why:
                raise self._refused(f"{why} ({member.address}, line {use.node.lineno})")
            yield code.span(use.node), new
            self._count(member)

    def _count(self, member: Member) -> None:
        self.places.changed[member.address] = self.places.changed.get(member.address, 0) + 1

    def _assignment(self, code: Code, function: Named, text: str) -> tuple[Span, str]:
        """Return the splice that gives a variable of a body the default, behind the docstring.

        Raises:
            Refused: `unsafe_change` where the body stands on the line of its header.
        """
        has_docstring = ast.get_docstring(function, clean=False) is not None
        following = function.body[int(has_docstring) :]
        if not following or not code.is_alone(following[0]):
            raise self._refused("its body binds it, and has no line for its default")
        block = block_of(code.source, lex(code.text), following[0], following[-1], is_last=True)
        start = code.source.lines.start(code.source.lines.number(block.span.start))
        return Span(start, start), f"{block.indent}{self.name} = {text}{code.source.newline}"

    def _check_calls(self) -> None:
        """Note the calls that give something else than the default."""
        for site in sites_of(self.project, self.change.family).sites:
            if site.how not in (How.CALL, How.PARTIAL) or site.opening < 0:
                continue
            text = self.project.workspace.tree_at(site.mentioned.path).text
            brackets = text[site.opening : end_of_bracket(text, site.opening)]
            change, skipped = self.change.views.seen_by(site, brackets)
            arguments = arguments_in(brackets)
            given = given_to(arguments, change.before, skipped) if arguments is not None else None
            value = (given or {}).get(self.name)
            if value is not None and not self._is_default(site, value):
                self.places.takes(site.mentioned, Hazard(Reason.GIVES_ANOTHER.of(name=self.name), True))
        self.others = tuple(self.places.left)
        for mentioned in keywords_of(self.project, self.family).mentions:
            if mentioned.certainty != "sure":
                self.places.takes(mentioned, None)

    def _is_default(self, site: Site, text: str) -> bool:
        """Return whether a call gives what the default is."""
        target = self.change.target
        default, value = parsed(target.header.signature.named[self.name].default_text), parsed(text)
        if ast.dump(default) != ast.dump(value):
            return False
        names = value_of(value, frozenset()).names
        home = (target.symbol.path, self._home(target))
        here = (site.mentioned.path, site.mentioned.mention[2])
        return all(self.project.names.named(*home, name) == self.project.names.named(*here, name) for name in names)


def _without(signature: Signature, name: str) -> Signature:
    return structs.replace(signature, parameters=tuple(each for each in signature.parameters if each.name != name))
