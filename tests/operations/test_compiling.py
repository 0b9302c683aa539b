"""Code that parses and that no Python would compile is refused, in every reload mode and in a dry run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bae_source import Source
from bae_source.errors import SourceError
from tests import generated

BEFORE = """\
import os


def f(a):
    x = a
    return x


class A:
    limit = 3

    def m(self):
        return 1

    async def n(self):
        return 2
"""

WRONG: dict[str, tuple[str, dict[str, Any], int]] = {
    "await outside of async": ("edit", {"target": "m.A.m", "old": "return 1", "new": "return await self.n()"}, 13),
    "await in a function inside of an async one": (
        "edit",
        {"target": "m.A.n@body", "new_source": "def g():\n    await self.n()\nreturn g"},
        17,
    ),
    "async for outside of async": ("edit", {"target": "m.f@body", "new_source": "async for x in a:\n    pass"}, 5),
    "return outside of a function": ("insert", {"target": "m", "position": "last", "new_source": "return 1"}, 19),
    "return in a class": ("insert", {"target": "m.A", "position": "last", "new_source": "return 1"}, 18),
    "a value that an async generator returns": ("edit", {"target": "m.A.n@body", "new_source": "yield\nreturn 1"}, 17),
    "an argument twice": ("edit", {"target": "m.f@signature", "new_source": "def f(a, a):"}, 4),
    "nonlocal in a module": ("insert", {"target": "m", "position": "first", "new_source": "nonlocal x"}, 3),
    "nonlocal of nothing": ("edit", {"target": "m.f", "old": "x = a", "new": "nonlocal x\n    x = a"}, 5),
    "a star import in a function": ("edit", {"target": "m.f", "old": "x = a", "new": "from os import *\n    x = a"}, 5),
    "break outside of a loop": ("edit", {"target": "m.f@body", "new_source": "if a:\n    break\nreturn a"}, 6),
    "an argument that is global": ("edit", {"target": "m.f@body", "new_source": "global a\nreturn a"}, 5),
    "a feature that there is not": ("edit", {"target": "m.f", "imports": ["from __future__ import braces"]}, 1),
    "yield in the value of an attribute": ("edit", {"target": "m.A.limit", "new_source": "limit = (yield)"}, 10),
    "a whole module": ("write", {"target": "new", "source": "x = 1\nawait x\n"}, 2),
    "a module in the place of another": ("write", {"target": "m", "source": "return 1\n", "overwrite": True}, 1),
}


@pytest.fixture
def source(tmp_path: Path) -> Source:
    (tmp_path / "m.py").write_text(BEFORE)
    return Source(tmp_path)


@pytest.mark.parametrize("what", WRONG)
def test_what_does_not_compile_is_refused_where_nothing_is_loaded_too(
    source: Source, tmp_path: Path, what: str
) -> None:
    verb, given, line = WRONG[what]
    for how in ({"reload": "off"}, {"dry_run": True}, {"reload": "auto"}):
        for call in (
            lambda how=how: getattr(source, verb)(**given, **how),
            lambda how=how: _apply(source, verb, given, how),
        ):
            with pytest.raises(SourceError, match="does not compile") as caught:
                call()
            assert (caught.value.code, caught.value.details["line"]) == ("syntax_invalid", line)
    assert (tmp_path / "m.py").read_text() == BEFORE
    assert not (tmp_path / "new.py").exists()
    assert source.history() == "(no operations)"


def _apply(source: Source, verb: str, given: dict[str, Any], how: dict[str, Any]) -> None:
    source.apply([{"do": verb, **given}], **how)


def test_the_command_line_says_where(source: Source, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bae_source", "edit", "m.A.m", "--old", "return 1", "--new", "await self.n()"]
    done = subprocess.run([*command, "--dry-run"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 4
    assert "line 13, column 9: 'await' outside async function" in done.stderr


def test_what_did_not_compile_before_is_not_blamed_on_an_edit(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("def f():\n    return 1\n\n\ndef g(a, a):\n    return 2\n\n\nbreak\n")
    source = Source(tmp_path)
    source.edit("m.f", old="return 1", new="return 3", reload="off")
    source.edit("m.g", old="return 2", new="return 4", reload="off")
    source.insert("m", "x = 1", position="last", reload="off")
    with pytest.raises(SourceError, match="line 2, column 5: 'await' outside"):
        source.edit("m.f", old="return 3", new="await x", reload="off")
    source.edit("m.g@signature", "def g(a):", reload="off")


def test_what_needs_the_code_around_it_compiles(source: Source) -> None:
    source.edit("m.f@body", "def g():\n    nonlocal a\n    a = 1\nreturn g", reload="off")
    source.edit("m.f.g", old="a = 1", new="a = 2", reload="off")
    source.edit("m.A.n@body", "return [await x async for x in self.m()]", reload="off")
    source.insert("m.A", "class B:\n    def k(self):\n        return super().__init__()", position="last", reload="off")
    source.edit("m.A.B.k", old="return", new="return __class__,", reload="off")


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="the running Python compiles it")
@pytest.mark.parametrize(
    ("requires", "allowed"), [("", False), ("requires-python = '>=3.12'", False), ("requires-python = '>=3.14'", True)]
)
def test_exceptions_without_parentheses_need_a_project_for_new_pythons(
    source: Source, tmp_path: Path, requires: str, *, allowed: bool
) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[project]\nname = 'm'\n{requires}\n")
    body = "try:\n    return a\nexcept KeyError, OSError:\n    return 1"
    for how in ({"dry_run": True}, {"reload": "off"}):
        if allowed:
            assert [each.code for each in source.edit("m.f@body", body, **how).warnings] == ["syntax_unchecked"]
        else:
            with pytest.raises(SourceError, match="multiple exception types must be parenthesized"):
                source.edit("m.f@body", body, **how)
    if allowed:  # code that is newer than the running Python stays editable
        source.edit("m.f", old="return 1", new="return 2", reload="off")


@pytest.mark.parametrize(
    "monster", [generated.long_chain(30_000), generated.deep_elif(3_000), generated.deep_brackets(150)]
)
def test_what_is_too_much_for_the_compiler_stays_editable(tmp_path: Path, monster: bytes) -> None:
    (tmp_path / "m.py").write_bytes(monster)
    source = Source(tmp_path)
    source.edit("m.after", old="return 2", new="return 3", reload="off")
    source.insert("m", "x = 1", position="last", reload="off")
    with pytest.raises(SourceError, match="'await' outside"):
        source.edit("m.before", old="return 1", new="await x", reload="off")
