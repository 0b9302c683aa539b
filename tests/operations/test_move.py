"""Modules and packages moved for real: each byte and mode comes along, what breaks is told, a taken name is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bae_source.errors import Refused
from bae_source.model.changeset import Contents
from bae_source.project.files.port import FileKind
from bae_source.project.workspace import Workspace
from bae_source.refactoring.move import Move
from tests.memory import Memory
from tests.operations.trees import PACKAGE, codes, files, laid, message_of, patched, picture, refused


def test_a_package_moves_with_its_data_and_modes_as_git_would_move_it(tmp_path: Path) -> None:
    source, other = laid(tmp_path / "here"), laid(tmp_path / "there")
    for root in (source.root, other.root):
        (root / "app/sub/mod.py").chmod(0o755)
        (root / "app/sub/data/logo.png").chmod(0o640)
    before = picture(source.root)
    outcome = source.move("app.sub", "lib.deep.part", reload="off")
    assert outcome.text == "Moved app.sub to lib.deep.part, with 2 modules and 2 data files."
    assert [each.address for each in outcome.changed] == ["lib.deep.part", "app.sub"]
    assert message_of(outcome, "packages_made") == "Made the missing packages: lib, lib.deep."
    after = picture(source.root)
    moved = {name.replace("app/sub", "lib/deep/part"): facts for name, facts in before.items() if "app/sub" in name}
    assert {name: facts for name, facts in after.items() if name in moved} == moved
    assert not (source.root / "app/sub").exists()
    assert "rename from app/sub/data/logo.png\nrename to lib/deep/part/data/logo.png" in outcome.diff
    patched(other.root, outcome.diff)
    assert files(other.root) == files(source.root)
    assert picture(other.root)["lib/deep/part/mod.py"] == after["lib/deep/part/mod.py"]
    source.undo(reload="off")
    assert picture(source.root) == before
    source.redo(reload="off")
    assert picture(source.root) == after


def test_moving_there_and_back_changes_nothing(tmp_path: Path) -> None:
    source = laid(tmp_path, {**PACKAGE, "app/base.pyi": "x: int\n"})
    before = picture(tmp_path)
    assert message_of(source.move("app.base", "app.sub.base", reload="off"), "stub_moved").startswith("app.base@stub")
    assert codes(source.move("app.sub.base", "app.base", reload="off")) == ["stub_moved"]
    source.move("app.sub", "app.other", reload="off")
    source.move("app.other", "app.sub", reload="off")
    assert picture(tmp_path) == before
    with source.transaction("round trip", reload="off") as tx:
        tx.move("app.sub", "app.other")
        tx.move("app.other", "app.sub")
        assert tx.diff() == ""


def test_two_modules_change_places_in_one_transaction(tmp_path: Path) -> None:
    source = laid(tmp_path)
    before = picture(tmp_path)
    with source.transaction("swap", reload="off") as tx:
        tx.move("app.core", "app.swap")
        tx.move("app.base", "app.core")
        tx.move("app.swap", "app.base")
    after = picture(tmp_path)
    assert (after["app/core.py"][1], after["app/base.py"][1]) == (before["app/base.py"][1], before["app/core.py"][1])
    source.undo(reload="off")
    assert picture(tmp_path) == before


def test_a_moved_module_that_is_edited_at_once_is_one_rename_in_the_diff(tmp_path: Path) -> None:
    here, there = laid(tmp_path / "here"), laid(tmp_path / "there")
    before = picture(here.root)
    with here.transaction("rework", reload="off") as tx:
        tx.move("app.core", "app.net.kernel")
        tx.edit("app.net.kernel.f", old="1", new="2")
        diff = tx.diff()
    assert "rename from app/core.py\nrename to app/net/kernel.py\n--- a/app/core.py\n+++ b/app/net/kernel.py\n" in diff
    patched(there.root, diff)
    assert picture(there.root) == picture(here.root)
    here.undo(reload="off")
    assert picture(here.root) == before


def test_the_usual_check_imports_the_module_by_its_new_name(tmp_path: Path) -> None:
    source = laid(tmp_path, {"p/__init__.py": "", "p/a.py": "from .b import z\n", "p/b.py": "z = 1\n"})
    assert source.move("p.a", "p.c").operation_id
    (tmp_path / "p/c.py").write_text("from .b import z\nfrom nowhere import x\n")
    error = refused(source, lambda: source.move("p.c", "p.deep.c"), "reload_failed")
    assert "p.deep.c" in error.message
    (tmp_path / "p/c.py").write_text("from .b import z\n")
    assert source.move("p.c", "p.deep.c").operation_id
    assert source.move("p.b", "p.deep.b").operation_id
    assert (tmp_path / "p/deep/c.py").read_text() == "from .b import z\n"
    done = subprocess.run([sys.executable, "-c", "import p.deep.c"], cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stderr


def test_relative_imports_mean_the_same_from_the_new_place(tmp_path: Path) -> None:
    sub = (
        "from . import mod\nfrom .mod import y\nfrom .. import base\nfrom ..base import x\nfrom ..sub import mod as m\n"
    )
    nowhere = "from ...nowhere import a\n"
    source = laid(tmp_path, {**PACKAGE, "app/sub/__init__.py": sub, "app/sub/mod.py": f"y = 1\n{nowhere}"})
    moved = {
        "app.net.part": "from . import mod\nfrom .mod import y\nfrom ... import base\nfrom ...base import x\n"
        "from . import mod as m\n",
        "app.part": "from . import mod\nfrom .mod import y\nfrom .. import base\nfrom ..base import x\n"
        "from . import mod as m\n",
        "part": "from . import mod\nfrom .mod import y\nfrom app import base\nfrom app.base import x\n"
        "from . import mod as m\n",
    }
    for to, text in moved.items():
        source.move("app.sub", to, reload="off")
        assert (tmp_path / to.replace(".", "/") / "__init__.py").read_text() == text
        assert (tmp_path / to.replace(".", "/") / "mod.py").read_text() == f"y = 1\n{nowhere}"
        source.undo(reload="off")


def test_files_whose_imports_cannot_be_read_are_named(tmp_path: Path) -> None:
    source = laid(tmp_path, {**PACKAGE, "app/sub/broken.py": "from ..base import (\n"})
    outcome = source.move("app.sub", "app.net.part", dry_run=True)
    assert outcome.report is not None
    assert not outcome.report["complete"]
    assert [each.partition(":")[0] for each in outcome.report["unparsed"]] == ["app.sub.broken"]


def test_what_a_package_says_of_itself_by_its_old_name_follows(tmp_path: Path) -> None:
    source = laid(tmp_path, {**PACKAGE, "app/sub/mod.py": "import app.sub\nfrom . import page\n"})
    source.move("app.sub", "app.part", reload="off")
    assert (tmp_path / "app/part/mod.py").read_text() == "import app.part\nfrom . import page\n"


def test_what_is_ignored_stays_behind_and_is_named(tmp_path: Path) -> None:
    source = laid(tmp_path, {**PACKAGE, ".gitignore": "*.db\n", "app/sub/x.db": "1"})
    outcome = source.move("app.sub", "app.part", reload="off")
    assert message_of(outcome, "left_in_place").endswith(": app.sub:x.db.")
    assert "app/sub/x.db" in files(tmp_path)
    source.undo(reload="off")
    assert set(PACKAGE) <= files(tmp_path)


def test_namespace_packages_get_no_init(tmp_path: Path) -> None:
    source = laid(tmp_path, {"ns/a.py": "x = 1\n", "app/__init__.py": "", "app/m.py": "y = 1\n"})
    source.move("app.m", "ns.part.m", reload="off")
    assert files(tmp_path) == {"ns/a.py", "app/__init__.py", "ns/part/m.py"}
    source.move("ns", "space", reload="off")
    assert files(tmp_path) == {"space/a.py", "app/__init__.py", "space/part/m.py"}


def test_all_that_a_source_root_holds_is_moved_inside_of_it(tmp_path: Path) -> None:
    source = laid(tmp_path, {f"src/{name}": content for name, content in PACKAGE.items()})
    source.move("app", "lib.app", reload="off")
    assert {"src/lib/__init__.py", "src/lib/app/sub/page.html"} <= files(tmp_path)
    source.move("lib", "app", reload="off")
    assert "src/app/app/core.py" in files(tmp_path)


TAKEN = {
    "app.base": "There is a module app.base already",
    "app.sub": "There is a package app.sub already",
    "app.sub.data": "There is a folder app.sub.data already",
    "app.f": "has an attribute f already",
    "app.base.core": "app.base is a module and no package",
    "app.BASE": "upper and lower case alone",
    "app.typed": "There is a stub app.typed@stub already",
    "app.LICENSE.core": "A file called LICENSE",
}


@pytest.mark.parametrize("to", TAKEN)
def test_a_name_that_is_taken_is_refused(tmp_path: Path, to: str) -> None:
    source = laid(tmp_path, {**PACKAGE, "app/typed.pyi": "", "app/core.pyi": "", "app/LICENSE": ""})
    error = refused(source, lambda: source.move("app.core", to, reload="off"), "name_collision")
    assert TAKEN[to] in error.message


def test_the_error_for_an_existing_package_has_the_call_that_was_perhaps_meant(tmp_path: Path) -> None:
    source = laid(tmp_path)
    error = refused(source, lambda: source.move("app.core", "app.sub"), "name_collision")
    assert error.hints == ('move("app.core", "app.sub.core") puts it in there.',)
    assert error.candidates == ("app.sub", "app.sub.core")


WRONG = {
    "app/net.py": "invalid_name",
    "app..net": "invalid_name",
    "app.class": "invalid_name",
    "app.net@body": "invalid_name",
    "app.net[0]": "invalid_name",
    "app.__init__": "invalid_name",
    "app:net.txt": "invalid_arguments",
    "": "invalid_arguments",
    "app.secret": "outside_project",
    "node_modules.net": "outside_project",
    "app." + "x" * 300: "forbidden",
}


@pytest.mark.parametrize("to", WRONG)
def test_a_name_that_no_module_can_have_is_refused(tmp_path: Path, to: str) -> None:
    source = laid(tmp_path, {**PACKAGE, ".gitignore": "secret*\n"})
    refused(source, lambda: source.move("app.core", to), WRONG[to])


def test_what_cannot_be_moved_is_refused(tmp_path: Path) -> None:
    source = laid(tmp_path, {**PACKAGE, "app/core.pyi": ""})
    refused(source, lambda: source.move("app.sub", "app.sub.inner.deep"), "unsafe_change")
    refused(source, lambda: source.move("app.core.f", "app"), "invalid_arguments")
    refused(source, lambda: source.move("app.core.f", "app.base.x"), "invalid_arguments")
    refused(source, lambda: source.move("app.core@stub", "app.g"), "invalid_arguments")
    refused(source, lambda: source.move("app.nothing", "app.g"), "symbol_not_found")
    refused(source, lambda: source.move("app.core", "app.g", if_match="0"), "stale")


def test_a_module_takes_a_name_of_other_letters_and_goes_where_its_folder_is_empty(tmp_path: Path) -> None:
    source = laid(tmp_path)
    (tmp_path / "app/kernel/__pycache__").mkdir(parents=True)
    source.move("app.core", "app.CORE", reload="off")
    source.move("app.CORE", "app.kernel", reload="off")
    assert "app/kernel.py" in files(tmp_path)


class Folding(Memory):
    """Files on a file system that does not tell upper from lower case, which cannot be had on every machine."""

    def _meant(self, path: str) -> str:
        there = (name[: len(path)] for name in self.contents if name[len(path) : len(path) + 1] in ("", "/"))
        return next((name for name in there if name.casefold() == path.casefold()), path)

    def kind(self, path: str) -> FileKind | None:
        """Say what stands at a path."""
        return super().kind(self._meant(path))

    def read(self, path: str) -> bytes:
        """Return a file's content."""
        return super().read(self._meant(path))


def test_where_letters_do_not_count_a_name_of_other_letters_is_refused() -> None:
    contents: Contents = {"app/__init__.py": b"", "app/core.py": b"x = 1\n"}
    workspace = Workspace(Folding({path: content or b"" for path, content in contents.items()}))
    with pytest.raises(Refused, match=r"does not tell app\.Core from app\.core") as caught:
        Move(target="app.core", to="app.Core").plan(workspace)
    assert caught.value.code == "name_collision"


@pytest.mark.parametrize(("target", "to"), [("app.sub", "app.Sub"), ("app.sub:data", "app.sub:Data")])
def test_where_letters_do_not_count_a_folder_is_not_renamed_by_them_alone(target: str, to: str) -> None:
    workspace = Workspace(Folding({"app/__init__.py": b"", "app/sub/__init__.py": b"", "app/sub/data/a.txt": b""}))
    with pytest.raises(Refused, match=r"its letters' case alone|does not tell") as caught:
        Move(target=target, to=to).plan(workspace)
    assert caught.value.code == "name_collision"
    assert caught.value.hints == ("Move it to another name first, and from there.",)


def test_a_package_and_a_data_folder_take_names_of_other_letters_and_go_back(tmp_path: Path) -> None:
    source = laid(tmp_path)
    (tmp_path / "app/sub").chmod(0o2770)
    before = picture(tmp_path)
    source.move("app.sub", "app.SUB", reload="off")
    assert "app/SUB/mod.py" in files(tmp_path)
    assert (tmp_path / "app/SUB").stat().st_mode & 0o7777 == 0o2770
    source.move("app.SUB:data", "app.SUB:Data", reload="off")
    assert "app/SUB/Data/logo.png" in files(tmp_path)
    assert not any(name.startswith(("app/sub/", "app/SUB/data/")) for name in files(tmp_path))
    source.undo(count=2, reload="off")
    assert picture(tmp_path) == before
    assert (tmp_path / "app/sub").stat().st_mode & 0o7777 == 0o2770


def test_a_package_in_which_something_stays_takes_no_name_of_other_letters(tmp_path: Path) -> None:
    source = laid(tmp_path)
    (tmp_path / "app/sub/.venv").mkdir()
    (tmp_path / "app/sub/.venv/pyvenv.cfg").write_text("home = nowhere")
    refused(source, lambda: source.move("app.sub", "app.SUB", reload="off"), "name_collision")


def test_a_package_that_git_holds_is_seen_by_git_as_moved(tmp_path: Path) -> None:
    source = laid(tmp_path)
    for command in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    source.move("app.sub", "app.part", reload="off")
    subprocess.run(["git", "add", "-A"], cwd=tmp_path, check=True)
    shown = subprocess.run(
        ["git", "status", "--short"], cwd=tmp_path, check=True, capture_output=True, text=True
    ).stdout
    assert {line[:1] for line in shown.splitlines() if "bae-source" not in line} == {"R"}


@pytest.mark.parametrize("new", ["NEW = 1\n", None], ids=["other", "the same"])
def test_a_moved_file_has_its_mode_whatever_takes_its_old_name(tmp_path: Path, new: str | None) -> None:
    source, other = laid(tmp_path / "here"), laid(tmp_path / "there")
    for root in (source.root, other.root):
        (root / "app/sub/mod.py").chmod(0o750)
    before = picture(source.root)
    text = (source.root / "app/sub/mod.py").read_text() if new is None else new
    requests = [
        {"do": "move", "target": "app.sub.mod", "to": "app.moved"},
        {"do": "write", "target": "app.sub.mod", "source": text},
    ]
    outcome = source.apply(requests, reload="off")
    after = picture(source.root)
    assert after["app/moved.py"] == before["app/sub/mod.py"]
    patched(other.root, outcome.diff)
    assert files(other.root) == files(source.root)
    if new is not None:
        assert "copy from app/sub/mod.py\ncopy to app/moved.py" in outcome.diff
        assert (other.root / "app/moved.py").stat().st_mode & 0o111
    source.undo(reload="off")
    assert picture(source.root) == before
    source.redo(reload="off")
    assert picture(source.root) == after


def test_a_module_that_is_made_and_moved_at_once_came_from_nowhere(tmp_path: Path) -> None:
    source = laid(tmp_path)
    before = picture(tmp_path)
    requests = [
        {"do": "write", "target": "app.made", "source": "A = 1\n"},
        {"do": "move", "target": "app.made", "to": "app.moved"},
    ]
    assert "new file mode 100644" in source.apply(requests, reload="off").diff
    after = picture(tmp_path)
    for back, there in ((source.undo, before), (source.redo, after), (source.undo, before)):
        back(reload="off")
        assert picture(tmp_path) == there


def test_several_at_once_go_back_to_the_modes_that_files_had(tmp_path: Path) -> None:
    source = laid(tmp_path)
    (tmp_path / "app/sub/mod.py").chmod(0o755)
    (tmp_path / "app/core.py").chmod(0o600)
    before = picture(tmp_path)
    source.move("app.sub", "app.part", reload="off")
    source.delete("app.part.mod", reload="off")
    source.move("app.core", "app.heart", reload="off")
    source.write("app.core", "B = 1\n", reload="off")
    after = picture(tmp_path)
    for _ in range(2):
        undone = source.undo(count=4, reload="off")
        assert picture(tmp_path) == before
        assert "new file mode 100755" in undone.diff
        source.redo(count=4, reload="off")
        assert picture(tmp_path) == after


@pytest.mark.parametrize(
    "requests",
    [
        [{"do": "delete", "target": "app.core", "force": True}, {"do": "move", "target": "app.base", "to": "app.core"}],
        [
            {"do": "move", "target": "app.core", "to": "app.between"},
            {"do": "move", "target": "app.base", "to": "app.core"},
            {"do": "move", "target": "app.between", "to": "app.base"},
        ],
    ],
    ids=["in the place of another", "one for the other"],
)
def test_a_mode_comes_along_to_a_name_that_was_taken(tmp_path: Path, requests: list[dict[str, str]]) -> None:
    source, one_by_one = laid(tmp_path / "here"), laid(tmp_path / "there")
    for root in (source.root, one_by_one.root):
        (root / "app/base.py").chmod(0o600)
        (root / "app/core.py").chmod(0o755)
    before = picture(source.root)
    source.apply(requests, reload="off")
    after = picture(source.root)
    for each in requests:
        one_by_one.apply([each], reload="off")
    assert picture(one_by_one.root) == after
    for _ in range(2):
        source.undo(reload="off")
        assert picture(source.root) == before
        source.redo(reload="off")
        assert picture(source.root) == after
