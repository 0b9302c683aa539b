"""Who holds what was replaced is named: functions, classes, objects, and numbers that were imported by name."""

from __future__ import annotations

import importlib

import pytest

from tests.runtime.support import Trial, codes

OLD = "N = 1000\nT = (1, [2])\nLOG = []\nclass C: pass\nEMPTY = ()\nSAME = 'text'\nimport os, re, typing\n"
OLD += "ALIAS = typing.Union[int, str]\nPATTERN = re.compile('x')\n"
NEW = OLD.replace("1000", "2000").replace("[2]", "[3]")


@pytest.mark.parametrize(
    ("user", "named"),
    [
        ("from app.a import N\n", True),
        ("from app.a import N as M\nN = M\n", True),
        ("from app.a import T\n", True),
        ("from app.a import LOG as log\n", True),
        ("from app import a\nlog = a.LOG\n", True),
        ("from app.a import C\n", True),
        ("from app.a import SAME, EMPTY, ALIAS, PATTERN, os\n", False),
        ("from app import a\n", False),
        ("N = 1000\nLOG = []\nEMPTY = ()\n", False),
    ],
)
def test_a_holder_is_named_and_nobody_else(trial: Trial, user: str, named: bool) -> None:
    trial.write("app/a.py", OLD)
    trial.write("app/user.py", user)
    importlib.import_module("app.user")
    importlib.import_module("app.a")
    notices = trial.change({"app/a.py": NEW})
    assert codes(notices) == (["holds_old_objects"] if named else [])
    assert all("app.user still hold old objects of app.a" in notice.message for notice in notices)


def test_a_patch_names_who_holds_values_that_were_bound_anew(trial: Trial) -> None:
    trial.write("app/a.py", "N = 1\nLOG = []\ndef f(): return N\n")
    trial.write("app/one.py", "from app.a import f\n")
    trial.write("app/two.py", "from app.a import LOG\n")
    for name in ("one", "two"):
        importlib.import_module(f"app.{name}")
    (notice,) = trial.change({"app/a.py": "N = 2\nLOG = []\ndef f(): return N\n"}, "patch")
    assert notice.code == "holds_old_objects"
    assert notice.message.startswith("app.two still hold")


def test_who_imports_from_a_deleted_module_is_named(trial: Trial) -> None:
    trial.write("app/a.py", "N = 1000\n")
    trial.write("app/user.py", "from app.a import N\n")
    importlib.import_module("app.user")
    (notice,) = trial.change({"app/a.py": None})
    assert notice.code == "holds_old_objects"
    assert notice.message.startswith("app.user still hold old objects of app.a; load them again, or restart")
