"""Find code by a pattern with holes."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from collections.abc import Iterator
from typing import Annotated, ClassVar

from bae_source.model.outcome import Outcome
from bae_source.model.request import Effect, Request, described
from bae_source.project.search.answer import answer_of, closer_look
from bae_source.project.search.code import CodeMatch, find_code
from bae_source.project.search.scope import scope_of
from bae_source.project.workspace import Workspace
from bae_source.syntax.patterns.pattern import parse_pattern

_LONGEST = 200


class Find(Request, frozen=True, kw_only=True):
    """Find code by a pattern with holes, and show what stands in them.

    $NAME stands for one expression, statement, parameter or name, $$$NAME for any number of arguments, elements or
    statements; the same hole twice is the same code. White space, comments, quotes and the order of keyword arguments
    do not matter. What the pattern does not write must not be there, but for decorators, also around those that it
    writes, and annotations.
    """

    verb: ClassVar[str] = "find"
    lists_addresses: ClassVar[bool] = True
    effect: ClassVar[Effect] = Effect.READS
    when: ClassVar[str] = "Use it for calls and statements of a certain shape, however they are laid out."
    examples: ClassVar[tuple[str, ...]] = (
        "find 'requests.get($URL, timeout=$T)' app",
        "find 'if $X == None: $$$BODY'",
    )

    pattern: Annotated[str, described("Code with holes, such as requests.get($URL, timeout=$T).")]
    scope: Annotated[
        str | None, described("Dotted name to search in: a package, module, class or function.", placed=True)
    ] = None

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer from the workspace."""
        pattern = parse_pattern(self.pattern)
        found = find_code(workspace, scope_of(workspace, self.scope, stubs=True), pattern)
        lines = [line for match in found.matches for line in _drawn(match)]
        actions = [closer_look(match.module) for match in found.matches[:1]]
        return answer_of(lines, found.matches, found.notices, next_actions=actions)


def _drawn(match: CodeMatch) -> Iterator[str]:
    yield f"{match.module}:{match.line}: {_in_a_line(match.text)}"
    for name, code in match.holes:
        yield f"    ${name}: {_in_a_line(code)}"


def _in_a_line(code: str) -> str:
    """Return the first line of some code, and how many more it has."""
    first, *more = code.strip().split("\n")
    shown = first if len(first) <= _LONGEST else f"{first[:_LONGEST]}… (+{len(first) - _LONGEST:,} characters)"
    return f"{shown} (+{len(more)} line{'s' if len(more) > 1 else ''})" if more else shown
