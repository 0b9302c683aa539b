"""Imports of the project's modules in a session: where they come from, what wins, and what an edit does to them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from bae_source import Session
from bae_source.adapters.session.child.finding import OURS
from bae_source.adapters.session.events import Noted

VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
TRACE = "import os\nopen(os.path.join(os.path.dirname(__file__), 'imported'), 'w').close()\n"


def written(root: Path, files: Mapping[str, str]) -> Path:
    """Write files below a folder, and return it."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@contextmanager
def opened(root: Path, **environment: str) -> Iterator[Session]:
    """Open a session that knows of no environment but those that a test names."""
    own = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    with Session(root, environment={**own, **environment}, seconds=30) as session:
        yield session


def notices(session: Session) -> list[str]:
    """Return what a session notes with its next block."""
    return [event.text for event in session.run("None").events if isinstance(event, Noted)]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real virtual environment of this Python, with a package that no other one has, and an editable install."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / ".venv"], check=True)
    packages = folder / ".venv/lib" / f"python{VERSION}" / "site-packages"
    editable = written(folder / "editable", {"only_editable.py": "value = 'editable'\n"})
    written(
        packages,
        {
            "only_there/__init__.py": "from importlib.metadata import version\n__version__ = version('only-there')\n",
            "only_there-1.5.dist-info/METADATA": "Metadata-Version: 2.1\nName: only-there\nVersion: 1.5\n",
            "msgspec/__init__.py": "raise SystemExit('not ours')\n",
            "libcst/__init__.py": "raise SystemExit('not ours')\n",
            "rich/__init__.py": "value = 'of the environment'\n",
            "editable.pth": f"# a comment\n{editable}\n",
            "code.pth": f"import os; open({str(folder / 'ran')!r}, 'w').close()\n",
        },
    )
    return folder


def test_the_projects_environment_is_where_its_packages_come_from_and_nothing_of_it_is_run(
    environment: Path, tmp_path: Path
) -> None:
    written(tmp_path, {"app.py": "from only_there import __version__\n"})
    with opened(tmp_path, VIRTUAL_ENV=str(environment / ".venv")) as session:
        assert notices(session) == []
        assert session.run("import app\napp.__version__").outcome.text == "'1.5'"
        assert session.run("import only_editable\nonly_editable.value").outcome.text == "'editable'"
        assert session.run("import rich\nrich.value").outcome.text == "'of the environment'"
        assert session.run("import msgspec, libcst\nmsgspec.json.encode(1)").outcome.text == "b'1'"
        assert session.run("import only_nowhere").outcome.errors[0].hints == (
            "Installed packages are those of the project's environment (VIRTUAL_ENV); VIRTUAL_ENV, .venv or "
            "[tool.bae-source] python names another environment.",
        )
    assert not (environment / "ran").exists()


def test_an_environment_of_another_python_is_left_alone_which_is_noted_once(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "app.py": "value = 1\n",
            ".venv/pyvenv.cfg": "home = /usr/bin\nversion = 3.99.1\n",
            ".venv/bin/python": f"#!/bin/sh\ntouch {tmp_path}/ran\n",
            ".venv/lib/python3.99/site-packages/only_there.py": "value = 1\n",
        },
    )
    (tmp_path / ".venv/bin/python").chmod(0o755)
    with opened(tmp_path) as session:
        assert notices(session) == [
            f"Installed packages are those of bae_source's own Python {VERSION}, since the project's environment "
            "(.venv) is of Python 3.99.1."
        ]
        assert notices(session) == []
        assert session.run("import app\napp.value").outcome.text == "1"
        assert session.run("import only_there").outcome.errors[0].message.startswith("ModuleNotFoundError")
        assert session.run('read("app.value")').outcome.text == "value = 1\n"
        session.run("import os; os._exit(1)")
        assert notices(session) == []
    assert not (tmp_path / "ran").exists()


def test_an_interpreter_that_is_no_environment_is_noted(tmp_path: Path) -> None:
    for name in ("python3", "/usr/bin/python3"):
        written(tmp_path, {"pyproject.toml": f'[tool.bae-source]\npython = "{name}"\n'})
        with opened(tmp_path) as session:
            [notice] = notices(session)
        assert "[tool.bae-source] python is no virtual environment" in notice


LAYOUTS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "src": (
        {
            "pyproject.toml": '[project]\nname = "app"\nversion = "1"\n',
            "src/app/__init__.py": "from app.core import value\n",
            "src/app/core.py": "value = 1\n",
            "checks/support.py": "value = 1\n",
        },
        {"app": "app.value", "checks.support": "checks.support.value"},
    ),
    "several roots": (
        {
            "pyproject.toml": '[tool.bae-source]\nsource-roots = ["one/lib", "two/lib"]\n',
            "one/lib/first/__init__.py": "value = 1\n",
            "two/lib/second.py": "from first import value\n",
        },
        {"first": "first.value", "second": "second.value"},
    ),
    "namespace package": (
        {
            "pyproject.toml": '[tool.bae-source]\nsource-roots = ["one", "two"]\n',
            "one/space/first.py": "value = 1\n",
            "two/space/second.py": "from space.first import value\n",
        },
        {"space.second": "space.second.value", "space.first": "space.first.value"},
    ),
    "package elsewhere": (
        {
            "pyproject.toml": '[project]\nname = "app"\n[tool.setuptools.package-dir]\napp = "lib/app"\n',
            "setup.py": "from setuptools import setup\nsetup(package_dir={'app': 'lib/app'}, packages=['app'])\n",
            "lib/app/__init__.py": "value = 1\n",
        },
        {"app": "app.value"},
    ),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_modules_are_imported_from_wherever_the_project_has_them(tmp_path: Path, name: str) -> None:
    files, imports = LAYOUTS[name]
    with opened(written(tmp_path, files)) as session:
        assert notices(session) == []
        for module, value in imports.items():
            assert session.run(f"import {module}\n{value}").outcome.text == "1", module


def test_opening_a_session_and_reading_imports_nothing_of_the_project_and_python_has_its_own_modules(
    tmp_path: Path,
) -> None:
    names = ("json", "select", "tomllib", "sqlite3", "tokenize", "difflib", "msgspec", "libcst", "git", "attr", "yaml")
    names = (*names, "org", "gitdb_speedups", "msvcrt", "_winapi", "winreg")
    files = {f"{name}.py": TRACE for name in names} | {"app.py": "value = 1\n", "test.py": "", "setup.py": TRACE}
    with opened(written(tmp_path, files)) as session:
        [notice] = notices(session)
        assert notice == (
            "import difflib, git, json, libcst, msgspec and 4 more finds a module of Python's or bae_source's own, not "
            "the project's."
        )
        for code in (
            'read("app.value")',
            'grep("value")',
            'references("app.value")',
            'symbols("sym://python/mod/app")',
            'edit("app.value", "value = 3", dry_run=True)',
            "home()\ndoctor()\nhistory()\nsource()",
            'glob("*")\nnav()\nhelp(source)',
            'callers("app.value")\nrename("app.value", "other", dry_run=True)',
            'edit("app.value", "value = 2", reload="off")',
            "undo(reload='off')",
        ):
            assert session.run(code).outcome.errors == (), code
        assert not (tmp_path / "imported").exists()
        assert session.run("import json, libcst\njson.dumps([1])").outcome.text == "'[1]'"
        assert not (tmp_path / "imported").exists()
        code = "from bae_source.system.own_process import python\nimport os\nos.getcwd() in python('a:b')"
        assert session.run(code).outcome.text == "False"  # processes of ours find nothing of the project's either
        assert session.run("import app, attr\napp.value").outcome.text == "1"
        assert (tmp_path / "imported").exists()


def test_whatever_the_worker_runs_with_is_found_where_ours_is() -> None:
    """Third-party modules that are loaded by those that the package imports below its adapters."""
    code = (
        "import sys, libcst, libcst.metadata, git, msgspec, msgspec.msgpack, packaging.requirements, pathspec\n"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    before = subprocess.run([sys.executable, "-c", "import sys; print(*sys.modules)"], capture_output=True, text=True)
    kept = {name.partition(".")[0] for name in before.stdout.split()} | sys.stdlib_module_names
    assert {"git", "libcst", "msgspec"} <= set(loaded) - kept <= OURS


def test_an_edit_reaches_what_the_session_has_imported_and_one_that_fails_goes_back(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": '[project]\nname = "app"\nversion = "1"\n',
        "src/app/__init__.py": "",
        "src/app/core.py": "def f() -> int:\n    return 1\n",
        "src/app/user.py": "from app import core\n\n\ndef twice() -> int:\n    return core.f() * 2\n",
    }
    with opened(written(tmp_path, files)) as session:
        assert session.run("from app import core, user\ncore.f(), user.twice()").outcome.text == "(1, 2)"
        assert session.run('edit("app.core.f", "def f() -> int:\\n    return 5")').outcome.status == "applied"
        assert session.run("core.f(), user.twice()").outcome.text == "(5, 10)"
        failed = session.run('edit("app.core.f", "def f() -> int:\\n    return 7\\n\\n\\nf() / 0", reload="process")')
        assert failed.outcome.errors, failed.text
        assert (tmp_path / "src/app/core.py").read_text() == "def f() -> int:\n    return 5\n"
        assert session.run("core.f(), user.twice()").outcome.text == "(5, 10)"
        assert session.run("undo()").outcome.status == "applied"
        assert session.run("core.f()").outcome.text == "1"
        session.run("write('app.fresh', 'value = 9\\n')")
        assert session.run("from app import fresh\nfresh.value").outcome.text == "9"


def test_settings_that_do_not_parse_leave_the_root_to_import_from(tmp_path: Path) -> None:
    with opened(written(tmp_path, {"pyproject.toml": "[", "app.py": "value = 1\n"})) as session:
        [notice] = notices(session)
        assert notice.startswith("only from the project's folder, and what bae_source itself has: ")
        assert session.run("import app\napp.value").outcome.text == "1"


def test_a_block_that_clears_the_search_path_has_it_whole_again_in_the_next(tmp_path: Path) -> None:
    with opened(written(tmp_path, {"app.py": "value = 1\n", "json.py": TRACE})) as session:
        session.run("import sys\nsys.path.clear(); sys.meta_path.clear()")
        assert session.run("import app\napp.value").outcome.text == "1"
        session.run("import sys\nsys.path.reverse(); del sys.path[0], sys.meta_path[2]; sys.modules.pop('libcst', 0)")
        assert session.run("import xml.dom, app\nread('app.value')").outcome.text == "value = 1\n"
        assert not (tmp_path / "imported").exists()
