"""The base of all requests: fields are parameters, the docstring is the help, `parse` is the only way in.

A request is a frozen value. Its constructor validates nothing (msgspec's never does), so requests are made by
`parse`, which names every problem at once. Whether a request reads, writes or destroys is a class attribute; adapters
derive their parsers, schemas and annotations from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Annotated, Any, ClassVar, TypeVar, get_type_hints

import msgspec
from msgspec import Meta, Struct

from bae_source.errors import RequestError


class Effect(Enum):
    """What a request may do to the project."""

    READS = "reads"
    WRITES = "writes"
    DESTROYS = "destroys"


class Request(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all requests.

    Class attributes:
        verb: the name that every adapter uses.
        effect: whether it reads, writes or destroys.
        navigates: whether a language server may add to its answer.
        family: the word that the command line puts before the verb, where several verbs share one: `ast symbols`,
            and `exports add` for `exports_add`.
    """

    verb: ClassVar[str] = ""
    family: ClassVar[str] = ""
    navigates: ClassVar[bool] = False
    effect: ClassVar[Effect] = Effect.READS


R = TypeVar("R", bound=Request)


class Parameter(Struct, frozen=True, kw_only=True):
    """One parameter of a request, as an adapter needs it to build a parser or a schema."""

    name: str
    annotation: Any
    required: bool
    default: Any
    help: str


@cache
def parameters(kind: type[Request]) -> tuple[Parameter, ...]:
    """Return the parameters of a request class in the order of their declaration."""
    hints = get_type_hints(kind, include_extras=True)
    return tuple(
        Parameter(
            name=field.name,
            annotation=hints[field.name],
            required=field.required,
            default=None if field.default is msgspec.NODEFAULT else field.default,
            help=_help(hints[field.name]),
        )
        for field in msgspec.structs.fields(kind)
    )


def parse(kind: type[R], given: Mapping[str, Any]) -> R:
    """Make a request of class `kind` from a mapping, strictly: nothing is coerced, nothing unknown is let through.

    Raises:
        RequestError: `invalid_arguments`, with every problem in one message and the signature as a hint.
    """
    declared = {parameter.name: parameter for parameter in parameters(kind)}
    problems = [_unknown(name, declared) for name in given if name not in declared]
    values: dict[str, Any] = {}
    for parameter in declared.values():
        if parameter.name not in given:
            if parameter.required:
                problems.append(f"{parameter.name} is missing")
            continue
        try:
            values[parameter.name] = msgspec.convert(given[parameter.name], parameter.annotation, strict=True)
        except msgspec.ValidationError as error:
            problems.append(f"{parameter.name}: {str(error)[:1].lower()}{str(error)[1:]}")
    if problems:
        raise RequestError(
            "invalid_arguments",
            f"{kind.verb} was called wrongly: {'; '.join(problems)}.",
            hints=[f"{signature(kind)}: {summary(kind)}"],
            details={"problems": problems},
        )
    return kind(**values)


def as_mapping(request: Request) -> dict[str, Any]:
    """Return the fields of a request as a mapping that `parse` takes back."""
    return {name: getattr(request, name) for name in request.__struct_fields__}


def signature(kind: type[Request]) -> str:
    """Draw the request as a call: `edit(target, new_source=None, …)`."""
    pieces = [p.name if p.required else f"{p.name}={p.default!r}" for p in parameters(kind)]
    return f"{kind.verb}({', '.join(pieces)})"


def command_of(kind: type[Request]) -> str:
    """Return the request as the command line calls it: its verb, behind its family."""
    return f"{kind.family} {kind.verb.removeprefix(f'{kind.family}_')}".lstrip()


def summary(kind: type[Request]) -> str:
    """Return the first line of the request's help."""
    return (kind.__doc__ or "").strip().partition("\n")[0]


def _unknown(name: object, declared: Mapping[str, Parameter]) -> str:
    if not isinstance(name, str):
        return f"{name!r} is no argument's name"
    from difflib import get_close_matches  # 10 ms, and most calls are right

    close = get_close_matches(name, declared, n=1)
    return f"{name} is unknown" + (f", did you mean {close[0]}?" if close else "")


def _help(annotation: Any) -> str:
    for meta in getattr(annotation, "__metadata__", ()):
        if isinstance(meta, Meta) and meta.description:
            return meta.description
    return ""


def described(text: str, **constraints: Any) -> Meta:
    """Shorthand for the metadata of a parameter: its help, and msgspec constraints such as `min_length`."""
    return Meta(description=text, **constraints)


Target = Annotated[str, described("Dotted name of the code, such as pkg.mod.Class.method.", min_length=1)]
Imports = Annotated[tuple[str, ...], described("Import statements that the module shall have, added where missing.")]
IfMatch = Annotated[str | None, described("Etag that the target must still have; read gives it.")]
