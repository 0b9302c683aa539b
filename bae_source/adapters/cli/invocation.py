"""A command line as a value: its verb, its arguments, and the options of its run."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec import Struct

from bae_source.adapters.cli.arguments import EVERYWHERE, Argument, Shape
from bae_source.adapters.cli.parser import Parser
from bae_source.adapters.cli.streams import STANDARD_INPUT, Streams
from bae_source.errors import RequestError

_TEXTS = (Shape.FILE, Shape.BYTES)
_BEFORE_VERB = frozenset(flag for each in EVERYWHERE for flag in each.flags) | {"--version"}
_TAKING = frozenset(flag for each in EVERYWHERE if each.takes_value for flag in each.flags)


class CommandLine(Struct, frozen=True, kw_only=True):
    """The tokens of a command line, sorted out as far as it goes without knowing the verb.

    Parameters:
        verb: None where none was given.
        tokens: everything else, those before the verb first.
    """

    verb: str | None
    tokens: tuple[str, ...]

    def asks(self, *flags: str) -> bool:
        """Return whether one of the flags stands among the options."""
        return any(token in flags for token in self.options)

    @property
    def options(self) -> Sequence[str]:
        """The tokens before a `--`."""
        return _options(self.tokens)


def command_line(tokens: Sequence[str], families: Collection[str] = ()) -> CommandLine:
    """Find the verb: the first token that is neither an option of every verb nor the value of one.

    Parameters:
        families: words that are a verb together with the next such token.

    Raises:
        RequestError: `invalid_arguments`, if another option stands before the verb.
    """
    first = _first_word(tokens)
    if first == len(tokens):
        return CommandLine(verb=None, tokens=tuple(tokens))
    verb, rest = tokens[first], (*tokens[:first], *tokens[first + 1 :])
    if verb in families:
        second = _first_word(rest)
        if second < len(rest):
            verb, rest = f"{verb} {rest[second]}", (*rest[:second], *rest[second + 1 :])
    return CommandLine(verb=verb, tokens=rest)


def _first_word(tokens: Sequence[str]) -> int:
    """Return the position of the first token that is neither an option of every verb nor the value of one."""
    position = 0
    while position < len(tokens) and tokens[position].startswith("-"):
        flag = tokens[position].partition("=")[0]
        if flag not in _BEFORE_VERB:
            raise RequestError(
                "invalid_arguments",
                f"{flag} stands before the verb, where only {', '.join(sorted(_BEFORE_VERB))} may.",
                hints=["Give the verb first: read, edit, … (--help lists them)."],
            )
        position += 2 if tokens[position] in _TAKING else 1
    return min(position, len(tokens))


def asks_json(tokens: Sequence[str]) -> bool:
    """Return whether the answer shall be JSON; known before anything else, since wrong usage is answered so too."""
    return "--json" in _options(tokens)


def resolved(given: Mapping[Argument, Any], parser: Parser, streams: Streams) -> dict[str, Any]:
    """Return the values by parameter, with the texts of files read.

    Raises:
        RequestError: `invalid_arguments`, if a text cannot be read.
    """
    piped = [each.flags[0] for each, value in given.items() if each.shape in _TEXTS and value == STANDARD_INPUT]
    if len(piped) > 1:
        parser.error(f"{' and '.join(piped)} cannot both be standard input")
    return {argument.parameter: _value(argument, value, streams) for argument, value in given.items()}


def _value(argument: Argument, given: Any, streams: Streams) -> Any:
    if argument.shape is Shape.TEXTS and len(given) == 1:
        return given[0]
    if argument.shape is Shape.NAMES:
        if len(given) == 1 and given[0] != STANDARD_INPUT:
            return given[0]  # as most calls have it
        from bae_source.adapters.cli.names import names_of

        return names_of(given, streams)
    if argument.shape not in (*_TEXTS, Shape.DOCUMENT):
        return given
    from bae_source.adapters.cli.incoming import read_escaped, read_text  # most values stand in the line itself

    if argument.shape is Shape.BYTES:
        return read_escaped(argument.flags[0], given, streams)
    if argument.shape is Shape.DOCUMENT:
        return _changes(read_escaped("The changes file", given, streams), given)
    return read_text(argument.flags[0], given, streams)


def _changes(text: str, name: str) -> dict[str, Any]:
    """Return the parameters that a file of changes gives: those in its JSON, or the patch that it is."""
    from bae_source.adapters.cli.incoming import decoded, origin
    from bae_source.engine.applying import is_patch  # for changes alone

    if is_patch(text):
        return {"patch": text}
    return _document(decoded(text.encode("utf-8", "surrogateescape"), name), origin(name))


def _document(text: str, name: str) -> dict[str, Any]:
    """Return the JSON object that a text is; a bare list stands for its requests, a single one for a list of it.

    Raises:
        RequestError: `invalid_arguments`, if it is none.
    """
    import json  # only where a file of requests is given

    from bae_source.adapters.cli.incoming import values_of

    hint = [
        'It is to be like {"message": "…", "requests": [{"do": "edit", "target": "…", "new_source": "…"}]}.',
        "A patch that begins with other text is given with --patch.",
    ]
    if not text.strip():
        raise RequestError("invalid_arguments", f"{name} is empty: no changes are in it, and no patch.", hints=hint)
    try:
        found = values_of(text)
    except json.JSONDecodeError as error:
        problem = f"{error.msg.lower()} in line {error.lineno}, column {error.colno}"
        raise RequestError("invalid_arguments", f"{name} is no JSON: {problem}.", hints=hint) from None
    except ValueError as error:
        raise RequestError("invalid_arguments", f"{name} is no JSON: {error}.", hints=hint) from None
    except RecursionError:
        raise RequestError("invalid_arguments", f"{name} is nested too deeply.", hints=hint) from None
    if isinstance(found, list):
        return {"requests": found}
    if not isinstance(found, dict):
        raise RequestError("invalid_arguments", f"{name} holds neither a JSON object nor a list.", hints=hint)
    return {"requests": [found]} if "do" in found and "requests" not in found else found


def _options(tokens: Sequence[str]) -> Sequence[str]:
    return tokens[: tokens.index("--")] if "--" in tokens else tokens
