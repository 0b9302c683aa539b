"""What the kernel tells of folders: everything that comes or goes, and nothing where that is not sure."""

from __future__ import annotations

import ctypes
import errno
import gc
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

import pytest

from bae_source.engine.service import Service, request
from bae_source.model.context import Context
from bae_source.project.files import folder_watch
from bae_source.project.files.census import Census
from bae_source.project.files.folder_watch import FolderWatch
from bae_source.project.files.layout import layout_of
from bae_source.project.files.port import Disk, Folder, Stamp
from bae_source.project.files.walk import Walk, census_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")

FOLDERS = ("", "a", "a/b", "a/b/c", "d")
ENOUGH = 310
"""Folders of a project that is worth watching."""


def write(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x = 1\n")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "outer" / "project"
    write(root, "m.py", "a/m.py", "a/b/m.py", "a/b/c/m.py", "d/m.py")
    write(tmp_path, "beside/m.py")
    return root


def begun(root: Path, folders: tuple[str, ...] = FOLDERS) -> FolderWatch:
    """Return a watch that has begun, and has nothing to tell."""
    watch = FolderWatch(str(root), fewest=1)
    assert watch.changed(folders) is None
    if watch.changed(folders) is None:
        pytest.skip("folders are not watched on the file system of temporary files")
    assert not watch.changed(folders)
    return watch


def is_open(watch: FolderWatch) -> bool:
    return watch._events >= 0 or watch._mounts >= 0


# What came or went is told with its folder alone.

TOLD: dict[str, tuple[Callable[[Path], object], set[str]]] = {
    "a new file": (lambda root: write(root, "a/n.py"), {"a"}),
    "a file that is gone": (lambda root: (root / "a/b/m.py").unlink(), {"a/b"}),
    "a file that is renamed": (lambda root: (root / "m.py").rename(root / "n.py"), {""}),
    "a file that moved": (lambda root: (root / "m.py").rename(root / "d/n.py"), {"", "d"}),
    "a file that took another's place": (lambda root: (root / "a/m.py").replace(root / "a/b/m.py"), {"a", "a/b"}),
    "a file that moved in": (lambda root: (root / "../../beside/m.py").rename(root / "d/n.py"), {"d"}),
    "a file that moved out": (lambda root: (root / "d/m.py").rename(root / "../../beside/n.py"), {"d"}),
    "a link": (lambda root: (root / "a/link.py").symlink_to("m.py"), {"a"}),
    "another name of a file": (lambda root: (root / "a/b/n.py").hardlink_to(root / "m.py"), {"a/b"}),
    "a pipe": (lambda root: os.mkfifo(root / "d/pipe"), {"d"}),
    "a new folder": (lambda root: (root / "d/new").mkdir(), {"d"}),
    "a folder nobody met": (lambda root: (root / "__pycache__").mkdir(), {""}),
    "a folder's mode": (lambda root: (root / "a/b").chmod(0o750), {"a/b"}),
    "a folder's times": (lambda root: os.utime(root / "d"), {"d"}),
    "what was there and is as it was": (lambda root: _there_and_back(root / "m.py"), {""}),
    "all at once": (lambda root: [write(root / each, "new.py") for each in FOLDERS], set(FOLDERS)),
}

QUIET: dict[str, Callable[[Path], object]] = {
    "nothing": lambda root: None,
    "a file that is written": lambda root: (root / "a/m.py").write_text("y = 2\n"),
    "a file that is read": lambda root: (root / "a/m.py").read_text(),
    "a file's mode": lambda root: (root / "a/m.py").chmod(0o600),
    "what is beside the root": lambda root: write(root.parent, "n.py"),
}

DOUBTED: dict[str, Callable[[Path], object]] = {
    "a folder that is gone": lambda root: shutil.rmtree(root / "a/b"),
    "a folder that is renamed": lambda root: (root / "a/b").rename(root / "a/x"),
    "a folder that moved out": lambda root: (root / "a/b").rename(root / "../../beside/b"),
    "a folder that is another one": lambda root: _another(root / "a/b"),
    "a folder that was away": lambda root: _there_and_back(root / "a/b"),
    "a folder that is a link": lambda root: _linked(root / "a/b"),
    "a root that is another one": lambda root: _another(root),
    "a root that was away": lambda root: _there_and_back(root),
    "a folder above that is another one": lambda root: _another(root.parent),
    "a folder above that was away": lambda root: _there_and_back(root.parent),
    "no root": lambda root: shutil.rmtree(root),
    "more than the queue holds": lambda root: [_there_and_back(root / "m.py") for _ in range(_queue() // 2 + 1)],
}


def _there_and_back(path: Path) -> None:
    away = path.with_name("away")
    path.rename(away)
    away.rename(path)


def _another(path: Path) -> None:
    """Put an equal one into a folder's place."""
    path.rename(path.with_name("old"))
    shutil.copytree(path.with_name("old"), path)


def _linked(path: Path) -> None:
    path.rename(path.with_name("old"))
    path.symlink_to("old")


def _queue() -> int:
    return int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())


@pytest.mark.parametrize("change", TOLD)
def test_what_comes_and_goes_is_told_once_with_its_folder(root: Path, change: str) -> None:
    watch = begun(root)
    do, expected = TOLD[change]
    do(root)
    assert watch.changed(FOLDERS) == expected
    assert watch.changed(FOLDERS) == set()


@pytest.mark.parametrize("change", QUIET)
def test_what_does_not_concern_the_entries_of_a_folder_is_not_told(root: Path, change: str) -> None:
    watch = begun(root)
    QUIET[change](root)
    assert watch.changed(FOLDERS) == set()


@pytest.mark.parametrize("change", DOUBTED)
def test_where_a_path_may_lead_elsewhere_any_folder_may_have_changed(root: Path, change: str) -> None:
    watch = begun(root)
    DOUBTED[change](root)
    assert watch.changed(FOLDERS) is None
    assert not is_open(watch)


@pytest.mark.parametrize(("quiet", "doubts"), [(0, 8), (3, 5), (20, 3)])
def test_after_a_doubt_it_begins_anew_and_the_sooner_the_more_it_was_worth(root: Path, quiet: int, doubts: int) -> None:
    watch = begun(root)
    assert [watch.changed(FOLDERS) for _ in range(quiet)] == [set()] * quiet
    _another(root / "a/b")
    answers = [watch.changed(FOLDERS) for _ in range(12)]
    assert answers == [None] * doubts + [set()] * (12 - doubts)
    write(root, "a/b/n.py")
    assert watch.changed(FOLDERS) == {"a/b"}


@pytest.mark.parametrize("moment", range(8))
def test_what_changes_while_it_begins_is_told_or_doubted(
    root: Path, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    begun(root).close()
    above = len(folder_watch._above(str(root))) + 1
    done = folder_watch._done
    calls = [0]

    def changing(result: int) -> int:
        calls[0] += 1
        if calls[0] == above + moment:
            _another(root / "a")
        return done(result)

    monkeypatch.setattr(folder_watch, "_done", changing)
    watch = FolderWatch(str(root), fewest=1)
    assert watch.changed(FOLDERS) is None
    write(root, "a/b/n.py")
    told = watch.changed(FOLDERS)
    assert told is None or "a/b" in told


def test_a_root_that_became_another_one_without_an_event_is_doubted(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = begun(root)
    stat = os.stat
    monkeypatch.setattr(os, "stat", lambda path, **options: stat(root.parent if path == str(root) else path, **options))
    assert watch.changed(FOLDERS) is None


def test_other_folders_are_watched_from_the_time_when_they_are_asked_about(root: Path) -> None:
    watch = begun(root, ("", "a"))
    write(root, "d/n.py")
    assert not watch.changed(("", "a"))
    answers = [watch.changed(FOLDERS) for _ in range(12)]
    assert (answers[0], answers[-1]) == (None, set())
    write(root, "d/o.py")
    assert watch.changed(FOLDERS) == {"d"}


def test_a_folder_that_is_met_without_the_one_around_it_is_not_watched(root: Path) -> None:
    watch = FolderWatch(str(root), fewest=1)
    assert [watch.changed(("", "a/b")) for _ in range(3)] == [None] * 3
    assert not is_open(watch)


@pytest.mark.parametrize("name", ["A", "\u00e4"])
def test_a_folder_that_only_its_spelling_tells_apart_may_be_the_one_that_is_watched(root: Path, name: str) -> None:
    (root / name).mkdir()
    watch = begun(root)
    (root / name).rmdir()
    assert watch.changed(FOLDERS) is None


# What is not to be relied on.


@pytest.mark.parametrize(
    ("table", "sound"),
    [
        ("{own} 1 8:1 / / rw shared:1 - ext4 /dev/x rw", True),
        ("{own} 1 8:1 / / rw - xfs /dev/x rw\n98765 1 0:5 / /elsewhere rw - nfs4 x:/ rw", True),
        ("{own} 1 8:1 / / rw - overlay overlay rw", False),
        ("{own} 1 8:1 / / rw - fuse.sshfs x rw", False),
        ("98765 1 8:1 / / rw - ext4 /dev/x rw", False),
        ("{own} 1 8:1 / / rw - ext4 /dev/x rw\n98765 1 0:5 / {root}/a rw - tmpfs x rw", True),
        ("{own} 1 8:1 / / rw - ext4 /dev/x rw\n98765 1 0:5 / {root}/a rw - 9p x rw", False),
        ("{own} 1 8:1 / / rw - ext4 /dev/x rw\n98765 1 0:5 / {root}2 rw - 9p x rw", True),
        ("{own} 1 8:1 / / rw - ext4 /dev/x rw\n98765 1 0:5 / {root}/a\\040b rw - virtiofs x rw", False),
        ("", False),
    ],
)
def test_only_file_systems_are_believed_that_nobody_else_changes(tmp_path: Path, table: str, *, sound: bool) -> None:
    root = tmp_path / "with space"
    root.mkdir()
    own = folder_watch._mount_of(str(root))
    shown = str(root).replace(" ", "\\040")
    assert folder_watch._is_sound(str(root), table.format(own=own, root=shown)) is sound


MOUNTING = """
import ctypes, os, subprocess, sys
from bae_source.project.files.folder_watch import FolderWatch

root, folders = sys.argv[1], ("", "a", "a/b", "a/b/c", "d")

def run(*command):
    subprocess.run(command, check=True)

def begun(root):
    watch = FolderWatch(root, fewest=1)
    return watch, [watch.changed(folders) for _ in range(2)][-1]

watch, at_first = begun(root)
run("mount", "-t", "tmpfs", "x", f"{root}/a/b")
over = watch.changed(folders)
os.makedirs(f"{root}/a/b/c")
watch, inside = begun(root)
open(f"{root}/a/b/m.py", "w").close()
within = watch.changed(folders)
run("umount", f"{root}/a/b")
gone = watch.changed(folders)
run("mount", "--bind", f"{root}/d", f"{root}/a/b/c")
twice = begun(root)[1]
run("umount", f"{root}/a/b/c")
watch, again = begun(root)
ctypes.CDLL(None).unshare(0x20000)
elsewhere = watch.changed(folders)
run("mount", "-t", "ramfs", "x", f"{root}/d")
unknown = begun(root)[1]
print([at_first, over, inside, within, gone, twice, again, elsewhere, unknown])
"""


def test_what_is_mounted_over_a_folder_is_seen(root: Path) -> None:
    begun(root).close()
    done = subprocess.run(
        ["unshare", "--mount", sys.executable, "-c", MOUNTING, str(root)], capture_output=True, text=True, check=False
    )
    if "unshare" in done.stderr or "permission" in done.stderr.lower():
        pytest.skip("only who administers the machine may mount")
    assert done.stdout.strip() == str([set(), None, set(), {"a/b"}, None, None, set(), None, None]), done.stderr


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.ENOSYS, errno.EMFILE, errno.EIO])
def test_where_the_system_refuses_nothing_is_open_and_every_folder_is_asked(
    root: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    left = [3]

    class Full:
        def __init__(self, *args: object, **options: object) -> None:
            self.real = library(*args, **options)
            self.inotify_init1 = self.real.inotify_init1

        def inotify_add_watch(self, *args: object) -> int:
            left[0] -= 1
            ctypes.set_errno(number)
            return int(self.real.inotify_add_watch(*args)) if left[0] > 0 else -1

    class Library(Full):
        @property
        def inotify_add_watch(self) -> Callable[..., int]:  # type: ignore[override]
            def add(*args: object) -> int:
                return Full.inotify_add_watch(self, *args)

            return add

    library = ctypes.PyDLL
    monkeypatch.setattr(ctypes, "PyDLL", Library)
    watch = FolderWatch(str(root), fewest=1)
    assert [watch.changed(FOLDERS) for _ in range(20)] == [None] * 20
    assert not is_open(watch)
    assert left == [0], "it is not tried again soon"


def test_it_begins_where_there_are_enough_folders_and_not_too_many(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun(root).close()
    for fewest, most in ((6, 20_000), (1, 4)):
        monkeypatch.setattr(folder_watch, "_MOST", most)
        watch = FolderWatch(str(root), fewest=fewest)
        assert [watch.changed(FOLDERS) for _ in range(3)] == [None] * 3
        assert not is_open(watch)


def test_a_process_takes_no_more_than_its_share(root: Path) -> None:
    watches = [begun(root) for _ in range(folder_watch._MOST_WATCHES - len(folder_watch._taken))]
    late = FolderWatch(str(root), fewest=1)
    assert [late.changed(FOLDERS) for _ in range(3)] == [None] * 3
    assert not is_open(late)
    watches.pop().close()
    begun(root)


def test_a_folder_that_may_not_be_read_may_always_have_changed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = folder_watch._done
    refused = [len(folder_watch._above(str(root))) + 4]

    def shut(result: int) -> int:
        refused[0] -= 1
        if refused[0] == 0:
            raise PermissionError(errno.EACCES, "Permission denied")
        return done(result)

    monkeypatch.setattr(folder_watch, "_done", shut)
    watch = FolderWatch(str(root), fewest=1)
    assert [watch.changed(FOLDERS) for _ in range(3)] == [None, {"a"}, {"a"}]
    write(root, "d/n.py")
    assert watch.changed(FOLDERS) == {"a", "d"}


def test_a_child_asks_for_itself_and_takes_nothing_from_its_parent(root: Path) -> None:
    watch = begun(root)
    write(root, "a/n.py")
    child = os.fork()
    if not child:
        try:
            told = [watch.changed(FOLDERS) for _ in range(12)]
            write(root, "d/n.py")
            os._exit(0 if told[0] is None and told[-1] == set() and watch.changed(FOLDERS) == {"d"} else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert watch.changed(FOLDERS) == {"a", "d"}


def test_who_is_interrupted_relies_on_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = begun(root)
    happened = folder_watch._events_of

    def interrupted(queue: int) -> Iterator[tuple[int, int, str]]:
        list(happened(queue))
        raise KeyboardInterrupt

    write(root, "a/n.py")
    with monkeypatch.context() as patched:
        patched.setattr(folder_watch, "_events_of", interrupted)
        with pytest.raises(KeyboardInterrupt):
            watch.changed(FOLDERS)
    assert watch.changed(FOLDERS) is None


# What the walk makes of it.


class Watched(Disk):
    """A project whose folders are watched, and what was told of them."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.told: list[Collection[str] | None] = []
        self.listed: list[str] = []
        self.interrupted = False

    def watch(self) -> Watched:
        self._watch = FolderWatch(self.root, fewest=1)
        return self

    def changed(self, folders: tuple[str, ...]) -> Collection[str] | None:
        self.told.append(self._watch.changed(folders))
        return self.told[-1]

    def close(self) -> None:
        self._watch.close()

    def folder(self, path: str) -> Folder:
        self.listed.append(path)
        if self.interrupted:
            self.interrupted = False
            raise KeyboardInterrupt
        return super().folder(path)


class Live:
    """A project that is walked as if all stamps were old: what the kernel tells has to be enough."""

    def __init__(self, root: Path) -> None:
        self.files = Watched(root)
        self.walk = Walk(self.files)
        self.walk.watch()

    def __call__(self) -> Census:
        layout = layout_of(Disk(Path(self.files.root)))  # which lists folders for itself
        found = self.walk.census(layout, time.time_ns() + 10_000_000_000)
        fresh = census_of(Disk(Path(self.files.root)), layout)
        assert found.stamps == fresh.stamps
        assert dict(found.folders) == dict(fresh.folders)
        assert (found.closed, found.outside) == (fresh.closed, fresh.outside)
        return found


def test_a_folder_is_listed_anew_after_an_event_whatever_its_stamp_says(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(root).close()
    kept: dict[str, Stamp] = {}

    def stuck(status: os.stat_result) -> Stamp:
        return kept.setdefault(str(status.st_ino), Stamp(1, 1, 1, status.st_ino))

    monkeypatch.setattr("bae_source.project.files.port.stamp_of", stuck)
    live = Live(root)
    live()
    live()
    write(root, "a/n.py")
    assert "a/n.py" in live().stamps
    live.files.listed.clear()
    live()
    assert live.files.listed == []


@pytest.mark.parametrize("change", [lambda root: write(root, "a/b/n.py"), lambda root: _emptied(root / "a/b")])
def test_what_changes_as_soon_as_folders_were_asked_for_their_stamps_is_seen(
    root: Path, change: Callable[[Path], object]
) -> None:
    begun(root).close()

    changes = [change]

    class Changing(Watched):
        def stamps(self, paths: Sequence[str]) -> dict[str, Stamp]:
            found = super().stamps(paths)
            if self.told and changes:
                time.sleep(0.01)
                changes.pop()(root)
            return found

    live = Live(root)
    live.files = live.walk.files = Changing(root)
    live()
    live.walk.census(layout_of(live.files), time.time_ns() + 10_000_000_000)
    assert (live.files.told, changes) == ([None], [])
    live()


def _emptied(path: Path) -> None:
    path.rename(path.with_name("old"))
    path.mkdir()


def test_a_link_whose_target_comes_and_goes_is_seen_without_an_event_beside_it(root: Path) -> None:
    begun(root).close()
    target = root.parent / "target.py"
    (root / "a/link.py").symlink_to(target)
    (root / "a/m2.py").symlink_to("b/m.py")
    live = Live(root)
    for _ in range(3):
        live()
    for change in (lambda: target.write_text(""), target.unlink, (root / "a/b/m.py").unlink):
        change()
        live()
    assert [told for told in live.files.told if told is None] == [None]


def test_an_interrupted_census_loses_no_change(root: Path) -> None:
    begun(root).close()
    live = Live(root)
    for _ in range(3):
        live()
    assert live.files.told[-1] == set()
    write(root, "a/n.py")
    live.files.interrupted = True
    with pytest.raises(KeyboardInterrupt):
        live.walk.census(layout_of(live.files), time.time_ns())
    assert "a/n.py" in live().stamps


SHELL: tuple[str, ...] = (
    "echo x = 1 > {here}/{file}",
    "echo y = 2 >> {here}/{file}",
    "echo '{file}' > {here}/.new; mv {here}/.new {here}/.gitignore",
    "rm -f {here}/{file}",
    "rm -f {here}/.gitignore",
    "mv -f {here}/{file} {there}/{other}",
    "mv -f {here}/{file} {outside}/{other}",
    "mv -f {outside}/{other} {here}/{file}",
    "ln -f {here}/{file} {there}/{other}",
    "ln -sfn {other} {here}/{file}",
    "ln -sfn {outside}/{other} {here}/{file}",
    "rm -f {outside}/{other}",
    "mkdir -p {outside}/{other}",
    "rmdir {outside}/{other}",
    "chmod 700 {here}",
    "chmod 755 {here}",
    "touch {here}",
)
FOLDER_SHELL: tuple[str, ...] = (
    "mkdir -p {here}/{folder}; echo z = 3 > {here}/{folder}/{file}",
    "rm -rf {here}/{folder}",
    "mv -T {here}/{folder} {there}/{folder}",
    "mv -T {here}/{folder} {outside}/{folder}",
    "mv -T {outside}/{folder} {here}/{folder}",
    "mkdir -p {here}/__pycache__",
    "touch {here}/{folder}/pyvenv.cfg",
    "cp -r {here}/{folder} {there}/copy; rm -rf {here}/{folder}; mv -T {there}/copy {here}/{folder}",
    "ln -sfn {there} {here}/{folder}",
)


@pytest.mark.parametrize("seed", range(4))
def test_a_watched_census_says_the_same_as_a_fresh_one_whatever_other_processes_do(
    root: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    begun(root).close()
    monkeypatch.setattr(folder_watch, "_WORTH", 1)
    chance = random.Random(seed)
    outside = root.parent / "outside"
    outside.mkdir()
    live = Live(root)
    with subprocess.Popen(["sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as shell:
        assert shell.stdin is not None
        assert shell.stdout is not None
        for _ in range(150):
            folders = [str(root), *(str(root / each) for each in live().folders if each)]
            for _ in range(chance.choice([0, 1, 1, 3])):
                line = chance.choice(FOLDER_SHELL if chance.random() < 0.1 else SHELL)
                names = {"here": chance.choice(folders), "there": chance.choice(folders), "outside": str(outside)}
                names |= {"file": chance.choice(["m.py", "n.py", "o.pyi"]), "other": chance.choice(["p.py", "t.txt"])}
                line = line.format(**names, folder=chance.choice("abc"))
                shell.stdin.write(f"{line}\n".encode())
            shell.stdin.write(b"sleep 0.01; echo\n")  # stamps have ticks, which count where the watch begins
            shell.stdin.flush()
            shell.stdout.readline()
        shell.stdin.close()
    told = [each for each in live.files.told if each is not None]
    assert len(told) > 50, "most of the time it was the watch that answered"
    assert sum(map(bool, told)) > 20


def test_threads_that_ask_at_once_each_see_what_they_made(root: Path) -> None:
    begun(root).close()
    files = Watched(root)
    walk = Walk(files)
    walk.watch()
    layout = layout_of(files)
    missed: list[str] = []

    def make(name: str) -> None:
        for count in range(40):
            path = f"{FOLDERS[count % len(FOLDERS)]}/{name}{count}.py".lstrip("/")
            write(root, path)
            if path not in walk.census(layout, time.time_ns() + 10_000_000_000).stamps:
                missed.append(path)

    threads = [threading.Thread(target=make, args=(name,)) for name in ("p", "q", "r")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert missed == []
    assert any(files.told)


# What a caller gets of it, through the door.


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with enough folders."""
    root = tmp_path_factory.mktemp("large")
    write(root, *(f"p{number}/m.py" for number in range(ENOUGH)))
    begun(root, ("", "p0")).close()
    return root


ASKED = request("outline", {})


def descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_a_live_engine_asks_no_folder_for_its_stamp_from_the_third_request_on(
    large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Disk.stamps
    asked: list[str] = []

    def stamps(self: Disk, paths: Sequence[str]) -> dict[str, Stamp]:
        asked.extend(paths)
        return original(self, paths)

    monkeypatch.setattr(Disk, "stamps", stamps)
    service = Service(large, clock=lambda: time.time_ns() + 10_000_000_000)
    folders = {f"p{number}" for number in range(ENOUGH)}
    for expected in (set(), folders, set(), set()):
        asked.clear()
        service.run(ASKED, Context())
        assert folders & set(asked) == expected
    write(large, "p7/new.py")
    assert "p7.new" in service.run(request("glob", {"pattern": "p7.*"}), Context()).text
    (large / "p7/new.py").unlink()
    assert "p7.new" not in service.run(request("glob", {"pattern": "p7.*"}), Context()).text
    service.close()


def test_a_process_that_answers_once_loads_nothing_of_it(large: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from bae_source.engine.service import Service, request\n"
        "service = Service(Path(sys.argv[1]))\n"
        "for _ in range(2):\n"
        "    service.run(request('outline', {}))\n"
        "    print('bae_source.project.files.folder_watch' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(large)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_engines_that_are_closed_or_forgotten_leave_nothing_open(large: Path) -> None:
    gc.collect()
    before, taken = descriptors(), dict(folder_watch._taken)
    service = Service(large)
    for closing in range(3):
        for _ in range(3):
            service.run(ASKED, Context())
        assert descriptors() > before
        service.close()
        assert descriptors() == before, closing
    for _ in range(3 * folder_watch._MOST_WATCHES):
        other = Service(large)
        for _ in range(2):
            other.run(ASKED, Context())
        other._kept.cache.close()  # type: ignore[union-attr]
        del other
        gc.collect()
        assert descriptors() == before
    assert folder_watch._taken == taken
