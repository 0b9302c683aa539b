"""Proposals as they are kept: their moves, processes that meet, processes that die, and files that are damaged."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from bae_source.approval.plans import Plans
from bae_source.approval.proposals import Proposal, Risk, State
from bae_source.errors import HistoryError, LookupFailed, Refused
from bae_source.state.binding import UserState
from bae_source.state.folders import StateFolders

NOW = "2026-11-29T12:00:00+00:00"


def plans_of(root: Path) -> Plans:
    return Plans(StateFolders(root, UserState(os.environ)))


def proposal(number: int = 1, **fields: Any) -> Proposal:
    usual = {
        "id": f"code_mod_{number:08x}",
        "requests": ({"do": "edit", "target": "app.f", "new_source": "x = 1\n"},),
        "reason": "to try it",
        "who": "bot",
        "at": NOW,
        "digest": "d1",
        "diff": "--- a\n+++ b\n",
        "symbols": ("app.f", "app.g"),
        "risk": Risk(level="high", reasons=("app.f goes",), counts={"files": 1}),
    }
    return Proposal(**{**usual, **fields})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    return root


@pytest.fixture
def plans(root: Path) -> Plans:
    return plans_of(root)


def test_what_is_added_is_there_in_any_process_and_reading_leaves_nothing(root: Path, plans: Plans) -> None:
    assert (plans.listed(), sum(plans.counts().values()), list(root.iterdir())) == ([], 0, [])
    plans.add(proposal())
    assert plans_of(root).get("code_mod_00000001") == proposal()
    [found] = plans_of(root).listed({State.AWAITING})
    assert (found.id, found.symbols, found.risk) == ("code_mod_00000001", 2, proposal().risk)
    assert plans.counts()[State.AWAITING] == 1


def test_a_move_is_made_once(plans: Plans) -> None:
    plans.add(proposal())
    moved = plans.move("code_mod_00000001", State.APPROVED, digest="d1", decided_by="ana", decided_at=NOW)
    assert moved == proposal(state=State.APPROVED, decided_by="ana", decided_at=NOW)
    with pytest.raises(HistoryError, match="is approved by ana, so it cannot become rejected") as caught:
        plans.move("code_mod_00000001", State.REJECTED, decided_by="ben")
    assert caught.value.code == "proposal_closed"
    assert plans.get("code_mod_00000001") == moved


def test_another_digest_is_stale(plans: Plans) -> None:
    plans.add(proposal())
    with pytest.raises(Refused) as caught:
        plans.move("code_mod_00000001", State.APPROVED, digest="d0", decided_by="ana")
    assert (caught.value.code, plans.get("code_mod_00000001")) == ("stale", proposal())


def test_an_id_may_be_cut_where_it_stays_clear(plans: Plans) -> None:
    plans.add(proposal(0x12340000))
    plans.add(proposal(0x12350000))
    assert plans.get("1235").id == plans.get("code_mod_1235").id == "code_mod_12350000"
    with pytest.raises(LookupFailed) as caught:
        plans.get("123")
    assert (caught.value.code, caught.value.candidates) == (
        "ambiguous_symbol",
        ("code_mod_12340000", "code_mod_12350000"),
    )
