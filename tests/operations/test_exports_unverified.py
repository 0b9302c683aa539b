"""What is said of exports that nobody imports, and that may run into a circle through what is called."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.operations.test_write import codes, picture, project

TOOLS = (
    "import sys\n\nimport app\n\n\n"
    "def reads():\n    return app.LATER\n\n\n"
    "def takes():\n    if app:\n        from . import LATER\n    return LATER\n\n\n"
    "def copes():\n    try:\n        from app import LATER\n"
    "    except ImportError:\n        LATER = 0\n    return LATER\n\n\n"
    "def early():\n    from app import EARLY\n    return EARLY\n\n\n"
    'def looks():\n    return sys.modules["app"].LATER\n\n\n'
    "def hunts(name):\n    return sys.modules[name].LATER\n\n\n"
    "def passes():\n    return takes()\n\n\n"
    "def wraps(function):\n    function.late = app.LATER\n    return function\n\n\n"
    "class Base:\n    def __init_subclass__(cls):\n        cls.late = app.LATER\n\n\n"
    "class Shelf:\n    def add(self, one):\n        return self._put(one)\n\n"
    "    def _put(self, one):\n        from app.late import MORE\n        return MORE\n\n\n"
    "class Box(Shelf):\n    pass\n\n\n"
    "SHELF = Box()\n"
)
APP = {
    "app/__init__.py": '"""App."""\n\nEARLY = 1\nfrom . import tools\nfrom .last import LAST\n\nLATER = 2\n',
    "app/last.py": "LAST = 1\n",
    "app/late.py": "from app import LATER as MORE\n",
    "app/tools.py": TOOLS,
    "app/again.py": "from .tools import passes as goes\n",
}
SAID: Mapping[str, tuple[str, str]] = {
    "a function of another module": ("from .tools import reads\n\nA = reads()\n", "app.tools.reads takes app.LATER"),
    "an import in an if": ("from .tools import takes\n\nA = takes()\n", "app.tools.takes takes app.LATER"),
    "a function that it calls": ("from . import tools\n\nA = tools.passes()\n", "app.tools.takes takes app.LATER"),
    "a name that is imported on": ("from .again import goes\n\nA = goes()\n", "app.tools.takes takes app.LATER"),
    "a decorator": ("from .tools import wraps\n\n\n@wraps\ndef A(): ...\n", "app.tools.wraps takes app.LATER"),
    "a method": ("from .tools import SHELF\n\nA = SHELF.add(1)\n", "app.late takes app.LATER"),
    "a class above": ("from .tools import Base\n\n\nclass A(Base): ...\n", "__init_subclass__ takes app.LATER"),
    "sys.modules": ("from .tools import looks\n\nA = looks()\n", "app.tools.looks takes app.LATER"),
    "whatever in sys.modules": ("from .tools import hunts\n\nA = hunts('app')\n", "hunts takes modules by sys.mod"),
    "what sys.modules gets": (
        "import sys\n\nfrom . import tools\n\nA = sys.modules.get('app').LATER\n",
        "app.anew takes modules by sys.modules",
    ),
    "its own if": ("import sys\n\nA = 1\nif sys.argv:\n    from . import LATER\n", "app.anew takes app.LATER"),
    "its own function": ("import app\n\n\ndef A():\n    return app.LATER\n\n\nB = A()\n", "app.anew.A takes app.LATER"),
}  # fmt: skip
SILENT: Mapping[str, str] = {
    "nothing of the package": "import json\n\nA = json.dumps({})\n",
    "a function that copes": "from .tools import copes\n\nA = copes()\n",
    "a name that is there": "from .tools import early\n\nA = early()\n",
    "a function that is not called": "from .tools import reads\n\n\ndef A():\n    return reads()\n",
    "for type checkers": "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from app import LATER\nA = 1\n",
    "a class that does nothing": "from .tools import Shelf\n\n\nclass A(Shelf):\n    pass\n",
    "itself in sys.modules": "import sys\n\nfrom . import tools\n\nA = sys.modules[__name__].__name__\n",
}


@pytest.mark.parametrize("about", SAID)
def test_what_may_close_a_circle_and_nobody_imports_is_said(tmp_path: Path, about: str) -> None:
    source, said = SAID[about]
    src = project(tmp_path, APP)
    before = picture(tmp_path)
    planned = src.write("app.anew", source, export=["A"], reload="off", dry_run=True)
    assert codes(planned) == ["export_not_verified"]
    assert picture(tmp_path) == before
    outcome = src.write("app.anew", source, export=["A"], reload="off")
    assert codes(outcome) == ["export_not_verified"]
    assert said in outcome.warnings[0].message
    assert "from .anew import A\n" in str(src.read("app.__init__", full=True))
    src.exports_remove("app.anew", reload="off")
    assert codes(src.exports_add("app.anew", ["A"], reload="off")) == ["export_not_verified"]


@pytest.mark.parametrize("about", SILENT)
def test_what_runs_into_nothing_is_not_talked_about(tmp_path: Path, about: str) -> None:
    src = project(tmp_path, APP)
    assert codes(src.write("app.anew", SILENT[about], export=["A"], reload="off")) == []


@pytest.mark.parametrize("about", [each for each in SAID if each not in ("whatever in sys.modules", "its own if")])
def test_where_it_is_imported_the_import_decides(tmp_path: Path, about: str) -> None:
    src = project(tmp_path, APP)
    outcome = src.write("app.anew", SAID[about][0], export=["A"])
    assert "export_not_verified" not in codes(outcome)
    init = src.read("app.__init__", full=True)
    assert "export_left_out" in codes(outcome) or init.index("anew") > init.index("last")


def test_several_changes_say_it_once(tmp_path: Path) -> None:
    src = project(tmp_path, APP)
    write = {"do": "write", "target": "app.anew", "source": SAID["a method"][0], "export": ["A"]}
    edit = {"do": "edit", "target": "app.last.LAST", "new_source": "LAST = 2\n"}
    assert codes(src.apply([write, edit], reload="off")) == ["export_not_verified"]
