"""What of a source runs while it is loaded, and may set a variable then: what that gave is no state of run time.

    COUNT = 0
    def reg(f): global COUNT; COUNT += 1
    @reg                                       <- sets it when the source is loaded, through `reg`
    def handler(): global COUNT; COUNT += 1    <- does not: nothing that runs then names `handler`

Invariants:
- within the source rather too much counts than too little: what has the name of what is called may be what is called;
- what code of other modules calls meanwhile, such as a decorator the function that it is given, is not seen.
"""

from __future__ import annotations

import dis
import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from types import CodeType

from msgspec import Struct

from bae_source.reloading.in_process.load_order import code_objects
from bae_source.reloading.patch.matching import statements, text_of

_GENERIC = "<generic parameters of "
_GUARD = ("__name__", "__main__")
_OF_NAMES = {"LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS"}
_OF_ATTRIBUTES = {"LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR"}
_DYNAMIC = {"STORE_GLOBAL": frozenset({"globals", "exec", "eval"}), "STORE_ATTR": frozenset({"setattr"})}


class _Function(Struct, frozen=True, kw_only=True):
    """A function or method of a source, with those inside it.

    Parameters:
        called: what it may be called by: its name, for a method as an attribute too, for a special one its class's.
        names: the names and attributes that it reads, see `_reads`.
        stores: what it binds, with the operation that does.
        text: what it says.
    """

    called: frozenset[str]
    names: frozenset[str]
    stores: frozenset[tuple[str, str]]
    text: str


class _Statement(Struct, frozen=True, kw_only=True):
    """A statement that runs when a source is loaded; see `_Function`."""

    names: frozenset[str]
    stores: frozenset[tuple[str, str]]
    text: str


_Part = _Function | _Statement


class LoadTime:
    """What runs when one source is loaded.

    Parameters:
        code: its code.
    """

    def __init__(self, code: CodeType) -> None:
        self._functions = [_function(part) for part in _functions(code)]
        self._statements = [each for part in _bodies(code) for each in _run(part, top=part is code)]

    def reads(self, name: str) -> bool:
        """Say whether a name, or an attribute of that name, may be read: somebody may have what it holds then."""
        names = (name, f".{name}")
        return bool(self._doing(lambda part: not part.names.isdisjoint(names)))

    def functions_set(self, name: str, store: str) -> bool:
        """Say whether a function sets a variable, whenever that runs; see `setting`."""
        return any((store, name) in each.stores for each in self._functions)

    def setting(self, name: str, store: str) -> Counter[object]:
        """Return the statements that may set a variable, each with the functions by which it does.

        Parameters:
            store: the operation that sets it: `STORE_GLOBAL`, or `STORE_ATTR` for one of a class.
        """
        dynamic = _DYNAMIC[store]
        return self._doing(lambda part: (store, name) in part.stores or not dynamic.isdisjoint(part.names))

    def _doing(self, does: Callable[[_Part], bool]) -> Counter[object]:
        """Return the statements that do something, themselves or through functions, each with these."""
        leading = [each for each in self._functions if does(each)]
        others = [each for each in self._functions if not does(each)]
        for found in leading:  # it grows meanwhile
            leading += [each for each in others if found.called & each.names]
            others = [each for each in others if not found.called & each.names]
        doing: Counter[object] = Counter()
        for each in self._statements:
            through = _reached(each, leading)
            if through or does(each):
                doing[each.text, frozenset(function.text for function in through)] += 1
        return doing


def _reached(statement: _Statement, leading: list[_Function]) -> list[_Function]:
    """Return those of some functions that a statement calls, or what it calls."""
    found = [each for each in leading if each.called & statement.names]
    others = [each for each in leading if not each.called & statement.names]
    for one in found:  # it grows meanwhile
        found += [each for each in others if each.called & one.names]
        others = [each for each in others if not each.called & one.names]
    return found


def _bodies(code: CodeType) -> Iterator[CodeType]:
    """Yield the code that runs when a source is loaded: its top level, and the bodies of classes there."""
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType) and (not part.co_flags & inspect.CO_OPTIMIZED or _is_generic(part)):
            yield from _bodies(part)


def _functions(code: CodeType) -> Iterator[CodeType]:
    """Yield the functions and methods that a source defines at its top level and in the bodies of classes there."""
    for body in _bodies(code):
        for part in body.co_consts:
            if isinstance(part, CodeType) and part.co_flags & inspect.CO_OPTIMIZED and not part.co_name.startswith("<"):
                yield part


def _function(code: CodeType) -> _Function:
    owner, _, name = code.co_qualname.rpartition(".")
    called = {name, f".{name}"} if owner else {name}
    if owner and name.startswith("__") and name.endswith("__"):
        called |= {owner.rpartition(".")[2], f".{owner.rpartition('.')[2]}"}
    steps = [step for part in code_objects(code) for step in dis.get_instructions(part)]
    return _Function(
        called=frozenset(called),
        names=_reads(steps),
        stores=frozenset((step.opname, step.argval) for step in steps if step.opname in _DYNAMIC),
        text=repr(text_of(code)),  # a string is hashed once
    )


def _run(code: CodeType, *, top: bool) -> Iterator[_Statement]:
    """Yield the statements of a code.

    Parameters:
        top: whether it is the top level, where a variable is bound rather than set from elsewhere.
    """
    steps = list(_guarded(code))
    following = iter(steps)
    for text, inside in statements(code, steps):
        part = list(islice(following, len(text)))
        unnamed = [each for outer in inside if outer.co_name.startswith("<") for each in code_objects(outer)]
        yield _Statement(
            names=_reads(part).union(*(_reads(dis.get_instructions(each)) for each in unnamed)),
            stores=frozenset(
                (step.opname, step.argval)
                for step in part
                if step.opname in _DYNAMIC and not (top and step.opname == "STORE_GLOBAL")
            ),
            text=repr(text),
        )


def _reads(steps: Iterable[dis.Instruction]) -> frozenset[str]:
    """Return the names that steps read, and the attributes: `name` and `.attribute`."""
    return frozenset(
        step.argval if step.opname in _OF_NAMES else f".{step.argval}"
        for step in steps
        if step.opname in _OF_NAMES or step.opname in _OF_ATTRIBUTES
    )


def _guarded(code: CodeType) -> Iterator[dis.Instruction]:
    """Yield the steps of a code without those that run in a script only: `if __name__ == "__main__":`."""
    until = -1
    last: tuple[object, ...] = (None, None, None)
    for step in dis.get_instructions(code):
        if step.offset < until:
            continue
        if (
            step.opname.startswith("POP_JUMP")
            and "FALSE" in step.opname
            and last[:2] == _GUARD
            and "==" in str(last[2])
        ):
            until = step.argval
        yield step
        last = (*last[1:], step.argval)


def _is_generic(code: CodeType) -> bool:
    return code.co_name.startswith(_GENERIC)
