"""The interpreter's choice, names for paths, and the order of loading."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from bae_source.reloading.child.addresses import Addresses
from bae_source.reloading.child.interpreter import find_interpreter
from bae_source.reloading.in_process.load_order import Import, dependencies_first, imports, mentioned, stored_names


def environment(folder: Path) -> Path:
    program = folder / "bin/python"
    program.parent.mkdir(parents=True)
    program.symlink_to(sys.executable)
    return program


def test_the_interpreter_is_the_setting_the_active_the_own_or_ours(tmp_path: Path) -> None:
    assert find_interpreter(tmp_path, setting=None, virtual_env=None).path == sys.executable
    own = environment(tmp_path / ".venv")
    assert find_interpreter(tmp_path, setting=None, virtual_env=None).path == str(own)
    active = environment(tmp_path / "active")
    assert find_interpreter(tmp_path, setting=None, virtual_env="/v" * 5_000).path == str(own), "no name of a file"
    found = find_interpreter(tmp_path, setting=None, virtual_env=str(tmp_path / "active"))
    assert (found.path, found.origin) == (str(active), "VIRTUAL_ENV")
    assert find_interpreter(tmp_path, setting="tools/python", virtual_env="x").path == str(tmp_path / "tools/python")
    assert find_interpreter(tmp_path, setting="/opt/python", virtual_env=None).path == "/opt/python"
    assert find_interpreter(tmp_path, setting="python3.12", virtual_env=None).path == "python3.12"


def test_an_environment_without_a_python_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / ".venv").mkdir()
    assert find_interpreter(tmp_path, setting=None, virtual_env=str(tmp_path / "gone")).origin == "sys.executable"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in /p/src/app/client.py line 3", "in app.client line 3"),
        ('File "/p/src/app/__init__.py"', 'File "app"'),
        ("/p/known.py", "known.name"),
        ("no /p/data/x.json here", "no data:x.json here"),
        ("at /p", "at the project"),
        ("/p2/app.py and /etc/passwd", "/p2/app.py and /etc/passwd"),
        ("/usr/lib/python3.11/json/decoder.py", "json.decoder"),
        ("/v/lib/python3.11/site-packages/httpx/_client.py", "httpx._client"),
        ("/p/.venv/lib/python3.11/site-packages/httpx/__init__.py", "httpx"),
    ],
)
def test_paths_become_names(text: str, expected: str) -> None:
    assert Addresses(Path("/p"), ["src", ""], {"known.py": "known.name"}).convert(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("app/core.py:3:1: unused", "app.core:3:1: unused"),
        ("./app/core.py and app/../setup.py", "app.core and setup"),
        ("src/lib/new.py, setup.py.", "lib.new, setup."),
        ("tests/test_a.py::TestA::test_f FAILED", "tests.test_a.TestA.test_f FAILED"),
        ("'app/page.html'", "'app:page.html'"),
        ("/x/app/core.py ../app/core.py x/app/core.py", "/x/app/core.py ../app/core.py x/app/core.py"),
        ("app/gone.py, and/or app/", "app/gone.py, and/or app/"),
    ],
)
def test_paths_from_the_root_that_name_a_file_become_names(tmp_path: Path, text: str, expected: str) -> None:
    for path in ("app/core.py", "app/page.html", "src/lib/new.py", "setup.py", "tests/test_a.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    assert Addresses(tmp_path, ["src", ""], {}).convert_from_root(text) == expected


def test_what_a_module_imports_and_binds_is_read_from_its_code() -> None:
    source = "import a.b\nfrom . import c\nfrom ..d import e\nfrom x import *\n"
    source += "def f():\n    import inner\n    g = 1\nh = 2\n"
    code = compile(source, "m", "exec")
    found = set(mentioned(imports(code, "pkg.sub")))
    assert {"a.b", "pkg.sub.c", "pkg.d", "pkg.d.e", "x"} <= found
    assert "inner" not in found
    assert stored_names(code) >= {"a", "c", "e", "f", "h"}
    assert "g" not in stored_names(code)


def test_a_cycle_keeps_the_given_order() -> None:
    assert dependencies_first(statements({"a": "import b", "b": "import a"})) == ("a", "b")
    assert dependencies_first(statements({"x": "import y", "y": "import z", "z": ""})) == ("z", "y", "x")


def statements(sources: dict[str, str]) -> dict[str, Sequence[Import]]:
    return {name: imports(compile(text, name, "exec"), "") for name, text in sources.items()}
