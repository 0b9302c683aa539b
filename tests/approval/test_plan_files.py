"""Files of kept plans that are damaged, forged, in the way or cannot be written: nothing is lost in silence."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from zlib import crc32

import pytest

from bae_source import Source
from bae_source.approval.plans import Plans
from bae_source.approval.proposals import Proposal, State
from bae_source.errors import LookupFailed
from tests.another_user import AnotherUser, another_user, open_folder
from tests.approval.support import FIRST, died_writing, everything, name, plans_of, proposal, refusal
from tests.plan_files import asked, plan_files

pytestmark = pytest.mark.sampled


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "core.py").write_text("def f():\n    return 1\n")
    return root


@pytest.fixture
def plans(root: Path) -> Plans:
    return plans_of(root)


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
def test_a_damaged_file_is_set_aside_and_reported_and_never_taken_for_none(
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
    assert [each.id for each in left] == [each.id for each in rest]
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


def test_a_damaged_file_is_found_by_the_first_write_as_well(root: Path, plans: Plans) -> None:
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


def test_random_bytes_in_the_file_lose_plans_only_with_a_notice(root: Path, plans: Plans, whole: bool) -> None:
    added = [proposal(number, reason=f"reason of {number}", diff="+x\n" * 2_000) for number in range(1, 30)]
    for each in added:
        plans.add(each)
    [path] = plan_files(root)
    content = path.read_bytes()
    chance = random.Random(7)
    for _ in range(150 if whole else 40):
        spoiled = bytearray(content)
        start = chance.randrange(len(content))
        size = chance.choice((1, 8, 300, 5_000))
        spoiled[start : start + size] = chance.randbytes(len(spoiled[start : start + size]))
        path.write_bytes(spoiled)
        for _ in range(2):  # what one look finds damaged is gone for the next
            listed = [each.id for each in plans.listed()]
            found = [each for number in range(1, 30) if (each := found_or_none(plans, name(number))) is not None]
            assert all(each in added for each in found), start
            assert found == added or plans.notices(), start
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
    listed = stranger.run("-c", f"{begin} print([each.id for each in plans.listed()])", folder=root)
    assert listed.stdout.decode().strip() == f"['{FIRST}']", listed.stderr
    for what in (f"plans.move('{FIRST}', State.APPROVED)", f"add('{name(2)}')"):
        refused = stranger.run("-c", f"{begin} {what}", folder=root)
        assert b"Refused: The proposals cannot be kept or read: permission denied" in refused.stderr, refused
    still = stranger.run("-c", f"{begin} print(plans.get('{FIRST}').state, len(plans.listed()))", folder=root)
    assert still.stdout.decode().split() == ["awaiting_approval", "1"]
    folder.chmod(0o700)
