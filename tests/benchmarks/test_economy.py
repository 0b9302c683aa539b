"""The measurement of everyday tasks counts by its rules, and tells what does not hold."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec import structs

from benchmarks.economy import __main__ as economy
from benchmarks.economy.counting import Call, Count, counted, not_new, not_spelled, subtracted
from benchmarks.economy.model import WAYS, Given, Shell, Step, Task, Tool, Way
from benchmarks.economy.places import prepare
from benchmarks.economy.report import Result, missed, sums, table
from benchmarks.economy.tasks import TASKS
from benchmarks.economy.ways import Broken, command
from benchmarks.read.greps import repository
from benchmarks.verify.projects import Project

pytestmark = pytest.mark.sampled

CORE = 'def add(x, y):\n    """Add."""\n    return x - y\n'
TEST = "from app.core import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
NEW = "return x + y"
TASK = Task(
    number=1,
    title="sum",
    statement="app.core.add subtracts.",
    package="app",
    spelled=(NEW,),
    tests=("tests",),
    given=(Given("app/core.py", "x - y", "x * y"),),
    plain=(Shell("sed -n 1,3p app/core.py"), Shell(f"sed -i 's/return x . y/{NEW}/' app/core.py")),
    cli=(
        Shell("bae-source read app.core.add"),
        Shell(f"bae-source edit app.core.add --old 'return x * y' --new '{NEW}' && echo done"),
    ),
    mcp=(
        Tool("read", {"target": "app.core.add"}),
        Tool("edit", {"target": "app.core.add", "old": "return x * y", "new": NEW}),
    ),
    facts=('"""Add."""',),
)


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    return command(tmp_path / "bin")


def fresh(task: Task, root: Path) -> Project:
    for name, text in {
        "app/__init__.py": "",
        "app/core.py": CORE,
        "tests/test_core.py": TEST,
        "pyproject.toml": '[project]\nname = "app"\nversion = "1"\n[tool.pytest.ini_options]\npythonpath = ["."]\n',
        ".gitignore": "__pycache__/\n.pytest_cache/\n.bae-source/\n",
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    repository(root)
    prepare(task, root)
    return Project(root=root, python=Path(sys.executable), code=("app",))


def done(task: Task, folder: Path, ours: Path, ways: Sequence[Way] = WAYS) -> Result:
    return economy.done(task, ways, folder, ours, fresh=fresh)


def test_what_is_typed_is_counted_without_new_source_and_what_is_answered_whole(tmp_path: Path, ours: Path) -> None:
    counts = done(TASK, tmp_path, ours).counts
    assert [count.calls for count in counts.values()] == [2, 2, 2]
    assert counts["plain"].written == len("sed -n 1,3p app/core.py") + len("sed -i 's/return x . y//' app/core.py")
    assert counts["plain"].read == len(CORE)
    edit = "bae-source edit app.core.add --old 'return x * y' --new '' && echo done"
    assert counts["cli"].written == len("bae-source read app.core.add") + len(edit)
    arguments = '{"target":"app.core.add","old":"return x * y","new":""}'
    assert counts["mcp"].written == len('read {"target":"app.core.add"}') + len("edit ") + len(arguments)
    assert min(counts["cli"].read, counts["mcp"].read) > len(CORE)
    assert min(count.seconds for count in counts.values()) > 0


def test_lines_are_subtracted_once_and_without_their_indentation() -> None:
    assert subtracted(("if x:\n        return y\n\n", "z")) == len("if x:") + len("return y") + 1
    call = Call(step=Shell("sed s/a/z/"), answer="12345", seconds=2)
    task = structs.replace(TASK, spelled=("z",))
    assert counted(task, [call, call]) == Count(calls=2, written=19, read=10, seconds=4)


def test_json_is_counted_with_its_escapes() -> None:
    assert Tool("write", {"source": 'é = "a"\n'}).typed == 'write {"source":"é = \\"a\\"\\n"}'


def test_new_source_that_a_way_does_not_write_is_not_subtracted(tmp_path: Path, ours: Path) -> None:
    task = structs.replace(TASK, spelled=(NEW, "something else"))
    assert not_spelled(task, "cli") == ["something else"]
    assert not_new(TASK, "-return x + y\n+    return x - y\n") == [NEW]
    with pytest.raises(Broken, match=r"does not spell.*something else"):
        done(task, tmp_path, ours)
    written_but_not_new = structs.replace(
        TASK, spelled=("app.core.add",), plain=(*TASK.plain, Shell("echo app.core.add"))
    )
    with pytest.raises(Broken, match="does not add"):
        done(written_but_not_new, tmp_path / "other", ours)


def test_trees_that_differ_by_a_blank_are_distinguished_by_their_diffs(tmp_path: Path, ours: Path) -> None:
    edit = Shell(f"bae-source edit app.core.add --old 'return x * y' --new '{NEW}  # sum'")
    with pytest.raises(Broken, match=r"(?s)trees differ.*\+\+\+ cli.*return x \+ y  # sum"):
        done(structs.replace(TASK, cli=(TASK.cli[0], edit)), tmp_path, ours)


@pytest.mark.parametrize(
    ("way", "step", "expected"),
    [
        ("plain", Shell("grep nothing app/core.py"), "ended with 1"),
        ("cli", Shell("bae-source read app.core.none"), "ended with 3"),
        ("mcp", Tool("read", {"target": "app.core.none"}), "is refused"),
    ],
)
def test_a_step_that_fails_ends_it(tmp_path: Path, ours: Path, way: Way, step: Step, expected: str) -> None:
    with pytest.raises(Broken, match=expected):
        done(structs.replace(TASK, **{way: (step,)}), tmp_path, ours, [way])


def test_a_way_that_has_not_seen_what_it_needs_is_named(tmp_path: Path, ours: Path) -> None:
    with pytest.raises(Broken, match=r"plain: it has not read.*Add"):
        done(structs.replace(TASK, plain=TASK.plain[1:]), tmp_path, ours)


def test_missed_goals_broken_tasks_and_red_tests_have_their_statuses(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def status(task: Task, *words: str) -> int:
        return economy.main(words, tasks=(task,), fresh=fresh)

    long = structs.replace(
        TASK, plain=(*TASK.plain, Shell("sed -n 1,3p app/core.py;" * 99), Shell("ls # " + "x" * 999))
    )
    assert status(long, "--way", "plain", "--way", "cli") == 0
    assert "all goals are met" in capsys.readouterr().out
    assert status(TASK, "--way", "plain", "--way", "cli") == economy.MISSED
    assert "task 1, cli: read" in capsys.readouterr().out
    wrong = structs.replace(TASK, plain=(*TASK.plain, Shell("sed -i s/+/-/ app/core.py && echo 'return x - y'")))
    wrong = structs.replace(wrong, spelled=(), facts=())
    assert status(wrong, "--way", "plain") == economy.BROKEN
    assert "ended with 1" in capsys.readouterr().err


def test_a_transcript_shows_what_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    economy.main(["--show", "1"], tasks=(TASK,), fresh=fresh)
    out = capsys.readouterr().out
    assert f"[plain, call 1: 23 written, {len(CORE)} read]\n$ sed -n 1,3p app/core.py\n  | def add(x, y):" in out
    assert '>>> edit {"target":"app.core.add"' in out
    assert "tools/list" in out


def test_goals_are_ratios_to_the_plain_way() -> None:
    def count(calls: int, written: int, read: int) -> Count:
        return Count(calls=calls, written=written, read=read, seconds=1)

    one = Result(task=TASK, counts={"plain": count(2, 100, 1000), "cli": count(1, 121, 500)})
    two = Result(task=structs.replace(TASK, number=2), counts={"plain": count(2, 300, 1000), "cli": count(2, 80, 900)})
    assert missed([one, two]) == [
        "task 1, cli: written 1.21 of plain, at most 1.2",
        "sum, cli: calls 0.75 of plain, at most 0.7",
    ]
    assert list(table(one))[-1].split() == ["cli", "/", "plain", "0.50", "1.21", "0.50"]
    assert list(sums([one, two]))[-1].split() == ["cli", "/", "plain", "0.75", "0.50", "0.70"]


def test_there_are_twelve_tasks_and_every_way_spells_what_is_subtracted() -> None:
    assert [task.number for task in TASKS] == list(range(1, 13))
    assert {task.package for task in TASKS} == {"httpx", "marshmallow", "starlette"}
    for task in TASKS:
        for way in WAYS:
            assert not not_spelled(task, way), (task.number, way)
            assert not any(isinstance(step, Tool) for step in task.steps(way)) or way == "mcp"
