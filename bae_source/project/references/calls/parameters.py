"""Parameters: those of the same name that methods overriding each other have, and the keywords of calls that set them.

    def send(self, item): ...         `item` of Base.send and of A.send are one family, since calls may reach either
    a.send(item=1)                    sure where `a.send` surely is one of them, as in `partial(a.send, item=1)`
    send(**given)                     unsure: the keywords are not known before the code runs
    A(item=1)                         sets `item` of A.__init__, or of the one that A inherits

Invariants:
- `self` and `cls` are given by Python, so no keyword sets them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cached_property

from msgspec import Struct, structs

from bae_source.errors import ResourceError
from bae_source.model.reasons import Reason
from bae_source.model.reference import Certainty
from bae_source.project.references.calls.keywords import MAKING, keyword_of, setting
from bae_source.project.references.classes.family import Family, members_of
from bae_source.project.references.classes.hierarchy import sought_class
from bae_source.project.references.classes.lineage import lineage
from bae_source.project.references.meaning.meanings import Outside, Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Mentioned, Sought, sought_by
from bae_source.project.references.search.references import search_code
from bae_source.project.references.types.signatures import Signatures
from bae_source.project.references.types.values import Class, Function, Instance, OfClass, Value, in_order
from bae_source.syntax.names import uses as u
from bae_source.syntax.outline.definitions import Kind
from bae_source.syntax.text.lexer import end_of_header

_PARTIAL = "functools.partial"
BY_STARS = Reason.KEYWORDS_BY_STARS.of()
_Key = tuple[str, str, int]
"""A file, the last name of the callee, and the scope of a name that stands alone, or minus its receiver."""


class Keywords(Struct, frozen=True, kw_only=True):
    """The keyword arguments in calls of a family of parameters.

    Parameters:
        mentions: the keywords.
        unreadable: files that may hold more, and why they could not be read.
    """

    mentions: tuple[Mentioned, ...]
    unreadable: tuple[tuple[str, ResourceError], ...] = ()


def parameter_family(project: Project, family: Family) -> Family:
    """Return the family of a parameter with those of methods that override its own; any other family as it is."""
    functions = [each for each in family.symbols if is_given(project, each)]
    if not functions:
        return family
    found = set(family.symbols)
    for symbol in functions:
        for each in _methods(project, symbol):
            found.update(
                Symbol(each.path, scope, symbol.name)
                for scope in _scopes(project, each)
                if is_given(project, Symbol(each.path, scope, symbol.name))
            )
    meanings = frozenset({*family.sought.meanings, *found})
    return structs.replace(
        family,
        sought=structs.replace(family.sought, meanings=meanings),
        symbols=tuple(sorted(found, key=in_order)),
        local=family.local if {each.path for each in found} == {family.local} else "",
    )


def keywords_of(project: Project, family: Family) -> Keywords:
    """Return the keywords by which calls set the parameters of a family."""
    functions = {
        symbol: owner for each in family.symbols if is_given(project, each) for symbol, owner in _named(project, each)
    }
    if not any(_may_be_called(symbol) for symbol in functions):
        return Keywords(mentions=())
    return _Calls(project, family, functions).keywords()


def private_keywords(project: Project, family: Family) -> Iterator[Mentioned]:
    """Yield the keywords that set a field of attrs whose name has underscores, which these lack."""
    keyword = keyword_of(project.inference, family.sought, family.sought.name)
    if keyword in ("", family.sought.name):
        return
    for path in project.workspace.index.naming([keyword]).paths:
        try:
            mentions = project.uses(path).mentions.get(keyword, ())
        except ResourceError:
            continue
        for mention in mentions:
            if mention.kind == u.KEYWORD:
                why = setting(project.inference, family.sought, path, keyword, mention.receiver)
                if why is not None:
                    yield Mentioned(path, mention, "unsure" if why else "sure", why)


def header_keywords(project: Project, family: Family) -> Iterator[tuple[str, int]]:
    """Yield path and offset of the keywords in headers of classes that set a parameter of `__init_subclass__`."""
    for each in family.symbols:
        for function, sought in _named(project, each) if is_given(project, each) else ():
            if function.name == "__init_subclass__":
                for owner in sought.classes:
                    for below in lineage(project, sought_class(project, owner)).below:
                        yield from _in_header(project, below.of, family.sought.word)


def _in_header(project: Project, owner: Class, word: str) -> Iterator[tuple[str, int]]:
    try:
        tree = project.workspace.tree_at(owner.path)
    except ResourceError:
        return
    lines = {
        binding.line
        for scope in project.uses(owner.path).scopes
        for bindings in scope.names.values()
        for binding in bindings
        if binding[:2] == (u.CLASS, owner.scope)
    }
    for each in tree.outline.definitions:
        if each.kind is Kind.CLASS and tree.source.lines.number(each.keyword) in lines:
            header = tree.text[each.keyword : end_of_header(tree.text, each.keyword)]
            for match in re.finditer(rf"[,(]\s*({re.escape(word)})\s*=(?!=)", header):
                yield owner.path, each.keyword + match.start(1)


def classes_built_by(project: Project, functions: Collection[Symbol]) -> list[Sought]:
    """Return the targets of searches for the classes whose instances one of some functions makes."""
    orders = project.inference.orders
    owners = [
        Class(each.path, each.scope)
        for each in functions
        if each.name in MAKING and project.uses(each.path).scopes[each.scope].kind == u.CLASS_SCOPE
    ]
    found: dict[Sought, None] = {}
    for owner in owners:
        sought = sought_class(project, owner)
        found[sought] = None
        for below in lineage(project, sought).below:
            order = orders.of(below.of)
            making = [member for name in MAKING for member in orders.members(order, name)]
            if any(member.symbol in functions for member in making):
                found[sought_class(project, below.of)] = None
    return list(found)


class _Calls:
    """The calls of the functions whose parameters are renamed.

    Parameters:
        functions: by the name of each function in its scope, what to look for.
    """

    def __init__(self, project: Project, family: Family, functions: dict[Symbol, Sought]) -> None:
        self.project = project
        self.family = family
        self.functions = functions
        self.unreadable: dict[str, ResourceError] = {}
        self._called: dict[_Key, Certainty] = {}
        self._starred: list[Mentioned] = []

    def keywords(self) -> Keywords:
        for sought in dict.fromkeys(self.functions.values()):
            self._look_for(sought)
        for sought in self._built_classes:
            self._look_for(sought)
        naming = self.project.workspace.index.naming([self.family.sought.word])
        self.unreadable.update(naming.unreadable)
        found = list(self._starred)
        for path in naming.paths:
            try:
                found += self._in_file(path)
            except ResourceError as error:
                self.unreadable[path] = error
        return Keywords(mentions=tuple(found), unreadable=tuple(sorted(self.unreadable.items())))

    @cached_property
    def _built_classes(self) -> list[Sought]:
        """Return the targets of searches for calls of the classes whose instances one of the functions makes."""
        return classes_built_by(self.project, self.functions)

    def _look_for(self, sought: Sought) -> None:
        matches = search_code(self.project, sought, self.project.workspace.index.naming)
        self.unreadable.update(matches.unreadable)
        for path, mentions in matches.files:
            for mentioned in mentions:
                _, _, scope, kind, receiver, _ = mentioned.mention
                if mentioned.certainty == "mention" or kind in (u.IMPORT, u.EXPORT, u.STRING):
                    continue
                for name in matches.names:
                    key = (path, name, scope if receiver == u.PLAIN else -receiver - 1)
                    if self._called.get(key) != "sure":
                        self._called[key] = mentioned.certainty
                if kind in (u.CALL, u.READ) and mentioned.certainty == "sure" and self._may_set(mentioned, sought):
                    self._starred.append(structs.replace(mentioned, certainty="unsure", why=BY_STARS))

    @cached_property
    def _signatures(self) -> Signatures:
        """The signatures of all the functions."""
        sought = next(iter(self.functions.values()))
        return Signatures(self.project, structs.replace(sought, meanings=frozenset(self.functions)))

    def _may_set(self, mentioned: Mentioned, sought: Sought) -> bool:
        """Return whether a call may set the parameter by keywords that its code does not name."""
        is_bound = self._is_bound(mentioned, sought)
        return self._signatures.may_set(mentioned.path, mentioned.mention, self.family.sought.word, is_bound=is_bound)

    def _is_bound(self, mentioned: Mentioned, sought: Sought) -> bool:
        """Return whether Python surely gives a call its first argument: of a class, or of a method of an instance."""
        if sought in self._built_classes:
            return True
        receiver = mentioned.mention.receiver
        values = self.project.inference.values(mentioned.path, receiver) if receiver > 0 else ()
        return bool(values) and all(isinstance(each, Instance) for each in values)

    def _in_file(self, path: str) -> Iterator[Mentioned]:
        uses = self.project.uses(path)
        for mention in uses.mentions.get(self.family.sought.name, ()):
            if mention.kind != u.KEYWORD:
                continue
            form = uses.expressions[mention.receiver]
            if form[:1] != (u.CALLED,):
                continue
            certainty = self._is_called(path, int(form[1])) or self._is_partial(path, form)
            if certainty:
                yield Mentioned(
                    path, mention, certainty, "" if certainty == "sure" else Reason.PERHAPS_ANOTHER_CALL.of()
                )
            elif self._is_of_anything(path, form):
                yield Mentioned(path, mention, "unsure", Reason.KEYWORD_OF_ANYTHING.of())
            elif any(isinstance(each, int) and self._is_called(path, each) for each in form[2:]):
                yield Mentioned(path, mention, "unsure", Reason.HANDED_TO_A_CALL.of())

    def _is_of_anything(self, path: str, form: u.Expression) -> bool:
        """Return whether the called value is not known: `func(item=1)`, where `func` is a parameter."""
        number, values = int(form[1]), self.project.inference.values(path, int(form[1]))
        called = self.project.uses(path).expressions[number]
        if called[:1] == (u.NAME,) and (partials := self._assigned(path, called)):
            return any(self._is_of_anything(*each) for each in partials)
        if Outside(_PARTIAL) in values and len(form) > 2 and isinstance(form[2], int):
            return None in self.project.inference.values(path, form[2])
        return None in values and called[:1] == (u.NAME,)

    def _assigned(self, path: str, name: u.Expression) -> list[tuple[str, u.Expression]]:
        """Return the partial functions that a name holds; none if it may hold anything else."""
        found: list[tuple[str, u.Expression]] = []
        for meaning in self.project.names.named(path, int(name[2]), str(name[1])):
            if not isinstance(meaning, Symbol):
                return []
            uses = self.project.uses(meaning.path)
            for how, number, *_ in uses.scopes[meaning.scope].names.get(meaning.name, ()):
                form = uses.expressions[number] if how == u.ASSIGNED else ()
                if form[:1] != (u.CALLED,):
                    return []
                if Outside(_PARTIAL) not in self.project.inference.values(meaning.path, int(form[1])):
                    return []
                found.append((meaning.path, form))
        return found

    def _is_called(self, path: str, number: int) -> Certainty | None:
        """Return how sure it is that an expression is one of the functions; None where it is another thing."""
        form = self.project.uses(path).expressions[number]
        if form[:1] == (u.ATTRIBUTE,) and (known := self._called.get((path, str(form[2]), -int(form[1]) - 1))):
            return known
        if form[:1] == (u.NAME,) and (known := self._called.get((path, u.plain_name(form), int(form[2])))):
            return known
        called = [self._is_one(each) for each in self.project.inference.values(path, number)]
        return None if True not in called else "sure" if all(called) else "unsure"

    def _is_one(self, value: Value) -> bool:
        """Return whether a call of a value is one of a function whose parameter is renamed."""
        if isinstance(value, Function):
            return (value.path, value.scope) in self._scopes
        making = ("__call__",) if isinstance(value, Instance) else MAKING
        if not isinstance(value, (Instance, Class, OfClass)):
            return False
        members = (each for name in making for each in self.project.inference.members(value, name))
        return any(member.symbol in self.functions for member in members)

    @cached_property
    def _scopes(self) -> set[tuple[str, int]]:
        return {(symbol.path, scope) for symbol in self.functions for scope in _scopes(self.project, symbol)}

    def _is_partial(self, path: str, form: u.Expression) -> Certainty | None:
        """Return how sure it is that a call makes a partial function of one, or is of a name that holds one."""
        called = self.project.uses(path).expressions[int(form[1])]
        if called[:1] == (u.NAME,):
            for meaning in self.project.names.named(path, int(called[2]), str(called[1])):
                if isinstance(meaning, Symbol) and (certainty := self._partial_certainty(meaning)) is not None:
                    return certainty
        return self._makes_partial(path, form)

    def _partial_certainty(self, symbol: Symbol) -> Certainty | None:
        uses = self.project.uses(symbol.path)
        bindings = uses.scopes[symbol.scope].names.get(symbol.name, ())
        forms = [uses.expressions[each[1]] if each[0] == u.ASSIGNED else () for each in bindings]
        several = [self._makes_partial(symbol.path, form) if form[:1] == (u.CALLED,) else None for form in forms]
        return next((each if several.count(each) == len(several) else "unsure" for each in several if each), None)

    def _makes_partial(self, path: str, form: u.Expression) -> Certainty | None:
        values = self.project.inference.values(path, int(form[1]))
        if Outside(_PARTIAL) not in values or len(form) < 3 or not isinstance(form[2], int):
            return None
        return self._is_called(path, form[2])


def _may_be_called(function: Symbol) -> bool:
    """Return whether code calls a function by its name, with keywords; Python calls most special methods without."""
    is_special = function.name.startswith("__") and function.name.endswith("__")
    return not is_special or function.name in (*MAKING, "__call__", "__init_subclass__")


def is_given(project: Project, symbol: Symbol) -> bool:
    """Return whether a name is a parameter that calls give."""
    scope = project.uses(symbol.path).scopes[symbol.scope]
    return scope.kind == u.FUNCTION_SCOPE and any(
        binding.how == u.PARAMETER for binding in scope.names.get(symbol.name, ())
    )


def _named(project: Project, parameter: Symbol) -> Iterator[tuple[Symbol, Sought]]:
    """Yield the name that a parameter's function is bound to, and what to look for to find its uses."""
    scopes = project.uses(parameter.path).scopes
    around = scopes[parameter.scope].parent
    if scopes[around].kind == u.TYPE_SCOPE:
        around = scopes[around].parent
    for name, bindings in scopes[around].names.items():
        if any(binding[:2] == (u.FUNCTION, parameter.scope) for binding in bindings):
            symbol = Symbol(parameter.path, around, name)
            yield symbol, sought_by(project.uses, project.address, symbol)


def _methods(project: Project, parameter: Symbol) -> Iterator[Symbol]:
    """Yield the methods that calls of a parameter's own may reach; a call of a class reaches all that make it."""
    for symbol, sought in _named(project, parameter):
        if sought.classes and symbol.name in MAKING:
            yield from (Symbol(symbol.path, symbol.scope, name) for name in MAKING)
        elif sought.classes:
            yield from members_of(project, sought, {symbol}).symbols


def _scopes(project: Project, symbol: Symbol) -> list[int]:
    """Return the scopes of the functions that a name is bound to."""
    bindings = project.uses(symbol.path).scopes[symbol.scope].names.get(symbol.name, ())
    return [binding.first for binding in bindings if binding.how == u.FUNCTION]
