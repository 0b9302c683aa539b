"""Calls of the Python API that do not fit a method's signature, answered like every other malformed call.

    src.read(traget="app.f")      RequestError: read was called wrongly: traget is unknown, did you mean target?

Invariants:
- a call that fits costs one more frame, and nothing else;
- what goes wrong inside a method is passed on as it is.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, TypeVar

from bae_source.engine.registry import REQUESTS
from bae_source.errors import RequestError
from bae_source.model.context import steering
from bae_source.model.request import parameters, values_of

C = TypeVar("C", bound=type)


def fitting(kind: C) -> C:
    """Have the methods of a class that are verbs answer a call that does not fit them with `RequestError`."""
    for verb in REQUESTS.verbs:
        if (method := getattr(kind, verb, None)) is not None:
            setattr(kind, verb, _answering(method, verb))
    return kind


def _answering(method: Callable[..., Any], verb: str) -> Callable[..., Any]:
    @wraps(method)
    def call(self: Any, /, *placed: Any, **named: Any) -> Any:
        try:
            return method(self, *placed, **named)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise  # it came from within: the call itself did fit
        raise misfit(method, verb, placed, named)

    return call


def misfit(method: Callable[..., Any], verb: str, placed: tuple[Any, ...], named: dict[str, Any]) -> RequestError:
    """Return what is wrong with a call that does not fit a method, all of it at once.

    Parameters:
        placed: arguments given by their place, without the object itself.
        named: arguments given by name.
    """
    given, problems = by_name(list(inspect.signature(method).parameters.values())[1:], placed, named)
    kind = REQUESTS.named(verb)
    assert kind is not None, "every verb has a request"
    try:
        values_of(kind, (*parameters(kind), *steering(kind)), given, wrong=problems)
    except RequestError as error:
        return error
    return RequestError(
        "invalid_arguments", f"{verb} cannot be called so from Python.", hints=[str(inspect.signature(method))]
    )


def by_name(
    taken: Sequence[inspect.Parameter], placed: Sequence[Any], named: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments of a call by their names, and what is wrong with how they were given.

    Parameters:
        taken: the parameters that there are.
        placed: arguments given by their place.
        named: arguments given by name.
    """
    several = [each.name for each in taken if each.kind is each.VAR_POSITIONAL]
    places = [each.name for each in taken if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    given: dict[str, Any] = dict(zip(places, placed, strict=False))
    problems = []
    if several and len(placed) > len(places):
        given[several[0]] = tuple(placed[len(places) :])
    elif len(placed) > len(places):
        problems.append(f"{len(placed)} arguments are given by place, at most {len(places)} can be")
    problems += [f"{name} is given twice" for name in named if name in given]
    return {**given, **named}, problems
