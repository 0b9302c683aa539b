"""grep by grep's own options: each means what it means to grep, and what an expression means otherwise is said."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bae_source import RequestError, Source
from bae_source.adapters.cli.cli import through_service
from bae_source.model.request import as_mapping
from bae_source.project.search.basic import as_grep
from tests.adapters.support import Called, Recorder, call
from tests.queries.support import laid

FILES = {
    "app/__init__.py": "",
    "app/net.py": "import os\n\nfoo = bar = 1\nx = 'foo|bar'\ndef get(a):\n    return get(a), foo\n# Foo\n",
    "app/other.py": "a = 1\nfoobar = 2\nb = 3\n",
    "notes.md": "foo (bar)\n\tbar  baz\nfoo foo\n",
}


@pytest.fixture
def app(tmp_path: Path) -> Source:
    source = laid(tmp_path, FILES)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    return source


def cli(app: Source, *words: str) -> Called:
    return call("--root", str(app.root), "grep", *words, door=through_service)


def lines(app: Source, *words: str) -> list[str]:
    called = cli(app, *words)
    assert called.status == 0, called.err_text
    return called.out.decode().splitlines()


def by_git(app: Source, *words: str) -> list[str]:
    """Return what `git grep` prints, with the names and the form that answers have here."""
    done = subprocess.run(["git", "grep", "--untracked", *words], cwd=app.root, capture_output=True, text=True)
    names = {"app/net.py": "app.net", "app/other.py": "app.other", "notes.md": ":notes.md"}
    found = []
    for line in done.stdout.splitlines():
        path, colon, rest = line.partition(":")
        number, second, text = rest.partition(":")
        found.append(f"{names[path]}{colon}{number}{f': {text.strip()}' if second else ''}")
    return sorted(found)


@pytest.mark.parametrize(
    "words",
    [
        ("-n", "foo"),
        ("-n", "-i", "foo"),
        ("-nw", "foo"),
        ("-nwi", "foo"),
        ("-nF", "foo|bar"),
        ("-nF", "get("),
        ("-nE", "foo|baz"),
        ("-nv", "o"),
        ("-no", "fo*"),
        ("-noE", "foo|bar"),
        ("-n", "-e", "foobar", "-e", "baz"),
        ("-nwF", "-e", "foo", "-e", "(bar)"),
        ("-c", "foo"),
        ("-l", "foo"),
        ("-nE", "^b|3$"),
    ],
)
def test_the_answer_is_that_of_git_grep(app: Source, words: tuple[str, ...]) -> None:
    assert sorted(lines(app, *words)) == by_git(app, *words) != []


def test_lines_around_are_shown_above_and_below(app: Source) -> None:
    assert lines(app, "-A1", "foobar") == ["app.other:2: foobar = 2", "app.other:3- b = 3"]
    assert lines(app, "-B", "1", "foobar") == ["app.other:1- a = 1", "app.other:2: foobar = 2"]
    around = ["app.other:1- a = 1", "app.other:2: foobar = 2", "app.other:3- b = 3"]
    assert lines(app, "-nC1", "foobar") == lines(app, "--context=1", "foobar") == around
    assert lines(app, "-C1", "-A0", "foobar") == around[:2]
    assert app.grep("foobar", before=1).splitlines() == around[:2]


def test_options_stand_together_and_apart() -> None:
    def asked(*words: str) -> dict[str, object]:
        door = Recorder()
        called = call("grep", *words, door=door)
        assert called.status == 0, called.err_text
        return as_mapping(door.requests[0])

    whole = asked("x", "app", "--ignore-case", "--word", "--after", "3", "--no-data")
    assert asked("-rniwA3", "x", "app", "--no-data") == whole
    assert asked("-rniwA", "3", "x", "app", "--no-data") == whole
    assert asked("-r", "-n", "-n", "-w", "-i", "-A=3", "x", "--scope", "app", "--no-data") == whole
    assert asked("-ie", "x", "-A3", "app", "-w", "--no-data") == whole | {"pattern": ("x",)}
    assert asked("-e", "-x", "-e", "y")["pattern"] == ("-x", "y")
    assert asked("--", "-x")["pattern"] == "-x"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("-z", "x"), "Unrecognized arguments: -z"),
        (("-nz", "x"), "Unrecognized arguments: -nz"),
        (("-rnh", "x"), "Unrecognized arguments: -rnh"),
        (("-A", "x", "y"), "'x' is no whole number"),
        (("-A3x", "y"), "'3x' is no whole number"),
        (("-A101", "y"), "after: expected `int` <= 100"),
        (("-ii", "x"), "given more than once"),
        (("-e", "x", "y", "app"), "exclude each other"),
        (("-vo", "x"), "invert lists lines without a match"),
        (("-e", ""), "The pattern is empty"),
        (("-e", r"(a)\1", "-e", "b"), "refers to a group by its number"),
        (("-P", r"foo\Kbar"), r"\K is Perl's"),
        (("-P", r"\p{L}+"), r"\p is Perl's"),
        (("(?R)",), "(?R) is Perl's"),
    ],
)
def test_what_is_wrong_is_reported(app: Source, words: tuple[str, ...], expected: str) -> None:
    called = cli(app, *words)
    assert (called.status, called.out) == (2, b"")
    assert expected in called.err_text


def test_quiet_is_the_exit_status_alone(app: Source) -> None:
    assert (cli(app, "-q", "foo").status, cli(app, "-q", "foo").out) == (0, b"")
    assert (cli(app, "-rq", "nowhere").status, cli(app, "-q", "nowhere").out) == (1, b"")
    assert (cli(app, "nowhere").status, cli(app, "nowhere").out) == (0, b"(no matches)\n")


@pytest.mark.parametrize(
    ("pattern", "meant"),
    [
        (r"foo\|bar", "foo|bar"),
        (r"\(a\|b\)c(d)", r"(a|b)c\(d\)"),
        (r"\<foo\>", r"\b(?=\w)foo\b(?<=\w)"),
        (r"[[:space:]]+x", r"[\s]+x"),
        (r"[[:alpha:]_]*", r"[a-zA-Z_]*"),
        (r"a\{2,3\}", r"a{2,3}"),
        (r"x\+", "x+"),
        (r"def foo\(", None),
        (r"\bfoo\.bar", None),
        (r"a\\|b", None),
        ("[[:nope:]]", None),
        ("plain", None),
    ],
)
def test_what_grep_reads_in_an_expression(pattern: str, meant: str | None) -> None:
    assert as_grep(pattern) == meant


def test_an_expression_that_grep_reads_otherwise_is_reported_with_the_call(app: Source) -> None:
    found = app.grep(r"baz\|Foo")
    [notice] = found.outcome.warnings
    assert (found, notice.code) == ("(no matches as Python's re reads it)", "means_otherwise")
    assert notice.message.endswith(r", in which grep's baz\|Foo is baz|Foo; that finds 2 lines.")
    [notice] = app.grep(r"[o]\{2,3\}", only_matching=True).outcome.warnings
    assert notice.message.endswith("; that finds 7 lines.")
    assert found.outcome.next_actions == ('grep("baz|Foo")',)
    assert app.grep("baz|Foo").count("\n") == 1
    literal = app.grep(r"foo\|bar")
    assert literal == "app.net:4: x = 'foo|bar'"
    assert [each.code for each in literal.outcome.warnings] == ["means_otherwise"]
    assert literal.complete


def test_brackets_that_are_meant_literally_are_no_matter(app: Source) -> None:
    assert app.grep(r"get\(a\)").outcome.warnings == ()
    assert app.grep(r"nowhere\(\)").outcome.warnings == ()
    assert app.grep(r"foo\|bar", fixed=True).outcome.warnings == ()
    [notice] = app.grep(r"\(foo\)bar").outcome.warnings
    assert notice.message.endswith(r"grep's \(foo\)bar is (foo)bar; that finds 1 line.")


def test_what_was_meant_is_offered_where_the_call_is_wrong(app: Source) -> None:
    def hints(*words: str) -> list[str]:
        called = cli(app, *words)
        assert called.status == 2
        return [line.removeprefix("  -> ") for line in called.err_text.splitlines() if line.startswith("  -> grep")]

    assert hints("get(") == ["grep 'get(' --fixed finds the text itself."]
    assert "Usage" not in cli(app, "get(").err_text
    assert "Usage" in cli(app, "-A-1", "get").err_text
    assert hints("foo", "app/net.py") == ["grep foo app.net"]
    assert hints("foo", "./notes.md") == ["grep foo :notes.md"]
    assert hints("-rn", "foo", ".") == ["grep foo"]


def test_several_expressions_are_several_in_python_too(app: Source) -> None:
    found = app.grep(["foobar", "baz"], count=True)
    assert found == ":notes.md:1\napp.other:1"
    assert app.grep(["(?i)FOOBAR", "BAZ"]) == "app.other:2: foobar = 2"
    assert app.grep(["FOOBAR", "(?i)BAZ"]) == ":notes.md:2: bar  baz"
    with pytest.raises(RequestError, match="empty"):
        app.grep([])


def test_an_alternative_without_a_common_piece_is_found_in_every_file(app: Source) -> None:
    assert lines(app, "-l", "foobar|^import") == ["app.net", "app.other"]
    assert lines(app, "-li", "FOOBAR|BAZ") == [":notes.md", "app.other"]
