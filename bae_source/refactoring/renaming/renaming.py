"""A rename as a plan's parts: what changes in each file, and the report on all of it.

Decorators that know the parameters of their function by name:

    @pytest.mark.parametrize("a, b", ROWS)      the names in the string are those of the parameters, and change
    @click.option("--count")                    one from outside may pass a parameter by its name: unsure
    def test_one(db):                           asks pytest for the fixture of this name: unsure
    @functools.cache                            one of the standard library passes what it is given

Invariants:
- arguments that a decorator of the project passes are found where that calls the function.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct, structs

from bae_source.errors import ResourceError
from bae_source.model.plan import ModuleFile
from bae_source.model.reasons import Reason
from bae_source.model.reference import Reference
from bae_source.model.report import Report
from bae_source.model.span import Span
from bae_source.project.files.unseen import name_at
from bae_source.project.references.calls.parameters import is_given
from bae_source.project.references.classes.family import Family
from bae_source.project.references.classes.fitting import fitting
from bae_source.project.references.meaning.meanings import Outside, Symbol
from bae_source.project.references.meaning.project import Project, shown
from bae_source.project.references.meaning.sought import Mentioned
from bae_source.project.references.types.values import BUILTINS, STANDARD, OutsideInstance
from bae_source.refactoring.planning.choice import Choice
from bae_source.refactoring.planning.generated import GENERATED, generated_among
from bae_source.refactoring.planning.plan import Spliced
from bae_source.refactoring.renaming.broken import broken_places
from bae_source.refactoring.renaming.documented import documented, line_of
from bae_source.refactoring.renaming.outside import handed_on, overridden
from bae_source.refactoring.renaming.places import Place, places_of, tree_of, unreadable
from bae_source.refactoring.renaming.spoken import spoken_places
from bae_source.syntax.names import uses as u
from bae_source.syntax.outline.definitions import MODULE
from bae_source.syntax.outline.locate import definition_around, qualname_of
from bae_source.syntax.text.lexer import Lexed, lex

_PARAMETRIZE = re.compile(r"\bparametrize\(\s*(?:argnames\s*=\s*)?")
_HARMLESS = ("attr.", "attrs.", "pytest.mark.", "pytest.fixture", "pytest_asyncio.fixture", "typing_extensions.")
"""Decorators, or what their names begin with, that pass parameters by position, or whose names are followed."""
_BY_POSITION = (".default", ".validator", ".setter", ".getter", ".deleter", ".register")
_LAST: dict[int | str, int] = {u.NAME: 1, u.ATTRIBUTE: 2}
"""By the form of an expression, where its last name stands in it."""


class Renamed(Struct, frozen=True, kw_only=True):
    """The result of a rename.

    Parameters:
        spliced: what changes in each module.
        contents: the new content of text files, by path.
        report: what changes, what stays, and why.
        paths: the files that change.
    """

    spliced: tuple[Spliced, ...]
    contents: dict[str, bytes]
    report: Report
    paths: tuple[str, ...]


def renamed(project: Project, family: Family, new: str, choice: Choice) -> Renamed:
    """Return the result of renaming a family."""
    asked: list[Reference] = []

    def is_chosen(place: Reference) -> bool:
        asked.append(place)
        return choice.takes(place)

    places = places_of(project, family, new, lambda each: is_chosen(_shown(project, each)))
    known = {(each.path, each.span.start) for each in places.changed}
    entries = [
        each
        for each in (*documented(project, family, new), *parametrized(project, family, new))
        if (each.path, each.span.start) not in known
    ]
    known.update((each.path, each.span.start) for each in entries)
    documents = {_at(project, each) for each in entries}
    left = [_shown(project, each) for each in places.left]
    left = [each for each in left if (each.module, each.line, each.column) not in documents]
    if project.names.kept:  # a string elsewhere is hardly about an alias
        own = {_name(project, each.path) for each in family.symbols}
        left = [each for each in left if each.certainty != "mention" or each.module in own]
    strings = {(each.module, each.line) for each in left if each.kind == "string"}
    spoken = spoken_places(project, family, new, choice.text, strings, places.matches, is_chosen, known)
    choice.check_included(asked)
    missing = unreadable(places, family)
    broken = [broken_places(project, family, new, path) for path, _ in missing]
    imports = [place for found, _ in broken for place in found]
    every = (*places.changed, *entries, *imports, *spoken.changed)
    generated = generated_among(project.workspace, (each.path for each in every)) if choice.skip_generated else ()
    skipped = [_place(project, each) for each in every if each.path in generated]
    changed = [each for each in every if each.path not in generated]
    changed.sort(key=lambda each: (each.path, each.span.start))
    spliced = tuple(_spliced(project, changed, (family.sought.word, new)))
    lines = {(_name(project, each.path), each.line) for each in spoken.changed}
    left = [each for each in left if each.kind != "string" or (each.module, each.line) not in lines]
    left += [*spoken.left, *(each for _, found in broken for each in found)]
    report = Report(
        changed={**_changed(project, changed), **spoken.counts},
        probable=tuple(
            _shown(project, each.mentioned)
            for each in changed
            if each.mentioned is not None and each.mentioned.certainty == "probable"
        ),
        unsure=(
            *_above(project, family),
            *fitting(project, family),
            *passed_by_name(project, family),
            *skipped,
            *(each for each in left if each.certainty != "mention"),
        ),
        mentions=tuple(each for each in left if each.certainty == "mention"),
        unparsed=tuple((_name(project, path), error) for path, error in missing),
        complete=not missing and not spoken.notices,
    )
    paths = sorted({*(each.path for each in changed), *spoken.files})
    return Renamed(spliced=spliced, contents=spoken.files, report=report, paths=tuple(paths))


def _at(project: Project, place: Place) -> tuple[str, int, int]:
    """Return module, line and column of a place."""
    tree = tree_of(project, place.path)
    column = tree.source.lines.place(place.span.start).column if tree is not None else 1
    return _name(project, place.path), place.line, column


def _place(project: Project, place: Place) -> Reference:
    """Return a place in a file that a program writes, as one that stays."""
    module, line, column = _at(project, place)
    lines = project.lines(place.path)
    return Reference(
        module=module,
        address=_address(project, place),
        line=line,
        column=column,
        kind=u.KINDS[place.mentioned.mention.kind] if place.mentioned is not None else "definition",
        certainty="unsure",
        why=GENERATED,
        text=shown(lines.cut(place.line)),
    )


def _spliced(project: Project, places: Sequence[Place], names: tuple[str, str]) -> Iterator[Spliced]:
    files: dict[str, list[tuple[Span, str]]] = {}
    for each in places:
        files.setdefault(each.path, []).append((each.span, each.new))
    for path, splices in files.items():
        yield Spliced(module=_module(project, path), splices=tuple(splices), names=names)


def _changed(project: Project, places: Iterable[Place]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for each in places:
        address = _address(project, each)
        counts[address] = counts.get(address, 0) + 1
    return counts


def _address(project: Project, place: Place) -> str:
    """Return the address of the innermost definition around a place, or of the module."""
    name = _name(project, place.path)
    if place.mentioned is not None:
        return project.address(place.path, place.mentioned.mention.owner) or name
    tree = tree_of(project, place.path)
    if tree is None:
        return name
    found = definition_around(tree.outline, place.span.start)
    return name if found is None else f"{name}.{'.'.join(map(str, qualname_of(tree.outline, found)))}"


def _above(project: Project, family: Family) -> Iterator[Reference]:
    """Yield the definitions of a family whose name may matter to code that does not mention it."""
    reasons = overridden(project, family)
    descriptor = "" if reasons else handed_on(project, family)
    if not reasons and not descriptor:
        return
    why = next(iter(reasons.values()), f"{descriptor} gets its name, and may look something up by it")
    for symbol in family.symbols:
        uses = project.uses(symbol.path)
        scope = uses.scopes[symbol.scope]
        for binding in (*scope.names.get(symbol.name, ()), *scope.attributes.get(symbol.name, ()))[:1]:
            yield structs.replace(
                project.bound(symbol.path, symbol.scope, symbol.name, binding), certainty="unsure", why=why
            )


def _shown(project: Project, mentioned: Mentioned) -> Reference:
    return project.shown(mentioned, project.lines(mentioned.path))


def _module(project: Project, path: str) -> ModuleFile:
    module = project.workspace.census.module(path)
    assert module is not None
    return module


def _name(project: Project, path: str) -> str:
    module = project.workspace.census.module(path)
    return module.name if module is not None else name_at(project.workspace.census, path)


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
        decorator = (
            decorator_from_outside(project, symbol) if {u.Flag.WRAPPED, u.Flag.DECORATED} & set(scope.flags) else ""
        )
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


def decorator_from_outside(project: Project, symbol: Symbol) -> str:
    """Return the name of a decorator of a function that is none of the project's nor Python's own, or may be."""
    for each in decorators_from_outside(project, symbol):
        is_known = each.partition(".")[0] in STANDARD or each.startswith((BUILTINS, *_HARMLESS))
        if not (is_known or each.endswith(_BY_POSITION)):
            return each
    return ""


def decorators_from_outside(project: Project, symbol: Symbol) -> Iterator[str]:
    """Yield the names of a function's decorators that are, or may be, from outside the project."""
    uses = project.uses(symbol.path)
    owner = uses.scopes[symbol.scope].owner
    for name, mentions in uses.mentions.items():
        for mention in mentions:
            if name and mention.kind == u.DECORATOR and mention.owner == owner:
                yield from _named(project, symbol.path, name, mention)


def _named(project: Project, path: str, name: str, mention: u.Mention) -> Iterator[str]:
    """Yield the names of a decorator's values from outside the project."""
    inference = project.inference
    if mention.receiver == u.PLAIN:
        meanings = project.names.named(path, mention.scope, name)
        several = (inference.values_of(each) if isinstance(each, Symbol) else (each,) for each in meanings)
        for value in (value for values in several for value in values):
            if value is None:
                yield name
            elif isinstance(value, (Outside, OutsideInstance)):
                yield value.name
        return
    for value in inference.values(path, mention.receiver):
        if value is None:
            form = project.uses(path).expressions[mention.receiver]
            place = _LAST.get(form[0]) if form else None
            yield f"{form[place]}.{name}" if place else name
        elif isinstance(value, (Outside, OutsideInstance)):
            yield f"{value.name}.{name}"
