"""Definitions of the names at a place of a file."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from typing import Annotated, ClassVar

from bae_source.errors import RequestError
from bae_source.model.call import Call
from bae_source.model.outcome import Outcome
from bae_source.model.reference import Reference, counts_of
from bae_source.model.request import Effect, Request, described
from bae_source.project.naming.places import module_at, parse_place
from bae_source.project.references.meaning.defined import defined_at
from bae_source.project.references.meaning.project import project_of
from bae_source.project.references.search.answering import named
from bae_source.project.workspace import Workspace


class Definition(Request, frozen=True, kw_only=True):
    """Tell where the name that stands at a place of a file is defined.

    The place is written as `where` takes it: path:line:column, or module:line:column as answers show it. Without a
    column the answer has every name of the line. Imports are followed to the definition; what may be several things is
    listed as unsure.
    """

    verb: ClassVar[str] = "definition"
    effect: ClassVar[Effect] = Effect.READS
    lists_places: ClassVar[bool] = True
    lists_addresses: ClassVar[bool] = True
    when: ClassVar[str] = "Use it to go from a use of a name to what it means."
    examples: ClassVar[tuple[str, ...]] = (
        "definition app/net.py:12:9",
        "definition app.net:12",
    )

    place: Annotated[str, described("The place, such as app/core.py:12:5 or app.core:12.", min_length=1)]

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer from the workspace."""
        written = parse_place(self.place)
        if written.line is None:
            raise RequestError(
                "invalid_arguments", f"{self.place} names no line.", hints=["Give a place such as app/core.py:12:5."]
            )
        module = module_at(workspace, written)
        project = project_of(workspace)
        found = defined_at(project, module.path, written.line, written.column)
        unreadable = project.unanalysed(module.path)
        return Outcome(
            status="answer",
            text="\n".join(map(_drawn, found)) or "(no name that refers to something stands there)",
            found=tuple(found),
            counts=counts_of(found),
            complete=not unreadable,
            next_actions=tuple(Call("read", target=each.address) for each in found[:1] if each.kind == "definition"),
        )


def _drawn(place: Reference) -> str:
    """Draw a line for what a name leads to, with the reason where that is not sure."""
    return f"{named(place)}{f'    [{place.certainty}: {place.why}]' if place.why else ''}"
