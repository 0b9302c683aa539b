"""Check that a loaded module runs its new source: each function is compared with the module's compiled code.

Functions, methods, properties, class and static methods, nested classes, what decorators wrapped, and lambdas that
have a name are looked at. What a decorator hides altogether cannot be compared, and is named.

Invariant: nothing of the project is called.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MethodDescriptorType,
    ModuleType,
    WrapperDescriptorType,
)

from msgspec import Struct

from bae_source.reloading.in_process.load_order import code_objects
from bae_source.reloading.patch.evaluated_later import ALIASES
from bae_source.reloading.patch.inside import belongs, direct_functions, functions_behind
from bae_source.reloading.patch.matching import text_of
from bae_source.reloading.patch.object_state import PLAIN

_BUILT_IN = (BuiltinFunctionType, WrapperDescriptorType, MethodDescriptorType)
_NO_WRAPPERS = (type, ModuleType, *ALIASES, *_BUILT_IN, *PLAIN, list, dict, set)


class Comparison(Struct, frozen=True, kw_only=True):
    """The fate of the functions of a module.

    Parameters:
        stale: names of those that still run code of another source.
        hidden: names of definitions whose function cannot be found behind what stands for them.
    """

    stale: tuple[str, ...]
    hidden: tuple[str, ...]


def compare(module: ModuleType, code: CodeType) -> Comparison:
    """Compare a loaded module with the code of its source."""
    new = {id(part) for part in code_objects(code)}
    stale = {
        name: None
        for name, value in definitions(module)
        for function in direct_functions(value)
        if _from(function, module, code) and id(function.__code__) not in new
    }
    hidden = [name for name in defined_functions(code) if name not in stale and _hidden(name, module, new)]
    return Comparison(stale=tuple(stale), hidden=tuple(hidden))


def definitions(module: ModuleType) -> Iterator[tuple[str, object]]:
    """Yield the values of a module's names and of its own classes', each with its qualname."""
    seen: set[int] = set()
    for name, value in list(vars(module).items()):
        yield name, value
        if own_class(value, module, name):
            yield from _members(value, module, seen)


def own_objects(module: ModuleType) -> list[FunctionType | type]:
    """Return the functions and classes that the module's names, and those of its classes, lead to."""
    found: dict[int, FunctionType | type] = {}
    for name, value in definitions(module):
        if own_class(value, module, name):
            found[id(value)] = value  # type: ignore[assignment]
        for function in direct_functions(value):
            if function.__globals__ is vars(module):
                found[id(function)] = function
    return list(found.values())


def _members(cls: object, module: ModuleType, seen: set[int]) -> Iterator[tuple[str, object]]:
    if not isinstance(cls, type) or id(cls) in seen:
        return
    seen.add(id(cls))
    for name, value in list(vars(cls).items()):
        qualname = f"{cls.__qualname__}.{name}"
        yield qualname, value
        if own_class(value, module, qualname):
            yield from _members(value, module, seen)


def own_class(value: object, module: ModuleType, qualname: str) -> bool:
    """Return whether a value is a class that the module defines under that qualname."""
    return isinstance(value, type) and value.__qualname__ == qualname and belongs(value, module)


def defined_functions(code: CodeType) -> dict[str, list[CodeType]]:
    """Return the functions and methods that a module's code defines, by qualname; none that are inside a function."""
    found: dict[str, list[CodeType]] = {}
    for part in code_objects(code):
        name = part.co_qualname
        if part.co_flags & inspect.CO_OPTIMIZED and "<" not in name:
            found.setdefault(name, []).append(part)
    return found


def runs_other(function: FunctionType, module: ModuleType, code: CodeType) -> bool:
    """Return whether a function of a module runs code of another source than the module's."""
    return _from(function, module, code) and all(function.__code__ is not part for part in code_objects(code))


def has_loaded(module: ModuleType, *, before: bytes | None, now: bytes) -> bool:
    """Return whether a module has the functions of its source as it is now, and not those of the source before."""
    codes = {
        function.__code__.co_qualname: text_of(function.__code__)
        for _, value in definitions(module)
        for function in direct_functions(value)
        if function.__globals__ is vars(module) and "<" not in function.__code__.co_qualname
    }

    def alike(source: bytes | None) -> bool:
        try:
            code = compile(source or b"", str(vars(module).get("__file__")), "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return False
        defined = {name: [text_of(part) for part in group] for name, group in defined_functions(code).items()}
        return codes.keys() == defined.keys() and all(codes[name] in group for name, group in defined.items())

    return alike(now) and not alike(before)


def _from(function: FunctionType, module: ModuleType, code: CodeType) -> bool:
    return function.__globals__ is vars(module) and function.__code__.co_filename == code.co_filename


def _hidden(qualname: str, module: ModuleType, new: set[int]) -> bool:
    """Return whether something stands for a definition that its function cannot be found behind."""
    value = look_up(qualname, module)
    if value is None or isinstance(value, _NO_WRAPPERS):
        return False
    if isinstance(value, FunctionType) and value.__module__ != module.__name__ and not value.__closure__:
        return False  # imported in its place, as `try: from fast import f` does
    return not any(id(function.__code__) in new for function in functions_behind(value))


def look_up(qualname: str, module: ModuleType) -> object:
    """Return the value of a qualname, without running anything; None for nothing."""
    first, *rest = qualname.split(".")
    value: object = vars(module).get(first)
    path = first
    for name in rest:
        if not isinstance(value, type) or not own_class(value, module, path):
            return None
        path = f"{path}.{name}"
        private = name.startswith("__") and not name.endswith("__")
        value = vars(value).get(f"_{value.__name__.lstrip('_')}{name}" if private else name)
    return value
