"""Values that flow into a piece of code and out of it, as if it were a function of its own.

    def f(xs):
        total = 0
        for x in xs:
            size = len(x)            the piece takes `x` and `total`: it reads both before it binds them,
            total += size            and gives back `total`, which the next round reads, and the return
        return total                 `size` is its own

`total` is read behind the piece, so it is live there; `size` is not, since no way leads from there to a read of it.
What is live and bound on some ways only has to be taken as well, since it keeps its value on the others.

Invariants:
- nothing is left out: what is not known to be free of doubt is in one of the lists of `Flows`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from bae_source.syntax.flow.graph import Does, Graph, Step
from bae_source.syntax.flow.scopes import Level, Scope, Scopes, Variable

_RAISING = (Does.READS, Does.DELETES, Does.ACTS)
_QUIET = (
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Attribute, ast.Subscript, ast.Slice, ast.Name, ast.Starred),
    *(ast.JoinedStr, ast.FormattedValue, ast.Tuple, ast.List, ast.Set, ast.Dict),
)
"""Expressions that are taken to run no function that may look at variables, such as operators and attributes."""


class Flows(Struct, frozen=True, kw_only=True):
    """Values that flow into a piece of code and out of it.

    Parameters:
        taken: variables that it takes from around it, in the order of first use.
        given: variables that it binds and that are read behind it, in the order in which it binds them.
        perhaps_unbound: taken ones that may have no value where it begins, and need none on some way through it.
        fails_earlier: taken ones that may have no value there, so that it fails, which it would do later by itself.
        lost_on_raise: variables that a handler around it would miss if it raised.
        lost_in_with: the same where a `with` around it, of which nothing is known, goes on behind its suite.
        seen_by_closures: variables that it binds while a function outside of it may look at them.
        rebound_by_closures: variables that functions bind anew while it may read them.
        bound_later: variables that functions in it keep hold of, and that are bound anew behind it.
        deleted: variables that it deletes and did not bind.
        goes_on: whether its end can be reached.
        is_last: whether nothing runs behind it in its function.
        returns: whether it returns from the function.
    """

    taken: tuple[Variable, ...]
    given: tuple[Variable, ...]
    perhaps_unbound: tuple[Variable, ...] = ()
    fails_earlier: tuple[Variable, ...] = ()
    lost_on_raise: tuple[Variable, ...] = ()
    lost_in_with: tuple[Variable, ...] = ()
    seen_by_closures: tuple[Variable, ...] = ()
    rebound_by_closures: tuple[Variable, ...] = ()
    bound_later: tuple[Variable, ...] = ()
    deleted: tuple[Variable, ...] = ()
    goes_on: bool = True
    is_last: bool = False
    returns: bool = False


def flows_of(scopes: Scopes, frame: Scope, piece: Sequence[ast.AST]) -> Flows:
    """Return the values that flow into a piece and out of it.

    Parameters:
        frame: the function, class or module that runs it.
        piece: consecutive statements of one suite, or one expression.
    """
    found = _Flow(Graph(scopes, frame, piece)).flows()
    if found.lost_on_raise or isinstance(piece[0], ast.expr):
        return found
    swallowed = _Flow(Graph(scopes, frame, piece, swallows=True)).flows().lost_on_raise
    return replace(found, lost_in_with=swallowed)


def kept_variables(scopes: Scopes, frame: Scope, piece: Sequence[ast.AST]) -> frozenset[Variable]:
    """Return the variables that have a value on every way to a piece, and that only the piece itself binds meanwhile.

    Others may be bound by functions, whenever something is called.
    """
    flow = _Flow(Graph(scopes, frame, piece))
    return frozenset(flow.kept())


class _Flow:
    """Works the lists out; sets of variables are bits of numbers."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.steps = graph.steps
        self.variables = list(dict.fromkeys(each.variable for each in self.steps if each.variable is not None))
        self.bit = {variable: 1 << number for number, variable in enumerate(self.variables)}
        self.all = (1 << len(self.variables)) - 1
        self.inside = [number for number, each in enumerate(self.steps) if each.inside]
        self.shared = self._captured(outside=True) | self._of_module()
        """Variables that code outside of the piece may read whenever other code runs."""
        self.rebound = self._rebound()
        around = set(graph.frame.chain) - {graph.frame}
        self.outer = self._those(lambda each: each.scope in around)
        """Variables of functions around that of the piece, which are taken to be bound."""
        is_kept = graph.frame.level in (Level.MODULE, Level.CLASS)
        self.lasting = self.outer | self._those(lambda each: is_kept and each.scope is graph.frame)
        """Variables that outlive the function that runs the piece."""

    def flows(self) -> Flows:
        binds = self._inside_mask(Does.BINDS)
        exposed = self._at(self._live(self.inside, at_exits=0), self.graph.entries)
        live = self._live(range(len(self.steps)))
        after = self._at(live, self.graph.exits) | self.lasting | self._only_bound_here()
        goes_on = self._is_reached(self.graph.exits)
        given = binds & after if goes_on else 0
        taken = exposed | (given & ~self._bound_at_exits())
        if self.graph.frame is self.graph.scopes.module:
            taken &= binds  # a function reads the others where they are
        bound = self._meet(self._assigned(), self.graph.entries)
        unbound, surely = taken & ~bound & ~self.outer, exposed & self._surely_read()
        gone = binds & self._only_bound_here() & ~given
        lost, seen = self._while_it_runs(live, binds)
        return Flows(
            taken=self._ordered(taken, Does.READS, Does.CAPTURES, Does.BINDS),
            given=self._ordered(given, Does.BINDS),
            perhaps_unbound=self._listed((unbound & ~surely) | gone),
            fails_earlier=self._listed(unbound & surely),
            lost_on_raise=self._listed(lost),
            seen_by_closures=self._listed(seen),
            rebound_by_closures=self._listed(
                self.rebound & (taken | given | (binds & self.shared)) if self._calls() else 0
            ),
            bound_later=self._listed(self._captured(outside=False) & self._bound_behind()),
            deleted=self._listed(self._deleted_from_outside() | (given & self._inside_mask(Does.DELETES))),
            goes_on=goes_on,
            is_last=self._is_last(),
            returns=self.graph.returns,
        )

    def kept(self) -> tuple[Variable, ...]:
        """Return the variables that have a value on every way to the piece, and that no function binds."""
        return self._listed((self._meet(self._assigned(), self.graph.entries) | self.outer) & ~self.rebound)

    # Sets of variables.

    def _those(self, test: Callable[[Variable], bool]) -> int:
        return sum(self.bit[each] for each in self.variables if test(each))

    def _listed(self, mask: int) -> tuple[Variable, ...]:
        return tuple(each for each in self.variables if mask & self.bit[each])

    def _ordered(self, mask: int, *does: Does) -> tuple[Variable, ...]:
        """Return variables in the order in which the piece does something with them."""
        order = dict.fromkeys(self.steps[each].variable for each in self.inside if self.steps[each].does in does)
        return tuple(each for each in order if each is not None and mask & self.bit[each])

    def _mask(self, number: int) -> int:
        variable = self.steps[number].variable
        return 0 if variable is None else self.bit[variable]

    def _inside_mask(self, *does: Does) -> int:
        return self._union(self._mask(each) for each in self.inside if self.steps[each].does in does)

    def _union(self, masks: Iterable[int]) -> int:
        found = 0
        for mask in masks:
            found |= mask
        return found

    def _at(self, states: Sequence[int], numbers: Iterable[int]) -> int:
        return self._union(states[each] for each in numbers)

    def _meet(self, states: Sequence[int], numbers: Iterable[int]) -> int:
        found = self.all
        for each in numbers:
            found &= states[each]
        return found

    # Names of the function as a whole.

    def _captured(self, *, outside: bool) -> int:
        return self._union(
            self._mask(number)
            for number, each in enumerate(self.steps)
            if each.does is Does.CAPTURES and not each.eager and each.inside is not outside
        )

    def _of_module(self) -> int:
        """Return the names of a module that functions in it mention, where the piece is code of the module."""
        if self.graph.frame is not self.graph.scopes.module:
            return 0
        names = {
            each.id
            for each, scope in self.graph.scopes.around.items()
            if isinstance(each, ast.Name) and scope.frame is not self.graph.frame
        }
        return self._those(lambda each: each.name in names)

    def _rebound(self) -> int:
        """Return the variables that functions other than their own bind, by `nonlocal` or `global`."""
        found = 0
        for scope in self.graph.scopes.opened.values():
            for name in (*scope.outer, *scope.of_module):
                owner = scope.find(name)
                if owner is not None and scope is not self.graph.frame:
                    found |= self.bit.get(Variable(owner, name), 0)
        return found

    def _only_bound_here(self) -> int:
        """Return the variables that the piece alone binds, and that are mentioned outside of it.

        Without it they would be no variables of the function any more, but names of the module.
        """
        bound, mentioned = 0, 0
        for number, each in enumerate(self.steps):
            if not each.inside and each.variable is not None:
                mentioned |= self._mask(number)
                bound |= self._mask(number) if each.does is Does.BINDS else 0
        return mentioned & ~bound

    # Ways through the graph.

    def _live(self, numbers: Iterable[int], at_exits: int | None = None) -> list[int]:
        """Return the variables that are read on some way from each step on, before they are bound.

        Parameters:
            numbers: the steps to look at; a way ends where it leaves them.
            at_exits: what is live where it does; None for all steps, where what lasts is live at the end.
        """
        chosen = set(numbers)
        live = [0] * len(self.steps)
        always = self.shared if at_exits is None else 0
        if at_exits is None:
            live[self.graph.end], live[self.graph.raised] = self.lasting | always, self.outer | always
        else:
            chosen |= set(self.graph.entries)
        order = sorted(chosen, reverse=True)
        is_changed = True
        while is_changed:
            is_changed = False
            for number in order:
                step, mask = self.steps[number], self._mask(number)
                state = self._union(live[each] for each in step.next if each in chosen)
                if step.does in (Does.BINDS, Does.DELETES):
                    state &= ~mask
                elif step.does in (Does.READS, Does.CAPTURES):
                    state |= mask
                if step.does in _RAISING and step.raises in chosen:
                    state |= live[step.raises]
                state |= live[number] | always
                is_changed |= state != live[number]
                live[number] = state
        return live

    def _assigned(self) -> list[int]:
        """Return the variables that are bound on every way to each step."""
        return self._forward(range(len(self.steps)), {self.graph.start: 0}, every=True)

    def _bound_at_exits(self) -> int:
        """Return the variables that the piece binds on every way through it."""
        starts = dict.fromkeys(self.graph.entries, 0)
        states = self._forward([*self.graph.entries, *self.inside, *self.graph.exits], starts, every=True)
        return self._meet(states, self.graph.exits)

    def _surely_read(self) -> int:
        """Return the variables that the piece reads on every way, so that it fails where they have no value."""
        chosen = set(self.inside)
        state = [self.all if each in chosen else 0 for each in range(len(self.steps))]
        is_changed = True
        while is_changed:
            is_changed = False
            for number in sorted(chosen | set(self.graph.entries), reverse=True):
                step, mask = self.steps[number], self._mask(number)
                found = self._meet(state, step.next) if step.next else 0
                if step.does in _RAISING and step.raises in chosen:
                    found &= state[step.raises]  # where a handler of the piece itself goes on
                elif step.does is Does.READS:
                    found |= mask
                if step.does in (Does.BINDS, Does.DELETES):
                    found &= ~mask
                is_changed |= found != state[number]
                state[number] = found
        return self._meet(state, self.graph.entries)

    def _forward(self, numbers: Iterable[int], starts: dict[int, int], *, every: bool) -> list[int]:
        """Return the variables that are bound where each step begins: on every way to it, or on some."""
        chosen = set(numbers)
        states = [self.all if every else 0] * len(self.steps)
        for number, mask in starts.items():
            states[number] = mask
        waiting = sorted(starts)
        reached = set(starts)
        while waiting:
            number = waiting.pop()
            step, before, mask = self.steps[number], states[number], self._mask(number)
            after = before | mask if step.does is Does.BINDS else before
            after = after & ~mask if step.does is Does.DELETES else after
            nexts = [(each, after) for each in step.next]
            nexts += [(step.raises, before)] if step.does in _RAISING else []
            for each, state in nexts:
                if each not in chosen or each in starts:
                    continue
                joined = states[each] & state if every else states[each] | state
                if joined != states[each] or each not in reached:
                    states[each] = joined
                    reached.add(each)
                    waiting.append(each)
        return states

    def _reach(self, starts: Iterable[int], numbers: Iterable[int] | None = None) -> set[int]:
        """Return the steps that a way leads to."""
        chosen = set(numbers) if numbers is not None else None
        waiting, found = list(starts), set[int]()
        while waiting:
            step = self.steps[waiting.pop()]
            for each in (*step.next, *((step.raises,) if step.does in _RAISING else ())):
                if each not in found and each >= 0 and (chosen is None or each in chosen):
                    found.add(each)
                    waiting.append(each)
        return found

    def _is_reached(self, numbers: Sequence[int]) -> bool:
        reached = self._reach(self.graph.entries, [*self.inside, *self.graph.exits])
        return any(each in reached for each in numbers)

    def _is_last(self) -> bool:
        """Return whether nothing is done behind the piece but to end the function."""
        waiting, seen = list(self.graph.exits), set[int]()
        while waiting:
            number = waiting.pop()
            if number in seen or number == self.graph.end:
                continue
            seen.add(number)
            if self.steps[number].does is not Does.JOINS or number in self.graph.entries:
                return False
            waiting += self.steps[number].next
        return True

    # Doubts.

    def _calls(self) -> bool:
        return any(self._is_call(self.steps[each]) for each in self.inside)

    def _is_call(self, step: Step) -> bool:
        """Say whether a step may run a function that is not known; operators and attributes are taken to run none."""
        return step.does is Does.ACTS and not isinstance(step.node, _QUIET)

    def _while_it_runs(self, live: Sequence[int], binds: int) -> tuple[int, int]:
        """Return the variables that are missed where the piece raises, and those that others may see while it runs."""
        lost = seen = 0
        starts = dict.fromkeys(self.graph.entries, 0)
        bound = self._forward([*self.graph.entries, *self.inside], starts, every=False)
        for number in self.inside:
            step = self.steps[number]
            if step.does in _RAISING and not self._is_inside(step.raises):
                lost |= bound[number] & live[step.raises]
            if self._is_call(step):
                seen |= bound[number] & self.shared
        return lost & binds, seen & binds

    def _is_inside(self, number: int) -> bool:
        return self.steps[number].inside

    def _bound_behind(self) -> int:
        """Return the variables that are bound anew once the piece has run; by itself, too, in a loop."""
        return self._union(
            self._mask(each)
            for each in self._reach(self.graph.exits)
            if self.steps[each].does in (Does.BINDS, Does.DELETES)
        )

    def _deleted_from_outside(self) -> int:
        """Return the variables that the piece deletes while they have a value from outside."""
        starts = dict.fromkeys(self.graph.entries, 0)
        states = self._forward([*self.graph.entries, *self.inside, *self.graph.exits], starts, every=True)
        return self._union(
            self._mask(each) & ~states[each] for each in self.inside if self.steps[each].does is Does.DELETES
        )
