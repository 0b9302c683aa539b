"""Outlines as bytes: what is recalled is what was saved."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source.syntax.outline.tree import Tree, parse, recalled, saved
from bae_source.syntax.text.source import Source

_CODE = '''"""Doc."""
from __future__ import annotations
import os.path, sys as system
from .x import *
if True:
    from a import b as c
__all__ = ["A", "f"]

# above
@decorated(1)
class A(B):
    """Of A."""
    x = y = 1
    from . import inner
    @property
    def p(self): return 1
    @p.setter
    def p(self, value):
        self.v = value
        # trailing
    def f(self): pass; z = 3
type X = int
'''


def _again(content: bytes) -> tuple[Tree, Tree]:
    tree = parse(Source(content))
    other = recalled(Source(content), saved(tree))
    assert other is not None
    return tree, other


def _of(tree: Tree) -> tuple[object, ...]:
    outline = tree.outline
    return (
        outline.definitions,
        outline.suites,
        outline.imports,
        outline.class_imports,
        outline.docstring,
        outline.exported,
        outline.exports_known,
        tree.newer,
        tree.text,
    )


@pytest.mark.parametrize("content", [b"", b"x = 1", _CODE.encode(), _CODE.replace("\n", "\r\n").encode("utf-8-sig")])
def test_an_outline_comes_back_as_it_was(content: bytes) -> None:
    tree, other = _again(content)
    assert _of(tree) == _of(other)
    assert other.outline.named(-1, "A") == tree.outline.named(-1, "A")


def test_the_outlines_of_our_own_modules_come_back() -> None:
    for path in sorted((Path(__file__).parents[2] / "bae_source").glob("*/*.py")):
        tree, other = _again(path.read_bytes())
        assert _of(tree) == _of(other), path


def test_what_is_no_outline_is_none() -> None:
    source = Source(b"x = 1")
    for content in (b"", b"\xc1", b"\x93\x01\x02\x03", b"no outline"):
        assert recalled(source, content) is None


def test_an_export_that_is_no_text_is_not_known_and_so_can_be_kept() -> None:
    tree, other = _again(rb'__all__ = ["f", "\ud800"]')
    assert (tree.outline.exported, tree.outline.exports_known) == (None, False)
    assert _of(tree) == _of(other)
