"""Search source and data files for a regular expression."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from collections.abc import Iterator
from typing import Annotated, ClassVar, Self

from msgspec.structs import replace

from bae_source.errors import RequestError, ResourceError
from bae_source.model.call import call_of
from bae_source.model.outcome import Notice, Outcome
from bae_source.model.request import Effect, Request, described
from bae_source.model.text import counted
from bae_source.project.search.answer import answer_of, closer_look
from bae_source.project.search.basic import as_grep, is_surely_basic
from bae_source.project.search.expression import expression_of
from bae_source.project.search.scope import scope_of
from bae_source.project.search.sieve import Sieve
from bae_source.project.search.text import FileHits, Hit, TextFound, search_text
from bae_source.project.workspace import Workspace

_LONGEST = 1000
_ONLY_BINARY = "(no matches in text)"
_AS_PYTHON = "(no matches as Python's re reads it)"
_MOST_CONTEXT = 100


class Grep(Request, frozen=True, kw_only=True):
    """Search source, and every other text file of the project, for a regular expression.

    Each line with a match is shown as `module:line: text`, without its indentation; a match over several lines by
    its first. Expressions are those of Python's re, and match within one line unless `multi_line` is set; where
    grep's own would match something else, the answer says so. All is searched that lies below the project's root
    and that git does not ignore, but for build output and environments: modules, stubs, and data files, which are
    named as `package:path` or `:path`; of a binary one no line is shown, but it is named if it holds a match.
    """

    verb: ClassVar[str] = "grep"
    lists_addresses: ClassVar[bool] = True
    effect: ClassVar[Effect] = Effect.READS
    when: ClassVar[str] = "Use it for text that is no name: messages, settings, comments."
    examples: ClassVar[tuple[str, ...]] = (
        "grep timeout app.net",
        "grep -rn timeout app.net",
        'grep "def (send|close)" --context 2 --symbols',
        "grep -iw -e deprecated -e obsolete --no-data",
        "grep -l TODO",
    )

    pattern: Annotated[
        str | tuple[str, ...],
        described("Regular expression, as Python's re has them; of several any may match."),
    ]
    scope: Annotated[
        str | None,
        described(
            "Name to search in: a package, module, class or function, or a file or folder such as :docs.", placed=True
        ),
    ] = None
    ignore_case: Annotated[bool, described("Take upper and lower case as the same.", short="i")] = False
    word: Annotated[bool, described("Match whole words only.", short="w")] = False
    fixed: Annotated[bool, described("Take the pattern as a text, and no expression.", short="F")] = False
    invert: Annotated[bool, described("Show the lines without a match.", short="v", seldom=True)] = False
    multi_line: Annotated[bool, described("Let a match go on over several lines.", seldom=True)] = False
    context: Annotated[
        int, described("Lines to show around each match, as they stand.", short="C", ge=0, le=_MOST_CONTEXT)
    ] = 0
    before: Annotated[
        Annotated[int, described("", ge=0, le=_MOST_CONTEXT)] | None,
        described("Lines to show above each match; as many as context says if left out.", short="B", seldom=True),
    ] = None
    after: Annotated[
        Annotated[int, described("", ge=0, le=_MOST_CONTEXT)] | None,
        described("Lines to show below each match; as many as context says if left out.", short="A", seldom=True),
    ] = None
    only_matching: Annotated[bool, described("Show each match alone, and not its line.", short="o", seldom=True)] = (
        False
    )
    modules: Annotated[bool, described("Name only the modules and files with a match.", short="l")] = False
    count: Annotated[bool, described("Show only how many lines match, by module and file.", short="c", seldom=True)] = (
        False
    )
    symbols: Annotated[bool, described("Name the symbol that each match stands in.", short="p")] = False
    data: Annotated[bool, described("Search the data files of packages, too.", seldom=True)] = True
    time_limit: Annotated[float, described("Seconds after which the search stops.", gt=0, le=3600, seldom=True)] = 10.0

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer from the workspace."""
        if self.invert and (self.multi_line or self.only_matching):
            raise RequestError(
                "invalid_arguments",
                "invert lists lines without a match, for which multi_line and only_matching have no meaning.",
                hints=["Leave one of them out."],
            )
        found = _searched(self, workspace)
        hits = tuple(hit for file in found.files for hit in file.hits)
        lines = [line for file in found.files for line in self._drawn(file)]
        actions = [closer_look(hit.module) for hit in hits[:1]]
        if self._around and lines:
            lines.pop(0)
        if not lines and found.binary:
            lines = [_ONLY_BINARY]
        notices = list(found.notices)
        if not self.fixed and (meant := self._as_grep(workspace, notices, is_found=bool(lines))):
            lines = lines or [_AS_PYTHON]
            actions.insert(0, call_of(meant))
        return answer_of(lines, hits, notices, complete=found.complete, next_actions=actions)

    @property
    def _patterns(self) -> tuple[str, ...]:
        return (self.pattern,) if isinstance(self.pattern, str) else self.pattern

    @property
    def _around(self) -> bool:
        """Return whether lines around the matches are shown."""
        whole = not (self.only_matching or self.modules or self.count)
        return whole and any((self.context, self.before, self.after))

    def _as_grep(self, workspace: Workspace, notices: list[Notice], *, is_found: bool) -> Self | None:
        """Return the request that matches what grep would have matched, and say so; None where that is the same.

        An escaped bracket or repeat is mostly meant literally, so it gets no notice where something was found, or
        where grep would have found nothing either.
        """
        meant = {each: as_grep(each) or each for each in self._patterns}
        others = [f"{each} is {other}" for each, other in meant.items() if other != each]
        sure = any(map(is_surely_basic, meant))
        if not others or (is_found and not sure):
            return None
        patterns = tuple(meant.values())
        other = replace(self, pattern=patterns if len(patterns) > 1 else patterns[0])
        found = "" if is_found else _found_by(_searched(other, workspace))
        if not sure and not found:
            return None
        message = f"Expressions are those of Python's re, in which grep's {', '.join(others)}{found}."
        notices.append(Notice("means_otherwise", message))
        return other

    def _drawn(self, file: FileHits) -> Iterator[str]:
        if self.modules:
            yield file.file.name
        elif self.count:
            yield f"{file.file.name}:{len(file.hits)}"
        elif self._around:
            yield from self._in_context(file)
        else:
            for hit in file.hits:
                first, *more = hit.text.split("\n")
                yield f"{hit.module}:{hit.line}: {_short(first.strip())}{_and_more(len(more))}{self._symbol(hit)}"

    def _in_context(self, file: FileHits) -> Iterator[str]:
        before = self.context if self.before is None else self.before
        after = self.context if self.after is None else self.after
        lines = file.text.split("\n")
        count = len(lines) if lines[-1] else len(lines) - 1
        marked = {hit.line + n: hit for hit in reversed(file.hits) for n in range(hit.lines)}
        shown = {number for line in marked for number in range(max(1, line - before), min(count, line + after) + 1)}
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
    """Return a line that people can read, with a mark where it was cut."""
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}… (+{len(line) - _LONGEST:,} characters)"


def _and_more(lines: int) -> str:
    return f" (+{lines} line{'s' if lines > 1 else ''})" if lines else ""


def _found_by(found: TextFound) -> str:
    """Return the count of matches in words; "" where there are none."""
    lines = sum(len({hit.line for hit in file.hits}) for file in found.files)
    return f"; that finds {counted(lines, 'line')}" if lines else ""


def _searched(asked: Grep, workspace: Workspace) -> TextFound:
    """Search the files.

    Raises:
        ResourceError: as `expression_of` and `scope_of`, with the call that was meant.
    """
    try:
        expression = expression_of(
            asked.pattern,
            ignore_case=asked.ignore_case,
            word=asked.word,
            multi_line=asked.multi_line,
            fixed=asked.fixed,
            every=asked.only_matching and not (asked.modules or asked.count),
            inverted=asked.invert,
        )
        sieve = Sieve(workspace, expression, seconds=asked.time_limit)
        scope = scope_of(workspace, asked.scope, stubs=True, data=asked.data, sieve=sieve)
    except RequestError as error:
        raise _with_call(workspace, asked, error) from None
    return search_text(workspace, scope, expression, seconds=asked.time_limit, sieve=sieve)


def _with_call(workspace: Workspace, asked: Grep, error: RequestError) -> RequestError:
    """Return an error with the call that was meant: of a text with brackets in it, or in a file given by its path."""
    if error.code == "invalid_name" and asked.scope is not None:
        from bae_source.project.naming.places import parse_place, spot_at  # only where a call is at fault

        try:
            whole = asked.scope in (".", "./")
            meant = replace(asked, scope=None if whole else spot_at(workspace, parse_place(asked.scope)).address)
        except ResourceError:
            return error
        return error.altered(hints=[call_of(meant)])
    if error.details.get("position") is not None:
        return error.altered(hints=[call_of(replace(asked, fixed=True)).and_then("finds the text itself.")])
    return error
