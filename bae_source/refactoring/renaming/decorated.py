"""Decorators that know the parameters of their function by name.

    @pytest.mark.parametrize("a, b", ROWS)      the names in the string are those of the parameters, and change
    @click.option("--count")                    one from outside may pass a parameter by its name: unsure
    def test_one(db):                           asks pytest for the fixture of this name: unsure
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
from bae_source.project.references.calls.parameters import is_given
from bae_source.project.references.classes.family import Family
from bae_source.project.references.meaning.meaning import Outside, Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.types.values import BUILTINS, STANDARD, OutsideInstance
from bae_source.refactoring.renaming.documented import line_of
from bae_source.refactoring.renaming.places import Place
from bae_source.syntax.names import uses as u
from bae_source.syntax.outline.definitions import MODULE
from bae_source.syntax.text.lexer import Lexed, lex

_PARAMETRIZE = re.compile(r"\bparametrize\(\s*(?:argnames\s*=\s*)?")
_HARMLESS = ("attr.", "attrs.", "pytest.mark.", "pytest.fixture", "pytest_asyncio.fixture", "typing_extensions.")
"""Decorators, or what their names begin with, that pass parameters by position, or whose names are followed."""


_LAST: dict[int | str, int] = {u.NAME: 1, u.ATTRIBUTE: 2}
"""By the form of an expression, where its last name stands in it."""
_BY_POSITION = (".default", ".validator", ".setter", ".getter", ".deleter", ".register")


def parametrized(project: Project, family: Family, new: str) -> Iterator[Place]:
    """Yield the names of parameters in the strings by which pytest gives them values."""
    for symbol in family.symbols:
        if is_given(project, symbol) and "parametrize" in project.uses(symbol.path).mentions:
            try:
                yield from _in_decorators(project, symbol, family.sought.word, new)
            except ResourceError:
                continue  # it does not parse


def passed_by_name(project: Project, family: Family) -> Iterator[Reference]:
    """Yield the parameters of a family that pytest, or a decorator from outside, may pass by their names."""
    for symbol in family.symbols if not family.fixtures else ():
        if not is_given(project, symbol):
            continue
        scope = project.uses(symbol.path).scopes[symbol.scope]
        decorator = _from_outside(project, symbol) if {"wrapped", "decorated"} & set(scope.flags) else ""
        asks = not decorator and project.fixtures.is_asked(symbol)
        if decorator or (asks and not any(_in_decorators(project, symbol, symbol.name, ""))):
            found = project.bound(symbol.path, symbol.scope, symbol.name, scope.names[symbol.name][0])
            why = Reason.PASSED_BY_NAME.of(decorator=decorator) if decorator else Reason.ASKS_FOR_FIXTURE.of()
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
    """Return the name of a decorator of a function that is none of the project's nor Python's own, or may be."""
    uses = project.uses(symbol.path)
    owner = uses.scopes[symbol.scope].owner
    for name, mentions in uses.mentions.items():
        for mention in mentions:
            if name and mention[3] == u.DECORATOR and mention[5] == owner:
                for each in _named(project, symbol.path, name, mention):
                    is_known = each.partition(".")[0] in STANDARD or each.startswith((BUILTINS, *_HARMLESS))
                    if not (is_known or each.endswith(_BY_POSITION)):
                        return each
    return ""


def _named(project: Project, path: str, name: str, mention: u.Mention) -> Iterator[str]:
    """Yield the names of what a decorator may be that is not the project's."""
    inference = project.inference
    if mention[4] == u.PLAIN:
        meanings = project.names.named(path, mention[2], name)
        held = (inference.held(each) if isinstance(each, Symbol) else (each,) for each in meanings)
        for value in (value for values in held for value in values):
            if value is None:
                yield name
            elif isinstance(value, (Outside, OutsideInstance)):
                yield value.name
        return
    for value in inference.values(path, mention[4]):
        if value is None:
            form = project.uses(path).expressions[mention[4]]
            place = _LAST.get(form[0]) if form else None
            yield f"{form[place]}.{name}" if place else name
        elif isinstance(value, (Outside, OutsideInstance)):
            yield f"{value.name}.{name}"
