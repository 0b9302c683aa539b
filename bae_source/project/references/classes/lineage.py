"""Classes below a class, as far as code tells: those that name it as a base, and those whose base is worked out of it.

class Base: …
Alias = Base                              followed: a class below `Alias` is below `Base`
class A(Alias): …                         sure, since `Alias` holds nothing else
class B(Base if fast else object): …      unsure
class C(with_metaclass(M, Base)): …       unsure: the value of the call is not known
D = type("D", (Base,), {})                unsure, and no class statement; so is one that a metaclass makes
kind: type[Base]                          followed: a class below `kind` may be below `Base`; so is a function that
                                          gives one, and `cls` of a method
def made(kind=Base): …                    followed, as is a function that returns `(Base, …)` or `[Base]`
F = made_of(Base)                         the parameter is followed inside `made_of`, where the call is assigned,
                                          returned, or stands in a header; so is what a decorator makes of a class
class E(Generic[Base]): …                 not one: what stands before the brackets is the base
Base.register(F)                          unsure, where `Base` is abstract

Invariants:
- what code can make of a class without naming it in an assignment, a `return` or a class header is not seen.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.model.reasons import Reason
from bae_source.model.reference import Certainty, Reference
from bae_source.project.facts.kept import Recent
from bae_source.project.facts.mentions import Mentioning
from bae_source.project.references.classes.class_calls import MAKERS, Calls
from bae_source.project.references.classes.class_order import decoration_of
from bae_source.project.references.classes.class_words import ClassWords
from bae_source.project.references.classes.hierarchy import Hierarchy, Subclass, as_class, sought_class
from bae_source.project.references.classes.set_in_text import parameter_given, setting, setting_at
from bae_source.project.references.meaning.meanings import Outside, Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Mentioned, Sought, sought_by
from bae_source.project.references.search.search import Candidates, Search
from bae_source.project.references.types.values import Class, Derived, Instance, OfClass, Rebound, Value
from bae_source.syntax.names import uses as u

if TYPE_CHECKING:
    from bae_source.project.references.classes.registered import Registered

_MOST_FOLLOWED = 100
"""Classes, the nearest first, whose name is searched for in assignments."""
_SETTING = setting(MAKERS)
_MOST_KEPT = 100_000
"""Classes, or members, that are kept of answers, all together."""
_RETURN = re.compile(rb"\breturn\b")
_NAMED = rb"%b(?<!\w%b)(?!\w|[ \t]*\()"
_NAMES = ((u.NAME,), (u.ATTRIBUTE,))
_ANNOTATION_IN = {u.ANNOTATED: 1, u.DECLARED: 1, u.PARAMETER: 1, u.FUNCTION: 2}
"""By how a name is bound, where in the binding an annotation stands."""


class _Above(Struct, frozen=True, kw_only=True):
    """A class, or a name that may hold it, below which classes are searched for.

    Parameters:
        classes: what a base has to be.
        sure: whether these are surely the class that is asked about, or below it.
        is_alias: whether it is a name that was assigned, or a function.
        is_followed: whether names that are assigned from it are searched for in turn.
        local: the file outside which nothing names it; "" for what others may import.
        why: why a class that names it as a base may be below, where that is known.
    """

    sought: Sought
    classes: frozenset[Class]
    sure: bool
    is_alias: bool = False
    is_followed: bool = True
    local: str = ""
    why: str = ""


class Listed(Struct, frozen=True):
    """Classes that an answer lists; `unreadable` are files that may hold more, with the reason."""

    found: tuple[Reference, ...]
    unreadable: tuple[tuple[str, ResourceError], ...]


def once(project: Project, key: object, work: Callable[[], Listed]) -> Listed:
    """Return what is worked out, from then on as long as no file changes; what may be more another time is not kept."""
    kept = project.workspace.derived.get(Listed, _room)
    programs = project.workspace.programs.mark
    known = kept.get((key, programs))
    if known is None:
        known = work()
        if _lasts(known.unreadable) and programs is not None and not project.workspace.census.outside:
            kept.put((key, programs), known, len(known.found))
    return known


def _lasts(unreadable: Iterable[tuple[str, ResourceError]]) -> bool:
    """Return whether an answer holds until a file changes; a file that could not be read may be readable later."""
    return all(error.code in ("syntax_invalid", "encoding_invalid") for _, error in unreadable)


def _room() -> Recent[Listed]:
    return Recent(_MOST_KEPT)


def subclasses(project: Project, sought: Sought) -> Listed:
    """Return every class below the one that is searched for, and the calls that make one, as they are answered."""

    def work() -> Listed:
        hierarchy = lineage(project, sought)
        below = [*(as_class(project, each) for each in hierarchy.below), *call_references(project, hierarchy)]
        return Listed(tuple(sorted(below, key=lambda each: (each.module, each.line))), hierarchy.unreadable)

    return once(project, ("subclasses", sought), work)


def lineage(project: Project, sought: Sought) -> Hierarchy:
    """Return every class below the one that is searched for, and the calls that make one."""
    kept = project.workspace.derived.get(Hierarchy, lambda: Recent[Hierarchy](_MOST_KEPT))
    programs = project.workspace.programs.mark
    known = kept.get((sought, programs))
    if known is None:
        known = _Lineage(project).of(sought)
        if _lasts(known.unreadable) and programs is not None and not project.workspace.census.outside:
            kept.put((sought, programs), known, len(known.below))
    return known


def headed(project: Project, sought: Sought, most_files: int) -> Hierarchy:
    """Return the classes below one that class headers tell of, fast; not those whose base is worked out.

    Parameters:
        most_files: give up where more files would have to be read, whether they are known already or not.
    """
    return _Lineage(project).headed(sought, most_files)


def call_references(project: Project, hierarchy: Hierarchy) -> list[Reference]:
    """Return the calls that make a class as they are answered."""
    return [project.shown(each, project.lines(each.path)) for each in hierarchy.by_calls]


class _Lineage:
    """A search for the classes below one, the nearest first."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.uses = project.uses
        self.found: dict[Class, Subclass] = {}
        self.by_calls: dict[tuple[str, int, int], Mentioned] = {}
        self.unreadable: dict[str, ResourceError] = {}
        self.waiting: list[_Above] = []
        self.seen: set[Symbol] = set()
        self.classes: dict[str, dict[int, list[Class]]] = {}
        self.by_base: dict[str, dict[Class, list[Class]]] = {}
        self.calls = Calls(project)
        self.settings: dict[tuple[str, ...], Mentioning] = {}

    def of(self, sought: Sought) -> Hierarchy:
        self.waiting.append(_Above(sought=sought, classes=self._meant(sought), sure=True))
        followed = 0
        while self.waiting:
            level, self.waiting = self.waiting, []
            self._load_headers(level)
            for above in level:
                self._below(above)
                if not above.is_alias:
                    self._inside(above)
                    self._decorated(above)
                    self._registered(above)
            setting = [each for each in level if each.is_followed][: _MOST_FOLLOWED - followed]
            followed += len(setting)
            self._load_setting(setting)
            for above in setting:
                self._assigned(above)
        return Hierarchy(
            below=tuple(self.found.values()),
            unreadable=tuple(sorted(self.unreadable.items())),
            by_calls=tuple(self.by_calls[place] for place in sorted(self.by_calls)),
        )

    def headed(self, sought: Sought, most_files: int) -> Hierarchy:
        self.waiting.append(_Above(sought=sought, classes=self._meant(sought), sure=True))
        searched: set[str] = set()
        while self.waiting and len(searched) <= most_files:
            level, self.waiting = self.waiting, []
            searched.update(self._load_headers(level, most_files))
            for above in level if len(searched) <= most_files else ():
                self._below(above, (u.CALL,) if above.is_alias else (u.BASE,))
                for symbol in above.sought.meanings if not above.is_alias else ():
                    if isinstance(symbol, Symbol) and self._is_local(symbol):
                        self.waiting += (
                            self._alias(above, each, "") for each in self._function_names(symbol.path, symbol.scope)
                        )
        return Hierarchy(
            below=tuple(self.found.values()),
            unreadable=tuple(sorted(self.unreadable.items())),
            cut_short=len(searched) > most_files,
        )

    def _load_headers(self, level: Collection[_Above], most_files: int = sys.maxsize) -> Sequence[str]:
        """Get what the files refer to in whose headers one of several is named, unless these are too many."""
        bases = self.project.bases
        names = {name for above in level if not above.local for name in bases.names(above.sought.name)}
        paths = bases.mentioning(names).paths
        if len(paths) <= most_files:
            self.project.load(paths)
        return paths

    def _load_setting(self, level: Collection[_Above]) -> None:
        """Find the files in which one of several seems to be set, and get what they refer to, all of them at once."""
        found = {}
        for above in level:
            if not above.local:
                names = self.project.bases.names(above.sought.name)
                found[tuple(names)] = self._setting(names)
        self.settings = found
        self.project.load({path: None for mentioning in found.values() for path in mentioning.paths})

    def _meant(self, sought: Sought) -> frozenset[Class]:
        """Return the classes that a name is bound to."""
        return frozenset(
            Class(each.path, binding.first)
            for each in sought.meanings
            if isinstance(each, Symbol)
            for binding in self.uses(each.path).scopes[each.scope].names.get(each.name, ())
            if binding.how == u.CLASS
        )

    def _below(self, above: _Above, kinds: Collection[int] = (u.BASE, u.READ, u.CALL)) -> None:
        """Note the classes in whose headers it is named."""
        found = self._search(above, kinds, self.project.bases.mentioning)
        for mentioned in found:
            if above.is_alias and _is_guessed(mentioned):
                continue
            owners = list(self._headed_by(mentioned))
            for owner in owners:
                decided = self._decided(above, owner, mentioned)
                if decided is not None:
                    self._note(above, owner, mentioned, *decided)
            if owners and mentioned.mention.kind == u.READ:
                self._given(above, mentioned)

    def _search(self, above: _Above, kinds: Collection[int], candidates: Candidates) -> list[Mentioned]:
        """Return where it is mentioned; what is local to a function nowhere but in its file.

        Parameters:
            candidates: finds the files that may mention what is not.
        """
        search = Search(self.project, above.sought, kinds=kinds)
        if above.local:
            search.run(lambda _: Mentioning((above.local,)), [above.sought.name])
        else:
            search.run(candidates, self.project.bases.names(above.sought.name))
        self.unreadable.update(search.unreadable)
        return _in_order(search)

    def _decided(self, above: _Above, owner: Class, mentioned: Mentioned) -> tuple[Certainty, str] | None:
        """Return how sure it is that a class is below; None where it is not."""
        if mentioned.mention.kind == u.BASE and not above.is_alias:
            return mentioned.certainty, mentioned.why
        uses = self.uses(owner.path)
        unknown = False
        for base in uses.scopes[owner.scope].bases:
            number = base
            while number and uses.expressions[number][0] == u.SUBSCRIPT:
                number = int(uses.expressions[number][1])
            given = self.project.inference.values(owner.path, number)
            values = {each for each in given if not isinstance(each, Rebound)}
            is_computed = mentioned.mention.kind == u.BASE or uses.expressions[number][:1] not in _NAMES
            if values & above.classes:
                return ("sure", "") if len(values) == 1 else ("unsure", Reason.SEVERAL.of(what="its base"))
            if _are_of(values, above.classes):
                return "unsure", Reason.BASE_OR_BELOW.of()
            unknown = unknown or any(not self._is_known(each) if is_computed else _is_nothing(each) for each in values)
        return (
            ("unsure", above.why or Reason.MADE_BY_CODE.of(what="its base", name=above.sought.word))
            if unknown
            else None
        )

    def _is_known(self, value: Value) -> bool:
        """Return whether a value is a class of which all is known that is above it, or one outside the project."""
        return isinstance(value, Outside) or (
            isinstance(value, Class) and self.project.inference.orders.of(value).whole
        )

    def _note(self, above: _Above, owner: Class, mentioned: Mentioned, certainty: Certainty, why: str) -> None:
        if certainty == "sure" and not above.sure:
            certainty, why = "unsure", Reason.BASE_UNSURE.of()
        of = Class(owner.path, owner.scope)
        known = self.found.get(of)
        if of in above.classes or (known and (known.mentioned.certainty == "sure" or certainty != "sure")):
            return
        self.found[of] = Subclass(of, Mentioned(mentioned.path, mentioned.mention, certainty, why))
        below = sought_class(self.project, owner)
        is_call = bool(above.why) or isinstance(owner, Derived)  # what else a call makes is below what that is given
        local = owner.path if is_call else ""
        self.waiting.append(_Above(sought=below, classes=self._meant(below), sure=certainty == "sure", local=local))

    def _inside(self, above: _Above) -> None:
        """Note the classes in methods of a class whose base is `cls`, or the class of `self`."""
        for around in above.classes:
            for owner in self._by_base(around.path).get(around, ()):
                self._note_at(above, owner, Reason.BASE_OR_BELOW.of())

    def _decorated(self, above: _Above) -> None:
        """Note the classes that decorators make below a class."""
        for of in above.classes:
            uses = self.uses(of.path)
            decoration = decoration_of(uses.scopes, uses.owners, of.scope)
            for each in self.project.inference.making.instead_of_class(of, decoration) if decoration else ():
                if isinstance(each, Derived):
                    self._note_at(above, each, Reason.BASE_DECORATED.of())

    def _note_at(self, above: _Above, owner: Class, why: str) -> None:
        """Note a class where its class statement is."""
        scopes = self.uses(owner.path).scopes
        scope = scopes[owner.scope]
        mention = u.Mention(_line_of(scopes[scope.parent], owner.scope), 0, scope.parent, u.BASE, u.PLAIN, scope.owner)
        self._note(above, owner, Mentioned(owner.path, mention, "unsure", why), "unsure", why)

    def _registered(self, above: _Above) -> None:
        """Note the classes that are registered with one of the project, as abstract classes let."""
        for around in filter(self.project.inference.orders.is_abstract, above.classes):
            for place in self._registrations.places(around):
                for owner in filter(None, place.classes):
                    self._note(above, owner, place.mentioned, "unsure", place.mentioned.why)
            self.unreadable.update(self._registrations.unreadable)

    @cached_property
    def _registrations(self) -> Registered:
        from bae_source.project.references.classes.registered import Registered  # few classes are abstract

        return Registered(self.project)

    def _by_base(self, path: str) -> dict[Class, list[Class]]:
        """Return the classes of a file, but for those of the module, by what a base is, or is below."""
        if path not in self.by_base:
            found = self.by_base[path] = {}
            scopes = self.uses(path).scopes
            for number, scope in enumerate(scopes):
                if scope.bases and scope.parent:
                    values = (self.project.inference.values(path, base) for base in scope.bases)
                    for each in frozenset[Value]().union(*values):
                        if isinstance(each, OfClass):
                            found.setdefault(each.of, []).append(Class(path, number))
        return self.by_base[path]

    def _headed_by(self, mentioned: Mentioned) -> Iterator[Class]:
        """Yield the classes in whose header a mention stands."""
        path, (line, _, scope, *_, owner) = mentioned.path, mentioned.mention
        scopes = self.uses(path).scopes
        while scopes[scope].kind == u.INNER_SCOPE:  # a lambda in the header
            scope = scopes[scope].parent
        if path not in self.classes:
            self.classes[path] = {}
            for number, each in enumerate(scopes):
                if each.kind == u.CLASS_SCOPE:
                    self.classes[path].setdefault(each.owner, []).append(Class(path, number))
        for found in self.classes[path].get(owner, ()):
            around = scopes[found.scope].parent
            outside = scopes[around].parent if scopes[around].kind == u.TYPE_SCOPE else around
            if scope == around and line >= _line_of(scopes[outside], found.scope):
                yield found

    def _assigned(self, above: _Above) -> None:
        """Wait for the classes below what it is assigned to, and note those that `type` makes of it."""
        found = self._search(above, (u.READ, u.ANNOTATION), self._known_setting)
        annotating = dict.fromkeys(each.path for each in found if each.mention.kind == u.ANNOTATION)
        for symbol in (each for path in annotating for each in self._annotated(path, above.classes)):
            self._follow(above, symbol)
        for mentioned in found:
            if _is_guessed(mentioned) or mentioned.mention.kind == u.ANNOTATION:
                continue
            begin, text = self.calls.statement(mentioned)
            if not _SETTING.search(text):
                continue
            call = self.calls.making(mentioned)
            if call and not any(self._headed_by(mentioned)):
                mention = mentioned.mention._replace(kind=u.BASE)
                why = Reason.NO_STATEMENT.of(name=call.name)
                self.by_calls.setdefault(
                    (mentioned.path, *call.mention[:2]), Mentioned(mentioned.path, mention, "unsure", why)
                )
            for symbol in self._bound_by(above, mentioned, begin, text):
                if not above.local or self._is_local(symbol):
                    self._follow(above, symbol)
            self._given(above, mentioned)

    def _given(self, above: _Above, mentioned: Mentioned) -> None:
        """Wait for the classes below the parameters that it is given as."""
        for symbol in self.calls.parameters(mentioned):
            self._follow(above, symbol, Reason.BASE_GIVEN.of(name=symbol.name, owner=above.sought.word))

    def _is_local(self, symbol: Symbol) -> bool:
        return self.uses(symbol.path).scopes[symbol.scope].kind == u.FUNCTION_SCOPE

    def _follow(self, above: _Above, symbol: Symbol, why: str = "") -> None:
        if symbol not in self.seen:
            self.seen.add(symbol)
            self.waiting.append(self._alias(above, symbol, why or above.why))

    def _annotated(self, path: str, classes: frozenset[Class]) -> Iterator[Symbol]:
        """Yield the names of a file that are annotated to hold, or to give, one of the classes itself or one below."""
        for number, scope in enumerate(self.uses(path).scopes):
            for name, bindings in (*scope.names.items(), *scope.attributes.items()):
                annotations = (
                    binding[_ANNOTATION_IN[binding.how]] for binding in bindings if binding.how in _ANNOTATION_IN
                )
                if any(_are_of(self.project.inference.annotated(path, each), classes) for each in annotations if each):
                    yield Symbol(path, number, name)

    def _known_setting(self, words: Collection[str]) -> Mentioning:
        known = self.settings.get(tuple(words))
        return self._setting(words) if known is None else known

    def _setting(self, words: Collection[str]) -> Mentioning:
        """Return the files where one of some words seems to be assigned, returned, or given to `type`."""
        workspace = self.project.workspace
        table = workspace.derived.get(ClassWords, lambda: ClassWords(workspace, self.project.bases))
        naming = table.naming(workspace, words) or workspace.index.naming(words)
        named = [re.compile(_NAMED % (word, word)) for word in (re.escape(word.encode()) for word in words)]
        paths = []
        for path in naming.paths:
            try:
                content = workspace.content(path) or b""
            except ResourceError:
                content = b"\xff"  # the search tells of it
            if path in table.odd:
                paths.append(path)
                continue
            places = {each.start() for pattern in named for each in pattern.finditer(content)}
            starts = {place: setting_at(content, place, _SETTING) for place in places}
            if any(at is not None and table.may_matter(path, content, at, place) for place, at in starts.items()):
                paths.append(path)
        return Mentioning(tuple(paths), naming.unreadable)

    def _bound_by(self, above: _Above, mentioned: Mentioned, begin: int, text: bytes) -> Iterator[Symbol]:
        """Yield the names that the statement around a mention binds to one of the classes, or to something made of it.

        Parameters:
            begin, text: the first line of the statement, and its text up to the mention.
        """
        classes = above.classes
        path, (line, _, number, *_, owner) = mentioned.path, mentioned.mention
        scopes = self.uses(path).scopes
        while scopes[number].kind in (u.INNER_SCOPE, u.TYPE_SCOPE):
            number = scopes[number].parent
        scope = scopes[number]
        lines = [binding.line for bindings in scope.names.values() for binding in bindings if binding.line <= line]
        last = max(lines, default=0)
        may_hold = bool(above.local) or (scope.kind != u.FUNCTION_SCOPE and owner != scope.owner)
        for name, bindings in scope.names.items():
            for how, first, second, at in bindings:
                if begin <= at == last and how in (u.ASSIGNED, u.ANNOTATED, u.DECLARED, u.OTHER):
                    value = {u.ASSIGNED: first, u.ANNOTATED: second}.get(how, u.OPAQUE)
                    values = self.project.inference.values(path, value)
                    if values & classes or (may_hold and any(map(self._may_hold, values))):
                        yield Symbol(path, number, name)
        returns = scope.returns if _RETURN.search(text) else ()
        if any(self._gives(path, each, classes) for each in returns):
            yield from self._function_names(path, number)
        given = parameter_given(text[text.rfind(b"\n") + 1 :])
        for each, inner in enumerate(self.uses(path).scopes) if given else ():
            bindings = inner.names.get(given, [])
            if inner.parent == number and any(how == u.PARAMETER and at == line for how, _, _, at in bindings):
                yield Symbol(path, each, given)

    def _function_names(self, path: str, number: int) -> Iterator[Symbol]:
        """Yield the names of the function that has a scope."""
        scopes = self.uses(path).scopes
        around = scopes[number].parent
        around = scopes[around].parent if scopes[around].kind == u.TYPE_SCOPE else around
        for name, bindings in scopes[around].names.items():
            if any(binding[:2] == (u.FUNCTION, number) for binding in bindings):
                yield Symbol(path, around, name)

    def _may_hold(self, value: Value) -> bool:
        """Return whether something that is assigned may hold, or be made of, what its expression names."""
        return not isinstance(value, (Instance, Rebound)) and not self._is_known(value)

    def _comes_from_call(self, value: Value) -> bool:
        """Return whether a value is a class that a call makes below what it is given."""
        return isinstance(value, Class) and not self._is_known(value)

    def _gives(self, path: str, number: int, classes: frozenset[Class]) -> bool:
        """Return whether what is returned is one of the classes, or holds one: a tuple, or what a line lists."""
        form, values = self.uses(path).expressions[number], self.project.inference.values(path, number)
        if form[:1] == (u.SEVERAL,):
            return any(self.project.inference.values(path, int(each)) & classes for each in form[1:])
        return form[:1] == (u.LITERAL,) or not values.isdisjoint(classes) or any(map(self._comes_from_call, values))

    def _alias(self, above: _Above, symbol: Symbol, why: str) -> _Above:
        is_local = self._is_local(symbol)
        sought = sought_by(self.project.uses, self.project.address, symbol)
        return _Above(
            sought=sought, classes=above.classes, sure=above.sure, is_alias=True,
            is_followed=is_local or not symbol.scope, local=symbol.path if is_local else "", why=why,
        )  # fmt: skip


def _line_of(scope: u.Scope, number: int) -> int:
    """Return the line of the statement that makes the class whose scope has a number."""
    bindings = (binding for found in scope.names.values() for binding in found)
    return next((binding.line for binding in bindings if binding[:2] == (u.CLASS, number)), 0)


def _in_order(search: Search) -> list[Mentioned]:
    return sorted(search.found.values(), key=lambda each: (each.path, each.mention))


def _is_guessed(mentioned: Mentioned) -> bool:
    """Return whether a mention is an attribute of an unknown value."""
    return mentioned.certainty != "sure" and mentioned.mention.receiver != u.PLAIN


def _are_of(values: Collection[Value], classes: Collection[Class]) -> bool:
    """Return whether one of some values is one of the classes itself or a class below it, as `cls` is."""
    return any(isinstance(each, OfClass) and each.of in classes for each in values)


def _is_nothing(value: Value) -> bool:
    return not isinstance(value, (Class, Outside))
