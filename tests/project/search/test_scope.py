"""What a scope holds, which files are a package's data, and what symbols are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source.errors import LookupFailed, RequestError
from bae_source.project.files.data_listing import data_files
from bae_source.project.files.port import Disk
from bae_source.project.naming.listed_symbols import SymbolsByLine, address_in, module_address, symbols_of
from bae_source.project.search.name_pattern import name_pattern
from bae_source.project.search.scope import scope_of
from bae_source.project.workspace import Workspace
from bae_source.syntax.outline.summary import summarise
from bae_source.syntax.outline.tree import parse
from bae_source.syntax.text.source import Source
from tests.project.support import workspace

FILES = {
    "pkg/__init__.py": "from .run import run\n",
    "pkg/run.py": "def run(): ...\n",
    "pkg/page.html": "",
    "pkg/data/table.csv": "1,2",
    "pkg/sub/__init__.py": "",
    "pkg/sub/deep/text.txt": "",
    "pkg/sub/cache.pyc": "",
    "pkgs.py": "",
    "stubbed.py": "",
    "stubbed.pyi": "",
    "space/part.py": "",
    "space/note.txt": "",
    "docs/readme.txt": "",
    "readme.txt": "",
}


def names(space: Workspace, name: str | None, *, stubs: bool = False, data: bool = False) -> list[str]:
    return [file.name for file in scope_of(space, name, stubs=stubs, data=data).files]


def test_data_files_belong_to_the_innermost_package() -> None:
    assert [(str(file), file.size) for file in data_files(workspace(FILES))] == [
        (":docs/readme.txt", 0),
        ("pkg:data/table.csv", 3),
        ("pkg:page.html", 0),
        ("pkg.sub:deep/text.txt", 0),
        (":readme.txt", 0),
        ("space:note.txt", 0),
    ]


def test_data_files_that_git_ignores_are_left_out() -> None:
    files = {".gitignore": "*.csv\n", "pkg/sub/.gitignore": "deep/\n", **FILES}
    found = [str(file) for file in data_files(workspace(files))]
    assert found == [
        ":.gitignore",
        ":docs/readme.txt",
        "pkg:page.html",
        "pkg.sub:.gitignore",
        ":readme.txt",
        "space:note.txt",
    ]


def test_data_files_of_source_roots_and_moved_packages_have_the_packages_names() -> None:
    found = data_files(workspace({"src/app/__init__.py": "", "src/app/a.txt": "", "src/b.txt": ""}))
    assert [str(file) for file in found] == ["app:a.txt", ":src/b.txt"]


def test_the_whole_project_is_the_scope_without_a_name() -> None:
    space = workspace(FILES)
    assert names(space, None) == ["pkg", "pkg.run", "pkg.sub", "pkgs", "space.part", "stubbed"]
    assert names(space, None, stubs=True)[-2:] == ["stubbed", "stubbed@stub"]
    assert names(space, None, data=True)[-2:] == ["space:note.txt", "stubbed"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pkg", ["pkg", "pkg.run", "pkg.sub", "pkg.sub:deep/text.txt", "pkg:data/table.csv", "pkg:page.html"]),
        ("pkg.sub", ["pkg.sub", "pkg.sub:deep/text.txt"]),
        ("pkg.run@module", ["pkg.run"]),
        ("pkg.run.run", ["pkg.run"]),
        ("space", ["space.part", "space:note.txt"]),
        ("stubbed", ["stubbed", "stubbed@stub"]),
        ("stubbed@stub", ["stubbed@stub"]),
        ("pkg:data/table.csv", ["pkg:data/table.csv"]),
        ("pkg:data", ["pkg:data/table.csv"]),
    ],
)
def test_a_name_stands_for_its_files(name: str, expected: list[str]) -> None:
    assert names(workspace(FILES), name, stubs=True, data=True) == expected


def test_what_means_two_things_is_no_scope() -> None:
    with pytest.raises(LookupFailed) as caught:
        scope_of(workspace(FILES), "pkg.run")
    assert caught.value.code == "ambiguous_symbol"
    for candidate in caught.value.candidates:
        assert scope_of(workspace(FILES), candidate).files


def test_a_data_file_is_no_scope_for_code() -> None:
    with pytest.raises(RequestError):
        scope_of(workspace(FILES), "pkg:page.html")


def test_a_module_has_a_marker_where_its_package_has_an_attribute_of_its_name() -> None:
    space = workspace(FILES)
    assert module_address(space, "pkg.run") == "pkg.run@module"
    assert module_address(space, "pkg.sub") == "pkg.sub"
    assert module_address(space, "nowhere.at_all") == "nowhere.at_all"
    assert address_in(space, "pkg", "pkg/__init__.py", "run") == "pkg@module.run"
    assert address_in(space, "pkg", "pkg/__init__.py", "run[1].x") == "pkg@module.run[1].x"
    assert address_in(space, "pkg.run", "pkg/run.py", "run") == "pkg.run.run"
    assert address_in(space, "pkg", "pkg/__init__.py", "") == "pkg"


CODE = """\
a = b = 1
(a, c) = 2, 3
if a:
    class K:
        def m(self): ...
else:
    class K:
        def m(self): ...
class P:
    @property
    def x(self):
        def inner(): ...
    @x.setter
    def x(self, v): ...
    # still P
# no more
"""


def test_symbols_are_each_named_once() -> None:
    summary = summarise(parse(Source(CODE.encode())))
    assert [named.address for named in symbols_of(summary)] == [
        "a[0]", "b", "a[1]", "c", "K[0]", "K[0].m", "K[1]", "K[1].m", "P", "P.x", "P.x@getter.inner",
    ]  # fmt: skip
    assert [named.path for named in symbols_of(summary)][-1] == ("P", "x", "inner")


def test_a_line_lies_in_the_innermost_definition_around_it() -> None:
    source = Source(CODE.encode())
    symbols = SymbolsByLine(summarise(parse(source)), source)
    found = [symbols.at(line) for line in range(1, 17)]
    assert found == [
        "a[0]", "a[1]", "", "K[0]", "K[0].m", "", "K[1]", "K[1].m",
        "P", "P.x@getter", "P.x@getter", "P.x@getter.inner", "P.x@setter", "P.x@setter", "P", "",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [
        ("a.*", "a.b", True), ("a.*", "a", False), ("a.*", "a.b.c", False), ("a.**", "a", False),
        ("a.**", "a.b.c.d", True), ("**", "a", True), ("**.c", "c", True), ("**.c", "a.b.c", True),
        ("a.**.c", "a.c", True), ("a.**.c", "a.x.y.c", True), ("a.**.c", "a.x.y", False), ("**.b.**", "a.b", False),
        ("**.b.**", "a.b.c", True), ("a?", "ab", True), ("a?", "a", False), ("[!a]b", "cb", True),
        ("[!a]b", "ab", False), ("[]]", "]", True), ("[a-c]", "b", True), ("a**b", "axxb", True),
        ("a**b", "a.b", False), ("0001_*", "0001_initial", True), ("my-*", "my-script", True), ("a+", "aa", False),
        ("[[]a", "[a", True), ("[a.b]", "a", True),
    ],
)  # fmt: skip
def test_a_pattern_walks_over_components(pattern: str, name: str, matches: bool) -> None:
    parsed = name_pattern(pattern)
    assert parsed.ended(parsed.walk(parsed.start, tuple(name.split(".")))) is matches


def test_many_stars_take_no_long_time() -> None:
    parsed = name_pattern(".".join(["**", "a"] * 40))
    assert not parsed.ended(parsed.walk(parsed.start, ("a",) * 39 + ("b",)))
    parsed = name_pattern("*a" * 40 + "b")
    assert not parsed.ended(parsed.walk(parsed.start, ("a" * 200,)))


def test_a_scope_is_read_from_the_disk_without_following_links_out(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    (outside / "pkg").mkdir(parents=True)
    (outside / "secret.txt").write_text("needle")
    (root / "pkg").mkdir(parents=True)
    (root / "pkg" / "__init__.py").write_text("")
    (root / "pkg" / "link.txt").symlink_to(outside / "secret.txt")
    (root / "pkg" / "folder").symlink_to(outside)
    assert names(Workspace(Disk(root)), None, data=True) == ["pkg"]
