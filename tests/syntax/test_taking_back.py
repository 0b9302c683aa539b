"""A change is taken back by its own symbols; what came since stays, and what depends on it keeps it."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bae_source.syntax.outline.tree import parse
from bae_source.syntax.outline.units import units_of
from bae_source.syntax.rewrite.taking_back import TakenBack, taken_back
from bae_source.syntax.text.byte_edits import splice
from bae_source.syntax.text.source import Source, newline_kinds


def taken(left: str, now: str, aim: str) -> TakenBack:
    return taken_back(*(parse(Source.of_text(text)) for text in (left, now, aim)))


def result(left: str, now: str, aim: str) -> str:
    found = taken(left, now, aim)
    assert (found.changed, found.used) == ((), ())
    return splice(now, list(found.splices))


def joined(*blocks: str) -> str:
    return "\n\n".join(blocks)


F = [f"def f():\n    return {n}\n" for n in range(3)]
G = [f"def g():\n    return {n}\n" for n in range(3)]
H = "# about h\n@cached\ndef h():\n    return 0\n"


@pytest.mark.parametrize(
    ("left", "now", "aim", "expected"),
    [
        # a symbol is edited, its neighbour since
        (joined(F[1], G[0]), joined(F[1], G[1]), joined(F[0], G[0]), joined(F[0], G[1])),
        # what was added goes, and what was added behind it, or before it, stays
        (joined(F[0], G[0]), joined(F[0], G[0], H), F[0], joined(F[0], H)),
        (joined(F[0], G[0]), joined(H, F[0], G[0]), F[0], joined(H, F[0])),
        (joined(F[0], G[0]), joined(F[0], H, G[0]), F[0], joined(F[0], H)),
        # at the top as well
        (joined(F[0], G[0]), joined(F[0], H, G[0]), G[0], joined(H, G[0])),
        # what was deleted comes back, where it stood
        (joined(F[0], H), joined(F[1], H), joined(F[0], G[0], H), joined(F[1], G[0], H)),
        (F[0], joined(F[0], H), joined(F[0], G[0]), joined(F[0], G[0], H)),
        (G[0], G[1], joined(F[0], G[0]), joined(F[0], G[1])),
        # with its comment and its decorators
        (joined(F[0], H), joined(F[1], H), F[0], F[1]),
        # what was moved since is still what it was
        (joined(F[1], G[0], H), joined(G[0], H, F[1]), joined(F[0], G[0], H), joined(G[0], H, F[0])),
        # no line end at the end
        (F[0] + "\n\n" + G[0].rstrip(), F[1] + "\n\n" + G[0].rstrip(), F[0], F[1]),
        (F[0].rstrip(), F[1].rstrip(), joined(F[0], G[0]), joined(F[1], G[0])),
    ],
)
def test_own_symbols_go_back_and_others_stay(left: str, now: str, aim: str, expected: str) -> None:
    assert result(left, now, aim) == expected


CLASS = """class A(Base):
    \"\"\"Doc.\"\"\"

    x = {x}

    def f(self):
        return {f}

    def g(self):
        return {g}
"""


def test_members_of_one_class_go_back_each_alone() -> None:
    def drawn(x: int, f: int, g: int) -> str:
        return CLASS.format(x=x, f=f, g=g)

    assert result(drawn(0, 1, 0), drawn(1, 1, 1), drawn(0, 0, 0)) == drawn(1, 0, 1)
    assert result(drawn(1, 0, 0), drawn(1, 1, 0), drawn(0, 0, 0)) == drawn(0, 1, 0)
    header = drawn(0, 0, 0).replace("(Base)", "(Other)")
    assert result(header, header.replace("return 0", "return 5"), drawn(0, 0, 0)) == drawn(0, 5, 5)
    assert taken(drawn(0, 1, 0), drawn(0, 2, 0), drawn(0, 0, 0)).changed == ("A.f",)


@pytest.mark.parametrize(
    ("left", "now", "aim", "expected"),
    [
        ("import a\n", "import a\nimport b\n", "", "import b\n"),
        ("import a\nimport c\n", "import a\nimport b\nimport c\n", "import a\n", "import a\nimport b\n"),
        ("from m import a\n", "from m import a, b\n", "", "from m import b\n"),
        ("from m import a, b\n", "from m import a, b, c\n", "from m import a\n", "from m import a, c\n"),
        ("from m import b\n", "from m import b, c\n", "from m import a, b\n", "from m import a, b, c\n"),
        (
            "from m import (\n    a,\n    b,\n)\n",
            "from m import (\n    a,\n    b,\n    c,\n)\n",
            "from m import (\n    a,\n)\n",
            "from m import (\n    a,\n    c,\n)\n",
        ),
        ("from m import a as x, b\n", "from m import a as x, b, c\n", "from m import b\n", "from m import b, c\n"),
        ('__all__ = ["a", "b"]\n', '__all__ = ["a", "b", "c"]\n', '__all__ = ["a"]\n', '__all__ = ["a", "c"]\n'),
        ('__all__ = ["b"]\n', '__all__ = ["b", "c"]\n', '__all__ = ["a", "b"]\n', '__all__ = ["a", "b", "c"]\n'),
        (
            "if TYPE_CHECKING:\n    import a\n    import b\n",
            "if TYPE_CHECKING:\n    import a\n    import b\n    import c\n",
            "if TYPE_CHECKING:\n    import a\n",
            "if TYPE_CHECKING:\n    import a\n    import c\n",
        ),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_imports_and_exports_that_several_changes_made_go_by_name(
    left: str, now: str, aim: str, expected: str, newline: str
) -> None:
    left, now, aim, expected = (text.replace("\n", newline) for text in (left, now, aim, expected))
    assert result(left, now, aim) == expected


@pytest.mark.parametrize(
    ("left", "now", "aim", "changed"),
    [
        (F[1], F[2], F[0], ("f",)),
        (joined(F[0], G[0]), joined(F[0], G[1]), F[0], ("g",)),
        (joined(F[0], G[0]), F[0], F[0], ("g",)),
        (F[0], joined(F[0], G[1]), joined(F[0], G[0]), ("g",)),
        ("a = 1\nprint(a)\n", "a = 1\nprint(a, a)\n", "a = 1\nprint(1)\n", ("",)),
        ("from m import a\n", "from m import *\n", "", ("",)),
        ("from m import a, b\n", "from m import b\n", "from m import b\n", ("",)),
    ],
)
def test_a_symbol_that_has_changed_since_is_in_the_way(left: str, now: str, aim: str, changed: tuple[str, ...]) -> None:
    assert taken(left, now, aim).changed == changed


def test_a_member_that_came_since_keeps_its_class() -> None:
    made = "class A:\n    def f(self):\n        return 1\n"
    since = made + "\n    def g(self):\n        return 1\n"
    for above in ("", "class B:\n    def k(self):\n        return 1\n\n\n"):
        found = taken(above + made, above + since, above)
        assert (found.splices, bool(found.changed)) == ((), True)


@pytest.mark.parametrize(
    ("left", "now", "aim", "used"),
    [
        (joined(F[0], G[0]), joined(F[0], G[0], "def h():\n    return g()\n"), F[0], (("g", "h"),)),
        (
            joined("import a\n", F[0], G[0]),
            joined("import a\n", F[0], "def g():\n    return a.b\n"),
            joined(F[0], G[0]),
            (("a", "g"),),
        ),
        (joined(F[0], G[0]), joined(F[0], G[0], "g()\n"), F[0], (("g", ""),)),
        (joined(F[0], G[0]), joined('__all__ = ["g"]\n', F[0], G[0]), F[0], (("g", "__all__"),)),
        (joined(F[0], G[0]), joined(F[0], G[0], 'def h(x: "g | None"):\n    pass\n'), F[0], (("g", "h"),)),
    ],
)
def test_what_uses_a_name_since_keeps_it(left: str, now: str, aim: str, used: tuple[tuple[str, str], ...]) -> None:
    assert taken(left, now, aim).used == used


def test_prose_uses_nothing() -> None:
    since = 'def h():\n    """Do as g does."""\n    # like g\n    raise ValueError("no g here")\n'
    assert result(joined(F[0], G[0]), joined(F[0], G[0], since), F[0]) == joined(F[0], since)


def test_line_ends_that_were_converted_since_are_no_change() -> None:
    left, now, aim = joined(F[0], G[0]), joined(F[1], G[0]), F[0]
    assert result(left, now.replace("\n", "\r\n"), aim) == F[1].replace("\n", "\r\n")
    assert result(aim, F[1].replace("\n", "\r\n"), left) == now.replace("\n", "\r\n")


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[tuple[int | None, int | None, int | None]], str]:
    """For each of some symbols its body on the three versions, None for none: changed by one side at most."""
    bodies = st.one_of(st.none(), st.integers(0, 9))
    rows = []
    for _ in range(draw(st.integers(1, 6))):
        left, other = draw(bodies), draw(bodies)
        rows.append(draw(st.sampled_from([(left, left, left), (left, other, left), (left, left, other)])))
    return rows, draw(st.sampled_from(["\n", "\r\n", "\r"]))


@example(([(0, None, 0), (None, None, 7), (0, 2, 0)], "\r\n"))
@given(histories())
def test_each_symbol_is_as_the_side_that_changed_it_wants(
    history: tuple[list[tuple[int | None, int | None, int | None]], str],
) -> None:
    rows, newline = history

    def drawn(bodies: list[int | None]) -> str:
        blocks = [f"def f{n}():\n    return {body}\n" for n, body in enumerate(bodies) if body is not None]
        return joined("import os\n", *blocks).replace("\n", newline)

    left, now, aim = (drawn([row[side] for row in rows]) for side in range(3))
    expected = drawn([row[1] if row[0] == row[2] else row[2] for row in rows])
    found = result(left, now, aim)
    assert sorted(_symbols(found)) == sorted(_symbols(expected))
    assert newline_kinds(found) == {newline}
    assert len(found) == len(expected)


def _symbols(text: str) -> list[tuple[str, str]]:
    return [(unit.name, unit.text) for unit in units_of(parse(Source.of_text(text)))]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "a = 1; b = 2\n",
        "x = 1\n\f\ndef f(): pass\n# end",
        CLASS,
        "if a:\n    b()\n\n    c()\nelse:\n    d()\n",
    ],
)
def test_the_units_of_a_text_are_the_text(text: str) -> None:
    units = units_of(parse(Source.of_text(text)))
    assert "".join(unit.space + unit.raw for unit in units) == text
