"""The steps that a function takes, as a graph: which names it reads and binds, and where it goes from there.

    def f(xs):                 read xs -> next item -+-> bind x -> read x -> call -+
        for x in xs:                       ^         |                             |
            g(x)                           +---------+-----------------------------+
        return x                                     +-> read x -> end

Each step may also raise: then what comes next is the handler around it, or the end of the function. A `finally` is
drawn once for each way that leads through it, so that what is bound on one way is not mixed up with another.

Invariants:
- a way that code can take is in the graph; there may be ways that it never takes;
- code of functions in it runs at a time that is not known: they only capture the variables that they name.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, ClassVar

from msgspec import Struct

from bae_source.syntax.flow.scopes import COMPREHENSIONS, FUNCTIONS, Named, Scope, Scopes, Variable, parameters_of
from bae_source.syntax.outline.static_values import names_bound

TRIES = (ast.Try, ast.TryStar)
_SWALLOWING = frozenset({"suppress", "raises", "ignored", "assertRaises", "assertRaisesRegex", "assertWarns"})
"""Context managers that are known to go on behind their suite where it raises."""
_LETTING_THROUGH = frozenset(
    {"open", "closing", "nullcontext", "redirect_stdout", "redirect_stderr", "TemporaryDirectory", "chdir", "Lock"}
    | {"NamedTemporaryFile", "TemporaryFile", "catch_warnings", "lock", "_lock", "localcontext"}
)
"""Context managers that are known to let exceptions through."""
CONSUMING = frozenset(
    {"all", "any", "dict", "frozenset", "join", "list", "max", "min", "set", "sorted", "sum", "tuple"}
    | {"extend", "update", "sort"}
)
"""Callables that have run what they are given, or the `key` of it, when they return."""

Ends = list[int]
"""Steps that go on to whatever comes next."""


class Does(Enum):
    """The action of a step."""

    READS = "reads"
    BINDS = "binds"
    DELETES = "deletes"
    CAPTURES = "captures"
    ACTS = "acts"
    RETURNS = "returns"
    JOINS = "joins"


class Step(Struct):
    """One step.

    Parameters:
        does: what it does.
        variable: the variable that it is about.
        node: where it stands.
        inside: whether it belongs to the piece of code in question.
        next: the steps that may follow.
        raises: the step that follows where it raises.
        eager: of a capture, whether what captures has run at the next step.
    """

    does: Does
    variable: Variable | None
    node: ast.AST | None
    inside: bool
    next: list[int]
    raises: int
    eager: bool = False


class _Final(Struct, frozen=True):
    """A `finally` around the place at hand: its suite, and what was around it."""

    body: Sequence[ast.stmt]
    handler: int
    loops: int


class _Loop(Struct, frozen=True):
    head: int
    breaks: Ends


class Graph:
    """The steps of one function, class or module.

    Parameters:
        scopes: of the module.
        frame: the scope whose code it is.
        piece: statements of one suite, or one expression, which are marked.
        swallows: whether every context manager that is not known may go on behind its suite where it raises.

    Attributes:
        steps: in the order in which they were met.
        entries, exits: steps that stand before and behind the piece.
        returns: whether the piece returns from the function.
        start, end, raised: where it begins, where it ends, and where it ends by raising.
    """

    def __init__(self, scopes: Scopes, frame: Scope, piece: Sequence[ast.AST], *, swallows: bool = False) -> None:
        self._swallows = swallows
        self.scopes = scopes
        self.frame = frame
        self.piece = piece
        self.steps: list[Step] = []
        self.entries: Ends = []
        self.exits: Ends = []
        self.returns = False
        self._inside = False
        self._handler = -1
        self._finals: list[_Final] = []
        self._loops: list[_Loop] = []
        self._consumed: set[ast.AST] = set()
        self.end = self._apart()
        self.raised = self._apart()
        self._handler = self.raised
        self.start = self._apart()
        self._now: Ends = [self.start]
        self._frame(frame.node)
        self._to(self.end)

    def _frame(self, node: ast.AST) -> None:
        if isinstance(node, FUNCTIONS):
            for each in parameters_of(node):
                self._step(Does.BINDS, Variable(self.frame, each.arg), each)
        body = getattr(node, "body", None)
        if isinstance(body, list):
            self._suite(body)
        elif isinstance(body, ast.AST):
            self._value(body)

    # Steps.

    def _apart(self) -> int:
        """Make a step that others lead to."""
        self.steps.append(Step(Does.JOINS, None, None, self._inside, [], self._handler))
        return len(self.steps) - 1

    def _step(self, does: Does, variable: Variable | None, node: ast.AST | None, *, eager: bool = False) -> int:
        self.steps.append(Step(does, variable, node, self._inside, [], self._handler, eager))
        number = len(self.steps) - 1
        self._to(number)
        self._now = [number]
        return number

    def _act(self, node: ast.AST | None) -> None:
        self._step(Does.ACTS, None, node)

    def _join(self) -> int:
        return self._step(Does.JOINS, None, None)

    def _to(self, number: int) -> None:
        for each in self._now:
            self.steps[each].next.append(number)

    def _bind(self, node: ast.AST, name: str, does: Does = Does.BINDS) -> None:
        variable = self.scopes.variable(node, name)
        if variable is None and self.frame is self.scopes.module and name in self.frame.bound:
            variable = Variable(self.frame, name)
        if variable is not None:
            self._step(does, variable, node)

    def _enter(self) -> bool:
        self.entries.append(self._join())
        was, self._inside = self._inside, True
        return was

    def _leave(self, was: bool) -> None:
        self._inside = was
        self.exits.append(self._join())

    # Expressions.

    def _value(self, node: ast.AST | None) -> None:
        if node is None:
            return
        is_piece = len(self.piece) == 1 and node is self.piece[0] and isinstance(node, ast.expr)
        was = self._enter() if is_piece else False
        visit = self._expressions.get(type(node))
        if visit is not None:
            visit(self, node)
        else:
            for child in ast.iter_child_nodes(node):
                if not isinstance(child, ast.expr_context):
                    self._value(child)
            if not isinstance(node, (ast.Constant, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)):
                self._act(node)
        if is_piece:
            self._leave(was)

    def _values(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            self._value(node)

    def _name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._bind(node, node.id, Does.READS)
        else:
            self._bind(node, node.id, Does.BINDS if isinstance(node.ctx, ast.Store) else Does.DELETES)

    def _walrus(self, node: ast.NamedExpr) -> None:
        self._value(node.value)
        self._bind(node.target, node.target.id)

    def _condition(self, node: ast.expr) -> tuple[Ends, Ends]:
        """Visit a test; return the steps at which it holds, and those at which it does not."""
        is_piece = len(self.piece) == 1 and node is self.piece[0]
        if not is_piece and isinstance(node, ast.BoolOp):
            done: Ends = []
            for each in node.values:
                holds, fails = self._condition(each)
                ends, self._now = (fails, holds) if isinstance(node.op, ast.And) else (holds, fails)
                done += ends
            return (self._now, done) if isinstance(node.op, ast.And) else (done, self._now)
        if not is_piece and isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            holds, fails = self._condition(node.operand)
            return fails, holds
        self._value(node)
        if isinstance(node, ast.Constant):
            return (self._now, []) if node.value else ([], self._now)
        self._act(node)
        return list(self._now), list(self._now)

    def _boolean(self, node: ast.BoolOp) -> None:
        ends: Ends = []
        for each in node.values[:-1]:
            holds, fails = self._condition(each)
            self._now, others = (holds, fails) if isinstance(node.op, ast.And) else (fails, holds)
            ends += others
        self._value(node.values[-1])
        self._now = [*self._now, *ends]

    def _choice(self, node: ast.If | ast.IfExp) -> None:
        part: Callable[[Any], None] = self._suite if isinstance(node, ast.If) else self._value
        holds, fails = self._condition(node.test)
        self._now = holds
        part(node.body)
        ends, self._now = self._now, fails
        part(node.orelse)
        self._now = [*ends, *self._now]

    def _compare(self, node: ast.Compare) -> None:
        self._value(node.left)
        ends: Ends = []
        for each in node.comparators:
            self._value(each)
            self._act(node)
            ends += self._now
        self._now = ends

    def _dict(self, node: ast.Dict) -> None:
        for key, value in zip(node.keys, node.values, strict=True):
            self._values([key, value])
        self._act(node)

    def _call(self, node: ast.Call) -> None:
        named = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if named in CONSUMING:
            self._consumed.update(each for each in node.args if isinstance(each, ast.GeneratorExp))
            self._consumed.update(each.value for each in node.keywords if each.arg == "key")
        self._value(node.func)
        self._values(node.args)
        self._values(each.value for each in node.keywords)
        self._act(node)

    def _lambda(self, node: ast.Lambda) -> None:
        self._values([*node.args.defaults, *node.args.kw_defaults])
        self._capture(node)

    def _capture(self, node: ast.AST) -> None:
        """Note the variables around a function, class or generator expression that code in it names."""
        eager = node in self._consumed
        for variable in dict.fromkeys(self.captured(node)):
            self._step(Does.CAPTURES, variable, node, eager=eager)

    def captured(self, node: ast.AST) -> Iterator[Variable]:
        """Yield the variables from around a node that names in it mean."""
        own = {self.scopes.opened[each] for each in ast.walk(node) if each in self.scopes.opened}
        for each in ast.walk(node):
            names = each.names if isinstance(each, ast.Nonlocal) else [each.id] if isinstance(each, ast.Name) else []
            for name in names:
                variable = self.scopes.variable(each, name)
                if variable is not None and variable.scope not in own:
                    yield variable

    def _comprehension(self, node: ast.AST) -> None:
        if isinstance(node, ast.GeneratorExp):
            self._capture(node)
        heads: list[tuple[int, Ends]] = []
        for each in node.generators:  # type: ignore[attr-defined]  # comprehensions have them
            self._value(each.iter)
            head = self._join()
            self._act(each)
            gone = list(self._now)
            self._value(each.target)
            heads.append((head, gone))
            for test in each.ifs:
                holds, fails = self._condition(test)
                self._now = fails
                self._to(head)
                self._now = holds
        self._values(getattr(node, field, None) for field in ("key", "value", "elt"))
        for head, gone in reversed(heads):
            self._to(head)
            self._now = gone
        self._act(node)

    # Statements.

    def _suite(self, body: Sequence[ast.stmt]) -> None:
        was = False
        for node in body:
            if self.piece and node is self.piece[0]:
                was = self._enter()
            self._statement(node)
            if self.piece and node is self.piece[-1]:
                self._leave(was)

    def _statement(self, node: ast.stmt) -> None:
        visit = self._statements.get(type(node))
        if visit is not None:
            visit(self, node)
        elif isinstance(node, TRIES):
            self._try(node)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            self._act(node)
            for alias in node.names:
                for name in names_bound(alias):
                    self._bind(node, name)
        elif not isinstance(node, (ast.Global, ast.Nonlocal, ast.Pass)):
            self._values(ast.iter_child_nodes(node))

    def _assign(self, node: ast.Assign) -> None:
        self._values([node.value, *node.targets])

    def _annotated(self, node: ast.AnnAssign) -> None:
        self._value(node.value)
        if node.value is not None:
            self._value(node.target)

    def _augmented(self, node: ast.AugAssign) -> None:
        target = node.target
        if isinstance(target, ast.Name):
            self._bind(target, target.id, Does.READS)
        else:
            self._values(each for each in ast.iter_child_nodes(target) if isinstance(each, ast.expr))
            self._act(target)
        self._value(node.value)
        self._act(node)
        if isinstance(target, ast.Name):
            self._bind(target, target.id)

    def _define(self, node: Named) -> None:
        arguments = node.args
        self._values([*node.decorator_list, *arguments.defaults, *arguments.kw_defaults])
        self._values(each.annotation for each in parameters_of(node))
        self._value(node.returns)
        self._capture(node)
        self._act(node)
        self._bind(node, node.name)

    def _class(self, node: ast.ClassDef) -> None:
        self._values([*node.decorator_list, *node.bases, *(each.value for each in node.keywords)])
        self._suite(node.body)
        self._act(node)
        self._bind(node, node.name)

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        self._value(node.iter)
        head = self._join()
        self._act(node)
        gone = list(self._now)
        self._value(node.target)
        self._loop(node, head, gone)

    def _while(self, node: ast.While) -> None:
        head = self._join()
        holds, fails = self._condition(node.test)
        self._now = holds
        self._loop(node, head, fails)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, head: int, gone: Ends) -> None:
        """Visit the suites of a loop: at its head another round is decided on, and at `gone` there is none."""
        self._loops.append(_Loop(head, []))
        self._suite(node.body)
        self._to(head)
        loop = self._loops.pop()
        self._now = gone
        self._suite(node.orelse)
        self._now = [*self._now, *loop.breaks]

    def _with(self, node: ast.With | ast.AsyncWith) -> None:
        around, swallowed = self._handler, None
        for item in node.items:
            self._value(item.context_expr)
            self._act(item)
            self._value(item.optional_vars)
            called = getattr(item.context_expr, "func", item.context_expr)
            name = getattr(called, "id", getattr(called, "attr", ""))
            may = name in _SWALLOWING or (self._swallows and name not in _LETTING_THROUGH)
            if may and swallowed is None:
                swallowed = self._apart()
                self.steps[swallowed].next.append(around)
                self._handler = swallowed
        self._suite(node.body)
        self._handler = around
        self._now = [*self._now, *([swallowed] if swallowed is not None else [])]
        self._act(node)

    def _try(self, node: Any) -> None:
        around = self._handler
        uncaught = self._apart() if node.finalbody else around
        if node.finalbody:
            self._finals.append(_Final(node.finalbody, around, len(self._loops)))
        self._handler = uncaught
        caught = self._apart() if node.handlers else uncaught
        self._handler = caught
        self._suite(node.body)
        self._handler = uncaught
        self._suite(node.orelse)
        ends = self._now
        for handler in node.handlers:
            self._now = [caught]
            self._value(handler.type)
            self._act(handler)
            if handler.name:
                self._bind(handler, handler.name)
            self._suite(handler.body)
            if handler.name:
                self._bind(handler, handler.name, Does.DELETES)
            ends = [*ends, *self._now]
        if caught != uncaught:
            self.steps[caught].next.append(uncaught)
        self._handler, self._now = around, ends
        if node.finalbody:
            self._finals.pop()
            self._suite(node.finalbody)
            ends, self._now = self._now, [uncaught]
            self._suite(node.finalbody)
            self._to(around)
            self._now = ends

    def _match(self, node: ast.Match) -> None:
        self._value(node.subject)
        ends: Ends = []
        for case in node.cases:
            self._act(case)
            fails = list(self._now)
            self._pattern(case.pattern)
            if case.guard is not None:
                self._now, otherwise = self._condition(case.guard)
                fails = [*fails, *otherwise]
            self._suite(case.body)
            ends = [*ends, *self._now]
            is_any = isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.guard is None
            self._now = [] if is_any else fails
        self._now = [*ends, *self._now]

    def _pattern(self, node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self._value(child)
            else:
                self._pattern(child)
        for name in names_bound(node):
            self._bind(node, name)

    def _return(self, node: ast.Return) -> None:
        self._value(node.value)
        if node.value is not None:
            self._step(Does.RETURNS, None, node)
        self.returns |= self._inside
        self._through_finals(0)
        self._to(self.end)
        self._now = []

    def _break(self, _: ast.Break) -> None:
        self._through_finals(len(self._loops))
        self._loops[-1].breaks.extend(self._now)
        self._now = []

    def _continue(self, _: ast.Continue) -> None:
        self._through_finals(len(self._loops))
        self._to(self._loops[-1].head)
        self._now = []

    def _through_finals(self, loops: int) -> None:
        """Visit each `finally` that a jump out of so many loops leads through."""
        kept, handler, all_loops = self._finals, self._handler, self._loops
        while self._finals and self._finals[-1].loops >= loops:
            final = self._finals[-1]
            self._finals = self._finals[:-1]
            self._handler, self._loops = final.handler, all_loops[: final.loops]
            self._suite(final.body)
        self._finals, self._handler, self._loops = kept, handler, all_loops

    def _raise(self, node: ast.Raise) -> None:
        self._values([node.exc, node.cause])
        self._act(node)
        self.steps[self._now[0]].next.append(self._handler)
        self._now = []

    def _assert(self, node: ast.Assert) -> None:
        holds, fails = self._condition(node.test)
        self._now = fails
        self._value(node.msg)
        self._act(node)
        self.steps[self._now[0]].next.append(self._handler)
        self._now = holds

    _expressions: ClassVar[Mapping[type[ast.AST], Callable[[Graph, Any], None]]] = {
        ast.Name: _name,
        ast.NamedExpr: _walrus,
        ast.BoolOp: _boolean,
        ast.IfExp: _choice,
        ast.Compare: _compare,
        ast.Dict: _dict,
        ast.Call: _call,
        ast.Lambda: _lambda,
        **dict.fromkeys(COMPREHENSIONS, _comprehension),
    }
    _statements: ClassVar[Mapping[type[ast.AST], Callable[[Graph, Any], None]]] = {
        ast.Assign: _assign,
        ast.AnnAssign: _annotated,
        ast.AugAssign: _augmented,
        ast.FunctionDef: _define,
        ast.AsyncFunctionDef: _define,
        ast.ClassDef: _class,
        ast.If: _choice,
        ast.For: _for,
        ast.AsyncFor: _for,
        ast.While: _while,
        ast.With: _with,
        ast.AsyncWith: _with,
        ast.Match: _match,
        ast.Return: _return,
        ast.Break: _break,
        ast.Continue: _continue,
        ast.Raise: _raise,
        ast.Assert: _assert,
    }
