"""The program that tells the user that a change waits: what it gets, when it runs again, and whose it is."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.engine.approving import notifying
from tests.adapters.mcp.support import is_running, until
from tests.approval.project import ANA, built, deciding, files, line, plans, proposed

EDIT = ("edit", "app.core.LIMIT", "--old", "3", "--new")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return built(tmp_path / "project")


@pytest.fixture
def notify(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Set the command in settings of the user's own."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    def write(*words: str) -> None:
        settings = tmp_path / "config" / "bae-source" / "settings.toml"
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text(f"notify = {json.dumps(words)}\n")

    return write


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_it_gets_each_change_once_as_json(root: Path, tmp_path: Path, notify: Callable[..., None]) -> None:
    notes = tmp_path / "told"
    notify(script(tmp_path / "tell", f'echo "$1 $2" >> {notes}; cat >> {notes}'), "a b", "$HOME;")
    task = proposed(root, *EDIT, "4", "--goal", "g ‘1’\u001b[31m")
    first, *facts = notes.read_text().splitlines()
    assert first == "a b $HOME;", "no shell has seen it"
    proposal = plans(root).get(task)
    assert [json.loads(each) for each in facts] == [
        {
            "task_id": task,
            "project": str(root),
            "who": "bot",
            "reason": "to try it",
            "goal": "g ‘1’\u001b[31m",
            "summary": "Edited app.core.LIMIT.",
            "risk": proposal.risk.level,
            "at": proposal.at,
        }
    ]
    assert "\u001b" not in notes.read_text()
    assert proposal.notified
    assert proposed(root, *EDIT, "4", "--goal", "g ‘1’\u001b[31m") == task
    line(root, "pending")
    assert len(notes.read_text().splitlines()) == 2, "it is told once"
    proposed(root, *EDIT, "5")
    assert len(notes.read_text().splitlines()) == 4


def test_a_change_that_is_made_at_once_or_refused_gives_no_notification(
    root: Path, tmp_path: Path, notify: Callable[..., None]
) -> None:
    notes = tmp_path / "told"
    notify(script(tmp_path / "tell", f"cat >> {notes}"))
    Source(root).edit("app.core.LIMIT", old="3", new="4", reload="off")
    assert line(root, "edit", "app.core.nope", "--old", "3", "--new", "4", "--propose", "why").status == 3
    assert not notes.exists()


@pytest.mark.parametrize("again", ["propose", "pending", "show", "wait"])
def test_a_failed_notification_is_sent_again_by_a_later_request(
    root: Path, tmp_path: Path, notify: Callable[..., None], again: str
) -> None:
    notes, broken = tmp_path / "told", tmp_path / "broken"
    broken.touch()
    notify(script(tmp_path / "tell", f"test ! -e {broken} || exit 1; cat >> {notes}"))
    task = proposed(root, *EDIT, "4")
    assert not plans(root).get(task).notified
    assert not notes.exists()
    broken.unlink()
    more = [proposed(root, *EDIT, "5")] if again == "propose" else []
    if not more:
        line(root, again, *([] if again == "pending" else [task]), *(["--seconds", "0"] if again == "wait" else []))
    assert [json.loads(each)["task_id"] for each in notes.read_text().splitlines()] == [task, *more]
    assert plans(root).get(task).notified


def test_a_change_that_was_decided_meanwhile_gives_no_notification(
    root: Path, tmp_path: Path, notify: Callable[..., None]
) -> None:
    notes = tmp_path / "told"
    notify(str(tmp_path / "missing"))
    task = proposed(root, *EDIT, "4")
    deciding(root).reject(task, ANA, "no")
    notify(script(tmp_path / "tell", f"cat >> {notes}"))
    line(root, "pending")
    assert not notes.exists()


def test_one_that_takes_too_long_is_ended_with_what_it_started(
    root: Path, tmp_path: Path, notify: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifying, "TIME_LIMIT", 0.7)
    names = tmp_path / "names"
    notify(script(tmp_path / "tell", f"sleep 61 & echo $! >> {names}; echo $$ >> {names}; sleep 62"))
    begun = time.monotonic()
    task = proposed(root, *EDIT, "4")
    assert 0.7 < time.monotonic() - begun < 20
    assert not plans(root).get(task).notified
    for name in names.read_text().split():
        until(lambda name=name: not is_running(int(name)), "it goes on")


def test_one_that_stays_in_the_background_ends_with_us(root: Path, tmp_path: Path, notify: Callable[..., None]) -> None:
    name = tmp_path / "name"
    daemon = f"""
import os, sys, time

if os.fork():
    sys.exit()
os.setsid()
if os.fork():
    sys.exit()
with open({str(name)!r}, "w") as file:
    file.write(str(os.getpid()))
for descriptor in range(3):
    os.close(descriptor)
time.sleep(63)
"""
    (tmp_path / "daemon.py").write_text(daemon)
    notify(sys.executable, str(tmp_path / "daemon.py"))
    proposed(root, *EDIT, "4")
    time.sleep(0.3)
    assert not name.exists() or not is_running(int(name.read_text()))


@pytest.mark.parametrize("words", [["missing-program"], ["./tell"], ["/dev/null"], [""], []])
def test_one_that_cannot_be_run_keeps_no_change_from_waiting(
    root: Path, notify: Callable[..., None], words: list[str]
) -> None:
    script(root / "tell", "touch ran")
    notify(*words)
    before = files(root)
    task = proposed(root, *EDIT, "4")
    assert plans(root).get(task).notified is (words == [])
    assert files(root) == before


def test_no_project_has_a_say_in_it(
    root: Path, tmp_path: Path, notify: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = tmp_path / "ran"
    (root / "bin").mkdir()
    for place in (root / "tell", root / "bin" / "tell"):
        script(place, f"touch {ran}")
    with (root / "pyproject.toml").open("a") as file:
        file.write(f'\n[tool.bae-source]\nnotify = ["{root}/tell"]\n')
    proposed(root, *EDIT, "4")
    assert not ran.exists()
    monkeypatch.setenv("PATH", f"{root}/bin{os.pathsep}{os.environ['PATH']}")
    notify("tell")
    monkeypatch.chdir(root)
    proposed(root, *EDIT, "5")
    assert not ran.exists(), "it is not taken from the project, wherever PATH leads"
    named = f"PATH = {os.environ['PATH']!r}"
    notes = tmp_path / "told"
    notify(script(tmp_path / "tell", f"echo $PATH > {notes}"))
    proposed(root, *EDIT, "6")
    assert str(root) not in notes.read_text(), named


def test_settings_that_are_no_command_run_nothing(root: Path, tmp_path: Path, notify: Callable[..., None]) -> None:
    notify("true")
    settings = tmp_path / "config" / "bae-source" / "settings.toml"
    for text in ('notify = "true"\n', "notify = [1]\n", "notify = [\n", "notify = ['a\\u0000b']\n"):
        settings.write_text(text)
        done = line(root, *EDIT, "4", "--propose", text, "--json")
        assert done.status in (5, 10), done.out
        assert not [each for each in plans(root).listed() if each.notified]
