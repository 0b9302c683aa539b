"""Decorators that know the parameters of their function by name.

    @pytest.mark.parametrize("a, b", ROWS)      the names in the string are those of the parameters, and change
    @click.option("--count")                    one from outside may pass a parameter by its name: unsure
    @functools.cache                            one of the standard library passes what it is given

Invariants:
- what a decorator of the project passes is found where that calls the function.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import structs

from bae_source.errors import ResourceError
from bae_source.model.reasons import Reason
from bae_source.model.reference import Reference
from bae_source.model.span import Span
from bae_source.project.renaming.documented import line_of
from bae_source.project.renaming.family import Family
from bae_source.project.renaming.parameters import is_given
from bae_source.project.renaming.places import Place
from bae_source.project.usage.meaning import Outside, Symbol
from bae_source.project.usage.project import Project
from bae_source.project.usage.values import BUILTINS, STANDARD, OutsideInstance
from bae_source.syntax import uses as u
from bae_source.syntax.lexer import Lexed, lex
from bae_source.syntax.outline import MODULE

_PARAMETRIZE = re.compile(r"\bparametrize\(\s*(?:argnames\s*=\s*)?")
_HARMLESS = ("attr.", "attrs.", "pytest.mark.", "pytest.fixture", "pytest_asyncio.fixture", "typing_extensions.")
"""Decorators, or what their names begin with, that pass parameters by position, or whose names are followed."""


def parametrized(project: Project, family: Family, new: str) -> Iterator[Place]:
    """Yield the names of parameters in the strings by which pytest gives them values."""
    for symbol in family.symbols:
        if is_given(project, symbol) and "parametrize" in project.uses(symbol.path).mentions:
            try:
                yield from _in_decorators(project, symbol, family.sought.word, new)
            except ResourceError:
                continue  # it does not parse


def passed_by_name(project: Project, family: Family) -> Iterator[Reference]:
    """Yield the parameters of a family that a decorator from outside may pass by their names."""
    for symbol in family.symbols:
        if not is_given(project, symbol):
            continue
        uses = project.uses(symbol.path)
        scope = uses.scopes[symbol.scope]
        decorator = _from_outside(project, symbol) if {"wrapped", "decorated"} & set(scope.flags) else ""
        if decorator:
            found = project.bound(symbol.path, symbol.scope, symbol.name, scope.names[symbol.name][0])
            why = Reason.PASSED_BY_NAME.of(decorator=decorator)
            yield structs.replace(found, certainty="unsure", why=why)


def _in_decorators(project: Project, symbol: Symbol, word: str, new: str) -> Iterator[Place]:
    tree, line = project.workspace.tree_at(symbol.path), line_of(project, symbol)
    definitions, lines = tree.outline.definitions, tree.source.lines
    number = next(
        (n for n, each in enumerate(definitions) if each.body is not None and lines.number(each.keyword) == line),
        MODULE,
    )
    while number != MODULE:
        each = definitions[number]
        head = tree.text[each.span.start : each.keyword]
        lexed = lex(head)
        for call in _PARAMETRIZE.finditer(head):
            for string in _first_argument(lexed, call.end()):
                for match in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", string.cut(head)):
                    start = each.span.start + string.start + match.start()
                    span = Span(start, start + len(word))
                    yield Place(path=symbol.path, span=span, new=new, line=lines.number(start))
        number = each.parent


def _first_argument(lexed: Lexed, start: int) -> list[Span]:
    """Return the strings of an argument: a literal, or a list or a tuple of some."""
    bracket = next((span for span, _ in lexed.brackets if span.start == start), Span(start, start + 1))
    return [each for each in lexed.strings if bracket.start <= each.start < bracket.end]


def _from_outside(project: Project, symbol: Symbol) -> str:
    """Return the dotted name of a decorator of a function that is neither the project's nor Python's own."""
    uses = project.uses(symbol.path)
    owner = uses.scopes[symbol.scope].owner
    for name, mentions in uses.mentions.items():
        for mention in mentions:
            if mention[3] != u.DECORATOR or mention[5] != owner:
                continue
            if mention[4] == u.PLAIN:
                values = project.names.named(symbol.path, mention[2], name)
                found = [each.name for each in values if isinstance(each, Outside)]
            else:
                receivers = project.inference.values(symbol.path, mention[4])
                found = [f"{each.name}.{name}" for each in receivers if isinstance(each, (Outside, OutsideInstance))]
            for each in found:
                if not each.startswith((BUILTINS, *_HARMLESS)) and each.partition(".")[0] not in STANDARD:
                    return each
    return ""
