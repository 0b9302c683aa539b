"""Only edited modules are loaded again; with `cascade` those that import them follow, in order, or nobody."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import pytest

from bae_source.reloading.in_process.load_order import dependencies_first, imports
from tests.runtime.support import Trial, codes

LOW = "N = 1\ndef f(): return N\n"
MID = "from app.low import N, f\nM = N + 1\n"
TOP = "import app.mid\nT = app.mid.M + 1\n"


@pytest.fixture
def tower(trial: Trial) -> Trial:
    """Three modules, each on the one before, and one beside them; all are loaded."""
    for name, source in {
        "low": LOW,
        "mid": MID,
        "top": TOP,
        "beside": "from app import other\n",
        "other": "x = []\n",
    }.items():
        trial.write(f"app/{name}.py", source)
    for name in ("low", "mid", "top", "beside"):
        importlib.import_module(f"app.{name}")
    return trial


def at(name: str) -> Any:
    return sys.modules[name]


def test_importers_are_left_alone_and_named(tower: Trial) -> None:
    (notice,) = tower.change({"app/low.py": LOW.replace("1", "5")})
    assert notice.code == "holds_old_objects"
    assert "app.mid still hold" in notice.message
    assert (at("app.low").N, at("app.mid").M, at("app.top").T) == (5, 2, 3)


@pytest.mark.parametrize("mode", ["auto", "patch", "process"])
def test_importers_follow_in_the_order_of_their_imports(tower: Trial, mode: Any) -> None:
    other = at("app.other").x
    (notice,) = tower.change({"app/low.py": LOW.replace("1", "5")}, mode, cascade=True)
    assert (notice.code, notice.message) == (
        "reloaded",
        "Loaded again in this order: app.low, app.mid, app.top; importers: app.mid, app.top.",
    )
    assert (at("app.mid").M, at("app.top").T, at("app.mid").f()) == (6, 7, 5)
    assert at("app.other").x is other, "who does not import it does not run again"


@pytest.mark.parametrize("mode", ["auto", "patch"])
def test_if_an_importer_fails_all_are_restored(tower: Trial, mode: Any) -> None:
    modules = [at(f"app.{name}") for name in ("low", "mid", "top")]
    before = [dict(vars(module)) for module in modules]
    code = at("app.low").f.__code__
    error = tower.failure({"app/low.py": LOW.replace("1", "'text'")}, mode, cascade=True)
    assert error.message.startswith("app.mid does not import with the change: TypeError")
    assert [dict(vars(module)) for module in modules] == before
    assert at("app.low").f.__code__ is code


def test_a_child_imports_the_loaded_importers_too(tower: Trial) -> None:
    error = tower.failure({"app/low.py": LOW.replace("1", "'text'")}, "child", cascade=True)
    assert error.message.startswith("app.mid")
    assert codes(tower.change({"app/low.py": LOW.replace("1", "'text'")}, "child")) == ["keeps_old_code"]
    assert at("app.low").N == 1


def test_an_importer_that_failed_before_is_not_blamed_on_the_change(trial: Trial) -> None:
    trial.write("app/low.py", LOW)
    trial.write("app/user.py", "from app.low import f\n")
    importlib.import_module("app.user")
    trial.write("app/user.py", "from app.low import f\nimport not_installed\n")
    expected = ["import_failed_before", "keeps_old_code"]
    assert codes(trial.change({"app/low.py": LOW.replace("1", "2")}, "child", cascade=True)) == expected


def test_deleting_what_is_imported_fails_with_its_importer(tower: Trial) -> None:
    low = at("app.low")
    error = tower.failure({"app/low.py": None}, cascade=True)
    assert error.message.startswith("app.mid does not import with the change: ModuleNotFoundError")
    assert at("app.low") is low


@pytest.mark.parametrize("mode", ["auto", "patch"])
def test_a_cycle_is_loaded_once_each_with_the_edited_module_first(trial: Trial, mode: Any) -> None:
    trial.write("app/one.py", "import app.two\nRUNS = globals().get('RUNS', 0) + 1\ndef f(): return app.two.g()\n")
    trial.write("app/two.py", "import app.one\nRUNS = globals().get('RUNS', 0) + 1\ndef g(): return 1\n")
    importlib.import_module("app.one")
    (notice,) = trial.change(
        {"app/two.py": (trial.root / "app/two.py").read_text().replace("return 1", "return 2")}, mode, cascade=True
    )
    assert notice.message == "Loaded again in this order: app.two, app.one; importers: app.one."
    assert (at("app.one").f(), at("app.one").RUNS, at("app.two").RUNS) == (2, 2, 2)


def test_holders_of_old_objects_in_a_cycle_are_named_and_a_patch_leaves_none(trial: Trial) -> None:
    trial.write("app/one.py", "def f(): return 1\nfrom app.two import g\n")
    trial.write("app/two.py", "from app.one import f\ndef g(): return f()\n")
    importlib.import_module("app.one")
    notices = trial.change({"app/one.py": "def f(): return 2\nfrom app.two import g\n"}, cascade=True)
    assert codes(notices) == ["reloaded", "holds_old_objects"]
    assert "app.one still hold" in notices[1].message
    notices = trial.change({"app/one.py": "def f(): return 3\nfrom app.two import g\n"}, "patch", cascade=True)
    assert codes(notices) == ["reloaded"]
    assert at("app.one").g() == 3


def test_tests_scripts_and_other_projects_never_follow(trial: Trial, tmp_path: Any, monkeypatch: Any) -> None:
    trial.write("app/low.py", LOW)
    trial.write("app/test_low.py", "from app.low import f\nRUNS = globals().get('RUNS', 0) + 1\n")
    (tmp_path / "else").mkdir()
    (tmp_path / "else/stranger.py").write_text("from app.low import f\nRUNS = globals().get('RUNS', 0) + 1\n")
    monkeypatch.syspath_prepend(str(tmp_path / "else"))
    for name in ("app.test_low", "stranger"):
        importlib.import_module(name)
    (notice,) = trial.change({"app/low.py": LOW.replace("1", "2")}, cascade=True)
    assert notice.code == "holds_old_objects"
    assert "app.test_low, stranger still hold" in notice.message
    assert at("app.test_low").RUNS == at("stranger").RUNS == 1


def test_an_import_that_never_ran_makes_no_importer(trial: Trial) -> None:
    trial.write("app/low.py", LOW)
    trial.write("app/user.py", "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    from app.low import f\nRUNS = [1]\n")
    importlib.import_module("app.low")
    runs = importlib.import_module("app.user").RUNS
    assert trial.change({"app/low.py": LOW.replace("1", "2")}, cascade=True) == ()
    assert at("app.user").RUNS is runs


def test_a_package_that_exports_it_follows_and_one_that_only_contains_it_does_not(trial: Trial) -> None:
    trial.write("app/sub/__init__.py", "from .low import f\n")
    trial.write("app/sub/low.py", LOW)
    trial.write("app/__init__.py", "HELD = []\n")
    importlib.reload(importlib.import_module("app"))
    importlib.import_module("app.sub")
    kept = at("app").HELD
    (notice,) = trial.change({"app/sub/low.py": LOW.replace("1", "2")}, cascade=True)
    assert notice.message == "Loaded again in this order: app.sub.low, app.sub; importers: app.sub."
    assert at("app.sub").f() == 2
    assert at("app").HELD is kept


def test_in_a_cycle_a_module_comes_before_those_that_take_names_from_it() -> None:
    sources = {"a": "import b", "b": "from c import x\nimport a", "c": "import a", "user": "from a import y", "d": ""}
    statements = {name: imports(compile(text, name, "exec"), "") for name, text in sources.items()}
    order = dependencies_first(statements)
    assert order.index("c") < order.index("b")
    assert order.index("user") > max(map(order.index, "abc"))
    first = dependencies_first(statements, ["b"])
    assert next(name for name in first if name in "abc") == "b"


def test_imports_for_the_type_checker_make_no_cycle(trial: Trial) -> None:
    trial.write(
        "app/low.py", "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    from app.user import g\ndef f(): return 1\n"
    )
    trial.write("app/mid.py", "from app.low import f\n")
    trial.write("app/user.py", "from app.mid import f\ndef g(): return f()\n")
    importlib.import_module("app.user")
    text = (trial.root / "app/low.py").read_text().replace("return 1", "return 2")
    (notice,) = trial.change({"app/low.py": text}, cascade=True)
    assert notice.message.startswith("Loaded again in this order: app.low, app.mid, app.user;")
    assert at("app.user").g() == 2
