"""Conditions on what the holes of a pattern stand for, decided by what references know.

    $X is app.net.Client          an instance of that class, or of one below it, or the class itself
    $F is app.net.send            a name of that function, variable or module
    $P is not pathlib.Path        what lies outside the project, too

Each expression that a hole stands for gets an attribute of a name of its own, in a copy of the file that is never
written: what references know of the receiver of that name is what they know of the expression.

Invariants:
- a place is sure to fulfil a condition, sure not to, or undecided; an undecided one is never taken for either.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from bae_source.errors import LookupFailed, RequestError, ResourceError
from bae_source.model.changeset import FileChange, changeset
from bae_source.model.span import Span
from bae_source.project.naming.resolve import resolve
from bae_source.project.references.meaning.meanings import InModule, Meaning, Outside, Symbol
from bae_source.project.references.meaning.of_resolved import sought_of
from bae_source.project.references.meaning.project import Project, project_of
from bae_source.project.references.types.values import (
    BUILTINS,
    Class,
    Function,
    Instance,
    OfClass,
    OutsideInstance,
    Rebound,
    Value,
)
from bae_source.project.workspace import Workspace
from bae_source.syntax.names import uses as u
from bae_source.syntax.patterns.pattern import Match, Pattern, span_of
from bae_source.syntax.templates.template import holes_of
from bae_source.syntax.text.source import Source

_SHAPE = re.compile(r"\$([A-Za-z_]\w*)\s+is\s+(not\s+)?([^\W\d][\w.@\[\]]*)")
_PROBE = "bae_probe_"
_NO_RECEIVER = (ast.Starred, ast.Slice, ast.GeneratorExp)


class Condition(Struct, frozen=True, kw_only=True):
    """One condition.

    Parameters:
        text: as it was given.
        hole: the name of the hole.
        negated: whether it is `is not`.
        dotted: the name of what the hole is to be.
    """

    text: str
    hole: str
    negated: bool
    dotted: str


class Sought(Struct, frozen=True, kw_only=True):
    """The meaning of a condition's name: what names of it mean, and what an expression that is it may give."""

    meanings: frozenset[Meaning]
    values: frozenset[Value]

    @property
    def is_outside(self) -> bool:
        """Return whether some of it lies outside the project."""
        return any(isinstance(each, (Outside, OutsideInstance)) for each in self.values)


def parse_conditions(texts: Iterable[str], pattern: Pattern) -> tuple[Condition, ...]:
    """Parse conditions.

    Raises:
        RequestError: `invalid_arguments` for one that is none, or is about a hole that the pattern lacks.
    """
    single = {hole.name for hole in holes_of(pattern.code) if not hole.many}
    found = []
    for text in texts:
        match = _SHAPE.fullmatch(text.strip())
        if match is None:
            raise RequestError(
                "invalid_arguments",
                f"{text!r} is no condition.",
                hints=["A condition is $X is pkg.mod.Name, or $X is not pkg.mod.Name."],
            )
        if match[1] not in single:
            raise RequestError(
                "invalid_arguments",
                f"The condition {text!r} is about ${match[1]}, which the pattern does not have for one thing.",
                hints=[f"The pattern has {', '.join(f'${name}' for name in sorted(single)) or 'no such hole'}."],
            )
        found.append(Condition(text=text.strip(), hole=match[1], negated=bool(match[2]), dotted=match[3]))
    return tuple(found)


def undecided(
    workspace: Workspace, conditions: Sequence[Condition], files: Mapping[str, tuple[Source, Sequence[Match]]]
) -> dict[tuple[str, int], str | None]:
    """Return the matches that fulfil all conditions, or may, by path and number.

    Parameters:
        files: the matches in each file, by its path.

    Returns:
        None for one that fulfils them; else the condition that is undecided.

    Raises:
        LookupFailed: a condition names what is not there, or several things.
    """
    probes: dict[tuple[str, int, str], str] = {}
    changes = [
        change
        for path, (source, matches) in files.items()
        if (change := _probed(workspace, path, source, matches, conditions, probes))
    ]
    probed = workspace.after(changeset(changes))
    project = project_of(probed)
    targets = [_sought(probed, project, each.dotted) for each in conditions]
    found: dict[tuple[str, int], str | None] = {}
    for path, (_, matches) in files.items():
        for number in range(len(matches)):
            verdicts = [
                _decided(project, path, probes.get((path, number, each.hole), ""), target, negated=each.negated)
                for each, target in zip(conditions, targets, strict=True)
            ]
            if False not in verdicts:
                several = zip(conditions, verdicts, strict=True)
                found[path, number] = next((each.text for each, verdict in several if verdict is None), None)
    return found


def _probed(
    workspace: Workspace,
    path: str,
    source: Source,
    matches: Sequence[Match],
    conditions: Sequence[Condition],
    probes: dict[tuple[str, int, str], str],
) -> FileChange | None:
    """Return the change that gives each expression in question an attribute of its own, and note its name."""
    names: dict[ast.expr, str] = {}
    for number, match in enumerate(matches):
        for hole in {each.hole for each in conditions}:
            thing = match.bound[hole][0]
            if isinstance(thing, ast.expr) and not isinstance(thing, _NO_RECEIVER) and not match.in_string:
                probes[path, number, hole] = names.setdefault(thing, f"{_PROBE}{len(names)}")
    module = workspace.census.module(path)
    if module is None or not names:
        return None
    spans = sorted((span_of(source, node), name) for node, name in names.items())
    at: dict[int, str] = {}
    for span, _ in spans:
        at[span.start] = at.get(span.start, "") + "("
    for span, name in reversed(spans):  # what ends together and begins later is closed first
        at[span.end] = f"{at.get(span.end, '')}).{name}"
    return workspace.change(module, [(Span(offset, offset), new) for offset, new in sorted(at.items())])


def _sought(workspace: Workspace, project: Project, dotted: str) -> Sought:
    try:
        found = sought_of(project.names, resolve(workspace, dotted))
    except LookupFailed as error:
        is_ours = workspace.layout.prefixes((dotted.partition(".")[0],))
        if error.code != "symbol_not_found" or is_ours:
            raise
        name = dotted if "." in dotted else f"builtins.{dotted}"
        outside = Outside(name)
        return Sought(meanings=frozenset({outside}), values=frozenset({outside, OutsideInstance(name)}))
    values: set[Value] = set()
    for meaning in found.meanings:
        if isinstance(meaning, Symbol):
            defined = (each for each in project.inference.values_of(meaning) if isinstance(each, (Class, Function)))
            values |= {each for each in defined if _is_own(project, meaning, each)}
        elif isinstance(meaning, InModule):
            values.add(meaning)
    return Sought(meanings=found.meanings, values=frozenset(values))


def _is_own(project: Project, symbol: Symbol, value: Class | Function) -> bool:
    """Return whether a name is that of a class's or function's own statement, and no variable that holds it."""
    bindings = project.uses(symbol.path).scopes[symbol.scope].names.get(symbol.name, ())
    return any(how in (u.CLASS, u.FUNCTION) and number == value.scope for how, number, *_ in bindings)


def _decided(project: Project, path: str, probe: str, sought: Sought, *, negated: bool) -> bool | None:
    """Return whether an expression is the target; None where that is not known."""
    try:
        mentions = project.uses(path).mentions.get(probe, ())
    except ResourceError:
        return None
    if not mentions:
        return None
    number = mentions[0].receiver
    try:
        meanings = _meanings(project, path, number)
        if meanings and meanings <= sought.meanings:
            return not negated
        if not sought.is_outside and _is_of_literal(project, path, number):
            return negated
        verdicts = {_is_one(project, value, sought) for value in _plain(project.inference.values(path, number))}
    except ResourceError:
        return None
    if meanings & sought.meanings or len(verdicts) != 1 or None in verdicts:
        return None
    return verdicts.pop() is not negated


def _meanings(project: Project, path: str, number: int) -> frozenset[Meaning]:
    """Return the meanings of an expression that is a name or an attribute."""
    form = project.uses(path).expressions[number]
    if form[:1] == (u.NAME,):
        return frozenset(project.names.named(path, int(form[2]), str(form[1]), int(form[3]) if len(form) > 3 else 0))
    if form[:1] == (u.ATTRIBUTE,):
        receivers = project.inference.values(path, int(form[1]))
        several = (project.inference.attribute(each, str(form[2])) for each in _plain(receivers))
        return frozenset().union(*several)
    return frozenset()


def _is_of_literal(project: Project, path: str, number: int) -> bool:
    """Return whether an expression is an attribute of a literal, to which no project can give one: `"{}".format`."""
    form = project.uses(path).expressions[number]
    if form[:1] != (u.ATTRIBUTE,):
        return False
    return project.uses(path).expressions[int(form[1])][:1] == (u.LITERAL,)


def _plain(values: Iterable[Value]) -> frozenset[Value]:
    """Return values without the mark that classes below may bind it otherwise, unless nothing else is known."""
    every = frozenset(values)
    return frozenset(each for each in every if not isinstance(each, Rebound)) or frozenset({None})


def _is_one(project: Project, value: Value, sought: Sought) -> bool | None:
    """Return whether a value is one of the targets; None where that is not known."""
    if value is None or isinstance(value, Rebound):
        return None
    if value in sought.values:
        return True
    if isinstance(value, Function):
        functions = (each for each in sought.values if isinstance(each, Function))
        return any((each.path, each.scope) == (value.path, value.scope) for each in functions)
    outside = {each.name for each in sought.values if isinstance(each, OutsideInstance)}
    if isinstance(value, OutsideInstance):
        return value.name in outside or (None if outside and _may_be_below(value.name, outside) else False)
    if isinstance(value, (Instance, OfClass)):
        order = project.inference.orders.of(value.of)
        if sought.values & {*order.nodes} or outside & order.outside:
            return True
        below = (each for each in sought.values if isinstance(each, Class))
        is_above = not value.exact and any(value.of in project.inference.orders.of(each).nodes for each in below)
        is_open = any(_may_be_below(name, outside) for name in order.outside) if outside else False
        return None if is_above or is_open or not order.whole else False
    return False


def _may_be_below(name: str, others: Iterable[str]) -> bool:
    """Return whether a class from outside may be below others; a built-in one is below none of another module."""
    return not name.startswith(BUILTINS) and any(not each.startswith(BUILTINS) for each in others)
