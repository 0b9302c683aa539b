"""Show what there is to know about modules, classes and functions without their code, by their selectors."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from typing import Annotated, ClassVar

from bae_source.model.navigation import Question
from bae_source.model.request import Effect, Request, described
from bae_source.model.selection import MAX_URIS, Ref, Selected, Selection
from bae_source.project.naming.pointing import Pointers, pointers
from bae_source.project.naming.resolve import Resolved
from bae_source.project.naming.selections import answer_each, selection_of
from bae_source.project.workspace import Workspace
from bae_source.syntax.outline.definitions import Kind
from bae_source.syntax.outline.skeleton import docstring, name_offset, representative, signature

_MOST_OPEN = 10


class Hover(Request, frozen=True, kw_only=True):
    """Show a signature, the docstring, and where the names in it are defined.

    The answer is found without a language server; where one is installed, it adds to the answer what it knows.
    """

    family: ClassVar[str] = "ast"
    verb: ClassVar[str] = "hover"
    effect: ClassVar[Effect] = Effect.READS
    when: ClassVar[str] = "Use it with a selector, to learn how something is called without reading it."
    examples: ClassVar[tuple[str, ...]] = (
        "ast hover sym://python/type/app/net/Client#send",
        "ast hover sym://python/mod/net sym://python/mod/app",
    )
    navigates: ClassVar[bool] = True

    uris: Annotated[
        tuple[str, ...],
        described(
            "Selectors, each answered by itself.", min_length=1, max_length=MAX_URIS, starred=True, metavar="URI"
        ),
    ]
    exact: Annotated[bool, described("Let paths match from the source root only.")] = False

    def answer(self, workspace: Workspace) -> Selected:
        """Answer from the workspace, with the questions that a language server may be asked."""

        def show(uri: str, resolved: Resolved) -> tuple[Selection, Question | None]:
            pointed = pointers(workspace, resolved, header_only=_is_class(resolved))
            refs = [Ref(uri=str(each)) for each in pointed.selectors]
            onward = f"ast snippet {uri}{' --exact' if self.exact else ''}"
            selection = selection_of("hover", uri, resolved, _content(resolved), refs, onward)
            return selection, _question(resolved, pointed)

        return answer_each(workspace, self.uris, "hover", show, exact=self.exact)


def _content(resolved: Resolved) -> str:
    """Return the signature, or the module's name, and the docstring under it."""
    members = resolved.group.members if resolved.group else None
    head = signature(resolved.tree, members) if members else f"module {resolved.module.name}"
    text = docstring(resolved.tree, members)
    return f"{head}\n\n{text}" if text else head


def _is_class(resolved: Resolved) -> bool:
    """Return whether it is a class, whose methods have hovers of their own."""
    if resolved.group is None:
        return False
    return resolved.tree.outline.definitions[resolved.group.members[0]].kind is Kind.CLASS


def _question(resolved: Resolved, pointed: Pointers) -> Question:
    lines, name = resolved.tree.source.lines, None
    if resolved.group:
        name = lines.place(name_offset(resolved.tree, representative(resolved.tree, resolved.group.members)))
    return Question(
        path=resolved.module.path,
        text=resolved.tree.text,
        name=name,
        names=tuple(map(lines.place, pointed.open[:_MOST_OPEN])),
    )
