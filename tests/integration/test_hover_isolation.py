"""Whatever a language server does, a hover is answered, and its status and exit status stay as they are."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bae_source import RequestError, Source
from bae_source.language_server.language_server import COMMANDS
from tests.adapters.support import Called, run
from tests.integration.support import made

FAKE = Path(__file__).parents[1] / "runtime" / "lsp" / "fake_server.py"
URI = "sym://python/type/m/f"
FILES = {
    "m.py": 'class A: ...\n\n\ndef f(a: A):\n    """Do."""\n    return a.x\n',
    "pyproject.toml": "[tool.bae-source]\nlanguage-server-seconds = 1\n",
}
FAILURES = [
    "dies_at_once",
    "dies_when_asked",
    "greets_badly",
    "no_header",
    "no_json",
    "too_long",
    "floods_bytes",
    "floods_messages",
    "reads_nothing",
    "hangs_when_asked",
    "hover_without_text",
    "definition_without_place",
    "refuses",
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return made(tmp_path / "project", FILES)


def installed(folder: Path, how: str) -> str:
    """Install a fake server of a known name, and return the `PATH` that it is on."""
    folder.mkdir(exist_ok=True)
    program = folder / "pyrefly"
    program.write_text(f"#!/bin/sh\nexec {shlex.join([sys.executable, str(FAKE), how, f'{folder}/diary'])}\n")
    program.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def hovered(project: Path, path: str, *more: str) -> Called:
    return run("ast", "hover", URI, *more, folder=project, PATH=path, BAE_SOURCE_LANGUAGE_SERVER="pyrefly")


def without_words(answer: dict[str, Any]) -> dict[str, Any]:
    return {**answer, "next_actions": answer["next_actions"][:1]}


@pytest.mark.sampled
@pytest.mark.parametrize("how", FAILURES)
def test_a_server_that_fails_changes_neither_status_nor_exit_nor_the_answer(
    how: str, project: Path, tmp_path: Path
) -> None:
    off = Source(project).hover(URI, language_server="off")
    start = time.monotonic()
    called = hovered(project, installed(tmp_path / "bin", how))
    assert time.monotonic() - start < 20
    assert (called.status, called.err) == (0, b"")
    assert called.json["refs"] == []
    assert called.json["next_actions"][0] == f"ast snippet {URI}"
    assert called.json["next_actions"][1].startswith("No refs without a language server: pyrefly ")
    assert without_words(called.json) == without_words(off)


def test_a_server_that_works_adds_to_the_answer(project: Path, tmp_path: Path) -> None:
    called = hovered(project, installed(tmp_path / "bin", "works"), *["sym://python/mod/m", "sym://python/mod/no"])
    answers = [json.loads(line) for line in called.out.splitlines()]
    assert called.status == 3
    assert answers[0]["data"]["content"] == "def f(a: A)\n\nDo.\n\npyrefly: told"
    assert answers[0]["refs"] == [{"kind": "definition", "uri": "sym://python/type/m/A"}]
    assert [len(answer["next_actions"]) for answer in answers[:2]] == [1, 1]
    assert [answer["status"] for answer in answers] == ["ok", "ok", "error"]


def test_an_absent_server_is_reported(project: Path) -> None:
    called = hovered(project, "/usr/bin:/bin")
    assert called.status == 0
    why = "pyrefly is not installed; pip install 'bae-source[lsp]' brings a language server"
    assert called.json["next_actions"][1] == f"No refs without a language server: {why}."


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ('language-server = "sh"', "there is no language server 'sh'; known are ty, basedpyright, pyrefly and off"),
        ('language-server = "off"\nlanguage-server-seconds = "x"', "the language server is switched off"),
        ('language-server = "off"\nlanguage-server-seconds = -5', "the language server is switched off"),
    ],
)
def test_settings_choose_among_known_servers_and_cannot_bring_their_own(
    settings: str, why: str, project: Path, tmp_path: Path
) -> None:
    (project / "pyproject.toml").write_text(f"[tool.bae-source]\n{settings}\n")
    called = run("ast", "hover", URI, folder=project, PATH=installed(tmp_path / "bin", "works"))
    assert (called.status, called.json["next_actions"][1]) == (0, f"No refs without a language server: {why}.")
    assert not (tmp_path / "bin" / "diary").exists()


def test_only_hover_asks_a_server_and_only_once_something_was_found(project: Path, tmp_path: Path) -> None:
    path = installed(tmp_path / "bin", "works")
    for argv in (["symbols", URI], ["snippet", URI], ["hover", "sym://python/mod/no"], ["hover", "x"]):
        run("ast", *argv, folder=project, PATH=path, BAE_SOURCE_LANGUAGE_SERVER="pyrefly")
    assert not (tmp_path / "bin" / "diary").exists()


def test_a_live_source_keeps_one_server_and_it_hears_of_what_changed_on_disk(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", installed(tmp_path / "bin", "works"))
    monkeypatch.setenv("BAE_SOURCE_LANGUAGE_SERVER", "pyrefly")
    source = Source(project)
    for _ in range(3):
        assert source.hover(URI, language_server_seconds=60)["refs"]
        (project / "new.py").write_text("x = 1\n")
    entries = [json.loads(line) for line in (tmp_path / "bin" / "diary").read_text().splitlines()]
    assert len([each for each in entries if "started" in each]) == 1
    changes = [each["params"]["changes"] for each in entries if each.get("method") == "workspace/didChangeWatchedFiles"]
    assert changes[0] == [{"uri": (Path(os.path.realpath(project)) / "new.py").as_uri(), "type": 1}]


def test_the_real_server_finds_what_names_alone_do_not_tell(project: Path) -> None:
    (project / "n.py").write_text(
        "import m\n\n\nclass B:\n    def go(self) -> m.A: ...\n\n\ndef g(b: B):\n    return b.go()\n"
    )
    source = Source(project)
    found = source.hover("sym://python/type/n/g", language_server="ty", language_server_seconds=60)
    assert [ref["uri"] for ref in found["refs"]] == ["sym://python/type/n/B", "sym://python/type/n/B#go"]
    assert found["data"]["content"].startswith("def g(b: B)")
    alone = source.hover("sym://python/type/n/g", language_server="off")
    assert (alone["status"], alone["refs"]) == ("ok", [])


def test_an_unknown_language_server_is_refused_and_the_known_ones_are_named(project: Path) -> None:
    with pytest.raises(RequestError, match="language_server") as caught:
        Source(project).hover(URI, language_server="nosuch")
    assert caught.value.code == "invalid_arguments"
    called = run("ast", "hover", URI, "--language-server", "nosuch", folder=project)
    assert called.status == 2
    assert all(name in called.json["errors"][0]["message"] for name in ("nosuch", *COMMANDS, "off"))
    assert all(name in caught.value.message for name in (*COMMANDS, "off"))
