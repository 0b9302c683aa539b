"""A change of a class or a module names the members that went, came, or are hidden, however the change is given."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bae_source import Source
from bae_source.model.outcome import Outcome

BEFORE = """\
class A:
    level = 1

    def m(self):
        return 1

    @property
    def p(self):
        return 1

    @p.setter
    def p(self, value):
        self.q = value

    class Inner:
        def deep(self):
            return 2

    def g(self):
        return 2


def f():
    def inner():
        return 1

    return inner()
"""

BODY = "level = 1\n\ndef m(self):\n    return 3\n\n@property\ndef p(self):\n    return 1\n"


@pytest.fixture
def source(tmp_path: Path) -> Source:
    (tmp_path / "app.py").write_text(BEFORE)
    return Source(tmp_path)


def warned(outcome: Outcome) -> dict[str, str]:
    return {each.code: each.message for each in outcome.warnings if each.code not in ("comments_dropped",)}


def class_of(body: str) -> str:
    return "class A:\n" + "".join(f"    {line}\n" if line else "\n" for line in body.splitlines())


GONE = {"definitions_gone": "No longer defined: A.p@setter, A.Inner, A.g."}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("form", ["whole", "body", "text", "module", "applied"])
def test_members_that_a_change_drops_are_named(source: Source, tmp_path: Path, form: str, newline: str) -> None:
    (tmp_path / "app.py").write_bytes(BEFORE.replace("\n", newline).encode())
    assert warned(_changed(source, form, BODY)) == GONE


@pytest.mark.parametrize("form", ["whole", "body", "text", "module", "applied"])
def test_a_member_that_is_renamed_is_one_dropped_and_one_brought(source: Source, form: str) -> None:
    body = "".join(line.removeprefix("    ") for line in BEFORE.partition("\n\n\n")[0].splitlines(True)[1:])
    found = warned(_changed(source, form, body.replace("def g(", "def h(").replace("def deep(", "def deeper(")))
    assert found.pop("definitions_gone") == "No longer defined: A.Inner.deep, A.g."
    assert list(found) == ["added"]
    assert found["added"].endswith(": A.Inner.deeper, A.h.")


@pytest.mark.parametrize("form", ["whole", "body", "text", "module", "applied"])
def test_a_member_that_another_one_hides_is_named(source: Source, form: str) -> None:
    body = "".join(line.removeprefix("    ") for line in BEFORE.partition("\n\n\n")[0].splitlines(True)[1:])
    found = warned(_changed(source, form, f"{body}\n\ndef m(self):\n    return 5\n\nlevel = 7\n"))
    assert found.pop("definitions_hidden") == "Defined again further down, which hides the first: A.m."
    assert found.pop("added").endswith(": another A.level, another A.m.")
    assert not found


def _changed(source: Source, form: str, body: str) -> Outcome:
    old = "".join(line.removeprefix("    ") for line in BEFORE.partition("\n\n\n")[0].splitlines(True)[1:])
    if form == "whole":
        return source.edit("app.A", class_of(body), dry_run=True)
    if form == "body":
        return source.edit("app.A@body", body, dry_run=True)
    if form == "text":
        return source.edit("app.A", old=class_of(old), new=class_of(body), dry_run=True)
    if form == "module":
        whole = f"{class_of(body)}\n\n{BEFORE.partition(chr(10) * 3)[2]}"
        return source.write("app", whole, overwrite=True, dry_run=True)
    return source.apply([{"do": "edit", "target": "app.A", "new_source": class_of(body)}], dry_run=True)


@pytest.mark.parametrize(
    ("target", "arguments", "expected"),
    [
        (
            "A",
            {"new_source": "A = object"},
            {"definitions_gone": "No longer defined: A.level, A.m, A.p, A.Inner, A.g."},
        ),
        ("A.Inner", {"new_source": "class Inner:\n    x = 1"}, "A.Inner.deep"),
        ("A.Inner", {"new_source": "class Inner:\n    x = 1"}, "A.Inner.x"),
        ("A.Inner@body", {"new_source": "x = 1"}, "A.Inner.deep"),
        ("f", {"new_source": "def f():\n    return 1"}, {"definitions_gone": "No longer defined: f.inner."}),
        ("f@body", {"new_source": "return 1"}, {"definitions_gone": "No longer defined: f.inner."}),
        (
            "A",
            {"old": "    def g(self):\n        return 2\n", "new": ""},
            {"definitions_gone": "No longer defined: A.g."},
        ),
        (
            "A.p",
            {"old": "\n    @p.setter\n    def p(self, value):\n        self.q = value\n", "new": ""},
            {"definitions_gone": "No longer defined: A.p@setter."},
        ),
        (
            "A.g",
            {"new_source": "def g(self):\n    return 2\n\ndef k(self):\n    return 3"},
            {"added": "Added beside g: k."},
        ),
        ("A.m", {"new_source": "def m(self):\n    return 2"}, {}),
        (
            "A.m",
            {"new_source": "def m(self):\n    return 2\n\ndef m(self):\n    return 3"},
            {"definitions_hidden": "Defined again further down, which hides the first: A.m."},
        ),
        ("A.m", {"new_source": "def m(self):\n    return 2\n\nm = staticmethod(m)"}, {}),
        (
            "A",
            {"new_source": "class A:\n    if f:\n        def m(self): ...\n    else:\n        def m(self): ..."},
            "another A.m",
        ),
    ],
)
def test_neighbours_of_it(source: Source, target: str, arguments: dict[str, str], expected: object) -> None:
    found = warned(source.edit(f"app.{target}", **arguments, dry_run=True))  # type: ignore[arg-type]
    if isinstance(expected, str):
        assert any(expected in message for message in found.values())
        assert "definitions_hidden" not in found
    else:
        assert found == expected


@pytest.mark.parametrize("empty", ["...", "pass", '"""Later."""', '"""Later."""\n        ...'])
def test_members_of_which_no_code_is_left_are_named(source: Source, empty: str) -> None:
    body = str(source.read("app.A"))
    outcome = source.edit("app.A", body.replace("        return 1\n\n    @", f"        {empty}\n\n    @"), dry_run=True)
    assert warned(outcome) == {"bodies_emptied": "No code is left in the body of: A.m."}
    assert not warned(
        source.edit("app.A.m", f"def m(self):\n        {empty}".replace("        ", "    "), dry_run=True)
    )
    text = BEFORE.replace("        return 2\n\n\n", f"        {empty}\n\n\n")
    assert "A.g" in warned(source.write("app", text, overwrite=True, dry_run=True))["bodies_emptied"]


def test_what_the_same_name_replaces_in_its_place_is_no_loss(source: Source) -> None:
    assert not warned(source.edit("app.A", str(source.read("app.A")).replace("return 2", "return 4"), dry_run=True))


def test_names_are_in_the_answer_of_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(BEFORE)
    command = ["edit", "app.A", "--code", "class A:\n    def m(self):\n        return 3", "--dry-run", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "bae_source", *command], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    found: Mapping[str, Any] = json.loads(done.stdout)
    assert found["warnings"] == [
        {"code": "definitions_gone", "message": "No longer defined: A.level, A.p, A.Inner, A.g."}
    ]
