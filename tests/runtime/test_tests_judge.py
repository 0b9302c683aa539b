"""Planned changes judged by tests in a copy of the project, with the change and without it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import pytest
from msgspec.structs import replace

from bae_source.errors import TransactionError
from bae_source.model.outcome import Check, Notice
from bae_source.model.plan import Plan
from bae_source.project.files.port import Disk
from bae_source.project.workspace import Workspace
from bae_source.reloading.child.import_check import Setting
from bae_source.reloading.child.interpreter import Interpreter
from bae_source.verification import tests_judge
from bae_source.verification.affected import chosen_tests
from bae_source.verification.judge import Copied, NotInCopy
from bae_source.verification.tests_judge import TestsJudge
from tests.checks.support import changes
from tests.runtime.judging import files as files_of
from tests.runtime.judging import messages, verified
from tests.state_folders import state_folders

pytestmark = pytest.mark.sampled

Texts = Mapping[str, str | None]
FILES = {
    "pyproject.toml": "[tool.pytest.ini_options]\n",
    "app/__init__.py": "",
    "app/core.py": "def f():\n    return 1\n\n\ndef other():\n    return 5\n",
    "tests/test_core.py": "import app.core\n\ndef test_f():\n    assert app.core.f() == 1\n\ndef test_g():\n    pass\n",
    "tests/test_far.py": "".join(f"def test_{number}():\n    pass\n\n" for number in range(8)),
}


class Noting(Copied):
    """A copy that notes what it was to hold."""

    def planned(self) -> Setting:
        self.calls.append("planned")
        return super().planned()

    def present(self) -> Setting:
        self.calls.append("present")
        return super().present()

    @cached_property
    def calls(self) -> list[str]:
        return []


class Project:
    """A project on the disk, and changes of it that are judged."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.root = folder / "project"
        self.folder = folder
        self.setting = Setting(
            root=self.root,
            source_roots=("",),
            interpreter=Interpreter(path=sys.executable, origin="sys.executable"),
            environment=environment,
            time_limit=60.0,
        )
        self.calls: list[str] = []
        self.meanwhile = True
        for path, text in FILES.items():
            self.write(path, text)

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def judge(self, new: Texts, *changed: str) -> tuple[Notice | Check, ...]:
        """Judge a change of whole files; nothing of the project may be changed by that."""
        was = files_of(self.root)
        before = Workspace(Disk(self.root))
        texts = {path: content.decode() for path, content in was.items()}
        made = changes(texts, new)
        modules = [before.layout.module_at(path) for path in new]
        plan = Plan(
            changes=made,
            changed=changed,
            modules=tuple(module for module in modules if module is not None),
            summary="A change.",
        )
        planned = {path: None if text is None else text.encode() for path, text in new.items()}
        with Noting(state_folders(self.root), self.setting, planned) as place:
            try:
                after = before.after(made)
                judge = TestsJudge(
                    lambda whole: chosen_tests(before, after, plan, whole=whole),
                    plan.modules,
                    meanwhile=self.meanwhile,
                )
                return judge.judge(place)
            finally:
                self.calls = place.calls
                assert files_of(self.root) == was

    def refusal(self, new: Texts, *changed: str) -> TransactionError:
        with pytest.raises(TransactionError) as caught:
            self.judge(new, *changed)
        error = caught.value
        assert error.message.endswith("; nothing was written.")
        for text in (error.message, *error.hints, *error.candidates, str(error.details)):
            assert str(self.folder) not in text, "no paths"
        return error


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path, dict(os.environ))


def core(body: str) -> Texts:
    return {"app/core.py": FILES["app/core.py"].replace("return 1", body)}


def test_one_run_of_the_affected_tests_judges_a_change_that_holds(project: Project) -> None:
    found = project.judge(core("return 2 - 1"), "app.core.f")
    check = Check(name="tests", result="passed", counts=_counts(passed=2), detail="2 passed")
    assert found == (check,), "test_core is named after the module, so that all of it is run"
    assert project.calls == ["planned"]


def _counts(**given: int) -> dict[str, int]:
    return {"passed": 0, "failed": 0, "failed_before": 0, "skipped": 0, **given}


def test_a_test_that_fails_is_reported_with_its_place_and_frames(project: Project) -> None:
    error = project.refusal(core("return 2"), "app.core.f")
    assert (error.code, error.candidates) == ("verify_failed", ("tests.test_core.test_f",))
    assert error.message.startswith("tests.test_core.test_f fails with the change: tests.test_core.test_f (at tests.")
    [failed] = error.details["failed"]
    assert failed["at"] == "tests.test_core:4"
    assert "tests.test_core:4 in test_f" in failed["report"]
    assert project.calls == ["planned", "present", "planned"]


def test_a_test_that_failed_before_is_reported_and_not_blamed_and_is_no_skipped_test(project: Project) -> None:
    text = FILES["tests/test_core.py"].replace("    pass", "    assert app.core.f() > 5")
    skipped = "\nimport pytest\n@pytest.mark.skip\ndef test_s():\n    app.core.f()\n"
    project.write("tests/test_core.py", text + skipped)
    project.write("tests/test_bad.py", "import app.core, nowhere\n\ndef test_x():\n    app.core.f()\n")
    found = project.judge(core("return 2 - 1"), "app.core.f")
    assert found[-1] == Check(
        name="tests",
        result="failed_before",
        counts=_counts(passed=1, failed_before=2, skipped=1),
        detail="1 passed, 1 skipped, 2 failed before",
    )
    [message] = messages(found)
    assert message.startswith("tests.test_bad, tests.test_core.test_g failed before the change, too: ModuleNotFound")
    error = project.refusal(core("return 2"), "app.core.f")
    assert error.candidates == ("tests.test_core.test_f",)


def test_a_new_test_has_no_excuse(project: Project) -> None:
    new = {
        "tests/test_new.py": "def test_new():\n    assert 0\n",
        "tests/test_core.py": FILES["tests/test_core.py"] + "\ndef test_h():\n    1 / 0\n",
    }
    error = project.refusal(new, "tests.test_new.test_new", "tests.test_core.test_h")
    assert sorted(error.candidates) == ["tests.test_core.test_h", "tests.test_new.test_new"]


def test_a_file_that_cannot_be_collected_any_more_is_red(project: Project) -> None:
    error = project.refusal({"app/core.py": "import nowhere\n"}, "app.core.f")
    assert error.candidates == ("tests.test_core",)
    assert "No module named 'nowhere'" in str(error.details)


def test_a_conftest_that_fails_is_blamed_with_the_change_and_forgiven_without(project: Project) -> None:
    error = project.refusal({"conftest.py": "1 / 0\n"}, "conftest.x")
    assert "The tests cannot be run with the change: the run: ZeroDivisionError: division by zero" in error.message
    project.write("conftest.py", "1 / 0\n")
    found = project.judge(core("return 2 - 1"), "app.core.f")
    assert messages(found)[0] == "The tests failed before the change, too: ZeroDivisionError: division by zero"
    assert found[-1] == Check(
        name="tests", result="not_run", detail="the tests cannot be run: ZeroDivisionError: division by zero"
    )


def test_a_test_that_hangs_is_timed_out_and_one_that_ends_its_interpreter_fails(project: Project) -> None:
    project.setting = replace(project.setting, time_limit=4.0)
    error = project.refusal(core("import time; time.sleep(600)"), "app.core.f")
    assert (error.code, error.candidates) == ("timed_out", ("tests.test_core.test_f",))
    project.setting = replace(project.setting, time_limit=60.0)
    error = project.refusal(core("raise TimeoutError('it took longer than 3 seconds')"), "app.core.f")
    assert error.code == "verify_failed"
    error = project.refusal(core("import os; os._exit(3)"), "app.core.f")
    assert (error.code, error.candidates) == ("verify_failed", ("tests.test_core.test_f",))
    assert "ended the interpreter (status 3)" in error.message


def test_the_whole_suite_is_run_where_most_tests_are_affected_and_none_is_reported_as_left_out(
    project: Project,
) -> None:
    body = "import app.core\n\n" + "".join(f"def test_{n}():\n    app.core.f()\n\n" for n in range(8))
    project.write("tests/test_far.py", body)
    project.write("tests/test_aside.py", "def test_a():\n    pass\n")
    found = project.judge(core("return 2 - 1"), "app.core.f")
    assert (verified(found), messages(found)) == ("tests (11 passed)", [])


def test_tests_that_there_was_no_time_for_are_named_and_nothing_else_is(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tests_judge, "REST", 0.0)
    body = "import app.core\n\n" + "".join(f"def test_{n}():\n    app.core.f()\n\n" for n in range(8))
    project.write("tests/test_far.py", body)
    project.write("tests/test_aside.py", "".join(f"def test_{n}():\n    pass\n\n" for n in range(4)))
    found = project.judge(core("return 2 - 1"), "app.core.f")
    [message] = messages(found)
    start = "complete: false; 2 more tests may be concerned, and were not run for lack of time: "
    assert message == f"{start}tests.test_aside.test_2, tests.test_aside.test_3."
    assert verified(found) == "tests (12 passed)"


def test_where_no_test_reaches_the_change_none_is_run(project: Project) -> None:
    (project.root / "tests/test_core.py").unlink()
    found = project.judge(core("return 2"), "app.core.f")
    assert found[-1] == Check(name="tests", result="not_run", detail="no test reaches what changed")
    assert project.calls == ["planned"], "a child loads pytest meanwhile"
    project.meanwhile = False
    assert project.judge(core("return 2"), "app.core.f") == found
    assert project.calls == []


ORDERED = (
    "import app.core\nSEEN = []\n\ndef test_first():\n    SEEN.append(app.core.f())\n\n"
    "def test_second():\n    assert not SEEN\n"
)


def test_a_test_that_fails_by_the_order_of_tests_alone_is_compared_in_the_same_order(project: Project) -> None:
    project.write("tests/test_core.py", ORDERED)
    found = project.judge(core("return 2 - 1"), "app.core.f")
    assert found[-1] == Check(
        name="tests",
        result="failed_before",
        counts=_counts(passed=1, failed_before=1),
        detail="1 passed, 1 failed before",
    )
    assert project.calls == ["planned", "present", "planned", "present"]


def test_without_pytest_nothing_is_judged_and_it_is_reported_what_to_install(project: Project) -> None:
    python = project.folder / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E "$@"\n')
    python.chmod(0o755)
    named = {str(python): "pytest is not installed", "no-such-python": "does not start"}
    for path, problem in named.items():
        project.setting = replace(project.setting, interpreter=Interpreter(path=path, origin="here"))
        error = project.refusal(core("return 2"), "app.core.f")
        assert error.code == "verify_failed"
        assert problem in error.message


def test_a_run_that_loads_the_tree_in_place_of_the_shadow_is_no_judgement(project: Project) -> None:
    load = f"import sys\nsys.path.insert(0, {str(project.root)!r})\n"
    project.write("tests/test_core.py", load + FILES["tests/test_core.py"])
    with pytest.raises(NotInCopy, match=r"its tests load app, app\.core of the project itself"):
        project.judge(core("return 2 - 1"), "app.core.f")


def test_a_test_that_depends_on_the_name_of_its_folder_passes_in_a_copy(project: Project) -> None:
    text = "\nimport pathlib\n\ndef test_name():\n    assert pathlib.Path(__file__).parents[1].name == 'project'\n"
    project.write("tests/test_core.py", FILES["tests/test_core.py"] + text)
    found = project.judge(core("return 2 - 1"), "app.core.f")
    assert verified(found) == "tests (3 passed)"
