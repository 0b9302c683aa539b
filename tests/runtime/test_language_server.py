"""Language servers that work, and those that do not: real child processes, the real ty among them."""

from __future__ import annotations

import gc
import json
import os
import shlex
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from bae_source.language_server.language_server import COMMANDS, LanguageServer, LanguageServers
from bae_source.model.navigation import Navigated, Question, Target
from bae_source.model.span import Place

FAKE = Path(__file__).parent / "lsp" / "fake_server.py"
TEXT = "class A: ...\n\n\ndef f(a: A): return a.x\n"
QUESTION = Question(path="m.py", text=TEXT, name=Place(line=4, column=5), names=(Place(line=4, column=24),))
PATIENT = 60.0


class Fake:
    """A server of a given behaviour in a folder, and the messages that it got."""

    def __init__(self, folder: Path, how: str) -> None:
        self.folder = folder
        self.diary = folder / "diary"
        self.server = LanguageServer(
            "ty", root=folder, environment=os.environ, command=[sys.executable, str(FAKE), how, str(self.diary)]
        )

    def ask(self, seconds: float = PATIENT, stamps: Mapping[str, object] | None = None) -> Navigated:
        [answer] = self.server.ask([QUESTION], stamps or {}, seconds=seconds)
        return answer

    @property
    def diary_entries(self) -> list[Any]:
        return [json.loads(line) for line in self.diary.read_text().splitlines()]

    @property
    def pids(self) -> list[int]:
        return [each["started"] for each in self.diary_entries if "started" in each]

    def methods(self) -> list[str]:
        return [each["method"] for each in self.diary_entries if "method" in each]


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[Callable[[str], Fake]]:
    made: list[Fake] = []

    def make(how: str) -> Fake:
        folder = Path(os.path.realpath(tmp_path))
        (folder / "m.py").write_text(TEXT)
        made.append(Fake(folder, how))
        return made[-1]

    yield make
    for each in made:
        each.server.close()


def is_running(pid: int) -> bool:
    """Say whether a process lives; one that has ended and waits for its parent does not."""
    try:
        return (
            subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout[:1] not in "Z"
        )
    except OSError:
        return False


def gone(pid: int) -> bool:
    end = time.monotonic() + 10
    while time.monotonic() < end:
        if not is_running(pid):
            return True
        time.sleep(0.02)
    return False


def test_an_answer_has_the_text_and_the_places_inside_the_project(fake: Callable[[str], Fake]) -> None:
    answer = fake("works").ask()
    assert answer == Navigated(hover="told\n---\nmore", targets=(Target(path="m.py", line=1, units=6),))


def test_only_hover_and_definition_are_asked_and_the_file_is_shown_meanwhile(fake: Callable[[str], Fake]) -> None:
    works = fake("works")
    assert works.ask().problem is None
    assert works.ask().problem is None
    shown_and_closed = ["didOpen", "hover", "definition", "didClose"] * 2
    expected = ["initialize", "initialized", *(f"textDocument/{each}" for each in shown_and_closed)]
    end = time.monotonic() + PATIENT
    while len(works.methods()) < len(expected) and time.monotonic() < end:
        time.sleep(0.02)  # the last message has no answer to wait for
    assert works.methods() == expected
    assert len(works.pids) == 1, "it was not kept warm"
    shown = next(each for each in works.diary_entries if each.get("method") == "textDocument/didOpen")
    assert shown["params"]["textDocument"]["text"] == TEXT


def test_places_are_sent_in_utf_16_code_units(fake: Callable[[str], Fake]) -> None:
    works = fake("works")
    text = "x = 1\r\n'😀é'; f\r"
    question = Question(path="m.py", text=text, name=Place(line=2, column=7), names=())
    [answer] = works.server.ask([question], {}, seconds=PATIENT)
    assert answer.problem is None
    asked = next(each for each in works.diary_entries if each.get("method") == "textDocument/hover")
    assert asked["params"]["position"] == {"line": 1, "character": 7}


@pytest.mark.parametrize(
    ("how", "problem"),
    [
        ("dies_at_once", "ty ended before it answered"),
        ("dies_when_asked", "ty ended before it answered"),
        ("greets_badly", "ty answered what cannot be understood"),
        ("no_header", "ty answered what cannot be understood"),
        ("no_json", "ty answered what cannot be understood"),
        ("no_object", "ty answered what cannot be understood"),
        ("too_long", "ty answered what cannot be understood"),
        ("floods_bytes", "ty answered what cannot be understood"),
        ("hover_without_text", "ty answered what cannot be understood"),
        ("definition_without_place", "ty answered what cannot be understood"),
        ("definition_at_no_place", "ty answered what cannot be understood"),
        ("refuses", "ty refused the question"),
    ],
)
def test_a_server_that_fails_is_a_problem_and_no_error(how: str, problem: str, fake: Callable[[str], Fake]) -> None:
    assert fake(how).ask() == Navigated(problem=problem)


@pytest.mark.parametrize(
    "how", ["hangs_when_asked", "reads_nothing", "floods_messages", "answers_hover_only", "greets_late"]
)
def test_a_server_that_does_not_answer_is_given_up_at_the_limit(how: str, fake: Callable[[str], Fake]) -> None:
    start = time.monotonic()
    assert fake(how).ask(seconds=0.6) == Navigated(problem="ty did not answer within 0.6 s")
    assert time.monotonic() - start < 5


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("-inf"), float("nan")])
def test_no_time_at_all_is_too_little_and_no_error(seconds: float, fake: Callable[[str], Fake]) -> None:
    assert "did not answer within" in (fake("works").ask(seconds=seconds).problem or "")


def test_endless_patience_is_no_error(fake: Callable[[str], Fake]) -> None:
    assert fake("works").ask(seconds=float("inf")).problem is None


def test_one_caller_waits_for_another_no_longer_than_it_may(fake: Callable[[str], Fake]) -> None:
    hanging = fake("hangs_when_asked")
    other = threading.Thread(target=hanging.ask, args=(3.0,))
    other.start()
    time.sleep(0.3)
    assert hanging.ask(seconds=0.5).problem == "ty did not answer within 0.5 s"
    assert other.is_alive()
    other.join()


def test_a_server_that_does_not_read_is_not_waited_for_with_a_large_file(fake: Callable[[str], Fake]) -> None:
    large = Question(path="m.py", text="x = 1\n" * 500_000, name=Place(line=1, column=1), names=())
    start = time.monotonic()
    [answer] = fake("reads_nothing").server.ask([large], {}, seconds=1.0)
    assert answer.problem == "ty did not answer within 1 s"
    assert time.monotonic() - start < 10


def test_one_that_was_slow_the_first_time_may_answer_the_second_time(fake: Callable[[str], Fake]) -> None:
    slow = fake("greets_late")
    assert slow.ask(seconds=0.5).problem
    assert slow.ask(seconds=PATIENT).problem is None
    assert len(slow.pids) == 1


def test_one_that_has_died_is_started_again_and_after_three_failures_left_alone(fake: Callable[[str], Fake]) -> None:
    dying = fake("dies_when_asked")
    problems = [dying.ask().problem for _ in range(5)]
    assert problems == ["ty ended before it answered"] * 3 + ["ty has failed 3 times in a row, and is left alone"] * 2
    assert len(dying.pids) == 3


def test_one_that_hangs_three_times_is_killed(fake: Callable[[str], Fake]) -> None:
    hanging = fake("hangs_when_asked")
    for _ in range(3):
        assert hanging.ask(seconds=0.5).problem == "ty did not answer within 0.5 s"
    assert gone(hanging.pids[0])
    assert "left alone" in (hanging.ask(seconds=0.5).problem or "")


def test_what_it_wants_to_change_is_refused(fake: Callable[[str], Fake]) -> None:
    wants = fake("wants_changes")
    assert [wants.ask().problem, wants.ask().problem] == [None, None]
    replies = {each["id"]: each for each in wants.diary_entries if "method" not in each and each.get("id", 0) >= 100}
    assert replies[100]["result"]["applied"] is False
    assert replies[101]["result"] == [None, None]
    assert replies[102]["error"]["code"] == -32601
    assert (wants.folder / "m.py").read_text() == TEXT


def test_it_gets_few_of_the_callers_variables_and_none_of_the_secrets(
    fake: Callable[[str], Fake], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "secret")
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    works = fake("works")
    assert works.ask().problem is None
    environment = next(each["environment"] for each in works.diary_entries if "environment" in each)
    assert not {"SOME_TOKEN", "PYTHONPATH"} & set(environment)
    assert next(each["folder"] for each in works.diary_entries if "folder" in each) == str(works.folder)


def test_it_gets_the_files_that_changed_since_the_last_question(fake: Callable[[str], Fake]) -> None:
    works = fake("works")
    works.ask(stamps={"a.py": 1, "b.py": 1, "m.py": 1})
    works.ask(stamps={"a.py": 2, "c.py": 1, "m.py": 1})
    works.ask(stamps={"a.py": 2, "c.py": 1, "m.py": 1})
    [message] = [each for each in works.diary_entries if each.get("method") == "workspace/didChangeWatchedFiles"]
    kinds = {Path(each["uri"]).name: each["type"] for each in message["params"]["changes"]}
    assert kinds == {"a.py": 2, "b.py": 3, "c.py": 1}


def test_the_whole_group_is_killed_when_it_is_closed(fake: Callable[[str], Fake]) -> None:
    family = fake("has_a_child")
    assert family.ask().problem is None
    [child] = [each["child"] for each in family.diary_entries if "child" in each]
    assert is_running(child)
    family.server.close()
    assert gone(child)
    assert gone(family.pids[0])


def test_it_is_killed_once_it_has_no_holder(tmp_path: Path) -> None:
    works = Fake(Path(os.path.realpath(tmp_path)), "works")
    assert works.ask().problem is None
    [pid] = works.pids
    assert is_running(pid)
    del works.server
    gc.collect()
    assert gone(pid)


@pytest.mark.parametrize("ending", ["", "raise SystemExit(3)", "raise KeyboardInterrupt", "1 / 0"])
def test_it_is_killed_when_the_interpreter_ends(ending: str, tmp_path: Path) -> None:
    code = f"""
        import os, sys
        from pathlib import Path
        from bae_source.language_server.language_server import LanguageServer
        from tests.runtime.test_language_server import FAKE, QUESTION
        root = Path(sys.argv[1])
        command = [sys.executable, str(FAKE), "has_a_child", str(root / "diary")]
        server = LanguageServer("ty", root=root, environment=os.environ, command=command)
        server.ask([QUESTION], {{}}, seconds=60)
        {ending}
    """
    root = Path(os.path.realpath(tmp_path))
    subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(root)],
        cwd=Path(__file__).parents[2],
        stderr=subprocess.DEVNULL,
        timeout=120,
    )
    entries = [json.loads(line) for line in (root / "diary").read_text().splitlines()]
    pids = [each.get("started") or each.get("child") for each in entries if "started" in each or "child" in each]
    assert len(pids) == 2
    assert all(map(gone, pids))


def test_a_fork_that_ends_leaves_the_server_to_its_parent(fake: Callable[[str], Fake]) -> None:
    works = fake("works")
    assert works.ask().problem is None
    forked = os.fork()
    if forked == 0:
        works.server.close()
        os._exit(0)
    os.waitpid(forked, 0)
    assert is_running(works.pids[0])


def test_nothing_is_started_for_no_question(fake: Callable[[str], Fake]) -> None:
    works = fake("works")
    assert works.server.ask([None, None], {}, seconds=1) == [Navigated(), Navigated()]
    assert not works.diary.exists()


def test_a_server_that_is_unknown_or_switched_off_is_not_started(tmp_path: Path) -> None:
    for name, problem in (
        ("off", "the language server is switched off"),
        ("sh -c evil", "there is no language server 'sh -c evil'; known are ty, basedpyright, pyrefly and off"),
    ):
        server = LanguageServer(name, root=tmp_path, environment=os.environ)
        assert server.ask([QUESTION], {}, seconds=1) == [Navigated(problem=problem)]


def test_one_that_is_not_installed_says_how_to_install_one(tmp_path: Path) -> None:
    server = LanguageServer("pyrefly", root=tmp_path, environment={"PATH": "/nonexistent"})
    [answer] = server.ask([QUESTION], {}, seconds=1)
    assert answer.problem == "pyrefly is not installed; pip install 'bae-source[lsp]' brings a language server"


@pytest.mark.parametrize("inside", [True, False])
def test_a_program_that_lies_in_the_project_is_never_started(inside: bool, tmp_path: Path) -> None:
    root, elsewhere = (Path(os.path.realpath(tmp_path)) / name for name in ("project", "elsewhere"))
    folder = root / "bin" if inside else elsewhere
    folder.mkdir(parents=True)
    root.mkdir(exist_ok=True)
    program = folder / "pyrefly"
    fake = shlex.join([sys.executable, str(FAKE), "works", f"{tmp_path}/diary"])
    program.write_text(f"#!/bin/sh\n: > {shlex.quote(f'{tmp_path}/ran')}\nexec {fake}\n")
    program.chmod(0o755)
    for path in (str(folder), f"{folder}/../{folder.name}"):
        server = LanguageServer("pyrefly", root=root, environment={"PATH": f"bin{os.pathsep}.{os.pathsep}{path}"})
        [answer] = server.ask([QUESTION], {}, seconds=PATIENT)
        assert (answer.problem is None) is not inside
        server.close()
    assert (tmp_path / "ran").exists() is not inside


def test_the_same_server_is_kept_until_another_one_is_wanted(tmp_path: Path) -> None:
    servers = LanguageServers(tmp_path, os.environ)
    first = servers.named("ty")
    assert servers.named("ty") is first
    assert servers.named("off") is not first
    assert set(COMMANDS) == {"ty", "basedpyright", "pyrefly"}


def test_the_real_ty_answers_and_hears_of_changes(tmp_path: Path) -> None:
    root = Path(os.path.realpath(tmp_path))
    (root / "m.py").write_text(TEXT)
    (root / "n.py").write_text("class B:\n    def go(self): ...\n")
    text = "from n import B\n\ndef f(b: B):\n    return b.go()\n"
    question = Question(path="o.py", text=text, name=Place(line=3, column=5), names=(Place(line=4, column=14),))
    (root / "o.py").write_text(text)
    server = LanguageServer("ty", root=root, environment=os.environ)
    [answer] = server.ask([question], {"n.py": 1}, seconds=PATIENT)
    assert "def f(b: B)" in " ".join(answer.hover.split()).replace("( ", "(")
    assert answer.targets == (Target(path="n.py", line=2, units=8),)
    (root / "n.py").write_text("# moved\n\nclass B:\n    def go(self): ...\n")
    [again] = server.ask([question], {"n.py": 2}, seconds=PATIENT)
    assert again.targets == (Target(path="n.py", line=4, units=8),)
    server.close()
