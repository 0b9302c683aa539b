"""Annotated names that code tests for another class, and so takes for what the annotation does not say.

def f(shape: Shape):
    if isinstance(shape, Tri): shape.area()      may be Tri.area, whether Tri is below Shape or not

Invariant: the test stands in the same function, the name and the class on one line of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from bae_source.project.usage.inference import Inference
from bae_source.project.usage.meaning import Symbol
from bae_source.project.usage.values import Class
from bae_source.syntax import uses as u
from bae_source.syntax.uses_growing import headers

_TEST = "isinstance"
_ANNOTATED = (u.PARAMETER, u.ANNOTATED)


def is_tested(
    inference: Inference, path: str, form: u.Expression, family: Callable[[], Iterable[Class] | None]
) -> bool:
    """Say whether code asks if an annotated name holds an instance of one of a family's classes.

    Parameters:
        path: of the file.
        form: the expression that is the name; of anything else it is not said.
        family: the classes; None where they are too many.
    """
    if form[:1] != (u.NAME,):
        return False
    name, scope = str(form[1]), int(form[2])
    number = inference.names.scope_of(path, scope, name)
    uses = inference.uses(path)
    if not number or not any(each[0] in _ANNOTATED and each[1] for each in uses.scopes[number].names[name]):
        return False
    return any(_is_tested_for(inference, path, scope, name, each) for each in family() or ())


def _is_tested_for(inference: Inference, path: str, scope: int, name: str, owner: Class) -> bool:
    there, uses = inference.uses(owner.path), inference.uses(path)
    called = there.owners[headers(there)[owner.scope].owner].rpartition(".")[2].partition("[")[0]
    for line, column, at, kind, receiver, _ in uses.mentions.get(called, ()):
        if at != scope or kind != u.READ or not _are_on(uses, scope, (line, column), name):
            continue
        if receiver != u.PLAIN:
            return True
        held = (inference.held(each) for each in inference.names.named(path, scope, called) if isinstance(each, Symbol))
        if any(owner in values for values in held):
            return True
    return False


def _are_on(uses: u.Uses, scope: int, place: tuple[int, int], name: str) -> bool:
    """Say whether the test and the name stand before a place on its line."""
    return all(
        any(each[:1] == place[:1] and each[1] < place[1] and each[2] == scope for each in uses.mentions.get(word, ()))
        for word in (_TEST, name)
    )
