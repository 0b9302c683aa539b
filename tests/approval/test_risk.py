"""How much a planned change may break, by a table: the request, the level, and the clause that says why."""

from __future__ import annotations

import random
import shutil
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bae_source.approval.proposals import Risk
from bae_source.engine.approving.risk import risk_of
from bae_source.engine.approving.subjects import subjects_of
from bae_source.model.plan import Plan, Release
from bae_source.project.workspace import Workspace
from tests.approval.test_subjects import data, edit, made, planned, toml, written

CORE = '''"""Sends."""

import os

__all__ = ["LIMIT", "Box", "send", "wait"]

LIMIT = 1


# Sends once.
def send(x, y=1):
    """Send it."""
    return _low(x)


def _low(x):
    return x


async def wait(x: int) -> int:
    return x


def hidden(x):
    return x


class Box(dict):
    """Holds."""

    def put(self, x, *, often: int = 1):
        return send(x)

    def _take(self):
        return 1


print(LIMIT)
'''
PROJECT: Mapping[str, str] = {
    "pyproject.toml": '[project]\nname = "app"\ndependencies = ["rich"]\n[tool.ruff]\nline-length = 100\n',
    "app/__init__.py": "",
    "app/core.py": CORE,
    "app/plain.py": "def go(a):\n    return a\n\n\ndef _own():\n    return 1\n",
    "app/_inner.py": "def go(a):\n    return a\n",
    "app/rates.csv": "1\n",
    "notes/guide.md": "hi\n",
    "tests/test_core.py": (
        "import pytest\n\nfrom app.core import send\n\n\ndef test_send():\n    # why\n    assert send(1) == 1\n"
        "    assert send(2) == 2\n\n\nclass TestBox:\n    def test_put(self):\n        with pytest.raises(ValueError):\n"
        "            send(3)\n\n\ndef helper():\n    return 1\n"
    ),
}


def assessed(service: Any, verb: str, given: Mapping[str, Any]) -> Risk:
    return of(*planned(service, verb, given))


def of(plan: Plan, before: Workspace, after: Workspace) -> Risk:
    return risk_of(plan, subjects_of(plan, before, after), before, after)


CASES: list[tuple[str, tuple[str, dict[str, Any]], str, str]] = [
    ("a comment", edit("app.core", "# Sends once.", "# Sends."), "low", "comments or docstrings of app.core.send change"),
    ("a docstring", edit("app.core.send", "Send it.", "Send."), "low", "comments or docstrings of app.core.send change"),
    ("a comment inside", edit("app.core.send", "    return _low(x)", "    # now\n    return _low(x)"), "low",
     "comments or docstrings of app.core.send change"),
    ("the module's docstring", edit("app.core", "Sends.", "Posts."), "low", "comments or docstrings of app.core change"),
    ("blank lines", edit("app.core", "1\n\n\n# Sends", "1\n\n\n\n# Sends"), "low", "comments or docstrings of app.core change"),
    ("a private body", edit("app.core._low", "return x", "return 2"), "low", "app.core._low, which is private, changes"),
    ("a private method", edit("app.core.Box._take", "1", "2"), "low", "app.core.Box._take, which is private, changes"),
    ("a private header", edit("app.core._low", "(x)", "(x, y)"), "low", "app.core._low, which is private, changes"),
    ("in a private module", edit("app._inner.go", "(a)", "(a, b)"), "low", "app._inner.go, which is private, changes"),
    ("not in __all__", edit("app.core.hidden", "(x)", "(x, y)"), "low", "app.core.hidden, which is private, changes"),
    ("imports", ("imports_add", {"target": "app.core", "statements": ["import sys"]}), "low", "imports of app.core change"),
    ("something new", ("insert", {"target": "app.plain.go", "new_source": "def new(): pass\n"}), "low", "app.plain.new is new"),
    ("a new module", ("write", {"target": "app.new", "source": "a = 1\n"}), "low", "app.new, app.new.a are new"),
    ("a text", edit(":notes/guide.md", "hi", "ho"), "low", "the text :notes/guide.md changes"),
    ("a public body", edit("app.core.send", "_low(x)", "x"), "medium", "app.core.send, which is public, does something else"),
    ("a string", edit("app.core.Box.put", "send(x)", "'x'"), "medium", "app.core.Box.put, which is public, does something else"),
    ("a constant", edit("app.core.LIMIT", "1", "2"), "medium", "app.core.LIMIT, which is public, does something else"),
    ("a further argument", edit("app.core.send", "y=1", "y=1, z=2"), "medium", "app.core.send, which is public, takes further arguments"),
    ("a further keyword", edit("app.core.Box.put", "often: int = 1", "often: int = 1, far=2"), "medium",
     "app.core.Box.put, which is public, takes further arguments"),
    ("a statement", edit("app.core", "print(LIMIT)", "print(1)"), "medium",
     "statements of app.core change, which run whenever it is imported"),
    ("a private name goes", ("delete", {"target": "app.plain._own"}), "medium", "app.plain._own, which is private, goes"),
    ("a setting", toml("100", "120"), "medium", "the setting tool.ruff.line-length changes"),
    ("a data file", edit("app:rates.csv", "1", "2"), "medium", "the data file app:rates.csv changes"),
    ("a text goes", ("delete", {"target": ":notes/guide.md"}), "medium", "the file :notes/guide.md goes"),
    ("a public name goes", ("delete", {"target": "app.plain.go"}), "high", "app.plain.go, which is public, goes"),
    ("it is called otherwise", ("rename", {"target": "app.plain.go", "new_name": "run"}), "high",
     "app.plain.go, which is public, goes"),
    ("it is private now", ("rename", {"target": "app.plain.go", "new_name": "_go"}), "high", "app.plain.go, which is public, goes"),
    ("a method goes", edit("app.core.Box", "    def put(self, x, *, often: int = 1):\n        return send(x)\n\n", ""), "high",
     "app.core.Box.put, which is public, goes"),
    ("a module goes", ("delete", {"target": "app.plain", "force": True}), "high", "app.plain, which is public, goes"),
    ("a required argument", edit("app.core.send", "y=1", "y"), "high", "app.core.send, which is public, gets another header"),
    ("another argument", edit("app.core.send", "(x, y=1)", "(y=1)"), "high", "app.core.send, which is public, gets another header"),
    ("another order", edit("app.core.send", "(x, y=1)", "(y, x=1)"), "high", "app.core.send, which is public, gets another header"),
    ("no longer awaited", edit("app.core.wait", "async def", "def"), "high", "app.core.wait, which is public, gets another header"),
    ("a decorator", edit("app.core.hidden", "def hidden", "@os\ndef hidden"), "low", "app.core.hidden, which is private, changes"),
    ("a public decorator", edit("app.core.wait", "async", "@os\nasync"), "high", "app.core.wait, which is public, gets another header"),
    ("other bases", edit("app.core.Box", "(dict)", "(list)"), "high", "app.core.Box, which is public, gets another header"),
    ("no longer exported", edit("app.core", ', "wait"]', "]"), "high", "app.core.wait is no longer in __all__"),
    ("a dependency", toml('"rich"', '"rich", "httpx"'), "high", "the dependency httpx changes"),
    ("CI", data(":.github/workflows/ci.yml", "x\n"), "high", ":.github/workflows/ci.yml: continuous integration goes by it"),
    ("conftest", ("write", {"target": "tests.conftest", "source": "a = 1\n"}), "high",
     "tests.conftest, tests.conftest.a: pytest runs it with the tests"),
    ("our own settings", toml("[tool.ruff]", "[tool.bae-source]\n[tool.ruff]"), "high", "tool.bae-source may not change"),
    ("a test with more", edit("tests.test_core.test_send", "assert send(1) == 1", "assert send(1) == 1\n    assert 1"), "low",
     "tests.test_core.test_send, a test, changes"),
    ("a comment in a test", edit("tests.test_core.test_send", "# why", "# so"), "low", "comments or docstrings of tests.test_core.test_send"),
    ("a new test", ("insert", {"target": "tests.test_core.test_send", "new_source": "def test_b(): assert 1\n"}), "low",
     "tests.test_core.test_b, a test, is new"),
    ("a helper of tests goes", ("delete", {"target": "tests.test_core.helper"}), "low", "tests.test_core.helper, a test, changes"),
    ("a test goes", ("delete", {"target": "tests.test_core.test_send"}), "high", "tests.test_core.test_send, a test, is taken out"),
    ("a class of tests goes", ("delete", {"target": "tests.test_core.TestBox"}), "high", "tests.test_core.TestBox, a test, is taken out"),
    ("a module of tests goes", ("delete", {"target": "tests.test_core"}), "high", "tests.test_core, a test, is taken out"),
    ("a test moves", ("move", {"target": "tests.test_core.test_send", "to": "tests.test_other"}), "low", ""),
    ("fewer assertions", edit("tests.test_core.test_send", "    assert send(2) == 2\n", ""), "high",
     "tests.test_core.test_send, a test, asserts less"),
    ("an assertion in a comment", edit("tests.test_core.test_send", "    assert send(2)", "    # assert send(2)"), "high",
     "tests.test_core.test_send, a test, asserts less"),
    ("nothing is to be raised", edit("tests.test_core.TestBox.test_put", "with pytest.raises(ValueError):", "if 1:"), "high",
     "tests.test_core.TestBox.test_put, a test, asserts less"),
    ("a test is skipped", edit("tests.test_core", "def test_send", "@pytest.mark.skip\ndef test_send"), "high",
     "tests.test_core.test_send, a test, is skipped or expected to fail"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "level", "clause"), [pytest.param(*rest, id=name) for name, *rest in CASES])
def test_a_change_is_as_grave_as_the_gravest_of_its_effects(
    tmp_path: Path, change: Any, level: str, clause: str
) -> None:
    risk = assessed(made(tmp_path, PROJECT), *change)
    assert risk.level == level, risk.reasons
    assert risk.reasons[0].startswith(clause), risk.reasons
