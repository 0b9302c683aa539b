"""A line about every request: whole, bounded, local, and never a reason to fail."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.engine.measuring.telemetry import Line, Log, buckets, tokens
from bae_source.engine.measuring.usage import percentile, usage
from bae_source.errors import LookupFailed, RequestError
from tests.adapters.support import run
from tests.state_folders import state_folders

SECRET = "def f():\n    return 'hunter2'\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "m.py").write_text(SECRET)
    return tmp_path


def noted(root: Path) -> list[dict[str, object]]:
    path = root / ".bae-source" / "telemetry.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def line(**changes: object) -> Line:
    return Line(**{"request": "read", "code": "answer", "ms": 1.0, "bytes": 10, "ast_tokens": 3, **changes})  # type: ignore[arg-type]


def test_a_request_is_noted_with_what_it_took_and_nothing_of_the_code(project: Path) -> None:
    src = Source(project)
    text = src.read("m.f")
    with pytest.raises(LookupFailed):
        src.read("m.nothing")
    first, second = noted(project)
    assert set(first) == {"request", "code", "ms", "bytes", "ast_tokens", "parse"}
    assert (first["request"], first["code"], first["bytes"]) == ("read", "answer", len(text.encode()))
    assert first["ast_tokens"] == len(["def", "f", "(", ")", ":", "return", "'", "hunter2", "'"])
    assert sum(first["parse"]["5"].values()) == 1  # type: ignore[index]
    assert (second["request"], second["code"]) == ("read", "symbol_not_found")
    written = (project / ".bae-source" / "telemetry.jsonl").read_text()
    assert "hunter2" not in written
    assert str(project) not in written
    assert "nothing" not in written


def test_it_is_ignored_by_git_and_readable_by_its_owner_alone(project: Path) -> None:
    Source(project).read("m.f")
    assert (project / ".bae-source" / ".gitignore").read_text() == "*\n"
    assert (project / ".bae-source" / "telemetry.jsonl").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("word", ["0", "off", "False", "no"])
def test_the_environment_switches_it_off(project: Path, monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    monkeypatch.setenv("BAE_SOURCE_TELEMETRY", word)
    Source(project).read("m.f")
    assert not (project / ".bae-source").exists()


@pytest.mark.parametrize(
    "setting",
    ["[tool.bae-source]\ntelemetry = false\n", "[tool]\n'bae-source' = {\"t\\u0065lemetry\" = false}\n"],
)
def test_the_setting_switches_it_off(project: Path, setting: str) -> None:
    (project / "pyproject.toml").write_text(setting)
    Source(project).read("m.f")
    assert not (project / ".bae-source").exists()


def test_a_setting_that_cannot_be_read_counts_as_off(project: Path) -> None:
    Source(project).read("m.f")
    (project / "pyproject.toml").write_text("[tool.bae-source\ntelemetry = false\n")
    before = noted(project)
    with pytest.raises(Exception, match="pyproject"):
        Source(project).read("m.f")
    assert noted(project) == before


def test_a_request_that_failed_makes_no_folder(project: Path) -> None:
    with pytest.raises(RequestError):
        Source(project).read("../m")
    assert not (project / ".bae-source").exists()


def test_a_project_that_cannot_be_written_is_read_all_the_same(project: Path) -> None:
    (project / ".bae-source").write_text("a file where our folder would be")
    assert Source(project).read("m.f").startswith("def f")


def test_a_folder_that_is_deleted_is_made_again(project: Path) -> None:
    src = Source(project)
    src.read("m.f")
    subprocess.run(["rm", "-rf", str(project / ".bae-source")], check=True)
    src.read("m.f")
    assert len(noted(project)) == 1


def test_at_most_two_files_of_the_largest_size_are_kept(project: Path) -> None:
    log = Log(state_folders(project), most=2_000)
    for number in range(190):
        log.note(line(ms=float(number)))
    sizes = [path.stat().st_size for path in sorted((project / ".bae-source").glob("*.jsonl"))]
    assert len(sizes) == 2
    assert all(size <= 2_200 for size in sizes)
    times = [each.ms for each in log.lines()]
    assert times == sorted(times)
    assert times[-1] == 189.0


def test_what_is_no_line_is_skipped(project: Path) -> None:
    log = Log(state_folders(project))
    log.note(line())
    path = project / ".bae-source" / "telemetry.jsonl"
    with path.open("ab") as file:
        file.write(b'{"request": "re\nnonsense\n\xff\xfe\n[]\n')
    log.note(line(ms=2.0))
    assert [each.ms for each in log.lines()] == [1.0, 2.0]


def test_several_processes_append_whole_lines(project: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from tests.state_folders import state_folders\n"
        "from bae_source.engine.measuring.telemetry import Line, Log\n"
        "log = Log(state_folders(Path(sys.argv[1])))\n"
        "for n in range(300):\n"
        "    log.note(Line(request=sys.argv[2] * 50, code='answer', ms=n, bytes=0, ast_tokens=0))\n"
    )
    started = [subprocess.Popen([sys.executable, "-c", code, str(project), name]) for name in "abcd"]
    assert [process.wait(60) for process in started] == [0] * 4
    lines = noted(project)
    assert len(lines) == 1200
    assert {str(each["request"]) for each in lines} == {name * 50 for name in "abcd"}


def test_noting_takes_no_millisecond(project: Path) -> None:
    log = Log(state_folders(project))
    log.note(line())
    taken = []
    for _ in range(200):
        begun = time.process_time()
        log.note(line())
        taken.append(time.process_time() - begun)
    assert sorted(taken)[100] < 0.001


def test_files_are_counted_by_size_and_time() -> None:
    assert buckets([(10, 812_000), (4_999, 809_000), (5_000, 12_340_000), (200_000, 1)]) == {
        "5": {"0.81": 2}, "50": {"12": 1}, "more": {"1e-06": 1},
    }  # fmt: skip


def test_words_and_signs_are_counted_and_those_of_a_long_text_estimated() -> None:
    assert tokens("a.b(c) + 'd'") == 10
    assert tokens("ab " * 100_000) == pytest.approx(100_000, rel=0.01)


def test_the_table_has_counts_percentiles_and_whether_targets_are_met() -> None:
    lines = [line(ms=float(number), parse={"5": {"2": 95, "11": 5}}) for number in range(1, 101)]
    lines += [line(request="edit", code="stale", parse={"50": {"80": 1}, "more": {"900": 1}})]
    text = usage(lines).text.splitlines()
    assert text[1].split() == ["edit", "1", "1", "1.00", "1.00"]
    assert text[2].split() == ["read", "100", "0", "50.00", "95.00"]
    assert text[5] == "under 5 KB      10000       2.00       2.00  10 ms, met"
    assert text[6].endswith("50 ms, missed")
    assert text[7].split() == ["50", "to", "200", "KB", "0", "-", "-", "200", "ms"]
    assert text[8].endswith("none")


def test_percentiles_are_those_of_the_nearest_rank() -> None:
    assert percentile({1.0: 1, 2.0: 1, 3.0: 1, 4.0: 1}, 0.5) == 2.0
    assert percentile({1.0: 19, 9.0: 1}, 0.95) == 1.0
    assert percentile({1.0: 18, 9.0: 2}, 0.95) == 9.0
    assert percentile({}, 0.5) == 0.0


def test_the_command_line_shows_what_the_api_noted(project: Path) -> None:
    called = run("telemetry", folder=project)
    assert (called.status, called.out) == (0, b"(no requests)\n")
    Source(project).read("m.f")
    called = run("telemetry", "--json", folder=project, BAE_SOURCE_TELEMETRY="off")
    assert "read" in json.loads(called.out)["text"]
    assert "under 5 KB" in str(Source(project).telemetry())
    assert os.environ.get("BAE_SOURCE_TELEMETRY") is None
