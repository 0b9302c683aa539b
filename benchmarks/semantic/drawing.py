"""The names that a seed draws from a package, and the modules that some of them are moved to.

Invariants:
- names are drawn by kind in turn, from all definitions, parameters and local names of the package's own code;
- the same seed draws the same changes, in whatever order they are tried.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from benchmarks.semantic.subjects import Subject

MODULE_LEVEL = ("function", "class", "variable")
MEMBERS = ("method", "attribute", "instance attribute")
KINDS = (*MODULE_LEVEL, *MEMBERS, "parameter", "local", "module")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_SCOPES = (*_FUNCTIONS, ast.ClassDef, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Named(Struct, frozen=True, kw_only=True):
    """A name that the package binds.

    Parameters:
        kind: one of `KINDS`.
        target: its dotted name.
        path: the file that binds it.
        line: of the first place that binds it, from 1 on.
        column: of that place, from 1 on.
    """

    kind: str
    target: str
    path: str
    line: int
    column: int

    @property
    def name(self) -> str:
        """The last part of the dotted name."""
        return self.target.rpartition(".")[2]


class Change(Struct, frozen=True, kw_only=True):
    """A rename, a move, another signature, an extraction, or an inlining.

    Parameters:
        named: what is changed.
        new: the name that it gets; empty for others.
        to: the module that it is moved to; empty for others.
        to_path: the file of that module, which need not be there.
        signature: the parameters that it gets; empty for others.
        of_signature: the kind of change that this is.
        renamed: parameters that get another name, each as old=new.
        value: what calls give for new parameters, each as name=expression.
        extract: what says which code of it is extracted, and as what; empty for others.
        of_extract: the kind of extraction that this is.
        inlines: whether it is inlined.
    """

    named: Named
    new: str = ""
    to: str = ""
    to_path: str = ""
    signature: str = ""
    of_signature: str = ""
    renamed: tuple[str, ...] = ()
    value: tuple[str, ...] = ()
    extract: Mapping[str, Any] = {}
    of_extract: str = ""
    inlines: bool = False

    @property
    def kind(self) -> str:
        """The kind of what is changed, and whether it is moved or gets another signature."""
        return self.of_signature or self.of_extract or (f"move {self.named.kind}" if self.to else self.named.kind)

    @property
    def shown(self) -> str:
        """The change as it is printed."""
        more = self.to or self.signature or self.extract.get("lines", "")
        return f"{self.named.target} -> {more}" if more else self.named.target


def names_of(root: Path, subject: Subject) -> dict[str, list[Named]]:
    """Return what a package binds, by kind.

    Parameters:
        root: the folder of the package's distribution.
    """
    found: dict[str, list[Named]] = {kind: [] for kind in KINDS}
    for path in sorted((root / subject.package).rglob("*.py")):
        relative = path.relative_to(root / subject.source).with_suffix("")
        module = ".".join(relative.parts).removesuffix(".__init__")
        text = path.read_text(encoding="utf-8")
        seen: set[str] = set()
        if path.name != "__init__.py":
            at = path.relative_to(root).as_posix()
            found["module"].append(Named(kind="module", target=module, path=at, line=1, column=1))
        for kind, owner, node in _bound(ast.parse(text).body, module, in_class=False):
            named = _named(kind, owner, node, text.split("\n"), path.relative_to(root).as_posix())
            if named.target not in seen and named.name.strip("_") and not named.name.startswith("__"):
                found[kind].append(named)
            seen.add(named.target)
    return found


def renames(names: dict[str, list[Named]], count: int, seed: int, used: Collection[str]) -> list[Change]:
    """Return so many renames, of names of all kinds in turn.

    Parameters:
        used: words that are left out.
    """
    fit = {kind: [each for each in every if each.name not in used] for kind, every in names.items()}
    return [Change(named=named, new=new_name(named.name)) for named in _drawn(fit, KINDS, count, random.Random(seed))]


def moves(names: dict[str, list[Named]], count: int, seed: int) -> list[Change]:
    """Return so many moves of definitions of all kinds in turn: every third goes to a new module."""
    source = random.Random(f"moves {seed}")
    files = {named.target.rpartition(".")[0]: named.path for kind in MODULE_LEVEL for named in names[kind]}
    found: list[Change] = []
    for named in _drawn(names, MODULE_LEVEL, count, source):
        own = named.target.rpartition(".")[0]
        others = sorted(module for module in files if module != own and "." in module)
        to = source.choice(others) if others else ""
        if len(found) % 3 == 2 or not others:
            to = f"{own.partition('.')[0]}.moved_{len(found)}"
        top = Path(named.path).parents[own.count(".") - (not named.path.endswith("/__init__.py"))]
        path = files.get(to) or f"{(top / to.partition('.')[2]).as_posix()}.py"
        found.append(Change(named=named, to=to, to_path=path))
    return found


def _drawn(names: dict[str, list[Named]], kinds: Sequence[str], count: int, source: random.Random) -> list[Named]:
    """Return so many names, of several kinds in turn."""
    rows = [source.sample(names[kind], len(names[kind])) for kind in kinds]
    found: list[Named] = []
    while len(found) < count and any(rows):
        found += [row.pop() for row in rows if row]
    return found[:count]


def new_name(old: str) -> str:
    """Return the name that a name gets."""
    return f"{old}_renamed" if old.islower() or old.startswith("_") else f"{old}Renamed"


def _named(kind: str, owner: str, node: ast.AST, lines: Sequence[str], path: str) -> Named:
    name = str(next(getattr(node, field) for field in ("name", "id", "arg", "attr") if hasattr(node, field)))
    line, start = node.lineno, node.col_offset  # type: ignore[attr-defined]
    text = lines[line - 1].encode()
    if isinstance(node, ast.Attribute):
        line, start = node.end_lineno or line, (node.end_col_offset or 0) - len(name.encode())
        text = lines[line - 1].encode()
    elif not isinstance(node, (ast.Name, ast.arg)):
        start = text.index(name.encode(), text.index(b" ", start))  # behind `def` or `class`
    return Named(kind=kind, target=f"{owner}.{name}", path=path, line=line, column=len(text[:start].decode()) + 1)


def _bound(body: Sequence[ast.stmt], owner: str, *, in_class: bool) -> Iterator[tuple[str, str, ast.AST]]:
    """Yield kind, owner and node of everything that a suite of a module or class binds, and functions inside."""
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield ("method" if in_class else "function"), owner, statement
            yield from _inside(statement, f"{owner}.{statement.name}", owner if in_class else "")
        elif isinstance(statement, ast.ClassDef):
            yield "class", owner, statement
            yield from _bound(statement.body, f"{owner}.{statement.name}", in_class=True)
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    yield ("attribute" if in_class else "variable"), owner, target


def _inside(
    function: ast.FunctionDef | ast.AsyncFunctionDef, name: str, owner: str
) -> Iterator[tuple[str, str, ast.AST]]:
    given = function.args
    parameters = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    for each in parameters[1:] if owner else parameters:
        yield "parameter", name, each
    nodes = [node for statement in function.body for node in _in_scope(statement)]
    elsewhere = {word for node in nodes if isinstance(node, (ast.Global, ast.Nonlocal)) for word in node.names}
    known = elsewhere | {each.arg for each in parameters}
    for node in nodes:
        is_stored = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id not in known
        if is_stored or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield "local", name, node
        elif owner and _is_own(node):
            yield "instance attribute", owner, node


def _is_own(node: ast.AST) -> bool:
    """Whether an attribute of `self` is assigned."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Store):
        return False
    return isinstance(node.value, ast.Name) and node.value.id == "self"


def _in_scope(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what a function's own scope holds, without what inner functions, classes and comprehensions do."""
    yield node
    if not isinstance(node, _SCOPES):
        for child in ast.iter_child_nodes(node):
            yield from _in_scope(child)
