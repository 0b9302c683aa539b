"""A project with codemods of its own, and what tests look at: its files before and after."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bae_source.engine.registry import request
from bae_source.engine.service import Context, Service
from bae_source.model.outcome import Outcome
from tests.operations.trees import put

MODS = '''"""Codemods of the project."""

import argparse

import libcst as cst
from libcst.codemod import Codemod, CodemodCommand, SkipFile, VisitorBasedCodemodCommand
from libcst.codemod.visitors import AddImportsVisitor
from libcst.metadata import FullyQualifiedNameProvider, ScopeProvider, TypeInferenceProvider


class Rename(VisitorBasedCodemodCommand):
    DESCRIPTION = "Call a name otherwise."

    @staticmethod
    def add_args(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--old", required=True, action="append", help="names to replace")
        parser.add_argument("--new", default="renamed")
        parser.add_argument("-t", "--times", type=int, default=1)
        parser.add_argument("--kinds", nargs="*", choices=["a", "b"], default=[])
        parser.add_argument("--loud", action="store_true")
        parser.add_argument("--add-import", dest="imported", default="")

    def __init__(self, context, old, new, times, kinds, loud, imported):
        super().__init__(context)
        self.old, self.imported = old, imported
        self.new = new * times + "".join(kinds) + "_loud" * loud

    def leave_Name(self, original_node, updated_node):
        if updated_node.value not in self.old:
            return updated_node
        if self.imported:
            AddImportsVisitor.add_needed_import(self.context, self.imported)
        return updated_node.with_changes(value=self.new)


class Plain(Codemod):
    def transform_module_impl(self, tree):
        return tree.with_changes(header=(cst.EmptyLine(comment=cst.Comment("# plain")), *tree.header))


class Names(VisitorBasedCodemodCommand):
    METADATA_DEPENDENCIES = (FullyQualifiedNameProvider, ScopeProvider)

    def leave_FunctionDef(self, original_node, updated_node):
        [name] = self.get_metadata(FullyQualifiedNameProvider, original_node)
        return updated_node.with_changes(leading_lines=[
            *updated_node.leading_lines, cst.EmptyLine(comment=cst.Comment("# " + name.name))
        ])


class Typed(VisitorBasedCodemodCommand):
    METADATA_DEPENDENCIES = (TypeInferenceProvider,)


class Cuts(VisitorBasedCodemodCommand):
    """Takes functions away."""

    def leave_FunctionDef(self, original_node, updated_node):
        return cst.RemoveFromParent() if updated_node.name.value == "f" else updated_node


class Unfinished(CodemodCommand):
    pass


def helper():
    return 1


made = Plain(None)
'''
FILES: Mapping[str, str] = {
    "pyproject.toml": '[project]\nname = "app"\nversion = "1"\n',
    "app/__init__.py": "",
    "app/core.py": "def f(x):\n    return x\n\n\ndef g(y):\n    return y\n",
    "app/use.py": "from app.core import f\n\n\ndef go(x):\n    return f(x)\n",
    "app/other.py": "LIMIT = 3\n",
    "tools/__init__.py": "",
    "tools/mods.py": MODS,
    "tools/one.py": "from tools.mods import Plain\n\n\nclass Only(Plain):\n    pass\n",
}
USUAL = Context(reload="off")


def laid(root: Path, files: Mapping[str, str | bytes] = FILES) -> Path:
    """Lay out a project, and return its root."""
    return put(root, files)


_OURS = frozenset({".bae-source", ".git", "__pycache__"})


def contents(root: Path) -> dict[str, bytes]:
    """Return what the files of a project hold, without our state and compiled files."""
    found = (path for path in root.rglob("*") if path.is_file() and _OURS.isdisjoint(path.parts))
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def service(root: Path, **environment: str) -> Service:
    """Return an engine on a project."""
    return Service(root, environment={**os.environ, **environment})


def ran(root: Path, codemod: str, context: Context = USUAL, **arguments: Any) -> Outcome:
    """Run a codemod on a project."""
    given = {"codemod": codemod, "scope": "app", **arguments}
    return service(root).run(
        request("codemod", {name: value for name, value in given.items() if value is not None}), context
    )
