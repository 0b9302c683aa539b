"""Requests are made by `parse` alone, which names every problem at once and never crashes."""

from __future__ import annotations

from typing import Any

import pytest

from bae_source.errors import RequestError
from bae_source.model.request import parse
from bae_source.refactoring.edit import Edit


def test_every_problem_is_named_at_once() -> None:
    with pytest.raises(RequestError) as caught:
        parse(Edit, {"target": 5, "nwe_source": "x", "imports": "x", "if_match": 3})
    assert len(caught.value.details["problems"]) == 4
    assert "did you mean new_source" in caught.value.message


@pytest.mark.parametrize("given", [{1: 2}, {None: 1, "target": "a"}, {("a",): 1}])
def test_a_key_that_is_no_text_is_a_problem_and_no_crash(given: dict[Any, Any]) -> None:
    with pytest.raises(RequestError):
        parse(Edit, given)
