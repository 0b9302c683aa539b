"""The state of functions and classes before a patch, so that they are put back to the letter.

Invariants:
- putting back assigns the very objects that were there: code, defaults, dictionaries, contents of cells;
- what comes back is set before what was added goes, so that another thread finds every name meanwhile;
- a function's code and its defaults change without another thread in between.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import CellType, CodeType, FunctionType
from typing import Any

EMPTY = object()
"""Stands for the contents of a cell that has none."""
PLAIN = (bool, int, float, complex, str, bytes, tuple, frozenset, type(None), type(...), type(NotImplemented))
"""Values that have no identity of their own: two that are equal may be one object."""
Cached = type(lru_cache(lambda: None))
"""The type of the results of `functools.cache` and `lru_cache`."""

_PLAIN = ("__doc__", "__name__", "__qualname__", "__module__", "__type_params__")
_ANNOTATED = "__annotate__" if "__annotate__" in vars(FunctionType) else "__annotations__"
FUNCTION_FIELDS = tuple(name for name in (*_PLAIN, _ANNOTATED) if name in vars(FunctionType))
"""Fields of a function beside its code, its defaults, its dictionary and its cells."""


def contents(cell: CellType) -> object:
    """Return the content of a cell, `EMPTY` for none."""
    try:
        return cell.cell_contents
    except ValueError:
        return EMPTY


def fill(cell: CellType, value: object) -> None:
    """Make a cell hold `value`, or nothing."""
    if value is not EMPTY:
        cell.cell_contents = value
    elif contents(cell) is not EMPTY:
        del cell.cell_contents


def assign(
    function: FunctionType,
    code: CodeType,
    defaults: tuple[Any, ...] | None,
    keywords: dict[str, Any] | None,
) -> None:
    """Give a function its code, of its kind, and the defaults that belong to it.

    The three stand without a call or a jump between them, so that the interpreter lets no other thread run meanwhile:
    one that called new code with old defaults would find an argument missing.
    """
    function.__code__ = code
    function.__defaults__ = defaults
    function.__kwdefaults__ = keywords


def state_of(value: Any) -> Callable[[], None]:
    """Remember a function, a class, an `lru_cache` or a container; return what puts it back, any number of times."""
    if isinstance(value, FunctionType):
        return _function_state(value)
    if not isinstance(value, type | Cached):
        return _container_state(value)
    return _class_state(value) if isinstance(value, type) else _cached_state(value)


def _function_state(function: FunctionType) -> Callable[[], None]:
    code, defaults, keywords = function.__code__, function.__defaults__, function.__kwdefaults__
    fields = {name: getattr(function, name) for name in FUNCTION_FIELDS}
    namespace, content = function.__dict__, dict(function.__dict__)
    cells = [(cell, contents(cell)) for cell in function.__closure__ or ()]

    def restore() -> None:
        assign(function, code, defaults, keywords)
        for cell, value in cells:
            fill(cell, value)
        for name, value in fields.items():
            setattr(function, name, value)
        namespace.update(content)
        for name in namespace.keys() - content.keys():
            del namespace[name]
        function.__dict__ = namespace

    return restore


def _class_state(cls: type) -> Callable[[], None]:
    before = dict(vars(cls))

    def restore() -> None:
        for name, value in before.items():
            if vars(cls).get(name, EMPTY) is not value:
                type.__setattr__(cls, name, value)
        for name in [name for name in vars(cls) if name not in before]:
            type.__delattr__(cls, name)
        forget_answers(cls)

    return restore


def _cached_state(cached: Any) -> Callable[[], None]:
    content = dict(cached.__dict__)

    def restore() -> None:
        cached.__dict__.update(content)
        for name in cached.__dict__.keys() - content.keys():
            del cached.__dict__[name]
        cached.cache_clear()  # what new code answered meanwhile

    return restore


def _container_state(container: Any) -> Callable[[], None]:
    mapping = hasattr(container, "items")
    content = dict(container.items()) if mapping else list(container)

    def restore() -> None:
        if isinstance(container, list):
            container[:] = content
        elif hasattr(container, "extend"):
            container.clear()
            container.extend(content)
        else:
            container.update(content)
            for part in [part for part in container if part not in content]:
                container.pop(part) if mapping else container.discard(part)

    return restore


def forget_answers(cls: type) -> None:
    """Let an abstract class forget which classes it found to be, or not to be, its subclasses."""
    forget = getattr(cls, "_abc_caches_clear", None)
    if "_abc_impl" in vars(cls) and forget is not None:
        forget()
