"""A name that a class only inherits: the error says where it is defined, whatever asks for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import LookupFailed

_FILES = {
    "pkg/__init__.py": "from .app import Flask\n",
    "pkg/base.py": (
        "from typing import Generic, TypeVar\n"
        "T = TypeVar('T')\n"
        "class Root:\n"
        "    def route(self): ...\n"
        "    def deep(self): ...\n"
        "    @property\n"
        "    def size(self): ...\n"
        "    @size.setter\n"
        "    def size(self, value): ...\n"
        "class Middle(Root, Generic[T]):\n"
        "    def deep(self): ...\n"
        "class Other:\n"
        "    def route(self): ...\n"
    ),
    "pkg/app.py": (
        "import collections\n"
        "from . import base as b\n"
        "from .base import Middle, Other\n"
        "class Flask(Middle[int], b.Other, collections.UserDict, make(), metaclass=type):\n"
        "    def own(self): ...\n"
        "    class Inner(Other): ...\n"
        "class Alone: ...\n"
    ),
    "pkg/circle.py": "class A(B): ...\nclass B(A):\n    def f(self): ...\nclass C(C): ...\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project whose classes inherit across modules."""
    for path, text in _FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def _refused(root: Path, name: str) -> LookupFailed:
    with pytest.raises(LookupFailed) as caught:
        Source(root).read(name)
    assert caught.value.code == "symbol_not_found"
    return caught.value


@pytest.mark.parametrize(
    ("name", "candidates"),
    [
        ("pkg.Flask.deep", ["pkg.base.Middle.deep", "pkg.base.Root.deep"]),
        ("pkg.Flask.route", ["pkg.base.Root.route", "pkg.base.Other.route"]),
        ("pkg.app.Flask.Inner.route", ["pkg.base.Other.route"]),
        ("pkg.Flask.size", ["pkg.base.Root.size"]),
        ("pkg.circle.A.f", ["pkg.circle.B.f"]),
    ],
)
def test_what_a_class_inherits_is_named_where_it_is_defined(root: Path, name: str, candidates: list[str]) -> None:
    error = _refused(root, name)
    assert error.message.endswith(" itself; it inherits it.")
    assert list(error.candidates) == candidates
    for candidate in candidates:
        assert Source(root).read(candidate).startswith("    ")


_NESTED = """
class Base:
    def m(self): ...
class X:
    class Base:
        def n(self): ...
    class Y(Base): ...
    class Z:
        class Inner(Base): ...
def outer():
    class Base:
        def k(self): ...
    class V:
        class U(Base): ...
"""


@pytest.mark.parametrize(
    ("name", "candidates"),
    [
        ("nested.X.Y.n", ["nested.X.Base.n"]),
        ("nested.X.Z.Inner.m", ["nested.Base.m"]),
        ("nested.outer.V.U.k", ["nested.outer.Base.k"]),
    ],
)
def test_a_header_sees_the_names_that_python_sees_there(root: Path, name: str, candidates: list[str]) -> None:
    (root / "nested.py").write_text(_NESTED)
    error = _refused(root, name)
    assert "inherits" in error.message
    assert list(error.candidates) == candidates


@pytest.mark.parametrize("name", ["nested.X.Y.m", "nested.X.Z.Inner.n", "nested.outer.V.U.m"])
def test_a_name_that_a_header_does_not_see_is_not_inherited(root: Path, name: str) -> None:
    (root / "nested.py").write_text(_NESTED)
    assert "inherits" not in _refused(root, name).message


def test_a_header_that_is_too_deep_gives_the_usual_answer(root: Path) -> None:
    (root / "deep.py").write_text(f"class E(a{'.b' * 5_000}): pass\n")
    assert _refused(root, "deep.E.x").message == "deep.E defines no x."


def test_a_misspelt_member_is_looked_for_above_as_well(root: Path) -> None:
    error = _refused(root, "pkg.Flask.rout")
    assert error.message == "pkg.app.Flask defines no rout."
    assert list(error.candidates) == ["pkg.base.Root.route"]


@pytest.mark.parametrize("name", ["pkg.app.Alone.route", "pkg.circle.C.f", "pkg.Flask.keys", "pkg.Flask.own.route"])
def test_what_no_class_of_the_project_has_is_just_not_found(root: Path, name: str) -> None:
    owner, _, member = name.replace("pkg.Flask", "pkg.app.Flask").rpartition(".")
    assert _refused(root, name).message == f"{owner} defines no {member}."


def test_an_edit_of_an_inherited_member_changes_nothing(root: Path) -> None:
    with pytest.raises(LookupFailed, match="inherits") as caught:
        Source(root).edit("pkg.Flask.route", "def route(self): return 1\n")
    assert list(caught.value.candidates) == ["pkg.base.Root.route", "pkg.base.Other.route"]
    assert {path: (root / path).read_text() for path in _FILES} == _FILES


def test_a_module_that_is_a_link_out_of_the_project_is_reported_as_one(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "types.py"
    outside.write_text("x = 1\n")
    (root / "pkg" / "types.py").symlink_to(outside)
    error = _refused(root, "pkg.types.x")
    assert error.message == (
        "pkg.types is a link that leads out of the project, so it is not known whether pkg.types.x is there."
    )
    assert error.hints == ("Take a root that holds both (--root).",)
    assert not error.candidates
    assert outside.read_text() == "x = 1\n"


def test_a_module_that_is_a_link_to_nothing_is_not_offered_in_its_own_place(root: Path) -> None:
    (root / "pkg" / "types.py").symlink_to("nothing.py")
    error = _refused(root, "pkg.types.x")
    assert error.message.startswith("pkg.types is there, but as no file of the project")
    assert not error.candidates
