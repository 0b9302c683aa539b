"""The index: always the facts of the bytes that are there, each worked out once."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import Refused, ResourceError, SourceError
from bae_source.project.facts import index, kinds
from bae_source.project.facts.kept import Kept, Recent, Trees
from bae_source.project.facts.kinds import SUMMARY, USES, FactKind
from bae_source.project.files.port import Disk, Stamp
from bae_source.project.workspace import Workspace
from bae_source.state.cache import Cache
from bae_source.syntax.names.uses import Uses
from bae_source.syntax.outline.summary import Summary, summarise
from tests.another_user import AnotherUser
from tests.architecture import read
from tests.memory import Memory
from tests.project.support import settle
from tests.state_folders import state_folders

pytestmark = pytest.mark.sampled


class Engine:
    """What a service keeps, with a count of the files whose facts were worked out."""

    def __init__(self, root: Path, *, cached: bool = True) -> None:
        self.root = root
        self.clock: Callable[[], int] = time.time_ns
        cache = Cache(state_folders(root), key="test")
        self.kept = Kept(
            cache=(lambda: cache) if cached else None, clock=lambda: self.clock(), timer=time.perf_counter_ns
        )

    def workspace(self, **more: dict[str, bytes]) -> Workspace:
        return Workspace(Disk(self.root), kept=self.kept, **more)  # type: ignore[arg-type]

    def names(self) -> dict[str, list[str] | str]:
        """What every file defines, or the code of the error; it must be what a fresh look says."""
        found = _names(self.workspace())
        assert found == _names(Workspace(Disk(self.root)))
        return found

    def worked_out(self) -> int:
        return len(self.kept.timings.taken())


def _names(space: Workspace) -> dict[str, list[str] | str]:
    return {
        path: found.code if isinstance(found, ResourceError) else [entry.names[0] for entry in found.entries]
        for path, found in space.index.summaries(space.census.paths)
    }


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for number in range(5):
        (tmp_path / f"m{number}.py").write_text(f"def f{number}():\n    return {number}\n")
    return tmp_path


def test_facts_come_in_the_order_asked_and_errors_with_them(root: Path) -> None:
    (root / "m1.py").write_text("def f(:\n")
    (root / "m3.py").write_bytes(b"x = '\xff'\n")
    found = list(Engine(root).workspace().index.summaries(["m4.py", "m1.py", "m3.py", "m0.py", "none.py", "m4.py"]))
    assert [path for path, _ in found] == ["m4.py", "m1.py", "m3.py", "m0.py", "none.py", "m4.py"]
    codes = [error.code if isinstance(error, ResourceError) else "" for _, error in found]
    assert codes == ["", "syntax_invalid", "encoding_invalid", "", "stale", ""]
    error = found[1][1]
    assert isinstance(error, SourceError)
    assert error.message.startswith("m1 does not parse: line 1")
    assert error.details["module"] == "m1"
    assert error.hints


def test_one_file_raises_what_many_yield(root: Path) -> None:
    (root / "m1.py").write_text("def f(:\n")
    space = Engine(root).workspace()
    assert space.index.summary("m0.py").entries[0].names == ("f0",)
    with pytest.raises(SourceError, match="m1 does not parse"):
        space.index.summary("m1.py")


def test_nothing_is_worked_out_twice_in_an_engine(root: Path) -> None:
    engine = Engine(root, cached=False)
    engine.names()
    assert engine.worked_out() == 5
    engine.names()
    assert engine.worked_out() == 0


def test_nothing_is_worked_out_twice_in_several_processes(root: Path) -> None:
    (root / "m1.py").write_text("def f(:\n")
    first = Engine(root)
    first.names()
    assert first.worked_out() == 5
    second = Engine(root)
    second.names()
    assert second.worked_out() == 0, "what does not parse is remembered, too"


def test_a_file_at_rest_is_not_even_read_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle(root, monkeypatch)
    Engine(root).names()

    def read_stamped(self: Disk, path: str) -> None:
        raise AssertionError(f"{path} was read")

    engine = Engine(root)
    monkeypatch.setattr(Disk, "read_stamped", read_stamped)
    assert len(_names(engine.workspace())) == 5
    assert engine.worked_out() == 0


def test_equal_contents_are_worked_out_once(root: Path) -> None:
    for number in range(5, 30):
        (root / f"m{number}.py").write_text("x = 1\n")
    engine = Engine(root)
    engine.names()
    assert engine.worked_out() == 6


def test_a_file_that_moved_or_was_touched_is_read_and_not_worked_out_again(root: Path) -> None:
    engine = Engine(root)
    engine.names()
    engine.worked_out()
    os.utime(root / "m0.py", ns=(1, 1))
    (root / "m1.py").rename(root / "moved.py")
    engine.names()
    assert engine.worked_out() == 0


CHANGES: dict[str, Callable[[Path], object]] = {
    "longer": lambda path: path.write_text("def longer_name():\n    pass\n"),
    "of the same size": lambda path: path.write_text("def g0():\n    return 0\n"),
    "of the same size and time": lambda path: _same_time(path, "def h0():\n    return 0\n"),
    "replaced": lambda path: _replaced(path, "def i0():\n    return 0\n"),
    "broken": lambda path: path.write_text("def f0(:\n    return 0\n"),
    "not readable as text": lambda path: path.write_bytes(b"x = '\xff'\n"),
    "gone": lambda path: path.unlink(),
    "empty": lambda path: path.write_text(""),
}


def _same_time(path: Path, text: str) -> None:
    status = path.stat()
    path.write_text(text)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def _replaced(path: Path, text: str) -> None:
    status = path.stat()
    other = path.with_name("other")
    other.write_text(text)
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.replace(path)


@pytest.mark.parametrize("rested", [True, False])
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen_by_every_engine(
    root: Path, monkeypatch: pytest.MonkeyPatch, change: str, rested: bool
) -> None:
    if rested:
        settle(root, monkeypatch)
    live = Engine(root)
    before = live.names()
    CHANGES[change](root / "m0.py")
    assert live.names() != before
    assert Engine(root).names() == live.names()


def test_changes_within_a_tick_of_the_clock_are_seen(root: Path) -> None:
    """As git has it: a file written again right after it was read keeps its stamp on a coarse clock."""
    engine, chance = Engine(root), random.Random(3)
    for _ in range(60):
        name = chance.choice("pqrs")
        (root / "m0.py").write_text(f"def {name}():\n    return 0\n")
        assert engine.names()["m0.py"] == [name]
        assert Engine(root).names()["m0.py"] == [name]


def test_a_stamp_that_did_not_tell_of_a_change_was_never_trusted(root: Path) -> None:
    """The clock of the file system stands still: two contents with one stamp."""
    path = root / "m0.py"
    engine = Engine(root)
    before = path.stat()
    written = before.st_ctime_ns
    engine.clock = lambda: written + 1_000_000
    engine.names()
    assert "m0.py" not in engine.kept.seen
    engine.clock = lambda: written + 3_000_000_000
    engine.names()
    assert engine.kept.seen["m0.py"].digest


def test_planned_text_has_facts_of_its_own_and_leaves_those_of_the_file(root: Path) -> None:
    engine = Engine(root)
    engine.names()
    planned = engine.workspace(overlay={"m0.py": b"def planned(): pass\n"})
    assert planned.index.summary("m0.py").entries[0].names == ("planned",)
    assert engine.workspace().index.summary("m0.py").entries[0].names == ("f0",)
    assert Engine(root).names()["m0.py"] == ["f0"]


def test_an_edit_within_the_process_is_seen_by_it_and_by_others(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle(root, monkeypatch)
    live, other = Source(root), Source(root)
    assert "f0" in live.glob("m0.*")
    assert "f0" in other.glob("m0.*")
    live.insert("m0.f0", "def added():\n    return 0\n", reload="off")
    for source in (live, other, Source(root)):
        assert "m0.added" in source.glob("m0.*").splitlines()
    live.undo(reload="off")
    for source in (live, other, Source(root)):
        assert "m0.added" not in source.glob("m0.*").splitlines()


@pytest.mark.parametrize("kind", [SUMMARY, USES], ids=lambda kind: kind.name)
def test_what_is_kept_is_what_is_worked_out(kind: FactKind[object]) -> None:
    content = Path(index.__file__).read_bytes()
    value = kind.decode(kind.extract(content))
    assert not isinstance(value, SourceError)
    assert kind.decode(kind.extract(content)) == value
    if kind is SUMMARY:
        tree = Trees().get(content)
        assert value == summarise(tree)


def test_an_error_is_kept_with_all_it_says() -> None:
    for content in (b"def f(:\n", b"'\xff'", b"x = '\0'"):
        kept = SUMMARY.decode(SUMMARY.extract(content))
        assert isinstance(kept, SourceError)
        with pytest.raises(SourceError) as caught:
            Trees().get(content)
        assert kept == caught.value


def test_uses_are_kept_beside_summaries(root: Path) -> None:
    engine = Engine(root)
    space = engine.workspace()
    assert [path for path, _ in space.index.uses_of(space.census.paths)] == list(space.census.paths)
    assert engine.worked_out() == 5
    assert space.index.uses("m0.py").owners == ("", "f0")
    assert Engine(root).workspace().index.uses("m0.py") == space.index.uses("m0.py")
    engine.names()
    assert engine.worked_out() == 5


def test_facts_that_no_longer_fit_are_worked_out_again(root: Path) -> None:
    engine = Engine(root)
    engine.names()
    cache = engine.kept.cache
    assert cache is not None
    digest = engine.workspace().kept.trees.get((root / "m0.py").read_bytes()).source.digest
    cache.keep(files={}, facts=[("summary", digest, b"\x01\xc1"), ("uses", digest, b"")])
    assert Engine(root).names()["m0.py"] == ["f0"]
    assert Engine(root).workspace().index.uses("m0.py").owners == ("", "f0")


def test_the_key_tells_of_our_own_code_and_of_python(monkeypatch: pytest.MonkeyPatch) -> None:
    first = kinds.key()
    assert kinds.key() == first
    assert "summary.py" in first
    assert "libcst-" in first
    monkeypatch.setattr(sys, "version_info", (3, 99, 0, "final", 0))
    assert kinds.key() != first


def test_the_key_names_every_module_that_facts_walks_and_listings_come_from() -> None:
    kept = (
        "syntax.outline.summary", "syntax.names.kept", "syntax.names.reading", "syntax.outline.wording",
        "syntax.importing.on_import", "project.files.walk", "project.facts.mentions", "project.interfaces.listings",
        "project.files.data_listing", "project.references.classes.bases",
    )  # fmt: skip
    handing_on = {"facts.index", "workspace", "naming.not_found"}  # others' work, and errors
    modules = read(Path(kinds.__file__).parents[2])
    paths = {line.split(" ")[0] for line in kinds.key().splitlines()}
    reached, waiting = set[str](), [f"bae_source.{name}" for name in kept]
    while waiting:
        name = waiting.pop()
        if name not in reached and name.removeprefix("bae_source.project.") not in handing_on:
            reached.add(name)
            waiting += [each.target for each in modules[name].imports if each.target in modules]
    rooms = ("bae_source.model", "bae_source.project", "bae_source.syntax")
    deciding = [name for name in reached if name.startswith(rooms)]
    assert len(deciding) > len(kept)
    assert [name for name in deciding if modules[name].path not in paths] == []


def test_the_key_passes_over_where_nothing_can_be_imported_from(another_user: AnotherUser, open_folder: Path) -> None:
    places = {open_folder / name: mode for name, mode in {"closed": 0o000, "unlisted": 0o111, "open": 0o755}.items()}
    for number, (place, mode) in enumerate(places.items()):
        (place / "libcst").mkdir(parents=True)
        (place / f"libcst-{number}.0.dist-info").mkdir()
        place.chmod(mode)
    code = "import sys; from bae_source.project.facts.kinds import key; sys.path[:] = sys.argv[1:]; print(key())"
    try:
        done = another_user.run("-c", code, f"{open_folder}/nothing", *map(str, places), folder=open_folder)
    finally:
        for place in places:
            place.chmod(0o755)
    assert done.stderr == b""
    assert b"libcst-2.0.dist-info" in done.stdout.splitlines()


def test_a_file_of_gigantic_size_is_an_error_and_is_not_read(root: Path) -> None:
    with (root / "m0.py").open("wb") as file:
        file.truncate(3_000_000_000)
    found = Engine(root).names()
    assert found.pop("m0.py") == "not_lossless"
    assert "not_lossless" not in found.values()


def test_a_file_without_leave_is_an_error_in_the_answer(root: Path) -> None:
    class Guarded(Disk):
        def read_stamped(self, path: str) -> tuple[bytes, Stamp]:
            if path == "m2.py":
                raise Refused("forbidden", "The file may not be read.")
            return super().read_stamped(path)

    space = Workspace(Guarded(root))
    found = dict(space.index.summaries(space.census.paths))
    assert isinstance(found["m2.py"], Refused)
    assert sum(isinstance(each, Summary) for each in found.values()) == 4


def test_a_file_that_vanishes_between_the_census_and_the_reading_is_an_error(root: Path) -> None:
    space = Workspace(Disk(root))
    assert len(space.census.paths) == 5
    (root / "m0.py").unlink()
    found = dict(space.index.summaries(space.census.paths))["m0.py"]
    assert isinstance(found, Refused)
    assert (found.code, found.message) == ("stale", "m0 has gone while the project was read.")


def test_a_file_that_changes_after_its_facts_were_given_is_not_read_as_if_they_fitted(root: Path) -> None:
    space = Engine(root).workspace()
    space.index.summary("m0.py")
    (root / "m0.py").write_text("def other():\n    return 0\n")
    with pytest.raises(Refused) as caught:
        space.content("m0.py")
    assert caught.value.code == "stale"
    assert "m0 changed" in caught.value.message


@pytest.mark.parametrize("change", ["nothing", "stamp", "content", "gone"])
def test_a_file_is_believed_by_its_stamp_and_else_by_its_bytes(
    root: Path, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine(root)
    engine.clock = lambda: time.time_ns() + 10 * 10**9  # so that stamps are believed
    space = engine.workspace()
    space.index.summary("m0.py")
    content = (root / "m0.py").read_bytes()
    if change == "nothing":
        monkeypatch.setattr(index, "sha256", None)
    if change == "stamp":
        os.utime(root / "m0.py", ns=(1, 1))
    if change == "content":
        (root / "m0.py").write_bytes(content[::-1])
    if change == "gone":
        (root / "m0.py").unlink()
    if change in ("nothing", "stamp"):
        assert space.content("m0.py") == content
        return
    for _ in range(2):
        with pytest.raises(Refused, match="m0 changed") as caught:
            space.content("m0.py")
        assert caught.value.code == "stale"


def test_a_cache_deleted_while_an_engine_lives_loses_nothing(root: Path) -> None:
    engine = Engine(root)
    engine.names()
    shutil.rmtree(root / ".bae-source")
    (root / "m0.py").write_text("def new():\n    return 0\n")
    assert engine.names()["m0.py"] == ["new"]
    assert Engine(root).names() == engine.names()


def test_a_project_whose_cache_cannot_be_written_is_read_all_the_same(root: Path) -> None:
    (root / ".bae-source").write_text("in the way")
    assert len(Engine(root).names()) == 5


def test_files_that_have_gone_are_forgotten_once_they_are_many(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(root, cached=False)
    for number in range(600):
        (root / f"x{number}.py").write_text(f"x = {number}\n")
    settle(root, monkeypatch)
    engine.names()
    assert len(engine.kept.seen) == 605
    for path in root.glob("x*.py"):
        path.unlink()
    engine.names()
    assert len(engine.kept.seen) == 5


def test_without_a_clock_nothing_is_taken_from_the_request_before(root: Path) -> None:
    kept = Kept()
    for text in ("a", "b"):
        (root / "m0.py").write_text(f"{text} = 1\n")
        os.utime(root / "m0.py", ns=(1, 1))
        assert _names(Workspace(Disk(root), kept=kept))["m0.py"] == [text]
    assert kept.seen == {}


def test_the_most_recent_is_kept_within_bounds() -> None:
    recent: Recent[str] = Recent(100)
    for number in range(20):
        recent.put(number, str(number), 10)
        recent.get(0)
    assert recent.taken <= 100
    assert recent.get(0) == "0"
    assert recent.get(1) is None
    assert recent.get(19) == "19"
    recent.put(19, "large", 30)
    assert recent.get(19) is None, "one value may not push out all others"
    assert recent.taken <= 100


def test_several_threads_ask_one_engine(root: Path) -> None:
    for number in range(5, 60):
        (root / f"m{number}.py").write_text(f"def f{number}():\n    return {number}\n")
    engine, problems = Engine(root), []

    def ask() -> None:
        for _ in range(5):
            found = _names(engine.workspace())
            if found != {f"m{number}.py": [f"f{number}"] for number in range(60)}:
                problems.append(found)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []


WRITER = """
import random, sys, time
from pathlib import Path
root, chance = Path(sys.argv[1]), random.Random(1)
while True:
    number = chance.randrange(5)
    path = root / f"m{number}.py"
    other = root / f"m{number}.tmp"
    other.write_text(f"def f{number}():\\n    return {chance.random()}\\n")
    other.replace(path)
    time.sleep(0.002)
"""
READER = """
import sys
from bae_source import Source
for _ in range(40):
    text = Source(sys.argv[1]).glob("m*.*")
    assert text == "\\n".join(f"m{n}.f{n}" for n in range(5)), text
"""


def test_readers_in_several_processes_see_every_file_whole_while_it_is_written(root: Path) -> None:
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(root)])
    try:
        command = [sys.executable, "-c", READER, str(root)]
        readers = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]
        answers = [reader.communicate(timeout=60)[1] for reader in readers]
        assert (answers, [reader.returncode for reader in readers]) == ([""] * 3, [0] * 3)
        assert writer.poll() is None, "it wrote until the end"
    finally:
        writer.kill()
        writer.wait()


def test_memory_files_need_no_stamps() -> None:
    space = Workspace(Memory({"a.py": b"x = 1\n"}))
    assert space.index.summary("a.py").entries[0].names == ("x",)


def test_the_command_line_leaves_a_cache_that_the_api_uses(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bae_source", "glob", "m*.*", "--root", str(root), "--json"],
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout)["text"].splitlines() == [f"m{n}.f{n}" for n in range(5)]
    files = [path.name for path in (root / ".bae-source").glob("facts-*.sqlite")]
    assert len(files) == 1


def test_what_is_begun_beforehand_is_of_the_bytes_that_the_file_had_then(root: Path) -> None:
    space = Engine(root, cached=False).workspace()
    with space.index.expecting():
        space.index.begin("m0.py")
        (root / "m0.py").write_text("def other(): ...\n")
        assert [path for path, _ in space.index.uses_of(["m1.py"])] == ["m1.py"]
        [(_, found)] = space.index.uses_of(["m0.py"])
        assert isinstance(found, Uses)
        assert found.owners == ("", "f0")
        with pytest.raises(Refused, match="changed while the project was read"):
            space.content("m0.py")
    space = Engine(root, cached=False).workspace()
    space.index.begin("m1.py")
    (root / "m1.py").write_text("def other(): ...\n")
    assert space.index.uses("m1.py").owners == ("", "other"), "where nobody expects to ask for many"


@pytest.mark.parametrize("others", [3, 600])
def test_a_file_that_has_the_word_is_worked_on_while_the_next_ones_are_searched(tmp_path: Path, others: int) -> None:
    for number in range(others):
        text = f"def f{number}(): return word\n" if number % 2 else "def f(): ...\n"
        (tmp_path / f"m{number:03}.py").write_text(text)
    engine = Engine(tmp_path)
    space, begun = engine.workspace(), []
    with space.index.expecting():
        space.index.make_ready()
        found = space.index.naming(["word"], look=lambda content: begun.append(space.index.has_given("m001.py")))
        assert begun[1] is False
        assert begun[2] is True, "which is shown after the one that has the word"
        assert found.paths == tuple(f"m{number:03}.py" for number in range(1, others, 2))
        uses = dict(space.index.uses_of(found.paths))
    assert set(uses) == set(found.paths)
    again = Engine(tmp_path).workspace()
    assert {path: again.index.uses(path) for path in found.paths} == uses
    more, known = Engine(tmp_path).workspace(), []
    with more.index.expecting():
        more.index.make_ready()
        more.index.naming(["return"], look=lambda content: known.append(more.index.has_given("m001.py")))
        assert len(known) == others
        assert not any(known), "where something is kept it is looked up for all at once"
        assert dict(more.index.uses_of(found.paths)) == uses


def test_bytes_that_were_read_have_a_stamp_as_long_as_the_file_holds_them(root: Path) -> None:
    engine = Engine(root)
    space = engine.workspace()
    assert space.content("m0.py")
    assert space.stamp_of("m0.py") is None, "it was written just now"
    engine.clock = lambda: time.time_ns() + 10 * 10**9
    space = engine.workspace()
    assert space.content("m0.py")
    assert space.stamp_of("m0.py") == space.census.stamps["m0.py"]
    (root / "m0.py").write_text("def other(): ...\n")
    assert space.stamp_of("m0.py") is None
    planned = Workspace(Disk(root), overlay={"m0.py": b"def other(): ...\n"}, kept=engine.kept)
    assert planned.stamp_of("m0.py") is None, "though it is what the file holds"


def test_threads_may_look_for_different_names_of_one_source_at_once(tmp_path: Path) -> None:
    code = "import app\n\n\ndef f(x):\n    y = x\n    return y.send()\n\n\ndef g(x):\n    y = x\n    return y.take()\n"
    for number in range(6):
        (tmp_path / f"m{number}.py").write_text(code + "\n\ndef send(): ...\n\n\ndef take(): ...\n")
    names = [f"m{number}.{name}" for number in range(6) for name in ("send", "take", "f", "g")]
    alone = {name: Source(tmp_path).references(name).outcome for name in names}
    shutil.rmtree(tmp_path / ".bae-source")
    together = Source(tmp_path)
    with ThreadPoolExecutor(6) as threads:
        assert (
            dict(zip(names, threads.map(lambda name: together.references(name).outcome, names), strict=True)) == alone
        )
