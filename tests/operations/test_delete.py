"""Modules, packages and data files deleted for real: what goes, what stays, who is told, what undo brings back."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from bae_source import Source
from bae_source.engine.changing import Changing
from bae_source.errors import Refused
from bae_source.project.files.port import Disk, Folder
from tests.operations.trees import PACKAGE, codes, files, laid, message_of, patched, picture, refused


def test_a_package_goes_with_all_that_is_in_it_and_undo_brings_back_every_byte_and_mode(tmp_path: Path) -> None:
    source = laid(tmp_path / "here")
    other = laid(tmp_path / "there")
    for root in (source.root, other.root):
        (root / "app/sub/mod.py").chmod(0o755)
    before = picture(source.root)
    outcome = source.delete("app.sub", recursive=True, reload="off")
    assert outcome.text == "Deleted app.sub, with 2 modules and 2 data files."
    assert [(each.address, each.etag) for each in outcome.changed] == [("app.sub", None)]
    assert not (source.root / "app/sub").exists()
    patched(other.root, outcome.diff)
    assert picture(other.root) == picture(source.root)
    patched(other.root, outcome.diff, "--reverse")
    source.undo(reload="off")
    assert picture(source.root) == before
    assert files(other.root) == files(source.root)
    source.redo(reload="off")
    assert not (source.root / "app/sub").exists()


def test_a_module_is_deleted_and_unloaded_by_the_usual_check(tmp_path: Path) -> None:
    source = laid(tmp_path)
    refused(source, lambda: source.delete("app.core"), "unsafe_change")
    outcome = source.delete("app.core", force=True)
    assert message_of(outcome, "still_imported") == "app.core is still imported: app:1."
    assert files(tmp_path) == {name for name in PACKAGE if name != "app/core.py"}


def test_a_package_needs_a_yes_and_the_error_has_the_call(tmp_path: Path) -> None:
    source = laid(tmp_path)
    error = refused(source, lambda: source.delete("app.sub"), "unsafe_change")
    assert "2 modules and 2 data files" in error.message
    etag = error.details["etag"]
    assert error.hints == (f'delete("app.sub", recursive=True, if_match="{etag}") deletes it whole.',)
    (tmp_path / "app/sub/page.html").write_text("new")
    stale = refused(source, lambda: source.delete("app.sub", recursive=True, if_match=etag), "stale")
    assert source.delete("app.sub", recursive=True, if_match=stale.details["etag"], reload="off").operation_id


def test_the_etag_of_a_module_is_that_of_its_full_source(tmp_path: Path) -> None:
    source = laid(tmp_path)
    etag = source.read("app.base", full=True).etag
    refused(source, lambda: source.delete("app.base", if_match="0" * 16), "stale")
    assert source.delete("app.base", if_match=etag, reload="off").operation_id


def test_what_is_no_part_of_the_project_stays_and_is_named(tmp_path: Path) -> None:
    source = laid(tmp_path, {**PACKAGE, ".gitignore": "*.db\nlocal/\n", "app/sub/x.db": "1", "app/sub/local/y": "2"})
    (tmp_path / "app/sub/empty").mkdir()
    (tmp_path / "app/sub/out").symlink_to("/")
    os.mkfifo(tmp_path / "app/sub/pipe")
    (tmp_path / "app/sub/__pycache__").mkdir()
    (tmp_path / "app/sub/__pycache__/mod.cpython-311.pyc").write_bytes(b"x")
    before = picture(tmp_path)
    outcome = source.delete("app.sub", recursive=True, reload="off")
    stays = "app.sub:empty/, app.sub:local/, app.sub:out, app.sub:pipe, app.sub:x.db"
    assert message_of(outcome, "left_in_place") == f"No part of the project, and left where it is: {stays}."
    left = {name for name in picture(tmp_path) if name.startswith("app/sub/") and "__pycache__" not in name}
    assert left == {f"app/sub/{name}" for name in ("empty", "local", "local/y", "out", "pipe", "x.db")}
    source.undo(reload="off")
    after = picture(tmp_path)
    assert {name: facts for name, facts in before.items() if not name.endswith(".pyc")} == {
        name: facts for name, facts in after.items() if not name.endswith(".pyc")
    }


def test_a_namespace_package_goes_too(tmp_path: Path) -> None:
    source = laid(tmp_path, {"ns/a.py": "", "ns/b/c.py": "", "main.py": "import ns.a\nfrom ns import b\nimport nsx\n"})
    inner = source.delete("ns.b", recursive=True, force=True, dry_run=True)
    assert message_of(inner, "still_imported") == "ns.b is still imported: main:2."
    assert "2 modules" in refused(source, lambda: source.delete("ns"), "unsafe_change").message
    outcome = source.delete("ns", recursive=True, force=True, reload="off")
    assert message_of(outcome, "still_imported") == "ns is still imported: main:1, main:2."
    assert files(tmp_path) == {"main.py"}


def test_a_stub_goes_alone_and_one_of_a_stub_package_stays(tmp_path: Path) -> None:
    source = laid(tmp_path, {**PACKAGE, "app/base.pyi": "x: int\n", "app-stubs/core.pyi": "def f() -> int: ...\n"})
    assert codes(source.delete("app.base@stub", reload="off")) == []
    assert "app/base.py" in files(tmp_path)
    assert "app/base.pyi" not in files(tmp_path)
    source.delete("app.core", force=True, reload="off")
    assert "app-stubs/core.pyi" in files(tmp_path)


def test_a_module_that_cannot_be_decoded_or_does_not_parse_is_deleted(tmp_path: Path) -> None:
    source = laid(tmp_path, {"p/__init__.py": b"x = '\xe9\n", "p/a.py": b"\xff", "p/b.pyi": "def f(:\n", "p/b.py": ""})
    assert source.delete("p.a", reload="off").operation_id
    assert source.delete("p.b@stub", reload="off").operation_id
    assert source.delete("p", recursive=True, reload="off").operation_id
    assert files(tmp_path) == set()


LINKS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "a package reached through a link": ("lnk", lambda root: (root / "lnk").symlink_to("app")),
    "a module reached through a link": ("lnk.core", lambda root: (root / "lnk").symlink_to("app")),
    "a module that is a link": ("app.lnk", lambda root: (root / "app/lnk.py").symlink_to("base.py")),
    "a package with a link in it": ("app.sub", lambda root: (root / "app/sub/lnk.txt").symlink_to("page.html")),
    "a data file that is a link": ("app:lnk.txt", lambda root: (root / "app/lnk.txt").symlink_to("sub/page.html")),
    "a package with a repository": ("app", lambda root: (root / "app/sub/.git").write_text("gitdir: x\n")),
    "a package with a source root": ("app", lambda root: _source_root(root)),
    "a name that is no text": ("app.sub", lambda root: (root / os.fsdecode(b"app/sub/\xff.txt")).write_text("1")),
}


@pytest.mark.parametrize("what", LINKS)
@pytest.mark.parametrize("dry_run", [True, False], ids=["dry", "real"])
def test_what_undo_could_not_bring_back_is_refused(tmp_path: Path, what: str, dry_run: bool) -> None:
    target, prepare = LINKS[what]
    source = laid(tmp_path)
    prepare(tmp_path)
    error = refused(source, lambda: source.delete(target, recursive=True, dry_run=dry_run), "unsafe_change")
    assert str(tmp_path) not in error.message
    refused(source, lambda: source.move(target, "app:y.txt" if ":" in target else "top"), "unsafe_change")


def test_more_bytes_than_undo_can_keep_are_refused_before_they_are_read(tmp_path: Path) -> None:
    source = laid(tmp_path)
    large = tmp_path / "app/sub/big.bin"
    with large.open("wb") as file:
        file.truncate(300_000_000)
    for target in ("app.sub", "app.sub:big.bin"):
        with pytest.raises(Refused, match="more than 256,000,000 bytes") as caught:
            source.delete(target, recursive=True)
        assert caught.value.code == "unsafe_change"
    assert large.stat().st_size == 300_000_000
    assert (tmp_path / "app/sub/page.html").exists()


def test_a_file_that_may_not_be_written_keeps_the_whole_package(tmp_path: Path) -> None:
    source = laid(tmp_path)
    (tmp_path / "app/sub/mod.py").chmod(0o444)
    error = refused(source, lambda: source.delete("app.sub", recursive=True), "forbidden")
    assert "app.sub.mod is read-only" in error.message


def test_a_name_of_two_files_is_ambiguous_and_a_module_has_no_body_to_delete(tmp_path: Path) -> None:
    source = laid(tmp_path, {**PACKAGE, "app.py": ""})
    assert refused(source, lambda: source.delete("app"), "ambiguous_symbol").candidates == ("app.__init__",)
    refused(source, lambda: source.delete("app.base@body"), "unsafe_change")


def test_a_module_that_changed_between_plan_and_commit_is_not_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = laid(tmp_path)
    real = Changing.commit

    def disturbed(self: Changing, *given: object, **named: object) -> object:
        (tmp_path / "app/base.py").write_text("x = 2\n")
        return real(self, *given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Changing, "commit", disturbed)
    with pytest.raises(Refused) as caught:
        source.delete("app.base", reload="off")
    assert caught.value.code == "stale"
    assert (tmp_path / "app/base.py").read_text() == "x = 2\n"


def test_modules_that_still_refer_to_a_deleted_name_are_named(tmp_path: Path) -> None:
    users = {
        "app/user.py": "from . import base\nfrom .base import (\n    x,\n)\nimport app.base as b, \\\n    app.core\n",
        "app/names.py": 'NAMES = ["app.base", "app.base:x", "base", "app.basement"]\n',
        "app/other.py": "from app import basement\nfrom .sub import base\nbase = 1\n",
        "app/sub/__init__.py": "from ..base import x as base\n",
        "app/begun.py": 'def f():\n    x = "app.base"\n    y = = 1\n',
        "app/broken.py": "import app.base\ndef f(:\n",
        "pyproject.toml": '[project.scripts]\nrun = "app.base:main"\n',
    }
    outcome = laid(tmp_path, {**PACKAGE, **users}).delete("app.base", force=True, dry_run=True)
    assert message_of(outcome, "still_imported") == (
        "app.base is still imported: app.sub:1, app.user:1, app.user:2, app.user:5."
    )
    assert message_of(outcome, "named_in_strings") == (
        "app.base is still named in strings: app.names:1, pyproject.toml:2."
    )
    assert [each.message.partition(" ")[0] for each in outcome.warnings if each.code == "not_searched"] == [
        "app.begun",
        "app.broken",
    ]


def test_an_import_of_an_attribute_of_that_name_is_no_import_of_the_module(tmp_path: Path) -> None:
    source = laid(tmp_path, {"app/__init__.py": "base = 1\n", "app/base.py": "", "main.py": "from app import base\n"})
    assert codes(source.delete("app.base@module", dry_run=True)) == []


def test_an_import_that_finds_the_file_beside_it_is_reported(tmp_path: Path) -> None:
    imports = {
        "tool/a.py": "import b\n",
        "tool/c.py": "from b import x\n",
        "tool/sub/d.py": "import b\n",
        "e.py": "import b\n",
    }
    source = laid(tmp_path, {"tool/b.py": "x = 1\n", **imports})
    outcome = source.delete("tool.b", dry_run=True)
    assert message_of(outcome, "perhaps_imported") == (
        "tool.b may still be imported, from its own folder: tool.a:1, tool.c:1."
    )
    (tmp_path / "tool/__init__.py").write_text("")
    assert codes(source.delete("tool.b", dry_run=True)) == []


@pytest.mark.parametrize("target", ["app.sub", "app.sub:page.html", "app.base"])
def test_what_may_not_be_read_is_not_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    source = laid(tmp_path)
    real = Disk.read

    def closed(self: Disk, path: str) -> bytes:
        if path in ("app/sub/page.html", "app/base.py"):  # for root every file is open, so this cannot be had for real
            raise Refused("forbidden", "The file may not be read.", hints=["Check its permissions."])
        return real(self, path)

    monkeypatch.setattr(Disk, "read", closed)
    refused(source, lambda: source.delete(target, recursive=True), "forbidden")


def test_a_package_with_a_folder_that_may_not_be_listed_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = laid(tmp_path)
    real = Disk.folder

    def closed(self: Disk, path: str) -> Folder:
        return replace(real(self, path), readable=path != "app/sub/data")  # as above

    monkeypatch.setattr(Disk, "folder", closed)
    assert "app.sub" in refused(source, lambda: source.delete("app.sub", recursive=True), "forbidden").message


def test_of_very_many_importers_the_first_are_named(tmp_path: Path) -> None:
    many = {f"app/user{number:03}.py": "import app.base\n" for number in range(120)}
    outcome = laid(tmp_path, {**PACKAGE, **many}).delete("app.base", force=True, dry_run=True)
    message = message_of(outcome, "still_imported")
    assert "app.user009:1 and 90 more, and 20 more files speak of it." in message
    for name in many:
        (tmp_path / name).write_text('"""Do not import base."""\n')
    (tmp_path / "app/user119.py").write_text("import app.base\n")
    message = message_of(Source(tmp_path).delete("app.base", dry_run=True), "perhaps_imported")
    assert message == "app.base may still be imported: 20 files speak of it and were not read."


def test_a_data_folder_needs_a_yes_and_leaves_code_alone(tmp_path: Path) -> None:
    source = laid(tmp_path, {**PACKAGE, "app/res/a.txt": "1", "app/res/b/c.txt": "2"})
    error = refused(source, lambda: source.delete("app:res"), "unsafe_change")
    assert "folder of data files with 2 data files" in error.message
    source.delete("app:res", recursive=True, if_match=error.details["etag"], reload="off")
    assert files(tmp_path) == set(PACKAGE)
    assert refused(source, lambda: source.delete("app:sub"), "symbol_not_found").candidates == ("app.sub",)


def test_deleting_in_a_transaction_is_seen_by_what_follows(tmp_path: Path) -> None:
    source = laid(tmp_path)
    before = picture(tmp_path)
    with source.transaction("tidy", reload="off") as tx:
        tx.delete("app.sub", recursive=True)
        tx.move("app.base", "app.sub")
        tx.edit("app.sub.x", "x = 3")
    assert (tmp_path / "app/sub.py").read_text() == "x = 3\n"
    source.undo(reload="off")
    assert picture(tmp_path) == before


def _source_root(root: Path) -> None:
    (root / "pyproject.toml").write_text("[tool.bae-source]\nsource-roots = ['.', 'app/sub']\n")


def test_the_project_opened_in_a_package_takes_its_own_init_for_a_module(tmp_path: Path) -> None:
    laid(tmp_path)
    inner = Source(tmp_path / "app")
    assert inner.delete("__init__", dry_run=True).text.endswith("Deleted __init__.")


@pytest.mark.parametrize("how", ["delete", "move"])
def test_links_that_lead_nowhere_afterwards_are_reported(tmp_path: Path, how: str) -> None:
    source = laid(tmp_path)
    (tmp_path / "app/alias.py").symlink_to("base.py")
    (tmp_path / "app/sub/deep.py").symlink_to("../base.py")
    os.link(tmp_path / "app/core.py", tmp_path / "app/twin.py")

    def made(target: str) -> list[str]:
        if how == "delete":
            outcome = source.delete(target, force=True, dry_run=True)
        else:
            outcome = source.move(target, "app.z", dry_run=True)
        return [notice.message for notice in outcome.warnings if notice.code == "links_cut_off"]

    assert made("app.base") == [
        "Links to app.base lead nowhere then, and are left as they are: app.alias, app.sub.deep."
    ]
    assert made("app.core") == [], "another name of the file keeps it"
    assert picture(tmp_path)["app/alias.py"][1] == "base.py"


def test_a_transaction_takes_imports_along_only_where_nothing_uses_the_names(tmp_path: Path) -> None:
    (tmp_path / "core.py").write_text("def send():\n    return 1\n\n\ndef stop():\n    return 2\n")
    (tmp_path / "web.py").write_text("from core import send, stop\n\nsend()\n")
    source = Source(tmp_path)
    with pytest.raises(Refused, match="still used") as caught, source.transaction() as tx:
        tx.delete("core.send", with_imports=True)
    assert (caught.value.code, "web:3" in caught.value.message) == ("unsafe_change", True)
    with source.transaction() as tx:
        tx.delete("core.send", with_imports=True)
        tx.edit("web", old="from core import send, stop\n\nsend()\n", new="")
    assert (tmp_path / "web.py").read_text() == ""
    assert "send" not in (tmp_path / "core.py").read_text()
