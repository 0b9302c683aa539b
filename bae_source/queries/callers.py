"""The callers of a function, a method or a class."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from typing import ClassVar

from bae_source.errors import RequestError
from bae_source.model.outcome import Outcome
from bae_source.model.reference import Reference
from bae_source.model.request import Effect
from bae_source.project.naming.resolve import Resolved
from bae_source.project.references.meaning.instance_attributes import resolve_asked
from bae_source.project.references.meaning.project import project_of
from bae_source.project.references.search.answering import answer_of, noting_unnamed_uses
from bae_source.project.references.search.narrowing import AboutPlaces
from bae_source.project.references.search.references import calls_of, references_to
from bae_source.project.workspace import Workspace
from bae_source.syntax.outline.locate import effective_role

_CALLS = ("call", "decorator", "mention", "request")
"""Kinds of references; a mere mention stands in code that could not be analysed, and may call."""
_OF_A_PROPERTY = (*_CALLS, "read", "write", "delete")


class Callers(AboutPlaces, frozen=True, kw_only=True):
    """List the calls of a function, a method or a class; decorating with it counts, and using it if it is a property.

    Calls are found by its name, or one that it was imported under or assigned to, as in `run = send; run()`; those of
    a class by `cls` and the class of `self` too. Of a special method there are others, such as `A()` of `A.__init__`,
    and the answer says so. A function given to another one is not followed; references lists where it is handed on.
    """

    verb: ClassVar[str] = "callers"
    effect: ClassVar[Effect] = Effect.READS
    when: ClassVar[str] = "Use it before you change a signature or what is returned."
    examples: ClassVar[tuple[str, ...]] = ("callers app.net.Client.send",)

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer from the workspace."""
        with workspace.index.expecting():
            resolved = resolve_asked(workspace, self.target)
            if resolved.group is None:
                raise RequestError(
                    "invalid_arguments",
                    f"{resolved.address} is a module, which cannot be called.",
                    hints=[f"Ask for references of {resolved.address}, or for its importers_of."],
                )
            project = project_of(workspace)
            references = calls_of(project, resolved, references_to(project, resolved))
        kinds = _OF_A_PROPERTY if _is_property(resolved) else _CALLS
        found = [each for each in references.found if each.kind in kinds and not _is_decorator(each, resolved)]
        answer = answer_of(workspace, self, found, references.unreadable, nothing="(no callers)")
        return noting_unnamed_uses(answer, resolved, project, is_used=bool(found))


def _is_decorator(reference: Reference, resolved: Resolved) -> bool:
    """Return whether a reference only makes an accessor of a property, as `@size.setter` does, and calls nothing."""
    name = resolved.address.qualname[-1].name
    return reference.kind == "read" and reference.text.startswith(f"@{name}.")


def _is_property(resolved: Resolved) -> bool:
    """Return whether using the attribute calls the target."""
    outline = resolved.tree.outline
    members = resolved.group.members if resolved.group else ()
    return any(effective_role(outline, index) in ("getter", "setter", "deleter") for index in members)
