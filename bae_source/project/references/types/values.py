"""The values of expressions: classes, functions, instances, modules, and what lies outside the project."""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Collection, Iterable

from msgspec import Struct

from bae_source.project.references.meaning.meanings import InFolder, InModule, Outside, Symbol

_NUMBER = r"\d+"


class Class(Struct, frozen=True):
    """A class of the project, by the scope of its suite."""

    path: str
    scope: int


class Derived(Class, frozen=True):
    """A class that a decorator makes below the class that it decorates: `class Logged(cls): …`.

    Parameters:
        over: what is decorated, which the class's parameter of a base is.
    """

    over: Class


class Function(Struct, frozen=True):
    """A function of the project; `returns` is the number of its return annotation."""

    path: str
    scope: int
    returns: int


class Instance(Struct, frozen=True):
    """An instance of a class.

    Parameters:
        exact: whether it is of no class below it.
        is_bound: whether the class is the bound of a type variable, which mostly stands for one below it.
    """

    of: Class
    exact: bool
    is_bound: bool = False


class OfClass(Struct, frozen=True):
    """The class itself, or with `exact` unset one below it; `is_bound` as of an instance."""

    of: Class
    exact: bool
    is_bound: bool = False


class Above(Struct, frozen=True):
    """The value of `super()` in a method of a class."""

    of: Class


class OutsideInstance(Struct, frozen=True):
    """An instance of a class outside the project; `exact` as of one of the project."""

    name: str
    exact: bool = False


class Raised(OutsideInstance, frozen=True):
    """The context of an exception that code is expected to raise.

    Parameters:
        expected: instances of the classes that it may be of.
    """

    expected: frozenset[Value] = frozenset()


class Rebound(Struct, frozen=True):
    """Another value of an instance's attribute: what a class below the instance's known one binds it to.

    Parameters:
        steps: what is done with it: the names of attributes that are taken in turn, and `CALL`.
    """

    below: Class
    name: str
    steps: tuple[str, ...] = ()

    def then(self, step: str) -> frozenset[Rebound]:
        """Return the mark after one more step; none where there have been many."""
        taken = (*self.steps, step)
        return frozenset({Rebound(self.below, self.name, taken)}) if len(taken) <= _MOST_STEPS else frozenset()


class Member(Struct, frozen=True):
    """The binding of a class's attribute; `sure` unless an unknown base could bind it first."""

    symbol: Symbol
    sure: bool


Value = Class | Function | Instance | OfClass | Above | OutsideInstance | Rebound | InModule | InFolder | Outside | None
Values = frozenset[Value]
TELLING_OF_RAISED = ("value", "exception")
"""Attributes that are the exception."""

STANDARD = frozenset({"builtins", *sys.stdlib_module_names})
"""Top-level modules outside the project that hold no instance of its classes."""
NOT_KNOWN: Values = frozenset({None})
CHANGED_IN_PLACE: Values = frozenset(
    OutsideInstance(f"builtins.{name}") for name in ("list", "dict", "set", "bytearray")
)
"""Types whose instances stay the same object where code adds to them, as by `x += y`."""
NO_VALUE = OutsideInstance("builtins.NoneType")
_SELF = ("typing.Self", "typing_extensions.Self")
SELF = OutsideInstance("typing.Self")
"""Value of an annotation with `Self`, until its class is known."""
_SAY_NOTHING = frozenset({"Any", "Self", "object", "TypeVar", "ModuleType"})
"""Annotations that anything fits, or whose attributes are not the annotation's own."""
FITTED = frozenset(
    {"typing", "typing_extensions", "collections.abc", "contextlib", "numbers", "weakref", "unittest.mock"}
)
"""Modules whose classes say what a value can do, or stand for other things, so that a project's class may fit them."""
REPLACED = frozenset({"sys.stdin", "sys.stdout", "sys.stderr"})
"""Values that are often other objects when code runs."""
NEEDED = {
    "Mapping": "__getitem__", "MutableMapping": "__setitem__", "Sequence": "__getitem__", "Iterator": "__next__",
    "MutableSequence": "__setitem__", "Set": "__contains__", "MutableSet": "__contains__", "Iterable": "__iter__",
    "AsyncIterator": "__anext__", "AsyncIterable": "__aiter__", "Callable": "__call__", "Awaitable": "__await__",
    "Generator": "throw", "Coroutine": "throw", "AsyncGenerator": "athrow", "PathLike": "__fspath__",
}  # fmt: skip
"""By the name of such a class, a method that whatever fits it has."""
_BUILT_IN = {name.capitalize(): name for name in ("list", "dict", "set", "tuple", "type")} | {"FrozenSet": "frozenset"}
"""Names of built-in types in `typing`."""
BUILTINS = "builtins."
COPIERS = frozenset(
    {"dataclasses.replace", "copy.replace", "copy.copy", "copy.deepcopy", "attr.evolve", "attrs.evolve",
     "msgspec.structs.replace"}
)  # fmt: skip
"""Functions that return another object like their first argument."""
UNPACKED = {"pickle.loads": "pickle.dumps", "marshal.loads": "marshal.dumps"}
"""Functions that return the argument of another call, whose result is their own argument."""
BINDERS = frozenset({"functools.partial", "functools.partialmethod", "types.MethodType"})
"""Classes whose instances call what they are first given."""
_NO_INSTANCE = frozenset({"type", "super", "ABCMeta", "EnumMeta", "EnumType"})
_GIVEN = {
    **dict.fromkeys(("len", "id", "hash", "ord"), "builtins.int"),
    **dict.fromkeys(("repr", "ascii", "chr", "hex", "oct", "bin", "format", "input"), "builtins.str"),
    **dict.fromkeys(("isinstance", "issubclass", "hasattr", "callable", "any", "all"), "builtins.bool"),
    **dict.fromkeys(("sorted", "dir"), "builtins.list"),
    **dict.fromkeys(("globals", "locals", "vars"), "builtins.dict"),
    "open": "io.TextIOWrapper",
}  # fmt: skip
"""By the names of built-in functions, what they give."""
_CLASSES = frozenset(
    {"collections.deque", "collections.defaultdict", "datetime.date", "datetime.datetime", "datetime.time",
     "datetime.timedelta", "array.array", "threading.local"}
)  # fmt: skip
"""Classes of the standard library whose names do not look like those of classes."""
_HANDING_ON = ("Proxy", "Wrapper", "ReaderWriter", "Adapter", "TemporaryFile")
"""Endings of the names of classes that delegate attribute access to another object."""
CALL = "()"
ITEM = "[]"
"""Steps behind an attribute that are none: a call, and taking an item out."""
_MOST_STEPS = 3
COROUTINE = OutsideInstance("types.CoroutineType")


def outside_result(value: Outside) -> Value:
    """Return the value of a call of something that Python itself has: of a class, an instance of exactly that."""
    module, _, name = value.name.rpartition(".")
    if module == "builtins":
        found = getattr(builtins, name, None)
        if isinstance(found, type) and name not in _NO_INSTANCE:
            return OutsideInstance(value.name, is_exception(OutsideInstance(value.name)))
        given = _GIVEN.get(name)
        return OutsideInstance(given, not given.startswith(BUILTINS)) if given else None
    is_class = value.name in _CLASSES or (
        name[:1].isupper() and not name.isupper() and module.partition(".")[0] in STANDARD and module not in FITTED
    )
    if name == "__enter__":  # of an instance that was made here
        return OutsideInstance(module, True)
    is_known = is_class and not name.endswith(_HANDING_ON) and name not in _SAY_NOTHING | _NO_INSTANCE
    return OutsideInstance(value.name, True) if is_known else None


def instance_of(value: Value) -> Value:
    """Return the value of a variable that is annotated with `value`."""
    if isinstance(value, (Class, OfClass)):
        of, is_bound = (value, False) if isinstance(value, Class) else (value.of, value.is_bound)
        return Instance(of, False, is_bound)
    if isinstance(value, Outside):
        if value.name in _SELF:
            return SELF
        owner, _, last = value.name.rpartition(".")
        if owner == "typing" and last in _BUILT_IN:
            return OutsideInstance(f"builtins.{_BUILT_IN[last]}")
        unknown = last in _SAY_NOTHING or is_bound_nowhere(value)
        return None if unknown else OutsideInstance(value.name)
    return None


def lacks(value: Value, name: str) -> bool:
    """Return whether a value is an instance of a built-in type that has no attribute of that name.

    So it is not the receiver when the code runs, or the code would fail.
    """
    if not isinstance(value, OutsideInstance):
        return False
    owner, _, last = value.name.rpartition(".")
    kind = {"NoneType": type(None), "ellipsis": type(...)}.get(last) or getattr(builtins, last, None)
    return owner == "builtins" and isinstance(kind, type) and not hasattr(kind, name)


def is_bound_nowhere(value: Outside) -> bool:
    """Return whether a name counts as a built-in one that this Python does not have."""
    owner, _, last = value.name.rpartition(".")
    return owner == "builtins" and not hasattr(builtins, last)


def class_around(value: Value) -> Class | None:
    """Return the class of the project that the attributes of a value are looked up in first."""
    if isinstance(value, (Instance, OfClass)):
        return value.of
    return value if isinstance(value, Class) else None


def class_of(value: Value) -> Value:
    """Return the value of `__class__` of a value."""
    return OfClass(value.of, value.exact, value.is_bound) if isinstance(value, Instance) else None


def class_below(value: Value) -> Value:
    """Return the class that an annotation names whose variable is `value`, or one below it."""
    return OfClass(value.of, False) if isinstance(value, Instance) else None


def bound_by(value: Value) -> Value:
    """Return the value of a type variable whose bound has the value `value`."""
    return OfClass(value.of, False, True) if isinstance(value, Instance) else None


def is_bound(value: Value) -> bool:
    """Return whether all that is known of a value is the bound of a type variable."""
    return isinstance(value, (Instance, OfClass)) and value.is_bound


def new_instance(value: Value) -> Value:
    """Return the instance that a call of a class makes."""
    if isinstance(value, OfClass):
        return Instance(value.of, value.exact, value.is_bound)
    return Instance(value, True) if isinstance(value, Class) else None


def may_stand_for_another(value: Value) -> bool:
    """Return whether `value[X]` in an annotation may mean an `X`, as `Mapped[X]` of another distribution does."""
    return isinstance(value, Outside) and value.name.partition(".")[0] not in STANDARD


def union_of(several: Iterable[Values]) -> Values:
    """Return the union of several sets of values; `NOT_KNOWN` where all are empty."""
    found: frozenset[Value] = frozenset().union(*several)
    return found or NOT_KNOWN


def is_exception(value: Value) -> bool:
    """Return whether a value is an instance of a built-in exception, or of a class below it."""
    return isinstance(value, OutsideInstance) and is_built_in_below(value.name, "BaseException")


def raised_of(values: Values) -> frozenset[Raised]:
    """Return the holders of expected exceptions, if all values are such, apart from what a class below binds."""
    plain = [each for each in values if not isinstance(each, Rebound)]
    found = frozenset(each for each in plain if isinstance(each, Raised))
    return found if len(found) == len(plain) else frozenset()


def is_built_in_below(name: str, kind: str) -> bool:
    """Return whether a name outside the project is that of the built-in class `kind`, or of one below it."""
    found = getattr(builtins, name.removeprefix(BUILTINS), None) if name.startswith(BUILTINS) else None
    return isinstance(found, type) and issubclass(found, getattr(builtins, kind))


def in_order(value: object) -> str:
    """Return the key to sort values and symbols by: the same in every process, whatever was read before."""
    return re.sub(_NUMBER, lambda number: number[0].rjust(9, "0"), repr(value))


def ordered(values: Values) -> Collection[Value]:
    """Return values in an order that is the same in every process: the first one that decides gives the reason."""
    return sorted(values, key=in_order) if len(values) > 1 else values
