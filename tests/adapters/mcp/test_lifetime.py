"""However a client goes, and whatever is going on then: nothing is changed, the server ends, no process is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.adapters.mcp.support import ENVELOPE, descendants, is_running, make_project, raw, until
from tests.adapters.support import call, command, environment, run

SLOW = "X = __import__('time').sleep(60)"
CHANGE = {"name": "insert", "arguments": {"target": "app.client", "new_source": SLOW, "position": "last"}}
CLIENT = """
import json, subprocess, sys, time
server = subprocess.Popen(json.loads(sys.argv[1]), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
print(server.pid, flush=True)
for line in json.loads(sys.argv[2]):
    server.stdin.write(json.dumps(line).encode() + b"\\n")
    server.stdin.flush()
time.sleep(600)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project")


def test_a_client_that_is_killed_leaves_nothing_changed_and_no_process(root: Path) -> None:
    file = root / "app" / "client.py"
    before = file.read_text()
    opening = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    begin = {"name": "transaction_begin", "arguments": {}, "_meta": ENVELOPE}
    lines = [{**opening, "params": begin}, {**opening, "id": 2, "params": {**CHANGE, "_meta": ENVELOPE}}]
    started = command("mcp", "--root", str(root), "--profile", "full")
    asked = [sys.executable, "-c", CLIENT, json.dumps(started), json.dumps(lines)]
    client = subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment())
    assert client.stdout is not None
    with client.stdout:
        server = int(client.stdout.readline())
    until(lambda: descendants(server), "nothing judges it")
    assert file.read_text() == before
    processes = {server, *descendants(server)}
    client.kill()
    client.wait()
    until(lambda: not any(map(is_running, processes)), "the server or its child goes on")
    assert file.read_text() == before
    assert not list(root.rglob("staging/*"))


def test_a_client_that_never_reads_fills_no_memory_and_is_left_when_it_goes(root: Path) -> None:
    asked = {"name": "read", "arguments": {"target": "app.client.Client"}, "_meta": ENVELOPE}
    line = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "tools/call", "params": asked})
    with raw(root) as server:
        assert server.process.stdin is not None
        uris = ["sym://python/type/app/client/Client"]
        found = server.call("hover", modern=True, uris=uris, language_server="ty", language_server_seconds=30)
        assert "ty" in found["structuredContent"]["data"]["content"]
        children = descendants(server.process.pid)
        assert children
        os.set_blocking(server.process.stdin.fileno(), False)
        number, rest, refused = 0, b"", 0
        while refused < 10:
            if not rest:
                number += 1
                rest = line.replace('"id": 0', f'"id": "n{number}"').encode() + b"\n"
            try:
                rest = rest[os.write(server.process.stdin.fileno(), rest) :]
                refused = 0
            except BlockingIOError:
                time.sleep(0.05)
                refused += 1
        assert number < 2_000
        assert server.leave() == 0
        until(lambda: not any(map(is_running, children)), "the language server goes on")
        assert server.process.stderr is not None
        assert server.process.stderr.read() == b""


def test_a_server_that_has_to_end_writes_nothing_of_a_change_under_judgement(root: Path) -> None:
    file = root / "app" / "client.py"
    before = file.read_text()
    with raw(root) as server:
        server.send("tools/call", CHANGE, modern=True)
        until(lambda: descendants(server.process.pid), "nothing judges it")
        assert file.read_text() == before
        children = descendants(server.process.pid)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(30) == 130
        assert server.process.stderr is not None
        assert b"Traceback" not in server.process.stderr.read()
    assert file.read_text() == before
    until(lambda: not any(map(is_running, children)), "what verifies it goes on")


def test_an_order_to_end_reaches_a_server_that_ends_cancelled_work(root: Path) -> None:
    file = root / "app" / "client.py"
    before = file.read_text()
    with raw(root) as server:
        change = {"target": "app.client", "new_source": "X = 1", "position": "last", "reload": "off"}
        asked = {"name": "insert", "arguments": {**change, "verify": ["command sleep 300"]}}
        slow = server.send("tools/call", asked, modern=True)
        until(lambda: descendants(server.process.pid), "nothing verifies it")
        children = descendants(server.process.pid)
        server.notify("notifications/cancelled", requestId=slow)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(30) == 130
    assert file.read_text() == before
    until(lambda: not any(map(is_running, children)), "what verifies it goes on")


def test_without_the_sdk_the_command_says_what_to_install(root: Path, tmp_path: Path) -> None:
    (tmp_path / "mcp.py").write_text("raise ModuleNotFoundError(\"No module named 'mcp'\", name='mcp')\n")
    path = os.pathsep.join([str(tmp_path), environment()["PYTHONPATH"]])
    called = run("mcp", "--json", folder=root, PYTHONPATH=path)
    [error] = called.json["errors"]
    assert (called.status, error["code"]) == (2, "unknown_operation")
    assert error["hints"] == ['pip install "bae-source[mcp]"']
    assert called.err == b""


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--tools", "nope"], "unknown_operation"),
        (["--tools", "edit", "--read-only"], "unknown_operation"),
        (["--budget", "5"], "invalid_arguments"),
        (["--http", "99999999"], "invalid_arguments"),
        (["--root", "nowhere"], "invalid_arguments"),
    ],
)
def test_a_server_that_cannot_be_is_an_error(root: Path, options: list[str], code: str) -> None:
    called = call("mcp", "--json", *(["--root", str(root)] if "--root" not in options else []), *options)
    assert (called.status, called.json["errors"][0]["code"]) == (2, code)
    assert called.json["errors"][0]["hints"]


@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_without_standard_streams_there_is_nothing_to_speak_over(root: Path, closed: str) -> None:
    words = ["sh", "-c", f'exec "$@" {closed}', "sh", *command("mcp", "--root", str(root))]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, env=environment(), timeout=60)
    assert done.returncode == 2
    assert b"error[invalid_arguments]: Standard input or output is closed" in done.stderr
    assert b"Traceback" not in done.stderr
