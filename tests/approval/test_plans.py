"""Proposals as they are kept: their moves, processes that meet, processes that die, and files that are damaged."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from zlib import crc32

import pytest

from bae_source import Source
from bae_source.approval.plans import Plans
from bae_source.approval.proposals import MOVES, Proposal, State
from bae_source.errors import HistoryError, LookupFailed, ResourceError
from bae_source.model.outcome import Check
from tests.another_user import AnotherUser, another_user, open_folder
from tests.approval.support import NOW, died_writing, name, plans_of, proposal, started
from tests.plan_files import asked, plan_files

FIRST = name(1)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "core.py").write_text("def f():\n    return 1\n")
    return root


@pytest.fixture
def plans(root: Path) -> Plans:
    return plans_of(root)


def refusal(ask: Callable[[], object]) -> ResourceError:
    with pytest.raises(ResourceError) as caught:
        ask()
    return caught.value


def everything(plans: Plans) -> list[object]:
    return [plans.get(each.id) for each in plans.listed()]


# --- adding, listing, moving -----------------------------------------------------------------------------------------


def test_what_is_added_is_there_in_any_process_and_reading_leaves_nothing(root: Path, plans: Plans) -> None:
    assert (plans.listed(), sum(plans.counts().values()), plans.due(NOW), plans.unnotified()) == ([], 0, [], [])
    assert (plans.removed(NOW), plans.notices(), [each.name for each in root.iterdir()]) == (0, (), ["core.py"])
    check = Check(name="import", result="passed", seconds=0.5, detail="", digest="d")
    whole = proposal(base={"a.py": None}, checks=(check,), how={"verify": ["tests"]}, waits_for=("rule",))
    plans.add(whole)
    assert plans_of(root).get(FIRST) == whole
    [found] = plans_of(root).listed({State.AWAITING})
    for field in found.__struct_fields__:
        assert getattr(found, field) == (2 if field == "symbols" else getattr(whole, field)), field
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


def test_a_move_is_made_once_and_the_next_is_told_by_whom(plans: Plans) -> None:
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
    plans._file.write(lambda connection: [plans._insert(connection, each) for each in every])
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
    monkeypatch.setattr("bae_source.approval.plan_file._PATIENCE", 0.1)
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


# --- files that are not as they were written -------------------------------------------------------------------------


def set_aside(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*.damaged-*") if not path.name.endswith("-journal"))


def emptied(content: bytes) -> bytes:
    return b""


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def cut_in_the_header(content: bytes) -> bytes:
    return content[:60]


def cut_by_a_page(content: bytes) -> bytes:
    return content[:-4096]


def other_text(content: bytes) -> bytes:
    return b"no database at all\n" * 1_000


def without_header(content: bytes) -> bytes:
    return bytes(100) + content[100:]


def zeroed_behind_the_tables(content: bytes) -> bytes:
    return content[:8192] + bytes(len(content) - 8192)


def another_byte_of_a_text(content: bytes) -> bytes:
    assert content.count(b"reason of 3") == 2, "in the summary and in the whole"
    return content.replace(b"reason of 3", b"reason of 4")


@pytest.mark.parametrize(
    "spoil",
    [
        emptied, cut, cut_in_the_header, cut_by_a_page, other_text, without_header, zeroed_behind_the_tables,
        another_byte_of_a_text,
    ],
)  # fmt: skip
def test_a_damaged_file_is_set_aside_told_and_never_taken_for_none(
    root: Path, plans: Plans, spoil: Callable[[bytes], bytes]
) -> None:
    whole = [proposal(number, reason=f"reason of {number}", diff="+x\n" * 5_000) for number in range(1, 8)]
    for each in whole:
        plans.add(each)
    [path] = plan_files(root)
    spoiled = spoil(path.read_bytes())
    path.write_bytes(spoiled)
    found = [each.code for each in Source(root).doctor().outcome.found]
    assert found == ([] if spoil is another_byte_of_a_text else ["plans_damaged"]), "the doctor reads no rows"
    assert path.read_bytes() == spoiled
    left = plans.listed({State.AWAITING})
    assert [notice.code for notice in plans.notices()] == ["plans_damaged"]
    assert [each.read_bytes() for each in set_aside(root)] == [spoiled]
    assert str(set_aside(root)[0]) in plans.notices()[0].message
    rest = everything(plans)
    assert [each.id for each in left] == [each.id for each in rest]  # type: ignore[attr-defined]
    assert all(each in whole for each in rest)
    if spoil is another_byte_of_a_text:
        assert rest == [*whole[:2], *whole[3:]]
        error = refusal(lambda: plans.get(name(3)))
        assert (error.code, plans.notices()[0].message in error.hints) == ("symbol_not_found", True)
    plans.add(proposal(99))
    assert plans_of(root).get(name(99)) == proposal(99)
    assert [each.code for each in Source(root).doctor().outcome.found] == ["plans_damaged"]
    set_aside(root)[0].unlink()
    assert (plans.notices(), Source(root).doctor().outcome.found) == ((), ())


def test_one_that_is_killed_while_it_sets_aside_loses_nothing_that_could_be_read(root: Path, plans: Plans) -> None:
    whole = [proposal(number, reason=f"reason of {number}", diff="+x\n" * 30_000) for number in range(1, 8)]
    for each in whole:
        plans.add(each)
    [path] = plan_files(root)
    content = another_byte_of_a_text(path.read_bytes())
    seconds = 0.0
    for part in range(61):
        for left in path.parent.glob("plans-*"):
            left.unlink()
        path.write_bytes(content)
        begun, looking = time.monotonic(), os.fork()
        if looking == 0:
            plans.listed()
            os._exit(0)
        if part:  # the first time tells how long it takes
            time.sleep(seconds * part / 50)
            os.kill(looking, signal.SIGKILL)
        os.waitpid(looking, 0)
        seconds = seconds or time.monotonic() - begun
        assert everything(plans) == [*whole[:2], *whole[3:]]
        assert [each.read_bytes() for each in set_aside(root)] == [content]
        assert [notice.code for notice in plans.notices()] == ["plans_damaged"]


def test_a_damaged_file_is_found_by_whoever_writes_first_as_well(root: Path, plans: Plans) -> None:
    for number in (1, 2):
        plans.add(proposal(number))
    [path] = plan_files(root)
    for number in (1, 2, 3):
        path.write_bytes(b"")
        plans.add(proposal(number))
        assert everything(plans) == [proposal(number)]
    assert len(set_aside(root)) == 3


def found_or_none(plans: Plans, proposal_id: str) -> Proposal | None:
    try:
        return plans.get(proposal_id)
    except LookupFailed:
        return None


def test_random_bytes_in_the_file_lose_plans_only_with_a_notice(root: Path, plans: Plans) -> None:
    whole = [proposal(number, reason=f"reason of {number}", diff="+x\n" * 2_000) for number in range(1, 30)]
    for each in whole:
        plans.add(each)
    [path] = plan_files(root)
    content = path.read_bytes()
    chance = random.Random(7)
    for _ in range(150):
        spoiled = bytearray(content)
        start = chance.randrange(len(content))
        size = chance.choice((1, 8, 300, 5_000))
        spoiled[start : start + size] = chance.randbytes(len(spoiled[start : start + size]))
        path.write_bytes(spoiled)
        for _ in range(2):  # what one look finds damaged is gone for the next
            listed = [each.id for each in plans.listed()]
            found = [each for number in range(1, 30) if (each := found_or_none(plans, name(number))) is not None]
            assert all(each in whole for each in found), start
            assert found == whole or plans.notices(), start
        assert listed == [each.id for each in found], start
        for aside in set_aside(root):
            aside.unlink()


def test_the_doctor_tells_of_a_write_that_was_interrupted_and_takes_nothing_back(root: Path, plans: Plans) -> None:
    whole = [proposal(number, diff="+x\n" * 20_000) for number in range(5)]
    for each in whole:
        plans.add(each)
    [path] = plan_files(root)
    died_writing(path)
    before = path.read_bytes()
    [found] = Source(root).doctor().outcome.found
    assert (found.code, "a write was interrupted" in found.message, found.mend) == ("plans_unreadable", True, "pending")
    assert path.read_bytes() == before
    assert (everything(plans), Source(root).doctor().outcome.found) == (whole, ())


def test_a_file_of_a_newer_version_is_left_as_it_is(root: Path, plans: Plans) -> None:
    plans.add(proposal())
    asked(root, "PRAGMA user_version = 2")
    for ask in (plans.listed, lambda: plans.add(proposal(2)), lambda: plans.move(FIRST, State.APPROVED)):
        error = refusal(ask)
        assert (error.code, "another version" in error.message) == ("forbidden", True)
    asked(root, "PRAGMA user_version = 1")
    assert (everything(plans), set_aside(root)) == ([proposal()], [])


def test_a_proposal_of_another_version_is_no_damage(root: Path, plans: Plans) -> None:
    plans.add(proposal())
    content, diff = b'{"id": "code_mod_00000001"}', proposal().diff.encode()
    asked(root, "UPDATE bodies SET content = ?, check_sum = ?", content, crc32(diff, crc32(content)))
    for ask in (lambda: plans.get(FIRST), lambda: plans.move(FIRST, State.APPROVED)):
        error = refusal(ask)
        assert (error.code, "another version" in error.message) == ("forbidden", True)
    assert ([each.id for each in plans.listed()], set_aside(root)) == ([FIRST], [])


def test_what_came_along_under_another_id_is_not_there(root: Path, tmp_path: Path, plans: Plans) -> None:
    other = tmp_path / "other"
    other.mkdir()
    plans_of(other).add(proposal(5, state=State.APPROVED, decided_by="ana"))
    plans.add(proposal())
    [forged] = plan_files(other)
    shutil.copy(forged, plan_files(root)[0].with_name(forged.name))
    assert everything(plans) == [proposal()]
    copy = tmp_path / "copy"
    shutil.copytree(root, copy)
    assert everything(plans_of(copy)) == []
    assert refusal(lambda: plans_of(copy).add(proposal(7))).code == "forbidden"


@pytest.mark.parametrize("end", ["", "-journal"])
def test_a_link_in_its_place_is_not_followed(root: Path, tmp_path: Path, plans: Plans, end: str) -> None:
    plans.add(proposal())
    [path] = plan_files(root)
    place, moved = Path(f"{path}{end}"), tmp_path / "elsewhere"
    place.rename(moved)
    before = moved.read_bytes()
    place.symlink_to(moved)
    for ask in (plans.listed, lambda: plans.get(FIRST), lambda: plans.add(proposal(2)), plans.counts):
        error = refusal(ask)
        assert (error.code, "no file of ours" in error.message) == ("forbidden", True)
    assert (moved.read_bytes(), place.is_symlink()) == (before, True)
    assert [each.code for each in Source(root).doctor().outcome.found] == ["plans_unreadable"]


@pytest.mark.parametrize("kind", ["folder", "fifo", "socketless device"])
def test_something_else_in_its_place_is_refused(root: Path, plans: Plans, kind: str) -> None:
    plans.add(proposal())
    [path] = plan_files(root)
    path.unlink()
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    assert refusal(plans.listed).code == "forbidden"
    assert refusal(lambda: plans.add(proposal(2))).code == "forbidden"


def test_a_journal_of_a_file_that_is_gone_is_not_taken_for_another_ones(root: Path, plans: Plans) -> None:
    for number in range(5):
        plans.add(proposal(number, diff="+x\n" * 5_000))
    [path] = plan_files(root)
    died_writing(path)
    path.unlink()
    plans.add(proposal(9))
    assert everything(plans) == [proposal(9)]


# --- where nothing can be written ------------------------------------------------------------------------------------


def limited(folder: Path, code: str, size: int) -> subprocess.CompletedProcess[str]:
    """Run code in a process whose files may not grow over a size, as on a disk that is full."""
    begin = "from pathlib import Path\nfrom tests.approval.support import *\nplans = plans_of(Path('.'))\n"
    return subprocess.run(
        [sys.executable, "-c", begin + code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_where_there_is_no_room_it_is_refused_and_what_was_there_stays(root: Path, plans: Plans) -> None:
    for number in range(3):
        plans.add(proposal(number))
    whole = everything(plans)
    done = limited(root, "plans.add(proposal(9, diff='+x\\n' * 100_000))", 100_000)
    assert "Refused: The proposals cannot be kept or read" in done.stderr, done
    assert "nothing was changed" in done.stderr
    assert (everything(plans), plans.notices()) == (whole, ())
    fresh = root.parent / "fresh"
    fresh.mkdir()
    assert "Refused" in limited(fresh, "plans.add(proposal())", 3_000).stderr
    assert everything(plans_of(fresh)) == []
    plans_of(fresh).add(proposal())
    assert everything(plans_of(fresh)) == [proposal()]


@pytest.fixture
def others() -> Iterator[Path]:
    with open_folder() as place:
        yield place


@pytest.fixture
def stranger(others: Path) -> AnotherUser:
    return another_user(others)


def test_in_a_folder_that_is_read_only_they_are_listed_and_nothing_is_moved(
    stranger: AnotherUser, others: Path
) -> None:
    root = others / "project"
    root.mkdir()
    if os.geteuid() == 0:
        os.chown(root, stranger.user, stranger.user)
    begin = (
        "import os; from pathlib import Path; from bae_source.approval.plans import *; "
        "from bae_source.state.binding import UserState; from bae_source.approval.proposals import *; "
        "plans = Plans(StateFolders(Path('.'), UserState(os.environ)));"
        "add = lambda id: plans.add(Proposal(id=id, requests=(), reason='r', who='w', at='t'));"
    )
    made = stranger.run("-c", f"{begin} add('{FIRST}')", folder=root)
    assert made.returncode == 0, made.stderr
    folder = root / ".bae-source"
    for path in folder.iterdir():
        path.chmod(0o400)
    folder.chmod(0o500)
    told = stranger.run("-c", f"{begin} print([each.id for each in plans.listed()])", folder=root)
    assert told.stdout.decode().strip() == f"['{FIRST}']", told.stderr
    for what in (f"plans.move('{FIRST}', State.APPROVED)", f"add('{name(2)}')"):
        refused = stranger.run("-c", f"{begin} {what}", folder=root)
        assert b"Refused: The proposals cannot be kept or read: permission denied" in refused.stderr, refused
    still = stranger.run("-c", f"{begin} print(plans.get('{FIRST}').state, len(plans.listed()))", folder=root)
    assert still.stdout.decode().split() == ["awaiting_approval", "1"]
    folder.chmod(0o700)


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
        assert (done.returncode, "bae_source.approval" in done.stderr) == (0, words == ["forget"]), done
        assert "_sqlite3" not in done.stderr
