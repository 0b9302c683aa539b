"""What can be asked of the history, and how it is asked."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bae_source.adapters.cli.arguments import Shape, of_request
from bae_source.errors import RequestError
from bae_source.history.travel.choosing import moment
from bae_source.history.travel.commands import History, Redo, Undo
from bae_source.history.travel.upkeep import Forget, Prune
from bae_source.model.call import call_of
from bae_source.model.request import Effect, parse, summary

NOW = datetime(2026, 11, 22, 6, 30, tzinfo=UTC)


def test_requests_are_parsed_strictly_and_have_help() -> None:
    assert parse(Undo, {}).operation_id is None
    assert parse(Undo, {"operation_id": "op_1"}).operation_id == "op_1"
    assert parse(Redo, {"operation_id": ["op_1", "op_2"]}).operation_id == ("op_1", "op_2")
    assert summary(Undo).startswith("Take back your last change")


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (History, {"limit": 0}),
        (Redo, {"operation_id": 7}),
        (Undo, {"operation_id": ["op_1", 7]}),
        (Undo, {"count": 0}),
        (Undo, {"count": True}),
        (Prune, {"keep": -1}),
        (Forget, {"keep": 1}),
    ],
)
def test_what_makes_no_sense_is_refused(kind: type[Undo], given: dict[str, object]) -> None:
    with pytest.raises(RequestError) as caught:
        parse(kind, given)
    assert caught.value.code == "invalid_arguments"


def test_what_cannot_be_taken_back_says_so() -> None:
    assert {kind: kind.effect for kind in (Undo, Redo, History, Prune, Forget)} == {
        Undo: Effect.WRITES,
        Redo: Effect.WRITES,
        History: Effect.READS,
        Prune: Effect.DESTROYS,
        Forget: Effect.DESTROYS,
    }


def test_ids_are_words_on_the_command_line() -> None:
    placed = [argument for argument in of_request(Undo) if not argument.flags]
    assert [(argument.parameter, argument.shape) for argument in placed] == [("operation_id", Shape.LIST)]
    assert call_of(Undo(operation_id=("op_1", "op_2"))) == "undo op_1 op_2"
    assert call_of(Undo(operation_id="op_1")) == "undo op_1"
    assert call_of(Undo(count=3)) == "undo --count 3"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-21", "2026-11-21T00:00:00+00:00"),
        ("2026-11-21T12:30", "2026-11-21T12:30:00+00:00"),
        ("2026-11-21T12:30+02:00", "2026-11-21T12:30:00+02:00"),
        (" 90m ", "2026-11-22T05:00:00+00:00"),
        ("30s", "2026-11-22T06:29:30+00:00"),
        ("12h", "2026-11-21T18:30:00+00:00"),
        ("2d", "2026-11-20T06:30:00+00:00"),
        ("1w", "2026-11-15T06:30:00+00:00"),
        ("999999999w", "0001-01-01T00:00:00+00:00"),
    ],
)
def test_a_time_is_a_date_a_time_or_an_age(text: str, expected: str) -> None:
    assert moment(text, NOW, parameter="since") == datetime.fromisoformat(expected)


@pytest.mark.parametrize("text", ["", "yesterday", "3", "3 days", "-3d", "2026-13-01", "op_1", "1.5h"])
def test_what_is_no_time_is_named(text: str) -> None:
    with pytest.raises(RequestError, match=r"since: .* is no time") as caught:
        moment(text, NOW, parameter="since")
    assert "2026-11-21" in caught.value.hints[0]
