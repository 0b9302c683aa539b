"""Which variables go on with what they were set to at run time, when a module is patched.

    COUNT = 0                            <- goes on: both sources bind it once, to the same constant
    class S: _inst = None                <- so does this
    CONFIG = load()                      <- begins anew: what is computed is computed again
    def f(): global COUNT; COUNT += 1

Invariants:
- while the new source runs, it finds what it binds itself; only what it left at that goes on;
- one that the old source may have set when it was loaded goes on only where the new one runs the same to set it;
- one that no function of the module sets goes on only where the module was loaded from the old source, as far as can
  be seen: else somebody may have edited what the source says of it meanwhile;
- a name with two underscores at both ends, and a field of a dataclass, begins as the source says;
- nothing goes on with a definition that is gone or was replaced, an instance of such a class, or old code.
"""

from __future__ import annotations

import dis
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from types import CodeType, ModuleType
from typing import Any

from bae_source.reloading.in_process.load_order import stored_names
from bae_source.reloading.patch.gathered import CONTAINERS
from bae_source.reloading.patch.load_time import LoadTime
from bae_source.reloading.patch.matching import nameless
from bae_source.reloading.patch.object_state import EMPTY

_BUILDS = {"BUILD_TUPLE": tuple, "BUILD_LIST": list, "BUILD_SET": set}
_EXTENDS: dict[str, Callable[[Any, Any], object]] = {
    "LIST_EXTEND": list.extend, "SET_UPDATE": set.update, "DICT_UPDATE": dict.update,
}  # fmt: skip
_STORES = ("STORE_NAME", "STORE_GLOBAL")
_PASSES = ("NOP", "EXTENDED_ARG", "NOT_TAKEN")
_SINGLE = (bool, int, float, complex, str, bytes, type(None), type(...))
_UNKNOWN = object()

Sources = tuple[CodeType, CodeType]


class Variables:
    """The variables of one module, and of its classes.

    Parameters:
        module: the module.
        old: the code of its source before, None if that does not compile.
        code: its new code.
        as_loaded: whether the old source is, as far as can be seen, what the module was loaded from.
    """

    def __init__(self, module: ModuleType, old: CodeType | None, code: CodeType, *, as_loaded: bool) -> None:
        self._module = module
        self._as_loaded = as_loaded
        self._sources = None if old is None else (old, code)
        self._held: list[tuple[type, str, object, Sources]] = []
        self._constants: dict[int, dict[str, object]] = {}

    def hold(self, cls: type, name: str, held: object, bodies: Sources | None) -> None:
        """Remember what a variable of a class held, before the new source binds it anew or takes it away.

        Parameters:
            bodies: the code of the class, old and new; None if that is not one each.
        """
        if bodies is not None:
            self._held.append((cls, name, held, bodies))

    def go_on(self, before: Mapping[str, object], is_outdated: Callable[[object], bool]) -> None:
        """Give the variables back what they held, where the new source, when it ran, left them as it begins them.

        Parameters:
            before: what the module's names were bound to.
            is_outdated: says whether a value belongs to what the new source has no more.
        """
        for name, held in before.items():
            given = vars(self._module).get(name, EMPTY)
            if given is EMPTY or not _differs(held, given):
                continue
            if self._goes_on(name, given, self._sources, "STORE_GLOBAL") and not is_outdated(held):
                vars(self._module)[name] = held
        for cls, name, held, bodies in self._held:
            given = vars(cls).get(name, EMPTY)
            if name in vars(cls).get("__dataclass_fields__", ()) or not _differs(held, given):
                continue
            if self._goes_on(name, given, bodies, "STORE_ATTR") and not is_outdated(held):
                type.__setattr__(cls, name, held)

    def _goes_on(self, name: str, given: object, bodies: Sources | None, store: str) -> bool:
        """Say whether a variable goes on with what it held.

        Parameters:
            given: what the new source left it at, `EMPTY` for nothing.
            bodies: the code that binds it, old and new.
            store: the operation by which functions set it.
        """
        if bodies is None or self._sources is None or nameless(name) or (name[:2] == name[-2:] == "__"):
            return False
        if given is EMPTY:
            begins = all(name not in stored_names(body) for body in bodies)
        else:
            first, then = (self._constants_of(body).get(name, _UNKNOWN) for body in bodies)
            begins = _same(first, then) and _same(then, given)
        if not begins or (type(given) in CONTAINERS and self._load_times[1].reads(name)):
            return False
        if not self._as_loaded and not self._load_times[0].functions_set(name, store):
            return False
        earlier, later = (loading.setting(name, store) for loading in self._load_times)
        return not earlier - later

    @cached_property
    def _load_times(self) -> tuple[LoadTime, LoadTime]:
        assert self._sources is not None
        return LoadTime(self._sources[0]), LoadTime(self._sources[1])

    def _constants_of(self, code: CodeType) -> dict[str, object]:
        if id(code) not in self._constants:
            self._constants[id(code)] = constants(code)
        return self._constants[id(code)]


def _differs(held: object, given: object) -> bool:
    """Say whether it matters which of two values a variable has."""
    return held is not given and (type(given) in CONTAINERS or not _same(held, given))


def constants(code: CodeType) -> dict[str, object]:
    """Return what the names are bound to that a module's top level, or a class, binds once and to a constant."""
    found: dict[str, object] = {}
    times: Counter[str] = Counter()
    stack: list[Any] = []
    for step in dis.get_instructions(code):
        if step.is_jump_target:
            stack.clear()  # `A = 1 if B else 2`
        if step.opname in _STORES:
            (found[step.argval],) = _taken(stack, 1)
            times[step.argval] += 1
        else:
            _follow(step, stack)
    return {name: value for name, value in found.items() if value is not _UNKNOWN and times[name] == 1}


def _follow(step: dis.Instruction, stack: list[Any]) -> None:
    """Do to a stack of constants what a step does; after one that computes, what lies there is not known."""
    count = step.arg or 0
    if step.opname in ("LOAD_CONST", "LOAD_SMALL_INT"):
        stack.append(step.argval)
    elif step.opname in _BUILDS:
        stack.append(_made(_BUILDS[step.opname], _taken(stack, count)))
    elif step.opname == "BUILD_MAP":
        parts = _taken(stack, 2 * count)
        stack.append(_made(dict, parts, zip(parts[::2], parts[1::2], strict=True)))
    elif step.opname == "BUILD_CONST_KEY_MAP":
        *parts, keys = _taken(stack, count + 1)
        stack.append(_made(dict, parts, zip(keys, parts, strict=True)))
    elif step.opname in _EXTENDS and count == 1 and len(stack) > 1 and stack[-2] is not _UNKNOWN:
        _EXTENDS[step.opname](stack[-2], stack.pop())
    elif step.opname == "UNPACK_SEQUENCE" and stack and type(stack[-1]) is tuple and len(stack[-1]) == count:
        stack += reversed(stack.pop())
    elif step.opname == "COPY" and len(stack) >= count:
        stack.append(stack[-count])
    elif step.opname == "SWAP" and len(stack) >= count:
        stack[-1], stack[-count] = stack[-count], stack[-1]
    elif step.opname not in _PASSES:
        stack.clear()


def _taken(stack: list[Any], count: int) -> list[Any]:
    """Take the last values from a stack; those that are not there are not known."""
    parts = stack[len(stack) - min(count, len(stack)) :]
    del stack[len(stack) - len(parts) :]
    return [*[_UNKNOWN] * (count - len(parts)), *parts]


def _made(kind: Callable[[Any], object], parts: list[Any], given: Iterable[Any] | None = None) -> object:
    return _UNKNOWN if any(part is _UNKNOWN for part in parts) else kind(parts if given is None else given)


def _same(one: Any, other: Any) -> bool:
    """Say whether two values are the same constant; nothing of the project is called."""
    if type(one) is not type(other):
        return False
    if isinstance(one, _SINGLE):
        return bool(one == other) and (not isinstance(one, float | complex) or repr(one) == repr(other))
    if type(one) is dict:
        return _same([*one.items()], [*other.items()])
    if type(one) in (set, frozenset):
        return all(type(part) in _SINGLE for part in (*one, *other)) and bool(one == other)
    if type(one) not in (tuple, list) or len(one) != len(other):
        return False
    return all(_same(this, that) for this, that in zip(one, other, strict=True))
