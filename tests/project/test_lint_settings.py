"""Files in which settings of ruff and flake8 let unused imports stay."""

from __future__ import annotations

import pytest

from bae_source.project.importing.lint_settings import LintSettings
from tests.memory import Memory


@pytest.mark.parametrize(
    ("name", "settings", "stays", "goes"),
    [
        ("pyproject.toml", '[tool.ruff.lint.per-file-ignores]\n"compat.py" = ["F401"]\n', "a/compat.py", "a/core.py"),
        ("pyproject.toml", '[tool.ruff.per-file-ignores]\n"a/*" = ["F"]\n', "a/b/core.py", "b/core.py"),
        ("pyproject.toml", '[tool.ruff.lint.extend-per-file-ignores]\n"a/**" = ["ALL"]\n', "a/core.py", "core.py"),
        ("pyproject.toml", '[tool.ruff.lint.per-file-ignores]\n"!src/**" = ["F401"]\n', "x.py", "src/x.py"),
        (
            "pyproject.toml",
            '[tool.ruff.lint.per-file-ignores]\n"{a,b}.py" = ["F401"]\n"c.py" = ["E"]\n',
            "b.py",
            "c.py",
        ),
        ("pyproject.toml", '[tool.ruff]\nextend-exclude = ["vendored"]\n', "a/vendored/x.py", "a/x.py"),
        ("ruff.toml", '[lint.per-file-ignores]\n"a.py" = ["F401"]\n', "a.py", "b.py"),
        ("app/.ruff.toml", '[per-file-ignores]\n"a.py" = ["F401"]\n', "app/a.py", "a.py"),
        ("setup.cfg", "[flake8]\nper-file-ignores =\n    a.py,b/*.py: E501, F401\n    c.py:E1\n", "b/x.py", "c.py"),
        ("tox.ini", "[flake8]\nexclude = old, build\n", "old/x.py", "new/x.py"),
    ],
)
def test_patterns_are_of_the_folder_of_their_file(name: str, settings: str, stays: str, goes: str) -> None:
    found = LintSettings(Memory({name: settings.encode()}))
    assert found.lets_stay(stays)
    assert not found.lets_stay(goes)


def test_settings_that_cannot_be_read_say_nothing() -> None:
    assert not LintSettings(Memory({"pyproject.toml": b"[tool.ruff\n", "ruff.toml": b"\xff"})).lets_stay("a.py")
