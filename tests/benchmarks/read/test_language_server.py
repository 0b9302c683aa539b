"""The client asks a server, answers what the server asks, and gets over one that fails. The servers are processes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks.read.language_server import LanguageServer, places
from benchmarks.read.processes import Failed, TooSlow
from benchmarks.read.subjects import Place

SERVER = """
import json, sys, time

def send(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Type: x\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body) + body)
    sys.stdout.buffer.flush()

def receive():
    length = 0
    while line := sys.stdin.buffer.readline().strip():
        if line.lower().startswith(b"content-length"):
            length = int(line.split(b":")[1])
    return json.loads(sys.stdin.buffer.read(length)) if length else sys.exit(0)

seen = []
while True:
    message = receive()
    seen.append(message)
    method = message.get("method")
    if method == "initialize":
        send({"id": 7, "method": "workspace/configuration", "params": {"items": [{}, {}]}})
        seen.append(receive())
        send({"id": 8, "method": "client/registerCapability", "params": {}})
        seen.append(receive())
        send({"id": message["id"], "result": {}})
    elif method == "initialized":
        send({"method": "window/logMessage", "params": {"message": "Found 3 source files"}})
    elif method == "textDocument/references":
        MODE
    elif method == "shutdown":
        send({"id": message["id"], "result": None})
    elif method == "exit":
        json.dump(seen, open("seen.json", "w"))
        sys.exit(0)
"""


def server(tmp_path: Path, mode: str, *, limit: float = 20) -> LanguageServer:
    (tmp_path / "m.py").write_text("x = 1\ny = '𝒳'; x\n", encoding="utf-8")
    return LanguageServer([sys.executable, "-c", SERVER.replace("MODE", mode)], tmp_path, limit=limit)


def test_references_are_asked_for_and_what_the_server_asks_is_answered(tmp_path: Path) -> None:
    uri = (tmp_path / "m.py").as_uri()
    there = {"uri": uri, "range": {"start": {"line": 1, "character": 10}, "end": {"line": 1, "character": 11}}}
    outside = {**there, "uri": "file:///elsewhere/n.py"}
    with server(tmp_path, f"send({{'id': message['id'], 'result': [{there!r}, {outside!r}]}})") as running:
        running.initialize()
        running.open("m.py")
        running.until_logged("source files")
        locations = running.references(Place("m.py", 1, 1))
        cost = running.shut_down()
    assert places(tmp_path, locations) == {Place("m.py", 2, 10)}  # 10 characters, of which one is two UTF-16 units
    assert cost.cpu > 0
    seen = json.loads((tmp_path / "seen.json").read_text())
    assert [message["result"] for message in seen if "result" in message] == [[{}, {}], None]
    asked = next(message["params"] for message in seen if message.get("method") == "textDocument/references")
    assert asked["position"] == {"line": 0, "character": 0}
    assert asked["textDocument"] == {"uri": uri}


def test_a_server_that_is_killed_says_what_it_cost_so_far(tmp_path: Path) -> None:
    with server(tmp_path, "send({'id': message['id'], 'result': None})") as running:
        running.initialize()
        assert running.references(Place("m.py", 1, 1)) == []
        assert running.killed().wall > 0


@pytest.mark.parametrize(
    ("mode", "error", "words"),
    [
        ("time.sleep(60)", TooSlow, "no answer"),
        ("sys.exit(3)", Failed, "ended"),
        ("send({'id': message['id'], 'error': {'code': -32603, 'message': 'oh dear'}})", Failed, "oh dear"),
    ],
)
def test_a_server_that_fails_is_an_error(tmp_path: Path, mode: str, error: type[Exception], words: str) -> None:
    with server(tmp_path, mode, limit=3) as running:
        running.initialize()
        with pytest.raises(error, match=words):
            running.references(Place("m.py", 1, 1))


def test_one_that_ends_before_it_is_asked_is_an_error(tmp_path: Path) -> None:
    with LanguageServer(["true"], tmp_path, limit=3) as running, pytest.raises(Failed, match="ended"):
        running.initialize()
