"""New modules and replaced ones, through the door that callers use; each refusal leaves every byte as it was."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import LookupFailed, Refused, RequestError, ResourceError, SourceError, TransactionError
from bae_source.model.outcome import Outcome

APP = {
    "pyproject.toml": '[project]\nname = "app"\nrequires-python = ">=3.9"\n',
    "app/__init__.py": '"""An app."""\n\nfrom .core import Thing\n\n__all__ = ["Thing"]\n',
    "app/core.py": "class Thing:\n    pass\n",
}


def project(root: Path, files: Mapping[str, str | bytes] = APP) -> Source:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return Source(root)


def picture(root: Path) -> dict[str, bytes | None]:
    """Everything below a folder but what is our own, folders too."""
    found = {
        path.relative_to(root).as_posix(): path.read_bytes() if path.is_file() else None for path in root.rglob("*")
    }
    return {name: content for name, content in found.items() if not name.startswith((".bae-source", ".git/"))}


def codes(outcome: Outcome) -> list[str]:
    return [notice.code for notice in outcome.warnings]


@pytest.fixture(autouse=True)
def _no_telemetry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAE_SOURCE_TELEMETRY", "off")


def test_a_module_and_its_packages_are_made_and_undone(tmp_path: Path) -> None:
    src = project(tmp_path)
    before = picture(tmp_path)
    outcome = src.write("app.net.http.client", "class Client: ...", export=True, reload="off")
    assert (tmp_path / "app/net/__init__.py").read_bytes() == b""
    assert (tmp_path / "app/net/http/client.py").read_bytes() == b"class Client: ...\n"
    assert codes(outcome) == ["packages_made", "final_newline_added"]
    assert [each.address for each in outcome.changed] == ["app.net.http.client", "app.net", "app.net.http"]
    assert src.read("app.net.http.Client").address == "app.net.http.client.Client"
    src.undo(reload="off")
    assert picture(tmp_path) == before


def test_a_new_module_is_addressed_by_its_etag_at_once(tmp_path: Path) -> None:
    src = project(tmp_path)
    made = src.write("app.retry", "def again(): ...\n", reload="off")
    assert made.etag == src.read("app.retry", full=True).etag
    src.write("app.retry", "def again(): return 1\n", overwrite=True, if_match=made.etag, reload="off")
    with pytest.raises(Refused, match="not what it was") as caught:
        src.write("app.retry", "x = 1\n", overwrite=True, if_match=made.etag, reload="off")
    assert caught.value.code == "stale"
    assert (tmp_path / "app/retry.py").read_text() == "def again(): return 1\n"


@pytest.mark.parametrize(
    ("files", "target", "path"),
    [
        ({"src/app/__init__.py": "", "tools.py": ""}, "other.mod", "src/other/mod.py"),
        ({"src/app/__init__.py": "", "scripts/__init__.py": ""}, "scripts.mod", "scripts/mod.py"),
        ({"app/__init__.py": ""}, "single", "single.py"),
        ({"ns/a.py": ""}, "ns.b.c", "ns/b/c.py"),
        ({"app/__init__.py": "", "app/empty/__pycache__/x.pyc": ""}, "app.empty", "app/empty.py"),
        ({"app/__init__.py": "from . import plugin\n"}, "app.plugin", "app/plugin.py"),
        ({"app/__init__.py": "", "app/data/x.txt": ""}, "app.data.__init__", "app/data/__init__.py"),
        ({"ns/a.py": ""}, "ns.__init__", "ns/__init__.py"),
    ],
)
def test_it_lies_beside_the_nearest_package_else_below_the_first_root(
    tmp_path: Path, files: dict[str, str], target: str, path: str
) -> None:
    src = project(tmp_path, files)
    before = picture(tmp_path).keys()
    src.write(target, "X = 1\n", reload="off")
    made = {name for name, content in picture(tmp_path).items() if name not in before and content is not None}
    assert path in made
    assert made - {path} <= {"src/other/__init__.py"}


@pytest.mark.parametrize(
    ("target", "error", "code", "says"),
    [
        ("app.class", RequestError, "invalid_name", "a keyword"),
        ("app.0002_more", RequestError, "invalid_name", "no identifier"),
        ("app/core.py", RequestError, "invalid_name", "is a path"),
        ("app..core", RequestError, "invalid_name", "no dotted name"),
        ("app.core@body", RequestError, "invalid_name", "a part"),
        ("app.core@stub", RequestError, "invalid_name", "a stub"),
        ("app.core[1]", RequestError, "invalid_name", "one of several"),
        ("app.core", Refused, "name_collision", "There is a module app.core"),
        ("app", Refused, "name_collision", "There is a package app"),
        ("app.core.deep", Refused, "name_collision", "no package"),
        ("app.Core", Refused, "name_collision", "upper and lower case"),
        ("App.new", Refused, "name_collision", "upper and lower case"),
        ("app.Thing", Refused, "name_collision", "attribute Thing"),
        ("app.data", Refused, "name_collision", "folder of data files"),
        ("app.data.mod", Refused, "name_collision", "folder of data files"),
        ("ns", Refused, "name_collision", "namespace package"),
        ("app.secret", Refused, "outside_project", "Git ignores"),
        ("app.away", Refused, "outside_project", "leads out of the project"),
        ("app.away.mod", Refused, "outside_project", "leads out of the project"),
        ("build.mod", Refused, "outside_project", "ignores"),
    ],
)
def test_a_place_that_is_taken_or_none_is_refused(
    tmp_path: Path, target: str, error: type[ResourceError], code: str, says: str
) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    outside.mkdir()
    src = project(root, {**APP, "app/data/x.txt": "", "ns/a.py": "", ".gitignore": "secret.py\n"})
    (root / "app/away").symlink_to(outside)
    (root / ".git").mkdir()
    before = picture(tmp_path)
    with pytest.raises(error, match=says) as caught:
        src.write(target, "X = 1\n", reload="off")
    assert caught.value.code == code
    assert caught.value.hints or caught.value.candidates
    assert picture(tmp_path) == before


@pytest.mark.parametrize(
    ("source", "more", "error", "code"),
    [
        ("def f(:\n", {}, SourceError, "syntax_invalid"),
        ("match x:\n    case 1: pass\n", {}, SourceError, "syntax_invalid"),
        ("# coding: latin-1\nX = '€'\n", {}, SourceError, "encoding_invalid"),
        ("# coding: nonsense\n", {}, SourceError, "encoding_invalid"),
        ("X = '\udc80'\n", {}, SourceError, "encoding_invalid"),
        ("X = 1\0\n", {}, SourceError, "syntax_invalid"),
        ("X = 1\n", {"if_match": "0123456789abcdef"}, Refused, "stale"),
        ("X = 1\n", {"export": ["Y"]}, LookupFailed, "symbol_not_found"),
        ("Thing = 1\n", {"export": True}, Refused, "name_collision"),
        ("X = 1\n", {"export": "X"}, RequestError, "invalid_arguments"),
    ],
)
def test_source_that_is_at_fault_makes_nothing(
    tmp_path: Path, source: str, more: dict[str, object], error: type[ResourceError], code: str
) -> None:
    src = project(tmp_path)
    before = picture(tmp_path)
    with pytest.raises(error) as caught:
        src.write("app.new" if "export" in more else "app.sub.new", source, reload="off", **more)
    assert caught.value.code == code
    assert picture(tmp_path) == before


def test_a_data_file_is_neither_exported_nor_a_package(tmp_path: Path) -> None:
    src = project(tmp_path)
    before = picture(tmp_path)
    for more in ({"export": True}, {"package": True}):
        with pytest.raises(RequestError, match="data file"):
            src.write("app:page.html", "<p>", reload="off", **more)
    assert picture(tmp_path) == before


def test_what_hides_other_modules_is_reported(tmp_path: Path) -> None:
    src = project(tmp_path, {**APP, "app/typed.pyi": "x: int\n"})
    assert codes(src.write("json", "X = 1\n", reload="off")) == ["shadows_stdlib"]
    assert codes(src.write("app.typed", "x = 1\n", reload="off")) == ["stub_there", "exported"]


@pytest.mark.parametrize("before", [b"def f(:\n", b"X = '\xff'\n", b"# coding: nonsense\n"])
def test_a_module_that_cannot_be_read_can_be_replaced(tmp_path: Path, before: bytes) -> None:
    src = project(tmp_path, {**APP, "app/broken.py": before})
    src.write("app.broken", "X = 1\n", overwrite=True, reload="off")
    assert (tmp_path / "app/broken.py").read_bytes() == b"X = 1\n"
    src.undo(reload="off")
    assert (tmp_path / "app/broken.py").read_bytes() == before


@pytest.mark.parametrize(
    ("before", "source", "after"),
    [
        (b"\xef\xbb\xbfX = 1\r\n", "Y = 2\n", b"\xef\xbb\xbfY = 2\r\n"),
        (b"\xef\xbb\xbfX = 1\n", "\N{ZERO WIDTH NO-BREAK SPACE}Y = 2\n", b"\xef\xbb\xbfY = 2\n"),
        (b"X = 1\r", "Y = 2\nZ = 3", b"Y = 2\rZ = 3\r"),
        (b"X = 1\r\n", "Y = 2\r\nZ = 3\n", b"Y = 2\r\nZ = 3\r\n"),
        (b"#!x\n# coding: latin-1\nX = '\xe9'\n", "#!x\nY = 'è'\n", b"#!x\n# coding: latin-1\nY = '\xe8'\n"),
        (b"# coding: latin-1\nX = '\xe9'\n", "# coding: utf-8\nY = 'è'\n", "# coding: utf-8\nY = 'è'\n".encode()),
        (b"X = 1\n", "", b""),
    ],
)
def test_what_is_replaced_keeps_the_form_of_its_bytes(tmp_path: Path, before: bytes, source: str, after: bytes) -> None:
    src = project(tmp_path, {"m.py": before})
    src.write("m", source, overwrite=True, reload="off")
    assert (tmp_path / "m.py").read_bytes() == after
    src.undo(reload="off")
    assert (tmp_path / "m.py").read_bytes() == before


def test_a_module_is_no_package_to_be_overwritten(tmp_path: Path) -> None:
    src = project(tmp_path)
    before = picture(tmp_path)
    for target, package in (("app.core", True), ("app.core.__init__", False)):
        with pytest.raises(Refused, match="There is a module") as caught:
            src.write(target, "X = 1\n", overwrite=True, package=package, reload="off")
        assert caught.value.code == "name_collision"
    assert picture(tmp_path) == before


def test_definitions_that_vanish_are_reported(tmp_path: Path) -> None:
    src = project(tmp_path, {"m.py": "def f(): ...\ndef g(): ...\nX = 1\n"})
    outcome = src.write("m", "def g(): ...\n", overwrite=True, reload="off")
    assert [notice.message for notice in outcome.warnings] == ["No longer defined: f, X."]


def test_several_writes_are_one_transaction(tmp_path: Path) -> None:
    src = project(tmp_path)
    before = picture(tmp_path)
    with src.transaction("more", reload="off") as tx:
        tx.write("app.one", "def first(): ...\n", export=True)
        tx.write("app.two", "from .one import first\n\nSECOND = first\n", export=["SECOND"])
        tx.edit("app.one.first", "def first():\n    return 1\n")
        assert "return 1" in tx.read("app.one", full=True)
    assert (tmp_path / "app/__init__.py").read_text() == (
        '"""An app."""\n\nfrom .core import Thing\nfrom .one import first\nfrom .two import SECOND\n\n'
        '__all__ = ["SECOND", "Thing", "first"]\n'
    )
    src.undo(reload="off")
    assert picture(tmp_path) == before


def test_a_file_that_came_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    src = project(tmp_path)
    tx = src.transaction("new", reload="off")
    tx.write("app.new", "X = 1\n")
    (tmp_path / "app/new.py").write_text("theirs = 1\n")
    with pytest.raises(Refused) as caught:
        tx.commit()
    assert caught.value.code in ("stale", "name_collision")
    assert (tmp_path / "app/new.py").read_text() == "theirs = 1\n"


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    src = project(tmp_path)
    before = picture(tmp_path)
    outcome = src.write("app.sub.new", "X = 1\n", export=True, dry_run=True)
    assert outcome.status == "planned"
    assert "+from .new import X" in outcome.diff
    assert picture(tmp_path) == before


def test_an_export_goes_behind_what_the_module_needs_of_the_package(tmp_path: Path) -> None:
    src = project(tmp_path)
    src.write("app.actions", "from app import Thing\n\nTHE = Thing()\n", export=True, reload="child")
    assert "from .core import Thing\nfrom .actions import THE\n" in (tmp_path / "app/__init__.py").read_text()


def test_a_package_that_exposes_modules_exposes_the_module(tmp_path: Path) -> None:
    src = project(tmp_path, {**APP, "app/__init__.py": 'from . import core\n\n__all__ = ["core"]\n'})
    src.write("app.retry", "def again(): ...\n", export=True, reload="off")
    assert (tmp_path / "app/__init__.py").read_text() == 'from . import core, retry\n\n__all__ = ["core", "retry"]\n'
    assert src.read("app.retry.again")


def test_a_module_with_nothing_public_is_not_exported_and_that_is_reported(tmp_path: Path) -> None:
    src = project(tmp_path)
    before = (tmp_path / "app/__init__.py").read_bytes()
    assert codes(src.write("app.quiet", "_x = 1\n", export=True, reload="off")) == ["nothing_public"]
    assert codes(src.write("plain", "x = 1\n", export=True, reload="off")) == ["not_exported"]
    assert (tmp_path / "app/__init__.py").read_bytes() == before


def test_a_module_that_is_circular_through_others_is_not_exported(tmp_path: Path) -> None:
    init, mid = "from .core import Thing\n\nLATER = 1\n", "from app import LATER\n"
    src = project(tmp_path, {**APP, "app/__init__.py": init, "app/mid.py": mid})
    before = (tmp_path / "app/__init__.py").read_bytes()
    outcome = src.write("app.new", "from .mid import LATER\n\nX = LATER\n", export=True, reload="child")
    assert codes(outcome) == ["export_left_out"]
    assert "app.mid imports LATER from app" in outcome.warnings[0].message
    assert (tmp_path / "app/__init__.py").read_bytes() == before
    assert src.read("app.new.X")


def test_an_export_that_only_fails_when_it_is_imported_is_left_out(tmp_path: Path) -> None:
    src = project(tmp_path, {**APP, "app/__init__.py": "from .core import Thing\n\nLATER = 1\n"})
    before = (tmp_path / "app/__init__.py").read_bytes()
    requests = [{"do": "write", "target": "app.new", "source": "import app\n\nX = app.LATER\n", "export": True}]
    outcome = src.apply(requests, reload="child")
    assert codes(outcome) == ["export_left_out"]
    assert (tmp_path / "app/__init__.py").read_bytes() == before
    src.undo(reload="off")
    assert not (tmp_path / "app/new.py").exists()


@pytest.mark.parametrize("together", [False, True])
def test_an_export_that_only_the_import_shows_to_come_too_early_goes_behind_all_imports(
    tmp_path: Path, together: bool
) -> None:
    src = project(tmp_path)
    new = {"target": "app.actions", "source": "import app\n\nclass More(app.Thing): ...\n", "export": True}
    requests = [{"do": "write", **new}]
    outcome = src.apply(requests, reload="child") if together else src.write(**new, reload="child")
    assert codes(outcome) == []
    assert "from .core import Thing\nfrom .actions import More\n" in (tmp_path / "app/__init__.py").read_text()
    assert f'"do": "{"apply" if together else "write"}"' in src.history(str(outcome.operation_id))
    src.undo(reload="off")
    assert not (tmp_path / "app/actions.py").exists()


def test_a_module_that_does_not_import_anyway_is_not_made(tmp_path: Path) -> None:
    src = project(tmp_path)
    before = picture(tmp_path)
    with pytest.raises(TransactionError, match=r"app\.new does not import"):
        src.write("app.new", "import app\n\nX = app.NEVER\n", export=True, reload="child")
    assert {name: content for name, content in picture(tmp_path).items() if "__pycache__" not in name} == before


def test_line_ends_are_those_of_the_neighbours(tmp_path: Path) -> None:
    src = project(
        tmp_path, {"app/__init__.py": "", "app/a.py": b"x = 1\r\n", "app/b.py": b"x = 1\r\n", "c.py": "x = 1\n"}
    )
    src.write("app.sub.new", "X = 1\nY = 2\n", export=True, reload="off")
    assert (tmp_path / "app/sub/new.py").read_bytes() == b"X = 1\r\nY = 2\r\n"
    assert (tmp_path / "app/sub/__init__.py").read_bytes() == b"from .new import X, Y\r\n"
