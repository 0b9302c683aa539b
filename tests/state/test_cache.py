"""The cache: true rows or none, whoever else uses it and whatever happens to its file."""

from __future__ import annotations

import _sqlite3
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from bae_source.state.cache import Cache, Seen
from bae_source.state.folders import StateFolders
from tests.another_user import AnotherUser
from tests.state_folders import state_folders

DAMAGES = ["truncated", "halved", "random", "text", "empty", "folder", "other tables", "other types"]
DIGESTS = [f"{number:064x}" for number in range(1, 2001)]


@pytest.fixture
def folders(tmp_path: Path) -> StateFolders:
    return state_folders(tmp_path)


def cache(folders: StateFolders, key: str = "one") -> Cache:
    return Cache(folders, key=key)


def filled(folders: StateFolders) -> Cache:
    found = cache(folders)
    found.keep(files={"a.py": Seen("1 2 3 4", DIGESTS[0])}, facts=[("summary", DIGESTS[0], b"facts of a")])
    return found


def holds(found: Cache) -> bool:
    return found.digests(["a.py"]) == {"a.py": Seen("1 2 3 4", DIGESTS[0])} and found.facts("summary", DIGESTS[:1]) == {
        DIGESTS[0]: b"facts of a"
    }


def empty(found: Cache) -> bool:
    return not found.digests(["a.py"]) and not found.facts("summary", DIGESTS[:1])


def test_what_is_kept_is_found_by_another_process(folders: StateFolders) -> None:
    filled(folders)
    code = (
        "import sys; from pathlib import Path\n"
        "from bae_source.state.cache import Cache\n"
        "from tests.state_folders import state_folders\n"
        "cache = Cache(state_folders(Path(sys.argv[1])), key='one')\n"
        "print(cache.digests(['a.py']), cache.facts('summary', [sys.argv[2]]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(folders.root), DIGESTS[0]], capture_output=True, text=True)
    assert "facts of a" in done.stdout
    assert "1 2 3 4" in done.stdout
    assert done.stderr == ""


def test_readers_and_a_writer_share_it_from_the_first_row_on(folders: StateFolders) -> None:
    found = filled(folders)
    other = sqlite3.connect(found.path, timeout=0)
    assert other.execute("PRAGMA journal_mode").fetchall() == [("wal",)]
    other.execute("BEGIN IMMEDIATE")  # somebody writes
    third = cache(folders)
    assert holds(third)
    for each in (other, third, found):
        each.close()
    assert [path.suffix for path in folders.local.glob("facts-*")] == [".sqlite"]


def test_asking_makes_nothing(folders: StateFolders) -> None:
    assert empty(cache(folders))
    assert not folders.local.exists()


def test_kinds_and_keys_are_apart(folders: StateFolders) -> None:
    found = filled(folders)
    assert found.facts("uses", DIGESTS[:1]) == {}
    assert empty(cache(folders, "two"))
    assert holds(cache(folders))


def test_many_paths_and_digests_are_asked_for_at_once(folders: StateFolders) -> None:
    found = cache(folders)
    files = {f"p{number}.py": Seen(str(number), digest) for number, digest in enumerate(DIGESTS)}
    found.keep(files=files, facts=[("summary", digest, digest.encode()) for digest in DIGESTS])
    assert found.digests(list(files)) == files
    assert found.facts("summary", DIGESTS) == {digest: digest.encode() for digest in DIGESTS}


def test_a_path_of_any_bytes_can_be_kept(folders: StateFolders) -> None:
    found = cache(folders)
    seen = Seen("18446744073709551615 -1 0 18446744073709551615", DIGESTS[3])
    found.keep(files={os.fsdecode(b"\xff\xfe.py"): seen})
    assert found.digests([os.fsdecode(b"\xff\xfe.py")]) == {os.fsdecode(b"\xff\xfe.py"): seen}


def test_rows_of_vanished_files_are_dropped_and_their_facts_once_they_are_many(folders: StateFolders) -> None:
    found = cache(folders)
    files = {f"p{number}.py": Seen(str(number), digest) for number, digest in enumerate(DIGESTS[:600])}
    found.keep(files=files, facts=[("summary", digest, b"x") for digest in DIGESTS[:600]])
    left = dict(list(files.items())[:500])
    found.keep(files={}, present=left)
    assert found.digests(list(files)) == left
    assert len(found.facts("summary", DIGESTS[:600])) == 600, "a branch may come back"
    found.keep(files={}, present=["p0.py"])
    assert list(found.facts("summary", DIGESTS[:600])) == DIGESTS[:1]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("live", [True, False])
def test_a_damaged_file_is_done_without_and_made_anew(folders: StateFolders, damage: str, live: bool) -> None:
    found = filled(folders)
    if not live:
        found.close()
        found = cache(folders)
    _damage(found.path, damage)
    assert found.digests(["a.py"]) in ({}, {"a.py": Seen("1 2 3 4", DIGESTS[0])})
    assert found.facts("summary", DIGESTS[:1]) in ({}, {DIGESTS[0]: b"facts of a"})
    for _ in range(3):
        found.keep(files={"a.py": Seen("1 2 3 4", DIGESTS[0])}, facts=[("summary", DIGESTS[0], b"facts of a")])
    assert holds(cache(folders)) or damage == "folder"


def _damage(path: Path, how: str) -> None:
    content = path.read_bytes()
    if how in ("other tables", "other types"):
        sqlite = sqlite3.connect(path)
        sqlite.execute("DROP TABLE files")
        sqlite.execute(
            "CREATE TABLE files (path, stamp, digest, check_sum)" if how == "other types" else "CREATE TABLE x (y)"
        )
        if how == "other types":
            sqlite.execute("INSERT INTO files VALUES (?, ?, ?, ?)", (b"a.py", 3, "text", "x"))
        sqlite.commit()
        sqlite.close()
        return
    for end in ("-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    path.unlink()
    if how == "folder":
        path.mkdir()
    elif how == "random":
        path.write_bytes(random.Random(1).randbytes(len(content)))
    else:
        path.write_bytes(
            {"truncated": content[:100], "halved": content[: len(content) // 2], "text": b"no database"}.get(how, b"")
        )


def test_one_that_came_with_a_copy_of_the_project_is_not_believed(folders: StateFolders, tmp_path: Path) -> None:
    filled(folders).close()
    shutil.copytree(folders.root, tmp_path / "copy")
    copied = cache(state_folders(tmp_path / "copy"))
    assert list(copied.folders.local.glob("facts-*.sqlite"))
    assert empty(copied)
    filled(copied.folders)
    assert empty(copied)
    shutil.rmtree(copied.folders.local)
    filled(copied.folders)
    assert holds(copied)


def test_a_row_that_does_not_prove_itself_is_no_row(folders: StateFolders) -> None:
    found = filled(folders)
    found.close()
    sqlite = sqlite3.connect(found.path)
    sqlite.execute("UPDATE facts SET content = ?", (b"facts of b",))
    sqlite.execute("UPDATE files SET stamp = ?", ("1 2 3 5",))
    sqlite.commit()
    sqlite.close()
    assert empty(cache(folders))


@pytest.mark.parametrize("what", ["the file", "the folder"])
def test_deleting_it_while_it_is_in_use_loses_nothing(folders: StateFolders, what: str) -> None:
    found = filled(folders)
    if what == "the file":
        found.path.unlink()
    else:
        shutil.rmtree(folders.local)
    assert empty(found)
    found.keep(files={"a.py": Seen("1 2 3 4", DIGESTS[0])}, facts=[("summary", DIGESTS[0], b"facts of a")])
    assert holds(found)
    assert holds(cache(folders))


def test_a_cache_that_another_process_writes_is_read_and_not_waited_for_long(folders: StateFolders) -> None:
    found = filled(folders)
    other = sqlite3.connect(found.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert holds(found)
    found.keep(files={"b.py": Seen("1", DIGESTS[1])})
    assert found.digests(["b.py"]) == {}
    other.execute("ROLLBACK")
    found.keep(files={"b.py": Seen("1", DIGESTS[1])})
    assert found.digests(["b.py"]) == {"b.py": Seen("1", DIGESTS[1])}
    other.close()


def test_one_that_is_locked_whole_is_done_without(folders: StateFolders) -> None:
    found = filled(folders)
    found.close()
    other = sqlite3.connect(found.path, isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    assert empty(cache(folders))
    other.close()
    assert holds(cache(folders)), "and it is still there afterwards"


def test_where_nothing_can_be_written_nothing_is_kept(folders: StateFolders) -> None:
    folders.root.joinpath(".bae-source").write_text("in the way")
    found = filled(folders)
    assert empty(found)


def test_a_folder_of_another_user_is_left_and_a_cache_of_ones_own_lies_elsewhere(
    another_user: AnotherUser, open_folder: Path
) -> None:
    folders = state_folders(open_folder)
    filled(folders).close()
    code = (
        "import sys; from pathlib import Path\n"
        "from bae_source.state.cache import Cache, Seen\n"
        "import os\nfrom bae_source.state.binding import UserState\n"
        "from bae_source.state.folders import StateFolders\n"
        "folders = StateFolders(Path(sys.argv[1]), UserState(os.environ))\n"
        "cache = Cache(folders, key='one')\n"
        "cache.keep(files={'b.py': Seen('1', sys.argv[2])})\n"
        "print(len(cache.digests(['a.py'])), cache.digests(['b.py']))\n"
    )
    folders.local.chmod(0o555)
    done = another_user.run("-c", code, str(folders.root), DIGESTS[1], folder=open_folder)
    folders.local.chmod(0o755)
    assert done.stderr == b""
    assert done.stdout.startswith(b"0 {'b.py'" if os.geteuid() == 0 else b"0 {}")
    assert holds(cache(folders))
    assert cache(folders).digests(["b.py"]) == {}


def test_only_the_newest_few_files_of_other_versions_stay(folders: StateFolders) -> None:
    for number in range(6):
        cache(folders, str(number)).keep(files={"a.py": Seen("1", DIGESTS[0])})
    assert len(list(folders.local.glob("facts-*.sqlite"))) == 3
    assert cache(folders, "5").digests(["a.py"])


def test_only_so_many_of_a_kind_stay_if_that_is_asked_for(folders: StateFolders) -> None:
    kept = cache(folders)
    digests = [f"{number:064x}" for number in range(5)]
    kept.keep(files={}, facts=[("other", digests[0], b"x")])
    for digest in (*digests, digests[1]):
        kept.keep(files={}, facts=[("outline", digest, b"y")], newest={"outline": 2})
    assert sorted(kept.facts("outline", digests)) == [digests[1], digests[4]]
    assert kept.facts("other", digests) == {digests[0]: b"x"}


def test_few_pages_are_held_in_memory_but_while_rows_are_added(
    folders: StateFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    connections: list[sqlite3.Connection] = []
    connect = _sqlite3.connect

    def noted(*given: Any, **how: Any) -> sqlite3.Connection:
        connections.append(connect(*given, **how))
        return connections[-1]

    def pages() -> int:
        return int(connections[-1].execute("PRAGMA cache_size").fetchone()[0])

    found = cache(folders)
    filled(folders).close()
    monkeypatch.setattr(_sqlite3, "connect", noted)
    assert holds(found)
    assert pages() == -256
    found.keep(files={}, facts=[("summary", DIGESTS[1], b"more")])
    assert pages() == -2000
    assert len(connections) == 1


def test_a_forked_child_has_a_connection_of_its_own(folders: StateFolders) -> None:
    found = filled(folders)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        found.keep(files={"b.py": Seen("1", DIGESTS[1])})
        os.write(writer, b"y" if holds(found) else b"n")
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 1) == b"y"
    assert found.digests(["b.py"]) == {"b.py": Seen("1", DIGESTS[1])}


def test_several_threads_ask_at_once(folders: StateFolders) -> None:
    found, problems = filled(folders), []

    def work(number: int) -> None:
        for round_ in range(30):
            digest = DIGESTS[number * 30 + round_]
            found.keep(files={f"t{number}.py": Seen(str(round_), digest)}, facts=[("summary", digest, digest.encode())])
            if found.facts("summary", [digest]) != {digest: digest.encode()}:
                problems.append(digest)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []


STRESS = """
import hashlib, os, random, sys
from pathlib import Path
from typing import Any
from bae_source.state import cache as caches
from bae_source.state.cache import Cache, Seen
from bae_source.state.folders import StateFolders
from tests.state_folders import state_folders

cache = Cache(state_folders(Path(sys.argv[1])), key="one")
chance = random.Random(sys.argv[2])
found = 0
for _ in range(int(sys.argv[4])):
    number = chance.randrange(40)
    content = f"content {number} {chance.randrange(5)}"
    digest = hashlib.sha256(content.encode()).hexdigest()
    kept = cache.facts("summary", [digest])
    assert kept.get(digest, content.encode()) == content.encode()
    found += len(kept)
    seen = cache.digests([f"{number}.py"])
    assert all(each.stamp == each.digest[:8] for each in seen.values()), seen
    cache.keep(files={f"{number}.py": Seen(digest[:8], digest)}, facts=[("summary", digest, content.encode())],
               present=[f"{n}.py" for n in range(40)])
    if chance.random() < float(sys.argv[3]):
        for path in cache.folders.local.glob("facts-*"):
            if chance.random() < 0.5:
                path.unlink(missing_ok=True)
print(found)
"""


@pytest.mark.parametrize("deleting", ["0", "0.1"])
def test_several_processes_never_see_what_is_not_true(folders: StateFolders, deleting: str) -> None:
    started = [
        subprocess.Popen(
            [sys.executable, "-c", STRESS, str(folders.root), str(seed), deleting, "150"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for seed in range(5)
    ]  # fmt: skip
    answers = [process.communicate(timeout=120) for process in started]
    assert [err for _, err in answers] == [""] * 5
    assert all(int(out) > 0 for out, _ in answers)


def test_a_process_that_is_killed_while_it_writes_leaves_true_rows(folders: StateFolders) -> None:
    for _ in range(8):
        process = subprocess.Popen(
            [sys.executable, "-c", STRESS, str(folders.root), "1", "0", "1000000"], stdout=subprocess.DEVNULL
        )
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.35)
        process.kill()
        process.wait()
    done = subprocess.run(
        [sys.executable, "-c", STRESS, str(folders.root), "2", "0", "150"], capture_output=True, text=True
    )
    assert done.stderr == ""
