"""`verify=["import"]` refuses a change exactly if some module of the project imports before it and not after it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import TransactionError
from bae_source.model.outcome import Outcome
from tests.mutants import copy_package, mutants
from tests.operations.trees import laid, picture

pytestmark = pytest.mark.sampled

Files = Mapping[str, str]
PROJECT = {"pyproject.toml": '[project]\nname = "x"\nversion = "0"\n', "m/__init__.py": ""}
A = "def f():\n    return 1\n\n\ndef g():\n    return 2\n"
CLASS = """class C:
    x = 1

    def f(self):
        return 1

    @classmethod
    def made(cls):
        return 2
"""
ROUTES = """class App:
    def __init__(self):
        self.x = 1

    def route(self, f):
        return f
"""


def deleted(name: str) -> Callable[[Source], Outcome]:
    return lambda source: source.delete(name, force=True, verify=["import"])


def edited(name: str, old: str, new: str) -> Callable[[Source], Outcome]:
    return lambda source: source.edit(name, old=old, new=new, verify=["import"])


WITHOUT_F = deleted("m.a.f")
CASES: dict[str, tuple[Files, Callable[[Source], Outcome]]] = {
    "a function imported by name": ({"m/a.py": A, "u.py": "from m.a import f\n"}, WITHOUT_F),
    "one of several names in brackets": (
        {"m/a.py": A, "u.py": "from m.a import (\n    g,\n    f as h,\n)\n"},
        WITHOUT_F,
    ),
    "a function that is used as it runs": ({"m/a.py": A, "u.py": "import m.a\ndef h(): return m.a.f()\n"}, WITHOUT_F),
    "an import in a function": ({"m/a.py": A, "u.py": "def h():\n    from m.a import f\n"}, WITHOUT_F),
    "an import for types alone": (
        {"m/a.py": A, "u.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from m.a import f\n"},
        WITHOUT_F,
    ),
    "an attribute of a module": ({"m/a.py": A, "u.py": "import m.a\nm.a.f()\n"}, WITHOUT_F),
    "an attribute of a module by another name": ({"m/a.py": A, "u.py": "import m.a as n\nX = n.f\n"}, WITHOUT_F),
    "an attribute of a module that a package gives": ({"m/a.py": A, "u.py": "from m import a\nX = a.f\n"}, WITHOUT_F),
    "an attribute in a default": ({"m/a.py": A, "u.py": "from m import a\ndef h(x=a.f): pass\n"}, WITHOUT_F),
    "an attribute that decorates": ({"m/a.py": A, "u.py": "from m import a\n@a.f\ndef h(): pass\n"}, WITHOUT_F),
    "an attribute through two packages": (
        {"m/a.py": A, "n/__init__.py": "import m.a\n", "u.py": "import n\nn.m.a.f()\n"},
        WITHOUT_F,
    ),
    "an attribute that is guarded": (
        {"m/a.py": A, "u.py": "import m.a\ntry:\n    m.a.f\nexcept AttributeError:\n    pass\n"},
        WITHOUT_F,
    ),
    "a guarded import": (
        {"m/a.py": A, "u.py": "try:\n    from m.a import f\nexcept ImportError:\n    f = None\n"},
        WITHOUT_F,
    ),
    "a guard that catches another error": (
        {"m/a.py": A, "u.py": "try:\n    from m.a import f\nexcept KeyError:\n    f = None\n"},
        WITHOUT_F,
    ),
    "a star, and a use": ({"m/a.py": A, "u.py": "from m.a import *\nf()\n"}, WITHOUT_F),
    "a star, and a use as it runs": ({"m/a.py": A, "u.py": "from m.a import *\ndef h(): return f()\n"}, WITHOUT_F),
    "a star that takes a name which is listed": (
        {"m/a.py": "__all__ = ['f', 'g']\n" + A, "u.py": "from m.a import *\n"},
        WITHOUT_F,
    ),
    "a star of a package that lists it": (
        {"m/a.py": A, "n/__init__.py": "from m.a import *\n__all__ = ['f']\n", "u.py": "from n import *\n"},
        WITHOUT_F,
    ),
    "a star through a package": (
        {"m/a.py": A, "m/__init__.py": "from .a import *\n", "u.py": "from m import f\n"},
        WITHOUT_F,
    ),
    "stars through two packages": (
        {
            "m/a.py": A,
            "m/__init__.py": "from .a import *\n",
            "n/__init__.py": "from m import *\n",
            "u.py": "import n\nn.f()\n",
        },
        WITHOUT_F,
    ),
    "a chain of re-exports": (
        {
            "m/a.py": A,
            "m/__init__.py": "from .a import f\n",
            "n/__init__.py": "from m import f\n",
            "u.py": "from n import f\n",
        },
        WITHOUT_F,
    ),
    "a guarded re-export, and its importer": (
        {
            "m/a.py": A,
            "n/__init__.py": "try:\n    from m.a import f\nexcept ImportError:\n    pass\n",
            "u.py": "from n import f\n",
        },
        WITHOUT_F,
    ),
    "a guarded re-export, and an attribute": (
        {
            "m/a.py": A,
            "n/__init__.py": "try:\n    from m.a import f\nexcept ImportError:\n    pass\n",
            "u.py": "import n\nn.f()\n",
        },
        WITHOUT_F,
    ),
    "a re-export that goes": (
        {"m/a.py": A, "m/__init__.py": "from .a import f\n", "n.py": "from m import f\n"},
        edited("m", "from .a import f\n", ""),
    ),
    "a submodule that was only imported by the package": (
        {"m/a.py": A, "m/__init__.py": "from .a import f\n", "u.py": "import m\nm.a.g()\n"},
        edited("m", "from .a import f\n", ""),
    ),
    "a submodule that only another module imported": (
        {"m/a.py": A, "m/b.py": "import m.a\n", "u.py": "import m.b\nm.a.g()\n"},
        edited("m.b", "import m.a\n", ""),
    ),
    "a renamed class that is a base": (
        {"m/a.py": CLASS, "u.py": "from m import a\nclass D(a.C): pass\n"},
        edited("m.a", "class C", "class B"),
    ),
    "a renamed class, and a package that gives it": (
        {"m/a.py": CLASS, "m/__init__.py": "from m.a import C\n", "u.py": "import m\nclass D(m.C): pass\n"},
        edited("m.a", "class C", "class B"),
    ),
    "a renamed class that an annotation names": (
        {"m/a.py": CLASS, "u.py": "from m import a\ndef h(x: a.C): pass\n"},
        edited("m.a", "class C", "class B"),
    ),
    "a renamed class in an annotation that is not evaluated": (
        {"m/a.py": CLASS, "u.py": "from __future__ import annotations\nfrom m import a\ndef h(x: a.C): pass\n"},
        edited("m.a", "class C", "class B"),
    ),
    "an attribute of a class": ({"m/a.py": CLASS, "u.py": "from m.a import C\nY = C.x\n"}, deleted("m.a.C.x")),
    "a class method": ({"m/a.py": CLASS, "u.py": "from m.a import C\nY = C.made()\n"}, deleted("m.a.C.made")),
    "an attribute that a subclass takes": (
        {"m/a.py": CLASS, "u.py": "from m.a import C\nclass D(C):\n    pass\nY = D.x\n"},
        deleted("m.a.C.x"),
    ),
    "a method of an object": ({"m/a.py": CLASS, "u.py": "from m.a import C\nC().f()\n"}, deleted("m.a.C.f")),
    "a method of an object of another module": (
        {"m/a.py": CLASS, "n.py": "from m.a import C\nc = C()\n", "u.py": "from n import c\nY = c.f()\n"},
        deleted("m.a.C.f"),
    ),
    "a method of what a function returns": (
        {"m/a.py": CLASS, "n.py": "from m.a import C\ndef new(): return C()\n", "u.py": "import n\nY = n.new().f()\n"},
        deleted("m.a.C.f"),
    ),
    "a method that decorates": (
        {
            "m/a.py": ROUTES,
            "n.py": "from m.a import App\napp = App()\n",
            "u.py": "from n import app\n\n@app.route\ndef h(): pass\n",
        },
        deleted("m.a.App.route"),
    ),
    "a method with a common name of something unknown": (
        {"m/a.py": CLASS, "n.py": "import m.a\nfound = [m.a.C()]\n", "u.py": "from n import found\nfound[0].f()\n"},
        deleted("m.a.C.f"),
    ),
    "an enum's member": (
        {"m/a.py": "import enum\nclass E(enum.Enum):\n    A = 1\n    B = 2\n", "u.py": "from m.a import E\nX = E.A\n"},
        deleted("m.a.E.A"),
    ),
    "a constant": ({"m/a.py": "X = 1\nY = 2\n", "u.py": "import m.a\ndef h(x=m.a.X): pass\n"}, deleted("m.a.X")),
    "one branch of a condition": (
        {"m/a.py": "import sys\nif sys:\n    f = 1\nelse:\n    f = 2\n", "u.py": "from m.a import f\n"},
        edited("m.a", "    f = 1\n", "    pass\n"),
    ),
    "a removed submodule": ({"m/a.py": A, "u.py": "import m.a\n"}, deleted("m.a")),
    "a removed submodule that a package gives": ({"m/a.py": A, "u.py": "from m import a\n"}, deleted("m.a")),
    "a removed submodule, relatively": ({"m/a.py": A, "m/u.py": "from . import a\n"}, deleted("m.a")),
    "a removed submodule's name": ({"m/a.py": A, "m/u.py": "from .a import f\n"}, deleted("m.a")),
    "a removed submodule, guarded": (
        {"m/a.py": A, "u.py": "try:\n    import m.a\nexcept ImportError:\n    pass\n"},
        deleted("m.a"),
    ),
    "a removed submodule as an attribute": (
        {
            "m/a.py": A,
            "m/__init__.py": "try:\n    from . import a\nexcept ImportError:\n    pass\n",
            "u.py": "import m\nm.a\n",
        },
        deleted("m.a"),
    ),
    "a removed submodule through a guard": (
        {
            "m/a.py": A,
            "m/__init__.py": "try:\n    from .a import f\nexcept ImportError:\n    pass\n",
            "u.py": "from m import f\n",
        },
        deleted("m.a"),
    ),
    "a removed submodule in a list": (
        {"m/a.py": A, "m/__init__.py": "__all__ = ['a']\n", "u.py": "from m import *\n"},
        deleted("m.a"),
    ),
    "a removed module that is imported by its name": (
        {"m/a.py": A, "u.py": "import importlib\nimportlib.import_module('m.a')\n"},
        deleted("m.a"),
    ),
    "a name that __getattr__ still serves": (
        {"m/a.py": "def __getattr__(name):\n    return 1\n\n\n" + A, "u.py": "from m.a import f\n"},
        WITHOUT_F,
    ),
    "a name that __getattr__ does not serve": (
        {
            "m/a.py": "def __getattr__(name):\n    raise AttributeError(name)\n\n\n" + A,
            "u.py": "from m.a import f\n",
        },
        WITHOUT_F,
    ),
    "a __getattr__ that goes": (
        {"m/a.py": "def __getattr__(name):\n    return 1\n", "u.py": "from m.a import f\n"},
        deleted("m.a.__getattr__"),
    ),
    "a name that goes from __all__": (
        {"m/a.py": "__all__ = ['f', 'g']\n\n\n" + A, "u.py": "from m.a import *\nf()\n"},
        edited("m.a", "['f', 'g']", "['g']"),
    ),
    "a name that goes from __all__, and nobody uses": (
        {"m/a.py": "__all__ = ['f', 'g']\n\n\n" + A, "u.py": "from m.a import *\ng()\n"},
        edited("m.a", "['f', 'g']", "['g']"),
    ),
    "a name that goes from __all__ of a package": (
        {
            "m/a.py": "__all__ = ['f', 'g']\n\n\n" + A,
            "m/__init__.py": "from .a import *\n",
            "u.py": "from m import f\n",
        },
        edited("m.a", "['f', 'g']", "['g']"),
    ),
    "an __all__ that comes": (
        {"m/a.py": A, "m/__init__.py": "from .a import *\n", "u.py": "from m import f\n"},
        edited("m.a", "def f", "__all__ = ['g']\n\n\ndef f"),
    ),
    "a name that becomes listed and is not there": (
        {"m/a.py": "__all__ = ['f']\n\n\n" + A, "u.py": "from m.a import *\n"},
        edited("m.a", "['f']", "['f', 'nothing']"),
    ),
    "an importer that fails without the change": ({"m/a.py": A, "u.py": "from m.a import f\n1 / 0\n"}, WITHOUT_F),
    "an importer that fails elsewhere without the change": (
        {"m/a.py": A, "u.py": "1 / 0\nfrom m.a import f\n"},
        WITHOUT_F,
    ),
    "an importer of a failing one": (
        {"m/a.py": A, "u.py": "from m.a import f\n1 / 0\n", "v.py": "from u import f\n"},
        WITHOUT_F,
    ),
}

IMPORT = """
import importlib, sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
try:
    importlib.import_module(sys.argv[2])
except BaseException:
    sys.exit(1)
"""


def failing(root: Path) -> set[str]:
    """Return the modules that do not import, each tried in a Python of its own."""
    names = [str(each.relative_to(root)).removesuffix(".py").replace("/", ".") for each in root.rglob("*.py")]
    started = {
        name: subprocess.Popen([sys.executable, "-P", "-c", IMPORT, str(root), name.removesuffix(".__init__")])
        for name in names
    }
    return {name for name, process in started.items() if process.wait(timeout=60)}


@pytest.mark.parametrize(("files", "change"), CASES.values(), ids=CASES)
def test_a_change_is_refused_if_a_module_fails_by_it(
    tmp_path: Path, files: Files, change: Callable[[Source], Outcome]
) -> None:
    project, made = tmp_path / "project", tmp_path / "made"
    laid(project, {**PROJECT, **files})
    shutil.copytree(project, made)
    before, failed = picture(project), failing(project)
    make(Source(made), change)
    broken = failing(made) - failed
    if not broken:
        assert change(Source(project)).operation_id
        return
    with pytest.raises(TransactionError) as caught:
        change(Source(project))
    assert caught.value.code == "reload_failed"
    assert {caught.value.details["module"], *caught.value.details["also"]} <= {
        name.removesuffix(".__init__") for name in broken
    }
    assert picture(project) == before


@pytest.mark.parametrize("package", ["click", "attr"])
def test_mutants_of_real_packages_are_refused_if_a_module_fails_by_them(tmp_path: Path, package: str) -> None:
    """Definitions go by a `write` of their module; its importers are searched for."""
    source = laid(tmp_path, {"pyproject.toml": PROJECT["pyproject.toml"]})
    copy_package(package, tmp_path)
    failed = failing(tmp_path)
    for [(path, new)] in [list(each.items()) for each in mutants(tmp_path, 2)]:
        file, name = tmp_path / path, path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        old = file.read_text()
        file.write_text(new)
        broken = failing(tmp_path) - failed
        file.write_text(old)
        if broken:
            with pytest.raises(TransactionError):
                source.write(name, new, overwrite=True, verify=["import"])
        else:
            assert source.write(name, new, overwrite=True, verify=["import"]).operation_id, path
            source.undo(reload="off")
        assert file.read_text() == old


def make(source: Source, change: Callable[[Source], Outcome]) -> None:
    """Make a change without any judge."""
    with source.transaction(reload="off") as tx:
        change(_Unjudged(tx))  # type: ignore[arg-type]


class _Unjudged:
    """What makes changes, and lets nothing be verified."""

    def __init__(self, tx: object) -> None:
        self._tx = tx

    def __getattr__(self, verb: str) -> Callable[..., object]:
        def call(*args: object, verify: object = None, **options: object) -> object:
            return getattr(self._tx, verb)(*args, **options)

        return call
