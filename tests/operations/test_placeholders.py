"""A comment that stands for code which was left out is refused where that code would be gone, in every verb."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import Refused
from bae_source.syntax.rewrite.placeholders import Strength, placeholders, strength_of

BEFORE = """\
def f():
    a = 1
    b = 2
    return a + b


class A:
    \"\"\"A class.\"\"\"

    def m(self):
        first = 1
        second = 2
        return first + second

    def g(self):
        return 2


TABLE = {
    "one": 1,
    "two": 2,
}


def kept():
    # ... rest of code unchanged ...
    return 1
"""

PLAIN = [
    "# ... rest of code unchanged ...",
    "# existing code",
    "# Existing code here",
    "# ...existing code...",
    "# … existing code …",
    "# rest of the method",
    "# (rest of implementation)",
    "# [rest of the code unchanged]",
    "# <existing code>",
    "# {{ existing code }}",
    "# --- existing code ---",
    "# // ... existing code ...",
    "# TODO: rest unchanged",
    "# The rest of the function stays the same",
    "# the rest of the code in this function remains exactly the same as before",
    "# ... same as before",
    "# ... existing validation logic ...",
    "# rest of `process_data` unchanged",
    "# ... rest of process_data ...",
    "# ... rest of process_data",
    "# Other methods remain unchanged",
    "# implementation unchanged",
    "# code omitted for brevity",
    "# ... keep all existing methods ...",
    "# everything else stays the same",
    "# ... rest of the code\n# remains unchanged ...",
    "# ... existing code ...\n# New: a log line",
    "a = 3  # ... rest of the function unchanged",
    "...  # existing implementation",
    '"""... existing ..."""',
    "'... rest of the code ...'",
]
FAINT = [
    "# ...",
    "# …",
    "# [...]",
    "# unchanged",
    "# as before",
    "# same as before",
    "# no changes here",
    "# (omitted for brevity)",
    "# <snip>",
    "# original implementation",
    "# and the rest",
    "# existing values",
    "# keep existing entries",
    "# remaining cases...",
    "# existing methods are kept",
    "# see the original implementation",
    "# ... key",
    "# more entries...",
    "# body...",
    "pass  # as before",
    "...  # unchanged",
    "...",
    "return  # as is",
]
NONE = [
    "# existing users keep their rest days",
    "# existing values are kept",
    "# Existing entries were kept before",
    "# See the remaining cases below",
    "# see the other options above",
    "# key...",
    "# Parameter: value …",
    "# the same as above",
    "# original value of the argument, before it is scaled",
    "# restore the file",
    "# no changes were made to the database by that",
    "# other",
    "# … other dots",
    "# .., ..., ....... -> …",
    "# TODO: more",
    "# the remaining time in seconds",
    "# the function is the same for all handlers in the list of callers",
    "x = a  # unchanged",
    "x = a  # rest of the method",
    'x = "... existing ..."',
    "x: tuple[int, ...]",
]


def indented(text: str, indent: str = "    ") -> str:
    return "".join(f"{indent}{line}\n" for line in text.split("\n"))


@pytest.fixture
def source(tmp_path: Path) -> Source:
    (tmp_path / "app.py").write_text(BEFORE)
    return Source(tmp_path)


@pytest.mark.parametrize("form", [*PLAIN, *FAINT])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_stands_for_code_is_refused_where_that_would_be_gone(
    source: Source, tmp_path: Path, form: str, newline: str
) -> None:
    (tmp_path / "app.py").write_bytes(BEFORE.replace("\n", newline).encode())
    with pytest.raises(Refused, match=r"is not whole: .* stands for code of app\.f, which would be gone: ") as caught:
        source.edit("app.f", f"def f():\n    a = 2\n{indented(form)}".replace("\n", newline))
    assert caught.value.code == "unsafe_change"
    assert "'return a + b'" in caught.value.message
    assert (tmp_path / "app.py").read_bytes() == BEFORE.replace("\n", newline).encode()


@pytest.mark.parametrize("form", NONE)
def test_a_shorter_body_with_another_comment_is_taken_as_given(source: Source, form: str) -> None:
    assert source.edit("app.f", f"def f(a=1):\n{indented(form)}    return 2\n", dry_run=True).diff


def test_a_shorter_body_without_a_comment_is_taken_as_given(source: Source) -> None:
    assert source.edit("app.f", "def f():\n    a = 2\n", dry_run=True).diff
    assert source.edit("app.f", "def f(): ...", dry_run=True).diff
    assert source.edit("app.A.m", 'def m(self):\n    """Not here."""\n    ...', dry_run=True).diff


@pytest.mark.parametrize("form", ["# ... rest of code unchanged ...", "# as before"])
@pytest.mark.parametrize(
    ("target", "arguments"),
    [
        ("f@body", {"new_source": "a = 2\n{0}"}),
        ("f", {"old": "    b = 2\n    return a + b", "new": "    {0}"}),
        ("f@body", {"old": "b = 2\n    return a + b", "new": "{0}"}),
        ("A", {"new_source": 'class A:\n    """A class."""\n\n    def m(self):\n        return 4\n\n    {0}'}),
        (
            "A",
            {"new_source": "class A:\n    def m(self):\n        {0}\n        pass\n    def g(self):\n        pass"},
        ),
        ("A@body", {"new_source": "def m(self):\n    return 4\n\n{0}"}),
        ("A", {"old": "    def g(self):\n        return 2\n", "new": "    {0}\n"}),
        ("TABLE", {"new_source": 'TABLE = {{\n    "one": 4,\n    {0}\n}}'}),
        (
            "A",
            {
                "old": 'class."""' + BEFORE.partition('class."""')[2].partition("\n\n    def g")[0],
                "new": 'class."""\n\n    {0}',
            },
        ),
        ("", {"old": "    b = 2\n    return a + b\n", "new": "    {0}\n"}),
        ("", {"old": 'TABLE = {\n    "one": 1,\n    "two": 2,\n}\n', "new": "{0}\n"}),
    ],
)
def test_it_is_refused_in_every_form_of_an_edit(
    source: Source, tmp_path: Path, target: str, arguments: dict[str, str], form: str
) -> None:
    given = {name: text.replace("{0}", form).replace("{{", "{").replace("}}", "}") for name, text in arguments.items()}
    with pytest.raises(Refused, match="stands for code"):
        source.edit(f"app.{target}".rstrip("."), **given)  # type: ignore[arg-type]
    with pytest.raises(Refused, match="stands for code"):
        source.apply([{"do": "edit", "target": f"app.{target}".rstrip("."), **given}])
    assert (tmp_path / "app.py").read_text() == BEFORE


def test_it_is_refused_in_a_module_that_is_written_over(source: Source) -> None:
    for text in (
        "import os\n# ... rest of the file unchanged ...\n",
        f"def f():\n    pass  # as before\n{BEFORE[46:]}",
    ):
        with pytest.raises(Refused, match="stands for code"):
            source.write("app", text, overwrite=True)


@pytest.mark.parametrize("form", ["# ... rest of code unchanged ...", "...  # existing implementation"])
def test_new_code_that_is_not_whole_is_refused(source: Source, form: str) -> None:
    text = f"def new():\n    a = 1\n    {form}\n"
    with pytest.raises(Refused, match="stands for code that is left out"):
        source.insert("app.f", text)
    with pytest.raises(Refused, match="stands for code that is left out"):
        source.write("fresh", text)
    with pytest.raises(Refused, match="stands for code that is left out"):
        source.edit("app.A.g", f"def g(self):\n    return 2\n\n{text}")


@pytest.mark.parametrize("form", FAINT)
def test_new_code_may_have_what_may_be_meant_for_a_reader(source: Source, form: str) -> None:
    assert source.insert("app.f", f"def new():\n    a = 1\n    {form}\n", dry_run=True).diff


def test_a_docstring_that_stands_for_another_is_refused(source: Source) -> None:
    with pytest.raises(Refused, match="stands for code"):
        source.edit("app.A@docstring", '"""... existing docstring ..."""')


def test_what_the_old_text_says_already_may_be_said_again(source: Source) -> None:
    outcome = source.edit("app.kept", "def kept():\n    # ... rest of code unchanged ...\n    pass\n", dry_run=True)
    assert outcome.diff
    renamed = BEFORE.replace("def kept():", "def other():").replace("return 1\n", "return 5\n")
    assert source.write("app", renamed, overwrite=True, dry_run=True).diff
    twice = "def kept():\n    # ... rest of code unchanged ...\n    f()\n    # ... rest of code unchanged ...\n"
    with pytest.raises(Refused, match=r"stands for code of app\.kept"):
        source.edit("app.kept", twice)


def test_a_comment_beside_whole_code_is_taken_as_given(source: Source) -> None:
    for form in (*PLAIN[:5], *FAINT[:5]):
        assert source.edit("app.f", old="    b = 2\n", new=f"    {form}\n    b = 2\n", dry_run=True).diff


def test_the_answer_of_the_command_line_names_the_comment_and_the_next_call(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(BEFORE)
    code = "def f():\n    a = 2\n    # ... rest of code unchanged ...\n"
    command = [sys.executable, "-m", "bae_source", "edit", "app.f", "--json", "--code", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    [error] = json.loads(done.stdout)["errors"]
    assert done.returncode == 5
    assert "'# ... rest of code unchanged ...' stands for code of app.f" in error["message"]
    assert error["hints"][0] == "Give the whole source, or change the piece alone with old and new."


def test_comments_of_each_kind_are_distinguished() -> None:
    comments = [form for form in PLAIN if form.startswith("#") and "New" not in form]
    assert [each for each in comments if strength_of(each.replace("\n#", "")) is not Strength.PLAIN] == []
    assert [each for each in FAINT if each.startswith("#") and strength_of(each) is not Strength.FAINT] == []
    assert [each for each in NONE if each.startswith("#") and strength_of(each) is not Strength.NONE] == []


@pytest.mark.parametrize("package", ["bae_source", "json", "email", "asyncio", "unittest"])
def test_code_that_people_wrote_has_none_that_is_plain(package: str) -> None:
    module = __import__(package)
    paths = sorted(Path(module.__file__ or "").parent.rglob("*.py"))
    assert paths
    texts = {path: path.read_text(encoding="utf-8") for path in paths}
    found = [(path, each) for path, text in texts.items() for each in placeholders(text)]
    assert [pair for pair in found if pair[1].strength is Strength.PLAIN] == []
    assert len(found) <= sum(text.count("\n") for text in texts.values()) / 5_000
