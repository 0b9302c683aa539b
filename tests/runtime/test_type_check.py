"""A type checker judges a change by what is new: real mypy, real ty, on small projects."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from bae_source.system.programs import find_program
from bae_source.verification.judge import NotInCopy
from bae_source.verification.type_check import Located, TypeCheck, new_errors
from bae_source.verification.type_checkers import CHECKERS
from tests.runtime.judging import judge, messages, refusal, verified
from tests.runtime.support import Trial, codes

CORE = "def f() -> int:\n    return 1\n"
BAD = 'def g() -> int:\n    return "x"\n'


class ByLine:
    """Places for modules of which each function is two lines long: `app.core.f` is on the first two, and so on."""

    def __init__(self, before: str, after: str) -> None:
        self._before = before
        self._after = after

    def before(self, path: str, line: int) -> str:
        return self._at(path, line, self._before)

    def after(self, path: str, line: int) -> str:
        return self._at(path, line, self._after)

    def was(self, address: str) -> bool:
        return f"def {address.rpartition('.')[2]}(" in self._before

    def will_be(self, address: str) -> bool:
        return f"def {address.rpartition('.')[2]}(" in self._after

    def _at(self, path: str, line: int, text: str) -> str:
        above = [each for each in text.splitlines()[:line] if each.startswith("def ")]
        module = path.removesuffix(".py").replace("/", ".")
        return f"{module}.{above[-1][4:].partition('(')[0]}" if above else module


@pytest.fixture
def project(trial: Trial) -> Trial:
    trial.write("app/core.py", CORE)
    return trial


def check(project: Trial, name: str, new: str, *, files: Sequence[str] | None = ("app/core.py",)) -> TypeCheck:
    program = find_program(name, sys.executable, os.environ["PATH"])
    assert program is not None, f"{name} belongs to the tests' requirements"
    before = (project.root / "app/core.py").read_text()
    places = ByLine(before, new)
    return TypeCheck(CHECKERS[name], program, [project.module("app/core.py")], files=files, places=places)


def change(project: Trial, name: str, new: str) -> str:
    return verified(judge(project, check(project, name, new), {"app/core.py": new}))


def test_a_new_error_is_refused_by_the_address_and_old_ones_are_counted(project: Trial) -> None:
    project.write("app/core.py", BAD + CORE)
    assert change(project, "ty", f"X = 1\n\n{BAD}{CORE}") == "types (ty, 1 error there before)"
    new = f"X = 1\n\n{BAD}" + 'def f() -> int:\n    return "y"\n'
    error = refusal(project, check(project, "ty", new), {"app/core.py": new})
    assert error.code == "verify_failed"
    assert error.message.startswith("ty finds a new error with the change: app.core.f: line 6: ")
    assert error.candidates == ("app.core.f",)
    assert [each["line"] for each in error.details["new"]] == [6]


def test_mypy_sees_an_edit_of_the_same_size_in_the_same_second_and_blames_no_old_error(project: Trial) -> None:
    before, new = f"{BAD}{CORE}", f"{BAD}def f() -> str:\n    return 1\n"
    project.write("app/core.py", before)
    os.utime(project.root / "app/core.py", (1_700_000_000, 1_700_000_000))
    for _ in range(2):  # the second time with what mypy kept of the first
        error = refusal(project, check(project, "mypy", new), {"app/core.py": new})
        assert "app.core.f: line 4" in error.message
        assert error.candidates == ("app.core.f",)
        assert verified(judge(project, check(project, "mypy", before), {"app/core.py": before})).startswith("types")
    assert not (project.root / ".mypy_cache").exists()


def test_a_file_that_the_change_makes_is_checked_and_one_that_it_deletes_is_not_asked_for(project: Trial) -> None:
    program = find_program("ty", sys.executable, os.environ["PATH"])
    assert program
    module = project.module("app/new.py")
    made = TypeCheck(CHECKERS["ty"], program, [module], files=["app/new.py"], places=ByLine("", ""))
    assert refusal(project, made, {"app/new.py": 'x: int = ""\n'}).candidates == ("app.new",)
    log = project.root.parent / "log"
    gone = bad(project, f'echo "$@" >> {log}', files=["app/core.py", "app/__init__.py"])
    judge(project, gone, {"app/core.py": None})
    first, second = log.read_text().splitlines()
    assert first.endswith(" ./app/core.py ./app/__init__.py")
    assert second.endswith(" ./app/__init__.py")
    assert "core" not in second


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (["m.f int"], ["m.f int"], []),
        (["m.f int"], ["m.f int", "m.f int"], ["m.f int"]),
        (["m.f int"], ["m.f str"], ["m.f str"]),
        (["m.f int"], ["m.g int"], ["m.g int"]),
        (["m.old int"], ["m.new int"], []),
        (["m.old int"], ["m.new int", "m.new int"], ["m.new int"]),
        (["m.old int"], ["m.f int"], ["m.f int"]),
        (["m.f int"], ["m.new int"], ["m.new int"]),
        (["m.f on line 3"], ["m.f on line 4"], []),
        ([], [], []),
        (["m.f int"], [], []),
    ],
)
def test_what_is_new(before: list[str], after: list[str], expected: list[str]) -> None:
    """`f` and `g` are there before and after, `old` only before, `new` only after."""
    places = ByLine("def f(): def g(): def old():", "def f(): def g(): def new():")
    assert [str_of(each) for each in new_errors(map(made, before), map(made, after), places)] == expected


def made(text: str) -> Located:
    address, _, message = text.partition(" ")
    return Located(address, "code", message, 1)


def str_of(error: Located) -> str:
    return f"{error.address} {error.message}"


def script(project: Trial, text: str) -> str:
    """Make a program that stands for a checker which behaves badly."""
    file = project.write("bin/checker", f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return str(file)


def bad(project: Trial, text: str, files: Sequence[str] | None = None) -> TypeCheck:
    modules = [project.module("app/core.py")]
    return TypeCheck(CHECKERS["mypy"], script(project, text), modules, files=files, places=ByLine(CORE, CORE))


def test_a_checker_that_fails_before_the_change_cannot_judge_it_and_says_so(project: Trial) -> None:
    found = judge(
        project, bad(project, f"echo {project.root}/app/core.py:1: no plugin >&2; exit 2"), {"app/core.py": CORE}
    )
    assert codes(found) == ["types_not_compared"]
    assert messages(found)[0].endswith("app.core:1: no plugin")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "echo 'Traceback (most recent call last):' >&2; echo 'No module named mypy' >&2; exit 1",
            "No module named mypy",
        ),
        ("echo lost; exit 1", "lost"),
        ("exit 1", "it ended with status 1"),
        ("exit 127", "it ended with status 127"),
        ("kill -9 $$", "it ended with signal 9"),
    ],
)
def test_a_checker_that_ends_without_an_error_in_its_output_has_checked_nothing(
    project: Trial, text: str, expected: str
) -> None:
    found = judge(project, bad(project, text), {"app/core.py": CORE})
    assert codes(found) == ["types_not_compared"]
    assert messages(found)[0].endswith(f": {expected}")
    only_after = f"grep -q new app/core.py || exit 0; {text}"
    error = refusal(project, bad(project, only_after), {"app/core.py": "new = 1\n"})
    assert (error.code, expected in error.message) == ("verify_failed", True)


def test_warnings_that_count_by_the_projects_settings_are_no_failure_of_the_checker(project: Trial) -> None:
    project.write("pyproject.toml", "[tool.ty.rules]\nall = 'warn'\n[tool.ty.terminal]\nerror-on-warning = true\n")
    project.write("app/core.py", BAD + CORE)
    assert change(project, "ty", f"X = 1\n{BAD}{CORE}") == "types (ty)"


def test_with_nothing_to_check_nothing_is_run(project: Trial) -> None:
    assert verified(judge(project, bad(project, "exit 9", files=[]), {"data.txt": "x"})) == "types (mypy)"


def test_files_that_do_not_go_together_are_left_out(project: Trial) -> None:
    text = "case $* in *other*) echo Two >&2; exit 2;; esac; grep -q new app/core.py || exit 0"
    text += "; echo app/core.py:1: error: E; exit 1"
    checker = bad(project, text, files=["app/core.py", "other/core.py"])
    assert refusal(project, checker, {"app/core.py": "new = 1\n"}).candidates == ("app.core.f",)


def test_a_checker_that_fails_in_a_copy_alone_cannot_judge_there(project: Trial) -> None:
    checker = bad(project, "case $PWD in *shadow*) echo far from home >&2; exit 2;; esac")
    with pytest.raises(NotInCopy, match="checks the project and not a copy of it: far from home"):
        judge(project, checker, {"app/core.py": CORE})


def test_a_checker_that_fails_only_after_it_refuses(project: Trial) -> None:
    text = "grep -q new app/core.py && { echo boom >&2; exit 2; }; exit 0"
    error = refusal(project, bad(project, text), {"app/core.py": "new = 1\n"})
    assert "boom" in error.message


def test_a_checker_that_hangs_is_stopped_before_anything_is_written(project: Trial) -> None:
    assert refusal(project, bad(project, "exec sleep 600"), {"app/core.py": CORE}, time_limit=0.2).code == "timed_out"


def test_a_checker_that_cannot_be_started_is_reported(project: Trial) -> None:
    none = TypeCheck(CHECKERS["ty"], str(project.root / "none"), [], files=None, places=ByLine("", ""))
    assert "cannot check the project" in refusal(project, none, {"app/core.py": CORE}).message


def test_what_the_checkers_print_is_understood() -> None:
    pyright = (
        'No configuration file found.\n{"generalDiagnostics": ['
        '{"file": "/p/a.py", "severity": "error", "message": "Bad\\n  more", "rule": "reportX",'
        ' "range": {"start": {"line": 1, "character": 0}}},'
        '{"file": "/p/a.py", "severity": "warning", "message": "w", "range": {"start": {"line": 1}}},'
        '{"file": "/p/b.py", "severity": "error", "message": "no place"}]}'
    )
    pyrefly = (
        '{"errors": [{"line": 3, "path": "a.py", "name": "bad-x", "concise_description": "Bad", "severity": "error"}]}'
    )
    mypy = 'a b.py:2: error: Bad "[x]"  [x-y]\na.py:3:7: error: No code\na.py:4: note: Hint\nnoise\n'
    assert shown("pyright", pyright) == [("/p/a.py", 2, "reportX", "Bad"), ("/p/b.py", 1, "", "no place")]
    assert shown("pyrefly", pyrefly) == [("a.py", 3, "bad-x", "Bad")]
    assert shown("mypy", mypy) == [("a b.py", 2, "x-y", 'Bad "[x]"'), ("a.py", 3, "", "No code")]
    assert shown("ty", "a.py:2:1: error[a-b] Bad\na.py:3:1: warning[c] w\n") == [("a.py", 2, "a-b", "Bad")]
    for text in ("", "[]", '{"other": 1}', "not json"):
        with pytest.raises(ValueError):
            CHECKERS["pyright"].read(text)


def shown(name: str, output: str) -> list[tuple[str, int, str, str]]:
    return [(each.path, each.line, each.code, each.message) for each in CHECKERS[name].read(output)]


def test_a_checker_is_found_beside_the_interpreter_and_then_on_the_path(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mypy").write_text("#!/bin/sh\n")
        (tmp_path / folder / "mypy").chmod(0o755)
    python, path = str(tmp_path / "one/python"), str(tmp_path / "two")
    assert find_program("mypy", python, path) == str(tmp_path / "one/mypy")
    shutil.rmtree(tmp_path / "one")
    assert find_program("mypy", python, path) == str(tmp_path / "two/mypy")
    assert find_program("mypy", "python", "") is None
    assert find_program("ty", python, path) is None
