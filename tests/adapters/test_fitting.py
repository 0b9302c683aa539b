"""A call of the Python API that does not fit is answered with all that is wrong with it, like any other call."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from bae_source import RequestError, Source
from bae_source.adapters.python.fitting import fitting
from bae_source.adapters.tools import Toolbox
from bae_source.engine.service import Service


@pytest.fixture
def src(project: Path) -> Source:
    return Source(project)


def refusal(call: Any, *placed: Any, **named: Any) -> RequestError:
    with pytest.raises(RequestError) as caught:
        call(*placed, **named)
    assert caught.value.code == "invalid_arguments"
    return caught.value


def test_unknown_missing_and_mistyped_arguments_come_in_one_message(src: Source) -> None:
    message = refusal(src.edit, traget="app.client.Client", new=3, dry_run="yes").message
    for problem in (
        "traget is unknown, did you mean target?",
        "target is missing",
        "new: expected",
        "dry_run: expected",
    ):
        assert problem in message


def test_what_is_given_twice_or_once_too_often_is_told(src: Source) -> None:
    assert "target is given twice" in refusal(src.read, "app.client", target="app").message
    assert "2 arguments are given by place, at most 1 can be" in refusal(src.read, "app", "client").message


def test_what_is_given_by_place_to_a_method_that_takes_any_number_is_never_too_much(src: Source) -> None:
    message = refusal(src.symbols, "sym://a", "sym://b", nope=1).message
    assert "nope is unknown" in message
    assert "by place" not in message


def test_the_signature_and_the_first_line_of_help_are_the_hint(src: Source) -> None:
    (hint,) = refusal(src.read, nope=1).hints
    assert hint.startswith("read(target=''")
    assert "Read the source of a symbol" in hint


def test_a_transaction_answers_in_the_same_way(src: Source, project: Path) -> None:
    before = (project / "app/client.py").read_bytes()
    tx = src.transaction("why")
    assert "target is missing" in refusal(tx.delete).message
    tx.abandon()
    assert (project / "app/client.py").read_bytes() == before


def test_the_message_is_the_one_that_a_tool_gives(src: Source, project: Path) -> None:
    given: dict[str, Any] = {"target": 3, "full": "x", "budgte": 1}
    failure = Toolbox(Service(project)).call("read", given).errors[0]
    error = refusal(src.read, **given)
    assert (failure.message, failure.hints) == (error.message, error.hints)


def test_an_error_from_within_is_passed_on() -> None:
    @fitting
    class Broken:
        def read(self, target: str) -> int:
            return len(3)  # type: ignore[arg-type]

    with pytest.raises(TypeError, match="has no len"):
        Broken().read("app")


def test_what_is_no_list_of_requests_is_refused_at_the_door(src: Source) -> None:
    for wrong in (3, [1, 2], "text", None):
        assert "requests" in refusal(src.apply, wrong).message


def test_signatures_stay_as_they_are_written() -> None:
    assert list(inspect.signature(Source.read).parameters)[:2] == ["self", "target"]
    assert inspect.getdoc(Source.edit)
