"""Every case of `extract` that changes something: the program does afterwards what it did before."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source import Source
from tests.cases.reader import Case, read
from tests.programs import run
from tests.test_cases import build

CASES = sorted((Path(__file__).parent / "cases/extract").glob("*.case"))
CHANGING = [path for path in CASES if read(path).expected.diff]


@pytest.mark.parametrize("path", CHANGING, ids=lambda path: path.stem)
def test_a_program_does_what_it_did_before_code_of_it_was_extracted(path: Path, tmp_path: Path) -> None:
    case = read(path)
    if not case.is_due:
        pytest.skip("for another Python")
    before, after = tmp_path / "before", tmp_path / "after"
    build(case, before)
    build(case, after)
    _extract(case, after)
    shown = _run(before)
    assert shown[0], "a case prints something"
    assert _run(after) == shown


def test_many_programs_are_compared() -> None:
    assert len(CHANGING) >= 70


def _extract(case: Case, root: Path) -> None:
    given = {key: value for key, value in case.request.items() if key not in ("do", "target")}
    assert Source(root).extract(case.request["target"], **given, reload="off").diff


def _run(root: Path) -> tuple[str, int, str]:
    """Return the output of a program, its status, and the last line of its errors, which have other line numbers."""
    done = run(root, "main.py")
    return done.printed, done.status, done.errors.strip().rpartition("\n")[2]
