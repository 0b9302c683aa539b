"""Every way out is an outcome, with its exit status, and as JSON it is one line that always has every key."""

from __future__ import annotations

import re
from io import BytesIO
from itertools import count
from pathlib import Path

import pytest

import bae_source
from bae_source.adapters.cli.cli import main, through_service
from bae_source.adapters.cli.streams import Sink, Streams
from bae_source.errors import (
    HistoryError,
    LookupFailed,
    Refused,
    RequestError,
    ResourceError,
    SourceError,
    TransactionError,
)
from bae_source.model.outcome import Changed, Check, Notice, Outcome
from tests.adapters.support import ANSWER, Called, Recorder, call, fails
from tests.transaction.test_transaction import profiled

#: CONTRACT.md, section 1
KEYS = [
    "status", "operation_id", "text", "diff", "changed", "checks", "warnings", "etag", "complete", "errors",
    "next_actions",
    "found",
    "counts",
    "report",
    "draft",
    "task_id",
]  # fmt: skip
APPLIED = Outcome(
    status="applied",
    operation_id="op_1",
    text="edited app.f",
    diff="--- a/app.py\n+++ b/app.py\n",
    changed=(Changed("app.f", "e2"),),
    checks=(Check(name="tests", result="passed", digest="d", counts={"passed": 2}, seconds=1.5),),
    warnings=(Notice("decorators_dropped", "Gone."),),
    etag="e2",
    address="app.f",
)
ERRORS: list[tuple[ResourceError, int]] = [
    (RequestError("invalid_name", "No."), 2),
    (LookupFailed("symbol_not_found", "No."), 3),
    (SourceError("syntax_invalid", "No."), 4),
    (Refused("stale", "No."), 5),
    (TransactionError("reload_failed", "No."), 6),
    (HistoryError("nothing_to_undo", "No."), 7),
]


class Broken:
    """A stream whose every write fails."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def write(self, content: bytes) -> int:
        raise self.error

    def flush(self) -> None:
        raise self.error

    def fileno(self) -> int:
        raise OSError("no descriptor")


def with_stdout(error: BaseException, door: Recorder) -> Called:
    err = BytesIO()
    streams = Streams(
        stdin=BytesIO(), stdin_terminal=False, stdout=Sink(raw=Broken(error)), stderr=Sink(raw=err), environment={}
    )  # type: ignore[arg-type]
    return Called(main(["read", "app"], streams=streams, door=door), b"", err.getvalue())


@pytest.mark.parametrize(("error", "status"), ERRORS, ids=lambda case: getattr(case, "code", case))
@pytest.mark.parametrize("as_json", [False, True])
def test_an_error_has_the_exit_status_of_its_class(error: ResourceError, status: int, as_json: bool) -> None:
    assert fails(error, "read", "app", *(["--json"] if as_json else [])).status == status


def test_done_is_0_and_waiting_for_approval_is_what_the_outcome_says() -> None:
    assert call("read", "app").status == 0
    pending = Outcome(status="pending", text="waits", next_actions=("approve it",), exit_code=10)
    called = call("delete", "app.f", door=Recorder(pending))
    assert (called.status, called.out) == (10, b"waits\n")
    assert "approve it" in called.err_text


def test_a_bug_of_ours_is_70_and_says_how_to_report_it() -> None:
    called = fails(ZeroDivisionError("secret"), "read", "app")
    assert called.status == 70
    assert called.err_text.startswith("error[internal_error]: This is a bug of bae_source ")
    assert "read raised ZeroDivisionError" in called.err_text
    assert "BAE_SOURCE_TRACEBACK=1" in called.err_text
    assert "Traceback" not in called.err_text
    assert not called.out


def test_a_traceback_is_shown_only_where_it_is_asked_for() -> None:
    called = call(
        "read", "app", "--json", door=Recorder(ZeroDivisionError()), environment={"BAE_SOURCE_TRACEBACK": "1"}
    )
    assert "Traceback (most recent call last)" in called.err_text
    assert called.json["errors"][0]["code"] == "internal_error"


def test_an_interrupt_is_130() -> None:
    called = fails(KeyboardInterrupt())
    assert (called.status, called.out) == (130, b"")
    assert called.err_text.startswith("error[interrupted]: ")


@pytest.mark.parametrize(
    "called",
    [
        call("read", "app", "--json"),
        call("delete", "app.f", "--json", door=Recorder(APPLIED)),
        fails(LookupFailed("symbol_not_found", "No.", candidates=["a.b"]), "read", "app", "--json"),
        fails(KeyError(), "read", "app", "--json"),
        fails(KeyboardInterrupt(), "read", "app", "--json"),
        call("--json", "nonsense"),
        call("--json"),
        call("read", "--json", "--nonsense"),
        call("--json", "--help"),
        call("--json", "--version"),
        call("edit", "--help", "--json"),
        call("completion", "bash", "--json"),
        call("completion", "csh", "--json"),
    ],
    ids=lambda called: called.json["text"][:30],
)
def test_json_is_one_line_with_every_key_and_nothing_else(called: Called) -> None:
    answer = called.json
    assert list(answer) == KEYS
    assert (answer["status"] == "error") == bool(answer["errors"]) == (called.status != 0)
    assert all(list(error) == ["code", "message", "hints", "candidates"] for error in answer["errors"])
    assert not called.err
    assert called.out.isascii()


def test_json_holds_the_whole_outcome() -> None:
    answer = call("delete", "app.f", "--json", door=Recorder(APPLIED)).json
    assert answer == {
        "status": "applied",
        "operation_id": "op_1",
        "text": "edited app.f",
        "diff": APPLIED.diff,
        "changed": [{"address": "app.f", "etag": "e2"}],
        "checks": [
            {"name": "tests", "result": "passed", "digest": "d", "counts": {"passed": 2}, "seconds": 1.5, "detail": ""}
        ],
        "warnings": [{"code": "decorators_dropped", "message": "Gone."}],
        "etag": "e2",
        "complete": True,
        "errors": [],
        "next_actions": [],
        "found": [],
        "counts": {},
        "report": None,
        "draft": None,
        "task_id": None,
    }


def test_json_is_never_coloured() -> None:
    plain = call("read", "app", "--json", door=Recorder(ANSWER))
    assert call("read", "app", "--json", door=Recorder(ANSWER), environment={"FORCE_COLOR": "1"}) == plain
    assert call("read", "app", "--json", door=Recorder(ANSWER), terminal=True) == plain


def test_a_reader_that_went_away_is_no_error() -> None:
    assert with_stdout(BrokenPipeError(), Recorder(ANSWER)) == Called(0, b"", b"")


def test_an_answer_that_cannot_be_written_is_an_error_that_names_the_change() -> None:
    called = with_stdout(OSError(28, "No space left on device"), Recorder(APPLIED))
    assert called.status == 6
    assert "could not be written: No space left on device. The change is made, as op_1." in called.err_text


def test_an_interrupted_answer_of_a_change_says_that_it_is_made() -> None:
    called = with_stdout(KeyboardInterrupt(), Recorder(APPLIED))
    assert called.status == 130
    assert called.err_text == "error[interrupted]: Interrupted; the change is made, as op_1.\n"


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_whenever_ctrl_c_comes_behind_the_commit_the_message_says_that_the_change_stands(tmp_path: Path) -> None:
    sources = {str(path) for path in Path(bae_source.__file__).parent.rglob("*.py") if path.parent.name in _BEHIND}
    (tmp_path / "app.py").write_text("A = 0\n")
    for number in count():
        new = f"A = {number + 1}\n"
        argv = ("edit", "app.A", "--source", "-", "--root", str(tmp_path), "--reload", "off")
        with profiled(number, behind="finish", sources=sources) as interrupts:
            called = call(*argv, stdin=new.encode(), door=through_service)
        assert (tmp_path / "app.py").read_text() == new
        assert "taken back" not in called.err_text
        assert re.search("op_[0-9a-f]{12}", called.out.decode() + called.err_text), interrupts
        if not interrupts:
            break
        assert called.status in (0, 130)
    assert number > 50


_BEHIND = ("bae_source", "adapters", "cli", "engine", "state")
