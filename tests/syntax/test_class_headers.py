"""What class headers name, and what imports rename, told from text; `test_bases` has what is found by it."""

from __future__ import annotations

import pytest

from bae_source.syntax.text.class_headers import Named, named_in
from bae_source.syntax.text.source import source_of


def named(content: bytes) -> Named:
    return named_in(content, source_of(content))


@pytest.mark.parametrize("blank", [b"\t", b"\f", b" \\\n  ", b" \\\r\n"])
def test_aliases_are_found_whatever_stands_around_them(blank: bytes) -> None:
    assert named(blank.join([b"from m import A", b"as", b"B\nclass C(B): ...\n"])) == ("B", "A B")


def test_names_and_aliases_are_found() -> None:
    content = b"from m import A as B, C as C\nclass D(B, x.E[int], metaclass=M):\n    class F(D): ...\nclass G: ...\n"
    assert named(content) == ("B, x.E[int], metaclass=M D", "A B")


@pytest.mark.parametrize(
    "content",
    [
        b"'of a class (see below'\nx = (1, 2)\n",
        b"x = 1  # the class path (\n# more): \n",
        b"subclass(A)\nclass_(A): int\n",
        b"importas = 1\n",
        b"",
    ],
)
def test_what_is_no_class_and_no_import_says_nothing(content: bytes) -> None:
    assert named(content) == ("", "")


@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf", b"x = 1\r", b"if x:\n\t \x0c", b"\\\n"])
def test_a_header_that_takes_a_closer_look_may_begin_any_line(before: bytes) -> None:
    assert named(before + b"class C(f(1), B): ...\n") == ("f(1), B", "")


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "cp1252"])
def test_text_outside_ascii_is_read_in_its_encoding(encoding: str) -> None:
    content = f"# coding: {encoding}\nfrom m import Gr\u00f6\u00dfe as B\nclass C(Ma\u00df): ...\n".encode(encoding)
    assert named(content) == ("Ma\u00df", "Gr\u00f6\u00dfe B")
