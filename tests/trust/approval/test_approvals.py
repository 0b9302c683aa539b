"""Approvals that no person gave, of something else, or used again; and a queue that others wrote."""

from __future__ import annotations

import shutil
import sqlite3
from binascii import crc32
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from bae_source.approval.proposals import Proposal, State
from bae_source.engine.registry import REQUESTS
from bae_source.state.folders import plans_name
from tests.approval.terminal import at_terminal
from tests.trust.approval.conftest import Laid
from tests.trust.approval.support import REVIEW, Answer, Place

pytestmark = pytest.mark.sampled

CODE = "app/core.py"
Forge = Callable[[Place, Proposal], str]


def flipped(digest: str) -> str:
    """Return a digest with another first digit."""
    return f"{'0' if digest[0] != '0' else '1'}{digest[1:]}"


def other(place: Place, _: Proposal) -> str:
    """Return the digest of another proposal."""
    return place.proposed("edit", "app.core.LIMIT", "--code", "LIMIT = 4").digest


def old(place: Place, waits: Proposal) -> str:
    """Change what a proposal was planned on, and return its digest as it was."""
    place.write(CODE, (place.root / CODE).read_text().replace("LIMIT = 3", "LIMIT = 5"))
    return waits.digest


FORGED: dict[str, Forge] = {
    "another first digit": lambda _, waits: flipped(waits.digest),
    "in capitals": lambda _, waits: waits.digest.upper(),
    "its beginning": lambda _, waits: waits.digest[:12],
    "with a line end": lambda _, waits: waits.digest + "\n",
    "of nothing": lambda *_: "0" * 64,
    "of what it leads to": lambda _, waits: waits.after,
    "a pattern": lambda *_: "%",
    "of another proposal": other,
    "as it was before the files changed": old,
}


@pytest.mark.parametrize("name", FORGED)
def test_a_digest_that_is_not_its_own_approves_nothing(name: str, laid: Laid) -> None:
    place = laid(REVIEW)
    waits = place.proposed()
    digest = FORGED[name](place, waits)
    before = place.files()
    answer = place.approve(waits, digest=digest)
    assert answer.code == "stale", answer
    assert place.files() == before
    assert place.plans.get(waits.id).state is State.AWAITING
    assert "code_modification_approved" not in place.events()


@pytest.mark.parametrize("given", ["", "5", "x" * 64, "0" * 64, "%%%%%%%%"])
def test_nor_does_one_at_the_terminal(given: str, laid: Laid) -> None:
    place = laid(REVIEW)
    waits = place.proposed()
    before = place.files()
    with at_terminal(["approve", waits.id, f"--digest={given}"], place.root, place.environment) as person:
        assert person.ends() != 0
    assert "to approve exactly this" not in person.shown
    assert place.files() == before


@pytest.mark.parametrize("typed", ["", "000000", "y", "yes", "{other}", "{digest}", "{task}", "\x1b[A", "{upper}"])
def test_a_code_that_is_not_of_this_question_approves_nothing(typed: str, laid: Laid) -> None:
    """Neither one that was typed for another question, nor what is on the screen besides."""
    place = laid(REVIEW)
    waits = place.proposed()
    code = "000000"
    if typed == "{other}":
        with at_terminal(["approve", waits.id], place.root, place.environment) as person:
            person.reads("to approve exactly this")
            code = person.code
            person.types("no")
    before = place.files()
    with at_terminal(["approve", waits.id], place.root, place.environment) as person:
        person.reads("to approve exactly this")
        person.types(typed.format(other=code, digest=waits.digest[:6], task=waits.id, upper=f"{person.code[:5]}G"))
        assert person.ends() != 0
    assert "error[forbidden]" in person.shown
    assert place.files() == before
    assert place.plans.get(waits.id).state is State.AWAITING


@pytest.mark.parametrize("verb", ["approve", "reject", "expire", "review"])
@pytest.mark.parametrize("way", ["a pipe", "a file of answers", "nothing"])
def test_no_pipe_and_no_file_decides(verb: str, way: str, laid: Laid) -> None:
    place = laid(REVIEW)
    waits = place.proposed()
    before = place.files()
    words = [verb, *([] if verb == "review" else [waits.id]), *(["--reason", "x"] if verb == "reject" else [])]
    given = {"a pipe": "000000\n" * 3, "a file of answers": "a\n000000\nr\nx\nq\n", "nothing": ""}[way]
    assert place.process(*words, given=given).code == "forbidden"
    assert place.files() == before
    assert place.plans.get(waits.id) == waits


def test_standard_error_at_a_terminal_alone_is_no_person(laid: Laid) -> None:
    """An agent that starts us at a user's terminal, with its own answers on standard input."""
    place = laid(REVIEW)
    waits = place.proposed()
    with at_terminal(["approve", waits.id], place.root, place.environment, given=b"000000\n") as person:
        assert person.ends() != 0
    assert "error[forbidden]" in person.shown
    assert place.plans.get(waits.id) == waits


def test_what_is_approved_is_shown_at_the_terminal_wherever_the_outcome_goes(laid: Laid, tmp_path: Path) -> None:
    place = laid(REVIEW)
    waits = place.proposed()
    with at_terminal(["approve", waits.id], place.root, place.environment, out=tmp_path / "out") as person:
        person.reads("+    return 2")
        person.approves()
        assert person.ends() == 0
    assert waits.digest in person.shown


@pytest.mark.parametrize("who", ["bot", "BOT", "bot ", " bot", "b\u200bot", "\uff42ot", "bot\u00ad", "b\u2060o\u200dt"])
def test_the_proposer_does_not_approve_under_any_spelling_of_the_name(who: str, laid: Laid) -> None:
    place = laid(REVIEW)
    answer = place.call("edit", "app.core.LIMIT", "--code", "LIMIT = 4", "--propose", "x", "--who", "bot")
    waits = place.plans.get(answer.task)
    before = place.files()
    assert place.approve(waits, who=who).code == "forbidden"
    assert place.files() == before
    assert place.plans.get(waits.id).state is State.AWAITING


@pytest.mark.parametrize("state", ["applied", "rejected", "expired"])
@pytest.mark.parametrize("verb", ["approve", "reject", "expire"])
def test_what_is_decided_is_not_decided_again(state: str, verb: str, laid: Laid) -> None:
    place = laid(REVIEW)
    waits = place.proposed()
    ends = {"applied": place.approve, "rejected": place.reject, "expired": place.expire}
    assert ends[state](waits).code in ("applied", "answer")
    before = place.files()
    ways: dict[str, Callable[[Proposal], Answer]] = {
        "approve": place.approve, "reject": place.reject, "expire": place.expire,
    }  # fmt: skip
    assert ways[verb](waits).code == "proposal_closed"
    assert place.files() == before
    assert place.plans.get(waits.id).state == state


def test_an_approval_is_not_replayed_by_putting_the_queue_back(laid: Laid) -> None:
    """The operation has its id before it is written: a queue of before that is known, and not made again."""
    place = laid(REVIEW)
    waits = place.proposed()
    queue = place.queue
    place.plans.move(waits.id, State.APPROVED, decided_by="ana", operation_id="op_0123456789ab")
    copy = queue.read_bytes()
    assert place.approve(waits).code == "applied"
    queue.write_bytes(copy)
    before = place.files()
    assert place.approve(waits).code == "proposal_closed"
    assert place.files() == before


EVIL = ({"do": "edit", "target": "app.secrets.KEY", "code": 'KEY = "evil"'},)
ALTERED: dict[str, dict[str, object]] = {
    "other requests": {"requests": EVIL},
    "another digest": {"digest": "0" * 64},
    "another base": {"base": {}},
    "another diff": {"diff": ""},
    "approved": {"state": State.APPROVED, "decided_by": "ana", "operation_id": "op_0123456789ab"},
    "another proposer": {"who": "ana", "is_named": False},
}


@pytest.mark.parametrize("name", ALTERED)
def test_a_queue_that_was_altered_is_set_aside_and_nothing_of_it_is_made(name: str, laid: Laid) -> None:
    """Bytes that are exchanged without our sums."""
    place = laid(REVIEW)
    waits = place.proposed()
    altered(place, waits, ALTERED[name], with_sums=False)
    before = place.files()
    assert place.approve(waits).code in ("symbol_not_found", "forbidden")
    assert place.files() == before
    listed = place.call("pending")
    assert "plans_damaged" in {each["code"] for each in listed.data["warnings"]}


@pytest.mark.parametrize("name", ["other requests", "another digest", "another diff"])
def test_one_that_was_altered_with_its_sums_comes_to_what_was_shown_or_to_nothing(name: str, laid: Laid) -> None:
    """A person reads the diff; what is made has to have that very diff, and the digest that was approved."""
    place = laid(REVIEW)
    waits = place.proposed()
    altered(place, waits, ALTERED[name], with_sums=True)
    before = place.files()
    shown = place.plans.get(waits.id)
    assert place.approve(waits, digest=shown.digest).code in ("stale", "forbidden", "symbol_not_found")
    assert place.files() == before


def test_requests_with_a_digest_that_fits_them_do_not_pass_under_another_diff(laid: Laid) -> None:
    """A forger works out the digest of another change, and leaves the diff of a harmless one."""
    place = laid(REVIEW)
    harmless = place.proposed()
    evil = place.proposed("edit", "app.secrets.KEY", "--code", 'KEY = "evil"')
    parts = {name: getattr(evil, name) for name in ("requests", "digest", "base", "after", "symbols")}
    altered(place, harmless, parts, with_sums=True)
    before = place.files()
    shown = place.plans.get(harmless.id)
    assert "evil" not in shown.diff
    assert place.approve(harmless, digest=shown.digest).code == "stale"
    assert place.files() == before
    assert place.plans.get(harmless.id).state is State.STALE


@pytest.mark.parametrize("how", ["copied", "linked", "empty", "garbage", "of another project", "a folder"])
def test_a_queue_that_came_along_is_none(how: str, laid: Laid, tmp_path: Path) -> None:
    place = laid(REVIEW)
    waits = place.proposed()
    queue, copy = place.queue, tmp_path / "copy"
    shutil.copy(queue, copy)
    queue.unlink()
    if how == "linked":
        queue.symlink_to(copy)
    elif how == "copied":
        shutil.copy(copy, queue.with_name(plans_name("0" * 32)))
    elif how == "a folder":
        queue.mkdir()
    else:
        queue.write_bytes(
            {"empty": b"", "garbage": b"SQLite format 3\0" + b"x" * 5000}.get(how, copy.read_bytes()[:100])
        )
    before = place.files()
    assert place.approve(waits).code in ("symbol_not_found", "forbidden")
    assert place.files() == before
    assert copy.read_bytes()[:16] == b"SQLite format 3\0"


def test_of_two_who_decide_at_once_one_does(laid: Laid) -> None:
    place = laid(REVIEW)
    waits = place.proposed()
    with ThreadPoolExecutor(4) as pool:
        tries = [*[place.approve] * 2, place.reject, place.expire]
        codes = [each.result().code for each in [pool.submit(each, waits) for each in tries]]
    assert set(codes) <= {"applied", "answer", "proposal_closed", "busy", "stale"}
    ends = ("code_modification_approved", "code_modification_rejected", "code_modification_expired")
    assert sum(event in ends for event in place.events()) == 1, codes
    assert place.events().count("change_begun") <= 1
    state = place.plans.get(waits.id).state
    assert ("return 2" in (place.root / CODE).read_text()) is (state is State.APPLIED)


def test_an_expiry_between_the_question_and_the_code_counts(laid: Laid) -> None:
    place = laid(REVIEW)
    waits = place.proposed()
    before = place.files()
    with at_terminal(["approve", waits.id], place.root, place.environment) as person:
        person.reads("to approve exactly this")
        place.plans.note(waits.id, expires="2000-01-01T00:00:00+00:00")
        person.types(person.code)
        assert person.ends() != 0
    assert "error[proposal_closed]" in person.shown
    assert place.files() == before


def test_a_base_that_changes_between_the_question_and_the_code_counts(laid: Laid) -> None:
    place = laid(REVIEW)
    waits = place.proposed()
    with at_terminal(["approve", waits.id], place.root, place.environment) as person:
        person.reads("to approve exactly this")
        old(place, waits)
        before = place.files()
        person.types(person.code)
        assert person.ends() != 0
    assert "error[stale]" in person.shown
    assert place.files() == before
    assert place.plans.get(waits.id).state is State.AWAITING


def test_no_part_hides_another(laid: Laid) -> None:
    """A change of many places, of which one is what it is about: each is named, and shown in the diff."""
    place = laid('preset = "review"\nchange.deny = ["app.nothing"]')
    many = "".join(f"def f{number}() -> int:\n    return {number}\n\n\n" for number in range(60))
    place.write("app/many.py", many)
    requests = [
        {"do": "edit", "target": f"app.many.f{n}", "old": f"return {n}", "new": f"return {n + 1}"} for n in range(60)
    ]
    requests.insert(30, {"do": "edit", "target": "app.secrets.unlock", "old": "return KEY", "new": 'return "evil"'})
    answer = place.call("apply", "-", "--quiet", "--reload", "off", given=msgspec.json.encode(requests))
    waits = place.plans.get(answer.task)
    assert "app.secrets.unlock" in waits.symbols
    assert len(waits.symbols) == 61
    assert '+    return "evil"' in waits.diff


def test_what_is_kept_is_kept_in_one_change_with_what_is_not(laid: Laid) -> None:
    place = laid('change.deny = ["app.secrets"]')
    requests = [
        {"do": "edit", "target": "app.core.LIMIT", "code": "LIMIT = 4"},
        {"do": "rename", "target": "app.secrets.KEY", "new_name": "OTHER"},
    ]
    before = place.picture()
    assert place.call("apply", "-", given=msgspec.json.encode(requests)).code == "forbidden"
    assert place.picture() == before


@pytest.mark.parametrize("verb", ["approve", "reject", "expire", "review", "adopt"])
def test_no_request_decides(verb: str) -> None:
    assert verb not in REQUESTS.verbs


def altered(place: Place, waits: Proposal, fields: dict[str, object], *, with_sums: bool) -> None:
    """Write into the queue by hand.

    Parameters:
        with_sums: whether the sums are worked out anew, as a program that knows our format does.
    """
    connection = sqlite3.connect(place.queue)
    [[number]] = connection.execute("SELECT number FROM proposals WHERE id = ?", (waits.id,)).fetchall()
    [[content, diff]] = connection.execute("SELECT content, diff FROM bodies WHERE number = ?", (number,)).fetchall()
    whole = msgspec.structs.replace(msgspec.json.decode(content, type=Proposal), **fields)
    diff = str(fields["diff"]).encode() if "diff" in fields else diff
    new = msgspec.json.encode(msgspec.structs.replace(whole, diff=""))
    connection.execute("UPDATE bodies SET content = ?, diff = ? WHERE number = ?", (new, diff, number))
    if with_sums:
        connection.execute("UPDATE bodies SET check_sum = ? WHERE number = ?", (crc32(diff, crc32(new)), number))
    connection.commit()
    connection.close()
