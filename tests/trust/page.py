"""The review page of a project, for tests: its application in this process, and `review` at a terminal for real."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
from starlette.testclient import TestClient

from bae_source.adapters.mcp.secret import Secret
from bae_source.adapters.web.application import application
from bae_source.adapters.web.desk import Desk
from bae_source.engine.approving.deciding import Person as Decider
from bae_source.engine.service import Service
from tests.approval.project import ANA, built, plans, proposed
from tests.approval.terminal import Person, at_terminal

TOKEN = "Not-to-be-seen_anywhere.0123456789~"
HOST = "127.0.0.1:47017"
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
LIMIT = ("edit", "app.core.LIMIT", "--old", "3", "--new", "1 + 2")
DECISIONS = ("approve", "reject", "expire", "renew")
JSON = {"content-type": "application/json"}
_ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/#(\S+)")


class Tab:
    """What a person's tab sends, and what is made of it; each answer has the headers that keep it to itself."""

    def __init__(self, root: Path, person: Decider = ANA) -> None:
        self.root = root
        desk = Desk(lambda: Service(root, environment=os.environ), person)
        self.client = TestClient(
            application(desk, Secret(text=TOKEN), (HOST, HOST.replace("127.0.0.1", "localhost"))),
            base_url=f"http://{HOST}",
            raise_server_exceptions=False,
            follow_redirects=False,
        )

    def send(
        self, method: str, path: str, headers: Mapping[str, Any] | list[Any] | None = None, **more: Any
    ) -> httpx2.Response:
        """Send what the headers are given for, without the token."""
        answer = self.client.request(method, path, headers=headers or {}, **more)
        assert {name: answer.headers.get_list(name) for name in HEADERS} == {
            name: [value] for name, value in HEADERS.items()
        }, (path, answer.status_code)
        assert not [name for name in answer.headers if name.startswith("access-control")]
        assert "set-cookie" not in answer.headers
        assert TOKEN not in answer.text
        return answer

    def get(self, path: str, **headers: str) -> httpx2.Response:
        """Read, with the token."""
        return self.send("GET", f"/api/v1/{path}", bearer(TOKEN) | headers)

    def post(self, path: str, body: Any = None, **headers: str) -> httpx2.Response:
        """Decide, with the token."""
        content = body if isinstance(body, bytes) else json.dumps({} if body is None else body).encode()
        return self.send("POST", f"/api/v1/{path}", bearer(TOKEN) | JSON | headers, content=content)

    def digest(self, task: str) -> str:
        """Return the digest that is shown of a proposal."""
        return str(self.get(f"tasks/{task}").json()["digest"])

    def state(self, task: str) -> str:
        """Return the state of a proposal as it is kept."""
        return str(plans(self.root).get(task).state)


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def refused(answer: httpx2.Response, status: int, code: str = "invalid_arguments") -> str:
    """See that an answer is a refusal, and return what it says."""
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert error["code"] == code, error
    return str(error["message"])


class Waiting(Tab):
    """A tab on a project with a proposal that waits."""

    def __init__(self, root: Path) -> None:
        super().__init__(built(root))
        self.task = proposed(self.root, *LIMIT)
        self.shown = self.digest(self.task)


class Served:
    """The page as `review` serves it at a terminal."""

    def __init__(self, person: Person) -> None:
        self.person = person
        self.printed = person.reads("Ctrl-C ends it.")
        found = _ADDRESS.search(self.printed)
        assert found, self.printed
        self.port, self.token = int(found[1]), found[2]
        self.head = f"Host: 127.0.0.1:{self.port}\r\nAuthorization: Bearer {self.token}\r\n"
        until(self.answers, "it does not answer")

    def answers(self) -> bool:
        """Say whether it answers at once who has the token."""
        began = time.monotonic()
        return self.send("GET", "project")[0] == 200 and time.monotonic() - began < 5

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """Send a request with the token, and return the status and what came with it."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        own = {"Authorization": f"Bearer {self.token}"} | ({"Content-Type": "application/json"} if body else {})
        try:
            connection.request(method, f"/api/v1/{path}", None if body is None else json.dumps(body), own | headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def connect(self, sent: str = "") -> socket.socket:
        """Open a connection, and send something."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        connection.sendall(sent.encode("latin-1"))
        return connection

    def raw(self, sent: str) -> str:
        """Send bytes as they are, and return all that comes until the server hangs up or says no more."""
        with self.connect(sent) as connection:
            connection.settimeout(2)
            found = b""
            try:
                while piece := connection.recv(1 << 16):
                    found += piece
                    if _is_whole(found):
                        break
            except (TimeoutError, ConnectionResetError):
                found += b""
            return found.decode("latin-1")

    def listens(self) -> bool:
        """Say whether anything listens on its port."""
        with socket.socket() as connection:
            connection.settimeout(5)
            return connection.connect_ex(("127.0.0.1", self.port)) == 0


def _is_whole(found: bytes) -> bool:
    head, mark, body = found.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: (\d+)", head)
    return bool(mark) and length is not None and len(body) >= int(length[1])


def until(holds: Any, otherwise: str, seconds: float = 30.0) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, otherwise
        time.sleep(0.02)


@contextmanager
def served(root: Path, *options: str, **variables: str) -> Iterator[Served]:
    """Run `review` at a terminal, without a browser unless one is given; what it ends with is the caller's to say."""
    words = ["review", "--who", "ana", *(() if "BROWSER" in variables else ("--no-browser",)), *options]
    with at_terminal(words, root, variables) as person:
        page = Served(person)
        try:
            yield page
        finally:
            if person.process.poll() is None:
                person.process.terminate()
