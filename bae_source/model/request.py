"""The base of all requests: fields are parameters, the docstring is the help, `parse` is the only way in.

A request is a frozen value. Its constructor validates nothing (msgspec's never does), so requests are made by
`parse`, which names every problem at once. Whether a request reads, writes or destroys is a class attribute; adapters
derive their parsers, schemas and annotations from it.

Invariants:
- nothing is coerced: a number given for a text is an error;
- what is too large or nested too deeply is refused before anything looks into it.
"""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from functools import cache
from types import UnionType
from typing import Annotated, Any, ClassVar, Literal, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import Meta, Struct

from bae_source.errors import RequestError
from bae_source.model.closest import closest

MAX_CHARACTERS = 8_000_000
"""The greatest length of the texts of one argument, all of them together."""
MAX_ITEMS = 200_000
"""The most parts that an argument may have."""
MAX_DEPTH = 32
"""The most levels of them, one in another."""
MOST_NAMED = 20
"""The most unknown arguments that are named one by one."""
SMALLEST_BUDGET = 100
"""Bytes; of less no page of an answer could be made."""


class Effect(Enum):
    """The effect that a request may have on the project."""

    READS = "reads"
    WRITES = "writes"
    DESTROYS = "destroys"


class Request(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all requests.

    Class attributes:
        verb: the name that every adapter uses.
        effect: whether it reads, writes or destroys.
        runner: how the engine carries it out: a `query` answers from a workspace, a `change` is planned and made, and
            any other is a command that the engine knows by this name.
        when: a sentence on when to use it, for those who choose among tools.
        examples: calls on the command line, without the program; `{program}` where that does not stand first.
        live: whether Python and sessions return the module that its answer is about, and not the answer.
        idempotent: whether the second of two equal requests changes nothing more, or is refused.
        navigates: whether a language server may add to its answer.
        recovers: whether what a crash left half done is finished first; who shows what is wrong mends nothing.
        waits: whether it takes the time that it is given, so that it is answered once, whatever is written meanwhile.
        staged: whether it is answered from what git has staged instead of the files.
        lists_places: whether what it finds are places, which the JSON of its outcome has as data.
        lists_addresses: whether each value that it finds has an `address`, so that its answer can be one name a line.
        refuses_none: parameters with a default of their own, so that None from Python is a mistake and
            is refused.
        abbreviates: whether the last parts of a symbol's name stand for it where they lead to it alone; not where the
            name may be a new one, or one from outside the project.
        arrives: the parameter with which its answer comes line by line, while it is waited for; "" where none is.
        family: the word that the command line puts before the verb, where several verbs share one: `ast symbols`,
            and `exports add` for `exports_add`.
    """

    verb: ClassVar[str] = ""
    family: ClassVar[str] = ""
    navigates: ClassVar[bool] = False
    recovers: ClassVar[bool] = True
    waits: ClassVar[bool] = False
    staged: ClassVar[bool] = False
    lists_places: ClassVar[bool] = False
    lists_addresses: ClassVar[bool] = False
    abbreviates: ClassVar[bool] = True
    arrives: ClassVar[str] = ""
    effect: ClassVar[Effect] = Effect.READS
    runner: ClassVar[str] = "query"
    when: ClassVar[str] = ""
    examples: ClassVar[tuple[str, ...]] = ()
    live: ClassVar[bool] = False
    idempotent: ClassVar[bool] = False
    refuses_none: ClassVar[tuple[str, ...]] = ()


R = TypeVar("R", bound=Request)


class Parameter(Struct, frozen=True, kw_only=True):
    """One parameter of a request, as an adapter needs it to build a parser, a schema or a method.

    Parameters:
        placed: whether it may be given by its place, without its name.
        starred: whether Python takes its items one by one, each by its place.
        flag: what the command line calls the option, where that is not the parameter's name.
        short: the letter that the command line takes for the option as well.
        metavar: what the command line calls the value, where the type does not say it.
        seldom: whether short descriptions of the request leave it out.
    """

    name: str
    annotation: Any
    required: bool
    default: Any
    help: str
    placed: bool = False
    starred: bool = False
    flag: str = ""
    short: str = ""
    metavar: str = ""
    seldom: bool = False


@cache
def parameters(kind: type[Struct]) -> tuple[Parameter, ...]:
    """Return the parameters of a request class in the order of their declaration; or those of its context."""
    return tuple(map(_parameter, msgspec.structs.fields(kind)))


def _parameter(field: msgspec.structs.FieldInfo) -> Parameter:
    facts: dict[str, Any] = {"help": _help(field.type), "placed": field.required}
    for meta in getattr(field.type, "__metadata__", ()):
        facts.update(getattr(meta, "extra", None) or {})
    default = None if field.default is msgspec.NODEFAULT else field.default
    return Parameter(name=field.name, annotation=field.type, required=field.required, default=default, **facts)


def parse(kind: type[R], given: Mapping[str, Any]) -> R:
    """Make a request of class `kind` from a mapping, strictly: nothing is coerced, nothing unknown is let through.

    Raises:
        RequestError: `invalid_arguments`, with every problem in one message and the signature as a hint.
    """
    return kind(**values_of(kind, parameters(kind), given))


def values_of(
    kind: type[Request], declared: Sequence[Parameter], given: Mapping[str, Any], *, wrong: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the values of a call's arguments.

    Parameters:
        kind: what is called, for the message.
        declared: what it takes.
        given: the arguments by their names.
        wrong: problems that are known already, to be reported with the others.

    Raises:
        RequestError: `invalid_arguments`, with every problem in one message and the signature as a hint.
    """
    known = {parameter.name: parameter for parameter in declared}
    problems = [*wrong, *_strangers([name for name in given if name not in known], known)]
    missing: list[str] = []
    values: dict[str, Any] = {}
    for parameter in declared:
        if parameter.name not in given:
            if parameter.required:
                missing.append(parameter.name)
                problems.append(f"{parameter.name} is missing")
        elif too_much := excess(given[parameter.name]):
            problems.append(f"{parameter.name} {too_much}")
        else:
            try:
                values[parameter.name] = _converted(given[parameter.name], parameter.annotation)
            except msgspec.ValidationError as error:
                problems.append(f"{parameter.name}: {_lowered(str(error))}{_choices(parameter, error)}")
    if problems:
        raise RequestError(
            "invalid_arguments",
            _ended(f"{kind.verb} was called wrongly: {'; '.join(problems)}"),
            hints=[f"{signature(kind)}: {summary(kind)}"],
            details={"problems": problems, "missing": missing},
        )
    return values


def _converted(value: Any, annotation: Any) -> Any:
    """Return a value as a parameter has it; a whole number may be written as 2.0, which JSON's schemas call one.

    Raises:
        msgspec.ValidationError: it is nothing for the parameter.
    """
    try:
        return msgspec.convert(value, annotation, strict=True)
    except msgspec.ValidationError:
        if isinstance(value, float) and value.is_integer():
            return msgspec.convert(int(value), annotation, strict=True)
        raise


def fits(annotation: Any, value: Any) -> bool:
    """Return whether a parameter of a type takes a value as it is."""
    try:
        _converted(value, annotation)
    except msgspec.ValidationError:
        return False
    return True


def _ended(text: str) -> str:
    return text if text.endswith("?") else f"{text}."


def excess(value: Any) -> str | None:
    """Return the limit that a value from outside exceeds; None if it is within them."""
    if isinstance(value, (str, bytes)):  # most are
        return _too_long(len(value)) if len(value) > MAX_CHARACTERS else None
    characters = items = 0
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        level = [each for outer in level for each in _inside(outer)]
        items += len(level)
        characters += sum(len(each) for each in level if isinstance(each, (str, bytes)))
        if items > MAX_ITEMS:
            return f"has more than {MAX_ITEMS:,} parts"
        if characters > MAX_CHARACTERS:
            return _too_long(characters)
        if not level:
            return None
    return f"is nested more than {MAX_DEPTH} deep"


def _too_long(characters: int) -> str:
    return f"has {characters:,} characters, more than {MAX_CHARACTERS:,}"


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return (*value.keys(), *value.values())
    return value if isinstance(value, (list, tuple, set, frozenset)) else ()


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]


def _choices(parameter: Parameter, error: msgspec.ValidationError) -> str:
    """Return the words that are allowed where another value was given."""
    words = choices_of(parameter.annotation)
    return f", expected one of {', '.join(words)}" if words and str(error).startswith("Invalid enum value") else ""


def choices_of(annotation: Any) -> tuple[str, ...]:
    """Return the words that a type consists of; none where it takes others too."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return tuple(each for each in inner if isinstance(each, str))
    if origin is Annotated:
        return choices_of(inner[0])
    return tuple(word for each in inner for word in choices_of(each)) if origin in (Union, UnionType) else ()


def check_none(kind: type[Request], given: Mapping[str, Any]) -> None:
    """Refuse a None for what a Python call either says or leaves out.

    Raises:
        RequestError: `invalid_arguments`.
    """
    for name in kind.refuses_none:
        if name in given and given[name] is None:
            raise RequestError(
                "invalid_arguments",
                f"{name} is None, so there is nothing to {kind.verb}: a call that changed nothing has no {name}.",
                hints=[f"{kind.verb}() takes the last one; history lists the others."],
            )


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


def _strangers(names: Sequence[object], declared: Mapping[str, Parameter]) -> list[str]:
    """Return the arguments that are not declared: the first ones, and the number of the others."""
    problems = [_unknown(name, declared) for name in names[:MOST_NAMED]]
    return problems if len(names) <= MOST_NAMED else [*problems, f"{len(names) - MOST_NAMED:,} more names are unknown"]


def _unknown(name: object, declared: Mapping[str, Parameter]) -> str:
    if not isinstance(name, str):
        return f"{name!r} is no argument's name"
    by_flag = [each.name for each in declared.values() if each.flag == name]
    close = by_flag or closest(name[:100], declared, n=1)
    return f"{name} is unknown" + (f", did you mean {close[0]}?" if close else "")


def _help(annotation: Any) -> str:
    for meta in getattr(annotation, "__metadata__", ()):
        if isinstance(meta, Meta) and meta.description:
            return meta.description
    return ""


def described(
    text: str,
    *,
    placed: bool = False,
    starred: bool = False,
    flag: str = "",
    short: str = "",
    metavar: str = "",
    seldom: bool = False,
    **constraints: Any,
) -> Meta:
    """Return the metadata of a parameter.

    Parameters:
        text: its help.
        placed, starred, flag, short, metavar, seldom: how it is given, as `Parameter` has it.
        constraints: those of msgspec, such as `min_length`.
    """
    given = {
        "placed": placed, "starred": starred, "flag": flag, "short": short, "metavar": metavar, "seldom": seldom,
    }  # fmt: skip
    return Meta(description=text, extra={name: each for name, each in given.items() if each} or None, **constraints)


Target = Annotated[str, described("Dotted name of the code, such as pkg.mod.Class.method.", min_length=1)]
Imports = Annotated[
    tuple[str, ...],
    described(
        "Import statements that the module shall have, added where missing; for type checkers alone: "
        "`if TYPE_CHECKING: from a import B`.",
        flag="import",
        metavar="STATEMENT",
    ),
]
SkipGenerated = Annotated[
    bool,
    described("Leave files that a program writes, by their first lines, and list the places in them.", seldom=True),
]
IfMatch = Annotated[str | None, described("Etag that the target must still have; read gives it.")]
