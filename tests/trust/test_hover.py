"""A hover runs nothing of the project, whichever language server its settings choose and whatever lies in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from bae_source import Source, functions
from bae_source.language_server.language_server import CHOSEN_BY_PEOPLE, COMMANDS, VARIABLE, LanguageServer
from bae_source.model.navigation import Question
from bae_source.model.span import Place
from tests.adapters.mcp.support import raw
from tests.adapters.support import run

FAKE = Path(__file__).parents[1] / "runtime" / "lsp" / "fake_server.py"
URI = "sym://python/type/m/f"
FILES = {
    "m.py": "# /// script\n# dependencies = ['x']\n# ///\nclass A: ...\n\n\ndef f(a: A):\n    return a.x\n",
    "uv.lock": "version = 1\n",
    ".python-version": "3.11\n",
    ".venv/pyvenv.cfg": "home = /usr/bin\nversion = 3.11.2\n",
    ".venv/lib/python3.11/site-packages/x.py": "",
}
PROGRAMS = (".venv/bin/python", ".venv/bin/python3", "run", "tools/python", "conda", "uv")
SETTINGS = {
    "ours": "",
    "of ty": '[tool.ty.environment]\npython = "./run"\n',
    "a file of ty": "",
    "of pyrefly": '[tool.pyrefly]\npython-interpreter-path = "run"\n',
    "a command of pyrefly": '[tool.pyrefly]\npython-interpreter-find-command = ["./run"]\nconda-environment = "base"\n',
    "of pyright": '[tool.basedpyright]\nvenvPath = "."\nvenv = ".venv"\n',
    "of uv": '[project]\nname = "m"\nversion = "1"\ndependencies = ["x"]\n[tool.uv]\nmanaged = true\n',
}

Hover = Callable[[Path, Mapping[str, str]], dict[str, Any]]


def program(path: Path, marker: Path, then: str = "exit 1") -> None:
    """Lay down a program that says that it was run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\necho "$0 $@" >> "{marker}"\n{then}\n')
    path.chmod(0o755)


def made(root: Path, settings: str, *, server: str | None) -> tuple[Path, Path]:
    """Lay out a project that brings programs, and return it with the file that tells which of them were run."""
    project, marker = root / "project", root / "ran"
    for name, text in FILES.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    own = f'[tool.bae-source]\nlanguage-server = "{server}"\nlanguage-server-seconds = 30\n' if server else ""
    (project / "pyproject.toml").write_text(own + settings)
    for name in PROGRAMS:
        program(project / name, marker)
    return project, marker


def on_path(root: Path, marker: Path) -> dict[str, str]:
    """Return an environment in which both servers that start programs are installed, and uv.

    Each of them runs the project's interpreter as the real ones do, and then answers.
    """
    for name in CHOSEN_BY_PEOPLE:
        answering = f"./.venv/bin/python\nexec '{sys.executable}' '{FAKE}' works '{root}/diary'"
        program(root / "bin" / COMMANDS[name][0], marker, answering)
    program(root / "bin" / "uv", marker)
    return {"PATH": f"{root / 'bin'}{os.pathsep}{os.environ['PATH']}", "TY_UV": "1"}


def by_command(project: Path, environment: Mapping[str, str], *more: str) -> dict[str, Any]:
    called = run("ast", "hover", URI, *more, folder=project, **environment)
    assert called.status == 0, called.err_text
    return called.json  # type: ignore[no-any-return]


def by_mcp(project: Path, environment: Mapping[str, str]) -> dict[str, Any]:
    return by_mcp_each(project, environment, {})[0]


def by_mcp_each(project: Path, environment: Mapping[str, str], *calls: dict[str, str]) -> list[dict[str, Any]]:
    with raw(project, "--read-only", **environment) as server:
        server.initialize()
        return [server.call("hover", uris=[URI], **arguments)["structuredContent"] for arguments in calls]


def by_function(project: Path, environment: Mapping[str, str]) -> dict[str, Any]:
    return by_function_each(project, environment, {})[0]


def by_function_each(project: Path, environment: Mapping[str, str], *calls: dict[str, str]) -> list[dict[str, Any]]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        try:
            return [
                functions.dispatch("hover", {"uris": [URI], **arguments}, root=project, read_only=True)
                for arguments in calls
            ]
        finally:
            functions.close(project)


def by_python(project: Path, environment: Mapping[str, str], **arguments: Any) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        found = Source(project).hover(URI, **arguments)
        assert isinstance(found, dict)
        return found


@pytest.mark.parametrize("settings", SETTINGS)
def test_the_usual_server_answers_and_runs_nothing_of_the_project(settings: str, tmp_path: Path) -> None:
    project, marker = made(tmp_path, SETTINGS[settings], server="ty")
    if settings == "a file of ty":
        (project / "ty.toml").write_text('[environment]\npython = ".venv"\n')
    environment = on_path(tmp_path, marker) | {"VIRTUAL_ENV": str(project / ".venv")}
    answer = by_command(project, environment)
    assert [ref["uri"] for ref in answer["refs"]] == ["sym://python/type/m/A"]
    assert len(answer["next_actions"]) == 1, "the server has answered"
    assert not marker.exists(), marker.read_text()


def test_ty_is_kept_from_calling_uv_which_would_run_interpreters(tmp_path: Path) -> None:
    command = ["/bin/sh", "-c", f"env > '{tmp_path}/env'; exec '{sys.executable}' '{FAKE}' works '{tmp_path}/diary'"]
    environment = {"PATH": os.environ["PATH"], "TY_UV": "1", "PYTHONPATH": "."}
    server = LanguageServer("ty", root=tmp_path, environment=environment, command=command)
    question = Question(path="m.py", text=FILES["m.py"], name=Place(line=7, column=5), names=())
    assert server.ask([question], {}, seconds=60)[0].problem is None
    server.close()
    variables = (tmp_path / "env").read_text().splitlines()
    assert "TY_UV=0" in variables
    assert not [each for each in variables if each.startswith("PYTHONPATH=")]


@pytest.mark.parametrize(
    ("server", "hover"),
    [
        ("basedpyright", by_command),
        ("pyrefly", by_command),
        ("pyrefly", by_mcp),
        ("pyrefly", by_function),
        ("pyrefly", by_python),
    ],
)
def test_a_server_that_starts_programs_is_not_started_for_a_project(server: str, hover: Hover, tmp_path: Path) -> None:
    project, marker = made(tmp_path, SETTINGS["of pyrefly"], server=server)
    answer = hover(project, on_path(tmp_path, marker))
    assert (answer["status"], answer["data"]["content"]) == ("ok", "def f(a: A)")
    assert answer["next_actions"][1] == (
        f"No refs without a language server: {server} starts programs that a project can bring, so only a person "
        f"chooses it: {VARIABLE}={server}, or --language-server on the command line."
    )
    assert not marker.exists(), marker.read_text()


@pytest.mark.parametrize("each", [by_mcp_each, by_function_each])
def test_a_model_does_not_choose_a_server_that_starts_programs(
    each: Callable[..., list[dict[str, Any]]], tmp_path: Path
) -> None:
    project, marker = made(tmp_path, "", server=None)
    environment = on_path(tmp_path, marker)
    chosen = {"language_server": "pyrefly"}
    answer, refused = each(project, environment, chosen, chosen | {"by_model": ""})
    assert "only a person chooses it" in answer["next_actions"][1]
    assert refused["status"] == "error"
    assert "by_model" in refused["errors"][0]["message"]
    assert not marker.exists(), marker.read_text()


def test_a_model_names_the_server_that_a_person_has_chosen(tmp_path: Path) -> None:
    project, marker = made(tmp_path, "", server="off")
    environment = on_path(tmp_path, marker) | {VARIABLE: "pyrefly"}
    named, other = by_function_each(
        project, environment, {"language_server": "pyrefly"}, {"language_server": "basedpyright"}
    )
    assert "pyrefly: told" in named["data"]["content"]
    assert "only a person chooses it" in other["next_actions"][1]


@pytest.mark.parametrize(
    "hover",
    [
        lambda project, environment: by_command(project, environment, "--language-server", "pyrefly"),
        lambda project, environment: by_command(project, environment | {VARIABLE: "pyrefly"}),
        lambda project, environment: by_mcp(project, environment | {VARIABLE: "pyrefly"}),
        lambda project, environment: by_function(project, environment | {VARIABLE: "pyrefly"}),
        lambda project, environment: by_python(project, environment, language_server="pyrefly"),
    ],
)
def test_a_person_chooses_any_server(hover: Hover, tmp_path: Path) -> None:
    project, marker = made(tmp_path, "", server="off")
    answer = hover(project, on_path(tmp_path, marker) | {"HOME": str(tmp_path)})
    assert "pyrefly: told" in answer["data"]["content"]
