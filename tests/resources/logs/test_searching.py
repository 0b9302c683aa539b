"""Lines of a log that match."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from bae_source import RequestError, Source
from bae_source.resources.logs import lines as of_lines
from bae_source.resources.logs import reading, searching
from tests.adapters.support import run
from tests.resources.logs.test_reading import body, head, write


def test_the_last_lines_that_match_are_shown_with_their_numbers(root: Path) -> None:
    text = run("logs", "read", "app.log", "--search", "9$", "--lines", "2", folder=root).out.decode()
    assert (head(text), body(text)) == (
        "app.log: the last 2 lines of 123 that match",
        ["1219: line 1219", "1229: line 1229", ""],
    )
    text = Source(root).logs_read("app.log", search="^line 7$")
    assert (head(text), body(text)) == ("app.log: 1 line of 1,234 matches", ["7: line 7"])
    text = Source(root).logs_read("app.log", search="nothing")
    assert (head(text), body(text), text.complete) == ("(no matches in 1,234 lines of app.log)", [], True)


def test_lines_around_a_match_are_shown_as_grep_does(root: Path) -> None:
    text = run("logs", "read", "app.log", "--search", "line (3|5|100)$", "-C", "1", folder=root).out.decode()
    assert body(text) == [
        "2- line 2",
        "3: line 3",
        "4- line 4",
        "5: line 5",
        "6- line 6",
        "--",
        "99- line 99",
        "100: line 100",
        "101- line 101",
        "",
    ]
    assert body(Source(root).logs_read("app.log", search="line (1|1234)$", context=1)) == [
        "1: line 1",
        "2- line 2",
        "--",
        "1233- line 1233",
        "1234: line 1234",
    ]


def test_from_a_line_on_the_first_matches_are_shown_and_the_call_that_goes_on(root: Path) -> None:
    text = Source(root).logs_read("app.log", search="5", from_line=50, lines=2)
    assert (head(text), body(text)) == ("app.log: 2 lines from line 50 on match", ["50: line 50", "51: line 51"])
    assert not text.complete
    assert text.outcome.next_actions == ('logs_read("app.log", lines=2, from_line=52, search="5") goes on.',)
    text = Source(root).logs_read("app.log", search="1", from_line=1234)
    assert (body(text), text.complete) == (["1234: line 1234"], True)


def test_a_text_is_searched_as_it_stands_and_without_regard_to_case(root: Path) -> None:
    source = write(root, b"a.c\nabc\nA.C\n")
    assert body(source.logs_read("app.log", search="a.c", fixed=True)) == ["1: a.c"]
    assert body(source.logs_read("app.log", search="a.c", fixed=True, ignore_case=True)) == ["1: a.c", "3: A.C"]


def test_what_is_searched_is_what_is_shown(root: Path) -> None:
    source = write(root, b"plain\r\n\x1b[31mred\xe9\r\n" + "Zoë\n".encode())
    assert body(source.logs_read("app.log", search=r"\\x1b")) == [r"2: \x1b[31mred\xe9"]
    assert body(source.logs_read("app.log", search="plain$")) == ["1: plain"]
    assert body(source.logs_read("app.log", search="zoë", ignore_case=True)) == ["3: Zoë"]


def test_of_a_long_line_the_part_with_the_match_is_shown(root: Path) -> None:
    text = write(root, b"x" * 9000 + b"needle" + b"y" * 9000 + b"\n").logs_read("app.log", search="needle")
    assert "needle" in body(text)[0]
    assert body(text)[0].startswith("1: (+8,001 characters) …x")
    assert body(text)[0].endswith("y… (+8,005 characters)")


@pytest.mark.parametrize("pattern", ["(a+)+$", "(", ""])
def test_an_expression_that_is_none_or_never_ends(root: Path, pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "SECONDS", 1.0)
    source = write(root, b"a" * 60 + b"!\n")
    begun = time.monotonic()
    if pattern == "(a+)+$":
        text = source.logs_read("app.log", search=pattern)
        assert not text.complete
        assert text.outcome.warnings[0].message == (
            "The search was stopped after 1 s, and did not reach the end of the log."
        )
        assert time.monotonic() - begun < 10
    else:
        with pytest.raises(RequestError, match="pattern is"):
            source.logs_read("app.log", search=pattern)


def test_blocks_neither_lose_nor_double_a_line(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_lines, "BLOCK", 64)
    monkeypatch.setattr(of_lines, "SAMPLE", 16)
    source = Source(root)
    text = source.logs_read("app.log", search="line", lines=500)
    assert body(text) == [f"{number}: line {number}" for number in range(735, 1235)]
    assert head(text) == "app.log: the last 500 lines of 1,234 that match"
    assert body(source.logs_read("app.log", lines=500)) == [f"line {number}" for number in range(735, 1235)]
    assert body(source.logs_read("app.log", from_line=700, lines=3)) == ["line 700", "line 701", "line 702"]
    monkeypatch.setattr(reading, "COUNTED", 1000)
    monkeypatch.setattr(of_lines, "COUNTED", 1000)
    text = source.logs_read("app.log", search="line 123[34]")
    assert body(text) == [": line 1233", ": line 1234"]
    assert not text.complete
