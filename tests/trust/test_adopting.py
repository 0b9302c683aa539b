"""State that was copied with a project becomes the user's own where a person at a terminal says so, and only there."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from bae_source import functions
from bae_source.approval.plans import Plans
from bae_source.engine.registry import REQUESTS
from bae_source.model.context import Context
from tests.approval.support import died_writing, proposal
from tests.plan_files import plan_files
from tests.trust.support import Machine, changed, crashed, picture, project

OFF = Context(reload="off")


@pytest.fixture
def victim(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "victim")


def typed(machine: Machine, root: Path, answer: str) -> tuple[int, str]:
    """Type an answer to `adopt` at a terminal, before it asks; return the exit status and what was shown."""
    ours, theirs = pty.openpty()
    line = [sys.executable, "-m", "bae_source", "adopt", "--root", str(root)]
    environment = machine.environment | {"NO_COLOR": "1"}
    with subprocess.Popen(line, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        os.write(ours, f"{answer}\n".encode())
        shown = b""
        with suppress(OSError):  # as it ends
            while piece := os.read(ours, 4096):
                shown += piece
        os.close(ours)
        return process.wait(60), shown.decode()


@pytest.mark.parametrize("with_git", [True, False])
def test_a_person_adopts_a_copy_with_its_history_what_waits_and_its_crash(victim: Machine, with_git: bool) -> None:
    root = project(victim.folder / "p", with_git=with_git)
    changed(victim, root)
    no_git = dict(victim.environment)
    victim.environment |= {"PATH": "/nonexistent"}
    victim.run(root, "edit", OFF, target="app.send", old="3", new="4")
    victim.environment = no_git
    crashed(victim, root)
    copy = victim.folder / "copy"
    shutil.copytree(root, copy, symlinks=True)
    assert victim.run(copy, "history").found == ()
    status, shown = typed(victim, copy, "adopt")
    assert status == 0, shown
    assert str(victim.folders(copy).base) in shown
    assert "Adopted" in shown
    outcome = victim.run(copy, "history")
    assert [notice.code for notice in outcome.warnings] == ["recovered"]
    assert len(outcome.found) == 3
    victim.run(copy, "undo", OFF, count=3)
    assert (copy / "app.py").read_text() == "def send():\n    return 1\n"
    assert [notice.code for notice in victim.run(root, "read", target="app.send").warnings] == ["recovered"]
    assert len(victim.run(root, "history").found) == 3


def test_a_person_adopts_a_copy_with_what_waits_for_approval_in_the_middle_of_a_write(victim: Machine) -> None:
    root = project(victim.folder / "p")
    kept = [proposal(number, diff="+x\n" * 20_000) for number in range(5)]
    for each in kept:
        Plans(victim.folders(root)).add(each)
    died_writing(plan_files(root)[0])
    copy = victim.folder / "copy"
    shutil.copytree(root, copy, symlinks=True)
    assert Plans(victim.folders(copy)).listed() == []
    assert typed(victim, copy, "adopt")[0] == 0
    for folder in (copy, root):
        plans = Plans(victim.folders(folder))
        assert [plans.get(each.id) for each in plans.listed()] == kept
        assert plans.notices() == ()


def test_of_several_files_of_plans_none_is_adopted(victim: Machine) -> None:
    root = project(victim.folder / "p")
    Plans(victim.folders(root)).add(proposal())
    [path] = plan_files(root)
    shutil.copy(path, path.with_name("plans-0.sqlite"))
    copy = victim.folder / "copy"
    shutil.copytree(root, copy, symlinks=True)
    assert typed(victim, copy, "adopt")[0] == 0
    assert Plans(victim.folders(copy)).listed() == []
    assert [each.id for each in Plans(victim.folders(root)).listed()] == [proposal().id]


@pytest.mark.parametrize("answer", ["", "yes", "adopt it", "ADOPT"])
def test_without_the_word_nothing_is_adopted(victim: Machine, answer: str) -> None:
    root = project(victim.folder / "p")
    changed(victim, root)
    copy = victim.folder / "copy"
    shutil.copytree(root, copy)
    before = picture(copy)
    status, shown = typed(victim, copy, answer)
    assert status == 5, shown
    assert picture(copy) == before
    assert victim.run(copy, "history").found == ()


def test_it_cannot_be_asked_for_but_at_a_terminal(victim: Machine) -> None:
    root = project(victim.folder / "p")
    changed(victim, root)
    copy = victim.folder / "copy"
    shutil.copytree(root, copy)
    before = picture(copy)
    done = victim.command(copy, "adopt")
    assert done.returncode == 5
    assert "Only a person may adopt" in done.stderr
    assert picture(copy) == before
    assert "adopt" not in REQUESTS.verbs
    assert functions.dispatch("adopt", {}, root=copy)["errors"][0]["code"] == "unknown_operation"


@pytest.mark.parametrize("strange", ["a hook", "a setting", "a link", "alternates"])
def test_settings_that_git_would_obey_are_not_adopted_though_a_person_agrees(victim: Machine, strange: str) -> None:
    root = project(victim.folder / "p", with_git=False)
    changed(victim, root)
    copy = victim.folder / "copy"
    shutil.copytree(root, copy)
    history = copy / ".bae-source/history.git"
    if strange == "a hook":
        (history / "hooks").mkdir()
        (history / "hooks/post-commit").write_text("x")
    elif strange == "a setting":
        with (history / "config").open("a") as file:
            file.write("[core]\n\tfsmonitor = x\n")
    elif strange == "a link":
        (copy / ".bae-source/pending").rename(copy / ".bae-source/pending.away")
        (copy / ".bae-source/pending").symlink_to(victim.folder)
    else:
        (history / "objects/info").mkdir(exist_ok=True)
        (history / "objects/info/alternates").write_text("/nonexistent\n")
    before = picture(copy)
    status, shown = typed(victim, copy, "adopt")
    assert status == 5
    assert "cannot be adopted" in shown
    assert "forget --foreign" in shown
    assert picture(copy) == before


def test_there_is_nothing_to_adopt_of_ones_own(victim: Machine) -> None:
    root = project(victim.folder / "p")
    changed(victim, root)
    outcome = victim.service(root).adopt(lambda _: True)
    assert outcome.text.startswith("Nothing to adopt")
