"""Source that was pasted with a Markdown fence or with line numbers: the one is taken off, the other is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bae_source import Source
from bae_source.errors import LookupFailed, ResourceError, SourceError

BEFORE = """\
def f():
    x = 1
    return x


class A:
    def m(self):
        return 1


TABLE = {
    1: "a",
    2: "b",
}
"""
NEW = "def f():\n    x = 2\n\n    return x\n"
FENCES = [
    "```python\n{0}```",
    "```\n{0}```\n",
    "~~~py\n{0}~~~\n\n",
    "\n\n````{python}\n{0}````",
    "  ```py title=x\n{0}  ```",
]
NUMBERS = [
    "{0}  {1}",
    "{0:>4}  {1}",
    "{0:>6}\t{1}",
    "{0}→{1}",
    "{0:>5}→{1}",
    "{0}:{1}",
    "{0}: {1}",
    "{0} | {1}",
    "{0}|{1}",
    "{0} {1}",
    "{0}. {1}",
    "{0}) {1}",
    "{0} │ {1}",
]


def numbered(text: str, form: str, first: int = 98) -> str:
    return "".join(form.format(number, line) + "\n" for number, line in enumerate(text.splitlines(), first))


@pytest.fixture
def source(tmp_path: Path) -> Source:
    (tmp_path / "app.py").write_text(BEFORE)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/guide.md").write_text("# Guide\n\n```python\nf()\n```\n\n1: one\n2: two\n")
    return Source(tmp_path)


def every_verb(source: Source, text: str, **more: Any) -> list[Any]:
    """Return calls that give some source of a function `f`, or of another one."""
    other = text.replace("def f(", "def new(")
    return [
        lambda: source.edit("app.f", text, **more),
        lambda: source.insert("app.A", other, **more),
        lambda: source.write("fresh", other, **more),
        lambda: source.write("app", text, overwrite=True, **more),
        lambda: source.apply([{"do": "edit", "target": "app.f", "new_source": text}], **more),
    ]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("form", FENCES)
def test_one_fence_around_all_of_a_source_is_taken_off_and_named(source: Source, form: str, newline: str) -> None:
    plain = every_verb(source, NEW, dry_run=True)
    fenced = every_verb(source, form.replace("{0}", NEW).replace("\n", newline), dry_run=True)
    for without, with_fence in zip(plain, fenced, strict=True):
        outcome = with_fence()
        assert outcome.diff == without().diff
        messages = [(each.code, each.message) for each in outcome.warnings]
        assert ("fence_removed", "The Markdown fence around the given source was taken off.") in messages


def test_a_fence_around_a_part_is_taken_off(source: Source) -> None:
    for target, text in (("f@body", "return 5\n"), ("f@signature", "def f(a):\n"), ("f@docstring", '"""Text."""\n')):
        fenced = source.edit(f"app.{target}", f"```python\n{text}```", dry_run=True)
        assert fenced.diff == source.edit(f"app.{target}", text, dry_run=True).diff
        assert fenced.warnings[0].code == "fence_removed"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"Here is the code:\n```python\n{NEW}```", 2),
        (f"```python\n{NEW}```\nThis sets x.", 1),
        (f"```python\n{NEW}", 1),
        (f"{NEW}```", 5),
        (f"```python\n{NEW}```\n\nand\n\n```python\n{NEW}```\n", 5),
        (f"# Code\n~~~\n{NEW}~~~", 2),
    ],
)
def test_a_fence_that_is_not_around_all_of_it_is_refused(source: Source, tmp_path: Path, text: str, line: int) -> None:
    for call in every_verb(source, text):
        with pytest.raises(SourceError, match=f"it is Markdown around code: line {line} is ") as caught:
            call()
        assert caught.value.code == "syntax_invalid"
        assert caught.value.hints == ("Nothing was changed; give the code without anything around it.",)
    assert (tmp_path / "app.py").read_text() == BEFORE


@pytest.mark.parametrize("first", [1, 98])
@pytest.mark.parametrize("form", NUMBERS)
def test_line_numbers_are_refused_and_named(source: Source, tmp_path: Path, form: str, first: int) -> None:
    shown = repr(form.format(first, "def").strip())[:-1]
    for text in (numbered(NEW, form, first), f"```\n{numbered(NEW, form, first)}```"):
        for call in every_verb(source, text):
            with pytest.raises(SourceError, match="does not parse: its lines begin with line numbers: ") as caught:
                call()
            assert caught.value.code == "syntax_invalid"
            assert shown in caught.value.message
            assert caught.value.hints == ("Nothing was changed; give the code without line numbers.",)
    assert (tmp_path / "app.py").read_text() == BEFORE


@pytest.mark.parametrize("form", NUMBERS)
def test_line_numbers_of_parts_and_pieces_are_refused(source: Source, form: str) -> None:
    lines = numbered("    x = 2\n    return x\n", form)
    with pytest.raises(SourceError, match="its lines begin with line numbers"):
        source.edit("app.f@body", lines)
    for target in ("app.f", "app", "app.f@body"):
        with pytest.raises(ResourceError, match="its lines begin with line numbers"):
            source.edit(target, old="    x = 1\n    return x", new=lines)


@pytest.mark.parametrize("target", ["app.f", "app", "app.f@body"])
@pytest.mark.parametrize("form", NUMBERS)
def test_old_that_is_not_found_for_its_line_numbers_says_so(source: Source, target: str, form: str) -> None:
    for text in ("    x = 1\n    return x\n", "    return x"):
        if len(text.splitlines()) == 1 and form in ("{0} {1}", "{0}. {1}", "{0}) {1}"):
            continue
        with pytest.raises(
            LookupFailed, match=r"old does not occur in .*: its lines begin with line numbers: "
        ) as caught:
            source.edit(target, old=numbered(text, form), new="    return 5")
        assert caught.value.hints == ("Give the text without line numbers.",)


def test_old_that_is_not_found_for_its_fence_says_so(source: Source) -> None:
    with pytest.raises(LookupFailed, match="it has a Markdown fence around it"):
        source.edit("app.f", old="```python\n    x = 1\n    return x\n```", new="    return 5")
    with pytest.raises(LookupFailed, match=r"old does not occur in app\.f\.$"):
        source.edit("app.f", old="```python\n    nothing\n```", new="    return 5")


def test_new_with_a_fence_is_refused_by_its_name(source: Source, tmp_path: Path) -> None:
    for target in ("app.f", "app"):
        with pytest.raises(SourceError, match="it is Markdown around code: line 1 is '```python'"):
            source.edit(target, old="    x = 1\n", new="```python\n    x = 2\n```\n")
    assert (tmp_path / "app.py").read_text() == BEFORE


def test_lines_of_grep_around_a_match_are_line_numbers_too(source: Source) -> None:
    with pytest.raises(SourceError, match="its lines begin with line numbers"):
        source.edit("app.f", "1:def f():\n2-    x = 2\n3-    return x\n")


def test_a_bar_behind_each_number_is_refused_where_python_would_compute_it(source: Source, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="its lines begin with line numbers"):
        source.edit("app.f@body", "12 | f()\n13 | f()\n")
    assert (tmp_path / "app.py").read_text() == BEFORE


@pytest.mark.parametrize(
    ("target", "arguments"),
    [
        ("TABLE", {"old": '    1: "a",\n    2: "b",', "new": '    1: "c",\n    2: "d",'}),
        ("TABLE", {"old": '    1: "a",', "new": "    1: TABLE,"}),
        ("TABLE", {"old": "1: ", "new": "3: "}),
        ("TABLE", {"new_source": "TABLE = [\n1, 2,\n3, 4,\n5 | 6,\n]"}),
        ("TABLE", {"new_source": 'TABLE = """\n```python\n1: a\n2: b\n```\n"""'}),
        ("f@body", {"new_source": "1 | 2"}),
        ("f@body", {"new_source": "1\n2"}),
        ("f@body", {"new_source": "1 - 1\n2 - 1\nreturn 3"}),
        ("f@docstring", {"new_source": '"""\n```python\nf()\n```\n"""'}),
        ("f", {"old": "x = 1", "new": '"""\n    ```\n    1: a\n    2: b\n    ```\n    """\n    x = 1'}),
    ],
)
def test_code_that_has_numbers_or_fences_of_its_own_is_taken(source: Source, target: str, arguments: Any) -> None:
    outcome = source.edit(f"app.{target}", **arguments, dry_run=True)
    assert outcome.diff
    assert "fence_removed" not in [each.code for each in outcome.warnings]


def test_an_error_of_a_table_is_not_laid_on_its_numbers(source: Source) -> None:
    with pytest.raises(ResourceError) as caught:
        source.edit("app.TABLE", old="}", new='3: "c",\n4: "d",')
    assert "line numbers" not in caught.value.message


def test_text_that_is_no_python_keeps_its_fences_and_numbers(source: Source, tmp_path: Path) -> None:
    text = "```\n1: a\n2: b\n```\n"
    source.write(":docs/new.md", text)
    assert (tmp_path / "docs/new.md").read_text() == text
    source.edit(":docs/guide.md", old="1: one\n2: two\n", new=text)
    assert (tmp_path / "docs/guide.md").read_text().endswith(text)
    with pytest.raises(LookupFailed, match="its lines begin with line numbers"):
        source.edit(":docs/guide.md", old="3→```python\n4→f()\n", new="")


def test_the_command_line_answers_alike(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(BEFORE)

    def answer(*words: str, given: str = "") -> dict[str, Any]:
        command = [sys.executable, "-m", "bae_source", *words, "--json"]
        done = subprocess.run(command, cwd=tmp_path, input=given, capture_output=True, text=True, check=False)
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    [error] = answer("edit", "app.f", "--source", "-", given=numbered(NEW, "{0:>6}\t{1}"))["errors"]
    assert error["message"] == "The given source does not parse: its lines begin with line numbers: '98\\tdef f():'."
    shown = answer("read", "app.f", "--full", "--numbers")["text"]
    [error] = answer("edit", "app.f", "--source", "-", given=shown)["errors"]
    assert "its lines begin with line numbers: '1  def f():'" in error["message"]
    done = answer("edit", "app.f", "--source", "-", "--dry-run", given=f"```python\n{NEW}```\n")
    assert [each["code"] for each in done["warnings"]] == ["fence_removed"]
