"""Read a log: its last lines, lines from one on, those that match, or those that come while it is waited for."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from msgspec.structs import replace

from bae_source.errors import Refused, RequestError
from bae_source.model.call import Call, call_of
from bae_source.model.outcome import Fields, Notice, Outcome
from bae_source.model.page import size_of
from bae_source.model.request import Request, described
from bae_source.model.text import counted
from bae_source.project.search.expression import Expression, expression_of
from bae_source.resources.logs.folders import Logs
from bae_source.resources.logs.following import Arriving, Following
from bae_source.resources.logs.lines import (
    COUNTED,
    LOOK,
    Lines,
    OpenLog,
    first_lines,
    hole_in,
    kind_of_binary,
    last_lines,
    line_count,
    offset_of_line,
    shown,
)
from bae_source.resources.logs.searching import Matches, drawn, matches
from bae_source.system.clock import written

MOST_LINES = 500
"""Lines that an answer may have; more are refused."""
_MOST_CONTEXT = 20
_LONGEST_WAIT = 3600
_HEAD = 300
"""Bytes that are kept back for the first line of an answer that waits."""


class ReadLog(Fields, frozen=True, kw_only=True):
    """The facts on the lines of a log that an answer has.

    Parameters:
        log: its name.
        bytes: its size.
        changed: when it was changed last, as ISO 8601 in UTC.
        first_line: the number of the first line that is shown; None where lines are not counted, or none is shown.
        lines_returned: how many lines are shown; of a search how many match and are shown.
        total_lines: how many lines it has; None where they are not counted.
        kind: `text`, or what else it is.
    """

    log: str
    bytes: int
    changed: str
    first_line: int | None
    lines_returned: int
    total_lines: int | None
    kind: str = "text"


class LogsRead(Request, frozen=True, kw_only=True):
    """Show the last lines of a log, lines from a number on, lines that match, or those that come in the next seconds.

    A log may be of any size: of a large one the last lines are shown, and all are not counted. A line ends at a line
    feed. Bytes that are no UTF-8 and control characters are shown as escapes, and of a long line the beginning; what
    is no text is described instead. A search shows the last lines that match; with `from_line` the first from there
    on. With `follow` lines are shown that come from now on, or from `from_line`, for so many seconds; it ends before
    when as many have come as `lines` says, and goes on in the new file where the log is rotated. The command line
    shows them as they come.
    """

    verb: ClassVar[str] = "logs_read"
    family: ClassVar[str] = "logs"
    runner: ClassVar[str] = "logs_read"
    when: ClassVar[str] = "Use it to see what a program wrote, or to wait until it writes something."
    examples: ClassVar[tuple[str, ...]] = (
        "logs read app.log",
        "logs read app.log --lines 500",
        'logs read app.log --search "ERROR|Traceback" --context 5',
        "logs read app.log --from 1200 --lines 50",
        "logs read app.log --follow 30 --search ready --lines 1",
    )
    recovers: ClassVar[bool] = False
    abbreviates: ClassVar[bool] = False
    arrives: ClassVar[str] = "follow"

    log: Annotated[str, described("Name of the log, as logs list has it.", min_length=1)]
    lines: Annotated[
        int, described("How many lines, or matches, are shown at most: the last ones.", ge=1, le=MOST_LINES)
    ] = 100
    from_line: Annotated[
        Annotated[int, described("", ge=1)] | None,
        described("Number of the line to begin with, from 1.", flag="from", metavar="LINE"),
    ] = None
    search: Annotated[
        str | None, described("Show the lines that match: a regular expression, as Python's re has them.")
    ] = None
    ignore_case: Annotated[bool, described("Take upper and lower case as the same.", short="i")] = False
    fixed: Annotated[bool, described("Take what is searched as a text, and no expression.", short="F")] = False
    context: Annotated[int, described("Lines to show around each match.", short="C", ge=0, le=_MOST_CONTEXT)] = 0
    follow: Annotated[
        Annotated[float, described("", gt=0, le=_LONGEST_WAIT)] | None,
        described("Seconds to wait for new lines at most.", metavar="SECONDS"),
    ] = None


def read_log(request: LogsRead, logs: Logs, *, room: int | None = None, arriving: Arriving | None = None) -> Outcome:
    """Answer with lines of a log.

    Parameters:
        room: how many bytes the answer may have, so that a wait ends before more have come.
        arriving: takes lines of a wait as they come.

    Raises:
        ResourceError: there is no such log, it leads out of its folder or may not be read, or the call is wrong.
    """
    expression = _expression(request)
    with OpenLog(logs, request.log) as log:
        reading = _Reading(request, logs, log)
        if request.follow is not None:
            return reading.followed(request.follow, expression, room, arriving)
        return reading.searched(expression) if expression else reading.read()


def _expression(request: LogsRead) -> Expression | None:
    """Return the pattern to search for; None where there is none.

    Raises:
        RequestError: `invalid_arguments` for an expression that is none, and for what goes with a search alone.
    """
    alone = [name for name in ("ignore_case", "fixed", "context") if getattr(request, name)]
    if request.search is None and alone:
        raise RequestError("invalid_arguments", f"{alone[0]} goes with search alone.", hints=["Give search as well."])
    if request.follow is not None and request.context:
        raise RequestError(
            "invalid_arguments", "follow shows lines as they come, without context.", hints=["Leave one of them out."]
        )
    if request.search is None:
        return None
    no_case, fixed = request.ignore_case, request.fixed
    return expression_of(request.search, ignore_case=no_case, word=False, multi_line=False, fixed=fixed)


class _Reading:
    """One answer about a log."""

    def __init__(self, request: LogsRead, logs: Logs, log: OpenLog) -> None:
        self._request = request
        self._logs = logs
        self._log = log
        self._notices = [*logs.notices]
        self._is_counted = log.end <= COUNTED
        self._total = line_count(log, 0, log.end) if self._is_counted else None

    def read(self) -> Outcome:
        """Show lines as they stand there."""
        request, log, total = self._request, self._log, self._total
        if request.from_line is None:
            found = last_lines(log, log.end, request.lines)
        else:
            start = self._start(request.from_line)
            found = first_lines(log, log.end if start is None else start, log.end, request.lines)
        if kind := kind_of_binary(log, b"\n".join(found.raw)):
            return self._binary("shown", kind)
        if not found.raw:
            line = request.from_line
            what = f"has {counted(total or 0, 'line')}, and no line {line}" if line else "is empty"
            return self._outcome(f"{request.log} {what}", [])
        self._say_cut(found)
        first = request.from_line or (None if total is None else total - len(found.raw) + 1)
        is_all = not found.is_cut and (found.end >= log.end or len(found.raw) == request.lines)
        actions = self._going_on(found, first) if request.from_line else ()
        lines = list(map(shown, found.raw))
        return self._outcome(self._head(first, len(lines)), lines, first=first, complete=is_all, next_actions=actions)

    def searched(self, expression: Expression) -> Outcome:
        """Show the lines that match."""
        request, log = self._request, self._log
        if kind := kind_of_binary(log, b"\n".join(last_lines(log, log.end, request.lines).raw)):
            return self._binary("searched", kind)
        start, number = log.end - COUNTED, None
        if request.from_line or self._is_counted:
            number = request.from_line or 1
            found = self._start(number)
            start = log.end if found is None else found
        elif start:
            message = f"Only the last {COUNTED:,} bytes were searched, and lines are not numbered."
            self._notices.append(Notice("not_all_searched", message))
        matching = matches(log, start, expression, request.lines, first=request.from_line is not None)
        self._notices += matching.stopped
        kept, actions = matching.kept, list[str]()
        if request.from_line and len(kept) == request.lines:
            following = request.from_line + kept[-1].line + 1
            actions.append(call_of(replace(request, from_line=following)).and_then("goes on."))
        return self._outcome(
            self._head_of(matching),
            list(drawn(log, matching, request.context, number)),
            first=None if number is None or not kept else number + kept[0].line,
            count=len(kept),
            complete=number is not None and not (matching.stopped or actions),
            next_actions=tuple(actions),
        )

    def followed(
        self, seconds: float, expression: Expression | None, room: int | None, arriving: Arriving | None
    ) -> Outcome:
        """Show the lines that come while it is waited for them."""
        request, log = self._request, self._log
        if kind := kind_of_binary(log, b"\n".join(last_lines(log, log.end, request.lines).raw)):
            return self._binary("followed", kind)
        position, number = self._position()
        following = Following(
            self._logs,
            most=request.lines,
            room=None if room is None else room - _HEAD - size_of(request.log),
            expression=expression,
            number=number,
            arriving=arriving,
        )
        following.wait(log, position, seconds)
        self._total = None  # what came since is not counted
        self._notices += following.notices
        self._say_holes(following.nuls)
        what = counted(len(following.lines), "new line") if following.lines else "no new lines"
        that = f" that match{'es' if len(following.lines) == 1 else ''}" if expression else ""
        when = ", and maybe more" if following.ended else f" in {seconds:g} s"
        return self._outcome(
            f"{request.log}: {what}{that}{when}",
            following.lines,
            complete=following.is_whole,
            next_actions=(call_of(replace(request, from_line=following.number)).and_then("goes on."),),
        )

    def _position(self) -> tuple[int, int | None]:
        """Return the offset at which a wait begins, and the number of the line there; None where it is not known."""
        request, log = self._request, self._log
        start = self._start(request.from_line) if request.from_line else log.end
        number = self._next_number()
        if start is None and request.from_line != number:
            message = f"{log.name} has no line {request.from_line:,} yet; what comes now is line {number or 0:,}."
            self._notices.append(Notice("no_such_line", message))
        if start is None or not request.from_line:
            return log.end, number
        return start, request.from_line

    def _next_number(self) -> int | None:
        """Return the number of the line that comes next, or goes on: the last one where that is not ended."""
        if self._total is None:
            return None
        is_ended = not self._log.end or self._log.at(self._log.end - 1, 1) == b"\n"
        return self._total + is_ended

    def _start(self, line: int) -> int | None:
        """Return the offset of a line; None where there are not so many.

        Raises:
            Refused: `budget_exceeded` where it stands too far from the beginning to be counted.
        """
        if self._total is not None and line > self._total:
            return None
        found = offset_of_line(self._log, line, self._log.end)
        if found is None:
            name = self._request.log
            message = f"Line {line:,} of {name} is not within its first {COUNTED:,} bytes, in which lines are counted."
            hints = [Call("logs read", log=name, then="shows the last lines.")]
            raise Refused("budget_exceeded", message, hints=hints)
        return found

    def _head(self, first: int | None, count: int) -> str:
        name, size = self._request.log, self._log.end
        last = "" if first is None else f"{first:,}" if count == 1 else f"{first:,} to {first + count - 1:,}"
        if self._total is None and first is None:
            return f"{name}: the last {counted(count, 'line')} of {size:,} bytes, whose lines are not counted"
        of = f"of {size:,} bytes, whose lines are not counted" if self._total is None else f"of {self._total:,}"
        return f"{name}: line{'s' if count > 1 else ''} {last} {of}"

    def _head_of(self, found: Matches) -> str:
        name, kept, start = self._request.log, len(found.kept), self._request.from_line
        if not kept:
            return f"(no matches in {counted(found.lines, 'line')} of {name})"
        if start:
            return f"{name}: {counted(kept, 'line')} from line {start:,} on match{'es' if kept == 1 else ''}"
        if found.count > kept:
            return f"{name}: the last {counted(kept, 'line')} of {found.count:,} that match"
        return f"{name}: {counted(kept, 'line')} of {found.lines:,} match{'es' if kept == 1 else ''}"

    def _going_on(self, found: Lines, first: int | None) -> Sequence[str]:
        """Return the call of the lines behind those that are shown."""
        if first is None or found.is_cut or found.end >= self._log.end:
            return ()
        return (call_of(replace(self._request, from_line=first + len(found.raw))).and_then("goes on."),)

    def _say_cut(self, found: Lines) -> None:
        if found.is_cut:
            part = "beginning" if self._request.from_line else "end"
            message = f"One line has more than {LOOK:,} bytes, and only its {part} was looked at."
            self._notices.append(Notice("line_cut", message))
        self._say_holes(hole_in(found.raw))

    def _say_holes(self, nuls: int) -> None:
        if nuls:
            message = f"Not shown: {nuls:,} NUL bytes in a row, as are in a log that was emptied while it was written."
            self._notices.append(Notice("nuls_left_out", message))

    def _binary(self, done: str, kind: str) -> Outcome:
        return self._outcome(f"{self._request.log} is no text, and not {done}: it is {kind}", [], kind=kind)

    def _outcome(
        self,
        head: str,
        lines: list[str],
        *,
        first: int | None = None,
        count: int | None = None,
        kind: str = "text",
        **more: Any,
    ) -> Outcome:
        """Return the answer: a line of facts, and then the lines as they stand there."""
        log, changed = self._log, written(self._log.changed)
        facts = ReadLog(
            log=log.name,
            bytes=log.end,
            changed=changed,
            first_line=first,
            lines_returned=len(lines) if count is None else count,
            total_lines=None if kind != "text" else self._total,
            kind=kind,
        )
        return Outcome(
            status="answer",
            text="\n".join([f"{head}; changed {changed}.", *lines]),
            warnings=tuple(self._notices),
            found=(facts,),
            counts={"lines": facts.lines_returned},
            **more,
        )
