"""The names that a seed draws from a package to be inlined: what has a value or a body that could go elsewhere.

    limit = rows.pop()          a local variable that one plain assignment binds; one that a call gives is read once
    LIMIT = 3                   a constant of a module or a class
    def clean(text): ...        a function without decorators, and a method; each is called somewhere by its name
    def send(data, mode="w")    a parameter with a default

Invariants:
- what is drawn is named elsewhere in the package, so that it has a place to go to;
- the same seed draws the same names.
"""

from __future__ import annotations

import ast
import random
import re
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

from benchmarks.semantic.drawing import Change, Named
from benchmarks.semantic.subjects import Subject

INLINES = ("inline local", "inline function", "inline method", "inline constant", "inline parameter")
_MOST_STATEMENTS = 12
_PLAIN = {"staticmethod", "classmethod"}
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def inlines(root: Path, subject: Subject, count: int, seed: int, used: Collection[str]) -> list[Change]:
    """Return so many inlinings, of all kinds in turn.

    Parameters:
        root: the folder of the package's distribution.
        used: words that are left out.
    """
    source = random.Random(f"inlines {seed}")
    found: dict[str, list[Named]] = {kind: [] for kind in INLINES}
    trees = {path: ast.parse(path.read_bytes()) for path in sorted((root / subject.package).rglob("*.py"))}
    words = Counter(word for path in trees for word in re.findall(r"\w+", path.read_text(encoding="utf-8")))
    for path, tree in trees.items():
        module = ".".join(path.relative_to(root / subject.source).with_suffix("").parts).removesuffix(".__init__")
        for kind, target, node in _fitting(tree.body, module, in_class=False):
            name = target.rpartition(".")[2]
            if words[name] > 1 and name not in used and not (name.startswith("__") and name.endswith("__")):
                at = path.relative_to(root).as_posix()
                found[kind].append(Named(kind=kind, target=target, path=at, line=node.lineno, column=1))
    for several in found.values():
        source.shuffle(several)
    chosen: list[Named] = []
    while len(chosen) < count and any(found.values()):
        chosen += [several.pop() for several in found.values() if several]
    return [Change(named=each, inlines=True) for each in chosen[:count]]


def _fitting(body: list[ast.stmt], owner: str, *, in_class: bool) -> Iterator[tuple[str, str, ast.stmt]]:
    """Yield kind, dotted name and statement of what can be inlined in a suite of a module or class."""
    bound = Counter(name for each in body for name in _bound(each))
    for each in body:
        if isinstance(each, ast.ClassDef):
            yield from _fitting(each.body, f"{owner}.{each.name}", in_class=True)
        elif isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _of_function(each, f"{owner}.{each.name}", in_class=in_class, is_sole=bound[each.name] == 1)
        elif (name := _plain(each)) and bound[name] == 1:
            yield "inline constant", f"{owner}.{name}", each


def _of_function(
    function: _Function, target: str, *, in_class: bool, is_sole: bool
) -> Iterator[tuple[str, str, ast.stmt]]:
    decorators = {each.id if isinstance(each, ast.Name) else "" for each in function.decorator_list}
    if not is_sole:
        return
    has_yield = any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in ast.walk(function))
    if decorators <= _PLAIN and len(list(_statements(function))) <= _MOST_STATEMENTS and not has_yield:
        yield ("inline method" if in_class else "inline function"), target, function
    given = function.args
    defaulted = (given.posonlyargs + given.args)[len(given.posonlyargs + given.args) - len(given.defaults) :]
    keywords = [each for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True) if default is not None]
    for parameter in (*defaulted, *keywords):
        yield "inline parameter", f"{target}.{parameter.arg}", function
    parameters = {each.arg for each in ast.walk(given) if isinstance(each, ast.arg)}
    loads = (each for each in ast.walk(function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load))
    read = Counter(each.id for each in loads)
    bound = Counter(name for each in _statements(function) for name in _bound(each))
    for each in _statements(function):
        name = _plain(each)
        is_plain = name and bound[name] == 1 and name not in parameters
        if is_plain and (read[name] == 1 or not any(isinstance(node, ast.Call) for node in ast.walk(each))):
            yield "inline local", f"{target}.{name}", each


def _statements(function: _Function) -> Iterator[ast.stmt]:
    """Yield the statements of a function, but for those of functions and classes inside."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr)):
            waiting[:0] = list(ast.iter_child_nodes(node))


def _plain(node: ast.stmt) -> str:
    """Return the name that a plain assignment binds; nothing for any other statement."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    if isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
        return node.target.id
    return ""


def _bound(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
        return
    inside = (each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.stmt))
    for each in (inner for part in inside for inner in ast.walk(part)):
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load):
            yield each.id
