"""The definitions that nothing uses."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from collections.abc import Iterable
from typing import Annotated, ClassVar

from bae_source.model.outcome import Outcome
from bae_source.model.reference import Certainty, Defined, Reference
from bae_source.model.request import Effect, Request, described
from bae_source.project.references.calls.unused import unused
from bae_source.project.references.meaning.project import project_of
from bae_source.project.references.search.answering import answer_of
from bae_source.project.search.scope import scope_of
from bae_source.project.workspace import Workspace


class Unused(Request, frozen=True, kw_only=True):
    """List the classes, functions, methods and variables that nothing in the project uses, sure or not.

    A definition is sure to be unused where nothing names it and nothing outside the project can reach it as far as
    its code shows. It is probable where the project is a package and the name is public, or a text file mentions it,
    and unsure, with the reason, where it is exported, a decorator, a base class that is not known or the project's
    settings may hand it out, or a string may name it. An import for others to import from is no use, and neither is
    what a definition does with itself; two that use each other are used. Not listed are special methods, what pytest
    collects, fixtures that are asked for, what overrides a member of a base, members of protocols and enumerations,
    names that code puts together, and what lies inside a definition that is listed.
    """

    verb: ClassVar[str] = "unused"
    effect: ClassVar[Effect] = Effect.READS
    lists_places: ClassVar[bool] = True
    lists_addresses: ClassVar[bool] = True
    when: ClassVar[str] = "Use it to find code that can be deleted."
    examples: ClassVar[tuple[str, ...]] = (
        "unused",
        "unused app.net --certainty sure --kind function",
    )

    scope: Annotated[
        str | None,
        described("Package, module, class or function whose definitions are checked; all if left out.", placed=True),
    ] = None
    certainty: Annotated[Certainty | None, described("List only what is that sure to be unused.")] = None
    kind: Annotated[Defined | None, described("List only definitions of this kind.")] = None

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer from the workspace."""
        with workspace.index.expecting():
            scope = scope_of(workspace, self.scope)
            modules = [module for file in scope.files if (module := workspace.census.module(file.path))]
            lines = None
            if scope.span is not None:
                source = workspace.tree(modules[0]).source.lines
                last = max(scope.span.end - 1, scope.span.start)
                lines = source.number(scope.span.start), source.number(last)
            found = unused(project_of(workspace), modules, lines)
        return answer_of(
            workspace, self, found.definitions, found.unreadable, nothing="(nothing is unused)", notices=scope.notices
        )

    def narrowed(self, _: Workspace, found: Iterable[Reference]) -> list[Reference]:
        """Return the definitions that are wanted."""
        return [each for each in found if self.certainty in (None, each.certainty) and self.kind in (None, each.kind)]
