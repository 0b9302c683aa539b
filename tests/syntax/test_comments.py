"""Comments found by one expression: the same as the scanner's, on real and on nasty files."""

from __future__ import annotations

import sysconfig
import time
from pathlib import Path

import pytest

from bae_source.errors import SourceError
from bae_source.syntax.outline.wording import comments_of
from bae_source.syntax.text.lexer import lex
from bae_source.syntax.text.source import Source

SOURCES = sorted((Path(__file__).parents[2] / "fixtures" / "sources").glob("*.py"))
LIBRARY = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
_NESTED = {"pep701.py", "fstrings_nested.py"}


def is_plain(path: Path) -> bool:
    """Say whether a file can be decoded, closes its strings, and nests none in those of an f-string."""
    try:
        return path.name not in _NESTED and lex(Source(path.read_bytes()).text).closed
    except SourceError:
        return False


def test_what_looks_like_a_comment_in_a_string_is_none() -> None:
    text = "x = '#a'  # b\ny = \"\"\"#c\n# d\\\"\"\"\"  # e\nz = r'\\'#f'\n# g\r\n'#\\\n h'  # i"
    assert [span.cut(text) for span in comments_of(text)] == ["# b", "# e", "# g", "# i"]


@pytest.mark.parametrize("path", LIBRARY[:60], ids=lambda path: path.stem)
def test_comments_of_the_standard_library_are_those_of_the_scanner(path: Path) -> None:
    text = Source(path.read_bytes()).text
    assert tuple(comments_of(text)) == lex(text).comments


@pytest.mark.parametrize("path", [path for path in SOURCES if is_plain(path)], ids=lambda path: path.stem)
def test_comments_of_nasty_files_are_those_of_the_scanner(path: Path) -> None:
    text = Source(path.read_bytes()).text
    assert tuple(comments_of(text)) == lex(text).comments


def test_most_nasty_files_are_compared() -> None:
    assert sum(map(is_plain, SOURCES)) > 70


def test_the_time_is_linear_in_what_never_closes() -> None:
    begun = time.process_time()
    for text in ('"' * 200_001 + "#", "'''" + "\\" * 200_000 + "#", '"""' + '"" ' * 70_000 + "#", "'#" * 100_000):
        list(comments_of(text))
    assert time.process_time() - begun < 5
