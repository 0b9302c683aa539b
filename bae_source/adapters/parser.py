"""The argparse parser of one verb, made from its `Argument` values; every complaint is a RequestError.

Only what was given appears in the result: defaults belong to the requests.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from bae_source.adapters.arguments import Argument, Shape
from bae_source.errors import RequestError


class Parser(argparse.ArgumentParser):
    """An argparse parser that raises RequestError and never prints or exits.

    Parameters:
        usage: shown as the hint of every complaint.
    """

    def __init__(self, *, prog: str, usage: str) -> None:
        super().__init__(prog=prog, formatter_class=_formatter, add_help=False, allow_abbrev=False, exit_on_error=False)
        self._hints = [f"Usage: {usage}", f"{prog} --help explains every option."]

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """Let `--` be the value of an option: some versions of argparse drop it even there."""
        if action.option_strings and action.nargs is None and arg_strings == ["--"]:
            return self._get_value(action, "--")
        return super()._get_values(action, arg_strings)

    def error(self, message: str) -> NoReturn:
        """Raise what argparse has to say."""
        sentence = message[:1].upper() + message[1:]
        raise RequestError("invalid_arguments", sentence.rstrip(".") + ".", hints=self._hints)


def _formatter(prog: str) -> argparse.HelpFormatter:
    """Make the formatter that argparse checks options with; without a width it would import shutil to find one."""
    return argparse.HelpFormatter(prog, width=80)


def build(prog: str, usage: str, arguments: Iterable[Argument]) -> Parser:
    """Make the parser of a verb that takes `arguments`; `parse` sees to the positionals."""
    parser = Parser(prog=prog, usage=usage)
    for argument in arguments:
        if argument.flags:
            add(parser, argument)
    return parser


def add(parser: argparse.ArgumentParser, argument: Argument) -> argparse.Action:
    """Add one argument to a parser."""
    options: dict[str, Any] = {"action": _Once, "default": argparse.SUPPRESS, "help": argument.help.replace("%", "%%")}
    if argument.shape is Shape.LIST:
        options["action"] = "append"
    if not argument.takes_value:
        options |= {"nargs": 0, "const": argument.shape is Shape.FLAG}
    elif argument.shape in _CONVERSIONS:
        options["type"] = _CONVERSIONS[argument.shape]
    if argument.choices:
        options["choices"] = argument.choices
    if argument.takes_value:
        options["metavar"] = argument.value
    if argument.flags:
        return parser.add_argument(*argument.flags, dest=_dest(argument), **options)
    return parser.add_argument(_dest(argument), nargs="?", **options)


def parse(parser: Parser, arguments: Sequence[Argument], tokens: Sequence[str]) -> dict[Argument, Any]:
    """Return what was given, by argument.

    Raises:
        RequestError: `invalid_arguments`, with the usage as the hint.
    """
    end = tokens.index("--") if "--" in tokens else len(tokens)
    try:
        given, words = parser.parse_known_args(_glued(tokens[:end], arguments))
    except argparse.ArgumentError as error:
        parser.error(str(error))
    if unknown := [word for word in words if _is_dashed(word)]:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    found = {each: getattr(given, _dest(each)) for each in arguments if hasattr(given, _dest(each))}
    found |= _placed(parser, [each for each in arguments if not each.flags], [*words, *tokens[end + 1 :]])
    seen: dict[str, Argument] = {}
    for argument in found:
        if other := seen.get(argument.parameter):
            parser.error(f"{argument.flags[0]} and {other.flags[0]} exclude each other")
        seen[argument.parameter] = argument
    return found


def _placed(parser: Parser, positionals: Sequence[Argument], words: Sequence[str]) -> dict[Argument, Any]:
    """Give the words to the positionals in turn; one left without a word is for the request to complain about."""
    if positionals and positionals[-1].shape is Shape.LIST and len(words) >= len(positionals):
        first = len(positionals) - 1
        return _placed(parser, positionals[:-1], words[:first]) | {positionals[-1]: list(words[first:])}
    if len(words) > len(positionals):
        parser.error(f"unrecognized arguments: {' '.join(words[len(positionals) :])}")
    placed = dict(zip(positionals, words, strict=False))
    for argument, word in placed.items():
        if argument.choices and word not in argument.choices:
            parser.error(f"{word!r} is none of {', '.join(argument.choices)}")
        if argument.shape in _CONVERSIONS:
            try:
                placed[argument] = _CONVERSIONS[argument.shape](word)
            except argparse.ArgumentTypeError as error:
                parser.error(f"{argument.parameter}: {error}")
    return placed


class _Once(argparse.Action):
    """Store a value, and refuse a second one: the last of two would win silently."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002  # argparse's protocol
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,  # noqa: ARG002
    ) -> None:
        if hasattr(namespace, self.dest):
            raise argparse.ArgumentError(self, "given more than once")
        setattr(namespace, self.dest, self.const if self.nargs == 0 else values)


def _dest(argument: Argument) -> str:
    return argument.flags[-1].lstrip("-").replace("-", "_") if argument.flags else argument.parameter


def _glued(tokens: Sequence[str], arguments: Iterable[Argument]) -> list[str]:
    """Join a flag and a value that begins with a dash and is no flag: `--old -x` is `--old=-x`, as source often is."""
    taking = {flag for each in arguments if each.takes_value for flag in each.flags}
    known = {flag for each in arguments for flag in each.flags}
    result: list[str] = []
    position = 0
    while position < len(tokens):
        token, following = tokens[position], tokens[position + 1 : position + 2]
        if token in taking and following and _is_dashed(following[0]) and following[0].partition("=")[0] not in known:
            result.append(f"{token}={following[0]}")
            position += 2
            continue
        result.append(token)
        position += 1
    return result


def _is_dashed(token: str) -> bool:
    return token.startswith("-") and token not in ("-", "--")


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no JSON: {error}") from None


_CONVERSIONS = {Shape.INTEGER: _integer, Shape.NUMBER: _number, Shape.JSON: _json}
