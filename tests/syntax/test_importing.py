"""After an edit that brings an import, its name is bound when the module has run and when the definition is called."""

from __future__ import annotations

import types

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bae_source.errors import LookupFailed, Refused
from bae_source.refactoring.edit import Edit
from bae_source.refactoring.insert import Insert
from tests.project.support import after, workspace

_NO, _YES = "import sys\nNEVER = not sys.path\n", "import sys\nNEVER = sys.path is None\n"
_PIECES = (
    '"""Docstring."""\n',
    "from __future__ import annotations\n",
    "import os\n",
    "import os, re\n",
    "from os import path, sep\n",
    "if NEVER:\n    import json\n",
    "if not NEVER:\n    import json\n",
    "if False:\n    import json\n",
    "if NEVER: pass\nelse: import json\n",
    "try:\n    import json\nexcept ImportError:\n    json = None\n",
    "try:\n    import json\nexcept ImportError:\n    pass\n",
    "try:\n    import nowhere as json\nexcept ImportError:\n    import json\n",
    "try:\n    raise ValueError\n    import json\nexcept ValueError:\n    pass\n",
    "for _ in ():\n    import json\n",
    "while NEVER:\n    import json\n",
    "with open(__file__):\n    import json\n",
    "class C:\n    import json\n",
    "def g():\n    import json\n    return json\n",
    "import json\n",
    "import json\ndel json\n",
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import json\n",
    "if __name__ == '__main__':\n    import json\n",
    "X = [json for json in ()]\n",
    "def f():\n    return None\n",
    "Y = f()\n",
    "V = 1; W = 2\n",
    "# comment\n\n",
)
_HEADS = ('"""Docstring."""\n', "from __future__ import annotations\n")


@st.composite
def modules(draw: st.DrawFn) -> str:
    """Modules that import json on some ways, and define `f` and `Z`."""
    pieces = draw(st.lists(st.sampled_from([each for each in _PIECES if each not in _HEADS]), min_size=2, max_size=9))
    if _PIECES[23] not in pieces:
        pieces.insert(draw(st.integers(0, len(pieces))), _PIECES[23])
    first = pieces.index(_PIECES[23])
    pieces = pieces[:first] + [pieces[first]] + [each for each in pieces[first + 1 :] if each != _PIECES[23]]
    pieces = [each for n, each in enumerate(pieces) if each != "Y = f()\n" or n > first]
    pieces.insert(draw(st.integers(0, len(pieces))), "Z = None\n")
    head = draw(st.sampled_from(["", *_HEADS, "".join(_HEADS)]))
    return head + draw(st.sampled_from([_NO, _YES])) + "".join(pieces)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(modules(), st.sampled_from(["import json", "from json import dumps", "import json as j", "import os.path"]),
       st.sampled_from(["f", "Z", "insert"]))  # fmt: skip
def test_an_import_that_an_edit_brings_is_bound_whenever_it_is_needed(text: str, statement: str, where: str) -> None:
    name = statement.split()[-1].partition(".")[0]
    source = f"Z = {name}.__name__\n" if where == "Z" else f"def {where}():\n    return {name}.__name__\n"
    space = workspace({"app.py": text})
    try:
        if where == "insert":
            plan = Insert(target="app.f", new_source=f"{statement}\n{source}").plan(space)
        else:
            plan = Edit(target=f"app.{where}", new_source=f"{statement}\n\n\n{source}").plan(space)
    except (Refused, LookupFailed):
        return
    result = after(space, plan)["app.py"].decode()
    module = _run(result)
    assert getattr(module, name) is _run(f"{statement}\n").__dict__[name], result
    if where != "Z":
        assert getattr(module, where)() == getattr(module, name).__name__, result
    if where != "insert":
        again = Edit(target=f"app.{where}", new_source=f"{statement}\n\n\n{source}")
        assert not again.plan(workspace({"app.py": result})).changes, result


def _run(text: str) -> types.ModuleType:
    module = types.ModuleType("app")
    module.__file__ = __file__
    exec(compile(text, "app", "exec"), module.__dict__)  # the text is made here
    return module


@pytest.mark.parametrize(
    ("present", "wanted"),
    [
        ("from . import n", "import pkg.n as n"),
        ("from pkg import n", "from . import n"),
        ("from ..other import n", "from other2.other import n"),
        ("import os.path as p", "from os import path as p"),
        ("from .sub.n import x", "from pkg.sub.n import x"),
        ("import os.path", "import os"),
        ("import xml.dom.minidom", "import xml.dom"),
        ("from .n import *", "from pkg.n import *"),
    ],
)
def test_imports_of_one_thing_do_not_collide_however_they_are_spelled(present: str, wanted: str) -> None:
    outer = "other2/" if ".." in present else ""
    name = "other2.pkg.m" if outer else "pkg.m"
    files = {f"{outer}pkg/__init__.py": "", f"{outer}pkg/m.py": f"{present}\n\n\ndef f():\n    return 1\n"}
    space = workspace(files if not outer else {**files, "other2/__init__.py": ""})
    assert not Edit(target=name, imports=(wanted,)).plan(space).changes


def test_a_relative_import_in_a_package_itself_is_relative_to_it() -> None:
    space = workspace({"pkg/__init__.py": "from .n import x\n\n\ndef f():\n    return x\n", "pkg/n.py": "x = 1\n"})
    assert not Edit(target="pkg.f", imports=("from pkg.n import x",)).plan(space).changes


def test_the_same_name_of_another_module_collides() -> None:
    space = workspace({"pkg/__init__.py": "", "pkg/m.py": "from .n import x\n\n\ndef f():\n    return x\n"})
    with pytest.raises(Refused) as caught:
        Edit(target="pkg.m.f", imports=("from ..n import x",)).plan(space)
    assert caught.value.code == "name_collision"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    "statement",
    ["import re", "from os import (\n    path,  # why\n    sep,\n)", "if TYPE_CHECKING:\n    from io import StringIO"],
)
def test_a_module_keeps_its_one_kind_of_line_end(newline: str, statement: str) -> None:
    text = "import abc\n\n\ndef f():\n    return 1\n".replace("\n", newline)
    space = workspace({"m.py": text.encode()})
    result = after(space, Edit(target="m", imports=(statement,)).plan(space))["m.py"].decode()
    assert newline.join(result.replace("\r\n", "\n").replace("\r", "\n").split("\n")) == result


def test_a_type_checking_import_is_no_second_one_beside_one_that_runs() -> None:
    space = workspace({"m.py": "import re\n\n\ndef f():\n    return 1\n"})
    assert not Edit(target="m.f", imports=("if TYPE_CHECKING: import re",)).plan(space).changes


def test_a_type_checking_import_goes_onto_the_line_of_the_others() -> None:
    text = "import typing\nif typing.TYPE_CHECKING: import abc\n"
    space = workspace({"m.py": text})
    result = after(space, Edit(target="m", imports=("if typing.TYPE_CHECKING: import re",)).plan(space))["m.py"]
    assert result.decode() == "import typing\nif typing.TYPE_CHECKING: import abc; import re\n"


def test_a_project_module_is_sorted_with_those_of_the_project() -> None:
    files = {"helper.py": "", "m.py": "import os\n\nimport numpy\n\n\ndef f():\n    return 1\n"}
    space = workspace(files)
    result = after(space, Edit(target="m", imports=("import helper", "import attr")).plan(space))["m.py"]
    assert result.decode().startswith("import os\n\nimport attr\nimport numpy\n\nimport helper\n\n\ndef")


def test_what_is_newer_than_the_running_python_is_judged_by_its_top_level_imports() -> None:
    text = "import os\n\n\ntype X[T: (int, str) = int] = list[T]\n"
    space = workspace({"m.py": text})
    result = after(space, Edit(target="m", imports=("import os", "import abc")).plan(space))["m.py"]
    assert result.decode() == f"import abc\n{text}"
