"""A seeded sample of `python -m benchmarks.lossless`, and every definition of every nasty file: not one byte is lost.

What may be refused stands here, reason by reason; so do the files that may not be readable at all.
"""

from __future__ import annotations

import ast
import random
import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from benchmarks import corpus
from benchmarks.lossless import Verdict, check_file

pytestmark = pytest.mark.sampled

SEED = 20261122
FILES_OF_A_PACKAGE = 9
FILES_OF_THE_LIBRARY = 36
DEFINITIONS_OF_A_FILE = 8
SOURCES = Path(__file__).parent.parent / "fixtures" / "sources"
INDEX = tomllib.loads((SOURCES / "index.toml").read_text(encoding="utf-8"))

#: Files that are no Python on purpose, or that no parser here gives back unchanged; all others must be readable.
NOT_READ = {
    "attrs": (),
    "black": (
        "tests/data/cases/pep_572_do_not_remove_parens.py",
        "tests/data/cases/pep_701.py",
        "tests/data/miscellaneous/async_as_identifier.py",
        "tests/data/miscellaneous/invalid_header.py",
        "tests/data/miscellaneous/pattern_matching_invalid.py",
        "tests/data/miscellaneous/python2_detection.py",
    ),
    "django": ("tests/test_runner_apps/tagged/tests_syntax_error.py",),
    "httpx": (),
    "sqlalchemy": (),
}
#: The same in the standard library, where they differ from version to version.
NO_PYTHON = (
    r"(lib2to3/tests|test/test_lib2to3)/data/(bom|crlf|different_encoding|false_encoding|py2_test_grammar)\.py",
    r"test/(test_lib2to3/)?(data/)?bad_\w+\.py",
    r"test/(tokenizedata/)?(badsyntax_\w+|bad_coding2?)\.py",
)


@pytest.mark.parametrize("name", NOT_READ)
def test_no_definition_of_a_package_loses_a_byte(name: str) -> None:
    root = _package(name)
    allowed = [re.escape(f"{root}/{path}") for path in NOT_READ[name]]
    _check(_sample(corpus.python_files(root), FILES_OF_A_PACKAGE), allowed)


@pytest.mark.parametrize("part", range(4))
def test_no_definition_of_the_standard_library_loses_a_byte(part: int) -> None:
    allowed = [rf".*/{pattern}" for pattern in NO_PYTHON]
    _check(_sample(corpus.python_files(corpus.standard_library()), FILES_OF_THE_LIBRARY)[part::4], allowed)


@pytest.mark.parametrize(("name", "path"), [(name, path) for name, paths in NOT_READ.items() for path in paths])
def test_a_file_that_is_named_as_not_read_is_not(name: str, path: str) -> None:
    file = _package(name) / path
    assert check_file(file).unreadable or _parses(file.read_bytes()), "take it off the list"


@pytest.mark.skipif(
    not (corpus.standard_library() / "test/test_grammar.py").is_file(),
    reason="this Python comes without the tests of its library, as that of Debian does",
)
def test_the_sample_of_the_standard_library_has_its_tests() -> None:
    sample = _sample(corpus.python_files(corpus.standard_library()), FILES_OF_THE_LIBRARY)
    assert sum("test" in path.parts for path in sample) > FILES_OF_THE_LIBRARY // 4


@pytest.mark.parametrize("name", sorted(INDEX))
def test_no_definition_of_a_nasty_file_loses_a_byte(name: str) -> None:
    facts = INDEX[name]
    verdict = check_file(SOURCES / name)
    readable = facts["parses"] != "never" and "encoding" in facts and facts.get("lossless", True)
    assert verdict.wrong == []
    assert verdict.refused == Counter()
    assert (verdict.unreadable == []) is readable, verdict.unreadable


def _package(name: str) -> Path:
    return corpus.fetch(next(release for release in corpus.RELEASES if release.name == name))


def _check(files: list[Path], not_read: list[str]) -> None:
    total = Verdict(wrong=[], refused=Counter(), unreadable=[])
    for path in files:
        total.add(check_file(path, only=DEFINITIONS_OF_A_FILE, seed=SEED))
    assert total.wrong == []
    assert total.refused == Counter()
    assert [line for line in total.unreadable if not any(re.match(f"{path}: ", line) for path in not_read)] == []
    assert total.definitions > len(files)


def _sample(files: list[Path], count: int) -> list[Path]:
    """Choose files by their own names, so that a file that comes or goes leaves the others chosen."""
    return sorted(files, key=lambda path: random.Random(f"{SEED}:{path.name}:{path.parent.name}").random())[:count]


def _parses(content: bytes) -> bool:
    try:
        ast.parse(content)
    except (SyntaxError, ValueError):
        return False
    return True
