"""A seeded sample of `python -m benchmarks.lossless`, and every definition of every nasty file: not one byte is lost.

What may be refused stands here, reason by reason; so do the files that may not be readable at all.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from benchmarks import corpus
from benchmarks.lossless import Verdict, check_file

SEED = 20261122
FILES_OF_A_PACKAGE = 26
FILES_OF_THE_LIBRARY = 110
DEFINITIONS_OF_A_FILE = 12
PACKAGES = ("attrs", "black", "django", "httpx", "sqlalchemy")
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
    r"lib2to3/tests/data/(bom|crlf|different_encoding|false_encoding|py2_test_grammar)\.py",
    r"test/(test_lib2to3/)?(data/)?bad_\w+\.py",
    r"test/(tokenizedata/)?(badsyntax_\w+|bad_coding2?|bad_coding)\.py",
)
#: Why a definition may be refused; anything else is a fault.
ALLOWED = (
    r"unsafe_change: .* the given source would drop getter",  # a property whose setter is an assignment, both replaced by one
)


@pytest.mark.parametrize("name", PACKAGES)
def test_no_definition_of_a_package_loses_a_byte(name: str) -> None:
    release = next(release for release in corpus.RELEASES if release.name == name)
    _check(_sample(corpus.python_files(corpus.fetch(release)), FILES_OF_A_PACKAGE))


@pytest.mark.parametrize("part", range(4))
def test_no_definition_of_the_standard_library_loses_a_byte(part: int) -> None:
    _check(_sample(corpus.python_files(corpus.standard_library()), FILES_OF_THE_LIBRARY)[part::4])


def test_the_sample_of_the_standard_library_has_its_tests() -> None:
    sample = _sample(corpus.python_files(corpus.standard_library()), FILES_OF_THE_LIBRARY)
    assert sum("test" in path.parts for path in sample) > FILES_OF_THE_LIBRARY // 4


@pytest.mark.parametrize("name", sorted(INDEX))
def test_no_definition_of_a_nasty_file_loses_a_byte(name: str) -> None:
    facts = INDEX[name]
    verdict = check_file(SOURCES / name)
    readable = facts["parses"] != "never" and "encoding" in facts and facts.get("lossless", True)
    assert verdict.wrong == []
    assert _not_allowed(verdict) == []
    assert (verdict.unreadable == []) is readable, verdict.unreadable


def _check(files: list[Path]) -> None:
    total = Verdict(wrong=[], refused=Counter(), unreadable=[])
    for path in files:
        total.add(check_file(path, only=DEFINITIONS_OF_A_FILE, seed=SEED))
    assert total.wrong == []
    assert _not_allowed(total) == []
    assert [line for line in total.unreadable if not _is_no_python(line)] == []
    assert total.definitions > len(files)


def _is_no_python(line: str) -> bool:
    name = line.partition(": ")[0]
    return any(part in name for part in NO_PYTHON)


def _not_allowed(verdict: Verdict) -> list[str]:
    return [reason for reason in verdict.refused if not any(re.match(allowed, reason) for allowed in ALLOWED)]


def _sample(files: list[Path], count: int) -> list[Path]:
    """Choose files by their own names, so that a file that comes or goes leaves the others chosen."""
    return sorted(files, key=lambda path: random.Random(f"{SEED}:{path.name}:{path.parent.name}").random())[:count]
