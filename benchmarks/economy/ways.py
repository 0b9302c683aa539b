"""The steps of one way, carried out as an agent's tools do it.

Invariants:
- a shell starts in the project's folder, with the project's environment and `bae-source` on its path; what it prints
  on stdout and stderr is its answer;
- the server of MCP is one process a task, spoken to by the client of the SDK over pipes; its start counts for nothing,
  as that of the agent's shell;
- a step that fails ends the benchmark.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from mcp import Client, StdioServerParameters

from benchmarks.economy.counting import Call
from benchmarks.economy.model import Shell, Step, Tool
from benchmarks.read.processes import environment_of
from benchmarks.verify.projects import Project

_LIMIT = 300
_HERE = Path(__file__).resolve().parent.parent.parent
_COMMAND = """\
#!{python} -P
import sys
sys.path.insert(0, {here!r})
from bae_source.__main__ import start
start()
"""


class Broken(Exception):
    """A step did not do what the task needs."""


def command(folder: Path) -> Path:
    """Write the command `bae-source` into a folder, as an installation does; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "bae-source"
    path.write_text(_COMMAND.format(python=sys.executable, here=str(_HERE)), encoding="utf-8")
    path.chmod(0o755)
    return path


def carried_out(steps: Sequence[Step], project: Project, ours: Path) -> list[Call]:
    """Carry out steps on a project.

    Parameters:
        steps: of one way.
        project: a fresh copy.
        ours: the command `bae-source`.

    Raises:
        Broken: if a step fails.
    """
    if any(isinstance(step, Tool) for step in steps):
        return asyncio.run(_by_mcp(steps, project, ours))
    return [_by_shell(step, project, ours) for step in steps]


async def tools(project: Project, ours: Path) -> str:
    """Return what `tools/list` answers, which a client reads once a session."""
    async with Client(_server(project, ours)) as client:
        listed = await client.list_tools()
        return "".join(each.model_dump_json(exclude_none=True, by_alias=True) for each in listed.tools)


def _by_shell(step: Step, project: Project, ours: Path) -> Call:
    assert isinstance(step, Shell)
    began = time.perf_counter()
    done = subprocess.run(
        ["bash", "-c", step.command],
        cwd=project.root,
        env=_environment(project, ours),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_LIMIT,
        check=False,
    )
    if done.returncode:
        raise Broken(f"$ {step.command}\nended with {done.returncode}:\n{done.stdout}")
    return Call(step=step, answer=done.stdout, seconds=time.perf_counter() - began)


async def _by_mcp(steps: Sequence[Step], project: Project, ours: Path) -> list[Call]:
    calls: list[Call] = []
    refused = ""
    async with Client(_server(project, ours)) as client:
        for step in steps:
            assert isinstance(step, Tool)
            began = time.perf_counter()
            result = await client.call_tool(step.name, dict(step.arguments))
            seconds = time.perf_counter() - began
            answer = "\n".join(getattr(block, "text", "") for block in result.content)
            if result.is_error:
                refused = f"{step.typed}\nis refused:\n{answer}"
                break
            calls.append(Call(step=step, answer=answer, seconds=seconds))
    if refused:
        raise Broken(refused)  # out here, since the client would put what is raised into groups
    return calls


def _server(project: Project, ours: Path) -> StdioServerParameters:
    words = ["mcp", "--root", str(project.root)]
    return StdioServerParameters(command=str(ours), args=words, env=_environment(project, ours))


def _environment(project: Project, ours: Path) -> dict[str, str]:
    """Return the environment of an agent's shell: the project's one is active, and state of ours lies beside."""
    path = os.pathsep.join((str(ours.parent), str(project.python.parent), os.environ.get("PATH", os.defpath)))
    more = {
        "PATH": path,
        "TERM": "dumb",
        "GIT_PAGER": "cat",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
    }
    # No server that keeps projects warm: it would outlive the task, and its copy of the project.
    return environment_of({**more, "XDG_STATE_HOME": str(ours.parent / "state"), "BAE_SOURCE_SERVE": "off"})
