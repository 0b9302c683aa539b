"""How long source is cut, and what an error comes to."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bae_source.errors import LookupFailed, RequestError
from bae_source.model.selection import (
    MAX_SNIPPET_BYTES,
    MAX_SNIPPET_LINES,
    as_mapping,
    failed_selection,
    line_of,
    selected,
    selection_of_error,
    shortened,
)

MARKER = re.compile(r"\n# \.\.\. (?:truncated|(\d+) lines hidden)\Z")


@given(st.text(alphabet="aé\n\r\x0c ", max_size=400), st.integers(min_value=0, max_value=70), st.integers(0, 2100))
def test_what_is_shown_is_a_beginning_within_both_limits(text: str, lines: int, wide: int) -> None:
    whole = text + "x\n" * lines + "y" * wide
    shown = shortened(whole)
    marker = MARKER.search(shown) if shown != whole else None
    start = shown[: marker.start()] if marker else shown
    assert whole.startswith(start)
    assert len(start.encode()) <= MAX_SNIPPET_BYTES + 2
    assert len(re.split(r"\r\n|\n|\r", start.removesuffix("\n"))) <= MAX_SNIPPET_LINES + 1
    assert (shown == whole) is (marker is None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("x\n" * 50, "x\n" * 50),
        ("x\n" * 51, "x\n" * 49 + "x\n# ... 1 lines hidden"),
        ("\n" * 60, "\n" * 49 + "\n# ... 10 lines hidden"),
        ("x\r\n" * 60, "x\r\n" * 49 + "x\n# ... 10 lines hidden"),
        ("x" * 2000, "x" * 2000),
        ("x" * 2001, "x" * 2000 + "\n# ... truncated"),
        ("é" * 1001, "é" * 1000 + "\n# ... truncated"),
        ("x" + "é" * 1000, "x" + "é" * 999 + "\n# ... truncated"),
        ("a\n" + "x" * 1998, "a\n" + "x" * 1998),
        ("a\n" + "x" * 1999, "a\n# ... truncated"),
        ("a\n" + "x" * 1999 + "\n" * 80, "a\n# ... truncated"),
        (("y" * 39 + "\n") * 51, ("y" * 39 + "\n") * 49 + "y" * 39 + "\n# ... 1 lines hidden"),
        (("y" * 40 + "\n") * 51, ("y" * 40 + "\n") * 47 + "y" * 40 + "\n# ... truncated"),
    ],
)
def test_the_stricter_limit_cuts_with_one_marker(text: str, expected: str) -> None:
    assert shortened(text) == expected


def test_an_error_is_data_with_its_code_in_upper_case() -> None:
    error = LookupFailed("symbol_not_found", "No.", hints=["search x"], details={"sym": "x"})
    assert as_mapping(selection_of_error(error, "snippet", ("search x",))) == {
        "status": "error",
        "kind": "snippet",
        "data": None,
        "refs": [],
        "errors": [{"code": "SYMBOL_NOT_FOUND", "message": "No.", "details": {"sym": "x"}}],
        "next_actions": ["search x"],
    }


def test_an_outcome_of_errors_has_the_highest_exit_status_and_names_each() -> None:
    errors = (LookupFailed("symbol_not_found", "No."), RequestError("invalid_selector_syntax", "Not so."))
    outcome = selected(tuple(selection_of_error(error, "hover") for error in errors), errors)
    assert (outcome.status, outcome.exit_code, outcome.complete) == ("error", 3, False)
    assert [failure.code for failure in outcome.errors] == ["symbol_not_found", "invalid_selector_syntax"]
    assert outcome.text == "".join(line_of(selection) + "\n" for selection in outcome.selections)


def test_a_line_is_plain_ascii_even_for_what_no_encoding_has() -> None:
    error = RequestError("invalid_selector_syntax", "Not so.", details={"sym": "ü\udcff\u2028"})
    line = line_of(failed_selection(error, "skeleton").selections[0])
    assert line.isascii()
    assert "\n" not in line
