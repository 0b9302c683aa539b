"""A small client of language servers: starts one, opens a file, asks for references or renames, and says what it cost.

Invariants:
- every request of the server is answered, so that none waits for us;
- the server leads its own process group, and the group is gone when the `with` block is left.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote, urlsplit

from benchmarks.read.processes import Cost, Failed, TooSlow, environment_of, kill, reap
from benchmarks.read.subjects import Place

_CAPABILITIES = {
    "workspace": {
        "workspaceFolders": True,
        "configuration": True,
        "fileOperations": {"willRename": True},
        "workspaceEdit": {"documentChanges": True, "resourceOperations": ["rename"]},
    }
}


class LanguageServer:
    """A running server of one project, used as a context manager.

    Parameters:
        command: what starts it.
        root: the project's folder.
        limit: seconds that all requests together may take.
        environment: variables beside our own.
    """

    def __init__(
        self, command: Sequence[str], root: Path, *, limit: float, environment: Mapping[str, str] | None = None
    ) -> None:
        self.root = root
        self.began = time.perf_counter()
        self._deadline = self.began + limit
        self._process = subprocess.Popen(
            command,
            cwd=root,
            env=environment_of(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._number = 0
        self._unread = b""
        self.log: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.returncode is None:
            kill(self._process)
            reap(self._process, self.began, limit=10)

    def initialize(self) -> None:
        """Tell the server which project it is about; to be called first."""
        folder = {"uri": self.root.as_uri(), "name": self.root.name}
        about = {"processId": os.getpid(), "rootUri": folder["uri"], "workspaceFolders": [folder]}
        self.request("initialize", {**about, "capabilities": _CAPABILITIES})
        self.notify("initialized", {})

    def open(self, path: str) -> None:
        """Tell the server that a file is open in an editor."""
        text = (self.root / path).read_text(encoding="utf-8")
        document = {"uri": self._uri(path), "languageId": "python", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def references(self, place: Place) -> list[dict[str, Any]]:
        """Return the locations that the server has for the name at a place, the definition among them."""
        found: list[dict[str, Any]] | None = self.request(
            "textDocument/references",
            {
                "textDocument": {"uri": self._uri(place.path)},
                "position": {"line": place.line - 1, "character": place.column - 1},
                "context": {"includeDeclaration": True},
            },
        )
        return found or []

    def rename(self, place: Place, new: str) -> dict[str, Any] | None:
        """Return the server's plan to give the name at a place another one; None where it has none."""
        document, position = {"uri": self._uri(place.path)}, {"line": place.line - 1, "character": place.column - 1}
        found: dict[str, Any] | None = self.request(
            "textDocument/rename", {"textDocument": document, "position": position, "newName": new}
        )
        return found

    def moved(self, old: str, new: str) -> dict[str, Any] | None:
        """Return what the server would change if a file got another path; None where it has nothing."""
        files = [{"oldUri": self._uri(old), "newUri": self._uri(new)}]
        found: dict[str, Any] | None = self.request("workspace/willRenameFiles", {"files": files})
        return found

    def until_logged(self, words: str) -> None:
        """Read what the server sends until it logs a message with these words."""
        self._read_until(lambda _: any(words in line for line in self.log))

    def killed(self) -> Cost:
        """Kill the server; return what it cost so far."""
        kill(self._process)
        return reap(self._process, self.began, limit=10)

    def shut_down(self) -> Cost:
        """Ask the server to end, and wait; return what it cost, child processes that it waited for included."""
        self.request("shutdown", None)
        self.notify("exit", None)
        return reap(self._process, self.began, limit=30)

    def request(self, method: str, parameters: object) -> Any:
        """Send a request and return the result of its answer.

        Raises:
            TooSlow: the time limit has passed.
            Failed: the server ended, or answered with an error.
        """
        self._number += 1
        number = self._number
        self._send({"id": number, "method": method, "params": parameters})
        answer = self._read_until(lambda message: message.get("id") == number and "method" not in message)
        if "error" in answer:
            raise Failed(f"{method}: {answer['error']}")
        return answer.get("result")

    def notify(self, method: str, parameters: object) -> None:
        """Send a notification."""
        self._send({"method": method, "params": parameters})

    def _send(self, message: dict[str, object]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            self._process.stdin.flush()
        except BrokenPipeError:
            raise Failed("the server ended") from None

    def _read_until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        while True:
            message = self._receive()
            if message.get("method") == "window/logMessage":
                self.log.append(str(message["params"].get("message")))
            if "id" in message and "method" in message:
                self._answer(message)
            if wanted(message):
                return message

    def _answer(self, message: dict[str, Any]) -> None:
        asked = message["params"]["items"] if message["method"] == "workspace/configuration" else ()
        result: list[dict[str, object]] | None = [{} for _ in asked] if asked else None
        self._send({"id": message["id"], "result": result})

    def _receive(self) -> dict[str, Any]:
        head, _, rest = self._bytes_with(b"\r\n\r\n").partition(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")
        )
        while len(rest) < length:
            rest += self._more()
        self._unread = rest[length:]
        message: dict[str, Any] = json.loads(rest[:length])
        return message

    def _bytes_with(self, mark: bytes) -> bytes:
        content = self._unread
        while mark not in content:
            content += self._more()
        return content

    def _more(self) -> bytes:
        stdout = self._process.stdout
        assert stdout is not None
        ready, _, _ = select.select([stdout], [], [], max(0.0, self._deadline - time.perf_counter()))
        if not ready:
            raise TooSlow("no answer within the time limit")
        content = os.read(stdout.fileno(), 1 << 20)
        if not content:
            raise Failed("the server ended")
        return content

    def _uri(self, path: str) -> str:
        return (self.root / path).as_uri()


def places(root: Path, locations: Iterable[dict[str, Any]]) -> set[Place]:
    """Return where locations inside the project begin; a server's columns come in UTF-16 units."""
    found: set[Place] = set()
    lines: dict[Path, list[str]] = {}
    for location in locations:
        file = Path(unquote(urlsplit(location["uri"]).path))
        if file.is_relative_to(root):
            start = location["range"]["start"]
            if file not in lines:
                lines[file] = file.read_bytes().decode("utf-8", "replace").split("\n")
            before = lines[file][start["line"]].encode("utf-16-le")[: 2 * start["character"]]
            column = len(before.decode("utf-16-le", "replace")) + 1
            found.add(Place(file.relative_to(root).as_posix(), start["line"] + 1, column))
    return found
