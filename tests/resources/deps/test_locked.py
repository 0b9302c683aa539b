"""Releases that lock files fix, and lock files that are broken."""

from __future__ import annotations

import json

import pytest

from bae_source.resources.deps.locked import LARGEST_LOCK, locked
from tests.memory import Memory

_PACKAGE = '[[{}]]\nname = "HTTPX"\nversion = "0.27.0"\n[[{}]]\nname = "nothing"\n'


def test_every_kind_of_lock_file_gives_releases() -> None:
    files = {
        "uv.lock": '[[package]]\nname = "attrs"\nversion = "1"\n[[package]]\nname = "attrs"\nversion = "2"\n',
        "poetry.lock": _PACKAGE.format("package", "package"),
        "pdm.lock": '[[package]]\nname = "rich"\nversion = "13"\n',
        "pylock.toml": _PACKAGE.format("packages", "packages"),
        "Pipfile.lock": json.dumps(
            {"default": {"click": {"version": "==8.1"}}, "develop": {"pytest": {"version": "==8"}}}
        ),
    }
    found = locked(Memory({path: text.encode() for path, text in files.items()}))
    assert found.versions == {
        "attrs": ("1", "2"), "httpx": ("0.27.0",), "rich": ("13",), "click": ("8.1",), "pytest": ("8",)
    }  # fmt: skip
    assert (set(found.paths), found.problems) == (set(files), ())


@pytest.mark.parametrize("path", ["uv.lock", "poetry.lock", "pdm.lock", "pylock.toml", "Pipfile.lock"])
@pytest.mark.parametrize(
    "text", ["[[package", "{", "[" * 50_000, "\xff", 'a = "' + "x" * 100, "a" * (LARGEST_LOCK + 1)]
)
def test_a_broken_one_is_named_with_the_reason_and_raises_nothing(path: str, text: str) -> None:
    found = locked(Memory({path: text.encode("latin-1")}))
    assert (found.paths, found.versions) == ((), {})
    [problem] = found.problems
    assert problem.startswith(f"{path} ")
    assert len(problem) < 500


@pytest.mark.parametrize(
    "text", ["package = 3", "package = [3]", '[[package]]\nname = 3\nversion = "1"', "[package]\nx = 1"]
)
def test_other_values_say_nothing(text: str) -> None:
    assert locked(Memory({"uv.lock": text.encode()})).versions == {}


@pytest.mark.parametrize(
    "text", ["[]", "3", '{"default": []}', '{"default": {"x": 3}}', '{"default": {"x": {"version": 3}}}']
)
def test_other_values_of_pipenv_say_nothing(text: str) -> None:
    found = locked(Memory({"Pipfile.lock": text.encode()}))
    assert (found.versions, found.problems) == ({}, ())
