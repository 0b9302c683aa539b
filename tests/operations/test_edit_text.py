"""A piece of text says what it drops and adds, and collides, as a whole new source does."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import Refused, ResourceError

BEFORE = """\
import os


def dec(function):
    return function


class A:
    @dec
    def m(self):
        return 1

    def n(self):
        return 2

    @property
    def p(self):
        return 4


def f():
    return 3
"""


@pytest.fixture
def source(tmp_path: Path) -> Source:
    (tmp_path / "mod.py").write_text(BEFORE)
    return Source(tmp_path)


@pytest.mark.parametrize(
    ("target", "old", "name", "form"),
    [
        ("mod.A.m", "return 1", "n", "\n\n    def n(self):\n        return 5"),
        ("mod.A.m@body", "return 1", "n", "\n\n    n = 5"),
        ("mod.f", "return 3", "dec", "\n\n\ndef dec():\n    return 5"),
        ("mod.f", "return 3", "os", "\n\n\nos = 5"),
    ],
)
def test_a_piece_of_text_that_defines_a_present_name_beside_the_symbol_is_refused(
    source: Source, tmp_path: Path, target: str, old: str, name: str, form: str
) -> None:
    with pytest.raises(Refused, match=f"also defines {name}, which exists already") as caught:
        source.edit(target, old=old, new=old + form, reload="off")
    assert caught.value.code == "name_collision"
    assert (tmp_path / "mod.py").read_text() == BEFORE
    assert source.history() == "(no operations)"


@pytest.mark.parametrize("imports", [[], ["import re"]])
def test_a_definition_that_a_piece_of_text_adds_is_reported_and_has_an_etag(source: Source, imports: list[str]) -> None:
    outcome = source.edit(
        "mod.A.m", old="return 1", new="return 1\n\n    def k(self): return 5", imports=imports, reload="off"
    )
    assert ("added", "Added beside m: k.") in [(each.code, each.message) for each in outcome.warnings]
    assert [each.address for each in outcome.changed] == ["mod.A.m", "mod.A.k"]
    assert outcome.changed[1].etag == source.read("mod.A.k").etag


@pytest.mark.parametrize(("target", "name"), [("mod.A.m", "m"), ("mod.A.m@decorators", "m"), ("mod.A", "A.m")])
def test_a_decorator_that_a_piece_of_text_drops_is_reported(source: Source, target: str, name: str) -> None:
    outcome = source.edit(target, old="    @dec\n", new="", reload="off")
    assert [(each.code, each.message) for each in outcome.warnings] == [
        ("decorators_dropped", f"{name} no longer has @dec.")
    ]


def test_what_a_piece_of_text_adds_inside_of_a_class_is_reported(source: Source) -> None:
    more = "return 1\n\n    def n(self): return 5\n\n    class K:\n        x = 1"
    outcome = source.edit("mod.A", old="return 1", new=more, reload="off")
    assert [(each.code, each.message) for each in outcome.warnings] == [
        ("added", "Added inside of A: another A.n, A.K."),
        ("definitions_hidden", "Defined again further down, which hides the first: A.n."),
    ]


def test_an_accessor_that_a_piece_of_text_adds_belongs_to_the_property(source: Source) -> None:
    more = "return 4\n\n    @p.setter\n    def p(self, value):\n        self.q = value"
    assert not source.edit("mod.A.p", old="return 4", new=more, reload="off").warnings


def test_a_piece_of_text_that_drops_and_adds_nothing_gives_no_warning(source: Source) -> None:
    assert not source.edit("mod.A.m", old="return 1", new="return 1 + 1", reload="off").warnings
    assert not source.edit("mod.A", old="return 2", new="return 1 + 2", reload="off").warnings


LINES = """\
def f(x):
    y = x
    if y:
        y += 1  # more
    return y


class A:
    def m(self):
        return 1

    def last(self):
        return 2


X = 1
"""


@pytest.mark.parametrize(
    ("target", "old", "new", "standing"),
    [
        ("f", "return y", 'z = y\nprint("hi")', '    z = y\n    print("hi")\n'),
        ("f", "return y", 'z = y\n    print("hi")', '    z = y\n    print("hi")\n'),
        ("f", "    return y", "    z = y\n    print(z)", "    z = y\n    print(z)\n"),
        ("f", "return y", "    z = y\n    print(z)", "    z = y\n    print(z)\n"),
        ("f", "return y", "for z in y:\n    print(z)", "    for z in y:\n        print(z)\n"),
        ("f", "return y", "for z in y:\n\tprint(z)", "    for z in y:\n        print(z)\n"),
        ("f", "y", "y\nprint(1)", None),
        ("f", "return y", "z = y\n# why\nreturn z", "    z = y\n    # why\n    return z\n"),
        ("f", "return y", "z = '''\nleft\n'''\nreturn z", "    z = '''\nleft\n'''\n    return z\n"),
        ("f", "y += 1", "y += 2\nprint(y)", "        y += 2\n        print(y)  # more\n"),
        ("f@body", "return y", "z = y\nreturn z", "    z = y\n    return z\n"),
        ("A.m", "return 1", "z = 1\nreturn z", "        z = 1\n        return z\n"),
        ("A.last", "return 2", "z = 1\nprint(z)", "        z = 1\n        print(z)\n"),
        ("A.last", "return 2", "z = 1\n    print(z)", "        z = 1\n        print(z)\n"),
        ("f", "return y", "return z\n# why", "    return z\n    # why\n"),
        ("A", "return 2", "z = 1\nprint(z)", "        z = 1\n        print(z)\n"),
        ("A.last", "return 2", "return 3\n    # at the end", "        return 3\n    # at the end\n"),
        ("X", "X = 1", "X = 2\nprint(X)", None),
        ("X", "X = 1", "X = 2\nY = 3", "X = 2\nY = 3\n"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_further_lines_of_a_piece_of_text_stay_in_the_symbol_or_are_refused(
    tmp_path: Path, target: str, old: str, new: str, standing: str | None, newline: str
) -> None:
    before = LINES.replace("\n", newline).encode()
    (tmp_path / "mod.py").write_bytes(before)
    source = Source(tmp_path)
    how = {"old": old, "new": new, "reload": "off"}
    if standing is None:
        with pytest.raises(ResourceError):
            source.edit(f"mod.{target}", **how)  # type: ignore[arg-type]
        assert (tmp_path / "mod.py").read_bytes() == before
        return
    source.edit(f"mod.{target}", **how)  # type: ignore[arg-type]
    present = (tmp_path / "mod.py").read_bytes()
    assert standing.replace("\n", newline).encode() in present
    assert len(present) == len(before) + len(standing.replace("\n", newline)) - len(_replaced(old, newline))


def _replaced(old: str, newline: str) -> str:
    """Return the line of the text that holds a piece of it."""
    [line] = [each for each in LINES.splitlines() if old in each]
    return line + newline


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(("end_of_old", "end_of_new"), [("\n", ""), ("", "\n"), ("\n", "\n"), ("\r\n", "\n")])
@pytest.mark.parametrize(("old", "new"), [("return y", "return 5"), ("y += 1", "y += 2"), ("y = x\n    if", "if")])
def test_a_line_end_at_the_end_of_old_or_new_changes_nothing(
    tmp_path: Path, old: str, new: str, end_of_old: str, end_of_new: str, newline: str
) -> None:
    for name, ends in (("plain", ("", "")), ("ended", (end_of_old, end_of_new))):
        (tmp_path / name / "k").mkdir(parents=True)
        (tmp_path / name / "mod.py").write_bytes(LINES.replace("\n", newline).encode())
        (tmp_path / name / "k/__init__.py").touch()
        (tmp_path / name / "k/text.md").write_bytes(LINES.replace("\n", newline).encode())
        source = Source(tmp_path / name)
        source.edit("mod.f", old=old + ends[0], new=new + ends[1], reload="off")
        source.edit("k:text.md", old=f"def f(x):\n    {old}" if old[:3] == "y =" else old + ends[0], new=new + ends[1])
    for file in ("mod.py", "k/text.md"):
        assert (tmp_path / "ended" / file).read_bytes() == (tmp_path / "plain" / file).read_bytes()


def test_a_line_is_deleted_with_its_end(tmp_path: Path) -> None:
    (tmp_path / "mod.py").write_text(LINES)
    Source(tmp_path).edit("mod.f", old="    y = x\n", new="", reload="off")
    assert (tmp_path / "mod.py").read_text() == LINES.replace("    y = x\n", "")


def test_a_longer_line_that_begins_alike_is_distinguished_by_the_line_end(tmp_path: Path) -> None:
    (tmp_path / "mod.py").write_text("def f():\n    x = 10\n    x = 1\n    return x\n")
    Source(tmp_path).edit("mod.f", old="x = 1\n", new="x = 2\n", reload="off")
    assert (tmp_path / "mod.py").read_text() == "def f():\n    x = 10\n    x = 2\n    return x\n"


LAST = "\n\nclass B:\n    def m(self):\n        return 8\n\n\nif f:\n\n    def g():\n        return 9\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("text", "target", "old"),
    [(LAST.partition("\n\n\nif")[0] + "\n", "mod.B.m", "return 8"), (LAST, "mod.g", "return 9")],
)
@pytest.mark.parametrize("form", ["def o(self):\n    return 3", "class O:\n    x = 1", "async def o():\n    pass"])
def test_a_definition_that_would_leave_what_holds_the_symbol_is_refused(
    tmp_path: Path, newline: str, text: str, target: str, old: str, form: str
) -> None:
    content = (BEFORE + text).replace("\n", newline).encode()
    (tmp_path / "mod.py").write_bytes(content)
    source = Source(tmp_path)
    with pytest.raises(Refused, match="would be defined outside of what holds") as caught:
        source.edit(target, old=old, new=f"{old}\n\n{form}", reload="off")
    assert caught.value.code == "unsafe_change"
    assert f'insert("{target}", position="after")' in caught.value.hints[0]
    assert (tmp_path / "mod.py").read_bytes() == content


def test_statements_at_the_margin_move_into_the_last_method(tmp_path: Path) -> None:
    (tmp_path / "mod.py").write_text("class B:\n    def m(self):\n        return 8\n")
    Source(tmp_path).edit("mod.B.m", old="return 8", new="x = 8\nreturn x\n\nX = 1", reload="off")
    expected = "class B:\n    def m(self):\n        x = 8\n        return x\n\n        X = 1\n"
    assert (tmp_path / "mod.py").read_text() == expected


def test_a_method_at_its_place_is_added_beside_the_last_one(tmp_path: Path) -> None:
    (tmp_path / "mod.py").write_text("class B:\n    def m(self):\n        return 8\n")
    new = "return 8\n\n    def o(self):\n        return 3"
    outcome = Source(tmp_path).edit("mod.B.m", old="return 8", new=new, reload="off")
    assert [each.code for each in outcome.warnings] == ["added"]
    assert (tmp_path / "mod.py").read_text().endswith("\n    def o(self):\n        return 3\n")
