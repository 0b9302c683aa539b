"""Values that a call gives to the parameters of a function, and which of them can stand where the body reads them.

    def area(w, h, unit="m"):            area(width, read(), unit=U)
        return f"{w * h} {unit}"         width, read() and U: each is read once, in the order of the call

    area(read(), read())                 likewise
    area(h=read(), w=width())            `read()` runs first, and `w` is read first: both need variables

Invariants:
- what runs code runs as often as the call runs it, in the order of the call, before all that the body does.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from msgspec import Struct

from bae_source.model.reasons import Reason
from bae_source.syntax.flow.evaluation import Depends, steps_of
from bae_source.syntax.inlining.body import Body
from bae_source.syntax.inlining.code import parsed
from bae_source.syntax.inlining.hazards import Hazard, Value, hazard, way_to
from bae_source.syntax.outline.static_values import chain_of
from bae_source.syntax.signatures.arguments import Argument, Left, arguments_in, bound_to
from bae_source.syntax.signatures.signature import Parameter, Signature
from bae_source.syntax.templates.statements import continued_at


class Given(Struct, frozen=True, kw_only=True):
    """The argument of a call for one parameter.

    Parameters:
        name: the parameter.
        text: the value as it is written.
        value: the value.
        is_default: whether the call leaves it to the function's header.
    """

    name: str
    text: str
    value: ast.expr
    is_default: bool = False


def given_by(
    brackets: str, signature: Signature, receiver: Given | None, *, skips: bool, indent: str
) -> list[Given] | Hazard:
    """Return what a call gives to all parameters, in the order of evaluation.

    Parameters:
        brackets: the arguments of the call with their brackets.
        indent: indentation of the statement around the call.
        receiver: what stands before the dot, where that is for the first parameter.
        skips: whether Python gives the first parameter.
    """
    arguments = arguments_in(brackets)
    if arguments is None or any(each.stars for each in arguments):
        return Hazard(Reason.GIVEN_BY_STAR.of(), True)
    bound = bound_to(arguments, signature, int(skips))
    if isinstance(bound, Left):
        return Hazard(bound.why, True)
    by_number = {number: name for name, number in bound.of.items()}
    found = [receiver] if receiver is not None else []
    for number, each in enumerate(arguments):
        if number in by_number:
            text = continued_at(each.value, _indentation(brackets, each.span.start, indent), indent)
            found.append(Given(name=by_number[number], text=text, value=each.node))
    if signature.rest is not None:
        found.append(_together(signature.rest, [arguments[number] for number in bound.spread]))
    if signature.options is not None:
        found.append(_by_name(signature.options, [arguments[number] for number in bound.loose]))
    names = {each.name for each in found}
    for name, parameter in signature.named.items():
        if name not in names and parameter.default:
            text = parameter.default_text
            found.append(Given(name=name, text=text, value=parsed(text), is_default=True))
    return found


def _indentation(brackets: str, start: int, indent: str) -> str:
    """Return the indentation of the line on which an argument begins."""
    line = max(brackets.rfind("\n", 0, start), brackets.rfind("\r", 0, start)) + 1
    return brackets[line : start - len(brackets[line:start].lstrip(" \t"))] if line else indent


def _together(parameter: Parameter, arguments: Sequence[Argument]) -> Given:
    inner = ", ".join(each.value for each in arguments)
    text = f"({inner},)" if len(arguments) == 1 else f"({inner})"
    return Given(name=parameter.name, text=text, value=parsed(text))


def _by_name(parameter: Parameter, arguments: Sequence[Argument]) -> Given:
    text = "{" + ", ".join(f'"{each.keyword}": {each.value}' for each in arguments) + "}"
    return Given(name=parameter.name, text=text, value=parsed(text))


class Placing(Struct, frozen=True, kw_only=True):
    """The way in which values come into a body.

    Parameters:
        put: those that stand where the body reads them.
        assigned: those that need a variable, in the order of evaluation; where the body does not read one, it is
            evaluated alone.
    """

    put: tuple[Given, ...]
    assigned: tuple[Given, ...]


def placed(body: Body, given: Sequence[Given], values: Sequence[Value], *, may_repeat: bool = False) -> Placing:
    """Return how the values of a call come into a body.

    Parameters:
        may_repeat: whether attributes of names may be evaluated several times.
        given: in the order of evaluation.
        values: what is known of each of them, where the call stands.
    """
    put = [_can_be_put(body, each, value, may_repeat=may_repeat) for each, value in zip(given, values, strict=True)]
    places = [_first_read(body, each.name) for each in given]
    changed = True
    while changed:
        changed = False
        for first in range(len(given)):
            for second in range(first + 1, len(given)):
                if (
                    put[first]
                    and _swaps(values[first], values[second])
                    and (not put[second] or places[first] > places[second])
                ):
                    put[first] = False
                    changed = True
    kept = [
        number
        for number, each in enumerate(given)
        if body.reads_of(each.name) or body.is_rebound(each.name) or values[number].depends is Depends.RUNS
    ]
    return Placing(
        put=tuple(given[number] for number in kept if put[number]),
        assigned=tuple(given[number] for number in kept if not put[number]),
    )


def _swaps(first: Value, second: Value) -> bool:
    """Return whether two values may be others if they are evaluated in the other order."""
    runs = Depends.RUNS in (first.depends, second.depends)
    both = min(first.depends, second.depends) >= Depends.STATE
    binds = any(isinstance(node, ast.NamedExpr) for each in (first, second) for node in ast.walk(each.node))
    return (runs and (both or bool(first.volatile | second.volatile))) or binds


def _first_read(body: Body, name: str) -> int:
    steps = steps_of(body.statements, body.code.bound)
    reads = {id(each.node) for each in body.reads_of(name)}
    return next((number for number, each in enumerate(steps) if id(each.node) in reads), len(steps))


def _can_be_put(body: Body, given: Given, value: Value, *, may_repeat: bool) -> bool:
    """Return whether a value can stand wherever the body reads its parameter."""
    repeats = may_repeat and bool(chain_of(value.node)[0])
    reads = body.reads_of(given.name)
    if body.is_rebound(given.name):
        return False
    if not reads:
        return value.depends is not Depends.RUNS
    for use in reads:
        if not value.names.isdisjoint(use.hidden):
            return False
        if value.depends is Depends.NOTHING and not value.is_fresh:
            continue
        if body.is_kept(use) and (value.unsteady or value.depends >= Depends.STATE or value.is_fresh):
            return False
        way = way_to(body.function, None, use.node, body.code.parents, body.code.bound)
        if hazard(value, way, is_alone=len(reads) == 1, shared=body.code.shared) is not None:
            return False
        if value.depends is Depends.STATE and (way.is_maybe or way.is_repeated) and not repeats:
            return False
        if value.depends is Depends.RUNS and not way.looks_up <= body.code.modules:
            return False
    return len(reads) == 1 or value.depends <= Depends.NAMES or repeats
