"""The classes below a class."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from collections.abc import Collection
from typing import ClassVar

from bae_source.errors import RequestError
from bae_source.model.address import Address
from bae_source.model.outcome import Outcome
from bae_source.model.request import Effect
from bae_source.project.naming.resolve import resolve
from bae_source.project.references.classes.lineage import subclasses
from bae_source.project.references.meaning.of_resolved import sought_of
from bae_source.project.references.meaning.project import project_of
from bae_source.project.references.meaning.stubs import with_stub
from bae_source.project.references.search.answering import answer_of, named
from bae_source.project.references.search.narrowing import AboutPlaces
from bae_source.project.workspace import Workspace
from bae_source.syntax.outline.definitions import Kind


class Subclasses(AboutPlaces, frozen=True, kw_only=True):
    """List the classes below a class, direct and indirect ones.

    Names that are assigned from it are followed, and those annotated with it as `type[Base]`. Where a base is worked
    out by code that names it, such as a call, or is `cls`, or a parameter that is given it, the class is listed as
    unsure, with the reason, and so is a class that `type` or `make_dataclass` makes, or one that is registered:
    `Base.register(C)`. Not seen are a class that gets hold of its base by a loop, a registry, `globals`,
    `getattr`, or a call whose result is not used, and one below a name that is assigned from any but the nearest
    hundred classes.
    """

    verb: ClassVar[str] = "subclasses"
    effect: ClassVar[Effect] = Effect.READS
    when: ClassVar[str] = "Use it before you change what classes inherit."
    examples: ClassVar[tuple[str, ...]] = ("subclasses app.net.Client",)

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer from the workspace."""
        resolved = resolve(workspace, self.target)
        members = resolved.group.members if resolved.group else ()
        kinds = {resolved.tree.outline.definitions[index].kind for index in members}
        if Kind.CLASS not in kinds:
            raise _no_class(resolved.address, kinds)
        project = project_of(workspace)
        listed = subclasses(project, with_stub(project, sought_of(project.names, resolved)))
        return answer_of(
            workspace,
            self,
            listed.found,
            {**dict(listed.unreadable), **project.unanalysed(resolved.module.path)}.items(),
            nothing="(no subclasses)",
            draw=named,
        )


def _no_class(address: Address, kinds: Collection[Kind]) -> RequestError:
    """Return why nothing is searched for below a name; one that is assigned may hold a class that a call has made."""
    why, hint = f"{address} is no class, so nothing is below it.", "Name a class."
    if Kind.ASSIGNMENT in kinds:
        why = f"{address} is assigned: no class statement makes it, so classes below it are not searched for."
        hint = f"Ask for references of {address}: class headers that name it are among them."
    return RequestError("invalid_arguments", why, hints=[hint])
