"""Modules that are made, deleted, moved, turned into packages and back, in one change, while they are loaded."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.support import FAILS_HERE, Trial

MODES = pytest.mark.parametrize("mode", ["auto", "patch"])


def at(name: str) -> Any:
    return sys.modules[name]


def process() -> dict[str, dict[str, object]]:
    return {name: dict(vars(module)) for name, module in sys.modules.items() if name.partition(".")[0] == "app"}


@MODES
def test_a_moved_module_is_forgotten_and_its_edited_importers_find_the_new_one(trial: Trial, mode: Any) -> None:
    trial.write("app/old.py", "def f(): return 1\n")
    trial.write("app/user.py", "from app.old import f\n")
    importlib.import_module("app.user")
    trial.change(
        {
            "app/old.py": None,
            "app/sub/__init__.py": "",
            "app/sub/new.py": "def f(): return 2\n",
            "app/user.py": "from app.sub.new import f\n",
        },
        mode,
    )
    assert "app.old" not in sys.modules
    assert not hasattr(at("app"), "old")
    assert at("app.user").f() == at("app.sub.new").f() == at("app").sub.new.f() == 2


@MODES
def test_a_move_that_fails_brings_the_old_module_back_and_forgets_the_new_one(trial: Trial, mode: Any) -> None:
    trial.write("app/old.py", "def f(): return 1\n")
    trial.write("app/user.py", "from app.old import f\nx = f()\n")
    importlib.import_module("app.user")
    before, modules = process(), dict(sys.modules)
    error = trial.failure(
        {
            "app/old.py": None,
            "app/sub/__init__.py": "",
            "app/sub/new.py": "def f(): return 2\n",
            "app/user.py": "from app.sub.new import f\n" + FAILS_HERE,
        },
        mode,
    )
    imports = "does not import" if mode == "process" else "imports with the change, but cannot be loaded again"
    assert error.message.startswith(f"app.user {imports}")
    assert sys.modules == modules
    assert process() == before


@MODES
@pytest.mark.parametrize(("here", "there"), [("app/a.py", "app/a/__init__.py"), ("app/a/__init__.py", "app/a.py")])
def test_a_module_becomes_a_package_and_back_and_stays_the_same_object(
    trial: Trial, mode: Any, here: str, there: str
) -> None:
    trial.write(here, "def f(): return 1\n")
    trial.write("app/user.py", "from app import a\n")
    module = importlib.import_module("app.a")
    user = importlib.import_module("app.user")
    before = process()
    package = there.endswith("__init__.py")
    after = "from .part import g\ndef f(): return g()\n" if package else "def f(): return 2\n"
    new = {here: None, there: after} | ({"app/a/part.py": "def g(): return 2\n"} if package else {})
    trial.failure({**new, there: after + FAILS_HERE}, mode)
    assert process() == before
    trial.change(new, mode)
    assert user.a is at("app.a") is module
    assert module.f() == 2
    assert Path(module.__file__ or "") == trial.root / there
    assert hasattr(module, "__path__") is package
    assert module.__spec__ is not None
    assert module.__spec__.parent == ("app.a" if package else "app")
    trial.take_back()
    assert process() == before


def test_a_package_without_its_init_keeps_its_loaded_modules_in_reach(trial: Trial) -> None:
    trial.write("app/sub/__init__.py", "X = 1\n")
    trial.write("app/sub/part.py", "y = 1\n")
    part = importlib.import_module("app.sub.part")
    before = process()
    trial.change({"app/sub/__init__.py": None})
    assert at("app.sub.part") is part
    assert at("app.sub").part is part
    assert not hasattr(at("app.sub"), "X")
    assert at("app").sub is at("app.sub")
    trial.take_back()
    assert process() == before


def test_a_deleted_package_is_forgotten_whole(trial: Trial) -> None:
    trial.write("app/sub/__init__.py", "from . import part\n")
    trial.write("app/sub/part.py", "y = 1\n")
    importlib.import_module("app.sub")
    before = process()
    trial.change({"app/sub/__init__.py": None, "app/sub/part.py": None})
    assert not any(name.startswith("app.sub") for name in sys.modules)
    assert not hasattr(at("app"), "sub")
    trial.take_back()
    assert process() == before


def test_new_packages_and_modules_are_tried_in_a_child_and_found_by_edited_ones(trial: Trial) -> None:
    trial.write("app/user.py", "")
    importlib.import_module("app.user")
    new = {"new/__init__.py": "", "new/deep/__init__.py": "from .low import x\n", "new/deep/low.py": "x = 1\n"}
    assert trial.change({**new, "app/user.py": "from new.deep import x\n"}) == ()
    assert at("app.user").x == 1
    trial.take_back()
    assert not any(name.partition(".")[0] == "new" for name in sys.modules)
    error = trial.failure({**new, "new/deep/low.py": "1/0\n"})
    assert error.message.startswith("new.deep (and 1 more) does not import with the change: ZeroDivisionError")


def test_two_modules_change_places(trial: Trial) -> None:
    trial.write("app/one.py", "WHO = 1\n")
    trial.write("app/two.py", "WHO = 2\n")
    one, two = importlib.import_module("app.one"), importlib.import_module("app.two")
    trial.change({"app/one.py": "WHO = 2\n", "app/two.py": "WHO = 1\n"})
    assert (one.WHO, two.WHO) == (2, 1)
