"""The one door: what it re-checks, and what it does when somebody else writes at the same time."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bae_source.engine.changing import Changing
from bae_source.engine.registry import request
from bae_source.engine.service import COMMANDS, REQUESTS, Context, Service, find_root
from bae_source.errors import HistoryError, LookupFailed, Refused, RequestError, SourceError
from bae_source.model.request import parameters
from bae_source.refactoring.edit import Edit

SOURCE = "def f():\n    return 1\n\n\ndef g():\n    return 2\n"
OFF = Context(reload="off")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "m.py").write_text(SOURCE)
    return tmp_path


def service(project: Path) -> Service:
    return Service(project, environment={**os.environ, "PATH": "/usr/local/bin:/usr/bin:/bin", "USER": "me"})


def files(project: Path) -> dict[Path, bytes]:
    """What is the user's: our own state left out."""
    found = (path for path in project.rglob("*") if path.is_file() and ".bae-source" not in path.parts)
    return {path: path.read_bytes() for path in found}


def meanwhile(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], None], *, times: int = 1) -> list[int]:
    """Let something happen between planning and committing, the first `times` times."""
    commits: list[int] = []
    original = Changing.commit

    def disturbed(self: Changing, *given: Any, **named: Any) -> Any:
        commits.append(1)
        if len(commits) <= times:
            happens()
        return original(self, *given, **named)

    monkeypatch.setattr(Changing, "commit", disturbed)
    return commits


def test_a_struct_that_was_not_parsed_is_parsed_at_the_door(project: Path) -> None:
    with pytest.raises(RequestError) as caught:
        service(project).run(Edit(target=3, new_source=["no"]))  # type: ignore[arg-type]
    assert caught.value.code == "invalid_arguments"
    assert {"target", "new_source"} <= {problem.partition(":")[0] for problem in caught.value.details["problems"]}


def test_an_unknown_verb_is_answered_with_those_there_are() -> None:
    with pytest.raises(RequestError) as caught:
        request("refactor", {})
    assert caught.value.code == "unknown_operation"
    assert all(kind.verb in caught.value.hints[-1] for kind in REQUESTS)


def test_every_parameter_of_every_request_has_help() -> None:
    for kind in REQUESTS:
        assert (kind.__doc__ or "").strip(), kind.verb
        for parameter in parameters(kind):
            assert parameter.help, f"{kind.verb} {parameter.name}"


def test_a_change_elsewhere_in_the_file_survives_and_so_does_ours(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = project / "m.py"
    commits = meanwhile(monkeypatch, lambda: file.write_text(SOURCE.replace("return 2", "return 22")) and None)
    outcome = service(project).run(request("edit", {"target": "m.f", "new_source": "def f():\n    return 11\n"}), OFF)
    assert outcome.status == "applied"
    assert len(commits) == 2
    assert file.read_text() == SOURCE.replace("return 1", "return 11").replace("return 2", "return 22")


def test_a_change_of_the_very_symbol_is_never_overwritten(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = project / "m.py"
    theirs = SOURCE.replace("return 1", "return 'theirs'")
    meanwhile(monkeypatch, lambda: file.write_text(theirs) and None)
    with pytest.raises(Refused) as caught:
        service(project).run(request("edit", {"target": "m.f", "new_source": "def f():\n    return 11\n"}), OFF)
    assert caught.value.code == "stale"
    assert file.read_text() == theirs


def test_an_undo_keeps_what_came_between_elsewhere_in_the_file(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = service(project)
    here.run(request("edit", {"target": "m.f", "new_source": "def f():\n    return 11\n"}), OFF)
    file = project / "m.py"
    theirs = file.read_text() + "# theirs\n"
    meanwhile(monkeypatch, lambda: file.write_text(theirs) and None)
    here.run(request("undo", {}), OFF)
    assert file.read_text() == SOURCE + "# theirs\n"


def test_an_undo_does_not_overwrite_what_came_between(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = service(project)
    here.run(request("edit", {"target": "m.f", "new_source": "def f():\n    return 11\n"}), OFF)
    file = project / "m.py"
    theirs = file.read_text().replace("return 11", "return 'theirs'")
    meanwhile(monkeypatch, lambda: file.write_text(theirs) and None)
    with pytest.raises((Refused, HistoryError)):
        here.run(request("undo", {}), OFF)
    assert file.read_text() == theirs


def test_a_dry_run_writes_nothing_and_says_so(project: Path) -> None:
    before = files(project)
    outcome = service(project).run(request("delete", {"target": "m.g"}), Context(dry_run=True))
    assert outcome.status == "planned"
    assert outcome.text.startswith("Dry run, nothing was changed")
    assert "-def g():" in outcome.diff
    assert files(project) == before


def test_an_edit_that_changes_nothing_is_no_operation(project: Path) -> None:
    here = service(project)
    outcome = here.run(request("edit", {"target": "m.f", "new_source": "def f():\n    return 1\n"}), OFF)
    assert (outcome.status, outcome.operation_id, outcome.diff) == ("unchanged", None, "")
    assert here.run(request("history", {})).text == "(no operations)"


def test_a_deleted_symbol_has_no_etag_any_more(project: Path) -> None:
    outcome = service(project).run(request("delete", {"target": "m.g"}), OFF)
    assert [(changed.address, changed.etag) for changed in outcome.changed] == [("m.g", None)]


def test_the_way_back_from_an_undo_is_a_redo(project: Path) -> None:
    here = service(project)
    done = here.run(request("delete", {"target": "m.g"}), OFF)
    undone = here.run(request("undo", {}), OFF)
    assert undone.next_actions == (f"redo {done.operation_id}",)
    assert (project / "m.py").read_text() == SOURCE
    verb, _, given = undone.next_actions[0].partition(" ")
    here.run(request(verb, {"operation_id": given}), OFF)
    assert "def g" not in (project / "m.py").read_text()


def test_a_broken_pyproject_is_named(project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool.x\n")
    with pytest.raises(SourceError, match=r"pyproject\.toml"):
        service(project).run(request("delete", {"target": "m.f"}), OFF)
    assert (project / "m.py").read_text() == SOURCE


@pytest.mark.parametrize("field", [{"reload": "bogus"}, {"dry_run": "yes"}, {"why": 3}, {"who": "\udce9"}])
def test_a_context_that_was_not_checked_is_checked_at_the_door(project: Path, field: dict[str, Any]) -> None:
    with pytest.raises(RequestError) as caught:
        service(project).run(request("delete", {"target": "m.g"}), Context(**field))
    assert caught.value.code == "invalid_arguments"
    assert (project / "m.py").read_text() == SOURCE


def test_an_undo_goes_back_to_a_state_that_does_not_import(project: Path) -> None:
    (project / "m.py").write_text("X = nothing\n")
    here = service(project)
    here.run(request("edit", {"target": "m.X", "new_source": "X = 1\n"}), Context(reload="child"))
    undone = here.run(request("undo", {}), Context(reload="child"))
    assert [notice.code for notice in undone.warnings] == ["import_failed"]
    assert (project / "m.py").read_text() == "X = nothing\n"


def test_a_redo_does_not_say_that_what_fails_to_import_did_so_before(project: Path) -> None:
    here = service(project)
    given = {"target": "m", "source": "from nowhere import f\n", "overwrite": True}
    here.run(request("write", given), OFF)
    here.run(request("undo", {}), OFF)
    redone = here.run(request("redo", {}), Context(reload="child"))
    [notice] = redone.warnings
    assert (notice.code, "before" in notice.message) == ("import_failed", False)
    assert "it stands all the same" in notice.message
    assert (project / "m.py").read_text().startswith("from nowhere import f\n")


def test_a_module_that_may_have_been_meant_is_a_candidate(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__init__.py").write_text("")
    (tmp_path / "app" / "core.py").write_text("x = 1\n")
    with pytest.raises(LookupFailed) as caught:
        service(tmp_path).run(request("read", {"target": "app.cor"}))
    assert caught.value.candidates == ("app.core",)


def test_the_root_is_the_nearest_folder_with_a_mark(project: Path) -> None:
    inner = project / "a" / "b"
    inner.mkdir(parents=True)
    (project / "setup.cfg").write_text("")
    assert find_root(inner, {}) == project.resolve()


def test_a_root_that_is_no_folder_is_refused(project: Path) -> None:
    with pytest.raises(RequestError) as caught:
        Service(project / "m.py")
    assert caught.value.code == "invalid_arguments"


HOLDING = """
import importlib, sys
from bae_source import Source
sys.path.insert(0, sys.argv[1])
module = importlib.import_module("held_b")
for number in (1, 2, 3):
    outcome = Source(sys.argv[1]).edit("held_a.f", f"def f():\\n    return {number}\\n")
    [notice] = outcome.warnings
    assert notice.code == "holds_old_objects", notice
    assert "held_b" in notice.message, notice
    assert importlib.import_module("held_a").f() == number
assert module.f() == 0
"""


def test_who_still_holds_an_old_function_is_reported_after_every_change(tmp_path: Path) -> None:
    (tmp_path / "held_a.py").write_text("def f():\n    return 0\n")
    (tmp_path / "held_b.py").write_text("from held_a import f\n")
    # in a process of its own: all modules of tests together have more values than are looked at
    words = [sys.executable, "-c", HOLDING, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=Path(__file__).parent.parent)
    assert done.returncode == 0, done.stderr


def test_every_request_declares_what_carries_it_out() -> None:
    methods = {"query": "answer", "change": "plan"}
    for kind in REQUESTS:
        method = methods.get(kind.runner)
        assert hasattr(kind, method) if method else kind.runner in COMMANDS, kind.verb
        assert (kind.runner == "change") is hasattr(kind, "plan"), kind.verb
