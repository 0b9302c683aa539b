"""Imports followed through a project as the interpreter would, and what would come too early."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.project.circles import circle_told

_WRAP = "def LATER(f): return f\n"
_LOADS = "def f():\n    from p import LATER\n"
CASES: Mapping[str, tuple[dict[str, str], str, bool]] = {
    "a name that the package binds later": ({"p/n.py": "from p import LATER\n"}, "from .n import X\nLATER = 1\n", True),
    "a name that it has bound": ({"p/n.py": "from p import FIRST\n"}, "FIRST = 1\nfrom . import n\n", False),
    "relative": ({"p/n.py": "from . import LATER\n"}, "from . import n\nLATER = 1\n", True),
    "inside of a function": ({"p/n.py": "def f():\n    from p import LATER\n"}, "from . import n\nLATER = 1\n", False),
    "inside of a function that is called once the name is bound": (
        {"p/n.py": "def f():\n    from p import LATER\nf()\n"},
        "LATER = 1\nfrom . import n\nLATER = 2\n",
        False,
    ),
    **{
        f"inside of a function that {about}": ({"p/n.py": code}, "from . import n\nLATER = 1\n", False)
        for about, code in {
            "is called in a try": f"{_LOADS}try:\n    f()\nexcept ImportError:\n    pass\n",
            "is called in an if": f"{_LOADS}import sys\nif sys.argv == 1:\n    f()\n",
            "is called by a function": f"{_LOADS}def g():\n    f()\nh = lambda: f()\n",
            "is called in an expression that ends before": f"{_LOADS}x = False and f()\n",
            "ends before": "def f():\n    return 1\n    from p import LATER\nf()\n",
            "may end before": "def f(x=1):\n    if x:\n        return\n    from p import LATER\nf()\n",
            "copes": "def f():\n    try:\n        from p import LATER\n    except ImportError: ...\nf()\n",
            "only begins when it is gone through": "def f():\n    from p import LATER\n    yield LATER\nX = f()\n",
            "is async": f"async {_LOADS}f().close()\n",
            "a decorator hides": f"def no(f):\n    return lambda: 1\n@no\n{_LOADS}f()\n",
            "another one replaces": f"{_LOADS}f = lambda: 1\nf()\n",
            "an import replaces": f"{_LOADS}from os import getpid as f\nf()\n",
            "a class has another one for": f"{_LOADS}class A:\n    f = int\n    x = f()\n",
            "a method is called like": f"{_LOADS}class A:\n    def f(self): ...\nA().f()\n",
        }.items()
    },
    "for type checkers": (
        {"p/n.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p import LATER\n"},
        "from . import n\nLATER = 1\n",
        False,
    ),
    "in a try": (
        {"p/n.py": "try:\n    from p import LATER\nexcept ImportError:\n    pass\n"},
        "from . import n\nLATER = 1\n",
        False,
    ),
    "a submodule": ({"p/n.py": "from p import other\n", "p/other.py": ""}, "from . import n\nimport p.other\n", False),
    "through another module": (
        {"p/n.py": "from .mid import Y\n", "p/mid.py": "from p import LATER\nY = LATER\n"},
        "from . import n\nLATER = 1\n",
        True,
    ),
    "of another module that has begun": (
        {"p/n.py": "from q import Z\n", "q/__init__.py": "import p\nZ = 1\n"},
        "from . import n\n",
        True,
    ),
    "only the module itself": ({"p/n.py": "import p\n"}, "from . import n\nLATER = 1\n", False),
    "by a star": ({"p/n.py": "from p import *\n"}, "from . import n\nLATER = 1\n", False),
    "found when it is asked for": (
        {"p/n.py": "from p import LATER\n"},
        "def __getattr__(name):\n    return 1\nfrom . import n\nLATER = 1\n",
        False,
    ),
    "imported later": (
        {"p/n.py": "from p import path\n"},
        "from . import n\nfrom os import path\n",
        True,
    ),
    "an attribute that the package binds later": (
        {"p/n.py": "import p\nclass A:\n    base = p.LATER\n"},
        "from . import n\nLATER = 1\n",
        True,
    ),
    "a decorator of another name": (
        {"p/n.py": "import p as q\n@q.LATER\ndef f(): ...\n"},
        "from . import n\n" + _WRAP,
        True,
    ),
    "an attribute in a function": (
        {"p/n.py": "import p\ndef f():\n    p.LATER\n"},
        "from . import n\nLATER = 1\n",
        False,
    ),
    "an attribute of what the class calls so": (
        {"p/n.py": "import p\nclass A:\n    import os as p\n    base = p.path\n"},
        "from . import n\npath = 1\n",
        False,
    ),
    "a default that is a lambda": (
        {"p/n.py": "import p\nf = lambda: p.LATER\n"},
        "from . import n\nLATER = 1\n",
        False,
    ),
    "in a class": ({"p/n.py": "class A:\n    from p import LATER\n"}, "from . import n\nLATER = 1\n", True),
    "in a try that raises something else": (
        {"p/n.py": "try:\n    from p import LATER\nexcept ImportError as e:\n    raise RuntimeError from e\n"},
        "from . import n\nLATER = 1\n",
        True,
    ),
    "in a try further up": (
        {
            "p/n.py": "try:\n    from .mid import Y\nexcept ImportError:\n    pass\n",
            "p/mid.py": "from p import LATER as Y\n",
        },
        "from . import n\nLATER = 1\n",
        False,
    ),
    "where no type checker runs": (
        {"p/n.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    X = 1\nelse:\n    from p import LATER\n"},
        "from . import n\nLATER = 1\n",
        True,
    ),
    "bound by a star later": (
        {"p/n.py": "from p import LATER\n", "p/late.py": "LATER = 1\n"},
        "from . import n\nfrom .late import *\n",
        True,
    ),
    "bound by a name that does not stand there": (
        {"p/n.py": "from p import LATER\n"},
        'globals()["LATER"] = 1\nfrom . import n\nLATER = 1\n',
        False,
    ),
    "a module that is no attribute yet": (
        {"p/n.py": "from .mid import Y\nZ = 1\n", "p/mid.py": "import p.n\nY = p.n.Z\n"},
        "from . import n\n",
        True,
    ),
    "a module under another name": (
        {"p/n.py": "from .mid import Y\n", "p/mid.py": "import p.n as m\nY = m\n"},
        "from . import n\n",
        False,
    ),
    "what each module has": (
        {"p/n.py": "import p\nfrom p import __doc__, __path__\nX = p.__file__, p.__dict__\n"},
        "from . import n\n__doc__ = __file__ = __dict__ = ''\n__path__ = list(__path__)\n",
        False,
    ),
    "what a module does not have of itself": (
        {"p/n.py": "from p import __version__\n"},
        "from . import n\n__version__ = '1'\n",
        True,
    ),
    "set on the package": (
        {"p/n.py": "import p\np.LATER = 2\nfrom p import LATER\n"},
        "from . import n\nLATER = 1\n",
        False,
    ),
    "set by setattr": (
        {"p/n.py": "import p\nsetattr(p, 'LATER', 2)\nfrom p import LATER\n"},
        "from . import n\nLATER = 1\n",
        False,
    ),
    "set in its dict": (
        {"p/n.py": "import p\np.__dict__['LATER'] = 2\nfrom p import LATER\n"},
        "from . import n\nLATER = 1\n",
        False,
    ),
    "bound in a comprehension": (
        {"p/n.py": "from p import LATER\n"},
        "[LATER := 1 for _ in (1,)]\nfrom . import n\nLATER = 1\n",
        False,
    ),
    "bound by a function": (
        {"p/n.py": "from p import LATER\n"},
        "def f():\n    global LATER\n    LATER = 1\nf()\nfrom . import n\nLATER = 2\n",
        False,
    ),
    "bound in the globals by a function": (
        {"p/n.py": "from p import LATER\n"},
        "def f():\n    globals()['LATER'] = 1\nf()\nfrom . import n\nLATER = 2\n",
        False,
    ),
    "bound by a class as global": (
        {"p/n.py": "from p import LATER\n"},
        "class A:\n    global LATER\n    LATER = 1\nfrom . import n\nLATER = 2\n",
        False,
    ),
    "an object instead of the module": (
        {"p/n.py": "from p import LATER\n"},
        "import sys, types\nclass M(types.ModuleType):\n    LATER = 1\nsys.modules[__name__].__class__ = M\n"
        "from . import n\nLATER = 2\n",
        False,
    ),
    "a name for one of two modules": (
        {
            "p/n.py": "try:\n    import p.o as m\nexcept ImportError:\n    import p as m\nm.LATER\n",
            "p/o.py": "LATER = 1\n",
        },
        "from . import n\nLATER = 1\n",
        False,
    ),
    "a name that a star import gives another meaning": (
        {"p/n.py": "import p\nfrom p.o import *\np.LATER\n", "p/o.py": "class p:\n    LATER = 1\n"},
        "from . import n\nLATER = 1\n",
        False,
    ),
    "a name that a pattern binds in the class": (
        {"p/n.py": "import p\nclass A:\n    match 1:\n        case p: pass\n    x = p.real\n"},
        "from . import n\nreal = 1\n",
        False,
    ),
    "a name that a definition below an `if` binds in the class": (
        {"p/n.py": "import p\nclass A:\n    if p:\n        class p: LATER = 1\n    x = p.LATER\n"},
        "from . import n\nLATER = 1\n",
        False,
    ),
    "a name that the class may bind": (
        {"p/n.py": "import p\nclass A:\n    locals()['p'] = 1\n    x = p.real\n"},
        "from . import n\nreal = 1\n",
        False,
    ),
    "what an assert would say": ({"p/n.py": "import p\nassert p, p.LATER\n"}, "from . import n\nLATER = 1\n", False),
    "what is no longer compared": ({"p/n.py": "import p\n1 < 0 < p.LATER\n"}, "from . import n\nLATER = 1\n", False),
    "a manager below one that swallows": (
        {"p/n.py": "import contextlib as c, p\nwith c.suppress(AttributeError), p.LATER: pass\n"},
        "from . import n\nLATER = 1\n",
        False,
    ),
    "below a manager of optional imports": (
        {
            "p/n.py": "from p.o import try_import\nwith try_import():\n    from p import LATER\n",
            "p/o.py": "import contextlib\ndef try_import():\n    return contextlib.suppress(ImportError)\n",
        },
        "from . import n\nLATER = 1\n",
        False,
    ),
    "code that does not parse": ({"p/n.py": "from p import (\n"}, "from . import n\nLATER = 1\n", False),
}


@pytest.mark.parametrize("about", CASES)
def test_what_would_come_too_early_is_what_python_cannot_import(about: str, tmp_path: Path) -> None:
    files, init, early = CASES[about]
    before, after = {**files, "p/__init__.py": "LATER = FIRST = 1\n"}, {**files, "p/__init__.py": init}
    circle = circle_told(before, after)
    assert (circle is not None) is early
    if about != "code that does not parse":
        entries = {name.partition("/")[0] for name in files}
        assert all(_imports(after, entry, tmp_path) for entry in entries) is not early


def test_an_import_that_failed_before_is_not_reported() -> None:
    files = {"p/n.py": "from p import LATER\n", "p/__init__.py": "from . import n\nLATER = 1\n"}
    assert circle_told(files, {**files, "p/other.py": ""}) is None


def test_a_circle_is_reported_however_many_modules_stand_beside_it() -> None:
    many = {f"p/m{n}.py": "" for n in range(300)}
    imports = "".join(f"from . import m{n}\n" for n in range(300))
    files = {**many, "p/n.py": f"{imports}from .last import Y\n", "p/last.py": "from p import LATER as Y\n"}
    circle = circle_told({**files, "p/__init__.py": ""}, {**files, "p/__init__.py": "from . import n\nLATER = 1\n"})
    assert circle == "p.last imports LATER from p before p has bound it (p -> p.n -> p.last -> p)"


@pytest.mark.parametrize("name", ["_fast", "_built"])
def test_a_module_that_is_not_the_projects_may_be_what_is_bound_later(name: str) -> None:
    files = {"p/n.py": f"from p import {name}\n", "p/__init__.py": ""}
    assert circle_told(files, {**files, "p/__init__.py": f"from . import n\nfrom . import {name}\n"}) is None
    assert circle_told(files, {**files, "p/__init__.py": f"from . import n\nfrom .{name} import f as {name}\n"}) is None


def test_a_module_of_the_standard_librarys_name_is_not_looked_into() -> None:
    files = {"p/n.py": "import time\n", "time.py": "from p import LATER\n", "p/__init__.py": ""}
    assert circle_told(files, {**files, "p/__init__.py": "from . import n\nLATER = 1\n"}) is None


def test_a_long_circle_is_shown_in_short(tmp_path: Path) -> None:
    chain = {f"p/m{n}.py": f"from . import m{n + 1}\n" for n in range(40)}
    files = {**chain, "p/m40.py": "from p import LATER\n", "p/n.py": "from . import m0\n"}
    after = {**files, "p/__init__.py": "from . import n\nLATER = 1\n"}
    circle = circle_told({**files, "p/__init__.py": ""}, after)
    assert circle is not None
    assert "(p -> p.n -> p.m0 -> " in circle
    assert "… (31 more) … -> p.m40 -> p)" in circle
    assert not _imports(after, "p", tmp_path)


def test_a_package_that_is_imported_in_the_course_of_the_one_around_it_is_reported(tmp_path: Path) -> None:
    files = {
        "p/__init__.py": "from .other import f\n",
        "p/other.py": "from .sub import Y\nf = 1\n",
        "p/sub/n.py": "from ..other import f\n",
    }
    after = {**files, "p/sub/__init__.py": "Y = 1\nfrom . import n\n"}
    circle = circle_told({**files, "p/sub/__init__.py": "Y = 1\n"}, after, "p/sub/")
    assert circle is not None
    assert "p.other -> p.sub -> p.sub.n -> p.other" in circle
    assert not _imports(after, "p.sub.n", tmp_path)


def test_a_circle_that_only_another_way_in_runs_into_is_reported(tmp_path: Path) -> None:
    files = {
        "p/__init__.py": "",
        "p/b.py": "from p.sub import Z\nB = Z\n",
        "p/sub/n.py": "from p.b import B\n",
    }
    after = {**files, "p/sub/__init__.py": "Z = 1\nfrom . import n\n"}
    circle = circle_told({**files, "p/sub/__init__.py": "Z = 1\n"}, after, "p/sub/")
    assert circle == "p.sub.n imports B from p.b before p.b has bound it (p.b -> p.sub -> p.sub.n -> p.b)"
    assert _imports(after, "p.sub", tmp_path)
    assert not _imports(after, "p.b", tmp_path)


def test_a_module_that_only_works_behind_another_one_is_reported(tmp_path: Path) -> None:
    files = {"p/n.py": "from .m import Y\nX = 1\n", "p/m.py": "from .n import X\nY = X\n", "p/__init__.py": ""}
    circle = circle_told(files, {**files, "p/__init__.py": "from . import n\n"})
    assert circle == "p.m imports X from p.n before p.n has bound it (p.n -> p.m -> p.n)"
    works = {**files, "p/m.py": "Y = 1\nfrom . import n\n"}
    assert circle_told(works, {**works, "p/__init__.py": "from . import n\n"}) is None
    assert _imports({**works, "p/__init__.py": "from . import n\n"}, "p", tmp_path)


def test_more_of_a_module_that_is_imported_already_makes_no_circle() -> None:
    files = {"p/n.py": "from p import LATER\nX = Y = 1\n"}
    before = {**files, "p/__init__.py": "LATER = 1\nfrom .n import X\n"}
    assert circle_told(before, {**files, "p/__init__.py": "LATER = 1\nfrom .n import X, Y\n"}) is None


def test_the_message_has_the_way_there() -> None:
    files = {"p/n.py": "from .mid import Y\n", "p/mid.py": "from p import LATER\nY = LATER\n"}
    circle = circle_told({**files, "p/__init__.py": ""}, {**files, "p/__init__.py": "from . import n\nLATER = 1\n"})
    assert circle == "p.mid imports LATER from p before p has bound it (p -> p.n -> p.mid -> p)"


def _imports(files: Mapping[str, str], entry: str, root: Path) -> bool:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return subprocess.run([sys.executable, "-ISc", _ENTER, str(root), entry], capture_output=True).returncode == 0


_ENTER = "import sys, importlib; sys.path.insert(0, sys.argv[1]); importlib.import_module(sys.argv[2])"
