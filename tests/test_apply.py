"""Several changes as one, through the doors that callers use: transactions, and `apply` of the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from bae_source import Source
from bae_source.errors import HistoryError, LookupFailed, Refused, RequestError, ResourceError, SourceError

CORE = "def f():\n    return 1\n\n\ndef g():\n    return 2\n"
USES = "from app.core import f\n\nVALUE = f()\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "app").mkdir(parents=True)
    (root / "app" / "__init__.py").write_text("")
    (root / "app" / "core.py").write_text(CORE)
    (root / "app" / "uses.py").write_text(USES)
    (root / "pyproject.toml").write_text('[project]\nname = "app"\n')
    return root


def state(root: Path) -> dict[str, bytes]:
    """What is the user's: our own state and caches left out."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and ".bae-source" not in path.parts and "__pycache__" not in path.parts
    }


def command(root: Path, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(
        [sys.executable, "-P", "-m", "bae_source", *arguments, "--root", str(root)],
        input=text,
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


def edit(target: str, old: str, new: str) -> dict[str, Any]:
    return {"do": "edit", "target": target, "old": old, "new": new}


def test_a_transaction_makes_all_of_its_changes_with_one_undo(project: Path) -> None:
    src = Source(project)
    before = state(project)
    with src.transaction("tidy up") as tx:
        tx.edit("app.core.f", "def f():\n    return 10\n")
        tx.insert("app.core.f", "def h():\n    return f()\n")
        tx.delete("app.core.g")
        tx.edit("app.uses.VALUE", old="f()", new="f() + 1")
        assert state(project) == before
    assert tx.outcome is not None
    assert (project / "app" / "core.py").read_text() == "def f():\n    return 10\n\n\ndef h():\n    return f()\n"
    assert (project / "app" / "uses.py").read_text().endswith("VALUE = f() + 1\n")
    (line,) = src.history().splitlines()
    assert line.startswith(str(tx.outcome.operation_id))
    assert line.endswith("(tidy up)")
    assert src.undo().status == "applied"
    assert state(project) == before
    assert src.redo().status == "applied"
    assert state(project) != before


def test_reads_inside_a_transaction_see_the_planned_text_and_reads_outside_do_not(project: Path) -> None:
    src = Source(project)
    with src.transaction() as tx:
        tx.edit("app.core.f", "def f():\n    return 'planned'\n")
        assert "planned" in tx.read("app.core.f")
        assert "planned" not in src.read("app.core.f")
        tx.insert("app.uses", "def more():\n    return f()\n", position="last")
        assert "  7: return f()" in tx.references("app.core.f")
        assert "  7: return f()" not in src.references("app.core.f")
        assert "more" in tx.outline("app.uses")
        assert "planned" in tx.grep("planned")
        assert tx.symbols("sym://python/mod/app/uses")["status"] == "ok"
        tx.abandon()


def test_the_diff_of_a_transaction_is_what_git_applies(project: Path) -> None:
    src = Source(project)
    with src.transaction() as tx:
        tx.edit("app.core.f", old="1", new="3")
        tx.edit("app.core.f", old="3", new="4")
        tx.delete("app.uses.VALUE")
        patch = tx.diff()
        assert patch == tx.preview().diff
        tx.abandon()
    done = subprocess.run(["git", "apply", "--check", "-"], input=patch.encode(), cwd=project, check=False)
    assert done.returncode == 0
    assert patch.count("diff --git") == 2
    assert "-    return 1\n+    return 4\n" in patch


def test_changes_that_cancel_each_other_out_change_nothing(project: Path) -> None:
    src = Source(project)
    before = state(project)
    with src.transaction() as tx:
        tx.edit("app.core.f", old="1", new="3")
        tx.edit("app.core.f", old="3", new="1")
    assert tx.outcome is not None
    assert (tx.outcome.status, tx.outcome.operation_id, tx.outcome.diff) == ("unchanged", None, "")
    assert tx.outcome.text == "2 changes that come to nothing: Edited app.core.f."
    assert state(project) == before
    assert "no operations" in src.history()


def test_an_exception_in_the_block_leaves_everything_as_it_was(project: Path) -> None:
    src = Source(project)
    before = state(project)

    def work() -> None:
        with src.transaction() as tx:
            tx.edit("app.core.f", old="1", new="3")
            raise KeyError("of the caller")

    with pytest.raises(KeyError):
        work()
    assert state(project) == before
    assert "no operations" in src.history()


def test_a_change_that_cannot_be_planned_leaves_the_transaction_as_it_was(project: Path) -> None:
    src = Source(project)
    with src.transaction() as tx:
        tx.edit("app.core.f", old="1", new="3")
        with pytest.raises(LookupFailed):
            tx.edit("app.core.nothing", "def nothing(): ...\n")
        with pytest.raises(SourceError):
            tx.edit("app.core.g", "def g(:\n")
        assert "return 3" in tx.read("app.core.f")
    assert (project / "app" / "core.py").read_text() == CORE.replace("return 1", "return 3")


def test_an_import_that_breaks_takes_every_file_back(project: Path) -> None:
    src = Source(project)
    before = state(project)
    tx = src.transaction()
    tx.edit("app.uses.VALUE", old="f()", new="f() + 1")
    tx.insert("app.core", "raise RuntimeError('no')\n", position="last")
    with pytest.raises(ResourceError) as caught:
        tx.commit()
    assert caught.value.code == "reload_failed"
    assert state(project) == before


def test_a_symbol_that_changed_meanwhile_is_not_overwritten(project: Path) -> None:
    src = Source(project)
    tx = src.transaction()
    tx.edit("app.core.f", old="1", new="3")
    (project / "app" / "core.py").write_text(CORE.replace("return 1", "return 'theirs'"))
    theirs = state(project)
    with pytest.raises(Refused) as caught:
        tx.commit()
    assert caught.value.code == "stale"
    assert state(project) == theirs


def test_a_change_beside_it_by_another_writer_survives(project: Path) -> None:
    src = Source(project)
    with src.transaction() as tx:
        tx.edit("app.core.f", "def f():\n    return 3\n")
        (project / "app" / "core.py").write_text(CORE.replace("return 2", "return 'theirs'"))
    assert (project / "app" / "core.py").read_text() == CORE.replace("1", "3").replace("return 2", "return 'theirs'")


@pytest.mark.parametrize("end", ["commit", "abandon"])
def test_a_transaction_that_has_ended_takes_no_more(project: Path, end: str) -> None:
    src = Source(project)
    tx = src.transaction()
    tx.edit("app.core.f", old="1", new="3")
    getattr(tx, end)()
    after = state(project)
    asked: list[Callable[[], object]] = [
        lambda: tx.edit("app.core.f", old="3", new="4"),
        lambda: tx.read("app.core.f"),
        tx.diff,
        tx.commit,
    ]
    for ask in asked:
        with pytest.raises(HistoryError) as caught:
            ask()
        assert caught.value.code == "handle_expired"
    assert state(project) == after


def test_an_empty_transaction_is_done_at_once(project: Path) -> None:
    with Source(project).transaction() as tx:
        pass
    assert tx.outcome is not None
    assert (tx.outcome.status, tx.outcome.operation_id) == ("unchanged", None)


@pytest.mark.parametrize(
    "how",
    [
        {"verify": ["nope"]},
        {"verify": "tests"},
        {"verify": ["import"], "reload": "off"},
        {"reload": "nope"},
        {"nope": True},
        {"why": "\ud800"},
    ],
)
def test_what_is_reported_wrongly_of_a_transaction_is_refused_before_it_begins(
    project: Path, how: dict[str, Any]
) -> None:
    with pytest.raises(RequestError) as caught:
        Source(project).transaction(**how)
    assert caught.value.code == "invalid_arguments"


def test_a_dry_run_of_a_transaction_writes_nothing(project: Path) -> None:
    before = state(project)
    with Source(project).transaction("see", dry_run=True) as tx:
        tx.edit("app.core.f", old="1", new="3")
    assert tx.outcome is not None
    assert tx.outcome.status == "planned"
    assert "+    return 3" in tx.outcome.diff
    assert state(project) == before


def test_how_a_change_is_made_is_reported_for_the_whole_transaction(project: Path) -> None:
    with Source(project).transaction() as tx, pytest.raises(RequestError, match="whole transaction"):
        tx.edit("app.core.f", old="1", new="3", dry_run=True)
    assert (project / "app" / "core.py").read_text() == CORE


def test_a_changes_file_is_applied_by_the_command_line_and_by_the_api_alike(project: Path, tmp_path: Path) -> None:
    requests = [edit("app.core.f", "1", "3"), {"do": "delete", "target": "app.core.g"}]
    changes = tmp_path / "changes.json"
    changes.write_text(json.dumps({"message": "both", "requests": requests}))
    before = state(project)

    dry = command(project, "apply", str(changes), "--dry-run", "--json")
    planned = json.loads(dry.stdout)
    assert (dry.returncode, planned["status"]) == (0, "planned")
    assert state(project) == before

    done = command(project, "apply", "-", "--json", text=changes.read_text())
    outcome = json.loads(done.stdout)
    assert (done.returncode, outcome["status"], outcome["diff"]) == (0, "applied", planned["diff"])
    by_command = state(project)

    src = Source(project)
    src.undo()
    assert state(project) == before
    assert src.apply(requests, message="both").diff == planned["diff"]
    assert state(project) == by_command


FAILURES: Mapping[str, tuple[Any, str, int]] = {
    "malformed JSON": ("{", "invalid_arguments", 2),
    "a key that is there twice": (
        '{"requests": [{"do": "delete", "target": "app.core.f", "target": "app.core.g"}]}',
        "invalid_arguments",
        2,
    ),
    "a number that JSON does not have": ('{"requests": [{"do": NaN}]}', "invalid_arguments", 2),
    "no object": ([], "invalid_arguments", 2),
    "no requests": ({"message": "m"}, "invalid_arguments", 2),
    "an empty list": ({"requests": []}, "invalid_arguments", 2),
    "something unknown beside them": (
        {"requests": [edit("app.core.f", "1", "3")], "root": "/"},
        "invalid_arguments",
        2,
    ),
    "an entry that is no object": ({"requests": [1]}, "invalid_arguments", 2),
    "an unknown request": ({"requests": [edit("app.core.f", "1", "3"), {"do": "burn"}]}, "unknown_operation", 2),
    "a reading request": ({"requests": [{"do": "read", "target": "app"}]}, "unknown_operation", 2),
    "undo": ({"requests": [{"do": "undo"}]}, "unknown_operation", 2),
    "apply in apply": ({"requests": [{"do": "apply", "requests": []}]}, "unknown_operation", 2),
    "no verb": ({"requests": [{"target": "app.core.f"}]}, "unknown_operation", 2),
    "a verb that is no text": ({"requests": [{"do": 3}]}, "unknown_operation", 2),
    "wrong arguments": ({"requests": [{"do": "edit", "tarfget": "a"}, {"do": "delete"}]}, "invalid_arguments", 2),
    "one that fails midway": (
        {"requests": [edit("app.core.f", "1", "3"), edit("app.core.nope", "1", "2"), edit("app.core.g", "2", "3")]},
        "symbol_not_found",
        3,
    ),
    "one that would not parse": (
        {"requests": [edit("app.core.f", "1", "3"), edit("app.core.g", "2", "(")]},
        "syntax_invalid",
        4,
    ),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", FAILURES)
def test_a_changes_file_with_a_fault_changes_nothing_and_says_where(project: Path, name: str) -> None:
    changes, code, status = FAILURES[name]
    before = state(project)
    text = changes if isinstance(changes, str) else json.dumps(changes)
    done = command(project, "apply", "-", "--json", text=text)
    outcome = json.loads(done.stdout)
    assert (done.returncode, outcome["errors"][0]["code"]) == (status, code)
    assert outcome["errors"][0]["hints"]
    assert state(project) == before
    if isinstance(changes, dict) and len(changes.get("requests", ())) > 1:
        assert "Request " in outcome["errors"][0]["message"] or "root" in changes


def test_every_malformed_request_is_named_at_once(project: Path) -> None:
    requests = [{"do": "edit", "tarfget": "a"}, {"do": "burn"}, edit("app.core.f", "1", "3")]
    with pytest.raises(RequestError) as caught:
        Source(project).apply(requests)
    assert "Request 1 of 3" in caught.value.message
    assert "did you mean target" in caught.value.message
    assert "Request 2 of 3: 'burn'" in caught.value.message
    assert caught.value.details["requests"] == [1, 2]


LEFT = ("still_imported", "relative_imports", "named_in_strings")
MOVE = {"do": "move", "target": "app.core", "to": "app.net.base"}
AGAIN = {"do": "write", "target": "app.core", "source": "from app.net.base import *\n"}

OLD = "from app.core import f\n"
# What follows on a move that leads the importers along, and what is said in the end of who refers to the old name.
FOLLOWING = {
    "nothing": ([], []),
    "one is written as it was": (
        [{"do": "write", "target": "app.uses", "source": OLD, "overwrite": True}],
        ["app.core is still imported: app.uses:1."],
    ),
    "one is made": (
        [{"do": "write", "target": "app.late", "source": OLD}],
        ["app.core is still imported: app.late:1."],
    ),
    "one is made and deleted": (
        [{"do": "write", "target": "app.late", "source": OLD}, {"do": "delete", "target": "app.late"}],
        [],
    ),
    "one is made and moves as well": (
        [
            {"do": "write", "target": "app.late", "source": OLD},
            {"do": "move", "target": "app.late", "to": "app.net.late"},
        ],
        ["app.core is still imported: app.net.late:1."],
    ),
    "the old name is there again": (
        [{"do": "write", "target": "app.uses", "source": OLD, "overwrite": True}, AGAIN],
        [],
    ),
    "back": ([{"do": "move", "target": "app.net.base", "to": "app.core"}], []),
}


@pytest.mark.parametrize(("following", "expected"), FOLLOWING.values(), ids=FOLLOWING)
def test_users_of_a_moved_name_are_named_as_all_changes_leave_them(
    project: Path, following: list[dict[str, Any]], expected: list[str]
) -> None:
    (project / "app" / "also.py").write_text("from app import core\n")
    outcome = Source(project).apply([MOVE, *following], dry_run=True)
    assert [notice.message for notice in outcome.warnings if notice.code in LEFT] == expected


def test_relative_imports_that_a_later_change_breaks_are_reported(project: Path) -> None:
    core = "from .uses import VALUE\nfrom .also import x\n"
    (project / "app" / "core.py").write_text(core)
    (project / "app" / "also.py").write_text("x = 1\n")
    (project / "app" / "uses.py").write_text("VALUE = 1\n")
    src = Source(project)
    with src.transaction(reload="child") as tx:
        tx.move("app.core", "app.net.base")
        tx.move("app.also", "app.net.also")
    assert (project / "app" / "net" / "base.py").read_text() == "from ..uses import VALUE\nfrom .also import x\n"
    assert tx.outcome is not None
    assert not {notice.code for notice in tx.outcome.warnings} & set(LEFT)
    src.undo(reload="off")
    with src.transaction(reload="off") as tx:
        tx.move("app.core", "app.net.base")
        tx.move("app.also", "app.net.also")
        tx.write("app.net.base", core, overwrite=True)
    assert tx.outcome is not None
    messages = {notice.code: notice.message for notice in tx.outcome.warnings}
    assert messages["relative_imports"] == (
        "Relative imports to mend: app.net.base:1 meant app.uses and means app.net.uses now."
    )


DELETE = {"do": "delete", "target": "app.core.f"}
# What comes with the deletion of a function, and what uses it in the end.
USERS = {
    "its user is edited afterwards": ([DELETE, edit("app.uses.VALUE", "f()", "3")], "app.uses:1"),
    "its user is rewritten afterwards": (
        [DELETE, {"do": "write", "target": "app.uses", "source": "VALUE = 3\n", "overwrite": True}],
        "",
    ),
    "its user goes afterwards": ([DELETE, {"do": "delete", "target": "app.uses"}], ""),
    "it comes again": (
        [DELETE, {"do": "insert", "target": "app.core", "new_source": "f = max\n", "position": "last"}],
        "",
    ),
    "another one comes to use it": (
        [
            {"do": "write", "target": "app.uses", "source": "VALUE = 3\n", "overwrite": True},
            DELETE,
            edit("app.core.g", "2", "f()"),
        ],
        "app.core:2",
    ),
    "it is made, used and deleted": (
        [
            {"do": "write", "target": "app.new", "source": "def h():\n    return 1\n\n\nX = 1\n"},
            {"do": "write", "target": "app.late", "source": "from app.new import h\n"},
            {"do": "delete", "target": "app.new.h"},
        ],
        "app.late:1",
    ),
    "nothing": ([DELETE], "app.uses:1, app.uses:3"),
    "another change": ([DELETE, edit("app.core.g", "2", "3")], "app.uses:1, app.uses:3"),
    "its module": ([{"do": "delete", "target": "app.core"}, edit("app.uses.VALUE", "f()", "3")], "app.uses:1"),
    "its module, and its user afterwards": (
        [{"do": "delete", "target": "app.core"}, {"do": "delete", "target": "app.uses"}],
        "",
    ),
}


@pytest.mark.parametrize(("requests", "users"), USERS.values(), ids=USERS)
@pytest.mark.parametrize("how", ["apply", "transaction"])
def test_what_is_deleted_may_be_used_by_nothing_once_all_is_done(
    project: Path, requests: list[dict[str, Any]], users: str, how: str
) -> None:
    src, before = Source(project), state(project)

    def made(requests: list[dict[str, Any]]) -> None:
        if how == "apply":
            src.apply(requests, reload="off")
        else:
            with src.transaction(reload="off") as tx:
                for each in requests:
                    getattr(tx, each["do"])(**{name: value for name, value in each.items() if name != "do"})

    if not users:
        made(requests)
        return
    with pytest.raises(Refused) as caught:
        made(requests)
    assert caught.value.code == "unsafe_change"
    assert caught.value.message.endswith(f" is still used, and was not deleted: {users}.")
    number = next(number for number, each in enumerate(requests, 1) if each["do"] == "delete")
    assert caught.value.message.startswith(f"Request {number} of {len(requests)}, delete: ") or len(requests) == 1
    assert state(project) == before
    made([{**each, "force": True} if each["do"] == "delete" else each for each in requests])


def test_a_transaction_that_leaves_users_of_what_it_deletes_stays_open(project: Path) -> None:
    tx = Source(project).transaction(reload="off")
    tx.delete("app.core.f")
    with pytest.raises(Refused, match=r"app\.core\.f is still used"):
        tx.commit()
    tx.delete("app.uses")
    assert tx.commit().operation_id


def test_a_single_request_is_a_changes_file_as_well(project: Path) -> None:
    done = command(project, "apply", "-", text=json.dumps(edit("app.core.f", "1", "3")))
    assert (done.returncode, done.stderr) == (0, "")
    assert (project / "app" / "core.py").read_text() == CORE.replace("1", "3")
    wrong = command(project, "apply", "-", text=json.dumps({"do": "burn"}))
    assert (wrong.returncode, "'burn' is no change" in wrong.stderr) == (2, True)


@pytest.mark.parametrize("names", ["f", ["f"]])
@pytest.mark.parametrize("verb", ["exports add", "exports_add"])
def test_a_request_is_called_as_the_command_line_calls_it_too(project: Path, verb: str, names: str | list[str]) -> None:
    done = command(project, "apply", "-", text=json.dumps([{"do": verb, "target": "app.core", "names": names}]))
    assert (done.returncode, done.stderr) == (0, "")
    assert (project / "app" / "__init__.py").read_text() == "from .core import f\n"


@pytest.mark.parametrize("words", [{"do": "ast symbols", "target": "app"}, {"do": "exports"}, {"do": ""}])
def test_other_words_of_the_command_line_are_no_changes(project: Path, words: dict[str, str]) -> None:
    with pytest.raises(RequestError) as caught:
        Source(project).apply([words])
    assert caught.value.code == "unknown_operation"


def test_a_single_text_stands_for_a_list_of_texts(project: Path) -> None:
    both = [
        {**edit("app.core.f", "1", "json"), "imports": "import json"},
        {"do": "write", "target": "app.new", "source": "A = 1\nB = 2\n", "export": "B"},
    ]
    Source(project).apply(both)
    assert (project / "app" / "core.py").read_text() == f"import json\n\n\n{CORE.replace('1', 'json')}"
    assert (project / "app" / "__init__.py").read_text() == "from .new import B\n"
    with pytest.raises(RequestError, match="imports: expected `array`"):
        Source(project).apply([{"do": "edit", "target": "app.core.f", "imports": 1}])


def test_a_verdict_counts_the_changes_that_one_request_stands_for(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("A = 1\nB = 2\nC = 3\n")
    requests = [{"do": "delete", "target": ["m.A", "m.B"]}, {"do": "edit", "target": "m.C", "new_source": "C = 4"}]
    assert Source(tmp_path).apply(requests).text.startswith("3 changes: Deleted m.A; Deleted m.B; Edited m.C.")
