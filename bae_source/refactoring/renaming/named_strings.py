"""Strings that have to be what a name is: in a variable's own call, as an attribute's name, as a `TypedDict`'s key.

    T = TypeVar("T")                            the string is what the type variable calls itself
    P = namedtuple("P", "x y")                  likewise; a copy is pickled by it
    getattr(core, "send")                       likewise, where the attribute of `core` is the renamed symbol
    Colour["RED"]                               likewise, of an enumeration
    patch.object(core, "send")                  likewise, as with `monkeypatch.setattr`
    p["x"], p.get("x"), "x" in p                keys, where `p` surely holds a TypedDict that has `x`
    p: P = {"x": 1}                             likewise
    @field_validator("x")                       likewise, in the class of pydantic that has the field
    p.model_copy(update={"x": 1})               likewise

Invariants:
- an owner counts if it is a name, or attributes of one, of which all that binds it is known.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from functools import cached_property

from bae_source.errors import ResourceError
from bae_source.project.references.calls.keywords import MODELS
from bae_source.project.references.classes.family import Family
from bae_source.project.references.meaning.meanings import Meaning, Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.types.enumerations import ENUMERATIONS
from bae_source.project.references.types.values import Class, Instance, Rebound, Value, Values
from bae_source.syntax.names import uses as u
from bae_source.syntax.names.newer import statements_of_newer
from bae_source.syntax.outline.tree import parse_module

_CALLED_SO = frozenset(
    {"namedtuple", "NamedTuple", "TypedDict", "NewType", "TypeVar", "ParamSpec", "TypeVarTuple", "TypeAliasType",
     "make_dataclass", "make_class", "Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"}
)  # fmt: skip
"""Calls that take the name of the variable which their value is bound to."""
_TAKING = frozenset({"getattr", "setattr", "hasattr", "delattr", "object"})
"""Calls with an object and the name of its attribute; `object` is that of `mock.patch`."""
_KEYED = frozenset({"get", "pop", "setdefault"})
_VALIDATING = frozenset({"field_validator", "field_serializer", "validator", "serializer"})
"""Decorators that take the names of fields."""
_DUMPING = frozenset({"model_copy", "model_dump", "model_dump_json", "copy", "dict", "json"})
_CHOOSING = frozenset({"update", "include", "exclude"})
"""Keywords of these methods whose sets and dictionaries have names of fields."""
_DICTIONARIES = frozenset({"typing.TypedDict", "typing_extensions.TypedDict"})


def named_strings(project: Project, family: Family, path: str) -> Iterator[tuple[int, int]]:
    """Yield line and column, as a mention has them, of strings in a file that have to have the name of a family."""
    word = family.sought.word
    tree = _tree(project, path)
    has_keys = any(not _DICTIONARIES.isdisjoint(project.inference.orders.of(each).outside) for each in family.classes)
    if tree is None:
        return
    if has_keys:
        yield from _Keys(project, family, path).under(tree, 0)
        return
    if any(each.path == path for each in family.symbols):
        for statement in ast.walk(tree):
            if isinstance(statement, (ast.Assign, ast.AnnAssign)):
                yield from _own_name(statement, word)
    yield from _Attributes(project, family, path).under(tree, 0)
    if any(not MODELS.isdisjoint(project.inference.orders.of(each).outside) for each in family.classes):
        yield from _Fields(project, family, path).under(tree, 0)


def _tree(project: Project, path: str) -> ast.Module | None:
    """Return the tree of a file; None where nothing in it is sure."""
    try:
        text = project.workspace.tree_at(path).text
        try:
            return parse_module(text)
        except SyntaxError:
            return ast.Module(statements_of_newer(text), [])
    except (ResourceError, SyntaxError, RecursionError, MemoryError):
        return None


def _own_name(statement: ast.Assign | ast.AnnAssign, word: str) -> Iterator[tuple[int, int]]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    call = statement.value
    if not isinstance(call, ast.Call) or not call.args or not _is(call.args[0], word):
        return
    if _called(call) in _CALLED_SO and any(isinstance(each, ast.Name) and each.id == word for each in targets):
        yield _place(call.args[0])


def _called(call: ast.Call) -> str:
    """Return the last name of the callee."""
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def _place(string: ast.expr) -> tuple[int, int]:
    return string.lineno, string.col_offset + 1


def _is(node: ast.AST, word: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == word


class _Named(ABC):
    """Strings of one kind in a file, with what they are the name in."""

    def __init__(self, project: Project, family: Family, path: str) -> None:
        self.project = project
        self.family = family
        self.word = family.sought.word
        self.path = path
        self.uses = project.uses(path)

    def under(self, node: ast.AST, scope: int) -> Iterator[tuple[int, int]]:
        """Yield the places of the strings below a node that stands in a scope."""
        for child in ast.iter_child_nodes(node):
            for string, owner in self.pairs(child):
                if self.is_named(self.values(owner, scope)):
                    yield _place(string)
            yield from self.under(child, self._scope_of(child, scope))

    @abstractmethod
    def pairs(self, node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
        """Yield the strings in an expression that are the word, each with what it is a name in."""

    @abstractmethod
    def is_named(self, values: Values) -> bool:
        """Return whether the word surely is the renamed symbol, in what may be any of some values."""

    def values(self, node: ast.expr, scope: int) -> Values:
        """Return what a name, or attributes of one, may be; nothing for any other expression."""
        if isinstance(node, ast.Attribute):
            inference = self.project.inference
            known = (
                each for each in self.values(node.value, scope) if each is not None and not isinstance(each, Rebound)
            )
            return frozenset().union(*(self._values_of(inference.attribute(each, node.attr)) for each in known))
        if not isinstance(node, ast.Name):
            return frozenset()
        return self._values_of(self.project.names.named(self.path, scope, node.id))

    def _values_of(self, meanings: Iterable[Meaning | None]) -> Values:
        found: set[Value] = set()
        for each in meanings:
            found |= self.project.inference.values_of(each) if isinstance(each, Symbol) else {each}
        return frozenset(found)

    def _scope_of(self, node: ast.AST, around: int) -> int:
        """Return the scope of a function or class; else the one around."""
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return around
        how = u.CLASS if isinstance(node, ast.ClassDef) else u.FUNCTION
        bindings = self.uses.scopes[around].names.get(node.name, ())
        return next((each[1] for each in bindings if each[0] == how and each[3] == node.lineno), around)


class _Attributes(_Named):
    """Names of attributes: `getattr(core, "send")`, and of members of enumerations: `Colour["RED"]`."""

    def pairs(self, node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
        if isinstance(node, ast.Call) and len(node.args) > 1 and _is(node.args[1], self.word):
            if _called(node) in _TAKING:
                yield node.args[1], node.args[0]
        elif self.has_members and isinstance(node, ast.Subscript) and _is(node.slice, self.word):
            yield node.slice, node.value

    @cached_property
    def has_members(self) -> bool:
        """Return whether the family belongs to enumerations, whose members are found by their names."""
        orders = self.project.inference.orders
        return any(not ENUMERATIONS.isdisjoint(orders.of(each).outside) for each in self.family.classes)

    def is_named(self, values: Values) -> bool:
        symbols, inference = frozenset(self.family.symbols), self.project.inference
        if not values or any(each is None or isinstance(each, Rebound) for each in values):
            return False
        found = [inference.attribute(each, self.family.sought.name) for each in values if not isinstance(each, Rebound)]
        return all(each and each <= symbols for each in found)


class _OfInstances(_Named):
    """Strings that are names in instances of a class of the family."""

    def is_named(self, values: Values) -> bool:
        classes = frozenset(self.family.classes)
        return bool(values) and all(isinstance(each, Instance) and each.of in classes for each in values)


class _Keys(_OfInstances):
    """Keys of dictionaries that have a class of the family."""

    def pairs(self, node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
        """Yield the strings that are the key in an expression, each with what holds the dictionary."""
        if isinstance(node, ast.Subscript) and _is(node.slice, self.word):
            yield node.slice, node.value
        elif isinstance(node, ast.Compare) and _is(node.left, self.word):
            if isinstance(node.ops[0], (ast.In, ast.NotIn)):
                yield node.left, node.comparators[0]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _KEYED:
            if node.args and _is(node.args[0], self.word):
                yield node.args[0], node.func.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Dict):
            yield from ((key, node.target) for key in node.value.keys if key is not None and _is(key, self.word))


class _Fields(_OfInstances):
    """Names of fields that methods of pydantic's models take, and decorators in their classes."""

    def under(self, node: ast.AST, scope: int) -> Iterator[tuple[int, int]]:
        if isinstance(node, ast.ClassDef) and Class(self.path, scope) in self.family.classes:
            calls = (call for each in node.body for call in getattr(each, "decorator_list", ()))
            for call in calls:
                if isinstance(call, ast.Call) and _called(call) in _VALIDATING:
                    yield from (_place(each) for each in call.args if _is(each, self.word))
        yield from super().under(node, scope)

    def pairs(self, node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _DUMPING:
            for given in (each.value for each in node.keywords if each.arg in _CHOOSING):
                keys = given.keys if isinstance(given, ast.Dict) else getattr(given, "elts", ())
                yield from ((key, node.func.value) for key in keys if key is not None and _is(key, self.word))
