"""The parser of the arguments of a verb; every problem is a RequestError.

    grep x app --context 2 --word       positionals by their place, options by their flags
    edit app.f --old -x --new=--        a value may begin with a dash where it is no flag of this verb
    move app.f app.g app.net            of several positionals one may take all words that the others leave
    grep -- -x                          behind `--` every word is a positional
    grep -rniA3 x                       short flags may stand together, the last with its value
    grep -e x app                       a positional that an option has set leaves its place to the next
    config set a.b -q                   what follows the first positional may be the second, if it may have a dash

Written without argparse, which takes as long to load as a small file takes to read. Only what was given appears in the
result: defaults belong to the requests.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from bae_source.adapters.cli.arguments import SEVERAL, Argument, Shape
from bae_source.errors import RequestError


class Parser:
    """Complains about the call of one verb.

    Parameters:
        prog: how the verb is called.
        usage: returns the text that is the hint of every error.
    """

    def __init__(self, *, prog: str, usage: Callable[[], str]) -> None:
        self._prog = prog
        self._usage = usage

    def error(self, message: str, *hints: str) -> NoReturn:
        """Raise RequestError with a complaint as a sentence."""
        sentence = message[:1].upper() + message[1:]
        usual = (f"Usage: {self._usage()}", f"{self._prog} --help explains every option.")
        raise RequestError("invalid_arguments", sentence.rstrip(".") + ".", hints=[*usual, *hints])

    def unknown(self, words: Sequence[str], *hints: str) -> NoReturn:
        """Raise RequestError for words that belong to nothing."""
        self.error(f"unrecognized arguments: {' '.join(words)}", *hints)

    def behind_dashes(self, options: Sequence[str], words: Sequence[str]) -> str:
        """Return the call in which words that begin with a dash are no options."""
        import shlex  # only where a call is at fault

        before = shlex.join([*self._prog.split(), *options])
        return f"{before} -- {shlex.join(words)} takes what begins with a dash for no option."


def parse(parser: Parser, arguments: Sequence[Argument], tokens: Sequence[str]) -> dict[Argument, Any]:
    """Return the given values, by argument.

    Raises:
        RequestError: `invalid_arguments`, with the usage as the hint.
    """
    end = tokens.index("--") if "--" in tokens else len(tokens)
    given, words = _options(parser, arguments, tokens[:end])
    placed = _free([each for each in arguments if not each.flags], given, len(words) + len(tokens[end + 1 :]))
    if end == len(tokens) and (at := _dashed(placed, words, tokens)):
        return parse(parser, arguments, [*tokens[:at], *tokens[at + 1 :], "--", tokens[at]])
    if unknown := [word for word in words if _is_dashed(word)]:
        options, every = [each for each in tokens[:end] if each not in words], [*words, *tokens[end + 1 :]]
        has_room = len(every) <= len(placed)  # for a pattern such as -$X
        parser.unknown(unknown, *([parser.behind_dashes(options, every)] if has_room else []))
    found = {each: given[each] for each in arguments if each in given and each.shape is not Shape.NOTHING}
    found |= _placed(parser, placed, [*words, *tokens[end + 1 :]])
    seen: dict[str, Argument] = {}
    for argument in found:
        if other := seen.get(argument.parameter):
            parser.error(f"{_called(argument)} and {_called(other)} exclude each other")
        seen[argument.parameter] = argument
    return found


def _dashed(placed: Sequence[Argument], words: Sequence[str], tokens: Sequence[str]) -> int:
    """Return the position of a second positional that begins with a dash; 0 where there is none.

    A short option counts as one only where the call would be malformed without it, and a long one never: where the
    value is missing in `config set a.b --dry-run`, nothing may be written.
    """
    if not words or len(placed) != 2 or not placed[1].dashed:
        return 0
    at = tokens.index(words[0]) + 1
    if at == len(tokens) or not _is_dashed(tokens[at]) or list(words[1:]) not in ([], [tokens[at]]):
        return 0
    is_option = len(words) == 1
    return 0 if is_option and (tokens[at].startswith("--") or not placed[1].required) else at


def _options(
    parser: Parser, arguments: Sequence[Argument], tokens: Sequence[str]
) -> tuple[dict[Argument, Any], list[str]]:
    """Return the values of the options that stand among some tokens, and the tokens that belong to none."""
    flags = {flag: each for each in arguments for flag in each.flags}
    given: dict[Argument, Any] = {}
    words: list[str] = []
    rest = deque(tokens)
    while rest:
        token = rest.popleft()
        flag, equals, value = token.partition("=")
        argument = flags.get(flag)
        if argument is None:
            if pieces := _apart(token, flags):
                rest.extendleft(reversed(pieces))
            else:
                words.append(token)
        elif not argument.takes_value:
            if equals:
                _complain(parser, argument, f"ignored explicit argument {value!r}")
            _store(parser, given, argument, argument.shape is Shape.FLAG)
        else:
            if not equals:
                if not rest or rest[0].partition("=")[0] in flags:
                    _complain(parser, argument, "expected one argument")
                value = rest.popleft()
            _store(parser, given, argument, _value(parser, argument, value))
    return given, words


def _apart(token: str, flags: Mapping[str, Argument]) -> list[str]:
    """Return the short flags that stand together in a token: of `-nA3` `-n` and `-A=3`; none where it is none of them.

    The value of the last one may follow in the next token.
    """
    pieces: list[str] = []
    rest = token[1:] if token[:1] == "-" else ""
    while rest:
        argument = flags.get(f"-{rest[0]}")
        if argument is None or argument.parameter == "help":  # which would be passed over
            return []
        flag, rest = f"-{rest[0]}", rest[1:]
        if argument.takes_value and rest:
            flag, rest = f"{flag}={rest.removeprefix('=')}", ""
        pieces.append(flag)
    return pieces


def _free(positionals: list[Argument], given: Mapping[Argument, Any], words: int) -> list[Argument]:
    """Return the positionals that words are for: where there are fewer, not those that an option has set."""
    if words >= len(positionals):
        return positionals
    set_by_option = {each.parameter for each in given}
    return [each for each in positionals if each.parameter not in set_by_option]


def _store(parser: Parser, given: dict[Argument, Any], argument: Argument, value: object) -> None:
    """Keep a value; a second one is refused where only one can be meant, since the last would win silently."""
    if argument.shape in SEVERAL:
        given.setdefault(argument, []).append(value)
    elif argument in given and argument.shape is not Shape.NOTHING:
        _complain(parser, argument, "given more than once")
    else:
        given[argument] = value


def _value(parser: Parser, argument: Argument, text: str) -> Any:
    """Return the value of an option's text."""
    try:
        value = _CONVERSIONS[argument.shape](text) if argument.shape in _CONVERSIONS else text
    except ValueError as error:
        _complain(parser, argument, str(error))
    if argument.choices and value not in argument.choices:
        choices = ", ".join(map(repr, argument.choices))
        _complain(parser, argument, f"invalid choice: {value!r} (choose from {choices})")
    return value


def _complain(parser: Parser, argument: Argument, message: str) -> NoReturn:
    parser.error(f"argument {'/'.join(argument.flags)}: {message}")


def _placed(parser: Parser, positionals: Sequence[Argument], words: Sequence[str]) -> dict[Argument, Any]:
    """Give the words to the positionals in turn; one left without a word is for the request to complain about."""
    first = next((number for number, each in enumerate(positionals) if each.shape in SEVERAL), None)
    if first is not None and len(words) >= len(positionals):
        end = len(words) - (len(positionals) - first - 1)
        rest = [*positionals[:first], *positionals[first + 1 :]]
        found = _placed(parser, rest, [*words[:first], *words[end:]]) | {positionals[first]: list(words[first:end])}
        return {each: found[each] for each in positionals}
    if len(words) > len(positionals):
        parser.unknown(words[len(positionals) :])
    placed: dict[Argument, Any] = dict(zip(positionals, words, strict=False))
    for argument, word in placed.items():
        if argument.choices and word not in argument.choices:
            parser.error(f"{word!r} is none of {', '.join(argument.choices)}")
        if argument.shape in _CONVERSIONS:
            try:
                placed[argument] = _CONVERSIONS[argument.shape](word)
            except ValueError as error:
                parser.error(f"{argument.parameter}: {error}")
    return placed


def _called(argument: Argument) -> str:
    return argument.flags[0] if argument.flags else argument.metavar or argument.parameter.upper()


def _is_dashed(token: str) -> bool:
    return token.startswith("-") and token not in ("-", "--")


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{text!r} is no whole number") from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{text!r} is no number") from None


def _json(text: str) -> Any:
    import json  # 3 ms, and few parameters are given so

    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"{text!r} is no JSON: {error}") from None


_CONVERSIONS: Mapping[Shape, Callable[[str], Any]] = {
    Shape.INTEGER: _integer,
    Shape.NUMBER: _number,
    Shape.JSON: _json,
}
