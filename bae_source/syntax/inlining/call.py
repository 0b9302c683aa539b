"""A call that gives way to the body of its function.

    def total(rows):                     cost = total(items)     sum_ = 0
        sum_ = 0                                                 for row in items:
        for row in rows:                                             sum_ += row
            sum_ += row                                          cost = sum_
        return sum_

Invariants:
- a body of statements goes where a statement stands that does nothing but the call, before the result is used;
- variables for arguments are assigned before the statement, where nothing of it has run by then;
- no name of the body is one that the function around the call has.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, structs

from bae_source.model.reasons import Reason
from bae_source.model.span import Span
from bae_source.syntax.flow.evaluation import Depends, steps_of
from bae_source.syntax.flow.scopes import DEFINITIONS
from bae_source.syntax.inlining.body import OF_FRAME, Body, Shape
from bae_source.syntax.inlining.code import Code, parsed
from bae_source.syntax.inlining.direct import Site, direct_target
from bae_source.syntax.inlining.given import Given, Placing, placed
from bae_source.syntax.inlining.hazards import Hazard, Value, reads_state
from bae_source.syntax.inlining.scopes import words_in
from bae_source.syntax.inlining.text import Written
from bae_source.syntax.templates.statements import continued_at, is_elif
from bae_source.syntax.templates.template import reading
from bae_source.syntax.text.lexer import lex

Splices = list[tuple[Span, str]]
ValueOf = Callable[[Given], Value]


class Made(Struct, frozen=True, kw_only=True):
    """The code that takes the place of a call.

    Parameters:
        splices: on the file's text.
        comments: those that go.
        names: names that the module binds by it.
        repeats: whether attributes are evaluated several times, or on some ways alone.
    """

    splices: tuple[tuple[Span, str], ...]
    comments: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    repeats: bool = False


def site_of(code: Code, call: ast.Call, *, is_async: bool) -> Site | Hazard:
    """Return a call as what gives way to the body of a function."""
    parent = code.parents[call]
    if is_async and not isinstance(parent, ast.Await):
        return Hazard(Reason.NOT_AWAITED.of(), True)
    return Site(code=code, call=call, node=parent if is_async and isinstance(parent, ast.Await) else call)


def inlined_at(site: Site, body: Body, given: Sequence[Given], value_of: ValueOf) -> Made | Hazard:
    """Return what takes the place of a call, or the reason why nothing can.

    Parameters:
        given: what the call gives, in the order of evaluation.
        value_of: tells what is known of a value where the call stands.
    """
    values = [value_of(each) for each in given]
    made = _Inlining(site, body, placed(body, given, values), value_of).made()
    if not isinstance(made, Hazard):
        return made
    again = _Inlining(site, body, placed(body, given, values, may_repeat=True), value_of).made()
    return made if isinstance(again, Hazard) else structs.replace(again, repeats=True)


class _Inlining:
    def __init__(self, site: Site, body: Body, placing: Placing, value_of: ValueOf) -> None:
        self.site, self.body, self.placing, self.value_of = site, body, placing, value_of
        self.code = site.code
        self.indent = site.code.indentation(site.call)
        self.newline = site.code.source.newline
        self.direct = direct_target(site, body, [*placing.put, *placing.assigned])
        self.names = self._names()
        self.written = Written(body, placing.put, self.names, self.indent)

    def made(self) -> Made | Hazard:
        """Return what takes the place of the call."""
        if self.body.is_async and not self._is_in_coroutine():
            return Hazard(Reason.NOT_AWAITED.of(), True)
        assigned = self._assignments()
        if isinstance(assigned, Hazard):
            return assigned
        if self.body.shape in (Shape.EXPRESSION, Shape.NOTHING):
            return self._as_expression(assigned)
        return self._as_statements(assigned)

    def _is_in_coroutine(self) -> bool:
        return isinstance(self.code.scope(self.site.call), (ast.AsyncFunctionDef, ast.Module))

    def _names(self) -> Mapping[str, str]:
        """Return new names for what the body binds, and for parameters that need variables, by the old ones."""
        scope = self.code.scope(self.site.call)
        taken = {*words_in(scope, but=self.body.function), *self.body.free}
        found: dict[str, str] = {}
        if self.direct is not None and self.direct[0] != self.direct[1]:
            found[self.direct[0]] = self.direct[1]
        others = [each for each in self._locals() if self.direct is None or each != self.direct[0]]
        for name in (*(each.name for each in self.placing.assigned), *others):
            new = _free(self._wanted(name), taken | {*self.body.own} - {name})
            taken.add(new)
            if new != name:
                found[name] = new
        return found

    def _locals(self) -> list[str]:
        """Return the names that the body binds, in the order in which it names them."""
        named = (each.name for each in self.body.uses if each.is_own)
        return [each for each in dict.fromkeys((*named, *sorted(self.body.locals))) if each in self.body.locals]

    def _wanted(self, name: str) -> str:
        """Return the name of a variable; that for the receiver of a method is called as its attribute is."""
        receiver = next((each.value for each in self.placing.assigned if each.name == name), None)
        if receiver is None or name not in ("self", "cls"):
            return name
        owner = self.body.code.parents[self.body.function]
        called = receiver.attr if isinstance(receiver, ast.Attribute) else getattr(owner, "name", "")
        new = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", called.lstrip("_")).lower()
        return new if new.isidentifier() and not keyword.iskeyword(new) else "receiver"

    def _assignments(self) -> list[str] | Hazard:
        """Return the statements that evaluate what needs variables."""
        lines: list[str] = []
        for each in self.placing.assigned:
            is_named = bool(self.body.reads_of(each.name)) or self.body.is_rebound(each.name)
            text = f"{self.names.get(each.name, each.name)} = {each.text}" if is_named else each.text
            if reading(f"{text}\n") is None:
                name = f"{self.names.get(each.name, each.name)} = " if is_named else ""
                text = f"{name}({each.text})"
            lines.append(text)
        if not lines:
            return lines
        name = self.placing.assigned[0].name
        if hazard := self._is_no_place_for_names():
            return hazard
        return lines if self._has_room() else Hazard(Reason.NO_ROOM.of(name=name), True)

    def _is_no_place_for_names(self) -> Hazard | None:
        """Return why no variables can be added around the call."""
        scope = self.code.scope(self.site.call)
        if isinstance(scope, ast.ClassDef):
            return Hazard(Reason.IN_CLASS.of(), True)
        asking = sorted(OF_FRAME & words_in(scope)) if not isinstance(scope, ast.Module) else []
        return Hazard(Reason.READS_FRAME.of(name=asking[0]), True) if asking else None

    def _has_room(self) -> bool:
        """Return whether statements can run before the statement around the call, and nothing that they may change."""
        statement, code = self.site.statement, self.code
        if isinstance(statement, (ast.While, *DEFINITIONS, ast.Match, ast.With, ast.AsyncWith, ast.Assert)):
            return False
        if code.inner_scopes(self.site.call) or is_elif(code.text, code.span(statement).start):
            return False
        if not self._begins_line(statement):
            return False
        header = {ast.If: "test", ast.For: "iter", ast.AsyncFor: "iter"}.get(type(statement))
        steps = steps_of([getattr(statement, header) if header else statement], code.bound)
        inner = {id(each) for each in ast.walk(self.site.call)}
        for step in steps:
            if step.node is self.site.call:
                return not step.maybe and not step.later
            if id(step.node) not in inner and (step.effect or reads_state(step, code.shared)):
                return False
        return False

    def _begins_line(self, statement: ast.stmt) -> bool:
        lines, start = self.code.source.lines, self.code.span(statement).start
        return not self.code.text[lines.start(lines.number(start)) : start].strip(" \t\f")

    def _as_expression(self, assigned: Sequence[str]) -> Made | Hazard:
        """Return the splices for a body that is one expression, or none."""
        result = self.body.result
        statement = self.site.statement
        if result is None and self._is_alone(ast.Expr):
            return self._with_nothing(assigned, statement)
        text = self.written.expression(result) if result is not None else "None"
        if isinstance(text, Hazard):
            return text
        if self._is_alone(ast.Expr) and self._depends(text) < Depends.STATE:
            return self._with_nothing(assigned, statement)
        own = self.body.code.indentation(result) if result is not None else ""
        new, why = self.code.fitted(self.site.node, continued_at(text, own, self.indent), parsed(text))
        if why:
            return Hazard(why, True)
        splices: Splices = [(self.code.span(self.site.node), new)]
        if assigned:
            start = self.code.span(statement).start
            splices.insert(0, (Span(start, start), self._lines([*assigned, ""])))
        return self._made(splices)

    def _depends(self, text: str) -> Depends:
        """Return what an expression depends on where the call stands."""
        return self.value_of(Given(name="", text=text, value=parsed(text))).depends

    def _with_nothing(self, assigned: Sequence[str], statement: ast.stmt) -> Made:
        if assigned:
            return self._made([(self.code.span(statement), self._lines(assigned))])
        return self._made([self.code.without(statement)])

    def _is_alone(self, *kinds: type[ast.stmt]) -> bool:
        """Return whether the call is all that a statement of some kinds does, or gives a value to."""
        statement = self.code.parents[self.site.node]
        return isinstance(statement, kinds) and getattr(statement, "value", None) is self.site.node

    def _as_statements(self, assigned: Sequence[str]) -> Made | Hazard:
        """Return the splices for a body of statements."""
        statement = self.site.statement
        if not self._is_alone(ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return):
            return Hazard(Reason.HAS_STATEMENTS.of(), True)
        if isinstance(statement, ast.AugAssign) and not self._is_own(statement.target):
            return Hazard(Reason.HAS_STATEMENTS.of(), True)
        if self.body.shape is Shape.RETURNS and not isinstance(statement, ast.Return):
            return Hazard(Reason.RETURNS_EARLY.of(), True)
        if hazard := self._is_no_place_for_names():
            return hazard
        if not self.code.is_alone(statement):
            return Hazard(Reason.SHARED_LINE.of(), True)
        replaced = self._last(statement)
        if isinstance(replaced, Hazard):
            return replaced
        text = self.written.statements(replaced)
        if isinstance(text, Hazard):
            return text
        lines = [*assigned, text, *self._added(statement)]
        return self._made([(self.code.span(statement), self._lines([each for each in lines if each]))])

    def _is_own(self, target: ast.expr) -> bool:
        """Return whether what a result is added to is a name that no code of the body can bind anew."""
        if not isinstance(target, ast.Name):
            return False
        return not self.value_of(Given(name="", text=target.id, value=parsed(target.id))).volatile

    def _last(self, statement: ast.stmt) -> dict[ast.stmt, str | None] | Hazard:
        """Return what takes the place of the only return at the end."""
        last = self.body.statements[-1]
        if isinstance(statement, ast.Return) or not isinstance(last, ast.Return):
            return {}
        if self.direct is not None:
            return {last: None}
        result = last.value or ast.Constant(None)
        text = self.written.expression(last.value) if last.value is not None else "None"
        if isinstance(text, Hazard):
            return text
        if isinstance(statement, ast.Expr):
            return {last: text if self._depends(text) >= Depends.STATE else None}
        new, why = self.code.fitted(self.site.node, text, parsed(text))
        if why:
            return Hazard(why, True)
        return {last: self._statement_with(statement, new, self.body.code.indentation(result if last.value else last))}

    def _statement_with(self, statement: ast.stmt, new: str, indent: str) -> str:
        whole, node = self.code.span(statement), self.code.span(self.site.node)
        before = continued_at(self.code.text[whole.start : node.start], self.indent, indent)
        return f"{before}{new}{continued_at(self.code.text[node.end : whole.end], self.indent, indent)}"

    def _added(self, statement: ast.stmt) -> list[str]:
        """Return what follows a body that returns nothing."""
        last = self.body.statements[-1]
        if isinstance(statement, ast.Return):
            return ["return None"] if self.body.falls_off else []
        if isinstance(last, ast.Return) or isinstance(statement, ast.Expr):
            return []
        return [self._statement_with(statement, "None", self.indent)]

    def _lines(self, lines: Sequence[str]) -> str:
        return f"{self.newline}{self.indent}".join(lines)

    def _made(self, splices: Splices) -> Made:
        """Return the splices with the comments that go."""
        span = self.code.span(self.site.call)
        text = span.cut(self.code.text)
        comments = [each.cut(text) for each in lex(text).comments] if "#" in text else []
        later = "".join(new for _, new in splices)
        return Made(
            splices=tuple(splices),
            comments=tuple(each for each in comments if each not in later),
            names=self._in_module() if later else (),
        )

    def _in_module(self) -> tuple[str, ...]:
        """Return the names that the module binds by the body."""
        if not isinstance(self.code.scope(self.site.call), ast.Module):
            return ()
        read = (each.name for each in self.placing.assigned if self.body.reads_of(each.name))
        return tuple(self.names.get(name, name) for name in (*read, *sorted(self.body.locals)))


def _free(name: str, taken: set[str]) -> str:
    """Return a name that is not taken."""
    number, found = 0, name
    while found in taken:
        number += 1
        found = f"{name}_{number}"
    return found


def brackets_of(code: Code, call: ast.Call) -> str:
    """Return the brackets of a call with its arguments; the called expression is a name or an attribute."""
    opening = code.text.index("(", code.span(call.func).end)
    return code.text[opening : code.span(call).end]
