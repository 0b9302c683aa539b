"""Whole modules as bytes: encodings, byte order marks and line ends."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bae_source.errors import SourceError
from bae_source.syntax.text.source import Source
from bae_source.syntax.text.written import usual_newline, written

BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"


def test_a_new_file_is_utf_8_and_ends_its_last_line() -> None:
    assert written("x = 'é'", "m", newline="\r\n")[0] == "x = 'é'\r\n".encode()
    assert [notice.code for notice in written("x = 1", "m", newline="\n")[1]] == ["final_newline_added"]
    assert written("", "m", newline="\n") == (b"", [])


def test_a_cookie_on_the_second_line_counts_and_a_page_break_ends_no_line() -> None:
    assert written("#!x\n# coding: latin-1\nx = 'é'\n", "m", newline="\n")[0] == b"#!x\n# coding: latin-1\nx = '\xe9'\n"
    assert written("# a\f\n# coding: latin-1\n'é'\n", "m", newline="\n")[0] == b"# a\f\n# coding: latin-1\n'\xe9'\n"


def test_a_byte_order_mark_is_kept_and_not_doubled() -> None:
    like = Source(b"\xef\xbb\xbfx = 1\n")
    for text in ("y = 2\n", f"{BOM}y = 2\n"):
        assert written(text, "m", newline="\n", like=like)[0] == b"\xef\xbb\xbfy = 2\n"
    assert written(f"{BOM}y = 2\n", "m", newline="\n", like=Source(b"x = 1\n"))[0] == b"y = 2\n"
    assert written(f"{BOM}y = 2\n", "m", newline="\n")[0] == b"\xef\xbb\xbfy = 2\n"


def test_a_mark_and_a_cookie_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(SourceError):
        written(f"{BOM}# coding: latin-1\n", "m", newline="\n")


def test_a_cookie_that_is_needed_comes_behind_the_shebang() -> None:
    like = Source(b"#!x\n#  vim: set fileencoding=cp1252 :\nx = '\x80'\n")
    content, notices = written("#!y\nz = '€'\n", "m", newline="\n", like=like)
    assert content == b"#!y\n#  vim: set fileencoding=cp1252 :\nz = '\x80'\n"
    assert [notice.code for notice in notices] == ["cookie_kept"]


def test_the_usual_line_end_is_that_of_most_files() -> None:
    assert usual_newline([]) == "\n"
    assert usual_newline([b"x"]) == "\n"
    assert usual_newline([b"x\n", b"x\r\n", b"x\r\ny\n\r\n"]) == "\r\n"
    assert usual_newline([b"x\r"]) == "\r"


@settings(max_examples=100, deadline=None)
@given(
    st.text(st.sampled_from("a#é\n\r\f\x1c\u2028 :=coding-utf8latin1"), max_size=40), st.sampled_from(["\n", "\r\n"])
)
def test_what_is_written_is_what_python_reads(text: str, newline: str) -> None:
    try:
        content, _ = written(text, "m", newline=newline)
    except SourceError:
        return
    read = Source(content).text
    assert read.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n") == (
        text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
    )
    assert not read or read[-1] in "\r\n"
