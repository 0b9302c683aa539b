"""The measurement of edits measures what it says: three engines that make the same change."""

from __future__ import annotations

import ast
from pathlib import Path

from benchmarks.edit import FILES_OF_A_SIZE, FUNCTIONS_OF_A_FILE, chosen, measure
from tests import generated


def test_files_are_chosen_by_size_and_functions_are_spread_over_them(tmp_path: Path) -> None:
    content = generated.ten_thousand_lines()
    for number in range(5):
        cut = content.index(b"CONSTANT_20 ") if number else len(content)
        (tmp_path / f"file{number}.py").write_bytes(content[:cut])
    (tmp_path / "broken.py").write_bytes(content[:3000] + b"\n(")
    files = sorted(tmp_path.glob("*.py"))
    found = list(chosen(files, 10_000))
    assert [path.name for path, _ in found] == ["file1.py", "file2.py", "file3.py"]
    assert len(found) == FILES_OF_A_SIZE
    assert all(len(jobs) == FUNCTIONS_OF_A_FILE for _, jobs in found)
    for job in found[0][1]:
        ast.parse(job.new_source)
        assert "_added" in job.new_source


def test_each_repeat_has_the_time_of_all_three(tmp_path: Path) -> None:
    path = tmp_path / "file.py"
    path.write_bytes(generated.ten_thousand_lines()[:5_000].rpartition(b"\n\n\n")[0] + b"\n")
    ((_, jobs),) = chosen([path], 5_000)
    samples = list(measure(jobs[0], 5))
    assert len(samples) == 5
    assert all(sample.parses > 0 and sample.engine > 0 for sample in samples)
    assert [sample.libcst is not None for sample in samples] == [True, False, False, False, True]
