"""What is inserted keeps its distance, joins a group or collides with it, and takes the place of what only held it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import Refused

OVERLOADS = """\
from typing import overload


@overload
def f(a: int) -> int: ...
@overload
def f(a: str) -> str: ...
def f(a):
    return a
"""
PROPERTY = """\
class A:
    @property
    def p(self):
        return 1

    @p.setter
    def p(self, value):
        pass
"""


def _laid(folder: Path, text: str) -> Source:
    (folder / "m.py").write_text(text)
    return Source(folder)


@pytest.mark.parametrize(
    ("text", "target", "position", "given", "expected"),
    [
        (OVERLOADS, "m.f", "after", "def g():\n    pass", "    return a\n\n\ndef g():\n    pass\n"),
        (OVERLOADS, "m", "last", "def g():\n    pass", "    return a\n\n\ndef g():\n    pass\n"),
        (OVERLOADS, "m.f", "before", "def g():\n    pass", "overload\n\n\ndef g():\n    pass\n\n\n@overload\n"),
        (
            OVERLOADS,
            "m.f@overload[0]",
            "after",
            "@overload\ndef f(a: None) -> None: ...",
            "-> int: ...\n@overload\ndef f(a: None) -> None: ...\n@overload\ndef f(a: str)",
        ),
        (
            OVERLOADS,
            "m.f",
            "before",
            "@overload\ndef f(a: None) -> None: ...",
            "overload\n\n\n@overload\ndef f(a: None) -> None: ...\n@overload\ndef f(a: int)",
        ),
        (PROPERTY, "m.A", "last", "def k(self): pass", "        pass\n\n    def k(self): pass\n"),
        (
            "class A:\n    x = property(f)\n    x = x.setter(g)\n    def a(self): pass\n    def b(self): pass\n",
            "m.A.b",
            "after",
            "def c(self): pass",
            "    def b(self): pass\n    def c(self): pass\n",
        ),
    ],
)
def test_a_group_says_nothing_of_the_distance_of_others(
    tmp_path: Path, text: str, target: str, position: str, given: str, expected: str
) -> None:
    source = _laid(tmp_path, text)
    source.insert(target, given, position=position, reload="off")  # type: ignore[arg-type]
    assert expected in (tmp_path / "m.py").read_text()


@pytest.mark.parametrize(
    ("text", "target", "position", "given"),
    [
        (OVERLOADS, "m", "last", "def f():\n    pass"),
        (OVERLOADS, "m.f", "before", "def f():\n    pass"),
        (OVERLOADS, "m", "last", "f = 1"),
        (OVERLOADS, "m", "last", "class f: pass"),
        (OVERLOADS, "m", "last", "@overload\ndef f(a: None) -> None: ..."),
        ("def f(a):\n    return a\n", "m.f", "after", "@overload\ndef f(a: None) -> None: ..."),
        (PROPERTY, "m.A", "last", "@property\ndef p(self):\n    return 2"),
        (PROPERTY, "m.A", "last", "@p.setter\ndef p(self, value):\n    return"),
        (PROPERTY, "m.A", "first", "@p.deleter\ndef p(self):\n    return"),
    ],
)
def test_a_definition_that_takes_the_place_of_a_group_collides(
    tmp_path: Path, text: str, target: str, position: str, given: str
) -> None:
    source = _laid(tmp_path, text)
    with pytest.raises(Refused) as caught:
        source.insert(target, given, position=position, reload="off")  # type: ignore[arg-type]
    assert caught.value.code == "name_collision"
    assert (tmp_path / "m.py").read_text() == text


@pytest.mark.parametrize(
    ("text", "target", "position", "given"),
    [
        (PROPERTY, "m.A", "last", "@p.deleter\ndef p(self):\n    return"),
        (OVERLOADS.partition("def f(a):")[0], "m.f", "after", "def f(a):\n    return a"),
        ("def f(a):\n    return a\n", "m.f", "before", "@overload\ndef f(a: None) -> None: ..."),
    ],
)
def test_a_definition_joins_a_group_that_lacks_it(
    tmp_path: Path, text: str, target: str, position: str, given: str
) -> None:
    source = _laid(tmp_path, text)
    source.insert(target, given, position=position, reload="off")  # type: ignore[arg-type]
    assert given.splitlines()[0] in (tmp_path / "m.py").read_text()


@pytest.mark.parametrize("holds", ["pass", "..."])
@pytest.mark.parametrize("header", ["class A: {}\n", "class A:\n    {}\n", "class A: {}", "class A:\n    {}"])
def test_what_only_holds_the_place_gives_way(tmp_path: Path, header: str, holds: str) -> None:
    source = _laid(tmp_path, header.format(holds))
    source.insert("m.A", "def f(self):\n    return 1", position="last", reload="off")
    assert (tmp_path / "m.py").read_text().rstrip() == "class A:\n    def f(self):\n        return 1"


def test_what_says_why_it_holds_the_place_stays(tmp_path: Path) -> None:
    source = _laid(tmp_path, "class A: ...  # soon\n")
    source.insert("m.A", "x = 1", position="last", reload="off")
    assert (tmp_path / "m.py").read_text() == "class A:\n    ...  # soon\n    x = 1\n"


F = "def f():\n    pass\n"
CHECKED = "import os\n\nif os.TYPE_CHECKING:  # pragma: no cover\n    import re\n"
TRIED = "try:\n    import re\nexcept ImportError:\n    re = None\n"
MAIN = 'if __name__ == "__main__":\n    import sys\n'


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        (f"{CHECKED}\n\n{F}", "X = 1", f"{CHECKED}\nX = 1\n\n\n{F}"),
        (f"{CHECKED}\n\n{F}", "def g(): pass", f"{CHECKED}\n\ndef g(): pass\n\n\n{F}"),
        (f"{TRIED}A = 1\n", "X = 1", f"{TRIED}\nX = 1\nA = 1\n"),
        (
            f"{TRIED}import os\n\nif os.x:\n    os.y()\n",
            "X = 1",
            f"{TRIED}import os\n\nX = 1\n\nif os.x:\n    os.y()\n",
        ),
        (f"import os\nif os.x:\n    os.y()\n{F}", "X = 1", f"import os\n\nX = 1\n\nif os.x:\n    os.y()\n{F}"),
        (f"A = 1\n\n{MAIN}", "X = 1", f"X = 1\nA = 1\n\n{MAIN}"),
        (f'"""Doc."""\n{MAIN}', "X = 1", f'"""Doc."""\n\nX = 1\n\n{MAIN}'),
    ],
)
def test_first_is_behind_all_imports_that_the_module_begins_with(
    tmp_path: Path, text: str, given: str, expected: str, newline: str
) -> None:
    (tmp_path / "m.py").write_bytes(text.replace("\n", newline).encode())
    Source(tmp_path).insert("m", given, position="first", reload="off")
    assert (tmp_path / "m.py").read_bytes().decode() == expected.replace("\n", newline)


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        (f"{F}\n\n{MAIN}", "X = 1", f"{F}\n\nX = 1\n\n\n{MAIN}"),
        (f"A = 1\n\n# why\n{MAIN}", "X = 1", f"A = 1\n\nX = 1\n\n# why\n{MAIN}"),
        (f"A = 1\n{MAIN}", "print(A)", f"A = 1\nprint(A)\n\n{MAIN}"),
        (f"{F}\n\n{MAIN}", "if f:\n    f()", f"{F}\n\nif f:\n    f()\n\n\n{MAIN}"),
        ("A = 1\nif A:\n    B = 2\n", "X = 1", "A = 1\nif A:\n    B = 2\n\nX = 1\n"),
        ("for A in B:\n    A()", "X = 1", "for A in B:\n    A()\n\nX = 1"),
        ("A = [\n    1,\n    2]\n", "X = 1", "A = [\n    1,\n    2]\nX = 1\n"),
        ("if A: B = 2\n", "X = 1", "if A: B = 2\nX = 1\n"),
        (f"{F}\n\n{MAIN}", "def g(): pass", f"{F}\n\ndef g(): pass\n\n\n{MAIN}"),
    ],
)
def test_last_is_set_apart_from_blocks(tmp_path: Path, text: str, given: str, expected: str) -> None:
    source = _laid(tmp_path, text)
    source.insert("m", given, position="last", reload="off")
    assert (tmp_path / "m.py").read_text() == expected


@pytest.mark.parametrize("position", ["before", "after"])
def test_beside_a_name_the_lines_of_a_block_stay_as_close_as_they_were(tmp_path: Path, position: str) -> None:
    source = _laid(tmp_path, "if B:\n    A = 1\nA = 2\nif B:\n    A = 3\n")
    source.insert("m.A[1]", "X = 1", position=position, reload="off")  # type: ignore[arg-type]
    assert (tmp_path / "m.py").read_text().replace("X = 1\n", "") == "if B:\n    A = 1\nA = 2\nif B:\n    A = 3\n"


RANGES = [
    ("# fmt: off", "# fmt: on"),
    ("# yapf: disable", "# yapf: enable"),
    ("# pylint: disable=all", "# pylint: enable=all"),
    ("# pragma: no cover: start", "# pragma: no cover: stop"),
]
NO_RANGES = [
    ("# fmt: off", "# isort: on"),
    ("# fmt: off", "# else"),
    ("# how it is off", "# how it is on"),
    ("# pylint: disable=a", "# pylint: enable=b"),
]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("given", ["def g(self):\n    return 2\n", "g = 2\n"])
@pytest.mark.parametrize("position", ["before", "after"])
@pytest.mark.parametrize("pair", RANGES)
def test_what_is_put_beside_a_symbol_stays_out_of_its_range(
    tmp_path: Path, pair: tuple[str, str], position: str, given: str, newline: str
) -> None:
    ruled = f"    {pair[0]}\n    # how\n    def f(self): return   1\n    {pair[1]}\n"
    new = "".join(f"    {line}\n" for line in given.splitlines())
    text = f"class C:\n    a = 1\n\n{ruled}\n    z = 1\n"
    (tmp_path / "m.py").write_bytes(text.replace("\n", newline).encode())
    Source(tmp_path).insert("m.C.f", given, position=position, reload="off")  # type: ignore[arg-type]
    inside = f"{new}\n{ruled}" if position == "before" else f"{ruled}\n{new}"
    expected = f"class C:\n    a = 1\n\n{inside}\n    z = 1\n"
    assert (tmp_path / "m.py").read_bytes().decode() == expected.replace("\n", newline)


@pytest.mark.parametrize("position", ["before", "after"])
def test_what_is_put_beside_a_ruled_function_of_a_module_is_two_lines_apart(tmp_path: Path, position: str) -> None:
    ruled = "# fmt: off\ndef f(): return   1\n# fmt: on\n"
    source = _laid(tmp_path, f"A = 1\n\n\n{ruled}")
    source.insert("m.f", "B = 2", position=position, reload="off")  # type: ignore[arg-type]
    text = (tmp_path / "m.py").read_text()
    assert text == (f"A = 1\n\n\nB = 2\n\n\n{ruled}" if position == "before" else f"A = 1\n\n\n{ruled}\n\nB = 2\n")


@pytest.mark.parametrize("pair", NO_RANGES)
def test_other_comments_below_stay_below(tmp_path: Path, pair: tuple[str, str]) -> None:
    source = _laid(tmp_path, f"{pair[0]}\ndef f(): return 1\n{pair[1]}\nz = 1\n")
    source.insert("m.f", "def g(): return 2", reload="off")
    assert "return 1\n\n\ndef g(): return 2\n" in (tmp_path / "m.py").read_text()


def test_a_range_of_several_symbols_is_not_left(tmp_path: Path) -> None:
    text = "# fmt: off\ndef f(): return   1\n\n\ndef h(): return   2\n# fmt: on\n"
    source = _laid(tmp_path, text)
    source.insert("m.h", "def g(): return 2", reload="off")
    assert (tmp_path / "m.py").read_text() == text.replace("# fmt: on", "\n\ndef g(): return 2\n# fmt: on")


def test_what_is_put_behind_a_ruled_table_follows_its_range(tmp_path: Path) -> None:
    text = "# fmt: off\nT = [1,   2]\n# fmt: on\nU = 1\n"
    source = _laid(tmp_path, text)
    source.insert("m.T", "V = 2", reload="off")
    assert (tmp_path / "m.py").read_text() == text.replace("U = 1", "V = 2\nU = 1")
