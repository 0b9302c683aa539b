"""The functions behind a value: those that a decorator wrapped, a property's, a method's, and how it binds.

Invariant: nothing of the project is called: no attribute is read that could run code.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from bae_source.reloading.patch.object_state import Cached, contents

_MOST_VALUES = 60
_PARTS: tuple[tuple[type, Callable[[Any], tuple[object, ...]]], ...] = (
    (staticmethod, lambda value: (value.__func__,)),
    (classmethod, lambda value: (value.__func__,)),
    (MethodType, lambda value: (value.__func__,)),
    (property, lambda value: (value.fget, value.fset, value.fdel)),
    (partial, lambda value: (value.func,)),
    (cached_property, lambda value: (value.func,)),
    (Cached, lambda value: (value.__dict__.get("__wrapped__"),)),
)

_WORDS: Mapping[type, str] = {
    staticmethod: "a static method",
    classmethod: "a class method",
    property: "a property",
    cached_property: "a cached property",
    Cached: "a cached function",
}
_FLAGS = {
    inspect.CO_GENERATOR: "a generator function",
    inspect.CO_COROUTINE: "a coroutine function",
    inspect.CO_ASYNC_GENERATOR: "an asynchronous generator function",
}


def direct_functions(value: object) -> Iterator[FunctionType]:
    """Yield the functions that a value directly is made of: itself, or those of a property, method or the like."""
    if isinstance(value, FunctionType):
        yield value
        return
    for part in parts_of(value):
        yield from direct_functions(part)


def kind_of(value: object) -> tuple[str, ...]:
    """Return the kinds of a callable and of its inner ones, from outside in; the last item is a qualname.

    @staticmethod
    async def f(): …        "a static method", "a coroutine function", "f"
    """
    if isinstance(value, FunctionType):
        return kind_of_code(value.__code__), value.__code__.co_qualname
    word = _WORDS.get(type(value)) or f"an instance of {type(value).__qualname__}"
    inner = next((part for part in parts_of(value) if part is not None), None)
    return (word, *(kind_of(inner) if inner is not None else ("",)))


def kind_of_code(code: CodeType) -> str:
    """Return the kind of a function with that code, on which the result of its call depends."""
    return _FLAGS.get(code.co_flags & sum(_FLAGS), "a function")


def belongs(cls: type, module: ModuleType, *, if_bare: bool = False) -> bool:
    """Return whether a class is of a module, also where it names a package around it: `Client.__module__ = "app"`.

    Parameters:
        if_bare: the answer for one that names another module, and has no method of its own to decide by.
    """
    if cls.__module__ == module.__name__:
        return True
    if not isinstance(cls.__module__, str) or not module.__name__.startswith(f"{cls.__module__}."):
        return False
    functions = [function for value in list(vars(cls).values()) for function in direct_functions(value)]
    own = [function for function in functions if function.__code__.co_qualname.startswith(f"{cls.__qualname__}.")]
    return any(function.__globals__ is vars(module) for function in own) if own else if_bare


def functions_behind(value: object) -> Iterator[FunctionType]:
    """Yield the functions that can be found from a value: held ones, wrapped ones, those in closures and attributes."""
    waiting: deque[object] = deque([value])
    seen: set[int] = set()
    while waiting and len(seen) < _MOST_VALUES:
        current = waiting.popleft()
        if id(current) in seen or isinstance(current, type | ModuleType):
            continue
        seen.add(id(current))
        if isinstance(current, FunctionType):
            yield current
            waiting.extend(contents(cell) for cell in current.__closure__ or ())
        waiting.extend(parts_of(current))
        waiting.extend(_attributes(current) if current is value or isinstance(current, FunctionType) else ())


def parts_of(value: object) -> tuple[object, ...]:
    """Return the parts of a property, method, partial or the like."""
    return next((parts(value) for kind, parts in _PARTS if issubclass(type(value), kind)), ())


def _attributes(value: object) -> list[object]:
    try:
        namespace = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return []
    return list(namespace.values()) if isinstance(namespace, dict) else []
