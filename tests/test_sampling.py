"""Tests of the share that a run of all tests takes of those that take long."""

from __future__ import annotations

import pytest

from tests import sampling


@pytest.mark.sampled
@pytest.mark.parametrize("case", range(10))
def test_each_of_three_days_has_a_third_of_the_cases(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, case: int
) -> None:
    marked = [item for item in request.session.items if item.get_closest_marker("sampled") is not None]
    mine = {item for item in marked if item.path == request.path}
    monkeypatch.delenv("BAE_SOURCE_TESTS_DAY", raising=False)
    assert sampling.left_out(marked) == []
    drawn: list[pytest.Item] = []
    for day in range(3):
        monkeypatch.setenv("BAE_SOURCE_TESTS_DAY", str(day))
        kept = mine.difference(sampling.left_out(marked))
        assert len(kept) in (len(mine) // 3, -(-len(mine) // 3))
        drawn += kept
    assert len(drawn) == len(mine)
    assert set(drawn) == mine
    assert request.node in mine
