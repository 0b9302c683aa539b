"""Lines of values in TOML files, in all the ways in which TOML may be written."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from bae_source.project.files.toml_lines import lines_of

TEXT = '''# a comment with "quotes" and [brackets]
title = "x" # = "y"
[project]
name = 'a'
dependencies = [   # [
    "httpx>=0.27; extra == 'a]'",
    # "none",
    """rich
>=13""", "attrs",
]
"quoted key".inner . more = 1979-05-27 07:32:00
[project.optional-dependencies]
test = ["a",
  "b"]
[tool.poetry.dependencies]
httpx = { version = "^1", extras = ["x",
  "y"] }
[[package]]
name = "one"
[[package]]
name = "two"
[package.inner]
deep = [[1, 2], [
 3]]
"escaped\\u0041" = true
'''


def paths(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], object]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inside:
        yield (*path, key), each
        yield from paths(each, (*path, key))


def test_each_value_has_the_line_on_which_it_begins() -> None:
    found = lines_of(TEXT)
    assert found["project", "dependencies"] == 5
    assert [found["project", "dependencies", number] for number in range(3)] == [6, 8, 9]
    assert found["project", "quoted key", "inner", "more"] == 11
    assert [found["project", "optional-dependencies", "test", number] for number in range(2)] == [13, 14]
    assert found["tool", "poetry", "dependencies", "httpx", "extras", 1] == 17
    assert (found["package", 0, "name"], found["package", 1, "name"]) == (19, 21)
    assert found["package", 1, "inner", "deep", 1, 0] == 24
    assert found["package", 1, "inner", "escapedA"] == 25


def test_no_value_lacks_a_line_and_none_is_invented() -> None:
    found = lines_of(TEXT)
    there = dict(paths(tomllib.loads(TEXT)))
    assert set(found) <= set(there)
    assert {path for path, value in there.items() if not isinstance(value, dict)} <= set(found)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_files_of_this_project_are_understood_whatever_ends_their_lines(end: str) -> None:
    text = Path(__file__).parents[2].joinpath("pyproject.toml").read_text()
    found = lines_of(text.replace("\n", end))
    lines = text.split("\n")
    named = {path: value for path, value in paths(tomllib.loads(text)) if isinstance(value, str) and path[-1] != "0"}
    assert len(named) > 50
    assert [path for path, value in named.items() if value.partition("\n")[0] not in lines[found[path] - 1]] == []


@pytest.mark.parametrize("text", ["[", "[[a", "a =", "a = [1,", "= 1", "a = {b", '"a', "a = '''x", "]", "a b c"])
def test_text_that_is_no_toml_ends_the_reading_and_raises_nothing(text: str) -> None:
    assert isinstance(lines_of(text), dict)
    assert isinstance(lines_of(text * 2_000), dict)
