"""An attribute of an unknown receiver is one of a module only if code hands such a module on as a value."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.queries.support import laid

CORE = "def send():\n    return 1\n"
USE = "import app.core\n\n\ndef use(x):\n    app.core.send()\n    return x.send()\n"


def lines(folder: Path, files: dict[str, str], target: str = "app.core.send") -> dict[int, str]:
    source = laid(folder, {"app/__init__.py": "", "app/core.py": CORE, "app/use.py": USE, **files})
    found = source.references(target).outcome.found
    return {each.line: each.certainty for each in found if each.module == "app.use"}


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"app/other.py": "from app import core\n\nprint(core.send)\n"},
        {"app/other.py": "from app import core as c\n\nhasattr(c, 'send')\n"},
        {"app/other.py": "def f(core):\n    g(core)\n\n\ndef g(x): ...\n"},
        {"app/other.py": "import importlib\n\n\ndef f():\n    importlib.import_module('a')\n    return 1\n\n\nf()\n"},
        {"app/other.py": "import sys\n\nprint(sys.modules['json'])\n"},
    ],
    ids=["nothing", "attribute", "hasattr", "another", "a dynamic import elsewhere", "sys.modules"],
)
def test_a_receiver_is_no_module_that_is_never_handed_on(tmp_path: Path, files: dict[str, str]) -> None:
    assert lines(tmp_path, files) == {5: "sure"}


@pytest.mark.parametrize(
    "files",
    [
        {"app/other.py": "from app import core\nfrom app.use import use\n\nuse(core)\n"},
        {"app/other.py": "from app import core as c\nfrom app.use import use\n\nuse(c)\n"},
        {"app/other.py": "import app.core\nfrom app.use import use\n\nuse(app)\n"},
        {"app/other.py": "from app import core\n\nchosen = core\n"},
        {"app/other.py": "from app import core\n\nchosen = (core\n  .send)\n"},
        {"app/other.py": "from app import core\n\n\ndef get():\n    return core\n"},
        {"app/a.py": "from app import core as c\n", "app/b.py": "from app.a import c\n\nMODULES = [c]\n"},
        {"app/a.py": "from app.core import send\n", "app/b.py": "from app import a\n\nMODULES = [a]\n"},
        {"app/a.py": "from app.core import *\n", "app/b.py": "from app import a\n\nMODULES = [a]\n"},
        {"app/a.py": "class A:\n    from app.core import send\n"},
        {"app/a.py": "from app import core\n\nuse(core\n"},
        {"app/use.py": USE.replace("import app", "import sys\nimport app", 1).replace("x):", "x=sys.modules['y']):")},
        {"app/use.py": USE.replace("app.core.send()", "x = __import__(x)")},
        {
            "app/a.py": "from importlib import import_module\n\n\ndef load(n):\n    return import_module(n)\n",
            "app/use.py": USE.replace("app.core.send()", "x = load(x)").replace(
                "core\n", "core\nfrom app.a import load\n", 1
            ),
        },
    ],
    ids=[
        "argument",
        "argument by another name",
        "its package",
        "assigned",
        "over several lines",
        "returned",
        "through another module",
        "a module that imports it",
        "a module with a star",
        "imported in a class",
        "in a file that does not parse",
        "sys.modules",
        "__import__",
        "a function that imports",
    ],
)
def test_a_receiver_may_be_a_module_that_is_handed_on(tmp_path: Path, files: dict[str, str]) -> None:
    assert "unsure" in lines(tmp_path, files).values()


def test_a_module_is_renamed_though_attributes_of_unknown_things_have_its_name(tmp_path: Path) -> None:
    files = {
        "app/__init__.py": "",
        "app/config.py": "X = 1\n",
        "app/use.py": "import app.config\n\n\ndef f(x):\n    return x.config\n",
    }
    source = laid(tmp_path, files)
    source.rename("app.config", "settings")
    assert (tmp_path / "app/use.py").read_text() == files["app/use.py"].replace(
        "import app.config", "import app.settings"
    )
