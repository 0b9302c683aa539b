"""What a place of a file refers to, through imports and receivers, and what is no such place."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import LookupFailed, RequestError
from tests.queries.support import laid

PROJECT = {
    "app/__init__.py": "from .core import A\n",
    "app/core.py": "class A:\n    def send(self): ...\n\n\ndef make():\n    return A()\n",
    "app/web.py": (
        "import json\nfrom app import A as B, core\n\n\n"
        "def view(x, é):\n    c = core.make()\n    c.send(); x.send()\n    json.dumps(c)\n    return B, é\n"
    ),
    "README.md": "words\n",
}


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return laid(tmp_path, PROJECT)


@pytest.mark.parametrize(
    ("place", "found"),
    [
        ("app/web.py:2:17", [("app.core.A", "app.core", 1, "sure")]),
        ("app.web:2:25", [("app.core", "app.core", 1, "sure")]),
        ("app/web.py:6:14", [("app.core.make", "app.core", 5, "sure")]),
        ("app/web.py:7:7", [("app.core.A.send", "app.core", 2, "sure")]),
        ("app/web.py:7:5", [("app.web.view.c", "app.web", 6, "sure")]),
        ("app/web.py:7:17", [("send", "app.web", 7, "unsure")]),
        ("app/web.py:8:10", [("json.dumps", "app.web", 8, "sure")]),
        ("app/web.py:9:15", [("app.web.view.é", "app.web", 5, "sure")]),
        ("app/web.py:9:12", [("app.core.A", "app.core", 1, "sure")]),
        ("app/core.py:2:9", [("app.core.A.send", "app.core", 2, "sure")]),
        ("app/core.py:2:5", []),
    ],
)
def test_a_place_leads_to_its_definition(source: Source, place: str, found: list[tuple[str, str, int, str]]) -> None:
    answer = source.definition(place)
    places = [(each.address, each.module, each.line, each.certainty) for each in answer.outcome.found]
    assert places == found
    assert answer.complete
    assert bool(found) or answer == "(no name that refers to something stands there)"


def test_a_line_without_a_column_leads_to_all_that_its_names_refer_to(source: Source) -> None:
    answer = source.definition("app/web.py:6")
    assert [each.address for each in answer.outcome.found] == ["app.web.view.c", "app.core", "app.core.make"]
    assert answer.outcome.counts == {"sure": 3, "probable": 0, "unsure": 0, "mentions": 0}


@pytest.mark.parametrize(
    ("place", "kind", "message"),
    [
        ("app/web.py:99:1", LookupFailed, "no line 99"),
        ("app/none.py:1:1", LookupFailed, "none"),
        ("README.md:1:1", LookupFailed, "no module"),
        ("app/web.py", RequestError, "names no line"),
    ],
)
def test_what_is_no_place_of_code_is_refused(source: Source, place: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        source.definition(place)
