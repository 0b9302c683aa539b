"""The types of the Python API, drawn from the declarations of requests: what `verbs.pyi` holds.

    python -m bae_source.adapters.python.stub > bae_source/adapters/python/verbs.pyi

Invariant: the text depends on the declarations alone.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Sequence

from bae_source.adapters.python.methods import CODE, LAST, around, families, named, returned, taken, typed
from bae_source.engine.registry import REQUESTS
from bae_source.model.request import Effect, Request, summary

_WIDTH = 120
_HEAD = '''\
"""The types of the Python API, drawn from the declarations of requests by `bae_source.adapters.python.stub`."""

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, Literal, TypedDict, Unpack, overload

from bae_source.model.outcome import Outcome, Text
from bae_source.model.reference import Certainty, Defined, Kind

Answer = dict[str, Any]
"""One selection as JSON has it: `status`, `kind`, `data`, `refs`, `errors`, `next_actions`."""
'''


def drawn() -> str:
    """Return the stub."""
    code = [verb for verb, place in REQUESTS.declared if place.startswith(CODE)]
    rest = [verb for verb in REQUESTS.verbs if verb not in code]
    blocks = [
        _HEAD,
        *_how(),
        *(line for of_code in (True, False) for name in families(of_code=of_code) for line in _family(name)),
        "class CodeVerbs:",
        *(line for name in families(of_code=True) for line in _property(name)),
        *(line for verb in code for line in _flat(verb)),
        "",
        "class Verbs(CodeVerbs):",
        *(line for name in families(of_code=False) for line in _property(name)),
        *(line for verb in rest for line in _flat(verb)),
    ]
    return "\n".join(blocks) + "\n"


def _how() -> Iterator[str]:
    """Yield the keyword parameters of every changing method."""
    yield "class How(TypedDict, total=False):"
    yield from (f"    {each.name}: {typed(each.annotation)}" for each in around(named("edit")))
    yield ""


def _family(name: str) -> Iterator[str]:
    """Yield the class of the verbs that share a word, each under the rest of its name."""
    yield f"class {name.title()}:"
    for verb in REQUESTS.verbs:
        if verb.startswith(f"{name}_"):
            yield from _method(named(verb), verb.removeprefix(f"{name}_"), of="self: object")


def _property(name: str) -> Iterator[str]:
    yield "    @property"
    yield f"    def {name}(self) -> {name.title()}:"
    yield f'        """The verbs of `{name}`."""'
    yield ""


def _flat(verb: str) -> Iterator[str]:
    """Yield a verb by its whole name: of a family it is the same function, which takes any `self`."""
    family, _, name = verb.partition("_")
    if family in (*families(of_code=True), *families(of_code=False)):
        yield f"    {verb} = {family.title()}.{name}"
    else:
        yield from _method(named(verb), verb)


def _method(kind: type[Request], name: str, of: str = "self") -> Iterator[str]:
    """Yield the lines of a method.

    Parameters:
        of: its first parameter.
    """
    own = [_parameter(each) for each in taken(kind)]
    star = next((n for n, each in enumerate(taken(kind)) if each.kind is not each.POSITIONAL_OR_KEYWORD), None)
    if star is not None and taken(kind)[star].kind is inspect.Parameter.KEYWORD_ONLY:
        own.insert(star, "*")
    if kind.effect is not Effect.READS:
        own.append("**how: Unpack[How]")
    if kind.family != "ast":
        yield from _signature(kind, name, [of, *own], returned(kind))
        return
    first, *others = own  # one selector has its answer, several have a list of them
    for uris, answer in (("uri: str, /, *", "Answer"), ("uri: str, other: str, /, *more: str", "list[Answer]")):
        assert first.startswith("*")
        yield "    @overload"
        yield from _signature(kind, name, [of, *uris.split(", "), *others], answer)


def _signature(kind: type[Request], name: str, inside: Sequence[str], answer: str) -> Iterator[str]:
    line = f"    def {name}({', '.join(inside)}) -> {answer}:"
    if len(line) <= _WIDTH:
        yield line
    else:
        yield f"    def {name}("
        yield from (f"        {each}," for each in inside)
        yield f"    ) -> {answer}:"
    yield f'        """{summary(kind)}"""'
    yield ""


def _parameter(each: inspect.Parameter) -> str:
    star = "*" if each.kind is each.VAR_POSITIONAL else ""
    default = "" if each.default is each.empty else f" = {_default(each.default)}"
    return f"{star}{each.name}: {each.annotation}{default}"


def _default(value: object) -> str:
    return "..." if value is LAST else f'"{value}"' if isinstance(value, str) else repr(value)


if __name__ == "__main__":
    sys.stdout.write(drawn())
