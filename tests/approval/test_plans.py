"""Proposals as they are kept: their moves, their names, processes that meet, and processes that die."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.approval.plan_file import PlanFile
from bae_source.approval.plans import Plans
from bae_source.approval.proposals import MOVES, State
from bae_source.errors import HistoryError, LookupFailed
from bae_source.model.outcome import Check
from tests.approval.support import FIRST, NOW, everything, name, plans_of, proposal, refusal, started
from tests.plan_files import asked, plan_files
from tests.state_folders import state_folders


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "core.py").write_text("def f():\n    return 1\n")
    return root


@pytest.fixture
def plans(root: Path) -> Plans:
    return plans_of(root)


# --- adding, listing, moving -----------------------------------------------------------------------------------------


def test_what_is_added_is_there_in_any_process_and_reading_leaves_nothing(root: Path, plans: Plans) -> None:
    assert (plans.listed(), sum(plans.counts().values()), plans.due(NOW), plans.unnotified()) == ([], 0, [], [])
    assert (plans.removed(NOW), plans.notices(), [each.name for each in root.iterdir()]) == (0, (), ["core.py"])
    check = Check(name="import", result="passed", seconds=0.5, detail="", digest="d")
    whole = proposal(base={"a.py": None}, checks=(check,), how={"verify": ["tests"]}, waits_for=("rule",))
    plans.add(whole)
    assert plans_of(root).get(FIRST) == whole
    [found] = plans_of(root).listed({State.AWAITING})
    own = {"symbols": 2, "names": whole.symbols, "results": {"import": "passed"}}
    for field in found.__struct_fields__:
        assert getattr(found, field) == (own[field] if field in own else getattr(whole, field)), field
    assert {state: count for state, count in plans.counts().items() if count} == {State.AWAITING: 1}
    assert [path.stat().st_mode & 0o777 for path in plan_files(root)] == [0o600]


def test_lists_are_by_state_and_proposer_and_in_the_order_of_their_coming(plans: Plans) -> None:
    for number, who in ((7, "bot"), (3, "ana"), (5, "bot")):
        plans.add(proposal(number, who=who))
    plans.move(name(3), State.REJECTED, decided_by="ben")
    assert [each.id for each in plans.listed()] == [name(7), name(3), name(5)]
    assert [each.id for each in plans.listed({State.AWAITING})] == [name(7), name(5)]
    assert [each.id for each in plans.listed({State.REJECTED}, who="ana")] == [name(3)]
    assert plans.listed({State.AWAITING}, who="ana") == []


def test_one_that_is_there_is_not_added_again(plans: Plans) -> None:
    plans.add(proposal())
    assert refusal(lambda: plans.add(proposal(who="other"))).code == "name_collision"
    assert everything(plans) == [proposal()]
    assert plans.new_id() != FIRST


def test_a_move_is_made_once_and_the_next_error_names_its_author(plans: Plans) -> None:
    plans.add(proposal())
    moved = plans.move(FIRST, State.APPROVED, digest="d1", decided_by="ana", decided_at=NOW)
    assert moved == plans.get(FIRST) == proposal(state=State.APPROVED, decided_by="ana", decided_at=NOW)
    error = refusal(lambda: plans.move(FIRST, State.REJECTED, decided_by="ben"))
    assert (type(error), error.code) == (HistoryError, "proposal_closed")
    assert "is approved by ana, so it cannot become rejected; nothing was changed" in error.message
    assert plans.get(FIRST) == moved


@pytest.mark.parametrize("here", State)
@pytest.mark.parametrize("to", State)
def test_every_move_that_is_none_changes_nothing(plans: Plans, here: State, to: State) -> None:
    plans.add(proposal(state=here))
    if to in MOVES[here]:
        assert plans.move(FIRST, to).state == plans.get(FIRST).state == to
    else:
        assert refusal(lambda: plans.move(FIRST, to)).code == "proposal_closed"
        assert plans.get(FIRST) == proposal(state=here)


def test_of_another_digest_nothing_is_decided(plans: Plans) -> None:
    plans.add(proposal())
    for ask in (
        lambda: plans.move(FIRST, State.APPROVED, digest="d0", decided_by="ana"),
        lambda: plans.note(FIRST, digest="d0", notified=True),
        lambda: plans.renewed(proposal(digest="d2"), digest="d0"),
    ):
        error = refusal(ask)
        assert (error.code, error.details["digest"]) == ("stale", "d1")
    assert plans.get(FIRST) == proposal()


@pytest.mark.parametrize("field", ["requests", "diff", "state", "who", "id", "symbols", "base", "after", "reason"])
def test_a_move_alters_nothing_of_what_is_approved(plans: Plans, field: str) -> None:
    plans.add(proposal())
    with pytest.raises(TypeError, match=field):
        plans.move(FIRST, State.APPROVED, **{field: ""})
    with pytest.raises(TypeError, match=field):
        plans.note(FIRST, **{field: ""})
    assert plans.get(FIRST) == proposal()


@pytest.mark.parametrize("here", State)
def test_what_was_planned_anew_waits_for_a_new_decision(plans: Plans, here: State) -> None:
    decided = {"decided_by": "ana", "decided_at": NOW, "decision": "good", "operation_id": "op_1"}
    plans.add(proposal(state=here, **decided))
    again = proposal(digest="d2", diff="other", note="the base changed", state=here, **decided)
    if here in (State.AWAITING, State.STALE, State.FAILED):
        assert plans.renewed(again, digest="d1") == plans.get(FIRST)
        assert plans.get(FIRST) == proposal(digest="d2", diff="other", note="the base changed")
        assert refusal(lambda: plans.move(FIRST, State.APPROVED, digest="d1")).code == "stale"
    else:
        assert refusal(lambda: plans.renewed(again, digest="d1")).code == "proposal_closed"
        assert plans.get(FIRST) == proposal(state=here, **decided)


def test_those_that_are_due_are_moved_as_any_other(plans: Plans) -> None:
    plans.add(proposal(1, expires="2026-11-29T11:00:00+00:00"))
    plans.add(proposal(2, expires="2026-11-29T13:00:00+00:00"))
    plans.add(proposal(3, expires="2026-11-29T11:00:00+00:00", state=State.APPROVED))
    plans.add(proposal(4, expires="2026-11-29T12:00:00+00:00", state=State.STALE))
    plans.add(proposal(5))
    assert [each.id for each in plans.due(NOW)] == [name(1), name(4)]
    for each in plans.due(NOW):
        plans.move(each.id, State.EXPIRED, digest=each.digest)
    assert (plans.due(NOW), plans.counts()[State.EXPIRED]) == ([], 2)


def test_a_user_is_notified_once(plans: Plans) -> None:
    plans.add(proposal(1))
    plans.add(proposal(2, state=State.APPROVED))
    assert [each.id for each in plans.unnotified()] == [FIRST]
    plans.note(FIRST, notified=True)
    assert (plans.unnotified(), plans.get(FIRST)) == ([], proposal(notified=True))


def test_old_ones_that_are_closed_go_where_there_are_too_many(root: Path, plans: Plans) -> None:
    old = "2026-01-01T00:00:00+00:00"
    for number, state in enumerate(State):
        plans.add(proposal(number, state=state, at=old))
    plans.add(proposal(99, state=State.APPLIED))
    assert plans.removed(NOW) == 0
    assert plans.removed("2026-06-01T00:00:00+00:00", most=7) == 3
    left = [State.AWAITING, State.APPROVED, State.STALE, State.FAILED, State.APPLIED]
    assert [each.state for each in plans.listed()] == left
    assert asked(root, "SELECT count(*) FROM bodies") == [(5,)]


# --- names and texts -------------------------------------------------------------------------------------------------


def test_an_id_may_be_cut_where_it_stays_clear(plans: Plans) -> None:
    for number in (0x12340000, 0x12350000):
        plans.add(proposal(number))
    assert plans.get("1235").id == plans.get("code_mod_1235").id == name(0x12350000)
    error = refusal(lambda: plans.get("123"))
    assert (error.code, error.candidates) == ("ambiguous_symbol", (name(0x12340000), name(0x12350000)))
    assert plans.move("1234", State.REJECTED).id == name(0x12340000)


@pytest.mark.parametrize(
    "given",
    [
        "", "code_mod_", "code_mod_zz", "../x", "/etc/passwd", "code_mod_00000001/..", "\0", f"{FIRST}\0", "a" * 2**20,
        "%", "code_mod_%", "_", "' OR 1 --", "\udc80", "code_mod_000000010", "CODE_MOD_00000001", "\n", f"{FIRST}\n",
        "٠", "draft_00000001",
    ],
)  # fmt: skip
def test_what_is_no_id_names_nothing(root: Path, plans: Plans, given: str) -> None:
    for is_kept in (False, True):
        if is_kept:
            plans.add(proposal())
        for ask in (
            lambda: plans.get(given),
            lambda: plans.move(given, State.APPROVED),
            lambda: plans.note(given, notified=True),
            lambda: plans.renewed(proposal(id=given), digest="d1"),
        ):
            error = refusal(ask)
            assert (type(error), error.code, error.candidates) == (LookupFailed, "symbol_not_found", ())
            assert len(error.message) < 200
    assert everything(plans) == [proposal()]
    assert sorted(path.name for path in root.iterdir()) == [".bae-source", "core.py"]


@pytest.mark.parametrize("field", ["diff", "reason", "goal", "who", "summary", "after"])
@pytest.mark.parametrize("text", ["caf\udce9 \udc80\udcff", "a\0b", "\u2028\U0001f600", "half \ud800"])
def test_any_text_comes_back_as_it_was(root: Path, plans: Plans, field: str, text: str) -> None:
    whole = proposal(**{field: text})
    plans.add(whole)
    assert plans_of(root).get(FIRST) == whole
    assert getattr(plans.listed()[0], field, text) == text
    assert [each.id for each in plans.listed(who=whole.who)] == [FIRST]
    assert plans.move(FIRST, State.REJECTED, decision=text).decision == text


def test_requests_and_names_of_files_that_are_no_utf8_come_back(root: Path, plans: Plans) -> None:
    whole = proposal(
        requests=({"do": "write", "target": ":caf\udce9", "content": "\udcff"},),
        base={"caf\udce9": None},
        symbols=(":caf\udce9",),
    )
    plans.add(whole)
    assert plans_of(root).get(FIRST) == whole


def test_long_texts_are_shortened_in_lists_alone(plans: Plans) -> None:
    whole = proposal(reason="why " * 50_000, diff="+x\n" * 2_000_000)
    plans.add(whole)
    assert len(plans.listed()[0].reason) <= 400
    assert plans.get(FIRST) == whole


def test_ten_thousand_that_wait_are_listed_in_a_moment(root: Path, plans: Plans) -> None:
    every = (proposal(number, summary="Edited app.core.f.", diff="+x\n" * 1_000) for number in range(10_000))
    PlanFile(state_folders(root)).write(lambda connection: [plans.insert(connection, each) for each in every])
    seconds = []
    for _ in range(15):
        begun = time.process_time()  # others may be at work on this machine
        assert len(plans.listed({State.AWAITING})) == 10_000
        seconds.append(time.process_time() - begun)
    assert min(seconds) < 0.05
    assert plans.counts()[State.AWAITING] == 10_000


# --- other projects of the repository --------------------------------------------------------------------------------


@pytest.fixture
def parts(tmp_path: Path) -> list[Path]:
    """Two projects of one repository, which share a folder of state."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    found = [tmp_path / "one", tmp_path / "two"]
    for each in found:
        each.mkdir()
        (each / "core.py").write_text("x = 1\n")
    return found


def test_each_project_of_a_repository_has_its_own(parts: list[Path]) -> None:
    one, two = map(plans_of, parts)
    one.add(proposal(1))
    assert (two.listed(), two.counts()[State.AWAITING], two.due(NOW), two.unnotified()) == ([], 0, [], [])
    for ask in (lambda: two.get(FIRST), lambda: two.move(FIRST, State.APPROVED)):
        assert refusal(ask).code == "symbol_not_found"
    assert refusal(lambda: two.add(proposal(1))).code == "name_collision"
    assert one.get(FIRST) == proposal(1)


def test_forget_takes_the_plans_of_one_project_and_leaves_those_of_the_other(parts: list[Path]) -> None:
    one, two = map(plans_of, parts)
    one.add(proposal(1))
    two.add(proposal(2))
    assert "the drafts and proposals" in Source(parts[0]).forget(dry_run=True).text
    assert everything(one) == [proposal(1)]
    assert Source(parts[0]).forget().text == "Removed the drafts and proposals."
    assert (everything(one), everything(two)) == ([], [proposal(2)])
    assert "no trace" in Source(parts[0]).forget().text
    Source(parts[1]).forget()
    assert not (parts[0].parent / ".git/bae-source").exists()


# --- processes that meet ---------------------------------------------------------------------------------------------


def ask(process: subprocess.Popen[str], *words: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{' '.join(words)}\n")
    process.stdin.flush()


def answer(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().rstrip("\n")


@pytest.fixture
def movers(root: Path) -> Iterator[list[subprocess.Popen[str]]]:
    found = [started("mover", root) for _ in range(2)]
    assert [answer(each) for each in found] == ["ready", "ready"]
    yield found
    for each in found:
        each.communicate(timeout=30)
        assert each.returncode == 0


ROUNDS = 60


@pytest.mark.parametrize("second", ["approved", "rejected", "expired", "renew"])
def test_of_two_processes_that_decide_at_once_one_does(
    plans: Plans, movers: list[subprocess.Popen[str]], second: str
) -> None:
    winners = set()
    for number in range(ROUNDS):
        plans.add(proposal(number))
        asking = [("approved", "ana"), (second, "ben")]
        for each in random.sample((0, 1), 2):
            ask(movers[each], name(number), *asking[each])
        answers = [answer(each) for each in movers]
        assert sorted(each == "done" for each in answers) == [False, True], answers
        winner = answers.index("done")
        lost = answers[1 - winner]
        now = plans.get(name(number))
        if (winner, second) == (1, "renew"):
            assert (lost.split()[0], now.state, now.digest) == ("stale", State.AWAITING, "by ben")
        else:
            assert lost.startswith(f"proposal_closed {name(number)} is {now.state}"), lost
            assert now.state == (State.APPROVED, State(second if second != "renew" else "approved"))[winner]
            assert now.decided_by == ("" if now.state is State.EXPIRED else asking[winner][1])
            assert f" by {now.decided_by}," in lost or not now.decided_by
        winners.add(winner)
    assert winners == {0, 1}, "they never met"


def test_processes_that_make_the_file_at_once_make_one(root: Path, movers: list[subprocess.Popen[str]]) -> None:
    for number in range(10):
        shutil.rmtree(root / ".bae-source", ignore_errors=True)
        for each, who in zip(movers, ("ana", "ben"), strict=True):
            ask(each, str(2 * number + (who == "ben")), "add", who)
        assert [answer(each) for each in movers] == ["done", "done"]
        assert sorted(each.who for each in plans_of(root).listed()) == ["ana", "ben"]


def test_one_that_waits_for_a_writer_too_long_is_refused(
    root: Path, plans: Plans, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans.add(proposal())
    monkeypatch.setattr("bae_source.approval.plan_file.PATIENCE", 0.1)
    [path] = plan_files(root)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    error = refusal(lambda: plans.move(FIRST, State.APPROVED))
    assert (error.code, plans.get(FIRST)) == ("busy", proposal())
    other.close()
    assert plans.move(FIRST, State.APPROVED).state == State.APPROVED


# --- processes that die ----------------------------------------------------------------------------------------------


def test_a_killed_process_leaves_every_proposal_whole_or_not_at_all(root: Path) -> None:
    done = started("dying", root, 60, random.randrange(10**6))
    out, _ = done.communicate(timeout=100)
    *problems, begun = out.splitlines()
    assert (done.returncode, problems) == (0, [])
    assert int(begun) > 30, "they were killed before they did anything"


# --- what they cost who has none -------------------------------------------------------------------------------------


def test_a_request_that_has_nothing_to_do_with_plans_does_not_load_sqlite(root: Path) -> None:
    for words in (["edit", "core.f", "--old", "1", "--new", "2"], ["undo"], ["history"], ["forget"]):
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "bae_source", *words, "--root", str(root)],
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done
        assert "_sqlite3" not in done.stderr
