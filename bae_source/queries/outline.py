"""Outline the project, a package, a module, or a class: names, signatures, and the first line of each docstring."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from typing import Annotated, ClassVar

from bae_source.model.outcome import Outcome
from bae_source.model.request import Effect, Request, described
from bae_source.project.interfaces.listing import Style
from bae_source.project.interfaces.listings import project_overview
from bae_source.project.workspace import Workspace


class Outline(Request, frozen=True, kw_only=True):
    """Outline what is defined in the project, a package, a module or a class.

    Depth counts from what is named: 1 is its direct members, 2 their members too, 0 its own line alone. A package has
    its subpackages and modules as members, then what its own code defines and re-exports, and its data files.
    """

    verb: ClassVar[str] = "outline"
    effect: ClassVar[Effect] = Effect.READS
    when: ClassVar[str] = "Use it to find your way in a project, package, module or class that you do not know."
    examples: ClassVar[tuple[str, ...]] = (
        "outline",
        "outline app.net --depth 2 --private",
        "outline app.net.Client --numbers",
    )

    target: Annotated[str, described("Dotted name to outline; the whole project if left out.", placed=True)] = ""
    depth: Annotated[int, described("Levels of members to show.", ge=0, le=1000)] = 1
    private: Annotated[bool, described("Show names that begin with _ too, instead of their number.")] = False
    numbers: Annotated[bool, described("Put line numbers in front.")] = False
    attributes: Annotated[
        bool,
        described("Show also attributes that classes set on instances, and names that loops, `with` and `:=` bind."),
    ] = False

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer from the workspace."""
        style = Style(depth=self.depth, private=self.private, numbers=self.numbers, attributes=self.attributes)
        if not self.target:
            return project_overview(workspace, style)
        from bae_source.project.interfaces.overview import overview  # 10 ms, for names to be looked up

        return overview(workspace, self.target, style)
