"""Entries of docstrings that document the renamed symbol, in the docstring of its own function or class.

    def send(item):
        '''Send something.

Args:
            item: It.                the entry of the parameter; so of `__init__`, in the docstring of its class
        '''

Invariants:
- the docstring of another function or class is prose, whatever it documents.
"""

from __future__ import annotations

from collections.abc import Iterator

from bae_source.errors import ResourceError
from bae_source.model.span import Span
from bae_source.project.references.calls.keywords import MAKING
from bae_source.project.references.calls.parameters import is_given
from bae_source.project.references.classes.family import Family
from bae_source.project.references.meaning.meanings import Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.refactoring.renaming.outside import are_fields
from bae_source.refactoring.renaming.places import Place
from bae_source.syntax.names import uses as u
from bae_source.syntax.outline.definitions import MODULE, Outline
from bae_source.syntax.outline.docstring_entries import What, entries


def documented(project: Project, family: Family, new: str) -> Iterator[Place]:
    """Yield the names of a family in the entries that document it."""
    fields = are_fields(project, family)
    for symbol in family.symbols:
        is_parameter = is_given(project, symbol)
        if not (is_parameter or family.classes):
            continue
        what: tuple[What, ...] = ("parameter",) if is_parameter else ("attribute",)
        try:
            tree = project.workspace.tree_at(symbol.path)
        except ResourceError:
            continue
        for docstring in _docstrings(project, tree.outline, symbol, is_parameter=is_parameter):
            for span, kind in entries(tree.text, docstring, family.sought.word):
                if kind in what or fields:
                    line = tree.source.lines.number(span.start)
                    yield Place(path=symbol.path, span=span, new=new, line=line)


def _docstrings(project: Project, outline: Outline, symbol: Symbol, *, is_parameter: bool) -> Iterator[Span]:
    """Yield the docstring of the function or class that has a name; of a constructor, that of the class, too."""
    lines = project.workspace.tree_at(symbol.path).source.lines
    number = line_of(project, symbol)
    for each in outline.definitions:
        if each.body is None or lines.number(each.keyword) != number:
            continue
        owners = [each]
        if is_parameter and not {*MAKING}.isdisjoint(each.names) and each.parent != MODULE:
            owners.append(outline.definitions[each.parent])
        yield from (owner.docstring for owner in owners if owner.docstring is not None)


def line_of(project: Project, symbol: Symbol) -> int:
    """Return the line of the `def` or `class` whose scope has a name; 0 where none has."""
    scopes = project.uses(symbol.path).scopes
    around = scopes[symbol.scope].parent
    if around >= 0 and scopes[around].kind == u.TYPE_SCOPE:
        around = scopes[around].parent
    return next(
        (
            binding.line
            for bindings in (scopes[around].names.values() if around >= 0 else ())
            for binding in bindings
            if binding.how in (u.FUNCTION, u.CLASS) and binding.first == symbol.scope
        ),
        0,
    )
