"""Pieces of code that a seed draws from a package, each to be extracted.

    extract statements       a run of one to six statements of a suite of a function
    extract expression       a call, an operation or a display, as a function
    extract variable         the same, as a variable
    extract constant         the same, or a number or a text, as a constant

Invariants:
- pieces are drawn wherever they stand in functions, whether they can be extracted or not;
- the same seed draws the same pieces.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from pathlib import Path

from benchmarks.semantic.drawing import Change, Named
from benchmarks.semantic.subjects import Subject

EXTRACTS = ("extract statements", "extract expression", "extract variable", "extract constant")
_MOST_STATEMENTS = 6
_EXPRESSIONS = (
    *(ast.Call, ast.BinOp, ast.Compare, ast.BoolOp, ast.IfExp, ast.Subscript, ast.Attribute, ast.JoinedStr),
    *(ast.Tuple, ast.List, ast.Dict, ast.Set, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.Await),
)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def extracts(root: Path, subject: Subject, count: int, seed: int) -> list[Change]:
    """Return so many pieces to be extracted, of all kinds in turn, each of another function where there are as many.

    Parameters:
        root: the folder of the package's distribution.
    """
    source = random.Random(f"extracts {seed}")
    functions = list(_functions(root, subject))
    source.shuffle(functions)
    found: list[Change] = []
    for number in range(count * 20):
        if len(found) == count or not functions:
            break
        kind = EXTRACTS[len(found) % len(EXTRACTS)]
        path, target, node = functions[number % len(functions)]
        piece = _piece(kind, path, node, source)
        if piece is not None:
            name = f"EXTRACTED_{len(found)}" if kind == "extract constant" else f"extracted_{len(found)}"
            named = Named(
                kind="function", target=target, path=path.relative_to(root).as_posix(), line=node.lineno, column=1
            )
            found.append(Change(named=named, of_extract=kind, extract={**piece, "as_name": name}))
    return found


def _functions(root: Path, subject: Subject) -> Iterator[tuple[Path, str, _Function]]:
    """Yield the functions of a package's modules and classes, with their files and names."""
    for path in sorted((root / subject.package).rglob("*.py")):
        relative = path.relative_to(root / subject.source).with_suffix("")
        module = ".".join(relative.parts).removesuffix(".__init__")
        tree = ast.parse(path.read_bytes())
        for owner, node in _defined(tree.body, module):
            yield path, f"{owner}.{node.name}", node


def _defined(body: list[ast.stmt], owner: str) -> Iterator[tuple[str, _Function]]:
    names = [each.name for each in body if isinstance(each, _DEFINITIONS)]
    for each in body:
        if isinstance(each, ast.ClassDef):
            yield from _defined(each.body, f"{owner}.{each.name}")
        elif isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)) and names.count(each.name) == 1:
            yield owner, each


def _piece(kind: str, path: Path, node: _Function, source: random.Random) -> dict[str, str] | None:
    """Return what says where a piece of a function is; None where it has none of that kind."""
    if kind == "extract statements":
        suites = [suite for each in ast.walk(node) for suite in _suites(each)]
        suite = source.choice(suites)
        first = source.randrange(len(suite))
        run = suite[first : first + source.randint(1, _MOST_STATEMENTS)]
        begin = min([run[0].lineno, *(each.lineno for each in getattr(run[0], "decorator_list", ()))])
        return {"lines": f"{begin}-{run[-1].end_lineno}"}
    wanted = (*_EXPRESSIONS, ast.Constant) if kind == "extract constant" else _EXPRESSIONS
    every = [each for statement in node.body for each in ast.walk(statement) if isinstance(each, wanted)]
    if not every:
        return None
    chosen = source.choice(every)
    text = path.read_text(encoding="utf-8")
    code = ast.get_source_segment(text, chosen) or ""
    line = text.split("\n")[chosen.lineno - 1].encode()
    column = len(line[: chosen.col_offset].decode(errors="replace")) + 1
    made = {"extract variable": "variable", "extract constant": "constant"}.get(kind)
    return {"code": code, "lines": f"{chosen.lineno}:{column}", **({"kind": made} if made else {})}


def _suites(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for field in ("body", "orelse", "finalbody"):
        suite = getattr(node, field, None)
        if isinstance(suite, list) and suite:
            yield suite
