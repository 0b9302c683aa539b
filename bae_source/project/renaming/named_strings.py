"""Strings that have to be what a name is: what a variable's own call is given, and the keys of a `TypedDict`.

    T = TypeVar("T")                            the string is what the type variable calls itself
    P = namedtuple("P", "x y")                  likewise; a copy is pickled by it
    p["x"], p.get("x"), "x" in p                keys, where `p` surely holds a TypedDict that has `x`
    p: P = {"x": 1}                             likewise

Invariants:
- a receiver counts if it is a name of which everything that binds it is known to be such a dictionary.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bae_source.errors import ResourceError
from bae_source.project.renaming.family import Family
from bae_source.project.usage.meaning import Symbol
from bae_source.project.usage.project import Project
from bae_source.project.usage.values import Instance
from bae_source.syntax import uses as u
from bae_source.syntax.tree import parse_module

_CALLED_SO = frozenset(
    {"namedtuple", "NamedTuple", "TypedDict", "NewType", "TypeVar", "ParamSpec", "TypeVarTuple", "TypeAliasType",
     "make_dataclass", "make_class", "Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"}
)  # fmt: skip
"""What is given the name of the variable that it is bound to."""
_KEYED = frozenset({"get", "pop", "setdefault"})
_DICTIONARIES = frozenset({"typing.TypedDict", "typing_extensions.TypedDict"})


def named_strings(project: Project, family: Family, path: str) -> Iterator[tuple[int, int]]:
    """Yield line and column, as a mention has them, of strings in a file that have to bear the name of a family."""
    word = family.sought.word
    has_keys = any(not _DICTIONARIES.isdisjoint(project.inference.orders.of(each).outside) for each in family.classes)
    if not has_keys and not any(each.path == path for each in family.symbols):
        return
    try:
        tree = parse_module(project.workspace.tree_at(path).text)
    except (ResourceError, SyntaxError, RecursionError, MemoryError):
        return  # nothing in it is sure
    for statement in ast.walk(tree):
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and not has_keys:
            yield from _own_name(statement, word)
    if has_keys:
        yield from _Keys(project, family, path).under(tree, 0)


def _own_name(statement: ast.Assign | ast.AnnAssign, word: str) -> Iterator[tuple[int, int]]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    call = statement.value
    if not isinstance(call, ast.Call) or not call.args or not _is(call.args[0], word):
        return
    called = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
    if called in _CALLED_SO and any(isinstance(each, ast.Name) and each.id == word for each in targets):
        yield _place(call.args[0])


def _place(string: ast.expr) -> tuple[int, int]:
    return string.lineno, string.col_offset + 1


def _is(node: ast.AST, word: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == word


class _Keys:
    """The keys of dictionaries that have a class of the family."""

    def __init__(self, project: Project, family: Family, path: str) -> None:
        self.project = project
        self.classes = frozenset(family.classes)
        self.word = family.sought.word
        self.path = path
        self.uses = project.uses(path)

    def under(self, node: ast.AST, scope: int) -> Iterator[tuple[int, int]]:
        for child in ast.iter_child_nodes(node):
            for key, holder in self._keyed(child):
                if self._holds(holder, scope):
                    yield _place(key)
            yield from self.under(child, self._scope_of(child, scope))

    def _keyed(self, node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
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

    def _holds(self, node: ast.expr, scope: int) -> bool:
        if not isinstance(node, ast.Name):
            return False
        meanings = self.project.names.named(self.path, scope, node.id)
        held = [self.project.inference.held(each) for each in meanings if isinstance(each, Symbol)]
        values = [value for each in held for value in each]
        return len(held) == len(meanings) > 0 < len(values) and all(
            isinstance(each, Instance) and each.of in self.classes for each in values
        )

    def _scope_of(self, node: ast.AST, around: int) -> int:
        """Return the scope of a function, or of what a class suite holds; else the one around."""
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return around
        how = u.CLASS if isinstance(node, ast.ClassDef) else u.FUNCTION
        bindings = self.uses.scopes[around].names.get(node.name, ())
        return next((each[1] for each in bindings if each[0] == how and each[3] == node.lineno), around)
