"""What the doors to the engine cost: the MCP server, the session's wrapper, and the hook; on a copy of django.

- *a warm call*: `read` through the official MCP client over pipes, against the same by the Python API, in turns;
- *ready*: a server's process from its start to its first answer, against the import of the SDK alone, in turns;
- *idle*: the memory that a server keeps on django, after a read, and after a search for references;
- *wrapper*: a tool of the session, called in its own process, against the Python API, in turns;
- *hook*: the whole process on a commit of five files, its start included;
- *clients*: eight at once, each with a server of its own, who change one file; none of the changes may be lost.

    python -m benchmarks.door [--rounds 200] [--processes 7]

Prints a table, and whether the goals are met.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from mcp import Client, StdioServerParameters

from bae_source import Source
from bae_source.adapters.session.namespace import Namespace
from bae_source.engine.service import Service
from benchmarks.corpus import RELEASES, fetch
from benchmarks.read.goals import Goal, head, in_turn, ratios, show

T = TypeVar("T")

CALL = 5.0
WRAPPER = 0.2
"""Milliseconds more than the Python call."""
READY = 1.2
"""Times the import of the SDK."""
IDLE = 150.0
"""MB."""
HOOK = 1.0
"""Seconds."""
CLIENTS = 8
CHANGES = 10
_TARGET = "django.http.request.HttpRequest.get_host"
_STAGED = ("http/request.py", "http/response.py", "core/paginator.py", "forms/forms.py", "db/models/query.py")
_SDK = [sys.executable, "-c", "import mcp.server.lowlevel, os; os.write(1, b'ready')"]
_DISCOVER = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "server/discover",
    "params": {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    },
}


def main() -> int:
    """Measure and print; 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--processes", type=int, default=7)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="door-") as folder:
        root = _django(Path(folder) / "django")
        goals = [
            Goal(what="a warm read by MCP, ms more than by Python", ratios=_calls(root, asked.rounds), limit=CALL),
            Goal(
                what="a tool of a session, ms more than by Python", ratios=_wrapper(root, asked.rounds), limit=WRAPPER
            ),
            Goal(what="a server ready, times the SDK's import", ratios=_ready(root, asked.processes), limit=READY),
            *(Goal(what=f"MB of a server {when}", ratios=(found,), limit=IDLE) for when, found in _memory(root)),
            Goal(what="the hook on a commit of 5 files, seconds", ratios=_hook(root, asked.processes), limit=HOOK),
            Goal(what=f"changes lost of {CLIENTS} clients at once", ratios=(_lost(Path(folder) / "app"),), limit=0.0),
        ]
        head("the doors")
        met = show(goals)
    return 0 if met else 1


def _django(root: Path) -> Path:
    """Return a repository with django in it, and five files of it staged with a change."""
    [release] = [each for each in RELEASES if each.name == "django"]
    shutil.copytree(fetch(release), root, symlinks=True)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", "-C", str(root)]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "--no-verify", "-m", "django"]):
        subprocess.run([*git, *words], check=True, stdout=subprocess.DEVNULL)
    for name in _STAGED:
        with (root / "django" / name).open("a", encoding="utf-8") as file:
            file.write("\n\ndef added() -> None:\n    return None\n")
    subprocess.run([*git, "add", "-u"], check=True)
    return root


def _server(root: Path) -> StdioServerParameters:
    words = ["-m", "bae_source", "mcp", "--root", str(root)]
    return StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))


def _calls(root: Path, rounds: int) -> tuple[float, ...]:
    source = Source(root)

    async def measured(client: Client) -> list[tuple[float, float]]:
        await client.list_tools()
        found: list[tuple[float, float]] = []
        for _ in range(rounds):
            begun = time.perf_counter()
            result = await client.call_tool("read", {"target": _TARGET})
            middle = time.perf_counter()
            text = source.read(_TARGET)
            found.append((middle - begun, time.perf_counter() - middle))
            assert result.structured_content is not None
            assert result.structured_content["text"] == text
        return found[rounds // 10 :]

    return _differences(_with_client(root, measured))


def _wrapper(root: Path, rounds: int) -> tuple[float, ...]:
    service, source = Service(root, environment=os.environ), Source(root)
    names: dict[str, Any] = Namespace(service, lambda _: None).names  # type: ignore[assignment]
    names["source"]()
    tool = names["read"]
    pairs = in_turn(rounds, lambda: _seconds(lambda: tool(_TARGET)), lambda: _seconds(lambda: source.read(_TARGET)))
    return _differences(pairs[rounds // 10 :])


def _ready(root: Path, processes: int) -> tuple[float, ...]:
    def server() -> float:
        begun = time.perf_counter()
        with _started(root):
            return time.perf_counter() - begun

    def sdk() -> float:
        begun = time.perf_counter()
        with subprocess.Popen(_SDK, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.read(5) == b"ready"
            return time.perf_counter() - begun

    return ratios(in_turn(processes + 1, server, sdk)[1:])


def _memory(root: Path) -> Iterator[tuple[str, float]]:
    with _started(root) as process:
        yield "that is ready", _resident(process.pid)
    for what, name, arguments in (
        ("after a read", "read", {"target": _TARGET}),
        ("after a search for references", "references", {"target": _TARGET}),
    ):
        with _started(root) as process:
            call = {"name": name, "arguments": arguments, "_meta": _DISCOVER["params"]["_meta"]}  # type: ignore[index]
            _ask(process, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call})
            yield what, _resident(process.pid)


def _hook(root: Path, processes: int) -> tuple[float, ...]:
    command = [sys.executable, "-m", "bae_source", "hook", *(f"django/{name}" for name in _STAGED)]

    def once() -> None:
        done = subprocess.run(command, cwd=root, stdout=subprocess.DEVNULL, check=False)
        assert done.returncode in (0, 1), done.returncode

    return tuple(_seconds(once) for _ in range(processes + 1))[1:]


def _lost(root: Path) -> float:
    """Return how many of the changes that eight clients made at once are not there."""
    (root / "app").mkdir(parents=True)
    (root / "pyproject.toml").write_text('[project]\nname = "app"\nversion = "1"\n')
    (root / "app" / "__init__.py").write_text("")
    counters = root / "app" / "counters.py"
    counters.write_text("".join(f"def f{number}() -> int:\n    return 0\n\n\n" for number in range(CLIENTS)))

    async def count(number: int) -> None:
        async with Client(_server(root)) as client:
            for value in range(CHANGES):
                change = {"target": f"app.counters.f{number}", "old": f"return {value}", "new": f"return {value + 1}"}
                await client.call_tool("edit", {**change, "reload": "off"})

    async def all_of_them() -> None:
        await asyncio.gather(*map(count, range(CLIENTS)))

    asyncio.run(all_of_them())
    return float(CLIENTS * CHANGES - sum(map(int, re.findall(r"return (\d+)", counters.read_text()))))


def _with_client(root: Path, do: Callable[[Client], Awaitable[T]]) -> T:
    async def run() -> T:
        async with Client(_server(root)) as client:
            return await do(client)

    return asyncio.run(run())


@contextmanager
def _started(root: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start a server; it has answered once when the block begins."""
    words = [sys.executable, "-m", "bae_source", "mcp", "--root", str(root)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        _ask(process, _DISCOVER)
        yield process
        assert process.stdin is not None
        process.stdin.close()


def _ask(process: subprocess.Popen[bytes], message: object) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    assert "result" in answer, answer


def _resident(process: int) -> float:
    """Return the MB of memory that a process has."""
    found = subprocess.run(["ps", "-o", "rss=", "-p", str(process)], capture_output=True, text=True, check=True)
    return int(found.stdout) / 1024


def _seconds(do: Callable[[], object]) -> float:
    begun = time.perf_counter()
    do()
    return time.perf_counter() - begun


def _differences(pairs: list[tuple[float, float]]) -> tuple[float, ...]:
    """Return by how many milliseconds the first of each pair is longer."""
    return tuple((one - other) * 1000 for one, other in pairs)


if __name__ == "__main__":
    raise SystemExit(main())
