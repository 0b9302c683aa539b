"""Lines of a file, read by blocks of any size, are those of the whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bae_source.resources.logs import lines as of_lines
from bae_source.resources.logs.folders import Logs
from bae_source.resources.logs.lines import OpenLog, blocks, first_lines, last_lines, line_count, offset_of_line

CONTENT = st.lists(st.sampled_from([b"", b"a", b"bc", b"d" * 9, b"\r", b"\xff", b"\0"]), max_size=30).map(b"\n".join)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("lines")
    (root / "log").mkdir()
    (root / "pyproject.toml").write_text('[tool.bae-source]\nlogs = "log"\n')
    return root


@pytest.fixture(autouse=True)
def _small() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(of_lines, "BLOCK", 7)
        patch.setattr(of_lines, "SAMPLE", 5)
        yield


@settings(max_examples=300)
@given(content=CONTENT, most=st.integers(1, 12))
def test_they_are_those_of_the_whole(folder: Path, content: bytes, most: int) -> None:
    (folder / "log/a.log").write_bytes(content)
    every = content.removesuffix(b"\n").split(b"\n") if content else []
    starts = [0]
    for line in every:
        starts.append(starts[-1] + len(line) + 1)
    with OpenLog(Logs(folder, {}), "a.log") as log:
        assert line_count(log, 0, log.end) == len(every)
        found = last_lines(log, log.end, most)
        assert list(found.raw) == every[-most:]
        assert (found.start, found.end) == (starts[max(0, len(every) - most)] if every else 0, len(content))
        assert b"".join(block.raw for block in blocks(log, 0, log.end)) == content
        counted = 0
        for block in blocks(log, 0, log.end):
            assert block.first == counted
            counted += block.raw.count(b"\n")
        for number in range(1, len(every) + 1):
            start = offset_of_line(log, number, log.end)
            assert start == starts[number - 1]
            some = first_lines(log, start, log.end, most)
            assert list(some.raw) == every[number - 1 : number - 1 + most]
            assert some.end == min(starts[min(number - 1 + most, len(every))], len(content))
