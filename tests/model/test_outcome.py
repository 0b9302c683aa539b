"""An outcome's JSON has the keys of the contract, always all of them; errors are data that pickle."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

from bae_source import errors
from bae_source.errors import ResourceError
from bae_source.model.outcome import Changed, Failure, Notice, Outcome, Text, failed, to_json

#: Contract, section 1: the keys, in the order in which they are shown there.
KEYS = [
    "status", "operation_id", "text", "diff", "changed", "checks", "warnings", "etag", "complete", "errors",
    "next_actions", "found", "counts", "report", "draft", "task_id",
]  # fmt: skip
CLASSES = [
    kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, ResourceError) and kind.codes
]
#: The classes of the design, section 7, with their exit statuses.
EXITS = {
    "RequestError": 2, "LookupFailed": 3, "SourceError": 4, "Refused": 5, "TransactionError": 6, "HistoryError": 7,
}  # fmt: skip
FULL = Outcome(
    status="applied",
    operation_id="op_1",
    text="Edited m.é.",
    diff="-\udcff\n+x\n",
    changed=(Changed("m.f", "abc"), Changed("m.g", None)),
    warnings=(Notice("decorators_dropped", "f no longer has @a."),),
    etag="abc",
    next_actions=("undo",),
    address="m.f",
    exit_code=0,
)


@pytest.mark.parametrize("outcome", [Outcome(status="answer"), FULL, Outcome(status="planned", complete=False)])
def test_an_outcome_has_exactly_the_keys_of_the_contract(outcome: Outcome) -> None:
    text = to_json(outcome)
    assert text.isascii()
    assert "\n" not in text
    assert list(json.loads(text)) == KEYS


def test_what_an_outcome_holds_is_objects_with_the_contracts_keys() -> None:
    found = json.loads(to_json(FULL))
    assert found["changed"] == [{"address": "m.f", "etag": "abc"}, {"address": "m.g", "etag": None}]
    assert found["warnings"] == [{"code": "decorators_dropped", "message": "f no longer has @a."}]
    assert (found["errors"], found["next_actions"], found["complete"]) == ([], ["undo"], True)
    assert (found["status"], found["text"], found["diff"]) == ("applied", FULL.text, FULL.diff)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_a_failed_outcome_has_the_error_as_data(kind: type[ResourceError]) -> None:
    code = min(kind.codes)
    error = kind(code, "It is so.", hints=["Do this."], candidates=["m.f"], details={"line": 1})
    outcome = failed(error)
    found = json.loads(to_json(outcome))
    assert list(found) == KEYS
    assert found["status"] == "error"
    assert found["complete"] is False
    assert found["errors"] == [{"code": code, "message": "It is so.", "hints": ["Do this."], "candidates": ["m.f"]}]
    assert list(found["errors"][0]) == ["code", "message", "hints", "candidates"]
    assert outcome.exit_code == kind.exit_code == EXITS[kind.__name__]
    assert outcome.errors == (Failure(code=code, message="It is so.", hints=("Do this.",), candidates=("m.f",)),)


def test_the_classes_are_those_of_the_design_and_share_no_code() -> None:
    assert {kind.__name__: kind.exit_code for kind in CLASSES} == EXITS
    codes = [code for kind in CLASSES for code in kind.codes]
    assert len(codes) == len(set(codes))
    assert all(code == code.lower() and code.replace("_", "").isalpha() for code in codes)


@pytest.mark.parametrize(("kind", "code"), [(kind, code) for kind in CLASSES for code in sorted(kind.codes)])
def test_every_error_pickles_and_is_copied_whole(kind: type[ResourceError], code: str) -> None:
    error = kind(
        code, "é\udcff", hints=iter(["a", "b"]), candidates=("m.f", "m.g"), details={"line": 3, "more": [1, None]}
    )
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(error, protocol))
        assert type(again) is kind
        assert again == error
        assert _facts(again) == _facts(error)
        assert str(again) == error.message
    assert _facts(copy.deepcopy(error)) == _facts(error)
    assert len({error, copy.copy(error)}) == 1


def _facts(error: ResourceError) -> tuple[Any, ...]:
    return error.code, error.message, error.hints, error.candidates, error.details, error.exit_code


def test_an_error_has_a_code_of_its_own_class() -> None:
    for kind in CLASSES:
        for other in CLASSES:
            if other is not kind:
                with pytest.raises(ValueError, match=kind.__name__):
                    kind(min(other.codes), "It is so.")
    with pytest.raises(ValueError):
        ResourceError("symbol_not_found", "It is so.")


def test_errors_of_different_content_differ() -> None:
    one = errors.LookupFailed("symbol_not_found", "It is so.")
    assert one != errors.LookupFailed("ambiguous_symbol", "It is so.")
    assert one != errors.LookupFailed("symbol_not_found", "It is so.", candidates=["m.f"])
    assert one != "It is so."


def test_a_text_is_what_was_read_with_what_is_known_about_it() -> None:
    text = Text(Outcome(status="answer", text="x = 1\n", etag="abc", address="m.x", complete=False))
    assert text == "x = 1\n"
    assert isinstance(text, str)
    assert (text.etag, text.address, text.complete, text.outcome.status) == ("abc", "m.x", False, "answer")
    assert type(text.strip()) is str
