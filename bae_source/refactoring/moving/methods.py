"""The plan of a move of a method to module level, where it becomes a function, and from there to another module.

    move app.Mail.send app        def send(self, x), behind the class; mail.send(1) becomes send(mail, 1)
    move app.Mail.send net        the same, in net, with the imports that it needs

Invariants:
- a method that overrides another one, or is overridden, stays: a call may reach any of them;
- a call is rewritten only where its receiver is sure.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from bae_source.errors import Refused, ResourceError
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile, Plan
from bae_source.model.reasons import Reason
from bae_source.model.reference import Reference
from bae_source.model.report import Report
from bae_source.model.span import Span
from bae_source.model.text import listed
from bae_source.project.files.unseen import name_at
from bae_source.project.importing.plan import added_imports
from bae_source.project.naming.resolve import Resolved
from bae_source.project.references.classes.family import Family, family_of
from bae_source.project.references.meaning.project import Project, project_of
from bae_source.project.references.meaning.sought import Mentioned
from bae_source.project.references.search.references import search_code
from bae_source.project.references.types.values import Class, Instance, Rebound
from bae_source.project.workspace import Workspace
from bae_source.refactoring.moving.choice import Choice
from bae_source.refactoring.moving.prose import Moved, with_prose
from bae_source.refactoring.moving.refusing import check_unsure, counted_places
from bae_source.refactoring.moving.symbols import imports_relatively, reference
from bae_source.refactoring.planning.generated import check_written_by_hand, without_generated
from bae_source.refactoring.planning.plan import Spliced, planned_files
from bae_source.refactoring.planning.unresolved import check_resolved
from bae_source.refactoring.renaming.outside import overridden
from bae_source.refactoring.renaming.safety import checked_name
from bae_source.syntax.names import uses as u
from bae_source.syntax.outline.ast_walk import span_of
from bae_source.syntax.outline.definitions import MODULE
from bae_source.syntax.outline.locate import group_span, owned_comment
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.rewrite.method_as_function import AsFunction, as_function
from bae_source.syntax.rewrite.name_tokens import written
from bae_source.syntax.rewrite.place import Position, insert
from bae_source.syntax.rewrite.remove import remove
from bae_source.syntax.text.revision import Revision

_OPEN = re.compile(r"(?:\s|\\\r?\n)*\((\s*)")
_NAMES = re.compile(r"[^\W\d]\w*(?:\s*\.\s*[^\W\d]\w*)*")
_BY = (Reason.DOTTED_NAME.of(), Reason.LEADING_NAME.of())


def plan_function(workspace: Workspace, resolved: Resolved, as_name: str | None, choice: Choice) -> Plan:
    """Plan to make a function of a method, in the module of its class; `changed` begins with its address.

    Raises:
        Refused: `name_collision` if the name is taken; `unsafe_change` where it cannot be a function, or it is unsure
            what means it.
    """
    method = Method(workspace, resolved, as_name)
    spliced, report = method.result()
    if choice.skip_generated:
        check_written_by_hand(workspace, {resolved.module.path: resolved.address})
        spliced, report = without_generated(method.project, spliced, report, [method.sought.word])
    check_unsure(str(resolved.address), report, choice)
    address = f"{resolved.module.name}.{method.new}"
    plan = planned_files(
        workspace,
        spliced=spliced,
        summary=f"Moved {resolved.address} to {address}: {counted_places(report)}.",
        changed=(address, str(resolved.address)),
        warnings=tuple(method.notices),
    )
    after = project_of(workspace.after(plan.changes))
    check_resolved(method.project, after, [each.module.path for each in spliced])
    plan = replace(plan, report=report, circles=True)
    return with_prose(workspace, plan, [Moved(sought=method.sought, new=address)], choice)


class Method:
    """A method on its way to module level.

    Parameters:
        as_name: the name of the function, if it is not to have the method's.
    """

    def __init__(self, workspace: Workspace, resolved: Resolved, as_name: str | None) -> None:
        self.workspace = workspace
        self.resolved = resolved
        self.module, self.tree = resolved.module, resolved.tree
        self.project: Project = project_of(workspace)
        self.name = resolved.address.qualname[-1].name
        self.new = self.name if as_name is None else checked_name(resolved, as_name)
        self.notices: list[Notice] = []
        self._left: list[Reference] = []
        self._changed: dict[str, int] = {}

    def result(self) -> tuple[tuple[Spliced, ...], Report]:
        """Return the changes.

        Raises:
            Refused: as `plan_method`.
        """
        function = self._function()
        family = family_of(self.project, self.resolved)
        self._check_alone(family)
        self._check_scopes(family)
        self.sought = family.sought
        matches = search_code(self.project, family.sought, self.workspace.index.naming)
        mentions = dict(matches.files)
        taken: list[str] = []
        spliced: list[Spliced] = []
        for path in sorted({*mentions, self.module.path}):
            module = self.workspace.census.module(path)
            if module is None or (path.endswith(".pyi") and path != self.module.path):
                self._tell_stub(path)
                continue
            try:
                tree = self.workspace.tree(module)
            except ResourceError:
                continue
            splices = self._file(module, tree, mentions.get(path, ()), function, taken)
            if splices:
                whole = Span(0, len(tree.text))
                spliced.append(Spliced(module=module, splices=tuple(splices), targets=(whole,)))
        self._check_taken(taken)
        report = Report(
            changed=self._changed,
            unsure=tuple(each for each in self._left if each.certainty != "mention"),
            mentions=tuple(each for each in self._left if each.certainty == "mention"),
            unparsed=tuple((name_at(self.workspace.census, path), error) for path, error in matches.unreadable),
            complete=not matches.unreadable,
        )
        return tuple(spliced), report

    def _refused(self, why: str, hint: str = "Make a function of it by hand.") -> Refused:
        return Refused(
            "unsafe_change",
            f"{self.resolved.address} cannot be a function of a module: {why}",
            unchanged=True,
            hints=[hint],
        )

    def _function(self) -> AsFunction:
        """Return the method as a function."""
        outline, group = self.tree.outline, self.resolved.group
        assert group is not None
        first = outline.definitions[group.members[0]]
        above = outline.definitions[first.parent]
        if len(group.members) > 1:
            raise self._refused(f"{self.name} has several definitions")
        if self.tree.newer:
            raise self._refused("its module is newer than the Python that runs here")
        if above.parent != MODULE or above.suite != 0 or above.body != first.suite or first.inline:
            raise self._refused("it does not stand in a class of its module by itself")
        span, comment = group_span(outline, group.members), owned_comment(self.tree, group.members[0])
        lines = self.tree.source.lines
        start = lines.start(lines.number(comment.start if comment is not None else span.start))
        self._own = Span(start, span.end)
        function = as_function(self._own.cut(self.tree.text), self.name, self.new)
        if function.blocked:
            raise self._refused(function.blocked)
        return function

    def _check_alone(self, family: Family) -> None:
        """Check that no other class has the method, above or below."""
        if len(family.symbols) > 1:
            uses = self.project.uses
            owners = (
                self.project.address(each.path, uses(each.path).scopes[each.scope].owner) for each in family.symbols
            )
            others = [owner for owner in owners if f"{owner}.{self.name}" != str(self.resolved.address)]
            have = f"{listed(others)} {'have' if len(others) > 1 else 'has'}"
            raise self._refused(f"{have} {self.name}, too, and a call may reach any of them")
        for reason in overridden(self.project, family).values():
            raise self._refused(reason)

    def _check_scopes(self, family: Family) -> None:
        """Check that the method takes no name of its class, and the class none of its own name."""
        scope = family.symbols[0].scope
        lines, names, path = self.tree.source.lines, self.project.names, self.module.path
        for name in self.project.uses(path).scopes[scope].names:
            for each in self.project.uses(path).mentions.get(name, ()):
                is_own = self._own.start <= lines.offset(each[0], each[1]) < self._own.end
                if each[4] != u.PLAIN or names.scope_of(path, each[2], name) != scope or each[3] == u.STRING:
                    continue
                if is_own and each[3] != u.WRITE:
                    raise self._refused(f"line {each[0]} takes {name} of its class")
                if not is_own and name == self.name:
                    raise self._refused(f"its class uses it by itself in line {each[0]}")

    def _tell_stub(self, path: str) -> None:
        if path.endswith(".pyi"):
            self.notices.append(Notice("stub_left", f"{path} declares it still."))

    def _file(
        self, module: ModuleFile, tree: Tree, mentions: Sequence[Mentioned], function: AsFunction, taken: list[str]
    ) -> list[tuple[Span, str]]:
        """Return the changes in one file."""
        calls = MethodCalls(
            self.project,
            module.path,
            tree,
            self.name,
            self.new,
            takes_self=function.takes_self,
            is_static=function.is_static,
        ).rewritten(mentions)
        lines = self.project.lines(module.path)
        self._left += [self.project.shown(each, lines) for each in calls.left]
        taken += [f"{module.name}:{line}" for line in scopes_taken(self.project, module.path, calls.scopes, self.new)]
        is_home = module.path == self.module.path
        if calls.scopes or is_home:
            self._changed[module.name] = len(calls.scopes) + is_home
        revision = Revision(tree.text)
        if is_home:
            revision.apply(list(calls.splices))
            return self._at_home(revision)
        if not calls.splices:
            return []
        shown = reference(self.module.name, module) if imports_relatively(tree) else self.module.name
        statements = [f"from {shown} import {self.new}"]
        return list(added_imports(self.workspace, module, tree, calls.splices, statements).splices)

    def _at_home(self, revision: Revision) -> list[tuple[Span, str]]:
        """Return the changes in the module of the class: the method goes, and the function stands behind the class."""
        content = self.tree.source.encode(revision.text)
        now = self.workspace.kept.trees.get(content)
        found = [
            number
            for number, each in enumerate(now.outline.definitions)
            if each.names == (self.name,) and each.parent != MODULE and self._is_class(now, each.parent)
        ]
        assert self.resolved.group is not None
        group = replace(self.resolved.group, members=(found[0],))
        span, comment = group_span(now.outline, group.members), owned_comment(now, group.members[0])
        lines = now.source.lines
        start = lines.start(lines.number(comment.start if comment is not None else span.start))
        text = as_function(now.text[start : span.end], self.name, self.new).text
        removed, notices = remove(now, self.module.name, group)
        self.notices += notices
        owner = now.outline.definitions[found[0]].parent
        revision.apply(removed)
        later = self.workspace.kept.trees.get(self.tree.source.encode(revision.text))
        revision.apply(insert(later, (owner,), Position.AFTER, text).splices)
        return list(revision.splices())

    def _is_class(self, tree: Tree, number: int) -> bool:
        return tree.outline.definitions[number].names == (self.resolved.address.qualname[-2].name,)

    def _check_taken(self, taken: list[str]) -> None:
        """Check that the name is free in the module, and wherever it is used."""
        uses = self.project.uses(self.module.path)
        if self.new in uses.scopes[0].names:
            taken = [f"{self.module.name}.{self.new}", *taken]
        if taken:
            raise Refused(
                "name_collision",
                f"{self.new} means something else: {listed(dict.fromkeys(taken))}; {self.resolved.address} was not"
                " moved.",
                hints=[f"move {self.resolved.address} {self.module.name} --as NAME gives the function another name."],
            )


class Calls(Struct, frozen=True, kw_only=True):
    """Calls of a method in one file, as they are after the move.

    Parameters:
        splices: on its text.
        scopes: where each name of the function stands then: scope, and line.
        left: what is no call that could be rewritten.
    """

    splices: tuple[tuple[Span, str], ...]
    scopes: tuple[tuple[int, int], ...]
    left: tuple[Mentioned, ...]


class MethodCalls:
    """The calls of a method in one file, as calls of the function that it becomes.

        obj.send(1)              send(obj, 1), or send(1) where it ignores the instance
        Mail.send(obj, 1)        send(obj, 1)
        Mail.parse(1)            parse(1), of a static method
        a.b().send(1).send(2)    send(send(a.b(), 1), 2)

    An instance that is no longer handed over is one that reading it has no effect: a name, or a name's attribute.
    What is no call of it that is sure is left.

    Parameters:
        new: the function's name.
        takes_self: whether the function takes the instance.
        is_static: whether the method took none.
    """

    def __init__(
        self, project: Project, path: str, tree: Tree, name: str, new: str, *, takes_self: bool, is_static: bool
    ) -> None:
        self.project = project
        self.path = path
        self.tree = tree
        self.name = name
        self.new = new
        self.takes_self = takes_self
        self.is_static = is_static
        self._calls: dict[int, ast.Call] = {}
        lines = tree.source.lines
        for node in ast.walk(ast.parse(tree.text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                assert node.func.end_lineno is not None
                assert node.func.end_col_offset is not None
                self._calls[lines.offset(node.func.end_lineno, node.func.end_col_offset)] = node
        self._begun: dict[int, int] = {}
        self._replaced: list[tuple[Span, str]] = []

    def rewritten(self, mentions: Sequence[Mentioned]) -> Calls:
        """Return the changed calls, and those that stay."""
        left: list[Mentioned] = []
        scopes: list[tuple[int, int]] = []
        for each in mentions:
            why = self._rewritten(each)
            if why is None:
                scopes.append((each.mention.scope, each.mention.line))
            elif why:
                left.append(Mentioned(each.path, each.mention, each.certainty if why == each.why else "unsure", why))
        begun = ((Span(start, start), f"{self.new}(" * count) for start, count in self._begun.items())
        return Calls(splices=(*begun, *self._replaced), scopes=tuple(scopes), left=tuple(left))

    def _rewritten(self, mentioned: Mentioned) -> str | None:
        """Rewrite one call; return the reason why it stays: None if it does not, nothing if it is no use."""
        kind, receiver = mentioned.mention[3:5]
        start = self.tree.source.lines.offset(*mentioned.mention[:2])
        if kind == u.STRING:
            return Reason.NAMED_AS_ATTRIBUTE.of() if mentioned.why in _BY else mentioned.why
        if mentioned.certainty != "sure":
            return mentioned.why
        if kind in (u.WRITE, u.DELETE):
            return Reason.ASSIGNED_HERE.of()
        name = written(self.tree.text, start)
        call = self._calls.get(start + len(name))
        if name != self.name or receiver <= 0:
            return Reason.NOT_CALLED.of()
        found = self.project.inference.values(self.path, receiver)
        values = [each for each in found if not isinstance(each, Rebound)]  # which the certainty knows of
        by_class = bool(values) and all(isinstance(each, Class) for each in values)
        if not by_class and not (values and all(isinstance(each, Instance) for each in values)) and not self.is_static:
            return Reason.INSTANCE_OR_CLASS.of()
        if call is None:
            return self._as_value(start, by_class=by_class)
        return self._as_call(call, start, by_class=by_class)

    def _as_value(self, start: int, *, by_class: bool) -> str | None:
        """Rewrite what takes the method without calling it."""
        chain = re.compile(rf"(?<![\w.])({_NAMES.pattern}\s*\.\s*)\Z").search(self.tree.text, 0, start)
        if chain is None or not (self.is_static or self.takes_self == by_class):
            return Reason.NOT_CALLED.of()
        self._replaced.append((Span(chain.start(1), start + len(self.name)), self.new))
        return None

    def _as_call(self, call: ast.Call, start: int, *, by_class: bool) -> str | None:
        assert isinstance(call.func, ast.Attribute)
        lines, text = self.tree.source.lines, self.tree.text
        begin = lines.offset(call.lineno, call.col_offset)
        dot = text.rfind(".", begin, start)
        opening = _OPEN.match(text, start + len(self.name))
        receiver = text[begin:dot]
        if opening is None or dot < 0 or "#" in receiver or "#" in text[dot:start]:
            return Reason.NOT_REWRITTEN.of()
        if by_class and not self.is_static:
            return self._by_class(call, begin, opening)
        if self.takes_self:
            has_arguments = bool(call.args or call.keywords)
            on_next_line = has_arguments and opening[1].strip(" \t") != ""
            comma = ("," if on_next_line else ", ") if has_arguments else ""
            if (
                isinstance(call.args[0] if call.args else None, ast.GeneratorExp)
                and len(call.args + call.keywords) == 1
            ):
                end = lines.offset(call.end_lineno or 0, call.end_col_offset or 0) - 1
                self._replaced.append((Span(end, end), ")"))  # what stands alone needs no brackets of its own
                comma = f"{comma}("
            self._begun[begin] = self._begun.get(begin, 0) + 1
            self._replaced.append((Span(dot, opening.start(1) if on_next_line else opening.end()), comma))
            return None
        if not _NAMES.fullmatch(receiver.strip()):
            return Reason.INSTANCE_MADE.of()
        self._replaced.append((Span(begin, start + len(self.name)), self.new))
        return None

    def _by_class(self, call: ast.Call, begin: int, opening: re.Match[str]) -> str | None:
        """Rewrite `Mail.send(obj, 1)`."""
        lines, text = self.tree.source.lines, self.tree.text
        if not call.args or isinstance(call.args[0], ast.Starred):
            return Reason.NOT_REWRITTEN.of()
        if not self.takes_self:
            first = call.args[0]
            span = span_of(lines, first)
            if not _NAMES.fullmatch(span.cut(text)):
                return Reason.INSTANCE_MADE.of()
            comma = re.compile(r"\s*,\s*").match(text, span.end)
            self._replaced.append((Span(span.start, comma.end() if comma else span.end), ""))
        self._replaced.append((Span(begin, opening.start()), self.new))
        return None


def scopes_taken(project: Project, path: str, places: Sequence[tuple[int, int]], name: str) -> Iterator[int]:
    """Yield the lines at which a name means something in its scope already."""
    for scope, line in places:
        if project.names.scope_of(path, scope, name) is not None:
            yield line
