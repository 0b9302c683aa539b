"""A language server for tests that behaves as its first argument says; it is run as a process of its own.

Every message that it gets is written, one JSON a line, to the file named by its second argument.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HOW = sys.argv[1]
DIARY = Path(sys.argv[2])


def read() -> dict[str, Any] | None:
    length = 0
    while line := sys.stdin.buffer.readline().strip():
        length = int(line.partition(b":")[2])
    if not length:
        return None
    message: dict[str, Any] = json.loads(sys.stdin.buffer.read(length))
    note(message)
    return message


def note(what: Any) -> None:
    with DIARY.open("a") as diary:
        diary.write(json.dumps(what) + "\n")


def put(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def send(message: Any) -> None:
    body = json.dumps(message).encode()
    put(b"Content-Type: x\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))


def answer(message: dict[str, Any]) -> None:
    number = message.get("id")
    if number is None or "method" not in message:
        return
    if message["method"] == "initialize":
        if HOW == "greets_badly":
            send({"id": number, "error": {"code": 1, "message": "no"}})
        else:
            send({"id": number, "result": {"capabilities": {}}})
        return
    uri = message["params"]["textDocument"]["uri"]
    at = {"uri": uri, "range": {"start": {"line": 0, "character": 6}, "end": {"line": 0, "character": 7}}}
    outside = {**at, "uri": "file:///nowhere/else.py"}
    hover = {"contents": {"kind": "plaintext", "value": "told\n---\nmore"}}
    good = hover if message["method"].endswith("hover") else [at, outside, {**at, "uri": "untitled:x"}]
    wrong = {
        "hover_without_text": {"contents": 5},
        "hover_of_nothing": None,
        "definition_without_place": [{"uri": uri}],
        "definition_at_no_place": [{"uri": 1, "range": {"start": {"line": "x", "character": None}}}],
        "definition_beyond_the_file": [{**at, "range": {"start": {"line": 10**9, "character": 10**9}}}],
        "hover_with_paths": {"contents": ["see [C](file:///etc/x)", {"value": "y"}]},
    }
    if HOW == "refuses":
        send({"id": number, "error": {"code": -32801, "message": "content modified"}})
    elif HOW == "dies_when_asked":
        os._exit(1)
    elif HOW == "hangs_when_asked":
        time.sleep(60)
    elif HOW == "answers_hover_only" and "definition" in message["method"]:
        return
    else:
        kind = HOW.partition("_")[0]
        send({"id": number, "result": wrong.get(HOW, good) if kind in message["method"] else good})


BEFORE_READING = {
    "no_header": b"Hello, I am not a language server\n" * 1000,
    "no_json": b"Content-Length: 5\r\n\r\n[1, 2",
    "no_object": b"Content-Length: 2\r\n\r\n[]",
    "too_long": b"Content-Length: 99999999999\r\n\r\n",
}


def misbehave() -> None:
    """Do what is to be done before anything is read."""
    put(BEFORE_READING.get(HOW, b""))
    if HOW == "dies_at_once":
        os._exit(3)
    if HOW in ("reads_nothing", "greets_late"):
        time.sleep(60 if HOW == "reads_nothing" else 1.5)
    while HOW == "floods_bytes":
        put(b"x" * 65536)
    while HOW == "floods_messages":
        send({"jsonrpc": "2.0", "method": "window/logMessage", "params": {"message": "x" * 1000}})
    if HOW == "has_a_child":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        note({"child": child.pid})


def main() -> None:
    note({"started": os.getpid(), "environment": dict(os.environ), "folder": str(Path.cwd())})
    misbehave()
    while message := read():
        if HOW == "wants_changes" and message.get("method") == "textDocument/hover":
            for number, method in enumerate(("workspace/applyEdit", "workspace/configuration", "x/y"), 100):
                send({"id": number, "method": method, "params": {"items": [1, 2]}})
        answer(message)


main()
