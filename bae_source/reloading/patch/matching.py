"""The match of each definition in a module's old source with one in its new source.

    on("save", lambda: 1)         on("open", lambda: 3)       the first lambda became the second;
    on("edit", lambda: 2)   ->    on("save", lambda: 1)       what became of the other one is not certain

Invariants:
- one is matched only where it is certain: it stayed the same to the letter; or its statement did and there is no other
  such; or it is the only one of its qualname that changed, and the others stand where they stood;
- a function becomes a function, never the body of a class;
- what has no name of its own, a lambda or `_`, is not matched where its statement changed beside it;
- nothing is parsed or called here; lines do not count.
"""

from __future__ import annotations

import dis
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import CodeType
from typing import Any

from bae_source.reloading.in_process.load_order import code_objects

_STORES = {"STORE_NAME", "STORE_GLOBAL"}
_LOADS = {"LOAD_NAME", "LOAD_GLOBAL"}
_BACKWARD = {number for name, number in dis.opmap.items() if "JUMP_BACKWARD" in name}
_ENDS = ("STORE_", "POP_TOP", "RETURN_", "RAISE_", "POP_JUMP_", "JUMP_", "FOR_ITER", "RESUME")
_FIELDS = (
    "co_name", "co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_flags", "co_code", "co_names",
    "co_varnames", "co_freevars", "co_cellvars", "co_exceptiontable",
)  # fmt: skip


class Matching:
    """The definitions of two sources of one module.

    Parameters:
        old: the code of the source before, None if that does not compile.
        new: the code of the new one.
    """

    def __init__(self, old: CodeType | None, new: CodeType) -> None:
        self.before = by_qualname(old)
        self.after = by_qualname(new)
        self._outer = {**_outer(old), **_outer(new)}
        self._statements: dict[int, tuple[tuple[str, Any], ...]] = {}
        self._known: dict[str, dict[CodeType, CodeType]] = {}

    def became(self, code: CodeType, sure: Mapping[CodeType, CodeType]) -> CodeType | None:
        """Return the match of a definition of the old source, or of an earlier one; None where it is not certain.

        Parameters:
            sure: what is known of the definitions that a name leads to.
        """
        name = code.co_qualname
        before, after = _functions(self.before.get(name, [])), _functions(self.after.get(name, []))
        if code not in before:
            alike = [part for part in after if text_of(part) == text_of(code)]
            only = len(after) == 1 and len(before) < 2 and not nameless(code.co_name)
            return alike[0] if alike else after[0] if only else None
        if name not in self._known:
            self._known[name] = self._matched(before, after, sure)
        return self._known[name].get(code)

    def has_function(self, name: str) -> bool:
        """Return whether a function of the new source has that qualname."""
        return bool(_functions(self.after.get(name, [])))

    def had_class(self, name: str) -> bool:
        """Return whether a class of the old source has that qualname."""
        group = self.before.get(name, [])
        return bool(group) and not _functions(group)

    def same_statement(self, old: CodeType, new: CodeType) -> bool:
        """Return whether the statements that two definitions are part of are the same, without what is inside them."""
        return self._statement(old) == self._statement(new)

    def is_same_definition(self, name: str, same_value: Callable[[str], bool]) -> bool:
        """Return whether a decorated function says the same in both sources, and so do those that decorate it.

        Parameters:
            same_value: says of a name that the statement takes whether its value is the same, as far as that is known.
        """
        before, after = self.before.get(name, []), self.after.get(name, [])
        if not len(before) == len(after) == 1 or not self.same_statement(before[0], after[0]):
            return False
        taken = {value[1][1:-1] for step, value in self._statement(after[0]) or () if step in _LOADS}
        return all(self._is_same_text(each) for each in (name, *taken)) and all(map(same_value, taken))

    def _is_same_text(self, name: str) -> bool:
        groups = self.before.get(name, []), self.after.get(name, [])
        return [*map(text_of, groups[0])] == [*map(text_of, groups[1])]

    def may_bind_otherwise(self, old: CodeType, new: CodeType) -> bool:
        """Return whether a method of a class that is made in a function may have got other decorators."""
        if "." not in new.co_qualname.rpartition("<locals>.")[2] or "<locals>" not in new.co_qualname:
            return False
        before = next((code for code in self.before.get(old.co_qualname, []) if code == old), old)
        decorated = any(map(_is_decorated, (self._statement(before), self._statement(new))))
        return decorated and not self.same_statement(before, new)

    def stands_elsewhere(self, code: CodeType, new: CodeType) -> bool:
        """Return whether a definition stayed the same to the letter, but is not the one that its name leads to now."""
        group = [text_of(part) for part in self.after.get(code.co_qualname, [])]
        return len(group) > 1 and text_of(code) != text_of(new) and text_of(code) in group

    def _statement(self, code: CodeType) -> tuple[tuple[str, Any], ...] | None:
        outer = self._outer.get(id(code))
        if outer is not None and id(code) not in self._statements:
            self._statements.update((id(part), steps) for steps, inside in statements(outer) for part in inside)
        return self._statements.get(id(code))

    def _matched(
        self, before: list[CodeType], after: list[CodeType], sure: Mapping[CodeType, CodeType]
    ) -> dict[CodeType, CodeType]:
        found = {code: sure[code] for code in before if code in sure}
        if len(before) == len(after) == 1 and not nameless(before[0].co_name):
            return {before[0]: after[0], **found}

        def pair(code: CodeType, alike: list[CodeType]) -> None:
            taken = {id(part) for part in found.values()}
            free = [part for part in alike if id(part) not in taken]
            if code not in found and alike:
                found[code] = (free or alike)[0]

        # on("save", lambda: 1)   ->   on("edit", lambda: 3)      1. same text and statement: `lambda: 1`
        # on("edit", lambda: 2)        on("save", lambda: 1)      2. same text, in another statement: no more here
        #                                                         3. the only one of its statement: 2 became 3
        # if A: def f(): return 1      if A: def f(): return 1    4. the only one left, and at its old place: the
        # else: def f(): return 2      else: def f(x=A): …           second `f`, though its statement changed
        forms = {id(code): (text_of(code), self._statement(code)) for code in (*before, *after)}
        for code in before:
            pair(code, [part for part in after if forms[id(part)] == forms[id(code)]])
        for code in before:
            pair(code, [part for part in after if forms[id(part)][0] == forms[id(code)][0]])
        for code in before:
            alone = [[part for part in group if forms[id(part)][1] == forms[id(code)][1]] for group in (before, after)]
            if len(alone[0]) == len(alone[1]) == 1 and not any(part is alone[1][0] for part in found.values()):
                pair(code, alone[1])
        moved = [pair for pair in zip(before, after, strict=False) if found.get(pair[0]) is not pair[1]]
        if len(before) == len(after) and len(moved) == 1 and moved[0][0] not in found:
            one, other = moved[0]
            if not nameless(one.co_name) or forms[id(one)][1] == forms[id(other)][1]:
                found[one] = other
        return found


def _is_decorated(steps: tuple[tuple[str, Any], ...] | None) -> bool:
    """Return whether something is called with the function that a statement makes."""
    names = [name for name, _ in steps or ()]
    return "MAKE_FUNCTION" in names and any(name.startswith("CALL") for name in names[names.index("MAKE_FUNCTION") :])


def nameless(name: str) -> bool:
    """Return whether a name names nothing: that of a lambda, or `_`."""
    return name.startswith("<") or not name.strip("_")


def by_qualname(code: CodeType | None) -> dict[str, list[CodeType]]:
    """Return the code of all definitions of a source, in its order."""
    found: dict[str, list[CodeType]] = {}
    for part in code_objects(code) if code is not None else ():
        found.setdefault(part.co_qualname, []).append(part)
    return found


def _functions(group: list[CodeType]) -> list[CodeType]:
    """Return the definitions that are functions: the body of a class is code too, but cannot be called."""
    return [code for code in group if code.co_flags & inspect.CO_OPTIMIZED]


def text_of(code: CodeType, *, inner: bool = True) -> tuple[object, ...]:
    """Return the parts of a definition that do not depend on where it stands, to compare it with another.

    Parameters:
        inner: whether what the definitions inside it say counts.
    """
    return (*(getattr(code, field) for field in _FIELDS), *(_constant(value, inner) for value in code.co_consts))


def repeated(code: CodeType | None) -> tuple[frozenset[str], frozenset[CodeType]]:
    """Return the names that a source binds in a loop at its top level, and the definitions made in loops there."""
    if code is None:
        return frozenset(), frozenset()
    names = [step.argval for step in _looped(code) if step.opname in _STORES]
    return frozenset(names), frozenset(_made_in_loops(code))


def _made_in_loops(code: CodeType) -> Iterator[CodeType]:
    looped = [step.argval for step in _looped(code) if isinstance(step.argval, CodeType)]
    for part in code.co_consts:
        if isinstance(part, CodeType) and any(part is each for each in looped):
            yield from code_objects(part)
        elif isinstance(part, CodeType) and not part.co_flags & inspect.CO_OPTIMIZED:
            yield from _made_in_loops(part)


def _looped(code: CodeType) -> Iterator[dis.Instruction]:
    if _BACKWARD.isdisjoint(code.co_code[::2]):
        return iter(())
    steps = dis.Bytecode(code)
    loops = list(_loops(steps))
    return (step for step in steps if any(first <= step.offset <= last for first, last in loops))


def _loops(steps: dis.Bytecode) -> Iterator[tuple[int, int]]:
    """Yield the offsets between which steps run again and again.

    From Python 3.12 on what handles exceptions stands behind everything else, and jumps back when it is done: behind
    what it handles them of, which is no loop, or further, which is one.
    """
    handlers = _Handlers(steps)
    found: list[tuple[int, int]] = []
    back: list[tuple[int, tuple[int, int]]] = []
    for to, offset in [(step.argval, step.offset) for step in steps if "JUMP_BACKWARD" in step.opname]:
        handler = handlers.around(offset) if sys.version_info >= (3, 12) else 0
        if to >= handler:
            found.append((to, offset))
        elif to < (end := handlers.end_of_guarded(handler)):
            found += (to, end), (handler, offset)
        else:
            back.append((to, (handler, offset)))
    for first, last in found:  # it grows meanwhile
        found += [inner for to, inner in back if first <= to <= last and inner not in found]
    yield from found


class _Handlers:
    """The exception handlers of a code, by the offset where it begins; 0 stands for the code itself."""

    def __init__(self, steps: dis.Bytecode) -> None:
        self._guarded = [(each.start, each.end, each.target) for each in steps.exception_entries]  # type: ignore[attr-defined]

    def around(self, offset: int) -> int:
        """Return the innermost handler that an offset lies in; 0 for the code itself."""
        return max((target for _, _, target in self._guarded if target <= offset), default=0)

    def end_of_guarded(self, handler: int) -> int:
        """Return the offset where the code ends whose exceptions a handler takes, outside of handlers."""
        found = 0
        for start, end, target in self._guarded:
            inner = self.around(start)
            if target == handler and inner != handler:
                found = max(found, self.end_of_guarded(inner) if inner else end)
        return found or handler


def statements(
    code: CodeType, instructions: Iterable[dis.Instruction] | None = None
) -> Iterator[tuple[tuple[tuple[str, Any], ...], list[CodeType]]]:
    """Yield the steps of each statement of a code, without what is inside definitions, and these.

    Parameters:
        instructions: those that are looked at; all where it is not given.
    """
    steps: list[tuple[str, Any]] = []
    inside: list[CodeType] = []
    for step in dis.get_instructions(code) if instructions is None else instructions:
        jump = "JUMP" in step.opname or step.opname == "FOR_ITER"
        steps.append((step.opname, None if jump else _constant(step.argval, inner=False)))
        inside += [step.argval] if isinstance(step.argval, CodeType) else []
        if step.opname.startswith(_ENDS):
            yield tuple(steps), inside
            steps, inside = [], []


def _outer(code: CodeType | None) -> dict[int, CodeType]:
    """Return the code around each definition, by the identity of its own."""
    outer = code_objects(code) if code is not None else ()
    return {id(part): each for each in outer for part in each.co_consts if isinstance(part, CodeType)}


def _constant(value: object, inner: bool) -> object:
    if isinstance(value, CodeType):
        return text_of(value) if inner else value.co_name
    if isinstance(value, frozenset):
        return tuple(sorted(repr(part) for part in value))
    return type(value), repr(value)
