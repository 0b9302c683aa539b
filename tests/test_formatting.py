"""`format`: the project's own formatter writes the definitions that change, through every door; real ruff and black."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bae_source import Source
from bae_source.engine.registry import request
from bae_source.engine.service import Context, Service
from bae_source.errors import Refused, RequestError, ResourceError, TransactionError

pytestmark = pytest.mark.sampled

RUFF, BLACK = "[tool.ruff]\n", "[tool.black]\n"
CORE = """\
import os
def f( a ):
    return {'a':a}
X = [ 1 ]
class A ( object ):
    '''Doc.  '''
    def g( self ):
        return  1
    def h( self ):
        return  f( 2 )
"""
NEW_F = "def f( a,b ):\n    return {'a':a,\n      'b':b}\n"
FORMATTED_F = 'def f(a, b):\n    return {"a": a, "b": b}\n'
Given = dict[str, Any]


@pytest.fixture(params=[RUFF, BLACK], ids=["ruff", "black"])
def root(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return _project(tmp_path, request.param)


def _project(folder: Path, settings: str = RUFF, core: bytes = CORE.encode(), name: str = "core.py") -> Path:
    (folder / "app").mkdir()
    (folder / "pyproject.toml").write_text(settings)
    (folder / "app/__init__.py").write_text("")
    (folder / "app" / name).write_bytes(core)
    return folder


def _with_black(folder: Path, does: str) -> Path:
    """Return a project whose own environment has a shell script for black."""
    root = _project(folder, BLACK)
    (root / ".venv/bin").mkdir(parents=True)
    (root / ".venv/bin/python").symlink_to(sys.executable)
    (root / ".venv/bin/black").write_text(f"#!/bin/sh\n{does}\n")
    (root / ".venv/bin/black").chmod(0o755)
    return root


def _core(root: Path) -> str:
    return (root / "app/core.py").read_bytes().decode()


def test_an_edit_formats_its_definition_and_nothing_else(root: Path) -> None:
    done = Source(root).edit("app.core.f", NEW_F, format=True)
    assert _core(root) == CORE.replace("def f( a ):\n    return {'a':a}\n", FORMATTED_F)
    assert done.text == f"Edited app.core.f. Formatted by {'ruff' if 'ruff' in _settings(root) else 'black'}."
    assert done.etag == Source(root).read("app.core.f").etag


def test_a_dry_run_shows_it_and_nothing_is_written(root: Path) -> None:
    done = Source(root).edit("app.core.f", NEW_F, format=True, dry_run=True)
    assert '+    return {"a": a, "b": b}\n' in done.diff
    assert _core(root) == CORE
    assert not list(root.rglob(".ruff_cache"))


def test_without_it_nothing_is_formatted(root: Path) -> None:
    Source(root).edit("app.core.f", NEW_F)
    assert NEW_F in _core(root)


CHANGES: list[tuple[str, Given, dict[str, str]]] = [
    (
        "edit",
        {"target": "app.core.A.g", "new_source": "def g( self ):\n    return  {'a' : 1}\n"},
        {"    def g( self ):\n        return  1\n": '    def g(self):\n        return {"a": 1}\n'},
    ),
    ("edit", {"target": "app.core.X", "old": "1 ", "new": "1,2 "}, {"X = [ 1 ]": "X = [1, 2]"}),
    (
        "edit",
        {"target": "app.core.f", "old": "'a':", "new": "'b':"},
        {"def f( a ):\n    return {'a':a}": 'def f(a):\n    return {"b": a}'},
    ),
    (
        "edit",
        {"target": "app.core.A@signature", "new_source": "class A ( dict ) :"},
        {"class A ( object ):\n    '''Doc.  '''\n": 'class A(dict):\n    """Doc."""\n'},
    ),
    (
        "insert",
        {"target": "app.core.X", "new_source": "Y  = ( 1,2 )\n"},
        {"X = [ 1 ]\n": "X = [ 1 ]\nY = (1, 2)\n\n\n"},
    ),
    (
        "rename",
        {"target": "app.core.f", "new_name": "k"},
        {
            "def f( a ):\n    return {'a':a}\n": 'def k(a):\n    return {"a": a}\n',
            "    def h( self ):\n        return  f( 2 )\n": "    def h(self):\n        return k(2)\n",
        },
    ),
    ("delete", {"target": "app.core.A.g"}, {"    def g( self ):\n        return  1\n": ""}),
    (
        "apply",
        {
            "requests": [
                {"do": "edit", "target": "app.core.X", "new_source": "X = [ 2 ]\n"},
                {"do": "edit", "target": "app.core.A.h", "new_source": "def h( self ): return  2\n"},
            ]
        },
        {
            "X = [ 1 ]": "X = [2]",
            "    def h( self ):\n        return  f( 2 )\n": "    def h(self):\n        return 2\n",
        },
    ),
]


@pytest.mark.parametrize(("verb", "given", "becomes"), CHANGES, ids=[f"{n}-{c[0]}" for n, c in enumerate(CHANGES)])
def test_each_change_formats_what_it_changes(root: Path, verb: str, given: Given, becomes: dict[str, str]) -> None:
    Service(root, environment=dict(os.environ)).run(request(verb, given), Context(format=True))
    expected = CORE
    for old, new in becomes.items():
        assert old in expected
        expected = expected.replace(old, new)
    assert _core(root) == expected


def test_new_files_are_formatted_whole(root: Path) -> None:
    Source(root).write("app.new", "import os\nx = 'a'\ndef f( ): pass\n", format=True)
    assert (root / "app/new.py").read_text() == 'import os\n\nx = "a"\n\n\ndef f():\n    pass\n'


def test_of_a_moved_symbol_the_new_place_is_formatted(root: Path) -> None:
    Source(root).move("app.core.f", "app.other", format=True)
    assert (root / "app/other.py").read_text() == 'def f(a):\n    return {"a": a}\n'
    assert "from app.other import f\n" in _core(root)
    assert "    def g( self ):\n" in _core(root)


def test_a_moved_module_keeps_what_the_move_does_not_change(root: Path) -> None:
    was = CORE.replace("import os\n", "from . import  x\n\n").replace("( object )", "( x.B )")
    (root / "app/x.py").write_text("class B :  pass\n")
    (root / "app/core.py").write_text(was)
    Source(root).move("app.core", "app.sub.core", format=True)
    assert (root / "app/sub/core.py").read_text() == was.replace("from . import  x", "from .. import x")


def test_a_transaction_is_formatted_by_its_commit(root: Path) -> None:
    with Source(root).transaction("several", format=True) as tx:
        tx.edit("app.core.f", NEW_F)
        assert NEW_F in tx.read("app.core.f")
    assert FORMATTED_F in _core(root)
    assert tx.outcome is not None
    assert FORMATTED_F.splitlines()[1] in tx.outcome.diff


def test_a_refused_change_is_formatted_by_the_commit_of_its_draft(root: Path) -> None:
    (root / "app/user.py").write_text(
        "def use( a ):\n    return a.g( )\ndef other( b ):\n    return b.g\nclass B:\n    def g(self): ...\n"
    )
    with pytest.raises(Refused) as caught:
        Source(root).rename("app.core.A.g", "got", format=True)
    done = Source(root).commit(caught.value.details["draft"], unsure="leave", format=True)
    assert done.status == "applied"
    assert "    def got(self):\n        return 1\n" in _core(root)
    assert "    def h( self ):\n" in _core(root)


def test_an_open_draft_is_formatted_by_its_commit(root: Path) -> None:
    service = Service(root, environment=dict(os.environ))
    handle = service.keeping.begin("x")
    service.keeping.run(handle, request("edit", {"target": "app.core.f", "new_source": NEW_F}), Context())
    service.run(request("commit", {"draft": handle}), Context(format=True))
    assert FORMATTED_F in _core(root)


def test_the_command_line_has_it(root: Path) -> None:
    command = [sys.executable, "-m", "bae_source", "edit", "app.core.f", "--source", "-", "--format", "--json"]
    done = subprocess.run(command, input=NEW_F, cwd=root, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["status"] == "applied"
    assert FORMATTED_F in _core(root)


def test_what_is_taken_back_comes_as_it_was(root: Path) -> None:
    source = Source(root)
    done = source.edit("app.core.f", NEW_F, format=True)
    with pytest.raises(RequestError, match="undo was called wrongly: format is unknown"):
        source.undo(format=True)
    source.undo(done.operation_id)
    assert _core(root) == CORE
    source.redo()
    assert FORMATTED_F in _core(root)


def test_a_change_of_the_format_alone_comes_to_nothing(root: Path) -> None:
    source = Source(root)
    source.edit("app.core.f", NEW_F, format=True)
    done = source.edit("app.core.f", NEW_F, format=True)
    assert (done.status, done.operation_id, done.diff) == ("unchanged", None, "")
    assert "it is what was there already" in done.text


@pytest.mark.parametrize("newline", ["\r\n", "\r", "\n"])
@pytest.mark.parametrize(("encoding", "head"), [("latin-1", "# coding: latin-1"), ("utf-8-sig", "#"), ("utf-8", "#")])
def test_line_ends_and_encodings_stay(root: Path, newline: str, encoding: str, head: str) -> None:
    text = newline.join([head, "B = 'ä'", *CORE.replace("Doc.", "Öl.").split("\n")])
    (root / "app/core.py").write_bytes(text.encode(encoding))
    Source(root).edit("app.core.f", "def f( a ):\n    return {'ü':a,\n 'b':b}\n", format=True)
    expected = text.replace(
        f"def f( a ):{newline}    return {{'a':a}}", f'def f(a):{newline}    return {{"ü": a, "b": b}}'
    )
    assert (root / "app/core.py").read_bytes() == expected.encode(encoding)


def test_mixed_line_ends_stay_around_the_change(root: Path) -> None:
    (root / "app/core.py").write_bytes(b"A = ( 1 )\nB = ( 2 )\r\nC = ( 3 )\nD = ( 4 )")
    Source(root).edit("app.core.B", "B = { 2:'2' }", format=True)
    assert (root / "app/core.py").read_bytes() == b'A = ( 1 )\nB = {2: "2"}\r\nC = ( 3 )\nD = ( 4 )'
    Source(root).edit("app.core.D", "D = { 2:'2' }", format=True)
    assert (root / "app/core.py").read_bytes() == b'A = ( 1 )\nB = {2: "2"}\r\nC = ( 3 )\nD = {2: "2"}'


@pytest.mark.parametrize("unit", ["\t", "  ", "   "])
def test_what_is_indented_otherwise_than_the_formatter_does_stays_so(root: Path, unit: str) -> None:
    core = CORE.replace("    ", unit) + "if X :\n    def k( ):\n        pass\n".replace("    ", unit)
    (root / "app/core.py").write_text(core)
    given = f"def g( self ):\n{unit}if  self :\n{unit * 2}x='''one\n    two'''\n{unit * 2}return  {{}}\n"
    Source(root).edit("app.core.A.g", given, format=True)
    Source(root).edit("app.core.k", f"def k( a ):\n{unit}if  a :\n{unit * 2}pass\n", format=True)
    formatted = f'{unit}def g(self):\n{unit * 2}if self:\n{unit * 3}x = """one\n    two"""\n{unit * 3}return {{}}\n'
    expected = core.replace(f"{unit}def g( self ):\n{unit * 2}return  1\n", formatted)
    expected = expected.replace(
        f"{unit}def k( ):\n{unit * 2}pass\n", f"{unit}def k(a):\n{unit * 2}if a:\n{unit * 3}pass\n"
    )
    assert _core(root) == expected


def test_stubs_are_formatted_as_stubs(root: Path) -> None:
    (root / "app/core.pyi").write_text("def f( a ): ...\ndef g( a ): ...\n")
    Source(root).edit("app.core@stub.f", "def f( a:int )->int:\n    ...\n", format=True)
    assert (root / "app/core.pyi").read_text() == "def f(a: int) -> int: ...\ndef g( a ): ...\n"


def test_what_a_formatter_rewrites_in_strings_and_numbers_is_the_same_code(root: Path) -> None:
    given = "def f( a ):\n    return 0XFF, 1E+5, u'\\xAb', 'it\\'s', ( 'a'\n   f'b{a}' ), 0XaB  #note\n"
    Source(root).edit("app.core.f", given, format=True)
    found = _core(root)
    joined = 'f"ab{a}"' if "ruff" in _settings(root) else '"a" f"b{a}"'
    assert f"""    return 0xFF, 1e5, "\\xab", "it's", ({joined}), 0xAB  # note\n""" in found
    assert Source(root).edit("app.core.f", given, format=True).status == "unchanged"


def test_comments_for_the_formatter_hold(root: Path) -> None:
    core = "# fmt: off\n" + CORE.replace("X =", "# fmt: on\nW = 1\nX =")
    (root / "app/core.py").write_text(core)
    Source(root).edit("app.core.f", NEW_F, format=True)
    Source(root).edit("app.core.X", "X = [ 1,2 ]  # fmt: skip", format=True)
    Source(root).edit("app.core.A.g", "def g( self ):\n    return  2\n", format=True)
    expected = core.replace("def f( a ):\n    return {'a':a}\n", NEW_F).replace("X = [ 1 ]", "X = [ 1,2 ]  # fmt: skip")
    expected = expected.replace("    def g( self ):\n        return  1\n", "    def g(self):\n        return 2\n")
    assert _core(root) == expected


def test_examples_in_docstrings_are_formatted_where_the_settings_say_so(tmp_path: Path) -> None:
    core = CORE.replace("'''Doc.  '''", "'''Doc.\n\n    >>> A( ).g( )\n    1\n    '''")
    root = _project(tmp_path, "[tool.ruff]\nformat.docstring-code-format = true\n", core.encode())
    Source(root).edit("app.core.A@signature", "class A ( dict ) :", format=True)
    expected = core.replace("class A ( object )", "class A(dict)").replace("A( ).g( )", "A().g()")
    assert _core(root) == expected.replace("'''Doc.", '"""Doc.').replace("    '''\n", '    """\n')


def test_data_files_are_left_alone(root: Path) -> None:
    Source(root).write(":notes.md", "x  =  1\n", format=True)
    assert (root / "notes.md").read_text() == "x  =  1\n"


def test_it_is_judged_as_it_is_formatted(root: Path) -> None:
    command = f"{sys.executable} -c \"import sys; sys.exit('def f(a, b)' not in open('app/core.py').read())\""
    done = Source(root).edit("app.core.f", NEW_F, format=True, verify=[f"command {command}"])
    assert [check.result for check in done.checks if check.name.startswith("command")] == ["passed"]


FAILURES: list[tuple[str, type[ResourceError], str]] = [
    ("exit 3", TransactionError, "black ended with status 3; nothing was written."),
    ("echo 'no : python'", TransactionError, "black changed the code of app.core.f, not only its format; nothing"),
    ("sed s/return/raise/", TransactionError, "black changed the code of app.core.f, not only its format; nothing"),
    ("sed 's/.a.:a/{&/'", TransactionError, "black changed the code of app.core.f, not only its format; nothing"),
    ("sed 's/( a,b )/(b, a)/'", TransactionError, "black changed the code of app.core.f, not only its format; nothing"),
    ("sed 's/def f/def F/'", TransactionError, "black changed the code of app.core.f, not only its format; nothing"),
    ("sed 's/def f/class f/'", TransactionError, "black changed the code of app.core.f"),
]


@pytest.mark.parametrize(("does", "error", "message"), FAILURES, ids=[each[0] for each in FAILURES])
def test_a_formatter_that_fails_or_prints_other_code_changes_nothing(
    tmp_path: Path, does: str, error: type[ResourceError], message: str
) -> None:
    root = _with_black(tmp_path, does)
    source = Source(root)
    for how in ({"dry_run": True}, {}):
        with pytest.raises(error) as caught:
            source.edit("app.core.f", NEW_F, format=True, **how)
        assert message in caught.value.message
        assert _core(root) == CORE
    assert source.history() == "(no operations)"


def test_a_formatter_that_changes_all_else_too_changes_nothing_else(tmp_path: Path) -> None:
    root = _with_black(tmp_path, r"sed -e 's/ \+)/)/g' -e 's/( \+/(/g' -e 's/^def/\n\n\ndef/'")
    Source(root).edit("app.core.f", "def f( b ):\n    return {'a':b}\n", format=True)
    assert _core(root) == CORE.replace("def f( a ):\n    return {'a':a}\n", "def f(b):\n    return {'a':b}\n")


def test_only_format_starts_the_formatter_of_the_project(tmp_path: Path) -> None:
    root = _with_black(tmp_path, f"touch '{tmp_path}/ran'\ncat")
    source = Source(root)
    source.edit("app.core.f", NEW_F, dry_run=True)
    source.edit("app.core.f", NEW_F)
    source.undo()
    assert not (root / "ran").exists()
    source.edit("app.core.f", NEW_F, format=True, dry_run=True)
    assert (root / "ran").exists()


@pytest.mark.parametrize("settings", ["", "[tool.ruff.format]\n[tool.black]\n"])
def test_without_a_formatter_nothing_is_changed(tmp_path: Path, settings: str) -> None:
    root = _project(tmp_path, settings)
    with pytest.raises(RequestError) as caught:
        Source(root).edit("app.core.f", NEW_F, format=True)
    assert caught.value.hints == ("[tool.bae-source] formatter names one: ruff or black.",)
    assert _core(root) == CORE


def _settings(root: Path) -> str:
    return (root / "pyproject.toml").read_text()
