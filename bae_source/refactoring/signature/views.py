"""The change of a signature as one call sees it: its definition, the arguments bound before it, and its own.

Base.send(self, 1)      nothing is bound before it
super().send(1)         the instance is; and a new parameter that its own method gets is passed on
Form(request, 1)        of a constructor that hands on the rest: `request` comes before what that takes
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, structs

from bae_source.model.span import Span
from bae_source.project.naming.resolve import Resolved
from bae_source.project.references.calls.calls import values_called
from bae_source.project.references.calls.keywords import MAKING
from bae_source.project.references.classes.family import Family
from bae_source.project.references.classes.hierarchy import sought_class
from bae_source.project.references.classes.lineage import lineage
from bae_source.project.references.meaning.meanings import Outside, Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Mentioned, sought_by
from bae_source.project.references.types.values import Above, Class, Function, Instance, OfClass, Rebound, Value, Values
from bae_source.refactoring.signature.forwarding import Forwarder, handing_on
from bae_source.refactoring.signature.members import Member, addresses_of_family, family_of_function, members_of_family
from bae_source.refactoring.signature.sites import How, Site, scopes_around, sites_of
from bae_source.syntax.names import uses as u
from bae_source.syntax.signatures.arguments import Change, arguments_in, fits, given_to
from bae_source.syntax.signatures.signature import Signature
from bae_source.syntax.text.lexer import end_of_bracket

_ACCESSORS = frozenset({u.Flag.PROPERTY, u.Flag.SETTER, u.Flag.DELETER})
_PARTIAL = Outside("functools.partial")


class Wanted(Struct, frozen=True, kw_only=True):
    """A change of a signature, as it is wanted.

    Parameters:
        after: the signature that the function shall have.
        given: by names of parameters, what calls give that give nothing for them.
        threaded: parameters that functions which get them, too, pass on.
        passing: addresses of these functions.
        documented: by names of parameters, the text of their entries in docstrings.
        imports: statements for files whose calls are given something.
    """

    after: Signature
    given: Mapping[str, str] = {}
    threaded: tuple[str, ...] = ()
    passing: frozenset[str] = frozenset()
    documented: Mapping[str, str] = {}
    imports: tuple[str, ...] = ()


class Views:
    """The change of a signature as calls see it.

    Parameters:
        word: the name of the function, as Python stores it.
        members: the definitions that change together.
        signatures: the new one of each, by its number among them.
        target: the definition that was named.
    """

    def __init__(
        self,
        project: Project,
        wanted: Wanted,
        word: str,
        members: Sequence[Member],
        signatures: Mapping[int, Signature],
        target: Member,
    ) -> None:
        self.project = project
        self.wanted = wanted
        self.word = word
        self.members = members
        self.signatures = signatures
        self.target = target
        self.change = Change(before=target.header.signature, after=wanted.after, given=wanted.given)
        self.handing_on: set[tuple[str, int]] = set()
        self._forwarders: dict[tuple[str, int, int], Forwarder] = {}

    def by_forwarder(self, sites: Iterable[Site], forwarder: Forwarder) -> None:
        """Note that some calls are of a function that hands on its arguments."""
        self._forwarders.update((each.place, forwarder) for each in sites)
        self.handing_on.add((forwarder.member.symbol.path, forwarder.member.symbol.scope))

    def seen_by(self, site: Site, text: str) -> tuple[Change, int]:
        """Return the change as a call sees it, and how many parameters are bound before it."""
        if (forwarder := self._forwarders.get(site.place)) is not None:
            change = structs.replace(forwarder.change, given=self._given(site))
            return change, self._skipped(site, forwarder.member)
        member = self._member_called(site)
        change = self.change
        if member is not self.target:
            new = self.signatures.get(self.members.index(member))
            change = structs.replace(change, before=member.header.signature, after=new or member.header.signature)
        change = structs.replace(change, given=self._given(site))
        skipped = self._skipped(site, member)
        if site.how is not How.PARTIAL:
            arguments = arguments_in(text)
            if arguments is not None and not fits(arguments, change.before, skipped):
                others = (
                    structs.replace(change, before=each.header.signature, after=self.signatures[number])
                    for number, each in enumerate(self.members)
                    if number in self.signatures and fits(arguments, each.header.signature, skipped)
                )
                change = next(others, change)
        return change, skipped

    def _member_called(self, site: Site) -> Member:
        """Return the definition that a call reaches, if that is one; else the one that was named."""
        path, mention = site.mentioned.path, site.mentioned.mention
        if len(self.members) == 1 or site.makes or mention.receiver <= 0:
            return self.target
        inference = self.project.inference
        symbols = {
            member.symbol
            for value in inference.values(path, mention.receiver)
            if not isinstance(value, Rebound)
            for member in inference.members(value, self.word)[:1]
        }
        found = [each for each in self.members if each.symbol in symbols and not each.module.path.endswith(".pyi")]
        return found[-1] if len({each.symbol for each in found}) == 1 else self.target

    def _skipped(self, site: Site, member: Member) -> int:
        """Return how many of the first parameters are bound before a call."""
        if site.makes or not member.in_class:
            return int(site.makes)
        if member.is_of_class or not member.bound:
            return member.bound
        values = (
            [
                each
                for each in self.project.inference.values(site.mentioned.path, site.mentioned.mention.receiver)
                if not isinstance(each, Rebound)
            ]
            if site.mentioned.mention.receiver > 0
            else self._aliased(site)
        )
        by_class = bool(values) and all(isinstance(each, (Class, OfClass)) for each in values)
        return 0 if by_class else 1

    def _given(self, site: Site) -> Mapping[str, str]:
        """Return the arguments of a call for new parameters: given values, or parameters of the function around it."""
        given = dict(self.wanted.given)
        around = self.around(site)
        if around is not None:
            new = self.signatures.get(self.members.index(around), around.header.signature)
            own = {
                name for name in new.named if name not in self.change.before.named and name in self.wanted.after.named
            }
            is_up = self.is_passing_up(site)
            given.update(
                (name, name)
                for name in own
                if is_up or self.wanted.after.named[name].is_required or name in (*given, *self.wanted.threaded)
            )
        elif self._passes(site):
            given.update((name, name) for name in self.wanted.threaded)
        return given

    def _passes(self, site: Site) -> bool:
        """Return whether a call stands in a function that gets the parameters, too, to pass them on."""
        return outermost(self.project, site.mentioned) in self.wanted.passing

    def around(self, site: Site) -> Member | None:
        """Return the member in which a place stands."""
        path, scope = site.mentioned.path, site.mentioned.mention.scope
        around = set(scopes_around(self.project, path, scope))
        return next((each for each in self.members if each.symbol.path == path and each.scope in around), None)

    def hands_all_on(self, site: Site, text: str) -> bool:
        """Return whether a method that takes any arguments hands all of them on to the overridden one."""
        around = self.around(site)
        if around is None or around is self.target:
            return False
        signature = around.header.signature
        if signature.positional[around.bound :] or signature.rest is None or signature.options is None:
            return False
        given = [each.text for each in arguments_in(text) or ()]
        return given == [f"*{signature.rest.name}", f"**{signature.options.name}"]

    def is_passing_up(self, site: Site) -> bool:
        """Return whether a method calls the one it overrides: by `super()`, or by the class."""
        path, receiver = site.mentioned.path, site.mentioned.mention.receiver
        if receiver <= 0 or site.how is not How.CALL or self.around(site) is None:
            return False
        values = self.project.inference.values(path, receiver)
        return bool(values) and all(isinstance(each, (Above, Class, Rebound)) for each in values)

    def is_plain(self, site: Site) -> bool:
        """Return whether what a call calls by another name is the function, or the class, and no other object.

        append = text.append; append(1)     the method of an instance, if `text` surely is one
        """
        name, mention = _name_at(self.project, site.mentioned), site.mentioned.mention
        if not self.target.in_class or site.makes:
            values = values_called(self.project, site.mentioned.path, name, mention)
            return bool(values) and all(isinstance(each, (Function, Class, OfClass)) for each in values)
        receivers = self._aliased(site)
        return bool(receivers) and any(
            all(isinstance(each, kinds) for each in receivers) for kinds in ((Instance,), (Class, OfClass))
        )

    def is_of_others_below(self, site: Site, text: str, new: str) -> bool:
        """Return whether a call may be of a class below, whose constructor takes its arguments but not the new ones.

        class Base:
            def copy(self): return type(self)(self.size)        `type(self)(size=self.size)` is no call of
        class Sub(Base):                                        Sub, though it was one
            def __init__(self, height): ...

        Parameters:
            text, new: the brackets of the call as they are, and as they would be.
        """
        if not (site.makes and site.is_other):
            return False
        name, mention = _name_at(self.project, site.mentioned), site.mentioned.mention
        values = values_called(self.project, site.mentioned.path, name, mention)
        before, after = arguments_in(text), arguments_in(new)
        if before is None or after is None:
            return False
        return any(
            (given := given_to(before, signature, 1)) is not None and given_to(after, signature, 1) != given
            for each in values
            if isinstance(each, OfClass) and not each.exact
            for signature in self._constructors_below(each.of)
        )

    def _constructors_below(self, owner: Class) -> Iterator[Signature]:
        """Yield the signatures of other constructors than those that change, of the classes below one."""
        own = {(each.symbol.path, each.symbol.scope) for each in self.members} | self.handing_on
        for below in lineage(self.project, sought_class(self.project, owner)).below:
            if (below.of.path, below.of.scope) not in own:
                symbols = [Symbol(below.of.path, below.of.scope, name) for name in MAKING]
                for member in members_of_family(self.project, symbols):
                    if isinstance(member, Member):
                        yield member.header.signature

    def is_completing(self, site: Site) -> bool:
        """Return whether a call completes a partial function by its name; the call that makes it is checked instead."""
        forms = self._forms(site)
        return bool(forms) and all(
            form[:1] == (u.CALLED,) and _PARTIAL in self.project.inference.values(path, int(form[1]))
            for path, form in forms
        )

    def _aliased(self, site: Site) -> Values:
        """Return what methods are taken from that a name holds which is called; nothing for any other call."""
        found: set[Value] = set()
        for path, form in self._forms(site):
            taken = self.project.inference.values(path, int(form[1])) if form[:1] == (u.ATTRIBUTE,) else {None}
            found.update(each for each in taken if not isinstance(each, Rebound))
        return frozenset(found)

    def _forms(self, site: Site) -> list[tuple[str, u.Expression]]:
        """Return the expressions, and their files, that a name is assigned which is called in place of the function."""
        path, mention = site.mentioned.path, site.mentioned.mention
        if not site.is_other or mention.receiver != u.PLAIN:
            return []
        return [
            (meaning.path, uses.expressions[first] if how == u.ASSIGNED else ())
            for meaning in self.project.names.named(path, mention.scope, _name_at(self.project, site.mentioned))
            if isinstance(meaning, Symbol)
            for uses in [self.project.uses(meaning.path)]
            for how, first, *_ in uses.scopes[meaning.scope].names.get(meaning.name, ())
        ]


def callers_of(project: Project, resolved: Resolved) -> list[str]:
    """Return the addresses of the outermost functions that surely call a function, but for itself and its family.

    A function that hands on all that it is given stands for those that call it.
    """
    family = family_of_function(project, resolved)
    found: set[str] = set()
    seen, waiting = set[tuple[str, int]](), [family]
    while waiting:
        for site in sites_of(project, waiting.pop()).sites:
            if site.how not in (How.CALL, How.PARTIAL) or site.mentioned.certainty not in ("sure", "probable"):
                continue
            text = project.workspace.tree_at(site.mentioned.path).text
            brackets = Span(site.opening, end_of_bracket(text, site.opening))
            member = handing_on(project, site, brackets.cut(text))
            if member is None:
                found.add(outermost(project, site.mentioned))
            elif member.place not in seen:
                seen.add(member.place)
                sought = sought_by(project.uses, project.address, member.symbol)
                waiting.append(Family(sought=sought, symbols=(member.symbol,)))
    return sorted(found - addresses_of_family(project, resolved) - {""})


def outermost(project: Project, mentioned: Mentioned) -> str:
    """Return the address of the outermost function around a mention that can take a parameter; "" for none.

    Python calls a property, and most special methods, with what it likes; pytest a test.
    """
    uses, found = project.uses(mentioned.path), ""
    for scope in scopes_around(project, mentioned.path, mentioned.mention.scope):
        if uses.scopes[scope].kind == u.FUNCTION_SCOPE:
            address = project.address(mentioned.path, uses.scopes[scope].owner)
            name = address.rpartition(".")[2].partition("@")[0]
            is_special = name.startswith("__") and name.endswith("__") and name not in (*MAKING, "__call__")
            is_given = is_special or name.startswith("test") or not _ACCESSORS.isdisjoint(uses.scopes[scope].flags)
            found = "" if is_given else address
    return found


def _name_at(project: Project, mentioned: Mentioned) -> str:
    """Return the name under which a mention is noted."""
    mentions = project.uses(mentioned.path).mentions
    return next((name for name, several in mentions.items() if mentioned.mention in several), u.NAMELESS)
