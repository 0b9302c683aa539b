"""The references to a symbol or a module."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from typing import Annotated, ClassVar

from bae_source.model.outcome import Notice, Outcome
from bae_source.model.reference import Reference
from bae_source.model.request import Effect, described
from bae_source.project.naming.resolve import Resolved
from bae_source.project.references.meaning.instance_attributes import resolve_asked
from bae_source.project.references.meaning.of_resolved import sought_of
from bae_source.project.references.meaning.project import Project, project_of
from bae_source.project.references.search.answering import answer_of, noting_unnamed_uses
from bae_source.project.references.search.narrowing import AboutPlaces
from bae_source.project.references.search.references import references_to
from bae_source.project.workspace import Workspace


class References(AboutPlaces, frozen=True, kw_only=True):
    """List the references to a symbol or a module: every place, and how sure it is.

    Names are decided by bindings and imports, attributes by the receiver; where that is not known
    without running the code, the place is listed as unsure, with the reason, or as probable where only one family
    of classes has the name. Mentions come last: strings that could name it, and with `mentions` comments,
    docstrings, longer strings and text files. Of a special method, such as `A.__init__`, code that does not name it
    is left out, and the answer says so; so does one without references, where a base class or a decorator may hand
    the symbol out. An attribute that a class sets on its instances is named as `A.name`.
    """

    verb: ClassVar[str] = "references"
    effect: ClassVar[Effect] = Effect.READS
    when: ClassVar[str] = "Use it before you change or delete code that others may use."
    examples: ClassVar[tuple[str, ...]] = (
        "references app.net.Client.send",
        "references app.config.load --json",
    )

    mentions: Annotated[
        bool, described("List also where comments, docstrings, longer strings and text files speak of it by its name.")
    ] = False

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer from the workspace."""
        with workspace.index.expecting():
            resolved = resolve_asked(workspace, self.target)
            project = project_of(workspace)
            references = references_to(project, resolved)
        found, notices = references.found, tuple[Notice, ...]()
        if resolved.group is not None and not resolved.group.members:
            found = (*found, *_keywords(project, resolved))
        if self.mentions:
            from bae_source.project.references.search.prose import in_prose  # few questions ask for more than code

            listed = {(each.module, each.line) for each in found if each.kind == "string"}
            more, notices = in_prose(workspace, sought_of(project.names, resolved), listed)
            found = (*found, *more)
        answer = answer_of(workspace, self, found, references.unreadable, nothing="(no references)", notices=notices)
        return noting_unnamed_uses(answer, resolved, project, is_used=bool(found))


def _keywords(project: Project, resolved: Resolved) -> list[Reference]:
    """Return the keywords of calls that set a parameter; of anything else none."""
    from bae_source.project.references.calls.parameters import keywords_of
    from bae_source.project.references.classes.family import (
        family_of,  # few questions are about names that nothing defines
    )

    found = keywords_of(project, family_of(project, resolved)).mentions
    return [project.shown(each, project.lines(each.path)) for each in found]
