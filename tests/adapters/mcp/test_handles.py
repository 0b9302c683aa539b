"""Handles of transactions: whose they are, how long they live, and how many there can be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bae_source.adapters.mcp.handles import LIFETIME, MOST_OF_ALL, MOST_OF_ONE, Handles
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


def test_a_handle_of_another_client_looks_like_none(handles: Handles, begin: Callable[[], Draft]) -> None:
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


def test_a_client_can_have_only_so_many(handles: Handles, begin: Callable[[], Draft]) -> None:
    mine = [handles.begin(begin, "a") for _ in range(MOST_OF_ONE)]
    with pytest.raises(Refused) as caught:
        handles.begin(lambda: pytest.fail("a transaction is begun that has no room"), "a")
    assert caught.value.code == "busy"
    handles.end(mine[0], "a")
    handles.begin(begin, "a")


def test_all_clients_together_can_have_only_so_many_until_old_ones_end(
    handles: Handles, clock: Clock, begin: Callable[[], Draft]
) -> None:
    for number in range(MOST_OF_ALL):
        handles.begin(begin, f"client {number // MOST_OF_ONE}")
    with pytest.raises(Refused):
        handles.begin(begin, "another")
    clock.now += LIFETIME + 1
    handles.begin(begin, "another")
    assert len(handles) == 1


def test_to_abandon_ends_what_a_client_has_open(handles: Handles, begin: Callable[[], Draft]) -> None:
    handle, other = handles.begin(begin, "a"), handles.begin(begin, "b")
    handles.abandon("a")
    expires(lambda: handles.draft(handle, "a"))
    handles.draft(other, "b")
    handles.abandon()
    expires(lambda: handles.draft(other, "b"))


def test_handles_are_long_and_never_alike(handles: Handles, begin: Callable[[], Draft]) -> None:
    made = {handles.begin(begin, "a") for _ in range(MOST_OF_ONE)}
    assert len(made) == MOST_OF_ONE
    assert all(len(handle) >= 24 for handle in made)


def expires(do: Callable[[], object]) -> str:
    with pytest.raises(HistoryError) as caught:
        do()
    assert caught.value.code == "handle_expired"
    return f"{caught.value.message} {caught.value.hints}"
