"""What is public is documented, and what is documented is there."""

from __future__ import annotations

import inspect
import re
import shlex
from pathlib import Path

import pytest

import bae_source
from bae_source.adapters.cli.commands import COMMANDS
from bae_source.adapters.cli.invocation import command_line
from bae_source.adapters.cli.parser import Parser, parse
from bae_source.engine.service import REQUESTS
from bae_source.errors import ResourceError
from tests.adapters.support import Recorder, call

HOUSE = Path(__file__).resolve().parent.parent
README = (HOUSE / "README.md").read_text()
PAGES = {str(page.relative_to(HOUSE)): page.read_text() for page in [*HOUSE.glob("*.md"), *HOUSE.glob("docs/*.md")]}
PROSE = re.compile(r"(?ms)^ *```.*?^ *```$|`[^`\n]*`")
"""Code in a page, blocks first, which holds no links or headings."""
CALLS = [
    (page, line)
    for page, text in PAGES.items()
    if page != "docs/reference.md"  # whose calls are patterns
    for line in re.findall(r"(?m)^\$ (.*)$", text)
]
OTHERS = {"--directory", "--no-format", "--all"}
"""Options of git, of LibCST's own tool, and of a benchmark."""


@pytest.mark.parametrize("name", [name for name in bae_source.__all__ if name != "__version__"])
def test_a_public_name_is_there_and_says_what_it_is(name: str) -> None:
    assert inspect.getdoc(getattr(bae_source, name))


def test_the_error_tree_is_drawn_with_its_exit_statuses() -> None:
    from bae_source import errors

    for kind in ResourceError.__subclasses__():
        assert re.search(rf"{kind.__name__}\s+exit {kind.exit_code}\b", errors.__doc__ or "")
        assert f"{kind.exit_code} " in README


def test_each_promise_of_security_names_tests_that_are_there() -> None:
    promises = (HOUSE / "SECURITY.md").read_text().partition("## Promises")[2]
    for promise in promises.split("\n* ")[1:]:
        named = re.findall(r"`([\w/]*test_\w+\.py)?(?:::(test_\w+))?`", promise)
        assert any(file or test for file, test in named), promise
    file = ""
    for found, test in re.findall(r"`([\w/]*test_\w+\.py)?(?:::(test_\w+))?`", promises):
        file = found or file
        text = (HOUSE / ("" if file.startswith("tests/") else "tests/trust") / file).read_text()
        assert f"\ndef {test}(" in text or not test, f"{file}::{test}"


def test_architecture_fits_on_its_pages() -> None:
    assert len(PAGES["ARCHITECTURE.md"].splitlines()) <= 150


def test_modules_that_architecture_names_are_there() -> None:
    there = {
        f"/{path.relative_to(HOUSE).with_suffix('')}" for path in HOUSE.glob("bae_source/**/*") if "__" not in path.name
    }
    named = re.findall(r"`(\w+(?:/\w+)+)`", PAGES["ARCHITECTURE.md"])
    assert len(named) > 50
    assert [name for name in named if not any(path.endswith(f"/{name}") for path in there)] == []


@pytest.mark.parametrize("page", PAGES)
def test_links_of_a_page_lead_somewhere(page: str) -> None:
    for link in re.findall(r"\]\(([^)]+)\)", PROSE.sub("", PAGES[page])):
        if not link.startswith("https://"):
            path, _, heading = link.partition("#")
            target = ((HOUSE / page).parent / path).resolve() if path else HOUSE / page
            assert target.is_file(), link
            assert not heading or heading in _anchors(target.read_text()), link


def _anchors(text: str) -> list[str]:
    """Return the ids that a page of Markdown gives its headings."""
    return [re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in re.findall(r"(?m)^#+ (.*)$", text)]


@pytest.mark.parametrize("page", PAGES)
def test_options_that_a_page_names_are_in_the_reference(page: str) -> None:
    if page != "CONTRIBUTING.md":  # which is about options of pytest and of the benchmarks
        there = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", PAGES["docs/reference.md"]))
        assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", PAGES[page])) <= there | OTHERS


@pytest.mark.parametrize(("page", "line"), CALLS)
def test_a_call_in_a_page_is_understood(page: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in re.findall(r"[\w./]+\.(?:py|diff|txt)\b", line):
        (tmp_path / Path(file).name).write_text("x = 1\n")
    monkeypatch.chdir(tmp_path)
    for words in re.findall(r"bae-source (?:meta )?((?:'[^']*'|\"[^\"]*\"|[^'\"|<>#])*)", _filled(line)):
        asked = command_line(shlex.split(words), {verb.split()[0] for verb in REQUESTS.commands if " " in verb})
        if command := COMMANDS.get(asked.verb or ""):
            assert parse(Parser(prog="", usage=str), command.arguments, asked.tokens) is not None
        else:
            door = Recorder()
            called = call(*shlex.split(words), door=door, stdin=b"x = 1\n")
            assert (called.status, len(door.requests)) == (0, 1), called.err_text


def _filled(line: str) -> str:
    """Return a call with a hash where it has the shell run a command for one."""
    return re.sub(r"\$\(.*?\)", "0" * 32, line)


def test_the_table_of_benchmarks_names_every_one() -> None:
    rows = re.findall(r"(?m)^\| `.*?\|", PAGES["docs/measured.md"])
    named = {name.split()[0] for row in rows for name in re.findall(r"`([^`]+)`", row)}
    files = [*HOUSE.glob("benchmarks/*.py"), *HOUSE.glob("benchmarks/*/__main__.py")]
    measuring = {file for file in files if '__name__ == "__main__"' in file.read_text()}
    others = {"corpus", "picture", "standard_names"}  # which measure nothing
    assert named == {file.stem if file.parent.name == "benchmarks" else file.parent.name for file in measuring} - others
    assert set(re.findall(r"benchmarks\.(\w+)[ `]", PAGES["CONTRIBUTING.md"])) <= named
