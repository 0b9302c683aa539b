"""Find private names of the package in its tests, which go through public ones.

A private name begins with one underscore. Found are imports of one, attributes, and names that are given as text to
`setattr` and its like: all that have a name which the package declares, since no types are known here. What the class
of a test keeps, and what belongs to an import from elsewhere (`os._exit`), is left out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.architecture import PACKAGE, Violation

_WORD = re.compile(r"\b_[a-zA-Z]\w*")
_IMPORT = re.compile(rf"\b{PACKAGE}\b.*\b_[a-zA-Z]")
_BY_TEXT = {"setattr", "getattr", "delattr", "hasattr", "object", "setitem"}


def declared(trees: Iterable[ast.Module]) -> frozenset[str]:
    """Return the private names that modules declare."""
    return frozenset(name for tree in trees for node in ast.walk(tree) for name in _bound(node) if is_private(name))


def check(tests: Path, names: frozenset[str]) -> list[Violation]:
    """Return every use of `names` in modules below the folder `tests`, sorted by place."""
    uses = (
        Violation(path.relative_to(tests).as_posix(), line, f"`{name}` is private to the package")
        for path in tests.rglob("*.py")
        for name, line in _uses(path.read_text(encoding="utf-8"), names)
    )
    return sorted(set(uses))


def is_private(name: str) -> bool:
    """Return whether `name` begins with one underscore, and is more than that."""
    return name.startswith("_") and not name.startswith("__") and name != "_"


def _bound(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
            yield name


def _uses(text: str, names: frozenset[str]) -> Iterator[tuple[str, int]]:
    if names.isdisjoint(_WORD.findall(text)) and not _IMPORT.search(text):
        return
    tree = ast.parse(text)
    own = {name for node in ast.walk(tree) for name in _bound(node)}
    others = {name for node in ast.walk(tree) for name in _imported_from_elsewhere(node)}
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module), names=imported) if module.split(".")[0] == PACKAGE:
                parts = [*module.split("."), *(alias.name for alias in imported)]
                yield from ((part, node.lineno) for part in parts if is_private(part))
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name) if name in own:
                pass
            case ast.Attribute(value=ast.Name(id=owner)) | ast.Call(args=[ast.Name(id=owner), *_]) if owner in others:
                pass
            case ast.Attribute(attr=name) if name in names:
                yield name, node.lineno
            case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called)) if called in _BY_TEXT:
                yield from ((part, node.lineno) for part in _texts(node) if part in names)
            case ast.Subscript(value=ast.Call(func=ast.Name(id="vars")), slice=ast.Constant(value=name)):
                if name in names:
                    yield name, node.lineno


def _imported_from_elsewhere(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (alias.asname or alias.name.split(".")[0] for alias in names if not _is_ours(alias.name))
        case ast.ImportFrom(module=str(module), names=names) if not _is_ours(module):
            yield from (alias.asname or alias.name for alias in names)


def _is_ours(module: str) -> bool:
    return module.split(".")[0] in (PACKAGE, "tests")


def _texts(call: ast.Call) -> Iterator[str]:
    """Parts of texts that name something to a call: `setattr(a, "_B", 7)`, `setattr("bae_source.a._B", 7)`."""
    for argument in call.args[:2]:
        match argument:
            case ast.Constant(value=str(text)):
                yield from text.split(".")
