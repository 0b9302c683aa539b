"""Show the source of modules, classes and functions by their selectors, cut to what a reader can take in."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from typing import Annotated, ClassVar

from bae_source.model.navigation import Question
from bae_source.model.request import Effect, Request, described
from bae_source.model.selection import MAX_SNIPPETS, MAX_URIS, Ref, Selected, Selection, shortened
from bae_source.project.naming.pointing import pointers
from bae_source.project.naming.resolve import Resolved
from bae_source.project.naming.select import reading_name
from bae_source.project.naming.selections import answer_each, selection_of
from bae_source.project.naming.spans import span_of
from bae_source.project.workspace import Workspace


class Snippet(Request, frozen=True, kw_only=True):
    """Show one implementation: the source of a class, function or module, cut where it is long.

    At most five are shown at a time, each of at most 50 lines and 2,000 bytes; read shows the whole.
    """

    family: ClassVar[str] = "ast"
    verb: ClassVar[str] = "snippet"
    effect: ClassVar[Effect] = Effect.READS
    when: ClassVar[str] = "Use it with a selector, to see how one thing is done; read shows all of it."
    examples: ClassVar[tuple[str, ...]] = (
        "ast snippet sym://python/type/app/net/Client#send",
        "ast snippet sym://python/type/net/Client --exact",
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
            span = span_of(resolved)
            text = _without_last_newline(span.cut(resolved.tree.text))
            content = shortened(text)
            seen = len(text) if content == text else len(content.rpartition("\n")[0])
            pointed = pointers(workspace, resolved, header_only=False, until=span.start + seen)
            refs = [Ref(uri=str(each)) for each in pointed.selectors]
            name = reading_name(workspace, resolved.module, resolved.address.qualname)
            return selection_of("snippet", uri, resolved, content, refs, f"read {name or uri}"), None

        return answer_each(workspace, self.uris, "snippet", show, exact=self.exact, most=MAX_SNIPPETS)


def _without_last_newline(text: str) -> str:
    if text.endswith("\r\n"):
        return text[:-2]
    return text[:-1] if text.endswith(("\n", "\r")) else text
