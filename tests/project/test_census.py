"""The census: every Python file of a project once, whatever the tree is like, and never as it was before."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from bae_source.project.files.census import Census
from bae_source.project.files.layout import layout_of
from bae_source.project.files.port import Disk, Folder
from bae_source.project.files.stamps import Stamp, is_settled
from bae_source.project.files.visits import load, save, shape_of
from bae_source.project.files.walk import Walk, census_of
from tests.memory import Memory
from tests.project.support import settle

LONG_AGO = 1_600_000_000


def census(root: Path) -> Census:
    files = Disk(root)
    return census_of(files, layout_of(files))


class Live:
    """A project that is walked again and again, as a live engine does; or each time from what the last one saved."""

    def __init__(self, root: Path, *, saving: bool = False) -> None:
        self.files = Disk(root)
        self.walk = Walk(self.files)
        self.saving = saving

    def __call__(self) -> Census:
        found = self.walk.census(layout_of(self.files), time.time_ns())
        fresh = census_of(self.files, layout_of(self.files))
        assert found.stamps == fresh.stamps
        assert found.folders == fresh.folders
        assert (found.closed, found.outside) == (fresh.closed, fresh.outside)
        assert [module.name for module in found.modules] == [module.name for module in fresh.modules]
        if self.saving:
            assert self.walk.shape is not None
            saved = save(self.walk.visits, self.walk.shape)
            assert saved is not None
            self.walk = Walk(self.files)
            self.walk.recall(saved)
        return found


def write(root: Path, *paths: str, text: str = "x = 1\n") -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def names(found: Census) -> list[str]:
    return [module.name for module in found.modules]


def test_files_folders_and_modules_are_found_once_and_sorted(tmp_path: Path) -> None:
    write(tmp_path, "b/__init__.py", "b/c.py", "a.py", "b/stub.pyi", "b/data.txt", "space/inner/mod.py")
    found = census(tmp_path)
    assert found.paths == ("a.py", "b/__init__.py", "b/c.py", "space/inner/mod.py")
    assert found.stubs == ("b/stub.pyi",)
    assert names(found) == ["a", "b", "b.c", "space.inner.mod"]
    assert found.folders["b"] == ("__init__.py", "c.py", "data.txt", "stub.pyi")
    assert found.closed == ()


def test_a_project_without_python_has_none(tmp_path: Path) -> None:
    write(tmp_path, "README.md")
    assert census(tmp_path).paths == ()


def test_links_to_folders_are_not_entered_and_loops_end(tmp_path: Path) -> None:
    write(tmp_path, "pkg/__init__.py", "pkg/m.py")
    (tmp_path / "pkg" / "loop").symlink_to(tmp_path / "pkg", target_is_directory=True)
    (tmp_path / "self").symlink_to("self")
    (tmp_path / "up").symlink_to("..", target_is_directory=True)
    assert census(tmp_path).paths == ("pkg/__init__.py", "pkg/m.py")


def test_a_link_to_a_file_counts_where_it_stays_inside(tmp_path: Path) -> None:
    root = tmp_path / "project"
    write(tmp_path, "outside.py")
    write(root, "m.py")
    (root / "same.py").symlink_to("m.py")
    (root / "out.py").symlink_to("../outside.py")
    (root / "gone.py").symlink_to("nothing.py")
    found = census(root)
    assert found.paths == ("m.py", "same.py")
    assert found.outside == ("out.py",)


def test_python_that_links_lead_to_outside_is_named_unless_it_is_ignored(tmp_path: Path) -> None:
    root = tmp_path / "project"
    write(tmp_path, "lib/__init__.py", "lib/m.py", "space/m.py", "x.py", "data/page.html", "env/__init__.py")
    write(root, "pkg/__init__.py", "pkg/inner/__init__.py", "env/pyvenv.cfg")
    write(root, ".gitignore", text="gen_*\n")
    for link, target in {
        "pkg/lib": "../../lib", "pkg/stub.pyi": "../../x.py", "pkg/text.txt": "../../x.py", "pkg/data": "../../data",
        "pkg/space": "../../space", "pkg/gen_x.py": "../../x.py", "pkg/gen_lib": "../../lib", ".venv": "../lib",
        "pkg/same": "inner", "env/x.py": "../../x.py", "node_modules": "../lib", "top": "../lib",
    }.items():  # fmt: skip
        (root / link).symlink_to(target)
    found = census(root)
    assert found.outside == ("pkg/lib/__init__.py", "pkg/stub.pyi", "top/__init__.py")
    assert [module.name for path in found.outside if (module := found.module(path))] == [
        "pkg.lib",
        "pkg.stub@stub",
        "top",
    ]


@pytest.mark.parametrize("saving", [False, True])
def test_a_link_out_of_the_project_is_seen_to_come_to_turn_and_to_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, saving: bool
) -> None:
    root = tmp_path / "project"
    write(tmp_path, "x.py")
    write(root, "pkg/__init__.py", "pkg/m.py")
    settle(tmp_path, monkeypatch)
    found = Live(root, saving=saving)
    assert found().outside == ()
    (root / "pkg" / "x.py").symlink_to("../../x.py")
    assert (found().outside, found().outside) == (("pkg/x.py",), ("pkg/x.py",))
    (root / "pkg" / "x.py").unlink()
    (root / "pkg" / "x.py").symlink_to("m.py")
    assert (found().outside, found().paths) == ((), ("pkg/__init__.py", "pkg/m.py", "pkg/x.py"))
    (root / "pkg" / "x.py").unlink()
    assert (found().outside, found().paths) == ((), ("pkg/__init__.py", "pkg/m.py"))


def test_what_is_ignored_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, "m.py", "build/lib/m.py", "node_modules/x.py", "a/__pycache__/x.py", ".venv/lib/y.py")
    write(
        tmp_path, "other/pyvenv.cfg", "other/lib/z.py", "gen/a.py", "gen/keep/b.py", "sub/gen_x.py", "pkg.egg-info/x.py"
    )
    write(tmp_path, ".gitignore", text="gen/\n")
    write(tmp_path, "sub/.gitignore", text="gen_*\n")
    assert census(tmp_path).paths == ("m.py",)


def test_a_folder_that_may_not_be_listed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "m.py", "shut/x.py")
    original = os.scandir

    def scandir(path: str) -> object:
        if str(path).endswith("shut"):
            raise PermissionError(13, "Permission denied", path)
        return original(path)

    monkeypatch.setattr(os, "scandir", scandir)
    found = census(tmp_path)
    assert found.closed == ("shut",)
    assert found.paths == ("m.py",)


def test_a_file_that_vanishes_while_the_folder_is_listed_costs_only_itself(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "b.py", "c.py")

    class Vanishing(Disk):
        def stamps(self, paths: object) -> dict[str, Stamp]:
            (tmp_path / "b.py").unlink(missing_ok=True)
            return super().stamps(paths)  # type: ignore[arg-type]

    files = Vanishing(tmp_path)
    assert census_of(files, layout_of(files)).paths == ("a.py", "c.py")


def test_names_that_are_no_text_are_found(tmp_path: Path) -> None:
    write(tmp_path, "m.py")
    (tmp_path / os.fsdecode(b"\xff.py")).write_bytes(b"")
    assert census(tmp_path).paths == ("m.py", os.fsdecode(b"\xff.py"))


def test_packages_that_lie_elsewhere_are_found_by_their_name(tmp_path: Path) -> None:
    write(tmp_path, "lib/__init__.py", "lib/core.py", "src/other.py")
    write(tmp_path, "pyproject.toml", text='[tool.setuptools.package-dir]\nmoved = "lib"\n"" = "src"\n')
    found = census(tmp_path)
    assert found.find("moved.core") == ["lib/core.py"]
    assert found.find("other") == ["src/other.py"]


def test_a_census_of_memory_is_that_of_a_disk() -> None:
    files = Memory({"a.py": b"", "p/__init__.py": b"", "p/q/r.py": b"", ".gitignore": b"q/\n", ".git/index": b""})
    assert census_of(files, layout_of(files)).paths == ("a.py", "p/__init__.py")


def test_a_stamp_is_settled_two_seconds_after_its_change() -> None:
    now = 10_000_000_000
    assert is_settled(Stamp(1, 1, 7_000_000_000, 1), now)
    assert not is_settled(Stamp(1, 1, 8_500_000_000, 1), now)
    assert not is_settled(Stamp(1, 9_000_000_000, 1, 1), now)
    assert not is_settled(Stamp(1, 99_000_000_000, 1, 1), now)
    assert not is_settled(Stamp(1, 1, 1, 1), 0)


# What a live engine sees, after the tree was at rest: each change is one that a stamp of the folder above must tell of.

CHANGES: dict[str, Callable[[Path], object]] = {
    "a new file": lambda root: write(root, "pkg/new.py"),
    "a new folder with a file": lambda root: write(root, "pkg/deep/er/new.py"),
    "a file that is gone": lambda root: (root / "pkg/m.py").unlink(),
    "a folder that is gone": lambda root: shutil.rmtree(root / "pkg/sub"),
    "a file that is renamed": lambda root: (root / "pkg/m.py").rename(root / "pkg/n.py"),
    "a folder that is renamed": lambda root: (root / "pkg/sub").rename(root / "pkg/bus"),
    "a file that moved": lambda root: (root / "pkg/m.py").rename(root / "pkg/sub/m.py"),
    "a file that became a folder": lambda root: _a_folder(root / "pkg/m.py"),
    "a file that became a link": lambda root: _linked(root / "pkg/m.py"),
    "a file of the same size": lambda root: write(root, "pkg/m.py", text="y = 2\n"),
    "a file of the same size and time": lambda root: _same_time(root / "pkg/m.py"),
    "a new ignored folder": lambda root: write(root, "pkg/.gitignore", text="sub\n"),
    "a rule that is gone": lambda root: (root / ".gitignore").unlink(),
    "a rule that changed": lambda root: write(root, ".gitignore", text="m.py\n"),
    "git's own rules": lambda root: write(root, ".git/info/exclude", text="m.py\n"),
    "git's index": lambda root: subprocess.run(["git", "add", "-f", "hidden/h.py"], cwd=root, check=True),
    "a virtual environment": lambda root: write(root, "pkg/sub/pyvenv.cfg"),
    "output that became a package": lambda root: write(root, "build/__init__.py"),
    "a file that is no code": lambda root: (root / "pkg/page.html").write_text("<p>"),
    "a folder that nobody enters": lambda root: (root / ".bae-source").mkdir(),
    "a setting": lambda root: write(root, "pyproject.toml", text='[tool.bae-source]\nsource-roots = ["pkg"]\n'),
    "an environment that is none any more": lambda root: (root / "hidden/env/pyvenv.cfg").unlink(),
}  # fmt: skip


def _a_folder(path: Path) -> None:
    path.unlink()
    write(path, "x.py")


def _linked(path: Path) -> None:
    path.unlink()
    path.symlink_to("sub/x.py")


def _same_time(path: Path) -> None:
    status = path.stat()
    path.write_text("z = 3\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.fixture(scope="module")
def rested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree, and a folder of copies of it that have been at rest for a while."""
    home = tmp_path_factory.mktemp("trees")
    for change in ("at rest", *(lead + change for lead in ("", "saved, ") for change in CHANGES)):
        root = home / change
        write(
            root,
            "pkg/__init__.py",
            "pkg/m.py",
            "pkg/sub/x.py",
            "top.py",
            "hidden/h.py",
            "build/b.py",
            "hidden/env/e.py",
        )
        write(root, "hidden/env/pyvenv.cfg")
        write(root, ".gitignore", text="hidden/\n")
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    settle(home)
    return home


@pytest.mark.parametrize("change", CHANGES)
def test_a_census_made_of_what_was_saved_sees(rested: Path, change: str) -> None:
    root = rested / f"saved, {change}"
    live = Live(root, saving=True)
    live()
    assert len(live.walk.visits) >= 3
    assert live.walk.shape is not None
    CHANGES[change](root)
    live()
    live()


def test_what_was_saved_is_all_that_was_met_at_rest(rested: Path) -> None:
    walk = Walk(Disk(rested / "at rest"))
    walk.census(layout_of(walk.files), time.time_ns())
    assert walk.shape is not None
    saved = save(walk.visits, walk.shape)
    assert saved is not None
    visits, shape = load(saved)
    assert shape is not None
    assert set(shape.folders) <= set(visits)
    assert "gone" not in shape.folders
    assert not visits.known, "what a folder holds is decoded when somebody asks for it"
    assert visits == walk.visits
    stamps = {path: stamp for path, stamp in walk.shape.stamps.items() if stamp is not None}
    assert stamps.keys() == visits.keys()
    assert shape.changed(stamps) == []
    assert shape.changed({**stamps, "": replace(stamps[""], size=-1)}) == [""]
    assert shape.changed({path: stamp for path, stamp in stamps.items() if path}) == [""]
    for name in ("stamps", "rules", "folders", "python", "closed", "outside"):
        assert getattr(shape, name) == getattr(walk.shape, name)
    assert shape.changed(stamps) == [], "decoded or not"


def test_nothing_is_saved_of_a_walk_that_was_interrupted(rested: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bae_source.project.files.walk.FEW", 0)
    walk = Walk(Disk(rested / "at rest"))

    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bae_source.project.files.walk.MANY", 0)
    with pytest.raises(KeyboardInterrupt):
        walk.census(layout_of(walk.files), time.time_ns(), interrupt)
    assert walk.memory() is None
    walk.census(layout_of(walk.files), time.time_ns())
    assert walk.memory() is not None


def test_impossible_saved_content_is_not_believed(rested: Path) -> None:
    walk = Walk(Disk(rested / "at rest"))
    walk.census(layout_of(walk.files), time.time_ns())
    visit = walk.visits[""]
    for wrong in (
        {"": replace(visit, python=("../outside.py",))},
        {"": replace(visit, python=("/outside.py",))},
        {"": replace(visit, entered=("..",))},
        {"/etc": visit},
        {"a/../..": visit},
    ):
        saved = save(wrong, shape_of(wrong))
        assert saved is not None
        visits, shape = load(saved)
        assert not any(visits.get(path) for path in wrong)
        assert shape is None or shape.python == ("top.py",)
    assert load(b"") == load(b"\xc1") == load(b"\x92\x90\x91\x01") == ({}, None)


@pytest.mark.parametrize("rows", [[], ["no row", 7], 7])
def test_a_walk_goes_over_folders_of_which_nothing_sensible_was_saved(tmp_path: Path, rows: object) -> None:
    write(tmp_path, "a/m.py")
    files = Disk(tmp_path)
    walk = Walk(files)
    walk.recall(msgspec.msgpack.encode(([], "\0a", [msgspec.msgpack.encode(rows)], None)))
    assert not any(walk.visits.get(path) for path in ("", "a", "b"))
    assert "b" not in walk.visits
    assert walk.census(layout_of(files), time.time_ns()).paths == ("a/m.py",)


def test_names_with_dots_in_them_lead_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "a..b/c..d.py", "..e/f.py")
    settle(tmp_path, monkeypatch)
    walk = Walk(Disk(tmp_path))
    walk.census(layout_of(walk.files), time.time_ns())
    assert walk.shape is not None
    visits, shape = load(save(walk.visits, walk.shape) or b"")
    assert shape is not None
    assert set(shape.folders) <= set(visits)
    assert "gone" not in shape.folders
    assert not visits.known, "what a folder holds is decoded when somebody asks for it"
    assert visits == walk.visits
    assert sorted(shape.python) == ["..e/f.py", "a..b/c..d.py"]


def walked(root: Path, folders: int, patched: pytest.MonkeyPatch) -> tuple[Disk, Walk, bytes]:
    """Walk a project of so many folders that has settled, and return what was saved of it too."""
    write(root, *(f"p{number}/m.py" for number in range(folders)))
    settle(root, patched)
    files = Disk(root)
    walk = Walk(files)
    walk.census(layout_of(files), time.time_ns())
    saved = walk.memory()
    assert saved is not None
    return files, walk, saved


def test_a_small_walk_is_not_worth_saving_and_a_large_one_is_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, walk, saved = walked(tmp_path, 80, monkeypatch)
    assert walk.memory() is None
    other = Walk(files)
    other.recall(saved)
    assert other.census(layout_of(files), time.time_ns()).stamps == census_of(files, layout_of(files)).stamps
    assert other.memory() is None, "nothing is new"
    write(tmp_path, "p3/n.py")
    assert "p3/n.py" in other.census(layout_of(files), time.time_ns()).paths
    assert other.memory() is None, "one folder is not worth it"


def test_where_few_folders_changed_hardly_more_than_these_are_decoded_of_what_was_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, _, saved = walked(tmp_path, 200, monkeypatch)
    (tmp_path / ".bae-source").mkdir()
    (tmp_path / "p99/__pycache__").mkdir()
    settle(tmp_path, monkeypatch)
    other = Walk(files)
    other.recall(saved)
    census = other.census(layout_of(files), time.time_ns())
    assert census.stamps == census_of(files, layout_of(files)).stamps
    assert other.shape is not None
    assert "stamps" not in vars(other.shape), "the stamps, each piece by itself"
    assert sorted(other.visits.known) == [0, 3], "what folders held, so many in a piece"
    assert other.census(layout_of(files), time.time_ns()) is census, "the next one knows what changed"


def test_stamps_that_make_no_sense_have_all_folders_looked_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, _, saved = walked(tmp_path, 80, monkeypatch)
    rules, paths, rows, (stamps, *rest) = msgspec.msgpack.decode(saved)
    for wrong in ([], stamps[:1], [stamps[0], b"\xc1"], [stamps[0], stamps[0]], [stamps[0], msgspec.msgpack.encode(7)]):
        other = Walk(files)
        other.recall(msgspec.msgpack.encode((rules, paths, rows, (wrong, *rest))))
        write(tmp_path, "p79/new.py")
        assert "p79/new.py" in other.census(layout_of(files), time.time_ns()).paths
        (tmp_path / "p79/new.py").unlink()


def test_what_has_the_whole_walk_gone_over_again_is_saved_however_large_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, _, saved = walked(tmp_path, 1300, monkeypatch)
    write(tmp_path, *(f"p{number}/n.py" for number in range(60)))
    settle(tmp_path, monkeypatch)
    other = Walk(files)
    other.recall(saved)
    other.census(layout_of(files), time.time_ns())
    assert other.memory() is not None
    assert other.memory() is None


@pytest.mark.parametrize("change", CHANGES)
def test_a_live_census_sees(rested: Path, change: str) -> None:
    root = rested / change
    live = Live(root)
    first = live()
    assert live() is first, "nothing changed, nothing is made anew"
    CHANGES[change](root)
    second = live()
    if change not in ("an environment that is none any more", "a folder that nobody enters"):
        assert second is not first
    assert live().stamps == second.stamps


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
def test_a_live_census_says_the_same_as_a_fresh_one_whatever_other_processes_do(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    root, outside = tmp_path / "project", tmp_path / "outside"
    write(root, "a/b/m.py", "c/m.py", "m.py")
    outside.mkdir()
    live = Live(root)
    for _ in range(40):
        folders = [str(root), *(str(root / each) for each in live().folders if each)]
        lines = []
        for _ in range(chance.choice([0, 1, 1, 3])):
            line = chance.choice(FOLDER_SHELL if chance.random() < 0.1 else SHELL)
            names = {"here": chance.choice(folders), "there": chance.choice(folders), "outside": str(outside)}
            names |= {"file": chance.choice(["m.py", "n.py", "o.pyi"]), "other": chance.choice(["p.py", "t.txt"])}
            lines.append(line.format(**names, folder=chance.choice("abc")))
        subprocess.run(["sh"], input="\n".join(lines), text=True, capture_output=True)


def test_an_interrupted_census_loses_no_change(rested: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    live = Live(rested / "at rest")
    live()
    write(rested / "at rest", "pkg/sub/n.py")
    original = Disk.folder

    def interrupted(self: Disk, path: str) -> Folder:
        monkeypatch.setattr(Disk, "folder", original)
        raise KeyboardInterrupt

    layout = layout_of(live.files)
    monkeypatch.setattr(Disk, "folder", interrupted)
    with pytest.raises(KeyboardInterrupt):
        live.walk.census(layout, time.time_ns())
    assert "pkg/sub/n.py" in live().stamps
    (rested / "at rest/pkg/sub/n.py").unlink()


def test_threads_that_ask_at_once_each_see_what_they_made(tmp_path: Path) -> None:
    write(tmp_path, "a/b/m.py", "c/m.py")
    walk = Walk(Disk(tmp_path))
    layout = layout_of(walk.files)
    missed: list[str] = []

    def make(name: str) -> None:
        for count in range(40):
            path = f"{('', 'a', 'a/b', 'c')[count % 4]}/{name}{count}.py".lstrip("/")
            write(tmp_path, path)
            if path not in walk.census(layout, time.time_ns()).stamps:
                missed.append(path)

    threads = [threading.Thread(target=make, args=(name,)) for name in ("p", "q", "r")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert missed == []


def test_a_live_census_sees_changes_that_follow_each_other_within_a_tick(tmp_path: Path) -> None:
    write(tmp_path, "a/x.py", "b/y.py")
    live = Live(tmp_path)
    chance = random.Random(7)
    for number in range(150):
        folder = tmp_path / chance.choice("ab")
        choice = chance.randrange(4)
        if choice == 0:
            write(folder, f"n{number}.py")
        elif choice == 1:
            write(folder, chance.choice(["x.py", "y.py"]), text=f"{chance.randrange(9)}")
        elif choice == 2 and (found := sorted(folder.glob("n*.py"))):
            found[0].unlink()
        else:
            write(tmp_path, "a/.gitignore", text=chance.choice(["n1*\n", "y.py\n", "\n"]))
        live()


def test_a_census_that_has_not_changed_is_the_same_one_after_a_folder_was_listed_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "a/x.py")
    settle(tmp_path, monkeypatch)
    live = Live(tmp_path)
    first = live()
    (tmp_path / "a" / "y.txt").write_text("")
    (tmp_path / "a" / "y.txt").unlink()
    assert live() is first
