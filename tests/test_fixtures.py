"""The fixtures are what they claim to be, as far as the running Python can judge."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests import generated

FIXTURES = Path(__file__).parent.parent / "fixtures"
SOURCES = FIXTURES / "sources"
INDEX: dict[str, dict[str, Any]] = tomllib.loads((SOURCES / "index.toml").read_text(encoding="utf-8"))
_ROW = re.compile(r"^\| `(?P<name>[^`]+)` \| (?P<second>[^|]+) \| (?P<third>.+) \|$", re.MULTILINE)


def _rows(readme: Path) -> list[tuple[str, str, str]]:
    return _ROW.findall(readme.read_text(encoding="utf-8"))


PROJECTS = {name: re.findall(r"`([^`]+)`", roots) for name, roots, _ in _rows(FIXTURES / "projects" / "README.md")}


def test_the_index_lists_every_source_and_nothing_else() -> None:
    assert sorted(INDEX) == sorted(path.name for path in SOURCES.glob("*.py"))


def test_the_readme_shows_what_the_index_says() -> None:
    expected = [(name, _state(facts), facts["holds"]) for name, facts in sorted(INDEX.items())]
    assert _rows(SOURCES / "README.md") == expected


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("name", sorted(INDEX))
def test_this_python_compiles_exactly_the_sources_that_the_index_says(name: str) -> None:
    parses = INDEX[name]["parses"]
    expected = parses != "never" and _version(parses) <= sys.version_info[:2]
    assert _compiles((SOURCES / name).read_bytes()) is expected


@pytest.mark.parametrize("name", [name for name, facts in sorted(INDEX.items()) if "encoding" in facts])
def test_the_bytes_decode_as_the_index_says(name: str) -> None:
    content, encoding = (SOURCES / name).read_bytes(), INDEX[name]["encoding"]
    again = content.decode(encoding).encode(encoding)
    assert (again == content) is INDEX[name].get("lossless", True)


def test_newlines_are_still_as_they_were_written() -> None:
    # A checkout that translates newlines would let other tests pass for nothing.
    crlf = (SOURCES / "crlf.py").read_bytes()
    assert crlf.count(b"\r\n") == crlf.count(b"\n") > 30
    assert b"\n" not in (SOURCES / "lone_cr.py").read_bytes()
    assert b"\r" not in (SOURCES / "tabs.py").read_bytes()
    assert (SOURCES / "lone_cr_last.py").read_bytes().endswith(b"2\r")
    assert (SOURCES / "no_final_newline.py").read_bytes().endswith(b"2")


def test_a_cookie_behind_a_lone_carriage_return_counts() -> None:
    # `compile` honours it, though `tokenize.detect_encoding` refuses the file.
    statement = ast.parse((SOURCES / "latin1_lone_cr_cookie.py").read_bytes()).body[0]
    assert isinstance(statement, ast.Assign)
    assert ast.literal_eval(statement.value) == "été"


def test_a_form_feed_moves_the_column_of_a_definition_at_the_margin() -> None:
    body = ast.parse((SOURCES / "formfeed.py").read_bytes()).body
    first = next(node for node in body if isinstance(node, ast.FunctionDef))
    assert (first.name, first.col_offset) == ("first", 1)


def test_the_readme_lists_every_project_and_nothing_else() -> None:
    folders = [path.name for path in (FIXTURES / "projects").iterdir() if path.is_dir()]
    assert sorted(PROJECTS) == sorted(folders)


@pytest.mark.parametrize("name", sorted(PROJECTS))
def test_every_module_of_a_project_imports_from_its_source_roots(name: str) -> None:
    roots = [FIXTURES / "projects" / name / root for root in PROJECTS[name]]
    modules = sorted({module for root in roots for module in _modules(root)})
    assert modules
    code = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(name)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, roots)), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", code, *modules], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(generated.long_chain(100), id="long_chain"),
        pytest.param(generated.deep_brackets(90), id="deep_brackets"),
        pytest.param(generated.deep_unary(90), id="deep_unary"),
        pytest.param(generated.deep_elif(90), id="deep_elif"),
        pytest.param(generated.attribute_chain(100), id="attribute_chain"),
        pytest.param(generated.call_chain(100), id="call_chain"),
        pytest.param(generated.nested_ternaries(90), id="nested_ternaries"),
        pytest.param(generated.match_brackets(90), id="match_brackets"),
        pytest.param(generated.deep_suites(98), id="deep_suites"),
        pytest.param(generated.long_line(10_000), id="long_line"),
        pytest.param(generated.ten_thousand_lines(), id="ten_thousand_lines"),
    ],
)
def test_a_generated_source_is_valid_while_it_is_small(content: bytes) -> None:
    assert _compiles(content)


def test_ten_thousand_lines_are_ten_thousand_lines() -> None:
    assert generated.ten_thousand_lines().count(b"\n") == 10_000


def _state(facts: dict[str, Any]) -> str:
    if "encoding" not in facts:
        return "undecodable"
    if not facts.get("lossless", True):
        return "valid, not lossless"
    return {"3.11": "valid", "never": "invalid"}.get(facts["parses"], f"from {facts['parses']}")


def _version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


def _compiles(content: bytes) -> bool:
    try:
        compile(content, "fixture", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def _modules(root: Path) -> list[str]:
    """Dotted names of the modules that can be imported without side effects."""
    files = [path.relative_to(root) for path in root.rglob("*.py")]
    skipped = {"build", "tests", "setup.py", "__main__.py", "main.py", "up.py"}
    return [
        ".".join(path.with_suffix("").parts).removesuffix(".__init__")
        for path in files
        if not skipped & set(path.parts) and not path.name.startswith("test_")
    ]
