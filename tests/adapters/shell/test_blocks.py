"""Lines become blocks, each as soon as it is complete."""

from __future__ import annotations

import pytest

from bae_source.adapters.shell.blocks import blocks, ends_here, is_complete


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1\ny = 2\n", ["x = 1", "y = 2"]),
        ("\n\n  \nx\n", ["x"]),
        ("for x in y:\n    f(x)\n\ng()\n", ["for x in y:\n    f(x)\n", "g()"]),
        ("for x in y:\n    f(x)\ng()\n", ["for x in y:\n    f(x)", "g()"]),
        ("if a:\n    b\nelse:\n    c\nd\n", ["if a:\n    b\nelse:\n    c", "d"]),
        ("try:\n    a\nexcept E:\n    b\nfinally:\n    c\n", ["try:\n    a\nexcept E:\n    b\nfinally:\n    c"]),
        ("x = [\n1,\n2,\n]\ny\n", ["x = [\n1,\n2,\n]", "y"]),
        ('x = """\na\nb\n"""\ny\n', ['x = """\na\nb\n"""', "y"]),
        ("@d\ndef f():\n    return 1\nf()\n", ["@d\ndef f():\n    return 1", "f()"]),
        ("await f()\nasync with a as b:\n    c\n", ["await f()", "async with a as b:\n    c"]),
        ("x = \\\n  1\ny\n", ["x = \\\n  1", "y"]),
        ("def f(\nx\n", ["def f(\nx"]),
        ("1 +* 2\nx\n", ["1 +* 2", "x"]),
        ("if x: y\nz\n", ["if x: y", "z"]),
        ("class A:\n    def f(self):\n        pass\n\n    g = 1\n\nx\n",
         ["class A:\n    def f(self):\n        pass\n", "    g = 1", "x"]),
        ("match x:\n    case 1:\n        y\nz\n", ["match x:\n    case 1:\n        y", "z"]),
        ("x = '\0'\ny\n", ["x = '\0'", "y"]),
    ],
)  # fmt: skip
def test_lines_become_blocks(text: str, expected: list[str]) -> None:
    assert list(blocks(text.splitlines())) == expected


def test_a_block_is_there_before_the_next_line_is_asked_for() -> None:
    def lines() -> object:
        yield "x = 1"
        raise AssertionError("nobody needs another line")

    assert next(blocks(lines())) == "x = 1"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("x", True), ("for x in y:", False), ("for x in y:\n    f(x)", False), ("for x in y:\n    f(x)\n", True),
     ("f(", False), ("if x: y", False), ("if x: y\n", True), ("def f(: 1", True)],
)  # fmt: skip
def test_enter_ends_what_is_complete(text: str, expected: bool) -> None:
    assert ends_here(text) is expected


def test_what_is_too_long_to_look_at_is_taken_as_it_is() -> None:
    assert is_complete("(" * 300_000)
