"""Pour a new class into the old one of its name; say why where that cannot be.

Invariants:
- a class keeps its identity, so that its instances, its subclasses and its importers see the change;
- one whose layout, bases or metaclass changed, an enum with other members, a named tuple with other fields, is left
  wholly alone: half a class would be neither the old nor the new one;
- of one with a metaclass that may keep something elsewhere than in the class's `__dict__`, functions alone are taken,
  and it is left alone where more than the code of its functions changed;
- what others put on the class stays; what its old source put there and the new one does not, goes.
"""

from __future__ import annotations

import abc
import enum
import types
from collections.abc import Collection, Mapping
from types import BuiltinFunctionType, CodeType, FunctionType, MemberDescriptorType, ModuleType
from typing import Any, Protocol, TypedDict

from bae_source.reloading.patch.evaluated_later import look_up_in
from bae_source.reloading.patch.gathered import CONTAINERS, beginning, stays
from bae_source.reloading.patch.inside import belongs, direct_functions
from bae_source.reloading.patch.matching import Matching, nameless, statements, text_of
from bae_source.reloading.patch.object_state import EMPTY, PLAIN, Cached, forget_answers
from bae_source.reloading.patch.pouring import Pouring
from bae_source.reloading.patch.variables import Variables

_OWN = {"__dict__", "__weakref__", "__slots__", "_abc_impl", "__module__"}
_LAYOUT = ("__basicsize__", "__itemsize__", "__dictoffset__", "__weakrefoffset__")
_ENUM_TAKES = (FunctionType, staticmethod, classmethod, property)
_METACLASSES = (type, abc.ABCMeta, enum.EnumMeta, type(Protocol), type(types.new_class("_", (TypedDict,))))
_ENUM_KEEPS = ("_boundary_", "_member_type_", "_use_args_")
_OF_SOURCE = ("__firstlineno__", "__static_attributes__", "__doc__")


class ClassPouring:
    """Pours the classes of one module.

    Parameters:
        pouring: the patch.
        module: the module.
        matching: the definitions of its old and its new source.
        assigned: the names that the old source bound in class bodies, or as attributes of something.
        later: how often the old and the new source set an attribute of a name at their top level.
        variables: those that may go on with what they hold.
    """

    def __init__(
        self,
        pouring: Pouring,
        module: ModuleType,
        matching: Matching,
        assigned: Collection[str],
        later: tuple[Mapping[str, int], Mapping[str, int]],
        variables: Variables,
    ) -> None:
        self.reasons: dict[str, str] = {}
        self.notes: dict[str, str] = {}
        self._pouring = pouring
        self._module = module
        self._matching = matching
        self._assigned = assigned
        self._later = later
        self._variables = variables
        self._awaited: list[tuple[type, str, object]] = []

    def pour(self, old: type, new: type) -> bool:
        """Pour `new` into `old`, or note why it cannot be."""
        if self._pouring.taken(old) or new.__qualname__ in self.reasons:
            return False
        mark = self._pouring.mark()
        try:
            reason = self._obstacle(old, new)
            if reason is None:
                self._pour(old, new)
        except Exception as error:  # noqa: BLE001 - comparing members or naming descriptors runs code of the project
            reason = f"{type(error).__name__} was raised"
        if reason is not None:
            self._pouring.back_to(mark)
            self.reasons[new.__qualname__] = reason
        return reason is None

    def taken(self, old: type, new: type) -> type:
        """Return the class that shall stand where `old` stood and `new` would."""
        known = self._pouring.standing_for(new)
        if known is not new:
            assert isinstance(known, type)
            return known
        return old if self._alike(old, new) and self.pour(old, new) else new

    def finish(self) -> None:
        """Remove the attributes that statements behind a class set before, and now do not.

        They stay until all has run, so that another thread finds `Color.RED` while `Color.RED = Color(1)` has not
        come yet. A number that is set to what it was before looks like one that was not set: there the
        statements are counted.
        """
        before, after = self._later
        for cls, name, value in self._awaited:
            again = isinstance(value, PLAIN) and after.get(name, 0) >= before.get(name, 0)
            if vars(cls).get(name) is value and not again:
                type.__delattr__(cls, name)

    def _obstacle(self, old: type, new: type) -> str | None:
        """Return the obstacle to pouring, None if there is none."""
        if type(old) is not self._pouring.standing_for(type(new)):
            return "its metaclass changed"
        if not self._same_bases(old, new):
            return "its bases changed"
        if type(new) not in _METACLASSES and not self._same_but_for_functions(new.__qualname__):
            return "it changed beside the code of its functions, and its metaclass may keep more of it than can be seen"
        if vars(old).get("__slots__") != vars(new).get("__slots__"):
            return "its __slots__ changed"
        if _is_made_by_code(old) != _is_made_by_code(new):
            return "its __new__ came or went"
        if "__class__" in {**vars(old), **vars(new)} and not self._same_class_attribute(new.__qualname__):
            return "its __class__ changed"
        if issubclass(new, enum.Enum):
            same = self._members(old, old=True) == self._members(new) and self._same_attributes(old, new)
            return None if same else "its members changed"
        if issubclass(new, tuple) and getattr(old, "_fields", None) != getattr(new, "_fields", None):
            return "its fields changed"
        return None if all(getattr(old, name) == getattr(new, name) for name in _LAYOUT) else "its layout changed"

    def _same_but_for_functions(self, name: str) -> bool:
        """Return whether a class statement stayed the same, without what is inside functions; `C(B, key=1): x = 2`."""
        sources = self._bodies(name)
        if sources is None or not self._matching.same_statement(*sources):
            return False
        before, after = (
            [steps for steps, _ in statements(code) if steps[-1][1] not in [(str, repr(name)) for name in _OF_SOURCE]]
            for code in sources
        )
        return before == after

    def _same_class_attribute(self, name: str) -> bool:
        """Return whether a class's body gives instances a `__class__`, as before: it cannot be set from outside."""
        sources = self._bodies(name)
        return sources is not None and beginning(sources[0], "__class__") == beginning(sources[1], "__class__")

    def _members(self, cls: Any, *, old: bool = False) -> list[tuple[str, type, object]]:
        """Return an enum's members, and what else its source put on it, with everything that is compared of them.

        Parameters:
            old: whether it is the old one, which has what others set on it, or a loop with `setattr`: that stays.
        """
        found = [(name, type(member.value), member.value) for name, member in cls.__members__.items()]
        others = [
            (name, type(value), value)
            for name, value in vars(cls).items()
            if not name.startswith("_") and name not in cls.__members__ and type(value) not in _ENUM_TAKES
            if not old or name in self._assigned
        ]
        return [*found, *sorted(others, key=lambda other: other[0])]

    def _same_attributes(self, old: Any, new: Any) -> bool:
        """Return whether the members of an enum hold what `__new__` and `__init__` of the new source give them.

        Attributes set from elsewhere do not count. Objects that cannot be compared are the same as far as the source
        of these two is.
        """
        makers = [f"{new.__qualname__}.{name}" for name in ("__new__", "__init__")]
        before, after = (
            [text_of(code) for name in makers for code in group.get(name, [])]
            for group in (self._matching.before, self._matching.after)
        )
        pairs = [(old.__members__[name], member) for name, member in new.__members__.items()]
        return all(
            self._same_value(vars(one).get(name, EMPTY), value, made_alike=before == after)
            for one, other in pairs
            for name, value in vars(other).items()
            if name not in ("__objclass__", "_sort_order_")
        ) and all(vars(old).get(name) == vars(new).get(name) for name in _ENUM_KEEPS)

    def _same_value(self, old: object, new: object, *, made_alike: bool) -> bool:
        if type(old) is not type(new):
            return False
        return old is self._pouring.standing_for(new) or (old == new if isinstance(new, PLAIN) else made_alike)

    def _same_bases(self, old: type, new: type) -> bool:
        """Return whether two classes have the same bases; one that is made anew in the statement is poured as well.

        class Place(namedtuple("Place", "x y")):
        """
        for base, other in zip(old.__bases__, new.__bases__, strict=False):
            if self._alike(base, other) and self._pouring.standing_for(other) is other:
                self.pour(base, other)
        return old.__bases__ == self._pouring.standing_for(new.__bases__)

    def _alike(self, old: type, new: type) -> bool:
        """Return whether two classes of this module were made under one qualname."""
        if old is new or old.__qualname__ != new.__qualname__ or new.__module__ != self._module.__name__:
            return False
        return belongs(old, self._module, if_bare=self._matching.had_class(old.__qualname__))

    def _pour(self, old: type, new: type) -> None:
        self._pouring.touch(old)
        self._pouring.pair(old, new)
        self._fields(old, new)
        members = issubclass(new, enum.Enum)
        functions_only = members or type(new) not in _METACLASSES
        for name, member in getattr(new, "__members__", {}).items() if members else ():
            self._pouring.pair(old.__members__[name], member)  # type: ignore[attr-defined]
        for name, value in list(vars(new).items()):
            if name in _OWN or isinstance(value, MemberDescriptorType):
                continue
            if not functions_only or type(value) in (*_ENUM_TAKES, Cached) or name == "__doc__":
                self._take(old, name, value)
        for name in [name for name in vars(old) if name not in vars(new) and (members or not functions_only)]:
            if not self._is_ours(name, vars(old)[name], old):
                continue
            self._variables.hold(old, name, vars(old)[name], self._bodies(old.__qualname__))
            if name in self._later[1]:
                self._awaited.append((old, name, vars(old)[name]))
            else:
                type.__delattr__(old, name)
        forget_answers(old)
        look_up_in(old, new)

    def _take(self, old: type, name: str, value: Any) -> None:
        current = vars(old).get(name, EMPTY)
        taken = value if nameless(name) else self._member(old, name, current, value)
        if taken is current or name == "__class__":
            return
        if taken is value and current is not EMPTY:
            self._variables.hold(old, name, current, self._bodies(old.__qualname__))
        self._pouring.adopt(taken)
        type.__setattr__(old, name, taken)
        named = getattr(type(taken), "__set_name__", None)
        if named is not None and taken is value:
            named(taken, old, name)

    def _member(self, owner: type, name: str, current: object, value: object) -> object:
        if isinstance(current, CONTAINERS) and self._stays(owner, name, current, value):
            self._pouring.keep(current, value)
            return current
        if not isinstance(current, type) or not isinstance(value, type):
            return self._pouring.poured(current, value)
        return self.taken(current, value)

    def _stays(self, owner: type, name: str, current: object, value: object) -> bool:
        if self._pouring.standing_for(value) is not value:
            return False
        sources = self._bodies(owner.__qualname__)
        return sources is not None and stays(current, value, name, sources, self._pouring.standing_for)

    def _bodies(self, name: str) -> tuple[CodeType, CodeType] | None:
        """Return the code of the old and the new class statement of a name; None if that is not one each."""
        before, after = (group.get(name, []) for group in (self._matching.before, self._matching.after))
        return (before[0], after[0]) if len(before) == len(after) == 1 else None

    def _is_ours(self, name: str, value: object, old: type) -> bool:
        """Return whether the class has this attribute from the old source, and not from elsewhere."""
        if name in _OWN or isinstance(value, MemberDescriptorType) or issubclass(old, enum.Enum):
            return type(value) in _ENUM_TAKES and name in self._assigned
        if name in self._assigned or (name.startswith("__") and name.endswith("__")):
            return True
        return any(function.__module__ == self._module.__name__ for function in direct_functions(value))

    def _fields(self, old: type, new: type) -> None:
        """Note that a dataclass has other fields: the class takes them, its instances do not."""
        before, after = (tuple(vars(cls).get("__dataclass_fields__", ())) for cls in (old, new))
        if before != after:
            self.notes[new.__qualname__] = "its fields changed: instances made before have the old ones"


def _is_made_by_code(cls: type) -> bool:
    """Return whether instances are made by a `__new__` in Python, which a class remembers when it is taken away again.

    From then on `object.__new__` refuses the arguments that only `__init__` knows.
    """
    makers = (vars(base)["__new__"] for base in cls.__mro__ if "__new__" in vars(base))
    return not isinstance(next(makers), BuiltinFunctionType)
