"""What is in a module that is loaded again: its own names as a mapping, and what earlier sources left there."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from bae_source import Source
from tests.runtime.support import Trial, codes

MODES = pytest.mark.parametrize("mode", ["auto", "patch", "process"])
ASKING = {
    "copied": "X = locals().copy() and 7\n",
    "joined": "X = (vars() | {'q': 7})['q']\n",
    "evaluated": "X = eval('7', locals())\n",
    "executed": "exec('def made(): return X', locals())\nX = 7\n",
    "the dict itself": "X = 7 if locals() is globals() else 0\n",
    "from the frame": "import sys\nX = 7 if sys._getframe().f_locals is globals() else 0\n",
}


@pytest.mark.sampled
@MODES
@pytest.mark.parametrize("asking", ASKING.values(), ids=ASKING)
def test_code_that_asks_for_its_names_gets_the_modules_own_dict(trial: Trial, mode: Any, asking: str) -> None:
    trial.write("app/a.py", asking + "def f(): return 1\ndef gone(): return 1\nK = 1\n")
    module = importlib.import_module("app.a")
    module.plugin = "theirs"
    notices = trial.change({"app/a.py": asking + "def f(): return 2\n"}, mode)
    assert codes(notices) == (["not_patched"] if mode == "patch" else [])
    assert (module.X, module.f(), module.plugin) == (7, 2, "theirs")
    assert not hasattr(module, "gone")
    assert not hasattr(module, "K")
    assert "made" not in vars(module) or module.made.__globals__ is vars(module)
    error = trial.failure(
        {"app/a.py": asking + "def f(): return 3\nimport sys\nassert 'pytest' not in sys.modules\n"}, mode
    )
    assert error.code == "reload_failed"
    assert (module.X, module.f()) == (7, 2)


def test_what_a_star_import_brings_again_stays_where_names_are_asked_for(trial: Trial) -> None:
    trial.write("app/b.py", "KEPT = object()\n")
    trial.write("app/a.py", "from app.b import KEPT\nX = locals().copy()\n")
    module = importlib.import_module("app.a")
    trial.change({"app/a.py": "from app.b import *\nX = locals().copy()\n"})
    assert module.KEPT is importlib.import_module("app.b").KEPT


REMOVED = {
    "a function": "def gone(): return 1\n",
    "a class": "class gone:\n    def m(self): return 1\n",
    "a cached function": "import functools\n@functools.cache\ndef gone(): return 1\n",
}


@MODES
@pytest.mark.parametrize("removed", REMOVED.values(), ids=REMOVED)
def test_a_name_that_was_removed_from_the_file_elsewhere_goes_with_the_next_edit(
    trial: Trial, mode: Any, removed: str
) -> None:
    trial.write("pyproject.toml", "[project]\nname = 'app'\nversion = '1'\n")
    trial.write("app/a.py", "def f(): return 1\n" + removed)
    module = importlib.import_module("app.a")
    module.plugin = print
    trial.write("app/a.py", "def f(): return 1\n")
    source = Source(trial.root)
    source.edit("app.a.f", "def f(): return 2", reload=mode)
    assert module.f() == 2
    assert not hasattr(module, "gone")
    assert module.plugin is print
    source.edit("app.a.f", "def f(): return 3", reload=mode)
    assert module.f() == 3


def test_a_function_that_a_function_makes_global_is_not_taken_for_a_removed_one(trial: Trial) -> None:
    text = "def setup():\n    global hook\n    def hook(): return 1\n"
    trial.write("app/a.py", text + "N = 1\n")
    module = importlib.import_module("app.a")
    module.setup()
    error = trial.failure({"app/a.py": text + "N = 2\n"})
    assert "still runs the old code of hook" in error.message
    assert (module.hook(), module.N) == (1, 1)
