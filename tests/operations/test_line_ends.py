"""A file with one kind of line end has one kind after every verb, part and form of edit, whatever text is given."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bae_source.engine.applying import Apply
from bae_source.engine.registry import REQUESTS
from bae_source.model.request import Request, parse
from bae_source.project.files.layout import Layout
from bae_source.project.workspace import Workspace
from bae_source.syntax.text.source import NEWLINE, newline_kinds
from tests.memory import Memory
from tests.operations.support import TREES

MODULE = '''\
"""Text."""

import os


# one
@staticmethod
def f(x: int) -> int:
    """First.

    Second.
    """
    y = 1
    return y


class A:
    """A class."""

    limit = 3

    def m(self): return 1

    @property
    def p(self):
        return 2

    @p.setter
    def p(self, value):
        pass


class B: pass
'''
PACKAGE = '"""Package."""\n\nfrom .other import z\n\n__all__ = ["z"]\n'
FILES = {"k/m.py": MODULE, "k/__init__.py": PACKAGE, "k/other.py": "z = 1\n", "k/page.html": "<p>\none\n</p>\n"}

REQUESTS_MADE: dict[str, dict[str, Any]] = {
    "a function": {"do": "edit", "target": "k.m.f", "new_source": "def f(x):\n    y = 2\n\n    return y\n"},
    "a function, its import and another": {
        "do": "edit",
        "target": "k.m.f",
        "new_source": "import re\n\ndef g():\n    pass\n\n# new\ndef f(x):\n    return '''a\nb'''\n",
    },
    "a comment": {"do": "edit", "target": "k.m.f", "comment": "# two\n# lines"},
    "a signature": {"do": "edit", "target": "k.m.f@signature", "new_source": "def f(\n    x: int,\n) -> int:"},
    "decorators": {"do": "edit", "target": "k.m.f@decorators", "new_source": "@staticmethod\n@dec(\n    1,\n)"},
    "a docstring": {"do": "edit", "target": "k.m.f@docstring", "new_source": '"""Other.\n\nText.\n"""'},
    "a first docstring": {"do": "edit", "target": "k.m.A.p[0]@docstring", "new_source": '"""Other.\n\nText.\n"""'},
    "a body": {"do": "edit", "target": "k.m.f@body", "new_source": "y = 1\n\nreturn y"},
    "a body of a suite on the header's line": {"do": "edit", "target": "k.m.A.m@body", "new_source": "x = 1\nreturn x"},
    "an accessor": {"do": "edit", "target": "k.m.A.p@setter", "new_source": "@p.setter\ndef p(self, v):\n    return"},
    "a class": {"do": "edit", "target": "k.m.A", "new_source": "class A:\n    x = 1\n    y = 2\n"},
    "an attribute": {"do": "edit", "target": "k.m.A.limit", "new_source": "limit = [\n    1,\n]"},
    "a line by several": {"do": "edit", "target": "k.m.f", "old": "y = 1", "new": "y = 1\n    z = 2"},
    "a word by several lines": {"do": "edit", "target": "k.m.A.limit", "old": "3", "new": "[\n    3,\n    ]"},
    "lines by others": {"do": "edit", "target": "k.m.f", "old": "y = 1\n    return y", "new": "z = 1\n    return z\n"},
    "lines of a docstring": {"do": "edit", "target": "k.m.f@docstring", "old": "First.\n\n", "new": "A.\n\n    B.\n\n"},
    "imports": {"do": "edit", "target": "k.m.f", "imports": ["import re", "from a import (\n    b,\n    c,\n)"]},
    "a function behind": {"do": "insert", "target": "k.m.f", "new_source": "def g():\n    return 1\n"},
    "statements in a module": {"do": "insert", "target": "k.m", "position": "first", "new_source": "a = 1\nb = 2\n"},
    "statements in a function": {"do": "insert", "target": "k.m.f", "position": "first", "new_source": "a = 1\nb = 2"},
    "a method": {"do": "insert", "target": "k.m.B", "position": "last", "new_source": "def g(self):\n    return 1"},
    "nothing": {"do": "delete", "target": "k.m.A.p"},
    "no docstring": {"do": "delete", "target": "k.m.f@docstring"},
    "a whole module": {"do": "write", "target": "k.m", "source": "a = 1\n\n\ndef h():\n    pass\n", "overwrite": True},
    "a module that is exported": {"do": "write", "target": "k.n", "source": "def n():\n    pass\n", "export": True},
    "exports": {"do": "exports_add", "target": "k.m", "names": ["f", "A"]},
    "no exports": {"do": "exports_remove", "target": "k.other"},
    "a data file": {"do": "edit", "target": "k:page.html", "new_source": "<p>\ntwo\n</p>\n"},
    "a word of a data file": {"do": "edit", "target": "k:page.html", "old": "one", "new": "one\ntwo"},
    "lines of a data file": {"do": "edit", "target": "k:page.html", "old": "<p>\n", "new": "<b>\n\n"},
}
ENDS = ("\n", "\r\n", "\r")


@pytest.mark.parametrize("what", REQUESTS_MADE)
@settings(derandomize=True, max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_file_of_one_kind_of_line_end_stays_so(what: str, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(ENDS), label="the files'")
    mixture = data.draw(st.lists(st.sampled_from(ENDS), min_size=1, max_size=3), label="the given text's")
    asked = {key: _ended(value, mixture) for key, value in REQUESTS_MADE[what].items()}
    workspace = _workspace({path: NEWLINE.sub(kind, text).encode() for path, text in FILES.items()})
    alone = data.draw(st.booleans(), label="alone")
    plan = _request(asked if alone else {"do": "apply", "requests": [asked]}).plan(workspace)  # type: ignore[attr-defined]
    assert plan.changes
    later = workspace.after(plan.changes)
    for path in FILES:
        content = later.content(path)
        assert content is not None
        assert newline_kinds(content.decode()) == {kind}, (path, content)
    if asked["do"] == "edit" and "old" not in asked:
        assert not _request(asked).plan(later).changes  # type: ignore[attr-defined]


def _ended(value: Any, mixture: list[str]) -> Any:
    """Return text whose lines end in turns as the mixture has it."""
    if isinstance(value, list):
        return [_ended(each, mixture) for each in value]
    if not isinstance(value, str):
        return value
    lines = value.split("\n")
    return "".join(line + mixture[number % len(mixture)] for number, line in enumerate(lines[:-1])) + lines[-1]


def _request(given: dict[str, Any]) -> Request:
    kind = Apply if given["do"] == "apply" else REQUESTS.named(given["do"])
    assert kind is not None
    return parse(kind, {key: value for key, value in given.items() if key != "do"})


def _workspace(contents: dict[str, bytes]) -> Workspace:
    files = Memory(contents)
    return Workspace(files, trees=TREES, layout=Layout(files, [""]))
