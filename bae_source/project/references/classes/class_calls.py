"""Calls that make a class: of `type`, of metaclasses, and of functions of well-known packages that make classes.

D = type("D", (Base,), {})
D = Registering("D", (Base,), {})         where `Registering` is a metaclass, of the project or of Python
D = make_dataclass("D", ["x"], bases=(Base,))
super().__new__(mcs, name, (*bases, Base), space)
type("D", (Other,), {"kind": Base})       not one below Base, which is none of the bases

Invariants:
- a function of the project that is called as one of these is not taken for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct

from bae_source.project.references.classes.metaclasses import METACLASSES, is_metaclass
from bae_source.project.references.classes.set_in_text import Argument, calls_in, statement_before
from bae_source.project.references.meaning.meanings import Meaning, Outside, Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Mentioned
from bae_source.project.references.types.values import Above, Class, Function, Value, Values
from bae_source.syntax.names import uses as u

_BASES: Mapping[str, tuple[int | str, ...]] = {
    "type": (1,), "new_class": (1, "bases"), "__new__": (2,),
    "make_dataclass": ("bases",), "make_class": (2, "bases"), "defstruct": ("bases",), "create_model": ("__base__",),
    "declarative_base": ("cls",), "automap_base": ("declarative_base",),
    "modelform_factory": (1, "form"), "modelformset_factory": (1, "form", "formset"),
    "formset_factory": (1, "formset"), "inlineformset_factory": ("form", "formset"),
}  # fmt: skip
"""By the name of a callable that makes classes, the arguments that hold bases: their numbers and keywords."""
_OF_METACLASS = (1, "bases")
_METHOD = "__new__"
_CALLS = (u.CALL, u.DECORATOR)
MAKERS = tuple(_BASES)


class Call(Struct, frozen=True):
    """A call that something is given to: the callee, the place of its name, and the argument."""

    name: str
    mention: u.Mention
    argument: Argument


class Calls:
    """The calls that a mentioned class is given to.

    Parameters:
        project: where to look.
    """

    def __init__(self, project: Project) -> None:
        self.project = project

    def statement(self, mentioned: Mentioned) -> tuple[int, bytes]:
        """Return the first line of the statement that something is mentioned in, and its text up to there."""
        return statement_before(self.project.lines(mentioned.path).cut, *mentioned.mention[:2])

    def around(self, mentioned: Mentioned) -> Iterator[Call]:
        """Yield the calls of which a mention is an argument, or stands in one, the innermost first."""
        first, text = self.statement(mentioned)
        for place, name, argument in calls_in(text):
            line, column = first + text.count(b"\n", 0, place), place - text.rfind(b"\n", 0, place) - 1
            for mention in self.project.uses(mentioned.path).mentions.get(name, ()):
                if mention[:2] == (line, column) and mention.kind in _CALLS:
                    yield Call(name, mention, argument)

    def making(self, mentioned: Mentioned) -> Call | None:
        """Return what makes a class of a mention, which stands among the bases that it is given; None for nothing."""
        path = mentioned.path
        for call in self.around(mentioned):
            if call.argument in _BASES.get(call.name, ()) and self._is_maker(path, call):
                return call
            if call.argument in _OF_METACLASS and any(map(self._makes_classes, self._called(path, call))):
                return call
        return None

    def parameters(self, mentioned: Mentioned) -> Iterator[Symbol]:
        """Yield the parameters of functions of the project that a mention is given as, or as a part of it."""
        for call in islice(self.around(mentioned), 1):
            for value in self._called(mentioned.path, call):
                if isinstance(value, Function):
                    names = self.project.uses(value.path).scopes[value.scope].names
                    for name in _filled(names, call.argument):
                        yield Symbol(value.path, value.scope, name)

    def _called(self, path: str, call: Call) -> Values:
        """Return what may be called where a file calls something."""
        line, column, scope, _, receiver, _ = call.mention
        inference = self.project.inference
        found: Iterable[Meaning]
        if receiver == u.PLAIN:
            found = self.project.names.named(path, scope, call.name, line, column)
        else:
            values = inference.values(path, receiver)
            found = (each for value in values for each in inference.attribute(value, call.name))
        several = (inference.values_of(each) if isinstance(each, Symbol) else (each,) for each in found)
        return frozenset[Value]().union(*several)

    def _is_maker(self, path: str, call: Call) -> bool:
        """Return whether the callee makes classes, and is no symbol of the project with that name."""
        if call.name == _METHOD:
            receiver = max(u.OPAQUE, call.mention.receiver)
            return any(map(self._makes_classes, self.project.inference.values(path, receiver)))
        return not all(isinstance(each, (Function, Class)) for each in self._called(path, call))

    def _makes_classes(self, value: Value) -> bool:
        """Return whether a value is a metaclass of the project or of Python, or `super()` of one."""
        if isinstance(value, Outside):
            return value.name in METACLASSES
        owner = value.of if isinstance(value, Above) else value
        return isinstance(owner, Class) and is_metaclass(self.project.inference.orders, owner)


def _filled(names: Mapping[str, Sequence[u.Binding]], argument: Argument) -> Iterator[str]:
    """Yield the parameters of a function that an argument of a call may fill.

    Parameters:
        names: what binds names in the function, parameters first.
    """
    positional = [name for name, bindings in names.items() if bindings[0].how not in (u.INSTANCE, u.OWN_CLASS)]
    for number, name in enumerate(positional):
        how = names[name][0][0]
        if (how == u.PARAMETER and argument in (number, name)) or (how == u.OTHER and isinstance(argument, int)):
            yield name
