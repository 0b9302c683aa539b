"""A file with several errors: one edit is refused with the error that is left, and one apply mends them all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import SourceError
from tests.test_apply import command

FIRST = ("def f()\n    return 1\n", "def f():\n    return 1\n")
SECOND = {
    "a colon": ("def h(a)\n    return 2\n", "def h(a):\n    return 2\n"),
    "a bracket": ("def h(a:\n    return 2\n", "def h(a):\n    return 2\n"),
    "a body": ("def h(a):\n    b = 1\n    return = 2\n", "def h(a):\n    b = 1\n    return 2\n"),
    "a method": (
        "class A:\n    def h(a)\n        return 2\n\n    x = 1\n",
        "class A:\n    def h(a):\n        return 2\n\n    x = 1\n",
    ),
}
NEWLINES = ["\n", "\r\n"]


def whole(first: str, second: str) -> str:
    return f"import os\n\n\n{first}\n\ndef g(x):\n    return os.sep\n\n\n{second}\n\nZ = 1\n"


def laid(root: Path, form: str, newline: str = "\n") -> str:
    text = whole(FIRST[0], SECOND[form][0]).replace("\n", newline)
    (root / "b.py").write_bytes(text.encode())
    (root / "m.py").write_text("def f():\n    return 1\n")
    return text


@pytest.mark.parametrize("form", list(SECOND))
@pytest.mark.parametrize("target", ["b", "b.f"])
def test_the_error_that_is_left_is_named_and_nothing_is_written(tmp_path: Path, form: str, target: str) -> None:
    text = laid(tmp_path, form)
    with pytest.raises(
        SourceError, match="b was not written: with the change, it would still not parse: line"
    ) as caught:
        Source(tmp_path).edit(target, old="def f()", new="def f():", reload="off")
    assert caught.value.code == "syntax_invalid"
    assert caught.value.details["line"] > 9
    assert "apply" in caught.value.hints[0]
    assert (tmp_path / "b.py").read_text() == text


def test_an_error_in_what_was_given_is_its_own(tmp_path: Path) -> None:
    text = laid(tmp_path, "a colon")
    with pytest.raises(SourceError, match="With the change, b would be at fault") as caught:
        Source(tmp_path).edit("b.f", old="def f()", new="def f(:", reload="off")
    assert caught.value.details["line"] == 4
    assert (tmp_path / "b.py").read_text() == text


@pytest.mark.parametrize("newline", NEWLINES)
@pytest.mark.parametrize("form", list(SECOND))
@pytest.mark.parametrize("targets", [("b", "b"), ("b.f", "b")])
@pytest.mark.parametrize("turned", [False, True])
def test_one_apply_mends_all_errors_of_a_file(
    tmp_path: Path, form: str, newline: str, targets: tuple[str, str], turned: bool
) -> None:
    laid(tmp_path, form, newline)
    requests = [
        {"do": "edit", "target": target, "old": old, "new": new}
        for target, (old, new) in zip(targets, (FIRST, SECOND[form]), strict=True)
    ]
    other = {"do": "edit", "target": "m.f", "old": "return 1", "new": "return 2"}
    Source(tmp_path).apply([*(reversed(requests) if turned else requests), other], reload="off")
    assert (tmp_path / "b.py").read_bytes() == whole(FIRST[1], SECOND[form][1]).replace("\n", newline).encode()
    assert (tmp_path / "m.py").read_text() == "def f():\n    return 2\n"


@pytest.mark.parametrize("others", [0, 1])
def test_an_apply_that_leaves_a_file_broken_changes_nothing(tmp_path: Path, others: int) -> None:
    text = laid(tmp_path, "a colon")
    other = {"do": "edit", "target": "m.f", "old": "return 1", "new": "return 2"}
    first = {"do": "edit", "target": "b.f", "old": "def f()", "new": "def f():"}
    (tmp_path / "changes.json").write_text(json.dumps([other, first] + [{**other, "old": "2", "new": "3"}] * others))
    done = command(tmp_path, "apply", str(tmp_path / "changes.json"))
    assert done.returncode
    assert f"Request 2 of {2 + others}, edit: b was not written" in done.stderr
    assert (tmp_path / "b.py").read_text() == text
    assert (tmp_path / "m.py").read_text() == "def f():\n    return 1\n"


def test_an_apply_may_not_break_a_file_that_was_whole(tmp_path: Path) -> None:
    laid(tmp_path, "a colon")
    broken = {"do": "edit", "target": "m", "old": "def f():", "new": "def f()"}
    again = {"do": "edit", "target": "m", "old": "def f()", "new": "def f():"}
    with pytest.raises(SourceError, match="Request 1 of 2, edit"):
        Source(tmp_path).apply([broken, again], reload="off")


@pytest.mark.parametrize("newline", NEWLINES)
@pytest.mark.parametrize("target", ["b", "b.h"])
def test_a_bracket_that_nothing_closes_is_mended_where_code_stands_behind_it(
    tmp_path: Path, target: str, newline: str
) -> None:
    behind = 'Y = 2\n\n\nclass K:\n    """Doc."""\n\n    def m(self):\n        return 1\n'
    broken, mended = (f"{whole(FIRST[1], form)}{behind}".replace("\n", newline) for form in SECOND["a bracket"])
    (tmp_path / "b.py").write_bytes(broken.encode())
    Source(tmp_path).edit(target, old="def h(a:", new="def h(a):", reload="off")
    assert (tmp_path / "b.py").read_bytes() == mended.encode()
