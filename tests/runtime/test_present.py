"""Modules of this process that are not what one expects: run as __main__, replaced, lazy, twice there, or cut off."""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest

from bae_source import Outcome, Source, TransactionError
from tests.runtime.support import Trial, codes

pytestmark = pytest.mark.sampled

MODES = pytest.mark.parametrize("mode", ["auto", "patch", "process"])
F = "def f():\n    return 1\n"


@pytest.fixture
def source(trial: Trial) -> Source:
    trial.write("pyproject.toml", "[project]\nname = 'app'\nversion = '1'\n")
    trial.write("app/core.py", F)
    return Source(trial.root, who="tester")


def at(name: str) -> Any:
    return importlib.import_module(name)


def kept(outcome: Outcome) -> list[str]:
    return [notice.message for notice in outcome.warnings if notice.code == "keeps_old_code"]


def edited(source: Source, number: int, mode: Any = "auto") -> Outcome:
    return source.edit("app.core.f", f"def f():\n    return {number}\n", reload=mode)


@MODES
def test_what_runs_as_main_is_reported_to_keep_its_code(trial: Trial, mode: str) -> None:
    text = (
        "from bae_source import Source\ndef g():\n    return 1\nif __name__ == '__main__':\n"
        f"    done = Source('.').edit('app.main.g', 'def g():\\n    return 2\\n', reload={mode!r})\n"
        "    print(g(), [(notice.code, notice.message) for notice in done.warnings])\n"
    )
    trial.write("app/main.py", text)
    trial.write("pyproject.toml", "[project]\nname = 'app'\nversion = '1'\n")
    ran = subprocess.run([sys.executable, "-m", "app.main"], cwd=trial.root, capture_output=True, text=True, check=True)
    expected = "app.main keeps its old code in this process: it runs as __main__."
    assert ran.stdout == f"1 [('keeps_old_code', '{expected}')]\n"


ELSEWHERE = pytest.mark.parametrize("mode", ["child", "off"])


def stays(name: str, mode: str) -> list[str]:
    return [f'{name} keeps its old code in this process: reload="{mode}" loads nothing here.']


@ELSEWHERE
@pytest.mark.parametrize("text", [F, "import app.core\nX = 1\n", "class A:\n    def m(self): return 1\n"])
def test_what_this_process_has_loaded_is_reported_to_keep_its_code_where_it_is_loaded_elsewhere(
    trial: Trial, source: Source, mode: Any, text: str
) -> None:
    trial.write("app/core.py", text)
    trial.write("app/free.py", F)
    assert kept(source.edit("app.core", old="1", new="0 + 1", reload=mode)) == []
    module = at("app.core")
    was = dict(vars(module))
    assert kept(source.edit("app.core", old="0 + 1", new="2", reload=mode)) == stays("app.core", mode)
    assert dict(vars(module)) == was
    assert kept(source.edit("app.free.f", old="1", new="2", reload=mode)) == [], "nobody loaded it"
    assert source.undo(reload=mode).status == "applied"


@ELSEWHERE
def test_what_is_taken_back_before_it_was_loaded_is_no_old_code(trial: Trial, source: Source, mode: Any) -> None:
    at("app.core")
    assert kept(edited(source, 2, mode)) == stays("app.core", mode)
    assert kept(source.undo(reload=mode)) == [], "it runs just that"
    assert kept(edited(source, 3, mode)) == stays("app.core", mode)
    assert kept(edited(source, 4, mode)) == stays("app.core", mode)
    assert kept(source.undo(reload=mode)) == stays("app.core", mode), "it runs neither of these"


@ELSEWHERE
def test_modules_of_this_process_that_go_or_move_are_reported_to_keep_their_code(
    trial: Trial, source: Source, mode: Any
) -> None:
    trial.write("app/gone.py", F)
    modules = at("app.core"), at("app.gone")
    assert kept(source.delete("app.gone", reload=mode)) == stays("app.gone", mode)
    assert kept(source.move("app.core", "app.other", reload=mode)) == stays("app.core", mode)
    assert [module.f() for module in modules] == [1, 1]


@ELSEWHERE
def test_several_modules_of_one_change_are_each_reported_to_keep_their_code(
    trial: Trial, source: Source, mode: Any
) -> None:
    trial.write("app/more.py", F)
    trial.write("app/free.py", F)
    at("app.core"), at("app.more")
    todo = [
        {"do": "edit", "target": f"app.{name}.f", "old": "return 1", "new": "return 2"}
        for name in ("core", "more", "free")
    ]
    assert kept(source.apply(todo, reload=mode)) == [*stays("app.core", mode), *stays("app.more", mode)]


@ELSEWHERE
def test_a_script_that_runs_is_reported_to_keep_its_code(trial: Trial, mode: str) -> None:
    text = (
        "from bae_source import Source\ndef g():\n    return 1\nif __name__ == '__main__':\n"
        f"    done = Source('.').edit('app.main.g', 'def g():\\n    return 2\\n', reload={mode!r})\n"
        "    print(g(), [notice.message for notice in done.warnings])\n"
    )
    trial.write("app/main.py", text)
    trial.write("pyproject.toml", "[project]\nname = 'app'\nversion = '1'\n")
    ran = subprocess.run([sys.executable, "-m", "app.main"], cwd=trial.root, capture_output=True, text=True, check=True)
    assert ran.stdout == "1 ['app.main keeps its old code in this process: it runs as __main__.']\n"


@MODES
def test_what_stands_in_the_place_of_a_module_is_reported_to_keep_its_code(
    trial: Trial, source: Source, mode: Any
) -> None:
    trial.write("app/core.py", F + "import sys\nclass M:\n    f = staticmethod(f)\nsys.modules[__name__] = M()\n")
    stands = at("app.core")
    outcome = edited(source, 2, mode)
    expected = (
        "app.core keeps its old code in this process: what sys.modules has under its name is no module of a file."
    )
    assert kept(outcome) == [expected]
    assert stands.f() == 1
    assert sys.modules["app.core"] is stands


def test_tests_and_scripts_that_are_loaded_are_reported_to_keep_their_code(trial: Trial) -> None:
    trial.unchecked = {"app/test_a.py", "app/test_b.py"}
    trial.write("app/test_a.py", "x = 1\n")
    trial.write("app/test_b.py", "x = 1\n")
    module = at("app.test_a")
    notices = trial.change({"app/test_a.py": "x = 2\n", "app/test_b.py": "x = 2\n"})
    assert codes(notices) == ["not_import_checked", "keeps_old_code"]
    assert notices[1].message.startswith("app.test_a keeps its old code in this process: modules such as tests")
    assert module.x == 1


@MODES
@pytest.mark.parametrize("alias_first", [True, False])
def test_two_modules_of_one_name_are_both_loaded_again(
    trial: Trial, source: Source, monkeypatch: pytest.MonkeyPatch, mode: Any, alias_first: bool
) -> None:
    spec = importlib.util.spec_from_file_location("app.core", trial.root / "app/core.py")
    assert spec is not None
    assert spec.loader is not None
    if not alias_first:
        at("app.core")
    alias = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(alias)
    monkeypatch.setitem(sys.modules, "app_alias", alias)
    assert at("app.core") is not alias
    assert edited(source, 2, mode).warnings == ()
    assert (at("app.core").f(), alias.f()) == (2, 2)
    with pytest.raises(TransactionError):
        source.edit("app.core.f", "def f(a=missing): pass", reload=mode)
    assert (at("app.core").f(), alias.f()) == (2, 2)


@MODES
def test_a_lazy_module_is_not_run_by_an_edit(
    trial: Trial, source: Source, monkeypatch: pytest.MonkeyPatch, mode: Any
) -> None:
    file = trial.write("elsewhere.py", "raise RuntimeError('it ran')\n")
    for name, path in (("elsewhere", file), ("app.late", trial.write("app/late.py", F))):
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        spec.loader = importlib.util.LazyLoader(spec.loader)
        monkeypatch.setitem(sys.modules, name, importlib.util.module_from_spec(spec))
        spec.loader.exec_module(sys.modules[name])
    core = at("app.core")
    late = sys.modules["app.late"]
    assert edited(source, 2, mode).warnings == ()
    assert core.f() == 2
    if mode != "process":
        assert source.edit("app.late.f", "def f():\n    return 7\n", reload=mode, cascade=True).warnings == ()
        assert type(late) is not ModuleType, "it is lazy still"
    assert late.f() == (1 if mode == "process" else 7)


class Touchy:
    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("do not touch")


@MODES
def test_what_raises_when_it_is_touched_stops_no_edit(
    source: Source, monkeypatch: pytest.MonkeyPatch, mode: Any
) -> None:
    monkeypatch.setitem(sys.modules, "touchy", Touchy())  # type: ignore[arg-type]
    assert at("app.core").f() == 1
    at("app").touchy = Touchy()
    assert edited(source, 2, mode).warnings == ()
    assert at("app.core").f() == 2


@MODES
def test_a_module_that_removes_its_own_name_is_refused_and_restored(source: Source, mode: Any) -> None:
    core = at("app.core")
    before = dict(vars(core))
    imports = (
        "does not import with the change" if mode == "process" else "imports with the change, but cannot be loaded"
    )
    with pytest.raises(TransactionError, match=rf"app\.core {imports}.*: AttributeError"):
        source.insert("app.core", "globals().clear()", position="last", reload=mode)
    assert dict(vars(core)) == before


@MODES
def test_a_module_that_was_deleted_and_comes_back_is_the_one_that_others_hold(
    trial: Trial, source: Source, mode: Any
) -> None:
    trial.write("app/user.py", "import app.core as core\n")
    kept = at("app.user").core
    source.delete("app.core", reload=mode, force=True)
    assert "app.core" not in sys.modules
    source.undo(reload=mode)
    assert sys.modules["app.core"] is at("app").core is kept
    edited(source, 2, mode)
    assert kept.f() == 2


def test_a_module_that_does_not_come_back_after_all_is_forgotten_again(trial: Trial) -> None:
    trial.write("app/core.py", F)
    trial.write("app/user.py", "from app import core\n")
    kept = at("app.user").core
    trial.change({"app/core.py": None})
    namespace = dict(vars(kept))
    trial.failure({"app/core.py": F + "1/0\n"}, "process")
    assert "app.core" not in sys.modules
    assert not hasattr(at("app"), "core")
    assert dict(vars(kept)) == namespace
