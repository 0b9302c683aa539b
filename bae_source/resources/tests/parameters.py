"""The cases of a test that its file shows: literal parametrisations, with the ids that pytest makes of them.

    @pytest.mark.parametrize("x", [1, "a", None])               [1] [a] [None]
    @pytest.mark.parametrize("x", [{}, pytest.param(2, id="b")])    [x0] [b]
    @pytest.mark.parametrize(("x", "y"), [(1, 2)])              [1-2]
    two decorators                                              the lower one's ids stand first
    @pytest.mark.parametrize("x", [f(), g()])                   2 cases; their ids are not known
    @pytest.mark.parametrize("x", CASES)                        computed

Invariant: nothing is evaluated but literals.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product

from msgspec import Struct

_MOST = 10_000
"""Cases of one test that are listed one by one."""
_ESCAPED = {code: f"\\x{code:02x}" for code in range(128) if not 32 <= code < 127} | str.maketrans(
    {"\t": "\\t", "\r": "\\r", "\n": "\\n"}
)
_LONGEST = 100
"""Characters of a text that is an id by itself; of longer ones pytest's versions make different ones."""


class Cases(Struct, frozen=True, kw_only=True):
    """The cases of a test, as far as its decorators tell.

    Parameters:
        ids: each case's, as pytest writes it in brackets; empty where they are not known.
        number: how many there are; None where that is computed.
    """

    ids: tuple[str, ...] = ()
    number: int | None = 1

    @property
    def shown(self) -> str:
        """Words behind a test in a list where its ids are not known."""
        return "[computed]" if self.number is None else f"[{self.number} cases]"


def cases_of(decorators: Sequence[ast.expr]) -> Cases | None:
    """Return the cases of a function with some decorators, those of its class last; None where it has none."""
    parametrised = _parametrised(decorators)
    if not parametrised:
        return None
    parts = [_cases(each) for each in parametrised]
    if any(part.number is None for part in parts):
        return Cases(number=None)
    number = 1
    for part in parts:
        number *= part.number or 0
    if any(not part.ids for part in parts) or number > _MOST:
        return Cases(number=number)
    # pytest multiplies the lower decorator's cases by the upper one's, and each id keeps the lower one's in front
    return Cases(ids=tuple("-".join(each) for each in product(*(part.ids for part in parts))), number=number)


def parameters_of(decorators: Sequence[ast.expr]) -> Iterator[str]:
    """Yield the parameters that decorators give."""
    for each in _parametrised(decorators):
        yield from _names(each.args[0] if each.args else None) or ()


def _parametrised(decorators: Sequence[ast.expr]) -> list[ast.Call]:
    """Return the decorators that parametrise, the lowest first."""
    return [each for each in reversed(decorators) if isinstance(each, ast.Call) and _is_parametrize(each.func)]


def _is_parametrize(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and function.attr == "parametrize"


def _cases(call: ast.Call) -> Cases:
    """Return the cases of one decorator."""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    names = _names(call.args[0] if call.args else given.get("argnames"))
    values = call.args[1] if len(call.args) > 1 else given.get("argvalues")
    if names is None or not isinstance(values, (ast.List, ast.Tuple)):
        return Cases(number=None)
    if any(isinstance(each, ast.Starred) for each in values.elts):
        return Cases(number=None)
    if not values.elts:
        return Cases(ids=("NOTSET",))
    own = call.args[3] if len(call.args) > 3 else given.get("ids")
    ids = [_id(each, names, index, _given_id(own, index, len(values.elts))) for index, each in enumerate(values.elts)]
    known = [each for each in ids if each is not None]
    return Cases(ids=_unique(known) if len(known) == len(ids) else (), number=len(ids))


def _names(node: ast.expr | None) -> tuple[str, ...] | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return tuple(part.strip() for part in node.value.split(",") if part.strip())
    if isinstance(node, (ast.List, ast.Tuple)):
        texts = [each.value for each in node.elts if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        return tuple(texts) if len(texts) == len(node.elts) else None
    return None


def _given_id(own: ast.expr | None, index: int, count: int) -> str | None:
    """Return the id that `ids=` gives a case; "" where it gives none, None where that is computed."""
    if own is None or (isinstance(own, ast.Constant) and own.value is None):
        return ""
    if not isinstance(own, (ast.List, ast.Tuple)) or len(own.elts) != count:
        return None
    node = own.elts[index]
    if not isinstance(node, ast.Constant):
        return None
    return "" if node.value is None else _of_value(node)


def _id(node: ast.expr, names: Sequence[str], index: int, given: str | None) -> str | None:
    """Return the id of one case; None where it is computed."""
    if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "param":
        own = next((keyword.value for keyword in node.keywords if keyword.arg == "id"), None)
        if own is not None and not (isinstance(own, ast.Constant) and own.value is None):
            return _of_value(own) if isinstance(own, ast.Constant) else None
        values: Sequence[ast.expr] = node.args
    elif len(names) == 1:
        values = [node]
    elif isinstance(node, (ast.List, ast.Tuple)):
        values = node.elts
    else:
        return None
    if given is None or given:
        return given
    if len(values) != len(names) or any(isinstance(each, ast.Starred) for each in values):
        return None
    ids = [_of_value(each) or _numbered(each, name, index) for each, name in zip(values, names, strict=True)]
    known = [each for each in ids if each is not None]
    return "-".join(known) if len(known) == len(ids) else None


def _of_value(node: ast.expr) -> str | None:
    """Return the id of a literal that pytest writes as it is; None for what it numbers, or what is computed."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        try:
            value = ast.literal_eval(node)
        except ValueError:
            return None
    elif isinstance(node, ast.Constant):
        value = node.value
    else:
        return None
    if isinstance(value, (str, bytes)) and len(value) > _LONGEST:
        return None
    if isinstance(value, str):
        return value.encode("unicode_escape").decode("ascii").translate(_ESCAPED)
    if isinstance(value, bytes):
        return value.decode("ascii", "backslashreplace").translate(_ESCAPED)
    if value is None or isinstance(value, (bool, int, float, complex)):
        return str(value)
    return None


def _numbered(node: ast.expr, name: str, index: int) -> str | None:
    """Return the id of a literal without one of its own: `x0`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
        return None if node.value else ""
    literal = isinstance(node, (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.Lambda))
    if isinstance(node, ast.Lambda):
        return "<lambda>"
    return f"{name}{index}" if literal else None


def _unique(ids: Sequence[str]) -> tuple[str, ...]:
    """Number the ids that come more than once, as pytest does: `a0`, `a1`, and `1_0` behind a digit."""
    counted = Counter(ids)
    numbers: Counter[str] = Counter()
    taken = set(ids)
    found = []
    for each in ids:
        if counted[each] == 1:
            found.append(each)
            continue
        between = "_" if each[-1:].isdigit() else ""
        while (new := f"{each}{between}{numbers[each]}") in taken:
            numbers[each] += 1
        numbers[each] += 1
        found.append(new)
    return tuple(found)
