"""Read the source of a module, a symbol, or a part of one."""

from __future__ import annotations

from typing import Annotated, ClassVar

from bae_source.model.outcome import Outcome
from bae_source.model.request import Effect, Request, Target, described
from bae_source.project.planning import definition_of, span_of
from bae_source.project.resolve import Resolved, resolve
from bae_source.project.workspace import Workspace, etag_of
from bae_source.syntax.splice import dedented


class Read(Request, frozen=True, kw_only=True):
    """Read the source of a module, a symbol or a part.

    It comes as it stands, or dedented; its etag makes sure that a later change meets the very same text.
    """

    verb: ClassVar[str] = "read"
    effect: ClassVar[Effect] = Effect.READS

    target: Target
    dedent: Annotated[bool, described("Take the symbol's own indentation off.")] = False

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer from the workspace."""
        resolved = resolve(workspace, self.target)
        span = span_of(resolved)
        as_it_stands = span.cut(resolved.tree.text)
        text = as_it_stands
        if self.dedent and resolved.group is not None:
            text = dedented(resolved.tree, span, _indent(resolved, as_it_stands))
        etag, address = etag_of(as_it_stands), str(resolved.address)
        actions = (f"edit {address} --if-match {etag}",) if resolved.group is not None else ()
        return Outcome(status="answer", text=text, etag=etag, address=address, next_actions=actions)


def _indent(resolved: Resolved, text: str) -> str:
    """Return the white space that indents what was read: its first line's, or the definition's."""
    if resolved.address.part is None:
        return definition_of(resolved).indent
    return text[: len(text) - len(text.lstrip(" \t"))].rpartition("\n")[2]
