"""The arguments of a verb on the command line, derived from its request's declaration.

A parameter becomes a positional or an option by its declaration; `_SPELLINGS` holds those that can be given in more
than one way, such as a text and the file that it stands in. The argparse parser, the help and the completion are all
made from the same `Argument` values, so adding a request touches nothing here.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from msgspec import Struct, structs

from bae_source.model.context import steering
from bae_source.model.request import Effect, Parameter, Request, parameters


class Shape(Enum):
    """The way in which the text of an argument becomes a value."""

    TEXT = "text"
    FILE = "file"
    """A file whose text is the value; `-` for standard input."""
    BYTES = "bytes"
    """Likewise; what is no UTF-8 in it stands as surrogate escapes."""
    FOLDER = "folder"
    FLAG = "flag"
    """True when given."""
    DENIAL = "denial"
    """False when given."""
    LIST = "list"
    TEXTS = "texts"
    """A text each time that it is given; a single one is no list."""
    NAMES = "names"
    """Words that are left, each a name; a single one is no list. `-` stands for names on standard input."""
    CHOICE = "choice"
    INTEGER = "integer"
    NUMBER = "number"
    JSON = "json"
    NOTHING = "nothing"
    """Without effect, since it asks for what is done anyway."""
    DOCUMENT = "document"
    """A file with a JSON object that gives the request's parameters, or with a patch; `-` for standard input."""


SEVERAL = (Shape.LIST, Shape.TEXTS, Shape.NAMES)
"""Shapes of what may be given several times."""


class Argument(Struct, frozen=True, kw_only=True):
    """One positional or option of a verb.

    Parameters:
        parameter: what it sets; several arguments of one parameter exclude each other.
        flags: as typed; none for a positional.
        metavar: how the help names the value.
        required: whether the call is malformed without it; set on positionals only.
        dashed: whether all behind the first positional are its values, also with a dash in front.
    """

    parameter: str
    flags: tuple[str, ...] = ()
    shape: Shape = Shape.TEXT
    metavar: str = ""
    choices: tuple[str, ...] = ()
    required: bool = False
    help: str = ""
    dashed: bool = False

    @property
    def takes_value(self) -> bool:
        """Return whether a value follows the flag."""
        return self.shape not in (Shape.FLAG, Shape.DENIAL, Shape.NOTHING)

    @property
    def value(self) -> str:
        """Name of the value in the help: the choices, if they fit into a line, or the metavar."""
        choices = "|".join(self.choices)
        return choices if choices and len(choices) <= _LONGEST_CHOICES else self.metavar


_LONGEST_CHOICES = 60
"""Characters of the choices that stand in the place of a metavar."""

_AS_TOML = (
    'As TOML: 100, true, ["E", "F"], "text". A text that is none is a string if it is a bare word, or if the key or '
    "its items are strings."
)
_TOML = {True: _AS_TOML, False: f"The item of the array that is to go; the whole key if left out. {_AS_TOML}"}

_SPELLINGS: Mapping[str, tuple[Argument, ...]] = {
    "requests": (
        Argument(
            parameter="requests",
            shape=Shape.DOCUMENT,
            metavar="FILE|-",
            help='JSON: [{"do": "edit", "target": "…", …}, …], or {"message": "…", "requests": […]}; or a patch. '
            "- reads stdin.",
        ),
    ),
    "patch": (
        Argument(
            parameter="patch",
            flags=("--patch",),
            shape=Shape.BYTES,
            metavar="FILE|-",
            help="File with a unified diff, or `*** Begin Patch … *** End Patch`; - reads standard input.",
        ),
    ),
    "new_source": (
        Argument(
            parameter="new_source",
            flags=("--source",),
            shape=Shape.FILE,
            metavar="FILE|-",
            help="File with the new source; - reads standard input.",
        ),
        Argument(parameter="new_source", flags=("--code",), metavar="TEXT", help="The new source itself."),
    ),
    "old": (
        Argument(parameter="old", flags=("--old",), shape=Shape.TEXTS, metavar="TEXT"),
        Argument(
            parameter="old", flags=("--old-file",), shape=Shape.FILE, metavar="FILE|-", help="The same, in a file."
        ),
    ),
    "new": (
        Argument(parameter="new", flags=("--new",), shape=Shape.TEXTS, metavar="TEXT"),
        Argument(
            parameter="new", flags=("--new-file",), shape=Shape.FILE, metavar="FILE|-", help="The same, in a file."
        ),
    ),
    "source": (
        Argument(
            parameter="source",
            flags=("--source",),
            shape=Shape.FILE,
            metavar="FILE|-",
            help="File with the whole source; - reads standard input.",
        ),
        Argument(parameter="source", flags=("--code",), metavar="TEXT", help="The whole source itself."),
    ),
    **{f"{verb}.value": () for verb in ("config_set", "config_add", "config_remove")},  # which are given as TOML
    **{
        f"{verb}.toml": (
            Argument(parameter="toml", metavar="VALUE", required=is_needed, help=_TOML[is_needed], dashed=True),
        )
        for verb, is_needed in (("config_set", True), ("config_add", True), ("config_remove", False))
    },
    "grep.pattern": (
        Argument(parameter="pattern", metavar="PATTERN"),
        Argument(
            parameter="pattern",
            flags=("--regexp", "-e"),
            shape=Shape.LIST,
            metavar="PATTERN",
            help="The same, as an option; may be given several times, and then any may match.",
        ),
    ),
    "export": (
        Argument(
            parameter="export",
            flags=("--export",),
            shape=Shape.FLAG,
            help="Expose its public names in the package around it.",
        ),
        Argument(
            parameter="export",
            flags=("--no-export",),
            shape=Shape.DENIAL,
            help="Expose nothing, though the package exposes the modules beside it.",
        ),
        Argument(
            parameter="export",
            flags=("--export-name",),
            shape=Shape.LIST,
            metavar="NAME",
            help="Expose this name instead; may be given several times.",
        ),
    ),
    "data": (
        Argument(
            parameter="data",
            flags=("--no-data",),
            shape=Shape.DENIAL,
            help="Leave the data files of packages out.",
        ),
    ),
}

_BESIDE: Mapping[str, tuple[Argument, ...]] = {
    "grep": (
        Argument(
            parameter="quiet",
            flags=("--quiet", "-q"),
            shape=Shape.FLAG,
            help="Print nothing; the exit status is 1 if nothing matches.",
        ),
        Argument(
            parameter="as_grep",
            flags=("-n", "-r", "-R", "-H", "-E", "-P", "-s"),
            shape=Shape.NOTHING,
            help="Options of grep that change nothing here.",
        ),
    ),
}
"""Options that the command line alone has beside a request's parameters, by verb."""
_TARGET = "target"
"""The parameter that names code."""
_SCOPE = "scope"
"""The parameter that many readers give as an option, too."""

ROOT = Argument(
    parameter="root",
    flags=("--root",),
    shape=Shape.FOLDER,
    metavar="DIR",
    help="The project's folder; found upwards from here if left out.",
)
_JSON = Argument(
    parameter="json",
    flags=("--json",),
    shape=Shape.FLAG,
    help="Print one line of JSON, errors included, and nothing else.",
)
_WHO = Argument(
    parameter="who",
    flags=("--who",),
    metavar="NAME",
    help="Who makes the change, for the history and undo; BAE_SOURCE_WHO, or else the user, if left out.",
)
_HELP = Argument(parameter="help", flags=("-h", "--help"), shape=Shape.FLAG, help="Show this help.")

#: How a selection can be printed, the usual way first.
FORMATS = ("json", "markdown")
_FORMAT = Argument(
    parameter="format",
    flags=("--format",),
    shape=Shape.CHOICE,
    metavar="FORMAT",
    choices=FORMATS,
    help="Print a line of JSON for each URI, or markdown. [json]",
)

_NAMES = Argument(
    parameter="names_alone",
    flags=("--names",),
    shape=Shape.FLAG,
    help="Print the addresses of what is found alone, each once, one a line, for `read -`.",
)

#: Options of every verb.
ALWAYS = (_JSON, _HELP)
#: Options of every request; these may also stand before the verb.
EVERYWHERE = (ROOT, _JSON, _HELP)


def of_request(kind: type[Request]) -> tuple[Argument, ...]:
    """Return the arguments of the request itself, positionals first."""
    derived = [argument for parameter in parameters(kind) for argument in _of_parameter(parameter, kind.verb)]
    if any(each.shape in SEVERAL and not each.flags for each in derived):  # which takes all words that are left
        derived = [_as_option(each) if _may_be_option(each) else each for each in derived]
        derived = list({each.flags or each.parameter: each for each in derived}.values())
    return tuple(sorted(derived, key=lambda argument: bool(argument.flags)))


def of_context(kind: type[Request]) -> tuple[Argument, ...]:
    """Return the options that steer how the request is carried out."""
    derived = tuple(argument for parameter in steering(kind) for argument in _of_parameter(parameter))
    return derived if kind.effect is Effect.READS else (*derived, _WHO)


def of_output(kind: type[Request]) -> tuple[Argument, ...]:
    """Return the options that say how the answer is printed."""
    if kind.family == "ast":
        return (_FORMAT,)
    return (*((_NAMES,) if kind.lists_addresses else ()), *_BESIDE.get(kind.verb, ()))


def _of_parameter(parameter: Parameter, verb: str = "") -> tuple[Argument, ...]:
    spelt = _SPELLINGS.get(f"{verb}.{parameter.name}", _SPELLINGS.get(parameter.name))
    if spelt is not None:
        description = _description(parameter)
        return tuple(
            Argument(
                parameter=each.parameter,
                flags=each.flags,
                shape=each.shape,
                metavar=each.metavar,
                required=parameter.required or each.required,
                help=each.help or description,
                dashed=each.dashed,
            )
            for each in spelt
        )
    shape, choices = _shape(parameter.annotation)
    if shape is Shape.FLAG and parameter.default is True:
        shape = Shape.DENIAL
    if shape is Shape.LIST and parameter.name == _TARGET:
        shape = Shape.NAMES
    named = parameter.name.upper() if parameter.placed or choices else _METAVARS.get(shape, "")
    argument = Argument(
        parameter=parameter.name,
        flags=() if parameter.placed else _flags(parameter, shape),
        shape=shape,
        metavar=parameter.metavar or named,
        choices=choices,
        required=parameter.required,
        help=_description(parameter),
    )
    if parameter.name == _SCOPE:
        same = structs.replace(argument, flags=(f"--{_SCOPE}",), metavar="NAME", help="The same, as an option.")
        return argument, same
    return (argument,)


def _may_be_option(argument: Argument) -> bool:
    return not (argument.flags or argument.required or argument.shape in SEVERAL)


def _as_option(argument: Argument) -> Argument:
    return structs.replace(argument, flags=(_flag(argument.parameter, argument.shape),))


def _flags(parameter: Parameter, shape: Shape) -> tuple[str, ...]:
    long = _flag(parameter.flag or parameter.name, shape)
    return (long, f"-{parameter.short}") if parameter.short else (long,)


_METAVARS = {Shape.TEXT: "TEXT", Shape.LIST: "TEXT", Shape.INTEGER: "N", Shape.NUMBER: "N", Shape.JSON: "JSON"}


def _flag(name: str, shape: Shape) -> str:
    flag = name.replace("_", "-")
    return f"--no-{flag}" if shape is Shape.DENIAL else f"--{flag}"


def _description(parameter: Parameter) -> str:
    """Return the help of a parameter with its default, where the default says something."""
    silent = parameter.default is None or parameter.default in ((), "") or isinstance(parameter.default, bool)
    if parameter.required or silent:
        return parameter.help
    return f"{parameter.help} [{parameter.default}]"


def _shape(annotation: Any) -> tuple[Shape, tuple[str, ...]]:
    """Return the shape of a type, and its choices; a type that a command line cannot spell is given as JSON."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _shape(inner[0])
    if origin in (Union, UnionType):
        kept = [each for each in inner if each is not type(None)]
        shapes = {_shape(each) for each in kept}
        return shapes.pop() if len(shapes) == 1 else (Shape.LIST if shapes == _ONE_OR_MORE else Shape.JSON, ())
    if origin is Literal and all(isinstance(each, str) for each in inner):
        return Shape.CHOICE, inner
    if origin in (tuple, list) and _shape(inner[0])[0] is Shape.TEXT:
        return Shape.LIST, ()
    return _PLAIN.get(annotation, Shape.JSON), ()


_ONE_OR_MORE = {(Shape.TEXT, ()), (Shape.LIST, ())}
_PLAIN: Mapping[Any, Shape] = {str: Shape.TEXT, bool: Shape.FLAG, int: Shape.INTEGER, float: Shape.NUMBER}
