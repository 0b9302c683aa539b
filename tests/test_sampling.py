"""Tests of the sample that a run of all tests takes of some cases."""

from __future__ import annotations

import pytest

from tests import sampling


@pytest.mark.sampled
@pytest.mark.parametrize("case", range(10))
def test_a_sample_has_a_third_of_the_cases_and_every_case_has_its_day(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, case: int
) -> None:
    marked = [item for item in request.session.items if item.get_closest_marker("sampled") is not None]
    mine = {item for item in marked if item.path == request.path}
    drawn: set[pytest.Item] = set()
    for day in range(60):
        monkeypatch.setenv("BAE_SOURCE_TESTS_SEED", str(day))
        kept = mine.difference(sampling.left_out(marked))
        assert len(kept) == -(-len(mine) // 3)
        drawn |= kept
    assert drawn == mine
    assert request.node in mine
    monkeypatch.delenv("BAE_SOURCE_TESTS_SEED")
    assert sampling.left_out(marked) == []
