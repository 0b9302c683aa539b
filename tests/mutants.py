"""Copies of installed packages, and changes to them that take one definition away each, always the same ones."""

from __future__ import annotations

import ast
import importlib.util
import random
import shutil
from collections.abc import Iterator
from pathlib import Path


def copy_package(name: str, root: Path) -> None:
    """Copy an installed package into a folder, without compiled files."""
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    shutil.copytree(Path(spec.origin).parent, root / name, ignore=shutil.ignore_patterns("__pycache__"))


def mutants(root: Path, count: int) -> Iterator[dict[str, str]]:
    """Yield changes as the new text of a file, by its path."""
    candidates = []
    for path in sorted(root.rglob("*.py")):
        if path.name == "__main__.py":
            continue
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Assign)):
                first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
                candidates.append((path, first, node.end_lineno or first))
    for path, first, last in random.Random(7).sample(candidates, count):
        lines = path.read_text().splitlines(keepends=True)
        yield {path.relative_to(root).as_posix(): "".join([*lines[: first - 1], *lines[last:]])}
