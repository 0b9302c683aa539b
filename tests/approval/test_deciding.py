"""Decisions of a person: at a terminal, with real processes, and of parts; what is written, and what is not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bae_source import Source
from bae_source.approval.proposals import Proposal, State
from bae_source.engine.approving.deciding import Person as Decider
from bae_source.engine.service import Service
from bae_source.errors import HistoryError, Refused, RequestError, TransactionError
from tests.adapters.meta.support import Installed
from tests.approval.project import (
    ANA,
    FILES,
    approved,
    built,
    copied,
    deciding,
    entries,
    files,
    line,
    plans,
    proposed,
    waiting,
)
from tests.approval.terminal import Person, at_terminal

pytestmark = pytest.mark.sampled

LIMIT = ("edit", "app.core.LIMIT", "--old", "3", "--new", "1 + 2")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return built(tmp_path / "project")


@contextmanager
def nothing_approved(root: Path, task: str) -> Iterator[None]:
    """See that what happens inside leaves the project, and the proposal waiting."""
    before, events = files(root), len(entries(root, "code_modification_approved"))
    yield
    assert files(root) == before
    assert len(entries(root, "code_modification_approved")) == events
    assert plans(root).get(task).state is State.AWAITING


def history(root: Path) -> list[Any]:
    return [each.entry for each in Source(root).history().outcome.found]


def test_a_person_approves_what_is_shown_by_its_code(root: Path) -> None:
    task = proposed(root, *LIMIT, "--goal", "fewer surprises")
    before, proposal = files(root), plans(root).get(task)
    with at_terminal(("approve", task, "--who", "ana", "--reason", "it is right"), root) as person:
        shown = person.reads("to approve exactly this")
        assert shown.index("risk: ") < shown.index("+LIMIT = 1 + 2")
        for text in ("by bot", "to try it", "fewer surprises", "app.core.LIMIT", "Verified: import", proposal.digest):
            assert text in shown
        assert files(root) == before
        person.types(person.code)
    assert person.status == 0
    assert "LIMIT = 1 + 2" in (root / "app/core.py").read_text()
    found = plans(root).get(task)
    assert (found.state, found.decided_by, found.decision) == (State.APPLIED, "ana", "it is right")
    [entry] = history(root)
    assert (entry.id, entry.who, entry.why) == (found.operation_id, "bot", "to try it")
    request = Service(root, environment=os.environ).changing.history.whole(entry).request
    approval = {name: request[name] for name in ("task_id", "approved_by", "approved_why")}
    assert approval == {"task_id": task, "approved_by": "ana", "approved_why": "it is right"}
    whole = line(root, "history", entry.id).out.decode()
    assert all(text in whole for text in (task, "ana", "it is right", "bot", "to try it"))
    ledger = entries(root)
    assert [each["event"] for each in ledger] == [
        "code_modification_scheduled",
        "code_modification_approved",
        "change_begun",
        "change_applied",
        "code_modification_applied",
    ]
    assert ledger[0] | {"goal_id": "fewer surprises", "reason": "to try it", "file_path": "app/core.py"} == ledger[0]
    assert {each["task_id"] for each in ledger if each["event"] != "change_applied"} == {task}
    assert (ledger[1]["by"], ledger[1]["why"], ledger[2]["approved_by"]) == ("ana", "it is right", "ana")
    assert ledger[1]["digest"] == proposal.digest
    waited = line(root, "wait", task, "--json")
    assert (waited.status, waited.json["operation_id"]) == (0, entry.id)
    assert Source(root).undo(entry.id).status == "applied"
    assert files(root) == before, "one undo takes it back"


@pytest.mark.parametrize("answer", ["wrong", "enter", "end", "interrupt"])
def test_whatever_is_typed_but_the_code_approves_nothing(root: Path, answer: str) -> None:
    task = proposed(root, *LIMIT)
    with nothing_approved(root, task), at_terminal(("approve", task, "--who", "ana"), root) as person:
        person.reads("to approve exactly this")
        if answer == "wrong":
            person.types(f"{int(person.code, 16) ^ 1:06x}")
        elif answer == "enter":
            person.types("")
        else:
            person.presses({"end": "\x04", "interrupt": "\x03"}[answer])
        person.ends()
        assert person.status == (130 if answer == "interrupt" else 5)
        assert ("interrupted" if answer == "interrupt" else "was not approved") in person.shown


def test_a_code_counts_for_one_question_alone(root: Path) -> None:
    task = proposed(root, *LIMIT)
    with nothing_approved(root, task), ExitStack() as open_until_end:
        people = [open_until_end.enter_context(at_terminal(("approve", task, "--who", "ana"), root)) for _ in range(2)]
        for person in people:
            person.reads("to approve exactly this")
        codes = [person.code for person in people]
        assert codes[0] != codes[1]
        for person, code in zip(people, reversed(codes), strict=True):
            person.types(code)
            assert person.ends() == 5


def test_a_digest_that_is_given_has_to_be_that_of_the_change(root: Path) -> None:
    task = proposed(root, *LIMIT)
    digest = plans(root).get(task).digest
    with nothing_approved(root, task), at_terminal(("approve", task, "--digest", "0" * 12, "--who", "ana"), root) as it:
        assert it.ends() == 5
        assert "stale" in it.shown
        assert "Type" not in it.shown
    with at_terminal(("approve", task, "--digest", digest[:12], "--who", "ana"), root) as person:
        person.approves()
    assert person.status == 0
    again = proposed(root, "edit", "app.core.LIMIT", "--old", "1 + 2", "--new", "3")
    with pytest.raises(Refused) as caught:
        deciding(root).approve(again, digest, ANA)
    assert (caught.value.code, waiting(root)) == ("stale", [again])


def test_a_change_whose_base_changed_is_shown_as_it_is_now(root: Path) -> None:
    task = proposed(root, *LIMIT)
    old = plans(root).get(task).digest
    Source(root).edit("app.core.spare", old="Nobody calls this.", new="Nobody.", reload="off")
    with at_terminal(("approve", task, "--who", "ana"), root) as person:
        shown = person.reads("to approve exactly this")
        assert "It was planned anew" in shown
        person.types(person.code)
    assert person.status == 0
    found = plans(root).get(task)
    assert found.digest != old
    assert old not in shown
    text = (root / "app/core.py").read_text()
    assert "LIMIT = 1 + 2" in text
    assert '"""Nobody."""' in text
    assert [each["event"] for each in entries(root)].count("code_modification_renewed") == 1


def test_what_changed_between_the_question_and_the_code_is_not_written(root: Path) -> None:
    task = proposed(root, *LIMIT)
    with at_terminal(("approve", task, "--who", "ana"), root) as person:
        person.reads("to approve exactly this")
        Source(root).edit("app.core.LIMIT", old="3", new="3  # three", reload="off")
        before = files(root)
        person.types(person.code)
        assert person.ends() == 5
    assert files(root) == before
    assert "has another digest than the given one" in person.shown
    found = plans(root).get(task)
    assert (found.state, "# three" in found.diff) == (State.AWAITING, True)
    with at_terminal(("approve", task, "--who", "ana"), root) as person:
        person.approves()
    assert (person.status, b"LIMIT = 1 + 2  # three" in files(root)["app/core.py"]) == (0, True)


def test_one_that_cannot_be_planned_any_more_is_stale_until_it_can(root: Path) -> None:
    task = proposed(root, "edit", "app.core.spare", "--old", "Nobody calls this.", "--new", "Unused.")
    src = Source(root)
    gone = src.delete("app.core.spare")
    before = files(root)
    with pytest.raises(Refused, match="cannot be made on the files as they are now") as caught:
        approved(root, task)
    assert (caught.value.code, plans(root).get(task).state, files(root)) == ("stale", State.STALE, before)
    assert "is stale" in line(root, "wait", task).out.decode()
    src.undo(gone.operation_id)
    assert approved(root, task).state is State.APPLIED
    assert b'"""Unused."""' in files(root)["app/core.py"]


def test_what_was_made_meanwhile_by_another_way_is_stale(root: Path) -> None:
    source = "def go():\n    return 1\n"
    task = proposed(root, "edit", "app.other.go", "--source", "-", typed=source)
    Source(root).edit("app.other.go", source)
    before = files(root)
    with pytest.raises(Refused, match="nothing to change any more"):
        approved(root, task)
    assert (plans(root).get(task).state, files(root)) == (State.STALE, before)
    deciding(root).reject(task, ANA, "done already")
    assert plans(root).get(task).state is State.REJECTED


def test_checks_that_turned_red_keep_it_from_being_written(root: Path, tmp_path: Path) -> None:
    red = tmp_path / "red"
    task = proposed(root, *LIMIT, "--verify", f"command test ! -e {red}")
    before = files(root)
    red.touch()
    with pytest.raises(TransactionError) as caught:
        approved(root, task)
    assert caught.value.code == "verify_failed"
    found = plans(root).get(task)
    assert (found.state, files(root), history(root)) == (State.FAILED, before, [])
    waited = line(root, "wait", task)
    assert (waited.status, "was approved and failed" in waited.out.decode()) == (1, True)
    assert entries(root)[-1] | {"event": "code_modification_failed", "code": "verify_failed"} == entries(root)[-1]
    with pytest.raises(Refused, match="cannot be made"):
        deciding(root).current(task)
    assert plans(root).get(task).state is State.FAILED
    red.unlink()
    assert deciding(root).current(task).state is State.AWAITING, "it needs another approval"
    assert approved(root, task).state is State.APPLIED
    assert [each["event"] for each in entries(root)].count("code_modification_approved") == 2


def test_a_policy_that_was_tightened_meanwhile_forbids_what_was_approved(root: Path) -> None:
    task = proposed(root, *LIMIT)
    decisions = deciding(root)
    digest = decisions.current(task).digest
    with (root / "pyproject.toml").open("a") as file:
        file.write('\n[tool.bae-source.policy.change]\ndeny = ["app.core"]\n')
    before = files(root)
    with pytest.raises(Refused) as caught:
        decisions.approve(task, digest, ANA)
    assert (caught.value.code, files(root), history(root)) == ("forbidden", before, [])
    assert plans(root).get(task).state is State.FAILED


def test_the_proposer_does_not_approve(root: Path) -> None:
    task = proposed(root, *LIMIT, who="ana")
    with nothing_approved(root, task):
        with pytest.raises(Refused, match="cannot approve it"):
            approved(root, task)
        with at_terminal(("approve", task, "--who", "ana"), root) as person:
            assert person.ends() == 5
            assert "Type" not in person.shown
    other = Decider(name="ben", is_named=True)
    assert approved(root, task, other).decided_by == "ben"


def test_a_rejection_tells_its_reason_to_the_proposer(root: Path) -> None:
    task = proposed(root, *LIMIT)
    before = files(root)
    with nothing_approved(root, task), at_terminal(("reject", task, "--reason", " "), root) as person:
        assert person.ends() == 2
    with nothing_approved(root, task), at_terminal(("reject", task), root) as person:
        person.reads("Why?")
        person.types("")
        assert person.ends() == 2
    with at_terminal(("reject", task, "--who", "ana", "--reason", "the contract says 3"), root) as person:
        assert person.ends() == 0
    waited = line(root, "wait", task, "--json")
    assert waited.status == 1
    assert "was rejected" in waited.json["text"]
    assert "decided by ana" in waited.json["text"]
    assert "the contract says 3" in waited.json["text"]
    assert (files(root), history(root)) == (before, [])
    for decide in (
        lambda: deciding(root).reject(task, ANA, "again"),
        lambda: deciding(root).expire(task, ANA),
        lambda: deciding(root).approve(task, plans(root).get(task).digest, ANA),
        lambda: deciding(root).reject(task, ANA, "a part", ["app.core.LIMIT"]),
    ):
        with pytest.raises(HistoryError, match="is rejected by ana") as caught:
            decide()
        assert caught.value.code == "proposal_closed"
    assert (files(root), plans(root).get(task).decision) == (before, "the contract says 3")
    assert entries(root)[-1] | {"by": "ana", "why": "the contract says 3"} == entries(root)[-1]


def test_a_proposal_expires_by_its_time_and_by_hand(root: Path) -> None:
    with (root / "pyproject.toml").open("a") as file:
        file.write("\n[tool.bae-source]\nproposal-days = 0.00001\n")  # less than a second
    task = proposed(root, *LIMIT)
    before = files(root)
    time.sleep(1.9)  # times are kept by the second
    assert line(root, "pending").out == b"(nothing waits)\n"
    found = plans(root).get(task)
    assert (found.state, found.decision) == (State.EXPIRED, "its time was over")
    with pytest.raises(HistoryError, match="is expired"):
        deciding(root).approve(task, found.digest, ANA)
    (root / "pyproject.toml").write_text(FILES["pyproject.toml"])
    other = proposed(root, *LIMIT)
    expires, at = plans(root).get(other).expires, plans(root).get(other).at
    assert other != task
    assert (expires[:10], at[:10]) == tuple(day.isoformat() for day in _days(at, 14))
    with at_terminal(("expire", other, "--who", "ana"), root) as person:
        assert person.ends() == 0
    waited = line(root, "wait", other)
    assert (waited.status, "has expired" in waited.out.decode()) == (1, True)
    assert {**files(root), "pyproject.toml": b""} == {**before, "pyproject.toml": b""}
    assert [each["event"] for each in entries(root)].count("code_modification_expired") == 2


def _days(at: str, days: int) -> tuple[Any, Any]:
    from datetime import datetime

    begun = datetime.fromisoformat(at)
    return (begun + timedelta(days=days)).date(), begun.date()


CORE = '''\
"""The core."""

import json
import os

LIMIT = 3
DEPTH = 4


class Client:
    """Sends."""

    def send(self, text):
        return json.dumps(text)

    def stop(self):
        return os.getpid()


def first():
    return LIMIT


# Comes second.
def second():
    return DEPTH


def third():
    return 3
'''


class Parts:
    """A proposal of a patch, of which parts are taken out.

    Parameters:
        root: the project, as it is.
        after: the files that the patch leads to; None for one that goes.
    """

    def __init__(self, root: Path, after: dict[str, str | bytes | None], *words: str) -> None:
        self.root = root
        self.task = proposed(root, "apply", "-", *words, typed=patch_to(root, after))

    def without(self, *parts: str) -> Proposal:
        deciding(self.root).reject(self.task, ANA, "not wanted", parts)
        return plans(self.root).get(self.task)

    def only(self, *parts: str) -> Proposal:
        deciding(self.root).keep_only(self.task, ANA, "not wanted", parts)
        return plans(self.root).get(self.task)

    def approved(self) -> dict[str, bytes]:
        """Have what is left approved, and return the files."""
        assert approved(self.root, self.task).state is State.APPLIED
        return files(self.root)


def patch_to(root: Path, after: dict[str, str | bytes | None]) -> bytes:
    """Return the patch that leads from the files of a project to others, as git draws it."""
    place = root.parent / "drawing"
    left, other = copied(root, place / "a"), copied(root, place / "b")
    for path, content in after.items():
        if content is None:
            (other / path).unlink()
        else:
            built(other, {path: content})
    git = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    run = ["git", "diff", "--no-index", "--binary", "--no-color", "--no-prefix", "-M", left.name, other.name]
    drawn = subprocess.run(run, cwd=place, capture_output=True, env=git).stdout
    shutil.rmtree(place)
    return drawn.replace(b"rename from a/", b"rename from ").replace(b"rename to b/", b"rename to ")


@pytest.fixture
def core(tmp_path: Path) -> Path:
    """A project whose module has neighbours that change together."""
    return built(
        tmp_path / "project", {"pyproject.toml": FILES["pyproject.toml"], "app/__init__.py": "", "app/core.py": CORE}
    )


def changed(*pairs: tuple[str, str], text: str = CORE) -> str:
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


ONE, TWO = ("LIMIT = 3", "LIMIT = 30"), ("DEPTH = 4", "DEPTH = 40")
SEND, STOP = ("json.dumps(text)", "json.dumps([text])"), ("os.getpid()", "os.getppid()")
FIRST, SECOND, THIRD = ("return LIMIT", "return -LIMIT"), ("return DEPTH", "return -DEPTH"), ("return 3", "return -3")


@pytest.mark.parametrize(
    ("pairs", "parts", "left"),
    [
        ((ONE, TWO), ("app.core.LIMIT",), (TWO,)),
        ((ONE, TWO), ("app.core.DEPTH",), (ONE,)),
        ((ONE, SEND, STOP, FIRST), ("app.core.Client",), (ONE, FIRST)),
        ((ONE, SEND, STOP, FIRST), ("app.core.Client.send", "app.core.first"), (ONE, STOP)),
        ((FIRST, SECOND, THIRD), ("app.core.second",), (FIRST, THIRD)),
        ((("import os", "import os\nimport re"), ONE), ("app.core.LIMIT",), (("import os", "import os\nimport re"),)),
    ],
)
def test_parts_that_are_refused_stay_to_the_byte_and_the_rest_is_made(
    core: Path, pairs: tuple[tuple[str, str], ...], parts: tuple[str, ...], left: tuple[tuple[str, str], ...]
) -> None:
    before = files(core)
    proposal = Parts(core, {"app/core.py": changed(*pairs)})
    old = plans(core).get(proposal.task)
    found = proposal.without(*parts)
    assert files(core) == before
    assert (found.state, found.digest == old.digest) == (State.AWAITING, False)
    assert [(each.symbol, each.reason, each.by) for each in found.refused] == [(p, "not wanted", "ana") for p in parts]
    assert [each.name for each in found.checks] == ["import"], "the rest was judged"
    for words in (("wait", "--seconds", "0"), ("show",)):
        shown = line(core, words[0], found.id, *words[1:]).out.decode()
        assert all(f"{part} was taken out by ana: not wanted" in shown for part in parts)
    assert proposal.approved()["app/core.py"].decode() == changed(*left)
    Source(core).undo(plans(core).get(found.id).operation_id)
    assert files(core) == before


def test_only_what_is_wanted_of_a_module_is_taken_with_what_is_not_inside(core: Path) -> None:
    imports = ("import os", "import os\nimport re")
    proposal = Parts(core, {"app/core.py": changed(imports, ONE, SEND, FIRST)})
    found = proposal.only("app.core.Client.send", "app.core.first")
    assert {each.symbol for each in found.refused} >= {"app.core", "app.core.LIMIT"}
    assert proposal.approved()["app/core.py"].decode() == changed(SEND, FIRST)


def test_functions_that_come_and_go_are_separate_parts_with_their_comments_and_blank_lines(core: Path) -> None:
    new = "# Comes first.\ndef nought():\n    return 0\n\n\ndef half():\n    return 0.5\n\n\ndef first():"
    gone = "# Comes second.\ndef second():\n    return DEPTH\n\n\n"
    after = {"app/core.py": changed(("def first():", new), (gone, ""))}
    half = "def half():\n    return 0.5\n\n\ndef first():"
    for parts, left in (
        (("app.core.nought",), (("def first():", half), (gone, ""))),
        (("app.core.second",), (("def first():", new),)),
        (("app.core.nought", "app.core.half"), ((gone, ""),)),
    ):
        root = copied(core, core.parent / "-".join(parts))
        proposal = Parts(root, after)
        proposal.without(*parts)
        assert proposal.approved()["app/core.py"].decode() == changed(*left)


@pytest.mark.parametrize(
    "pair",
    [
        ("LIMIT = 3\nDEPTH = 4", "DEPTH = 40\nLIMIT = 30"),
        ("LIMIT = 3\n", "WIDTH = 3\n"),
    ],
)
def test_parts_that_change_in_the_same_lines_are_not_taken_apart(core: Path, pair: tuple[str, str]) -> None:
    proposal = Parts(core, {"app/core.py": changed(pair, ("return LIMIT", "return 1"))})
    before = plans(core).get(proposal.task)
    with pytest.raises(Refused, match="cannot be taken out without") as caught:
        proposal.without("app.core.LIMIT")
    assert (caught.value.code, plans(core).get(proposal.task)) == ("unsafe_change", before)


@pytest.mark.parametrize("part", ["app.core.nothing", "app.cor", "nope", "", ":app/core.py", "app.core.LIMIT.x"])
def test_a_part_that_it_does_not_change_is_no_part(core: Path, part: str) -> None:
    proposal = Parts(core, {"app/core.py": changed(ONE, FIRST)})
    before = plans(core).get(proposal.task)
    for take in (proposal.without, proposal.only):
        with pytest.raises(RequestError, match="does not touch") as caught:
            take(part)
        assert caught.value.code == "invalid_arguments"
    assert plans(core).get(proposal.task) == before


def test_whole_files_new_gone_moved_and_of_data_are_parts(core: Path) -> None:
    built(
        core,
        {
            "app/old.py": "OLD = 1\n",
            "app/gone.py": "GONE = 1\n",
            "notes.txt": "one\ntwo\n",
        },
    )
    after: dict[str, str | bytes | None] = {
        "app/core.py": changed(ONE),
        "app/new.py": "NEW = 1\n\n\ndef new():\n    return 1\n",
        "app/gone.py": None,
        "app/old.py": None,
        "app/young.py": "OLD = 1\n",
        "notes.txt": "one\n2\n",
    }
    before = files(core)
    whole = {
        path: None if text is None else text.encode() if isinstance(text, str) else text for path, text in after.items()
    }
    moved = {"app/old.py", "app/young.py"}
    for parts, kept in (
        (("app.new",), {"app/new.py"}),
        (("app.gone",), {"app/gone.py"}),
        ((":notes.txt",), {"notes.txt"}),
        (("app.old", "app.young"), moved),
        (("app.core", ":notes.txt"), {"app/core.py", "notes.txt"}),
    ):
        root = copied(core, core.parent / parts[0].strip(":"))
        proposal = Parts(root, after)
        found = proposal.without(*parts)
        assert [each.symbol for each in found.refused] == list(parts)
        expected = {**before, **{path: text for path, text in whole.items() if path not in kept}}
        assert proposal.approved() == {path: text for path, text in expected.items() if text is not None}
    proposal = Parts(core, after)
    with pytest.raises(Refused, match="cannot be taken out without"):
        proposal.without("app.young")
    found = proposal.without("app.new.new")
    assert proposal.approved()["app/new.py"] == b"NEW = 1\n"
    assert "app/old.py" not in files(core)


@pytest.mark.parametrize(
    "encoded",
    [
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: b"\xef\xbb\xbf" + text.encode(),
        lambda text: ("# coding: latin-1\n" + text.replace("Sends", "S\xe4nds")).encode("latin-1"),
        lambda text: text.rstrip("\n").encode(),
        lambda text: text.replace("\n\n\n", "\r\n\r\n\r\n").encode(),
    ],
    ids=["crlf", "bom", "latin", "no last end of line", "mixed"],
)
def test_files_of_any_kind_of_lines_keep_them(core: Path, encoded: Any) -> None:
    (core / "app/core.py").write_bytes(encoded(CORE))
    for take, parts in (
        ("without", ("app.core.LIMIT", "app.core.third")),
        ("only", ("app.core.Client", "app.core.first")),
    ):
        root = copied(core, core.parent / take)
        proposal = Parts(root, {"app/core.py": encoded(changed(ONE, SEND, FIRST, THIRD))})
        getattr(proposal, take)(*parts)
        assert proposal.approved()["app/core.py"] == encoded(changed(SEND, FIRST))


def test_modes_are_kept_with_the_rest(core: Path) -> None:
    built(core, {"run.sh": "#!/bin/sh\n"})
    patch = (
        patch_to(core, {"app/core.py": changed(ONE, FIRST)})
        + b"diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n"
    )
    (core.parent / "patch").write_bytes(patch)
    task = proposed(core, "apply", str(core.parent / "patch"))
    deciding(core).reject(task, ANA, "no", ["app.core.LIMIT"])
    assert approved(core, task).state is State.APPLIED
    assert files(core)["app/core.py"].decode() == changed(FIRST)
    assert (core / "run.sh").stat().st_mode & 0o100


def test_taking_everything_out_is_a_rejection(core: Path) -> None:
    proposal = Parts(core, {"app/core.py": changed(ONE, FIRST)})
    assert proposal.without("app.core").state is State.REJECTED
    again = Parts(core, {"app/core.py": changed(ONE, TWO)})
    assert again.only("app.core").state is State.AWAITING, "there is nothing else in it"
    assert plans(core).get(again.task).refused == ()


def test_a_rest_that_does_not_hold_is_refused_and_the_proposal_is_as_before(core: Path) -> None:
    proposal = Parts(
        core,
        {"app/core.py": changed(("DEPTH = 4", "DEPTH = 4\nWIDTH = 5"), ("return 3", "return 3\n\n\nSUM = WIDTH + 1"))},
    )
    before = plans(core).get(proposal.task)
    with pytest.raises(Refused, match="WIDTH"):
        proposal.without("app.core.WIDTH")
    assert plans(core).get(proposal.task) == before
    assert approved(core, proposal.task).state is State.APPLIED


def test_what_was_refused_of_one_stays_out_when_it_is_planned_anew(core: Path) -> None:
    proposal = Parts(core, {"app/core.py": changed(ONE, FIRST)})
    proposal.without("app.core.LIMIT")
    Source(core).edit("app.core.third", old="return 3", new="return 4", reload="off")
    found = deciding(core).current(proposal.task)
    assert ([each.symbol for each in found.refused], "LIMIT = 30" in found.diff) == (["app.core.LIMIT"], False)
    assert found.summary.startswith("Only app.core.first, out of: ")
    assert proposal.approved()["app/core.py"].decode() == changed(FIRST, ("return 3", "return 4"))


def test_a_symbol_that_is_taken_out_of_a_rename_is_judged_with_the_rest(root: Path) -> None:
    before = files(root)
    task = proposed(root, "rename", "app.core.encoded", "coded", "--verify", "tests")
    with pytest.raises(Refused, match="cannot be made") as caught:
        deciding(root).reject(task, ANA, "the name stays", ["app.core.encoded", "app.core.coded"])
    assert isinstance(caught.value.__cause__, TransactionError)
    assert (files(root), waiting(root)) == (before, [task])


def test_review_goes_through_all_its_answers(core: Path) -> None:
    names = {
        "taken": Parts(core, {"app/core.py": changed(ONE, SEND)}).task,
        "out": Parts(core, {"app/core.py": changed(TWO, STOP)}).task,
        "rejected": Parts(core, {"app/core.py": changed(FIRST)}).task,
        "skipped": Parts(core, {"app/core.py": changed(SECOND)}).task,
        "approved": Parts(core, {"app/core.py": changed(THIRD)}).task,
        "quit": Parts(core, {"app/core.py": changed(FIRST, SECOND)}).task,
    }
    titles = {task: title for title, task in names.items()}
    before = files(core)
    order = [title for task in deciding(core).waiting() if (title := titles[task])]
    order.remove("quit")
    wanted = [*order, "quit"]
    with at_terminal(("review", "--terminal", "--who", "ana"), core) as person:
        for title in deciding(core).waiting():
            title = titles[title]
            if title == "quit" and wanted[0] != "quit":
                person.reads("[q]uit? ")
                person.types("s")
                continue
            wanted.remove(title)
            shown = person.reads("[q]uit? ")
            assert names[title] in shown
            if title in ("taken", "out"):
                person.types("x")  # which is no answer
                person.reads("[q]uit? ")
                person.types(title[0])
                person.reads("Which, by numbers: ")
                person.types("1, 99 x")
                person.reads("Why? ")
                person.types("the other is right")
                person.reads("[q]uit? ")
                person.types("s")
            elif title == "rejected":
                person.types("r")
                person.reads("Why? ")
                person.types("")
                person.reads("A rejection needs a reason")
                person.reads("[q]uit? ")
                person.types("r")
                person.reads("Why? ")
                person.types("not so")
            elif title == "approved":
                person.types("a")
                person.reads("to approve exactly this")
                person.types("no")
                person.reads("[q]uit? ")
                person.types("a")
                person.approves()
            else:
                person.types("s" if title == "skipped" else "q")
        assert person.ends() == 0
        assert "Decided about 2 changes; 4 left to wait." in person.shown
    found = {title: plans(core).get(task) for title, task in names.items()}
    assert {title: each.state for title, each in found.items()} == {
        "taken": State.AWAITING,
        "out": State.AWAITING,
        "rejected": State.REJECTED,
        "skipped": State.AWAITING,
        "approved": State.APPLIED,
        "quit": State.AWAITING,
    }
    assert [each.symbol for each in found["taken"].refused] == ["app.core.Client.send"]
    assert [each.symbol for each in found["out"].refused] == ["app.core.DEPTH"]
    assert found["rejected"].decision == "not so"
    assert files(core) == {**before, "app/core.py": changed(THIRD).encode()}


def test_review_ends_with_what_is_typed_and_decides_nothing(core: Path) -> None:
    task = Parts(core, {"app/core.py": changed(ONE)}).task
    for key, status in (("\x04", 0), ("\x03", 130)):
        with nothing_approved(core, task), at_terminal(("review", "--terminal"), core) as person:
            person.reads("[q]uit? ")
            person.presses(key)
            assert person.ends() == status
    with nothing_approved(core, task), at_terminal(("review", "--terminal", "--who", "bot"), core) as person:
        person.reads("[q]uit? ")
        person.types("a")
        person.reads("cannot approve it")
        person.reads("[q]uit? ")
        person.types("q")
        assert person.ends() == 0


def test_review_says_what_was_decided_meanwhile(core: Path) -> None:
    tasks = [Parts(core, {"app/core.py": changed(each)}).task for each in (ONE, TWO)]
    first, second = deciding(core).waiting()
    assert sorted(tasks) == sorted((first, second))
    with at_terminal(("review", "--terminal", "--who", "ana"), core) as person:
        person.reads("[q]uit? ")
        deciding(core).reject(first, ANA, "by somebody else")
        deciding(core).expire(second, ANA)
        person.types("a")
        person.reads("Type ")
        person.types(person_code(person))
        person.reads("rejected by ana")
        person.reads("was decided about meanwhile: it is rejected")
        person.reads("was decided about meanwhile: it is expired")
        assert person.ends() == 0
    assert b"LIMIT = 3\nDEPTH = 4\n" in files(core)["app/core.py"]


def person_code(person: Person) -> str:
    person.reads("to approve exactly this")
    return person.code


def test_two_approvers_at_once_make_it_once(root: Path) -> None:
    for _ in range(3):
        now = "1 + 2" if b"LIMIT = 3\n" in files(root)["app/core.py"] else "3"
        task = proposed(root, "edit", "app.core.LIMIT", "--source", "-", typed=f"LIMIT = {now}\n")
        with ExitStack() as open_until_end:
            words = ("approve", task, "--who")
            people = [
                open_until_end.enter_context(at_terminal((*words, name), root)) for name in ("ana", "ben", "cleo")
            ]
            for person in people:
                person.reads("to approve exactly this")
            for person in people:
                person.types(person.code)
            statuses = [person.ends() for person in people]
        found = plans(root).get(task)
        assert found.state is State.APPLIED, [person.shown for person in people]
        assert 0 in statuses
        assert set(statuses) <= {0, 7}, [person.shown for person in people]
        assert [entry.id for entry in history(root)].count(found.operation_id) == 1
        assert len([each for each in entries(root, "change_begun") if each.get("task_id") == task]) == 1
        assert [each["task_id"] for each in entries(root, "code_modification_applied")].count(task) == 1
        assert history(root)[0].id == found.operation_id
        assert f"LIMIT = {now}\n".encode() in files(root)["app/core.py"]


def test_of_an_approver_and_an_expiry_at_once_one_decides(root: Path) -> None:
    came = set()
    for number in range(6):
        before = files(root)
        text = f"LIMIT = 3 + {number} - {number}\n"
        task = proposed(root, "edit", "app.core.LIMIT", "--source", "-", typed=text)
        with ExitStack() as open_until_end:
            ana = open_until_end.enter_context(at_terminal(("approve", task, "--who", "ana"), root))
            ana.reads("to approve exactly this")
            ana_first = number % 2
            if ana_first:
                ana.types(ana.code)
                time.sleep(number * 0.02)
            ben = open_until_end.enter_context(at_terminal(("expire", task, "--who", "ben"), root))
            if not ana_first:
                time.sleep(0.2 + number * 0.05)
                ana.types(ana.code)
            statuses = ana.ends(), ben.ends()
        state = plans(root).get(task).state
        came.add(state)
        assert statuses == ((0, 7) if state is State.APPLIED else (7, 0)), (ana.shown, ben.shown)
        assert (files(root) != before) is (state is State.APPLIED)
        assert len([each for each in entries(root, "change_begun") if each.get("task_id") == task]) == (
            1 if state is State.APPLIED else 0
        )
    assert State.APPLIED in came


def test_a_change_of_the_engine_is_decided_with_meta(installed: Installed) -> None:
    home = Path(installed.environment["HOME"])
    places = {"XDG_STATE_HOME": str(home / ".local" / "state"), "XDG_CONFIG_HOME": str(home / ".config")}
    variables = {**installed.environment, **places}
    settings = home / ".config" / "bae-source" / "settings.toml"
    settings.parent.mkdir(parents=True)

    def approve(task: str) -> tuple[str, ...]:
        return "approve", task, "--meta", "--who", "ana"

    settings.write_text('[policy]\npreset = "review"\n')
    before = installed.files()
    try:
        words = ("meta", "edit", "bae_source.errors.Refused", "--old", "would do harm", "--new", "would harm")
        done = installed.python("-m", "bae_source", *words, "--who", "bot", "--json")
        task = json.loads(done.stdout)["task_id"]
        assert (done.returncode, installed.files()) == (10, before)
        assert task in installed.python("-m", "bae_source", "meta", "pending").stdout
        with at_terminal(approve(task), installed.project, variables) as person:
            person.approves()
        assert person.status == 0, person.shown
        assert installed.changed_since(before) == {"bae_source/errors.py"}
        made = json.loads(installed.python("-m", "bae_source", "meta", "wait", task, "--json").stdout)
        assert f"meta undo {made['operation_id']}" in person.shown
        undone = installed.python("-m", "bae_source", "meta", "undo", made["operation_id"], "--who", "bot", "--json")
        assert undone.returncode == 10, "taking it back waits, too"
        task = json.loads(undone.stdout)["task_id"]
        with at_terminal(approve(task), installed.project, variables) as person:
            person.approves()
        assert (person.status, installed.files()) == (0, before), person.shown
    finally:
        settings.unlink()
