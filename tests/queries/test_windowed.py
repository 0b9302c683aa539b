"""A `.pyw` file is a module on Windows alone: no answer that it may have something to do with is complete."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import LookupFailed
from bae_source.project.interfaces import listings
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
    messages = {notice.message for notice in answer.outcome.warnings if notice.code == "not_searched"}
    assert messages == {
        f"{name} ends in .pyw and is a module on Windows alone, so there may be more in {name}."
        for name in ("pkg.gui", "start")
    }


@pytest.mark.parametrize(
    ("verb", "asked"),
    [("references", "pkg.A"), ("references", "other.send"), ("callers", "pkg.A.f"), ("subclasses", "pkg.A"),
     ("overrides", "pkg.A.f"), ("importers_of", "pkg")],
)  # fmt: skip
def test_one_that_does_not_mention_the_target_leaves_the_answer_complete(tmp_path: Path, verb: str, asked: str) -> None:
    idle = {"pkg/gui.pyw": "import tkinter\ntkinter.mainloop()\n", "start.pyw": "# pkgs, AB, sending, f2\n"}
    source = laid(tmp_path, {**FILES, **idle, "other.py": "from pkg import A\ndef send(): ...\n"})
    for engine in (source, source, Source(tmp_path)):
        answer = getattr(engine, verb)(asked)
        assert (answer.complete, answer.outcome.warnings) == (True, ())


@pytest.mark.parametrize("many", [1, 20])
def test_what_is_called_may_be_bound_anew_by_one(tmp_path: Path, many: int) -> None:
    names = [f"f{number}" for number in range(many)]
    defined = "".join(f"def {name}(): ...\n" for name in names)
    calling = f"def g():\n    {'; '.join(f'{name}()' for name in names)}\n"
    source = laid(tmp_path, {"pkg.py": defined + calling, "start.pyw": "import pkg\npkg.f0 = print\n"})
    assert [each.message[:6] for each in source.callees("pkg.g").outcome.warnings] == ["start "]
    (tmp_path / "start.pyw").write_text("import pkg\npkg.f0()\n")
    assert source.callees("pkg.g").complete
    assert len(source.callees("pkg.g").outcome.found) == many


def test_a_live_engine_notices_when_one_begins_to_speak_of_it(tmp_path: Path) -> None:
    source = laid(tmp_path, {**FILES, "pkg/gui.pyw": "", "start.pyw": ""})
    for text in ("", "A().f()\n", "\n", "A\n"):
        (tmp_path / "start.pyw").write_text(text)
        for verb in ("references", "subclasses"):
            assert getattr(source, verb)("pkg.A").complete is ("A" not in text)


def test_one_that_speaks_of_it_under_another_name_is_named(tmp_path: Path) -> None:
    aliased = {"other.py": "from pkg import A as B\n", "pkg/gui.pyw": "", "start.pyw": "from other import B\n"}
    source = laid(tmp_path, {**FILES, **aliased})
    for verb in ("references", "subclasses"):
        assert [each.message[:6] for each in getattr(source, verb)("pkg.A").outcome.warnings] == ["start "]


def test_one_that_imports_the_package_by_dots_is_named(tmp_path: Path) -> None:
    source = laid(tmp_path, {**FILES, "pkg/gui.pyw": "from . import A\n", "start.pyw": "from . import A\n"})
    assert [each.message[:8] for each in source.importers_of("pkg").outcome.warnings] == ["pkg.gui "]


@pytest.mark.parametrize("content", [b"# -*- coding: no-such -*-\n", "# coding: utf-16\nA".encode("utf-16")])
def test_an_unreadable_one_is_named(tmp_path: Path, content: bytes) -> None:
    source = laid(tmp_path, {**FILES, "pkg/gui.pyw": "", "start.pyw": ""})
    (tmp_path / "start.pyw").write_bytes(content)
    assert not source.references("pkg.A").complete


def test_one_whose_letters_become_the_name_speaks_of_it(tmp_path: Path) -> None:
    source = laid(tmp_path, {**FILES, "pkg/gui.pyw": "", "start.pyw": "from pkg import \uff21\n"})
    assert not source.references("pkg.A").complete


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


def test_its_name_is_not_reported_as_nowhere(source: Source) -> None:
    with pytest.raises(LookupFailed, match=r"pkg.gui ends in .pyw .* it is not known what is in it"):
        source.read("pkg.gui")
    with pytest.raises(LookupFailed, match=r"start ends in .pyw .* it is not known whether start.f is there"):
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
    monkeypatch.setattr(listings, "MANY", 1)
    source = laid(tmp_path, {name: text for name, text in FILES.items() if not name.endswith(".pyw")})
    for there in (False, True, False, True):
        if there:
            (tmp_path / "start.pyw").write_text("A.f")
        else:
            (tmp_path / "start.pyw").unlink(missing_ok=True)
        for engine in (source, Source(tmp_path)):
            for verb, asked in (("references", "pkg.A"), ("subclasses", "pkg.A"), ("glob", "**.f"), ("outline", "")):
                assert getattr(engine, verb)(asked).complete is not there


def test_the_doctor_counts_them(source: Source) -> None:
    assert "2 Python files, none of them unreadable; 2 .pyw files not looked into" in source.doctor()
