"""The reference is what the declarations give, all of it, and says so when it is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bae_source.adapters.cli import reference
from bae_source.adapters.cli.arguments import of_context, of_request
from bae_source.adapters.cli.commands import COMMANDS
from bae_source.adapters.cli.manual import STATUSES
from bae_source.engine.registry import REQUESTS
from bae_source.errors import HistoryError, LookupFailed, Refused, RequestError, SourceError, TransactionError
from bae_source.model.context import steering
from bae_source.model.request import Request, command_of, parameters, summary
from bae_source.model.settings import settings
from tests.adapters.support import REPOSITORY, call, run

PAGE = reference.page()


def section(verb: str) -> str:
    """Return what the page says of one verb."""
    found = re.search(rf"\n### {verb}\n(.*?)(?=\n##)", PAGE, re.DOTALL)
    assert found, verb
    return found[1]


def plain(text: str) -> str:
    return " ".join(text.split())


def test_the_page_that_is_checked_in_is_what_the_declarations_give() -> None:
    done = run("docs", "--check", folder=REPOSITORY)
    assert (done.status, done.err_text) == (0, ""), done.out.decode()
    assert (REPOSITORY / reference.CHECKED_IN).read_text(encoding="utf-8") == PAGE


def test_the_command_prints_the_page() -> None:
    assert call("docs").out.decode() == PAGE
    assert call("docs", "--json").json["text"] == PAGE


@pytest.mark.parametrize("kind", list(REQUESTS), ids=lambda kind: kind.verb)
def test_a_request_is_in_the_table_and_in_a_section_with_all_that_it_takes(kind: type[Request]) -> None:
    row = f"| [{kind.verb}](#{kind.verb}) | `bae-source {command_of(kind)}` | `src.{kind.verb}()` | `{kind.verb}` |"
    assert f"\n{row} {kind.effect.value} | " in PAGE
    text = section(kind.verb)
    assert summary(kind) in text
    assert f"\n$ bae-source {command_of(kind)}" in text
    assert f"\nsrc.{kind.verb}(" in text
    assert f"Effect: {kind.effect.value}" in text
    typed = {argument.parameter for argument in of_request(kind)}
    for parameter in parameters(kind):
        assert f"\n| `{parameter.name}` | {'`' if parameter.name in typed else ' |'}" in text
        assert plain(parameter.help).replace("|", "\\|") in text
    for parameter in steering(kind):
        assert f"`{parameter.name}`" in text.rpartition("Effect: ")[2]
    for argument in of_request(kind):
        assert all(f"`{flag}" in text for flag in argument.flags)


def test_options_of_every_request_are_listed_once() -> None:
    section = PAGE.partition("## How a request is run")[2].partition("\n## ")[0]
    for kind in REQUESTS:
        for parameter in steering(kind):
            assert section.count(f"\n| `{parameter.name}` | ") == 1
            assert parameter.help in section
        assert all(f"`{argument.flags[0]}" in section for argument in of_context(kind))


@pytest.mark.parametrize("verb", COMMANDS)
def test_a_verb_of_the_command_line_alone_has_a_section(verb: str) -> None:
    command = COMMANDS[verb]
    text = section(verb)
    assert command.about.strip().partition("\n")[0] in text
    assert all(argument.help in text for argument in command.arguments)


def test_every_error_code_exit_status_and_setting_is_there() -> None:
    for kind in (RequestError, LookupFailed, SourceError, Refused, TransactionError, HistoryError):
        [row] = [line for line in PAGE.splitlines() if line.startswith(f"| `{kind.__name__}` | {kind.exit_code} | ")]
        assert all(f"`{code}`" in row for code in kind.codes)
    assert all(f"\n| {status} | {means} |" in PAGE for status, means in STATUSES)
    assert all(f"\n| `{each.name}` | " in PAGE and f"`{each.line}`" in PAGE for each in settings())


def test_every_table_has_as_many_cells_in_each_row_and_no_row_twice() -> None:
    for table in re.findall(r"(?:^\|.*\n?)+", PAGE, re.MULTILINE):
        rows = table.splitlines()
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows}) == 1, rows[0]
        assert len(set(rows)) == len(rows)


def test_no_machine_shows_in_the_page() -> None:
    assert not re.search(rf"{re.escape(str(REPOSITORY))}|/home/|/tmp/|/usr/|<.* object at 0x", PAGE)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda text: text.replace("# Reference", "# Referenz"), 1),
        (lambda text: text.replace("| reads |", "| writes |", 1), 11),
        (lambda text: text + "more\n", len(PAGE.splitlines()) + 1),
        (lambda text: "", 1),
    ],
)
def test_a_page_that_is_another_one_is_a_finding(
    change: object, line: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stale = tmp_path / "reference.md"
    stale.write_text(change(PAGE), encoding="utf-8")  # type: ignore[operator]  # one of the functions above
    monkeypatch.setattr(reference, "CHECKED_IN", str(stale))
    checked = call("docs", "--check")
    assert checked.status == 1
    assert checked.out.decode().endswith(f"is not what the declarations give, from line {line} on.\n")
    assert call("docs", "--check", "--json").json["next_actions"] == ["python -m bae_source docs > docs/reference.md"]


def test_where_no_page_is_checked_in_that_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "CHECKED_IN", str(tmp_path / "none.md"))
    checked = call("docs", "--check")
    assert (checked.status, checked.out) == (2, b"")
    assert "makes it" in checked.err_text
