"""Functions for a model that may look at a project: their definitions, and what a call comes to."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from bae_source import RequestError, Source, functions
from bae_source.approval.proposals import State
from bae_source.functions import Access
from tests.approval.project import FILES, approved, built, files, line, plans


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "log").mkdir()
    (tmp_path / "log/app.log").write_text("".join(f"line {number}\n" for number in range(1, 601)))
    (tmp_path / "log/old.log.gz").write_bytes(b"\x1f\x8b\x08\x00" + bytes(range(256)))
    os.utime(tmp_path / "log/old.log.gz", (1, 1))
    (tmp_path / "pyproject.toml").write_text('[tool.bae-source]\nlogs = "log"\n')
    yield tmp_path
    functions.close()


def defined(root: Path, name: str) -> dict[str, Any]:
    return next(each for each in functions.access(root).definitions if each["name"] == name)


def called(found: Access, *placed: Any, **named: Any) -> dict[str, Any]:
    answer = found.handlers["read_logs"](*placed, **named)
    assert json.loads(json.dumps(answer)) == answer, "it is JSON as it is"
    return answer


def test_the_definition_lists_the_logs_that_there_are(root: Path) -> None:
    assert defined(root, "read_logs") == {
        "type": "function",
        "name": "read_logs",
        "description": "Read the last lines of a log of the project.",
        "parameters": {
            "type": "object",
            "properties": {
                "log_file": {"type": "string", "description": "Name of the log.", "enum": ["app.log", "old.log.gz"]},
                "lines": {
                    "type": "integer",
                    "description": "How many of its last lines.",
                    "minimum": 1,
                    "maximum": 500,
                    "default": 100,
                },
            },
            "required": ["log_file"],
            "additionalProperties": False,
        },
    }
    (root / "pyproject.toml").unlink()
    definition = defined(root, "read_logs")
    assert "enum" not in definition["parameters"]["properties"]["log_file"]
    assert " None is there now: " in definition["description"]


def test_a_call_has_the_last_lines(root: Path) -> None:
    found = functions.access(str(root))
    assert called(found, "app.log", lines=2) == {
        "success": True,
        "log_file": "app.log",
        "lines_returned": 2,
        "total_lines": 600,
        "content": "line 599\nline 600",
    }
    answer = called(found, log_file="app.log")
    assert (answer["lines_returned"], answer["content"].count("\n")) == (100, 99)
    assert called(found, "app.log", 500)["lines_returned"] == 500
    (root / "log/app.log").write_text("")
    assert called(found, "app.log") == {
        "success": True,
        "log_file": "app.log",
        "lines_returned": 0,
        "total_lines": 0,
        "content": "",
    }


def test_a_log_that_is_not_there_is_answered_with_those_that_are(root: Path) -> None:
    assert called(functions.access(root), "nope.log") == {
        "success": False,
        "error": "Log file not found: nope.log",
        "available_logs": ["app.log", "old.log.gz"],
    }
    (root / "pyproject.toml").unlink()
    assert called(functions.access(root), "app.log") == {
        "success": False,
        "error": "Log file not found: app.log",
        "available_logs": [],
    }


@pytest.mark.parametrize("name", ["../pyproject.toml", "/etc/passwd", "link.log", "a/../../x", "..\\x"])
def test_what_leads_out_of_the_folder_is_a_traversal(root: Path, name: str) -> None:
    (root / "log/link.log").symlink_to("/etc/passwd")
    assert called(functions.access(root), name) == {"success": False, "error": "Path traversal detected"}


@pytest.mark.parametrize(
    ("placed", "named", "error"),
    [
        (("app.log", 501), {}, "logs_read was called wrongly: lines: expected `int` <= 500."),
        (("app.log", 0), {}, "logs_read was called wrongly: lines: expected `int` >= 1."),
        (("app.log", "9"), {}, "logs_read was called wrongly: lines: expected `int`, got `str`."),
        ((5,), {}, "logs_read was called wrongly: log: expected `str`, got `int`."),
        ((), {}, "read_logs was called wrongly: missing a required argument: 'log_file'."),
        (("app.log",), {"tail": 5}, "read_logs was called wrongly: got an unexpected keyword argument 'tail'."),
        (("old.log.gz",), {}, "old.log.gz is no text, and not shown: it is gzip data; changed 1970-01-01T00:00:01Z."),
    ],
)
def test_a_wrong_call_is_an_answer(root: Path, placed: tuple[Any, ...], named: dict[str, Any], error: str) -> None:
    assert called(functions.access(root), *placed, **named) == {"success": False, "error": error}


def test_a_root_that_is_none_is_the_callers_fault(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="is no folder"):
        functions.access(tmp_path / "nope")


def test_several_threads_may_call_at_once(root: Path) -> None:
    found = functions.access(root)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: called(found, "app.log", lines=1), range(20)))
    assert {answer["content"] for answer in answers} == {"line 600"}


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    """A project with code, data, and what is no text."""
    yield built(tmp_path / "project", {**FILES, "data/bin.dat": bytes(range(256)), "app/net/__init__.py": "N = 1\n"})
    functions.close()


def ask(root: Path, name: str, *placed: Any, **named: Any) -> dict[str, Any]:
    """Call a function as a model does, and see that its answer is JSON as it is."""
    answer = functions.access(root, who="model").handlers[name](*placed, **named)
    assert json.loads(json.dumps(answer)) == answer
    assert type(answer["success"]) is bool
    return answer


def test_three_functions_are_defined_as_models_take_them(project: Path) -> None:
    found = functions.access(project)
    assert [each["name"] for each in found.definitions] == list(found.handlers)
    assert list(found.handlers) == ["read_source_code", "schedule_code_modification", "read_logs"]
    parameters = {each["name"]: each["parameters"] for each in found.definitions}
    assert {each["type"] for each in found.definitions} == {"function"}
    assert {name: (list(each["properties"]), each["required"]) for name, each in parameters.items()} == {
        "read_source_code": (["file_path"], ["file_path"]),
        "schedule_code_modification": (
            ["file_path", "new_content", "reason", "goal_id"],
            ["file_path", "new_content", "reason"],
        ),
        "read_logs": (["log_file", "lines"], ["log_file"]),
    }
    assert all(each["type"] == "object" and each["additionalProperties"] is False for each in parameters.values())
    assert parameters["schedule_code_modification"]["properties"]["goal_id"]["default"] is None
    json.dumps(found.definitions)


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("app/core.py", "app/core.py"),
        ("./app/core.py", "app/core.py"),
        ("app.core", "app/core.py"),
        ("app", "app/__init__.py"),
        ("app.net", "app/net/__init__.py"),
        ("app/net/__init__.py", "app/net/__init__.py"),
        ("notes.txt", "notes.txt"),
        ("./notes.txt", "notes.txt"),
        ("pyproject.toml", "pyproject.toml"),
    ],
)
def test_source_is_read_by_paths_and_names_of_modules(project: Path, given: str, path: str) -> None:
    content = (project / path).read_text()
    answer = {"success": True, "file_path": given, "content": content, "lines": content.count("\n")}
    assert ask(project, "read_source_code", given) == answer
    assert ask(project, "read_source_code", file_path=given) == answer


def test_lines_are_those_of_python(project: Path) -> None:
    for text, lines in (("", 0), ("x = 1", 1), ("x = 1\n", 1), ('x = "a\u2028b"\ny = 2\n\x0c\n', 3)):
        (project / "app/core.py").write_text(text)
        answer = ask(project, "read_source_code", "app/core.py")
        assert (answer["content"], answer["lines"]) == (text, lines)


@pytest.mark.parametrize(
    "given",
    [
        "../x.py",
        "..",
        "app/../../x",
        "..\\x",
        "/etc/passwd",
        "~/.ssh/id_rsa",
        "/",
        "app/link.py",
        "link.txt",
        "out/x.py",
    ],
)
@pytest.mark.parametrize("name", ["read_source_code", "schedule_code_modification"])
def test_nothing_outside_is_read_or_proposed(project: Path, given: str, name: str) -> None:
    outside = project.parent / "outside"
    outside.mkdir()
    (outside / "x.py").write_text("SECRET = 1\n")
    (project / "app/link.py").symlink_to(outside / "x.py")
    (project / "link.txt").symlink_to(outside / "x.py")
    (project / "out").symlink_to(outside)
    answer = ask(project, name, given, *(["x = 1\n", "why"] if name[0] == "s" else []))
    assert (answer["success"], answer["file_path"]) == (False, given) or given.startswith("~")
    assert "SECRET" not in json.dumps(answer)
    if given[0] in "./" or ".." in given:
        assert answer["error"].startswith("Access denied: ")
    assert (outside / "x.py").read_text() == "SECRET = 1\n"
    assert [each for each in plans(project).listed() if "~" not in each.summary] == []


def test_what_a_policy_denies_is_denied(project: Path) -> None:
    with (project / "pyproject.toml").open("a") as file:
        file.write('\n[tool.bae-source.policy]\nread = {deny = ["app.other"]}\nchange = {deny = ["app.core"]}\n')
    before = files(project)
    for given in ("app/other.py", "app.other", "./app/other.py"):
        answer = ask(project, "read_source_code", given)
        assert answer["error"].startswith("Access denied: ")
        assert list(answer) == ["success", "error", "file_path"]
    for given in ("app/core.py", "app.core", "app/other.py"):
        answer = ask(project, "schedule_code_modification", given, "X = 1\n", "why")
        assert answer["error"].startswith("Access denied: ")
    assert (files(project), plans(project).listed()) == (before, [])
    assert ask(project, "read_source_code", "app/core.py")["success"]


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("app/core.py", "app/core.py"),
        ("app.core", "app/core.py"),
        ("app/new.py", "app/new.py"),
        ("app.new", "app/new.py"),
        ("fresh/deep/new.py", "fresh/deep/new.py"),
        ("notes.txt", "notes.txt"),
        ("README.md", "README.md"),
        ("Makefile", "Makefile"),
        ("docs/guide.md", "docs/guide.md"),
    ],
)
def test_a_change_waits_and_is_made_when_it_is_approved(project: Path, given: str, path: str) -> None:
    before = files(project)
    content = f"{FILES.get(path, '')}# one more\n"
    answer = ask(project, "schedule_code_modification", given, content, "it is needed", goal_id="g1")
    assert list(answer) == ["success", "task_id", "file_path", "status", "message"]
    assert re.fullmatch("code_mod_[0-9a-f]{8}", answer["task_id"])
    assert (answer["success"], answer["file_path"], answer["status"]) == (True, given, "awaiting_approval")
    assert answer["task_id"] in answer["message"]
    assert files(project) == before
    again = ask(project, "schedule_code_modification", given, content, "it is needed", "g1")
    assert again["task_id"] == answer["task_id"]
    proposal = plans(project).get(answer["task_id"])
    assert (proposal.who, proposal.reason, proposal.goal) == ("model", "it is needed", "g1")
    assert approved(project, proposal.id).state is State.APPLIED
    found = files(project)
    assert found[path] == content.encode()
    assert set(found) - set(before) - {path} <= {"fresh/__init__.py", "fresh/deep/__init__.py"}
    [entry] = [each.entry for each in Source(project).history().outcome.found]
    assert (entry.who, entry.why) == ("model", "it is needed")


@pytest.mark.parametrize(
    ("given", "content", "error"),
    [
        ("app/core.py", FILES["app/core.py"], "app.core is like that already."),
        ("notes.txt", FILES["notes.txt"], ":notes.txt is like that already."),
        ("app/core.py", "x = (\n", "The code does not parse"),
        ("app/core.py", "X = 1\n", "does not import with the change"),
        ("app/core.py", "x = '\ud800'\n", "app.core is utf-8"),
        (".git/hooks/pre-commit", "#!/bin/sh\n", "Access denied: "),
        (".bae-source/id", "0\n", "Access denied: "),
        ("data/bin.dat", "x", ""),
    ],
)
def test_what_cannot_be_made_is_refused_and_not_kept(project: Path, given: str, content: str, error: str) -> None:
    before = files(project)
    answer = ask(project, "schedule_code_modification", given, content, "why")
    if error:
        assert list(answer) == ["success", "error", "file_path"]
        assert (answer["success"], answer["file_path"], error in answer["error"]) == (False, given, True), answer
        assert plans(project).listed() == []
    assert files(project) == before


@pytest.mark.parametrize(
    "wrong", [None, 5, 1.5, True, b"x", [], ["a"], {"a": 1}, object(), (), "", "\0", "a" * 5000, "\ud800"]
)
def test_arguments_of_any_type_are_answers(project: Path, wrong: Any) -> None:
    before = files(project)
    right = {"file_path": "app/new.py", "new_content": "X = 1\n", "reason": "why"}
    assert not ask(project, "read_source_code", wrong)["success"]
    assert not ask(project, "read_logs", wrong)["success"]
    for name in right:
        answer = ask(project, "schedule_code_modification", **{**right, name: wrong})
        if name == "file_path" or not isinstance(wrong, str) or (name == "reason" and wrong in ("", "\ud800")):
            assert not answer["success"], (name, answer)
            assert list(answer) == ["success", "error", "file_path"]
    goal = ask(project, "schedule_code_modification", **right, goal_id=wrong)
    assert goal["success"] is (wrong is None or wrong in ("", "\0")), goal
    assert files(project) == before


@pytest.mark.parametrize(("placed", "named"), [((), {}), (("a", "b", "c", "d", "e"), {}), (("a",), {"nope": 1})])
@pytest.mark.parametrize("name", ["read_source_code", "schedule_code_modification", "read_logs"])
def test_a_call_with_other_arguments_is_an_answer(
    project: Path, name: str, placed: tuple[Any, ...], named: dict[str, Any]
) -> None:
    answer = ask(project, name, *placed, **named)
    assert (answer["success"], answer["error"].startswith(f"{name} was called wrongly: ")) == (False, True)


def test_what_is_no_text_is_not_read(project: Path) -> None:
    answer = ask(project, "read_source_code", "data/bin.dat")
    assert answer == {
        "success": False,
        "error": ":data/bin.dat is described, and not shown: it is no text in UTF-8.",
        "file_path": "data/bin.dat",
    }
    for given in ("nope.py", "nope", "app.nope", "data/nope.txt", "data", "app/"):
        answer = ask(project, "read_source_code", given)
        assert (answer["success"], answer["file_path"]) == (False, given)
        assert "Access denied" not in answer["error"]


def test_a_person_sees_what_a_model_proposed(project: Path) -> None:
    task = ask(project, "schedule_code_modification", "app/new.py", "X = 1\n", "it is needed")["task_id"]
    assert f"{task}" in line(project, "pending", "--who", "model").out.decode()
    assert "it is needed" in line(project, "show", task).out.decode()
