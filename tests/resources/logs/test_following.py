"""Lines that come while a log is followed, through rotations."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.resources.logs import following
from tests.adapters.support import command, environment, run
from tests.resources.logs.test_reading import body, head
from tests.waiting import readable


@contextmanager
def meanwhile(*steps: Callable[[], object], pause: float = 0.3) -> Iterator[None]:
    """Do some things one after the other in another thread."""

    def do() -> None:
        for step in steps:
            time.sleep(pause)
            step()

    thread = threading.Thread(target=do)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def adds(log: Path, text: str) -> Callable[[], object]:
    def add() -> None:
        with log.open("a") as file:
            file.write(text)

    return add


@pytest.fixture
def log(root: Path) -> Path:
    log = root / "var/log/app.log"
    log.write_text("one\ntwo\n")
    return log


def test_new_lines_are_waited_for_and_the_wait_ends_with_its_time(root: Path, log: Path) -> None:
    begun = time.monotonic()
    with meanwhile(adds(log, "three\nfo"), adds(log, "ur\n")):
        text = Source(root).logs_read("app.log", follow=1.2)
    assert 1.2 <= time.monotonic() - begun < 5
    assert (head(text), body(text)) == ("app.log: 2 new lines in 1.2 s", ["three", "four"])
    assert text.outcome.next_actions == ('logs_read("app.log", from_line=5, follow=1.2) goes on.',)
    assert text.complete
    text = Source(root).logs_read("app.log", follow=0.1)
    assert (head(text), body(text)) == ("app.log: no new lines in 0.1 s", [])


def test_the_wait_ends_when_as_many_lines_came_as_are_wanted(root: Path, log: Path) -> None:
    begun = time.monotonic()
    with meanwhile(adds(log, "debug\nready 1\nready 2\n")):
        text = Source(root).logs_read("app.log", follow=30.0, search="^ready", lines=1)
    assert time.monotonic() - begun < 10
    assert (head(text), body(text)) == ("app.log: 1 new line that matches, and maybe more", ["ready 1"])
    text = Source(root).logs_read("app.log", follow=0.1, search="ready", from_line=5)
    assert body(text) == ["ready 2"]


def test_from_a_line_on_nothing_between_two_waits_is_lost(root: Path, log: Path) -> None:
    adds(log, "three\n")()
    text = Source(root).logs_read("app.log", follow=0.2, from_line=3)
    assert body(text) == ["three"]
    adds(log, "fo")()
    text = Source(root).logs_read("app.log", follow=0.2, from_line=4)
    assert (body(text), [each.code for each in text.outcome.warnings]) == (["fo"], ["line_unfinished"])
    assert "from_line=4" in text.outcome.next_actions[0]
    adds(log, "ur\n")()
    assert body(Source(root).logs_read("app.log", follow=0.2, from_line=4)) == ["four"]
    text = Source(root).logs_read("app.log", follow=0.1, from_line=90)
    assert text.outcome.warnings[0].message == "app.log has no line 90 yet; what comes now is line 5."


def test_a_line_that_was_begun_before_comes_whole_once_it_is_ended(root: Path, log: Path) -> None:
    adds(log, "begun ")()
    with meanwhile(adds(log, "and ended\n")):
        assert body(Source(root).logs_read("app.log", follow=0.8)) == ["begun and ended"]
    adds(log, "begun again")()
    assert body(Source(root).logs_read("app.log", follow=0.2)) == []


def test_a_rotation_by_renaming_is_followed_and_no_line_is_lost(root: Path, log: Path) -> None:
    old = log.with_name("app.log.1")
    steps = (
        lambda: log.rename(old),
        adds(old, "three\n"),
        lambda: (adds(old, "four\n")(), log.write_text("fresh 1\n")),
        adds(log, "fresh 2\n"),
    )
    with meanwhile(*steps):
        text = Source(root).logs_read("app.log", follow=2.0)
    assert body(text) == ["three", "four", "fresh 1", "fresh 2"]
    assert [each.message for each in text.outcome.warnings] == [
        "app.log was rotated: another file has its name, whose lines follow."
    ]
    assert "from_line=3" in text.outcome.next_actions[0]


@pytest.mark.parametrize("text", ["new\n", "new and much longer than what was there before\n"])
def test_a_rotation_by_emptying_is_followed(root: Path, log: Path, text: str) -> None:
    with meanwhile(lambda: log.write_text(text), adds(log, "more\n")):
        found = Source(root).logs_read("app.log", follow=1.2)
    assert body(found) == [text.strip(), "more"]
    assert [each.code for each in found.outcome.warnings] == ["truncated"]


def test_a_program_that_goes_on_at_its_old_place_in_an_emptied_log(root: Path, log: Path) -> None:
    def hole() -> None:
        with log.open("r+b") as file:
            file.truncate(0)
            file.seek(20_000_000)
            file.write(b"three\n")

    with meanwhile(hole):
        found = Source(root).logs_read("app.log", follow=2.0)
    assert body(found) == ["three"]
    assert [each.code for each in found.outcome.warnings] == ["truncated", "nuls_left_out"]


def test_a_log_that_is_replaced_by_a_link_out_of_the_folder_is_not_followed_there(
    root: Path, log: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.log"
    secret.write_text("secret\n")
    with meanwhile(log.unlink, lambda: log.symlink_to(secret), adds(secret, "more secret\n")):
        assert body(Source(root).logs_read("app.log", follow=1.5)) == []


def test_a_search_that_never_ends_ends_the_wait(root: Path, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "SECONDS", 0.5)
    with meanwhile(adds(log, "a" * 60 + "!\n")):
        found = Source(root).logs_read("app.log", follow=30.0, search="(a+)+$")
    assert [each.code for each in found.outcome.warnings] == ["timed_out"]
    assert not found.complete


def test_what_comes_keeps_to_the_budget(root: Path, log: Path) -> None:
    adds(log, "x" * 99 + "\n" + ("y" * 99 + "\n") * 50)()
    text = Source(root).within(1000).logs_read("app.log", follow=5.0, from_line=3)
    assert 1 < len(body(text)) < 10
    assert head(text).endswith(", and maybe more")
    assert f"from_line={3 + len(body(text))}" in text.outcome.next_actions[0]


def test_the_command_line_shows_lines_as_they_come(root: Path, log: Path) -> None:
    process = subprocess.Popen(
        command("logs", "read", "app.log", "--follow", "4"), cwd=root, env=environment(), stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    begun = time.monotonic()
    while not readable(process.stdout, 0.2):
        adds(log, "now\n")()
        assert time.monotonic() - begun < 30
    assert process.stdout.readline() == b"now\n"
    assert process.poll() is None, "it goes on"
    rest = process.stdout.read().decode().splitlines()
    assert process.wait() == 0
    assert set(rest[:-1]) <= {"now"}
    assert rest[-1].startswith(f"app.log: {len(rest)} new line")
    outcome = run("logs", "read", "app.log", "--follow", "0.2", "--from", "1", "--json", folder=root).json
    assert outcome["text"].splitlines()[1:3] == ["one", "two"]


def follows(root: Path) -> subprocess.Popen[bytes]:
    """Start a command that follows the log, and return it once it has shown the first line."""
    words = command("logs", "read", "app.log", "--follow", "60", "--from", "1")
    process = subprocess.Popen(words, cwd=root, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"one\n"
    return process


def test_a_reader_that_goes_away_ends_the_wait(root: Path, log: Path) -> None:
    process = follows(root)
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    begun = time.monotonic()
    while process.poll() is None:
        adds(log, "more\n")()
        time.sleep(0.2)
        assert time.monotonic() - begun < 30
    assert process.returncode == 0
    assert b"Traceback" not in process.communicate()[1]


def test_an_interrupted_wait_ends_as_ctrl_c_does(root: Path, log: Path) -> None:
    process = follows(root)
    os.kill(process.pid, 2)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"Traceback" not in err
