"""Which module a file is, and which files are stubs of a module."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source import RequestError, Source, SourceError
from bae_source.project.files.layout import Layout, import_name
from tests.project.support import workspace

FILES = {
    "pyproject.toml": '[tool.setuptools.package-dir]\n"x.y" = "lib"\n',
    "src/pkg/__init__.py": "",
    "src/pkg/__init__.pyi": "",
    "src/pkg/mod.py": "",
    "src/pkg/mod.pyi": "",
    "src/pkg-stubs/other.pyi": "",
    "src/pkg-stubs/sub/__init__.pyi": "",
    "lib/__init__.py": "",
    "lib/z.py": "",
    "lib/z.pyi": "",
    "tool.pyi": "",
}


@pytest.mark.parametrize(
    ("path", "name", "package"),
    [
        ("src/pkg/__init__.py", "pkg", True),
        ("src/pkg/__init__.pyi", "pkg@stub", True),
        ("src/pkg/mod.py", "pkg.mod", False),
        ("src/pkg/mod.pyi", "pkg.mod@stub", False),
        ("src/pkg-stubs/other.pyi", "pkg.other@stub", False),
        ("src/pkg-stubs/sub/__init__.pyi", "pkg.sub@stub", True),
        ("lib/__init__.py", "x.y", True),
        ("lib/z.py", "x.y.z", False),
        ("lib/z.pyi", "x.y.z@stub", False),
        ("tool.pyi", "tool@stub", False),
    ],
)
def test_a_file_is_the_module_that_its_place_says(path: str, name: str, package: bool) -> None:
    module = workspace(FILES).layout.module_at(path)
    assert module is not None
    assert (module.name, module.package) == (name, package)
    assert import_name(module) == name.removesuffix("@stub")
    assert not (path.endswith("i") and module.import_checked), "a stub is never imported"


@pytest.mark.parametrize("path", ["src/pkg/data.txt", "README", "src/pkg/mod.pyc"])
def test_what_is_no_python_is_no_module(path: str) -> None:
    assert workspace(FILES).layout.module_at(path) is None


def stubs(layout: Layout, name: str) -> list[tuple[int, str]]:
    return [(found.length, found.file.path) for found in layout.stubs(tuple(name.split("."))) if found.file]


def test_stubs_are_found_beside_the_module_and_in_a_stub_package_the_longest_name_first() -> None:
    layout = workspace(FILES).layout
    assert stubs(layout, "pkg.mod.f") == [(2, "src/pkg/mod.pyi"), (1, "src/pkg/__init__.pyi")]
    assert stubs(layout, "pkg.sub.f") == [(2, "src/pkg-stubs/sub/__init__.pyi"), (1, "src/pkg/__init__.pyi")]
    assert stubs(layout, "x.y.z") == [(3, "lib/z.pyi")]
    assert stubs(layout, "tool.f") == [(1, "tool.pyi")]


def test_a_source_root_is_no_package_of_stubs_and_ignored_stubs_are_none() -> None:
    layout = workspace(FILES | {".gitignore": "tool.pyi\n"}).layout
    assert stubs(layout, "src.pkg.mod") == []
    assert stubs(layout, "lib.z") == []
    assert stubs(layout, "tool") == []


@pytest.mark.parametrize("pyproject", ["tool = 5\n", "[tool]\nbae-source = 3\n"])
def test_settings_that_are_no_tables_are_none(tmp_path: Path, pyproject: str) -> None:
    (tmp_path / "pyproject.toml").write_text(pyproject)
    (tmp_path / "m.py").write_text("def f():\n    return 1\n")
    src = Source(tmp_path)
    assert src.read("m.f")
    assert src.edit("m.f", old="1", new="2", reload="off", verify=["command true"]).status == "applied"
    assert src.undo(reload="off").status == "applied"


@pytest.mark.parametrize(
    "pyproject",
    [
        "tool.bae-source.source-roots = ['lib']\n",
        "[tool]\nbae-source = {source-roots = ['lib']}\n",
        "[ tool . 'bae-source' ]\n\"source-roots\" = ['lib']\n",
        '["t\\u006fol"."b\\u0061e-source"]\n"s\\U0000006Furce-roots" = ["lib"]\n',
        "[tool]\nsetuptools.packages.find.where = ['lib']\n",
        "['tool'.\"setuptools\"]\n'package-dir' = {'' = 'lib'}\n",
        '[tool]\n"setupt\\u006fols" = {"package\\u002ddir" = {"" = "lib"}}\n',
        "[tool]\nhatch = {build = {targets.wheel.packages = ['lib/pkg']}}\n",
        "[tool]\n[tool.hatch]\nbuild.sources = ['lib']\n",
        "[tool]\npoetry.packages = [{from = 'lib', include = 'pkg'}]\n",
        "[tool]\npdm.build.package-dir = 'lib'\n",
        "[tool]\nuv = {'build-backend' = {module-root = 'lib'}}\n",
        "[tool]\nmaturin = {'python-source' = 'lib'}\n",
    ],
)
def test_a_root_is_found_however_its_setting_is_spelt(pyproject: str) -> None:
    files = {"pyproject.toml": pyproject, "lib/pkg/__init__.py": ""}
    assert workspace(files).layout.roots[0] == "lib"


def test_the_members_of_a_uv_workspace_are_found_however_they_are_spelt() -> None:
    files = {
        "pyproject.toml": "[tool]\nuv = {workspace = {members = ['packages/*']}}\n",
        "packages/a/pyproject.toml": "[tool]\nsetuptools.packages.find.where = ['lib']\n",
        "packages/a/lib/pkg/__init__.py": "",
    }
    module = workspace(files).layout.module_at("packages/a/lib/pkg/__init__.py")
    assert module is not None
    assert module.name == "pkg"


def test_only_a_file_that_may_say_where_modules_lie_has_to_parse() -> None:
    silent = "[tool.setuptools.packages.find]\ninclude = ['app*'\n"
    assert workspace({"pyproject.toml": silent, "app.py": ""}).layout.roots == ("",)
    telling = "[tool.setuptools.packages.find]\nwhere = ['lib'\n"
    with pytest.raises(SourceError, match="does not parse"):
        _ = workspace({"pyproject.toml": telling, "app.py": ""}).layout


def test_a_type_checker_that_is_no_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.bae-source]\ntypes = ["mypy"]\n')
    (tmp_path / "m.py").write_text("def f():\n    return 1\n")
    with pytest.raises(RequestError, match="no type checker that is known"):
        Source(tmp_path).edit("m.f", old="1", new="2", reload="off", verify=["types"])
    assert (tmp_path / "m.py").read_text() == "def f():\n    return 1\n"
