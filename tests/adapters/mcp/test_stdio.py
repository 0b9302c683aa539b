"""A server over pipes: what it answers to what is no message, to wrong calls, and to a client that cancels."""

from __future__ import annotations

import asyncio
import json
import os
import select
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse

from bae_source.adapters.mcp.stdio import Wire, connected
from tests.adapters.mcp.support import (
    LEGACY,
    MODERN,
    PATIENCE,
    Raw,
    descendants,
    is_running,
    make_project,
    raw,
    until,
)

INVALID_PARAMS = -32602
SLOW = "X = __import__('time').sleep(60)"


@contextmanager
def unchanged(project: Path) -> Iterator[None]:
    """Check that what is done in the block changes no file of the project."""
    before = {path: path.read_bytes() for path in project.rglob("*.py")}
    yield
    assert {path: path.read_bytes() for path in project.rglob("*.py")} == before


@pytest.mark.parametrize(
    ("line", "request_id", "code"),
    [
        (b"nothing\n", None, -32700),
        (b'{"jsonrpc": "2.0"\n', None, -32700),
        (b"\xff\xfe\n", None, -32700),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"\n", None, -32700),
        (b"[]\n", None, -32600),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]\n', None, -32600),
        (b"7\n", None, -32600),
        (b'{"id":"a","method":"ping"}\n', "a", -32600),
        (b'{"jsonrpc":"1.0","id":5,"method":"ping"}\n', 5, -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}\n', None, -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}\n', None, -32600),
        (
            b'{"jsonrpc":"2.0","id":"deep","method":"x","params":' + b'{"a":' * 300 + b"1" + b"}" * 301 + b"\n",
            "deep",
            -32600,
        ),
        (b'{"jsonrpc":"2.0","id":"lone","method":"x","params":{"a":"\\ud800"}}\n', "lone", -32600),
    ],
)
def test_what_is_no_message_is_answered_with_an_error(
    server: Raw, line: bytes, request_id: str | int | None, code: int
) -> None:
    server.write(b"\n  \n" + line)
    found = server.line()
    assert (found["id"], found["error"]["code"]) == (request_id, code)
    assert server.ask("ping")["result"] == {}


def test_a_request_before_the_handshake_is_refused_and_the_wrong_version_is_answered_with_ours(server: Raw) -> None:
    assert server.early["error"]["code"] == INVALID_PARAMS
    assert server.handshake["result"]["protocolVersion"] == LEGACY
    assert server.ask("ping", modern=True)["error"]["code"] == -32600


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("nope/nope", {}, -32601),
        ("tools/call", {}, INVALID_PARAMS),
        ("tools/call", {"name": 5}, INVALID_PARAMS),
        ("tools/call", {"name": "read", "arguments": [1]}, INVALID_PARAMS),
        ("tools/list", {"cursor": "nope"}, INVALID_PARAMS),
        ("resources/list", {"cursor": "nope"}, INVALID_PARAMS),
        ("resources/templates/list", {"cursor": "nope"}, INVALID_PARAMS),
        ("prompts/list", {"cursor": "nope"}, INVALID_PARAMS),
        ("resources/read", {"uri": "file:///etc/passwd"}, INVALID_PARAMS),
        ("resources/read", {"uri": "source://"}, INVALID_PARAMS),
        ("resources/read", {"uri": "source://../../etc/passwd"}, INVALID_PARAMS),
        ("resources/read", {"uri": "source://app.client?page=2"}, INVALID_PARAMS),
        ("resources/read", {"uri": "source://app.client?cursor=x"}, INVALID_PARAMS),
        ("resources/read", {"uri": "source://app.nope"}, -32002),
        ("prompts/get", {"name": "nope"}, INVALID_PARAMS),
        ("prompts/get", {"name": "find_users"}, INVALID_PARAMS),
    ],
)
def test_what_the_protocol_has_an_error_for_is_that_error(
    server: Raw, method: str, params: dict[str, Any], code: int
) -> None:
    assert server.ask(method, params)["error"]["code"] == code


def test_an_unknown_tool_is_an_error_that_names_close_ones(server: Raw) -> None:
    error = server.ask("tools/call", {"name": "reed", "arguments": {}})["error"]
    assert error["code"] == INVALID_PARAMS
    assert "Did you mean read?" in error["message"]
    assert error["data"]["errors"][0]["code"] == "unknown_operation"
    long = server.ask("tools/call", {"name": "x" * 1_000_000})["error"]
    assert len(json.dumps(long)) < 10_000


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("read", {"target": 325035}, "invalid_arguments"),
        ("read", {"targt": "app"}, "invalid_arguments"),
        ("read", {"target": "app.nope"}, "symbol_not_found"),
        ("read", {"x" * 10_000_000: 1}, "invalid_arguments"),
        ("edit", {"target": "app.client.Client", "new_source": "x" * 10_000_000}, "invalid_arguments"),
        ("edit", {"target": "app.client.Client.send", "transaction": "tx_never_was"}, "handle_expired"),
        ("edit", {"target": "app.client.Client.send", "transaction": 5}, "invalid_arguments"),
        ("undo", {"transaction": "tx_never_was"}, "invalid_arguments"),
        ("transaction_commit", {"transaction": "tx_never_was"}, "handle_expired"),
        ("transaction_commit", {"transaction": "tx_never_was", "dry_run": True}, "invalid_arguments"),
        ("transaction_commit", {}, "invalid_arguments"),
        ("transaction_begin", {"why": "x" * 20_000}, "invalid_arguments"),
        ("transaction_preview", {"transaction": ["tx"]}, "invalid_arguments"),
    ],
)
def test_what_cannot_be_done_is_a_result_that_says_why(
    server: Raw, project: Path, name: str, arguments: dict[str, Any], code: str
) -> None:
    with unchanged(project):
        answer = server.ask("tools/call", {"name": name, "arguments": arguments})
    result = answer["result"]
    assert result["isError"]
    [failure] = result["structuredContent"]["errors"]
    assert failure["code"] == code
    text = result["content"][0]["text"]
    assert f"error[{code}]" in text
    assert failure["hints"]
    assert all(hint in text for hint in failure["hints"])
    assert len(json.dumps(answer)) < 60_000


def test_what_is_reported_of_a_whole_transaction_is_not_reported_of_one_change(server: Raw, project: Path) -> None:
    handle = server.call("transaction_begin")["structuredContent"]["text"]
    with unchanged(project):
        result = server.call("edit", target="app.client", transaction=handle, verify=["tests"], why="because")
    assert "verify, why cannot be given for one change" in result["content"][0]["text"]
    assert not server.call("transaction_abandon", transaction=handle)["isError"]


def test_a_change_that_is_cancelled_is_not_made_and_the_server_goes_on(server: Raw, project: Path) -> None:
    file = project / "app" / "client.py"
    before = file.read_text()
    slow = server.send(
        "tools/call",
        {
            "name": "insert",
            "arguments": {"target": "app.client", "new_source": SLOW, "position": "last"},
            "_meta": {"progressToken": "signs"},
        },
    )
    change = {"target": "app.client.Client.stop", "new_source": "def stop(self): ..."}
    queued = server.send("tools/call", {"name": "edit", "arguments": change, "_meta": {"progressToken": "queue"}})
    until(lambda: descendants(server.process.pid), "nothing judges it")
    children = descendants(server.process.pid)
    signs = [server.line()["params"] for _ in range(2)]
    server.notify("notifications/cancelled", requestId=queued, reason="changed my mind")
    server.notify("notifications/cancelled", requestId=slow, reason="too slow")
    until(lambda: not any(map(is_running, children)), "what judges it goes on")
    server.meanwhile.clear()
    assert "pass" in server.call("read", target="app.client.Client.stop")["structuredContent"]["text"]
    assert [each for each in server.meanwhile if "id" in each] == []
    assert server.call("history")["structuredContent"]["text"].startswith("(no ")
    assert file.read_text() == before
    assert {each["progressToken"]: each["message"] for each in signs} == {
        "signs": "insert is at work",
        "queue": "Another request is being answered first",
    }


def test_a_change_that_is_cancelled_while_it_is_planned_leaves_its_transaction_open(server: Raw) -> None:
    handle = server.call("transaction_begin")["structuredContent"]["text"]
    for number in range(20):
        source = f"def g{number}() -> int:\n    return {number}\n"
        change = server.send(
            "tools/call",
            {
                "name": "insert",
                "arguments": {"target": "app.client", "new_source": source, "position": "last", "transaction": handle},
            },
        )
        server.notify("notifications/cancelled", requestId=change)
    assert not server.call("transaction_preview", transaction=handle)["isError"]
    assert not server.call("transaction_abandon", transaction=handle)["isError"]
    assert server.ask("ping")["result"] == {}


def test_while_a_call_is_at_work_no_id_is_taken_twice_and_others_that_are_cancelled_make_room(
    server: Raw, project: Path
) -> None:
    file = project / "app" / "client.py"
    before = file.read_text()
    handle = server.call("transaction_begin")["structuredContent"]["text"]
    change = {"target": "app.client", "new_source": SLOW, "position": "last"}
    slow = server.send("tools/call", {"name": "insert", "arguments": change})
    until(lambda: descendants(server.process.pid), "nothing judges it")
    for same in (slow, str(slow)):
        server.write(json.dumps({"jsonrpc": "2.0", "id": same, "method": "ping"}) + "\n")
        refused = server.line()
        assert (refused["id"], refused["error"]["code"]) == (None, -32600)
        assert f"The id {json.dumps(same)} is in use" in refused["error"]["message"]
    for _ in range(70):  # more than can be unanswered at once
        queued = server.send("tools/call", {"name": "read", "arguments": {"target": "app.client"}})
        server.notify("notifications/cancelled", requestId=str(queued))
    assert server.ask("ping")["result"] == {}
    server.notify("notifications/cancelled", requestId=slow)
    assert not server.call("transaction_preview", transaction=handle)["isError"], "an interruption costs no transaction"
    assert file.read_text() == before


def test_a_commit_that_was_asked_for_wrongly_leaves_its_transaction_open(server: Raw, project: Path) -> None:
    handle = server.call("transaction_begin")["structuredContent"]["text"]
    change: dict[str, Any] = {"target": "app.client.Client.stop", "old": "pass", "new": "return"}
    assert not server.call("edit", transaction=handle, **change)["isError"]
    with unchanged(project):
        wrongly: list[dict[str, Any]] = [{"verify": ["nope"]}, {"verify": ["import"], "reload": "off"}]
        for wrong in (*wrongly, {"verify": ["command '"]}):
            [failure] = server.call("transaction_commit", transaction=handle, **wrong)["structuredContent"]["errors"]
            assert failure["code"] == "invalid_arguments"
    done = server.call("transaction_commit", transaction=handle, reload="off")
    assert done["structuredContent"]["status"] == "applied"
    assert not server.call("undo")["isError"]


def test_a_file_whose_name_is_no_text_is_left_out_of_resources_and_ends_nothing(server: Raw, project: Path) -> None:
    file = project / "app" / os.fsdecode(b"caf\xe9.py")
    file.write_text("X = 1\n")
    completing = {"ref": {"type": "ref/resource", "uri": "source://{name}"}, "argument": {"name": "name", "value": ""}}
    try:
        completed = server.ask("completion/complete", completing)["result"]["completion"]["values"]
        listed = [each["name"] for each in server.ask("resources/list")["result"]["resources"]]
        text = server.call("grep", pattern="^X = 1")["structuredContent"]["text"]
    finally:
        file.unlink()
    assert completed == listed
    assert "app.client" in listed
    assert not any("caf" in name for name in listed)
    assert "app.caf\\udce9" in text


def test_an_answer_that_cannot_be_written_becomes_an_error() -> None:
    outside, inside, sink, client = *os.pipe(), *reversed(os.pipe())

    async def speak() -> bytes:
        wire = Wire(os.fdopen(outside, "rb"), sink)
        async with connected(wire) as (incoming, outgoing):
            await outgoing.send(SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=7, result={"name": "caf\udce9"})))
            ready, _, _ = await asyncio.to_thread(select.select, [client], [], [], PATIENCE)
            assert ready, "nothing is written"
            line = os.read(client, 10_000)
            os.close(inside)
            async for _ in incoming:
                pass
            return line

    found = json.loads(asyncio.run(speak()))
    os.close(sink)
    os.close(client)
    assert (found["id"], found["error"]["code"]) == (7, -32603)


def test_what_verified_code_and_commands_print_reaches_no_client(server: Raw, project: Path) -> None:
    result = server.call(
        "insert",
        target="app.client",
        new_source="Y = print('loud', flush=True)",
        position="last",
        verify=["command echo shouted"],
    )
    assert not result["isError"], result["content"][0]["text"]
    assert not server.call("undo")["isError"]
    assert server.ask("ping")["result"] == {}


def test_bytes_that_are_no_text_do_not_break_the_answer(server: Raw, project: Path) -> None:
    (project / "app" / "old.py").write_bytes(b"# -*- coding: latin-1 -*-\nA = 'gr\xfc\xdf'\n")
    result = server.call("edit", target="app.old.A", old="gr", new="Gr")
    assert not result["isError"], result["content"][0]["text"]
    assert "+A = 'Gr\\udcfc\\udcdf'" in result["structuredContent"]["diff"]
    assert not server.call("undo")["isError"]
    assert (project / "app" / "old.py").read_bytes().endswith(b"A = 'gr\xfc\xdf'\n")


def test_a_client_of_the_newest_protocol_needs_no_handshake(project: Path) -> None:
    with raw(project, "--read-only", "--tools", "read", "--tools", "grep", "--budget", "200", "--who", "me") as server:
        found = server.ask("server/discover", modern=True)["result"]
        assert found["supportedVersions"] == [MODERN]
        assert "by name" in found["instructions"]
        assert found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "bae-source"
        listed = server.ask("tools/list", modern=True)["result"]
        assert [each["name"] for each in listed["tools"]] == ["read", "grep"]
        assert listed["resultType"] == "complete"
        assert server.ask("tools/call", {"name": "edit"}, modern=True)["error"]["code"] == INVALID_PARAMS
        result = server.call("read", modern=True, target="app.counters", full=True)
        assert result["structuredContent"]["errors"][0]["code"] == "budget_exceeded"
        paged = server.call("read", modern=True, target="app.counters", full=True, cursor="0")["structuredContent"]
        assert not paged["complete"]
        assert len(paged["text"].encode()) <= 200
        missing = server.ask("resources/read", {"uri": "source://app.nope"}, modern=True)
        assert missing["error"]["code"] == INVALID_PARAMS
        assert [each["name"] for each in server.ask("prompts/list", modern=True)["result"]["prompts"]] == []
        assert server.ask("initialize", {"protocolVersion": LEGACY})["error"]["code"] == -32022
        future = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2099-01-01"}}
        assert server.ask("tools/list", future, modern=True)["error"]["code"] == -32022


def test_changes_and_transactions_are_formatted_on_request(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    with (project / "pyproject.toml").open("a") as settings:
        settings.write("\n[tool.ruff]\n")
    with raw(project) as server:
        server.initialize(MODERN)
        new = {"target": "app.client", "position": "last", "new_source": "ONE = [ 1,2 ]\n"}
        assert "+ONE = [1, 2]\n" in server.call("insert", **new, format=True)["structuredContent"]["diff"]
        handle = server.call("transaction_begin")["structuredContent"]["text"]
        new["new_source"] = "TWO = [ 1,2 ]\n"
        with unchanged(project):
            result = server.call("insert", **new, transaction=handle, format=True)
        assert "format cannot be given for one change" in result["content"][0]["text"]
        assert not server.call("insert", **new, transaction=handle)["isError"]
        assert not server.call("transaction_commit", transaction=handle, format=True)["isError"]
        assert (project / "app/client.py").read_text().endswith("ONE = [1, 2]\nTWO = [1, 2]\n")
