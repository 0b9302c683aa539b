"""The phases of a transaction follow the table, and nothing else."""

from __future__ import annotations

import itertools

import pytest

from bae_source.transaction.commit.states import TRANSITIONS, IllegalMove, Phase, Progress, Step

ILLEGAL = [(phase, step) for phase, step in itertools.product(Phase, Step) if step not in TRANSITIONS[phase]]
ENDS = {Phase.RECORDED, Phase.REFUSED, Phase.ROLLED_BACK, Phase.STUCK}


@pytest.mark.parametrize(("phase", "step"), ILLEGAL, ids=lambda value: value.name)
def test_an_illegal_move_raises_and_nothing_happens(phase: Phase, step: Step) -> None:
    progress = Progress()
    progress.phase = phase
    with pytest.raises(IllegalMove):
        progress.advance(step)
    assert progress.phase is phase


def test_every_phase_has_a_row_and_can_be_reached() -> None:
    assert set(TRANSITIONS) == set(Phase)
    reached = {Phase.PLANNED}
    for _ in Phase:
        reached |= {target for phase in reached for target in TRANSITIONS[phase].values()}
    assert reached == set(Phase)


def test_only_the_ends_have_no_way_out() -> None:
    assert {phase for phase in Phase if not TRANSITIONS[phase]} == ENDS


def test_who_began_to_write_takes_back_and_who_did_not_refuses() -> None:
    writing = {Phase.WRITING, Phase.VERIFYING}
    for phase, row in TRANSITIONS.items():
        if Step.FAIL in row:
            assert row[Step.FAIL] is (Phase.ROLLING_BACK if phase in writing else Phase.REFUSED)
