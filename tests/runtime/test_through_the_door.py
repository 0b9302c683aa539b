"""Loading, as callers meet it: through the API, with real files, a real history, and modules that are loaded here."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import pytest

from bae_source import Source, TransactionError
from tests.adapters.support import run
from tests.runtime.support import Trial

CORE = (
    "import enum\n\n\nclass Color(enum.Enum):\n    RED = 1\n\n\n"
    "class A:\n    def m(self):\n        return 1\n\n\ndef f():\n    return A().m()\n"
)
USER = "from app.core import A, f\n\n\nVALUE = f()\n"


@pytest.fixture
def source(trial: Trial) -> Source:
    """A project whose modules this process has loaded."""
    trial.write("pyproject.toml", "[project]\nname = 'app'\nversion = '1'\n")
    trial.write("app/core.py", CORE)
    trial.write("app/user.py", USER)
    importlib.import_module("app.user")
    return Source(trial.root, who="tester")


def at(name: str) -> Any:
    return sys.modules[name]


def test_a_patch_reaches_what_others_hold_and_undo_takes_it_back(source: Source) -> None:
    kept, made = at("app.user").f, at("app.user").A()
    outcome = source.edit("app.core.A.m", "def m(self):\n    return 2\n", reload="patch")
    assert (outcome.status, outcome.warnings) == ("applied", ())
    assert kept() == made.m() == 2
    source.undo(reload="patch")
    assert kept() == made.m() == 1
    assert at("app.core").f is kept


def test_what_could_not_be_patched_is_a_warning(source: Source) -> None:
    outcome = source.edit("app.core.Color", old="RED = 1", new="RED = 2", reload="patch")
    assert [(notice.code, notice.message) for notice in outcome.warnings] == [
        ("not_patched", "app.core: Color (its members changed).")
    ]


def test_a_patch_that_fails_changes_nothing(source: Source, trial: Trial) -> None:
    code, before = at("app.core").f.__code__, dict(vars(at("app.core")))
    with pytest.raises(TransactionError, match=r"app\.core does not import with the change: NameError"):
        source.edit("app.core.f", "def f(a=missing):\n    return 2\n", reload="patch")
    assert at("app.core").f.__code__ is code
    assert dict(vars(at("app.core"))) == before
    assert (trial.root / "app/core.py").read_text() == CORE


def test_a_class_whose_new_comes_in_a_patch_can_be_called_after_it_failed_and_after_an_undo(trial: Trial) -> None:
    code = "class A:\n    def __init__(self, x):\n        self.x = x\n\n\nLAST = 1\n"
    made = code.replace("    def", "    def __new__(cls, x):\n        return super().__new__(cls)\n\n    def")
    trial.write("pyproject.toml", "[project]\nname = 'app'\nversion = '1'\n")
    trial.write("app/core.py", code)
    kept = importlib.import_module("app.core").A
    source = Source(trial.root, who="tester")
    with pytest.raises(TransactionError, match="does not import with the change"):
        source.write("app.core", made.replace("LAST = 1", "LAST = missing"), overwrite=True, reload="patch")
    failing_here = f"{made}import sys\nif 'pytest' in sys.modules: raise ZeroDivisionError\n"
    with pytest.raises(TransactionError, match="cannot be loaded again in this process"):
        source.write("app.core", failing_here, overwrite=True, reload="patch")
    assert (at("app.core").A, kept(9).x, (trial.root / "app/core.py").read_text()) == (kept, 9, code)
    outcome = source.write("app.core", made, overwrite=True, reload="patch")
    assert [each.message for each in outcome.warnings] == [
        "Added: A.__new__.",
        "app.core: A (its __new__ came or went).",
    ]
    assert (at("app.core").A(9).x, kept(9).x) == (9, 9)
    source.undo(reload="patch")
    assert (at("app.core").A(9).x, kept(9).x) == (9, 9)


def test_a_module_that_only_does_not_load_twice_is_not_reported_as_failing_to_import(trial: Trial) -> None:
    code = (
        "KNOWN = {}\n\n\nclass Base:\n    def __init_subclass__(cls):\n        if cls.__name__ in KNOWN:\n"
        "            raise LookupError(cls.__name__)\n        KNOWN[cls.__name__] = cls\n\n\n"
        "class A(Base):\n    def m(self):\n        return 1\n"
    )
    trial.write("pyproject.toml", "[project]\nname = 'app'\nversion = '1'\n")
    trial.write("app/core.py", code)
    importlib.import_module("app.core")
    before = dict(vars(at("app.core")))
    source = Source(trial.root, who="tester")
    with pytest.raises(TransactionError) as caught:
        source.edit("app.core.A.m", old="return 1", new="return 2", reload="patch")
    expected = (
        "app.core imports with the change, but cannot be loaded again in this process: LookupError: A, at app.core:7"
    )
    assert caught.value.message == f"{expected}; nothing was written."
    assert dict(vars(at("app.core"))) == before
    assert (trial.root / "app/core.py").read_text() == code
    assert 'reload="child"' in caught.value.hints[0]
    assert source.edit("app.core.A.m", old="return 1", new="return 2", reload="child").status == "applied"


def test_importers_follow_only_when_asked(source: Source) -> None:
    outcome = source.edit("app.core.A.m", "def m(self):\n    return 2\n")
    assert [notice.code for notice in outcome.warnings] == ["holds_old_objects"]
    assert at("app.user").VALUE == 1
    outcome = source.edit("app.core.A.m", "def m(self):\n    return 3\n", cascade=True)
    assert [notice.message for notice in outcome.warnings] == [
        "Loaded again in this order: app.core, app.user; importers: app.user."
    ]
    assert at("app.user").VALUE == 3


@pytest.mark.parametrize(
    ("files", "loaded", "order"),
    [
        pytest.param(
            {
                "app/__init__.py": "from .x import X\nfrom .y import Y\n",
                "app/x.py": "from . import y\nclass X(y.Y): pass\nSEEN = y.SEEN\n",
                "app/y.py": "from . import low\nclass Y(low.Low): pass\nSEEN = low.SEEN\n",
            },
            "app.x",
            "app.low, app.y, app.x, app",
            id="modules of one package take each other from it",
        ),
        pytest.param(
            {
                "app/__init__.py": "__version__ = '1'\nfrom .x import SEEN\n",
                "app/x.py": "from . import y\nSEEN = y.SEEN\n",
                "app/y.py": "from . import __version__, low\nSEEN = low.SEEN\n",
            },
            "app",
            "app.low, app.y, app.x, app",
            id="a package exports what takes a name from it",
        ),
        pytest.param(
            {
                "app/__init__.py": "from .low import SEEN\n",
                "app/sub.py": "",
                "user.py": "import app.sub\nSEEN = app.SEEN\n",
            },
            "user",
            "app.low, app, user",
            id="a package is used by the import of a module in it",
        ),
        pytest.param(
            {
                "app/__init__.py": "",
                "app/x.py": "class X:\n    class In:\n        from app.low import SEEN\nSEEN = X.In.SEEN\n",
                "user.py": "from app.x import SEEN\n",
            },
            "user",
            "app.low, app.x, user",
            id="a class has an import in it",
        ),
    ],
)
def test_a_cascade_leaves_nothing_old_behind(trial: Trial, files: dict[str, str], loaded: str, order: str) -> None:
    trial.write("pyproject.toml", "[project]\nname = 'app'\nversion = '1'\n")
    for path, text in {**files, "app/low.py": "SEEN = 1\nclass Low: pass\n"}.items():
        trial.write(path, text)
    importlib.import_module("app")
    importlib.import_module(loaded)
    importlib.import_module("user" if "user.py" in files else "app")
    outcome = Source(trial.root, who="tester").edit("app.low.SEEN", "SEEN = 2\n", cascade=True)
    (notice,) = outcome.warnings
    assert notice.message.startswith(f"Loaded again in this order: {order};")
    assert at(loaded).SEEN == 2


def test_a_move_and_an_edit_in_one_transaction_load_as_one(source: Source, trial: Trial) -> None:
    trial.write("app/late.py", "def g():\n    from app.core import f\n\n    return f()\n")
    late = importlib.import_module("app.late")
    trial.write("app/user.py", "")
    with source.transaction("a better name", reload="patch") as tx:
        tx.move("app.core", "app.base")
        tx.edit("app.late.g", "def g():\n    from app.base import f\n\n    return f() + 1\n")
    assert "app.core" not in sys.modules
    assert late.g() == 2
    source.undo()
    assert "app.base" not in sys.modules
    assert late.g() == 1
    assert at("app.core").f() == 1


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("import os; os._exit(0)", "Importing app.core ended the interpreter (status 0); nothing was written."),
        (
            "raise SystemExit",
            "app.core does not import with the change: SystemExit, at app.core:6; nothing was written.",
        ),
    ],
)
def test_the_command_line_survives_a_module_that_exits(source: Source, trial: Trial, body: str, message: str) -> None:
    called = run("edit", "app.core.Color", "--old", "RED = 1", "--new", f"RED = 1\n    {body}", folder=trial.root)
    assert (called.status, called.out) == (6, b"")
    assert message in called.err_text
    assert (trial.root / "app/core.py").read_text() == CORE


def test_the_command_line_shows_nothing_of_what_a_module_prints_or_forks(source: Source, trial: Trial) -> None:
    noisy = "RED = 1\n    import os\n    os.fork()\n    os.write(1, b'noise' * 99999)\n    input = None"
    called = run("edit", "app.core.Color", "--old", "RED = 1", "--new", noisy, "--json", folder=trial.root)
    assert called.status == 0
    assert called.json["status"] == "applied"
    assert b"noise" * 9 not in called.err


@pytest.mark.parametrize("name", ["broken.new", "broken.sub.new"])
def test_a_new_module_is_not_blamed_for_the_package_that_it_comes_into(trial: Trial, name: str) -> None:
    trial.write("broken/__init__.py", "import not_installed_anywhere\n")
    src = Source(trial.root)
    outcomes = [src.write(name, "X = 1\n"), src.undo(), src.redo()]
    assert [outcome.status for outcome in outcomes] == ["applied"] * 3
    for written in (outcomes[0], outcomes[2]):
        messages = [each.message for each in written.warnings if each.code == "import_failed_before"]
        assert messages[-1].startswith(
            f"{name} does not import: broken does not, and did not before this change either: "
            "ModuleNotFoundError: No module named 'not_installed_anywhere'. "
        ), "it was not there before"


def test_a_new_module_is_blamed_once_the_package_around_it_imports(trial: Trial) -> None:
    trial.write("broken/__init__.py", "import not_installed_anywhere\n")
    src = Source(trial.root)
    tx = src.transaction()
    tx.write("broken.new", "import not_there_either\n")
    tx.write("broken.__init__", "", overwrite=True)
    with pytest.raises(TransactionError, match="not_there_either"):
        tx.commit()
    assert not (trial.root / "broken/new.py").exists()
    assert (trial.root / "broken/__init__.py").read_text() == "import not_installed_anywhere\n"
