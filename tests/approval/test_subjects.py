"""What a planned change touches, by tables: the request, and the subjects that its bytes come to."""

from __future__ import annotations

import ast
import os
import random
import re
import shutil
import sysconfig
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bae_source.approval.policy import Policy, Subject, Table
from bae_source.engine.approving.touching import touched
from bae_source.engine.approving.touching.subjects import forbidden_in, subjects_of
from bae_source.engine.registry import request
from bae_source.engine.service import Service
from bae_source.model.changeset import between
from bae_source.model.plan import Plan, Release, Requirements
from bae_source.model.settings import PolicyTable
from bae_source.project.workspace import Workspace

CORE = '''"""Sends."""

import os
from app.low import helper

LIMIT, MOST = 1, 2


# Sends once.
def send(x, y=1):
    """Send it."""

    def inner():
        return x

    return inner()


class Box:
    """Holds."""

    size = 1

    def put(self, x):
        return send(x)

    @property
    def full(self):
        return False

    @full.setter
    def full(self, value):
        self.size = value


if os.name == "nt":

    def home():
        return 1

else:

    def home():
        return 2


print(LIMIT)
'''
PROJECT: Mapping[str, str] = {
    "pyproject.toml": (
        '[project]\nname = "app"\ndependencies = ["rich>=13", "msgspec"]\n\n[project.optional-dependencies]\n'
        'web = ["Flask"]\n\n[dependency-groups]\ndev = ["pytest", {include-group = "docs"}]\ndocs = ["Sphinx"]\n\n'
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n\n'
        "[tool.ruff]\nline-length = 100\n"
        'lint.select = ["E"]\n\n[tool.pytest.ini_options]\naddopts = "-q"\n\n[tool.bae-source]\nlogs = "var"\n'
    ),
    "app/__init__.py": "from app.core import send\n\nrun = send\n",
    "app/core.py": CORE,
    "app/low.py": "def helper():\n    return 1\n",
    "app/run.py": "",
    "app/far.py": "def go():\n    return 1\n",
    "app/core.pyi": "def send(x, y: int = ...): ...\n",
    "app/rates.csv": "1,2\n",
    "notes/guide.md": "hi\n",
    "docs/conf.py": "project = 1\n",
    "scripts/tool.py": "def main():\n    return 1\n",
    "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef box():\n    return 1\n",
    "tests/test_core.py": "from app.core import send\n\n\ndef test_send(box):\n    assert send(1) == 1\n",
    "tests/support.py": "A = 1\n",
    "requirements-dev.txt": "# tools\nblack\nruff>=1 ; python_version > '3'\n",
}


def made(root: Path, files: Mapping[str, str | bytes]) -> Service:
    for path, content in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
    return Service(root, environment=dict(os.environ))


def planned(service: Service, verb: str, given: Mapping[str, Any]) -> tuple[Plan, Workspace, Workspace]:
    workspace = service.workspace()
    plan: Plan = request(verb, given).plan(workspace)  # type: ignore[attr-defined]
    return plan, workspace, workspace.after(plan.changes)


def written(service: Service, contents: Mapping[str, bytes | None]) -> tuple[Plan, Workspace, Workspace]:
    """Return a plan of bytes, as undo and patches make them."""
    workspace = service.workspace()
    changes = between({path: workspace.content(path) for path in contents}, contents)
    return Plan(changes=changes, changed=(), modules=(), summary="x"), workspace, workspace.after(changes)


def shown(subjects: Iterable[Subject]) -> list[str]:
    """Return subjects in words: `!` before one that waits under any policy, `!!` before one that may not change."""
    return ["!!" * bool(each.never) + "!" * bool(each.runs) + f"{each.kind} {each.name}" for each in subjects]


def edit(target: str, old: str, new: str) -> tuple[str, dict[str, Any]]:
    return "edit", {"target": target, "old": old, "new": new}


def data(target: str, source: str) -> tuple[str, dict[str, Any]]:
    return "write", {"target": target, "source": source, "overwrite": True}


def patched(text: str) -> tuple[str, dict[str, Any]]:
    return "apply", {"patch": text}


def toml(old: str, new: str) -> tuple[str, dict[str, Any]]:
    return edit(":pyproject.toml", old, new)


CODE: list[tuple[str, tuple[str, dict[str, Any]], str]] = [
    ("a function's body", edit("app.core.send", "inner()\n", "inner() or 1\n"), "code app.core.send"),
    ("a function in it", edit("app.core.send.inner", "return x", "return y"), "code app.core.send.inner"),
    ("its docstring", edit("app.core.send", "Send it.", "Send."), "code app.core.send"),
    ("the comment above", edit("app.core", "# Sends once.", "# Sends twice."), "code app.core.send"),
    ("its signature", edit("app.core.send", "y=1", "y=2"), "code app.core.send"),
    ("a method", edit("app.core.Box.put", "send(x)", "send(x, 2)"), "code app.core.Box.put"),
    ("a class's header", edit("app.core.Box", "class Box:", "class Box(dict):"), "code app.core.Box"),
    ("an attribute", edit("app.core.Box.size", "1", "2"), "code app.core.Box.size"),
    ("a setter", edit("app.core.Box.full@setter", "= value", "= 0"), "code app.core.Box.full@setter"),
    ("one of two", edit("app.core.home[1]", "2", "3"), "code app.core.home[1]"),
    ("a pair", edit("app.core.LIMIT", "1, 2", "1, 3"), "code app.core.LIMIT; code app.core.MOST"),
    ("a statement", edit("app.core", "print(LIMIT)", "print(MOST)"), "code app.core"),
    ("the module's docstring", edit("app.core", '"""Sends."""', '"""Posts."""'), "code app.core"),
    ("a new import", ("imports_add", {"target": "app.core", "statements": ["import sys"]}), "code app.core"),
    (
        "an import of the same name",
        edit("app.core", "from app.low import helper", "from app.far import go as helper"),
        "code app.core; code app.core.helper",
    ),
    ("blank lines", edit("app.core", "2\n\n\n# Sends", "2\n\n\n\n# Sends"), "code app.core"),
    ("a line end in a text", edit("app.core", "Send it.\"\"\"\n\n", "Send\n it.\"\"\"\n\n"), "code app.core.send"),
    ("a new function", ("insert", {"target": "app.low.helper", "new_source": "def f(): pass\n"}), "code app.low.f"),
    (
        "what comes between statements",
        edit("app.core", "\n\nprint(LIMIT)", "\n\ndef new():\n    pass\n\n\nprint(LIMIT)"),
        "code app.core.new",
    ),
    (
        "a class goes",
        ("delete", {"target": "app.core.Box"}),
        "code app.core.Box; code app.core.Box.size; code app.core.Box.put; code app.core.Box.full@getter; "
        "code app.core.Box.full@setter",
    ),
    (
        "another order",
        edit("app.core.Box", "    size = 1\n\n    def put(self, x):\n        return send(x)\n",
             "    def put(self, x):\n        return send(x)\n\n    size = 1\n"),
        "code app.core.Box",
    ),
    (
        "a statement behind another definition",
        edit("app.far", "def go():\n    return 1\n", "def go():\n    return 1\n\n\nprint(go)\n"),
        "code app.far",
    ),
    (
        "a statement that is indented",
        edit("app.core", "        return 2\n\n\nprint(LIMIT)", "        return 2\n\n    print(LIMIT)"),
        "code app.core",
    ),
    (
        "a rename",
        ("rename", {"target": "app.low.helper", "new_name": "other"}),
        "code app.core; code app.core.helper; code app.low.other; code app.low.helper",
    ),
    ("an attribute like a module", edit("app@module.run", "run = send", "run = None"), "code app.run"),
    ("a stub", edit("app.core@stub.send", "int", "float"), "code app.core@stub.send"),
    ("a script", edit("scripts.tool.main", "1", "2"), "code scripts.tool.main"),
    ("a module comes", ("write", {"target": "app.new", "source": "A = 1\n"}), "code app.new; code app.new.A"),
    ("a module goes", ("delete", {"target": "app.far", "force": True}), "code app.far; code app.far.go"),
    (
        "a module moves",
        ("move", {"target": "scripts.tool", "to": "scripts.other"}),
        "code scripts; code scripts.other; code scripts.other.main; code scripts.tool; code scripts.tool.main",
    ),
    (
        "a function moves",
        ("move", {"target": "app.far.go", "to": "app.low"}),
        "code app.low.go; code app.far.go",
    ),
    (
        "a program",
        patched("diff --git a/app/low.py b/app/low.py\nold mode 100644\nnew mode 100755\n"),
        "code app.low",
    ),
    ("a test", edit("tests.test_core.test_send", "== 1", "== 2"), "tests tests.test_core.test_send"),
    ("a helper of tests", edit("tests.support.A", "1", "2"), "code tests.support.A"),
    ("conftest", edit("tests.conftest.box", "1", "2"), "!tests tests.conftest.box"),
    ("Sphinx's settings", edit("docs.conf.project", "1", "2"), "!code docs.conf.project"),
    ("a new setup.py", ("write", {"target": "setup", "source": "a = 1\n"}), "!code setup; !code setup.a"),
    ("tests come", ("write", {"target": "tests.test_b", "source": "def test_b(): ...\n"}),
     "tests tests.test_b; tests tests.test_b.test_b"),
]  # fmt: skip
DATA: list[tuple[str, tuple[str, dict[str, Any]], str]] = [
    ("a text", edit(":notes/guide.md", "hi", "ho"), "data :notes/guide.md"),
    ("a new text", data(":notes/new.md", "x\n"), "data :notes/new.md"),
    ("a package's file", edit("app:rates.csv", "1", "3"), "data app:rates.csv"),
    ("a text moves", ("move", {"target": ":notes/guide.md", "to": ":notes/start.md"}),
     "data :notes/guide.md; data :notes/start.md"),
    ("a text goes", ("delete", {"target": ":notes/guide.md"}), "data :notes/guide.md"),
    ("a program", patched("diff --git a/notes/guide.md b/notes/guide.md\nold mode 100644\nnew mode 100755\n"),
     "data :notes/guide.md"),
    ("requirements", edit(":requirements-dev.txt", "black", "Blue_Black"),
     "!data :requirements-dev.txt; deps blue-black; deps black"),
    ("CI", data(":.github/workflows/ci.yml", "x\n"), "!data :.github/workflows/ci.yml"),
    ("a hook", data(":.pre-commit-config.yaml", "x\n"), "!data :.pre-commit-config.yaml"),
    ("agents", data(":.claude/settings.json", "{}\n"), "!data :.claude/settings.json"),
    ("servers of agents", data(":sub/.mcp.json", "{}\n"), "!data :sub/.mcp.json"),
    ("an environment", data(":.envrc", "x\n"), "!data :.envrc"),
    ("Python's start", data("app:x.pth", "import os\n"), "!data app:x.pth"),
    ("pytest's settings", data(":pytest.ini", "[pytest]\n"), "!data :pytest.ini"),
    ("a short name", data(":git~1/config", "x\n"), "!!data :git~1/config"),
    ("a full stop", data(":.git./config", "x\n"), "!!data :.git./config"),
    ("a space", data(":sub/.git /config", "x\n"), "!!data :sub/.git /config"),
    ("nothing to see", data(":.g\u200cit/config", "x\n"), "!!data :.g\u200cit/config"),
    ("wide letters", data(":\uff0egit/config", "x\n"), "!!data :\uff0egit/config"),
    ("other letters", data(":sub/.GiT/config", "x\n"), "!!data :sub/.GiT/config"),
    ("our state", data(":.Bae-Source/lock", "x\n"), "!!data :.Bae-Source/lock"),
]  # fmt: skip
SETTINGS: list[tuple[str, tuple[str, dict[str, Any]], str]] = [
    ("a setting", toml("line-length = 100", "line-length = 120"), "config tool.ruff.line-length"),
    ("the same as text", toml("line-length = 100", "line-length  =  1_00"), ""),
    ("an item of a list", toml('["E"]', '["E", "F"]'), "config tool.ruff.lint.select"),
    ("another type", toml("line-length = 100", "line-length = 100.0"), "config tool.ruff.line-length"),
    ("a quoted key", toml("line-length = 100", '"a.b" = 1'),
     'config tool.ruff.line-length; config tool.ruff."a.b"'),
    ("an empty table", toml("[tool.ruff]", "[tool.x]\n[tool.ruff]"), "config tool.x"),
    ("a value for a table", toml("[tool.ruff]\nline-length = 100\nlint.select", "[tool]\nruff = 1\n[tool.y]\nx"),
     "config tool.ruff; config tool.ruff.line-length; config tool.ruff.lint.select; config tool.y.x"),
    ("pytest", toml('"-q"', '"-p evil"'), "!config tool.pytest.ini_options.addopts"),
    ("uv", toml("[tool.ruff]", '[tool.uv]\nindex-url = "x"\n[tool.ruff]'), "!config tool.uv.index-url"),
    ("where a distribution comes from", toml("[tool.ruff]", '[tool.uv.sources]\nRich = { path = "x" }\n[tool.ruff]'),
     "!config tool.uv.sources.Rich.path; deps rich"),
    ("a requirement", toml("rich>=13", "rich>=14"), "config project.dependencies; deps rich"),
    ("a requirement comes", toml('"msgspec"', '"msgspec", "Evil_.Pkg @ https://x"'),
     "config project.dependencies; deps evil-pkg"),
    ("a requirement goes", toml('"rich>=13", ', ""), "config project.dependencies; deps rich"),
    ("an extra", toml('"Flask"', '"Flask>1"'), "config project.optional-dependencies.web; deps flask"),
    ("a group", toml('"pytest"', '"pytest>1"'), "config dependency-groups.dev; deps pytest"),
    ("what builds", toml('["hatchling"]', '["evil"]'), "!config build-system.requires; deps evil; deps hatchling"),
    ("the backend", toml("hatchling.build", "x.build"), "!config build-system.build-backend"),
    ("Poetry's", toml("[tool.ruff]", '[tool.poetry.dependencies]\nhttpx = "^1"\n[tool.ruff]'),
     "config tool.poetry.dependencies.httpx; deps httpx"),
    ("ours", toml('logs = "var"', 'logs = "x"'), "!!config tool.bae-source"),
    ("more of ours", toml('logs = "var"', 'logs = "var"\npolicy.preset = "open"'), "!!config tool.bae-source"),
    ("ours go", toml('[tool.bae-source]\nlogs = "var"\n', ""), "!!config tool.bae-source"),
    ("ours as other text", toml('[tool.bae-source]\nlogs = "var"', "[\"tool\" . 'bae-source']\nlogs='var'"), ""),
    ("ours quoted", toml('[tool.bae-source]\nlogs = "var"', '["tool"."bae-source"]\nlogs = "x"'),
     "!!config tool.bae-source"),
    ("ours escaped", toml('[tool.bae-source]\nlogs = "var"', '["t\\u006fol"."bae\\u002dsource"]\nlogs = "x"'),
     "!!config tool.bae-source"),
    ("ours dotted", toml('[tool.bae-source]\nlogs = "var"', "[tool]\nbae-source.logs = 'y'"),
     "!!config tool.bae-source"),
    ("ours inline", toml('[tool.bae-source]\nlogs = "var"', "[tool]\nbae-source = {logs = 'var', policy = {}}"),
     "!!config tool.bae-source"),
    ("another one's", toml("[tool.ruff]", "[tool.x.bae-source]\na = 1\n[tool.ruff]"), "config tool.x.bae-source.a"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "expected"), [pytest.param(*rest, id=name) for name, *rest in CODE])
def test_code_is_named_by_the_innermost_definitions(tmp_path: Path, change: Any, expected: str) -> None:
    plan, before, after = planned(made(tmp_path, PROJECT), *change)
    assert sorted(shown(subjects_of(plan, before, after))) == sorted(expected.split("; "))


@pytest.mark.parametrize(("change", "expected"), [pytest.param(*rest, id=name) for name, *rest in DATA])
def test_other_files_are_named_by_their_addresses(tmp_path: Path, change: Any, expected: str) -> None:
    plan, before, after = planned(made(tmp_path, PROJECT), *change)
    assert sorted(shown(subjects_of(plan, before, after))) == sorted(expected.split("; "))
    never = [each for each in expected.split("; ") if each.startswith("!!")]
    assert shown(forbidden_in(plan, before, after)) == never


@pytest.mark.parametrize(("change", "expected"), [pytest.param(*rest, id=name) for name, *rest in SETTINGS])
def test_settings_are_compared_as_data(tmp_path: Path, change: Any, expected: str) -> None:
    plan, before, after = planned(made(tmp_path, PROJECT), *change)
    wanted = ["data :pyproject.toml", *filter(None, expected.split("; "))]
    assert sorted(shown(subjects_of(plan, before, after))) == sorted(wanted)
    assert shown(forbidden_in(plan, before, after)) == [each for each in wanted if each.startswith("!!")]


def of_bytes(root: Path, contents: Mapping[str, bytes | None], files: Mapping[str, str | bytes] = PROJECT) -> list[str]:
    return sorted(shown(subjects_of(*written(made(root, files), contents))))


def test_a_file_is_a_subject_under_each_of_its_names(tmp_path: Path) -> None:
    service = made(tmp_path, PROJECT)
    (tmp_path / "app/linked.py").symlink_to("low.py")
    os.link(tmp_path / "app/low.py", tmp_path / "app/hard.py")
    (tmp_path / "again").symlink_to("app", target_is_directory=True)
    expected = {
        f"code {module}.helper"
        for module in ("app.low", "app.linked", "app.hard", "again.low", "again.linked", "again.hard")
    }
    for name in ("low", "linked", "hard"):
        path = f"app/{name}.py"
        found = shown(subjects_of(*written(service, {path: b"def helper():\n    return 2\n"})))
        assert set(found) == expected
    found = shown(subjects_of(*written(service, {"again/low.py": b"def helper():\n    return 2\n"})))
    assert set(found) == expected


def test_so_is_a_data_file_and_a_new_file_in_a_linked_folder(tmp_path: Path) -> None:
    service = made(tmp_path, PROJECT)
    (tmp_path / "notes/other.md").symlink_to("guide.md")
    (tmp_path / "doc").symlink_to("notes", target_is_directory=True)
    found = shown(subjects_of(*written(service, {"notes/other.md": b"x"})))
    assert set(found) == {"data :notes/guide.md", "data :notes/other.md", "data :doc/guide.md", "data :doc/other.md"}
    assert set(shown(subjects_of(*written(service, {"doc/new.md": b"x"})))) == {
        "data :doc/new.md",
        "data :notes/new.md",
    }


def test_a_link_into_gits_folder_is_git(tmp_path: Path) -> None:
    service = made(tmp_path, {**PROJECT, ".git/config": "x"})
    (tmp_path / "settings").symlink_to(".git/config")
    (tmp_path / "hooks").symlink_to(".git", target_is_directory=True)
    for path in ("settings", "hooks/pre-commit"):
        plan = written(service, {path: b"y"})
        assert any(each.never for each in subjects_of(*plan))
        assert any(each.never for each in forbidden_in(*plan))


def test_a_folder_that_a_file_called_git_names_is_git(tmp_path: Path) -> None:
    service = made(tmp_path, {**PROJECT, ".git": "gitdir: store/git\n", "store/git/config": "x", "store/x": "x"})
    plan = written(service, {"store/git/config": b"y", "store/x": b"y"})
    assert shown(forbidden_in(*plan)) == ["!!data :store/git/config"]
    assert sorted(shown(subjects_of(*plan))) == ["!!data :store/git/config", "data :store/x"]


def test_a_policy_of_a_name_holds_for_the_file_behind_it(tmp_path: Path) -> None:
    service = made(tmp_path, PROJECT)
    (tmp_path / "app/secrets.py").symlink_to("low.py")
    subjects = subjects_of(*planned(service, *edit("app.low.helper", "1", "2")))
    for pattern in ("app.secrets", "app.low.helper", ":app/low.py", ":app/**"):
        policy = Policy([Table(title="[x]", rules=_rules(deny=(pattern,)))])
        assert [each.answer.name for each in policy.change(subjects, "x")] == ["DENY"], pattern


def test_a_data_file_of_a_package_is_covered_by_its_path_as_well(tmp_path: Path) -> None:
    subjects = subjects_of(*planned(made(tmp_path, PROJECT), *edit("app:rates.csv", "1", "3")))
    for pattern in ("app:rates.csv", ":app/*.csv", "app"):
        policy = Policy([Table(title="[x]", rules=_rules(deny=(pattern,)))])
        assert [each.answer.name for each in policy.change(subjects, "x")] == ["DENY"], pattern


def test_a_path_lets_code_change_that_lies_there(tmp_path: Path) -> None:
    subjects = subjects_of(*planned(made(tmp_path, PROJECT), *edit("app.low.helper", "1", "2")))
    for pattern, answers in ((":app/**", []), ("app", []), (":app/low.py", []), (":notes/**", ["APPROVE"])):
        policy = Policy([Table(title="[x]", rules=_rules(allow=(pattern,)))])
        assert [each.answer.name for each in policy.change(subjects, "x")] == answers, pattern


def _rules(**change: tuple[str, ...]) -> PolicyTable:
    rules = PolicyTable()
    return msgspec.structs.replace(rules, change=msgspec.structs.replace(rules.change, **change))


def test_an_attribute_is_covered_in_both_spellings(tmp_path: Path) -> None:
    (subject,) = subjects_of(*planned(made(tmp_path, PROJECT), *edit("app@module.run", "run = send", "run = 1")))
    assert (subject.name, set(subject.also)) == ("app.run", {"app@module.run", ":app/__init__.py"})


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param("def f(:\n    1\n\ndef g(): return 1\n", "def f(): 1\n\ndef g(): return 1\n",
                     "code app.low; code app.low.f", id="mended"),
        pytest.param("def f(): 1\n\ndef g(): return 1\n", "def f(): 1\n\ndef g( return 1\n",
                     "code app.low; code app.low.f; code app.low.g", id="broken"),
        pytest.param("x = \"\"\"\ndef f(): 1\n", "x = \"\"\"\ndef f(): 2\n",
                     "code app.low; code app.low.f; code app.low.x", id="open"),
        pytest.param("def f(): 1\n", b"# coding: latin-1\ndef f(): 1\n", "code app.low", id="encoding"),
        pytest.param("def f(): 1\n", b"\xef\xbb\xbfdef f(): 1\n", "code app.low", id="mark"),
        pytest.param("def f(): 1\n", b"def f(): '\xff'\n", "code app.low; code app.low.f", id="undecodable"),
        pytest.param("def f():\n    1\n", "def f():\r\n    1\r\n", "code app.low.f", id="line ends"),
        pytest.param("a = 1\n", "a = 1\na = 2\n", "code app.low.a; code app.low.a[0]; code app.low.a[1]", id="twice"),
        pytest.param("def f(): 1\n", "def f(): 1\nf = 2\n",
                     "code app.low.f; code app.low.f[0]; code app.low.f[1]", id="hidden"),
        pytest.param("from os import sep\n", "from os import path as sep\n",
                     "code app.low; code app.low.sep", id="rebound"),
        pytest.param("LIMIT = 1\n", "LIMIT = 1\nfrom os import sep as LIMIT\n",
                     "code app.low; code app.low.LIMIT", id="shadowed"),
        pytest.param("A = 1\n", "A = 1\nA += 1\n",
                     "code app.low.A; code app.low.A[0]; code app.low.A[1]", id="added to"),
        pytest.param("a = 1; b = 2\n", "a = 1; b = 3\n", "code app.low.b", id="one line"),
        pytest.param("class A:\n    x = 1\n", "class A:\n    x = 1\n    print(x)\n", "code app.low.A", id="class body"),
        pytest.param("def f():\n    x = 1\n", "def f():\n    x = 2\n", "code app.low.f", id="local"),
        pytest.param("def f():\n    1\n\na = 1\n", "def f():\n    1 \n\na = 1\n", "code app.low.f", id="a space"),
    ],
)  # fmt: skip
def test_bytes_decide_however_they_come(tmp_path: Path, before: str, after: str | bytes, expected: str) -> None:
    new = after.encode() if isinstance(after, str) else after
    found = of_bytes(tmp_path, {"app/low.py": new}, {**PROJECT, "app/low.py": before})
    assert found == sorted(expected.split("; "))


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        pytest.param({"pyproject.toml": b"[tool"}, "!!config tool.bae-source", id="no longer parses"),
        pytest.param({"pyproject.toml": None}, "!!config tool.bae-source", id="goes"),
        pytest.param({"sub/pyproject.toml": b"[tool.bae-source]\n"}, "!!config tool.bae-source", id="comes elsewhere"),
        pytest.param({"PyProject.TOML": b"tool.bae-source.x=1"}, "!!config tool.bae-source", id="other letters"),
        pytest.param({"sub/pyproject.toml": b"[tool.ruff]\na = 1\n"}, "config tool.ruff.a", id="others' elsewhere"),
        pytest.param({"sub/pyproject.toml": b"[tool.uv]\na = 1\n"}, "!config tool.uv.a", id="runs elsewhere"),
        pytest.param({"sub/pyproject.toml": b'bae-source = "\\q'}, "!!config tool.bae-source", id="unreadable"),
        pytest.param({"pyproject.toml": b"x" * 2_000_001}, "!!config tool.bae-source", id="too long"),
    ],
)
def test_our_own_settings_cannot_be_changed(tmp_path: Path, contents: dict[str, bytes | None], expected: str) -> None:
    service = made(tmp_path, PROJECT)
    plan = written(service, contents)
    assert expected in shown(subjects_of(*plan))
    assert shown(forbidden_in(*plan)) == ([expected] if expected.startswith("!!") else [])


def test_a_broken_file_without_our_settings_may_be_mended(tmp_path: Path) -> None:
    service = made(tmp_path, {"app.py": "a = 1\n", "sub/pyproject.toml": "[tool\n"})
    assert forbidden_in(*written(service, {"sub/pyproject.toml": b"[tool.x]\n"})) == ()
    assert forbidden_in(*written(service, {"sub/pyproject.toml": b"[tool.bae-source]\n"}))


def test_the_names_of_modules_cannot_change_unseen(tmp_path: Path) -> None:
    service = made(tmp_path, {"pyproject.toml": "[project]\nname = 'a'\n", "lib/app/secrets.py": "A = 1\n"})
    moved = b"[project]\nname = 'a'\n[tool.setuptools]\npackage-dir = {'' = 'lib'}\n"
    assert "!config source-roots" in shown(subjects_of(*written(service, {"pyproject.toml": moved})))


def test_no_change_makes_tests_of_code(tmp_path: Path) -> None:
    settings = PROJECT["pyproject.toml"].replace('addopts = "-q"', 'python_files = "*.py"').encode()
    found = of_bytes(tmp_path, {"pyproject.toml": settings, "app/low.py": b"def helper():\n    return 2\n"})
    assert "code app.low.helper" in found


def test_distributions_of_a_plan_count(tmp_path: Path) -> None:
    plan, before, after = written(made(tmp_path, PROJECT), {})
    plan = msgspec.structs.replace(
        plan,
        requirements=Requirements(add=("Rich_X>=1",), drop=("flask",), upgrade=("msgspec",)),
        releases=(Release(name="markdown-it-py", before=None, after="1"),),
    )
    assert shown(subjects_of(plan, before, after)) == [
        "deps rich-x",
        "deps flask",
        "deps msgspec",
        "deps markdown-it-py",
    ]


def test_a_request_about_dependencies_is_about_distributions(tmp_path: Path) -> None:
    plan, before, after = planned(
        made(tmp_path, PROJECT), "deps_add", {"requirements": ["httpx>=1"], "files_only": True}
    )
    assert "deps httpx" in shown(subjects_of(plan, before, after))


def test_a_rename_in_many_files_comes_to_the_same_without_parsing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = (
        "from app.low import helper\n\n\nclass A:\n    @property\n    def b(self):\n        return helper()\n\n"
        "    @b.setter\n    def b(self, x: helper):\n        helper(x)\n\n\nhelper()\n"
    )
    plain = "from app.low import helper\n\n\ndef f(x=helper):\n    return helper()\n"
    files = {**PROJECT, **{f"app/m{number}.py": body for number in range(9)}}
    files |= {f"app/n{number}.py": plain for number in range(30)}
    plan, before, after = planned(made(tmp_path, files), "rename", {"target": "app.low.helper", "new_name": "other"})
    quick = subjects_of(plan, before, after)
    monkeypatch.setattr(touched, "FEW", 1000)
    assert set(quick) == set(subjects_of(plan, before, before.after(plan.changes)))
    assert {"code app.n7.f", "code app.m7.A.b@setter", "code app.m7", "code app.low.other"} <= set(shown(quick))


def test_each_definition_of_three_hundred_files_is_a_subject(tmp_path: Path) -> None:
    body = (
        "from app.low import helper\n" + "\n\n".join(f"def f{n}(x):\n    return helper() + x" for n in range(40)) + "\n"
    )
    files = {**PROJECT, **{f"app/m{number}.py": body for number in range(300)}}
    plan, before, after = planned(made(tmp_path, files), "rename", {"target": "app.low.helper", "new_name": "other"})
    assert len(subjects_of(plan, before, after)) > 300 * 40


def test_edits_of_real_code_are_found_where_ast_finds_them(tmp_path: Path) -> None:
    """One line of a function at a time is put in another way, in a package that is installed here."""
    package = Path(sysconfig.get_paths()["purelib"]) / "pluggy"
    shutil.copytree(package, tmp_path / "pluggy", ignore=shutil.ignore_patterns("__pycache__"))
    service = made(tmp_path, {"pyproject.toml": "[project]\nname = 'pluggy'\n"})
    chosen = random.Random(7)
    places = [place for path in sorted((tmp_path / "pluggy").glob("*.py")) for place in _returns(path)]
    assert len(places) > 40
    for path, line, names in chosen.sample(places, 40):
        lines = path.read_text().split("\n")
        lines[line - 1] = f"{lines[line - 1]}  # {chosen.random()}"
        inner = f"pluggy/{path.name}"
        (subject,) = subjects_of(*written(service, {inner: "\n".join(lines).encode()}))
        module = "pluggy" if path.stem == "__init__" else f"pluggy.{path.stem}"
        assert (subject.kind, _bare(subject.name)) == ("code", ".".join((module, *names)))


def _bare(address: str) -> str:
    return re.sub(r"\[\d+\]|@[a-z]+(?:\[\d+\])?", "", address)


def _returns(path: Path) -> Iterable[tuple[Path, int, tuple[str, ...]]]:
    """Yield the one-line `return` statements of a file, each with the definitions around it."""
    waiting: list[tuple[ast.AST, tuple[str, ...]]] = [(ast.parse(path.read_text()), ())]
    while waiting:
        node, names = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
            names = (*names, node.name)
        if isinstance(node, ast.Return) and node.lineno == node.end_lineno:
            yield path, node.lineno, names
        waiting += [(each, names) for each in ast.iter_child_nodes(node)]
