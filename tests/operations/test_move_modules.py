"""Modules and packages renamed and moved for real: their importers run afterwards, and undo is exact."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bae_source import Source
from tests.operations.trees import laid, picture, refused

FILES = {
    "pkg/__init__.py": "from . import base\n",
    "pkg/top.py": "from .old import one\nfrom .old.two import B as second\n",
    "pkg/base.py": "X = 1\n",
    "pkg/old/__init__.py": "from . import one, two\nfrom ..base import X\n",
    "pkg/old/one.py": "from pkg.old.two import B\nfrom ..base import X\n\nA = X + B\n",
    "pkg/old/two.py": "from importlib import resources\n\nB = len(resources.read_text('pkg.old', 'a.txt'))\n",
    "pkg/old/a.txt": "abc\n",
    "main.py": (
        "import pkg.old.one\nfrom pkg import old, top\n\nprint(pkg.old.one.A, top.second, pkg.base.X, old.__doc__)\n"
    ),
}
HOW = {
    "renamed": lambda source: source.rename("pkg.old", "fresh", reload="off"),
    "moved to the top": lambda source: source.move("pkg.old", "fresh", reload="off"),
    "moved deeper": lambda source: source.move("pkg.old", "pkg.deep.er.old", reload="off"),
    "a module of it renamed": lambda source: source.rename("pkg.old.two", "second", reload="off"),
    "a module of it moved up": lambda source: source.move("pkg.old.two", "pkg.two", reload="off"),
    "a module beside it moved to the top": lambda source: source.move("pkg.top", "top", reload="off"),
    "a module beside it moved into it": lambda source: source.move("pkg.top", "pkg.old.most", reload="off"),
}


@pytest.mark.parametrize("how", HOW.values(), ids=HOW)
def test_importers_run_as_before_and_undo_gives_every_byte_back(tmp_path: Path, how: object) -> None:
    source = laid(tmp_path, FILES)
    before = picture(tmp_path)
    assert callable(how)
    outcome = how(source)
    done = subprocess.run([sys.executable, "-B", "main.py"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("5 4 1 None\n", ""), outcome.diff
    source.undo(reload="off")
    assert picture(tmp_path) == before


def test_a_place_that_cannot_be_led_along_refuses_the_move(tmp_path: Path) -> None:
    source = laid(tmp_path, {**FILES, "main.py": "from pkg import old\n\nprint(old.two.B)\n"})
    error = refused(source, lambda: source.move("pkg.old.two", "pkg.two"), "unsafe_change")
    assert "main:3 (it is taken from its package here)" in error.message
    assert not any("--unsure change" in hint for hint in error.hints)
    source.rename("pkg.old.two", "second", reload="off")
    assert (tmp_path / "main.py").read_text() == "from pkg import old\n\nprint(old.second.B)\n"


def test_a_taken_name_is_refused(tmp_path: Path) -> None:
    source: Source = laid(tmp_path, FILES)
    refused(source, lambda: source.rename("pkg.old", "base"), "name_collision")
    refused(source, lambda: source.rename("pkg.old.one", "two"), "name_collision")
