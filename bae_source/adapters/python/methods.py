"""Requests as methods in Python, made of their declarations: parameters, types, help, and what a call returns.

    src.search("retry", "timeout", scope="app")     `words` is starred, so `scope` and `limit` have names only
    src.undo()                                      `operation_id` is left out; a None that is handed on is refused

Invariants:
- what is wrong with a call is an error with all of it at once, as every door has it;
- nothing about a single request stands here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from bae_source.engine.dependencies import module_of
from bae_source.engine.registry import REQUESTS, called
from bae_source.model import reference
from bae_source.model.context import Context, steering
from bae_source.model.outcome import Outcome, Text
from bae_source.model.request import Effect, Parameter, Request, check_none, parameters
from bae_source.model.selection import answered

CODE = ("queries.", "refactoring.", "resources.config.", "resources.deps.")
"""Beginnings of the names under which the registry has requests that read and change code."""
_LIMITS = ("budget", "cursor")
"""Parameters of the context that `Source.within` takes."""
_NAMED = {reference.Certainty: "Certainty", reference.Defined: "Defined", reference.Kind: "Kind"}
"""Types that have a name."""


class Selection(dict[str, Any]):
    """A selection as JSON has it, and the outcome that it is of."""

    outcome: Outcome


class Selections(list[dict[str, Any]]):
    """Several selections, and the outcome that they are of."""

    outcome: Outcome


class _Last:
    """The default of a parameter that stands for the last operation where it is left out."""

    def __repr__(self) -> str:
        return "LAST"


LAST = _Last()


def named(verb: str) -> type[Request]:
    """Return the request with a verb that there is."""
    kind = REQUESTS.named(verb)
    assert kind is not None, "verbs come from the registry"
    return kind


@cache
def taken(kind: type[Request]) -> tuple[inspect.Parameter, ...]:
    """Return a request's parameters as a method has them, with types as text; those of every change left out."""
    found, starred = list[inspect.Parameter](), False
    for each in sorted(parameters(kind), key=lambda each: (not each.placed, not each.required)):
        starred = starred or each.starred
        how = (
            inspect.Parameter.VAR_POSITIONAL
            if each.starred
            else inspect.Parameter.POSITIONAL_OR_KEYWORD
            if each.placed and not starred
            else inspect.Parameter.KEYWORD_ONLY
        )
        default = LAST if each.name in kind.refuses_none else each.default
        empty = each.required or each.starred
        found.append(
            inspect.Parameter(
                each.name, how, default=inspect.Parameter.empty if empty else default, annotation=_typed(kind, each)
            )
        )
    return (*found, *map(_named, around(kind) if kind.effect is Effect.READS else ()))


@cache
def around(kind: type[Request]) -> tuple[Parameter, ...]:
    """Return the parameters of a call's run, beside the limits that `Source.within` takes."""
    return tuple(each for each in steering(kind) if each.name not in _LIMITS)


def families(*, of_code: bool) -> tuple[str, ...]:
    """Return the words that verbs share, and that methods have before a dot: `src.deps.add`.

    Parameters:
        of_code: whether those are wanted that a transaction takes, or the others.
    """
    declared = zip(REQUESTS.commands, REQUESTS.declared, strict=True)
    found = {
        command.split()[0] for command, (_, place) in declared if " " in command and place.startswith(CODE) is of_code
    }
    return tuple(sorted(found - {"ast"}))


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
    if several and (len(placed) > len(places) or several[0] not in named):
        given[several[0]] = tuple(placed[len(places) :])
    elif len(placed) > len(places):
        problems.append(f"{len(placed)} arguments are given by place, at most {len(places)} can be")
    problems += [f"{name} is given twice" for name in named if name in given]
    return {**given, **named}, problems


@cache
def method_of(verb: str) -> Callable[..., Any]:
    """Return the method that a request is; it hands its arguments to `_call` of its object."""
    kind = named(verb)

    def method(self: Any, /, *placed: Any, **named: Any) -> Any:
        return self._call(kind, placed, named)

    this = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    context = map(_named, around(kind) if kind.effect is not Effect.READS else ())
    method.__name__ = method.__qualname__ = verb
    method.__doc__ = help_of(kind)
    method.__signature__ = inspect.Signature([this, *taken(kind), *context])  # type: ignore[attr-defined]
    return method


def help_of(kind: type[Request]) -> str:
    """Return the help of a method: what the request does, and its parameters."""
    lines = [f"    {each.name}: {each.help}" for each in (*parameters(kind), *around(kind))]
    return "\n".join([inspect.cleandoc(kind.__doc__ or ""), *(["", "Parameters:", *lines] if lines else [])])


def return_of(
    kind: type[Request], placed: Sequence[Any], given: Mapping[str, Any], context: Context, limits: Mapping[str, Any]
) -> tuple[Request, Context]:
    """Return the request that a method's call makes, and the context that it is run in.

    Parameters:
        placed: arguments given by their place.
        given: arguments given by name.
        limits: parameters of the context that hold where the call does not give them.

    Raises:
        RequestError: `invalid_arguments`, with all that is wrong with the call.
    """
    arguments, problems = by_name(taken(kind), placed, given)
    check_none(kind, arguments)
    return called(kind.verb, {**limits, **arguments}, context, wrong=problems)


def valued(request: Request, outcome: Outcome) -> Any:
    """Return an outcome as a call returns it: the text of what reads, the JSON of `ast`, else the outcome.

    Several selectors have a list of answers, one has its answer alone.
    """
    if request.effect is not Effect.READS:
        return outcome
    if request.live and outcome.found:
        return module_of(outcome.found[0].module)
    if request.family != "ast":
        return Text(outcome)
    found = answered(outcome)
    answers = found.get("answers", [found])
    value = Selections(answers) if len(request.uris) > 1 else Selection(found)  # type: ignore[attr-defined]
    value.outcome = outcome
    return value


def returned(kind: type[Request]) -> str:
    """Return the type of what a method returns, as text."""
    if kind.live:
        return "ModuleType"
    return "Outcome" if kind.effect is not Effect.READS else "Answer | list[Answer]" if kind.family == "ast" else "Text"


def typed(annotation: Any) -> str:
    """Return the type of a parameter as Python code, as callers may give it: any sequence for a tuple."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return typed(inner[0])
    if origin in (Union, UnionType):
        return " | ".join(map(typed, inner))
    if annotation in _NAMED:
        return _NAMED[annotation]
    if origin is Literal:
        return f"Literal[{', '.join(_quoted(each) for each in inner)}]"
    if origin in (tuple, list):
        return f"Sequence[{typed(inner[0])}]"
    if origin is dict:
        return f"Mapping[{', '.join(map(typed, inner))}]"
    return "None" if annotation is NoneType else getattr(annotation, "__name__", str(annotation))


def _typed(kind: type[Request], parameter: Parameter) -> str:
    text = typed(parameter.annotation)
    if parameter.starred:
        return text.removeprefix("Sequence[").removesuffix("]")
    return text.removesuffix(" | None") if parameter.name in kind.refuses_none else text


def _named(each: Parameter) -> inspect.Parameter:
    return inspect.Parameter(
        each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=typed(each.annotation)
    )


def _quoted(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)
