"""`do`: commands a line each, whose changes are one transaction."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.adapters.cli.doing import commands
from bae_source.errors import RequestError
from tests.adapters.support import Called, run
from tests.plan_files import plan_files

MODULE = "LIMIT = 3\n\n\ndef f(x):\n    return x + LIMIT\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "m"\nversion = "1"\n')
    (tmp_path / "m.py").write_text(MODULE)
    return tmp_path


def do(root: Path, script: str, *words: str) -> Called:
    return run("do", *words, folder=root, stdin=script.encode())


def test_reads_see_what_is_planned_and_changes_are_one_operation(root: Path) -> None:
    script = """
    # what is there
    read m.f
    edit m.f --old 'x + LIMIT' \\
        --new 'x * LIMIT'
    bae-source insert m.f --position after --source - <<'END'
def g(x):
    return f(x)
END
    read m.f
    """
    done = do(root, script)
    assert done.status == 0, done.err_text
    shown = done.out.decode()
    assert [line for line in shown.splitlines() if line.startswith("$ ")] == [
        "$ read m.f",
        "$ edit m.f --old 'x + LIMIT' --new 'x * LIMIT'",
        "$ insert m.f --position after --source -",
        "$ read m.f",
    ]
    assert "Planned: Edited m.f.\n" in shown
    assert shown.index("return x * LIMIT") < shown.index("2 changes: Edited m.f; Inserted m.g.  (take it back: ")
    assert shown.count("\ndiff --git ") == 1
    text = (root / "m.py").read_text()
    assert "return x * LIMIT" in text
    assert "def g(x):\n    return f(x)\n" in text
    Source(root).undo()
    assert (root / "m.py").read_text() == MODULE


def test_a_change_that_fails_writes_nothing_and_the_rest_is_kept(root: Path) -> None:
    first = do(root, "edit m.f --old LIMIT --new '2'\nedit m.f --old nope --new 1\nread m.f\n")
    assert first.status == 5
    assert (root / "m.py").read_text() == MODULE
    assert "return x + 2" in first.out.decode(), "what follows is carried out all the same"
    assert "Nothing was changed: 1 of 3 commands failed, the first in line 2: edit." in first.err_text
    draft = re.search(r"do --draft (draft_\w+)", first.err_text)
    assert draft
    second = do(root, "edit m.f --old 'x + 2' --new 'x + 1'\n", "--draft", draft[1])
    assert second.status == 0, second.err_text
    assert (root / "m.py").read_text() == MODULE.replace("x + LIMIT", "x + 1")


def test_what_is_not_found_is_reported_and_the_rest_is_done(root: Path) -> None:
    done = do(root, "read m.nope\nedit m.f --old LIMIT --new 2\n")
    assert done.status == 3
    assert "error[symbol_not_found]" in done.err_text
    assert "return x + 2" in (root / "m.py").read_text()


def test_a_dry_run_is_shown_and_can_be_made_as_it_is(root: Path) -> None:
    done = do(root, "edit m.f --old LIMIT --new 2\n", "--dry-run", "--json")
    assert done.status == 0
    assert (root / "m.py").read_text() == MODULE
    planned, whole = (json.loads(line) for line in done.out.decode().splitlines())
    assert (planned["status"], whole["status"]) == ("planned", "planned")
    assert "+    return x + 2" in whole["diff"]
    assert whole["next_actions"] == [f"commit {whole['draft']} makes it as it is shown."]
    made = run("commit", whole["draft"], "--quiet", folder=root)
    assert made.status == 0
    assert "+    return" not in made.out.decode()
    assert (root / "m.py").read_text() == MODULE.replace("x + LIMIT", "x + 2")


def test_a_dry_run_leaves_the_draft_that_it_goes_on_with_as_it_is(root: Path) -> None:
    first = json.loads(do(root, "edit m.f --old LIMIT --new 2\n", "--dry-run", "--json").out.splitlines()[-1])["draft"]
    other = do(root, "edit m.f --old 'x + 2' --new 'x + 9'\n", "--draft", first, "--dry-run", "--json")
    second = json.loads(other.out.splitlines()[-1])
    assert "+    return x + 9" in second["diff"]
    assert second["draft"] != first
    assert run("commit", first, "-q", folder=root).status == 0
    assert (root / "m.py").read_text() == MODULE.replace("x + LIMIT", "x + 2")


def test_what_is_planned_says_nothing_where_it_is_to_be_quiet(root: Path) -> None:
    done = do(root, "edit m.f --old LIMIT --new 2\nedit m.LIMIT --code 'LIMIT = 4'\n", "-q")
    assert done.out.decode().startswith("2 changes: Edited m.f; Edited m.LIMIT.  (take it back: ")
    assert done.out.count(b"\n") == 1


def test_reads_alone_begin_no_transaction(root: Path) -> None:
    done = do(root, "read m.f\ngrep LIMIT\n")
    assert done.out.decode().startswith("$ read m.f\ndef f(x):\n")
    assert plan_files(root) == []


def test_a_commit_that_does_not_hold_keeps_the_draft(root: Path) -> None:
    done = do(root, "edit m.f --old LIMIT --new 2\n", "--verify", "command false")
    assert done.status == 6
    assert (root / "m.py").read_text() == MODULE
    draft = re.search(r"commit (draft_\w+) tries it again", done.err_text)
    assert draft
    assert run("commit", draft[1], folder=root).status == 0
    assert (root / "m.py").read_text() != MODULE


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("", "No command is given"),
        ("# nothing\n\n", "No command is given"),
        ("edit m.f --old 'x\n", "A quote that begins in line 1 is not ended"),
        (
            "read m.f\nedit m.f --source - <<END\ndef f(x): ...\n",
            "The text that line 2 begins has no end: END is missing",
        ),
        ("read m.f\nundoo\n", "Line 2: undoo is nothing that do carries out"),
        ("edit m.f --old LIMIT --new 2\nmcp\n", "Line 2: mcp is nothing that do carries out"),
        ("edit m.f --old LIMIT --new 2\ndo\n", "Line 2: do is nothing"),
        ("bae-source\n", "Line 1 names no verb"),
        ("read m.f\0\n", "NUL"),
        ("read m.f\n" * 1001, "more than 1,000 commands"),
    ],
)
def test_what_is_no_list_of_commands_is_refused_before_anything_is_done(root: Path, script: str, problem: str) -> None:
    done = do(root, script)
    assert done.status == 2, done.err_text
    assert problem in done.err_text
    assert done.out == b""
    assert (root / "m.py").read_text() == MODULE


def test_the_project_may_lie_elsewhere(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    script = b"edit m.f --old LIMIT --new 2\nread m.f\n"
    done = run("do", "--root", str(root), folder=tmp_path_factory.mktemp("elsewhere"), stdin=script)
    assert (done.status, "return x + 2" in (root / "m.py").read_text()) == (0, True), done.err_text


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("edit m.f --old LIMIT --new 2 --dry-run", "given once, for the whole transaction"),
        ("edit m.f --old LIMIT --new 2 --verify tests", "given once, for the whole transaction"),
        ("edit m.f --old LIMIT --new 2 --root /", "The project is the same"),
        ("undo", "is no part of a transaction"),
        ("edit m.f --odl LIMIT", "nrecognized"),
    ],
)
def test_a_line_that_says_what_do_says_is_refused_and_nothing_is_written(root: Path, line: str, problem: str) -> None:
    done = do(root, f"edit m.LIMIT --code 'LIMIT = 4'\n{line}\n")
    assert done.status == 5
    assert problem in done.err_text
    assert (root / "m.py").read_text() == MODULE


def test_bytes_that_are_no_text_are_refused(root: Path) -> None:
    done = run("do", folder=root, stdin=b"read m.f\n\xff\n")
    assert done.status == 2
    assert "is not UTF-8" in done.err_text


def test_source_that_is_given_keeps_its_lines_and_a_quoted_mark_begins_none() -> None:
    source = 'x = "a\x0cb\u2028c"\r\ny = 1\r\n'
    found = list(commands(f"edit m --source - <<'END'\r\n{source}END\r\ngrep '<<END'\r\nread m <<-\"X\"\nX\n"))
    assert [(line.words, line.text) for line in found] == [
        (("edit", "m", "--source", "-"), source),
        (("grep", "<<END"), ""),
        (("read", "m"), ""),
    ]


def test_a_budget_is_kept_and_a_line_may_be_quiet(root: Path) -> None:
    (root / "m.py").write_text("".join(f"def f{n}():\n    return {n}\n" for n in range(200)))
    done = do(root, "edit m --old 'return 1' --new 'return 10' --every -q\n", "--budget", "1500", "--reload", "off")
    assert done.status == 0, done.err_text
    assert "warning[shortened]" in done.err_text
    assert len(done.out) < 2500


def test_words_are_split_as_a_shell_does() -> None:
    script = "a 'b c' \"d\ne\" f\\ g\n # h 'i\n i <<X\nX Y\n X \nj '#k' l#m\n"
    found = [(line.number, line.words, line.text) for line in commands(script)]
    assert found == [(1, ("a", "b c", "d\ne", "f g"), ""), (4, ("i",), "X Y\n"), (7, ("j", "#k", "l#m"), "")]
    with pytest.raises(RequestError):
        list(commands("a \\"))
