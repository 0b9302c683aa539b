"""What cannot judge in a copy judges the project itself: the change is made, and undone where it does not hold."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import HistoryError, TransactionError
from bae_source.model.outcome import Outcome, verdict
from tests.checks.test_shadow import put

pytestmark = pytest.mark.sampled

HOME = "import pathlib\nfrom app import core\n\n\ndef test_home():\n    assert core.f()\n"
HOME += "    assert 'shadow' not in pathlib.Path(__file__).parts\n"
FAR = "sh -c 'case $PWD in *shadow*) exit 1;; esac; ! grep -q bad app/core.py'"


@pytest.fixture
def root(tmp_path: Path) -> Path:
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


def test_tests_that_depend_on_the_folder_judge_the_project_which_is_reported_once(root: Path) -> None:
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


def test_a_module_of_tests_that_needs_git_when_it_is_imported_judges_the_project(root: Path) -> None:
    for words in (["init", "-q"], ["add", "app"]):
        subprocess.run(["git", "-C", str(root), *words], check=True)
    top = "import subprocess\nfrom app import core\n\nsubprocess.run(['git', 'ls-files'], check=True)\n"
    put(root / "tests/test_home.py", f"{top}\n\ndef test_git():\n    assert core.f()\n")
    with pytest.raises(TransactionError) as caught:
        edit(root, "0", "tests")
    assert caught.value.candidates == ("tests.test_home.test_git",)
    assert (root / "app/core.py").read_text() == "def f():\n    return 1\n"
    assert codes(edit(root, "2", "tests")) == []


def test_a_test_that_fails_by_chance_does_not_make_a_project_one_that_no_copy_can_judge(root: Path) -> None:
    count = root.parent / f"{root.name}.count"
    flaky = f"import pathlib\nfrom app import core\n\ndef test_chance():\n    file = pathlib.Path({str(count)!r})\n"
    flaky += "    file.write_text(file.read_text() + 'x' if file.exists() else 'x')\n    assert core.f()\n"
    put(root / "tests/test_home.py", f"{flaky}    assert len(file.read_text()) > 2\n")  # fails twice
    outcome = edit(root, "2", "tests")
    assert codes(outcome) == ["failed_before"]
    assert not list(root.glob(".bae-source/shadow/*/in_project"))


def test_ctrl_c_while_the_project_is_judged_undoes_the_change(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edit(root, "2", f"command {FAR}")

    def pressed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bae_source.verification.command.run", pressed)
    with pytest.raises(KeyboardInterrupt):
        edit(root, "3", f"command {FAR}")
    assert (root / "app/core.py").read_text() == "def f():\n    return 2\n"


def test_a_change_that_cannot_be_undone_is_reported_with_its_verdict(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(root, "2", f"command {FAR}")

    def conflict(*_: object) -> None:
        raise HistoryError("undo_conflict", "It cannot be undone.")

    monkeypatch.setattr("bae_source.engine.service.undone", conflict)
    with pytest.raises(TransactionError, match="ended with status 1 with the change") as caught:
        edit(root, "bad", f"command {FAR}")
    assert "the change stands as op_" in caught.value.message
    assert "It cannot be undone" in caught.value.message
    assert caught.value.hints[0].startswith("undo(")
    assert (root / "app/core.py").read_text() == "def f():\n    return bad\n"


SKIPPING = "import pathlib\nimport pytest\nfrom app import core\n\nFAR = 'shadow' in pathlib.Path(__file__).parts\n\n\n"
SKIPPING += "@pytest.mark.skipif(FAR, reason='far from home')\ndef test_near():\n    assert core.f()\n"


def test_tests_that_a_copy_alone_skips_are_no_judges_where_none_passes(root: Path) -> None:
    put(root / "tests/test_home.py", SKIPPING)
    with pytest.raises(TransactionError) as caught:
        edit(root, "0", "tests")
    assert caught.value.candidates == ("tests.test_home.test_near",)
    assert (root / "app/core.py").read_text() == "def f():\n    return 1\n"


def test_tests_that_passed_and_that_a_copy_alone_skips_are_no_judges(root: Path) -> None:
    put(root / "tests/test_home.py", f"{SKIPPING}\n\ndef test_anywhere():\n    assert core\n")
    Source(root).tests_run()
    with pytest.raises(TransactionError) as caught:
        edit(root, "0", "tests")
    assert caught.value.candidates == ("tests.test_home.test_near",)


def test_where_every_test_is_skipped_nothing_is_verified(root: Path) -> None:
    put(root / "tests/test_home.py", SKIPPING.replace("skipif(FAR", "skipif(True"))
    outcome = edit(root, "2", "tests")
    assert verdict(outcome.checks) == "Verified: import. Not verified: tests (0 passed, 1 skipped)."
