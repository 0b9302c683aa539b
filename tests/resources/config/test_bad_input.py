"""Files and arguments that nothing can be done with: each is an error, and nothing is changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bae_source import Source
from tests.resources.config.support import SETTINGS, called, made, refused

CHANGES = [
    ("config_set", ("tool.x", 1)),
    ("config_add", ("tool.x", "a")),
    ("config_remove", ("tool.ruff",)),
    ("config_rename", ("tool.ruff", "x")),
]
FILES: dict[str, tuple[str | bytes | None, str, str]] = {
    "there is none": (None, "symbol_not_found", "has no pyproject.toml"),
    "it is broken": ("[tool]\nx = \n", "syntax_invalid", "line 2, column 5"),
    "a key is there twice": ("[tool]\nx = 1\nx = 2\n", "syntax_invalid", "line 3, column 6"),
    "it holds a NUL": ("[tool]\nx = \0\n", "syntax_invalid", "line 2, column 5"),
    "it is no UTF-8": (b"[tool]\nx = '\xff'\n", "syntax_invalid", "utf-8"),
    "it has 10 MB": ("# " + "x" * 10_000_000, "syntax_invalid", "more than 2,000,000 bytes"),
    "it is nested deeply": ("x = " + "[" * 100_000 + "]" * 100_000, "syntax_invalid", "nested too deeply"),
    "a key has too many parts": (f"{'a.' * 200}b = 1\n", "syntax_invalid", "more than 100 components"),
    "a number is huge": (f"x = {'9' * 5_000}\n", "syntax_invalid", "number in it is too large"),
}


@pytest.mark.parametrize("case", FILES)
@pytest.mark.parametrize(("verb", "placed"), [("config_read", ()), *CHANGES])
def test_a_file_that_cannot_be_read_is_reported(
    tmp_path: Path, case: str, verb: str, placed: tuple[object, ...]
) -> None:
    content, code, words = FILES[case]
    error = refused(made(tmp_path / "project", content), verb, *placed)
    assert error.code == code
    assert words in error.message
    assert len(error.message) < 500


@pytest.mark.parametrize(("verb", "placed"), [("config_read", ()), *CHANGES])
def test_a_link_out_of_the_project_is_not_followed(tmp_path: Path, verb: str, placed: tuple[object, ...]) -> None:
    outside = tmp_path / "outside.toml"
    outside.write_text(SETTINGS)
    root = made(tmp_path / "project", None)
    (root / "pyproject.toml").symlink_to(outside)
    assert refused(root, verb, *placed).code == "outside_project"
    assert outside.read_text() == SETTINGS
    assert (root / "pyproject.toml").is_symlink()


def test_a_link_inside_the_project_is_written_through(tmp_path: Path) -> None:
    root = made(tmp_path / "project", None)
    (root / "settings.toml").write_text(SETTINGS)
    (root / "pyproject.toml").symlink_to("settings.toml")
    Source(root).config_set("tool.ruff.line-length", 90)
    assert (root / "pyproject.toml").is_symlink()
    assert "line-length = 90" in (root / "settings.toml").read_text()


def test_a_path_that_is_no_file_is_reported(tmp_path: Path) -> None:
    root = made(tmp_path / "project", None)
    os.mkfifo(root / "pyproject.toml")
    with pytest.raises(Exception, match="no file of the project"):
        Source(root).config_read()


@pytest.mark.parametrize(
    ("verb", "placed", "code"),
    [
        ("config_set", ("project.name.x", 1), "invalid_arguments"),
        ("config_set", ("project.dependencies.x", 1), "invalid_arguments"),
        ("config_set", ("tool.mypy.overrides[1].x", 1), "symbol_not_found"),
        ("config_remove", ("project.dependencies[9]",), "symbol_not_found"),
        ("config_remove", ("project.dependencies", "nope"), "symbol_not_found"),
        ("config_remove", ("project.name", "demo"), "invalid_arguments"),
        ("config_read", ("project.nope",), "symbol_not_found"),
        ("config_set", ("", 1), "invalid_arguments"),
        ("config_set", ("  ", 1), "invalid_arguments"),
        ("config_set", ("a..b", 1), "invalid_arguments"),
        ("config_set", ("a.\0", 1), "invalid_arguments"),
        ("config_set", ("tool.x", 2**70), "invalid_arguments"),
        ("config_set", ("tool.x", "\ud800"), "invalid_arguments"),
        ("config_set", ("tool.x",), "invalid_arguments"),
        ("config_add", ("tool.x",), "invalid_arguments"),
        ("config_set", ("tool.x", None), "invalid_arguments"),
        ("config_set", ("tool.x", {"a": None}), "invalid_arguments"),
        ("config_set", ("tool.x", "x" * 2_000_000), "unsafe_change"),
        ("config_rename", ("tool.ruff", "a.b"), "invalid_arguments"),
        ("config_rename", ("tool.ruff", "mypy"), "name_collision"),
    ],
)
def test_an_argument_that_means_nothing_is_refused(
    tmp_path: Path, verb: str, placed: tuple[object, ...], code: str
) -> None:
    assert refused(made(tmp_path / "project"), verb, *placed).code == code


@pytest.mark.parametrize(
    "toml",
    [
        '["E", ',
        '"open',
        "1.2.3",
        "True",
        "1 # one",
        "1\ny = 2",
        "1\n[tool.bae-source]\nlogs = '/'",
        "[" * 5_000 + "]" * 5_000,
        "9" * 5_000,
        "",
        "3.10",
        "[3.9, 3.10]",
    ],
)
@pytest.mark.parametrize("verb", ["config_set", "config_add"])
def test_a_text_that_is_no_value_of_toml_is_refused(tmp_path: Path, verb: str, toml: str) -> None:
    assert refused(made(tmp_path / "project"), verb, "tool.x", toml=toml).code == "invalid_arguments"


def test_a_value_is_given_once(tmp_path: Path) -> None:
    root = made(tmp_path / "project")
    for verb, key in (("config_set", "tool.x"), ("config_add", "tool.x"), ("config_remove", "project.dependencies")):
        assert "value and toml exclude each other" in refused(root, verb, key, "a", toml="1").message


def test_a_value_that_is_there_twice_is_named_by_its_numbers(tmp_path: Path) -> None:
    root = made(tmp_path / "project", 'x = ["a", "b", "a"]\n')
    error = refused(root, "config_remove", "x", "a")
    assert (error.code, error.candidates) == ("ambiguous_symbol", ("x[0]", "x[2]"))


def test_a_byte_order_mark_stays(tmp_path: Path) -> None:
    root = made(tmp_path / "project", "\ufeff" + SETTINGS.replace("\n", "\r\n"))
    assert called(root, "config", "set", "tool.ruff.line-length", "90").status == 0
    changed = (root / "pyproject.toml").read_bytes().decode()
    assert changed == "\ufeff" + SETTINGS.replace("\n", "\r\n").replace("100", "90")


@pytest.mark.parametrize(
    ("words", "candidate"),
    [
        (("set", "version", "2"), "project.version"),
        (("set", "ruff.line-length", "88"), "tool.ruff.line-length"),
        (("set", "ruff.lint.preview", "true"), "tool.ruff.lint.preview"),
        (("set", '"version"', "2"), "project.version"),
        (("set", "module", "b"), "tool.mypy.overrides[0].module"),
        (("add", "dependencies", "rich"), "project.dependencies"),
        (("add", "optional-dependencies.docs", "sphinx"), "project.optional-dependencies.docs"),
    ],
)
def test_a_key_that_stands_further_in_is_not_made_at_the_top(
    tmp_path: Path, words: tuple[str, ...], candidate: str
) -> None:
    root = made(tmp_path / "project")
    answer = called(root, "config", *words)
    assert (answer.status, (root / "pyproject.toml").read_text()) == (3, SETTINGS), answer.err_text
    assert answer.err_text.partition("candidates:\n")[2].split()[0] == candidate
    verb, _, value = words
    value = f'"{value}"' if verb == "set" and candidate == "project.version" else value
    assert called(root, "config", verb, candidate, value).status == 0


def test_a_table_of_the_standards_and_a_new_name_are_made_at_the_top(tmp_path: Path) -> None:
    root = made(tmp_path / "project", '[tool.x]\nproject = 1\n"build-system" = 2\n')
    for key in ("project.name", "build-system.build-backend", "other.name", "name.of-a-string"):
        assert called(root, "config", "set", key, "demo").status == 0, key
