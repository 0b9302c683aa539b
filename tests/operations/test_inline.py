"""Programs do the same before and after an inlining, and a refused one leaves every byte as it is.

The cases of `tests/cases/inline` that have a `run.py` are laid out and run, changed and run again. Their diffs are
compared where all cases are.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import ResourceError
from tests.cases.reader import Case, read
from tests.programs import run
from tests.test_cases import build

CASES = sorted((Path(__file__).parent.parent / "cases" / "inline").glob("*.case"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_program_does_the_same_as_before(path: Path, tmp_path: Path) -> None:
    case, root = read(path), tmp_path / "project"
    build(case, root)
    before = run(root, "run.py")
    assert before.status == 0
    is_made = _inlined(case, root)
    assert is_made is (case.expected.diff is not None)
    assert run(root, "run.py") == before
    if not is_made:
        assert {name: (root / name).read_bytes() for name in case.files} == {
            name: file.content for name, file in case.files.items()
        }


def test_every_case_runs_a_program() -> None:
    assert len(CASES) >= 70
    assert all("run.py" in read(path).files for path in CASES)


def _inlined(case: Case, root: Path) -> bool:
    """Make the change of a case, and say whether it was made."""
    request = {key: value for key, value in case.request.items() if key not in ("do", "target")}
    try:
        Source(root).inline(case.request["target"], **request, reload="off")  # type: ignore[arg-type]
    except ResourceError:
        return False
    return True


def test_a_draft_that_would_change_nothing_without_its_unsure_place_is_not_offered_so(tmp_path: Path) -> None:
    text = "def f(rows):\n    count = len(rows)\n    rows.clear()\n    return count\n"
    (tmp_path / "core.py").write_text(text)
    with pytest.raises(ResourceError) as caught:
        Source(tmp_path).inline("core.f.count")
    offered = [each for each in caught.value.hints if each.startswith("commit(")]
    assert len(offered) == 1
    assert 'unsure="change"' in offered[0]
    assert (tmp_path / "core.py").read_text() == text


def test_imports_that_a_later_change_takes_back_are_not_spoken_of(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("import math\n\n\ndef area(r):\n    return math.pi * r * r + 1\n")
    (tmp_path / "geo.py").write_text("")
    before = (tmp_path / "app.py").read_text()
    extract = {"do": "extract", "target": "app.area", "as_name": "disc", "code": "math.pi * r * r", "kind": "function"}
    inline = {"do": "inline", "target": "geo.disc"}
    done = Source(tmp_path).apply([{**extract, "to_module": "geo"}, inline], reload="off")
    assert (tmp_path / "app.py").read_text() == before
    assert (tmp_path / "geo.py").read_text() == "import math\n"
    assert list(done.warnings) == []
    assert "; ;" not in done.text
