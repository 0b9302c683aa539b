"""Whatever a module does before it fails, at whichever statement, this process is as it was; what leaks is said."""

from __future__ import annotations

import importlib
import linecache
import os
import random
import signal
import sys
import threading
from types import FunctionType
from typing import Any

import pytest

from bae_source.errors import TransactionError
from bae_source.reloading.child.addresses import Addresses
from bae_source.reloading.in_process.this_process import Loaded, ThisProcess
from tests.runtime.support import Trial, codes

OLD = (
    '"""Doc."""\nimport os\nx: int = 1\nkept = [1]\nclass A:\n    y = 1\n    def m(self): return 1\n'
    "def f(a=1): return a\ndef g(): return A().m()\n"
)
STATEMENTS = (
    "import app.fresh", "from app import other", "import app.sub.deep", "x: str = 'new'", "del kept", "del os",
    "class A:\n    z = 2\n    def m(self): return 2", "def f(b=2): return b", "A.later = 1", "f.mark = 1",
    "__annotations__['q'] = 1", "__doc__ = 'x'", "__spec__ = None", "__all__ = ['x']", "globals()['made'] = 1",
    "import sys; sys.modules.pop('app.other', None)", "import sys; sys.modules['app.fake'] = sys",
    "from app.star import *", "__path__ = []", "__file__ = 'elsewhere'",
    "import sys; sys.modules[__name__] = sys", "for i in range(3): pass", "def g(): return f()",
)  # fmt: skip


def everything(namespace: dict[str, Any]) -> object:
    """Return what a failed change may not touch: the modules, what is in them, and the objects they had."""
    spaces = {name: dict(vars(module)) for name, module in sys.modules.items() if name.partition(".")[0] == "app"}
    functions = [
        (value.__code__, value.__defaults__, dict(value.__dict__), value.__doc__)
        for value in namespace.values()
        if isinstance(value, FunctionType)
    ]
    return spaces, dict(sys.modules), functions, dict(vars(namespace["A"])), list(namespace["kept"])


@pytest.mark.parametrize("mode", ["auto", "patch"])
def test_a_failure_behind_any_statement_restores_everything(trial: Trial, mode: Any) -> None:
    for path in ("app/fresh.py", "app/other.py", "app/sub/__init__.py", "app/sub/deep.py"):
        trial.write(path, "")
    trial.write("app/star.py", "from app.fresh import *\ns1 = s2 = 1\n")
    file = trial.write("app/a.py", OLD)
    module = importlib.import_module("app.a")
    importlib.import_module("app.other")
    namespace = dict(vars(module))
    before = everything(namespace)
    chance = random.Random(7)
    for length in range(0, len(STATEMENTS) + 1, 1 if mode == "auto" else 4):
        chosen = chance.sample(STATEMENTS, length)
        for source in ("\n".join([*chosen, "1/0", ""]), "\n".join([OLD, *chosen, "raise SystemExit", ""])):
            planned = [(trial.module("app/a.py"), source.encode())]
            here = ThisProcess(trial.root, planned, Addresses(trial.root, [""], {}), patch=mode == "patch")
            loaded = Loaded(module=module, file=file, source=source.encode(), before=OLD.encode())
            with pytest.raises(TransactionError):
                here.load_again([loaded])
            here.restore()
            assert everything(namespace) == before, source
            here.restore()
            assert everything(namespace) == before, "twice is as good as once"


def test_the_lines_of_a_source_that_failed_are_not_shown_afterwards(trial: Trial) -> None:
    file = trial.write("app/a.py", "def f():\n    return 'one'\n")
    importlib.import_module("app.a")
    status = file.stat()
    assert linecache.getline(str(file), 2) == "    return 'one'\n"
    trial.failure({"app/a.py": "1/0\n"}, "process")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert linecache.getline(str(file), 2) == "    return 'one'\n"
    trial.change({"app/a.py": "def f():\n    return 'two'\n"})
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert linecache.getline(str(file), 2) == "    return 'two'\n"


LEAKS = {
    "import threading\nthreading.Thread(target=stop.wait, name='worker').start()\n": "started threads (worker)",
    "import atexit\natexit.register(print)\natexit.register(print)\n": "added atexit registrations (2)",
    "import os\nos.environ['APP_MODE'] = 'new'\n": "changed environment variables (APP_MODE)",
    "import logging\nlogging.getLogger('app').addHandler(logging.NullHandler())\n": "added logging handlers (1)",
    "import os\nos.chdir('/')\n": "changed the working directory",
    "import signal\nsignal.signal(signal.SIGUSR1, signal.SIG_IGN)\n": "set signal handlers (SIGUSR1)",
    "import sys\nsys.path.append('/x')\n": "changed sys.path",
    "import sys\nsys.stderr = None\n": "replaced (sys.stderr)",
}


@pytest.mark.sampled
@pytest.mark.parametrize(("source", "expected"), LEAKS.items(), ids=LEAKS.values())
@pytest.mark.parametrize("fails", [True, False])
def test_what_an_import_leaves_behind_is_reported(
    trial: Trial, monkeypatch: pytest.MonkeyPatch, source: str, expected: str, fails: bool
) -> None:
    trial.write("app/a.py", "import threading\nstop = threading.Event()\n")
    module = importlib.import_module("app.a")
    event, folder, handler = module.stop, os.getcwd(), signal.getsignal(signal.SIGUSR1)  # noqa: PTH109
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    monkeypatch.setenv("APP_MODE", "old")
    source = "import app.a\nstop = app.a.stop\n" + source
    try:
        if fails:
            error = trial.failure({"app/a.py": source + "1/0\n"}, "process")
            assert error.hints[1] == f"Until it failed, something {expected}; that was not taken back."
        else:
            (notice,) = trial.change({"app/a.py": source}, "process")
            assert notice.code == "ran_again"
            assert f"something {expected};" in notice.message
    finally:
        event.set()
        os.chdir(folder)
        signal.signal(signal.SIGUSR1, handler)


def test_names_bound_in_other_modules_are_reported(trial: Trial) -> None:
    trial.write("app/a.py", "x = 1\n")
    trial.write("app/other.py", "x = 1\n")
    importlib.import_module("app.a")
    other = importlib.import_module("app.other")
    new = "import app.other\napp.other.x = 2\ndel app.other.__doc__\nimport app.b\n"
    error = trial.failure({"app/a.py": new}, "process")
    expected = "bound or removed names of other modules (app.other.__doc__, app.other.x)"
    assert error.hints[1] == f"Until it failed, something {expected}; that was not taken back."
    assert other.x == 2


def test_a_module_that_leaves_nothing_says_nothing(trial: Trial) -> None:
    trial.write("app/a.py", "x = 1\n")
    importlib.import_module("app.a")
    assert len(trial.failure({"app/a.py": "1/0\n"}, "process").hints) == 2
    assert codes(trial.change({"app/a.py": "import logging\nLOG = logging.getLogger('app.quiet')\n"})) == []


def test_another_thread_finds_every_name_while_a_failed_module_is_restored(trial: Trial) -> None:
    trial.write("app/a.py", "def f(): return 1\n")
    module = importlib.import_module("app.a")
    wrong: list[str] = []
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            if "f" not in vars(module) or vars(module)["f"]() not in (1, 2):
                wrong.append("f")

    thread = threading.Thread(target=look)
    thread.start()
    try:
        for _ in range(20):
            trial.failure({"app/a.py": "def helper(): return 2\ndef f(): return 2\n1/0\n"}, "process")
    finally:
        stop.set()
        thread.join()
    assert wrong == []
