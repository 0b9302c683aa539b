"""Python that is in a project by a link out of it: nobody looks there, and no answer it may belong to is complete."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bae_source import Source
from bae_source.errors import LookupFailed
from bae_source.model.outcome import Outcome
from tests.queries.support import laid

_FILES: dict[str, str | bytes] = {
    "pk/__init__.py": "",
    "pk/core.py": "class A: ...\ndef f(): ...\n",
    "other/__init__.py": "",
}
_UNSEEN = "Links lead out of the project, and what they lead to was not {}: pk.lib, pk.x."


@pytest.fixture
def source(tmp_path: Path) -> Source:
    """A project with a module and a package that lie outside of it."""
    laid(tmp_path / "outside", {"x.py": "from pk.core import f\nf()\n", "lib/__init__.py": "from pk.core import A\n"})
    found = laid(tmp_path / "project", _FILES)
    (tmp_path / "project/pk/x.py").symlink_to("../../outside/x.py")
    (tmp_path / "project/pk/lib").symlink_to("../../outside/lib")
    return found


def messages(outcome: Outcome) -> list[str]:
    return [notice.message for notice in outcome.warnings]


@pytest.mark.parametrize(
    ("verb", "target"),
    [("references", "pk.core.f"), ("callers", "pk.core.f"), ("subclasses", "pk.core.A"), ("importers_of", "pk.core")],
)
def test_who_refers_names_the_modules_that_may_hold_more(source: Source, verb: str, target: str) -> None:
    for _ in range(2):  # the second time from what is kept
        outcome = getattr(source, verb)(target).outcome
        assert not outcome.complete
        assert messages(outcome) == [
            f"{name} is a link that leads out of the project, so there may be more in {name}."
            for name in ("pk.lib", "pk.x")
        ]


@pytest.mark.parametrize(
    ("verb", "arguments", "left"),
    [
        ("outline", (), "shown"),
        ("outline", ("pk",), "shown"),
        ("glob", ("**",), "searched"),
        ("grep", ("f",), "searched"),
        ("grep", ("f", "pk"), "searched"),
        ("find", ("f()",), "searched"),
        ("search", ("f",), "searched"),
    ],
)
def test_listings_and_searches_name_them(source: Source, verb: str, arguments: tuple[str, ...], left: str) -> None:
    for _ in range(2):
        outcome: Any = getattr(source, verb)(*arguments)
        outcome = getattr(outcome, "outcome", outcome)
        assert (outcome.complete, messages(outcome)) == (False, [_UNSEEN.format(left)])
        assert [notice.code for notice in outcome.warnings] == ["outside_project"]


def test_what_they_do_not_belong_to_is_complete(source: Source) -> None:
    assert source.outline("other").complete
    assert source.outline("pk.core").complete
    assert source.grep("f", "pk.core").complete


@pytest.mark.parametrize(("name", "where"), [("pk.x.f", "pk.x"), ("pk.lib.A", "pk.lib"), ("pk.lib", "pk.lib")])
def test_a_name_behind_a_link_is_not_reported_as_missing(source: Source, name: str, where: str) -> None:
    with pytest.raises(LookupFailed) as caught:
        source.read(name)
    what = "what is in it" if name == where else f"whether {name} is there"
    assert caught.value.message == f"{where} is a link that leads out of the project, so it is not known {what}."
    assert caught.value.hints == ("Take a root that holds both (--root).",)


def test_a_root_that_holds_both_sees_everything(source: Source, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.bae-source]\nsource-roots = ["project"]\n')
    outcome = Source(tmp_path).references("pk.core.f").outcome
    assert outcome.complete
    assert {reference.module for reference in outcome.found} >= {"pk.x"}


def test_doctor_says_so(source: Source) -> None:
    text = str(source.doctor())
    assert "links_lead_out: Not looked into, since these links lead out of the project: pk.lib, pk.x.\n" in text
