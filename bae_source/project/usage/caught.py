"""Built-in exceptions, whose name stands for every class below them: what is caught is mostly one of those.

except Exception as error:
if isinstance(error, Refused): error.explain()      of `Refused`, though no `Exception` has an `explain`
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable

from bae_source.project.usage.class_order import Order
from bae_source.project.usage.values import Class, OutsideInstance, Value

_OWNER = "builtins."


def is_exception(value: Value) -> bool:
    """Say whether a value is an instance of a built-in exception, or of a class below it."""
    return isinstance(value, OutsideInstance) and _is_below(value.name, "BaseException")


def may_be_caught(classes: Iterable[Class] | None, order: Callable[[Class], Order], kind: str) -> bool:
    """Say whether one of some classes may be below a built-in exception; None are too many to look at."""
    return classes is None or any(_may_be(order(each), kind) for each in classes)


def _may_be(order: Order, kind: str) -> bool:
    return not order.whole or any(not name.startswith(_OWNER) or _is_below(name, kind) for name in order.outside)


def _is_below(name: str, kind: str) -> bool:
    found = getattr(builtins, name.removeprefix(_OWNER), None) if name.startswith(_OWNER) else None
    return isinstance(found, type) and issubclass(found, getattr(builtins, kind))
