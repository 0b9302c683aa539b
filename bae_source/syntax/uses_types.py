"""Where values of code are types, so that strings in them are read as expressions: told by the names of `typing`.

A: TypeAlias = "list[C]"                 T = TypeVar("T", bound="C | None")
B = Dict[str, "C | None"]                D = TypedDict("D", {"x": "C | None"})
"""

from __future__ import annotations

import sys

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
     "list", "dict", "set", "frozenset", "tuple"}
)  # fmt: skip
"""What makes a type of the types in the brackets behind it, wherever that stands."""
