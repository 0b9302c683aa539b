"""Proposals through every door: what is kept of them, what is refused, and what callers get to see."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError
from msgspec import Struct
from msgspec.structs import replace

from bae_source import Session, Source
from bae_source.adapters import functions
from bae_source.approval.proposals import Risk, State
from bae_source.engine.registry import REQUESTS
from bae_source.errors import Refused
from bae_source.model.context import steering
from bae_source.model.request import Effect, command_of
from tests.adapters.agree.driver import Ask, through_functions, through_mcp, through_python, through_session
from tests.adapters.support import command, environment, run
from tests.approval.project import (
    ANA,
    FILES,
    approved,
    built,
    deciding,
    entries,
    files,
    line,
    plans,
    proposed,
    waiting,
)

pytestmark = pytest.mark.sampled

SEND = "def send(text):\n    return encoded(text)\n"
PATCH = "--- a/notes.txt\n+++ b/notes.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
UNUSED = "libcst.codemod.commands.remove_unused_imports:RemoveUnusedImportsCommand"


class Change(Struct, frozen=True):
    """A change as it is made in every door.

    Parameters:
        arguments: by their names.
        words: behind the verb, of the command line.
        typed: on its standard input.
    """

    arguments: dict[str, Any]
    words: tuple[str, ...]
    typed: str = ""


CHANGES = {
    "edit": Change({"target": "app.core.send", "new_source": SEND}, ("app.core.send", "--source", "-"), SEND),
    "insert": Change(
        {"target": "app.core.send", "new_source": "X = 1\n", "position": "after"},
        ("app.core.send", "--position", "after", "--source", "-"),
        "X = 1\n",
    ),
    "delete": Change({"target": "app.core.spare"}, ("app.core.spare",)),
    "move": Change({"target": "app.core.spare", "to": "app.other"}, ("app.core.spare", "app.other")),
    "rename": Change({"target": "app.core.send", "new_name": "post"}, ("app.core.send", "post")),
    "change_signature": Change(
        {"target": "app.core.send", "signature": "(text, limit=3)"}, ("app.core.send", "(text, limit=3)")
    ),
    "extract": Change(
        {"target": "app.core.send", "code": "encoded(text)", "as_name": "inner"},
        ("app.core.send", "--code", "encoded(text)", "--as", "inner"),
    ),
    "inline": Change({"target": "app.core.LIMIT", "unsure": "change"}, ("app.core.LIMIT", "--unsure", "change")),
    "replace": Change({"text": "two", "replacement": "2"}, ("two", "2")),
    "rewrite": Change(
        {"pattern": "json.dumps($X)", "replacement": "json.dumps($X, indent=1)"},
        ("json.dumps($X)", "json.dumps($X, indent=1)"),
    ),
    "codemod": Change({"codemod": UNUSED, "scope": "app.core"}, (UNUSED, "app.core")),
    "write": Change({"target": "app.new", "source": "X = 1\n"}, ("app.new", "--source", "-"), "X = 1\n"),
    "exports_add": Change({"target": "app.core", "names": ["LIMIT"]}, ("app.core", "LIMIT")),
    "exports_remove": Change({"target": "app.core", "names": ["send"]}, ("app.core", "send")),
    "exports_mend": Change({"target": "app"}, ("app",)),
    "imports_add": Change({"target": "app.core", "statements": ["import re"]}, ("app.core", "import re")),
    "imports_remove": Change({"target": "app.core", "names": ["os"]}, ("app.core", "os")),
    "imports_organise": Change({"scope": "app.core"}, ("app.core",)),
    "config_set": Change({"key": "project.version", "toml": '"2"'}, ("project.version", '"2"')),
    "config_add": Change({"key": "project.keywords", "toml": '"b"'}, ("project.keywords", '"b"')),
    "config_remove": Change({"key": "project.version"}, ("project.version",)),
    "config_rename": Change({"key": "project.keywords", "new_name": "words"}, ("project.keywords", "words")),
    "apply": Change({"patch": PATCH}, ("-",), PATCH),
}
"""Every verb that plans a change; `deps_*` change an environment, and stand by themselves."""
APART = {"deps_add", "deps_remove", "deps_upgrade", "commit", "amend", "undo", "redo"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return built(tmp_path / "project")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that tests leave as it is."""
    return built(tmp_path_factory.mktemp("proposing") / "project")


@pytest.fixture(scope="module")
def doors(shared: Path) -> Iterator[dict[str, Ask]]:
    """What each door but the command line is asked through."""
    with ExitStack() as until_the_end, pytest.MonkeyPatch.context() as patched:
        patched.setenv("USER", "bot")
        patched.setenv("BAE_SOURCE_WHO", "bot")
        through = {
            "python": through_python,
            "functions": through_functions,
            "session": through_session,
            "mcp": through_mcp,
        }
        yield {name: door(str(shared), until_the_end) for name, door in through.items()}
        functions.close()


def test_every_verb_that_changes_can_be_proposed() -> None:
    proposing = {kind.verb for kind in REQUESTS if "propose" in {each.name for each in steering(kind)}}
    assert proposing == {*CHANGES, *APART}
    changing = {kind.verb for kind in REQUESTS if kind.effect is not Effect.READS}
    assert changing - proposing == {"abandon", "forget", "prune", "tests_run", "withdraw"}, "these change no source"


@pytest.mark.parametrize("verb", CHANGES)
def test_a_change_waits_whichever_door_it_comes_through(shared: Path, doors: dict[str, Ask], verb: str) -> None:
    change, before = CHANGES[verb], files(shared)
    words = (*command_of(REQUESTS.named(verb)).split(), *change.words)
    done = line(shared, *words, "--propose", "to try it", "--goal", "g1", "--json", typed=change.typed)
    first = done.json
    assert (done.status, first["status"], first["operation_id"]) == (10, "pending", None)
    task = first["task_id"]
    proposal = plans(shared).get(task)
    assert (proposal.reason, proposal.goal, proposal.who) == ("to try it", "g1", "bot")
    assert proposal.diff == first["diff"] != ""
    steering = {"propose": "to try it", "goal": "g1"}
    for name, ask in doors.items():
        answer = ask(verb, {**change.arguments, **steering})
        assert answer["status"] == "pending", (name, answer)
        assert answer["task_id"] == task, f"{name} proposes the same change"
        assert answer["diff"] == first["diff"]
    assert files(shared) == before, "nothing is written"
    assert [each["task_id"] for each in entries(shared, "code_modification_scheduled")].count(task) == 1


@pytest.mark.parametrize("verb", CHANGES)
def test_an_approved_change_comes_to_what_it_comes_to_at_once(tmp_path: Path, verb: str) -> None:
    root, other = built(tmp_path / "proposed"), built(tmp_path / "made")
    arguments = CHANGES[verb].arguments
    made = getattr(Source(other, who="bot"), verb)(**arguments)
    assert made.status == "applied"
    outcome = getattr(Source(root, who="bot"), verb)(**arguments, propose="to try it")
    assert outcome.exit_code == 10
    assert approved(root, outcome.task_id).state is State.APPLIED
    assert files(root) == files(other)
    Source(root).undo(plans(root).get(outcome.task_id).operation_id)
    assert files(root) == {path: text.encode() for path, text in FILES.items()}


def test_a_transaction_waits_as_one_change_whichever_door_it_comes_through(
    shared: Path, doors: dict[str, Ask], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BAE_SOURCE_WHO", "bot")
    before = files(shared)
    steps = "edit app.core.LIMIT --old 3 --new '1 + 2'\nreplace two 2\n"
    edit = {"target": "app.core.LIMIT", "old": "3", "new": "1 + 2"}
    done = line(shared, "do", "--propose", "two at once", "--goal", "g2", "--json", typed=steps)
    assert done.status == 10
    outcome = json.loads(done.out.splitlines()[-1])
    task = outcome["task_id"]
    assert (outcome["status"], plans(shared).get(task).goal) == ("pending", "g2")

    with Source(shared).transaction(propose="two at once") as tx:
        tx.edit(**edit)
        tx.replace("two", "2")
    assert (tx.outcome.status, tx.outcome.task_id, tx.outcome.exit_code) == ("pending", task, 10)

    with Session(shared) as session:
        ran = session.run(
            "with source.transaction(propose='two at once') as tx:\n"
            "    tx.edit('app.core.LIMIT', old='3', new='1 + 2')\n"
            "    tx.replace('two', '2')\n"
            "tx.outcome.task_id"
        )
        assert task in ran.answer["text"]

    mcp = doors["mcp"]
    handle = mcp("transaction_begin", {})["text"]
    mcp("edit", {**edit, "transaction": handle})
    refused = mcp("edit", {**edit, "transaction": handle, "propose": "alone"})
    assert [each["code"] for each in refused["errors"]] == ["invalid_arguments"]
    mcp("replace", {"text": "two", "replacement": "2", "transaction": handle})
    answer = mcp("transaction_commit", {"transaction": handle, "propose": "two at once"})
    assert (answer["status"], answer["task_id"]) == ("pending", task), answer
    [ended] = mcp("transaction_preview", {"transaction": handle})["errors"]
    assert (ended["code"], task in ended["message"]) == ("handle_expired", True)

    requests = [{"do": "edit", **edit}, {"do": "replace", "text": "two", "replacement": "2"}]
    assert doors["functions"]("apply", {"requests": requests, "propose": "two at once"})["task_id"] == task
    assert files(shared) == before


def test_a_draft_waits_when_it_is_committed(root: Path) -> None:
    refused = line(
        root, "do", "--json", typed="edit app.core.LIMIT --old 3 --new 4\nedit app.core.none --old 1 --new 2\n"
    )
    assert refused.status == 5
    planned = line(root, "write", "app.long", "--source", "-", "--dry-run", "--json", typed="X = 1\n" * 200).json
    before = files(root)
    done = line(root, "commit", planned["draft"], "--propose", "a long one", "--json")
    assert (done.status, done.json["status"]) == (10, "pending")
    again = line(root, "commit", planned["draft"], "--json").json["errors"][0]
    assert (again["code"], done.json["task_id"] in again["message"]) == ("handle_expired", True)
    assert files(root) == before


@pytest.mark.parametrize("way", ["commit", "amend"])
def test_what_was_proposed_and_refused_still_waits_when_its_draft_is_made(root: Path, way: str) -> None:
    (root / "app/loose.py").write_text(
        "def f(x):\n    return x.send('a')\n\n\nclass A:\n    def send(self, t):\n        return t\n"
    )
    before = files(root)
    steering = ("--propose", "a reason", "--goal", "g", "--json")
    if way == "commit":
        refused = line(root, "rename", "app.loose.A.send", "post", *steering)
        done = line(root, "commit", refused.json["draft"], "--unsure", "leave", "--json")
    else:
        long = "def send(text):\n    return (text\n" + "".join(f"    # line {n}\n" for n in range(60))
        refused = line(root, "edit", "app.core.send", "--source", "-", *steering, typed=long)
        done = line(root, "amend", refused.json["draft"], "--old", "return (", "--new", "return ", "--json")
    assert refused.json["status"] == "error"
    assert (done.status, done.json["status"]) == (10, "pending"), done.out
    proposal = plans(root).get(done.json["task_id"])
    assert (proposal.reason, proposal.goal) == ("a reason", "g")
    assert files(root) == before


def test_what_does_not_hold_is_refused_and_not_kept(root: Path) -> None:
    before = files(root)
    for words, typed, code in (
        (("edit", "app.core.send", "--source", "-"), "def send(text, n=NONE):\n    pass\n", "reload_failed"),
        (("edit", "app.core.LIMIT", "--old", "3", "--new", "4", "--verify", "tests"), "", "verify_failed"),
        (("edit", "app.core.LIMIT", "--old", "3", "--new", "4", "--verify", "command false"), "", "verify_failed"),
        (("edit", "app.core.send", "--source", "-"), "def send(:\n", "syntax_invalid"),
        (("edit", "app.core.nope", "--source", "-"), "def nope():\n    pass\n", "symbol_not_found"),
        (("delete", "app.core.send"), "", "unsafe_change"),
    ):
        done = line(root, *words, "--propose", "why", "--json", typed=typed)
        assert done.json["errors"][0]["code"] == code, done.out
        assert done.json["task_id"] is None
        assert plans(root).listed() == []
        assert files(root) == before
    assert {each["event"] for each in entries(root)} <= {"change_refused"}


def test_checks_were_run_in_a_copy_before_it_waits(root: Path) -> None:
    mark = 'open("ran", "w").close()'
    words = ("--verify", "tests", "--verify", f"command {os.sys.executable} -c '{mark}'")
    done = line(root, "edit", "app.core.LIMIT", "--old", "3", "--new", "1 + 2", "--propose", "why", *words, "--json")
    assert [(each["name"], each["result"]) for each in done.json["checks"]][:2] == [
        ("import", "passed"),
        ("tests", "passed"),
    ]
    assert all(each["result"] == "passed" and each["digest"] for each in done.json["checks"])
    assert not (root / "ran").exists()
    proposal = plans(root).get(done.json["task_id"])
    assert [each.name for each in proposal.checks] == [each["name"] for each in done.json["checks"]]
    assert proposal.how == {"verify": ["tests", words[3]]}
    assert "Verified: import, tests" in line(root, "show", proposal.id).out.decode()


def test_what_changes_nothing_is_not_kept(root: Path) -> None:
    done = line(root, "edit", "app.core.LIMIT", "--old", "3", "--new", "3", "--propose", "why", "--json")
    assert (done.status, done.json["status"]) == (0, "unchanged")
    dry = line(root, "edit", "app.core.LIMIT", "--old", "3", "--new", "4", "--propose", "why", "--dry-run", "--json")
    assert (dry.status, dry.json["status"]) == (0, "planned")
    assert plans(root).listed() == []


def test_the_same_change_of_two_callers_and_another_base_are_others(root: Path) -> None:
    words = ("edit", "app.core.send", "--old", "[:LIMIT]", "--new", "")
    first = proposed(root, *words)
    assert proposed(root, *words) == first
    assert proposed(root, *words, who="other") != first
    Source(root).edit("app.core.LIMIT", old="3", new="4", verify=())
    renewed = proposed(root, *words)
    assert renewed != first, "it was planned on other bytes"
    deciding(root).reject(renewed, ANA, "no")
    assert proposed(root, *words) not in (first, renewed), "one that was decided about is proposed anew"


REVIEW = '\n[tool.bae-source.policy]\npreset = "review"\n'


def under_review(root: Path) -> Path:
    """Have a policy be in force by which every change waits."""
    with (root / "pyproject.toml").open("a") as file:
        file.write(REVIEW)
    return root


def test_under_review_all_that_is_not_proposed_waits_too(root: Path) -> None:
    src = Source(under_review(root), who="bot")
    before = files(root)
    made = src.edit("app.core.LIMIT", old="3", new="4", why="to try it")
    assert (made.status, made.exit_code, made.operation_id) == ("pending", 10, None)
    assert '[tool.bae-source.policy] preset = "review"' in made.text
    proposal = plans(root).get(made.task_id)
    assert (proposal.reason, proposal.waits_for) == ("to try it", ('[tool.bae-source.policy] preset = "review"',))
    planned = src.edit("app.core.LIMIT", old="3", new="5", dry_run=True)
    assert (planned.status, planned.exit_code) == ("planned", 0)
    assert [each.code for each in planned.warnings] == ["needs_approval"]
    assert planned.warnings[0].message == 'Made, it waits for a person: [tool.bae-source.policy] preset = "review".'
    assert files(root) == before
    approved(root, made.task_id)
    assert b"LIMIT = 4" in files(root)["app/core.py"]

    for verb, there, gone in (("undo", b"LIMIT = 3", b"LIMIT = 4"), ("redo", b"LIMIT = 4", b"LIMIT = 3")):
        before = files(root)
        done = line(root, verb, "--who", "bot", "--json")
        assert (done.status, done.json["status"]) == (10, "pending"), done.out
        assert line(root, verb, "--who", "bot", "--json").json["task_id"] == done.json["task_id"]
        assert files(root) == before
        assert gone in before["app/core.py"]
        assert approved(root, done.json["task_id"]).state is State.APPLIED
        assert there in files(root)["app/core.py"]
    assert [each.entry.kind for each in src.history().outcome.found] == ["redo", "undo", "change"]


def test_an_undo_can_be_proposed_where_no_policy_asks_for_it(root: Path) -> None:
    src = Source(root, who="bot")
    src.edit("app.core.LIMIT", old="3", new="4")
    before = files(root)
    outcome = src.undo(propose="it was wrong", goal="g")
    proposal = plans(root).get(outcome.task_id)
    assert (outcome.exit_code, proposal.reason, proposal.goal, files(root)) == (10, "it was wrong", "g", before)
    assert approved(root, proposal.id).state is State.APPLIED
    assert b"LIMIT = 3" in files(root)["app/core.py"]


def test_a_policy_of_some_names_lets_others_be_changed_at_once(root: Path) -> None:
    with (root / "pyproject.toml").open("a") as file:
        file.write(
            '\n[tool.bae-source.policy.change]\napprove = ["app.core", "config project"]\ndeny = [":notes.txt"]\n'
        )
    src = Source(root)
    assert src.edit("app.other.go", old='"x"', new='"y"').status == "applied"
    assert src.edit("app.core.LIMIT", old="3", new="4").status == "pending"
    assert src.config.set("project.version", "2").status == "pending"
    before = files(root)
    with pytest.raises(Refused, match=r"notes\.txt may not be changed") as caught:
        src.replace("two", "2", propose="please")
    assert (caught.value.code, files(root)) == ("forbidden", before)
    with src.transaction() as tx:
        tx.edit("app.other.go", old='"y"', new='"z"')
        tx.edit("app.core.spare", old="Nobody", new="None")
    assert tx.outcome.status == "pending", "one part that waits keeps all of it waiting"
    assert files(root) == before


def test_what_the_hook_mends_waits_under_review(root: Path) -> None:
    under_review(root)
    git = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    for words in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *words], cwd=root, check=True, env=git)
    before = files(root)
    done = run("hook", "--fix", "--json", folder=root)
    assert done.status == 1
    [task] = waiting(root)
    assert (done.json["task_id"], "(mended)" in done.json["text"]) == (task, False)
    assert done.json["text"].startswith("app:5: ")
    [notice] = [each for each in done.json["warnings"] if each["code"] == "not_mended"]
    assert f"Waits for approval as {task}" in notice["message"]
    assert files(root) == before
    approved(root, task)
    assert b'__all__ = ["send"]' in files(root)["app/__init__.py"]


def test_a_declared_dependency_waits_with_what_it_is_for(root: Path) -> None:
    before = files(root)
    src = Source(root, who="bot")
    outcome = src.deps.add("alpha>=1", files_only=True, propose="for later")
    assert (outcome.status, outcome.exit_code, files(root)) == ("pending", 10, before)
    assert src.deps.add("alpha>=1", files_only=True, propose="for later").task_id == outcome.task_id
    assert approved(root, outcome.task_id).state is State.APPLIED
    assert b'dependencies = ["alpha>=1"]' in files(root)["pyproject.toml"].replace(b"\n    ", b"").replace(
        b",\n]", b"]"
    )


def test_pending_lists_what_waits_the_riskiest_first(root: Path) -> None:
    assert line(root, "pending").out == b"(nothing waits)\n"
    task = proposed(root, "edit", "app.core.LIMIT", "--old", "3", "--new", "4")
    model = plans(root).get(task)
    for number, level in enumerate(("low", "high", "medium", "high")):
        given = {
            "id": f"code_mod_0000000{number}",
            "risk": Risk(level=level),
            "at": f"2026-01-0{number + 1}T00:00:00+00:00",
        }
        plans(root).add(replace(model, who=f"bot{number % 2}", digest=str(number), **given))
    names = [text[:17] for text in line(root, "pending").out.decode().splitlines()]
    assert [each for each in names if each != task] == [f"code_mod_0000000{n}" for n in (1, 3, 2, 0)]
    assert names.index(task) > 1
    found = line(root, "pending", "--who", "bot1", "--json").json
    assert [each["task_id"] for each in found["found"]] == ["code_mod_00000001", "code_mod_00000003"]
    assert found["counts"]["awaiting_approval"] == 5
    assert found["found"][0] == {
        "task_id": "code_mod_00000001",
        "state": "awaiting_approval",
        "who": "bot1",
        "at": "2026-01-02T00:00:00+00:00",
        "reason": "to try it",
        "goal": "",
        "summary": model.summary,
        "risk": "high",
        "kind": "",
        "symbols": 1,
        "names": ["app.core.LIMIT"],
        "files": 0,
        "added": 0,
        "removed": 0,
        "checks": {"import": "passed"},
        "digest": "1",
        "expires": model.expires,
    }
    limited = line(root, "pending", "--limit", "2").out.decode().splitlines()
    assert (len(limited), limited[-1]) == (3, "… and 3 more: --limit says how many are listed.")
    assert line(root, "pending", "--state", "rejected").out == b"(nothing waits)\n"
    deciding(root).reject("code_mod_00000001", ANA, "no")
    [text] = line(root, "pending", "--state", "rejected").out.decode().splitlines()
    assert text.startswith("code_mod_00000001  high")
    assert "[rejected]" in text


def test_answers_about_proposals_keep_to_budgets_and_come_in_pages(root: Path) -> None:
    text = "".join(f"def f{n}():\n    return {n}\n\n\n" for n in range(400))
    task = proposed(root, "write", "app.long", "--source", "-", typed=text)
    whole = line(root, "show", task, "--json").json
    refused = line(root, "show", task, "--budget", "1000", "--json")
    assert (refused.status, refused.json["errors"][0]["code"]) == (5, "budget_exceeded")
    assert len(refused.json["text"].encode()) <= 1000
    pages, cursor = [], "0"
    while cursor:
        page = line(root, "show", task, "--budget", "4000", "--cursor", cursor, "--json").json
        assert len(page["text"].encode()) <= 4000
        pages.append(page["text"])
        following = [each for each in page["next_actions"] if "--cursor" in each]
        cursor = following[0].split("--cursor ")[1].split()[0] if following else ""
    assert len(pages) > 3
    assert whole["text"].splitlines()[-1] in pages[-1]
    model = plans(root).get(task)
    for number in range(60):
        plans(root).add(replace(model, id=f"code_mod_{number:08x}", diff="", digest=str(number)))
    refused = line(root, "pending", "--budget", "1000", "--json").json
    assert refused["errors"][0]["code"] == "budget_exceeded"
    page = line(root, "pending", "--budget", "1000", "--cursor", "0", "--json").json
    assert page["status"] == "answer"
    assert any("--cursor" in each for each in page["next_actions"])


def test_show_tells_all_there_is_to_a_decision(root: Path) -> None:
    task = proposed(root, "edit", "app.core.LIMIT", "--old", "3", "--new", "4", "--goal", "fewer surprises")
    proposal = plans(root).get(task)
    shown = line(root, "show", task[9:13]).out.decode()
    for text in (
        f"{task} waits for approval: Edited app.core.LIMIT.",
        "risk: ",
        f"by bot, {proposal.at}: to try it",
        "goal: fewer surprises",
        "app.core.LIMIT",
        "Verified: import",
        f"digest: {proposal.digest}",
        f"expires {proposal.expires}",
        "-LIMIT = 3\n+LIMIT = 4\n",
    ):
        assert text in shown
    unknown = line(root, "show", "code_mod_ffffffff", "--json")
    assert (unknown.status, unknown.json["errors"][0]["code"]) == (3, "symbol_not_found")
    other = replace(proposal, id=f"{task[:10]}{'0' if task[10] != '0' else '1'}{task[11:]}", digest="other")
    plans(root).add(other)
    several = line(root, "show", task[:10], "--json").json["errors"][0]
    assert (several["code"], sorted(several["candidates"])) == ("ambiguous_symbol", sorted([task, other.id]))


@pytest.mark.parametrize(
    ("state", "status"),
    [("applied", 0), ("rejected", 1), ("expired", 1), ("stale", 1), ("failed", 1), ("approved", 10), ("waiting", 10)],
)
def test_the_exit_status_of_wait_tells_what_became_of_it(root: Path, state: str, status: int) -> None:
    task = proposed(root, "edit", "app.core.LIMIT", "--old", "3", "--new", "4")
    kept, noted = plans(root), {"decided_by": "ana", "decided_at": "2026-11-29T12:00:00+00:00", "decision": "so be it"}
    if state in ("applied", "failed", "approved"):
        kept.move(task, State.APPROVED, operation_id="op_aaaaaaaaaaaa", **noted)
    if state not in ("approved", "waiting"):
        kept.move(task, State(state), **({"note": "It fails."} if state in ("failed", "stale") else noted))
    begun = time.monotonic()
    done = line(root, "wait", task, "--seconds", "0.3", "--json")
    assert done.status == status
    assert done.json["status"] == ("pending" if status == 10 else "answer")
    assert done.json["operation_id"] == ("op_aaaaaaaaaaaa" if state == "applied" else None)
    assert (time.monotonic() - begun > 0.3) is (status == 10)
    assert state in ("waiting", "stale") or "so be it" in done.json["text"]
    assert state not in ("failed", "stale") or "It fails." in done.json["text"]


def test_wait_ends_when_another_process_decides_and_keeps_its_time_whatever_others_write(root: Path) -> None:
    task = proposed(root, "edit", "app.core.LIMIT", "--old", "3", "--new", "4")
    with subprocess.Popen(
        command("wait", task, "--seconds", "60", "--json"), cwd=root, env=environment(), stdout=subprocess.PIPE
    ) as waits:
        time.sleep(0.7)
        assert waits.poll() is None
        deciding(root).reject(task, ANA, "the contract says 3")
        out, _ = waits.communicate(timeout=10)
    assert (waits.returncode, "the contract says 3" in json.loads(out)["text"]) == (1, True)

    task = proposed(root, "edit", "app.core.LIMIT", "--old", "3", "--new", "5")
    other = threading.Timer(0.5, lambda: Source(root).replace("two", "2", reload="off"))
    other.start()
    begun = time.monotonic()
    assert line(root, "wait", task, "--seconds", "1.5", "--json").status == 10
    other.join()
    assert (root / "notes.txt").read_text() == "one\n2\n"
    assert time.monotonic() - begun < 2.9


def test_a_model_waits_by_tools_too(shared: Path, doors: dict[str, Ask]) -> None:
    task = doors["functions"]("edit", {"target": "app.core.LIMIT", "old": "3", "new": "7", "propose": "why"})["task_id"]
    for name, ask in doors.items():
        answer = ask("wait", {"task": task, "seconds": 0})
        assert (answer["status"], answer["task_id"]) == ("pending", task), (name, answer)
        assert task in ask("pending", {})["text"]
        assert "LIMIT = 7" in ask("show", {"task": task})["text"]
    deciding(shared).reject(task, ANA, "seven is too many")
    for name, ask in doors.items():
        answer = ask("wait", {"task": task})
        assert (answer["status"], "seven is too many" in answer["text"]) == ("answer", True), name


@pytest.mark.parametrize("verb", ["approve", "reject", "expire", "review"])
def test_no_model_decides(shared: Path, doors: dict[str, Ask], verb: str) -> None:
    task = proposed(shared, "edit", "app.core.LIMIT", "--old", "3", "--new", "8")
    arguments = {} if verb == "review" else {"task": task}
    with pytest.raises(AttributeError):
        doors["python"](verb, arguments)
    with pytest.raises(MCPError, match="is no tool"):
        doors["mcp"](verb, arguments)
    relayed = {"verb": verb, "arguments": arguments}
    for answer in (
        doors["functions"](verb, arguments),
        doors["functions"]("change", relayed),
        doors["session"](verb, arguments),
    ):
        assert answer["status"] == "error", answer
    words = (verb, *arguments.values())
    for typed in ("", "a\n", "000000\n"):
        done = line(shared, *words, "--json", typed=typed)
        assert (done.status, done.json["errors"][0]["code"]) == (5, "forbidden")
    assert plans(shared).get(task).state is State.AWAITING


def test_the_proposer_alone_withdraws(root: Path) -> None:
    task = proposed(root, "edit", "app.core.LIMIT", "--old", "3", "--new", "4")
    assert line(root, "withdraw", task, "--who", "other").status == 5
    assert plans(root).get(task).state == "awaiting_approval"
    assert line(root, "withdraw", task, "--who", "bot").status == 0
    found = plans(root).get(task)
    assert (found.state, found.decided_by, found.decision) == ("expired", "bot", "withdrawn")
    assert line(root, "withdraw", task, "--who", "bot").status == 7
