"""Handles of transactions: whose they are, how long they live, and how many there can be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bae_source.adapters.mcp.door import Caller, Door
from bae_source.adapters.mcp.handles import MOST, Handles
from bae_source.adapters.mcp.offer import offered
from bae_source.adapters.mcp.transactions import LIFETIME
from bae_source.drafting import Draft
from bae_source.errors import HistoryError, Refused
from bae_source.service import Service
from tests.adapters.mcp.support import make_project


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def begin(tmp_path: Path) -> Callable[[], Draft]:
    service = Service(make_project(tmp_path / "project"))
    return service.draft


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def handles(clock: Clock) -> Handles:
    return Handles(clock=clock)


def test_a_handle_gives_its_transaction_until_it_is_ended(handles: Handles, begin: Callable[[], Draft]) -> None:
    handle = handles.begin(begin, "a")
    draft = handles.draft(handle, "a")
    assert handles.end(handle, "a") is draft
    expires(lambda: handles.draft(handle, "a"))
    expires(lambda: handles.end(handle, "a"))


def test_a_handle_of_another_session_looks_like_none(handles: Handles, begin: Callable[[], Draft]) -> None:
    handle = handles.begin(begin, "a")
    assert expires(lambda: handles.draft(handle, "b")) == expires(lambda: handles.draft("tx_never_was", "b"))
    expires(lambda: handles.end(handle, "b"))
    assert len(handles.draft(handle, "a")) == 0


def test_a_handle_ends_so_long_after_its_last_use(handles: Handles, clock: Clock, begin: Callable[[], Draft]) -> None:
    handle = handles.begin(begin, "a")
    clock.now += LIFETIME - 1
    draft = handles.draft(handle, "a")
    clock.now += LIFETIME - 1
    assert handles.draft(handle, "a") is draft
    clock.now += LIFETIME + 1
    assert "30 minutes" in expires(lambda: handles.draft(handle, "a"))
    with pytest.raises(HistoryError):
        draft.preview()


def test_all_clients_together_can_have_only_so_many_until_old_ones_end(
    handles: Handles, clock: Clock, begin: Callable[[], Draft]
) -> None:
    made = [handles.begin(begin, f"session {number % 3}") for number in range(MOST)]
    assert len(set(made)) == MOST
    assert all(len(handle) >= 24 for handle in made)
    with pytest.raises(Refused) as caught:
        handles.begin(lambda: pytest.fail("a transaction is begun that has no room"), "another")
    assert caught.value.code == "busy"
    handles.end(made[0], "session 0")
    handles.begin(begin, "another")
    clock.now += LIFETIME + 1
    handles.begin(begin, "another")
    assert len(handles) == 1


def test_one_or_all_can_be_ended_by_who_has_no_handle_of_his_own(handles: Handles, begin: Callable[[], Draft]) -> None:
    first, second, third = handles.begin(begin, "a"), handles.begin(begin, "a"), handles.begin(begin, "b")
    draft = handles.draft(first, "a")
    for _ in range(2):
        handles.drop(first)
    expires(lambda: handles.draft(first, "a"))
    with pytest.raises(HistoryError):
        draft.preview()
    handles.draft(second, "a")
    handles.abandon()
    expires(lambda: handles.draft(second, "a"))
    expires(lambda: handles.draft(third, "b"))


def expires(do: Callable[[], object]) -> str:
    with pytest.raises(HistoryError) as caught:
        do()
    assert caught.value.code == "handle_expired"
    return f"{caught.value.message} {caught.value.hints}"


def test_who_holds_a_handle_that_has_ended_is_told_how(tmp_path: Path) -> None:
    handles = Handles()
    handle = handles.begin(lambda: Service(make_project(tmp_path / "project")).draft(), "")
    handles.end(handle, "")
    handles.remember(handle, "it was committed as op_1")
    with pytest.raises(HistoryError, match="it was committed as op_1") as caught:
        handles.draft(handle, "")
    assert caught.value.code == "handle_expired"
    assert "nothing of it was written" not in caught.value.message


def test_not_every_end_is_remembered_for_ever() -> None:
    handles = Handles()
    for number in range(300):
        handles.remember(f"tx_{number}", "it was abandoned")
    with pytest.raises(HistoryError, match="no such transaction"):
        handles.draft("tx_0", "")
    with pytest.raises(HistoryError, match="abandoned"):
        handles.draft("tx_299", "")


def test_what_became_of_a_transaction_is_said_by_its_changes_its_commit_and_afterwards(
    tmp_path: Path,
) -> None:
    root = make_project(tmp_path / "project")
    before = (root / "app/client.py").read_bytes()
    door = Door(lambda: Service(root), offered(), budget=8_000)
    handle = door.call("transaction_begin", {}, Caller()).text
    edit = {"target": "app.counters.f0", "old": "return 0", "new": "return 1"}
    planned = door.call("edit", {**edit, "transaction": handle}, Caller())
    assert planned.text.startswith("Planned, to be written by the commit")
    assert planned.next_actions == (f'transaction_commit(transaction="{handle}")',)
    made = door.call("transaction_commit", {"transaction": handle, "reload": "off"}, Caller())
    assert made.status == "applied"
    again = door.call("transaction_commit", {"transaction": handle}, Caller())
    assert (again.errors[0].code, str(made.operation_id) in again.text) == ("handle_expired", True)
    other = door.call("transaction_begin", {}, Caller()).text
    broken = {"target": "app.client.Client", "imports": ["import nowhere_at_all"], "transaction": other}
    assert door.call("edit", broken, Caller()).status == "planned"
    refused = door.call("transaction_commit", {"transaction": other, "reload": "child"}, Caller())
    assert refused.errors[0].code == "reload_failed"
    assert any("transaction_begin" in hint for hint in refused.errors[0].hints)
    assert "its commit was refused" in door.call("transaction_preview", {"transaction": other}, Caller()).text
    assert (root / "app/client.py").read_bytes() == before
    door.close()
