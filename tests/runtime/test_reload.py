"""Loaded modules are loaded again in place, and a failure leaves this process as it was."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from bae_source.errors import TransactionError
from bae_source.model.plan import ReloadMode
from bae_source.reloading.in_process.module_state import ProcessState
from bae_source.reloading.reload import Reload
from tests.runtime.judging import setting_of
from tests.runtime.support import FAILS_HERE, Trial, codes


def load(name: str) -> Any:
    return importlib.import_module(name)


def state(*modules: ModuleType) -> list[dict[str, object]]:
    return [dict(vars(module)) for module in modules]


@pytest.mark.parametrize("attempt", range(6))
def test_an_edit_of_the_same_size_in_the_same_second_runs_the_new_code(trial: Trial, attempt: int) -> None:
    file = trial.write("app/a.py", "def f(): return 1\n")
    module = load("app.a")
    assert module.f() == 1
    status = file.stat()
    trial.change({"app/a.py": "def f(): return 2\n"})
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert module.f() == 2
    fresh = [sys.executable, "-c", "import app.a; print(app.a.f())"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    assert subprocess.run(fresh, cwd=trial.root, capture_output=True, check=True, env=environment).stdout == b"2\n"


@pytest.mark.parametrize("mode", ["auto", "process", "child", "off"])
def test_stale_bytecode_is_removed_after_writing_and_after_taking_back(trial: Trial, mode: Any) -> None:
    trial.write("app/a.py", "x = 1\n")
    cache = trial.root / "app/__pycache__"
    cache.mkdir()
    stale = cache / "a.cpython-399.opt-2.pyc"
    other = cache / "ab.cpython-399.pyc"
    other.write_bytes(b"other")
    stale.write_bytes(b"stale")
    trial.change({"app/a.py": "x = 2\n"}, mode)
    assert not stale.exists()
    assert other.exists()
    if mode == "process":  # where anything is loaded, and so may have to go back
        trial.failure({"app/a.py": f"open({str(stale)!r}, 'w')\nx = 1/0\n"}, mode)
        assert not stale.exists()


def test_who_holds_the_module_sees_the_change(trial: Trial) -> None:
    trial.write("app/a.py", '"""Doc."""\nx: int = 1\ndef f():\n    return x\ndef gone(): pass\n')
    module = load("app.a")
    assert trial.change({"app/a.py": "y: int = 7\ndef f():\n    return y\n"}) == ()
    assert module.f() == 7
    assert not hasattr(module, "gone"), "what the source no longer defines is gone"
    assert not hasattr(module, "x")
    assert module.__doc__ is None
    assert module.__annotations__ == {"y": int}


def test_what_others_put_into_the_module_stays(trial: Trial) -> None:
    trial.write("app/a.py", "x = 1\n")
    trial.write("app/b.py", "")
    module, package = load("app.a"), load("app")
    module.plugin = "theirs"
    trial.change({"app/a.py": "x = 2\n"})
    assert module.plugin == "theirs"
    load("app.b")
    trial.change({"app/__init__.py": "z = 1\n"})
    assert package.b is sys.modules["app.b"]


def test_a_definition_that_is_no_longer_reached_is_gone(trial: Trial) -> None:
    trial.write("app/a.py", "if True:\n    def f(): return 1\n")
    module = load("app.a")
    trial.change({"app/a.py": "if False:\n    def f(): return 2\n"})
    assert not hasattr(module, "f")


FAILING = {
    "raises": "new = 1\nx = 'new'\nimport app.fresh\ndef f(): return 2\nraise RuntimeError('half way')\n",
    "exits": "x = 'new'\nimport app.fresh\nraise SystemExit(3)\n",
    "syntax": "x = = 2\n",
    "removes": "del x\nimport sys; sys.modules.pop('app.other'); sys.modules['made.up'] = sys\n1/0\n",
    "annotates": "z: int = 1\n__annotations__['x'] = str\n1/0\n",
    "base": "class Odd(BaseException): pass\nraise Odd\n",
    "unsayable": "class E(Exception):\n    def __str__(self): raise ValueError\nraise E\n",
}


@pytest.mark.parametrize("source", FAILING.values(), ids=FAILING)
def test_a_reload_that_fails_half_way_restores_everything(trial: Trial, source: str) -> None:
    trial.write("app/a.py", "x: int = 1\nkeep = [1]\ndef f(): return x\n")
    trial.write("app/fresh.py", "")
    trial.write("app/other.py", "")
    module, package, other = load("app.a"), load("app"), load("app.other")
    kept, spec = module.f, module.__spec__
    before, loaded = state(module, package, other), dict(sys.modules)

    error = trial.failure({"app/a.py": source}, "process")

    assert error.code == "reload_failed"
    assert error.message.startswith("app.a does not import with the change: ")
    after = state(module, package, other)
    assert after == before
    assert [list(names) for names in after][1:] == [list(names) for names in before][1:]
    assert sys.modules == loaded
    assert module.__spec__ is spec
    assert module.f is kept
    assert module.__annotations__ == {"x": int}
    assert not hasattr(package, "fresh")
    assert module.f() == 1


def test_the_error_has_the_exception_the_place_and_a_traceback_without_paths(trial: Trial) -> None:
    trial.write("app/a.py", "from app.b import g\n")
    trial.write("app/b.py", "def g():\n    raise KeyError('no')\n")
    load("app.a")
    error = trial.failure({"app/a.py": "from app.b import g\n\ng()\n"}, "process")
    assert error.message == ("app.a does not import with the change: KeyError: 'no', at app.b:2; nothing was written.")
    assert error.details["place"] == "app.b:2"
    assert error.details["traceback"].splitlines() == [
        "Traceback (most recent call last):",
        "  app.a:3, in <module>",
        "    g()",
        "  app.b:2, in g",
        "    raise KeyError('no')",
        "KeyError: 'no'",
    ]


def test_names_never_vanish_while_other_threads_use_them(trial: Trial) -> None:
    trial.write("app/a.py", "def f(): return 1\n")
    module = load("app.a")
    wrong: list[BaseException] = []
    stop = threading.Event()

    def call() -> None:
        while not stop.is_set():
            try:
                assert module.f() in (1, 2)
            except BaseException as error:  # noqa: BLE001 - reported by the main thread
                wrong.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    for _ in range(10):
        trial.failure({"app/a.py": "def f(): return 2\nraise RuntimeError\n"}, "process")
        trial.change({"app/a.py": "def f(): return 2\n"}, "process")
    stop.set()
    thread.join()
    assert wrong == []


def test_a_namespace_is_never_empty_while_it_is_restored() -> None:
    module = ModuleType("somebody")
    module.__dict__.update({f"name{number}": number for number in range(50_000)})
    missing: list[int] = []
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            if not hasattr(module, "name49999"):
                missing.append(1)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    thread = threading.Thread(target=look)
    thread.start()
    try:
        for _ in range(15):
            ProcessState([module], []).restore()
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(interval)
    assert missing == []


def test_what_another_thread_imports_meanwhile_stays(trial: Trial) -> None:
    trial.write("app/a.py", "x = 1\n")
    trial.write("theirs.py", "")
    load("app.a")
    source = (
        "import threading, importlib\n"
        "t = threading.Thread(target=importlib.import_module, args=('theirs',)); t.start(); t.join()\n1/0\n"
    )
    trial.failure({"app/a.py": source}, "process")
    assert "theirs" in sys.modules


def test_an_extension_module_stays_with_all_that_it_came_with(trial: Trial) -> None:
    code = (
        "import sys, os; sys.path.insert(0, 'project'); import app.a\n"
        "from tests.runtime.support import Trial\n"
        "from pathlib import Path\n"
        "assert 'asyncio' not in sys.modules\n"
        "Trial(Path('project')).failure({'app/a.py': 'import asyncio, app.fresh; 1/0'}, 'process')\n"
        "assert 'app.fresh' not in sys.modules\n"
        "assert {'asyncio', '_asyncio', 'asyncio.events'} <= set(sys.modules)\n"
        "import asyncio; asyncio.run(asyncio.sleep(0))\n"
        "assert asyncio.Future is sys.modules['_asyncio'].Future\n"
    )
    trial.write("app/a.py", "x = 1\n")
    trial.write("app/fresh.py", "")
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    subprocess.run([sys.executable, "-c", code], cwd=trial.root.parent, check=True, env=environment)


def test_modules_are_loaded_again_in_the_order_of_their_imports(trial: Trial) -> None:
    trial.write("app/low.py", "def f(): return 1\n")
    trial.write("app/high.py", "from app.low import f\n")
    trial.write("app/near.py", "from .low import f\n")
    for name in ("app.low", "app.high", "app.near"):
        load(name)
    notices = trial.change(
        {
            "app/high.py": "from app.low import f, new\n",
            "app/low.py": "def f(): return 2\nnew = 3\n",
            "app/near.py": "from . import low\nf = low.f\n",
        }
    )
    assert notices == ()
    assert sys.modules["app.high"].new == 3
    assert sys.modules["app.high"].f() == sys.modules["app.near"].f() == 2


def test_if_the_second_of_two_fails_the_first_is_taken_back_too(trial: Trial) -> None:
    trial.write("app/low.py", "def f(): return 1\n")
    trial.write("app/high.py", "from app.low import f\n")
    low, high = load("app.low"), load("app.high")
    before = state(low, high)
    new = {"app/low.py": "def g(): return 2\n", "app/high.py": "from app.low import f\n# touched\n"}
    trial.failure(new, "process")
    assert state(low, high) == before


def test_who_still_holds_old_objects_is_named(trial: Trial) -> None:
    trial.write("app/a.py", "class C: pass\ndef f(): return 1\nN = 5\n")
    trial.write("app/user.py", "from app.a import f\n")
    trial.write("app/sub.py", "from app import a\n")
    for name in ("app.a", "app.user", "app.sub"):
        load(name)
    (notice,) = trial.change({"app/a.py": "class C: pass\ndef f(): return 2\nN = 6\n"})
    assert notice.code == "holds_old_objects"
    assert "app.user still hold" in notice.message
    assert "app.sub" not in notice.message


def test_a_deleted_module_is_forgotten_and_comes_back_if_something_else_fails(trial: Trial) -> None:
    trial.write("app/a.py", "x = 1\n")
    trial.write("app/b.py", "x = 1\n")
    package, a = load("app"), load("app.a")
    load("app.b")
    trial.failure({"app/a.py": None, "app/b.py": "1/0\n"}, "process")
    assert sys.modules["app.a"] is a
    assert package.a is a
    trial.change({"app/a.py": None})
    assert "app.a" not in sys.modules
    assert not hasattr(package, "a")


def test_a_module_loaded_under_another_name_is_loaded_again_too(trial: Trial) -> None:
    file = trial.write("app/a.py", "x = 1\n")
    spec = importlib.util.spec_from_file_location("strange", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["strange"] = module
    spec.loader.exec_module(module)
    trial.change({"app/a.py": "x = 2\n"})
    assert module.x == 2


def test_a_module_of_that_name_from_another_file_is_left_alone(trial: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    stranger = ModuleType("app.a")
    stranger.__file__ = "/elsewhere/app/a.py"
    monkeypatch.setitem(sys.modules, "app.a", stranger)
    trial.write("app/a.py", "x = 1\n")
    trial.change({"app/a.py": "x = 2\n"})
    assert not hasattr(stranger, "x")


def test_ctrl_c_during_a_reload_goes_on_and_restores(trial: Trial) -> None:
    trial.write("app/a.py", "x = 1\n")
    module = load("app.a")
    with pytest.raises(KeyboardInterrupt):
        trial.change({"app/a.py": "x = 2\nraise KeyboardInterrupt\n"}, "process")
    assert module.x == 1


def test_process_imports_here_what_is_not_loaded_yet(trial: Trial) -> None:
    trial.write("app/a.py", "x = 1\n")
    path = list(sys.path)
    assert trial.change({"app/a.py": "x = 2\n"}, "process") == ()
    assert sys.modules["app.a"].x == 2
    assert sys.path == path
    loaded = dict(sys.modules)
    error = trial.failure({"app/b.py": "import app.c\n1/0\n", "app/c.py": ""}, "process")
    assert error.code == "reload_failed"
    assert sys.modules == loaded
    assert not hasattr(load("app"), "c")


@pytest.mark.parametrize(
    ("mode", "path", "tries"),
    [
        ("auto", "app/a.py", True),
        ("child", "app/a.py", True),
        ("process", "app/a.py", False),
        ("off", "app/a.py", False),
        ("auto", "a.txt", False),
    ],
)
def test_a_child_tries_what_there_is_to_import(trial: Trial, mode: ReloadMode, path: str, tries: bool) -> None:
    modules = [trial.module(path)] if path.endswith(".py") else []
    reload = Reload(mode, setting_of(trial), modules, {path: b""}, {path: b"x = 1\n"})
    assert reload.tries() == tries


@pytest.mark.parametrize("mode", ["auto", "process", "child", "off"])
def test_compiled_code_goes_before_its_source_is_replaced_and_afterwards(trial: Trial, mode: ReloadMode) -> None:
    trial.write("app/a.py", "")
    compiled = trial.write("app/__pycache__/a.cpython-311.pyc", "of the old source")
    reload = Reload(mode, setting_of(trial), [trial.module("app/a.py")], {"app/a.py": b""}, {"app/a.py": b"x = 1\n"})
    assert compiled.exists()
    reload.load()
    assert not compiled.exists()
    compiled.write_text("of the old source")
    reload.written()
    assert not compiled.exists()


def test_a_module_that_imports_a_planned_one_is_loaded_before_that_is_written(trial: Trial) -> None:
    trial.write("app/a.py", "x = 1\n")
    module = load("app.a")
    new = {"app/a.py": "from app.sub.new import y as x\n", "app/sub/new.py": "import inspect, sys\ny = 7\n"
           "text = inspect.getsource(sys.modules[__name__])\n"}  # fmt: skip
    trial.change(new)
    assert module.x == 7
    made = sys.modules["app.sub.new"]
    assert made.text == new["app/sub/new.py"]
    assert type(made.__loader__).__module__ == type(made.__spec__.loader).__module__ == "_frozen_importlib_external"
    assert importlib.reload(made).y == 7


def test_a_planned_module_that_cannot_be_loaded_leaves_nothing_behind(trial: Trial) -> None:
    trial.write("app/a.py", "x = 1\n")
    module, loaded, finders = load("app.a"), dict(sys.modules), list(sys.meta_path)
    trial.failure({"app/a.py": "from app.sub.new import y as x\n", "app/sub/new.py": FAILS_HERE}, "process")
    assert (module.x, dict(sys.modules), sys.meta_path) == (1, loaded, finders)
    assert not (trial.root / "app/sub").exists()


def test_off_loads_nothing(trial: Trial) -> None:
    trial.write("app/a.py", "x = 1\n")
    assert trial.change({"app/a.py": "x = 2\n"}, "off") == ()
    module = load("app.a")
    assert codes(trial.change({"app/a.py": "1/0\n"}, "off")) == ["keeps_old_code"]
    assert module.x == 2


def test_child_leaves_this_process_alone(trial: Trial) -> None:
    trial.write("app/a.py", "x = 1\n")
    assert trial.change({"app/a.py": "x = 2\n"}, "child") == ()
    module = load("app.a")
    assert codes(trial.change({"app/a.py": "x = 3\n"}, "child")) == ["keeps_old_code"]
    assert module.x == 2


def test_generated_functions_and_decorators_do_not_look_like_old_code(trial: Trial) -> None:
    source = (
        "import dataclasses, functools, collections\n"
        "@dataclasses.dataclass\nclass D:\n    x: int = 1\n"
        "@functools.cache\ndef f(): return 1\n"
        "g = lambda: 1\nP = collections.namedtuple('P', 'a')\n"
        "def make():\n    def inner(): return 1\n    return inner\nh = make()\n"
    )
    trial.write("app/a.py", source)
    module = load("app.a")
    assert trial.change({"app/a.py": source.replace("1", "2")}) == ()
    assert module.f() == module.g() == module.h() == module.D().x == 2


def test_roll_back_without_load_and_twice_is_harmless(trial: Trial) -> None:
    trial.write("app/a.py", "x = 1\n")
    module = load("app.a")
    contents = {"app/a.py": b"x = 1\n"}, {"app/a.py": b"x = 2\n"}
    reload = Reload("auto", setting_of(trial), [trial.module("app/a.py")], *contents)
    reload.roll_back()
    reload.load()
    assert module.x == 2
    reload.roll_back()
    reload.roll_back()
    assert module.x == 1


def test_a_module_that_is_only_compiled_is_not_run_here_either(trial: Trial) -> None:
    trial.unchecked = {"app/test_a.py"}
    trial.write("app/test_a.py", "x = 1\n")
    module = load("app.test_a")
    expected = ["keeps_old_code", "not_import_checked"]
    assert sorted(codes(trial.change({"app/test_a.py": "x = 2\n1/0\n"}))) == expected
    assert module.x == 1
    assert codes(trial.change({"app/test_a.py": "x = 3\n"}, "process")) == expected
    assert module.x == 1
    with pytest.raises(TransactionError):
        trial.change({"app/test_a.py": "x = = 3\n"}, "process")


def test_bytecode_elsewhere_is_removed_too(trial: Trial, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "cache"))
    file = trial.write("app/a.py", "x = 1\n")
    load("app.a")
    cached = Path(importlib.util.cache_from_source(str(file)))
    assert cached.exists()
    trial.change({"app/a.py": "x = 2\n"}, "off")
    assert not cached.exists()
