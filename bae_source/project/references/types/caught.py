"""Built-in exceptions, whose name stands for every class below them: what is caught is mostly one of those.

except Exception as error:
if isinstance(error, Refused): error.explain()      of `Refused`, though no `Exception` has an `explain`
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from bae_source.project.references.classes.class_order import Order
from bae_source.project.references.types.values import BUILTINS, Class, is_built_in_below


def may_be_caught(classes: Iterable[Class] | None, order: Callable[[Class], Order], kind: str) -> bool:
    """Return whether one of some classes may be below a built-in exception; None are too many to look at."""
    return classes is None or any(_may_be(order(each), kind) for each in classes)


def _may_be(order: Order, kind: str) -> bool:
    outside = order.outside
    return not order.whole or any(not name.startswith(BUILTINS) or is_built_in_below(name, kind) for name in outside)
