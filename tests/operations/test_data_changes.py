"""Data files edited, written, deleted and moved: bytes outside the request stay, and nothing else is reached."""

from __future__ import annotations

import codecs
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import Refused, ResourceError
from bae_source.project.files.port import FileKind
from bae_source.project.workspace import Workspace
from bae_source.refactoring.planning.data_changes import write_data
from tests.adapters.support import run
from tests.memory import Memory
from tests.operations.trees import PACKAGE, codes, files, laid, picture, refused

PAGE = "app.sub:page.html"


def page(root: Path) -> bytes:
    """Return what the page holds."""
    return (root / "app/sub/page.html").read_bytes()


def test_a_piece_of_text_is_replaced_by_any_name_of_the_file(tmp_path: Path) -> None:
    source = laid(tmp_path)
    outcome = source.edit("app:sub/page.html", old="one", new="1")
    assert outcome.text == "Edited app.sub:page.html."
    assert page(tmp_path) == b"<p>1</p>\r\n<p>two</p>\r\n"
    assert outcome.etag == source.read(PAGE).etag
    source.edit(PAGE, old="<p>1</p>\n<p>", new="<b>\n<p>", if_match=outcome.etag)
    assert page(tmp_path) == b"<b>\r\n<p>two</p>\r\n"
    source.undo()
    source.undo()
    assert page(tmp_path) == PACKAGE["app/sub/page.html"].encode()  # type: ignore[union-attr]


@pytest.mark.parametrize("seed", range(24))
def test_bytes_outside_of_the_replaced_text_never_change(tmp_path: Path, seed: int) -> None:
    choose = random.Random(seed)
    pieces = [b"a", b"\r\n", b"\n", b"\r", b"\xff", b"\xe9", "é€".encode(), b"\x1b[0m", b"\t", b"\x85", codecs.BOM_UTF8]
    lead, tail = (b"".join(choose.choices(pieces, k=choose.randint(0, 12))) for _ in range(2))
    source = laid(tmp_path, {**PACKAGE, "app/x.txt": lead + b"=here=" + tail})
    outcome = source.edit("app:x.txt", old="=here=", new="there", reload="off", dry_run=True)
    assert outcome.diff
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    patch = outcome.diff.encode("utf-8", "surrogateescape")
    subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], cwd=tmp_path, input=patch, check=True)
    assert (tmp_path / "app/x.txt").read_bytes() == lead + b"there" + tail


@pytest.mark.parametrize(
    ("before", "source", "after"),
    [
        (b"a\r\nb\r\n", "c\nd\n", b"c\r\nd\r\n"),
        (b"a\nb\n", "c\r\nd\r\n", b"c\nd\n"),
        (b"a\r\nb\n", "c\nd\n", b"c\nd\n"),
        (b"a\r\nb\r\n", "c\nd\r\n", b"c\r\nd\r\n"),
        (codecs.BOM_UTF8 + b"a\n", "b\n", codecs.BOM_UTF8 + b"b\n"),
        (codecs.BOM_UTF8 + b"a\n", "\ufeffb\n", codecs.BOM_UTF8 + b"b\n"),
        (b"a\n", "", b""),
        (b"", "a\n", b"a\n"),
    ],
)
def test_a_whole_text_keeps_line_ends_and_byte_order_mark(
    tmp_path: Path, before: bytes, source: str, after: bytes
) -> None:
    project = laid(tmp_path, {**PACKAGE, "app/x.txt": before})
    assert codes(project.edit("app:x.txt", source, reload="off")) == []
    assert (tmp_path / "app/x.txt").read_bytes() == after
    project.undo()
    assert (tmp_path / "app/x.txt").read_bytes() == before


@pytest.mark.parametrize("content", ["a\r\nb\n", "\ufeffx\r\n", "é\n\n", "x", "\f\x1c\u2028\n"])
def test_writing_what_was_read_changes_nothing(tmp_path: Path, content: str) -> None:
    source = laid(tmp_path, {**PACKAGE, "app/x.txt": content})
    assert source.edit("app:x.txt", str(source.read("app:x.txt"))).operation_id is None
    assert (tmp_path / "app/x.txt").read_bytes() == content.encode()


def test_what_is_no_text_is_replaced_as_a_whole_only(tmp_path: Path) -> None:
    files = {"app/u.txt": "ä=1".encode("utf-16"), "app/z.bin": b"\x89\x01\xff=1", "app/l.txt": b"\xe9=1"}
    source = laid(tmp_path, {**PACKAGE, **files})
    for name in ("app.sub:data/logo.png", "app:u.txt", "app:z.bin"):
        refused(source, lambda name=name: source.edit(name, old="=1", new="=2"), "unsafe_change")  # type: ignore[misc]
        assert codes(source.edit(name, "ü\n", reload="off")) == ["encoding_changed"]
    assert source.read("app:u.txt") == "ü\n"
    refused(source, lambda: source.edit("app:l.txt", old="=1", new="€"), "encoding_invalid")
    assert codes(source.edit("app:l.txt", old="=1", new="=2", reload="off")) == []
    assert codes(source.edit("app:l.txt", old="é=2", new="è", reload="off")) == ["encoding_assumed"]
    assert (tmp_path / "app/l.txt").read_bytes() == b"\xe8"


EDITS: dict[str, tuple[Callable[[Source], object], str]] = {
    "no such file": (lambda it: it.edit("app.sub:pag.html", "x"), "symbol_not_found"),
    "no such package": (lambda it: it.edit("nope:page.html", "x"), "symbol_not_found"),
    "a folder": (lambda it: it.edit("app.sub:data", "x"), "unsafe_change"),
    "a package": (lambda it: it.edit("app:sub", "x"), "symbol_not_found"),
    "a module": (lambda it: it.edit("app:core.py", "x"), "symbol_not_found"),
    "an older state": (lambda it: it.edit(PAGE, "x", if_match="0" * 16), "stale"),
    "nothing to look for": (lambda it: it.edit(PAGE, old="", new="x"), "invalid_arguments"),
    "text that is not there": (lambda it: it.edit(PAGE, old="three", new="x"), "symbol_not_found"),
    "text that is there twice": (lambda it: it.edit(PAGE, old="<p>", new="x"), "ambiguous_symbol"),
    "old alone": (lambda it: it.edit(PAGE, old="one"), "invalid_arguments"),
    "imports": (lambda it: it.edit(PAGE, old="one", new="1", imports=["import os"]), "invalid_arguments"),
    "a comment": (lambda it: it.edit(PAGE, "x", comment="# no"), "invalid_arguments"),
    "a lone surrogate": (lambda it: it.edit(PAGE, "\udcff"), "encoding_invalid"),
    "a way out": (lambda it: it.edit("app:../x", "x"), "invalid_name"),
}


@pytest.mark.parametrize("what", EDITS)
def test_an_edit_that_cannot_be_made_changes_nothing(tmp_path: Path, what: str) -> None:
    source = laid(tmp_path)
    call, code = EDITS[what]
    refused(source, lambda: call(source), code)  # type: ignore[arg-type, return-value]


def test_the_nearest_lines_are_shown(tmp_path: Path) -> None:
    source = laid(tmp_path)
    error = refused(source, lambda: source.edit(PAGE, old="<p>onne</p>", new="x"), "symbol_not_found")
    assert error.hints[0] == "line 1 of it is '<p>one</p>'"


def test_a_new_data_file_is_written_and_undone(tmp_path: Path) -> None:
    source = laid(tmp_path)
    before = picture(tmp_path)
    outcome = source.write("app:sub/templates/css/site.css", "b { }\r\nü\n")
    assert [each.address for each in outcome.changed] == ["app.sub:templates/css/site.css"]
    assert (tmp_path / "app/sub/templates/css/site.css").read_bytes() == "b { }\r\nü\n".encode()
    assert source.read("app.sub:templates/css/site.css").etag == outcome.etag
    assert "+++ b/app/sub/templates/css/site.css" in outcome.diff
    source.undo()
    assert picture(tmp_path) == before


def test_a_data_file_that_is_there_is_overwritten_only_if_asked(tmp_path: Path) -> None:
    source = laid(tmp_path)
    error = refused(source, lambda: source.write(PAGE, "x\n"), "name_collision")
    assert error.candidates == (PAGE,)
    refused(source, lambda: source.write(PAGE, "x\n", overwrite=True, if_match="0"), "stale")
    refused(source, lambda: source.write("app.sub:new.html", "x\n", if_match="0"), "stale")
    source.write(PAGE, "x\n", overwrite=True, if_match=source.read(PAGE).etag)
    assert page(tmp_path) == b"x\r\n"


PLACES = {
    "app:new.py": "invalid_name",
    "app:new.pyi": "invalid_name",
    "app:new.pyc": "invalid_name",
    "app:dir.py/x": "invalid_name",
    "app:../x.txt": "invalid_name",
    "app:/x.txt": "invalid_name",
    "app:a\\x.txt": "invalid_name",
    "app:" + "x" * 300: "invalid_name",
    "app:.git/config": "forbidden",
    "app:.git": "forbidden",
    "app:.bae-source/x": "forbidden",
    "app:__pycache__/x": "forbidden",
    "app:local.db": "unsafe_change",
    "app:core.py.txt/../../x": "invalid_name",
    "app:sub": "name_collision",
    "app.sub:data": "name_collision",
    "app.sub:page.html/x": "name_collision",
    "app.sub:PAGE.html": "name_collision",
    "app:out/x.txt": "name_collision",
    "app:gone.txt": "name_collision",
    "app:pipe": "name_collision",
    "app:lnk/x.txt": "unsafe_change",
    "nope:x.txt": "symbol_not_found",
    "app.core:x.txt": "symbol_not_found",
}


@pytest.mark.parametrize("target", PLACES)
def test_where_no_data_file_may_lie_none_is_written_or_moved(tmp_path: Path, target: str) -> None:
    source = laid(tmp_path, {**PACKAGE, ".gitignore": "*.db\n", "docs/a.md": "1", "app/old.txt": "1"})
    (tmp_path / "app/out").symlink_to(tmp_path.parent)
    (tmp_path / "app/gone.txt").symlink_to("nowhere")
    (tmp_path / "app/lnk").symlink_to("sub/data")
    subprocess.run(["mkfifo", str(tmp_path / "app/pipe")], check=True)
    for overwrite in (False, True):
        refused(source, lambda overwrite=overwrite: source.write(target, "x", overwrite=overwrite), PLACES[target])  # type: ignore[misc]
    refused(source, lambda: source.move("app:old.txt", target), PLACES[target])


def test_a_package_of_several_source_roots_takes_no_new_data_file(tmp_path: Path) -> None:
    roots = {"pyproject.toml": "[tool.bae-source]\nsource-roots = ['a', 'b']\n"}
    source = laid(tmp_path, {**roots, "a/p/m.py": "", "b/p/n.py": ""})
    refused(source, lambda: source.write("p:new.txt", "x"), "ambiguous_symbol")


def test_a_link_inside_is_written_through(tmp_path: Path) -> None:
    source = laid(tmp_path)
    (tmp_path / "app/lnk.html").symlink_to("sub/page.html")
    source.edit("app:lnk.html", old="one", new="1", reload="off")
    assert page(tmp_path).startswith(b"<p>1</p>")
    assert (tmp_path / "app/lnk.html").is_symlink()


def test_data_files_and_folders_move(tmp_path: Path) -> None:
    source = laid(tmp_path)
    before = picture(tmp_path)
    outcome = source.move(PAGE, "app:html/index.html", reload="off")
    assert [(each.address, each.etag) for each in outcome.changed] == [
        ("app:html/index.html", source.read("app:html/index.html").etag),
        (PAGE, None),
    ]
    source.move("app.sub:data", "app:pictures/all", reload="off")
    assert {"app/html/index.html", "app/pictures/all/logo.png"} <= files(tmp_path)
    assert source.move("app:html", "app:html", reload="off").operation_id is None
    refused(source, lambda: source.move("app:html", "app:html/inner"), "unsafe_change")
    refused(source, lambda: source.move("app:html", "app.html"), "invalid_arguments")
    refused(source, lambda: source.move("app:html/index.html", "app:html"), "name_collision")
    source.undo()
    source.undo()
    assert picture(tmp_path) == before


def test_a_data_file_is_deleted(tmp_path: Path) -> None:
    source = laid(tmp_path)
    etag = source.read("app.sub:data/logo.png").etag
    outcome = source.delete("app.sub:data/logo.png", if_match=etag)
    assert "GIT binary patch" in outcome.diff
    assert not (tmp_path / "app/sub/data").exists()
    source.undo()
    assert "app/sub/data/logo.png" in files(tmp_path)


def test_the_parts_of_a_transaction_see_each_other(tmp_path: Path) -> None:
    source = laid(tmp_path)
    before = picture(tmp_path)
    with source.transaction("pages", reload="off") as tx:
        tx.write("app:t/a.html", "<p>\n")
        tx.edit("app:t/a.html", old="<p>", new="<b>")
        tx.move("app:t", "app.sub:u")
        assert tx.read("app.sub:u/a.html") == "<b>\n"
        tx.delete(PAGE)
    assert (tmp_path / "app/sub/u/a.html").read_bytes() == b"<b>\n"
    source.undo(reload="off")
    assert picture(tmp_path) == before


def test_the_real_command_line_does_all_of_it(tmp_path: Path) -> None:
    laid(tmp_path)
    done = run("write", "app:new.txt", "--source", "-", "--json", folder=tmp_path, stdin="ä\n".encode())
    assert (done.status, done.json["changed"][0]["address"]) == (0, "app:new.txt")
    assert run("edit", "app:new.txt", "--old", "ä", "--new", "ö", folder=tmp_path).status == 0
    assert (tmp_path / "app/new.txt").read_text() == "ö\n"
    done = run("move", "app.sub", "app.part", "--dry-run", folder=tmp_path)
    assert b"rename to app/part/data/logo.png" in done.out
    assert run("delete", "app.sub", folder=tmp_path).status == 5
    assert run("delete", "app.sub", "--recursive", "--reload", "off", folder=tmp_path).status == 0
    assert not (tmp_path / "app/sub").exists()


class Folding(Memory):
    """Files on a file system that does not tell upper from lower case, which cannot be had on every machine."""

    def kind(self, path: str) -> FileKind | None:
        """Say what stands at a path."""
        return super().kind(next((name for name in self.contents if name.casefold() == path.casefold()), path))


def test_where_letters_do_not_count_no_second_file_is_made() -> None:
    workspace = Workspace(Folding({"app/__init__.py": b"", "app/a.txt": b"1"}))
    with pytest.raises(Refused) as caught:
        write_data(workspace, "app:A.txt", "2")
    assert caught.value.code == "name_collision"


def test_errors_name_no_path(tmp_path: Path) -> None:
    source = laid(tmp_path)
    for target in ("app:sub", "app.sub:page.html/x", "app:new.py", "nope:x"):
        with pytest.raises(ResourceError) as caught:
            source.write(target, "x")
        assert str(tmp_path) not in f"{caught.value.message}{caught.value.hints}"
        assert "app/" not in caught.value.message
