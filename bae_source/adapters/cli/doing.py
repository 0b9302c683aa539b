"""`do`: several commands, a line each; what they change is made together at the end, or not at all.

    bae-source do <<'END'
    read app.core.f                                     reads see what is planned before them
    edit app.core.f --old "wait=5" --new "wait=30"
    insert app.core.f --position after --source - <<'EOF'
    def g(): ...
    EOF
    read app.core
    END

A line is split into words as a shell does it; quotes may span lines, and `<<WORD` gives the lines up to WORD as
standard input. A line that begins with `#` is a comment. Nothing is expanded, and no shell runs.

Invariants:
- nothing is written before all commands were carried out, and nothing if one of the changes failed; what is planned is
  kept then, so only what failed is given again (`do --draft`);
- the exit status is the highest of all commands, that of the commit included.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from bae_source.adapters.cli.cli import FAMILIES, INTERRUPTED, answered, delivered, root_of
from bae_source.adapters.cli.incoming import read_text
from bae_source.adapters.cli.invocation import command_line
from bae_source.adapters.cli.progress import shown_on
from bae_source.adapters.cli.streams import STANDARD_INPUT, Streams
from bae_source.engine.registry import REQUESTS, called
from bae_source.engine.service import ROOT_VARIABLE, Service
from bae_source.errors import LookupFailed, Refused, RequestError, ResourceError
from bae_source.model.call import Call
from bae_source.model.context import Context, steering
from bae_source.model.outcome import Outcome, failed
from bae_source.model.request import Effect, Request

MOST = 1000
"""Commands that are carried out."""
_PROGRAMS = ("bae-source", "bae_source")
_HERE = re.compile(r"(?:^|\s)<<-?(['\"]?)(\w+)\1\s*\Z")


class Line(Struct, frozen=True, kw_only=True):
    """One command.

    Parameters:
        number: of the line that it begins on, from 1.
        words: as a shell splits them, without the program's name.
        text: what it gets on standard input; "" where nothing is given.
    """

    number: int
    words: tuple[str, ...]
    text: str = ""

    @property
    def shown(self) -> str:
        """The command as it is shown above its answer."""
        return " ".join(shlex.quote(word) if "\n" not in word else "…" for word in self.words)


def do(given: Mapping[str, Any], streams: Streams) -> Outcome:
    """Carry out the commands of a file or of standard input.

    Parameters:
        given: `file`, `draft`, `root`, `who`, `quiet`, and what a commit takes, as far as they were given.

    Raises:
        RequestError: `invalid_arguments` for what is no list of commands; nothing was done.
    """
    text = read_text("do", given.get("file", STANDARD_INPUT), streams)
    if "\0" in text:
        raise RequestError(
            "invalid_arguments", "The commands have a NUL in them.", hints=["Give text, a command a line."]
        )
    lines = tuple(commands(text))
    if not lines:
        raise RequestError("invalid_arguments", "No command is given.", hints=["Give one a line: read app.core.f"])
    names = {each.name for each in steering(REQUESTS.called("commit"))}
    around = {name: value for name, value in given.items() if name in names}
    context = Context(who=given.get("who"), **{**around, "verify": tuple(around.get("verify", ()))})
    service = Service(root_of(given, streams), environment=streams.environment)
    with ExitStack() as until_done:
        until_done.callback(service.close)
        if sys.stderr is not None and sys.stderr.isatty():
            service.progress = until_done.enter_context(shown_on(sys.stderr))
        doing = _Doing(service, context, streams, given.get("draft"), as_json="json" in given, quiet="quiet" in given)
        return doing.all_of(lines)


class _Doing:
    """Commands that are carried out in one transaction, which the first change begins.

    Parameters:
        handle: of a transaction to go on with; a dry run goes on with a copy.
        quiet: whether changes that are planned say nothing.
    """

    def __init__(
        self,
        service: Service,
        context: Context,
        streams: Streams,
        handle: str | None,
        *,
        as_json: bool,
        quiet: bool,
    ) -> None:
        self._service = service
        self._context = context
        self._streams = streams
        self._handle = handle
        self._json = as_json
        self._quiet = quiet
        self._failed: list[Line] = []
        self._highest = 0

    def all_of(self, lines: tuple[Line, ...]) -> Outcome:
        """Carry all of them out, and return what their changes come to."""
        kinds = [_kind(line) for line in lines]
        if self._handle is not None and self._context.dry_run:
            self._handle = self._service.keeping.copied(self._handle)
        for line, kind in zip(lines, kinds, strict=True):
            self._one(line, kind, is_alone=len(lines) == 1)
        if self._failed and len(lines) == 1:
            return Outcome(status="answer", exit_code=self._highest)
        outcome = self._refused(lines) if self._failed else self._committed()
        return structs.replace(outcome, exit_code=max(outcome.exit_code, self._highest))

    def _refused(self, lines: tuple[Line, ...]) -> Outcome:
        """Return the refusal to make some of the changes alone."""
        first = self._failed[0]
        count = f"{len(self._failed)} of {len(lines)} commands failed"
        message = f"Nothing was changed: {count}, the first in line {first.number}: {first.words[0]}."
        if self._handle is None:
            hints: list[str] = ["Mend what failed, and give it again."]
        else:
            going_on = f"do --draft {self._handle} goes on with what is planned: give it what failed, mended."
            hints = [going_on, Call("abandon", draft=self._handle, then="forgets it.")]
        return failed(Refused("unsafe_change", message, hints=hints, details={"draft": self._handle}))

    def _committed(self) -> Outcome:
        if self._handle is None:
            return Outcome(status="answer")
        try:
            outcome = self._service.run(*called("commit", {"draft": self._handle}, self._context))
        except ResourceError as error:
            hints = [*error.hints, Call("commit", draft=self._handle, then="tries it again.")]
            return failed(error.altered(hints=hints, details={**error.details, "draft": self._handle}))
        if not self._context.dry_run:
            return outcome
        making = Call("commit", draft=self._handle, then="makes it as it is shown.")
        return structs.replace(outcome, draft=self._handle, next_actions=(*outcome.next_actions, making))

    def _one(self, line: Line, kind: type[Request], *, is_alone: bool) -> None:
        is_silent = self._quiet and kind.effect is not Effect.READS
        if not (is_alone or self._json or is_silent):
            self._streams.stdout.write(f"$ {line.shown}\n")
        here = {**self._streams.environment, ROOT_VARIABLE: str(self._service.root)}
        streams = structs.replace(
            self._streams, stdin=BytesIO(line.text.encode()), stdin_terminal=False, environment=here
        )
        answer = answered(line.words, streams, self._through_draft)
        if answer.outcome.exit_code == INTERRUPTED:
            raise KeyboardInterrupt
        if answer.outcome.errors and not (
            kind.effect is Effect.READS and answer.outcome.exit_code == LookupFailed.exit_code
        ):
            self._failed.append(line)
        if answer.outcome.status == "planned" and not self._json:  # its warnings come with the commit
            text = "" if is_silent else f"Planned: {answer.outcome.text.partition(': ')[2]}"
            planned = structs.replace(answer.outcome, status="answer", text=text, address=None, diff="", warnings=())
            answer = structs.replace(answer, outcome=planned)
        words = [*line.words, "--json"] if self._json else line.words
        self._highest = max(self._highest, delivered(answer, streams, words))

    def _through_draft(self, root: Path, _: Mapping[str, str], request: Request, context: Context) -> Outcome:
        """Carry a request out as part of the transaction."""
        if root.resolve() != self._service.root:
            raise RequestError(
                "invalid_arguments", "The project is the same for all commands.", hints=["Give --root to do."]
            )
        if request.effect is Effect.READS and self._handle is None:
            return self._service.run(request, context)
        if self._handle is None:
            self._handle = self._service.keeping.begin(self._context.why or "")
        return self._service.keeping.run(self._handle, request, context)


def _kind(line: Line) -> type[Request]:
    """Return the request that a command is.

    Raises:
        RequestError: `unknown_operation`.
    """
    verb = command_line(line.words, FAMILIES).verb or ""
    if verb in REQUESTS.commands:
        return REQUESTS.called(verb)
    raise RequestError(
        "unknown_operation",
        f"Line {line.number}: {verb or line.words[0]} is nothing that do carries out; nothing was done.",
        hints=["Give requests, such as read, grep, edit and rename."],
    )


def commands(text: str) -> Iterator[Line]:
    """Yield the commands of a text.

    Raises:
        RequestError: `invalid_arguments` where a quote or a text is not ended, or there are too many.
    """
    lines = text.split("\n")  # other ends of lines may stand in source that is given
    position = count = 0
    while position < len(lines):
        first, words, position = _split(lines, position)
        if not words:
            continue
        if words[0] in _PROGRAMS:
            words = words[1:]
        given = ""
        if here := _HERE.search(lines[position - 1]):
            given, position = _until(lines, position, here[2], first)
            words = words[:-1]
        count += 1
        if count > MOST:
            raise RequestError("invalid_arguments", f"There are more than {MOST:,} commands.", hints=["Give fewer."])
        if not words:
            raise RequestError(
                "invalid_arguments", f"Line {first} names no verb.", hints=["Begin it with read, edit, …"]
            )
        yield Line(number=first, words=tuple(words), text=given)


def _split(lines: list[str], position: int) -> tuple[int, list[str], int]:
    """Return the number of the line that a command begins on, its words, and where the next one begins."""
    first, whole = position + 1, lines[position].removesuffix("\r")
    if whole.lstrip().startswith("#"):
        return first, [], position + 1
    while True:
        position += 1
        try:
            return first, shlex.split(whole), position
        except ValueError:  # a quote or a backslash goes on in the next line
            if position == len(lines):
                raise RequestError(
                    "invalid_arguments", f"A quote that begins in line {first} is not ended.", hints=["End it."]
                ) from None
            following = lines[position].removesuffix("\r")
            whole = f"{whole}\n{following}" if not _is_continued(whole) else whole[:-1] + following


def _is_continued(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _until(lines: list[str], position: int, word: str, first: int) -> tuple[str, int]:
    """Return the lines up to one that is a word, and where the next command begins."""
    for end in range(position, len(lines)):
        if lines[end].strip() == word:
            return "".join(f"{line}\n" for line in lines[position:end]), end + 1
    raise RequestError(
        "invalid_arguments",
        f"The text that line {first} begins has no end: {word} is missing.",
        hints=[f"End it with {word}."],
    )
