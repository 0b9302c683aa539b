"""Show the skeletons of modules, classes and functions by their selectors."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from typing import Annotated, ClassVar

from bae_source.model.navigation import Question
from bae_source.model.request import Effect, Request, described
from bae_source.model.selection import MAX_URIS, Ref, Selected, Selection
from bae_source.project.naming.pointing import pointers
from bae_source.project.naming.resolve import Resolved
from bae_source.project.naming.selections import answer_each, selection_of
from bae_source.project.workspace import Workspace
from bae_source.syntax.outline.skeleton import skeleton


class Symbols(Request, frozen=True, kw_only=True):
    """Show names and signatures: the skeleton of a module, class or function.

    Each is named by a selector, as sym://python/mod/app/net or sym://python/type/app/net/Client#send. A path may leave
    out its beginning; what matches several files is an error that lists them.
    """

    family: ClassVar[str] = "ast"
    verb: ClassVar[str] = "symbols"
    effect: ClassVar[Effect] = Effect.READS
    when: ClassVar[str] = "Use it with a selector, to see what there is before you read one implementation."
    examples: ClassVar[tuple[str, ...]] = (
        "ast symbols sym://python/mod/app/net",
        "ast symbols sym://python/mod/net --format markdown",
    )

    uris: Annotated[
        tuple[str, ...],
        described(
            "Selectors, each answered by itself.", min_length=1, max_length=MAX_URIS, starred=True, metavar="URI"
        ),
    ]
    exact: Annotated[bool, described("Let paths match from the source root only.")] = False

    def answer(self, workspace: Workspace) -> Selected:
        """Answer from the workspace."""

        def show(uri: str, resolved: Resolved) -> tuple[Selection, Question | None]:
            members = resolved.group.members if resolved.group else None
            content = skeleton(resolved.tree, members)
            refs = [Ref(uri=str(each)) for each in pointers(workspace, resolved, header_only=True).selectors]
            onward = f"ast snippet {uri}{' --exact' if self.exact else ''}"
            return selection_of("skeleton", uri, resolved, content, refs, onward), None

        return answer_each(workspace, self.uris, "skeleton", show, exact=self.exact)
