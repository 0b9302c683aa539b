"""Drafts, open transactions and refused changes, through the doors that callers use."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from mcp import Client

from bae_source import Session, Source
from bae_source.adapters.mcp.door import Door
from bae_source.adapters.mcp.offer import offered
from bae_source.approval.drafts import MOST
from bae_source.engine.changing import Changing
from bae_source.engine.registry import called
from bae_source.engine.service import Service
from bae_source.errors import HistoryError, Refused, ResourceError
from bae_source.model.outcome import DRAFT_LIFETIME, Outcome
from tests.adapters.mcp.test_clients import over_pipes
from tests.adapters.support import run
from tests.plan_files import asked, drafts_of, plan_files
from tests.trust.support import git

pytestmark = pytest.mark.sampled

CORE = """\
class A:
    def send(self): ...


class B:
    def send(self): ...


def f(thing, other):
    thing.send()
    other.send()
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "core.py").write_text(CORE)
    (root / "user.py").write_text("from core import A\n\nA().send()\n")
    return root


def refused(root: Path, **more: Any) -> str:
    """Ask for a rename that is refused, and return the handle of its draft."""
    with pytest.raises(Refused) as caught:
        Source(root).rename("core.A.send", "post", reload="off", **more)
    assert caught.value.code == "unsafe_change"
    handle: str = caught.value.details["draft"]
    return handle


def code_of(root: Path) -> str:
    return (root / "core.py").read_text()


def test_a_refusal_has_a_handle_that_another_process_commits_leaving_what_is_unsure(root: Path) -> None:
    asked = run("rename", "core.A.send", "post", "--json", folder=root).json
    assert (asked["status"], asked["errors"][0]["code"]) == ("error", "unsafe_change")
    assert [each["line"] for each in asked["report"]["unsure"]] == [10, 11]
    assert any(asked["draft"] in action for action in asked["next_actions"])
    assert code_of(root) == CORE
    still = run("commit", asked["draft"], "--json", folder=root)
    assert (still.json["errors"][0]["code"], still.json["draft"]) == ("unsafe_change", asked["draft"])
    assert code_of(root) == CORE
    made = run("commit", asked["draft"], "--unsure", "leave", "--json", "--reload", "off", folder=root).json
    assert (made["status"], [each["line"] for each in made["report"]["unsure"]]) == ("applied", [10, 11])
    assert code_of(root) == CORE.replace("send(self)", "post(self)", 1)
    assert (root / "user.py").read_text() == "from core import A\n\nA().post()\n"
    again = run("commit", asked["draft"], "--unsure", "leave", "--json", folder=root)
    assert (again.json["errors"][0]["code"], again.status) == ("handle_expired", 7)
    Source(root).undo(reload="off")
    assert code_of(root) == CORE


def test_unsure_places_change_all_or_by_their_place(root: Path) -> None:
    handle = refused(root)
    source = Source(root)
    with pytest.raises(Refused, match="1 place may mean it") as caught:
        source.commit(handle, include=("core:10",), reload="off")
    assert caught.value.details["draft"] == handle
    made = source.commit(handle, unsure="leave", include=("core.f:11:11",), reload="off")
    assert made.report is not None
    assert [each["line"] for each in made.report["unsure"]] == [10]
    assert code_of(root) == CORE.replace("send(self)", "post(self)", 1).replace("other.send", "other.post")
    source.undo(reload="off")
    source.commit(refused(root), unsure="change", reload="off")
    assert code_of(root) == CORE.replace("send(self)", "post(self)", 1).replace(".send()", ".post()")


def test_what_the_refused_change_chose_stays_chosen(root: Path) -> None:
    handle = refused(root, include=("core:10",), why="to speak of posts")
    Source(root).commit(handle, unsure="leave", reload="off")
    assert "thing.post()" in code_of(root)
    assert "other.send()" in code_of(root)
    assert "to speak of posts" in Source(root).history()


def test_a_draft_that_is_abandoned_is_gone(root: Path) -> None:
    handle = refused(root)
    gone = run("abandon", handle, "--json", folder=root).json
    assert (gone["status"], "with 1 planned change; nothing" in gone["text"]) == ("unchanged", True)
    for ask in (Source(root).abandon, Source(root).commit):
        with pytest.raises(HistoryError) as caught:
            ask(handle)
        assert (caught.value.code, "it was abandoned" in caught.value.message) == ("handle_expired", True)
    assert code_of(root) == CORE


@pytest.mark.parametrize("handle", ["draft_" + "0" * 24, "draft_", "../core.py", "tx_1", "draft_" + "Z" * 24])
def test_a_handle_that_never_was_has_expired(root: Path, handle: str) -> None:
    for known in (False, True):
        if known:
            refused(root)
        for ask in (Source(root).abandon, Source(root).commit):
            with pytest.raises(HistoryError) as caught:
                ask(handle)
            assert (caught.value.code, bool(caught.value.hints)) == ("handle_expired", True)


def test_a_draft_ends_so_long_after_its_last_use(root: Path) -> None:
    handle = refused(root)
    used = time.time() - DRAFT_LIFETIME + 60
    asked(root, "UPDATE drafts SET used = ?", used)
    with pytest.raises(Refused):
        Source(root).commit(handle, reload="off")
    assert asked(root, "SELECT used > ? FROM drafts", used + 60) == [(1,)], "a use begins its lifetime anew"
    asked(root, "UPDATE drafts SET used = ?", used - 120)
    with pytest.raises(HistoryError) as caught:
        Source(root).commit(handle, unsure="leave")
    assert (caught.value.code, "30 minutes" in caught.value.hints[0]) == ("handle_expired", True)
    assert drafts_of(root) == []


def test_there_are_never_too_many_and_the_oldest_goes_first(root: Path) -> None:
    first, second = refused(root), refused(root)
    for number in range(MOST - 2):
        row = "SELECT ?, project, used, content, check_sum FROM drafts WHERE handle = ?"
        asked(root, f"INSERT INTO drafts {row}", f"draft_{number:024x}", first)
    asked(root, "UPDATE drafts SET used = ? WHERE handle = ?", time.time() - 600, first)
    last = refused(root)
    names = set(drafts_of(root))
    assert (len(names), first in names, second in names, last in names) == (MOST, False, True, True)


def test_a_change_of_the_code_meanwhile_is_shown_and_the_next_commit_takes_it(root: Path) -> None:
    handle = refused(root)
    with (root / "core.py").open("a") as file:
        file.write("\n\ndef g(thing):\n    thing.send()\n")
    before = code_of(root)
    with pytest.raises(Refused) as caught:
        Source(root).commit(handle, unsure="leave", reload="off", dry_run=True)
    assert caught.value.code == "stale"
    with pytest.raises(Refused) as caught:
        Source(root).commit(handle, unsure="leave", reload="off")
    assert (caught.value.code, caught.value.details["draft"]) == ("stale", handle)
    assert [each["line"] for each in caught.value.details["report"]["unsure"]] == [10, 11, 15]
    assert code_of(root) == before
    assert Source(root).commit(handle, unsure="leave", reload="off").status == "applied"


def test_a_change_of_what_it_does_not_concern_leaves_a_draft_as_it_is(root: Path) -> None:
    handle = refused(root)
    with (root / "user.py").open("a") as file:
        file.write("x = 1\n")
    (root / "other.py").write_text("y = 2\n")
    assert Source(root).commit(handle, unsure="leave", reload="off").status == "applied"


def test_a_draft_that_would_be_made_without_a_question_now_is_shown_before(root: Path) -> None:
    handle = refused(root)
    (root / "core.py").write_text(CORE.partition("\n\n\ndef f")[0] + "\n")
    with pytest.raises(Refused, match="Now nothing is unsure") as caught:
        Source(root).commit(handle, reload="off")
    assert (caught.value.code, caught.value.details["report"]["unsure"]) == ("stale", [])
    assert "send" in (root / "user.py").read_text()
    assert Source(root).commit(handle, reload="off").status == "applied"


def test_a_draft_whose_target_is_gone_says_so(root: Path) -> None:
    handle = refused(root)
    (root / "core.py").write_text("x = 1\n")
    with pytest.raises(ResourceError, match="core defines no A") as caught:
        Source(root).commit(handle, unsure="leave", reload="off")
    assert caught.value.code == "symbol_not_found"


def test_a_dry_run_keeps_no_draft_and_one_of_a_commit_keeps_its_own(root: Path) -> None:
    with pytest.raises(Refused) as caught:
        Source(root).rename("core.A.send", "post", dry_run=True)
    assert "draft" not in caught.value.details
    assert drafts_of(root) == []
    handle = refused(root)
    planned = Source(root).commit(handle, unsure="leave", dry_run=True)
    assert (planned.status, code_of(root)) == ("planned", CORE)
    assert drafts_of(root) == [handle]


def test_other_refusals_keep_no_draft(root: Path) -> None:
    for target, name in (("core.A.send", "class"), ("core.A", "B"), ("core.nothing", "x"), ("core.A.send", "__len__")):
        with pytest.raises(ResourceError) as caught:
            Source(root).rename(target, name)
        assert "draft" not in caught.value.details
    assert drafts_of(root) == []


def test_where_nothing_can_be_kept_the_refusal_says_how_to_repeat_it(root: Path) -> None:
    (root / ".bae-source").write_text("in the way")
    with pytest.raises(Refused) as caught:
        Source(root).rename("core.A.send", "post")
    assert (caught.value.code, "draft" in caught.value.details) == ("unsafe_change", False)
    assert any("unsure" in hint for hint in caught.value.hints)


def test_a_batch_with_a_rename_is_kept_whole(root: Path) -> None:
    changes = [
        {"do": "insert", "target": "core.A", "new_source": "LIMIT = 1\n"},
        {"do": "rename", "target": "core.A.send", "new_name": "post"},
        {"do": "rename", "target": "core.f", "new_name": "g", "unsure": "leave"},
    ]
    (root / "changes.json").write_text(json.dumps({"message": "Two of them.", "requests": changes}))
    asked = run("apply", "changes.json", "--json", "--reload", "off", folder=root).json
    assert asked["errors"][0]["code"] == "unsafe_change", asked
    assert "core.A.send" in asked["errors"][0]["message"]
    assert code_of(root) == CORE
    made = run("commit", asked["draft"], "--unsure", "leave", "--json", "--reload", "off", folder=root).json
    assert made["status"] == "applied", made
    assert [each["line"] for each in made["report"]["unsure"]] == [13, 14]
    assert all(line in code_of(root) for line in ("LIMIT = 1", "def g(", "post(self)", "thing.send()"))
    assert made["warnings"] == []
    Source(root).undo(reload="off")
    assert code_of(root) == CORE


def test_a_transaction_with_a_rename_tells_what_it_leaves_once(root: Path) -> None:
    with Source(root).transaction("several") as tx:
        planned = tx.rename("core.A.send", "post", unsure="leave")
        assert planned.report is not None
        assert len(planned.report["unsure"]) == 2
        assert planned.warnings == ()
        with pytest.raises(Refused) as caught:
            tx.rename("core.B.send", "put")
        assert "draft" not in caught.value.details
    assert "post(self)" in code_of(root)


def test_forget_takes_drafts_along(root: Path) -> None:
    handle = refused(root)
    Source(root).forget()
    assert drafts_of(root) == []
    assert not (root / ".bae-source").exists()
    with pytest.raises(HistoryError):
        Source(root).commit(handle)
    assert code_of(root) == CORE


def test_a_draft_is_for_this_user_alone(root: Path) -> None:
    refused(root)
    [path] = plan_files(root)
    assert [each.stat().st_mode & 0o077 for each in path.parent.glob(f"{path.name}*")] == [0, 0]


def test_a_draft_that_was_tampered_with_is_none(root: Path) -> None:
    for content in (b"", b"{", b'{"requests": 1}', b'{"requests": [{"do": "nonsense"}], "refused": true}'):
        handle = refused(root)
        asked(root, "UPDATE drafts SET content = ?, check_sum = ?", content, crc32(content))
        with pytest.raises(ResourceError) as caught:
            Source(root).commit(handle, unsure="leave")
        assert caught.value.code in ("handle_expired", "unknown_operation"), content
    assert code_of(root) == CORE


def test_a_damaged_store_is_named_for_a_lost_handle_and_drafts_go_on(root: Path) -> None:
    handle = refused(root)
    [path] = plan_files(root)
    path.write_bytes(path.read_bytes()[:5_000])
    with pytest.raises(HistoryError) as caught:
        Source(root).commit(handle, unsure="leave")
    assert (caught.value.code, f"{path}.damaged-1" in caught.value.hints[-1]) == ("handle_expired", True)
    assert code_of(root) == CORE
    assert Source(root).commit(refused(root), unsure="leave", reload="off").status == "applied"


def test_while_the_store_is_busy_a_refusal_says_how_to_repeat_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused(root)
    monkeypatch.setattr("bae_source.approval.plan_file.PATIENCE", 0.1)
    with closing(sqlite3.connect(plan_files(root)[0], isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Refused) as caught:
            Source(root).rename("core.A.send", "post")
        assert (caught.value.code, "draft" in caught.value.details) == ("unsafe_change", False)
        with pytest.raises(Refused, match="cannot write its own state") as caught:
            door_of(root).service.keeping.begin("x")
        assert caught.value.code == "forbidden"
    assert code_of(root) == CORE


def test_a_draft_of_another_project_of_the_repository_is_none(root: Path) -> None:
    git(root.parent, "init", "-q")
    other = root.parent / "other"
    shutil.copytree(root, other)
    handle = refused(root)
    with pytest.raises(HistoryError) as caught:
        Source(other).commit(handle, unsure="leave")
    assert (caught.value.code, code_of(other), drafts_of(root.parent)) == ("handle_expired", CORE, [handle])
    assert Source(root).commit(handle, unsure="leave", reload="off").status == "applied"


def test_a_client_of_the_server_commits_amends_and_abandons(root: Path) -> None:
    async def walk() -> None:
        async with Client(over_pipes(root)) as client:

            async def call(tool: str, **given: Any) -> Any:
                return (await client.call_tool(tool, given)).structured_content

            asked = await call("rename", target="core.A.send", new_name="post")
            assert asked["errors"][0]["code"] == "unsafe_change"
            assert asked["draft"].startswith("draft_")
            other = (await call("rename", target="core.A.send", new_name="put"))["draft"]
            still = await call("transaction_commit", transaction=asked["draft"])
            assert (still["errors"][0]["code"], still["draft"]) == ("unsafe_change", asked["draft"])
            made = await call("transaction_commit", transaction=asked["draft"], unsure="leave", reload="off")
            assert made["status"] == "applied", made
            gone = await call("transaction_commit", transaction=asked["draft"], unsure="leave")
            assert gone["errors"][0]["code"] == "handle_expired"
            assert (await call("transaction_abandon", transaction=other))["status"] == "unchanged"
            assert (await call("commit", draft=other))["errors"][0]["code"] == "handle_expired"
            await call("undo")
            third = (await call("rename", target="core.A.send", new_name="post"))["draft"]
            assert (await call("commit", draft=third, unsure="change", reload="off"))["status"] == "applied"
            began = (await call("transaction_begin"))["text"]
            wrong = await call("transaction_commit", transaction=began, unsure="leave")
            assert wrong["errors"][0]["code"] == "invalid_arguments"

    asyncio.run(walk())
    assert "thing.post()" in code_of(root)


def test_a_session_commits_a_draft(root: Path) -> None:
    handle = refused(root)
    with Session(root, who="tester", seconds=60) as session:
        asked = session.run("source()\nrename('core.A.send', 'put')").outcome
        assert str(asked.draft).startswith("draft_"), asked
        made = session.run(f"commit('{handle}', unsure='leave', reload='off')")
        assert session.run(f"abandon('{asked.draft}')").outcome.text.startswith("Forgot")
    assert "post(self)" in code_of(root), made


def door_of(root: Path) -> Door:
    return Door(lambda: Service(root, environment=dict(os.environ)), offered(), budget=8_000)


def planned(root: Path, *changes: dict[str, Any]) -> tuple[Door, str]:
    """Begin a transaction by the server's door, plan changes in it, and return its handle."""
    door = door_of(root)
    begun = door.call("transaction_begin", {"why": "to try it"})
    assert "30 minutes" in begun.warnings[0].message
    for each in changes:
        given = {name: value for name, value in each.items() if name != "do"}
        outcome = door.call(each["do"], {**given, "transaction": begun.text})
        assert (outcome.status, begun.text in outcome.next_actions[0]) == ("planned", True), outcome
    assert code_of(root) == CORE
    return door, begun.text


MORE = {"do": "insert", "target": "core.A", "new_source": "LIMIT = 1\n"}
POST = {"do": "rename", "target": "core.A.send", "new_name": "post", "unsure": "leave"}


def test_another_process_commits_what_a_client_of_the_server_planned(root: Path) -> None:
    _, handle = planned(root, MORE, POST)
    made = run("commit", handle, "--json", "--reload", "off", folder=root).json
    assert (made["status"], made["text"].startswith("2 changes")) == ("applied", True), made
    assert "post(self)" in code_of(root)
    assert "LIMIT = 1" in code_of(root)
    assert "to try it" in Source(root).history()
    again = run("commit", handle, "--json", folder=root).json
    assert f"it was committed as {made['operation_id']}" in again["errors"][0]["message"]
    Source(root).undo(reload="off")
    assert code_of(root) == CORE


def test_several_changes_that_were_planned_at_once_are_one_transaction_elsewhere_too(root: Path) -> None:
    door, handle = planned(root, POST)
    edit = {"do": "edit", "target": "core.f", "old": "thing.send()", "new": "thing.sent()"}
    several = {"requests": [edit, {**edit, "old": "other.send()", "new": "other.sent()"}, MORE]}
    assert door.call("apply", {**several, "transaction": handle}).status == "planned"
    made = door_of(root).call("transaction_commit", {"transaction": handle, "reload": "off"})
    assert made.status == "applied", made
    assert all(line in code_of(root) for line in ("post(self)", "thing.sent()", "other.sent()", "LIMIT = 1"))


def test_another_engine_goes_on_with_a_transaction(root: Path) -> None:
    first, handle = planned(root, MORE)
    second = door_of(root)
    seen = second.call("read", {"target": "core", "transaction": handle})
    assert "LIMIT = 1" in seen.text
    assert (
        second.call("rename", {**{k: v for k, v in POST.items() if k != "do"}, "transaction": handle}).status
        == "planned"
    )
    both = first.call("transaction_preview", {"transaction": handle})
    assert all(line in both.diff for line in ("+LIMIT = 1", "+    def post(self)"))
    assert first.call("transaction_commit", {"transaction": handle, "reload": "off"}).status == "applied"
    assert "LIMIT = 1" in code_of(root)


def test_a_commit_that_fails_leaves_the_transaction_to_be_mended(root: Path) -> None:
    broken = {"do": "edit", "target": "core.f", "imports": ("import nowhere_at_all",)}
    door, handle = planned(root, broken)
    refusal = door.call("transaction_commit", {"transaction": handle, "reload": "child"})
    assert refusal.errors[0].code == "reload_failed"
    assert code_of(root) == CORE
    mended = door.call("edit", {"target": "core", "old": "import nowhere_at_all\n", "new": "", "transaction": handle})
    assert mended.status == "planned", mended
    assert door.call("transaction_commit", {"transaction": handle, "reload": "child"}).status in (
        "applied",
        "unchanged",
    )


@pytest.mark.parametrize("here", [True, False])
def test_a_transaction_whose_code_changed_is_planned_anew_and_shown_before_it_is_made(root: Path, here: bool) -> None:
    edit = {"do": "edit", "target": "core.f", "old": "other.send()", "new": "other.put()"}
    door, handle = planned(root, edit)
    theirs = CORE.replace("thing.send()", "thing.sent()")
    (root / "core.py").write_text(theirs)
    door = door if here else door_of(root)
    refusal = door.call("transaction_commit", {"transaction": handle, "reload": "off"})
    assert (refusal.errors[0].code, refusal.draft) == ("stale", handle)
    assert "thing.sent()" in refusal.diff
    assert "+    other.put()" in refusal.diff
    assert code_of(root) == theirs
    assert door.call("transaction_commit", {"transaction": handle, "reload": "off"}).status == "applied"
    assert code_of(root) == theirs.replace("other.send()", "other.put()")


@pytest.mark.parametrize("here", [True, False])
def test_a_transaction_that_cannot_be_made_any_more_says_why(root: Path, here: bool) -> None:
    door, handle = planned(root, {"do": "edit", "target": "core.f", "old": "other.send()", "new": "other.put()"})
    (root / "core.py").write_text("x = 1\n")
    door = door if here else door_of(root)
    refusal = door.call("transaction_commit", {"transaction": handle, "reload": "off"})
    assert refusal.errors[0].code in ("stale", "symbol_not_found")
    assert any("abandon" in hint for hint in refusal.errors[0].hints)
    assert code_of(root) == "x = 1\n"
    assert door.call("transaction_abandon", {"transaction": handle}).status == "unchanged"


def test_choices_of_unsure_places_are_not_for_transactions(root: Path) -> None:
    door, handle = planned(root, MORE)
    wrong = door.call("transaction_commit", {"transaction": handle, "unsure": "leave"})
    assert (wrong.errors[0].code, code_of(root)) == ("invalid_arguments", CORE)
    assert door.call("transaction_commit", {"transaction": handle, "reload": "off"}).status == "applied"


def test_where_nothing_can_be_kept_no_transaction_begins(root: Path) -> None:
    (root / ".bae-source").write_text("in the way")
    begun = door_of(root).call("transaction_begin", {})
    assert (begun.status, begun.errors[0].code) == ("error", "forbidden")


def test_where_no_unsure_place_has_a_word_to_change_none_is_offered(root: Path) -> None:
    (root / "stars.py").write_text("def send(item): ...\n\n\ndef g(more):\n    send(**more)\n")
    with pytest.raises(Refused) as caught:
        Source(root).rename("stars.send.item", "thing")
    assert any('unsure="leave"' in hint for hint in caught.value.hints)
    assert not any("change" in hint for hint in caught.value.hints)


def test_a_dry_run_of_a_commit_leaves_a_transaction_open(root: Path) -> None:
    door, handle = planned(root, MORE)
    for source in (door.service, Service(root, environment=dict(os.environ))):
        seen = source.run(*called("commit", {"draft": handle, "dry_run": True}))
        assert (seen.status, code_of(root)) == ("planned", CORE)
    assert door.call("transaction_commit", {"transaction": handle, "reload": "off"}).status == "applied"


@pytest.mark.parametrize("made", [True, False])
def test_ctrl_c_ends_a_draft_only_where_it_was_made(root: Path, monkeypatch: pytest.MonkeyPatch, made: bool) -> None:
    _, handle = planned(root, MORE)
    change = Changing.change

    def interrupted(self: Changing, *given: Any) -> Outcome:
        if made:
            change(self, *given)
        raise KeyboardInterrupt

    monkeypatch.setattr(Changing, "change", interrupted)
    with pytest.raises(KeyboardInterrupt):
        door_of(root).call("transaction_commit", {"transaction": handle, "reload": "off"})
    monkeypatch.undo()
    assert ("LIMIT = 1" in code_of(root)) is made
    again = door_of(root).call("transaction_commit", {"transaction": handle, "reload": "off"})
    assert again.status == ("error" if made else "applied")
    assert ("it was committed as op_" in again.text) is made
    assert code_of(root).count("LIMIT = 1") == 1


def test_a_transaction_that_comes_to_nothing_ends(root: Path) -> None:
    door, handle = planned(root)
    assert door.call("transaction_commit", {"transaction": handle}).status == "unchanged"
    assert "came to nothing" in door.call("transaction_preview", {"transaction": handle}).text


def test_a_draft_keeps_what_a_dry_run_of_its_commit_verified(root: Path) -> None:
    handle = refused(root)
    words = ["commit", handle, "--unsure", "leave", "--json", "--verify", "command grep -q post core.py"]
    dry = run(*words, "--dry-run", folder=root).json
    assert [(each["name"], each["result"]) for each in dry["checks"]] == [(words[-1], "passed")]
    assert code_of(root) == CORE
    made = run("commit", handle, "--unsure", "leave", "--json", folder=root).json
    assert [(each["name"], each["result"]) for each in made["checks"]] == [("import", "passed"), (words[-1], "passed")]
    assert len({each["digest"] for each in made["checks"]}) == 1
    assert made["text"].endswith(f"Verified: {words[-1]} (in the dry run).")


def test_checks_of_a_dry_run_are_not_claimed_for_another_text(root: Path) -> None:
    handle = refused(root)
    run("commit", handle, "--unsure", "leave", "--verify", "command true", "--dry-run", folder=root)
    (root / "core.py").write_text(CORE + "\n\ndef more(): ...\n")
    made = run("commit", handle, "--unsure", "leave", "--json", folder=root).json
    assert (made["status"], [each["name"] for each in made["checks"]]) == ("applied", ["import"])
