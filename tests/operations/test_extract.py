"""Extractions through the service: drafts, etags, several at once, imports of what was made, and what is taken back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import Refused, RequestError
from tests.queries.support import laid

CODE = """import warnings


def f(x):
    warnings.warn("old", stacklevel=2)
    y = x + 1
    return y


def g(a):
    return a + 1
"""


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return laid(tmp_path, {"app.py": CODE})


def test_what_is_unsure_is_kept_and_made_once_that_is_chosen(source: Source, tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        source.extract("app.f", lines="5", as_name="warn_old")
    assert caught.value.code == "unsafe_change"
    assert (tmp_path / "app.py").read_text() == CODE
    draft = next(match[0] for hint in caught.value.hints if (match := re.search(r"draft_\w+", hint)))
    source.commit(draft, unsure="change")
    assert "def warn_old():\n    warnings.warn" in (tmp_path / "app.py").read_text()
    source.undo()
    assert (tmp_path / "app.py").read_text() == CODE


def test_what_is_unsure_stays_where_that_is_chosen(source: Source, tmp_path: Path) -> None:
    outcome = source.extract("app.f", lines="5", as_name="warn_old", unsure="leave")
    assert (outcome.status, outcome.diff) == ("unchanged", "")
    assert "stays as it is" in outcome.text
    assert (tmp_path / "app.py").read_text() == CODE


def test_an_old_etag_refuses_it(source: Source, tmp_path: Path) -> None:
    etag = source.read("app.f").etag
    source.edit("app.f", old="x + 1", new="x + 2")
    before = (tmp_path / "app.py").read_text()
    with pytest.raises(Refused) as caught:
        source.extract("app.f", lines="6", as_name="inc", if_match=etag)
    assert caught.value.code == "stale"
    assert (tmp_path / "app.py").read_text() == before


def test_it_stands_among_other_requests(source: Source, tmp_path: Path) -> None:
    steps = [
        {"do": "extract", "target": "app.f", "code": "x + 1", "as_name": "inc", "similar": True},
        {"do": "rename", "target": "app.inc", "new_name": "increased"},
    ]
    outcome = source.apply(steps)
    assert outcome.status == "applied"
    text = (tmp_path / "app.py").read_text()
    assert "def increased(x):\n    return x + 1\n" in text
    assert "    y = increased(x)\n" in text
    assert "    return increased(a)\n" in text


def test_what_changes_is_named_by_its_address(source: Source) -> None:
    outcome = source.extract("app.g", code="a + 1", as_name="inc", dry_run=True)
    assert [each["address"] for each in outcome.report["changed"]] == ["app.g"]
    assert [each.address for each in outcome.changed] == ["app.inc", "app.g"]
    [notice] = outcome.warnings
    assert notice.code == "similar_code"
    assert "similar=True" in notice.message or "--similar" in notice.message


def test_include_takes_places_that_are_there_alone(source: Source, tmp_path: Path) -> None:
    with pytest.raises(RequestError):
        source.extract("app.f", lines="6", as_name="inc", include=["app:6"])
    assert (tmp_path / "app.py").read_text() == CODE


def test_two_modules_with_the_name_are_left_alone(tmp_path: Path) -> None:
    files = {"app/__init__.py": "def f(x):\n    return x + 1\n", "app/inc.py": ""}
    source = laid(tmp_path, files)
    with pytest.raises(Refused) as caught:
        source.extract("app.f", code="x + 1", as_name="inc")
    assert caught.value.code == "name_collision"
    assert (tmp_path / "app/__init__.py").read_text() == files["app/__init__.py"]


def test_a_name_of_a_class_of_another_module_is_taken(tmp_path: Path) -> None:
    files = {
        "app/__init__.py": "",
        "app/base.py": "class Base:\n    def f(self, x):\n        return self, x + 1\n",
        "app/below.py": "from app.base import Base\n\n\nclass Below(Base):\n    def inc(self): ...\n",
    }
    source = laid(tmp_path, files)
    with pytest.raises(Refused) as caught:
        source.extract("app.base.Base.f", code="x + 1", as_name="inc", kind="method")
    assert caught.value.code == "name_collision"
    assert "app.below.Below" in caught.value.message
    assert (tmp_path / "app/base.py").read_text() == files["app/base.py"]


def test_the_answer_names_the_place_that_it_was_put_in(tmp_path: Path) -> None:
    source = laid(tmp_path, {"core.py": "def f(x):\n    return x * 60\n", "units.py": "HOUR = 3600\n"})
    outcome = source.extract("core.f", code="60", as_name="MINUTE", to_module="units")
    assert outcome.text.startswith("Made the constant units.MINUTE of code in core.f (line 2).")
    assert "MINUTE = 60" in (tmp_path / "units.py").read_text()


def test_leaving_what_is_unsure_is_not_offered_where_it_would_make_nothing(source: Source, tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        source.extract("app.f", lines="5", as_name="warn_old")
    assert not any("leave" in hint for hint in caught.value.hints)
    assert any("change" in hint for hint in caught.value.hints)
    assert (tmp_path / "app.py").read_text() == CODE
