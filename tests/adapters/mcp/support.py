"""Clients of a real server process: one that writes what it likes line by line, and the official one."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.adapters.support import command, environment
from tests.waiting import readable

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
INFO = {"name": "tester", "version": "1"}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": INFO,
    "io.modelcontextprotocol/clientCapabilities": {},
}
PATIENCE = 60.0
"""Seconds after which a server that does not answer has failed."""

CLIENT = '''\
"""A client."""


class Client:
    """Talks."""

    def send(self, text: str) -> str:
        """Send."""
        return text

    def stop(self) -> None:
        pass
'''


def make_project(root: Path) -> Path:
    """Lay out a project `app` with a module `client`, and one counter for each of eight who change it at once.

    Beside it lie modules that are called like what the server imports; to import them would end it.
    """
    package = root / "app"
    package.mkdir(parents=True)
    (root / "pyproject.toml").write_text('[project]\nname = "app"\nversion = "1"\n')
    for name in ("mcp", "anyio", "uvicorn", "mcp_types"):
        (root / f"{name}.py").write_text("raise SystemExit('imported')\n")
    (package / "__init__.py").write_text("")
    (package / "client.py").write_text(CLIENT)
    (package / "counters.py").write_text("".join(f"def f{n}() -> int:\n    return 0\n\n\n" for n in range(8)))
    return root


def in_full(options: Sequence[str]) -> list[str]:
    """Return the options of a server that offers a tool for each verb, unless they name a profile."""
    return [*options] if "--profile" in options else [*options, "--profile", "full"]


class Raw:
    """A server over pipes, and a client that keeps to no protocol."""

    def __init__(
        self, root: Path, *options: str, start: Sequence[str] = (), prefix: Sequence[str] = (), **changes: str
    ) -> None:
        self.process = subprocess.Popen(
            [*prefix, *(start or command()), "mcp", "--root", str(root), *in_full(options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(**changes),
            cwd=root,
        )
        self._rest = b""
        self._id = 0
        self.meanwhile: list[Any] = []
        self.early: Any = None
        self.handshake: Any = None

    def write(self, text: bytes | str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text.encode() if isinstance(text, str) else text)
        self.process.stdin.flush()

    def send(self, method: str, params: dict[str, Any] | None = None, *, modern: bool = False) -> int:
        """Send a request and return its id."""
        self._id += 1
        asked = {**(params or {}), **({"_meta": ENVELOPE | (params or {}).get("_meta", {})} if modern else {})}
        self.write(json.dumps({"jsonrpc": "2.0", "id": self._id, "method": method, "params": asked}) + "\n")
        return self._id

    def notify(self, method: str, **params: Any) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}) + "\n")

    def line(self) -> Any:
        """Return the next message from the server."""
        assert self.process.stdout is not None
        deadline = time.monotonic() + PATIENCE
        while b"\n" not in self._rest:
            ready = readable(self.process.stdout, deadline - time.monotonic())
            assert ready, "the server does not answer"
            piece = os.read(self.process.stdout.fileno(), 1 << 16)
            assert piece, f"the server has ended: {self.process.wait(5)}"
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line)

    def answer(self, request: int) -> Any:
        """Return the answer to a request; what else comes before it is kept in `meanwhile`."""
        while (message := self.line()).get("id") != request:
            self.meanwhile.append(message)
        return message

    def ask(self, method: str, params: dict[str, Any] | None = None, *, modern: bool = False) -> Any:
        return self.answer(self.send(method, params, modern=modern))

    def call(self, name: str, *, modern: bool = False, **arguments: Any) -> Any:
        """Call a tool and return its result."""
        return self.ask("tools/call", {"name": name, "arguments": arguments}, modern=modern)["result"]

    def initialize(self, version: str = LEGACY) -> Any:
        given = {"protocolVersion": version, "capabilities": {}, "clientInfo": INFO}
        found = self.ask("initialize", given)
        self.notify("notifications/initialized")
        return found

    def leave(self) -> int:
        """Close the pipe to the server and return the exit status that it ends with."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(PATIENCE)

    def kill(self) -> None:
        """End the server whatever it does."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()


@contextmanager
def raw(root: Path, *options: str, **changes: str) -> Iterator[Raw]:
    """Start a server over pipes, and end it in any case."""
    server = Raw(root, *options, **changes)
    try:
        yield server
    finally:
        server.kill()


def until(holds: Any, what: str, patience: float = PATIENCE) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def descendants(process: int) -> set[int]:
    """Return the processes that one has started, and those that these have."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = [tuple(map(int, line.split())) for line in listed.splitlines()]
    found: set[int] = set()
    while more := {pid for pid, parent in pairs if parent in found | {process}} - found:
        found |= more
    return found


def is_running(process: int) -> bool:
    """Say whether a process is there and has not ended."""
    found = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True)
    return found.stdout.strip()[:1] not in ("", "Z")
