"""The official client, over pipes and over HTTP, in both eras of the protocol; several of them at once."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_types import ResourceTemplateReference, TextResourceContents

from bae_source import Source
from bae_source.adapters.mcp.paging import PAGE
from bae_source.model.selection import KINDS
from tests.adapters.mcp.support import INFO, LEGACY, MODERN, make_project
from tests.adapters.support import command, environment, run

pytestmark = pytest.mark.sampled

T = TypeVar("T")
MODES = pytest.mark.parametrize("mode", ["auto", "legacy"])


def over_pipes(root: Path, profile: str = "full") -> StdioServerParameters:
    words = command("mcp", "--root", str(root), *(["--profile", profile] if profile else []))
    return StdioServerParameters(command=words[0], args=words[1:], env=environment())


def with_client(server: Any, do: Callable[[Client], Awaitable[T]], mode: str = "auto") -> T:
    async def run() -> T:
        async with Client(server, mode=mode) as client:
            return await do(client)

    return asyncio.run(run())


def text_of(result: Any) -> str:
    found: str = result.content[0].text
    return found


def test_a_walk_over_pipes(tmp_path: Path) -> None:
    """Find, read, plan two changes, look, commit, undo: what a client does in a session."""
    root = make_project(tmp_path / "project")
    source = Source(root)

    async def walk(client: Client) -> None:
        assert client.protocol_version == MODERN
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools][:3] == ["read", "outline", "where"]
        prompt = await client.get_prompt("change_several_things", {"goal": "Shout."})
        named = set(re.findall(r"[a-z]+_[a-z_]+", str(prompt.messages[0].content)))
        assert {"transaction_begin", "transaction_commit"} <= named & {tool.name for tool in tools}
        read = await client.call_tool("read", {"target": "app.client.Client.send"})
        assert read.structured_content["text"] == source.read("app.client.Client.send")
        etag = read.structured_content["etag"]
        begun = await client.call_tool("transaction_begin", {"why": "shout"})
        handle = begun.structured_content["text"]
        await client.call_tool(
            "edit",
            {
                "target": "app.client.Client.send",
                "old": "return text",
                "new": "return text.upper()",
                "if_match": etag,
                "transaction": handle,
            },
        )
        await client.call_tool("delete", {"target": "app.client.Client.stop", "transaction": handle})
        inside = await client.call_tool("read", {"target": "app.client.Client.send", "transaction": handle})
        assert "upper" in text_of(inside)
        outside = await client.call_tool("read", {"target": "app.client.Client.send"})
        assert outside.structured_content["etag"] == etag
        preview = await client.call_tool("transaction_preview", {"transaction": handle})
        assert preview.structured_content["status"] == "planned"
        assert preview.structured_content["diff"].rstrip() in text_of(preview)
        done = await client.call_tool("transaction_commit", {"transaction": handle, "verify": ["import"]})
        assert done.structured_content["status"] == "applied"
        assert "upper" in source.read("app.client.Client.send")
        again = await client.call_tool("transaction_commit", {"transaction": handle})
        assert again.is_error
        assert "handle_expired" in text_of(again)
        text = (await client.call_tool("history", {})).structured_content["text"]
        assert "shout" in text
        undone = await client.call_tool("undo", {})
        assert undone.structured_content["status"] == "applied"
        assert source.read("app.client.Client.send").etag == etag

    with_client(over_pipes(root), walk)


def test_a_transaction_takes_any_change_that_is_offered_several_at_once_among_them(tmp_path: Path) -> None:
    root = make_project(tmp_path / "project")
    edit = {"do": "edit", "target": "app.counters.f0", "old": "return 0", "new": "return 1"}
    several = [{**edit, "target": "app.counters.f1"}, {"do": "delete", "target": "app.counters.f2"}]

    async def walk(client: Client) -> None:
        handle = (await client.call_tool("transaction_begin", {})).structured_content["text"]
        for requests in ([edit], several):
            planned = await client.call_tool("apply", {"transaction": handle, "requests": requests})
            assert planned.structured_content["status"] == "planned"
        await client.call_tool("delete", {"transaction": handle, "target": "app.counters.f3"})
        done = await client.call_tool("transaction_commit", {"transaction": handle, "reload": "off"})
        assert done.structured_content["status"] == "applied", text_of(done)
        text = (root / "app/counters.py").read_text()
        assert [text.count(part) for part in ("return 1", "def f2", "def f3", "def f4")] == [2, 0, 0, 1]
        await client.call_tool("undo", {"reload": "off"})
        assert (root / "app/counters.py").read_text().count("return 0") == 8

    with_client(over_pipes(root), walk)


def test_a_client_of_the_usual_server_lists_calls_changes_and_gets_help(tmp_path: Path) -> None:
    root = make_project(tmp_path / "project")

    async def walk(client: Client) -> None:
        listed = await client.list_tools()
        assert len(listed.tools) == 12
        assert len(listed.model_dump_json(by_alias=True, exclude_none=True).encode()) <= 16_000
        consented = {tool.name for tool in listed.tools if tool.annotations and tool.annotations.read_only_hint}
        assert consented == {"read", "grep", "find", "references", "call"}
        read = await client.call_tool("read", {"target": "app.client.Client.send"})
        assert text_of(read).startswith("def send") or "def send" in text_of(read)
        outline = await client.call_tool("call", {"verb": "outline", "arguments": {"target": "app.client"}})
        assert "Client" in text_of(outline)
        helped = await client.call_tool("call", {"verb": "help", "arguments": {"verb": "insert"}})
        assert text_of(helped).startswith("insert(")
        added = {"target": "app.client.Client.send", "position": "after", "new_source": "def go(self): ...\n"}
        refused = await client.call_tool("call", {"verb": "insert", "arguments": added})
        assert refused.is_error
        assert 'change(verb="insert"' in text_of(refused)
        assert "def go" not in (root / "app/client.py").read_text()
        begun = await client.call_tool("change", {"verb": "transaction_begin"})
        handle = begun.structured_content["text"]
        planned = await client.call_tool("change", {"verb": "insert", "arguments": {**added, "transaction": handle}})
        [commit] = planned.structured_content["next_actions"]
        assert commit == f'change(verb="transaction_commit", arguments={{"transaction": "{handle}"}})'
        await client.call_tool("change", {"verb": "transaction_commit", "arguments": {"transaction": handle}})
        assert "def go" in (root / "app/client.py").read_text()
        await client.call_tool("undo", {})
        assert "def go" not in (root / "app/client.py").read_text()

    with_client(over_pipes(root, ""), walk)


@pytest.mark.parametrize(("named", "who"), [({}, "mcp"), ({"BAE_SOURCE_WHO": "env"}, "env")])
def test_a_caller_by_mcp_is_the_one_that_the_environment_names_or_the_client(
    tmp_path: Path, named: dict[str, str], who: str
) -> None:
    root = make_project(tmp_path / "project")
    words = command("mcp", "--root", str(root))
    server = StdioServerParameters(command=words[0], args=words[1:], env=environment(**named))

    async def walk(client: Client) -> None:
        await client.call_tool("delete", {"target": "app.counters.f0", "reload": "off"})

    with_client(server, walk)
    [entry] = Source(root).history().outcome.found
    assert entry.entry.who == who


def test_eight_clients_at_once_lose_no_change_one_of_them_with_a_server_of_its_own(url: str, project: Path) -> None:
    asyncio.run(_all_count([over_pipes(project), *[url] * 7]))
    assert _counted(project) == [4] * 8


@MODES
def test_over_http_everything_is_as_over_pipes(url: str, project: Path, mode: str) -> None:
    async def walk(client: Client) -> None:
        assert client.protocol_version == (LEGACY if mode == "legacy" else MODERN)
        uris = ["sym://python/type/app/client/Client", "sym://python/mod/no"]
        found = await client.call_tool("symbols", {"uris": uris})
        assert [each["status"] for each in found.structured_content["answers"]] == ["ok", "error"]
        assert not found.is_error
        nothing = await client.call_tool("symbols", {"uris": uris[1:] * 2})
        assert nothing.is_error
        failed = await client.call_tool("read", {"target": "app.client.Clien"})
        assert failed.is_error
        assert "app.client.Client" in failed.structured_content["errors"][0]["candidates"]
        assert "candidates:\n  app.client.Client" in text_of(failed)
        large = await client.call_tool("edit", {"target": "app.client.Client", "new_source": "x" * 10_000_000})
        assert "more than 8,000,000" in text_of(large)
        with pytest.raises(MCPError):
            await client.call_tool("nope", {})

    with_client(url, walk, mode)


def test_the_text_of_selections_is_what_the_command_line_prints(url: str, project: Path) -> None:
    good, bad = "sym://python/type/app/client/Client", "sym://python/mod/no"
    asked = [[good], [bad], [good, bad], ["app.client", good]]
    printed = {(verb, *uris): run("ast", verb, *uris, folder=project).out.decode() for verb in KINDS for uris in asked}

    async def walk(client: Client) -> None:
        for (verb, *uris), lines in printed.items():
            found = await client.call_tool(verb, {"uris": uris})
            assert [each.text for each in found.content] == [lines]
            each_of = found.structured_content.get("answers", [found.structured_content])
            assert [json.loads(line) for line in lines.splitlines()] == each_of
        handle = (await client.call_tool("transaction_begin", {})).structured_content["text"]
        inside = await client.call_tool("symbols", {"uris": [good, bad], "transaction": handle})
        assert text_of(inside) == printed["symbols", good, bad]
        wrong = await client.call_tool("symbols", {"uris": [3], "transaction": handle})
        assert json.loads(text_of(wrong)) == wrong.structured_content
        assert wrong.structured_content["errors"][0]["code"] == "INVALID_ARGUMENTS"

    with_client(url, walk)


def test_resources_come_in_pages_and_complete(url: str, project: Path) -> None:
    package = project / "many"
    package.mkdir(exist_ok=True)
    for number in range(PAGE + 5):
        (package / f"m{number:03}.py").write_text(f"X = {number}\n")

    async def walk(client: Client) -> None:
        names: list[str] = []
        cursor = None
        while True:
            page = await client.list_resources(cursor=cursor)
            names += [str(each.uri) for each in page.resources]
            assert len(page.resources) <= PAGE
            if (cursor := page.next_cursor) is None:
                break
        assert names == sorted(set(names))
        assert {"source://app", "source://app.client", "source://many.m104"} <= set(names)
        [template] = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "source://{name}"
        content = await _resource(client, "source://many.m104")
        assert content.text == "X = 104\n"
        symbol = await _resource(client, "source://app.client.Client.stop")
        assert symbol.text.startswith("    def stop(self)")
        reference = {"type": "ref/resource", "uri": template.uri_template}
        found = await client.complete(_reference(reference), {"name": "name", "value": "app."})
        assert found.completion.values == ["app.client", "app.counters"]

    with_client(url, walk)


def test_a_resource_that_is_too_long_is_read_in_pages(url: str, project: Path) -> None:
    whole = "".join(f"NAME_{number} = {number}\n" for number in range(8_000))
    (project / "app" / "long.py").write_text(whole)

    async def walk(client: Client) -> None:
        with pytest.raises(MCPError) as caught:
            await client.read_resource("source://app.long")
        assert "budget_exceeded" in str(caught.value)
        assert "source://app.long?cursor=0 is its first page" in str(caught.value)
        text, uri = "", "source://app.long?cursor=0"
        while uri:
            page = await _resource(client, uri)
            assert len(page.text.encode()) <= 64_000
            text += page.text
            uri = (page.meta or {"next": [""]})["next"][0]
        assert text == whole

    with_client(url, walk)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_handle_is_good_for_who_holds_it(url: str, mode: Any) -> None:
    async def begin(client: Client) -> str:
        handle: str = (await client.call_tool("transaction_begin", {})).structured_content["text"]
        return handle

    async def abandon(client: Client) -> bool:
        return (await client.call_tool("transaction_abandon", {"transaction": handle})).is_error

    handle = with_client(url, begin)
    assert not with_client(url, abandon, mode)
    assert with_client(url, abandon), "it has ended"


@MODES
def test_a_call_that_is_given_up_changes_nothing(url: str, project: Path, mode: str) -> None:
    file = project / "app" / "client.py"
    before = file.read_text()
    slow = {"target": "app.client", "new_source": "X = __import__('time').sleep(60)", "position": "last"}
    callers: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        callers.append(message)

    async def walk(client: Client) -> None:
        call = asyncio.ensure_future(client.call_tool("insert", slow, progress_callback=hear))
        while not call.done() and not callers:
            await asyncio.sleep(0.02)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        read = await client.call_tool("read", {"target": "app.client.Client.stop"})
        assert not read.is_error

    with_client(url, walk, mode)
    assert file.read_text() == before
    assert set(callers) == {"insert is at work"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": "http://127.0.0.1:{port}"}, 200),
        ({"Host": "localhost:{port}"}, 200),
        ({"Host": "evil.example:{port}"}, 421),
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example:{port}"}, 421),
        ({"Host": "127.0.0.1:1"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:{port}.evil.example"}, 403),
        ({"Content-Type": "text/plain"}, 400),
        ({"MCP-Protocol-Version": "2099-01-01"}, 400),
        ({"Mcp-Session-Id": "another's"}, 404),
        ({"Content-Length": str(65 * 1024 * 1024)}, 413),
    ],
)
def test_who_may_talk_to_it_over_http(url: str, headers: dict[str, str], status: int) -> None:
    given = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": INFO}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": given}
    assert _post(url, json.dumps(message).encode(), headers)[0] == status


@pytest.mark.parametrize("body", [b"", b"nothing", b"[]", b"7", b'{"jsonrpc":"1.0","id":1,"method":"ping"}'])
def test_what_is_no_message_over_http_is_an_error(url: str, body: bytes) -> None:
    status, answer = _post(url, body, {})
    assert status == 400
    assert json.loads(answer)["error"]["code"] in (-32700, -32600, -32602)


def test_a_port_that_is_taken_is_an_error(url: str, project: Path) -> None:
    called = run("mcp", "--json", "--http", str(_port(url)), folder=project)
    assert (called.status, called.json["errors"][0]["code"]) == (2, "invalid_arguments")
    assert sys.platform == "win32" or "in use" in called.json["errors"][0]["message"]


async def _resource(client: Client, uri: str) -> TextResourceContents:
    [content] = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    return content


def _reference(given: dict[str, str]) -> ResourceTemplateReference:
    return ResourceTemplateReference.model_validate(given)


def _port(url: str) -> int:
    return int(url.split(":")[2].split("/")[0])


def _post(url: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
    port = _port(url)
    usual = {
        "Host": f"127.0.0.1:{port}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Content-Length": str(len(body)),
    }
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.putrequest("POST", url.partition(str(port))[2], skip_host=True)
    for name, value in (usual | headers).items():
        connection.putheader(name, value.format(port=port))
    connection.endheaders(body)
    answer = connection.getresponse()
    try:
        return answer.status, answer.read()
    finally:
        connection.close()


async def _all_count(servers: list[Any]) -> None:
    await asyncio.gather(*(_count(server, number) for number, server in enumerate(servers)))


async def _count(server: Any, number: int) -> None:
    """Change one function four times, each time from what it was before; all clients change the same file."""
    async with Client(server, mode="auto" if number % 2 else "legacy") as client:
        for value in range(4):
            change = {"old": f"return {value}", "new": f"return {value + 1}", "reload": "off"}
            result = await client.call_tool("edit", {"target": f"app.counters.f{number}", **change})
            assert not result.is_error, text_of(result)


def _counted(root: Path) -> list[int]:
    return [int(found) for found in re.findall(r"return (\d+)", (root / "app" / "counters.py").read_text())]
