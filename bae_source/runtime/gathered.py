"""What living objects gathered since their source made them, registries and counters: a patch leaves it to them.

    class A:                    def counted(fn):
        known = {}                  n = 0         <- `known` and `n` stay, unless the new source begins them otherwise
                                    def call(): nonlocal n; n += 1

Invariants:
- a container stays where the new source makes it by the same expression, of constants alone, or such that what it
  begins with is in the old one; what is computed and became less, and all else, begins anew;
- what the source puts in a second time is there once, and a definition that is gone from the source is taken out.
"""

from __future__ import annotations

import dis
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from functools import singledispatch
from types import CodeType, FunctionType
from typing import Any
from weakref import WeakKeyDictionary, WeakSet, WeakValueDictionary

from bae_source.runtime.load_order import code_objects
from bae_source.runtime.matching import by_qualname, statements
from bae_source.runtime.object_state import PLAIN

CONTAINERS = (
    dict, defaultdict, OrderedDict, Counter, list, set, deque, WeakSet, WeakKeyDictionary, WeakValueDictionary,
)  # fmt: skip
_NAMES = ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FAST", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM", "MAKE_FUNCTION")
_COMPUTES = ("CALL", "BINARY_", "GET_ITER", "LIST_EXTEND", "SET_UPDATE", "DICT_UPDATE", "DICT_MERGE", "MAKE_FUNCTION")
_DISPATCHER = singledispatch(lambda value: value).__code__  # type: ignore[attr-defined]

Standing = Callable[[object], object]
Definitions = Mapping[str, list[CodeType]]


def stays(old: object, new: object, name: str, sources: tuple[CodeType, CodeType], standing: Standing) -> bool:
    """Say whether a container that a source made under a name stays, though the new source made another.

    Parameters:
        sources: the code that makes it, in the old source and in the new one.
        standing: gives what stands for a new object.
    """
    if type(old) is not type(new) or type(old) not in CONTAINERS:
        return False
    within = _within(new, old, standing)
    if within and len(new) == len(old):  # type: ignore[arg-type]
        return True
    before, after = (beginning(code, name) for code in sources)
    if not after or before != after:
        return False
    steps = [step for statement in after for step, _ in statement]
    whole = all(any(step.startswith("BUILD_") for step, _ in statement) for statement in after)
    if whole and not any(step.startswith(_NAMES) for step in steps):
        return True
    listed = whole and not any(step.startswith(_COMPUTES) for step in steps)
    return within and (listed or not new)


def beginning(code: CodeType, name: str) -> tuple[Any, ...]:
    """Return the statements that bind a name, without what is inside functions; of one with a jump, how it ends."""
    known = {(opname, (str, repr(name))) for opname in ("STORE_NAME", "STORE_GLOBAL", "STORE_DEREF", "STORE_FAST")}
    found: list[object] = []
    jumped: tuple[Any, ...] = ()
    for steps, _ in statements(code):
        if steps[-1] in known:
            found.append((*jumped, *steps))
        jumped = (("MAKE_FUNCTION", None),) if "JUMP" in steps[-1][0] or steps[-1][0] == "FOR_ITER" else ()
    return tuple(found)


def makers(
    function: FunctionType, name: str, groups: tuple[Definitions, Definitions] | None
) -> tuple[CodeType, CodeType] | None:
    """Return the code, old and new, of the function around another one that makes a variable of its closure.

    Parameters:
        groups: the definitions of the function's module, old and new; None if that is not patched.
    """
    outer = function.__code__.co_qualname
    while ".<locals>." in outer:
        outer = outer.rpartition(".<locals>.")[0]
        found = _elsewhere(function, outer) if groups is None else (groups[0].get(outer, []), groups[1].get(outer, []))
        if len(found[0]) != 1 or len(found[1]) != 1:
            return None
        old, new = found[0][0], found[1][0]
        if name in old.co_cellvars and name in new.co_cellvars:
            return None if name in _arguments(old) or name in _arguments(new) else (old, new)
    return None


def counts(name: str, sources: tuple[CodeType, CodeType]) -> bool:
    """Say whether functions inside another set a variable of it, which begins in the new source as in the old one."""
    before, after = (beginning(code, name) for code in sources)
    return before == after and all(
        any(
            step.opname == "STORE_DEREF" and step.argval == name
            for part in inside
            for step in dis.get_instructions(part)
        )
        for inside in ([part for part in code_objects(code) if name in part.co_freevars] for code in sources)
    )


def dispatched(function: object) -> dict[type, Any] | None:
    """Return what is registered with a function that `singledispatch` made; None for another one."""
    if not isinstance(function, FunctionType) or function.__code__ is not _DISPATCHER:
        return None
    register = function.__dict__.get("register")
    cells = zip(register.__code__.co_freevars, register.__closure__, strict=True) if register is not None else ()
    return next((cell.cell_contents for name, cell in cells if name == "registry"), None)


def settle(kept: Any, before: Any, standing: Standing, gone: Callable[[object], bool]) -> None:
    """Translate what a source put into a container that stayed, once each, and take out what is gone from the source.

    Parameters:
        before: the contents before the source ran.
    """
    if isinstance(kept, list | deque):
        old, now = list(before), list(kept)
        if not _identical(old, now[: len(old)]):
            return  # somebody took something out meanwhile: which is which is not certain
        added = [standing(value) for value in now[len(old) :]]
        whole = [*old, *(value for value in added if not any(_same(value, each, standing) for each in old))]
        whole = [value for value in whole if not gone(value)]
        if isinstance(kept, list) and not _identical(whole, now):
            kept[:] = whole
        elif not _identical(whole, now):
            kept.clear()
            kept.extend(whole)
    elif isinstance(kept, set | WeakSet):
        for value in [value for value in kept if standing(value) is not value or gone(value)]:
            kept.discard(value)
            if not gone(value):
                kept.add(standing(value))
    else:
        for key, value in list(kept.items()):
            if standing(key) is not key or gone(value) or gone(key):
                del kept[key]
            if not gone(value) and not gone(key) and (standing(key) is not key or standing(value) is not value):
                kept[standing(key)] = standing(value)


def _within(new: Any, old: Any, standing: Standing) -> bool:
    """Say whether what a container begins with is in the old one."""
    if isinstance(new, list | deque):
        return len(new) <= len(old) and all(_same(one, two, standing) for one, two in zip(old, new, strict=False))
    if isinstance(new, set | WeakSet):
        return all(standing(value) in old for value in new)
    return all(key in old and _same(old[key], value, standing) for key, value in new.items())


def _same(old: object, new: object, standing: Standing) -> bool:
    if type(old) is type(new) is tuple:
        return len(old) == len(new) and all(_same(one, two, standing) for one, two in zip(old, new, strict=True))
    if isinstance(new, PLAIN):
        return type(old) is type(new) and (old is new or bool(old == new))
    if type(new) in CONTAINERS and type(old) is type(new):
        return _within(new, old, standing)
    return standing(new) is old


def _identical(one: list[object], other: Any) -> bool:
    return len(one) == len(other) and all(this is that for this, that in zip(one, other, strict=True))


def _arguments(code: CodeType) -> tuple[str, ...]:
    stars = bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + stars]


def _elsewhere(function: FunctionType, qualname: str) -> tuple[list[CodeType], list[CodeType]]:
    """Return the definitions of a qualname in a module that is not patched: they are old and new at once."""
    first, *rest = qualname.partition(".<locals>.")[0].split(".")
    value: object = function.__globals__.get(first)
    for name in rest:
        value = vars(value).get(name) if isinstance(value, type) else None
    found = by_qualname(value.__code__).get(qualname, []) if isinstance(value, FunctionType) else []
    return found, found
