"""A function whose body takes the place of its calls.

    send(data)          the body, or its expression
    run(send)           stays: its arguments are not known
    thing.send(1)       unsure, where it is not known what stands before the dot

Invariants:
- one definition bears the name; what may override it, or is overridden by it, leaves all calls as they are;
- calls inside of other calls are taken first.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from msgspec import Struct

from bae_source.errors import Refused
from bae_source.model.call import Call
from bae_source.model.outcome import Notice
from bae_source.model.reasons import Reason
from bae_source.model.span import Span
from bae_source.model.text import listed
from bae_source.project.naming.resolve import Resolved
from bae_source.project.references.classes.family import Family
from bae_source.project.references.classes.fitting import fitting
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Mentioned
from bae_source.project.references.types.values import Above, Class, OfClass
from bae_source.refactoring.inlining.codes import Codes
from bae_source.refactoring.inlining.counting import counting_calls
from bae_source.refactoring.inlining.found import Found, Places, check_bound_once
from bae_source.refactoring.inlining.needed import needs_at, value_at
from bae_source.refactoring.inlining.variable import Inlined
from bae_source.refactoring.renaming.outside import overridden
from bae_source.refactoring.signature.members import Member, members_of_family
from bae_source.syntax.flow.evaluation import Depends
from bae_source.syntax.flow.scopes import Named
from bae_source.syntax.inlining.body import Body
from bae_source.syntax.inlining.call import Made, brackets_of, inlined_at, site_of
from bae_source.syntax.inlining.code import Code
from bae_source.syntax.inlining.given import Given, given_by
from bae_source.syntax.inlining.hazards import Hazard, Value, value_of
from bae_source.syntax.outline.static_values import chain_of
from bae_source.syntax.rewrite.name_tokens import written
from bae_source.syntax.text.revision import Revision
from bae_source.syntax.text.source import Source

_DROPPED = "comments_dropped"


class Callee(Struct, frozen=True, kw_only=True):
    """The function that is inlined.

    Parameters:
        member: its definition.
        body: its body.
        owner: the class that it is a method of; None for none.
    """

    member: Member
    body: Body
    owner: ast.ClassDef | None

    @property
    def is_static(self) -> bool:
        """Return whether it is no method, or a static one."""
        return self.owner is None or "staticmethod" in self.body.decorators

    @property
    def is_of_class(self) -> bool:
        """Return whether it is a class method."""
        return "classmethod" in self.body.decorators


def callee_of(project: Project, codes: Codes, family: Family, resolved: Resolved, found: Found) -> Callee:
    """Return the function that is inlined.

    Raises:
        Refused: `unsafe_change` for one whose body can stand nowhere else.
    """
    address = str(resolved.address)
    several = [each for each in members_of_family(project, family.symbols) if not _is_in_stub(each)]
    if len(several) != 1 or not isinstance(several[0], Member):
        names = listed(
            each.address if isinstance(each, Member) else f"{project.address(each[0].path, 0)}:{each[1][3]}"
            for each in several
        )
        raise _refused(address, f"which definition is called depends on what has run, or on the receiver ({names})")
    member = several[0]
    code = codes.code(member.module.path)
    function = next(
        (each for each in ast.walk(code.tree) if isinstance(each, Named) and _is_at(code, each, member)), None
    )
    if function is None:
        raise _refused(address, "its definition cannot be read")
    body = Body(code, function)
    parent = code.parents[function]
    owner = parent if isinstance(parent, ast.ClassDef) else None
    if owner is not None and any(map(project.inference.orders.is_protocol, family.classes)):
        raise _refused(address, "its class is a protocol, and others that fit it may be called")
    why = body.why_not() or _why_called_by_others(project, family, member)
    inside = code.span(function)
    lines = (code.source.lines.number(inside.start), code.source.lines.number(inside.end))
    if any(each.path == member.module.path and lines[0] <= each.mention[0] <= lines[1] for each in found.reads):
        why = why or "it names itself"
    if why:
        raise _refused(address, why)
    return Callee(member=member, body=body, owner=owner)


def _is_in_stub(each: Member | tuple[object, ...]) -> bool:
    path = each.module.path if isinstance(each, Member) else str(getattr(each[0], "path", ""))
    return path.endswith(".pyi")


def _is_at(code: Code, function: Named, member: Member) -> bool:
    return code.span(function).start == member.tree.outline.definitions[member.number].keyword


def _why_called_by_others(project: Project, family: Family, member: Member) -> str:
    """Return why code that does not name a method may call it; nothing where none may."""
    name = member.symbol.name
    if name.startswith("__") and name.endswith("__"):
        return Reason.CALLED_BY_PYTHON.of()
    return next(iter(overridden(project, family).values()), "") if member.in_class else ""


def _refused(address: str, why: str) -> Refused:
    return Refused(
        "unsafe_change",
        f"{address} cannot be inlined: {why}",
        unchanged=True,
        hints=[Call("callers", target=address, then="lists its calls, which can be edited one by one.")],
    )


def calls_inlined(
    project: Project, codes: Codes, family: Family, callee: Callee, found: Found, places: Places
) -> Inlined:
    """Return what puts the body of a function in the place of its calls."""
    wanted = [each for each in found.reads if places.is_wanted(each)]
    places.check_only()
    places.left += fitting(project, family)
    doubt = check_bound_once(places, found.bindings, callee.member.address)
    edits: dict[str, list[tuple[Span, str]]] = {}
    imports: dict[str, list[str]] = {}
    notices: list[Notice] = []
    for path in dict.fromkeys(each.path for each in wanted):
        here = [each for each in wanted if each.path == path]
        file = _File(project, codes, callee, path, places, doubt)
        for mentioned in file.in_order(here):
            file.take(mentioned)
        edits[path] = file.revision.splices()
        imports[path] = file.imports
        notices += file.notices()
    notices += counting_calls(project.workspace, callee.body.statements, "one less")
    edits = {path: made for path, made in edits.items() if made}
    return Inlined(edits=edits, imports=imports, names=callee.body.free, notices=tuple(notices))


class _File:
    """The calls of one file, each taken in what those before it have left."""

    def __init__(
        self, project: Project, codes: Codes, callee: Callee, path: str, places: Places, doubt: Hazard | None
    ) -> None:
        self.doubt = doubt
        self.project, self.codes, self.callee, self.path, self.places = project, codes, callee, path, places
        self.imports: list[str] = []
        self.comments: list[str] = []
        self.names: list[str] = []
        self.again: list[str] = []
        self._offsets: dict[int, int] = {}

    def in_order(self, mentions: Sequence[Mentioned]) -> list[Mentioned]:
        """Return places, those of calls inside of others first, and begin to change the file."""
        found: list[tuple[int, int, Mentioned]] = []
        for each in mentions:
            node = self.codes.node(each)
            if node is None:
                self.places.takes(each, Hazard(Reason.NOT_ANALYSED.of(), True))
                continue
            code = node[0]
            parent = code.parents[node[1]]
            span = code.span(parent if isinstance(parent, ast.Call) else node[1])
            found.append((span.end, len(span), each))
            self._offsets[id(each)] = code.source.lines.offset(*each.mention[:2])
        self.revision = Revision(self._text())
        return [each for *_, each in sorted(found, key=lambda item: item[:2])]

    def _text(self) -> str:
        return self.project.workspace.tree_at(self.path).text

    def take(self, mentioned: Mentioned) -> None:
        """Put the body in the place of a call, or note why it stays."""
        code = self.codes.of(Source.of_text(self.revision.text))
        start = self._offsets[id(mentioned)]
        node = code.named_at(start, written(code.text, start))
        made = self._made(code, node, mentioned) if node is not None else Hazard(Reason.NOT_ANALYSED.of(), True)
        if not self.places.takes(mentioned, made if isinstance(made, Hazard) else self.doubt):
            return
        assert isinstance(made, Made)
        self.revision.apply(made.splices)
        self.comments += [f"{self.places.shown(mentioned).module}:{mentioned.mention[0]}"] if made.comments else []
        self.imports += self._needed
        self.names += made.names
        self.again += [f"{self.places.shown(mentioned).module}:{mentioned.mention[0]}"] if made.repeats else []
        self.places.note_change(mentioned)
        for key, offset in self._offsets.items():
            moved = sum(len(new) - len(span) for span, new in made.splices if span.end <= offset)
            self._offsets[key] = offset + moved

    def notices(self) -> Iterator[Notice]:
        """Yield the notices about the file."""
        if self.comments:
            yield Notice(_DROPPED, f"Comments between the arguments of calls went: {listed(self.comments)}.")
        if self.again:
            yield Notice(
                "evaluated_again",
                f"Attributes are evaluated several times, or on some ways alone, at {listed(self.again)}; they are"
                " taken to have no effects.",
            )
        if self.names:
            module = self.project.workspace.census.module(self.path)
            names = listed(dict.fromkeys(self.names))
            yield Notice("names_bound", f"{module.name if module else self.path} binds {names} now.")

    def _made(self, code: Code, node: ast.Name | ast.Attribute, mentioned: Mentioned) -> Made | Hazard:
        """Return what takes the place of one call."""
        call = code.parents[node]
        if not isinstance(call, ast.Call) or call.func is not node:
            return Hazard(Reason.USED_AS_VALUE.of(), True)
        site = site_of(code, call, is_async=self.callee.body.is_async)
        if isinstance(site, Hazard):
            return site
        given = self._given(code, node, call, mentioned)
        if isinstance(given, Hazard):
            return given
        hazard = self._names(code, call, mentioned, given)
        return hazard or inlined_at(site, self.callee.body, given, lambda each: self._value(code, mentioned, each))

    def _given(
        self, code: Code, node: ast.Name | ast.Attribute, call: ast.Call, mentioned: Mentioned
    ) -> list[Given] | Hazard:
        """Return what the call gives, its receiver too."""
        receiver, skips = None, False
        if isinstance(node, ast.Attribute):
            found = self._receiver(code, node, mentioned)
            if isinstance(found, Hazard):
                return found
            receiver, skips = found, found is not None
        indent = code.indentation(call)
        given = given_by(
            brackets_of(code, call), self.callee.member.header.signature, receiver, skips=skips, indent=indent
        )
        if isinstance(given, Hazard):
            return given
        home = self.project.uses(self.callee.member.symbol.path).scopes[self.callee.member.scope].parent
        for each in given:
            value = self._value_in(self.callee.body.code, self.callee.member.symbol.path, home, each.value)
            if each.is_default and (value.is_fresh or value.depends >= Depends.STATE or value.unsteady):
                return Hazard(Reason.DEFAULT_KEPT.of(name=each.name), True)
        return given

    def _receiver(self, code: Code, node: ast.Attribute, mentioned: Mentioned) -> Given | Hazard | None:
        """Return what Python gives to the first parameter; None where it gives nothing."""
        callee = self.callee
        if callee.is_static:
            return None if chain_of(node.value)[0] else Hazard(Reason.RECEIVER_RUNS.of(), True)
        values = self.project.inference.values(self.path, mentioned.mention[4])
        if any(isinstance(each, Above) for each in values):
            return Hazard(Reason.UNKNOWN_RECEIVER.of(), True)
        is_class = bool(values) and all(isinstance(each, (Class, OfClass)) for each in values)
        is_instance = not any(isinstance(each, (Class, OfClass)) for each in values)
        if not (is_class or is_instance):
            return Hazard(Reason.UNKNOWN_RECEIVER.of(), True)
        text, value = code.span(node.value).cut(code.text), node.value
        if callee.is_of_class and not is_class:
            text = f"type({text})"
            value = ast.parse(f"({text}\n)", mode="eval").body
        if is_class and not callee.is_of_class:
            return None if chain_of(node.value)[0] else Hazard(Reason.RECEIVER_RUNS.of(), True)
        return Given(name=callee.member.header.signature.parameters[0].name, text=text, value=value)

    def _names(self, code: Code, call: ast.Call, mentioned: Mentioned, given: Sequence[Given]) -> Hazard | None:
        """Return why a name of the body cannot mean the same where the call stands; note the imports that it needs."""
        callee, path = self.callee, self.callee.member.symbol.path
        private = callee.body.private
        if private and not self._is_in_class(code, call):
            return Hazard(Reason.PRIVATE_ELSEWHERE.of(name=private), True)
        place = (self.path, mentioned.mention[2])
        needs = needs_at(self.project, (path, callee.member.scope), place, callee.body.free)
        self._needed = list(needs.imports)
        if needs.hazard is not None:
            return needs.hazard
        home = self.project.uses(path).scopes[callee.member.scope].parent
        body = callee.body
        for each in given:
            if each.is_default and (body.reads_of(each.name) or body.is_rebound(each.name)):
                value = value_of(each.value, callee.body.code.bound)
                more = needs_at(self.project, (path, home), place, value.names)
                if more.hazard is not None:
                    return more.hazard
                self._needed += more.imports
        return None

    def _is_in_class(self, code: Code, call: ast.Call) -> bool:
        around, owner = code.class_around(call), self.callee.owner
        is_here = self.path == self.callee.member.symbol.path
        return owner is not None and is_here and around is not None and around.name == owner.name

    def _value(self, code: Code, mentioned: Mentioned, given: Given) -> Value:
        return self._value_in(code, self.path, mentioned.mention[2], given.value)

    def _value_in(self, code: Code, path: str, scope: int, node: ast.expr) -> Value:
        return value_at(self.project, code, self.codes.code(path).loops, (path, scope), node)
