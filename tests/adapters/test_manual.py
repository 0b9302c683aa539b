"""The help: every verb and every parameter is in it, it fits 80 columns, and its examples can be typed."""

from __future__ import annotations

import shlex

import pytest

from bae_source.adapters.cli.arguments import of_request
from bae_source.adapters.cli.commands import COMMANDS
from bae_source.engine.service import REQUESTS
from bae_source.model.request import Effect, command_of, summary
from tests.adapters.support import Called, Recorder, call

VERBS = [*map(command_of, REQUESTS), *COMMANDS]
PROGRAMS = ["bae-source", "python -m bae_source"]


def helped(*argv: str, **options: str) -> str:
    called = call(*argv, **options)
    assert (called.status, called.err) == (0, b"")
    return called.out.decode()


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("argv", [("--help",), *((*verb.split(), "--help") for verb in VERBS)], ids=" ".join)
def test_help_fits_80_columns(argv: tuple[str, ...], program: str) -> None:
    lines = helped(*argv, program=program).splitlines()
    assert [line for line in lines if len(line) > 80 or line != line.rstrip()] == []


def test_the_top_has_every_verb_in_its_group() -> None:
    text = helped("--help")
    assert all(f"\n  {verb} " in text for verb in [*VERBS, "help"])
    headings = [line for line in text.splitlines() if line.endswith(":")]
    assert headings == ["Reading:", "Changing:", "History:", "Other:", "Examples:", "Exit status:"]
    assert all(status in text for status in ("\n  0 ", "\n  6 ", "\n  10 ", "\n  70 ", "\n  130 "))


def test_nothing_at_all_and_help_show_the_top() -> None:
    assert helped() == helped("--help") == helped("-h") == helped("help")


@pytest.mark.parametrize("verb", VERBS)
def test_a_verbs_help_can_be_had_in_three_ways(verb: str) -> None:
    words = verb.split()
    assert helped(*words, "--help") == helped(*words, "-h") == helped("help", *words) == helped("--help", *words)


@pytest.mark.parametrize("kind", list(REQUESTS), ids=lambda kind: kind.verb)
def test_a_verbs_help_has_its_summary_every_parameter_and_examples(kind: type) -> None:
    text = helped(*command_of(kind).split(), "--help")
    words = " ".join(text.split())
    assert summary(kind) in words
    for argument in of_request(kind):
        assert argument.help
        assert argument.help in words
        assert all(flag in text for flag in argument.flags)
    assert "\nExamples:\n" in text


def examples(text: str) -> list[str]:
    return [line.strip() for line in text.partition("Examples:\n")[2].partition("\n\n")[0].splitlines()]


HELPS = [("--help",), *((*command_of(kind).split(), "--help") for kind in REQUESTS)]


@pytest.mark.parametrize("example", [example for argv in HELPS for example in examples(helped(*argv))])
def test_an_example_is_understood(example: str, tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(str(tmp_path))
    words = shlex.split(example.partition(" | ")[2] or example.partition(" > ")[0].partition(" < ")[0])
    for position, word in enumerate(words):
        if word.endswith((".py", ".json")):
            words[position] = "-"
    door = Recorder()
    changes = b'{"requests": [{"do": "delete", "target": "app.old"}]}'
    called = call(*words[1:], door=door, stdin=changes if words[1] == "apply" else b"x = 1\n")
    assert called.status == 0, called.err_text
    assert len(door.requests) == 1


def test_help_for_what_does_not_exist_says_so() -> None:
    assert call("help", "nonsense").err_text.startswith("error[unknown_operation]")


def test_the_version_is_one_line() -> None:
    text = helped("--version")
    assert text.startswith("bae_source ")
    assert text.count("\n") == 1


def test_help_on_a_terminal_has_bold_headings() -> None:
    called: Called = call("--help", terminal=True)
    assert b"\x1b[1mReading:\x1b[0m" in called.out


def test_what_writes_is_listed_under_changing() -> None:
    text = call("help").out.decode()
    reading, changing = (text.partition(f"\n{head}:\n")[2].partition("\n\n")[0] for head in ("Reading", "Changing"))
    for kind in REQUESTS:
        if kind.__module__.split(".")[1] in ("queries", "resources", "refactoring"):
            table = reading if kind.effect is Effect.READS else changing
            assert f"\n  {command_of(kind)} " in f"\n{table}", command_of(kind)
