"""What cannot judge in a copy judges the project itself: the change is made, and undone where it does not hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import TransactionError
from bae_source.model.outcome import Outcome, verdict
from tests.checks.test_shadow import put

HOME = "import pathlib\nfrom app import core\n\n\ndef test_home():\n    assert core.f()\n"
HOME += "    assert 'shadow' not in pathlib.Path(__file__).parts\n"
FAR = "sh -c 'case $PWD in *shadow*) exit 1;; esac; ! grep -q bad app/core.py'"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without_plugins: str) -> Path:
    monkeypatch.setenv("PYTHONPATH", without_plugins)
    put(tmp_path / "pyproject.toml", "[tool.pytest.ini_options]\n")
    put(tmp_path / "app/core.py", "def f():\n    return 1\n")
    put(tmp_path / "tests/test_home.py", HOME)
    return tmp_path


def edit(root: Path, new: str, *verify: str, dry_run: bool = False) -> Outcome:
    old = (root / "app/core.py").read_text().rpartition("return ")[2].strip()
    return Source(root).edit("app.core.f", old=f"return {old}", new=f"return {new}", verify=verify, dry_run=dry_run)


def history(root: Path) -> list[str]:
    return [line.split("  ")[3].partition(" op_")[0] for line in str(Source(root).history()).splitlines()]


def codes(outcome: Outcome) -> list[str]:
    return [each.code for each in outcome.warnings]


def test_tests_that_depend_on_the_folder_judge_the_project_which_is_said_once(root: Path) -> None:
    outcome = edit(root, "2", "tests")
    assert verdict(outcome.checks) == "Verified: import, tests (1 passed)."
    [notice] = outcome.warnings
    assert notice.code == "judged_in_project"
    assert "tests.test_home.test_home passes in the project alone; from now on" in notice.message
    assert codes(edit(root, "3", "tests")) == []
    assert history(root) == ["Edited app.core.f."] * 2


def test_a_change_that_does_not_hold_there_is_undone_and_the_error_says_so(root: Path) -> None:
    for _ in range(2):  # when it is found out, and when it is known
        with pytest.raises(TransactionError) as caught:
            edit(root, "0", "tests")
        assert (root / "app/core.py").read_text() == "def f():\n    return 1\n"
        assert caught.value.candidates == ("tests.test_home.test_home",)
        assert "nothing was" not in caught.value.message
        assert caught.value.hints[-1].startswith("It was judged in the project itself: made as op_")
    assert [each.partition(":")[0] for each in history(root)] == ["Undid", "Edited app.core.f."] * 2


def test_a_dry_run_makes_nothing_and_says_what_it_did_not_verify(root: Path) -> None:
    edit(root, "2", "tests")
    outcome = edit(root, "0", "tests", dry_run=True)
    assert verdict(outcome.checks) == (
        "Not verified: tests (it can be judged in the project alone, and a dry run writes nothing)."
    )
    assert (root / "app/core.py").read_text() == "def f():\n    return 2\n"
    assert len(history(root)) == 1


def test_a_command_that_fails_in_a_copy_alone_judges_the_project(root: Path) -> None:
    outcome = edit(root, "2", f"command {FAR}")
    assert codes(outcome) == ["judged_in_project"]
    assert verdict(outcome.checks) == f"Verified: import, command {FAR}."
    with pytest.raises(TransactionError, match="ended with status 1"):
        edit(root, "bad", f"command {FAR}")
    assert (root / "app/core.py").read_text() == "def f():\n    return 2\n"


def test_what_fails_before_the_change_too_leaves_it_made(root: Path) -> None:
    edit(root, "2", "tests")
    put(root / "tests/test_red.py", "from app import core\n\n\ndef test_red():\n    assert core.f() == 0\n")
    outcome = edit(root, "3", "tests")
    assert verdict(outcome.checks) == "Verified: import. Failed before, too: tests (1 passed, 1 failed before)."
    assert (root / "app/core.py").read_text() == "def f():\n    return 3\n"


def test_it_is_found_out_again_once_the_settings_have_changed(root: Path) -> None:
    edit(root, "2", "tests")
    put(root / "tests/test_home.py", HOME.replace("'shadow'", "'nowhere'"))
    assert codes(edit(root, "3", "tests")) == []
    assert len(history(root)) == 2
    put(root / "pyproject.toml", "[tool.pytest.ini_options]\nxfail_strict = true\n")
    with pytest.raises(TransactionError, match="nothing was written"):
        edit(root, "0", "tests")
