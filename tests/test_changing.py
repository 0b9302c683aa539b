"""A change beside those of others: one that is being written and may be taken back, and one that a crash left."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from bae_source import Source
from bae_source.adapters.cli.cli import through_service
from bae_source.engine.service import Service
from bae_source.errors import HistoryError, LookupFailed, RequestError
from bae_source.functions import dispatch
from bae_source.model.outcome import warned_by
from bae_source.project.workspace import Workspace
from bae_source.state import lock
from tests.adapters.support import call

pytestmark = pytest.mark.sampled

SOURCE = "def f():\n    return 1\n\n\ndef g():\n    return 1\n"
REPOSITORY = Path(__file__).parents[1]
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path, text in {"m.py": SOURCE, "b.py": "B = 1\n"}.items():
        file = tmp_path / "p" / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return tmp_path / "p"


def users(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in root.glob("*.py")}


def command(root: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "bae_source", *words, "--root", str(root)]


@contextmanager
def neighbour(root: Path, *words: str, status: int) -> Iterator[subprocess.Popen[bytes]]:
    """Let another process make a change which is written, and not committed until the block or its process ends.

    Parameters:
        status: the change stands if it is 0; otherwise its disk fails, and it is taken back.
    """
    mark = root.parent / "mark"
    asked = [sys.executable, "-m", "tests.stopping", str(mark), str(status), *words, "--root", str(root)]
    process = subprocess.Popen(
        [*asked, "--reload", "off"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT, cwd=REPOSITORY
    )
    while not mark.exists():
        assert process.poll() is None
        time.sleep(0.01)
    try:
        yield process
    finally:
        mark.unlink(missing_ok=True)
        process.communicate(timeout=60)


def both(root: Path) -> tuple[str, ...]:
    """Return the words of a change of `m.g` and `b.B`: that one file stands once it is replaced."""
    edits = [{"do": "edit", "target": "m.g", "old": "return 1", "new": "return 2"}]
    edits.append({"do": "edit", "target": "b.B", "old": "1", "new": "2"})
    changes = root.parent / "changes.json"
    changes.write_text(json.dumps({"message": "both", "requests": edits}))
    return "apply", str(changes)


def killed(root: Path) -> None:
    """Let a process die when its change of `m.g` and `b.B` is written and not committed."""
    with neighbour(root, *both(root), status=0) as process:
        process.kill()
        process.wait()
    assert b"return 2" in users(root)["m.py"]


# --- what a crash left ------------------------------------------------------------------------------------------


REFUSED = [
    ("read", "m.nope"),
    ("edit", "m.nope", "--code", "x = 1"),
    ("undo",),
    ("ast", "hover", "sym://python/mod/no"),
]


@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_a_recovery_after_a_crash_is_reported_with_an_error_too(
    root: Path, words: tuple[str, ...], form: tuple[str, ...]
) -> None:
    before = users(root)
    killed(root)
    done = subprocess.run(command(root, *words, *form), capture_output=True, check=False, env=ENVIRONMENT)
    assert done.returncode in (3, 7)
    assert users(root) == before
    message = json.loads(done.stdout)["warnings"][0]["message"] if form and words[0] != "ast" else done.stderr.decode()
    assert "was interrupted, and was taken back: b, m." in message
    assert b"taken back" not in subprocess.run(command(root, *words), capture_output=True, check=False).stderr


def test_a_recovery_is_reported_with_an_error_from_python_and_by_functions(root: Path) -> None:
    killed(root)
    with pytest.raises(LookupFailed) as caught:
        Source(root).read("m.nope")
    [notice] = warned_by(caught.value)
    assert (notice.code, "was taken back: b, m." in notice.message) == ("recovered", True)
    assert pickle.loads(pickle.dumps(caught.value)) == caught.value
    killed(root)
    answer = dispatch("read", {"target": "m.nope"}, root=root)
    assert [each["code"] for each in answer["warnings"]] == ["recovered"]


def test_a_transaction_that_is_drafted_takes_back_what_a_crash_left_and_tells_it_once(root: Path) -> None:
    killed(root)
    with Source(root).transaction("why") as tx:
        read = tx.read("m.g")
        again = tx.read("m.g")
        tx.edit("m.g", old="return 1", new="return 3")
    assert ("return 1" in read, [notice.code for notice in read.outcome.warnings]) == (True, ["recovered"])
    assert again.outcome.warnings == ()
    assert users(root)["m.py"] == SOURCE.replace("g():\n    return 1", "g():\n    return 3").encode()


def test_the_error_of_a_transaction_tells_what_was_taken_back_after_a_crash(root: Path) -> None:
    tx = Source(root).transaction()
    killed(root)
    with pytest.raises(LookupFailed) as caught:
        tx.edit("m.g", old="return 2", new="return 3")
    assert [notice.code for notice in warned_by(caught.value)] == ["recovered"]
    assert users(root)["m.py"] == SOURCE.encode()
    tx.edit("m.g", old="return 1", new="return 3")
    assert users(root)["m.py"] == SOURCE.encode()
    tx.abandon()


# --- what is being written and may be taken back ----------------------------------------------------------------------

A_WHILE = 0.4
"""Seconds, more than whoever reads waits; so what is planned then is planned beside the change."""
TO_TWO = ("--old", "return 1", "--new", "return 2")
CODE = "def g():\n    return 2\n"


Beside = Callable[..., tuple[int, str, str]]


@pytest.fixture
def beside(root: Path, monkeypatch: pytest.MonkeyPatch) -> Beside:
    """Gives a command while another process writes, which ends, or dies, once the command has waited for a while."""
    take, waiting, ends = lock.take, list[float](), list[Callable[[], object]]()

    def taking(descriptor: int) -> lock.Taken | None:
        taken = take(descriptor)
        if taken is None and ends:
            waiting.append(time.monotonic())
            if waiting[-1] - waiting[0] > A_WHILE:
                ends.pop()()
        return taken

    def ask(
        words: tuple[str, ...], others: tuple[str, ...], *, status: int, dies: bool = False
    ) -> tuple[int, str, str]:
        with neighbour(root, *others, status=status) as other:
            ends.append(other.kill if dies else (root.parent / "mark").unlink)
            asked = (*words, "--reload", "off", "--root", str(root))
            called = call(*asked, door=through_service, environment=ENVIRONMENT)
        assert not ends, "it did not wait"
        return called.status, called.out.decode(), called.err_text

    monkeypatch.setattr(lock, "take", taking)
    return ask


@pytest.mark.parametrize(
    ("words", "others"),
    [
        (("edit", "m.g", "--code", CODE), ("edit", "m.g", *TO_TWO)),
        (("write", "b", "--code", "B = 2\n", "--overwrite"), ("write", "b", "--code", "B = 2\n", "--overwrite")),
        (("edit", "m.g", "--old", "return 1", "--new", "return 3"), ("edit", "m.g", *TO_TWO)),
        (("delete", "m.g"), ("delete", "m.g")),
        (("edit", "b.B", "--old", "1", "--new", "2"), ("move", "b", "c")),
        (("insert", "m.g", "--code", "def h():\n    pass\n"), ("delete", "m.g")),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_nothing_to_do_and_not_found_are_not_reported_of_what_is_taken_back_then(
    root: Path, beside: Beside, words: tuple[str, ...], others: tuple[str, ...]
) -> None:
    before = users(root)
    status, out, err = beside(words, others, status=1)
    assert (status, "op_" in out) == (0, True), err
    made = users(root)
    subprocess.run(command(root, "undo", "--reload", "off"), check=True, capture_output=True)
    assert (users(root), made != before) == (before, True)


def test_nothing_to_do_and_not_found_are_reported_once_the_other_change_stands(root: Path, beside: Beside) -> None:
    status, out, _ = beside(("edit", "m.g", "--code", CODE), ("edit", "m.g", *TO_TWO), status=0)
    assert (status, out) == (0, "m.g is like that already.\n")
    status, _, err = beside(("delete", "m.g"), ("delete", "m.g"), status=0)
    assert (status, "symbol_not_found" in err) == (3, True)
    made = users(root)
    subprocess.run(command(root, "undo", "--reload", "off"), check=True, capture_output=True)
    assert b"def g" not in made["m.py"]
    assert users(root)["m.py"] == SOURCE.replace("return 1", "return 2").replace("return 2", "return 1", 1).encode()


def test_what_is_made_on_top_of_a_change_that_is_taken_back_is_planned_on_what_is_left(
    root: Path, beside: Beside
) -> None:
    others = ("insert", "m.g", "--code", "def new():\n    return 1\n")
    status, _, err = beside(("insert", "m.new", "--code", "def h():\n    pass\n"), others, status=1)
    assert (status, "symbol_not_found" in err, "m.h" in err) == (3, True, False)
    assert users(root)["m.py"] == SOURCE.encode()


@pytest.mark.parametrize("status", [0, 1])
def test_who_reads_while_a_process_writes_waits_for_it_and_answers_of_what_came_of_it(root: Path, status: int) -> None:
    with neighbour(root, "edit", "m.g", *TO_TWO, status=status):
        ending = threading.Timer(0.05, (root.parent / "mark").unlink)
        ending.start()
        answer = Source(root).read("m.g")
        ending.join()
    assert (answer.outcome.warnings, "return 2" in answer) == ((), status == 0)


def test_who_reads_beside_a_process_that_hangs_while_it_writes_answers_after_a_moment(root: Path) -> None:
    source = Source(root)
    with neighbour(root, "delete", "m.g", status=1):
        begun = time.monotonic()
        with pytest.raises(LookupFailed) as caught:
            source.edit("m.g", old="1", new="2", dry_run=True)
        answer = source.read("m.f")
        assert time.monotonic() - begun < 5
    assert (warned_by(caught.value), answer.outcome.warnings) == ((), ())
    assert users(root)["m.py"] == SOURCE.encode()


def test_a_transaction_that_was_planned_beside_a_change_is_made_on_what_came_of_that(root: Path) -> None:
    tx = Source(root).transaction()
    with neighbour(root, "edit", "m.g", *TO_TWO, status=1):
        tx.edit("m.f", old="return 1", new="return 3")
    tx.commit()
    assert users(root)["m.py"] == SOURCE.replace("return 1", "return 3", 1).encode()


def test_a_malformed_call_does_not_wait(root: Path) -> None:
    with neighbour(root, "delete", "m.g", status=1), pytest.raises(RequestError):
        Source(root).edit("m.g..", old="1", new="2")


def test_a_waiting_process_reports_the_recovery_of_a_dead_neighbour(root: Path, beside: Beside) -> None:
    words = ("edit", "m.g", "--code", CODE)
    status, out, err = beside(words, both(root), status=0, dies=True)
    assert (status, "op_" in out, "was taken back: b, m." in err) == (0, True, True)
    status, out, err = beside(
        ("edit", "m.f", "--code", "def f():\n    return 2\n"), ("delete", "m.g"), status=0, dies=True
    )
    assert (status, "op_" in out, "and it stands: m." in err) == (0, True, True)
    assert b"def g" not in users(root)["m.py"]


# --- undo beside a change that is being written -----------------------------------------------------------------------


def test_undo_beside_a_change_that_is_taken_back_then_is_made(root: Path, beside: Beside) -> None:
    made = str(Source(root).edit("m.f", old="return 1", new="return 3", reload="off").operation_id)
    status, _, err = beside(("undo", made), ("edit", "m.g", *TO_TWO), status=1)
    assert (status, err) == (0, "")
    assert users(root)["m.py"] == SOURCE.encode()


def test_undo_beside_a_change_that_stands_then_is_refused_for_that_and_blames_no_outside_edit(
    root: Path, beside: Beside
) -> None:
    made = str(Source(root).edit("m.g", old="return 1", new="return 1 + 0", reload="off").operation_id)
    status, _, err = beside(("undo", made), ("edit", "m.g", *TO_TWO), status=0)
    assert (status, "came later" in err, "outside" in err) == (7, True, False)
    assert users(root)["m.py"] == b"def f():\n    return 1\n\n\ndef g():\n    return 2 + 0\n"


def test_undo_beside_a_change_of_another_symbol_that_stands_then_is_made(root: Path, beside: Beside) -> None:
    made = str(Source(root).edit("m.f", old="return 1", new="return 3", reload="off").operation_id)
    status, _, err = beside(("undo", made), ("edit", "m.g", *TO_TWO), status=0)
    assert (status, "outside" in err) == (0, False)
    assert users(root)["m.py"] == b"def f():\n    return 1\n\n\ndef g():\n    return 2\n"


def test_redo_beside_a_change_that_is_taken_back_then_is_made(root: Path, beside: Beside) -> None:
    source = Source(root)
    made = str(source.edit("m.f", old="return 1", new="return 3", reload="off").operation_id)
    source.undo(reload="off")
    status, _, err = beside(("redo", made), ("edit", "m.g", *TO_TWO), status=1)
    assert (status, err) == (0, "")
    assert b"return 3" in users(root)["m.py"]


def test_the_dry_run_of_an_undo_beside_a_change_blames_no_outside_edit(root: Path) -> None:
    source = Source(root)
    source.edit("m.g", old="return 1", new="return 1 + 0", reload="off")
    with (
        neighbour(root, "edit", "m.g", *TO_TWO, status=1),
        pytest.raises(HistoryError, match="unknown now") as caught,
    ):
        source.undo(dry_run=True)
    assert (caught.value.code, caught.value.hints) == ("undo_conflict", ("Ask again when it is done.",))
    assert warned_by(caught.value) == ()
    assert b"return 1 + 0" in users(root)["m.py"]
    assert source.undo(reload="off").status == "applied"


def test_who_reads_while_a_neighbour_begins_a_change_answers_of_what_came_of_it(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, seen = Source(root), list[Workspace]()

    def come_and_go() -> None:
        with _failing(root):
            assert b"return 2" in (seen[0].content("m.py") or b"")

    begun = _meanwhile(monkeypatch, come_and_go, seen)
    answer = source.read("m.g")
    assert (begun, "return 1" in answer, answer.outcome.warnings) == ([True], True, ())


def test_a_change_begun_and_taken_back_while_one_plans_leaves_no_trace(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Source(root)

    def come_and_go() -> None:
        with _failing(root):
            assert b"return 2" in (seen[0].content("m.py") or b"")

    seen: list[Workspace] = []
    begun = _meanwhile(monkeypatch, come_and_go, seen)
    assert source.edit("m.g", old="return 1", new="return 3", reload="off").status == "applied"
    assert begun == [True]
    assert users(root)["m.py"] == SOURCE.replace("def g():\n    return 1", "def g():\n    return 3").encode()


def _failing(root: Path) -> AbstractContextManager[subprocess.Popen[bytes]]:
    return neighbour(root, "edit", "m.g", "--old", "return 1", "--new", "return 2", status=1)


def _meanwhile(
    monkeypatch: pytest.MonkeyPatch, do: Callable[[], object], seen: list[Workspace] | None = None
) -> list[bool]:
    """Have something done after the first snapshot was begun, and before anything is read from it."""
    made, done = Service.workspace, list[bool]()

    def workspace(service: Service, *given: Any) -> Workspace:
        found = made(service, *given)
        if not done:
            done.append(True)
            if seen is not None:
                seen.append(found)
            do()
        return found

    monkeypatch.setattr(Service, "workspace", workspace)
    return done
