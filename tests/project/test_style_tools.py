"""A project's own formatter and sorter of imports: the choice between several, and their output for real text."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from bae_source.engine.service import Service
from bae_source.errors import RequestError, ResourceError, TransactionError
from bae_source.project.style_tools import StyleTool, StyleTools
from bae_source.project.workspace import Workspace
from bae_source.syntax.text.source import Source
from tests.memory import Memory

UNTIDY = b"import sys\nimport os\nx  =  {'a':1}\n"
FORMATTED = 'import sys\nimport os\n\nx = {"a": 1}\n'
SORTED = "import os\nimport sys\n\nx  =  {'a':1}\n"

RUFF, RUFF_FORMAT, BLACK = "[tool.ruff]\nline-length = 88\n", "[tool.ruff.format]\n", "[tool.black]\n"
SELECTING = "[tool.ruff.lint]\nextend-select = ['E', 'I']\n"
ISORT = "[tool.isort]\nprofile = 'black'\n"
OWN = "[tool.bae-source]\nformatter = 'black'\nimport-sorter = 'isort'\n"
HOOKS = "repos:\n- repo: any\n  hooks:\n  - id: %s\n  # - id: black\n"


def _tools(folder: Path, files: dict[str, str], path: str = os.environ["PATH"]) -> StyleTools:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return StyleTools(Service(folder, environment={"PATH": path}).workspace())


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"pyproject.toml": RUFF}, "ruff"),
        ({"pyproject.toml": RUFF_FORMAT}, "ruff"),
        ({"ruff.toml": ""}, "ruff"),
        ({".ruff.toml": "line-length = 88"}, "ruff"),
        ({"pyproject.toml": BLACK}, "black"),
        ({"pyproject.toml": RUFF + BLACK}, "black"),  # ruff checks there
        ({"pyproject.toml": RUFF_FORMAT + BLACK, ".pre-commit-config.yaml": HOOKS % "ruff-format"}, "ruff"),
        ({"pyproject.toml": RUFF_FORMAT, ".pre-commit-config.yaml": HOOKS % "'black'"}, "black"),
        ({".pre-commit-config.yaml": HOOKS % "black-jupyter"}, "black"),
        ({"pyproject.toml": RUFF_FORMAT + OWN, ".pre-commit-config.yaml": HOOKS % "ruff-format"}, "black"),
        ({"pyproject.toml": RUFF_FORMAT, "app/pyproject.toml": BLACK}, "black"),  # the nearest folder's
        ({"pyproject.toml": BLACK, "app/pyproject.toml": "[project]\n"}, "black"),
    ],
)
def test_the_formatter_is_the_one_that_the_settings_are_for(tmp_path: Path, files: dict[str, str], name: str) -> None:
    tool = _tools(tmp_path, files).formatter("app/core/m.py")
    assert tool.name == name
    assert tool.output("app/core/m.py", Source(UNTIDY)) == FORMATTED
    assert sorted(_files_below(tmp_path)) == sorted(files)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"pyproject.toml": SELECTING}, "ruff"),
        ({"pyproject.toml": "[tool.ruff]\nselect = ['ALL']\n"}, "ruff"),
        ({"ruff.toml": "lint.select = ['I001']\n"}, "ruff"),
        ({"pyproject.toml": ISORT}, "isort"),
        ({"pyproject.toml": RUFF + "lint.select = ['ICN', 'INP']\n" + ISORT}, "isort"),
        ({".isort.cfg": "[settings]\nprofile = black\n"}, "isort"),
        ({"setup.cfg": "[isort]\nprofile = black\n"}, "isort"),
        ({"tox.ini": "[isort]\nprofile = black\n"}, "isort"),
        ({"pyproject.toml": SELECTING + ISORT, ".pre-commit-config.yaml": HOOKS % "isort"}, "isort"),
        ({"pyproject.toml": SELECTING + OWN}, "isort"),
    ],
)
def test_the_sorter_is_the_one_that_the_settings_are_for(tmp_path: Path, files: dict[str, str], name: str) -> None:
    tool = _tools(tmp_path, files).sorter("m.py")
    assert tool.name == name
    assert tool.output("new.py", Source(UNTIDY)) == SORTED
    (tmp_path / "m.py").write_bytes(UNTIDY)
    assert tool.output("m.py", Source(UNTIDY)) == SORTED
    assert sorted(_files_below(tmp_path)) == sorted([*files, "m.py"])
    assert (tmp_path / "m.py").read_bytes() == UNTIDY


@pytest.mark.parametrize(
    ("settings", "formatter", "sorter"),
    [
        ("", "set up for no formatter that is known", "set up for no sorter of imports that is known"),
        (RUFF_FORMAT + BLACK + SELECTING + ISORT, "set up for ruff and black", "set up for ruff and isort"),
        (
            "[tool.bae-source]\nformatter = 'yapf'\nimport-sorter = 3\n",
            "formatter is 'yapf', which is no formatter that is known",
            "import-sorter is 3, which is no sorter of imports that is known",
        ),
    ],
)
def test_without_a_clear_choice_the_setting_is_named(
    tmp_path: Path, settings: str, formatter: str, sorter: str
) -> None:
    tools = _tools(tmp_path, {"pyproject.toml": settings})
    for message, names, choose in ((formatter, "ruff", tools.formatter), (sorter, "isort", tools.sorter)):
        error = _refused(choose)
        assert message in error.message
        assert names in error.hints[0]
        assert error.code == "invalid_arguments"


def test_a_tool_that_is_not_installed_is_an_error(tmp_path: Path) -> None:
    environment = tmp_path / ".venv/bin"
    environment.mkdir(parents=True)
    (environment / "python").symlink_to(sys.executable)
    error = _refused(_tools(tmp_path, {"pyproject.toml": BLACK}, path=str(tmp_path)).formatter)
    assert error.message.startswith("black, for which the project is set up, is neither beside its Python nor on")
    assert error.hints == ("Install black there.", "[tool.bae-source] formatter names another one.")


def test_text_that_lies_nowhere_has_no_tools() -> None:
    tools = StyleTools(Workspace(Memory({"pyproject.toml": BLACK.encode()})))
    assert _refused(tools.formatter).message.startswith("black, for which the project is set up, is neither beside")


def test_the_projects_environment_comes_before_the_search_path(tmp_path: Path) -> None:
    for folder in ("project/.venv/bin", "elsewhere"):
        _program(tmp_path / folder / "black", f"echo '# {folder}'")
    (tmp_path / "project/.venv/bin/python").symlink_to(sys.executable)
    tools = _tools(tmp_path / "project", {"pyproject.toml": BLACK}, path=f"{tmp_path}/elsewhere:/usr/bin:/bin")
    assert tools.formatter("m.py").output("m.py", Source(UNTIDY)) == "# project/.venv/bin\n"


@pytest.mark.parametrize("settings", [BLACK + ISORT, RUFF_FORMAT + SELECTING])
@pytest.mark.parametrize(
    "content",
    [
        "# coding: latin-1\r\nimport sys\r\nimport os\r\nname  =  'é'\r\n".encode("latin-1"),
        b"\xef\xbb\xbfimport sys\rimport os\rname  =  '\xc3\xa9'\r",
        "import sys\r\nimport os\nname  =  'é'".encode(),
    ],
)
def test_encodings_and_line_ends_are_of_no_matter(tmp_path: Path, settings: str, content: bytes) -> None:
    tools, source = _tools(tmp_path, {"pyproject.toml": settings}), Source(content)
    assert 'import sys\nimport os\n\nname = "é"\n' in tools.formatter("m.py").output("m.py", source)
    assert "import os\nimport sys\n\nname  =  'é'" in tools.sorter("m.py").output("m.py", source)


@pytest.mark.parametrize(
    "settings",
    [
        "[tool.ruff]\nextend-exclude = ['m.py']\n",
        "[tool.black]\nforce-exclude = 'm.py'\n",
    ],
)
def test_a_file_that_the_settings_exclude_stays_as_it_is(tmp_path: Path, settings: str) -> None:
    tool = _tools(tmp_path, {"pyproject.toml": settings}).formatter("m.py")
    assert tool.output("m.py", Source(UNTIDY)) == UNTIDY.decode()


@pytest.mark.parametrize(
    ("does", "message"),
    [
        (
            'echo oops >&2; echo "error in $PWD/pyproject.toml" >&2; exit 3',
            "ended with status 3: error in pyproject.toml",
        ),
        ("kill -9 $$", "ended with status -9"),
        ("printf '\\377'", "printed text that is not utf-8"),
    ],
)
def test_a_tool_that_fails_is_an_error_that_names_it(tmp_path: Path, does: str, message: str) -> None:
    _program(tmp_path / "bin/black", does)
    tool = _with_black_at(tmp_path)
    with pytest.raises(TransactionError) as caught:
        tool.output("m.py", Source(UNTIDY))
    assert caught.value.message == f"black {message}; nothing was written."
    assert caught.value.code == "verify_failed"


def test_a_tool_that_hangs_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bae_source.project.style_tools.TIME_LIMIT", 0.3)
    _program(tmp_path / "bin/black", "exec sleep 60")
    with pytest.raises(TransactionError, match=r"black took longer than 0\.3 seconds and was stopped; nothing"):
        _with_black_at(tmp_path).output("m.py", Source(UNTIDY))


@pytest.mark.parametrize("settings", [SELECTING, ISORT], ids=["ruff", "isort"])
def test_many_files_are_looked_at_together_and_those_in_order_are_not_named(tmp_path: Path, settings: str) -> None:
    files = {
        "pyproject.toml": settings,
        "in_order.py": "import os\nimport sys\n",
        "app/out of order.py": "import sys\nimport os\n",
        "app/größe.py": "import sys\nimport os\n",
        "-x.py": "import sys\nimport os\n",
        "broken.py": "import sys\nimport os\ndef (\n",
    }
    tool = _tools(tmp_path, files).sorter("in_order.py")
    named = tool.at_fault([each for each in files if each.endswith(".py")])
    assert {"app/out of order.py", "app/größe.py", "-x.py"} <= named
    assert "in_order.py" not in named
    assert sorted(_files_below(tmp_path)) == sorted(files)


def test_a_sorter_that_does_not_say_which_files_are_at_fault_gets_all_of_them(tmp_path: Path) -> None:
    tool = _tools(tmp_path, {"pyproject.toml": SELECTING, "a.py": "import os\n"}).sorter("a.py")
    (tmp_path / "pyproject.toml").write_text("[tool.ruff.lint]\nextend-select = 3\n")
    assert tool.at_fault(["a.py"]) == {"a.py"}


def _files_below(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]


def _with_black_at(folder: Path) -> StyleTool:
    (folder / ".venv/bin").mkdir(parents=True)
    (folder / ".venv/bin/python").symlink_to(sys.executable)
    return _tools(folder, {"pyproject.toml": BLACK}, path=f"{folder}/bin:/usr/bin:/bin").formatter("m.py")


def _program(path: Path, does: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{does}\n")
    path.chmod(0o755)


def _refused(choose: object) -> ResourceError:
    assert callable(choose)
    with pytest.raises(RequestError) as caught:
        choose("m.py")
    return caught.value
