"""The API of the review page: what each address answers with, and what each decision does to the project."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from bae_source.adapters.mcp.secret import Secret
from bae_source.adapters.web.application import application
from bae_source.adapters.web.desk import Desk
from bae_source.adapters.web.drawing import coloured
from bae_source.approval.proposals import State
from bae_source.engine.approving.deciding import Person
from bae_source.engine.approving.sections import Row
from bae_source.engine.service import Service
from tests.approval.project import ANA, FILES, built, files, plans, proposed

TOKEN = "T" * 40
LIMIT = ("edit", "app.core.LIMIT", "--old", "3", "--new", "1 + 2")
ENTRY = {
    "task_id", "state", "who", "at", "reason", "goal", "summary", "risk", "kind", "symbols", "names", "files", "added",
    "removed", "checks", "digest", "expires",
}  # fmt: skip
WHOLE = {
    "task_id", "state", "who", "at", "planned_at", "reason", "goal", "summary", "digest", "stale", "risk", "symbols",
    "waits_for", "warnings", "checks", "refused", "decided_by", "decided_at", "decision", "operation_id", "note",
    "expires", "files",
}  # fmt: skip
TOLD = {"status", "operation_id", "text", "task_id", "warnings", "errors"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return built(tmp_path / "project")


class Page:
    """A page on a project, whose answers come as status and data."""

    def __init__(self, root: Path, person: Person = ANA) -> None:
        desk = Desk(lambda: Service(root, environment=os.environ, process_stays=True), person)
        self.client = TestClient(application(desk, Secret(text=TOKEN), ("testserver",)))
        self.headers = {"Authorization": f"Bearer {TOKEN}"}

    def get(self, path: str) -> tuple[int, Any]:
        answer = self.client.get(f"/api/v1/{path}", headers=self.headers)
        return answer.status_code, answer.json()

    def post(self, path: str, **body: Any) -> tuple[int, Any]:
        answer = self.client.post(f"/api/v1/{path}", headers=self.headers, json=body)
        return answer.status_code, answer.json()

    def task(self, task: str) -> Any:
        status, found = self.get(f"tasks/{task}")
        assert status == 200
        return found

    def approve(self, task: str, **body: Any) -> tuple[int, Any]:
        return self.post(f"tasks/{task}/approve", **{"digest": self.task(task)["digest"], **body})


def code(answer: tuple[int, Mapping[str, Any]]) -> tuple[int, str]:
    return answer[0], answer[1]["error"]["code"]


def test_the_page_has_all_that_it_names_and_names_nothing_from_elsewhere(root: Path) -> None:
    client = Page(root).client
    page = client.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    named = re.findall(r'(?:href|src)="([^"#]+\.[a-z]+)"', page.text)
    assert {"page.css", "page.js", "icon.svg"} <= set(named)
    for name in named:
        answer = client.get(f"/{name}")
        assert answer.status_code == 200
        for other in re.findall(r'from "\./([^"]+)"', answer.text):
            assert other in named
    parts = {each.name: each.read_text() for each in (resources("bae_source.adapters.web") / "page").iterdir()}
    assert set(parts) == {"index.html", *named}
    for name, text in parts.items():
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text), name
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\(", text), name
        assert not re.search(r" (?:style|on[a-z]+)=", parts["index.html"]), name


def test_without_the_token_nothing_is_answered(root: Path) -> None:
    client = Page(root).client
    for path in ("project", "tasks", "history", "ledger", "changes"):
        assert client.get(f"/api/v1/{path}").status_code == 401


def test_the_queue_has_the_riskiest_first_and_facts_on_each(root: Path) -> None:
    page = Page(root)
    assert page.get("tasks") == (200, {"tasks": [], "counts": dict.fromkeys(map(str, State), 0), "warnings": []})
    words = proposed(root, "edit", "app.core.spare@docstring", "--source", "-", typed='"""Spare."""\n')
    limit = proposed(root, *LIMIT)
    status, found = page.get("tasks?state=waiting")
    assert status == 200
    assert [each["task_id"] for each in found["tasks"]] == [limit, words]
    first, second = found["tasks"]
    assert set(first) == set(second) == ENTRY
    assert (first["who"], first["reason"], first["kind"]) == ("bot", "to try it", "")
    assert first["names"] == ["app.core.LIMIT"]
    assert (first["symbols"], first["files"], first["added"], first["removed"]) == (1, 1, 1, 1)
    assert first["checks"] == {"import": "passed"}
    assert (second["risk"], second["kind"]) == ("low", "comments")
    assert found["counts"]["awaiting_approval"] == 2
    assert [each["task_id"] for each in page.get("tasks?limit=1")[1]["tasks"]] == [limit]
    assert page.get("tasks?state=applied")[1]["tasks"] == []


@pytest.mark.parametrize(
    "path", ["tasks?state=none", "tasks?limit=0", "tasks?limit=x", "history?limit=-1", "ledger?limit="]
)
def test_what_cannot_be_listed_is_an_error(root: Path, path: str) -> None:
    assert code(Page(root).get(path)) == (400, "invalid_arguments")


def test_a_proposal_is_shown_whole_by_its_symbols(root: Path) -> None:
    task = proposed(root, *LIMIT)
    found = Page(root).task(task)
    assert set(found) == WHOLE
    assert (found["state"], found["stale"], found["planned_at"]) == ("awaiting_approval", False, found["at"])
    [file] = found["files"]
    assert (file["name"], file["path"], file["what"]) == ("app.core", "app/core.py", "changed")
    [section] = file["sections"]
    assert (section["symbol"], section["added"], section["removed"]) == ("app.core.LIMIT", 1, 1)
    gone, come = (row for row in section["rows"] if row[0] != " ")
    assert gone == ["-", 7, None, [["", "LIMIT = "], ["n", "3"]]]
    assert come == ["+", None, 7, [["", "LIMIT = "], ["n", "1"], ["", " + "], ["n", "2"]]]
    [check] = found["checks"]
    assert set(check) == {"name", "result", "detail", "digest", "seconds", "counts", "age", "stale"}
    assert (check["name"], check["result"], check["stale"]) == ("import", "passed", False)


def test_lines_are_coloured_as_their_side_of_the_change_has_them() -> None:
    rows = [
        Row(" ", 1, 1, "def f():"),
        Row("-", 2, None, '    """Old'),
        Row("-", 3, None, '    if text"""'),
        Row("+", None, 2, '    """New"""'),
        Row(" ", 4, 3, ""),
        Row(" ", 5, 4, "    return 1  # one"),
    ]
    found = [*coloured(rows, "a.py")]
    assert ["".join(text for _, text in pieces) for pieces in found] == [row.text for row in rows]
    assert found[2] == [["s", '    if text"""']]
    assert found[-1] == [["", "    "], ["k", "return"], ["", " "], ["n", "1"], ["", "  "], ["c", "# one"]]
    assert [*coloured(rows, "")] == [[["", row.text]] for row in rows]


def test_who_uses_a_symbol_and_whether_it_is_public(root: Path) -> None:
    page = Page(root)
    status, found = page.get("symbols?name=app.core.send")
    assert status == 200
    assert set(found) == {"symbol", "public", "places", "counts", "complete"}
    assert found["public"] is True
    assert {each["symbol"] for each in found["places"] if each["kind"] == "call"} >= {"app.other.go"}
    (root / "app/core.py").write_text(f"{FILES['app/core.py']}\n\ndef _own():\n    pass\n")
    assert page.get("symbols?name=app.core._own")[1]["public"] is False
    assert code(page.get("symbols?name=app.core.nothing")) == (404, "symbol_not_found")


def test_an_approval_makes_the_change_and_an_undo_takes_it_back(root: Path) -> None:
    before, task = files(root), proposed(root, *LIMIT)
    page = Page(root)
    status, made = page.approve(task, reason="fine")
    assert (status, set(made), made["status"]) == (200, TOLD, "applied")
    assert "LIMIT = 1 + 2" in (root / "app/core.py").read_text()
    shown = page.task(task)
    assert (shown["state"], shown["decided_by"], shown["decision"]) == ("applied", "ana", "fine")
    assert shown["operation_id"] == made["operation_id"]
    [operation] = page.get("history")[1]["operations"]
    names = {"id", "kind", "of", "who", "at", "why", "summary", "symbols", "files", "undone_by", "diff"}
    assert set(operation) == names
    assert (operation["id"], operation["who"]) == (made["operation_id"], "bot")
    assert operation["symbols"] == ["app.core.LIMIT"]
    assert "+LIMIT = 1 + 2" in page.get(f"history/{made['operation_id']}")[1]["operations"][0]["diff"]
    status, undone = page.post(f"history/{made['operation_id']}/undo")
    assert (status, undone["status"]) == (200, "applied")
    assert files(root) == before
    assert [each["kind"] for each in page.get("history")[1]["operations"]] == ["undo", "change"]
    assert page.get("history")[1]["operations"][1]["undone_by"] == undone["operation_id"]


def test_an_approval_of_another_digest_is_refused_and_changes_nothing(root: Path) -> None:
    before, task = files(root), proposed(root, *LIMIT)
    page = Page(root)
    assert code(page.approve(task, digest="0" * 64)) == (409, "stale")
    assert code(page.approve(task, digest=5)) == (400, "invalid_arguments")
    assert (files(root), plans(root).get(task).state) == (before, State.AWAITING)


def test_the_proposer_cannot_approve(root: Path) -> None:
    before, task = files(root), proposed(root, *LIMIT)
    assert code(Page(root, Person(name="bot", is_named=True)).approve(task)) == (403, "forbidden")
    assert (files(root), plans(root).get(task).state) == (before, State.AWAITING)


def test_the_second_of_two_decisions_is_reported(root: Path) -> None:
    task = proposed(root, *LIMIT)
    one, other = Page(root), Page(root)
    assert one.approve(task)[0] == 200
    after = files(root)
    assert code(other.approve(task)) == (409, "proposal_closed")
    assert code(other.post(f"tasks/{task}/reject", reason="no")) == (409, "proposal_closed")
    assert code(other.post(f"tasks/{task}/expire")) == (409, "proposal_closed")
    assert (files(root), plans(root).get(task).state) == (after, State.APPLIED)


def test_a_rejection_needs_a_reason_and_is_shown_with_it(root: Path) -> None:
    before, task = files(root), proposed(root, *LIMIT)
    page = Page(root)
    assert code(page.post(f"tasks/{task}/reject", reason=" ")) == (400, "invalid_arguments")
    assert code(page.post(f"tasks/{task}/reject")) == (400, "invalid_arguments")
    assert plans(root).get(task).state is State.AWAITING
    assert page.post(f"tasks/{task}/reject", reason="not now")[0] == 200
    shown = page.task(task)
    assert (shown["state"], shown["decided_by"], shown["decision"]) == ("rejected", "ana", "not now")
    assert files(root) == before


def test_a_part_is_refused_and_the_rest_waits_under_another_digest(root: Path) -> None:
    requests = (
        '[{"do": "edit", "target": "app.core.LIMIT", "old": "3", "new": "4"},'
        ' {"do": "edit", "target": "app.core.encoded", "old": "json.dumps(text)", "new": "json.dumps([text])"}]'
    )
    before, task = files(root), proposed(root, "apply", "-", typed=requests)
    page = Page(root)
    first = page.task(task)
    digests = {each["symbol"]: each["digest"] for each in first["files"][0]["sections"]}
    assert set(digests) == {"app.core.LIMIT", "app.core.encoded"}
    assert code(page.post(f"tasks/{task}/reject", reason="no", parts=["app.other"])) == (400, "invalid_arguments")
    assert code(page.post(f"tasks/{task}/reject", reason="no", parts="app.core.LIMIT")) == (400, "invalid_arguments")
    assert page.task(task)["digest"] == first["digest"]
    assert page.post(f"tasks/{task}/reject", reason="stays", parts=["app.core.LIMIT"])[0] == 200
    rest = page.task(task)
    assert (rest["state"], rest["symbols"]) == ("awaiting_approval", ["app.core.encoded"])
    assert rest["digest"] != first["digest"]
    assert rest["refused"] == [{"symbol": "app.core.LIMIT", "reason": "stays", "by": "ana"}]
    [section] = rest["files"][0]["sections"]
    assert section["digest"] == digests["app.core.encoded"]  # so that it stays marked as reviewed
    assert files(root) == before


def test_a_proposal_expires(root: Path) -> None:
    before, task = files(root), proposed(root, *LIMIT)
    page = Page(root)
    assert page.post(f"tasks/{task}/expire")[0] == 200
    assert page.task(task)["state"] == "expired"
    assert files(root) == before


def test_what_is_stale_says_so_and_is_planned_anew_under_another_digest(root: Path) -> None:
    task = proposed(root, *LIMIT)
    page = Page(root)
    first = page.task(task)
    core = root / "app/core.py"
    core.write_text(core.read_text().replace("import json", "import json  # text"))
    before = files(root)
    shown = page.task(task)
    assert (shown["stale"], shown["state"]) == (True, "awaiting_approval")
    assert [each["stale"] for each in shown["checks"]] == [True]
    assert code(page.approve(task)) == (409, "stale")
    assert page.post(f"tasks/{task}/renew")[0] == 200
    again = page.task(task)
    assert (again["stale"], again["state"], again["digest"] != first["digest"]) == (False, "awaiting_approval", True)
    assert again["files"][0]["sections"][0]["digest"] == first["files"][0]["sections"][0]["digest"]
    assert (again["at"], again["planned_at"] >= again["at"]) == (first["at"], True)
    assert files(root) == before


def test_the_ledger_has_entries_and_the_state_of_its_chain(root: Path) -> None:
    page = Page(root)
    assert page.approve(proposed(root, *LIMIT))[0] == 200
    status, found = page.get("ledger")
    assert status == 200
    assert set(found) == {"entries", "state", "holds"}
    assert found["holds"] is True
    events = [each["event"] for each in found["entries"]]
    assert events[0] == "code_modification_scheduled"
    assert "code_modification_approved" in events
    hashes = [each["hash"] for each in found["entries"]]
    assert [each["prev"] for each in found["entries"]][1:] == hashes[:-1]
    [path] = (root / ".bae-source/ledger").glob("*.jsonl")
    path.write_text(path.read_text().replace('"bot"', '"eve"', 1))
    status, found = page.get("ledger")
    assert (status, found["holds"]) == (200, False)


def test_a_held_request_answers_once_something_changes(root: Path) -> None:
    page = Page(root)
    task = proposed(root, *LIMIT)
    first = page.get("changes")[1]["version"]
    page.task(task)
    shown = page.get(f"changes?task={task}")[1]["version"]
    core = root / "app/core.py"
    core.write_text(f"{core.read_text()}\n# more\n")
    assert page.get("changes")[1]["version"] == first
    assert page.get(f"changes?since={shown}&task={task}")[1]["version"] != shown
    assert page.post(f"tasks/{task}/expire")[0] == 200
    assert page.get(f"changes?since={first}")[1]["version"] != first


@pytest.mark.parametrize("path", ["tasks/code_mod_00000000", "tasks/x", "history/op_000000000000"])
def test_what_is_not_there_is_not_found(root: Path, path: str) -> None:
    status, found = Page(root).get(path)
    assert status == 404
    assert found["error"]["message"]


def test_the_project_and_the_person_are_named(root: Path) -> None:
    assert Page(root).get("project") == (200, {"project": "project", "who": "ana"})
