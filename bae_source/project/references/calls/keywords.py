"""Keywords of calls that set the target, or may: an attribute that has their name.

Client(timeout=3)                 sure, where Python makes the constructor of Client from its fields
replace(client, timeout=3)        likewise, of what is copied; `partial(Client, timeout=3)` is as the class's own call
super().__init__(timeout=3)       of a method that sets the fields of its class
kinds[name](timeout=3)            unsure, if `timeout` is a field: it may be that of any class
Server(timeout=3), wait(timeout=3)       of something else
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from bae_source.model.reasons import Reason
from bae_source.project.references.classes.class_order import Order, decoration_of
from bae_source.project.references.meaning.meanings import Outside, Symbol
from bae_source.project.references.meaning.sought import Sought
from bae_source.project.references.types.inference import Inference
from bae_source.project.references.types.values import (
    COPIERS,
    Above,
    Class,
    Function,
    Instance,
    OfClass,
    Rebound,
    Value,
    in_order,
    ordered,
)
from bae_source.syntax.names import uses as u

MAKING = ("__init__", "__new__")
"""Methods that make the instances of their class."""
_PARTIAL = "functools.partial"
_SETTERS = ("__init__", "_replace", "__replace__", "model_construct")
_DECORATORS = frozenset(
    {"dataclasses.dataclass", "pydantic.dataclasses.dataclass", "attr.s", "attr.attrs", "attr.attributes",
     "attr.dataclass"}
    | {f"{module}.{name}" for module in ("attr", "attrs") for name in ("define", "frozen", "mutable")}
)  # fmt: skip
"""Decorators that make a constructor from the fields of a class, as do those above it."""
MODELS = frozenset(
    {"pydantic.BaseModel", "pydantic.main.BaseModel", "pydantic.v1.BaseModel", "pydantic.BaseSettings",
     "pydantic_settings.BaseSettings", "sqlmodel.SQLModel"}
)  # fmt: skip
"""Classes of pydantic that make the constructor of those below them."""
MAKING_BASES = MODELS | frozenset(
    {f"{module}.{name}" for module in ("typing", "typing_extensions") for name in ("NamedTuple", "TypedDict")}
    | {"msgspec.Struct"}
)
"""All classes that make a constructor from the fields of those below them."""
_SURE = ""


def setting(inference: Inference, sought: Sought, path: str, name: str, call: int) -> str | None:
    """Return why a keyword may set the target, nothing where it surely does; None where it does not.

    Parameters:
        path: of the file that calls.
        name: the keyword.
        call: number of the expression that is the call.
    """
    if not sought.classes:
        return None
    keywords = _Keywords(inference, sought, name)
    form = inference.uses(path).expressions[call]
    if not form:
        return keywords.of(None)
    called = inference.uses(path).expressions[int(form[1])]
    if called[:1] == (u.ATTRIBUTE,) and called[2] in _SETTERS:
        values = ordered(inference.values(path, int(called[1])))
        values = [each for each in values if not keywords.is_given(each, str(called[2]))]
        return _joined(map(keywords.of_one, values))
    values = [each for each in ordered(inference.values(path, int(form[1]))) if not isinstance(each, Rebound)]
    return _joined(keywords.of_call(each, path, form) for each in values)


def may_be_field(inference: Inference, owner: Class, name: str) -> bool:
    """Return whether a name of a class may be a field of it, of which Python makes its constructor."""
    symbol = Symbol(owner.path, owner.scope, name)
    sought = Sought(
        name=name, word=name, module="", dotted="", meanings=frozenset({symbol}), classes=frozenset({owner})
    )
    return _Keywords(inference, sought, name).is_field()


def keyword_of(inference: Inference, sought: Sought, name: str) -> str:
    """Return the keyword by which constructors would set a field of some name, which attrs takes underscores from.

    Returns:
        The keyword; "" where an alias of attrs stands for it, whatever the field is called.
    """
    for owner in sorted(sought.classes, key=in_order):
        decorators = decorators_of(inference, owner, without="init")
        if any(isinstance(each, Outside) and each.name.startswith(("attr.", "attrs.")) for each in decorators):
            uses = inference.uses(owner.path)
            bindings = uses.scopes[owner.scope].names.get(sought.name, ())
            values = (first if how == u.ASSIGNED else second for how, first, second, _ in bindings)
            return "" if any("alias" in uses.expressions[each][2:] for each in values) else name.lstrip("_")
    return name


def _joined(answers: Iterable[str | None]) -> str | None:
    """Return one answer of several, of which any may be right."""
    found = list(answers)
    if found and all(each == _SURE for each in found):
        return _SURE
    return next((each or Reason.KEYWORD_OF_SEVERAL.of() for each in found if each is not None), None)


class _Keywords:
    """The reasons why a keyword may set the target.

    Parameters:
        name: the keyword.
    """

    def __init__(self, inference: Inference, sought: Sought, name: str) -> None:
        self.inference = inference
        self.sought = sought
        self.name = name

    @cached_property
    def _keyword(self) -> str:
        return keyword_of(self.inference, self.sought, self.sought.name)

    def of_call(self, value: Value, path: str, form: u.Expression) -> str | None:
        """Return why a keyword may set the target in a call of a value, such as a function that copies its argument."""
        if not isinstance(value, Outside) or not (value.name in COPIERS or value.name == _PARTIAL):
            return self.of(value)
        if len(form) < 3 or not isinstance(form[2], int):
            return self.of_one(None)
        given = [each for each in ordered(self.inference.values(path, form[2])) if not self._is_replacing(value, each)]
        return _joined(map(self.of if value.name == _PARTIAL else self.of_one, given))

    def _is_replacing(self, function: Outside, value: Value) -> bool:
        """Return whether a function copies a value by its class, which has a parameter of that name."""
        return function.name == "copy.replace" and self.is_given(value, "__replace__")

    def of(self, value: Value) -> str | None:
        """Return why a keyword may set the target in a call of a value."""
        if value is None:
            return self.of_one(None)
        owner = value.of if isinstance(value, OfClass) else value
        if isinstance(owner, Class) and self._is_parameter(owner):
            return None
        if isinstance(value, (Class, OfClass)):
            return self.of_one(value)
        if isinstance(value, Function):  # one without such a parameter takes any keyword, and may hand it on
            names = self.inference.uses(value.path).scopes[value.scope].names
            takes = any(how == u.PARAMETER for how, *_ in names.get(self.name, ()))
            return None if takes or not self.is_field() else Reason.KEYWORD_OF_ANY.of()
        return None

    def is_given(self, value: Value, method: str) -> bool:
        """Return whether it is a parameter of a method of a value, and so none of its attributes."""
        return isinstance(value, (Above, Class, Instance, OfClass)) and self._is_parameter(value, method)

    def _is_parameter(self, owner: Value, method: str = "__init__") -> bool:
        """Return whether it is a parameter of the method that a class's code has, and so none of its attributes."""
        members = self.inference.members(owner, method)
        [symbol] = [members[0].symbol] if len(members) == 1 and members[0].sure else [None]
        scopes = self.inference.uses(symbol.path).scopes if symbol else ()
        functions = scopes[symbol.scope].names[method] if symbol else ()
        return bool(functions) and all(
            how == u.FUNCTION and any(each[0] == u.PARAMETER for each in scopes[number].names.get(self.name, ()))
            for how, number, *_ in functions
        )

    def of_one(self, value: Value) -> str | None:
        """Return why a keyword may set the target as an attribute of a class, or of its instance."""
        if value is None:
            return Reason.KEYWORD_OF_UNKNOWN.of() if self.is_field() else None
        if not isinstance(value, (Class, OfClass, Instance, Above)):
            return None
        if self.name != self._keyword:
            return None
        members = self.inference.members(value, self.sought.name)
        if not any(member.symbol in self.sought.meanings for member in members):
            return None
        order = self.inference.orders.of(value if isinstance(value, Class) else value.of)
        order = order.behind(value.of) if isinstance(value, Above) else order
        return _SURE if self.is_field() and self._makes_constructor(order) else Reason.KEYWORD_OF_CLASS.of()

    def is_field(self) -> bool:
        """Return whether the target may be a field of a class whose constructor Python makes."""
        for owner in self.sought.classes:
            bindings = self.inference.uses(owner.path).scopes[owner.scope].names.get(self.sought.name, ())
            declares = any(
                how in (u.DECLARED, u.ANNOTATED) or (how == u.ASSIGNED and self._is_call(owner, number))
                for how, number, *_ in bindings
            )
            if declares and self._makes_constructor(self.inference.orders.of(owner)) is not False:
                return True
        return False

    def _is_call(self, owner: Class, number: int) -> bool:
        return self.inference.uses(owner.path).expressions[number][:1] == (u.CALLED,)

    def _makes_constructor(self, order: Order) -> bool | None:
        """Return whether Python makes the constructor of a class from its fields; None where that is not known."""
        for node in order.nodes:
            if isinstance(node, Outside):
                if node.name in MAKING_BASES:
                    return True
                continue
            if not {*MAKING}.isdisjoint(self.inference.uses(node.path).scopes[node.scope].names):
                return False
            decorators = list(decorators_of(self.inference, node, without="init"))  # mostly makes no constructor then
            if decorators:
                known = any(isinstance(each, Outside) and each.name in _DECORATORS for each in decorators)
                return True if known else None
        return False if order.whole else None


def decorators_of(inference: Inference, owner: Class, *, without: str = "") -> Iterator[Value]:
    """Yield the values of a class's decorators, but for those called with a certain keyword."""
    uses = inference.uses(owner.path)
    waiting = [decoration_of(uses.scopes, uses.owners, owner.scope)]
    while waiting:
        form = uses.expressions[number := waiting.pop()]
        if form[:1] == (u.ANY_OF,):
            waiting.extend(map(int, form[1:]))
        elif form[:1] == (u.CALLED,):
            waiting += [] if without and without in form[2:] else [int(form[1])]
        elif form:
            yield from inference.values(owner.path, number)
