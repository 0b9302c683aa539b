"""The ledger as files: what is appended stays, and what is done to it shows, with the first entry that it is about."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from bae_source.approval.ledger import START, Event, Ledger, sealed
from bae_source.errors import Refused
from bae_source.state.lock import project_lock
from tests.state_folders import state_folders

REPOSITORY = Path(__file__).parents[2]
APPENDING = """\
import sys
from pathlib import Path
from bae_source.approval.ledger import Ledger
from tests.state_folders import state_folders

ledger = Ledger(state_folders(Path(sys.argv[1])), lambda: "2026-11-21T12:00:00+00:00", largest=2_000)
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[2])):
    print(ledger.append("change_applied", {"who": sys.argv[3], "number": number}), flush=True)
"""
"""A process that appends, and tells each hash once it is acknowledged."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "p").mkdir()
    return tmp_path / "p"


def ledger(root: Path, *, largest: int = 1_000_000) -> Ledger:
    seconds = count()
    return Ledger(state_folders(root), lambda: f"2026-11-21T12:00:{next(seconds):02}+00:00", largest=largest)


def filled(root: Path, entries: int = 6, *, largest: int = 1_000_000) -> Ledger:
    found = ledger(root, largest=largest)
    for number in range(entries):
        found.append("change_applied", {"who": "ana", "number": number})
    return found


def folder(root: Path) -> Path:
    return state_folders(root).base / "ledger"


def files(root: Path) -> list[Path]:
    return sorted(folder(root).glob("*.jsonl"))


def lines(root: Path) -> list[bytes]:
    return [line for path in files(root) for line in path.read_bytes().splitlines(keepends=True)]


def rewrite(root: Path, change: Callable[[list[dict[str, Any]]], None]) -> None:
    """Write the only file anew, with its entries changed."""
    [path] = files(root)
    entries = [json.loads(line) for line in lines(root)]
    change(entries)
    path.write_text("".join(f"{json.dumps(each, separators=(',', ':'))}\n" for each in entries))


def forged(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry with the hash that it needs to have."""
    return {**entry, "hash": sealed(Event(**entry)).hash}


def numbers(found: Ledger) -> list[int]:
    return [each.meta["number"] for each in found.newest() if isinstance(each, Event)][::-1]


def test_each_entry_has_the_hash_of_the_one_before_it_and_its_own(root: Path) -> None:
    found = filled(root, 3)
    entries = [json.loads(line) for line in lines(root)]
    assert [list(each) for each in entries] == [["ts", "schema", "event", "meta", "prev", "hash"]] * 3
    assert [each["prev"] for each in entries] == [START, *(each["hash"] for each in entries[:-1])]
    assert found.head() == entries[-1]["hash"]
    verdict = found.verify()
    assert (verdict.entries, verdict.fault) == (3, None)


def test_the_hash_can_be_worked_out_without_us(root: Path) -> None:
    found = ledger(root)
    found.append(
        "change_refused",
        {"who": "Jürgen\udcfc \x1b[2J\n\t\x7f\u2028😀", "b": [1, 2.5, None, True], "a": {"y": "", "x": {}}},
    )
    entry = json.loads(lines(root)[0])
    own = entry.pop("hash")
    text = json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert hashlib.sha256(text.encode()).hexdigest() == own


def test_an_empty_ledger_holds_and_looking_at_it_creates_nothing(root: Path) -> None:
    found = ledger(root)
    assert (found.head(), list(found.newest())) == (START, [])
    assert (found.verify().entries, found.verify().fault) == (0, None)
    assert not found.is_there
    assert list(root.iterdir()) == []


def test_the_file_is_synced_before_an_entry_is_acknowledged(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(Path(f"/proc/self/fd/{file}").readlink()))
    found = ledger(root)
    found.append("change_applied", {})
    assert synced[-2:] == [*files(root), folder(root)]
    assert folder(root).parent in synced
    synced.clear()
    found.append("change_applied", {})
    assert synced == files(root)


def altered_byte(entries: list[bytes]) -> list[bytes]:
    return [*entries[:2], entries[2].replace(b"ana", b"bot"), *entries[3:]]


TAMPERING: dict[str, tuple[Callable[[list[bytes]], list[bytes]], int, str]] = {
    "an altered byte": (altered_byte, 3, "its text is not what its hash was made of"),
    "a space between": (
        lambda e: [*e[:2], e[2].replace(b',"meta', b', "meta'), *e[3:]],
        3,
        "not as an entry is written",
    ),
    "another order of facts": (
        lambda e: [*e[:2], e[2].replace(b'"number":2,"who":"ana"', b'"who":"ana","number":2'), *e[3:]],
        3,
        "not as an entry is written",
    ),
    "a fact beside": (lambda e: [*e[:2], e[2].replace(b'"schema":2,', b'"schema":2,"more":1,'), *e[3:]], 3, "no entry"),
    "a fact twice": (
        lambda e: [*e[:2], e[2].replace(b'"schema":2,', b'"schema":2,"event":"x",'), *e[3:]],
        3,
        "not as an entry is written",
    ),
    "another schema": (lambda e: [*e[:2], e[2].replace(b'"schema":2', b'"schema":1'), *e[3:]], 3, "its schema is 1"),
    "no JSON": (lambda e: [*e[:2], b"\x00\xff\n", *e[3:]], 3, "no entry"),
    "nested too deeply": (lambda e: [*e[:2], b"[" * 100_000 + b"\n", *e[3:]], 3, "no entry"),
    "an empty line": (lambda e: [*e[:2], b"\n", *e[2:]], 3, "no entry"),
    "the first removed": (lambda e: e[1:], 1, "the entry before it is not"),
    "one removed": (lambda e: [*e[:2], *e[3:]], 3, "the entry before it is not"),
    "two reordered": (lambda e: [*e[:2], e[3], e[2], *e[4:]], 3, "the entry before it is not"),
    "one twice": (lambda e: [*e[:3], *e[2:]], 4, "the entry before it is not"),
}


@pytest.mark.parametrize("name", TAMPERING)
def test_what_is_done_to_an_entry_shows_with_the_first_that_it_is_about(root: Path, name: str) -> None:
    change, number, reason = TAMPERING[name]
    found = filled(root)
    [path] = files(root)
    before = lines(root)
    after = change(before)
    assert after != before
    path.write_bytes(b"".join(after))
    verdict = found.verify()
    assert verdict.fault is not None
    assert (verdict.fault.number, verdict.fault.file, verdict.fault.line) == (number, path.name, number)
    assert reason in verdict.fault.reason
    assert verdict.entries == number - 1


def test_a_field_that_is_altered_with_the_hash_worked_out_anew_breaks_the_chain_behind_it(root: Path) -> None:
    found = filled(root)

    def alter(entries: list[dict[str, Any]]) -> None:
        entries[2]["meta"]["who"] = "bot"
        entries[2] = forged(entries[2])

    rewrite(root, alter)
    fault = found.verify().fault
    assert fault is not None
    assert (fault.number, fault.reason) == (4, "the entry before it is not the one that it was appended to")


def test_an_entry_that_is_put_between_shows(root: Path) -> None:
    found = filled(root)

    def insert(entries: list[dict[str, Any]]) -> None:
        entries.insert(3, forged({**entries[2], "prev": entries[2]["hash"]}))

    rewrite(root, insert)
    fault = found.verify().fault
    assert fault is not None
    assert fault.number == 5


def test_a_ledger_that_is_written_anew_as_a_whole_shows_against_a_head_that_was_kept(root: Path) -> None:
    found = filled(root)
    head = found.head()

    def anew(entries: list[dict[str, Any]]) -> None:
        prev = START
        for number, entry in enumerate(entries):
            entries[number] = forged({**entry, "meta": {**entry["meta"], "who": "bot"}, "prev": prev})
            prev = entries[number]["hash"]

    rewrite(root, anew)
    assert found.verify().fault is None, "nothing in it tells"
    fault = found.verify(head).fault
    assert fault is not None
    assert head[:12] in fault.reason


@pytest.mark.parametrize("left", [0, 1, 5])
def test_that_the_end_was_cut_off_shows_against_a_head_that_was_kept(root: Path, left: int) -> None:
    found = filled(root)
    middle = json.loads(lines(root)[3])["hash"]
    head = found.head()
    assert found.verify(head).fault is None
    assert found.verify(middle).fault is None
    assert found.verify(START).fault is None
    [path] = files(root)
    path.write_bytes(b"".join(lines(root)[:left]))
    assert found.verify().fault is None
    fault = found.verify(head).fault
    assert fault is not None
    assert fault.number == left


def test_who_appends_to_what_was_cut_off_does_not_hide_it(root: Path) -> None:
    found = filled(root)
    head = found.head()
    [path] = files(root)
    path.write_bytes(b"".join(lines(root)[:4]))
    for _ in range(5):
        found.append("change_applied", {})
    assert found.verify().fault is None
    assert found.verify(head).fault is not None


def test_a_new_file_is_begun_where_one_is_large_and_the_chain_goes_on(root: Path) -> None:
    found = filled(root, 30, largest=1_000)
    assert len(files(root)) > 3
    assert [path.name[:6] for path in files(root)] == [f"{number:06}" for number in range(1, len(files(root)) + 1)]
    assert all(path.stat().st_size < 1_500 for path in files(root))
    assert (found.verify().entries, found.verify().fault) == (30, None)
    assert numbers(found) == list(range(30))
    assert found.verify(json.loads(lines(root)[4])["hash"]).fault is None


@pytest.mark.parametrize(("gone", "number", "reason"), [(0, 1, "number 1, is gone"), (1, 5, "number 2, is gone")])
def test_a_file_that_is_gone_shows(root: Path, gone: int, number: int, reason: str) -> None:
    found = filled(root, 20, largest=1_000)
    one = len(files(root)[0].read_bytes().splitlines())
    files(root)[gone].unlink()
    fault = found.verify().fault
    assert fault is not None
    assert (fault.number, fault.line) == (1 if gone == 0 else one + 1, 1)
    assert reason in fault.reason


def test_the_last_file_that_is_gone_shows_against_a_head(root: Path) -> None:
    found = filled(root, 20, largest=1_000)
    head = found.head()
    files(root)[-1].unlink()
    assert found.verify().fault is None
    assert found.verify(head).fault is not None


def test_files_that_change_places_show(root: Path) -> None:
    found = filled(root, 20, largest=1_000)
    first, second = files(root)[1:3]
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)
    fault = found.verify().fault
    assert fault is not None
    assert (fault.file, fault.line) == (first.name, 1)


def test_an_older_file_that_is_cut_off_in_a_line_shows(root: Path) -> None:
    found = filled(root, 20, largest=1_000)
    first = files(root)[0]
    first.write_bytes(first.read_bytes()[:-1])
    fault = found.verify().fault
    assert fault is not None
    assert fault.file == first.name
    assert "cut off" in fault.reason


@pytest.mark.parametrize("torn", [b"{", b'{"ts":"2026', b"\0" * 5_000, b"x" * 300_000])
def test_the_torn_end_of_a_crash_is_no_entry_and_goes_with_the_next(root: Path, torn: bytes) -> None:
    found = filled(root, 3)
    [path] = files(root)
    whole, head = path.read_bytes(), found.head()
    path.write_bytes(whole + torn)
    assert (found.head(), found.verify().entries, found.verify().fault) == (head, 3, None)
    assert numbers(found) == [0, 1, 2]
    found.append("change_applied", {"number": 3})
    assert path.read_bytes().startswith(whole + b'{"ts":')
    assert (found.verify(head).entries, found.verify(head).fault) == (4, None)


def test_a_torn_first_entry_goes_too_and_so_does_one_of_a_new_file(root: Path) -> None:
    found = filled(root, 1)
    [path] = files(root)
    path.write_bytes(path.read_bytes()[:-10])
    assert found.head() == START
    found.append("change_applied", {"number": 0})
    assert found.verify().entries == 1
    second = path.with_name(path.name.replace("000001", "000002"))
    second.write_bytes(b'{"ts"')
    head = found.head()
    assert json.loads(lines(root)[0])["hash"] == head
    found.append("change_applied", {"number": 1})
    assert (found.verify(head).entries, found.verify().fault) == (2, None)
    assert numbers(found) == [0, 1]


def test_what_is_appended_behind_a_damaged_entry_does_not_mend_it(root: Path) -> None:
    found = filled(root, 3)
    [path] = files(root)
    path.write_bytes(b"".join([*lines(root)[:2], b"damaged\n"]))
    found.append("change_applied", {"number": 9})
    fault = found.verify().fault
    assert fault is not None
    assert (fault.number, fault.reason) == (3, "it is no entry")
    assert len(lines(root)) == 4


def test_long_texts_and_lists_are_cut(root: Path) -> None:
    found = ledger(root)
    found.append("change_refused", {"why": "x" * 1_000_000, "symbols": [f"app.f{n}" for n in range(10_000)], "n": 3})
    [entry] = found.newest()
    assert isinstance(entry, Event)
    assert len(entry.meta["why"]) == 501
    assert entry.meta["symbols"][-1] == "… and 9,950 more"
    assert entry.meta["n"] == 3
    assert found.verify().fault is None


@pytest.mark.parametrize("what", ["the folder", "a file", "a new file", "the lock"])
@pytest.mark.parametrize("kind", ["a link", "a file", "a folder", "a pipe"])
def test_something_else_in_the_place_is_refused_and_left(root: Path, tmp_path: Path, what: str, kind: str) -> None:
    found = filled(root, 2)
    place = {"the folder": folder(root), "the lock": folder(root) / "lock"}.get(what, files(root)[0])
    if kind == ("a folder" if what == "the folder" else "a file"):
        kind = "a link"  # the other would be no obstacle
    away = tmp_path / "away"
    place.rename(away)
    if what == "a new file":
        away.rename(place)
        found = ledger(root, largest=1)
        place = place.with_name(place.name.replace("000001", "000002"))
        (away.mkdir if kind == "a folder" else away.touch)()
    if kind == "a link":
        place.symlink_to(away)
    elif kind == "a folder":
        place.mkdir()
    elif kind == "a pipe":
        os.mkfifo(place)
    else:
        place.write_bytes(b"")
    before = _picture(tmp_path)
    with pytest.raises(OSError, match=r"."):
        found.append("change_applied", {})
    assert _picture(tmp_path) == before
    if what == "the folder":
        with pytest.raises(OSError, match="not ours"):
            found.verify()
    elif what != "the lock":
        fault = found.verify().fault
        assert fault is not None
        assert "cannot be read" in fault.reason


def _picture(place: Path) -> dict[str, Any]:
    paths = [path for path in place.rglob("*") if path.is_symlink() or not path.is_dir()]
    return {str(path): path.is_file() and path.read_bytes() for path in paths}


def test_a_file_with_another_id_is_none_of_it(root: Path) -> None:
    found = filled(root, 2)
    [path] = files(root)
    other = path.with_name(f"000002-{'0' * 32}.jsonl")
    other.write_bytes(path.read_bytes())
    (path.parent / "000003.jsonl").write_bytes(b"x\n")
    assert (found.verify().entries, found.verify().fault) == (2, None)
    found.append("change_applied", {"number": 2})
    assert numbers(found) == [0, 1, 2]
    assert other.read_bytes() in path.read_bytes()


def test_eight_processes_append_at_once_and_no_entry_is_lost(root: Path) -> None:
    ledger(root).append("change_applied", {})
    line = [sys.executable, "-c", APPENDING, str(root), "40"]
    started = [_started([*line, str(number)]) for number in range(8)]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    heads = [each for process in started for each in process.communicate("\n", timeout=60)[0].split()]
    assert [process.returncode for process in started] == [0] * 8
    verdict = ledger(root).verify()
    assert (verdict.entries, verdict.fault) == (321, None)
    hashes = [json.loads(line)["hash"] for line in lines(root)]
    assert sorted(hashes[1:]) == sorted(heads)
    assert len(files(root)) > 10
    for who in map(str, range(8)):
        own = [each["meta"]["number"] for line in lines(root) if (each := json.loads(line))["meta"].get("who") == who]
        assert own == list(range(40))


def _started(line: list[str]) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    return subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True)


@pytest.mark.parametrize("seconds", [0.0, 0.001, 0.003, 0.01, 0.03])
def test_what_was_acknowledged_to_a_process_that_is_killed_is_there(root: Path, seconds: float) -> None:
    with _started([sys.executable, "-c", APPENDING, str(root), "100000", "ana"]) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.stdin.write("\n")
        process.stdin.flush()
        first = process.stdout.readline()
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        heads = [first.strip(), *process.stdout.read().split()]
    found = ledger(root, largest=2_000)
    found.append("change_applied", {"number": -1})
    hashes = [json.loads(line)["hash"] for line in lines(root)]
    whole = [each for each in heads if len(each) == 64]
    assert hashes[: len(whole)] == whole
    assert 0 <= len(hashes) - len(whole) - 1 <= 1, "one more was written at most, and not acknowledged"
    assert found.verify().fault is None


def test_on_a_full_disk_nothing_of_an_entry_is_there_and_the_next_one_follows(root: Path) -> None:
    found = filled(root, 20)
    [path] = files(root)
    before = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 50, limits[1]))
        with pytest.raises(OSError, match=r"space|large"):  # 50 bytes of it found room
            found.append("change_applied", {"number": 20})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == before
    found.append("change_applied", {"number": 20})
    assert (found.verify().entries, found.verify().fault) == (21, None)


@pytest.mark.parametrize("failure", [OSError(5, "broken"), KeyboardInterrupt()])
def test_an_entry_that_cannot_be_made_durable_is_taken_back(
    root: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    found = filled(root, 2)
    [path] = files(root)
    before = path.read_bytes()

    def fails(_: int) -> None:
        raise failure

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(type(failure)):
        found.append("change_applied", {})
    assert path.read_bytes() == before


def test_a_ledger_that_another_process_holds_for_too_long_is_busy(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = filled(root, 1)
    monkeypatch.setattr("bae_source.approval.ledger.PATIENCE", 0.05)
    with project_lock(folder(root) / "lock", wait=0, pid=os.getpid()), pytest.raises(Refused) as caught:
        found.append("change_applied", {})
    assert caught.value.code == "busy"
    assert found.verify().entries == 1
