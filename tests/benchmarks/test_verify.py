"""The measurement of verification counts as pytest does, and finds mutants that are let in."""

from __future__ import annotations

import fcntl
import sys
import time
from pathlib import Path

import pytest

from benchmarks.read.greps import repository
from benchmarks.read.processes import TooSlow
from benchmarks.verify import measures
from benchmarks.verify.locking import lock_of, watching
from benchmarks.verify.measures import Row
from benchmarks.verify.mutants import RAISE, End, Verdict, judged, mutants
from benchmarks.verify.projects import Change, Project, _deselect, another
from benchmarks.verify.recipes import RECIPES
from benchmarks.verify.runs import Answer, ask, suite

pytestmark = pytest.mark.sampled

CORE = '''"""Sums."""


def add(x, y):
    """Add."""
    if x:
        return x + y
    return y


def unused(x):
    if x:
        return 1
    elif not x:
        return 1
    return 2


def empty(): ...


class A:
    @property
    def size(self):
        "One."
        return 1
'''
TEST = """
import pytest

from pack.core import A, add


def test_add():
    assert add(1, 2) == add(0, 3) == 3


def test_size():
    assert A().size == 1


@pytest.mark.skip
def test_later():
    raise AssertionError
"""
ADD = Change(target="pack.core.add", old="return x + y", new="return y + x")
UNUSED = Change(target="pack.core.unused", old="return 2", new="return 3")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without_plugins: str) -> Project:
    for name in ("VIRTUAL_ENV", "PYTEST_ADDOPTS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTHONPATH", without_plugins)
    root = tmp_path / "project"
    texts = {"pack/__init__.py": "", "pack/core.py": CORE, "tests/test_core.py": TEST, "conftest.py": ""}
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "pyproject.toml").write_text(f'[tool.bae-source]\npython = "{sys.executable}"\n')
    (root / ".gitignore").write_text("__pycache__/\n.bae-source/\n.pytest_cache/\n")
    repository(root)
    return Project(root=root, python=Path(sys.executable), code=("pack",))


def test_a_suite_is_counted_by_its_outcomes_and_a_verified_change_is_measured_against_it(project: Project) -> None:
    plain, rows = measures.times(project, [ADD], rounds=1)
    assert plain.counts == {"passed": 2, "skipped": 1}
    assert plain.total == 3
    assert [row.what for row in rows] == ["plain pytest of the whole suite, s", "pack.core.add, s"]
    assert rows[1].value is not None
    assert "ran 3 of 3" in rows[1].note
    assert rows[1].limit == pytest.approx(max(1.1 * plain.seconds, plain.seconds + 0.3))
    assert (project.root / "pack/core.py").read_text() == CORE


def test_a_mutant_keeps_its_place_and_a_choice_is_repeated_by_its_seed(project: Project) -> None:
    found = mutants(project, 20, 1)
    assert found == mutants(project, 20, 1)
    assert {each.change.target for each in found} == {"pack.core.add", "pack.core.unused", "pack.core.A.size"}
    for each in found:
        compile(each.text, each.path, "exec")
        head, tail = each.text.split(RAISE)
        assert CORE.startswith(head)
        assert CORE.endswith(tail)
        assert f"{head}{RAISE}".endswith(each.change.new)


def test_both_judges_decide_on_each_mutant_and_leave_the_project_as_it_was(project: Project, tmp_path: Path) -> None:
    copy = another(project, tmp_path / "copy")
    verdicts = {each.mutant.change.target: each for each in judged(project, copy, mutants(project, 20, 1), plain=1.0)}
    assert {name: each.killed for name, each in verdicts.items()} == {
        "pack.core.add": True,
        "pack.core.unused": False,
        "pack.core.A.size": True,
    }
    assert verdicts["pack.core.add"].end is verdicts["pack.core.A.size"].end is End.REFUSED
    assert not any(each.missed for each in verdicts.values())
    assert (project.root / "pack/core.py").read_text() == CORE
    assert (copy.root / "pack/core.py").read_text() == CORE


def test_a_killed_mutant_that_is_let_in_is_missed(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = measures.edit
    monkeypatch.setattr("benchmarks.verify.mutants.edit", lambda of, change, *_: real(of, change, "--reload", "off"))
    plain = suite(project)
    shown: list[Verdict] = []
    row = measures.killed(project, tmp_path / "copy", plain, count=20, seed=1, show=shown.append)
    missed = {each.mutant.change.target for each in shown if each.missed}
    assert missed == {"pack.core.add", "pack.core.A.size"}
    assert row.value == 2
    assert not row.met


def test_a_mutant_that_our_verification_never_ends_on_is_missed(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hanging(*_: object) -> Answer:
        raise TooSlow("killed after 900 s")

    monkeypatch.setattr("benchmarks.verify.mutants.edit", hanging)
    copy = another(project, tmp_path / "copy")
    verdicts = list(judged(project, copy, mutants(project, 1, 1), plain=1.0))
    assert [(each.end, each.missed) for each in verdicts] == [(End.FAULT, True)]
    assert "killed after 900 s" in str(verdicts[0])


def test_the_longest_stretch_of_a_lock_is_seen_from_outside(project: Project) -> None:
    measures.edit(project, UNUSED, "--reload", "off")
    lock = lock_of(project)
    with watching(lock) as watched, lock.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        begun = time.perf_counter()
        time.sleep(0.4)
        taken = time.perf_counter() - begun
        fcntl.flock(file, fcntl.LOCK_UN)
        released = time.perf_counter() - begun
        time.sleep(0.1)
    assert taken - 2 * watched.pause <= watched.longest <= released
    assert watched.stretches >= 1


def test_edits_beside_verification_are_counted_and_taken_back(project: Project) -> None:
    third = Change(target="pack.core.A.size", old="return 1", new="return 1.0")
    rows = list(measures.locked(project, [ADD], third, edits=3))
    assert [row.limit for row in rows] == [0, None, 0, measures.LOCKED]
    assert all(row.value is not None for row in rows)
    assert (project.root / "pack/core.py").read_text() == CORE


def test_what_the_import_check_adds_is_measured(project: Project) -> None:
    row = measures.import_check(project, ADD, "pack.core", rounds=1)
    assert row.limit is not None
    assert row.limit > measures.IMPORT_MORE
    assert (project.root / "pack/core.py").read_text() == CORE


def test_a_verb_that_is_not_there_yet_is_no_success(project: Project) -> None:
    plain = suite(project)
    [first, *_] = measures.tests_run(project, plain, rounds=1)
    assert first.met == (ask(project, "tests", "run").code != "unknown_operation")
    assert not Row(what="x", value=None, limit=0).met


def test_tests_are_deselected_in_the_options_that_are_there(tmp_path: Path) -> None:
    settings = tmp_path / "pyproject.toml"
    for given, expected in (('"-ra"', '"--deselect=a.py::b -ra"'), ('["-ra"]', '["--deselect=a.py::b", "-ra"]')):
        settings.write_text(f"[tool.pytest.ini_options]\naddopts = {given}\n")
        _deselect(settings, ["a.py::b"])
        assert settings.read_text() == f"[tool.pytest.ini_options]\naddopts = {expected}\n"


def test_every_requirement_is_pinned_and_every_target_differs() -> None:
    for recipe in RECIPES:
        lines = recipe.requirements.read_text().split()
        assert lines
        assert all("==" in line for line in lines)
        assert len({each.target for each in (recipe.rare, recipe.central, recipe.third)}) == 3
