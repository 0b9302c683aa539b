"""An import of planned text ends as it does once the text is written: tried on a copy that really has it."""

from __future__ import annotations

import json
import marshal
import os
import py_compile
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from bae_source.errors import TransactionError
from tests.mutants import copy_package, mutants
from tests.runtime.support import Trial, codes

pytestmark = pytest.mark.sampled

Files = Mapping[str, str | None]

PACKAGE = {
    "pkg/__init__.py": "",
    "pkg/a.py": "def f(): return 1\n",
    "pkg/b.py": "from pkg.a import f\nassert f() == 1\n",
}
LISTING = "import os\nfound = sorted(each for each in {0} if each.endswith('.py'))\n"
CHANGES: dict[str, tuple[Files, Files]] = {
    "an edit": (PACKAGE, {"pkg/a.py": "def f(): return 1 #\n"}),
    "an edit that breaks its importer": (PACKAGE, {"pkg/a.py": "def f(): return 2\n"}),
    "a name that goes": (PACKAGE, {"pkg/a.py": "def g(): return 1\n"}),
    "a new module": (PACKAGE, {"pkg/c.py": "from pkg.b import f\n"}),
    "a new module that another one takes": (PACKAGE, {"pkg/c.py": "x = 1\n", "pkg/a.py": "from pkg.c import x as f\n"}),
    "a module that goes": (PACKAGE, {"pkg/a.py": None}),
    "a module that goes with its use": (PACKAGE, {"pkg/a.py": None, "pkg/b.py": "x = 1\n"}),
    "a module that goes, and a guard": (
        {**PACKAGE, "pkg/b.py": "try:\n    from pkg.a import f\nexcept ImportError:\n    f = None\n"},
        {"pkg/a.py": None},
    ),
    "a move": (PACKAGE, {"pkg/a.py": None, "pkg/new.py": "def f(): return 1\n", "pkg/b.py": "from pkg.new import f\n"}),
    "a move that leaves an importer": (PACKAGE, {"pkg/a.py": None, "pkg/new.py": "def f(): return 1\n"}),
    "a module becomes a package": (PACKAGE, {"pkg/a.py": None, "pkg/a/__init__.py": "def f(): return 1\n"}),
    "a module becomes a package with a module": (
        PACKAGE,
        {"pkg/a.py": None, "pkg/a/__init__.py": "from .deep import f\n", "pkg/a/deep.py": "def f(): return 1\n"},
    ),
    "a package before a module of its name": (PACKAGE, {"pkg/a/__init__.py": "def f(): return 3\n"}),
    "a package becomes a module": (
        {"p/__init__.py": "from p.x import y\n", "p/x.py": "y = 1\n", "user.py": "from p import y\n"},
        {"p/__init__.py": None, "p/x.py": None, "p.py": "y = 1\n"},
    ),
    "a package becomes a module beside a data file": (
        {"p/__init__.py": "y = 1\n", "p/data.txt": "", "user.py": "from p import y\n"},
        {"p/__init__.py": None, "p.py": "y = 1\n"},
    ),
    "a package that goes with all its modules": (
        {"p/__init__.py": "", "p/x.py": "y = 1\n", "user.py": "import p\n"},
        {"p/__init__.py": None, "p/x.py": None},
    ),
    "an init that goes leaves a namespace": (
        {"p/__init__.py": "y = 1\n", "p/x.py": "z = 1\n", "user.py": "import p.x\n", "other.py": "from p import y\n"},
        {"p/__init__.py": None},
    ),
    "an init for a namespace": ({"p/x.py": "z = 1\n", "user.py": "from p import w\n"}, {"p/__init__.py": "w = 1\n"}),
    "a new module in a namespace": ({"p/x.py": "z = 1\n"}, {"p/q/new.py": "from p.x import z\n"}),
    "a namespace that is new": ({"x.py": ""}, {"n/m/new.py": "import x\n", "user.py": "import n.m.new\n"}),
    "a namespace that goes": ({"p/x.py": "z = 1\n", "user.py": "import p\n"}, {"p/x.py": None}),
    "a new package in a package": (PACKAGE, {"pkg/q/__init__.py": "", "pkg/q/w.py": "from ..b import f\n"}),
    "a name in the init that a module takes": (
        {"p/__init__.py": "from .x import y\n", "p/x.py": "y = 1\n"},
        {"p/__init__.py": "from .x import y\n", "p/x.py": "z = 1\n"},
    ),
    "a circle": (
        {"a.py": "x = 1\n", "b.py": "from a import x\ny = 1\n"},
        {"a.py": "from b import y\nx = 1\n"},
    ),
    "a star": (
        {"a.py": "x = y = 1\n", "b.py": "from a import *\nx, y\n"},
        {"a.py": "x = y = 1\n__all__ = ['x']\n"},
    ),
    "modules that are listed": (
        {
            "p/__init__.py": "import importlib, pkgutil\nfor each in pkgutil.iter_modules(__path__):\n"
            "    importlib.import_module(f'p.{each.name}')\nassert each.name == 'z'\n",
            "p/a.py": "",
            "p/z.py": "",
        },
        {"p/a.py": None, "p/b.py": "", "p/q/__init__.py": ""},
    ),
    "modules that are listed, and lack one": (
        {
            "p/__init__.py": "import pkgutil\nassert [each.name for each in pkgutil.iter_modules(__path__)] == ['a']\n",
            "p/a.py": "",
        },
        {"p/b.py": ""},
    ),
    **{
        f"files that are listed by {how}": (
            {"p/__init__.py": LISTING.format(how), "p/a.py": ""},
            {"p/a.py": None, "p/b.py": ""},
        )
        for how in (
            "os.listdir(os.path.dirname(__file__))",
            "[e.name for e in os.scandir(os.path.dirname(__file__)) if e.is_file()]",
            "__import__('glob').glob(os.path.join(os.path.dirname(__file__), '*.py'))",
            "map(str, __import__('pathlib').Path(__file__).parent.iterdir())",
            "map(str, __import__('pathlib').Path(__file__).parent.rglob('*.py'))",
            "[n for _, _, names in os.walk(os.path.dirname(__file__)) for n in names]",
            "[each.name for each in __import__('importlib.resources').resources.files(__package__).iterdir()]",
        )
    },
    "a file that is asked for": (
        {"a.py": "import os.path\nhere = os.path.dirname(os.path.abspath(__file__))\n"
         "assert os.path.exists(here + '/new.py') and not os.path.exists(here + '/old.py')\n"
         "assert os.path.isdir(here + '/sub') and not os.path.lexists(here + '/gone')\n",
         "old.py": "", "gone/x.py": ""},
        {"new.py": "", "old.py": None, "sub/x.py": "", "gone/x.py": None},
    ),
    "a file that reads itself": (
        {"a.py": "x = 1\n"},
        {"a.py": "# new\nimport sys\nassert open(__file__).read().startswith('# new')\n"
         "assert open(__file__, 'rb').readline() == b'# new\\n'\n"
         "assert __import__('pathlib').Path(__file__).read_text()[:5] == '# new'\n"
         "assert __loader__.get_source(__name__)[:5] == '# new'\n"},
    ),
    "source that is looked up": (
        {"a.py": "x = 1\n\n\ndef f():\n    return 'old'\n"},
        {"a.py": "import inspect\n\n\ndef f():\n    return 'new'\n\n\nassert 'new' in inspect.getsource(f)\n"},
    ),
    "a module by its path": (
        {"load.py": "import importlib.util as u, os\n"
         "s = u.spec_from_file_location('other', os.path.dirname(__file__) + '/x.py')\n"
         "m = u.module_from_spec(s)\ns.loader.exec_module(m)\nassert m.x == 2\n", "x.py": "x = 1\n"},
        {"x.py": "x = 2\n"},
    ),
    "a module by two names": (
        {"src/app/__init__.py": "", "src/app/core.py": "x = 1\n",
         "user.py": "import sys, os\n"
         "sys.path.insert(0, os.path.dirname(__file__) + '/src')\nimport app.core, src.app.core\n"
         "assert app.core.x == src.app.core.x == 2\n"},
        {"src/app/core.py": "x = 2\n"},
    ),
    "a module through a link": (
        {"real/x.py": "x = 1\n", "user.py": "import link.x\nassert link.x.x == 2\nimport link.new\n"},
        {"real/x.py": "x = 2\n", "real/new.py": ""},
    ),
    "an encoding": ({"a.py": "x = 1\n"}, {"a.py": "# -*- coding: latin-1 -*-\nx = 'ä'\nassert len(x) == 2\n"}),
    "no Python": (PACKAGE, {"pkg/a.py": "def f(: pass\n"}),
}  # fmt: skip

REAL = """
import importlib, json, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
found = {}
for name in sys.argv[2:]:
    try:
        importlib.import_module(name)
    except BaseException as error:
        text = error.msg if isinstance(error, SyntaxError) else str(error).partition(' (/')[0]
        found[name] = type(error).__name__ + (': ' + text if text else '')
print(json.dumps(found))
"""


def written(trial: Trial, new: Files, paths: list[str], folder: Path) -> dict[str, str]:
    """Return by module what a Python says that imports them from a copy with the change."""
    shutil.copytree(trial.root, folder, symlinks=True)
    for path, text in new.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        if text is not None:
            (folder / path).write_text(text)
        else:
            (folder / path).unlink()
            for each in (folder / path).parents:
                if each == folder or any(each.iterdir()):
                    break
                each.rmdir()
    words = [sys.executable, "-P", "-c", REAL, str(folder), *(trial.module(path).name for path in paths)]
    done = subprocess.run(words, cwd=folder, capture_output=True, check=True, timeout=60)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def blamed(trial: Trial, new: Files, paths: list[str]) -> tuple[list[str], str]:
    """Return the modules that the check blames on a change, and the first one's problem."""
    try:
        trial.check(new, *(path for path in paths if path not in new))
    except TransactionError as error:
        return sorted([error.details["module"], *error.details["also"]]), error.details["problem"]
    return [], ""


def lay_out(trial: Trial, files: Files) -> None:
    shutil.rmtree(trial.root)
    for path, text in files.items():
        trial.write(path, text or "")


@pytest.mark.parametrize(("files", "new"), CHANGES.values(), ids=CHANGES)
def test_planned_text_imports_as_written_text_does(trial: Trial, tmp_path: Path, files: Files, new: Files) -> None:
    lay_out(trial, files)
    if "real/x.py" in files:
        (trial.root / "link").symlink_to("real")
    paths = [path for path in (*new, *(each for each in files if each not in new)) if new.get(path, "") is not None]
    paths = [path for path in paths if path.endswith(".py")]
    state = snapshot(trial.root)
    before = written(trial, {}, [path for path in paths if path in files], tmp_path / "before")
    after = written(trial, new, paths, tmp_path / "after")
    found, problem = blamed(trial, new, paths)
    expected = [name for name in after if name not in before]
    assert found == sorted(expected)
    if found:
        assert problem in {after[name] for name in expected}
    assert snapshot(trial.root) == state, "nothing is written"


def snapshot(root: Path) -> dict[str, bytes | None]:
    return {str(each): each.read_bytes() if each.is_file() else None for each in root.rglob("*")}


@pytest.mark.parametrize("package", ["click", "attr", "starlette", "httpx2"])
def test_planned_mutants_of_real_packages_import_as_written_ones_do(trial: Trial, tmp_path: Path, package: str) -> None:
    """Top-level definitions go, one at a time; every module of the package is imported."""
    shutil.rmtree(trial.root)
    copy_package(package, trial.root)
    paths = [str(each.relative_to(trial.root)) for each in trial.root.rglob("*.py") if each.name != "__main__.py"]
    before = written(trial, {}, paths, tmp_path / "before")
    for number, new in enumerate(mutants(trial.root, 2)):
        ordered = [*new, *(path for path in paths if path not in new)]
        after = written(trial, new, ordered, tmp_path / str(number))
        assert blamed(trial, new, ordered)[0] == sorted(after.keys() - before.keys()), new


def test_a_module_that_failed_under_another_file_is_not_blamed(trial: Trial) -> None:
    trial.write("app/a.py", "import not_installed\n")
    change: Files = {"app/a.py": None, "app/a/__init__.py": "import not_installed\n#\n"}
    assert codes(trial.check(change)) == ["import_failed_before"]
    with pytest.raises(TransactionError, match="ZeroDivisionError"):
        trial.check({"app/a.py": None, "app/a/__init__.py": "import not_installed\n", "app/b.py": "1/0\n"})


def test_a_failure_shows_planned_lines_and_the_planned_place(trial: Trial) -> None:
    trial.write("app/a.py", "old = 1\nolder = 2\n")
    with pytest.raises(TransactionError) as caught:
        trial.check({"app/a.py": "new = 1\n\n\ndef f():\n    return missing  # ä\n\n\nf()\n"})
    assert caught.value.details["traceback"].splitlines() == [
        "Traceback (most recent call last):",
        "  app.a:8, in <module>",
        "    f()",
        "  app.a:5, in f",
        "    return missing  # ä",
        "NameError: name 'missing' is not defined",
    ]


def test_messages_of_any_characters_come_through(trial: Trial) -> None:
    with pytest.raises(TransactionError) as caught:
        trial.check({"app/a.py": r"raise ValueError('quote \" slash \\ line \n null \0 ä 𝄞 \x7f')" + "\n"})
    assert caught.value.details["problem"] == 'ValueError: quote " slash \\ line \n null \0 ä 𝄞 \x7f'


def test_data_files_that_change_along_are_read_as_planned(trial: Trial) -> None:
    trial.write("app/words.json", "[1]")
    reading = "import json, pathlib\nWORDS = json.loads((pathlib.Path(__file__).parent / 'words.json').read_text())\n"
    trial.write("app/a.py", f"{reading}assert WORDS == [1]\n")
    new = {"app/a.py": f"{reading}assert WORDS == [2]\n"}
    assert trial.check({**new, "app/words.json": "[2]"}) == ()
    with pytest.raises(TransactionError):
        trial.check(new)


NAMES = ["json", "linecache", "probe", "failure"]


@pytest.mark.parametrize("name", NAMES)
def test_a_module_of_the_project_may_be_called_like_one_that_we_use(trial: Trial, name: str) -> None:
    trial.write(f"{name}.py", "x = 1\n")
    assert trial.check({f"{name}.py": "x = 2\n", "app/a.py": f"import {name}\nassert {name}.x == 2\n"}) == ()
    with pytest.raises(TransactionError, match=f"AssertionError, at {name}:1"):
        trial.check({f"{name}.py": "assert False\n"})


STALE = "import app.dep\nassert app.dep.y == {}\n"


def compiled(trial: Trial, *, source: float, compiled_at: float) -> Path:
    """Compile a module, and write another text of the same size with the same time of modification."""
    file = trial.write("app/dep.py", "y = 1\n")
    os.utime(file, (source, source))
    made = Path(py_compile.compile(str(file), doraise=True))
    os.utime(made, (compiled_at, compiled_at))
    return made


def test_a_compiled_file_is_taken_where_it_is_surely_of_its_source(trial: Trial) -> None:
    made = compiled(trial, source=time.time() - 100, compiled_at=time.time() + 5)
    content = made.read_bytes()
    made.write_bytes(content.replace(marshal.dumps(1), marshal.dumps(7)))
    os.utime(made, (time.time() + 5,) * 2)
    assert made.read_bytes() != content
    assert trial.check({"app/a.py": STALE.format(7)}) == ()


@pytest.mark.parametrize(("source", "at"), [(0, 0), (0, -1), (-100, 0)], ids=["same second", "earlier", "set back"])
def test_a_compiled_file_that_may_be_of_another_text_is_not_taken(trial: Trial, source: int, at: int) -> None:
    now = int(time.time()) + 0.5
    compiled(trial, source=now + source, compiled_at=now + at)
    file = trial.write("app/dep.py", "y = 2\n")
    os.utime(file, (now + source, now + source))
    listing = snapshot(trial.root)
    assert trial.check({"app/a.py": STALE.format(2)}) == ()
    assert snapshot(trial.root) == listing


def test_what_goes_is_not_served_from_a_compiled_file_beside_it(trial: Trial) -> None:
    file = trial.write("app/gone.py", "x = 1\n")
    py_compile.compile(str(file), cfile=str(file) + "c", doraise=True)
    trial.write("app/user.py", "import app.gone\n")
    with pytest.raises(TransactionError, match=r"No module named 'app\.gone'"):
        trial.check({"app/gone.py": None}, "app/user.py")


KINDS = """
import os, pathlib, shutil
class Mine:
    stat, listdir, open = os.stat, os.listdir, open
here = os.path.dirname(__file__)
assert 'new.py' in Mine().listdir(here)
assert Mine().open(here + '/new.py').read() == 'x = 1'
assert os.path.samestat(Mine().stat(here), os.stat(os.fsencode(here)))
descriptor = os.open(here, os.O_RDONLY)
assert os.stat in os.supports_dir_fd and os.stat('a.py', dir_fd=descriptor).st_size
assert os.listdir(descriptor) and list(os.scandir(descriptor)) and os.stat(descriptor)
os.chdir(here)
assert 'new.py' in os.listdir() and 'gone.py' not in os.listdir('.') and os.path.isfile('new.py')
assert not os.path.exists('gone.py') and not pathlib.Path('gone.py').exists()
assert pathlib.Path('new.py').stat().st_size == 5 and pathlib.Path('deep/er').is_dir()
with os.scandir() as entries:
    new = {each.name: each for each in entries}
assert new['new.py'].is_file() and not new['new.py'].is_symlink() and os.fspath(new['deep']) and new['deep'].is_dir()
for name in ('gone.py', 'deep/no.py', 'nowhere.py'):
    try:
        open(name)
    except FileNotFoundError as error:
        assert error.filename == name
    else:
        raise RuntimeError(name)
"""


def test_functions_of_the_system_keep_their_ways(trial: Trial) -> None:
    trial.write("app/a.py", "x = 1\n")
    trial.write("app/gone.py", "")
    assert trial.check({"app/a.py": KINDS, "app/new.py": "x = 1", "app/gone.py": None, "app/deep/er/x.py": ""}) == ()


def test_scripts_of_any_name_and_stubs_are_compiled_as_planned(trial: Trial) -> None:
    trial.unchecked = {"bin/tool", "app/__main__.py"}
    fine = {"bin/tool": "1/0\n", "app/__main__.py": "1/0\n", "app/a.pyi": "x: int\n"}
    assert codes(trial.check(fine)) == ["not_import_checked"]
    for path in fine:
        trial.write(path, "x = 1\n")
        with pytest.raises(TransactionError, match="SyntaxError: invalid syntax"):
            trial.check({path: "x = = 1\n"})


def test_what_python_imports_as_it_starts_is_imported_again(trial: Trial, tmp_path: Path) -> None:
    trial.write("app/a.py", "x = 1\n")
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(f"import sys\nsys.path.append({str(trial.root)!r})\nimport app.a\n")
    trial.environment["PYTHONPATH"] = str(site)
    assert trial.check({"app/a.py": "x = 2\n", "app/b.py": "import app.a\nassert app.a.x == 2\n"}) == ()
