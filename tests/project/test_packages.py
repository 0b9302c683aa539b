"""The tree of a project's names: every module once, packages by what is below them."""

from __future__ import annotations

from bae_source.project.files.packages import Packages
from tests.project.support import workspace

FILES = {
    "p/__init__.py": "",
    "p/a.py": "",
    "p/a.pyi": "",
    "p/_fast.pyi": "",
    "p/sub/deep/__init__.py": "",
    "p/sub/deep/x.py": "",
    "tool.py": "",
    "q-stubs/__init__.pyi": "",
    "notes/readme.txt": "",
}


def packages() -> Packages:
    return Packages(workspace(FILES).census)


def test_members_are_sorted_and_a_stub_is_one_only_where_there_is_no_code() -> None:
    tree = packages()
    assert tree.members("") == ["p", "q@stub", "tool"]
    assert tree.members("p") == ["p._fast@stub", "p.a", "p.sub"]
    assert tree.members("p.a") == []
    assert tree.members("nothing") == []


def test_a_folder_between_packages_is_a_package_without_a_file() -> None:
    tree = packages()
    assert tree.is_package("p.sub")
    assert tree.files("p.sub") == ()
    assert [module.path for module in tree.files("p.sub.deep")] == ["p/sub/deep/__init__.py"]
    assert not tree.is_package("p.a")


def test_counts_are_of_everything_below() -> None:
    tree = packages()
    assert tree.counts("p") == (2, 3)
    assert tree.counts("p.sub") == (1, 1)
    assert tree.counts("p.sub.deep") == (0, 1)
    assert tree.counts("nothing") == (0, 0)


def test_a_walk_goes_as_deep_as_asked_an_outer_one_first() -> None:
    tree = packages()
    assert list(tree.walk("p", 0)) == []
    assert list(tree.walk("p", 1)) == [("p._fast@stub", 1), ("p.a", 1), ("p.sub", 1)]
    assert list(tree.walk("", 99))[:2] == [("p", 1), ("p._fast@stub", 2)]
    assert ("p.sub.deep.x", 4) in list(tree.walk("", 99))
    assert ("p.sub.deep.x", 4) not in list(tree.walk("", 3))


def test_two_files_of_one_name_are_both_there() -> None:
    tree = Packages(workspace({"x.py": "", "x/__init__.py": "", "x/y.py": ""}).census)
    assert sorted(module.path for module in tree.files("x")) == ["x.py", "x/__init__.py"]
    assert tree.counts("") == (1, 1)


def test_deep_nesting_ends() -> None:
    tree = Packages(workspace({"/".join("a" * 300) + "/m.py": ""}).census)
    assert tree.counts("a") == (299, 1)
    assert len(list(tree.walk("", 1000))) == 301
