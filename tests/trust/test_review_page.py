"""The review page and its API: what another page, account or client sends decides nothing, and gets nothing."""

from __future__ import annotations

import json
import secrets
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bae_source.adapters.web.guard import LARGEST
from tests.approval.project import built, files, line, plans, proposed
from tests.trust.page import DECISIONS, HOST, JSON, LIMIT, TOKEN, Served, Waiting, bearer, refused, served, until

NOTES = ("edit", ":notes.txt", "--old", "two", "--new", "2")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Waiting:
    """For what has to leave the proposal waiting, and the project as it was."""
    return Waiting(tmp_path_factory.mktemp("kept") / "project")


@pytest.fixture
def tab(kept: Waiting) -> Iterator[Waiting]:
    """See that a case decides nothing and writes nothing."""
    before, entered = files(kept.root), len(kept.get("ledger").json()["entries"])
    yield kept
    assert (kept.state(kept.task), files(kept.root)) == ("awaiting_approval", before)
    assert len(kept.get("ledger").json()["entries"]) == entered


@pytest.fixture
def own(tmp_path: Path) -> Waiting:
    """For what decides."""
    return Waiting(tmp_path / "project")


@pytest.fixture(scope="module")
def page(kept: Waiting) -> Iterator[Served]:
    with served(kept.root) as found:
        yield found


def approves(tab: Waiting, **headers: str) -> tuple[str, str, dict[str, str]]:
    """Return an approval that would count."""
    return "POST", f"/api/v1/tasks/{tab.task}/approve", bearer(TOKEN) | JSON | headers


def body(tab: Waiting) -> bytes:
    return json.dumps({"digest": tab.shown}).encode()


# Names, origins and other pages

PORT = HOST.partition(":")[2]
STRANGE_HOSTS = ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:80", f"localhost.evil.example:{PORT}"]
STRANGE_HOSTS += [f"127.0.0.1.nip.example:{PORT}", f"[::1]:{PORT}", f"0.0.0.0:{PORT}", f"127.1:{PORT}", f"{HOST}."]
STRANGE_HOSTS += [
    "",
    f"{HOST}@evil.example",
    f" {HOST} x",
    f"{HOST}, evil.example",
    f"http://{HOST}",
    f"localhost.:{PORT}",
]


@pytest.mark.parametrize("host", STRANGE_HOSTS)
def test_a_name_that_leads_here_by_dns_gets_nothing(tab: Waiting, host: str) -> None:
    for method, path in (("GET", "/"), ("GET", "/page.js"), ("GET", "/api/v1/tasks"), ("GET", "/nowhere")):
        refused(tab.send(method, path, bearer(TOKEN) | {"host": host}), 421, "forbidden")
    method, path, headers = approves(tab, host=host)
    refused(tab.send(method, path, headers, content=body(tab)), 421, "forbidden")


def test_several_hosts_and_addresses_in_the_request_line_lead_nowhere(page: Served) -> None:
    own = f"127.0.0.1:{page.port}"
    token = f"Authorization: Bearer {page.token}\r\n"
    for request, statuses in (
        (f"GET /api/v1/tasks HTTP/1.1\r\nHost: {own}\r\nHost: evil.example\r\n{token}\r\n", ("400", "421")),
        (f"GET /api/v1/tasks HTTP/1.1\r\nHost: {own}\r\nHost: {own}\r\n{token}\r\n", ("400", "421")),
        (f"GET /api/v1/tasks HTTP/1.1\r\n{token}\r\n", ("400",)),
        (f"GET /api/v1/tasks HTTP/1.0\r\n{token}\r\n", ("421",)),
        (f"GET http://evil.example/api/v1/tasks HTTP/1.1\r\nHost: {own}\r\n{token}\r\n", ("404",)),
        (f"GET http://{own}/api/v1/tasks HTTP/1.1\r\nHost: evil.example\r\n{token}\r\n", ("421",)),
        (f"GET //evil.example/api/v1/tasks HTTP/1.1\r\nHost: {own}\r\n{token}\r\n", ("404",)),
        (f"CONNECT {own} HTTP/1.1\r\nHost: {own}\r\n{token}\r\n", ("404", "405")),
        (f"OPTIONS * HTTP/1.1\r\nHost: {own}\r\n{token}\r\n", ("404", "405")),
        (
            f"GET /api/v1/tasks HTTP/1.1\r\nHost: {own}\r\nX-Forwarded-Host: {own}\r\nForwarded: host={own}\r\n\r\n",
            ("401",),
        ),
    ):
        answer = page.raw(request)
        assert answer.split(" ")[1] in statuses, (request, answer)
        assert "code_mod_" not in answer


STRANGE_ORIGINS = ["http://evil.example", "null", f"https://{HOST}", "http://127.0.0.1:1", "http://127.0.0.1", "", "*"]
STRANGE_ORIGINS += [f"http://localhost:{PORT}", f"http://{HOST}.evil.example", f"http://x@{HOST}", f"{HOST}", "file://"]


@pytest.mark.parametrize("origin", STRANGE_ORIGINS)
def test_what_another_page_sends_is_not_answered_even_with_the_token(tab: Waiting, origin: str) -> None:
    method, path, headers = approves(tab, origin=origin)
    refused(tab.send(method, path, headers, content=body(tab)), 403, "forbidden")
    refused(tab.get("tasks", origin=origin), 403, "forbidden")
    twice = [*bearer(TOKEN).items(), ("origin", f"http://{HOST}"), ("origin", origin)]
    refused(tab.send("GET", "/api/v1/tasks", twice), 403, "forbidden")


@pytest.mark.parametrize("site", ["cross-site", "same-site", "", "nonsense", "none, cross-site"])
def test_what_a_browser_says_comes_from_elsewhere_is_not_answered(tab: Waiting, site: str) -> None:
    method, path, headers = approves(tab, **{"sec-fetch-site": site})
    refused(tab.send(method, path, headers, content=body(tab)), 403, "forbidden")
    for target in ("/page.js", "/page.css", "/", "/api/v1/tasks"):
        refused(tab.send("GET", target, bearer(TOKEN) | {"sec-fetch-site": site}), 403, "forbidden")
    twice = [*bearer(TOKEN).items(), ("sec-fetch-site", "same-origin"), ("sec-fetch-site", site)]
    refused(tab.send("GET", "/api/v1/tasks", twice), 403, "forbidden")


def test_a_link_leads_to_the_page_and_to_nothing_else(tab: Waiting) -> None:
    """As the file does by which the browser is started; what it leads to has nothing of the project."""
    goes = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert tab.send("GET", "/", goes).status_code == 200
    for method, path, more in (
        ("GET", "/", {"sec-fetch-dest": "iframe"}),
        ("GET", "/", {"sec-fetch-dest": "object"}),
        ("GET", "/", {"sec-fetch-mode": "no-cors"}),
        ("HEAD", "/", {}),
        ("POST", "/", {}),
        ("GET", "/page.js", {}),
        ("GET", "/api/v1/tasks", {}),
        ("POST", f"/api/v1/tasks/{tab.task}/expire", {}),
    ):
        assert tab.send(method, path, bearer(TOKEN) | JSON | goes | more).status_code == 403, (method, path, more)


@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "",
        "text/json",
        "application/jsonp",
        "text/plain; application/json",
        "application/csp-report",
        "application/json, text/plain",
    ],
)
def test_what_a_form_can_send_decides_nothing(tab: Waiting, kind: str) -> None:
    method, path, headers = approves(tab, **{"content-type": kind})
    refused(tab.send(method, path, headers, content=body(tab)), 415)


def test_a_preflight_allows_nothing(tab: Waiting) -> None:
    asks = {"access-control-request-method": "POST", "access-control-request-headers": "authorization"}
    asks["access-control-request-private-network"] = "true"
    for origin, status in (("http://evil.example", 403), ("null", 403), (f"http://{HOST}", 401)):
        for path in (f"/api/v1/tasks/{tab.task}/approve", "/api/v1/tasks"):
            assert tab.send("OPTIONS", path, asks | {"origin": origin}).status_code == status


# The token

WRONG = ["", "x", TOKEN[:-1], TOKEN[1:], TOKEN + "x", TOKEN * 2, TOKEN.swapcase(), TOKEN.replace("-", "_"), "é" * 40]
WRONG += [
    f"{TOKEN[:9]} {TOKEN[9:]}",
    f"\xa0{TOKEN}",
    f"{TOKEN}\x85",
    f"{TOKEN},{TOKEN}",
    f'"{TOKEN}"',
    "%4e" + TOKEN[1:],
]


@pytest.mark.parametrize("wrong", WRONG)
def test_without_the_token_nothing_is_answered(tab: Waiting, wrong: str) -> None:
    for scheme in ("Bearer", "bearer"):
        given = {"authorization": f"{scheme} {wrong}".encode("latin-1")}
        refused(tab.send("GET", "/api/v1/tasks", given), 401, "forbidden")
        refused(
            tab.send("POST", f"/api/v1/tasks/{tab.task}/approve", given | JSON, content=body(tab)), 401, "forbidden"
        )


def test_the_token_counts_in_one_place_alone(tab: Waiting) -> None:
    task = f"/api/v1/tasks/{tab.task}/approve"
    ways: list[Any] = [{}, {"authorization": TOKEN}, {"authorization": f"Basic {TOKEN}"}, {"cookie": f"token={TOKEN}"}]
    ways += [{"proxy-authorization": f"Bearer {TOKEN}"}, {"x-token": TOKEN}, {"authorization": f"Bearer{TOKEN}"}]
    ways += [[*bearer(TOKEN).items(), *bearer(TOKEN).items()], [*bearer(TOKEN).items(), *bearer("x").items()]]
    for headers in ways:
        given = [*(headers.items() if isinstance(headers, dict) else headers), *JSON.items()]
        for path in (task, f"{task}?token={TOKEN}", f"{task}?access_token={TOKEN}&authorization=Bearer%20{TOKEN}"):
            refused(tab.send("POST", path, given, content=body(tab)), 401, "forbidden")
        refused(tab.send("GET", f"/api/v1/tasks?token={TOKEN}", given), 401, "forbidden")
    refused(tab.send("GET", f"/api/v1/{TOKEN}/tasks"), 401, "forbidden")
    assert tab.send("GET", f"/{TOKEN}/api/v1/tasks").status_code == 404


def test_what_is_white_elsewhere_is_not_left_out_of_a_token(page: Served) -> None:
    line, token = f"GET /api/v1/project HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\nAuthorization: Bearer", page.token
    for given in (
        f"\xa0{token}",
        f"{token}\xa0",
        f"{token}\x85",
        f"{token}\r\nAuthorization: Bearer {token}",
        f"{token[:9]}\r\n {token[9:]}",
    ):
        assert page.raw(f"{line} {given}\r\n\r\n").split(" ")[1] in ("400", "401"), given
    assert page.raw(f"{line} {token} \r\n\r\n").split(" ")[1] == "200"


def test_the_token_is_compared_in_constant_time(tab: Waiting, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bytes] = []
    right = secrets.compare_digest

    def compared(given: bytes, wanted: bytes) -> bool:
        seen.append(given)
        return bool(right(given, wanted))

    monkeypatch.setattr(secrets, "compare_digest", compared)
    for token in (TOKEN[:9], TOKEN):
        tab.send("GET", "/api/v1/project", bearer(token))
    assert seen == [TOKEN[:9].encode(), TOKEN.encode()]


def test_the_token_stands_where_its_owner_alone_can_read_it(tmp_path: Path) -> None:
    """In no process list, request line or file but one, which leads the browser to the page and goes with it."""
    root, home = built(tmp_path / "project"), tmp_path / "home"
    home.mkdir()
    proposed(root, *LIMIT)
    browser = tmp_path / "browser"
    given_to, led = tmp_path / "arguments", tmp_path / "led"
    copies = f'cp -p "${{1#file://}}" {led}\nprintf "%s\\n" "$@" > {given_to}.part\nmv {given_to}.part {given_to}\n'
    browser.write_text(f"#!/bin/sh\n{copies}")
    browser.chmod(0o755)
    with served(root, HOME=str(home), BROWSER=f"{browser} %s") as page:
        until(given_to.exists, "no browser was started")
        [given] = given_to.read_text().split()
        assert Path(given.removeprefix("file://")).parent == home
        assert led.stat().st_mode & 0o777 == 0o600
        assert f"http://127.0.0.1:{page.port}/#{page.token}" in led.read_text()
        led.unlink()
        assert not [*home.glob("*.html")], "it is gone once the page is there"
        for path in ("project", "tasks", "ledger", "history", "nowhere"):
            page.send("GET", path) if path != "nowhere" else page.raw(f"GET /{path} HTTP/1.1\r\n{page.head}\r\n")
        shown = subprocess.run(["ps", "-A", "-ww", "-o", "args="], capture_output=True, text=True, check=True).stdout
        assert "review" in shown
        assert page.token not in given + shown
        if (environ := Path(f"/proc/{page.person.process.pid}/environ")).exists():
            assert page.token.encode() not in environ.read_bytes()
        page.person.presses("\x03")
        page.person.ends()
    assert page.person.shown.count(page.token) == 1
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and page.token.encode() in path.read_bytes()]


# Digests


def test_a_digest_that_is_not_the_one_shown_approves_nothing(tab: Waiting) -> None:
    shown, other = tab.shown, plans(tab.root).get(tab.task)
    forged = ["", shown[:12], shown[:-1], shown + "0", shown.upper(), f" {shown}", f"{shown}\n", "0" * len(shown)]
    forged += [other.after, other.id, "\0", "*", "None", "sha256:" + shown]
    for each in forged:
        refused(tab.post(f"tasks/{tab.task}/approve", {"digest": each}), 409, "stale")
    for value in (None, [shown], {"digest": shown}, 0, True, [], 1.5):
        refused(tab.post(f"tasks/{tab.task}/approve", {"digest": value}), 400)
    refused(tab.post(f"tasks/{tab.task}/approve", {"Digest": shown}), 400)
    refused(tab.post(f"tasks/{tab.task}/approve"), 400)


def test_a_digest_of_another_proposal_or_of_an_older_plan_approves_nothing(own: Waiting) -> None:
    other = proposed(own.root, *NOTES)
    before = files(own.root)
    refused(own.post(f"tasks/{own.task}/approve", {"digest": own.digest(other)}), 409, "stale")
    refused(own.post(f"tasks/{other}/approve", {"digest": own.shown}), 409, "stale")
    core = own.root / "app" / "core.py"
    core.write_text(core.read_text() + "\n\nMORE = 1\n")
    assert own.get(f"tasks/{own.task}").json()["stale"]
    for _ in range(2):
        refused(own.post(f"tasks/{own.task}/approve", {"digest": own.shown}), 409, "stale")
    assert files(own.root) == before | {"app/core.py": core.read_bytes()}
    assert own.state(own.task) == "awaiting_approval"
    assert own.post(f"tasks/{own.task}/approve", {"digest": own.digest(own.task)}).status_code == 200


def test_an_approval_counts_once(own: Waiting) -> None:
    made = own.post(f"tasks/{own.task}/approve", {"digest": own.shown}).json()
    refused(own.post(f"tasks/{own.task}/approve", {"digest": own.shown}), 409, "proposal_closed")
    assert own.post(f"history/{made['operation_id']}/undo").status_code == 200
    before = files(own.root)
    for verb, given in (("approve", {"digest": own.shown}), ("reject", {"reason": "No."}), ("expire", {})):
        refused(own.post(f"tasks/{own.task}/{verb}", given), 409, "proposal_closed")
    assert (own.state(own.task), files(own.root)) == ("applied", before)
    assert own.post(f"history/{made['operation_id']}/undo").status_code != 200


@pytest.mark.parametrize(("verb", "given"), [("reject", {"reason": "No."}), ("expire", {})])
def test_what_is_closed_is_not_approved(own: Waiting, verb: str, given: dict[str, str]) -> None:
    before = files(own.root)
    assert own.post(f"tasks/{own.task}/{verb}", given).status_code == 200
    for again, body in (("approve", {"digest": own.shown}), ("reject", {"reason": "x"}), ("expire", {}), ("renew", {})):
        answer = own.post(f"tasks/{own.task}/{again}", body)
        assert answer.status_code == 409 or again == "renew", answer.text
    assert own.state(own.task) in ("rejected", "expired")
    assert files(own.root) == before


# Parts and reasons

NO_PARTS: list[Any] = ["app.core.LIMIT", {"app.core.LIMIT": 1}, [1], [None], [["app.core.LIMIT"]], [{}], True, 7, None]
UNKNOWN = [
    "",
    " ",
    "\0",
    "\ud800",
    "*",
    "**",
    "app.**",
    "../app",
    "app.core.LIMI",
    "app.core.limit",
    "APP",
    "app.core.LIMIT.x",
]
UNKNOWN += [
    "app.core.LIMIT ",
    "app.core.LIMIT\0",
    "app.core.",
    ":app/core.py",
    "app/core.py",
    ":",
    ".",
    "app.other",
    "\u202eapp",
]


def test_parts_that_are_none_take_nothing_out(tab: Waiting) -> None:
    for parts in NO_PARTS:
        refused(tab.post(f"tasks/{tab.task}/reject", {"reason": "No.", "parts": parts}), 400)
    for part in UNKNOWN:
        for parts in ([part], ["app.core.LIMIT", part]):
            refused(tab.post(f"tasks/{tab.task}/reject", {"reason": "No.", "parts": parts}), 400)
    many = [f"p{number}" for number in range(10_000)]
    refused(tab.post(f"tasks/{tab.task}/reject", {"reason": "No.", "parts": many}), 413, "budget_exceeded")
    refused(tab.post(f"tasks/{tab.task}/reject", {"reason": "No.", "parts": many[:6_000]}), 400)


def test_an_empty_part_is_not_all_the_files_there_are(own: Waiting) -> None:
    notes = proposed(own.root, *NOTES)
    refused(own.post(f"tasks/{notes}/reject", {"reason": "No.", "parts": [""]}), 400)
    assert own.state(notes) == "awaiting_approval"


def test_a_module_that_is_refused_takes_out_what_it_has_and_nothing_of_others(own: Waiting) -> None:
    requests = [
        {"do": "edit", "target": "app.core.LIMIT", "old": "3", "new": "1 + 2"},
        {"do": "edit", "target": "app.other.go", "old": "x", "new": "y"},
    ]
    task = proposed(own.root, "apply", "-", typed=json.dumps(requests))
    reason, before = "x" * 9_000, files(own.root)
    shown = own.digest(task)
    response = own.post(f"tasks/{task}/reject", {"reason": reason, "parts": ["app.core"] * 3_000})
    assert response.status_code == 200, response.text
    found = own.get(f"tasks/{task}").json()
    assert [(each["symbol"], each["by"]) for each in found["refused"]] == [("app.core", "ana")], "kept once"
    assert found["symbols"] == ["app.other.go"]
    refused(own.post(f"tasks/{task}/approve", {"digest": shown}), 409, "stale")
    assert files(own.root) == before


def test_what_a_decision_does_not_have_is_refused_and_not_left_out(tab: Waiting) -> None:
    """As an approval with parts, which would approve all of it."""
    digest = {"digest": tab.shown}
    for verb, given in (
        ("approve", digest | {"parts": ["app.core.LIMIT"]}),
        ("approve", digest | {"only": ["app.core.LIMIT"]}),
        ("approve", digest | {"task_id": "code_mod_00000000"}),
        ("approve", digest | {"who": "eva"}),
        ("reject", {"reason": "No.", "digest": tab.shown}),
        ("expire", {"reason": "No."}),
        ("renew", digest),
    ):
        refused(tab.post(f"tasks/{tab.task}/{verb}", given), 400)
    refused(tab.post("history/op_000000000000/undo", {"force": True}), 400)


def test_a_rejection_needs_a_reason_that_can_be_read(tab: Waiting) -> None:
    blank = ["", " ", "\n\t", "\0", "\x1b", "\u200b", "\u202e\u2066", "\u00a0\u3000", "\ufeff"]
    broken = ["\ud800", "No \udfff", "x" * 10_001, None, 1, ["No."], {"a": "No."}]
    for parts in ([], ["app.core.LIMIT"]):
        for reason in blank + broken:
            refused(tab.post(f"tasks/{tab.task}/reject", {"reason": reason, "parts": parts}), 400)
        refused(tab.post(f"tasks/{tab.task}/reject", {"parts": parts}), 400)
    refused(tab.post(f"tasks/{tab.task}/reject", {"reason": "x" * 1_000_000}), 413, "budget_exceeded")
    for reason in broken:
        refused(tab.post(f"tasks/{tab.task}/approve", {"digest": tab.shown, "reason": reason}), 400)


def test_what_drives_a_terminal_does_not_where_a_reason_is_shown(own: Waiting) -> None:
    reason = "No\0\x1b]0;owned\x07\x1b[2J\u202e\u2066<script>alert(1)</script>\r\nsecond"
    assert own.post(f"tasks/{own.task}/reject", {"reason": reason}).status_code == 200
    answer = own.get(f"tasks/{own.task}")
    assert answer.json()["decision"] == reason
    assert answer.content.isascii()
    assert not set(b"\0\x1b\x07\r\n") & set(answer.content)
    shown = line(own.root, "show", own.task, "--json").out
    assert not set(b"\0\x1b\x07") & set(shown)


# Names of proposals and operations

NAMES = [
    "x",
    ".",
    "..",
    "%2e%2e",
    "..%2fx",
    "%2fetc%2fpasswd",
    "%00",
    "%0a",
    "%ff%fe",
    "%ed%a0%80",
    "c",
    "code_mod_",
    "*",
]
NAMES += [
    "code_mod_%00",
    "code_mod_0000000g",
    "code_mod_00000000",
    "CODE_MOD_00000000",
    "op_",
    "op_000000000000",
    "%25",
    "'--",
]
NAMES += [
    "x" * 60_000,
    "code_mod_" + "0" * 9,
    "0" * 8,
    "code_mod_00000000%20",
    "code_mod_00000000;x",
    "-1",
    "~",
    "{task_id}",
]


@pytest.mark.sampled
@pytest.mark.parametrize("name", NAMES, ids=lambda name: name[:20])
def test_a_name_that_is_none_leads_to_nothing(tab: Waiting, name: str) -> None:
    for verb, given in zip(DECISIONS, ({"digest": tab.shown}, {"reason": "No."}, {}, {}), strict=True):
        assert tab.post(f"tasks/{name}/{verb}", given).status_code in (404, 405), verb
    assert tab.post(f"history/{name}/undo").status_code in (400, 404, 405)
    assert tab.get(f"tasks/{name}").status_code in (200, 404)
    for path in (f"tasks/{name}", f"history/{name}", f"symbols?name={name}", f"changes?since=x&task={name}"):
        answer = tab.get(path)
        assert answer.status_code < 500, path
        assert "internal_error" not in answer.text
        assert "root:" not in answer.text


def test_to_decide_a_beginning_of_a_name_does_not_do(tab: Waiting) -> None:
    whole = tab.task
    for name in (
        whole[:-1],
        whole[9:],
        whole[9:12],
        whole.upper(),
        f"{whole}%20",
        f"{whole}%00",
        f"{whole}%0a",
        f"x{whole}",
    ):
        for verb, given in zip(DECISIONS, ({"digest": tab.shown}, {"reason": "No."}, {}, {}), strict=True):
            refused(tab.post(f"tasks/{name}/{verb}", given), 404)
    refused(tab.post(f"tasks/{whole}/approve?task_id=code_mod_00000000", {"digest": "x"}), 409, "stale")


# Methods and bodies


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "NONSENSE"])
def test_only_a_post_decides(tab: Waiting, method: str) -> None:
    for path in (*(f"tasks/{tab.task}/{verb}" for verb in DECISIONS), "history/op_000000000000/undo"):
        answer = tab.send(method, f"/api/v1/{path}", bearer(TOKEN) | JSON, content=body(tab))
        assert answer.status_code == 405, answer.text
    if method not in ("GET", "HEAD"):
        assert tab.send(method, "/api/v1/tasks", bearer(TOKEN)).status_code == 405
        assert tab.send(method, "/").status_code == 405


def test_a_method_in_small_letters_is_another_one(tab: Waiting, page: Served) -> None:
    sent = body(tab).decode()
    head = f"{page.head}Content-Type: application/json\r\nContent-Length: {len(sent)}\r\n\r\n"
    assert " 405 " in page.raw(f"post /api/v1/tasks/{tab.task}/approve HTTP/1.1\r\n{head}{sent}")


BODIES = [
    b"[",
    b"[" * 60_000,
    b'{"a":' * 10_000,
    b"NaN",
    b"\xff",
    b"[]",
    b"null",
    b'"x"',
    b"1",
    b"{}{}",
    b"{'digest': 1}",
]
BODIES += [
    '{"digest":"x"}'.encode("utf-16"),
    b"\xef\xbb\xbf{}",
    b'{"digest":' + b"9" * 5_000 + b"}",
    b'{"digest":NaN}',
    b"{}\0",
]
BODIES += [
    b'{"digest":-Infinity}',
    b'{"__proto__":{}}',
    b"digest=x",
    b"<digest/>",
    b'{"digest":"x"',
    b'{"digest":"\xed\xa0\x80"}',
]


@pytest.mark.parametrize("sent", BODIES, ids=lambda sent: repr(sent[:14]))
def test_a_body_that_is_none_decides_nothing(tab: Waiting, sent: bytes) -> None:
    for verb in DECISIONS[:2]:
        refused(tab.post(f"tasks/{tab.task}/{verb}", sent), 400)


def test_a_field_that_stands_twice_is_refused(tab: Waiting) -> None:
    first = f'{{"digest":"x","digest":"{tab.shown}"}}'
    second = f'{{"digest":"{tab.shown}","reason":"","digest":"{tab.shown}"}}'
    for sent in (first, second, '{"reason":"No.","parts":[],"parts":["app.core.LIMIT"]}'):
        for verb in DECISIONS:
            refused(tab.post(f"tasks/{tab.task}/{verb}", sent.encode()), 400)


def test_the_length_of_a_body_has_to_be_given_and_small(tab: Waiting) -> None:
    path = f"tasks/{tab.task}/approve"
    for length in ("", "-1", "+1", "1e3", "0x10", "1_0", "1 0", "9" * 5_000, str(LARGEST + 1), "\xb2"):
        refused(tab.post(path, body(tab), **{"content-length": length.encode("latin-1")}), 413, "budget_exceeded")  # type: ignore[arg-type]
    method, target, headers = approves(tab)
    refused(tab.send(method, target, headers, content=iter([body(tab)])), 413, "budget_exceeded")
    refused(tab.post(path, b'{"digest":"x"}' + b" " * LARGEST), 413, "budget_exceeded")
    lies = tab.post(path, b'{"digest":"' + b"x" * LARGEST + b'"}', **{"content-length": "14"})
    refused(lies, 400)


def test_a_body_that_is_longer_or_shorter_than_it_says_decides_nothing(tab: Waiting, page: Served) -> None:
    decides = f"POST /api/v1/tasks/{tab.task}/expire HTTP/1.1\r\n{page.head}Content-Type: application/json\r\n"
    assert " 413 " in page.raw(f"{decides}Transfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n")
    for head in (
        "Content-Length: 2\r\nContent-Length: 3",
        "Content-Length: x",
        "Content-Length: -2",
        "Content-Length: 2, 3",
    ):
        assert " 400 " in page.raw(f"{decides}{head}\r\n\r\n{{}}")
    assert " 400 " in page.raw(f"{decides}Content-Length: 1\r\n\r\n{{}}")
    page.connect(f"{decides}Content-Length: 9\r\n\r\n{{}}").close()
    page.connect(f"{decides}Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{{}}").close()
    assert page.answers()


@pytest.mark.parametrize(
    "limit", ["0", "-1", "9" * 5_000, "1e3", "0x10", "\u0663", "\u00b2", " 1", "", "100001", "1,2", "NaN"]
)
def test_a_limit_that_is_none_is_refused(tab: Waiting, limit: str) -> None:
    for path in ("tasks", "history", "ledger"):
        refused(tab.send("GET", f"/api/v1/{path}", bearer(TOKEN), params={"limit": limit}), 400)
    refused(tab.get("tasks?state=nonsense"), 400)
