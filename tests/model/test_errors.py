"""Errors as data: their sentence is put together of fields, and survives a pickle and more fields."""

from __future__ import annotations

import pickle
import traceback

import pytest

from bae_source.errors import Refused, SourceError, TransactionError

BROKEN = SourceError("syntax_invalid", "does not parse: line 1.", subject="The code", details={"line": 1})
FAILED = TransactionError("reload_failed", "app does not import", unchanged=True)


def test_the_subject_is_what_the_caller_calls_it() -> None:
    assert BROKEN.message == str(BROKEN) == "The code does not parse: line 1."
    assert BROKEN.altered(subject="app.core").message == "app.core does not parse: line 1."
    assert BROKEN.clause_about("app.core") == "app.core does not parse: line 1"
    assert Refused("forbidden", "Nobody may.").clause_about("app.core") == "app.core: Nobody may"


def test_that_nothing_was_changed_is_a_field() -> None:
    assert FAILED.message == "app does not import; nothing was written."
    assert FAILED.clause == "app does not import"
    assert FAILED.altered(unchanged=False).message == "app does not import."
    whole = Refused("unsafe_change", "It is taken: here.", unchanged=True)
    assert whole.message == "It is taken: here. Nothing was changed."


@pytest.mark.parametrize("error", [BROKEN, FAILED])
def test_an_error_is_the_same_behind_a_pickle(error: SourceError | TransactionError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (again, again.message) == (error, error.message)


def test_more_fields_hide_neither_where_an_error_was_raised_nor_its_cause() -> None:
    def first() -> None:
        raise Refused("forbidden", "No.") from OSError("why")

    try:
        first()
    except Refused as error:
        other = error.altered(hints=["Ask."])
    assert [each.name for each in traceback.extract_tb(other.__traceback__)][-1] == "first"
    assert isinstance(other.__cause__, OSError)
