"""The reference: one page of markdown, drawn from the declarations, and compared with the one that is checked in.

    python -m bae_source docs > docs/reference.md
    python -m bae_source docs --check

Invariants:
- nothing is described here: every sentence about a request, an option, an error, a place or a setting is its own;
- the page depends on the declarations alone, so that two machines draw the same.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from bae_source.adapters.cli import manual
from bae_source.adapters.cli.arguments import ALWAYS, EVERYWHERE, Argument, of_context, of_output, of_request
from bae_source.adapters.cli.commands import COMMANDS, Command
from bae_source.adapters.cli.streams import Streams
from bae_source.adapters.python.methods import named, taken
from bae_source.adapters.schema import schema_of
from bae_source.adapters.session.places import PLACES, call_name, everyday_table, table
from bae_source.adapters.tools import Tool, tools
from bae_source.errors import RequestError, ResourceError
from bae_source.model.context import steering
from bae_source.model.outcome import FOUND, Outcome
from bae_source.model.reasons import Reason
from bae_source.model.request import Effect, Parameter, Request, choices_of, command_of, parameters
from bae_source.model.settings import TABLE, Settings, UserSettings, settings

PROGRAM = "bae-source"
CHECKED_IN = "docs/reference.md"
_DRAW = f"python -m bae_source docs > {CHECKED_IN}"


def page() -> str:
    """Return the reference."""
    offered = tools()
    blocks = [
        "# Reference",
        f"Drawn from the declarations by `{_DRAW}`; not written by hand.",
        "## Requests",
        "A request is the same everywhere: on the command line, in Python, or as a tool of MCP, of a "
        "session and of a model that calls functions.",
        _requests(offered),
        "## Why an answer is not sure",
        "Each place that a request finds is sure, or it has one of these reasons; an ellipsis stands for what differs.",
        _table(("certainty", "reason", "for example"), _reasons()),
        "## How a request is run",
        "Beside its own parameters a request takes these, where its section names them.",
        _steering(offered),
        "## The requests, one by one",
        *(block for tool in offered for block in _request(tool)),
        "## Verbs of the command line alone",
        *(block for command in COMMANDS.values() for block in _command(command)),
        "## Options of every request",
        _table(("option", "meaning"), [(_flags(each), each.help) for each in EVERYWHERE]),
        "## Errors",
        "An error has a code, one sentence, hints that name the next call, and candidates that can be used as they "
        "stand. The exit status is its class's.",
        _table(("class", "exit status", "means", "codes"), map(_error, _errors())),
        "## Exit statuses",
        _table(("status", "means"), manual.STATUSES),
        "## Places of a session",
        _table(("place", "what it is"), [(f"`{place.name}`", place.description) for place in PLACES.values()]),
        _supported(),
        "## Settings",
        f"In `pyproject.toml`, as `{TABLE}`; all are optional.",
        _settings(Settings),
        "In the user's own file, `bae-source/settings.toml` in the folder that `XDG_CONFIG_HOME` names, else in "
        "`~/.config`, at its top; no project can make them. It counts where it and its folder are the user's, and "
        "others may not write there.",
        _settings(UserSettings),
    ]
    return "\n\n".join(blocks) + "\n"


def docs(given: Mapping[str, Any], _: Streams) -> Outcome:
    """Return the reference; or whether the one that is checked in is the same.

    Parameters:
        given: `check`: compare, and end with status 1 if it is another one.

    Raises:
        RequestError: `invalid_arguments`, if there is nothing to compare with.
    """
    drawn = page()
    if not given.get("check"):
        return Outcome(status="answer", text=drawn)
    try:
        there = (Path(__file__).parents[3] / CHECKED_IN).read_text(encoding="utf-8")
    except OSError:
        raise RequestError(
            "invalid_arguments",
            f"There is no {CHECKED_IN} beside this package to compare with.",
            hints=[f"In a checkout, {_DRAW} makes it."],
        ) from None
    return compared(drawn, there)


def compared(drawn: str, there: str) -> Outcome:
    """Return whether a page is what the declarations give.

    Parameters:
        drawn: what they give.
        there: the page.
    """
    if drawn == there:
        return Outcome(status="answer", text=f"{CHECKED_IN} is what the declarations give.")
    ours, theirs = drawn.splitlines(), there.splitlines()
    same = next((n for n, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), min(len(ours), len(theirs)))
    return Outcome(
        status="answer",
        text=f"{CHECKED_IN} is not what the declarations give, from line {same + 1} on.",
        next_actions=(_DRAW,),
        exit_code=FOUND,
    )


def _requests(offered: Sequence[Tool]) -> str:
    rows = [
        (
            f"[{tool.name}](#{tool.name})",
            f"`{PROGRAM} {command_of(tool.kind)}`",
            f"`src.{tool.name}()`",
            f"`{tool.name}`",
            tool.kind.effect.value,
            tool.summary,
        )
        for tool in offered
    ]
    return _table(("request", "command line", "Python", "tool", "effect", "what comes of it"), rows)


def _reasons() -> Iterator[tuple[str, str, str]]:
    for reason in Reason:
        yield reason.certainty, re.sub(r"\{\w+\}", "…", reason.sentence), f"`{reason.example}`"


def _steering(offered: Iterable[Tool]) -> str:
    every: dict[str, tuple[Parameter, str]] = {}
    for tool in offered:
        spelt = _spelt((*of_context(tool.kind), *of_output(tool.kind)))
        for each in steering(tool.kind):
            every.setdefault(each.name, (each, spelt.get(each.name, "")))
    alone = {each.parameter: each for tool in offered for each in of_context(tool.kind) if each.parameter not in every}
    rows = [_parameter(each, flags) for each, flags in every.values()]
    rows += [(f"`{name}`", _flags(each), "of the command line alone", "", each.help) for name, each in alone.items()]
    return _table(_PARAMETERS, rows)


def _request(tool: Tool) -> Iterator[str]:
    kind = tool.kind
    yield f"### {tool.name}"
    yield inspect.cleandoc(kind.__doc__ or "")
    if kind.when:
        yield kind.when
    own, output = of_request(kind), of_output(kind)
    yield f"```console\n$ {manual.usage(PROGRAM, command_of(kind), (*own, *output))}\n```"
    yield f"```python\n{_called(tool.name)}\n```"
    declared = parameters(kind)
    if declared:
        spelt = _spelt(own)
        yield _table(_PARAMETERS, [_parameter(each, spelt.get(each.name, "")) for each in declared])
    yield _facts(kind)


def _facts(kind: type[Request]) -> str:
    """Return the effect of a request on the project, and its further parameters."""
    again = "; asked twice, it comes to the same as once" if kind.idempotent else ""
    taken = ", ".join(f"`{each.name}`" for each in steering(kind))
    return f"Effect: {kind.effect.value}{again}. " + (f"It also takes {taken}." if taken else "Its limits are its own.")


def _command(command: Command) -> Iterator[str]:
    yield f"### {command.verb}"
    yield inspect.cleandoc(command.about)
    yield f"```console\n$ {manual.usage(PROGRAM, command.verb, command.arguments)}\n```"
    arguments = [each for each in command.arguments if each not in ALWAYS]
    if arguments:
        yield _table(("argument", "meaning"), [(_flags(each), each.help) for each in arguments])


_PARAMETERS = ("parameter", "command line", "type", "default", "meaning")


def _parameter(parameter: Parameter, spelt: str) -> tuple[str, ...]:
    kind = _kind(parameter.annotation)
    default = "required" if parameter.required else _default(parameter.default)
    return f"`{parameter.name}`", spelt, kind, default, parameter.help


def _spelt(arguments: Iterable[Argument]) -> dict[str, str]:
    """Return the command-line forms of parameters, alternatives together."""
    found: dict[str, list[str]] = {}
    for each in arguments:
        found.setdefault(each.parameter, []).append(_flags(each))
    return {name: " or ".join(ways) for name, ways in found.items()}


def _flags(argument: Argument) -> str:
    value = f" {argument.value}" if argument.takes_value else ""
    return ", ".join(f"`{flag}{value}`" for flag in argument.flags) or f"`{argument.value}`"


def _called(verb: str) -> str:
    """Draw the call of a method of the Python API, without types: the table has them."""
    pieces, starred = [], False
    for each in taken(named(verb)):
        if each.kind is each.KEYWORD_ONLY and not starred:
            pieces.append("*")
            starred = True
        starred = starred or each.kind is each.VAR_POSITIONAL
        name = f"{'*' * (each.kind is each.VAR_POSITIONAL)}{each.name}"
        pieces.append(name if each.default is each.empty else f"{name}={_drawn(each.default)}")
    pieces += ["**how"] if named(verb).effect is not Effect.READS else []
    return f"src.{verb}({', '.join(pieces)})"


def _drawn(default: object) -> str:
    """Return a default as code is written here: with double quotes."""
    return (
        f'"{default}"' if isinstance(default, str) and default.isprintable() and '"' not in default else repr(default)
    )


def _supported() -> str:
    """Draw the tools by place of a session."""
    rows = [(f"`{verb}`", *("yes" if name in at else "" for name in PLACES)) for verb, at in table()]
    places = [f"`{call_name(place)}`" for place in PLACES.values() if place.above]
    return f"{_table(('word', *places), everyday_table())}\n\n{_table(('tool', *PLACES), rows)}"


def _settings(kind: type[Struct]) -> str:
    rows = [
        (f"`{each.name}`", _kind(each.annotation, ""), _default(each.default), each.help, f"`{each.line}`")
        for each in settings(kind)
    ]
    return _table(("setting", "type", "default", "means", "for example"), rows)


def _errors() -> list[type[ResourceError]]:
    """Return the classes of the engine's errors; what adapters add for themselves depends on what is loaded."""
    return [kind for kind in ResourceError.__subclasses__() if kind.__module__ == ResourceError.__module__]


def _error(kind: type[ResourceError]) -> tuple[str, ...]:
    means = (kind.__doc__ or "").strip().partition("\n")[0]
    return f"`{kind.__name__}`", str(kind.exit_code), means, ", ".join(f"`{code}`" for code in sorted(kind.codes))


def _default(value: object) -> str:
    return "" if value is None or value in ((), "") else f"`{json.dumps(value, default=str)}`"


_TYPES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "object",
    "null": "null",
}


def _kind(annotation: Any, nothing: str = " or null") -> str:
    """Return the values of a type, in words.

    Parameters:
        nothing: the words for null, where the type has it.
    """
    schema = schema_of(annotation)
    if words := choices_of(annotation):
        return ", ".join(f"`{word}`" for word in words) + nothing * (None in schema["enum"])
    return _type(schema).replace(" or null", nothing)


def _type(schema: dict[str, Any]) -> str:
    """Return the values of a JSON Schema, in words."""
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(map(_type, schema["anyOf"])))
    kinds = schema.get("type", "anything")
    if isinstance(kinds, list):
        return " or ".join(_type({**schema, "type": each}) for each in kinds)
    if kinds == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return _TYPES.get(kinds, "anything") + _bounds(schema) * (kinds in ("integer", "number"))


def _bounds(schema: dict[str, Any]) -> str:
    if "exclusiveMinimum" in schema:
        return f" above {schema['exclusiveMinimum']}"
    if "minimum" in schema and "maximum" in schema:
        return f" from {schema['minimum']} to {schema['maximum']}"
    return f" from {schema['minimum']}" if "minimum" in schema else ""


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def _cell(text: str) -> str:
    """Return text as a table takes it: on one line, without the sign that ends a cell."""
    return " ".join(text.split()).replace("|", "\\|")
