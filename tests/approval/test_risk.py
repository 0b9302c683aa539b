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
from bae_source.engine.approving.touching.risk import risk_of
from bae_source.engine.approving.touching.subjects import subjects_of
from bae_source.model.plan import Plan, Release
from bae_source.project.workspace import Workspace
from bae_source.refactoring.planning.still_used import with_users
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
    "app/__init__.py": "import os\nfrom app.core import send\n",
    "app/names.py": 'from os import sep\n\n__all__ = ["sep"]\n',
    "app/core.py": CORE,
    "app/plain.py": "def go(a):\n    return a\n\n\ndef _own():\n    return 1\n",
    "app/_inner.py": "def go(a):\n    return a\n",
    "app/rates.csv": "1\n",
    "notes/guide.md": "hi\n",
    "tests/test_core.py": (
        "import pytest\n\nfrom app.core import send\n\n\ndef test_send():\n    # why\n    assert send(1) == 1\n"
        "    assert send(2) == 2\n\n\nclass TestBox:\n    def test_put(self):\n"
        "        with pytest.raises(ValueError):\n            send(3)\n\n\ndef helper():\n    return 1\n"
    ),
}


def assessed(service: Any, verb: str, given: Mapping[str, Any]) -> Risk:
    return of(*planned(service, verb, given))


def of(plan: Plan, before: Workspace, after: Workspace) -> Risk:
    return risk_of(plan, subjects_of(plan, before, after), before, after)


CASES: list[tuple[str, tuple[str, dict[str, Any]], str, str]] = [
    ("a comment", edit("app.core", "# Sends once.", "# Sends."), "low",
     "comments or docstrings of app.core.send change"),
    ("a docstring", edit("app.core.send", "Send it.", "Send."), "low",
     "comments or docstrings of app.core.send change"),
    ("a comment inside", edit("app.core.send", "    return _low(x)", "    # now\n    return _low(x)"), "low",
     "comments or docstrings of app.core.send change"),
    ("the module's docstring", edit("app.core", "Sends.", "Posts."), "low",
     "comments or docstrings of app.core change"),
    ("blank lines", edit("app.core", "1\n\n\n# Sends", "1\n\n\n\n# Sends"), "low",
     "comments or docstrings of app.core change"),
    ("a private body", edit("app.core._low", "return x", "return 2"), "low",
     "app.core._low, which is private, changes"),
    ("a private method", edit("app.core.Box._take", "1", "2"), "low", "app.core.Box._take, which is private, changes"),
    ("a private header", edit("app.core._low", "(x)", "(x, y)"), "low", "app.core._low, which is private, changes"),
    ("in a private module", edit("app._inner.go", "(a)", "(a, b)"), "low", "app._inner.go, which is private, changes"),
    ("not in __all__", edit("app.core.hidden", "(x)", "(x, y)"), "low", "app.core.hidden, which is private, changes"),
    ("imports", ("imports_add", {"target": "app.core", "statements": ["import sys"]}), "low",
     "imports of app.core change"),
    ("something new", ("insert", {"target": "app.plain.go", "new_source": "def new(): pass\n"}), "low",
     "app.plain.new is new"),
    ("a new module", ("write", {"target": "app.new", "source": "a = 1\n"}), "low", "app.new, app.new.a are new"),
    ("a text", edit(":notes/guide.md", "hi", "ho"), "low", "the text :notes/guide.md changes"),
    ("a public body", edit("app.core.send", "_low(x)", "x"), "medium",
     "app.core.send, which is public, does something else"),
    ("a string", edit("app.core.Box.put", "send(x)", "'x'"), "medium",
     "app.core.Box.put, which is public, does something else"),
    ("a constant", edit("app.core.LIMIT", "1", "2"), "medium", "app.core.LIMIT, which is public, does something else"),
    ("a further argument", edit("app.core.send", "y=1", "y=1, z=2"), "medium",
     "app.core.send, which is public, takes further arguments"),
    ("a further keyword", edit("app.core.Box.put", "often: int = 1", "often: int = 1, far=2"), "medium",
     "app.core.Box.put, which is public, takes further arguments"),
    ("a statement", edit("app.core", "print(LIMIT)", "print(1)"), "medium",
     "statements of app.core change, which run whenever it is imported"),
    ("a private name goes", ("delete", {"target": "app.plain._own"}), "medium",
     "app.plain._own, which is private, goes"),
    ("a setting", toml("100", "120"), "medium", "the setting tool.ruff.line-length changes"),
    ("a data file", edit("app:rates.csv", "1", "2"), "medium", "the data file app:rates.csv changes"),
    ("a text goes", ("delete", {"target": ":notes/guide.md"}), "medium", "the file :notes/guide.md goes"),
    ("a public name goes", ("delete", {"target": "app.plain.go"}), "high", "app.plain.go, which is public, goes"),
    ("it is called otherwise", ("rename", {"target": "app.plain.go", "new_name": "run"}), "high",
     "app.plain.go, which is public, goes"),
    ("it is private now", ("rename", {"target": "app.plain.go", "new_name": "_go"}), "high",
     "app.plain.go, which is public, goes"),
    ("a method goes",
     edit("app.core.Box", "    def put(self, x, *, often: int = 1):\n        return send(x)\n\n", ""), "high",
     "app.core.Box.put, which is public, goes"),
    ("a module goes", ("delete", {"target": "app.plain", "force": True}), "high", "app.plain, which is public, goes"),
    ("a required argument", edit("app.core.send", "y=1", "y"), "high",
     "app.core.send, which is public, gets another header"),
    ("another argument", edit("app.core.send", "(x, y=1)", "(y=1)"), "high",
     "app.core.send, which is public, gets another header"),
    ("another order", edit("app.core.send", "(x, y=1)", "(y, x=1)"), "high",
     "app.core.send, which is public, gets another header"),
    ("no longer awaited", edit("app.core.wait", "async def", "def"), "high",
     "app.core.wait, which is public, gets another header"),
    ("a decorator", edit("app.core.hidden", "def hidden", "@os\ndef hidden"), "low",
     "app.core.hidden, which is private, changes"),
    ("a public decorator", edit("app.core.wait", "async", "@os\nasync"), "high",
     "app.core.wait, which is public, gets another header"),
    ("other bases", edit("app.core.Box", "(dict)", "(list)"), "high",
     "app.core.Box, which is public, gets another header"),
    ("no longer exported", edit("app.core", ', "wait"]', "]"), "high", "app.core.wait is no longer in __all__"),
    ("no longer let out", edit("app", "from app.core import send\n", ""), "high", "app.send, which is public, goes"),
    ("no longer imported nor exported", edit("app.names", 'from os import sep\n\n__all__ = ["sep"]\n', ""), "high",
     "app.names.sep, which is public, goes"),
    ("an import of no interest", edit("app", "import os\n", ""), "low", "imports of app change"),
    ("a dependency", toml('"rich"', '"rich", "httpx"'), "high", "the dependency httpx changes"),
    ("CI", data(":.github/workflows/ci.yml", "x\n"), "high",
     ":.github/workflows/ci.yml: continuous integration goes by it"),
    ("conftest", ("write", {"target": "tests.conftest", "source": "a = 1\n"}), "high",
     "tests.conftest, tests.conftest.a: pytest runs it with the tests"),
    ("our own settings", toml("[tool.ruff]", "[tool.bae-source]\n[tool.ruff]"), "high",
     "tool.bae-source may not change"),
    ("a test with more",
     edit("tests.test_core.test_send", "assert send(1) == 1", "assert send(1) == 1\n    assert 1"), "low",
     "tests.test_core.test_send, a test, changes"),
    ("a comment in a test", edit("tests.test_core.test_send", "# why", "# so"), "low",
     "comments or docstrings of tests.test_core.test_send"),
    ("a new test", ("insert", {"target": "tests.test_core.test_send", "new_source": "def test_b(): assert 1\n"}), "low",
     "tests.test_core.test_b, a test, is new"),
    ("a helper of tests goes", ("delete", {"target": "tests.test_core.helper"}), "low",
     "tests.test_core.helper, a test, changes"),
    ("a test goes", ("delete", {"target": "tests.test_core.test_send"}), "high",
     "tests.test_core.test_send, a test, is taken out"),
    ("a class of tests goes", ("delete", {"target": "tests.test_core.TestBox"}), "high",
     "tests.test_core.TestBox, a test, is taken out"),
    ("a module of tests goes", ("delete", {"target": "tests.test_core"}), "high",
     "tests.test_core, a test, is taken out"),
    ("a test moves", ("move", {"target": "tests.test_core.test_send", "to": "tests.test_other"}), "low", ""),
    ("fewer assertions", edit("tests.test_core.test_send", "    assert send(2) == 2\n", ""), "high",
     "tests.test_core.test_send, a test, asserts less"),
    ("an assertion in a comment",
     edit("tests.test_core.test_send", "    assert send(2)", "    # assert send(2)"), "high",
     "tests.test_core.test_send, a test, asserts less"),
    ("nothing is to be raised",
     edit("tests.test_core.TestBox.test_put", "with pytest.raises(ValueError):", "if 1:"), "high",
     "tests.test_core.TestBox.test_put, a test, asserts less"),
    ("a test is skipped", edit("tests.test_core", "def test_send", "@pytest.mark.skip\ndef test_send"), "high",
     "tests.test_core.test_send, a test, is skipped or expected to fail"),
    ("another default", edit("app.core.send", "y=1", "y=2"), "medium",
     "app.core.send, which is public, has other defaults"),
    ("an annotation", edit("app.core.wait", "x: int", "x: str"), "medium",
     "app.core.wait, which is public, has other annotations"),
    ("a default where there was none", edit("app.plain.go", "(a)", "(a=1)"), "medium",
     "app.plain.go, which is public, takes further arguments"),
    ("white space in a header", edit("app.core", "class Box(dict)", "class  Box( dict )"), "low",
     "white space alone changes in app.core.Box"),
    ("white space in a body", edit("app.core.send", "_low(x)", "_low( x )"), "low",
     "white space alone changes in app.core.send"),
    ("white space in a module", edit("app.core", "print(LIMIT)", "print( LIMIT )"), "low",
     "white space alone changes in app.core"),
    ("white space in a test", edit("tests.test_core.test_send", "send(1) == 1", "send(1)==1"), "low",
     "white space alone changes in tests.test_core.test_send"),
    ("a program that an import runs",
     edit("app.core", "LIMIT = 1", 'import subprocess\n\nX_RUN = subprocess.run(["id"])\nLIMIT = 1'), "high",
     "runs programs or code: subprocess.run, in app.core.X_RUN"),
    ("a private body that runs code", edit("app.core._low", "return x", "return eval(x)"), "high",
     "runs programs or code: eval, in app.core._low"),
    ("a module by a name that is worked out",
     edit("app.core._low", "return x", "import importlib as i\n    return i.import_module(x)"), "high",
     "runs programs or code: importlib.import_module, in app.core._low"),
    ("a module by a literal",
     edit("app.core._low", "return x", "import importlib\n    return importlib.import_module('os')"), "low",
     "app.core._low, which is private, changes"),
    ("a connection", edit("app.core._low", "return x", "from socket import socket as s\n    return s()"), "high",
     "opens connections: socket.socket, in app.core._low"),
    ("a new test that runs a program",
     ("insert", {"target": "tests.test_core.test_send", "new_source": "def test_b():\n    __import__('os')\n"}), "high",
     "runs programs or code: __import__, in tests.test_core.test_b"),
    ("a method that is called so", edit("app.core._low", "return x", "return x.eval()"), "low",
     "app.core._low, which is private, changes"),
    ("a new constant that calls", ("insert", {"target": "app.plain.go", "new_source": "BOX = dict()\n"}), "medium",
     "app.plain.BOX calls something whenever its module is imported"),
    ("a new module that calls", ("write", {"target": "app.new", "source": "a = 1\nprint(a)\n"}), "medium",
     "app.new calls something whenever its module is imported"),
    ("a private constant that calls now", edit("app._inner", "def go", "_A = list()\n\n\ndef go"), "medium",
     "app._inner._A calls something whenever its module is imported"),
    ("a new attribute of a class that calls",
     edit("app.core.Box", "    def put", "    own = set()\n\n    def put"), "medium",
     "app.core.Box.own calls something whenever its module is imported"),
    ("a new function", ("insert", {"target": "app.plain.go", "new_source": "def new():\n    return dict()\n"}), "low",
     "app.plain.new is new"),
    ("new parameters of tests", ("insert", {"target": "tests.test_core.test_send",
     "new_source": "@pytest.mark.parametrize('a', [1])\ndef test_b(a):\n    assert a\n"}), "low",
     "tests.test_core.test_b, a test, is new"),
    ("a file of data is emptied", data("app:rates.csv", ""), "medium",
     "the file app:rates.csv loses most of what it has"),
    ("a new file of data", data("app:more.csv", "1\n"), "medium", "the data file app:more.csv is new"),
    ("a new file of data of tests", data(":tests/more.json", "1\n"), "low", "the data file "),
    ("a new file of data of docs", data(":docs/more.json", "1\n"), "low",
     "the data file :docs/more.json of tests or docs is new"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "level", "clause"), [pytest.param(*rest, id=name) for name, *rest in CASES])
def test_a_change_is_as_grave_as_the_gravest_of_its_effects(
    tmp_path: Path, change: Any, level: str, clause: str
) -> None:
    risk = assessed(made(tmp_path, PROJECT), *change)
    assert risk.level == level, risk.reasons
    assert risk.reasons[0].startswith(clause), risk.reasons


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (edit("app.core", "# Sends once.", "# Sends."), "comments"),
        (edit("tests.test_core.test_send", "# why", "# because"), "comments"),
        (edit(":notes/guide.md", "hi", "ho"), "texts"),
        (("insert", {"target": "tests.test_core.test_send", "new_source": "def test_more(): assert True\n"}), "tests"),
        (edit("app.core._low", "return x", "return 2"), ""),
        (edit("app.core.send", '"""Send it."""\n    return _low(x)', '"""Send."""\n    return x'), ""),
        (edit("tests.test_core.test_send", "    assert send(2) == 2\n", ""), ""),
    ],
)
def test_what_is_safe_and_alike_is_of_one_kind(tmp_path: Path, change: tuple[str, dict[str, Any]], kind: str) -> None:
    assert assessed(made(tmp_path, PROJECT), *change).kind == kind


def test_what_is_known_of_a_refactoring_counts(tmp_path: Path) -> None:
    files = {**PROJECT, "app/user.py": "def use(box, other):\n    box.put(1)\n    return other.put\n"}
    given = {"target": "app.core.Box.put", "new_name": "place", "unsure": "leave"}
    risk = assessed(made(tmp_path, files), "rename", given)
    assert (risk.level, risk.counts["unsure"] > 0, risk.counts["public"]) == ("high", True, 1)
    assert any("app.user.use:" in each for each in risk.reasons)


def test_what_moves_with_what_it_calls_calls_nothing_new(tmp_path: Path) -> None:
    runs = "import os\n\n\ndef _run(a):\n    return os.system(a)\n\n\n_X = dict()\n"
    service = made(tmp_path, {**PROJECT, "app/runs.py": runs})
    for name in ("_run", "_X"):
        risk = assessed(service, "move", {"target": f"app.runs.{name}", "to": "app.plain"})
        assert not [each for each in risk.reasons if "runs programs" in each or "calls" in each], risk.reasons
    twice = runs.replace("os.system(a)", "os.system(a) + os.system(a)").encode()
    risk = of(*written(service, {"app/runs.py": twice}))
    assert risk.reasons[0] == "runs programs or code: os.system, in app.runs._run"


def test_a_header_and_a_body_that_change_are_both_reported(tmp_path: Path) -> None:
    risk = assessed(made(tmp_path, PROJECT), *edit("app.core.send", "    return _low(x)", "    return x"))
    assert risk.reasons == ("app.core.send, which is public, does something else",)
    both = CORE.replace("def send(x, y=1)", "def send(x, y=2)").replace("return _low(x)", "return x").encode()
    assert of(*written(made(tmp_path / "b", PROJECT), {"app/core.py": both})).reasons == (
        "app.core.send, which is public, has other defaults",
        "app.core.send, which is public, does something else",
    )


def test_another_block_around_a_statement_is_more_than_white_space(tmp_path: Path) -> None:
    code = "def _f(a):\n    if a:\n        a = 1\n    a = 'x  y'\n"
    service = made(tmp_path, {**PROJECT, "app/blocks.py": code})
    for old, new, is_layout in (
        ("    a = 'x", "        a = 'x", False), ("x  y", "x y", False), ("if a:", "if  a :", True),
        ("a = 1", "a=1", True)
    ):  # fmt: skip
        risk = of(*written(service, {"app/blocks.py": code.replace(old, new, 1).encode()}))
        assert risk.reasons == (
            "white space alone changes in app.blocks._f" if is_layout else "app.blocks._f, which is private, changes",
        )


def test_names_that_are_exchanged_change_no_behaviour(tmp_path: Path) -> None:
    service = made(tmp_path, PROJECT)
    risk = assessed(service, "rename", {"target": "app.core._low", "new_name": "_deep"})
    assert risk.reasons == (
        "app.core._low, which is private, goes", "app.core._deep is new", "names are exchanged in app.core"
    )  # fmt: skip
    same = CORE.replace("_low", "_deep").encode()
    assert "app.core.send, which is public, does something else" in of(*written(service, {"app/core.py": same})).reasons


def test_what_is_still_used_is_reported(tmp_path: Path) -> None:
    service = made(tmp_path, PROJECT)
    plan, before, after = planned(service, "delete", {"target": "app.core._low", "force": True})
    warned = msgspec.structs.replace(plan, warnings=with_users(before, plan).warnings)
    risk = of(warned, before, after)
    assert risk.level == "high"
    assert risk.reasons[0].startswith("app.core._low is still used: app.core:"), risk.reasons


@pytest.mark.parametrize(("count", "level"), [(19, "low"), (20, "medium"), (199, "medium"), (200, "high")])
def test_many_files_are_a_risk(tmp_path: Path, count: int, level: str) -> None:
    service = made(tmp_path, PROJECT)
    risk = of(*written(service, {f"notes/{number}.md": b"x\ny\n" for number in range(count)}))
    assert (risk.level, risk.counts["files"], risk.counts["lines_added"]) == (level, count, 2 * count)


def test_many_lines_that_go_are_a_risk(tmp_path: Path) -> None:
    service = made(tmp_path, {**PROJECT, "notes/long.md": "".join(f"{number}\n" for number in range(600))})
    risk = of(*written(service, {"notes/long.md": b"1\n"}))
    emptied = "the file :notes/long.md loses most of what it has"
    assert (risk.level, risk.reasons, risk.counts["lines_removed"]) == ("medium", (emptied, "599 lines go"), 599)


def test_what_is_installed_is_a_risk(tmp_path: Path) -> None:
    plan, before, after = written(made(tmp_path, PROJECT), {})
    plan = msgspec.structs.replace(plan, releases=(Release(name="rich", before="13", after="14"),))
    risk = of(plan, before, after)
    assert (risk.level, risk.reasons, risk.counts["dependencies"]) == ("high", ("the dependency rich changes",), 1)


def test_code_that_no_longer_parses_is_a_risk(tmp_path: Path) -> None:
    service = made(tmp_path, PROJECT)
    risk = of(*written(service, {"app/plain.py": b"def go(a:\n"}))
    assert (risk.level, "app.plain does not parse" in risk.reasons) == ("high", True)
    mended = made(tmp_path / "b", {**PROJECT, "app/plain.py": "def go(a:\n    return a\n"})
    risk = of(*written(mended, {"app/plain.py": b"def go(a):\n    return a\n"}))
    assert not any("parse" in each for each in risk.reasons)


def test_a_person_gets_a_dozen_reasons_at_most_and_the_gravest_first(tmp_path: Path) -> None:
    service = made(tmp_path, PROJECT)
    contents: dict[str, bytes | None] = {
        "pyproject.toml": b"[project]\ndependencies = ['httpx']\n[tool.x]\na = 1\n[tool.pytest]\na = 1\n",
        "app/core.py": CORE.replace("y=1", "y").replace("_take", "_took").replace("print(LIMIT)", "print(2)").encode(),
        "app/plain.py": None, "app/rates.csv": None, "notes/guide.md": b"x", "app/new.py": b"a = 1\n", "Makefile": b"x",
        "tests/test_core.py": b"def test_send(): ...\n", "tests/test_b.py": b"def test_b(): ...\n", "app/x.bin": b"1",
        ".github/x.yml": b"x", "setup.py": b"1\n", "conftest.py": b"1\n", ".envrc": b"1", ".git./x": b"1",
    }  # fmt: skip
    risk = of(*written(service, contents))
    assert (risk.level, len(risk.reasons)) == ("high", 12)
    assert risk.reasons[0] == ":.git./x may not change: it lies in git's own folder"
    assert set(risk.counts) == {
        "files", "lines_added", "lines_removed", "symbols", "public", "deleted", "tests", "dependencies", "unsure"
    }  # fmt: skip


def test_nothing_is_no_risk(tmp_path: Path) -> None:
    assert of(*written(made(tmp_path, PROJECT), {})) == Risk(counts=dict.fromkeys(Risk().counts or of_nothing(), 0))


def of_nothing() -> tuple[str, ...]:
    return ("files", "lines_added", "lines_removed", "symbols", "public", "deleted", "tests", "dependencies", "unsure")


def test_edits_of_real_code_are_judged_by_what_they_change(tmp_path: Path) -> None:
    """Comments in a package that is installed here are low wherever they stand; a public function that goes is high."""
    package = Path(sysconfig.get_paths()["purelib"]) / "pluggy"
    shutil.copytree(package, tmp_path / "pluggy", ignore=shutil.ignore_patterns("__pycache__"))
    service = made(tmp_path, {"pyproject.toml": "[project]\nname = 'pluggy'\n"})
    chosen = random.Random(3)
    for path in sorted((tmp_path / "pluggy").glob("*.py")):
        lines = path.read_text().split("\n")
        ends = [number for number, line in enumerate(lines) if line.lstrip().startswith(("return", "def ", "class "))]
        for number in chosen.sample(ends, min(6, len(ends))):
            if lines[number].endswith((":", ")")):
                changed = [*lines[:number], f"{lines[number]}  # so", *lines[number + 1 :]]
                risk = of(*written(service, {f"pluggy/{path.name}": "\n".join(changed).encode()}))
                assert (risk.level, risk.counts["lines_added"]) == ("low", 1), (path, number, risk.reasons)
    risk = assessed(service, "delete", {"target": "pluggy._manager.PluginManager.register", "force": True})
    assert risk.level == "medium", risk.reasons  # of a module that is private by its name
    assert assessed(service, "edit", {"target": "pluggy", "old": '    "HookimplOpts",\n', "new": ""}).level == "high"
