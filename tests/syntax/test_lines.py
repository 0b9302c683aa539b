"""Logical lines: what a backslash joins, and which white space indents it."""

from __future__ import annotations

import itertools

import pytest

from bae_source.project.workspace import Workspace
from bae_source.queries.read import Read
from bae_source.refactoring.edit import Edit
from bae_source.syntax.text.source import Lines, SingleLines, Source
from tests.memory import Memory


@pytest.mark.parametrize(
    ("text", "line", "indent"),
    [
        ("if x:\n    y\n", 2, "    "),
        ("if x:\n  \\\n      y\n", 3, "  "),  # the first physical line counts,
        ("if x:\n\\\n    y\n", 3, "    "),  # unless it has no indentation
        ("x = 1  # \\\ny\n", 2, ""),
    ],
)
def test_the_indentation_of_a_logical_line_is_that_of_its_first_indented_line(
    text: str, line: int, indent: str
) -> None:
    assert Lines(text).indentation(line) == indent


def test_a_type_alias_that_shares_its_line_ends_before_its_semicolon() -> None:
    text = "type One = int; type Other = str\n"
    here = Workspace(Memory({"m.py": text.encode()}))
    assert Read(target="m.One").answer(here).text == "type One = int"
    plan = Edit(target="m.One", new_source="type One = bytes").plan(here)
    assert plan.changes.files[0].apply(text.encode()) == b"type One = bytes; type Other = str\n"


@pytest.mark.parametrize("text", list(map("".join, itertools.product("a\n\r", repeat=4))))
def test_a_line_is_the_same_whether_or_not_it_is_known_where_lines_start(text: str) -> None:
    for line in range(1, 8):
        assert SingleLines(text.encode()).cut(line) == Lines(text).cut(line)


@pytest.mark.parametrize("end", ["", "\n", "last", "\n" * 600])
@pytest.mark.parametrize("width", [0, 1, 255, 256, 511, 512, 2000])
def test_lines_of_any_width_are_found_in_a_long_text(width: int, end: str) -> None:
    expected = [*("é" * (width + number % 3) + "\n" for number in range(9)), *end.splitlines(keepends=True), "", ""]
    lines = SingleLines("".join(expected).encode())
    for number in (*range(len(expected), 0, -1), *range(1, len(expected) + 1)):
        assert lines.cut(number) == expected[number - 1]


@pytest.mark.parametrize("lead", ["", "\ufeff", "# coding: latin-1\n", "# coding: utf-8\n"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_single_lines_are_those_of_the_whole_text(lead: str, end: str) -> None:
    text = lead + end.join(["x = 1", "é = 'ü\x85'", "", "# \x0c é", "y"])
    content = text.encode("latin-1" if "latin" in lead else "utf-8")
    for line in range(1, 9):
        assert SingleLines(content).cut(line) == Source(content).lines.cut(line)
