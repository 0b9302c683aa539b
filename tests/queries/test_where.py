"""Where a place lies: the innermost symbol, with its lines, its etag and the next calls."""

from __future__ import annotations

import re
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

from bae_source import LookupFailed, Refused, RequestError, Source
from bae_source.errors import ResourceError
from tests.adapters.support import run
from tests.queries.support import laid

CODE = (
    '"""Doc."""\n'  # 1
    "import os\n"
    "\n"
    "LIMIT = 5\n"  # 4
    "@os.path.join\n"
    "class A:\n"
    "    x = 1; y = 2\n"  # 7
    "    @property\n"
    "    def p(self):\n"
    "        return 1  # why\n"  # 10
    "    @p.setter\n"
    "    def p(self, v):\n"
    "        pass\n"
    "        # trailing\n"  # 14
    "\n"
    "    def m(self):\n"
    "        def inner():\n"
    "            return LIMIT\n"  # 18
    "        return inner\n"
    "if LIMIT:\n"
    "    def g(): return 1\n"  # 21
    "else:\n"
    "    def g(): return 2\n"  # 23
)
FILES: dict[str, str | bytes] = {
    "pyproject.toml": "",
    "src/app/__init__.py": "from app.core import A\n",
    "src/app/core.py": CODE,
    "src/app/core.pyi": "class A:\n    def m(self) -> None: ...\n",
    "src/app/broken.py": "x = 1\ndef (\n",
    "src/app/page.html": "<p>\n",
    "tests/test_core.py": "class TestA:\n    def test_b(self): ...\n\ndef test_c(): ...\n",
    "README.md": "x\n",
    ".gitignore": "gen.py\n",
    "gen.py": "x = 1\n",
}


@pytest.fixture
def app(tmp_path: Path) -> Source:
    return laid(tmp_path / "root", FILES)


@pytest.mark.parametrize(
    ("line", "address", "lines"),
    [
        (1, "app.core", "1-23"),
        (2, "app.core", "1-23"),
        (4, "app.core.LIMIT", "4"),
        (5, "app.core.A", "5-19"),
        (6, "app.core.A", "5-19"),
        (8, "app.core.A.p@getter", "8-10"),
        (10, "app.core.A.p@getter", "8-10"),
        (12, "app.core.A.p@setter", "11-14"),
        (14, "app.core.A.p@setter", "11-14"),
        (15, "app.core.A", "5-19"),
        (18, "app.core.A.m.inner", "17-18"),
        (19, "app.core.A.m", "16-19"),
        (20, "app.core", "1-23"),
        (21, "app.core.g[0]", "21"),
        (23, "app.core.g[1]", "23"),
    ],
)
def test_a_line_is_in_its_innermost_symbol(app: Source, line: int, address: str, lines: str) -> None:
    text = app.where(f"src/app/core.py:{line}")
    expected = f"lines {lines}" if "-" in lines else f"line {lines}"
    assert text.splitlines()[0] == f"{address} ({expected})"
    assert text.address == address
    assert text.splitlines()[1] == f"{line:>4}  {CODE.splitlines()[line - 1]}"
    assert app.where(f"app.core:{line}") == text
    if address != "app.core":
        assert text.etag == app.read(address).etag


def test_the_etag_of_a_place_is_good_for_an_edit(app: Source) -> None:
    found = app.where("src/app/core.py:18")
    done = app.edit(str(found.address), "def inner():\n    return 3\n", if_match=found.etag, reload="off")
    assert done.status == "applied"
    assert found.outcome.next_actions[0] == f'read("{found.address}", numbers=True)'


def test_a_column_tells_which_of_several_on_a_line_is_meant(app: Source) -> None:
    with pytest.raises(LookupFailed) as caught:
        app.where("src/app/core.py:7")
    assert caught.value.code == "ambiguous_symbol"
    assert caught.value.candidates == ("app.core.A.x", "app.core.A.y")
    assert app.where("src/app/core.py:7:5").address == "app.core.A.x"
    assert app.where("src/app/core.py:7:12").address == "app.core.A.y"
    assert app.where("src/app/core.py:7:999").address in ("app.core.A", "app.core.A.y")


def test_a_real_traceback_leads_to_the_symbols_of_its_frames(tmp_path: Path) -> None:
    source = laid(
        tmp_path, {"m.py": "def f():\n    return g()\n\n\nclass C:\n    def h(self):\n        return 1 / 0\n"}
    )
    program = "import sys; sys.path.insert(0, '.'); import m; m.g = m.C().h; m.f()"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    frames = [line for line in done.stderr.splitlines() if "m.py" in line]
    assert [source.where(frame).address for frame in frames] == ["m.f", "m.C.h"]


def test_a_test_is_found_by_its_id(app: Source) -> None:
    assert app.where("tests/test_core.py::TestA::test_b").address == "tests.test_core.TestA.test_b"
    assert app.where("FAILED tests/test_core.py::test_c[a b] - assert 0").address == "tests.test_core.test_c"
    with pytest.raises(LookupFailed) as caught:
        app.where("tests/test_core.py::TestA::test_z")
    assert caught.value.candidates == ("tests.test_core.TestA.test_b",)


def test_a_path_may_be_absolute_through_a_link_or_written_with_backslashes(app: Source, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(tmp_path / "root")
    for path in (
        f"{tmp_path}/root/src/app/core.py",
        f"{tmp_path}/alias/src/app/core.py",
        "./src/app/../app/core.py",
        "src\\app\\core.py",
    ):
        assert app.where(f"{path}:18").address == "app.core.A.m.inner"


def test_a_file_alone_is_its_module_and_a_folder_its_package(app: Source) -> None:
    assert app.where("src/app/core.py") == "app.core (lines 1-23)\n"
    assert app.where("src/app/__init__.py").address == app.where("src/app").address == "app"
    assert app.where("app.core.A.m") == "app.core.A.m (lines 16-19)\n"


def test_stubs_and_data_files_have_places_too(app: Source) -> None:
    assert app.where("src/app/core.pyi:2").address == "app.core@stub.A.m"
    found = app.where("src/app/page.html:1")
    assert (str(found), found.address) == ("app:page.html\n", "app:page.html")
    assert app.where("app:page.html:1").address == "app:page.html"


def test_a_file_that_does_not_parse_is_known_by_its_module_alone(app: Source) -> None:
    text = app.where('File "src/app/broken.py", line 2')
    assert text.startswith("app.broken: does not parse: line 2")
    assert text.address == "app.broken"
    assert not text.complete
    assert [notice.code for notice in text.outcome.warnings] == ["syntax_invalid"]


@pytest.mark.parametrize(
    ("place", "kind", "code"),
    [
        ("/etc/passwd:1", Refused, "outside_project"),
        ("../other.py:1", Refused, "outside_project"),
        ("src/../../x.py:1", Refused, "outside_project"),
        (f'File "{traceback.__file__}", line 3', Refused, "outside_project"),
        ("C:/windows/x.py:1", Refused, "outside_project"),
        ("gen.py:1", Refused, "outside_project"),
        ("NOTHING.md:1", LookupFailed, "symbol_not_found"),
        ("src/app/nothing.py:1", LookupFailed, "symbol_not_found"),
        ("src/app/core.py:24", LookupFailed, "symbol_not_found"),
        ("src/app/core.py:0", RequestError, "invalid_arguments"),
        ("nothing at all", LookupFailed, "symbol_not_found"),
        ("", RequestError, "invalid_arguments"),
    ],
)
def test_a_place_that_is_not_there_says_why(app: Source, place: str, kind: type[ResourceError], code: str) -> None:
    with pytest.raises(kind) as caught:
        app.where(place)
    assert caught.value.code == code
    assert caught.value.hints


def test_a_line_beyond_the_end_says_how_many_there_are(app: Source) -> None:
    with pytest.raises(LookupFailed, match=r"app\.core has 23 lines, and no line 99\."):
        app.where("src/app/core.py:99")


def test_a_path_from_elsewhere_has_the_modules_that_end_alike_as_candidates(app: Source) -> None:
    with pytest.raises(LookupFailed) as caught:
        app.where("core.py:3")
    assert caught.value.candidates == ("app.core",)


def test_a_link_that_leaves_the_project_is_not_followed(app: Source, tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("x = 1\n")
    (tmp_path / "root/src/app/link.py").symlink_to(tmp_path / "secret.py")
    for place in ("src/app/link.py:1", f"{tmp_path}/secret.py:1"):
        with pytest.raises((LookupFailed, Refused)):
            app.where(place)


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize(
    ("path", "address"),
    [
        ("src/app/loop/core.py:18", "app.core.A.m.inner"),
        ("src/app/loop/loop/core.py:18", "app.core.A.m.inner"),
        ("alias/core.py:18", "app.core.A.m.inner"),
        ("alias/core.pyi:1", "app.core@stub.A"),
        ("alias", "app"),
        ("src/app/loop/loop", "app"),
        ("alias/page.html:1", "app:page.html"),
        ("src/app/same.py:18", "app.same.A.m.inner"),
        ("alias/same.py:18", "app.same.A.m.inner"),
    ],
)
def test_a_path_through_a_link_to_a_folder_has_the_name_that_is_listed(
    app: Source, tmp_path: Path, path: str, address: str, absolute: bool
) -> None:
    root = tmp_path / "root"
    (root / "src/app/loop").symlink_to("../app")
    (root / "alias").symlink_to(root / "src/app")
    (root / "src/app/same.py").symlink_to("core.py")  # a file of its own, which is listed
    spot = app.where(f"{root}/{path}" if absolute else path)
    assert spot.address == address
    listed = re.split("[@:]", address)[0]
    assert app.glob(listed) == listed


def test_a_link_to_a_folder_elsewhere_or_to_itself_leads_to_nothing(app: Source, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/core.py").write_text("x = 1\n")
    (tmp_path / "root/src/app/out").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "root/src/app/self").symlink_to("self")
    for place in ("src/app/out/core.py:1", "src/app/self/core.py:1", "src/app/self:1"):
        with pytest.raises(LookupFailed):
            app.where(place)


def test_text_that_no_path_can_have_is_refused(app: Source) -> None:
    with pytest.raises(RequestError) as caught:
        app.where("src/app/\ud800.py:1")
    assert caught.value.code == "invalid_arguments"


def test_a_link_to_what_is_ignored_leads_to_no_name(app: Source, tmp_path: Path) -> None:
    (tmp_path / "root/build").mkdir()
    (tmp_path / "root/build/core.py").write_text("x = 1\n")
    (tmp_path / "root/.gitignore").write_text("build/\n")
    (tmp_path / "root/src/app/made").symlink_to("../../build")
    with pytest.raises(Refused, match="ignored"):
        app.where("src/app/made/core.py:1")


def test_an_empty_file_and_the_last_line_of_one_without_newline(tmp_path: Path) -> None:
    source = laid(tmp_path, {"e.py": "", "n.py": "x = 1\r\ny = 2"})
    assert source.where("e.py:1").address == "e"
    assert source.where("n.py:2") == "n.y (line 2)\n   2  y = 2\n"
    with pytest.raises(LookupFailed):
        source.where("n.py:3")


def test_the_command_line_tells_the_address(tmp_path: Path) -> None:
    laid(tmp_path, FILES)
    called = run("where", "src/app/core.py:18", folder=tmp_path)
    assert called.out.splitlines()[0] == b"app.core.A.m.inner (lines 17-18)"
    assert run("where", "/etc/passwd:1", folder=tmp_path).status == 5
    assert run("where", "src/app/core.py:99", folder=tmp_path).status == 3
    assert run("where", folder=tmp_path).status == 2


def test_what_stands_in_a_file_that_no_name_means_gets_no_address(tmp_path: Path) -> None:
    source = laid(tmp_path, {"pk/__init__.py": "", "pk/we.ird.py": "class Only:\n    def m(self): ...\nx = Only\n"})
    assert source.where("pk/we.ird.py:2") == "pk.we.ird (line 2)\n   2      def m(self): ...\n"
    assert source.where("pk/we.ird.py:2").outcome.next_actions == ()
    found = source.grep("Only", symbols=True)
    assert found.splitlines() == ["pk.we.ird:1: class Only:  (pk.we.ird)", "pk.we.ird:3: x = Only  (pk.we.ird)"]
    assert {each.address for each in source.search("only").outcome.found} == {"pk.we.ird"}
    assert {each.address for each in source.find("x = $A").outcome.found} == {"pk.we.ird"}
    assert source.grep("Only", "pk.we.ird") == source.grep("Only")
    with pytest.raises(LookupFailed):
        source.read("pk.we.ird.Only")
