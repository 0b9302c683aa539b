"""The two parsers give one outline: on real files, and on every nasty one that both can read."""

from __future__ import annotations

import ast
import tomllib
import warnings
from pathlib import Path

import msgspec
import pytest

from bae_source.errors import ResourceError
from bae_source.syntax.ast_walk import outline_of_ast
from bae_source.syntax.cst_walk import CannotParse, outline_by_libcst
from bae_source.syntax.depth import shallow
from bae_source.syntax.outline import Outline
from bae_source.syntax.source import Source
from tests.project.library import sample, shown

SOURCES = Path(__file__).parent.parent.parent / "fixtures" / "sources"
INDEX = tomllib.loads((SOURCES / "index.toml").read_text(encoding="utf-8"))
#: Valid sources that libcst does not take as they stand; every other valid one it must.
ONLY_AST = {
    "backslash_first_line.py",
    "lone_cr_last.py",
    "lone_cr_blank_last.py",
}


def _by_ast(source: Source) -> Outline:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return outline_of_ast(ast.parse(source.text), source.text, source.lines)


def _differences(one: Outline, other: Outline) -> list[str]:
    """Return what two outlines differ in; the floors need not be the same to give the same comments."""
    found = []
    for mine, theirs in zip(one.definitions, other.definitions, strict=False):
        if msgspec.structs.replace(mine, floor=0) != msgspec.structs.replace(theirs, floor=0):
            found.append(f"{mine}\n{theirs}")
    for name in ("suites", "imports", "docstring", "exported", "exports_known"):
        if getattr(one, name) != getattr(other, name):
            found.append(f"{name}: {getattr(one, name)} {getattr(other, name)}")
    if len(one.definitions) != len(other.definitions):
        found.append(f"{len(one.definitions)} definitions, {len(other.definitions)} definitions")
    return found


@pytest.mark.parametrize("path", sample(25, "parsers", largest=30_000), ids=shown)
def test_a_file_of_the_standard_library_has_one_outline(path: Path) -> None:
    source = Source(path.read_bytes())
    try:
        other = outline_by_libcst(shallow(source.text), source.lines)
    except CannotParse:  # libcst does not give every file back; then it is not asked
        pytest.fail(f"libcst refuses {shown(path)}")
    assert _differences(_by_ast(source), other) == []


@pytest.mark.parametrize("path", sorted(SOURCES.glob("*.py")), ids=lambda path: path.name)
def test_a_nasty_file_has_one_outline(path: Path) -> None:
    try:
        source = Source(path.read_bytes())
        one = _by_ast(source)
    except (ResourceError, SyntaxError, ValueError):
        assert INDEX[path.name]["parses"] != "3.11" or "encoding" not in INDEX[path.name] or "lossless" in INDEX[path.name]
        return
    try:
        other = outline_by_libcst(shallow(source.text), source.lines)
    except CannotParse:
        assert path.name in ONLY_AST
        return
    assert path.name not in ONLY_AST, "take it off the list"
    assert _differences(one, other) == []
