"""Effects of modules beyond themselves when they are imported."""

from __future__ import annotations

import pytest

from bae_source.syntax.importing.effects import first_effect


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("register(1)\n", 1),
        ("import app\napp.handlers['x'] = 1\n", 2),
        ("import os\ndel os.environ['X']\n", 2),
        ("from app import route\n@route('/')\ndef f(): ...\n", 3),
        ("import flask\nx = flask.Flask()\n@x.route('/')\ndef f(): ...\n", 4),
        ("for each in names:\n    register(each)\n", 2),
        ("try:\n    import x\nexcept ImportError:\n    warn()\n", 4),
        ("import atexit\n@atexit.register\ndef f(): ...\n", 3),
        ("(lambda: 1)()\n", 1),
    ],
)
def test_the_first_statement_that_does_something_is_named(text: str, line: int) -> None:
    assert first_effect(text, classes=False) == line


@pytest.mark.parametrize(
    "text",
    [
        '"""Only words."""\nX = int("1")\n',
        "import functools\n@functools.cache\ndef f(): ...\n",
        "class A:\n    @property\n    def x(self): ...\n",
        "import pytest\n@pytest.fixture\ndef f(): ...\n",
        "TABLE = {}\nTABLE['x'] = 1\n",
        "def f():\n    register(1)\n",
        "if __name__ == '__main__':\n    run()\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    register(1)\n",
    ],
)
def test_definitions_and_what_type_checkers_read_do_nothing(text: str) -> None:
    assert first_effect(text, classes=True) is None


@pytest.mark.parametrize("header", ["class C(models.Model): ...", "class C(Base): ...", "class C(metaclass=M): ..."])
def test_a_class_that_others_may_keep_counts_where_classes_do(header: str) -> None:
    text = f"from django.db import models\n{header}\n"
    assert first_effect(text, classes=True) == 2
    assert first_effect(text, classes=False) is None


def test_a_class_below_one_of_python_has_no_effect_elsewhere() -> None:
    assert first_effect("import enum\nclass C(enum.Enum): ...\nclass D(Exception): ...\n", classes=True) is None


def test_what_cannot_be_read_may_do_anything() -> None:
    assert first_effect("def f(:\n", classes=False) == 1
