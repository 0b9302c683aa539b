"""Pages of lists."""

from __future__ import annotations

import base64

import pytest

from bae_source.adapters.mcp.paging import page
from bae_source.errors import RequestError

NAMES = [f"m{number:03}" for number in range(25)]


def test_pages_joined_are_the_list() -> None:
    shown, cursor = page(NAMES, None, size=10)
    pages = [shown]
    while cursor:
        shown, cursor = page(NAMES, cursor, size=10)
        pages.append(shown)
    assert [len(each) for each in pages] == [10, 10, 5]
    assert [name for each in pages for name in each] == NAMES


def test_a_list_that_just_fits_has_no_other_page() -> None:
    assert page(NAMES, None, size=25) == (NAMES, None)


def test_what_came_and_went_meanwhile_shows_nothing_twice() -> None:
    _, cursor = page(NAMES, None, size=10)
    changed = sorted({*NAMES, "m0041", "m0105"} - {"m009", "m012"})
    shown, _ = page(changed, cursor, size=10)
    assert shown[:3] == ["m010", "m0105", "m011"]
    assert "m0041" not in shown


@pytest.mark.parametrize(
    "cursor", ["", "zz", "0", "é", "MTIz", base64.urlsafe_b64encode(b"before:x").decode(), "\ud800", "=" * 10_000]
)
def test_what_is_no_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(RequestError) as caught:
        page(NAMES, cursor)
    assert caught.value.code == "invalid_arguments"
    assert caught.value.hints
