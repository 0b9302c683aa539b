"""Functions for a model that may look at a project: their definitions, and what a call comes to."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from bae_source import RequestError, functions
from bae_source.functions import Access


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "log").mkdir()
    (tmp_path / "log/app.log").write_text("".join(f"line {number}\n" for number in range(1, 601)))
    (tmp_path / "log/old.log.gz").write_bytes(b"\x1f\x8b\x08\x00" + bytes(range(256)))
    os.utime(tmp_path / "log/old.log.gz", (1, 1))
    (tmp_path / "pyproject.toml").write_text('[tool.bae-source]\nlogs = "log"\n')
    yield tmp_path
    functions.close()


def called(found: Access, *placed: Any, **named: Any) -> dict[str, Any]:
    answer = found.handlers["read_logs"](*placed, **named)
    assert json.loads(json.dumps(answer)) == answer, "it is JSON as it is"
    return answer


def test_the_definition_lists_the_logs_that_there_are(root: Path) -> None:
    [definition] = functions.access(root).definitions
    assert definition == {
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
    [definition] = functions.access(root).definitions
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
