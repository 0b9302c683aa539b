"""The variables that keep what they were set to at run time, when a module is patched.

    COUNT = 0                            <- goes on: both sources bind it once, to the same constant
    class S: _inst = None                <- so does this
    CONFIG = load()                      <- begins anew: what is computed is computed again
    def f(): global COUNT; COUNT += 1

Invariants:
- while the new source runs, it finds what it binds itself; only what it left at that goes on;
- one that the old source may have set when it was loaded goes on only where the new one runs the same to set it;
- one that no function of the module sets goes on only where the module was loaded from the old source, as far as can
  be seen: else the source may have been edited there meanwhile;
- a name with two underscores at both ends, and a field of a dataclass, begins as the source says;
- nothing goes on with a definition that is gone or was replaced, an instance of such a class, or old code.
"""

from __future__ import annotations

import dis
import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from types import CodeType, ModuleType
from typing import Any

from msgspec import Struct

from bae_source.reloading.in_process.load_order import code_objects, stored_names
from bae_source.reloading.patch.gathered import CONTAINERS
from bae_source.reloading.patch.matching import nameless, statements, text_of
from bae_source.reloading.patch.object_state import EMPTY

# What of a source runs while it is loaded, and may set a variable then: what that gave is no state of run time.
#
#     COUNT = 0
#     def reg(f): global COUNT; COUNT += 1
#     @reg                                       <- sets it when the source is loaded, through `reg`
#     def handler(): global COUNT; COUNT += 1    <- does not: nothing that runs then names `handler`
#
# Invariants:
# - within the source rather too much counts than too little: what has the name of what is called may be what is called;
# - what code of other modules calls meanwhile, such as a decorator the function that it is given, is not seen.

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
    """Code that runs when one source is loaded.

    Parameters:
        code: its code.
    """

    def __init__(self, code: CodeType) -> None:
        self._functions = [_function(part) for part in _functions(code)]
        self._statements = [each for part in _bodies(code) for each in _run(part, top=part is code)]

    def reads(self, name: str) -> bool:
        """Return whether a name, or an attribute of that name, may be read, so that its value may be kept elsewhere."""
        names = (name, f".{name}")
        return bool(self._doing(lambda part: not part.names.isdisjoint(names)))

    def functions_set(self, name: str, store: str) -> bool:
        """Return whether a function sets a variable, whenever that runs; see `setting`."""
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
        self._of_classes: list[tuple[type, str, object, Sources]] = []
        self._constants: dict[int, dict[str, object]] = {}

    def hold(self, cls: type, name: str, old: object, bodies: Sources | None) -> None:
        """Remember what a variable of a class held, before the new source binds it anew or takes it away.

        Parameters:
            bodies: the code of the class, old and new; None if that is not one each.
        """
        if bodies is not None:
            self._of_classes.append((cls, name, old, bodies))

    def go_on(self, before: Mapping[str, object], is_outdated: Callable[[object], bool]) -> None:
        """Give the variables back what they held, where the new source, when it ran, left them as it begins them.

        Parameters:
            before: what the module's names were bound to.
            is_outdated: says whether a value belongs to what the new source has no more.
        """
        for name, old in before.items():
            given = vars(self._module).get(name, EMPTY)
            if given is EMPTY or not _differs(old, given):
                continue
            if self._goes_on(name, given, self._sources, "STORE_GLOBAL") and not is_outdated(old):
                vars(self._module)[name] = old
        for cls, name, old, bodies in self._of_classes:
            given = vars(cls).get(name, EMPTY)
            if name in vars(cls).get("__dataclass_fields__", ()) or not _differs(old, given):
                continue
            if self._goes_on(name, given, bodies, "STORE_ATTR") and not is_outdated(old):
                type.__setattr__(cls, name, old)

    def _goes_on(self, name: str, given: object, bodies: Sources | None, store: str) -> bool:
        """Return whether a variable goes on with what it held.

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


def _differs(old: object, given: object) -> bool:
    """Return whether it matters which of two values a variable has."""
    return old is not given and (type(given) in CONTAINERS or not _same(old, given))


def constants(code: CodeType) -> dict[str, object]:
    """Return the names, with values, that a module's top level or a class binds once, to a constant."""
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
        stack.append(_built(_BUILDS[step.opname], _taken(stack, count)))
    elif step.opname == "BUILD_MAP":
        parts = _taken(stack, 2 * count)
        stack.append(_built(dict, parts, zip(parts[::2], parts[1::2], strict=True)))
    elif step.opname == "BUILD_CONST_KEY_MAP":
        *parts, keys = _taken(stack, count + 1)
        stack.append(_built(dict, parts, zip(keys, parts, strict=True)))
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


def _built(kind: Callable[[Any], object], parts: list[Any], given: Iterable[Any] | None = None) -> object:
    return _UNKNOWN if any(part is _UNKNOWN for part in parts) else kind(parts if given is None else given)


def _same(one: Any, other: Any) -> bool:
    """Return whether two values are the same constant; nothing of the project is called."""
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
