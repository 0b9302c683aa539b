"""What runs in a codemod's process: edits between two texts, and libcst with less work and the same results."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

PROGRAM = Path(__file__).parents[2] / "bae_source/syntax/codemods"
LINES = st.lists(st.sampled_from(["a\n", "b\n", "ab\n", "\n", "é\r\n", "x"]), max_size=12).map("".join).map(str.encode)


def loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"tested_{name}", PROGRAM / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TRANSFORMING = loaded("transforming")


@given(LINES, LINES)
def test_edits_lead_from_one_text_to_the_other_apart_and_in_order(old: bytes, new: bytes) -> None:
    end, pieces = 0, []
    for start, stop, text in TRANSFORMING.edits_between(old, new):
        assert end <= start <= stop <= len(old)
        assert old[start:stop] != text
        pieces += [old[end:start], text]
        end = stop
    assert b"".join([*pieces, old[end:]]) == new


def test_edits_are_small_where_lines_are_far_apart_and_one_where_there_are_too_many_alike() -> None:
    old = b"first = 1\n" + b"same\n" * 50 + b"last = 1\n"
    new = b"first = 2\n" + b"same\n" * 50 + b"last = 22\n"
    assert TRANSFORMING.edits_between(old, new) == [(8, 9, b"2"), (267, 268, b"22")]
    old, new = b"a\n" + b"x\n" * 2000 + b"b\n", b"c\n" + b"x\n" * 2001 + b"d\n"
    assert len(TRANSFORMING.edits_between(old, new)) == 1


VISITORS = '''
import json, sys
sys.path.insert(0, sys.argv[1])
import libcst as cst, libcst.matchers as m
from libcst.codemod import CodemodContext, VisitorBasedCodemodCommand
from libcst.codemod.commands.convert_format_to_fstring import ConvertFormatStringCommand
from libcst.codemod.commands.remove_unused_imports import RemoveUnusedImportsCommand
import fast
if sys.argv[2] == "fast":
    fast.install()
calls = []


class Marked(VisitorBasedCodemodCommand):
    @m.call_if_inside(m.FunctionDef(name=m.Name("f")))
    def leave_Name(self, original_node, updated_node):
        return updated_node.with_changes(value=updated_node.value + "_")

    @m.call_if_not_inside(m.ClassDef())
    def visit_Integer(self, node):
        calls.append(node.value)

    @m.visit(m.Call())
    def note(self, node: cst.Call) -> None:
        calls.append("call")

    @m.leave(m.Return())
    def gone(self, original_node: cst.Return, updated_node: cst.Return) -> cst.Return:
        calls.append("return")
        return updated_node


class Plain(VisitorBasedCodemodCommand):
    def visit_Call_args(self, node):
        calls.append("args of " + type(node.func).__name__)

    def leave_Call_args(self, node):
        calls.append("end of args")

    def visit_ClassDef(self, node):
        return False

    def leave_Expr(self, original_node, updated_node):
        return cst.RemoveFromParent()

    def leave_Pass(self, original_node, updated_node):
        return cst.FlattenSentinel([updated_node, updated_node])


class Late(Plain):
    """Has a marked function of its own in each instance."""

    def __init__(self, context):
        @m.call_if_inside(m.FunctionDef())
        def visit(node):
            calls.append("inside")
        self.visit_Name = visit
        super().__init__(context)


class Wrong(VisitorBasedCodemodCommand):
    def leave_Name(self, original_node, updated_node):
        return 1


TEXT = """
import os, re as r, json
from a import b

class A:
    n = 1
    def f(self): return g(self, 2)

def f(x):
    print("{} {}".format(x, 3)); pass
    return h(x)(y=json)

f(4)
"""
found = []
for kind in (Marked, Plain, Late, Wrong, ConvertFormatStringCommand, RemoveUnusedImportsCommand):
    for text in (TEXT, TEXT * 2, ""):
        tree = cst.parse_module(text)
        fast.first_tree(tree)
        context = CodemodContext(filename="a.py", full_module_name="q.a", full_package_name="q")
        try:
            found.append(kind(context).transform_module(tree).code)
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}")
        found.append(tree.code == text)
print(json.dumps([found, calls]))
'''


def outcome(how: str) -> list[list[object]]:
    done = subprocess.run([sys.executable, "-c", VISITORS, str(PROGRAM), how], capture_output=True, check=True)
    found: list[list[object]] = json.loads(done.stdout)
    return found


def test_visitors_do_the_same_with_less_work() -> None:
    found, calls = outcome("fast")
    assert [found, calls] == outcome("plain")
    assert found[1::2] == [True] * 18, "no tree is altered"
    assert {"call", "return", "4", "args of Name", "end of args", "inside"} <= set(map(str, calls))
    assert "CSTValidationError: Expected a node of type CSTNode" in str(found)


def test_every_function_of_libcst_that_is_replaced_is_known() -> None:
    """Fails with a libcst whose code is another: what is done less often has to be looked at anew then."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import fast\n"
        "from libcst.codemod import _codemod; from libcst.matchers import _visitors as v\n"
        "kinds = [v.MatcherDecoratableTransformer, v.MatcherDecoratableVisitor]\n"
        "walks = [getattr(kind, name) for kind in kinds for name in fast._WALKS]\n"
        "gather = [getattr(v, name) for name in fast._KNOWN if name.startswith('_gather')]\n"
        "every = [_codemod.Codemod._handle_metadata_reference, *walks, *gather]\n"
        "assert {each.__qualname__ for each in every} == set(fast._KNOWN)\n"
        "print([each.__qualname__ for each in every if not fast._is_known(each)])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(PROGRAM)], capture_output=True, check=True, text=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("name", ["program", "loading", "transforming", "fast"])
def test_it_is_written_for_the_pythons_that_libcst_runs_on(name: str) -> None:
    import ast

    ast.parse((PROGRAM / f"{name}.py").read_text(), feature_version=(3, 9))
