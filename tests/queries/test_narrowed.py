"""Places as data in every answer about them, and the parameters that narrow what is listed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bae_source import Source, functions
from bae_source.errors import LookupFailed, RequestError
from tests.queries.support import laid

PROJECT = {
    "app/__init__.py": "",
    "app/core.py": "class A:\n    def send(self): ...\n\n\ndef use(x):\n    A().send()\n    x.send()\n",
    "app/web/__init__.py": "",
    "app/web/views.py": (
        "from app.core import A\n\n\ndef one():\n    return A().send()\n\n\n"
        'def two(x):\n    return getattr(x, "send"), A().send\n'
    ),
    "tests/test_core.py": "from app.core import A\n\nA().send()\n",
}
TARGET = "app.core.A.send"


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return laid(tmp_path, PROJECT)


def places(found: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return [(each["module"], each["line"]) for each in found]


def test_places_are_in_the_json_with_their_counts(source: Source, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bae_source", "references", TARGET, "--root", str(tmp_path), "--json"]
    printed = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert printed["counts"] == {"sure": 4, "probable": 0, "unsure": 1, "mentions": 1}
    assert printed["found"][0] == {
        "module": "app.core", "symbol": "app.core.use", "line": 6, "column": 9, "kind": "call", "certainty": "sure",
        "reason": "",
    }  # fmt: skip
    assert printed["found"][1]["reason"] == "what stands before the dot is not known statically"
    assert {each["certainty"] for each in printed["found"]} == {"sure", "unsure", "mention"}
    called = functions.dispatch("references", {"target": TARGET}, root=tmp_path)
    assert (called["found"], called["counts"]) == (printed["found"], printed["counts"])
    assert source.references("app.core.use").outcome.counts == dict.fromkeys(printed["counts"], 0)


def test_what_is_no_answer_about_places_has_none(tmp_path: Path, source: Source) -> None:
    for verb, given in (("grep", {"pattern": "send"}), ("read", {"target": TARGET}), ("history", {})):
        answer = functions.dispatch(verb, given, root=tmp_path)
        assert (answer["found"], answer["counts"]) == ([], {})


@pytest.mark.parametrize(
    ("narrowed", "listed"),
    [
        ({"scope": "app.web"}, [("app.web.views", 5), ("app.web.views", 9), ("app.web.views", 9)]),
        ({"scope": "app.web.views.two"}, [("app.web.views", 9), ("app.web.views", 9)]),
        ({"scope": "tests"}, [("tests.test_core", 3)]),
        ({"certainty": "unsure"}, [("app.core", 7)]),
        ({"certainty": "mention"}, [("app.web.views", 9)]),
        ({"kind": "read"}, [("app.web.views", 9)]),
        ({"kind": "call", "certainty": "sure", "scope": "app.core"}, [("app.core", 6)]),
    ],
)
def test_an_answer_lists_what_is_wanted(
    tmp_path: Path, source: Source, narrowed: dict[str, str], listed: list[tuple[str, int]]
) -> None:
    answer = functions.dispatch("references", {"target": TARGET, **narrowed}, root=tmp_path)
    assert places(answer["found"]) == listed
    assert sum(answer["counts"].values()) == len(listed)
    words = [word for name, value in narrowed.items() for word in (f"--{name}", value)]
    command = [sys.executable, "-m", "bae_source", "references", TARGET, "--root", str(tmp_path), *words, "--json"]
    assert json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["found"] == answer["found"]


@pytest.mark.parametrize("verb", ["callers", "callees", "imports_of", "importers_of", "subclasses", "overrides"])
def test_every_question_about_places_can_be_narrowed(tmp_path: Path, source: Source, verb: str) -> None:
    target = {
        "callees": "app.core.use",
        "imports_of": "app.web.views",
        "importers_of": "app.core",
        "subclasses": "app.core.A",
    }.get(verb, TARGET)
    whole = functions.dispatch(verb, {"target": target}, root=tmp_path)
    narrowed = functions.dispatch(verb, {"target": target, "scope": "app.core"}, root=tmp_path)
    assert narrowed["found"] == [each for each in whole["found"] if each["module"] == "app.core"]


def test_an_answer_that_is_narrowed_to_nothing_says_how_much_there_is(source: Source) -> None:
    answer = source.references(TARGET, kind="delete")
    assert answer == "(none of 6; scope, certainty and kind leave out the others)"
    assert answer.complete


def test_a_scope_that_is_not_there_and_a_kind_that_is_none_are_refused(source: Source) -> None:
    with pytest.raises(LookupFailed, match="nothing"):
        source.references(TARGET, scope="app.nothing")
    with pytest.raises(RequestError, match="kind"):
        source.references(TARGET, kind="visit")  # type: ignore[arg-type]


def test_a_budget_leaves_the_places_that_fit_and_all_the_counts(tmp_path: Path) -> None:
    laid(tmp_path, {"m.py": "def f(): ...\n" + "f()\n" * 40})
    page = functions.dispatch("references", {"target": "m.f", "budget": 1000, "cursor": "0"}, root=tmp_path)
    assert 0 < len(page["found"]) < 40
    assert page["counts"]["sure"] == 40
