"""Search source and data files for a regular expression."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from collections.abc import Iterator
from typing import Annotated, ClassVar

from bae_source.model.outcome import Outcome
from bae_source.model.request import Effect, Request, described
from bae_source.project.search.answer import answer_of, closer_look
from bae_source.project.search.expression import expression_of
from bae_source.project.search.scope import scope_of
from bae_source.project.search.sieve import Sieve
from bae_source.project.search.text import FileHits, Hit, search_text
from bae_source.project.workspace import Workspace

_LONGEST = 1000
_ONLY_BINARY = "(no matches in text)"


class Grep(Request, frozen=True, kw_only=True):
    """Search source, and every other text file of the project, for a regular expression.

    Each line with a match is shown as `module:line: text`, without its indentation; a match over several lines by its
    first. Expressions are those of Python's re, and look at one line at a time unless told otherwise. All is searched
    that lies below the project's root and that git does not ignore: modules, stubs, and data files, which are named as
    `package:path` or `:path`; of a binary one no line is shown, but it is named if it holds a match.
    """

    verb: ClassVar[str] = "grep"
    effect: ClassVar[Effect] = Effect.READS
    when: ClassVar[str] = "Use it for text that is no name: messages, settings, comments."
    examples: ClassVar[tuple[str, ...]] = (
        "grep timeout app.net",
        'grep "def (send|close)" --context 2 --symbols',
        'grep "deprecated|obsolete" --word --ignore-case --no-data',
    )

    pattern: Annotated[str, described("Regular expression, as Python's re has them.")]
    scope: Annotated[
        str | None,
        described(
            "Name to search in: a package, module, class or function, or a file or folder such as :docs.", placed=True
        ),
    ] = None
    ignore_case: Annotated[bool, described("Take upper and lower case as the same.")] = False
    word: Annotated[bool, described("Match whole words only.")] = False
    multi_line: Annotated[bool, described("Let a match go on over several lines.")] = False
    context: Annotated[int, described("Lines to show around each match, as they stand.", ge=0, le=100)] = 0
    symbols: Annotated[bool, described("Name the symbol that each match stands in.")] = False
    data: Annotated[bool, described("Search the data files of packages, too.")] = True
    time_limit: Annotated[float, described("Seconds after which the search stops.", gt=0, le=3600)] = 10.0

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer from the workspace."""
        expression = expression_of(
            self.pattern, ignore_case=self.ignore_case, word=self.word, multi_line=self.multi_line
        )
        sieve = Sieve(workspace, expression, seconds=self.time_limit)
        scope = scope_of(workspace, self.scope, stubs=True, data=self.data, sieve=sieve)
        found = search_text(workspace, scope, expression, seconds=self.time_limit, sieve=sieve)
        hits = tuple(hit for file in found.files for hit in file.hits)
        lines = [line for file in found.files for line in self._drawn(file)]
        actions = [closer_look(hit.module) for hit in hits[:1]]
        if self.context and lines:
            lines.pop(0)
        if not lines and found.binary:
            lines = [_ONLY_BINARY]
        return answer_of(lines, hits, found.notices, complete=found.complete, next_actions=actions)

    def _drawn(self, file: FileHits) -> Iterator[str]:
        if not self.context:
            for hit in file.hits:
                first, *more = hit.text.split("\n")
                yield f"{hit.module}:{hit.line}: {_short(first.strip())}{_and_more(len(more))}{self._symbol(hit)}"
            return
        lines = file.text.split("\n")
        count = len(lines) if lines[-1] else len(lines) - 1
        marked = {hit.line + n: hit for hit in reversed(file.hits) for n in range(hit.lines)}
        shown = {
            number
            for line in marked
            for number in range(max(1, line - self.context), min(count, line + self.context) + 1)
        }
        for number in sorted(shown):
            if number - 1 not in shown:
                yield "--"
            found = marked.get(number)
            suffix = self._symbol(found) if found and found.line == number else ""
            line = _short(lines[number - 1].rstrip())
            yield (
                f"{file.file.name}:{number}: {line}{suffix}" if found else f"{file.file.name}:{number}- {line}".rstrip()
            )

    def _symbol(self, hit: Hit) -> str:
        return f"  ({hit.address})" if self.symbols else ""


def _short(line: str) -> str:
    """Return a line that people can read; what is cut off is said."""
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}… (+{len(line) - _LONGEST:,} characters)"


def _and_more(lines: int) -> str:
    return f" (+{lines} line{'s' if lines > 1 else ''})" if lines else ""
