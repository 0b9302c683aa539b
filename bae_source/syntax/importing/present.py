"""Imports that a module has already, and when: whether a wanted import is there whenever the code that needs it runs.

Invariants:
- a module that CPython's parser does not take is judged by its top-level imports alone.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterator, Sequence
from functools import cache

from bae_source.errors import Refused
from bae_source.model.span import Span
from bae_source.syntax.importing.flow import UNBOUND, Flow, State, Thing, bound_by
from bae_source.syntax.importing.meaning import Bound, Place, bindings
from bae_source.syntax.importing.wanted import Import, Wanted, source
from bae_source.syntax.outline.ast_walk import outline_of_ast, span_of
from bae_source.syntax.outline.definitions import MODULE, ImportBinding
from bae_source.syntax.outline.tree import Tree, parse, parse_module
from bae_source.syntax.text.source import Source
from bae_source.system.graphs import reached

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)


class Present:
    """A module with its imports.

    Parameters:
        text: its text.
        place: its name.
        touched: the spans of what is new in it.
    """

    def __init__(self, text: str, place: Place, touched: Sequence[Span]) -> None:
        source_ = Source.of_text(text)
        self.place = place
        self.body: list[ast.stmt] | None = None
        try:
            module = parse_module(text)
            self.tree = Tree(source_, outline_of_ast(module, source_.text, source_.lines), newer=False)
            self.body = module.body
        except (SyntaxError, RecursionError, MemoryError):
            self.tree = parse(source_)
        self.needs = _Needs(self.body or [])
        self.touched = [
            number
            for number in range(len(self.body or []))
            if any(span.start < self.end(number) and self.start(number) < span.end for span in touched)
        ]

    def start(self, number: int) -> int:
        """Return where a statement of the module begins, its decorators included."""
        node = self._node(number)
        first = min([node, *getattr(node, "decorator_list", [])], key=lambda each: each.lineno)
        return self.tree.source.lines.offset(first.lineno, first.col_offset) - (first is not node)

    def end(self, number: int) -> int:
        """Return the offset behind a statement of the module."""
        node = self._node(number)
        return span_of(self.tree.source.lines, node).end

    def _node(self, number: int) -> ast.stmt:
        assert self.body is not None
        return self.body[number]

    def lacks(self, wanted: Wanted) -> list[ast.alias]:
        """Return the parts of a wanted import that are not there whenever they are needed.

        Raises:
            Refused: `name_collision` if the module binds a name to something else.
        """
        return [each for each in wanted.node.names if not self._has(wanted, each)]

    def _has(self, wanted: Wanted, alias: ast.alias) -> bool:
        wants = list(bindings(wanted.node, alias, self.place))
        if self._always(wants):
            return True
        if wanted.typing and any(each.typing_only and self.same(each, wants) for each in self.tree.outline.imports):
            return True
        self._refuse_collision(wanted.node, alias, wants)
        return False

    def _always(self, wants: Sequence[Bound]) -> bool:
        """Return whether something is bound in the end, and wherever what is new reads it before."""
        if self.body is None:
            top = [each for each in self.tree.outline.imports if each.top and not each.typing_only]
            return any(self.same(each, wants) for each in top)
        try:
            states = Flow(self.body, self.place, frozenset(each.key for each in wants)).states()
            return self._holds(states, 0, wants)
        except RecursionError:
            return False

    def is_bound_from(self, number: int, wants: Sequence[Bound]) -> bool:
        """Return whether something is bound whenever it is needed, once it is imported before a statement."""
        if self.body is None:
            return True
        flow = Flow(self.body, self.place, frozenset(each.key for each in wants))
        start = {each.key: frozenset({each.thing}) for each in wants}
        states = [*flow.states()[:number], *flow.states(number, start)]
        return self._holds(states, number, wants)

    def _holds(self, states: Sequence[State], first: int, wants: Sequence[Bound]) -> bool:
        if not all(_bound(states[-1], each) for each in wants):
            return False
        name = wants[0].key
        needed = self.needs.of(name, len(states) - 1, self.touched)
        return all(number >= first and all(_bound(states[number], each) for each in wants) for number in needed)

    def limit(self, wants: Sequence[Bound]) -> int:
        """Return the number of the first statement that needs something which is not bound there."""
        if self.body is None:
            return 0
        states = Flow(self.body, self.place, frozenset(each.key for each in wants)).states()
        name, end = wants[0].key, len(self.body)
        needed = {*self.needs.of(name, end), *self.needs.of(name, end, self.touched)}
        return min((each for each in needed if not all(_bound(states[each], want) for want in wants)), default=end)

    def last_unbinding(self, name: str) -> int | None:
        """Return the number of the last statement that may delete a name."""
        found = [number for number, each in enumerate(self.body or []) if (name, True) in bound_by(each)]
        return found[-1] if found else None

    def same(self, binding: ImportBinding, wants: Collection[Bound]) -> bool:
        """Return whether a present import binds the wanted name."""
        found = {each for alias in [_alias(binding)] for each in bindings(_node(binding), alias, self.place)}
        return found.issuperset(wants)

    def _refuse_collision(self, node: Import, alias: ast.alias, wants: Sequence[Bound]) -> None:
        outline, (key, thing) = self.tree.outline, (wants[0].key, wants[0].thing)
        if key.startswith("*"):
            return
        for present in outline.imports:
            if present.name != key or present.typing_only:
                continue
            if not any((each.key, each.thing) == (key, thing) for each in self._bound_by(present)):
                raise _collision(node, alias, f"imports {key} from elsewhere ({_shown(present)})")
        if outline.named(MODULE, key):
            raise _collision(node, alias, f"defines {key} itself")
        if self._binds(key):
            raise _collision(node, alias, f"binds {key} to something else")

    def _bound_by(self, binding: ImportBinding) -> list[Bound]:
        return list(bindings(_node(binding), _alias(binding), self.place))

    def _binds(self, name: str) -> bool:
        """Return whether the module binds a name in any way but by an import: by a function's `global` too."""
        if self.body is None or "global" in self.tree.text:
            from bae_source.syntax.names.reading import binds  # 10 ms, for what brings new imports

            return binds(self.tree.source, name)
        return any((name, False) in bound_by(each) for each in self.body)


class _Needs:
    """The statements of a module that read a name while it is loaded; in doubt, because they may call it.

    @json.register               reads json
    def f(a=json.x): json.y      reads json for the default; the suite runs later
    X = f()                      reads json, since f may be called

    A statement that binds the name itself, as `try: import json` does, needs no other binding.
    """

    def __init__(self, body: Sequence[ast.stmt]) -> None:
        self._body = body
        self._read = cache(lambda number: frozenset(_read_at_once(body[number])))
        self._named = cache(lambda number: {each.id for each in ast.walk(body[number]) if isinstance(each, ast.Name)})

    def of(self, name: str, end: int, touched: Collection[int] | None = None) -> Iterator[int]:
        """Yield the numbers of the statements that read a name when they run.

        Parameters:
            end: number of the statement to end before.
            touched: numbers of the statements whose own code counts; all if left out, but for names that Python has.
        """
        if touched is None and hasattr(builtins, name):
            return
        functions: dict[str, int] = {}
        for number, statement in enumerate(self._body[:end]):
            if isinstance(statement, _DEFINITIONS):
                functions[statement.name] = number
            reading = self._reading(number, name, functions)
            if any(touched is None or each in touched for each in reading) and not _binds(statement, name):
                yield number

    def _reading(self, number: int, name: str, functions: dict[str, int]) -> Iterator[int]:
        """Yield the statements whose code reads a name when one of them runs: itself, and the functions it may call."""
        read = self._read(number)
        called = reached(
            read & functions.keys(),
            lambda each: (inner for inner in self._named(functions[each]) if inner in functions),
        )
        yield from [number] if name in read else []
        yield from (functions[each] for each in called if name in self._named(functions[each]))


def _read_at_once(statement: ast.AST) -> Iterator[str]:
    """Yield the names that run with a statement; all of a lambda, of annotations, and of callees in it."""
    waiting = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            yield node.id
        if isinstance(node, _FUNCTIONS):
            waiting += [*node.decorator_list, node.args, *([node.returns] if node.returns else [])]
        else:
            waiting += ast.iter_child_nodes(node)


def _binds(statement: ast.stmt, name: str) -> bool:
    """Return whether a compound statement binds a name itself, on one way at least."""
    binds = (bound for bound, _ in bound_by(statement, imports=True))
    return not isinstance(statement, _DEFINITIONS) and name in binds


def _bound(state: State, want: Bound) -> bool:
    """Return whether a name is bound on every branch, to the wanted object or to a substitute."""
    things: frozenset[Thing] = state.get(want.key, frozenset({UNBOUND}))
    return UNBOUND not in things and want.thing in things


def _alias(binding: ImportBinding) -> ast.alias:
    taken = binding.attribute if binding.attribute is not None else binding.module
    plain = binding.name == (taken if binding.attribute is not None else taken.partition(".")[0])
    return ast.alias(taken, None if plain else binding.name)


def _node(binding: ImportBinding) -> Import:
    alias = _alias(binding)
    if binding.attribute is None:
        return ast.Import([alias])
    return ast.ImportFrom(binding.module, [alias], binding.level)


def _shown(binding: ImportBinding) -> str:
    return source(_node(binding), [_alias(binding)])


def _collision(node: Import, alias: ast.alias, what: str) -> Refused:
    shown = source(node, [alias])
    return Refused(
        "name_collision",
        f"The import '{shown}' collides: the module {what}.",
        hints=[f"Import it under another name: {shown.partition(' as ')[0]} as …"],
    )
