"""Classes below a class, told fast: the references to each class as a base, followed down.

class Base: …                 asked about
class A(Base): …              a direct subclass
class B(A): …                 an indirect one
class C(make(Base)): …        not looked at: `Base` is an argument here
class E(made()): …            one, where `Base` stands in the function `made`, which returns it
class D(unknown.Base): …      unsure
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.model.reasons import Reason
from bae_source.model.reference import Certainty, Reference
from bae_source.project.facts.mentions import Mentioning
from bae_source.project.references.meaning.meaning import Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Mentioned, Sought
from bae_source.project.references.meaning.stubs import with_stub
from bae_source.project.references.search.search import Candidates, Search
from bae_source.project.references.types.values import Class
from bae_source.syntax.names import uses as u
from bae_source.syntax.names.growing import headers


class Subclass(Struct, frozen=True):
    """A class below another: where it names its base, and how sure that is."""

    of: Class
    mentioned: Mentioned


class _Step(Struct, frozen=True, kw_only=True):
    """What to look for in headers: a class, or a function that gives one.

    Parameters:
        sure: whether it is surely the class that is asked about, or below it.
        made: the class, where it is a function.
    """

    sought: Sought
    sure: bool
    made: Class | None = None


class Hierarchy(Struct, frozen=True, kw_only=True):
    """The classes below a class.

    Parameters:
        below: those next to it first.
        unreadable: files that may hold more, with the reason.
        cut_short: whether there are more, because too many files had to be looked into.
        made: where calls make classes below it, which have no class statement.
    """

    below: tuple[Subclass, ...]
    unreadable: tuple[tuple[str, ResourceError], ...]
    cut_short: bool = False
    made: tuple[Mentioned, ...] = ()


def below(project: Project, sought: Sought, *, most_files: int | None = None) -> Hierarchy:
    """Return every class below the one that is looked for.

    Parameters:
        most_files: give up where more files would have to be looked into, whether they are known already or not.
    """
    looked: set[str] = set()
    found: dict[Class, Subclass] = {}
    classes: dict[str, dict[int, list[Class]]] = {}
    unreadable: dict[str, ResourceError] = {}
    waiting = list(_steps(project, sought, True))
    while waiting:
        step = waiting.pop(0)
        names = project.bases.names(step.sought.name)
        mentioning = project.bases.mentioning(names)
        looked.update(mentioning.paths)
        if most_files is not None and len(looked) > most_files:
            return Hierarchy(below=tuple(found.values()), unreadable=tuple(sorted(unreadable.items())), cut_short=True)
        search = Search(project, step.sought, kinds=(u.CALL,) if step.made else (u.BASE,), mentioned=project.headed)
        search.run(_known_first(project, names, mentioning), names)
        unreadable.update(search.unreadable)
        for mentioned in sorted(search.found.values(), key=lambda each: (each.path, each.mention)):
            if mentioned.path not in classes:
                classes[mentioned.path] = _classes_in(project, mentioned.path)
            for owner in classes[mentioned.path].get(mentioned.mention[5], ()):
                if step.made and not _is_headed(project, owner, mentioned.mention, step.made):
                    continue
                certain = step.sure and mentioned.certainty == "sure"
                why = mentioned.why or ("" if step.sure else Reason.BASE_UNSURE.of())
                known = found.get(owner)
                if known is not None and (known.mentioned.certainty == "sure" or not certain):
                    continue
                certainty: Certainty = "sure" if certain else "unsure"
                found[owner] = Subclass(owner, Mentioned(mentioned.path, mentioned.mention, certainty, why))
                waiting += _steps(project, sought_class(project, owner), certain)
    return Hierarchy(below=tuple(found.values()), unreadable=tuple(sorted(unreadable.items())))


def _steps(project: Project, sought: Sought, sure: bool) -> Iterator[_Step]:
    """Yield what to look for to find the classes next below one: its name, and a function that it is local to."""
    yield _Step(sought=sought, sure=sure)
    for symbol in sought.meanings:
        if not isinstance(symbol, Symbol) or not symbol.scope:
            continue
        scopes = headers(project.uses(symbol.path))
        if scopes[symbol.scope].kind != u.FUNCTION_SCOPE:
            continue
        made = next((each[1] for each in scopes[symbol.scope].names[symbol.name] if each[0] == u.CLASS), 0)
        yield from (_Step(sought=maker, sure=sure, made=Class(symbol.path, made)) for maker in _makers(project, symbol))


def _makers(project: Project, symbol: Symbol) -> Iterator[Sought]:
    """Yield what to look for to find the calls of a function that a name is local to."""
    scopes = headers(project.uses(symbol.path))
    around = scopes[symbol.scope].parent
    if scopes[around].kind == u.TYPE_SCOPE:
        around = scopes[around].parent
    module = project.workspace.census.module(symbol.path)
    for name, bindings in scopes[around].names.items():
        if any(binding[:2] == (u.FUNCTION, symbol.scope) for binding in bindings):
            address = project.address(symbol.path, scopes[symbol.scope].owner)
            is_method = scopes[around].kind == u.CLASS_SCOPE
            yield Sought(
                name=name,
                word=address.rpartition(".")[2].partition("[")[0],
                module=module.name if module else "",
                dotted=address,
                meanings=frozenset({Symbol(symbol.path, around, name)}),
                classes=frozenset({Class(symbol.path, around)}) if is_method else frozenset(),
            )


def _is_headed(project: Project, owner: Class, mention: u.Mention, made: Class) -> bool:
    """Say whether a mention stands in the header of a class, and this gives it a base that a function makes."""
    parent = headers(project.uses(owner.path))[owner.scope].parent
    return mention[2] == parent and made in project.inference.orders.of(owner).nodes


def _known_first(project: Project, names: Collection[str], mentioning: Mentioning) -> Candidates:
    """Return what finds the files that name a class as a base, of which some are known."""
    return lambda asked: mentioning if list(asked) == list(names) else project.bases.mentioning(asked)


def _classes_in(project: Project, path: str) -> dict[int, list[Class]]:
    """Return the classes of a file by the numbers of their definitions."""
    classes: dict[int, list[Class]] = {}
    for number, scope in enumerate(headers(project.uses(path))):
        if scope.kind == u.CLASS_SCOPE:
            classes.setdefault(scope.owner, []).append(Class(path, number))
    return classes


def sought_class(project: Project, of: Class) -> Sought:
    """Return what to look for to find a class."""
    scopes = headers(project.uses(of.path))
    address = project.address(of.path, scopes[of.scope].owner)
    around = scopes[of.scope].parent
    if scopes[around].kind == u.TYPE_SCOPE:
        around = scopes[around].parent
    around, name = next(
        (number, name)
        for number in (around, *range(len(scopes)))  # `global` lets a function bind a class elsewhere
        for name, bindings in scopes[number].names.items()
        if any(binding[:2] == (u.CLASS, of.scope) for binding in bindings)
    )
    module = project.workspace.census.module(of.path)
    sought = Sought(
        name=name,
        word=address.rpartition(".")[2].partition("[")[0],
        module=module.name if module else "",
        dotted=address,
        meanings=frozenset({Symbol(of.path, around, name)}),
        classes=frozenset({Class(of.path, around)}) if scopes[around].kind == u.CLASS_SCOPE else frozenset(),
    )
    return with_stub(project, sought)


def as_class(project: Project, subclass: Subclass) -> Reference:
    """Return a class below another as it is answered: its own address, where its class statement is."""
    uses = project.uses(subclass.of.path)
    scope = uses.scopes[subclass.of.scope]
    name = sought_class(project, subclass.of).name
    line = next(
        binding[3]
        for around in headers(uses)
        for binding in around.names.get(name, ())
        if binding[:2] == (u.CLASS, subclass.of.scope)
    )
    return project.definition(
        subclass.of.path, scope.owner, line, "base", subclass.mentioned.certainty, subclass.mentioned.why
    )
