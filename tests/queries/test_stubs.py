"""Who uses it, as stubs say it: they are looked into like code, and named as what they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source import Source
from bae_source.model.outcome import Outcome
from bae_source.project.facts import mentions
from tests.queries.support import laid

PROJECT = {
    "app/__init__.py": "from app.client import Client\n",
    "app/client.py": "class Client:\n    limit = 1\n    def send(self): ...\n",
    "app/client.pyi": "class Client:\n    limit: int\n    def send(self) -> Client: ...\n",
    "app/api.pyi": "from app.client import Client\ndef get(c: Client) -> None: ...\n",
    "pkg/__init__.py": "",
    "pkg/m.py": "class K:\n    def go(self): ...\n",
    "pkg/u.py": "",
    "pkg-stubs/u.pyi": "from .m import K as Key\nclass S(Key):\n    def go(self) -> int: ...\n",
}


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return laid(tmp_path, PROJECT)


def lines(outcome: Outcome) -> list[tuple[str, int, str, str]]:
    return [(each.module, each.line, each.kind, each.certainty) for each in outcome.found]


def test_stubs_refer_to_a_class_and_its_own_stub_declares_it(source: Source) -> None:
    outcome = source.references("app.client.Client").outcome
    assert outcome.complete
    assert lines(outcome) == [
        ("app", 1, "import", "sure"),
        ("app.api@stub", 1, "import", "sure"),
        ("app.api@stub", 2, "annotation", "sure"),
        ("app.client@stub", 1, "definition", "unsure"),
        ("app.client@stub", 3, "annotation", "sure"),
    ]
    assert "unsure: its stub declares it\napp.client@stub\n  1: class Client:    [definition in Client]" in outcome.text
    assert source.callers("app.client.Client") == "(no callers)"


@pytest.mark.parametrize(("member", "line"), [("limit", 2), ("send", 3)])
def test_a_stub_declares_members(source: Source, member: str, line: int) -> None:
    outcome = source.references(f"app.client.Client.{member}").outcome
    assert lines(outcome) == [("app.client@stub", line, "definition", "unsure")]


def test_what_a_stub_only_passes_on_it_does_not_declare(tmp_path: Path) -> None:
    source = laid(tmp_path, {"a.py": "x = 1\n", "a.pyi": "from b import x as x\n", "b.py": "x = 1\n"})
    assert source.references("a.x") == "(no references)"
    assert lines(source.references("b.x").outcome) == [("a@stub", 1, "import", "sure")]


def test_a_stub_package_imports_by_dots_what_the_package_holds(source: Source) -> None:
    assert lines(source.importers_of("pkg.m").outcome) == [("pkg.u@stub", 1, "import", "sure")]
    assert lines(source.importers_of("app.client").outcome)[1:] == [("app.api@stub", 1, "import", "sure")]


def test_subclasses_and_overrides_in_stubs_are_listed(source: Source) -> None:
    for _ in range(2):  # the second time from what was kept
        assert [each.address for each in source.subclasses("pkg.m.K").outcome.found] == ["pkg.u@stub.S"]
        assert [each.address for each in source.overrides("pkg.m.K.go").outcome.found] == ["pkg.u@stub.S.go"]


def test_a_class_below_the_declared_one_is_below_the_class(tmp_path: Path) -> None:
    source = laid(tmp_path, {"a.py": "class K: ...\n", "a.pyi": "class K: ...\nclass L(K): ...\n"})
    assert [each.address for each in source.subclasses("a.K").outcome.found] == ["a@stub.L"]


def test_stubs_that_still_import_a_deleted_name_are_named_too(source: Source, tmp_path: Path) -> None:
    outcome = source.delete("app.client", force=True, dry_run=True)
    [message] = [each.message for each in outcome.warnings if each.code == "still_imported"]
    assert "app:1, app.api@stub:1" in message
    assert (tmp_path / "app/client.py").read_text() == PROJECT["app/client.py"]


def test_stubs_follow_what_they_import(source: Source, tmp_path: Path) -> None:
    source.move("app.client", "app.klient", reload="off")
    assert "klient" in (tmp_path / "app/api.pyi").read_text()


def test_a_stub_that_does_not_parse_leaves_the_answer_incomplete(tmp_path: Path) -> None:
    source = laid(tmp_path, {**PROJECT, "app/client.pyi": "class Client(:\n"})
    outcome = source.references("app.client.Client").outcome
    assert not outcome.complete
    assert [each.message for each in outcome.warnings if "app.client@stub" in each.message]
    assert ("app.api@stub", 2, "annotation", "sure") in lines(outcome)


def test_stubs_are_found_again_when_words_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mentions, "MANY", 1)
    first = lines(laid(tmp_path, PROJECT).references("app.client.Client").outcome)
    assert lines(Source(tmp_path).references("app.client.Client").outcome) == first
    (tmp_path / "app/api.pyi").write_text("from app.client import Client\n")
    left = [each for each in first if each[:2] != ("app.api@stub", 2)]
    assert lines(Source(tmp_path).references("app.client.Client").outcome) == left


def test_a_stub_imports_from_the_package_by_dots(source: Source) -> None:
    assert lines(source.importers_of("pkg").outcome) == [("pkg.u@stub", 1, "import", "sure")]
