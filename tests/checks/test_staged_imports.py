"""Imports of the project's own modules and names: which find nothing, and of which that cannot be told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checks.staging import findings, git, staged, write

CLIENT = {"app/__init__.py": "", "app/client.py": "def send():\n    pass\n"}


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("from app.client import sned", "NAME_NOT_FOUND app.client has no sned."),
        ("from app import clinet", "NAME_NOT_FOUND app has no clinet."),
        ("from .client import sned", "NAME_NOT_FOUND .client has no sned."),
        ("from . import clinet", "NAME_NOT_FOUND . has no clinet."),
        ("from app.clinet import send", "MODULE_NOT_FOUND There is no app.clinet."),
        ("import app.clinet", "MODULE_NOT_FOUND There is no app.clinet."),
        ("import app.client.send", "MODULE_NOT_FOUND There is no app.client.send."),
        ("from .clinet import send", "MODULE_NOT_FOUND There is no .clinet."),
        ("def f():\n    from app.client import sned", "NAME_NOT_FOUND app.client has no sned."),
        ("from app.clinet import *", "MODULE_NOT_FOUND There is no app.clinet."),
        ("from space.inner import clinet", "NAME_NOT_FOUND space.inner has no clinet."),
    ],
)
def test_an_import_that_finds_nothing_is_found(tmp_path: Path, statement: str, found: str) -> None:
    root = staged(tmp_path, {**CLIENT, "app/core.py": f"import os\n{statement}\n", "space/inner/__init__.py": ""})
    line = 3 if statement.startswith("def") else 2
    assert findings(root, "app/core.py") == [f"app.core:{line}: {found}"]


IN_ORDER = {
    "a name": "from app.client import send",
    "a module": "from app import client",
    "what a module always has": "from app.client import __name__, __doc__",
    "everything": "from app.client import *",
    "another distribution": "from elsewhere.clinet import send",
    "the standard library": "from json.nothing import nothing",
    "an import that may fail": "try:\n    from app.clinet import x\nexcept ImportError:\n    from app.other import x",
    "a suppressed failure": "from contextlib import suppress\nwith suppress(ImportError):\n    import app.clinet",
    "a failure that a test wants": "import pytest\nwith pytest.raises(ImportError):\n    import app.clinet",
    "code that never runs": "if False:\n    import app.clinet",
    "what pytest passes over": "import pytest\npytest.importorskip('app.clinet')\nfrom app.clinet import x",
    "code of a build": "from app.schema_pb2 import Message",
    "a way out of the project": "from ....clinet import send",
}


@pytest.mark.parametrize("statement", IN_ORDER.values(), ids=IN_ORDER)
def test_an_import_that_succeeds_or_may_fail_is_no_finding(tmp_path: Path, statement: str) -> None:
    assert findings(staged(tmp_path, {**CLIENT, "app/core.py": f"{statement}\n"}), "app/core.py") == []


BOUND = {
    "a loop": "for x in ():\n    pass",
    "with": "with open('f') as x:\n    pass",
    "an assignment in an expression": "if (x := 1):\n    pass",
    "one of several": "a, (x, *b) = f()",
    "a condition": "if a:\n    pass\nelse:\n    def x(): pass",
    "an exception's name": "try:\n    f()\nexcept E as x:\n    pass",
    "a function": "def f():\n    global x\n    x = 1",
    "an import": "from elsewhere import x",
    "a star import": "from app.client import *",
    "a star import from elsewhere": "from elsewhere import *",
    "a star import of what is computed": "from app.computed import *",
    "__getattr__": "def __getattr__(name): ...",
    "globals": "globals().update(f())",
    "vars": "vars().update(f())",
    "the globals of a frame": "install(sys._getframe().f_globals)",
    "the module itself": "import sys\nsys.modules[__name__] = f()",
    "setattr": "setattr(f(), 'x', 1)",
    "code that is made": "exec(f())",
    "newer syntax": "type X[T: (int, str) = int] = list[T]\nx = t'{X}'",
    "what does not parse": "x = = 1",
}


@pytest.mark.parametrize("text", BOUND.values(), ids=BOUND)
def test_a_name_that_a_module_may_have_is_no_finding(tmp_path: Path, text: str) -> None:
    more = {
        "app/client.py": "x = 1\n",
        "app/computed.py": "__all__ = f()\nx = 1\n",
        "app/home.py": f"{text}\n",
        "app/core.py": "from app.home import x\n",
    }
    assert findings(staged(tmp_path, CLIENT | more), "app/core.py") == []


def test_a_star_import_lets_out_only_what_it_says(tmp_path: Path) -> None:
    more = {
        "app/client.py": "__all__ = ['b']\na = b = 1\n",
        "app/home.py": "from app.client import *\n",
        "app/core.py": "from app.home import a\nfrom app.home import b\n",
    }
    assert findings(staged(tmp_path, CLIENT | more), "app/core.py") == [
        "app.core:1: NAME_NOT_FOUND app.home has no a.",
    ]


def test_the_names_of_a_computed_all_are_unknown(tmp_path: Path) -> None:
    more = {
        "app/computed.py": "__all__ = f()\n_a = 1\n",
        "app/client.py": "_b = 1\n",
        "app/home.py": "from app.computed import *\n",
        "app/hall.py": "from app.client import *\n",
        "app/core.py": "from app.home import _a\nfrom app.hall import _b\n",
    }
    assert findings(staged(tmp_path, CLIENT | more), "app/core.py") == [
        "app.core:2: NAME_NOT_FOUND app.hall has no _b."
    ]


def test_names_that_code_adds_to_an_all_are_unknown(tmp_path: Path) -> None:
    more = {
        "app/filled.py": "__all__ = []\ndef public(f):\n    __all__.append(f.__name__)\n@public\ndef a(): ...\n",
        "app/home.py": "from app.filled import *\n",
        "app/core.py": "from app.home import a\n",
    }
    assert findings(staged(tmp_path, CLIENT | more), "app/core.py") == []


def test_star_imports_in_a_circle_come_to_an_end(tmp_path: Path) -> None:
    more = {
        "app/one.py": "from app.two import *\n",
        "app/two.py": "from app.one import *\n",
        "app/core.py": "from app.one import a\n",
    }
    assert findings(staged(tmp_path, CLIENT | more), "app/core.py") == ["app.core:1: NAME_NOT_FOUND app.one has no a."]


@pytest.mark.parametrize(
    ("statement", "more"),
    [
        ("from app.db import x", {"app/__init__.py": "__path__ = f()\n"}),
        ("from app.db import x", {"app/__init__.py": "import sys\nsys.modules['app.db'] = f()\n"}),
        ("import app.client.db", {"app/client.py": "import sys\nsys.meta_path.append(f())\n"}),
        ("from app.db import x", {"app/db.pyx": ""}),
        ("from app.db import x", {"app/db.cpython-311-x86_64-linux-gnu.so": b"\x7fELF"}),
        ("from app.db import x", {"app/db.pyi": "x: int\n"}),
        ("from app.db import x", {"setup.py": "setup(ext_modules=[Extension('app.db', [])])\n"}),
        ("from app.db import x", {"examples/app/db.py": ""}),
        ("from app.client import x", {"examples/app/client.py": "x = 1\n"}),
        ("from app.client import x", {"app/client.so": b"\x7fELF"}),
        ("from app.client import x", {"conftest.py": "import app.client as c\nc.x = 1\n"}),
        ("from app.client import x", {"conftest.py": "import app\nsetattr(app.client, 'x', 1)\n"}),
        ("from app import templates", {"app/templates/a.html": ""}),
        ("from space.db import x", {"space/own.py": ""}),
        ("from space import db", {"space/own.py": ""}),
        ("from app.space.db import x", {"app/space/own.py": ""}),
    ],
)
def test_what_may_be_made_or_lie_elsewhere_is_no_finding(
    tmp_path: Path, statement: str, more: dict[str, str | bytes]
) -> None:
    assert findings(staged(tmp_path, {**CLIENT, "app/core.py": f"{statement}\n", **more}), "app/core.py") == []


SETTING = {
    "the first of several targets": "state.x, state.y = 1, 2",
    "a target in parentheses": "(state.x) = 3",
    "the target of a loop": "for state.x in f():\n    pass",
    "what with opens": "with open('f') as state.x:\n    pass",
    "setattr over several lines": "setattr(\n    state, 'x', 3\n)",
    "setattr with a name that is not there": "for name in f():\n    setattr(state, name, 1)",
    "setattr in pieces": "partial(setattr, state)(f(), 1)",
    "the module's own method": "state.__setattr__(name, 1)",
    "the method of its type": "object.__setattr__(state, name, 1)",
    "its dict": "state.__dict__['x'] = 1",
    "its dict with a name that is not there": "state.__dict__[name] = 1",
    "all of its dict": "vars(state).update(f())",
    "vars": "vars(state)['x'] = 1",
    "a string that somebody else takes": "assign(state, 'x')",
    "a test": "monkeypatch.setattr('app.client.x', 1, raising=False)",
}


@pytest.mark.parametrize("text", SETTING.values(), ids=SETTING)
def test_a_name_that_is_set_from_outside_of_its_module_is_no_finding(tmp_path: Path, text: str) -> None:
    more = {"app/core.py": "from app.client import x\n", "app/a.py": f"import app.client as state\n\n{text}\n"}
    assert findings(staged(tmp_path, CLIENT | more), "app/core.py") == []


def test_what_sets_names_of_something_else_hides_no_finding(tmp_path: Path) -> None:
    text = """import app.client as state
import app.other
from app.client import send
__all__ = ["x"]
state.y = f(state.x)
setattr(app.other, name, 1)
setattr(state, "y", 1)
a = b.c
b = a.c
setattr(a, name, 1)
for name in vars(state):
    setattr(send, name, state.__dict__[name])
"""
    more = {"app/core.py": "from app.client import x\n", "app/a.py": text, "app/other.py": ""}
    found = ["app.core:1: NAME_NOT_FOUND app.client has no x."]
    assert findings(staged(tmp_path, CLIENT | more), "app/core.py") == found


def test_a_name_that_only_the_stub_has_is_there_for_types(tmp_path: Path) -> None:
    more = {
        "app/core.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from app.client import Proto, Gone\n",
        "app/client.pyi": "class Proto: ...\n",
    }
    found = ["app.core:3: NAME_NOT_FOUND app.client has no Gone."]
    assert findings(staged(tmp_path, CLIENT | more), "app/core.py") == found


def test_an_attribute_of_an_instance_is_no_name_of_a_module(tmp_path: Path) -> None:
    more = {"app/core.py": "from app.client import x\n", "app/a.py": "class A:\n    def f(self):\n        self.x = 1\n"}
    found = ["app.core:1: NAME_NOT_FOUND app.client has no x."]
    assert findings(staged(tmp_path, CLIENT | more), "app/core.py") == found


@pytest.mark.parametrize(
    "statement", ["from app.db import x", "from .db import x", "from app import db", "from . import db"]
)
def test_the_finding_about_a_forgotten_module_says_that_it_is_there_and_not_staged(
    tmp_path: Path, statement: str
) -> None:
    root = staged(tmp_path, {**CLIENT, "app/core.py": f"{statement}\n"})
    write(root, {"app/db.py": "x = 1\n"})
    [found] = findings(root, "app/core.py")
    assert found.endswith("; it is in the working tree, and not staged.")
    git(root, "add", "app/db.py")
    assert findings(root, "app/core.py") == []


@pytest.mark.parametrize("module", ["from app._made import x", "from app import _made", "from . import _made"])
@pytest.mark.parametrize("pattern", ["_made.py", "_made/", "/app/_made*"])
def test_a_module_that_git_ignores_is_made_by_something(tmp_path: Path, module: str, pattern: str) -> None:
    root = staged(tmp_path, {**CLIENT, "app/core.py": f"{module}\n", ".gitignore": f"{pattern}\n"})
    assert findings(root, "app/core.py") == []


@pytest.mark.parametrize("pattern", ["client.py", "app/"])
def test_a_module_that_is_tracked_though_it_is_ignored_is_there(tmp_path: Path, pattern: str) -> None:
    core = "from app.client import send, sned\n"
    root = staged(tmp_path, {**CLIENT, "app/core.py": core, ".gitignore": f"{pattern}\n"})
    assert findings(root, "app/core.py") == ["app.core:1: NAME_NOT_FOUND app.client has no sned."]


def test_the_content_behind_a_link_or_in_a_submodule_is_unknown(tmp_path: Path) -> None:
    root = staged(
        tmp_path, {**CLIENT, "app/core.py": "import app.sub.x\nimport app.link.x\nfrom app import one, sub\n"}
    )
    (root / "app/link").symlink_to("../elsewhere")
    (root / "app/one.py").symlink_to("client.py")
    git(root, "add", "app/link", "app/one.py")
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},app/sub")
    assert findings(root, "app/core.py", "app/one.py", "app/sub", "app/link") == []


def test_what_is_only_meant_to_be_added_is_not_there(tmp_path: Path) -> None:
    root = staged(tmp_path, {**CLIENT, "app/core.py": "from app.db import x\n"})
    write(root, {"app/db.py": "x = = 1\n"})
    git(root, "add", "--intent-to-add", "app/db.py")
    [found] = findings(root, "app/core.py", "app/db.py")
    assert found.startswith("app.core:1: MODULE_NOT_FOUND There is no app.db;")


def test_a_package_is_looked_at_when_a_module_of_it_changes(tmp_path: Path) -> None:
    root = staged(tmp_path, {"app/__init__.py": "from .client import send\n", "app/client.py": "def post(): ...\n"})
    assert findings(root, "app/client.py") == ["app:1: NAME_NOT_FOUND .client has no send."]


def test_code_below_src_is_found_by_its_name(tmp_path: Path) -> None:
    files = {"src/app/__init__.py": "", "src/app/a.py": "A = 1\n", "tests/test_a.py": "from app.a import A, B\n"}
    assert findings(staged(tmp_path, files), "tests/test_a.py") == ["tests.test_a:1: NAME_NOT_FOUND app.a has no B."]


def test_a_project_below_the_top_of_its_repository_is_judged_by_itself(tmp_path: Path) -> None:
    files = {f"back/{path}": text for path, text in CLIENT.items()}
    root = staged(tmp_path, {**files, "back/app/core.py": "from app.client import sned\n", "front/app/db.py": ""})
    assert findings(root / "back", "app/core.py") == ["app.core:1: NAME_NOT_FOUND app.client has no sned."]


@pytest.mark.parametrize("statement", ["from . import never", "from app import never", "from . import net, never"])
def test_a_package_does_not_have_what_it_imports_of_itself(tmp_path: Path, statement: str) -> None:
    files = {"app/__init__.py": f"{statement}\n", "app/net.py": "", "user.py": "from app import never\n"}
    written = "app" if "app" in statement else "."
    assert findings(staged(tmp_path, files)) == [
        f"app:1: NAME_NOT_FOUND {written} has no never.",
        "user:1: NAME_NOT_FOUND app has no never.",
    ]
