"""What stands imports afresh, though this process still has the names that were there; what failed before is told."""

from __future__ import annotations

import importlib
import subprocess
import sys
from typing import Any

import pytest

from bae_source import Outcome, Source, TransactionError
from tests.runtime.support import FAILS_HERE, Trial

IMPORTABLE_HERE_ONLY = {
    "a removed import": ("import os\nROOT = os.sep\n", "ROOT = os.sep\n"),
    "a removed function": ("def mk(): return 1\nX = mk()\n", "X = mk()\n"),
    "a function below its use": ("def mk(): return 1\nX = mk()\n", "X = mk()\ndef mk(): return 1\n"),
    "a renamed base": ("class A: pass\nclass B(A): pass\n", "class A2: pass\nclass B(A): pass\n"),
    "a removed decorator": ("def d(f): return f\n@d\ndef f(): pass\n", "@d\ndef f(): pass\n"),
    "a removed constant": ("K = 1\nX = K + 1\n", "X = K + 1\n"),
    "a removed star import": ("from app.consts import *\nX = LIMIT\n", "X = LIMIT\n"),
    "a cycle": ("def f(): return 1\n", "from app.user import f as g\ndef f(): return 1\n"),
}


@pytest.fixture
def source(trial: Trial) -> Source:
    trial.write("pyproject.toml", "[project]\nname = 'app'\nversion = '1'\n")
    trial.write("app/consts.py", "LIMIT = 1\n")
    return Source(trial.root, who="tester")


def load(trial: Trial, text: str) -> Any:
    trial.write("app/core.py", text)
    trial.write("app/user.py", "from app.core import *\nfrom app import core\nf = getattr(core, 'f')\n")
    return importlib.import_module("app.core")


def imports(trial: Trial) -> bool:
    fresh = [sys.executable, "-c", "import app.core"]
    return subprocess.run(fresh, cwd=trial.root, capture_output=True, check=False).returncode == 0


def messages_of(outcome: Outcome) -> dict[str, str]:
    return {notice.code: notice.message for notice in outcome.warnings}


@pytest.mark.sampled
@pytest.mark.parametrize(("reload", "verify"), [("auto", []), ("patch", []), ("process", ["import"])])
@pytest.mark.parametrize(("old", "new"), IMPORTABLE_HERE_ONLY.values(), ids=IMPORTABLE_HERE_ONLY)
def test_what_only_this_process_could_import_is_refused(
    trial: Trial, source: Source, old: str, new: str, reload: Any, verify: list[str]
) -> None:
    module = load(trial, old)
    if "app.user" in new:
        importlib.import_module("app.user")
    before = dict(vars(module))
    with pytest.raises(
        TransactionError, match=r"app\.core( \(and 1 more\))? does not import with the change: .*; nothing was written"
    ):
        source.write("app.core", new, overwrite=True, reload=reload, verify=verify)
    assert (trial.root / "app/core.py").read_text() == old
    assert dict(vars(module)) == before


@pytest.mark.parametrize(
    ("reload", "verify", "expected"),
    [
        ("auto", ["import"], "Verified: import."),
        ("patch", ["import"], "Verified: import."),
        ("child", ["command true"], "Verified: import, command true."),
        ("process", ["import"], "Verified: import."),
        ("process", ["command true"], "Verified: command true."),
    ],
)
def test_an_import_is_reported_as_verified_where_one_was_tried(
    trial: Trial, source: Source, reload: Any, verify: list[str], expected: str
) -> None:
    load(trial, "def f(): return 1\n")
    outcome = source.edit("app.core.f", "def f(): return 2", reload=reload, verify=verify)
    assert set(messages_of(outcome)) == ({"keeps_old_code"} if reload == "child" else set())
    assert outcome.text == f"Edited app.core.f. {expected}"
    assert imports(trial)


def test_process_alone_runs_nothing_elsewhere(trial: Trial, source: Source) -> None:
    module = load(trial, "import os\nROOT = os.sep\n")
    marked = f"import os\nopen({str(trial.root / 'ran')!r}, 'a').write('{{}}')\nROOT = 1\n"
    source.write("app.core", marked.format("x"), overwrite=True, reload="process")
    assert (trial.root / "ran").read_text() == "x"
    source.write("app.core", marked.format("y"), overwrite=True)
    assert (trial.root / "ran").read_text() == "xyy", "once in a child, and once here"
    assert module.ROOT == 1


@pytest.mark.parametrize("reload", ["auto", "patch"])
def test_a_loaded_module_that_did_not_import_before_keeps_what_it_has_and_the_others_follow(
    trial: Trial, source: Source, reload: Any
) -> None:
    module = load(trial, "def f(): return 1\n")
    consts = importlib.import_module("app.consts")
    trial.write("app/core.py", "def f(): return 1\n\n\nraise ValueError('by hand')\n")
    kept = module.f
    with source.transaction("two", reload=reload) as tx:
        tx.edit("app.core.f", "def f(): return 2")
        tx.edit("app.consts.LIMIT", "LIMIT = 2")
    assert tx.outcome is not None
    messages = messages_of(tx.outcome)
    assert "did not before this change either: ValueError: by hand." in messages["import_failed_before"]
    assert messages["keeps_old_code"] == "app.core keeps its old code in this process: it does not import."
    assert "return 2" in (trial.root / "app/core.py").read_text()
    assert (module.f is kept, module.f(), consts.LIMIT) == (True, 1, 2)


def test_a_module_that_imports_in_this_process_only_is_loaded_again_here(trial: Trial, source: Source) -> None:
    guard = FAILS_HERE.replace(" in ", " not in ")
    module = load(trial, guard + "def f(): return 1\n")
    messages = messages_of(source.edit("app.core.f", "def f(): return 2"))
    assert list(messages) == ["import_failed_before"]
    assert module.f() == 2


def test_what_fails_here_otherwise_than_before_is_blamed(trial: Trial, source: Source) -> None:
    guard = FAILS_HERE.replace(" in ", " not in ")
    module = load(trial, guard + "def f(): return 1\n")
    before = dict(vars(module))
    with pytest.raises(TransactionError, match=r"app\.core does not import with the change: NameError"):
        source.edit("app.core.f", "def f(a=missing): return 2")
    assert dict(vars(module)) == before
    assert "return 1" in (trial.root / "app/core.py").read_text()


@pytest.mark.parametrize("reload", ["auto", "patch"])
def test_what_fails_here_is_blamed_if_it_was_other_code_that_failed_in_a_child(
    trial: Trial, source: Source, reload: Any
) -> None:
    trial.write("app/other.py", FAILS_HERE.replace(" in ", " not in "))
    module = load(trial, "def f(): return 1\n\n\nimport app.other\n")
    before = dict(vars(module))
    with pytest.raises(TransactionError, match=r"app\.core does not import with the change: NameError"):
        source.edit("app.core.f", "def f(a=missing): return 2", reload=reload)
    assert dict(vars(module)) == before
    assert "return 1" in (trial.root / "app/core.py").read_text()
    messages = messages_of(source.edit("app.core.f", "def f(): return 2", reload=reload))
    assert "did not before this change either: ZeroDivisionError" in messages["import_failed_before"]
    assert importlib.import_module("app.core").f() == 2


def test_who_mends_one_of_two_faults_of_a_loaded_module_is_not_blamed_for_the_other(
    trial: Trial, source: Source
) -> None:
    load(trial, "def f(): return 1\n")
    trial.write("app/core.py", "def f(): return 1\n\n\nx = first\ny = second\n")
    messages = messages_of(source.edit("app.core.x", "x = 1"))
    assert "did not before this change either: NameError: name 'second'" in messages["import_failed_before"]
    assert list(messages) == ["import_failed_before", "keeps_old_code"]
