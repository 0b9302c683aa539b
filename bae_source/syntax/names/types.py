"""The places where values of code are types, so that strings in them are read as expressions: by names of `typing`.

A: TypeAlias = "list[C]"                 T = TypeVar("T", bound="C | None")
B = Dict[str, "C | None"]                D = TypedDict("D", {"x": "C | None"})
"""

from __future__ import annotations

import ast
import sys
from typing import Protocol

from bae_source.syntax.names.gathering import Place

TYPE_ARGUMENTS = {
    "cast": (0, 1), "ForwardRef": (0, 1), "NewType": (1, 2), "TypeAliasType": (1, 2), "TypeVar": (1, sys.maxsize),
    "NamedTuple": (1, 2), "TypedDict": (1, 2),
}  # fmt: skip
"""Functions of `typing` with arguments that are, or hold, types: the number of the first, and that behind the last."""

TYPE_KEYWORDS = frozenset({("TypeVar", "bound"), ("TypeVar", "default"), ("ParamSpec", "bound")})
"""Functions and keywords whose argument is a type."""

WITH_FIELDS = ("NamedTuple", "TypedDict")
"""Those whose types stand beside the names of fields: `{"x": "C"}`, `[("x", "C")]`."""

GENERICS = frozenset(
    {"Dict", "List", "Set", "FrozenSet", "Tuple", "Type", "Optional", "Union", "Callable", "Iterable", "Iterator",
     "Sequence", "MutableSequence", "Mapping", "MutableMapping", "DefaultDict", "OrderedDict", "Deque", "Collection",
     "Generator", "AsyncGenerator", "AsyncIterable", "AsyncIterator", "Awaitable", "Coroutine", "ClassVar", "Final",
     "Annotated", "AbstractSet", "AsyncContextManager", "ChainMap", "Concatenate", "ContextManager", "ItemsView",
     "KeysView", "NotRequired", "ReadOnly", "Required", "Reversible", "TypeGuard", "TypeIs", "Unpack", "ValuesView",
     "list", "dict", "set", "frozenset", "tuple"}
)  # fmt: skip
"""Names that make a type of the types in the brackets behind them, wherever they stand."""


class Visitor(Protocol):
    """The visitor of expressions."""

    def value(self, node: ast.expr, place: Place) -> int:
        """Visit one that is evaluated, and return its number."""

    def typed(self, node: ast.expr, place: Place) -> int:
        """Visit one that gives a type."""


def type_arguments(visitor: Visitor, arguments: list[ast.expr], place: Place, function: str) -> list[int]:
    """Visit arguments, and return the numbers of those that are types; fields may hold more.

    `{"x": "C"}`, `[("x", "C")]`
    """
    types: list[int] = []
    first, end = TYPE_ARGUMENTS[function]
    for number, argument in enumerate(arguments):
        if not first <= number < end:
            visitor.value(argument, place)
        elif function not in WITH_FIELDS:
            types.append(visitor.typed(argument, place))
        elif isinstance(argument, ast.Dict):
            for key, value in zip(argument.keys, argument.values, strict=True):
                if key is not None:
                    visitor.value(key, place)
                visitor.typed(value, place)
        else:
            for field in argument.elts if isinstance(argument, (ast.List, ast.Tuple)) else (argument,):
                if isinstance(field, ast.Tuple) and len(field.elts) == 2:
                    visitor.value(field.elts[0], place)
                    visitor.typed(field.elts[1], place)
                else:
                    visitor.value(field, place)
    return types
