"""Attributes of a project's classes that run code when they are read: properties, and other descriptors.

    @property
    def total(self): return self._total         only reads: as any attribute
    @property
    def rows(self): self._rows = read(); ...    runs code: reading `rows` counts as a call
    name = Checked()                            likewise, where the class `Checked` has `__get__`, or one above it

    class Lazy: def __getattr__(self, name): ...        likewise every attribute that a file which names `Lazy` reads,
                                                        and does not bind

Invariants:
- they are known by their names alone, whatever the receiver: a name counts if any class of the project has it so.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Set
from functools import cached_property

from bae_source.errors import ResourceError
from bae_source.project.references.meaning.project import Project
from bae_source.syntax.flow.evaluation import Depends, depends, is_fresh, read_as
from bae_source.syntax.flow.scopes import Level, Scopes
from bae_source.syntax.outline.static_values import names_bound
from bae_source.syntax.outline.tree import parse_module
from bae_source.system.graphs import reached

_BETWEEN = r"(?:\1[@#][^\n]*\n)*"
_PROPERTY = re.compile(rf"^([ \t]*)@[\w.]*property\b[^\n]*\n{_BETWEEN}\1(?:async[ \t]+)?def[ \t]+(\w+)", re.M)
_MADE = r"^[ \t]+(\w+)[ \t]*(?::[^=\n]*)?=[ \t]*(?:[\w.]*\.)?(?:{})\("
_DECORATED = r"^([ \t]+)@(?:[\w.]*\.)?(?:{})\b[^\n]*\n" + _BETWEEN + r"\1(?:async[ \t]+)?def[ \t]+(\w+)"
_CLASS_WITH = r"^[ \t]*class[ \t]+(\w+)|^[ \t]+def[ \t]+(?:{})\b"
_HEADER = re.compile(r"^[ \t]*class[ \t]+(\w+)[^(:\n]*\(([^)]+)\)", re.M)
_WORDS = ("property", "cached_property")


class RunningAttributes:
    """Tells which attributes run code when they are read.

    Parameters:
        project: whose classes count.
    """

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, text: str) -> frozenset[str]:
        """Return those that the code of a file may read, as `read_as` writes them."""
        return self._known | _unknown(text, self._dynamic)

    @cached_property
    def _known(self) -> frozenset[str]:
        """Properties and descriptors."""
        bodies: dict[str, list[ast.FunctionDef | None]] = {}
        kinds = self._classes("__get__")
        made = re.compile(_MADE.format("|".join(("property", *kinds))), re.M)
        decorated = re.compile(_DECORATED.format("|".join(kinds)), re.M) if kinds else None
        for text in _texts(self._project, (*_WORDS, *kinds)):
            for found in _PROPERTY.finditer(text):
                bodies.setdefault(found[2], []).append(_function(text, found))
            others = [each[1] for each in made.finditer(text)]
            others += [each[2] for each in decorated.finditer(text)] if decorated else []
            for name in others:
                bodies.setdefault(name, []).append(None)
        every = frozenset(map(read_as, bodies))
        return frozenset(read_as(name) for name, several in bodies.items() if any(_runs(e, every) for e in several))

    def _classes(self, *methods: str) -> frozenset[str]:
        """Return the classes that have one of some methods, and those below them."""
        having = re.compile(_CLASS_WITH.format("|".join(methods)), re.M)
        found = [name for text in _texts(self._project, methods) for name in _having(having, text)]
        return frozenset(reached(found, lambda each: self._below.get(each, ())))

    @cached_property
    def _below(self) -> dict[str, set[str]]:
        """By each word in the header of a class, the names of these classes."""
        found: dict[str, set[str]] = {}
        for text in _texts(self._project, ("class",)):
            for header in _HEADER.finditer(text):
                for word in re.findall(r"\w+", header[2]):
                    found.setdefault(word, set()).add(header[1])
        return found

    @cached_property
    def _dynamic(self) -> frozenset[str]:
        """Classes whose code is asked for attributes that they do not have."""
        return self._classes("__getattr__", "__getattribute__")


def _unknown(text: str, dynamic: Set[str]) -> frozenset[str]:
    """Return the attributes in a file that names such a class, but for those that it binds, or takes from modules."""
    if dynamic.isdisjoint(re.findall(r"\w+", text)):
        return frozenset()
    tree = parse_module(text)
    nodes = list(ast.walk(tree))
    aliases = (alias for each in nodes if isinstance(each, ast.Import) for alias in each.names)
    known = {name for alias in aliases for name in names_bound(alias)}
    opened = Scopes(tree).opened.values()
    bound = {name for each in opened if each.level is Level.CLASS for name in each.bound}
    every = [each for each in nodes if isinstance(each, ast.Attribute) and not each.attr.startswith("__")]
    bound |= {each.attr for each in every if not isinstance(each.ctx, ast.Load)}
    read = (each for each in every if getattr(each.value, "id", "") not in known)
    return frozenset(read_as(each.attr) for each in read if each.attr not in bound)


def _texts(project: Project, words: tuple[str, ...]) -> Iterator[str]:
    for path in project.workspace.index.naming(words).paths:
        try:
            content = project.workspace.content(path) if path.endswith(".py") else None
        except ResourceError:
            continue
        text = (content or b"").decode("utf-8", "replace")
        yield re.sub(r"\r\n?", "\n", text) if "\r" in text else text


def _having(having: re.Pattern[str], text: str) -> Iterator[str]:
    """Yield the classes that have a method."""
    name = ""
    for found in having.finditer(text):
        if found[1]:
            name = found[1]
        elif name:
            yield name


def _function(text: str, found: re.Match[str]) -> ast.FunctionDef | None:
    """Return the function below a decorator; None where it cannot be read."""
    indent, lines = len(found[1]), text[text.rindex("\n", 0, found.end()) + 1 :].split("\n")
    end = next((n for n, each in enumerate(lines) if n and each.strip() and _indent(each) <= indent), len(lines))
    try:
        tree = ast.parse(textwrap.dedent("\n".join(lines[:end])))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return tree.body[0] if tree.body and isinstance(tree.body[0], ast.FunctionDef) else None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _runs(function: ast.FunctionDef | None, every: Set[str]) -> bool:
    """Return whether a property does more than to read attributes, which are no properties themselves."""
    if function is None:
        return True
    body = [each for each in function.body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]
    if not body:
        return False
    last = body[0]
    if len(body) > 1 or not isinstance(last, (ast.Return, ast.Raise, ast.Pass)):
        return True
    value = last.value if isinstance(last, ast.Return) else None
    return value is not None and (depends(value, every) is Depends.RUNS or is_fresh(value, every))
