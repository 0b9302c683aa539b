"""A file in which only functions do not parse, as while they are being written: the rest of it is known."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bae_source import Outcome, Source
from bae_source.errors import SourceError
from tests.queries.support import laid

BROKEN = {
    "app/__init__.py": "",
    "app/core.py": "def f(x): ...\ndef g(x): ...\nclass B:\n    def m(self): ...\n",
    "app/user.py": """\
from app.core import f, g, B

class A:
    def __init__(self):
        self.b = B()
        self.c = B()

    def first(self):
        x = self.second()
        return f(x).m()

    def second(self):
        self.b = (1 +)
        return g(1)

    def third(self):
        self.b.m()
        self.c.m()
        f(2)
        self.second().m()

def unfinished(x):
    y = g(

def last(x):
    return f(x)
""",
}
PLACES = {
    "f": [(1, "sure"), (10, "sure"), (19, "sure"), (26, "sure")],
    "g": [(1, "sure"), (14, "unsure"), (23, "unsure")],
}


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return laid(tmp_path, BROKEN)


def asked(root: Path, *words: str) -> dict[str, object]:
    """Return what a fresh process of the command line answers."""
    command = [sys.executable, "-m", "bae_source", *words, "--root", str(root), "--json"]
    answer: dict[str, object] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return answer


def told(outcome: Outcome) -> dict[str, object]:
    """Return what of an answer is the same for every process."""
    notices = [{"code": each.code, "message": each.message} for each in outcome.warnings]
    return {"text": outcome.text, "complete": outcome.complete, "warnings": notices}


def places(outcome: Outcome) -> list[tuple[int, str]]:
    return [(each.line, each.certainty) for each in outcome.found]


@pytest.mark.parametrize("order", ["fg", "gf", "ffgg"])
def test_what_is_asked_first_makes_no_difference_to_any_process(source: Source, tmp_path: Path, order: str) -> None:
    for name in order:
        outcome = source.references(f"app.core.{name}").outcome
        assert places(outcome) == PLACES[name]
        assert outcome.complete is (name == "f")
        assert [notice.message for notice in outcome.warnings] == [
            "app.user does not parse: line 13, column 22: invalid syntax, so there may be more in app.user."
        ] * (name == "g")
        assert asked(tmp_path, "references", f"app.core.{name}").items() >= told(outcome).items()


def test_what_a_broken_function_returns_and_assigns_may_be_anything(source: Source, tmp_path: Path) -> None:
    outcome = source.references("app.core.B.m").outcome
    assert places(outcome) == [(10, "unsure"), (17, "unsure"), (18, "sure"), (20, "unsure")]
    assert asked(tmp_path, "references", "app.core.B.m").items() >= told(outcome).items()


def test_nothing_is_told_of_a_symbol_of_the_file_itself(source: Source) -> None:
    with pytest.raises(SourceError, match=r"app\.user does not parse: line 13"):
        source.callees("app.user.A.first")


@pytest.mark.parametrize(
    "broken", ["def f(:\n    pass\n", "if f:\n    x = = 1\n", "def g():\n    import f\n    x = = 1\n"]
)
def test_a_file_that_is_broken_elsewhere_is_not_looked_into(tmp_path: Path, broken: str) -> None:
    source = laid(tmp_path, {"a.py": "def f(): ...\n", "b.py": f"from a import f\n{broken}"})
    outcome = source.references("a.f").outcome
    assert outcome.found == ()
    assert not outcome.complete
    assert asked(tmp_path, "references", "a.f").items() >= told(outcome).items()
