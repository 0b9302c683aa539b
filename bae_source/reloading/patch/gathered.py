"""The content that living objects gathered since their source built them, registries and counters, which a patch keeps.

    class A:                    def counted(fn):
        known = {}                  n = 0         <- `known` and `n` stay, unless the new source begins them otherwise
                                    def call(): nonlocal n; n += 1
    def f(): f.calls += 1
    f.calls = 0                                   <- and so does `calls`

Invariants:
- a container stays where the new source makes it by the same expression, of constants alone, or such that what it
  begins with is in the old one; what is computed and became less, and all else, begins anew;
- what the source puts in a second time is there once, and a definition that is gone from the source is taken out.
"""

from __future__ import annotations

import dis
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import singledispatch
from types import CodeType, FunctionType
from typing import Any
from weakref import WeakKeyDictionary, WeakSet, WeakValueDictionary

from bae_source.reloading.in_process.load_order import code_objects
from bae_source.reloading.patch.matching import by_qualname, statements
from bae_source.reloading.patch.object_state import PLAIN

CONTAINERS = (
    dict, defaultdict, OrderedDict, Counter, list, set, deque, WeakSet, WeakKeyDictionary, WeakValueDictionary,
)  # fmt: skip
_NAMES = ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FAST", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM", "MAKE_FUNCTION")
_COMPUTES = ("CALL", "BINARY_", "GET_ITER", "LIST_EXTEND", "SET_UPDATE", "DICT_UPDATE", "DICT_MERGE", "MAKE_FUNCTION")
_DISPATCHER = singledispatch(lambda value: value).__code__  # type: ignore[attr-defined]

Standing = Callable[[object], object]
Definitions = Mapping[str, list[CodeType]]
Groups = Callable[[FunctionType], tuple[Definitions, Definitions] | None]
Pair = tuple[list[CodeType], list[CodeType]]
Steps = tuple[tuple[str, Any], ...]


def stays(old: object, new: object, name: str, sources: tuple[CodeType, CodeType], standing: Standing) -> bool:
    """Return whether a container that a source made under a name stays, though the new source made another.

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
        found = _both(function, outer, groups)
        if len(found[0]) != 1 or len(found[1]) != 1:
            return None
        old, new = found[0][0], found[1][0]
        if name in old.co_cellvars and name in new.co_cellvars:
            return None if name in _arguments(old) or name in _arguments(new) else (old, new)
    return None


def counts(name: str, sources: tuple[CodeType, CodeType]) -> bool:
    """Return whether inner functions set a variable of the outer one that begins in both sources alike."""
    before, after = (beginning(code, name) for code in sources)
    return before == after and all(
        any(
            step.opname == "STORE_DEREF" and step.argval == name
            for part in inside
            for step in dis.get_instructions(part)
        )
        for inside in ([part for part in code_objects(code) if name in part.co_freevars] for code in sources)
    )


def goes_on(functions: Iterable[FunctionType], name: str, groups: Groups, *, begun: bool) -> bool:
    """Return whether an attribute of a function goes on with what it held when its source ran again.

        f.calls = 0               where it does, behind `f` or in what made it: if both sources have the same constants
        f.calls = START           it does not
        def f(): f.calls = …      where the source does not begin it: if the function sets it itself in both

    Parameters:
        functions: it, and those behind it.
        groups: gives the definitions of a function's module, old and new; None where that is not patched.
        begun: whether the new source began it.
    """
    before: list[Steps] = []
    after: list[Steps] = []
    for function in functions:
        known = groups(function)
        code = function.__code__
        if not begun and all(code and _sets_itself(code[0], name) for code in _both(function, code.co_qualname, known)):
            return True
        for outer in _around(code.co_qualname):
            both = _both(function, outer, known)
            if any(len(codes) > 1 for codes in both):
                return False
            for found, codes in zip((before, after), both, strict=True):
                found += [steps for each in codes for steps in _settings(each, code.co_name, name)]
    return begun and bool(after) and before == after and all(map(_is_constant, after))


def _both(function: FunctionType, qualname: str, known: tuple[Definitions, Definitions] | None) -> Pair:
    """Return the definitions of a qualname in the old source and in the new one."""
    if known is None:
        return _elsewhere(function, qualname)
    return known[0].get(qualname, []), known[1].get(qualname, [])


def _around(qualname: str) -> Iterator[str]:
    """Yield the qualnames of the code around a definition: of its module, of classes and functions."""
    yield "<module>"
    parts = qualname.split(".")
    yield from (".".join(parts[:end]) for end in range(1, len(parts)) if parts[end - 1] != "<locals>")


def _settings(code: CodeType, target: str, name: str) -> Iterator[Steps]:
    """Yield the statements of a code that set an attribute of what has a name."""
    for steps, _ in statements(code):
        if steps[-1] == ("STORE_ATTR", (str, repr(name))) and steps[-2:-1] and steps[-2][1] == (str, repr(target)):
            yield steps


def _sets_itself(code: CodeType, name: str) -> bool:
    return any(any(_settings(part, code.co_name, name)) for part in code_objects(code))


def _is_constant(steps: Steps) -> bool:
    """Return whether what a statement gives an attribute is made of constants alone: `A.f.calls = 0`."""
    end = len(steps) - 2
    while end and steps[end][0] in ("LOAD_ATTR", "LOAD_METHOD"):
        end -= 1
    given = [step for step, _ in steps[:end]]
    computed = any(step.startswith((*_NAMES, *_COMPUTES, "LOAD_ATTR", "LOAD_METHOD")) for step in given)
    return bool(given) and not computed


def dispatched(function: object) -> dict[type, Any] | None:
    """Return the registry of a `singledispatch` function; None for any other."""
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
            return  # an item was taken out meanwhile, so that the rest cannot be matched
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


def put_in(kept: Any, given: Any) -> None:
    """Put into a container what is in another one of its kind."""
    if isinstance(kept, list | deque):
        kept.extend(given)
    elif isinstance(kept, set | WeakSet):
        kept.update(given)
    else:
        for key, value in given.items():
            kept[key] = value


def _within(new: Any, old: Any, standing: Standing) -> bool:
    """Return whether what a container begins with is in the old one."""
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


def _elsewhere(function: FunctionType, qualname: str) -> Pair:
    """Return the definitions of a qualname in a module that is not patched: they are old and new at once."""
    first, *rest = qualname.partition(".<locals>.")[0].split(".")
    value: object = function.__globals__.get(first)
    for name in rest:
        value = vars(value).get(name) if isinstance(value, type) else None
    found = by_qualname(value.__code__).get(qualname, []) if isinstance(value, FunctionType) else []
    return found, found
