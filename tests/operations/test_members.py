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
    assert warned(outcome) == {"bodies_emptied": "No code is left in the body of: A.m, A.p@getter."}
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


@pytest.mark.parametrize(
    "arguments",
    [
        {"target": "f@body", "new_source": "pass"},
        {"target": "f@body", "new_source": "..."},
        {"target": "f", "new_source": "def f(): pass"},
        {"target": "f", "old": "return 1", "new": "pass"},
        {"target": "", "old": "def f():\n    return 1", "new": "def f():\n    ..."},
        {"target": "A.f@body", "new_source": "pass"},
        {"target": "A.f", "new_source": "async def f(self):\n    pass"},
    ],
)
def test_an_emptied_body_is_named_however_it_is_emptied(tmp_path: Path, arguments: dict[str, str]) -> None:
    code = "def f():\n    return 1\n\n\nclass A:\n    def f(self):\n        return 1\n\n    def g(self): ...\n"
    (tmp_path / "app.py").write_text(code)
    name = arguments["target"].partition("@")[0]
    target = f"app.{arguments['target']}".rstrip(".")
    found = warned(Source(tmp_path).edit(**{**arguments, "target": target}, dry_run=True))  # type: ignore[arg-type]
    assert found == {"bodies_emptied": f"No code is left in the body of: {name or 'f'}."}


def test_a_body_that_was_empty_is_not_named(source: Source) -> None:
    source.edit("app.A.g@body", "pass")
    assert not warned(source.edit("app.A.g@body", "...", dry_run=True))


PAIR = """\
class A:
    @property
    def value(self):
        return self.x

    @value.setter
    def value(self, new):
        self.x = new
"""
GETTER = "@property\n    def value(self): "
SETTER = "@value.setter\n    def value(self, new): "
EMPTIED = "No code is left in the body of: "
SETTER_GONE = {"definitions_gone": "No longer defined: A.value@setter."}


@pytest.mark.parametrize("target", ["app.A", "app.A@body", "app"])
@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ([f"{GETTER}...", f"{SETTER}pass"], {"bodies_emptied": f"{EMPTIED}A.value@getter, A.value@setter."}),
        ([f"{GETTER}return self.x", f"{SETTER}pass"], {"bodies_emptied": f"{EMPTIED}A.value@setter."}),
        ([f"{GETTER}return self.x"], SETTER_GONE),
        (["def value(self): return self.x"], {"decorators_dropped": "value no longer has @property.", **SETTER_GONE}),
    ],
)
def test_each_accessor_of_a_property_is_followed(
    tmp_path: Path, target: str, members: list[str], expected: dict[str, str]
) -> None:
    (tmp_path / "app.py").write_text(PAIR)
    source, whole = Source(tmp_path), "class A:\n    {}\n".format("\n\n    ".join(members))
    if target == "app":
        outcome = source.write("app", whole, overwrite=True, dry_run=True)
    else:
        outcome = source.edit(target, whole if target == "app.A" else whole.partition("\n")[2], dry_run=True)
    found = warned(outcome)
    if "decorators_dropped" in found:
        found["decorators_dropped"] = found["decorators_dropped"].removeprefix("A.")
    assert found == expected


def test_a_function_that_stays_without_its_overloads_is_not_reported_as_gone(tmp_path: Path) -> None:
    overload = "@overload\ndef f(x: int) -> int: ...\n"
    (tmp_path / "app.py").write_text(f"from typing import overload\n\n\n{overload}def f(x):\n    return x\n")
    new = "def f(x):\n    return x + 1\n"
    found = warned(Source(tmp_path).write("app", new, overwrite=True, dry_run=True))
    assert found == {"definitions_gone": "No longer defined: one of f."}


@pytest.mark.parametrize(
    ("target", "arguments", "named"),
    [
        ("f", {"new_source": "def f():\n    return 1"}, "f"),
        ("f", {"new_source": 'def f():\n    """..."""\n    return 1'}, "f"),
        ("f", {"old": '"""Of f."""', "new": "'''...'''"}, "f"),
        ("f@docstring", {"new_source": '"""..."""'}, "f"),
        ("A", {"new_source": "class A:\n    def m(self):\n        return 1"}, "A, A.m"),
        ("A.m", {"new_source": "def m(self):\n    return 2"}, "A.m"),
        ("", {"old": '"""Of app."""\n', "new": ""}, "the module"),
        ("f", {"new_source": 'def f():\n    """Now: ..."""\n    return 1'}, None),
        ("g", {"new_source": "def g():\n    return 2"}, None),
    ],
)
def test_a_docstring_that_goes_is_named(
    tmp_path: Path, target: str, arguments: dict[str, str], named: str | None
) -> None:
    code = (
        '"""Of app."""\n\n\ndef f():\n    """Of f."""\n    return 1\n\n\nclass A:\n    """Of A."""\n\n'
        '    def m(self):\n        """Of m."""\n        return 1\n\n\ndef g():\n    return 1\n'
    )
    (tmp_path / "app.py").write_text(code)
    found = warned(Source(tmp_path).edit(f"app.{target}".rstrip("."), **arguments, dry_run=True))  # type: ignore[arg-type]
    expected = {"docstring_dropped": f"The docstring is gone, or holds nothing but dots: {named}."}
    assert found == (expected if named else {})
