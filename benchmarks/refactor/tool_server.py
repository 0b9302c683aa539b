"""A small client of MCP servers: starts one, calls its tools, and measures its cost with all its descendants.

Invariants:
- a message is one line of JSON, by stdin and stdout; all else is as with language servers;
- the language servers that it starts are its descendants and lead groups of their own: they are counted with it, and
  end with it.
"""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from benchmarks.read.language_server import LanguageServer
from benchmarks.read.processes import Cost, Failed

_PROTOCOL = "2025-06-18"
_PROCESSES = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")


class ToolServer(LanguageServer):
    """A running MCP server, used as a context manager."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        family = list(_family(self._process.pid))
        super().__exit__(kind, error, trace)
        for pid in family:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def initialize(self) -> None:
        """Introduce the client to the server; to be called first."""
        about = {"capabilities": {}, "clientInfo": {"name": "benchmarks", "version": "1"}}
        self.request("initialize", {"protocolVersion": _PROTOCOL, **about})
        self.notify("notifications/initialized", {})

    def call(self, tool: str, arguments: Mapping[str, object]) -> str:
        """Call a tool; return the text of its answer.

        Raises:
            TooSlow: the time limit has passed.
            Failed: the server ended, or the answer is an error.
        """
        answer = self.request("tools/call", {"name": tool, "arguments": arguments})
        text = "\n".join(str(each.get("text", "")) for each in answer["content"])
        if answer.get("isError"):
            raise Failed(f"{tool}: {text}")
        return text

    def spent(self) -> Cost:
        """Return the cost so far of the server and of all its descendants; memory is that of the largest."""
        wall = time.perf_counter() - self.began
        ticks, peak = 0, 0
        for pid in _family(self._process.pid):
            with suppress(OSError):
                ticks += sum(map(int, _fields(pid)[11:15]))
                found = re.search(r"VmHWM:\s+(\d+)", (_PROCESSES / str(pid) / "status").read_text())
                peak = max(peak, int(found[1]) if found else 0)
        return Cost(wall=wall, cpu=ticks / _TICKS, peak=peak / 1024)

    def _send(self, message: dict[str, object]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise Failed("the server ended") from None

    def _receive(self) -> dict[str, Any]:
        line, _, self._unread = self._bytes_with(b"\n").partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message


def _family(pid: int) -> Iterator[int]:
    """Yield a process and its descendants."""
    children: dict[int, list[int]] = {}
    for folder in _PROCESSES.iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                children.setdefault(int(_fields(int(folder.name))[1]), []).append(int(folder.name))
    waiting = [pid]
    while waiting:
        yield (each := waiting.pop())
        waiting += children.get(each, ())


def _fields(pid: int) -> list[str]:
    """Return the fields of a process's `stat` behind its name: its state, its parent, …; CPU times are 11 to 14."""
    return (_PROCESSES / str(pid) / "stat").read_text().rpartition(")")[2].split()
