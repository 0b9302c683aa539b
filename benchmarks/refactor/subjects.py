"""What is renamed: a function, a class, a method and a module of django, and where each of them is named.

A place is *right* where the name means that very symbol: for symbols as adjudicated in `benchmarks/truth`, whose
places hold for whoever reads the code (`dynamic` ones mean it when they run, so a rename that leaves them breaks them);
for the module every import statement that leads to it, and its file. Every other place is *wrong* in code; in strings,
comments, docstrings and text files it is counted apart, since nobody can say what is wanted there.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Literal

from msgspec import Struct

from benchmarks import corpus
from benchmarks.read.subjects import SUBJECTS, Place, Subject
from benchmarks.read.truth import load, spots

Where = Literal["code", "string", "prose", "text"]
"""Code, a string that is no docstring, a comment or docstring, a file that is no Python."""

Text = tuple[tuple[int, int], tuple[int, int], Where]


class Renaming(Struct, frozen=True, kw_only=True):
    """One rename.

    Parameters:
        kind: of what is renamed.
        target: its canonical dotted name.
        path: the file that defines it; of a module, its own.
        new: the name that it gets.
        subject: where it is defined; None for a module.
        importer: of a module, a file that imports it by its whole name.
    """

    kind: str
    target: str
    path: str
    new: str
    subject: Subject | None = None
    importer: str = ""

    @property
    def name(self) -> str:
        """The name that it has."""
        return self.target.rpartition(".")[2]

    @property
    def new_path(self) -> str:
        """The file of a module afterwards."""
        return f"{self.path.rpartition('/')[0]}/{self.new}.py".removeprefix("/")

    def place(self, root: Path) -> Place:
        """Return a place that names it, at which an engine can be asked."""
        if self.subject is not None:
            return self.subject.definition(root)
        return min(place for place in _imports(root, self.target) if place.path == self.importer)

    def right(self, root: Path) -> frozenset[Place]:
        """Return every place that has to change."""
        if self.subject is None:
            return frozenset({*_imports(root, self.target), Place(self.path, 0, 0)})
        truth = load(self.subject)
        meant = truth.references | truth.dynamic
        places = set(_words(root, self.name))
        found = {place for place in places if spots(root, [place]) & meant}
        return frozenset({*found, self.subject.definition(root)})


def _of(kind: str, target: str, new: str) -> Renaming:
    subject = next(each for each in SUBJECTS if each.target == target)
    return Renaming(kind=kind, target=target, path=subject.path, new=new, subject=subject)


RENAMINGS = (
    _of("function", "django.utils.safestring.mark_safe", "mark_secure"),
    _of("class", "django.core.exceptions.ImproperlyConfigured", "BadlyConfigured"),
    _of("method", "django.test.testcases.SimpleTestCase.assertRedirects", "assertRedirected"),
    Renaming(
        kind="module",
        target="django.utils.safestring",
        path="django/utils/safestring.py",
        new="safetext",
        importer="django/forms/utils.py",
    ),
)


def where(root: Path, place: Place) -> Where:
    """Return what kind of text a place stands in."""
    if not place.path.endswith((".py", ".pyi")):
        return "text"
    if not place.line:
        return "code"  # the file itself
    at = place.line, place.column - 1
    return next((what for start, end, what in _texts(root / place.path) if start <= at < end), "code")


def line_at(root: Path, place: Place) -> str:
    """Return the line of a place, without the blanks around it."""
    if not place.line:
        return "(the file itself)"
    return (root / place.path).read_bytes().decode("utf-8", "replace").split("\n")[place.line - 1].strip()


def _words(root: Path, name: str) -> Iterator[Place]:
    """Yield every place where a name stands as a word in a `.py` file."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    for file in corpus.python_files(root):
        content = file.read_bytes()
        if name.encode() in content:
            path = file.relative_to(root).as_posix()
            for number, line in enumerate(_decoded(content).split("\n"), 1):
                yield from (Place(path, number, match.start() + 1) for match in word.finditer(line))


def _imports(root: Path, module: str) -> Iterator[Place]:
    """Yield the places of a module's own name in import statements that lead to it.

    Raises:
        AssertionError: code names it in another way, which this rule does not know.
    """
    package, _, name = module.rpartition(".")
    by_path: dict[str, list[Place]] = {}
    for place in _words(root, name):
        by_path.setdefault(place.path, []).append(place)
    for path, places in by_path.items():
        lines = {line for statement in _leading(root, path, module, package) for line in _lines(statement)}
        for place in places:
            if place.line in lines:
                yield place
            else:
                assert where(root, place) != "code", f"{place} may mean {module}"


def _lines(statement: ast.stmt) -> Iterable[int]:
    return range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)


def _leading(root: Path, path: str, module: str, package: str) -> Iterator[ast.stmt]:
    own = path.removesuffix(".py").removesuffix("/__init__").split("/")
    for node in ast.walk(ast.parse((root / path).read_bytes())):
        if isinstance(node, ast.Import) and any(f"{each.name}.".startswith(f"{module}.") for each in node.names):
            yield node
        elif isinstance(node, ast.ImportFrom):
            keeps = len(own) - node.level + (1 if path.endswith("/__init__.py") else 0)
            source = ".".join(
                [*(own[:keeps] if node.level else ()), *((node.module or "").split(".") if node.module else ())]
            )
            named = {each.name for each in node.names}
            if f"{source}.".startswith(f"{module}.") or (source == package and module.rpartition(".")[2] in named):
                yield node


def _decoded(content: bytes) -> str:
    encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    return content.decode(encoding)


@lru_cache(4)
def _texts(file: Path) -> tuple[Text, ...]:
    """Return where strings and comments of a file begin and end."""
    content = file.read_bytes()
    try:
        tokens = list(tokenize.tokenize(io.BytesIO(content).readline))
        tree = ast.parse(content)
    except (SyntaxError, tokenize.TokenError):
        return ()
    alone = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in _lines(node)
    }
    found: list[Text] = []
    for token in tokens:
        if token.type == tokenize.COMMENT:
            found.append((token.start, token.end, "prose"))
        elif token.type == tokenize.STRING:
            found.append((token.start, token.end, "prose" if token.start[0] in alone else "string"))
    return tuple(found)
