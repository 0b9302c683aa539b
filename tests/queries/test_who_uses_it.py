"""Questions about who uses what that have no labelled case: properties, stubs, and what cannot be asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import LookupFailed, RequestError
from tests.queries.support import laid

PROJECT = {
    "app/__init__.py": "",
    "app/core.py": (
        "class A:\n    @property\n    def p(self): return 1\n"
        "    @p.setter\n    def p(self, v): ...\n    def m(self): ...\n"
    ),
    "app/core.pyi": "class A: ...\n",
    "app/page.html": "<p>\n",
    "app/user.py": "from app.core import A\nA().p\nA().p = 2\nA.p\nA().m\n",
}


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return laid(tmp_path, PROJECT)


def test_using_a_property_is_calling_it(source: Source) -> None:
    assert {(each.module, each.line) for each in source.callers("app.core.A.p").outcome.found} == {
        ("app.core", 4), ("app.user", 2), ("app.user", 3), ("app.user", 4),
    }  # fmt: skip
    assert source.callers("app.core.A.m") == "(no callers)"


@pytest.mark.parametrize("verb", ["references", "callers", "importers_of"])
def test_a_stub_is_referred_to_by_nobody_and_the_hint_names_the_code(source: Source, verb: str) -> None:
    target = "app.core@stub" if verb == "importers_of" else "app.core@stub.A"
    with pytest.raises(RequestError) as caught:
        getattr(source, verb)(target)
    assert caught.value.hints == (f"Ask about {target.replace('@stub', '')}, which it describes.",)


@pytest.mark.parametrize(
    ("verb", "target"),
    [
        ("subclasses", "app.core.A.m"),
        ("overrides", "app.core.A"),
        ("imports_of", "app.core.A"),
        ("importers_of", "app.core.A"),
    ],
)
def test_what_cannot_have_an_answer_is_said_with_a_next_step(source: Source, verb: str, target: str) -> None:
    with pytest.raises(RequestError) as caught:
        getattr(source, verb)(target)
    assert caught.value.code == "invalid_arguments"
    assert caught.value.hints


@pytest.mark.parametrize("verb", ["references", "callers", "callees", "subclasses", "overrides"])
@pytest.mark.parametrize("target", ["app.nothing", "app:page.html", "nothing"])
def test_a_name_that_means_no_code_is_not_found(source: Source, verb: str, target: str) -> None:
    with pytest.raises(LookupFailed):
        getattr(source, verb)(target)


def test_a_part_is_asked_about_as_its_symbol(source: Source) -> None:
    assert source.references("app.core.A@body") == source.references("app.core.A")


def test_a_selector_is_understood(source: Source) -> None:
    assert source.references("sym://python/type/app/core/A") == source.references("app.core.A")


def test_an_answer_says_which_module_was_not_looked_into(tmp_path: Path) -> None:
    source = laid(tmp_path, {**PROJECT, "app/broken.py": "from app.core import A\ndef (:\n", "app/fine.py": "def (:\n"})
    answer = source.references("app.core.A")
    assert not answer.complete
    assert [notice.code for notice in answer.outcome.warnings] == ["not_searched"]
    assert "app.broken" in answer.outcome.warnings[0].message
