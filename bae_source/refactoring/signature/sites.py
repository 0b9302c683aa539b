"""The places that call a function, or hand it on, whose signature changes.

    send(1)                       a call, by the name or another one that it has: an alias, an import, `cls` of a class
    partial(send, 1)              a call that others complete
    @send                         a call with the function below it
    map(send, items)              handed on, so that the arguments of its calls are not seen
    isinstance(x, Client)         neither, if the constructor of Client changes

Invariants:
- each place stands once, however many searches find it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from enum import Enum, auto

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.model.reasons import Reason
from bae_source.project.facts.mentions import Mentioning
from bae_source.project.references.calls.calling import Calling
from bae_source.project.references.calls.parameters import classes_built_by
from bae_source.project.references.classes.family import Family
from bae_source.project.references.meaning.meanings import Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Mentioned, Sought
from bae_source.project.references.search.references import search_code
from bae_source.syntax.names import uses as u
from bae_source.syntax.outline.ast_walk import span_of
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.rewrite.name_tokens import written
from bae_source.syntax.text.lexer import end_of_bracket
from bae_source.system.silence import unwarned

_PARTIAL = re.compile(r"\b(?:partial|partialmethod)\s*(\()\s*(?:\w+\s*\.\s*)*\Z")
_BLANK = re.compile(r"(?:[ \t\f]|\\\r?\n)*")
_NO_USE = (u.IMPORT, u.EXPORT, u.ANNOTATION, u.BASE, u.WRITE, u.DELETE, u.REQUEST, u.KEYWORD)
ASKING = frozenset(
    {"isinstance", "issubclass", "hasattr", "getattr", "setattr", "delattr", "super", "cast", "callable", "id", "repr",
     "str", "hash", "type", "len", "print", "vars", "dir", "help",
     "raises", "warns", "suppress", "assertRaises", "assertRaisesRegex", "assertWarns", "assertWarnsRegex",
     "assertIsInstance", "assertNotIsInstance"}
)  # fmt: skip
"""Functions that do not call the classes or functions that they are given, nor those of a tuple."""


_ONE_OF_SEVERAL = Reason.SEVERAL.of(what="the class that is called")


class How(Enum):
    """The way in which a place uses the function."""

    CALL = auto()
    PARTIAL = auto()
    DECORATOR = auto()
    RAISED = auto()  # a class whose instance `raise` makes
    HANDED_ON = auto()
    MENTION = auto()  # in a string, or in code that could not be analysed


class Site(Struct, frozen=True, kw_only=True):
    """One place.

    Parameters:
        mentioned: where it is, and how sure.
        how: the way in which it uses the function.
        opening: where the brackets with its arguments begin in the file's text; -1 for none.
        makes: whether it calls the class whose instance the function makes.
        is_other: whether what it calls has another name, or none.
    """

    mentioned: Mentioned
    how: How
    opening: int = -1
    makes: bool = False
    is_other: bool = False

    @property
    def place(self) -> tuple[str, int, int]:
        """Its file, line and column."""
        return (self.mentioned.path, *self.mentioned.mention[:2])


class Sites(Struct, frozen=True, kw_only=True):
    """All places, and files that may hold more."""

    sites: tuple[Site, ...]
    unreadable: tuple[tuple[str, ResourceError], ...]


def sites_of(project: Project, family: Family, within: Sequence[str] | None = None) -> Sites:
    """Return the places that use a function.

    Parameters:
        within: the only files that are of interest; None for all.
    """
    search = _Search(project, within, family.sought.word)
    search.look_for(family.sought, makes=False)
    built = classes_built_by(project, set(family.symbols))
    project.workspace.index.naming([each.word for each in built])  # for all of them each file is read once
    for number, sought in enumerate(built):
        search.look_for(sought, makes=True, is_below=number > 0)
    found = (search.site(key) for key in sorted(search.found))
    return Sites(
        sites=tuple(each for each in found if each is not None), unreadable=tuple(sorted(search.unreadable.items()))
    )


class _Search:
    def __init__(self, project: Project, within: Sequence[str] | None, word: str) -> None:
        self.project = project
        self.word = word
        self.within = within
        self.found: dict[tuple[str, int, int], tuple[Mentioned, bool, bool]] = {}
        self.unreadable: dict[str, ResourceError] = {}
        self._nodes: dict[str, list[ast.AST]] = {}
        self._parents: dict[str, dict[int, ast.AST]] = {}

    def look_for(self, sought: Sought, *, makes: bool, is_below: bool = False) -> None:
        """Note what mentions the function, or a class that it makes instances of.

        Parameters:
            makes: whether it is such a class.
            is_below: whether it is one below the function's own; what code puts in its place is not searched for.
        """
        naming = self.project.workspace.index.naming
        paths = None if self.within is None else tuple(sorted(self.within))
        matches = search_code(self.project, sought, naming if paths is None else lambda _: Mentioning(paths))
        self.unreadable.update(matches.unreadable)
        calling = Calling(self.project, sought)
        several = makes and self._is_one_of_several(sought)
        for path, mentions in matches.files:
            for each in mentions:
                doubted = Mentioned(path, each.mention, "unsure", _ONE_OF_SEVERAL) if several else each
                self.found.setdefault((path, *each.mention[:2]), (doubted, makes, False))
        if paths is not None:
            return
        calling.run(dict(matches.files), matches.names)
        for key, each in calling.found.items():
            self.found.setdefault(key, (each, makes, True))
        if why := "" if is_below else calling.bound_anew:
            for key, (each, is_maker, is_other) in self.found.items():
                if each.certainty == "sure" and each.mention.kind == u.CALL and is_maker is makes:
                    self.found[key] = (Mentioned(each.path, each.mention, "unsure", why), is_maker, is_other)
        self.unreadable.update(calling.unreadable)

    def _is_one_of_several(self, sought: Sought) -> bool:
        """Return whether a name is that of several classes of one file, one after the other."""
        files = (
            self.project.uses(each.path).scopes[each.scope].names.get(each.name, ())
            for each in sought.meanings
            if isinstance(each, Symbol)
        )
        return any(sum(how == u.CLASS for how, *_ in bindings) > 1 for bindings in files)

    def site(self, key: tuple[str, int, int]) -> Site | None:
        """Return the place of a mention; None where it is no use."""
        mentioned, makes, is_other = self.found[key]
        line, column, _, kind, *_ = mentioned.mention
        if kind in _NO_USE:
            return None
        if kind == u.STRING and self.word.startswith("__"):
            return None  # every class has such names
        if kind in (u.STRING, u.MENTION):
            return Site(mentioned=mentioned, how=How.MENTION)
        try:
            tree = self.project.workspace.tree_at(mentioned.path)
        except ResourceError:
            return Site(mentioned=mentioned, how=How.MENTION)
        start = tree.source.lines.offset(line, column)
        end = start + len(written(tree.text, start))
        if makes and tree.text[start:end] == "__new__":
            return None  # which makes an instance, and leaves the rest to the call of the class
        is_nameless = mentioned.mention in self.project.uses(mentioned.path).mentions.get(u.NAMELESS, ())
        opening = self._nameless(tree, mentioned.path, start) if is_nameless else opening_of(tree.text, end)
        if kind in (u.CALL, u.DECORATOR) and opening >= 0:
            return Site(mentioned=mentioned, how=How.CALL, opening=opening, makes=makes, is_other=is_other)
        if kind == u.DECORATOR:
            return Site(mentioned=mentioned, how=How.DECORATOR, makes=makes)
        partial = _PARTIAL.search(tree.text, max(0, start - 200), start)
        if partial is not None and kind != u.CALL and self._has_partial(mentioned.path):
            return Site(mentioned=mentioned, how=How.PARTIAL, opening=partial.start(1), makes=makes)
        how = self._use(tree, mentioned, end)
        return None if how is None else Site(mentioned=mentioned, how=how, makes=makes)

    def _nameless(self, tree: Tree, path: str, start: int) -> int:
        """Return where the brackets begin of the only call at a place whose function has no name; -1 for none."""
        calls = [
            each
            for each in self._parsed(tree, path)
            if isinstance(each, ast.Call)
            and not isinstance(each.func, (ast.Name, ast.Attribute))
            and span_of(tree.source.lines, each).start == start
        ]
        if len(calls) != 1:
            return -1
        end = span_of(tree.source.lines, calls[0].func).end
        closing = re.compile(r"[\s)]*").match(tree.text, end)
        return opening_of(tree.text, closing.end() if closing else end)

    def _parsed(self, tree: Tree, path: str) -> list[ast.AST]:
        """Return the nodes of a file; none where it is newer than the Python that runs here."""
        if path not in self._nodes:
            try:
                with unwarned():
                    self._nodes[path] = list(ast.walk(ast.parse(tree.text)))
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                self._nodes[path] = []
        return self._nodes[path]

    def _has_partial(self, path: str) -> bool:
        """Return whether a file imports what makes partial functions."""
        return any(each.module == "functools" for each in self.project.uses(path).imports)

    def _use(self, tree: Tree, mentioned: Mentioned, end: int) -> How | None:
        """Return how a name is used that is not called; None where that cannot lead to a call."""
        path = mentioned.path
        if path not in self._parents:
            self._parents[path] = _parents_in(tree, self._parsed(tree, path))
        parent = self._parents[path].get(end)
        if isinstance(parent, (ast.Tuple, ast.List, ast.BinOp)) and self._is_of_types(path, tree, parent):
            return None
        if isinstance(parent, ast.Raise):
            return How.RAISED
        if isinstance(parent, ast.Call):
            name = parent.func.id if isinstance(parent.func, ast.Name) else getattr(parent.func, "attr", "")
            return None if name in ASKING else How.HANDED_ON
        is_plain = isinstance(
            parent,
            (ast.Assign, ast.AnnAssign, ast.Attribute, ast.Compare, ast.Expr, ast.ExceptHandler, ast.Return, ast.Delete,
             ast.Subscript, ast.MatchClass, ast.NamedExpr),
        )  # fmt: skip
        return None if is_plain else How.HANDED_ON

    def _is_of_types(self, path: str, tree: Tree, node: ast.AST) -> bool:
        """Return whether an expression stands in a type, such as `Callable[[Request], Response]` or `Leaf | Node`."""
        if isinstance(node, ast.BinOp):
            return isinstance(node.op, ast.BitOr)
        inside = {
            id(each)
            for outer in self._parsed(tree, path)
            if isinstance(outer, ast.Subscript)
            for each in ast.walk(outer.slice)
        }
        return id(node) in inside


def opening_of(text: str, end: int) -> int:
    """Return where the brackets begin behind a name that is called, with type arguments between; -1 for none.

    Parameters:
        end: where the name ends in the text.
    """
    for _ in range(2):
        blank = _BLANK.match(text, end)
        position = blank.end() if blank else end
        if text[position : position + 1] == "(":
            return position
        if text[position : position + 1] != "[":
            break
        end = end_of_bracket(text, position)
    return -1


def _parents_in(tree: Tree, nodes: Sequence[ast.AST]) -> dict[int, ast.AST]:
    """Return the node around each name and attribute, by its end; of one of several, the node around all."""
    lines, found = tree.source.lines, dict[int, ast.AST]()
    for parent in nodes:  # the outer ones first
        has_several = isinstance(parent, (ast.Call, ast.ExceptHandler))
        for child in (each for node in ast.iter_child_nodes(parent) for each in _several(node, has_several)):
            if isinstance(child, (ast.Name, ast.Attribute)):
                found.setdefault(span_of(lines, child).end, parent)
    return found


def _several(node: ast.AST, is_taken_apart: bool) -> Iterator[ast.AST]:
    """Yield a node, or the classes of `(A, B)` or `A | B`."""
    if is_taken_apart and isinstance(node, ast.Tuple):
        for each in node.elts:
            yield from _several(each, True)
    elif is_taken_apart and isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        yield from _several(node.left, True)
        yield from _several(node.right, True)
    else:
        yield node


def scopes_around(project: Project, path: str, scope: int) -> Iterator[int]:
    """Yield a scope and those around it, the innermost first."""
    scopes = project.uses(path).scopes
    while scope >= 0:
        yield scope
        scope = scopes[scope].parent
