"""The words behind a verb: what they become, and every complaint about them."""

from __future__ import annotations

from typing import Any

import pytest

from bae_source.adapters.cli.arguments import Argument, Shape
from bae_source.adapters.cli.parser import Parser, parse
from bae_source.errors import RequestError

ARGUMENTS = (
    Argument(parameter="target"),
    Argument(parameter="mode", choices=("fast", "slow")),
    Argument(parameter="old", flags=("--old",)),
    Argument(parameter="old", flags=("--old-file",), shape=Shape.FILE),
    Argument(parameter="word", flags=("--word",), shape=Shape.FLAG),
    Argument(parameter="data", flags=("--no-data",), shape=Shape.DENIAL),
    Argument(parameter="imports", flags=("--import",), shape=Shape.LIST),
    Argument(parameter="depth", flags=("--depth",), shape=Shape.INTEGER),
    Argument(parameter="limit", flags=("--limit",), shape=Shape.NUMBER),
    Argument(parameter="where", flags=("--where",), shape=Shape.JSON),
    Argument(parameter="kind", flags=("--kind",), shape=Shape.CHOICE, choices=("class", "method")),
    Argument(parameter="help", flags=("-h", "--help"), shape=Shape.FLAG),
)
PARSER = Parser(prog="prog verb", usage=lambda: "prog verb TARGET")


def given(*tokens: str) -> dict[str, Any]:
    return {argument.parameter: value for argument, value in parse(PARSER, ARGUMENTS, tokens).items()}


def complaint(*tokens: str) -> str:
    with pytest.raises(RequestError) as caught:
        parse(PARSER, ARGUMENTS, tokens)
    assert caught.value.code == "invalid_arguments"
    assert caught.value.hints[:2] == ("Usage: prog verb TARGET", "prog verb --help explains every option.")
    return caught.value.message


@pytest.mark.parametrize(
    ("tokens", "values"),
    [
        ((), {}),
        (("a", "fast"), {"target": "a", "mode": "fast"}),
        (("--word", "a", "-h"), {"target": "a", "word": True, "help": True}),
        (("a", "--word", "fast"), {"target": "a", "mode": "fast", "word": True}),
        (("--no-data",), {"data": False}),
        (("--depth", "-3"), {"depth": -3}),
        (("--depth=-3", "--limit", "1.5"), {"depth": -3, "limit": 1.5}),
        (("--where", '{"a": [1]}'), {"where": {"a": [1]}}),
        (("--import", "a", "b", "--import=c"), {"imports": ["a", "c"], "target": "b"}),
        (("--kind", "class"), {"kind": "class"}),
        (("--old", "-x = 1"), {"old": "-x = 1"}),
        (("--old", "--nope"), {"old": "--nope"}),
        (("--old", "-"), {"old": "-"}),
        (("--old", ""), {"old": ""}),
        (("--old=", "a"), {"old": "", "target": "a"}),
        (("--old=--", "--", "a"), {"old": "--", "target": "a"}),
        (("--old==", "-"), {"old": "=", "target": "-"}),
        (("--", "--word", "slow"), {"target": "--word", "mode": "slow"}),
    ],
)
def test_words_become_values(tokens: tuple[str, ...], values: dict[str, object]) -> None:
    assert given(*tokens) == values


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (("a", "fast", "c"), "Unrecognized arguments: c."),
        (("a", "--nope", "-x", "-1"), "Unrecognized arguments: --nope -x -1."),
        (("--wor",), "Unrecognized arguments: --wor."),
        (("--nope=1",), "Unrecognized arguments: --nope=1."),
        (("--old",), "Argument --old: expected one argument."),
        (("--old", "--"), "Argument --old: expected one argument."),
        (("--old", "--word"), "Argument --old: expected one argument."),
        (("--old", "--word=1"), "Argument --old: expected one argument."),
        (("--word=1",), "Argument --word: ignored explicit argument '1'."),
        (("-h=",), "Argument -h/--help: ignored explicit argument ''."),
        (("--word", "--word"), "Argument --word: given more than once."),
        (("--old", "a", "--old=a"), "Argument --old: given more than once."),
        (("--depth", "1.5"), "Argument --depth: '1.5' is no whole number."),
        (("--limit", "x"), "Argument --limit: 'x' is no number."),
        (("--kind", "--"), "Argument --kind: expected one argument."),
        (("--kind=--",), "Argument --kind: invalid choice: '--' (choose from 'class', 'method')."),
        (("a", "medium"), "'medium' is none of fast, slow."),
        (("--old", "a", "--old-file", "b"), "--old-file and --old exclude each other."),
    ],
)
def test_what_is_wrong_is_reported_in_a_sentence(tokens: tuple[str, ...], expected: str) -> None:
    assert complaint(*tokens) == expected


def test_json_that_is_none_says_where() -> None:
    assert complaint("--where", "{").startswith("Argument --where: '{' is no JSON: Expecting property name")


def test_a_list_without_a_flag_takes_the_words_that_are_left() -> None:
    arguments = (Argument(parameter="first"), Argument(parameter="more", shape=Shape.LIST))
    found = parse(PARSER, arguments, ("a", "b", "--", "-c"))
    assert {argument.parameter: value for argument, value in found.items()} == {"first": "a", "more": ["b", "-c"]}


SHORT = (
    Argument(parameter="pattern"),
    Argument(parameter="pattern", flags=("--regexp", "-e"), shape=Shape.LIST),
    Argument(parameter="scope"),
    Argument(parameter="case", flags=("--ignore-case", "-i"), shape=Shape.FLAG),
    Argument(parameter="after", flags=("--after", "-A"), shape=Shape.INTEGER),
    Argument(parameter="none", flags=("-n", "-r"), shape=Shape.NOTHING),
)


@pytest.mark.parametrize(
    ("tokens", "values"),
    [
        (("-i", "x"), {"case": True, "pattern": "x"}),
        (("-rniA3", "x"), {"case": True, "after": 3, "pattern": "x"}),
        (("-niA", "3", "x"), {"case": True, "after": 3, "pattern": "x"}),
        (("-A=3", "x"), {"after": 3, "pattern": "x"}),
        (("-e", "x", "-ey", "s"), {"pattern": ["x", "y"], "scope": "s"}),
        (("-r", "-r", "-n"), {}),
        (("--", "-in"), {"pattern": "-in"}),
    ],
)
def test_short_flags_stand_alone_or_together(tokens: tuple[str, ...], values: dict[str, object]) -> None:
    assert {each.parameter: value for each, value in parse(PARSER, SHORT, tokens).items()} == values


@pytest.mark.parametrize("tokens", [("-ix", "p"), ("-x", "p"), ("-ni-", "p")])
def test_a_letter_that_is_none_leaves_the_word_whole(tokens: tuple[str, ...]) -> None:
    with pytest.raises(RequestError, match=f"Unrecognized arguments: {tokens[0]}"):
        parse(PARSER, SHORT, tokens)
