"""Patch a loaded module: run its new source so that the functions and classes which are there become the new ones.

The module's code runs in its namespace. Whenever it binds a function or a class, what it made is poured into the one
that was there, and that one is bound: so later statements, subclasses and instances meet the one everybody knows.
A registry that others fill stays, see `gathered`, and a variable that functions set, see `variables`; other values are
bound anew, as a reload does.

Invariants:
- a name that the new source binds more than once is looked at when all has run, because only the last one counts;
- what a loop makes is bound anew, and so is what has no name of its own, `_`;
- functions that no name leads to (registered ones, nested ones that are alive, those in a property) take the new
  code of their definition where `matching` is certain of it, and no function of a class that was left alone does,
  nor one that binds otherwise now, as a method that became a class method;
- what could not take the new code is named, with the reason.
"""

from __future__ import annotations

import dis
import gc
import weakref
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType

from bae_source.model.outcome import Notice
from bae_source.model.text import listed
from bae_source.reloading.in_process.in_process import Names, defined_by, execute
from bae_source.reloading.in_process.load_order import code_objects
from bae_source.reloading.patch.comparison import (
    defined_functions,
    definitions,
    look_up,
    own_objects,
    runs_other,
)
from bae_source.reloading.patch.gathered import CONTAINERS, stays
from bae_source.reloading.patch.inside import belongs, direct_functions, functions_behind, kind_of, kind_of_code
from bae_source.reloading.patch.matching import Matching, nameless, repeated
from bae_source.reloading.patch.pouring import Pouring
from bae_source.reloading.patch.pouring_classes import ClassPouring
from bae_source.reloading.patch.variables import Variables

_STORES = {"STORE_NAME", "STORE_GLOBAL"}
_DECORATED = "its decorators changed"
_PLAIN = (str, bytes, int, float, complex, tuple, list, dict, set, frozenset)


class Patch:
    """Patches one module.

    Parameters:
        module: the loaded module.
        code: its new code.
        old: the code of its source before, None if that does not compile.
        pouring: the memory of the whole change.
        functions: the module's functions that are alive.
    """

    def __init__(
        self,
        module: ModuleType,
        code: CodeType,
        old: CodeType | None,
        pouring: Pouring,
        functions: Sequence[FunctionType],
    ) -> None:
        self._module = module
        self._code = code
        self._old = old
        self._pouring = pouring
        self._functions = functions
        self._living = {id(function): function.__code__ for function in functions}
        self._before = dict(vars(module))
        self._members = {name: value for name, value in definitions(module) if "." in name}
        self._matching = Matching(old, code)
        (names, loops), (more, others) = repeated(old), repeated(code)
        self._repeated = names | more
        self._in_loops = loops | others
        self._loaded = _loaded(old) | _loaded(code)
        self._once = _bound_once(code) - self._repeated
        self._variables = Variables(module, old, code, as_loaded=self._as_loaded())
        self._classes = ClassPouring(
            pouring, module, self._matching, _assigned(old), (_set_later(old), _set_later(code)), self._variables
        )
        pouring.know(vars(module), self._matching.before, self._matching.after)
        self._left: dict[str, str] = {}

    def run(self) -> None:
        """Execute the module's new code; raise whatever it raises."""
        execute(self._module, self._code, self._old, through=_Binding(vars(self._module), self._bound))
        namespace = vars(self._module)
        for name, old in self._before.items():
            current = namespace.get(name, old)
            if current is not old and self._is_certain(name, old, current):
                self._rebind(name, self._poured(old, current))
        for name, value in list(namespace.items()):
            self._rebind(name, self._pouring.standing_for(value))
        self._classes.finish()
        self._pouring.settle(self._is_gone)
        self._pour_into_others()
        self._variables.go_on(self._before, self._is_outdated)

    def left(self) -> dict[str, str]:
        """Return the definitions that did not take the new code: qualname and reason."""
        namespace = vars(self._module)
        decorated = defined_functions(self._code)
        for name, old in self._before.items():
            new = namespace.get(name, old)
            if new is old or not callable(old) or name in self._classes.reasons or name in self._left:
                continue
            if isinstance(old, FunctionType) and (nameless(name) or name in self._repeated):
                continue  # `_pour_into_others` has seen to it
            if defined_by(self._module, old) and getattr(old, "__name__", name) in (name, "<lambda>"):
                self._left[name] = _DECORATED if self._pouring.taken(old) else _difference(old, new)
            elif name in decorated and not self._matching.is_same_definition(name, self._is_as_before):
                self._left[name] = "what stands for it hides it"
            elif isinstance(old, FunctionType | BuiltinFunctionType | type) and _origin(old) != _origin(new):
                self._left[name] = "it is something else now"
        return self._classes.reasons | self._classes.notes | self._left

    def _is_as_before(self, name: str) -> bool:
        """Return whether what a decorator takes by a name is an equal plain value; of others that is unknown."""
        old, new = self._before.get(name), vars(self._module).get(name)
        return old is new or type(old) is not type(new) or not isinstance(new, _PLAIN) or old == new

    def _is_gone(self, value: object) -> bool:
        """Return whether a value is a function or class that this module's source defined and no longer does."""
        if not isinstance(value, FunctionType | type) or not defined_by(self._module, value):
            return False
        name = value.__code__.co_qualname if isinstance(value, FunctionType) else value.__qualname__
        return name in self._matching.before and name not in self._matching.after and "<locals>" not in name

    def _as_loaded(self) -> bool:
        """Return whether all functions that are alive run code of the old source, on its lines."""
        known = set(code_objects(self._old)) if self._old is not None else set()
        return all(code in known for code in self._living.values() if code.co_filename == self._code.co_filename)

    def _is_outdated(self, value: object) -> bool:
        """Return whether a value is old code, or is (an instance of) a definition that is gone or was replaced."""
        cls = value if isinstance(value, type) else type(value)
        if self._is_gone(value) or self._is_gone(cls):
            return True
        now = look_up(cls.__qualname__, self._module) if belongs(cls, self._module) else None
        if isinstance(now, type) and now is not cls:
            return True
        return any(runs_other(function, self._module, self._code) for function in direct_functions(value))

    def _rebind(self, name: str, value: object) -> None:
        if vars(self._module).get(name) is not value:
            vars(self._module)[name] = value

    def _bound(self, name: str, value: object) -> object:
        old = self._before.get(name)
        if old is None or name not in self._once or nameless(name):
            return value
        if type(value) in CONTAINERS and old is not value and self._stays(name, old, value):
            self._pouring.keep(old, value)
        return self._poured(old, value)

    def _stays(self, name: str, old: object, new: object) -> bool:
        """Return whether a registry stays: one that no statement at the top level fills, which would fill it again."""
        if self._old is None or name in self._loaded or self._pouring.standing_for(new) is not new:
            return False
        return stays(old, new, name, (self._old, self._code), self._pouring.standing_for)

    def _is_certain(self, name: str, old: object, new: object) -> bool:
        """Return whether what a name is bound to now is what it was bound to before, as far as its name goes."""
        if nameless(name) or name in self._repeated:
            if name in self._repeated and isinstance(old, type) and defined_by(self._module, old):
                self._classes.reasons[old.__qualname__] = "it is made in a loop"
            return False
        if not isinstance(old, FunctionType) or not isinstance(new, FunctionType):
            return True
        if not self._matching.stands_elsewhere(self._living.get(id(old), old.__code__), new.__code__):
            return True
        self._left[name] = "its name stands for another of its definitions now"
        return False

    def _poured(self, old: object, new: object) -> object:
        known = self._pouring.standing_for(new)
        if known is not new or old is new:
            return known
        if type(new) in CONTAINERS:
            return new
        if not isinstance(old, type) or not isinstance(new, type):
            fitting = id(new) not in self._living and self._is_own(old) and self._is_own(new)
            return self._pouring.poured(old, new) if fitting else new
        return self._classes.taken(old, new)

    def _is_own(self, value: object) -> bool:
        """Return whether a function, or what wraps one, is made of a function of this module."""
        return any(function.__globals__ is vars(self._module) for function in functions_behind(value))

    def _pour_into_others(self) -> None:
        """Give the functions that no name leads to the new code of their definition."""
        sure = {
            self._living[id(function)]: function.__code__
            for function in self._functions
            if self._pouring.taken(function)
        }
        new, rebound = self._new_functions(), self._rebound()
        for function in self._functions:
            was = function.__code__
            name = was.co_qualname
            if self._pouring.taken(function) or name in rebound or self._of_left_class(name):
                continue
            if not self._matching.has_function(name):
                if "<locals>" in name and was.co_filename == self._code.co_filename:
                    self._left[name] = "none has that name now, and one that was made before keeps the old code"
                continue
            code = self._matching.became(was, sure)
            if code is None:
                self._left[name] = "which of the new ones it became is not certain"
            elif self._matching.may_bind_otherwise(was, code):
                self._left[name] = "its decorators changed, and one that was made before keeps the old code"
            elif not self._pour_code(function, code, new):
                kinds = kind_of_code(was), kind_of_code(code)
                same = "one that was made, or taken from its class, before keeps the old code"
                self._left[name] = same if kinds[0] == kinds[1] else _became(*kinds)
            elif function.__code__ is code and self._defaults_changed(function, was):
                self._left[name] = "its statement changed, and one that was made before keeps its defaults"

    def _rebound(self) -> set[str]:
        """Name the members of classes that are callables of another kind now; return the definitions that they had.

        These are not poured into: a holder of `A().m` passes an instance on, also where `m` takes a class now.
        """
        now = dict(definitions(self._module))
        found: set[str] = set()
        for name, old in self._members.items():
            new, (cls, _, last) = now.get(name), name.rpartition(".")
            own = [each for each in functions_behind(old) if each.__globals__ is vars(self._module)]
            if new is None or new is old or not own or nameless(last) or self._of_left_class(name):
                continue
            before, after = kind_of(old), kind_of(new)
            if before[:-1] != after[:-1] and any(functions_behind(new)):
                self._left[name] = _became(before[0], after[0])
                found |= {
                    each.__code__.co_qualname
                    for each in own
                    if each.__code__.co_qualname.rpartition(".")[0] == cls and not self._pouring.taken(each)
                }
            elif before != after and name in self._matching.before and self._matching.has_function(name):
                self._left[name] = _DECORATED
        return found

    def _defaults_changed(self, function: FunctionType, was: CodeType) -> bool:
        """Return whether a function that took code alone has defaults, and the statement that gave them changed."""
        old = next((code for code in self._matching.before.get(was.co_qualname, []) if code == was), was)
        given = function.__defaults__ or function.__kwdefaults__
        return bool(given) and not self._matching.same_statement(old, function.__code__)

    def _pour_code(self, function: FunctionType, code: CodeType, new: Mapping[int, list[FunctionType]]) -> bool:
        same = new.get(id(code), [])
        looped = function.__code__ in self._in_loops or code in self._in_loops
        if "<locals>" not in code.co_qualname and len(same) == 1 and not looped:
            return self._pouring.pour_copy(function, same[0])
        return self._pouring.pour_code(function, code)

    def _new_functions(self) -> dict[int, list[FunctionType]]:
        """Return the functions that running the module made, by their code."""
        found: dict[int, list[FunctionType]] = {}
        living, _ = living_functions([self._module])
        for function in living[id(vars(self._module))]:
            if id(function) not in self._living:
                found.setdefault(id(function.__code__), []).append(function)
        return found

    def _of_left_class(self, name: str) -> bool:
        return any(name.startswith(f"{cls}.") for cls in self._classes.reasons)


class _Binding(Names):
    """A module's namespace that looks at what is bound in it."""

    def __init__(self, namespace: dict[str, object], bound: Callable[[str, object], object]) -> None:
        super().__init__(namespace)
        self._bound = bound

    def __setitem__(self, name: str, value: object) -> None:
        super().__setitem__(name, self._bound(name, value))


def living_functions(modules: Sequence[ModuleType]) -> tuple[dict[int, list[FunctionType]], list[ModuleType]]:
    """Find all functions whose globals are a module's.

    Returns:
        They by the identity of its namespace, and the modules whose objects `gc.freeze` may have set aside, where
        nobody finds what refers to them: not even the module, which refers to its namespace, was found.
    """
    found: dict[int, list[FunctionType]] = {id(vars(module)): [] for module in modules}
    aside = {id(module): module for module in modules}
    for referrer in gc.get_referrers(*(vars(module) for module in modules)):
        aside.pop(id(referrer), None)
        if type(referrer) is FunctionType and id(referrer.__globals__) in found:
            found[id(referrer.__globals__)].append(referrer)
    return found, list(aside.values())


def _origin(value: object) -> tuple[object, object]:
    return getattr(value, "__module__", None), getattr(value, "__qualname__", None)


def _difference(old: object, new: object) -> str:
    if not isinstance(old, FunctionType) or not isinstance(new, FunctionType):
        return "it is something else now"
    if new.__code__.co_qualname == old.__code__.co_qualname:
        return "the variables that its closure holds changed"
    return _DECORATED


def _became(old: str, new: str) -> str:
    """Return the reason for a callable that is of another kind now."""
    return f"it was {old} and is {new} now; what holds the old one keeps it" if old != new else _DECORATED


def _set_later(code: CodeType | None) -> Counter[str]:
    """Count the statements at a source's top level that set an attribute, by its name."""
    steps = dis.get_instructions(code) if code is not None else ()
    return Counter(step.argval for step in steps if step.opname == "STORE_ATTR")


def _bound_once(code: CodeType) -> frozenset[str]:
    counts = Counter(step.argval for step in dis.get_instructions(code) if step.opname in _STORES)
    return frozenset(name for name, count in counts.items() if count == 1)


def _loaded(code: CodeType | None) -> frozenset[str]:
    steps = dis.get_instructions(code) if code is not None else ()
    return frozenset(step.argval for step in steps if step.opname in ("LOAD_NAME", "LOAD_GLOBAL"))


def _assigned(code: CodeType | None) -> frozenset[str]:
    """Return the names bound in the class bodies of a source, or as attributes of something."""
    parts = code_objects(code) if code is not None else ()
    stores = {"STORE_NAME", "STORE_ATTR"}
    return frozenset(step.argval for part in parts for step in dis.get_instructions(part) if step.opname in stores)


# Patch the modules of one change, and say what could not be patched.
#
# Invariants:
# - all functions of these modules that are alive are found before the first module runs;
# - `restore` puts every function, class and closure back that was touched.


class Patching:
    """One change that is patched into this process.

    Parameters:
        modules: those that will be patched.
    """

    def __init__(self, modules: Sequence[ModuleType]) -> None:
        gc.collect()  # so that functions that only wait to be collected do not count
        self._functions, self._frozen = living_functions(modules)
        for module in self._frozen:
            found = self._functions[id(vars(module))]
            known = {id(function) for function in found}
            found += [each for each in own_objects(module) if isinstance(each, FunctionType) and id(each) not in known]
        self._pouring = Pouring(vars(module) for module in modules)
        self._left: list[tuple[str, dict[str, str]]] = []

    def run(self, module: ModuleType, code: CodeType, old: CodeType | None) -> None:
        """Patch one module; raise whatever its code raises.

        Parameters:
            code: the module's new code.
            old: the code of its source before, None if that does not compile.
        """
        patch = Patch(module, code, old, self._pouring, self._functions[id(vars(module))])
        patch.run()
        self._left.append((module.__name__, patch.left()))

    def finish(self) -> tuple[Notice, ...]:
        """Return notices of objects that do not run the new code, or exist twice."""
        self._functions.clear()
        notices = [
            Notice("not_patched", f"{module}: {listed([f'{name} ({reason})' for name, reason in left.items()], 10)}.")
            for module, left in self._left
            if left
        ]
        return (*notices, *self._aside(), *self._twice())

    def restore(self) -> None:
        """Put everything back; may be called twice."""
        self._pouring.restore()

    def _aside(self) -> tuple[Notice, ...]:
        """Name the modules whose functions cannot all be found."""
        names = [module.__name__ for module in self._frozen]
        if not names:
            return ()
        why = "gc.freeze set the objects aside, so functions that no name leads to keep the old code"
        text = f"{listed(names, 10)}: {why}."
        return (Notice("not_patched", text),)

    def _twice(self) -> tuple[Notice, ...]:
        """Name the classes whose second edition, which was poured into the first one, is still referred to."""
        editions = [
            (f"{new.__module__}.{new.__qualname__}", weakref.ref(new))
            for new in self._pouring.finished()
            if isinstance(new, type)
        ]
        if editions:
            gc.collect()
        kept = [name for name, edition in editions if edition() is not None]
        if not kept:
            return ()
        text = f"{listed(kept, 10)}: a decorator, metaclass or base that ran anew keeps a second class of the name."
        return (Notice("exists_twice", text),)
