"""The review page as it is served: headers, files, connections, who decides, and how it begins and ends."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import bae_source.adapters.web
from bae_source.adapters.mcp.connections import MOST_CLIENTS, MOST_STRANGERS
from bae_source.engine.approving.deciding import Person
from tests.adapters.support import run
from tests.approval.project import FILES, built, files, plans, proposed
from tests.approval.terminal import at_terminal
from tests.trust.page import DECISIONS, JSON, LIMIT, TOKEN, Served, Tab, Waiting, bearer, refused, served, until
from tests.trust.support import git
from tests.trust.test_shadowed import shadowed

PAGE = Path(bae_source.adapters.web.__file__).parent / "page"
POLICY = "\n[tool.bae-source.policy]\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return built(tmp_path / "project")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(built(tmp_path_factory.mktemp("served") / "project")) as found:
        yield found


# Headers and files


def test_every_answer_keeps_itself_to_itself(root: Path) -> None:
    """`Tab.send` looks at the headers of each."""
    tab = Tab(root)
    seen = {tab.send("GET", f"/{path.name}").status_code for path in PAGE.iterdir() if path.name != "index.html"}
    assert seen == {200}
    answers = [tab.send("GET", "/"), tab.get("tasks"), tab.send("GET", "/nowhere"), tab.send("PUT", "/page.js")]
    answers += [tab.send("GET", "/api/v1/tasks"), tab.send("GET", "/", {"host": "evil.example"}), tab.get("nowhere")]
    answers += [tab.send("GET", "/", {"origin": "null"}), tab.send("POST", "/api/v1/tasks", bearer(TOKEN))]
    answers += [tab.send("POST", "/api/v1/tasks", bearer(TOKEN) | JSON, content=iter([b"x"])), tab.get("tasks?limit=x")]
    answers += [tab.get("tasks/x"), tab.send("HEAD", "/"), tab.send("OPTIONS", "/")]
    expected = [200, 200, 404, 405, 401, 421, 404, 403, 415, 413, 400, 404, 200, 405]
    assert [each.status_code for each in answers] == expected


def test_a_failure_says_nothing_of_this_machine(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tab = Tab(root)
    monkeypatch.setattr("bae_source.adapters.web.desk.hashlib", None)
    answer = tab.get("changes?since=x")
    assert (answer.status_code, answer.text) == (500, "Internal Server Error")
    monkeypatch.setattr("bae_source.adapters.web.desk.places", None)
    error = refused(tab.get("ledger"), 500, "internal_error")
    assert str(root) not in error
    assert "Traceback" not in error


class _Markup(HTMLParser):
    """What an HTML file loads and runs."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.inline: list[str] = []
        self._in = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in = tag
        for name, value in attrs:
            if name in ("src", "href"):
                self.loads.append(value or "")
            if name.startswith("on") or name == "style":
                self.inline.append(name)

    def handle_data(self, data: str) -> None:
        if self._in in ("script", "style") and data.strip():
            self.inline.append(data)


def test_the_page_has_nothing_inline_and_loads_nothing_from_elsewhere() -> None:
    markup = _Markup()
    markup.feed((PAGE / "index.html").read_text())
    assert markup.inline == []
    assert {each for each in markup.loads if not each.startswith("#")} <= {path.name for path in PAGE.iterdir()}
    for path in PAGE.iterdir():
        text = path.read_text()
        for sink in (
            "innerHTML",
            "outerHTML",
            "insertAdjacent",
            "document.write",
            "eval(",
            "Function(",
            "srcdoc",
            "DOMParser",
        ):
            assert sink not in text, (path.name, sink)
        for sink in (
            "javascript:",
            "https://",
            "//cdn",
            "@import",
            "url(",
            "postMessage",
            "document.cookie",
            "createPolicy",
        ):
            assert sink not in text, (path.name, sink)
        assert "http://" not in text.replace('xmlns="http://www.w3.org/2000/svg"', ""), path.name


PATHS = [
    "/page/../desk.py",
    "/../desk.py",
    "/..%2fdesk.py",
    "/%2e%2e/desk.py",
    "/page.js%00",
    "/page.js%0a",
    "//etc/passwd",
]
PATHS += [
    "/etc/passwd",
    "/page/page.js",
    "/desk.py",
    "/guard.py",
    "/index.html",
    "/.",
    "/..",
    "/page.js/",
    "/page.js/..",
    "/PAGE.JS",
]
PATHS += [
    "/%2fetc%2fpasswd",
    "/..\\desk.py",
    "/page.js;x",
    "/page.js%20",
    "/~root",
    "/page.js.map",
    "/.git/config",
    "//",
    "/%",
    "/%zz",
]
PATHS += [
    "/api/v1/../../desk.py",
    "/static/page.js",
    "/file:///etc/passwd",
    "/api",
    "/api/v2/tasks",
    "/API/v1/tasks",
    "//api/v1/tasks",
]


@pytest.mark.parametrize("path", PATHS)
def test_no_file_but_the_pages_own_is_served(page: Served, path: str) -> None:
    """As it stands in the request line; what lies below the API needs the token, also for what is not there."""
    line = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\n"
    answer = page.raw(f"{line}Authorization: Bearer {page.token}\r\n\r\n")
    assert answer.split(" ")[1] == "404", answer
    assert "root:" not in answer
    assert page.raw(f"{line}\r\n").split(" ")[1] in ("401", "404")


def test_a_percent_sign_leads_around_no_token(page: Served) -> None:
    for path in ("/%61pi/v1/tasks", "/api%2fv1/tasks", "/api/v1%2ftasks", "/api/v1/tasks?x", "/api/v1/tasks#x"):
        assert page.raw(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\n\r\n").split(" ")[1] in (
            "401",
            "404",
            "400",
        )


def test_an_upgrade_leads_around_no_token(page: Served) -> None:
    wants = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: eA==\r\nSec-WebSocket-Version: 13\r\n"
    for more in (wants, "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: \r\n"):
        answer = page.raw(f"GET /api/v1/tasks HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\n{more}\r\n")
        assert answer.startswith("HTTP/1.1 401 "), answer


# Connections

STRANGERS = [
    "",
    "POST /api/v1/tasks/x/approve HTTP/1.1\r\nHost: x\r\nX: ",
    "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
]


@pytest.mark.parametrize("sent", STRANGERS, ids=["nothing", "half a header", "another protocol"])
def test_strangers_that_leave_connections_open_shut_no_client_out(page: Served, sent: str) -> None:
    with ExitStack() as opened:
        first = opened.enter_context(page.connect(sent))
        for number in range(MOST_STRANGERS * 4):
            opened.enter_context(page.connect(sent))
            if number % MOST_STRANGERS == 0:
                assert page.answers()
        assert page.answers()
        until(lambda: _is_closed(first), "the first is kept", 5)


def test_clients_that_leave_bodies_unfinished_shut_no_other_client_out(page: Served) -> None:
    line = f"POST /api/v1/tasks/x/approve HTTP/1.1\r\n{page.head}"
    head = f"{line}Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{{"
    with ExitStack() as opened:
        first = opened.enter_context(page.connect(head))
        for _ in range(MOST_CLIENTS + 32):
            opened.enter_context(page.connect(head))
        assert page.answers()
        until(lambda: _is_closed(first), "the first is kept", 5)


def test_requests_that_are_held_shut_no_client_out(page: Served) -> None:
    version = page.send("GET", "changes?since=x")[1]["version"]
    expected = f"GET /api/v1/changes?since={version} HTTP/1.1\r\n{page.head}\r\n"
    with ExitStack() as opened:
        for _ in range(MOST_CLIENTS - 4):
            opened.enter_context(page.connect(expected))
        assert page.answers()


def test_what_is_no_http_does_no_harm(page: Served) -> None:
    for sent in (
        "\0" * 5_000,
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        f"GET /{'x' * 70_000} HTTP/1.1\r\n\r\n",
        "\r\n" * 500,
    ):
        assert " 200 " not in page.raw(sent)
    assert " 4" in page.raw(f"GET / HTTP/1.1\r\n{'X: y' * 40_000}\r\n\r\n") or page.answers()
    assert page.answers()


def _is_closed(connection: socket.socket) -> bool:
    connection.settimeout(0.05)
    try:
        return not connection.recv(1 << 16)
    except TimeoutError:
        return False
    except OSError:
        return True


def test_while_an_approval_runs_requests_that_wait_behind_it_block_no_reads(root: Path, tmp_path: Path) -> None:
    """Nor does it decide before its turn; one that ends meanwhile by Ctrl-C leaves nothing half made."""
    marked = tmp_path / "started"
    task = proposed(root, *LIMIT, "--verify", _slow(tmp_path, marked))
    with served(root) as page:
        digest = page.send("GET", f"tasks/{task}")[1]["digest"]
        found: list[tuple[int, str]] = []

        def press(path: str, body: dict[str, str]) -> None:
            found.append((page.send("POST", path, body or {"reason": "No."})[0], path))

        presses = [threading.Thread(target=press, args=(f"tasks/{task}/approve", {"digest": digest}))]
        presses[0].start()
        until(marked.exists, "its check does not run")
        presses += [threading.Thread(target=press, args=(f"tasks/{task}/reject", {})) for _ in range(40)]
        for each in presses[1:]:
            each.start()
        time.sleep(0.2)
        began = time.monotonic()
        assert page.send("GET", "project")[0] == 200
        assert page.send("GET", f"tasks/{task}")[1]["state"] == "approved"
        assert time.monotonic() - began < 1.5
        for each in presses:
            each.join()
    assert [path.rpartition("/")[2] for status, path in found if status == 200] == ["approve"]
    assert plans(root).get(task).state == "applied"


def _slow(folder: Path, marked: Path) -> str:
    """Return a check that takes long, and leaves a mark when it begins, from the second time on."""
    program = folder / "program"
    program.write_text(
        f"#!/bin/sh\nif test -e {folder}/once; then touch {marked}; sleep 1.5; fi\ntouch {folder}/once\n"
    )
    program.chmod(0o755)
    return f"command {program}"


# Who decides


def test_who_proposed_it_does_not_approve_it(root: Path) -> None:
    task = proposed(root, *LIMIT, who="ana")
    tab, before = Tab(root), files(root)
    refused(tab.post(f"tasks/{task}/approve", {"digest": tab.digest(task)}), 403, "forbidden")
    for name in ("ana", "Ana", "ana ", "an\u200ba"):
        tab = Tab(root, Person(name=name))
        refused(tab.post(f"tasks/{task}/approve", {"digest": tab.digest(task)}), 403, "forbidden")
    assert (tab.state(task), files(root)) == ("awaiting_approval", before)


@pytest.mark.parametrize("rule", ['preset = "read-only"', 'change.deny = ["app"]', 'preset = "nonsense"'])
def test_what_a_policy_denies_meanwhile_is_neither_made_nor_undone(root: Path, rule: str) -> None:
    made, task = proposed(root, *LIMIT), proposed(root, "edit", "app.other.go", "--old", "x", "--new", "y")
    tab = Tab(root)
    operation = tab.post(f"tasks/{made}/approve", {"digest": tab.digest(made)}).json()["operation_id"]
    assert operation
    digest = tab.digest(task)
    project = root / "pyproject.toml"
    project.write_text(project.read_text() + POLICY + rule + "\n")
    before = files(root)
    refused(tab.post(f"tasks/{task}/approve", {"digest": digest}), 403, "forbidden")
    assert files(root) == before
    refused(tab.post(f"history/{operation}/undo"), 403, "forbidden")
    assert files(root) == before
    assert tab.state(task) != "applied"


def test_only_a_person_at_a_terminal_opens_the_page(root: Path) -> None:
    for words in (["review", "--no-browser"], ["review", "--terminal"]):
        called = run(*words, "--json", folder=root)
        assert called.json["errors"][0]["code"] == "forbidden"
        assert "127.0.0.1" not in called.err_text


def test_a_project_brings_no_module_that_the_page_is_made_of(root: Path, tmp_path: Path) -> None:
    mark = tmp_path / "imported"
    for name in shadowed():
        if not (root / name).exists() and not (root / f"{name}.py").exists():
            (root / f"{name}.py").write_text(f"open({str(mark)!r}, 'a').write({name!r})\n")
    with served(root) as page:
        for path in ("project", "tasks", "history", "ledger"):
            assert page.send("GET", path)[0] == 200
    assert not mark.exists() or not mark.read_text()


def test_of_two_tabs_and_two_servers_that_press_at_once_one_decides(tmp_path: Path) -> None:
    own = Waiting(tmp_path / "project")
    with served(own.root) as first, served(own.root) as second:
        found: list[tuple[int, Any]] = []
        start = threading.Barrier(4)

        def press(page: Served) -> None:
            start.wait()
            found.append(page.send("POST", f"tasks/{own.task}/approve", {"digest": own.shown}))

        presses = [threading.Thread(target=press, args=(page,)) for page in (first, second) * 2]
        for each in presses:
            each.start()
        for each in presses:
            each.join()
        statuses = [status for status, _ in found]
        made = {answer["operation_id"] for status, answer in found if status == 200}
        assert len(made) == 1, found
        assert {answer["error"]["code"] for status, answer in found if status != 200} <= {"proposal_closed", "busy"}, (
            statuses
        )
    assert len(own.get("history").json()["operations"]) == 1
    assert [each["event"] for each in own.get("ledger").json()["entries"]].count("code_modification_applied") == 1


def test_another_project_of_the_same_repository_is_out_of_reach(tmp_path: Path) -> None:
    git(built(tmp_path, {"x": ""}), "init", "-q")
    here, there = Waiting(tmp_path / "here"), Waiting(tmp_path / "there")
    before = files(tmp_path)
    assert here.get(f"tasks/{there.task}").status_code == 404
    for verb, given in zip(DECISIONS, ({"digest": there.shown}, {"reason": "No."}, {}, {}), strict=True):
        assert here.post(f"tasks/{there.task}/{verb}", given).status_code == 404
    assert there.task not in here.get("tasks?state=all").text
    made = there.post(f"tasks/{there.task}/approve", {"digest": there.shown}).json()["operation_id"]
    changed = files(tmp_path)
    assert here.post(f"history/{made}/undo").status_code >= 400
    assert files(tmp_path) == changed != before


# The beginning and the end


def test_ctrl_c_ends_it_leaves_nothing_that_listens_and_makes_all_of_a_change_or_nothing(
    root: Path, tmp_path: Path
) -> None:
    """While an approval runs, a request is held, and a connection is open."""
    marked = tmp_path / "started"
    task = proposed(root, *LIMIT, "--verify", _slow(tmp_path, marked))
    before = files(root)
    with served(root) as page, ExitStack() as opened:
        version = page.send("GET", "changes?since=x")[1]["version"]
        sent = json.dumps({"digest": page.send("GET", f"tasks/{task}")[1]["digest"]})
        head = f"{page.head}Content-Type: application/json\r\nContent-Length: {len(sent)}\r\n\r\n"
        for each in ("", f"GET /api/v1/changes?since={version} HTTP/1.1\r\n{page.head}\r\n"):
            opened.enter_context(page.connect(each))
        opened.enter_context(page.connect(f"POST /api/v1/tasks/{task}/approve HTTP/1.1\r\n{head}{sent}"))
        until(marked.exists, "its check does not run")
        page.person.presses("\x03")
        began = time.monotonic()
        assert page.person.ends() in (0, 130)
        assert time.monotonic() - began < 15
        assert not page.listens()
    assert "Traceback" not in page.person.shown
    state = Tab(root).get(f"tasks/{task}").json()["state"]
    assert state in ("applied", "approved")
    assert (state == "applied") is (files(root) != before)


def test_a_port_in_use_and_one_that_is_none_are_refused(root: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for wanted in (port, 65_536):
            with at_terminal(["review", "--no-browser", "--port", str(wanted)], root) as person:
                assert person.ends() == 2
            assert "cannot be listened on" in person.shown
            assert "#" not in person.shown


def test_it_listens_on_this_machines_own_address_alone(root: Path, page: Served) -> None:
    for host in ("127.0.0.2", "::1"):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family) as connection:
            connection.settimeout(2)
            assert connection.connect_ex((host, page.port)) != 0, host
    with at_terminal(["review", "--no-browser", "--host", "0.0.0.0"], root) as person:
        assert person.ends() == 2
    assert "--host" in person.shown


def test_a_project_without_a_proposal_is_served_as_well(tmp_path: Path) -> None:
    root = built(tmp_path / "project", {**FILES, "app/<b>x<b>.py": "x = 1\n"})
    assert Tab(root).get("tasks").json()["tasks"] == []
