"""A `.pyw` file is a module on Windows alone: no answer that it could belong to is complete."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import LookupFailed
from bae_source.project import listings
from tests.queries.support import laid

FILES = {
    "pyproject.toml": "",
    "pkg/__init__.py": "class A:\n    def f(self): ...\n",
    "other.py": "from pkg import A\n",
    "pkg/gui.pyw": "from pkg import A\nA().f()\n",
    "start.pyw": "from pkg import A\nA().f()\n",
}


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return laid(tmp_path, FILES)


@pytest.mark.parametrize("verb", ["references", "callers", "subclasses", "overrides", "importers_of"])
def test_who_refers_to_something_is_not_complete_where_one_may_do_so(source: Source, verb: str) -> None:
    target = {"importers_of": "pkg", "subclasses": "pkg.A", "references": "pkg.A"}.get(verb, "pkg.A.f")
    answer = getattr(source, verb)(target)
    assert not answer.complete
    told = {notice.message for notice in answer.outcome.warnings if notice.code == "not_searched"}
    assert told == {
        f"{name} ends in .pyw and is a module on Windows alone, so there may be more in {name}."
        for name in ("pkg.gui", "start")
    }


@pytest.mark.parametrize(("verb", "asked"), [("find", "A()"), ("search", "f"), ("glob", "**.f"), ("exports_check", "")])
def test_what_looks_into_modules_names_those_that_it_did_not(source: Source, verb: str, asked: str) -> None:
    answer = getattr(source, verb)(asked)
    assert not answer.complete
    (notice,) = answer.outcome.warnings
    assert notice.message.startswith("Files that end in .pyw, which are modules on Windows alone, were not ")
    assert notice.message.endswith(": pkg.gui, start.")


def test_where_data_files_are_looked_at_one_of_a_package_is_among_them(source: Source) -> None:
    assert "pkg:gui.pyw:2: A().f()" in source.grep("A\\(").splitlines()
    assert source.grep("A\\(", "pkg").complete
    assert "    pkg:gui.pyw (26 bytes)" in source.outline("pkg").splitlines()
    assert source.outline("pkg").complete
    for answer in (source.grep("A\\("), source.outline()):
        assert not answer.complete
        assert [notice.message.partition(": ")[2] for notice in answer.outcome.warnings] == ["start."]


def test_its_name_is_not_said_to_be_nowhere(source: Source) -> None:
    with pytest.raises(LookupFailed, match=r"pkg.gui ends in .pyw .* nobody can tell what is in it"):
        source.read("pkg.gui")
    with pytest.raises(LookupFailed, match=r"start ends in .pyw .* nobody can tell whether start.f is there"):
        source.read("start.f")
    with pytest.raises(LookupFailed, match="other defines no nope"):
        source.read("other.nope")


def test_a_module_beside_it_is_what_the_name_means(source: Source) -> None:
    (source.root / "start.py").write_text("X = 1\n")
    with pytest.raises(LookupFailed, match="start defines no nope"):
        source.read("start.nope")


def test_one_that_git_ignores_is_no_part_of_the_project(source: Source) -> None:
    assert not source.references("pkg.A").complete
    (source.root / ".gitignore").write_text("*.pyw\n")
    for _ in range(2):
        for verb, asked in (("references", "pkg.A"), ("grep", "A"), ("glob", "**.f"), ("outline", "")):
            assert getattr(source, verb)(asked).complete
    (source.root / ".gitignore").unlink()
    assert not source.references("pkg.A").complete


def test_one_that_comes_and_goes_is_noticed_by_a_live_engine_and_by_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listings, "_MANY", 1)
    source = laid(tmp_path, {name: text for name, text in FILES.items() if not name.endswith(".pyw")})
    for there in (False, True, False, True):
        if there:
            (tmp_path / "start.pyw").write_text("")
        else:
            (tmp_path / "start.pyw").unlink(missing_ok=True)
        for engine in (source, Source(tmp_path)):
            for verb, asked in (("references", "pkg.A"), ("subclasses", "pkg.A"), ("glob", "**.f"), ("outline", "")):
                assert getattr(engine, verb)(asked).complete is not there


def test_the_doctor_counts_them(source: Source) -> None:
    assert "2 Python files, none of them unreadable; nobody looks into 2 .pyw files" in source.doctor()
