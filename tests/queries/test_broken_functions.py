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


def lasting(outcome: Outcome) -> dict[str, object]:
    """Return what of an answer is the same for every process."""
    notices = [{"code": each.code, "message": each.message} for each in outcome.warnings]
    return {"text": outcome.text, "complete": outcome.complete, "warnings": notices}


def places(outcome: Outcome) -> list[tuple[int, str]]:
    return [(each.line, each.certainty) for each in outcome.found]


@pytest.mark.parametrize("order", ["fg", "gf", "ffgg"])
def test_the_order_of_questions_makes_no_difference_to_any_process(source: Source, tmp_path: Path, order: str) -> None:
    for name in order:
        outcome = source.references(f"app.core.{name}").outcome
        assert places(outcome) == PLACES[name]
        assert outcome.complete is (name == "f")
        assert [notice.message for notice in outcome.warnings] == [
            "app.user does not parse: line 13, column 22: invalid syntax, so there may be more in app.user."
        ] * (name == "g")
        assert asked(tmp_path, "references", f"app.core.{name}").items() >= lasting(outcome).items()


def test_what_a_broken_function_returns_and_assigns_may_be_anything(source: Source, tmp_path: Path) -> None:
    outcome = source.references("app.core.B.m").outcome
    assert places(outcome) == [(10, "unsure"), (17, "unsure"), (18, "sure"), (20, "unsure")]
    assert asked(tmp_path, "references", "app.core.B.m").items() >= lasting(outcome).items()


CORE = "class B:\n    def m(self): ...\nclass C:\n    def m(self): ...\n"
APP = "from core import B, C\n\nclass App:\n    def __init__(self):\n        self.b = B()\n\n"
RUN = "\ndef run(app: App):\n    app.b.m()\n"
USE = "    def use(self):\n        self.b.m()\n"
WIRE = "def wire(app: App):\n    app.b = C()\n    {}\n"


@pytest.mark.parametrize(
    "code",
    [
        APP + WIRE.format("x = (1 +)") + RUN,
        APP + WIRE.format("type X = int; x = (") + RUN,
        APP + WIRE.format("x = 1") + RUN,
        "from core import B, C\n\nclass N:\n    def __new__(cls):\n        x = object\n        return C((\n\nN().m()\n",
        "from core import C\n\nclass M(type):\n    def __call__(cls):\n        x = 1\n        return C((\n\n"
        "class K(metaclass=M):\n    def m(self): ...\n\nK().m()\n",
        APP + '    def go(self):\n        """Say.\n\n        #12"""; self.b, x = C(), 1\n\n' + USE,
        APP + "    def go(self):\n        x = [1 for self\n            .b in [C()]]\n\n" + USE,
    ],
    ids=["broken", "broken and newer", "sound", "new", "metaclass", "behind a string", "in a comprehension"],
)
def test_a_place_that_may_be_of_either_class_is_in_both_answers(tmp_path: Path, code: str) -> None:
    source = laid(tmp_path, {"core.py": CORE, "app.py": code})
    first = asked(tmp_path, "references", "core.C.m")
    again = asked(tmp_path, "references", "core.C.m")
    outcome = source.references("core.C.m").outcome
    assert first.items() >= lasting(outcome).items()
    assert again.items() >= lasting(outcome).items()
    assert outcome.complete is False or [each.certainty for each in outcome.found] == ["unsure"]
    assert all(each.certainty == "unsure" for each in source.references("core.B.m").outcome.found)


@pytest.mark.parametrize("word", ['"se" "" "nd"', '"""se""" "nd"', '"se"\\\n        "nd"', "'s' 'e' 'n' 'd'"])
def test_a_word_that_strings_make_together_is_found(tmp_path: Path, word: str) -> None:
    user = f"from core import A\n\ndef f(x):\n    y = x\n    return getattr(A(), {word})\n\nA().send()\n"
    source = laid(tmp_path, {"core.py": "class A:\n    def send(self): ...\n", "user.py": user})
    outcome = source.references("core.A.send").outcome
    assert "string" in {each.kind for each in outcome.found}
    assert asked(tmp_path, "references", "core.A.send").items() >= lasting(outcome).items()


def test_what_a_broken_function_imports_is_listed(tmp_path: Path) -> None:
    user = "def g():\n    from a import f\n    f(\n\ndef h():\n    import a\n    a.f()\n"
    outcome = laid(tmp_path, {"a.py": "def f(): ...\n", "b.py": user}).references("a.f").outcome
    assert places(outcome) == [(2, "unsure"), (3, "unsure"), (7, "sure")]
    assert not outcome.complete


def test_a_symbol_of_the_broken_file_itself_has_no_answer(source: Source) -> None:
    with pytest.raises(SourceError, match=r"app\.user does not parse: line 13"):
        source.callees("app.user.A.first")


@pytest.mark.parametrize("broken", ["def f(:\n    pass\n", "if f:\n    x = = 1\n"])
def test_a_file_that_is_broken_elsewhere_is_not_looked_into(tmp_path: Path, broken: str) -> None:
    source = laid(tmp_path, {"a.py": "def f(): ...\n", "b.py": f"from a import f\n{broken}"})
    outcome = source.references("a.f").outcome
    assert outcome.found == ()
    assert not outcome.complete
    assert asked(tmp_path, "references", "a.f").items() >= lasting(outcome).items()
