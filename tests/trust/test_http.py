"""The server over HTTP: a process that can open a connection to its port gets nothing from it without its secret."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from bae_source.adapters.mcp.connections import MOST_CLIENTS, MOST_STRANGERS, SILENT_SECONDS, STRANGER_SECONDS
from bae_source.adapters.mcp.gate import Gate
from bae_source.adapters.mcp.http import MOST_SESSIONS
from bae_source.adapters.mcp.secret import Secret
from bae_source.system.child import scrubbed
from tests.adapters.mcp.support import ENVELOPE, INFO, LEGACY, MODERN, Raw, make_project, raw, until
from tests.adapters.support import run

pytestmark = pytest.mark.sampled

SECRET = "Not-to-be-seen_anywhere.0123456789~"
LISTENING = re.compile(r"^Listening on (http://127\.0\.0\.1:(\d+)(/\S*)?/mcp)[;,]")
INITIALIZE = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": INFO}
CHANGE = {"target": "app.client.Client.send", "old": "return text", "new": "return text * 2", "reload": "off"}


class Server:
    """A server over HTTP, and what it printed at its start."""

    def __init__(self, process: Raw, root: Path) -> None:
        assert process.process.stderr is not None
        self.process = process.process
        self.root = root
        self.greeting = process.process.stderr.readline().decode()
        found = LISTENING.match(self.greeting)
        assert found, self.greeting
        self.url, self.port, self.path = found[1], int(found[2]), f"{found[3] or ''}/mcp"

    def post(self, message: object, path: str | None = None, **headers: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        usual = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("POST", self.path if path is None else path, json.dumps(message), usual | given)
        answer = connection.getresponse()
        answer.content = answer.read()  # type: ignore[attr-defined]
        connection.close()
        return answer

    def status(self, message: object, path: str | None = None, **headers: str) -> int:
        return self.post(message, path, **headers).status

    def opened(self) -> str:
        """Begin a session and return its name."""
        answer = self.post(asked("initialize", INITIALIZE))
        assert answer.status == 200
        return answer.headers["Mcp-Session-Id"]

    def knows(self, session: str) -> bool:
        """Say whether there is a session, by which it is used."""
        return self.status(asked("ping"), Mcp_Session_Id=session) == 200

    def source(self) -> str:
        return (self.root / "app" / "client.py").read_text()

    def connect(self, sent: bytes = b"") -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        connection.sendall(sent)
        return connection


def asked(method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}


@contextmanager
def serving(root: Path, *options: str, **changes: str) -> Iterator[Server]:
    with raw(root, "--http", "0", *options, **changes) as process:
        yield Server(process, root)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with a secret of its own making."""
    with serving(make_project(tmp_path_factory.mktemp("http") / "project")) as started:
        yield started


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project")


def kept(folder: Path, text: str, mode: int = 0o600) -> Path:
    file = folder / "secret"
    file.write_text(text)
    file.chmod(mode)
    return file


MODERN_CHANGE = asked("tools/call", {"name": "edit", "arguments": CHANGE, "_meta": ENVELOPE})
AS_MODERN = {"MCP_Protocol_Version": MODERN, "Mcp_Method": "tools/call", "Mcp_Name": "edit"}


def test_a_request_without_the_secret_is_answered_nothing_and_changes_nothing(server: Server) -> None:
    before, secret = server.source(), server.path.split("/")[1]
    wrong = secret[:-1] + ("a" if secret[-1] != "a" else "b")
    paths = ["/mcp", f"/{wrong}/mcp", f"/{secret}", f"/{secret}/mcp/", f"/{secret}/mcp/mcp", f"/mcp/{secret}", "/", ""]
    paths += [f"/{secret}x/mcp", f"/{secret[1:]}/mcp", f"/{secret.upper()}/mcp", f"/mcp?secret={secret}", "//mcp"]
    headers: list[dict[str, str]] = [{}, {"Authorization": f"Bearer {wrong}"}, {"Authorization": f"Basic {secret}"}]
    headers += [{"Authorization": secret}, {"Authorization": "Bearer"}, {"Cookie": f"secret={secret}"}]
    for path in paths:
        for each in headers:
            for message, more in ((asked("initialize", INITIALIZE), {}), (MODERN_CHANGE, AS_MODERN)):
                answer = server.post(message, path, **each, **more)
                assert answer.status == (401 if path.partition("?")[0] == "/mcp" else 404), (path, each)
                assert "Mcp-Session-Id" not in answer.headers
                assert b"app" not in answer.content  # type: ignore[attr-defined]
                assert secret.encode() not in answer.content  # type: ignore[attr-defined]
    assert server.source() == before


def test_a_session_of_another_client_is_no_secret(server: Server) -> None:
    session = server.opened()
    assert server.status(asked("tools/list"), "/mcp", Mcp_Session_Id=session) == 401
    assert server.status(asked("tools/list"), Mcp_Session_Id=session) == 200


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "NONSENSE"])
def test_no_method_is_answered_without_the_secret(server: Server, method: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request(method, "/mcp", headers={"Origin": f"http://127.0.0.1:{server.port}"})
    answer = connection.getresponse()
    assert answer.status == 401
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]
    connection.close()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("header", [False, True])
def test_a_client_that_has_the_secret_works_as_before(server: Server, mode: str, *, header: bool) -> None:
    """In the address, as it was printed, and as a header."""
    change = {"target": f"app.counters.f{header + 2 * (mode == 'auto')}", "old": "return 0", "new": "return 1"}

    async def walk(url: str, bearer: dict[str, str]) -> None:
        async with httpx2.AsyncClient(headers=bearer, timeout=60) as sender:
            transport = streamable_http_client(url, http_client=sender)
            async with Client(transport if header else url, mode=mode) as client:
                assert (await client.list_tools()).tools
                done = await client.call_tool("edit", {**change, "reload": "off"})
                assert done.structured_content["status"] == "applied"

    secret, bare = server.path.split("/")[1], f"http://127.0.0.1:{server.port}/mcp"
    asyncio.run(walk(bare if header else server.url, {"Authorization": f"Bearer {secret}"} if header else {}))


def test_nothing_behind_the_gate_sees_the_secret() -> None:
    seen: list[Any] = []

    async def application(*given: Any) -> None:
        seen.append(given[0])

    async def show(path: str, *headers: tuple[bytes, bytes]) -> None:
        scope = {"type": "http", "path": path, "raw_path": path.encode(), "headers": list(headers), "state": {}}
        await Gate(application, Secret(text=SECRET), lambda _: None)(scope, application, application)

    asyncio.run(show(f"/{SECRET}/mcp", (b"host", b"here")))
    asyncio.run(show("/mcp", (b"host", b"here"), (b"authorization", f"Bearer {SECRET}".encode())))
    expected = {"type": "http", "path": "/mcp", "raw_path": b"/mcp", "headers": [(b"host", b"here")], "state": {}}
    assert seen == [expected] * 2
    assert SECRET not in repr(Secret(text=SECRET))


def test_the_official_client_without_the_secret_cannot_begin(server: Server) -> None:
    async def walk() -> None:
        async with Client(f"http://127.0.0.1:{server.port}/mcp", mode="legacy") as client:
            await client.list_tools()

    with pytest.raises(BaseException):  # noqa: B017  # whatever the client makes of the status
        asyncio.run(walk())


def test_every_server_has_another_secret(root: Path, server: Server) -> None:
    with serving(root) as other:
        assert len(other.path.split("/")[1]) == 43
        assert other.path != server.path
        assert other.status(asked("initialize", INITIALIZE), server.path) == 404


def from_file(folder: Path) -> tuple[list[str], dict[str, str]]:
    return ["--secret-file", str(kept(folder, SECRET + "\n"))], {"BAE_SOURCE_MCP_SECRET": "something else, and ignored"}


def from_environment(folder: Path) -> tuple[list[str], dict[str, str]]:
    return [], {"BAE_SOURCE_MCP_SECRET": SECRET}


@pytest.mark.parametrize("way", [from_file, from_environment])
def test_a_secret_that_was_given_opens_and_stands_nowhere(
    root: Path, tmp_path: Path, way: Callable[[Path], tuple[list[str], dict[str, str]]]
) -> None:
    options, changes = way(tmp_path)
    (root / "tell.py").write_text("import os; print(dict(os.environ)); raise SystemExit(1)\n")
    verify = {**CHANGE, "verify": [f"command {sys.executable} tell.py"]}
    tells = asked("tools/call", {"name": "edit", "arguments": verify, "_meta": ENVELOPE})
    with serving(root, *options, **changes, BAE_SOURCE_TRACEBACK="1") as server:
        assert server.path == "/mcp"
        bearer = {"Authorization": f"bearer  {SECRET}"}
        answers = [server.post(tells, **AS_MODERN, **bearer)]
        assert b"verify_failed" in answers[0].content  # type: ignore[attr-defined]
        assert b"PATH" in answers[0].content  # type: ignore[attr-defined]
        answers.append(server.post(asked("initialize", INITIALIZE), f"/{SECRET}/mcp"))
        assert answers[-1].status == 200
        for host in ("evil.example", f"127.0.0.1:{server.port}"):
            answers.append(server.post({"nonsense": True}, Host=host, **bearer))
            answers.append(server.post({"nonsense": True}, f"/{SECRET}/mcp", Host=host))
            answers.append(server.post({"nonsense": True}, f"/{SECRET}/other", Host=host))
        with server.connect(f"GET /{SECRET}/mcp HTTP/1.1\r\nNonsense {SECRET}\r\n\r\n".encode()) as connection:
            answered = connection.recv(1 << 16)
        shown = subprocess.run(["ps", "-A", "-ww", "-o", "args="], capture_output=True, text=True, check=True).stdout
        server.process.terminate()
        assert server.process.wait(30) == 130
        assert server.process.stderr is not None
        printed = server.greeting + server.process.stderr.read().decode()
    texts = [answer.content + str(answer.headers).encode() for answer in answers]  # type: ignore[attr-defined]
    files = [each.read_bytes() for each in root.rglob("*") if each.is_file()]
    assert any(b'"edit"' in each for each in files), "there is no telemetry to look at"
    assert not [
        each for each in (*texts, *files, answered, shown.encode(), printed.encode()) if SECRET.encode() in each
    ]


def test_what_is_run_for_the_command_line_does_not_inherit_a_servers_secret() -> None:
    assert scrubbed({"BAE_SOURCE_MCP_SECRET": SECRET, "HOME": "/"}).keys() == {
        "HOME",
        "PYTHONDONTWRITEBYTECODE",
        "TERM",
    }


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o644, 0o777])
def test_a_file_that_others_may_use_is_refused(root: Path, tmp_path: Path, mode: int) -> None:
    refused(root, "other accounts", "--secret-file", str(kept(tmp_path, SECRET, mode)))


def test_a_file_that_is_none_is_refused(root: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    for name, why in (("pipe", "no regular file"), ("nowhere", "cannot be read"), (".", "no regular file")):
        refused(root, why, "--secret-file", str(tmp_path / name))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another account")
def test_a_file_of_another_account_is_refused_to_root_as_well(root: Path, tmp_path: Path) -> None:
    file = kept(tmp_path, SECRET)
    os.chown(file, 65534, 65534)
    refused(root, "another account", "--secret-file", str(file))


@pytest.mark.parametrize("text", ["", "short", "x" * 21, "x" * 201, "with spaces, which no address has", "é" * 30])
def test_a_secret_that_is_none_is_refused_and_never_replaced_by_none(root: Path, tmp_path: Path, text: str) -> None:
    refused(root, "no secret that can be used", "--secret-file", str(kept(tmp_path, text)))
    refused(root, "no secret that can be used", BAE_SOURCE_MCP_SECRET=text)


def refused(root: Path, why: str, *options: str, **changes: str) -> None:
    called = run("mcp", "--http", "0", "--json", *options, folder=root, **changes)
    [error] = called.json["errors"]
    assert (called.status, error["code"]) == (2, "invalid_arguments")
    assert why in error["message"]
    assert error["hints"]
    assert SECRET not in called.err_text + str(called.json)


def test_a_secret_without_a_port_is_an_error(root: Path, tmp_path: Path) -> None:
    called = run("mcp", "--json", "--secret-file", str(kept(tmp_path, SECRET)), folder=root)
    assert (called.status, called.json["errors"][0]["code"]) == (2, "invalid_arguments")


BEGINNINGS = [b"", b"POST /mcp HTTP/1.1\r\nHost: x\r\nX: ", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"]


@pytest.mark.parametrize("sent", BEGINNINGS, ids=["nothing", "half a header", "another protocol"])
def test_strangers_that_leave_connections_open_shut_no_client_out(server: Server, sent: bytes) -> None:
    with ExitStack() as opened:
        session = server.opened()
        for number in range(MOST_STRANGERS * 4):
            opened.enter_context(server.connect(sent))
            if number % MOST_STRANGERS == 0:
                assert server.knows(session)
        assert server.knows(server.opened())
        until(lambda: connections_of(server) <= MOST_STRANGERS + 1, "they are all kept", STRANGER_SECONDS / 2)


def test_of_strangers_that_are_too_many_the_one_goes_that_came_first(server: Server) -> None:
    """So a client that takes a moment to send its request is heard."""
    line = f"GET {server.path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode()
    with ExitStack() as opened:
        first = opened.enter_context(server.connect())
        for _ in range(MOST_STRANGERS):
            opened.enter_context(server.connect())
        with server.connect() as client:
            for _ in range(MOST_STRANGERS // 2):
                opened.enter_context(server.connect())
            assert server.knows(server.opened())
            client.sendall(line)
            assert client.recv(1 << 16).startswith(b"HTTP/1.1 406 ")  # the secret was right, and the rest is not
        assert is_closed(first)


def connections_of(server: Server) -> int:
    """Return how many connections a server has taken."""
    folder = Path(f"/proc/{server.process.pid}/fd")
    if not folder.is_dir():
        pytest.skip("only Linux shows the open files of another process")
    found = 0
    for each in folder.iterdir():
        with suppress(FileNotFoundError):  # it was closed meanwhile
            found += str(each.readlink()).startswith("socket:")
    return found - IDLE


IDLE = 3
"""The socket that listens, and a pair by which the loop wakes itself."""


def test_a_stranger_is_hung_up_on_in_time_whatever_it_sends(root: Path) -> None:
    """Also one that sends a byte now and then."""
    with impatient(root) as server, server.connect() as silent, server.connect() as slow:
        begun = time.monotonic()
        until(lambda: all([is_closed(silent), is_closed(slow, b"X")]), "they stay")
        assert time.monotonic() - begun < 10


def test_a_client_that_does_not_go_on_is_hung_up_on_and_one_that_waits_for_an_answer_is_not(root: Path) -> None:
    head = "Content-Type: application/json\r\nAccept: application/json, text/event-stream"
    with impatient(root) as server:
        session = server.opened()
        start = f"{server.path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n{head}\r\n"
        body = f"POST {start}Content-Length: 10000\r\n\r\n{{".encode()
        stream = f"GET {start}Mcp-Session-Id: {session}\r\n\r\n".encode()
        with server.connect(stream) as waits, server.connect(body) as stops:
            assert b" 200 OK" in waits.recv(1 << 16)
            until(lambda: is_closed(stops), "it stays")
            assert not is_closed(waits)
        assert server.knows(session)


@contextmanager
def impatient(root: Path) -> Iterator[Server]:
    """A server that has little patience with its clients."""
    code = (
        "import sys; from bae_source.adapters.mcp import connections as c; "
        "c.STRANGER_SECONDS, c.SILENT_SECONDS = 0.5, 1.0; "
        "from bae_source.__main__ import main; sys.exit(main())"
    )
    process = Raw(root, "--http", "0", start=[sys.executable, "-P", "-c", code])
    try:
        yield Server(process, root)
    finally:
        process.kill()


def is_closed(connection: socket.socket, sent: bytes = b"") -> bool:
    """Say whether the other side has hung up."""
    connection.settimeout(0.05)
    try:
        connection.sendall(sent)
        return not connection.recv(1 << 16)
    except TimeoutError:
        return False
    except OSError:
        return True


def test_clients_that_leave_connections_open_shut_no_other_client_out(server: Server) -> None:
    begun = f"POST {server.path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: 10000\r\n\r\n{{".encode()
    session = server.opened()
    with ExitStack() as opened:
        for _ in range(MOST_CLIENTS + 32):
            opened.enter_context(server.connect(begun))
        assert server.knows(session)
        until(lambda: connections_of(server) <= MOST_CLIENTS + 1, "they are all kept", SILENT_SECONDS / 2)


def test_sessions_that_were_forgotten_shut_no_client_out_and_the_one_idle_for_longest_ends_first(
    server: Server,
) -> None:
    first, second, third = (server.opened() for _ in range(3))
    stream = f"GET {server.path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nMcp-Session-Id: {third}\r\n"
    with server.connect(f"{stream}Accept: text/event-stream\r\n\r\n".encode()) as listens:
        assert b" 200 OK" in listens.recv(1 << 16)
        for number in range(MOST_SESSIONS + 8):
            last = server.opened()
            if number % 64 == 0:
                assert server.knows(first), "it is in use"
        assert server.knows(first)
        assert not server.knows(second)
        assert server.knows(third), "it listens"
        assert server.knows(last)
        assert not is_closed(listens)
