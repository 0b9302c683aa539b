"""The ledger and the queue as others would have them: altered, cut, exchanged, unwritable, forgotten."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from bae_source.approval.ledger import START, Event, Ledger, sealed
from bae_source.approval.proposals import State
from tests.trust.approval.conftest import Laid
from tests.trust.approval.support import DENY, OPEN, READ_ONLY, REVIEW, Case, Place, check, of

EDIT = ("edit", "app.core.send", "--old", "return 1", "--new", "return 2", "--reload", "off")
SECRET = ("edit", "app.secrets.KEY", "--code", "KEY = 1")


def written(place: Place) -> list[Path]:
    """Have some entries written, and return the files of the ledger."""
    for _ in range(3):
        place.call(*SECRET)
    place.proposed()
    return sorted((place.fresh_folders().base / "ledger").glob("*.jsonl"))


def lines_of(file: Path) -> list[bytes]:
    return file.read_bytes().splitlines(keepends=True)


def resealed(line: bytes, **fields: object) -> bytes:
    """Return an entry with other facts, and a hash of its own that fits them."""
    found = json.loads(line)
    found["meta"] = {**found["meta"], **fields}
    event = sealed(Event(**found))
    return json.dumps({**found, "hash": event.hash}, separators=(",", ":")).encode() + b"\n"


TAMPERED: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "a letter": lambda lines: [lines[0].replace(b"agent", b"Agent"), *lines[1:]],
    "an entry with its own hash": lambda lines: [resealed(lines[0], who="ana"), *lines[1:]],
    "the first taken out": lambda lines: lines[1:],
    "one in the middle taken out": lambda lines: [lines[0], *lines[2:]],
    "two exchanged": lambda lines: [lines[1], lines[0], *lines[2:]],
    "one twice": lambda lines: [lines[0], *lines],
    "one put in": lambda lines: [lines[0], resealed(lines[0], who="ana"), *lines[1:]],
    "another time": lambda lines: [lines[0].replace(b'"ts":"20', b'"ts":"19'), *lines[1:]],
    "another key": lambda lines: [lines[0].replace(b'"who"', b'"Who"', 1), *lines[1:]],
    "a space": lambda lines: [lines[0].replace(b",", b", ", 1), *lines[1:]],
    "another schema": lambda lines: [lines[0].replace(b'"schema":2', b'"schema":3'), *lines[1:]],
    "garbage": lambda lines: [lines[0], b"\0\xff\n", *lines[1:]],
    "an empty line": lambda lines: [lines[0], b"\n", *lines[1:]],
    "something nested without end": lambda lines: [lines[0], b"[" * 100_000 + b"\n", *lines[1:]],
}


@pytest.mark.parametrize("name", TAMPERED)
def test_verify_names_the_entry_that_is_not_as_it_was_written(name: str, laid: Laid) -> None:
    place = laid(DENY)
    [file] = written(place)
    file.write_bytes(b"".join(TAMPERED[name](lines_of(file))))
    before = place.picture()
    found = place.call("ledger", "verify")
    assert (found.status, place.picture()) == (1, before)
    assert place.ledger.verify().fault is not None


@pytest.mark.parametrize("how", ["its end", "all of it", "its folder"])
def test_what_is_cut_off_shows_against_a_head_that_is_kept_elsewhere(how: str, laid: Laid) -> None:
    place = laid(DENY)
    [file] = written(place)
    head = place.ledger.head()
    if how == "its end":
        file.write_bytes(b"".join(lines_of(file)[:-1]))
    elif how == "all of it":
        file.unlink()
    else:
        shutil.rmtree(file.parent)
    assert place.call("ledger", "verify", "--head", head).status == 1
    assert place.call("ledger", "head").data["text"].strip() != head


@pytest.mark.parametrize(
    "how", ["a link", "a pipe", "a folder", "a link of the folder", "a file in place of the folder"]
)
def test_what_stands_in_its_place_is_not_written_and_no_change_passes(how: str, laid: Laid, tmp_path: Path) -> None:
    """Under a policy, what cannot be entered is not made."""
    place = laid(DENY)
    [file] = written(place)
    elsewhere = tmp_path / "elsewhere"
    if how == "a link of the folder":
        file.parent.rename(elsewhere)
        file.parent.symlink_to(elsewhere)
    elif how == "a file in place of the folder":
        shutil.rmtree(file.parent)
        file.parent.write_text("")
    else:
        file.rename(elsewhere)
        makes: dict[str, Callable[[], object]] = {
            "a link": lambda: file.symlink_to(elsewhere),
            "a pipe": lambda: os.mkfifo(file),
            "a folder": file.mkdir,
        }
        makes[how]()
    kept = {path: path.read_bytes() for path in (elsewhere, *elsewhere.glob("*")) if path.is_file()}
    before = place.files()
    answer = place.call(*EDIT)
    assert answer.code == "forbidden", answer
    assert place.files() == before
    assert {path: path.read_bytes() for path in kept} == kept


def test_under_an_open_policy_it_is_made_with_a_notice(laid: Laid) -> None:
    place = laid(OPEN)
    place.call("edit", ":notes.txt", "--old", "notes", "--new", "n")
    [file] = (place.fresh_folders().base / "ledger").glob("*.jsonl")
    file.unlink()
    file.mkdir()
    answer = place.call(*EDIT)
    assert answer.code == "applied"
    assert "ledger_unavailable" in {each["code"] for each in answer.data["warnings"]}


@pytest.mark.parametrize("name", ["000001-{zeros}.jsonl", "000009-{id}.jsonl", "000000-{id}.jsonl", "x.jsonl"])
def test_a_file_that_came_along_is_none_of_it(name: str, laid: Laid) -> None:
    place = laid(DENY)
    [file] = written(place)
    forged = lines_of(file)[0].replace(b"agent", b"ana")
    (file.parent / name.format(zeros="0" * 32, id=place.fresh_folders().id)).write_bytes(forged)
    shown = place.call("ledger", "show", "--who", "ana")
    verdict = place.ledger.verify()
    assert verdict.fault is not None or not shown.data["found"]


@pytest.mark.parametrize("way", ["copied", "moved state", "id alone"])
def test_state_that_came_with_a_project_has_no_queue_and_no_ledger(way: str, laid: Laid, tmp_path: Path) -> None:
    """A stranger ships a project with a queue in which their change is approved."""
    place = laid(REVIEW)
    waits = place.proposed()
    place.plans.move(waits.id, State.APPROVED, decided_by="ana", operation_id="op_0123456789ab")
    other = tmp_path / "other"
    if way == "copied":
        shutil.copytree(place.root, other, symlinks=True)
    else:
        other.mkdir()
        shutil.copytree(place.fresh_folders().base, other / ".bae-source", symlinks=True)
        shutil.copytree(place.root / "app", other / "app")
        if way == "id alone":
            for each in (other / ".bae-source").iterdir():
                if each.name != "id":
                    shutil.rmtree(each) if each.is_dir() else each.unlink()
    for verb, given in (("show", (waits.id,)), ("wait", (waits.id, "--seconds", "0"))):
        assert place.call(verb, *given, root=other).code in ("symbol_not_found", "forbidden")
    assert place.call("pending", "--state", "all", root=other).data["found"] == []
    assert place.call("ledger", "head", root=other).data["text"].strip() == START
    before = {path: path.read_bytes() for path in other.rglob("*.py")}
    assert place.call(*EDIT, root=other).code == "forbidden"
    assert {path: path.read_bytes() for path in other.rglob("*.py")} == before


def elsewhere(place: Place) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(place.home / ".local/state/other")}


FORGETTING = [
    Case(name="forget", do=lambda place: place.call("forget")),
    Case(name="forget where what waits was proposed", do=lambda place: place.call("forget"), policy=DENY,
         before=lambda place: place.proposed()),
    Case(name="forget where nothing may change", do=lambda place: place.call("forget"), policy=READ_ONLY),
    Case(name="forget in a dry run", do=lambda place: place.call("forget", "--dry-run"),
         before=lambda place: place.proposed()),
    Case(name="forget as another user's state", before=lambda place: place.proposed(),
         do=lambda place: place.call("forget", "--foreign", variables=elsewhere(place))),
    Case(name="forget by a process", do=lambda place: place.process("forget"), before=lambda place: place.proposed()),
    Case(name="forget in the name of the person", do=lambda place: place.call("forget", "--who", "ana"),
         before=lambda place: place.proposed()),
    Case(name="forget from a folder below", do=lambda place: place.call("forget", root=place.root / "docs"),
         before=lambda place: place.proposed()),
    Case(name="forget where a folder in the project has the policy", do=lambda place: place.call("forget"), policy=OPEN,
         before=lambda place: (place.write("app/pyproject.toml", f"[tool.bae-source.policy]\n{REVIEW}\n"),
                               place.call(*EDIT, "--propose", "x"))),
    Case(name="forget where the user has the policy", do=lambda place: place.call("forget"), policy=OPEN,
         before=lambda place: place.users(f"[policy]\n{REVIEW}\n")),
    Case(name="forget where the policy cannot be told", do=lambda place: place.call("forget"),
         policy='preset = "reviev"'),
    Case(name="prune of all", do=lambda place: place.call("prune", "--keep", "0"),
         before=lambda place: place.proposed()),
    Case(name="prune of what is old", do=lambda place: place.call("prune", "--older-than", "0h"), policy=DENY),
    Case(name="adopt without a person", do=lambda place: place.process("adopt", given="y\n"),
         before=lambda place: place.proposed(), code=("forbidden", "answer")),
    Case(name="a change with the state elsewhere", policy=DENY,
         do=lambda place: place.call(*EDIT, variables=elsewhere(place)),
         before=lambda place: place.proposed()),
]  # fmt: skip


@pytest.mark.parametrize(**of(FORGETTING))
def test_nothing_that_is_recorded_goes_under_a_policy(case: Case, laid: Laid) -> None:
    place = laid(case.policy)
    check(case, place)
    entries = place.ledger.verify().entries
    assert entries or place.fresh_folders().id is None


def test_what_was_tried_is_in_the_ledger_with_its_code(laid: Laid) -> None:
    place = laid(DENY)
    place.call(*SECRET, "--who", "bot")
    place.call("forget", "--who", "bot")
    found = place.call("ledger", "show", "--event", "change_refused", "--who", "bot").data["found"]
    assert [(each["meta"]["verb"], each["meta"]["code"]) for each in found] == [
        ("edit", "forbidden"),
        ("forget", "forbidden"),
    ]


def test_without_a_policy_they_go(laid: Laid) -> None:
    place = laid(OPEN)
    place.proposed()
    assert place.call("forget").code == "applied"
    assert place.plans.listed() == []
    assert Ledger(place.fresh_folders(), lambda: "").head() == START
