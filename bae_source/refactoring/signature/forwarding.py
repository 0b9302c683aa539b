"""Functions that hand on all that they are given, such as the constructor of a class below another.

    class Form(Base):
        def __init__(self, request, *args, **kwargs):
            super().__init__(*args, **kwargs)           calls of Form give `request`, and then what Base takes

Invariants:
- nothing else in the function names what is handed on, so that all of it arrives.
"""

from __future__ import annotations

from msgspec import Struct, structs

from bae_source.project.references.meaning.project import Project
from bae_source.refactoring.signature.members import Member, member_at
from bae_source.refactoring.signature.sites import How, Site, scopes_around
from bae_source.syntax.names import uses as u
from bae_source.syntax.signatures.arguments import Change, arguments_in
from bae_source.syntax.signatures.signature import Parameter, Signature


class Forwarder(Struct, frozen=True, kw_only=True):
    """A function that hands on what it is given, and the change as its callers see it."""

    member: Member
    change: Change


def forwarder_at(project: Project, site: Site, text: str, change: Change, skipped: int) -> Forwarder | None:
    """Return the function around a call that hands on to it all that it is given itself; None for any other.

    Parameters:
        text: the brackets of the call.
        change: as the call sees it.
        skipped: how many parameters are bound before the call.
    """
    member = handing_on(project, site, text)
    if member is None:
        return None
    given = {each.keyword for each in arguments_in(text) or () if each.keyword}
    own = tuple(each for each in member.header.signature.parameters if not each.is_starred)
    taken = given | {each.name for each in own[member.bound :]}
    changed = {
        each.name
        for each in (*change.before.parameters, *change.after.parameters)
        if change.before.named.get(each.name) != change.after.named.get(each.name)
    }
    if not taken.isdisjoint(changed):
        return None
    before, after = (_together(own, each, skipped, taken) for each in (change.before, change.after))
    return Forwarder(member=member, change=structs.replace(change, before=before, after=after))


def handing_on(project: Project, site: Site, text: str) -> Member | None:
    """Return the function around a call that hands on to it all that its starred parameters take; None for any other.

    Parameters:
        text: the brackets of the call.
    """
    path, scope = site.mentioned.path, site.mentioned.mention.scope
    arguments = arguments_in(text) if site.how is How.CALL else None
    if not arguments or project.uses(path).scopes[scope].kind != u.FUNCTION_SCOPE:
        return None
    member = member_at(project, path, scope)
    if member is None or (rest := member.header.signature.rest) is None:
        return None
    if (options := member.header.signature.options) is None:
        return None
    names = (rest.name, options.name)
    stars = [each.text for each in arguments if each.stars]
    is_plain = all(each.stars or each.keyword for each in arguments)
    is_whole = is_plain and stars == [f"*{names[0]}", f"**{names[1]}"]
    return member if is_whole and _is_untouched(project, path, scope, names) else None


def _is_untouched(project: Project, path: str, scope: int, names: tuple[str, str]) -> bool:
    """Return whether nothing in a function names what its starred parameters hold but the one call."""
    uses = project.uses(path)
    return all(
        len(uses.scopes[scope].names.get(name, ())) == 1
        and sum(scope in scopes_around(project, path, each[2]) for each in uses.mentions.get(name, ())) == 1
        for name in names
    )


def _together(own: tuple[Parameter, ...], other: Signature, skipped: int, taken: set[str]) -> Signature:
    """Return the signature that callers of a function see which hands the rest on to another one.

    Parameters:
        own: the parameters that it takes itself.
        taken: names of those of the other that callers cannot give.
    """
    bound = {each.name for each in other.positional[:skipped]}
    further = (each for each in other.parameters if each.name not in taken | bound)
    return structs.replace(other, parameters=tuple(sorted((*own, *further), key=lambda each: each.kind)))
