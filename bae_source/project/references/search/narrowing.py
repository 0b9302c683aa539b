"""The part of a question about places that says which of them are wanted: where, how sure, of which kind.

    references app.core.send --scope app.web --certainty unsure     of the 40 places those 3

Invariants:
- all that is narrowed is what the answer lists; what is read, and so whether it is complete, stays the same.
"""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from collections.abc import Iterable
from typing import Annotated, ClassVar, Protocol

from bae_source.model.reference import Certainty, Kind, Reference
from bae_source.model.request import Request, Target, described
from bae_source.project.workspace import Workspace


class Narrowing(Protocol):
    """A question that says which places are wanted."""

    def narrowed(self, workspace: Workspace, places: Iterable[Reference], /) -> list[Reference]:
        """Return those that are."""


class AboutPlaces(Request, frozen=True, kw_only=True):
    """A question whose answer lists places."""

    lists_places: ClassVar[bool] = True
    lists_addresses: ClassVar[bool] = True

    target: Target
    scope: Annotated[
        str | None, described("List only what stands in this package, module, class or function.", placed=True)
    ] = None
    certainty: Annotated[Certainty | None, described("List only what is that sure.")] = None
    kind: Annotated[
        Kind | None, described("List only places of this kind: call, import, read, write, base, string …")
    ] = None

    def narrowed(self, workspace: Workspace, places: Iterable[Reference]) -> list[Reference]:
        """Return the places that are wanted.

        Raises:
            RequestError: `invalid_name` for the scope.
            LookupFailed: `symbol_not_found` or `ambiguous_symbol` for the scope, with candidates.
            SourceError: the scope is a symbol of a module that does not parse.
        """
        wanted = [
            each for each in places if self.certainty in (None, each.certainty) and self.kind in (None, each.kind)
        ]
        return wanted if self.scope is None else _inside(workspace, self.scope, wanted)


def _inside(workspace: Workspace, name: str, places: Iterable[Reference]) -> list[Reference]:
    from bae_source.project.naming.resolve import resolve  # most questions are about the whole project
    from bae_source.project.search.scope import scope_of

    scope = scope_of(workspace, name, stubs=True, data=True)
    names = {file.name for file in scope.files}
    inside = [each for each in places if each.module in names]
    if scope.span is None:
        return inside
    lines = resolve(workspace, name).tree.source.lines
    first, last = lines.number(scope.span.start), lines.number(max(scope.span.end - 1, scope.span.start))
    return [each for each in inside if first <= each.line <= last]
