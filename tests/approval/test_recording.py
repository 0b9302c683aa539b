"""What is done and tried comes into the ledger by itself, and is shown and checked by requests, at every door."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bae_source import Session, Source
from bae_source.approval.ledger import START
from bae_source.engine.approving.recording import ledger_of
from bae_source.errors import HistoryError, LookupFailed, Refused, RequestError, ResourceError, TransactionError
from bae_source.functions import dispatch
from bae_source.model.outcome import Outcome
from tests.adapters.mcp.support import Raw
from tests.adapters.support import Called, run
from tests.state_folders import state_folders
from tests.test_cases import picture

pytestmark = pytest.mark.sampled

FILES = {
    "pyproject.toml": '[project]\nname = "app"\nversion = "1"\n',
    "app/__init__.py": "",
    "app/core.py": "def f():\n    return 'a secret of the source'\n\n\ndef g():\n    return f()\n",
    "app/other.py": "X = 1\n",
}
OLD, NEW = "'a secret of the source'", "'another secret of it'"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        path = tmp_path / "p" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return tmp_path / "p"


def command(root: Path, *words: str, **changes: str) -> Called:
    return run(*words, "--root", str(root), folder=root, **changes)


def entries(root: Path) -> list[dict[str, Any]]:
    [path] = (state_folders(root).base / "ledger").glob("*.jsonl")
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def events(root: Path) -> list[tuple[str, str]]:
    return [(each["event"], each["meta"].get("verb", "")) for each in entries(root)]


def edited(root: Path, **more: Any) -> Outcome:
    return Source(root, who="ana").edit("app.core.f", old=OLD, new=NEW, reload="off", **more)


def refused(kind: type[ResourceError], call: Callable[[], object]) -> ResourceError:
    with pytest.raises(kind) as caught:
        call()
    return caught.value


def test_a_change_is_entered_as_it_begins_and_as_it_ends_with_all_that_tells_who_and_what(root: Path) -> None:
    outcome = edited(root, why="since it leaked")
    begun, applied = entries(root)
    assert (begun["event"], applied["event"]) == ("change_begun", "change_applied")
    assert begun["meta"] == {
        "operation_id": outcome.operation_id,
        "who": "ana",
        "verb": "edit",
        "why": "since it leaked",
        "kind": "change",
        "symbols": ["app.core.f"],
        "digest": begun["meta"]["digest"],
    }
    assert len(begun["meta"]["digest"]) == 64
    assert applied["meta"] == {"operation_id": outcome.operation_id, "who": "ana", "verb": "edit"}
    assert begun["ts"].endswith("+00:00")
    assert outcome.warnings == ()


def test_the_digest_is_that_of_the_checks(root: Path) -> None:
    outcome = Source(root).edit("app.core.f", old=OLD, new=NEW, verify=["import", "command true"])
    digests = {check.digest for check in outcome.checks if check.digest}
    assert digests == {entries(root)[0]["meta"]["digest"]}


def test_the_history_has_the_head_as_of_the_beginning_of_each_change_and_shows_it(root: Path) -> None:
    outcome = edited(root)
    src = Source(root)
    [entry] = src.history(str(outcome.operation_id)).outcome.found
    assert entry.entry.request["ledger"] == entries(root)[0]["hash"]
    assert entries(root)[0]["hash"] in str(src.history(str(outcome.operation_id)))
    assert src.ledger_verify(head=entry.entry.request["ledger"]).outcome.exit_code == 0
    undone = src.undo(str(outcome.operation_id), reload="off")
    [entry] = src.history(str(undone.operation_id)).outcome.found
    assert entry.entry.request["ledger"] == entries(root)[2]["hash"]


def test_undo_and_redo_are_entered(root: Path) -> None:
    operation = str(edited(root).operation_id)
    src = Source(root, who="bot")
    src.undo(operation, reload="off")
    src.redo(operation, reload="off")
    assert events(root)[2:] == [
        ("change_begun", "undo"),
        ("change_applied", "undo"),
        ("change_begun", "redo"),
        ("change_applied", "redo"),
    ]
    first, undo, redo = (entries(root)[number]["meta"] for number in (0, 2, 4))
    assert (undo["kind"], undo["of"], undo["who"]) == ("undo", [first["operation_id"]], "bot")
    assert (redo["kind"], redo["of"], redo["digest"]) == ("redo", [first["operation_id"]], first["digest"])


def test_several_changes_are_one(root: Path) -> None:
    requests = [
        {"do": "edit", "target": "app.core.f", "old": OLD, "new": NEW},
        {"do": "edit", "target": "app.other.X", "old": "1", "new": "2"},
    ]
    Source(root).apply(requests, message="both", reload="off")
    with Source(root).transaction("again") as changing:
        changing.edit("app.other.X", old="2", new="3")
        changing.edit("app.core.g", old="f()", new="f() or 1")
    assert events(root) == [("change_begun", "apply"), ("change_applied", "apply")] * 2
    assert entries(root)[0]["meta"]["symbols"] == ["app.core.f", "app.other.X"]
    assert [entries(root)[number]["meta"]["why"] for number in (0, 2)] == ["both", "again"]


REFUSALS: dict[str, tuple[type[ResourceError], str, str, Any, Callable[[Source], object]]] = {
    "what is not there": (
        LookupFailed, "edit", "symbol_not_found", "app.core.h", lambda src: src.edit("app.core.h", "def h(): pass\n"),
    ),
    "what does not parse": (
        ResourceError, "edit", "syntax_invalid", "app.core.f", lambda src: src.edit("app.core.f", "def f(: pass\n"),
    ),
    "what is still used": (
        Refused, "delete", "unsafe_change", "app.core.f", lambda src: src.delete("app.core.f"),
    ),
    "another version": (
        Refused, "delete", "stale", "app.core.g", lambda src: src.delete("app.core.g", if_match="0" * 16),
    ),
    "what does not import": (
        TransactionError, "edit", "reload_failed", "app.other.X",
        lambda src: src.edit("app.other.X", "X = 1 / 0\n", reload="child"),
    ),
    "what a command finds wrong": (
        TransactionError, "edit", "verify_failed", "app.other.X",
        lambda src: src.edit("app.other.X", "X = 2\n", verify=["command false"]),
    ),
    "nothing to undo": (
        HistoryError, "undo", "nothing_to_undo", "op_0123", lambda src: src.undo("op_0123"),
    ),
    "no such draft": (
        HistoryError, "commit", "handle_expired", "draft_0", lambda src: src.commit("draft_0"),
    ),
    "one of several": (
        ResourceError, "apply", "symbol_not_found", ["edit app.core.f", "delete app.core.h"],
        lambda src: src.apply([
            {"do": "edit", "target": "app.core.f", "old": OLD, "new": NEW}, {"do": "delete", "target": "app.core.h"},
        ]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_a_change_that_is_refused_or_does_not_hold_is_entered_once_with_its_code(root: Path, name: str) -> None:
    kind, verb, code, target, call = REFUSALS[name]
    edited(root)
    before = {path: path.read_bytes() for path in (root / "app").glob("*.py")}
    error = refused(kind, lambda: call(Source(root, who="bot")))
    assert error.code == code
    assert {path: path.read_bytes() for path in (root / "app").glob("*.py")} == before
    [entry] = entries(root)[2:]
    assert entry["event"] == "change_refused"
    assert entry["meta"] == {"who": "bot", "verb": verb, "code": code, "target": target}


@pytest.mark.parametrize(
    "call",
    [
        lambda src: src.edit("app.core.h", "def h(): pass\n", dry_run=True),
        lambda src: src.edit("app..core", "x = 1\n"),
        lambda src: src.edit("app.core.f"),
        lambda src: src.read("app.core.h"),
        lambda src: src.undo("op_0123", dry_run=True),
    ],
)
def test_a_dry_run_a_malformed_call_and_a_question_are_no_tries(root: Path, call: Callable[[Source], object]) -> None:
    edited(root)
    refused(ResourceError, lambda: call(Source(root)))
    assert len(entries(root)) == 2
    edited_dry = Source(root).edit("app.other.X", old="1", new="2", dry_run=True)
    assert edited_dry.status == "planned"
    assert Source(root).edit("app.other.X", old="1", new="1").status == "unchanged"
    assert len(entries(root)) == 2


def test_a_refusal_in_a_project_that_has_no_state_of_ours_leaves_nothing(root: Path) -> None:
    before = picture(root)
    for kind, _, _, _, call in REFUSALS.values():
        refused(kind, lambda call=call: call(Source(root)))  # type: ignore[misc]
        for name in (".bae-source", ".git"):
            shutil.rmtree(root / name, ignore_errors=True)  # of what ran a judge, or took the lock
        shutil.rmtree(os.environ["XDG_STATE_HOME"], ignore_errors=True)
    shutil.rmtree(root / "app/__pycache__", ignore_errors=True)
    assert picture(root) == before
    refused(LookupFailed, lambda: Source(root).delete("app.core.h"))
    assert picture(root) == before


def test_no_entry_has_source_text_or_the_message_of_an_error(root: Path) -> None:
    edited(root)
    src = Source(root)
    src.replace("another secret of it", "a secret again", reload="off")
    src.rewrite("return f()", "return f() or 'secret'", reload="off")
    src.write("app:data.txt", "a secret\n")
    src.write("app.new", "S = 'secret'\n")
    for call in (
        lambda: src.edit("app.core.f", "def f():\n    return 'secret' +* 1\n"),
        lambda: src.edit("app.core.f", old="no secret", new="secret"),
        lambda: src.apply(patch="--- a/app/core.py\n+++ b/app/core.py\n@@ -1 +1 @@\n-secret\n+secret\n"),
        lambda: src.apply([{"do": "edit", "target": "app.core.f", "old": "no secret", "new": "secret"}]),
    ):
        refused(ResourceError, call)
    found = entries(root)
    assert len(found) == 13 + 1, [each["event"] for each in found]
    assert "secret" not in json.dumps(found)


def test_a_change_that_cannot_be_written_is_entered_as_begun_and_failed(root: Path) -> None:
    edited(root)
    (root / "stopped").touch()
    status, _ = _stopped(root, "1")
    assert status == 6
    begun, failed = entries(root)[2:]
    assert (begun["event"], failed["event"], failed["meta"]["code"]) == (
        "change_begun",
        "change_failed",
        "write_failed",
    )
    assert begun["meta"]["operation_id"] == failed["meta"]["operation_id"]


def _stopped(root: Path, status: str, *, kill: bool = False) -> tuple[int, Path]:
    """Stop a change where it is written and not committed; then its disk fails, or it is killed."""
    mark = root.parent / "mark"
    patch = [
        {"do": "edit", "target": f"app.{name}", "old": old, "new": "7"}
        for name, old in (("core.f", NEW), ("other.X", "1"))
    ]
    (root.parent / "changes.json").write_text(json.dumps({"message": "", "requests": patch}))
    words = ["apply", str(root.parent / "changes.json"), "--reload", "off", "--root", str(root)]
    line = [sys.executable, "-m", "tests.stopping", str(mark), status, *words]
    with subprocess.Popen(line, cwd=Path(__file__).parents[2], stderr=subprocess.PIPE) as process:
        while not mark.exists():
            assert process.poll() is None
            time.sleep(0.01)
        if kill:
            process.send_signal(signal.SIGKILL)
        else:
            mark.unlink()
        return process.wait(30), mark


def test_what_became_of_a_change_whose_process_was_killed_is_entered_by_the_next(root: Path) -> None:
    edited(root)
    _stopped(root, "0", kill=True)
    assert events(root)[2:] == [("change_begun", "apply")]
    assert NEW in Source(root).read("app.core.f")
    [recovered] = entries(root)[3:]
    assert recovered["event"] == "change_recovered"
    assert recovered["meta"] == {"operation_id": entries(root)[2]["meta"]["operation_id"], "came_to": "taken_back"}
    assert command(root, "ledger", "verify").status == 0


def test_a_change_that_is_judged_in_the_project_and_undone_is_entered_with_all_of_that(root: Path) -> None:
    asserted = f"    assert os.getcwd() == {str(root)!r}\n    assert X == 1\n"  # in a copy the first fails
    (root / "test_x.py").write_text(f"import os\nfrom app.other import X\n\n\ndef test_x():\n{asserted}")
    src = Source(root, who="bot")
    refused(TransactionError, lambda: src.edit("app.other.X", old="1", new="2", verify=["tests"]))
    assert events(root) == [
        ("change_begun", "edit"),
        ("change_applied", "edit"),
        ("change_begun", "undo"),
        ("change_applied", "undo"),
        ("change_refused", "edit"),
    ]
    assert entries(root)[-1]["meta"]["code"] == "verify_failed"


def test_pruning_is_entered_and_forgetting_leaves_nothing(root: Path) -> None:
    edited(root)
    src = Source(root, who="ana")
    src.undo(reload="off")
    src.prune(keep=5)
    assert len(entries(root)) == 4, "nothing was deleted"
    src.prune(keep=1)
    assert entries(root)[-1]["event"] == "history_pruned"
    assert entries(root)[-1]["meta"] == {"who": "ana", "verb": "prune", "operations": 1}
    assert "the ledger" in src.forget(dry_run=True).text
    assert (state_folders(root).base / "ledger").is_dir()
    assert "the ledger" in src.forget().text
    assert not state_folders(root).base.exists()


IN_THE_WAY: dict[str, Callable[[Path], None]] = {
    "a file": lambda place: place.write_text("x"),
    "a link": lambda place: place.symlink_to(place.parent.parent),
}


@pytest.mark.parametrize("name", IN_THE_WAY)
def test_a_ledger_that_cannot_be_written_is_no_reason_to_refuse_a_change_but_is_reported(root: Path, name: str) -> None:
    edited(root)
    place = state_folders(root).base / "ledger"
    place.rename(root.parent / "away")
    IN_THE_WAY[name](place)
    outcome = Source(root).edit("app.other.X", old="1", new="2", reload="off")
    assert (outcome.status, [each.code for each in outcome.warnings]) == ("applied", ["ledger_unavailable"])
    assert (root / "app/other.py").read_text() == "X = 2\n"
    done = command(root, "undo", "--reload", "off")
    assert (done.status, b"The ledger could not be written" in done.err) == (0, True), done
    assert Source(root).history().outcome.found[0].entry.request.get("ledger") is None
    refused(LookupFailed, lambda: Source(root).delete("app.core.h"))
    for words in (["show"], ["head"], ["verify"]):
        done = command(root, "ledger", *words)
        assert done.status == 5
        assert b"The ledger cannot be read" in done.err
    looked = command(root, "doctor")
    assert looked.status == 1
    assert f"{place} is not what we keep under that name".encode() in looked.out
    assert not [path for path in root.parent.rglob("0*.jsonl") if "away" not in path.parts]


def test_under_a_policy_what_cannot_be_entered_is_refused(root: Path) -> None:
    edited(root)
    place = state_folders(root).base / "ledger"
    place.rename(root.parent / "away")
    place.write_text("x")
    before = picture(root / "app")

    settings = root / "pyproject.toml"
    without = settings.read_text() if settings.exists() else ""
    settings.write_text(f'{without}\n[tool.bae-source.policy]\nchange.deny = ["app.core"]\n')
    error = refused(Refused, lambda: Source(root).edit("app.other.X", old="1", new="2", reload="off"))
    assert error.code == "forbidden"
    assert "ledger" in error.message
    assert "nothing was changed" in error.message
    assert picture(root / "app") == before
    settings.write_text(without)
    assert Source(root).edit("app.other.X", old="1", new="2", reload="off").status == "applied"


def test_another_projects_entries_in_the_same_repository_say_so(root: Path) -> None:
    subprocess.run(["git", "init", "-q", str(root.parent)], check=True)
    edited(root)
    assert entries(root)[0]["meta"]["project"] == "p"
    assert "  in p  " in Source(root).ledger_show()


def test_it_is_shown_the_newest_last_one_line_an_entry(root: Path) -> None:
    edited(root, why="a\nb")
    refused(LookupFailed, lambda: Source(root, who="bot").delete("app.core.h"))
    outcome = Source(root).ledger_show().outcome
    operation = entries(root)[0]["meta"]["operation_id"]
    first, second, third = outcome.text.splitlines()
    assert first.split("  ")[1:] == ["change_begun", "ana", "edit app.core.f", operation, "(a b)"]
    assert second.split("  ")[1:] == ["change_applied", "ana", "edit", operation]
    assert third.split("  ")[1:] == ["change_refused", "bot", "delete app.core.h", "symbol_not_found"]
    assert [each.as_data() for each in outcome.found] == entries(root)
    assert outcome.counts == {"entries": 3}


def test_what_is_shown_can_be_chosen(root: Path) -> None:
    made = edited(root)
    Source(root, who="bot").undo(str(made.operation_id), reload="off")
    refused(LookupFailed, lambda: Source(root, who="bot").delete("app.core.h"))
    operation = entries(root)[2]["meta"]["operation_id"]

    def shown(*words: str) -> list[int]:
        found = command(root, "ledger", "show", *words, "--json").json["found"]
        return [entries(root).index(each) for each in found]

    assert shown() == [0, 1, 2, 3, 4]
    assert shown("--who", "bot") == [2, 3, 4]
    assert shown("--event", "change_applied") == [1, 3]
    assert shown("--limit", "2") == [3, 4]
    assert shown("--limit", "1", "--event", "change_begun") == [2]
    assert shown(operation) == [2, 3]
    assert shown("--since", "1h") == [0, 1, 2, 3, 4]
    assert shown("--since", "2200-01-01") == []
    assert command(root, "ledger", "show", "--who", "eve").out == b"(no entries)\n"
    for words in (["--since", "soon"], ["--limit", "0"], ["--event"]):
        assert command(root, "ledger", "show", *words).status == 2
    ledger_of(state_folders(root)).append("proposal_approved", {"task_id": "code_mod_1a2b3c4d", "reason": "why"})
    assert shown("code_mod_1a2b3c4d") == [5]
    assert b"code_mod_1a2b3c4d  (why)" in command(root, "ledger", "show").out


def test_it_is_shown_in_pages(root: Path) -> None:
    for number in range(60):
        ledger_of(state_folders(root)).append(
            "change_applied", {"who": "ana", "verb": "edit", "target": f"app.f{number}"}
        )
    within = Source(root).within(1_000, cursor="0")
    page = within.ledger_show(limit=100).outcome
    assert not page.complete
    assert len(page.text.encode()) <= 1_000
    assert "app.f0" in page.text


def test_a_line_that_cannot_be_read_is_reported(root: Path) -> None:
    edited(root)
    [path] = (state_folders(root).base / "ledger").glob("*.jsonl")
    path.write_bytes(path.read_bytes() + b"damaged\n")
    outcome = Source(root).ledger_show().outcome
    assert len(outcome.found) == 2
    assert [each.code for each in outcome.warnings] == ["ledger_broken"]
    assert outcome.next_actions == ("ledger_verify()",)


def test_the_head_is_the_hash_alone(root: Path) -> None:
    assert command(root, "ledger", "head").out == f"{START}\n".encode()
    edited(root)
    assert command(root, "ledger", "head").out == f"{entries(root)[-1]['hash']}\n".encode()


def test_it_is_checked_and_the_first_entry_that_does_not_hold_is_named(root: Path) -> None:
    assert command(root, "ledger", "verify").out == b"The ledger holds: it has no entries.\n"
    edited(root)
    head = entries(root)[-1]["hash"]
    done = command(root, "ledger", "verify", "--head", head)
    assert done.status == 0
    assert done.out.startswith(b"The ledger holds: 2 entries, the last of 20")
    assert head.encode() in done.out
    [path] = (state_folders(root).base / "ledger").glob("*.jsonl")
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'"who":"ana"', b'"who":"bot"', 1))
    done = command(root, "ledger", "verify")
    assert done.status == 1
    where = f"from entry 1 ({path.name}, line 1) on: its text is not what its hash was made of."
    assert done.out.decode().startswith(f"The ledger does not hold {where}")
    done = command(root, "ledger", "verify", "--json")
    assert done.status == 1
    [fault] = done.json["found"]
    assert (fault["number"], fault["file"], fault["line"]) == (1, path.name, 1)
    path.write_bytes(whole.splitlines(keepends=True)[0])
    assert command(root, "ledger", "verify").status == 0
    done = command(root, "ledger", "verify", "--head", head)
    assert (done.status, head[:12].encode() in done.out) == (1, True)
    path.write_bytes(b"")
    assert command(root, "ledger", "verify", "--head", head).status == 1


@pytest.mark.parametrize("head", ["", "abc", "z" * 64, "A" * 64, "0" * 65])
def test_what_is_no_head_is_a_malformed_call(root: Path, head: str) -> None:
    assert command(root, "ledger", "verify", f"--head={head}").status == 2
    assert refused(RequestError, lambda: Source(root).ledger_verify(head=head)).code == "invalid_arguments"


def test_asking_creates_and_mends_nothing(root: Path) -> None:
    before = picture(root)
    for words in (["show"], ["head"], ["verify"]):
        assert command(root, "ledger", *words, BAE_SOURCE_TELEMETRY="off").status == 0
    assert picture(root) == before


def test_it_is_there_at_every_door(root: Path) -> None:
    edited(root)
    head = entries(root)[-1]["hash"]
    assert dispatch("ledger_head", {}, root=root)["text"] == head
    assert Source(root).ledger.head() == head
    with Session(root) as session:
        assert head in session.run("print(source.ledger.head())").text
        assert "change_applied" in session.run("print(source.ledger.show())").text
        ran = session.run("source.edit('app.other.X', old='1', new='2', reload='off')")
        assert ran.outcome is None or not ran.outcome.errors
    assert events(root)[2:] == [("change_begun", "edit"), ("change_applied", "edit")]
    client = Raw(root)
    client.initialize()
    answer = client.call("ledger_verify")
    client.leave()
    assert "The ledger holds: 4 entries" in json.dumps(answer)
