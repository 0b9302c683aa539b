"""The two parsers give one outline: on real files, and on every nasty one that both can read."""

from __future__ import annotations

import ast
import tomllib
import warnings
from itertools import zip_longest
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bae_source.errors import ResourceError
from bae_source.syntax.outline.ast_walk import outline_of_ast
from bae_source.syntax.outline.cst_walk import CannotParse, NotLossless, outline_by_libcst
from bae_source.syntax.outline.definitions import Outline, Suite
from bae_source.syntax.outline.tree import parse, parse_module
from bae_source.syntax.text.depth import shallow
from bae_source.syntax.text.source import Source
from tests.project.library import sample, shown

SOURCES = Path(__file__).parent.parent.parent / "fixtures" / "sources"
INDEX = tomllib.loads((SOURCES / "index.toml").read_text(encoding="utf-8"))
#: Valid sources that libcst does not take as they stand; every other valid one it must.
ONLY_AST = {
    f"{name}.py"
    for name in [
        "assignments",
        "backslash_first_line",
        "backslashes",
        "formfeed",
        "formfeed_resets_indent",
        "latin1_lone_cr_cookie",
        "lone_cr",
        "lone_cr_blank_last",
        "lone_cr_last",
        "mixed_three_newlines",
    ]
}


def _by_ast(source: Source) -> Outline:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return outline_of_ast(ast.parse(source.text), source.text, source.lines)


def _ended(suite: Suite | None, text: str) -> Suite | None:
    return suite and msgspec.structs.replace(suite, end=len(text[: suite.end].rstrip("; ")))


def _facts(outline: Outline, text: str) -> list[tuple[object, ...]]:
    """Return an outline with its suites for their numbers, which the walkers give out differently, and no floors."""
    suites = outline.suites
    definitions = [
        (
            # CPython counts the semicolon behind a one-line suite in, libcst does not.
            msgspec.structs.replace(item, floor=0, suite=0, body=None, end=len(text[: item.end].rstrip("; "))),
            _ended(suites[item.suite], text),
            _ended(suites[item.body], text) if item.body is not None else None,
        )
        for item in outline.definitions
    ]
    others = ("docstring", "exported", "exports_known")
    return [
        *definitions,
        (suites[0],),
        *((item,) for item in outline.imports),
        *(("in a class", item) for item in outline.class_imports),
        *((name, getattr(outline, name)) for name in others),
    ]


def _differences(one: Outline, other: Outline, text: str) -> list[str]:
    mine, theirs = _facts(one, text), _facts(other, text)
    return [f"ast: {a}\ncst: {b}" for a, b in zip_longest(mine, theirs) if a != b]


@pytest.mark.parametrize("path", sample(25, "parsers", largest=30_000), ids=shown)
def test_a_file_of_the_standard_library_has_one_outline(path: Path) -> None:
    source = Source(path.read_bytes())
    try:
        other = outline_by_libcst(shallow(source.text), source.lines)
    except (CannotParse, NotLossless):  # libcst does not give every file back; then it is not asked
        pytest.fail(f"libcst refuses {shown(path)}")
    assert _differences(_by_ast(source), other, source.text) == []


@pytest.mark.parametrize("path", sorted(SOURCES.glob("*.py")), ids=lambda path: path.name)
def test_a_nasty_file_has_one_outline(path: Path) -> None:
    try:
        source = Source(path.read_bytes())
        one = _by_ast(source)
    except (ResourceError, SyntaxError, ValueError):
        assert (
            INDEX[path.name]["parses"] != "3.11" or "encoding" not in INDEX[path.name] or "lossless" in INDEX[path.name]
        )
        return
    try:
        other = outline_by_libcst(shallow(source.text), source.lines)
    except (CannotParse, NotLossless):
        assert path.name in ONLY_AST
        return
    assert path.name not in ONLY_AST, "take it off the list"
    assert _differences(one, other, source.text) == []


def test_imports_in_classes_are_those_that_run_with_the_module() -> None:
    text = (
        "class A:\n    from . import a\n    if x: import b.c as d, e\n    class B:\n        from .f import *\n"
        "    def g(self):\n        import h\n        class C: import i\n"
        "def j():\n    class D:\n        import k\nimport l\n"
    )
    source = Source(text.encode())
    outlines = _by_ast(source), outline_by_libcst(text, source.lines)
    for outline in outlines:
        assert [each.name for each in outline.class_imports] == ["a", "d", "e", "*"]
        assert [each.name for each in outline.imports] == ["l"]
    assert _differences(*outlines, text) == []


def test_a_wrong_count_of_the_parser_under_threads_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def parse_once_wrongly(*given: Any, **named: Any) -> ast.Module:
        calls.append(given)
        if len(calls) == 1:
            raise SystemError("AST constructor recursion depth mismatch (before=1, after=2)")
        return real(*given, **named)

    real = ast.parse
    with monkeypatch.context() as patched:  # pytest parses as well
        patched.setattr(ast, "parse", parse_once_wrongly)
        module = parse_module("x = 1\n")
    assert isinstance(module, ast.Module)
    assert len(calls) == 2


@pytest.mark.parametrize("text", ['x = b"a" "b"\n', 'x = "a" b"b"\n', 'x = t"a" t"b"\n', 'x = "a" t"b"\n'])
def test_what_libcst_refuses_when_it_has_parsed_is_refused(text: str) -> None:
    with pytest.raises(CannotParse):
        outline_by_libcst(text, Source(text.encode()).lines)


def test_bytes_that_no_python_takes_are_no_docstring() -> None:
    [function] = parse(Source('def f():\n    b"\u00e9"\n    type X = int\n'.encode())).outline.definitions
    assert function.docstring is None
