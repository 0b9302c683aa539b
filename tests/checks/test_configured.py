"""Which type checker a project is set up for."""

from __future__ import annotations

import pytest

from bae_source.errors import RequestError
from bae_source.verification.configured import CHECKERS, mypy_has_targets, wanted_checkers
from tests.memory import Memory


def memory(**files: str) -> Memory:
    return Memory({name.replace("__", "."): text.encode() for name, text in files.items()})


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, (CHECKERS, False)),
        ({"pyproject__toml": "[tool.ruff]\n"}, (CHECKERS, False)),
        ({"pyproject__toml": "[tool.ty.rules]\n"}, (("ty",), True)),
        ({"pyproject__toml": "[tool.pyright]\n[tool.mypy]\n"}, (("mypy", "pyright"), True)),
        ({"pyproject__toml": '[tool.mypy]\n[tool.bae-source]\ntypes = "pyrefly"\n'}, (("pyrefly",), True)),
        ({"mypy__ini": ""}, (("mypy",), True)),
        ({"pyrightconfig__json": "{}"}, (("pyright",), True)),
        ({"setup__cfg": "[mypy]\nstrict = true\n"}, (("mypy",), True)),
        ({"setup__cfg": "[metadata]\n"}, (CHECKERS, False)),
        ({"setup__cfg": "no section\n[mypy]\n"}, (CHECKERS, False)),
    ],
)
def test_settings_tell_the_checker(files: dict[str, str], expected: object) -> None:
    assert wanted_checkers(memory(**files)) == expected


def test_a_checker_that_is_not_known_is_refused() -> None:
    with pytest.raises(RequestError) as caught:
        wanted_checkers(memory(pyproject__toml='[tool.bae-source]\ntypes = "pytype"\n'))
    assert "pytype" in caught.value.message
    assert "basedpyright" in caught.value.hints[0]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, False),
        ({"pyproject__toml": "[tool.mypy]\nstrict = true\n"}, False),
        ({"pyproject__toml": '[tool.mypy]\npackages = ["app"]\n'}, True),
        ({"mypy__ini": "[mypy]\nfiles = app\n"}, True),
        ({"setup__cfg": "[mypy]\nmodules = app\n"}, True),
    ],
)
def test_whether_mypy_knows_what_to_check(files: dict[str, str], expected: bool) -> None:
    assert mypy_has_targets(memory(**files)) is expected
