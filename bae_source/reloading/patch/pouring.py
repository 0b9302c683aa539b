"""Pour the objects of a module's new source into those of its old one, so that holders of the old see the new.

    old function  <-  code, defaults, documentation, annotations, attributes, contents of the closure
    old class     <-  methods, properties, attributes; what the new one lacks goes     (`pouring_classes`)
    lru_cache     <-  the function inside; its answers are forgotten, since what it reads may have changed
    registries    <-  nothing: what they and counters gathered stays                   (`gathered`)

Invariants:
- an old object is poured into once, and a new one into one old object;
- a function takes the code of another only with the same globals, the same qualname and the same free variables, and
  none becomes a coroutine or a generator function, or ceases to be one: its holders would get something else;
- whatever is touched is remembered before, and `restore` puts it back, in any state of the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, singledispatchmethod
from types import CellType, CodeType, FunctionType
from typing import Any

from bae_source.reloading.patch.gathered import (
    CONTAINERS,
    Definitions,
    counts,
    dispatched,
    goes_on,
    makers,
    put_in,
    settle,
    stays,
)
from bae_source.reloading.patch.inside import functions_behind, kind_of_code
from bae_source.reloading.patch.object_state import (
    EMPTY,
    FUNCTION_FIELDS,
    PLAIN,
    Cached,
    assign,
    contents,
    fill,
    state_of,
)

_OF_DISPATCH = ("register", "dispatch", "registry", "_clear_cache")


class Pouring:
    """One patch: which old object stands for which new one, and how everything was before.

    Parameters:
        namespaces: those of the modules that are patched; functions of others are left alone.
    """

    def __init__(self, namespaces: Iterable[dict[str, object]]) -> None:
        self._namespaces = {id(namespace): namespace for namespace in namespaces}
        self._stands_for: dict[int, object] = {}
        self._new: list[object] = []  # kept, so that no other object gets the identity of one of them
        self._taken: dict[int, object] = {}
        self._states: list[Callable[[], None]] = []
        self._definitions: dict[int, tuple[Definitions, Definitions]] = {}
        self._kept: list[tuple[Any, Any]] = []
        self._settled: list[Callable[[], None]] = []
        self._attributes: list[tuple[Any, dict[str, Any]]] = []

    def know(self, namespace: dict[str, object], old: Definitions, new: Definitions) -> None:
        """Take note of the definitions of a module that is patched next."""
        self._definitions[id(namespace)] = old, new

    def restore(self) -> None:
        """Put every object back; may be called twice."""
        for restore in reversed(self._states):
            restore()

    def mark(self) -> tuple[int, int]:
        """Return the present point, for `back_to`."""
        return len(self._states), len(self._taken)

    def back_to(self, mark: tuple[int, int]) -> None:
        """Put back what was touched since a mark, as if it had not been poured into."""
        states, taken = mark
        for restore in reversed(self._states[states:]):
            restore()
        del self._states[states:]
        gone = list(self._taken)[taken:]
        for old in gone:
            del self._taken[old]
        self._stands_for = {new: old for new, old in self._stands_for.items() if id(old) not in gone}

    def finished(self) -> list[object]:
        """Let go of the new objects, and return them for the last time."""
        new, self._new = [value for value in self._new if id(value) in self._stands_for], []
        self._stands_for.clear()
        return new

    def taken(self, old: object) -> bool:
        """Return whether something was poured into `old`."""
        return id(old) in self._taken

    def touch(self, value: object) -> None:
        """Remember how an object is before it changes."""
        self._states.append(state_of(value))

    def pair(self, old: object, new: object) -> None:
        """Let `old` stand for `new` from now on."""
        self._taken[id(old)] = old
        self._stands_for[id(new)] = old
        self._new.append(new)

    def keep(self, old: Any, new: object) -> None:
        """Let a container stay in the place of a new one."""
        self.touch(old)
        self._kept.append((old, list(old)))
        self.pair(old, new)

    def settle(self, gone: Callable[[object], bool]) -> None:
        """Put in order what a source, when it ran again, put into the containers that stayed."""
        for kept, before in self._kept:
            settle(kept, before, self.standing_for, gone)
        for forget in self._settled:
            forget()
        for function, attributes in self._attributes:
            for name, value in attributes.items():
                self._go_on(function, name, value, gone)
        for waiting in (self._kept, self._settled, self._attributes):
            waiting.clear()

    def _go_on(self, function: Any, name: str, kept: Any, gone: Callable[[object], bool]) -> None:
        """Give a function back what an attribute held, where the source, when it ran, began it as it did before."""
        given = function.__dict__.get(name, EMPTY)
        collects = type(given) in CONTAINERS
        if given is kept or not (given is EMPTY or collects or isinstance(given, PLAIN)):
            return
        if collects and (type(kept) is not type(given) or self._is_named(given)):
            return
        if goes_on(functions_behind(function), name, self._known_of, begun=given is not EMPTY):
            function.__dict__[name] = kept
            if collects:
                self.touch(kept)
                before = list(kept)
                put_in(kept, given)
                settle(kept, before, self.standing_for, gone)

    def _known_of(self, function: FunctionType) -> tuple[Definitions, Definitions] | None:
        return self._definitions.get(id(function.__globals__))

    def standing_for(self, value: object) -> object:
        """Return the old object that stands for a value, or the value itself; also inside a tuple."""
        if type(value) is tuple and any(id(part) in self._stands_for for part in value):
            return tuple(self._stands_for.get(id(part), part) for part in value)
        return self._stands_for.get(id(value), value)

    def poured(self, old: object, new: object) -> object:
        """Return the value for a place that has `old` and would get `new`: `old` if it took everything from `new`."""
        known = self.standing_for(new)
        if known is not new or old is new:
            return known
        if isinstance(old, FunctionType) and isinstance(new, FunctionType):
            return old if self._function(old, new) else new
        if type(old) is Cached and type(new) is Cached:
            return old if self._cached(old, new) else new
        return self._method(old, new)

    def pour_code(self, old: FunctionType, code: CodeType) -> bool:
        """Give a function that was made while another ran its new code; it keeps its defaults and its closure."""
        if id(old) in self._taken or not _same_shape(old.__code__, code):
            return False
        self.touch(old)
        self._taken[id(old)] = old
        assign(old, code, old.__defaults__, old.__kwdefaults__)
        return True

    def pour_copy(self, old: FunctionType, new: FunctionType) -> bool:
        """Pour a function into one more that is of its definition, beside the one that stands for it."""
        if id(old) in self._taken or not _alike(old, new):
            return False
        self.touch(old)
        self._taken[id(old)] = old
        self._transfer(old, new)
        return True

    def adopt(self, value: object) -> None:
        """Let the closures of something new hold what stands for the new objects: `super()` looks there."""
        for function in functions_behind(value):
            for cell in function.__closure__ or ():
                known = self.standing_for(contents(cell))
                if known is not contents(cell):
                    cell.cell_contents = known

    def _function(self, old: FunctionType, new: FunctionType) -> bool:
        if id(old) in self._taken or not _alike(old, new) or not self._ours(old):
            return False
        self.touch(old)
        self.pair(old, new)
        self._transfer(old, new)
        return True

    def _transfer(self, old: FunctionType, new: FunctionType) -> None:
        # @counted: n = 0; def call(): nonlocal n; n += 1; return fn()       f was called 5 times, and its body changed
        #   code, defaults    the wrapper that importers have takes those of the new wrapper
        #   cell `n`          stays 5, since both sources begin it at 0
        #   cell `fn`         stays the old `f`, which takes the code of the new one in the same way
        code, defaults, keywords = new.__code__, new.__defaults__, new.__kwdefaults__
        fields = {name: getattr(new, name) for name in FUNCTION_FIELDS}
        if dispatched(old) is not None and dispatched(new) is not None:
            self._registered(old, new)
            new.__dict__.update((name, old.__dict__[name]) for name in _OF_DISPATCH)
        for name, kept, given in _cells(old, new) if dispatched(old) is None else ():
            self._cell(old, name, kept, given)
        attributes = {name: self._attribute(old.__dict__.get(name), value) for name, value in new.__dict__.items()}
        assign(old, code, defaults, keywords)
        self._attributes.append((old, old.__dict__))
        old.__dict__ = attributes
        for name, value in fields.items():
            setattr(old, name, value)

    def _ours(self, function: FunctionType) -> bool:
        """Return whether a function is of a patched module, or a decorator's wrapper around one that is."""
        return any(id(behind.__globals__) in self._namespaces for behind in functions_behind(function))

    def _registered(self, old: Any, new: Any) -> None:
        """Pour what is registered with a new `singledispatch` function into the old one, which keeps the rest."""
        kept, given, forget = dispatched(old), dispatched(new), old.__dict__["_clear_cache"]
        assert kept is not None
        assert given is not None
        self._states.append(forget)
        self._settled.append(forget)
        self.keep(kept, given)
        for cls, function in given.items():
            known: Any = self.standing_for(cls)
            kept[known] = self._paired(kept.get(known), function)
        forget()

    def _cell(self, function: FunctionType, name: str, kept: CellType, given: CellType) -> None:
        old, new = contents(kept), contents(given)
        if new is EMPTY:
            return
        both = old is not EMPTY and self.standing_for(new) is new and not isinstance(new, FunctionType | type)
        sources = makers(function, name, self._known_of(function)) if both else None
        if sources is not None and stays(old, new, name, sources, self.standing_for):
            self.keep(old, new)
        elif sources is None or not counts(name, sources):
            fill(kept, self._paired(old, new))

    def _attribute(self, old: Any, new: Any) -> object:
        """Keep what a function gathered in an attribute that begins empty, and that nothing else refers to."""
        empty = type(new) in CONTAINERS and not new and self.standing_for(new) is new
        if not empty or type(old) is not type(new) or self._is_named(new):
            return self._paired(old, new)
        self.keep(old, new)
        return old

    def _is_named(self, value: object) -> bool:
        return any(value is each for namespace in self._namespaces.values() for each in list(namespace.values()))

    def _paired(self, old: object, new: object) -> object:
        """Return `old` if it is a function that can take everything from `new`, else what stands for `new`."""
        known = self.standing_for(new)
        both = isinstance(old, FunctionType) and isinstance(new, FunctionType)
        return self.poured(old, new) if known is new and both else known

    def _cached(self, old: Any, new: Any) -> bool:
        inner, given = getattr(old, "__wrapped__", None), getattr(new, "__wrapped__", None)
        if id(old) in self._taken or old.cache_parameters() != new.cache_parameters():
            return False
        if given is None or self.poured(inner, given) is not inner:
            return False
        self.touch(old)
        self.pair(old, new)
        attributes = {name: self.standing_for(value) for name, value in new.__dict__.items()}
        self._attributes.append((old, dict(old.__dict__)))
        old.__dict__.update(attributes)
        for name in old.__dict__.keys() - attributes.keys():
            del old.__dict__[name]
        old.cache_clear()  # what the old code answered
        return True

    def _method(self, old: Any, new: Any) -> object:
        """Keep the function inside a static or class method or a property: it may have been taken out."""
        kind = type(new)
        if kind is not type(old):
            return new
        if kind in (staticmethod, classmethod):
            inner = self.poured(old.__func__, new.__func__)
            return kind(inner) if inner is not new.__func__ else new
        if kind is property:
            get, put, drop = (self._paired(getattr(old, name), getattr(new, name)) for name in ("fget", "fset", "fdel"))
            return property(get, put, drop, new.__doc__)  # type: ignore[arg-type]
        if kind is singledispatchmethod:
            new.func = self._paired(old.func, new.func)
            new.dispatcher = self._paired(old.dispatcher, new.dispatcher)
        if kind is cached_property:
            new.func = self._paired(old.func, new.func)
        return new


def _cells(old: FunctionType, new: FunctionType) -> Iterator[tuple[str, CellType, CellType]]:
    return zip(old.__code__.co_freevars, old.__closure__ or (), new.__closure__ or (), strict=True)


def _alike(old: FunctionType, new: FunctionType) -> bool:
    return (
        type(old) is type(new)
        and old.__globals__ is new.__globals__
        and old.__code__.co_qualname == new.__code__.co_qualname
        and old.__code__.co_freevars == new.__code__.co_freevars
        and kind_of_code(old.__code__) == kind_of_code(new.__code__)
    )


def _same_shape(old: CodeType, new: CodeType) -> bool:
    """Return whether defaults and closure made for one code fit the other."""
    return _shape(old) == _shape(new) and old.co_freevars == new.co_freevars


def _shape(code: CodeType) -> tuple[object, ...]:
    counts = (code.co_posonlyargcount, code.co_argcount, code.co_kwonlyargcount)
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return (*counts, names, code.co_flags & 0x0C, kind_of_code(code))  # *args and **kwargs
