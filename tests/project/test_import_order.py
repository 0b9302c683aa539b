"""Imports followed through a project as the interpreter would, and what would come too early."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from bae_source.project.import_order import circle
from bae_source.project.layout import Layout
from bae_source.project.memory import Memory
from bae_source.project.workspace import Workspace

CASES: Mapping[str, tuple[dict[str, str], str, bool]] = {
    "a name that the package binds later": ({"p/n.py": "from p import LATER\n"}, "from .n import X\nLATER = 1\n", True),
    "a name that it has bound": ({"p/n.py": "from p import FIRST\n"}, "FIRST = 1\nfrom . import n\n", False),
    "relative": ({"p/n.py": "from . import LATER\n"}, "from . import n\nLATER = 1\n", True),
    "inside of a function": ({"p/n.py": "def f():\n    from p import LATER\n"}, "from . import n\nLATER = 1\n", False),
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
    "code that does not parse": ({"p/n.py": "from p import (\n"}, "from . import n\nLATER = 1\n", False),
}


@pytest.mark.parametrize("about", CASES)
def test_what_would_come_too_early_is_what_python_cannot_import(about: str, tmp_path: Path) -> None:
    files, init, early = CASES[about]
    before, after = {**files, "p/__init__.py": "LATER = FIRST = 1\n"}, {**files, "p/__init__.py": init}
    told = _told(before, after)
    assert (told is not None) is early
    if about != "code that does not parse":
        entries = {name.partition("/")[0] for name in files}
        assert all(_imports(after, entry, tmp_path) for entry in entries) is not early


def test_what_failed_before_is_not_told() -> None:
    files = {"p/n.py": "from p import LATER\n", "p/__init__.py": "from . import n\nLATER = 1\n"}
    assert _told(files, {**files, "p/other.py": ""}) is None


def test_a_chain_that_is_too_long_to_follow_is_not_told() -> None:
    chain = {f"p/m{n}.py": f"from . import m{n + 1}\n" for n in range(400)}
    files = {**chain, "p/m400.py": "from p import LATER\n", "p/n.py": "from . import m0\n"}
    assert _told({**files, "p/__init__.py": ""}, {**files, "p/__init__.py": "from . import n\nLATER = 1\n"}) is None


def test_the_way_there_is_told() -> None:
    files = {"p/n.py": "from .mid import Y\n", "p/mid.py": "from p import LATER\nY = LATER\n"}
    told = _told({**files, "p/__init__.py": ""}, {**files, "p/__init__.py": "from . import n\nLATER = 1\n"})
    assert told == "p.mid imports LATER from p before p has bound it (p -> p.n -> p.mid -> p)"


def _told(before: dict[str, str], after: dict[str, str]) -> str | None:
    old, new = _space(before), _space(after)
    package, module = new.layout.module_at("p/__init__.py"), new.layout.module_at("p/n.py")
    assert package is not None
    assert module is not None
    return circle(old, new, package, module)


def _space(files: Mapping[str, str]) -> Workspace:
    memory = Memory({name: text.encode() for name, text in files.items()})
    return Workspace(memory, layout=Layout(memory, [""]))


def _imports(files: Mapping[str, str], entry: str, root: Path) -> bool:
    for name, text in files.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    return subprocess.run([sys.executable, "-ISc", _ENTER, str(root), entry], capture_output=True).returncode == 0


_ENTER = "import sys, importlib; sys.path.insert(0, sys.argv[1]); importlib.import_module(sys.argv[2])"
