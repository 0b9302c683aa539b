"""What class headers name, and what imports rename, told from text; `test_bases` has what is found by it."""

from __future__ import annotations

import pytest

from bae_source.errors import SourceError
from bae_source.syntax.class_headers import named_in


def test_names_and_aliases_are_told() -> None:
    content = b"from m import A as B, C as C\nclass D(B, x.E[int], metaclass=M):\n    class F(D): ...\nclass G: ...\n"
    assert named_in(content) == ("B, x.E[int], metaclass=M D", "A B")


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
    assert named_in(content) == ("", "")


@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf", b"x = 1\r", b"if x:\n\t \x0c", b"\\\n"])
def test_a_header_that_takes_a_closer_look_may_begin_any_line(before: bytes) -> None:
    assert named_in(before + b"class C(f(1), B): ...\n") == ("f(1), B", "")


def test_text_that_cannot_be_decoded_is_refused() -> None:
    with pytest.raises(SourceError, match="encoding"):
        named_in(b"# coding: unheard-of\nclass C(B): ...\n")
