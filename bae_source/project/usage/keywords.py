"""Keywords of calls that may set what is looked for: an attribute that bears their name.

Client(timeout=3)                 of a class that makes `timeout` from what it is given
replace(client, timeout=3)        of a function that copies an instance
super().__init__(timeout=3)       of a method that sets the fields of its class
"""

from __future__ import annotations

from collections.abc import Iterable

from bae_source.project.usage.inference import Inference
from bae_source.project.usage.meaning import Outside
from bae_source.project.usage.sought import Sought
from bae_source.project.usage.values import Class, OfClass, Value, in_order
from bae_source.syntax import uses as u

_COPIERS = frozenset(
    {"dataclasses.replace", "copy.replace", "attr.evolve", "attrs.evolve", "msgspec.structs.replace",
     "functools.partial"}
)  # fmt: skip
_SETTERS = ("__init__", "_replace")


def setting(inference: Inference, sought: Sought, path: str, name: str, called: int) -> str | None:
    """Return whose keyword may set what is looked for; None where none does.

    Parameters:
        path: of the file that calls.
        name: the keyword.
        called: number of the expression that is called.
    """
    values = sorted(inference.values(path, called), key=in_order)
    for value in values:
        if isinstance(value, (Class, OfClass)) and _is_sought(inference, sought, [value], name):
            return "the class's call"
        if isinstance(value, Outside) and value.name in _COPIERS and sought.classes:
            return value.name
    what, *rest = inference.uses(path).expressions[called] or (None,)
    if not sought.classes or what != u.ATTRIBUTE or rest[1] not in _SETTERS:
        return None
    receivers = inference.values(path, int(rest[0]))
    return str(rest[1]) if None in receivers or _is_sought(inference, sought, receivers, name) else None


def _is_sought(inference: Inference, sought: Sought, values: Iterable[Value], name: str) -> bool:
    members = (member for value in values for member in inference.members(value, name))
    return any(member.symbol in sought.meanings for member in members)
