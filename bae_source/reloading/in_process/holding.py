"""The holders of objects that a module had before it was loaded again.

Functions, classes and other objects are known by their identity, wherever a loaded module binds them; in modules that
are not installed ones, inside what it binds too: in containers, classes and their bases, defaults, closures, methods
and `partial`, and as the class of an object. What a function made is known by its code. Numbers, text, and
what others define or another name still stands for, have none to go by: a module holds an old one if it took that very
name by an import statement.

Invariant: nothing of the project is called; at most `_SCANNED` values are read, and a notice says if there are more.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

from msgspec import Struct

from bae_source.reloading.in_process.cascade import package_of, source_code
from bae_source.reloading.in_process.in_process import defined_by
from bae_source.reloading.in_process.load_order import code_objects, imports, stored_names
from bae_source.reloading.in_process.present import names_of, present
from bae_source.reloading.patch.inside import parts_of
from bae_source.reloading.patch.object_state import PLAIN, contents

_SCANNED = 300_000
_DEEP = 3
_NOBODYS = (*PLAIN, BuiltinFunctionType)
_EMPTY = {*_NOBODYS, GetSetDescriptorType, MemberDescriptorType} - {tuple, frozenset}
INSTALLED = (os.path.dirname(os.__file__) + os.sep,)  # noqa: PTH120
"""Beginnings of the paths of modules in which no holder is looked for, besides those of distributions."""
_NOTHING = object()
_NOTATION = {"typing", "types", "re", "collections.abc"}


class Holders(Struct, frozen=True, kw_only=True):
    """The holders of replaced objects.

    Parameters:
        names: the modules.
        complete: whether all modules were looked at.
    """

    names: tuple[str, ...]
    complete: bool


class Replaced:
    """The objects that modules had and have no longer."""

    def __init__(self) -> None:
        self.objects: dict[int, object] = {}
        self.plain: dict[tuple[str, str], object] = {}

    def note(self, module: ModuleType, before: Mapping[str, object], code: CodeType | None, *, gone: bool) -> None:
        """Note the objects that a module has no longer.

        Parameters:
            before: its namespace as it was.
            code: the code of its source before; what that imported is not the module's own.
            gone: whether the module was forgotten, with its namespace as it is.
        """
        namespace: Mapping[str, object] = {} if gone else vars(module)
        now = {id(value) for value in namespace.values()}
        own = _own_names(module, code)
        for name, value in before.items():
            current = namespace.get(name, _NOTHING)
            if current is value:
                continue
            if id(value) not in now and isinstance(value, FunctionType | type) and defined_by(module, value):
                self.objects[id(value)] = value
            elif id(value) in now or name not in own or isinstance(value, (*_NOBODYS, FunctionType, type)):
                if not name.startswith("__") and not _equal(current, value):
                    self.plain[module.__name__, name] = value
            elif not isinstance(value, ModuleType) and not _same_notation(current, value):
                self.objects[id(value)] = value


class _Look:
    """Looks at values, and counts them.

    Parameters:
        here: the identities of what each reloaded module has now, by its name.
        codes: those of the code objects of its source, by the identity of its namespace.
    """

    def __init__(self, replaced: Replaced, here: Mapping[str, set[int]], codes: Mapping[int, set[int]]) -> None:
        self.left = _SCANNED
        self._replaced = replaced
        self._here = here
        self._codes = codes

    def is_old(self, value: object, holder: str, deep: int) -> bool:
        """Return whether a value was replaced, or one inside it, down to `deep` levels."""
        kind = type(value)
        if kind in _EMPTY:
            return False
        if kind is FunctionType and self._runs_new_code(value):  # type: ignore[arg-type]
            old: object = False  # a patch poured it in
        elif id(value) in self._replaced.objects:
            return True
        elif kind is FunctionType:
            old = self._is_outdated(value, holder) or (deep and self._runs_old_code(value))  # type: ignore[arg-type]
        elif issubclass(kind, type):
            old = self._is_outdated(value, holder)  # type: ignore[arg-type]
        elif issubclass(kind, ModuleType):
            return False
        else:
            old = deep and (id(kind) in self._replaced.objects or self._is_outdated(kind, holder))
        return bool(old) or (deep > 0 and self.holds_old(_inside(value, holder), holder, deep - 1))

    def holds_old(self, values: Collection[object], holder: str, deep: int) -> bool:
        """Return whether one of some values was replaced; no more are looked at than are left."""
        self.left -= len(values)
        return self.left >= 0 and any([self.is_old(value, holder, deep) for value in values])  # noqa: C419 - faster

    def _runs_new_code(self, function: FunctionType) -> bool:
        """Return whether a function runs code of the present source of a reloaded module."""
        return id(function.__code__) in self._codes.get(id(function.__globals__), ())

    def _runs_old_code(self, function: FunctionType) -> bool:
        """Return whether a function was made by a source of a reloaded module that is not its source any more."""
        codes = self._codes.get(id(function.__globals__))
        if codes is None or id(function.__code__) in codes:
            return False
        return function.__code__.co_filename == function.__globals__.get("__file__")

    def _is_outdated(self, value: FunctionType | type, holder: str) -> bool:
        """Return whether a function or class comes from a reloaded module which no longer has it at its top level."""
        here = self._here.get(value.__module__)
        if here is None or id(value) in here:
            return False
        return "." not in value.__qualname__ and value.__module__ != holder


def holders(replaced: Replaced, reloaded: Iterable[tuple[ModuleType, CodeType | None]]) -> Holders:
    """Find the loaded modules that still hold what was replaced, now or by an earlier change.

    Parameters:
        reloaded: the modules that were loaded again, with the code of their source; those of them that ran before the
            one they import are named too.
    """
    here: dict[str, set[int]] = {}
    codes: dict[int, set[int]] = {}
    for module, code in reloaded:
        codes[id(vars(module))] = {id(part) for part in code_objects(code)} if code is not None else set()
        here.setdefault(module.__name__, set()).update(id(value) for value in vars(module).values())
    look = _Look(replaced, here, codes)
    found = []
    for name, module in present():
        if look.left < 0:
            break
        deep = 0 if name in here or _is_installed(module) else _DEEP
        old = look.holds_old(list(names_of(module).values()), name, deep)
        if old or (name not in here and _holds_plain(module, replaced.plain)):
            found.append(name)
    return Holders(names=tuple(found), complete=look.left >= 0)


def _inside(value: Any, holder: str) -> Collection[object]:
    """Return the values inside one, one level down; of a class or function, where its own module is searched."""
    kind = type(value)
    if kind is FunctionType:
        cells = value.__closure__
        if not cells and not value.__defaults__ and not value.__kwdefaults__:
            return ()
        return [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values(), *map(contents, cells or ())]
    if issubclass(kind, type):
        return [*value.__mro__[1:-1], *vars(value).values()] if value.__module__ == holder else ()
    if kind is dict:
        return list(value.values())
    if kind in (list, tuple, set, frozenset):
        return list(value)
    return (value.__self__, value.__func__) if kind is MethodType else parts_of(value)


def _is_installed(module: ModuleType) -> bool:
    file = names_of(module).get("__file__")
    return not isinstance(file, str) or file.startswith(INSTALLED) or "site-packages" in file


def _own_names(module: ModuleType, code: CodeType | None) -> frozenset[str]:
    """Return the names that a source bound otherwise than by importing them."""
    if code is None:
        return frozenset()
    taken = {name for statement in imports(code, package_of(module)) for name in statement.bound}
    return frozenset(name for name in stored_names(code) if name not in taken and not name.startswith("__"))


def _equal(one: object, other: object) -> bool:
    try:
        return type(one) is type(other) and bool(one == other)
    except Exception:  # noqa: BLE001 - a tuple may hold anything, and comparing that raise anything
        return False


def _same_notation(one: object, other: object) -> bool:
    """Return whether two values are one type alias or one pattern, written anew: they cannot be told apart."""
    return type(other).__module__ in _NOTATION and _equal(one, other)


def _holds_plain(module: ModuleType, plain: Mapping[tuple[str, str], object]) -> bool:
    namespace = names_of(module)
    likely = {key for key, value in plain.items() if namespace.get(key[1]) is value}
    code = source_code(module) if likely else None
    if code is None:
        return False
    taken = {(each.module, name) for each in imports(code, package_of(module)) for name in each.names}
    return bool(likely & taken)
