"""List the logs of a project."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from typing import ClassVar

from bae_source.errors import ResourceError
from bae_source.model.call import Call
from bae_source.model.outcome import Fields, Outcome
from bae_source.model.request import Request
from bae_source.model.text import counted
from bae_source.resources.logs.folders import Found, Log, Logs
from bae_source.resources.logs.lines import OpenLog, line_count
from bae_source.system.clock import written

_CHEAP = 1_000_000
"""Bytes of a log whose lines are counted."""
_CHEAP_TOGETHER = 16_000_000


class ListedLog(Fields, frozen=True, kw_only=True):
    """A log that is listed.

    Parameters:
        log: its name.
        bytes: its size.
        lines: how many it has; None where they are not counted.
        changed: when it was changed last, as ISO 8601 in UTC.
    """

    log: str
    bytes: int
    lines: int | None
    changed: str


class LogsList(Request, frozen=True, kw_only=True):
    """List the logs of the project, the newest first, each with its size and last change, and its lines if it is small.

    They are the files of the folder that `[tool.bae-source] logs` of the project's pyproject.toml names, which lies in
    the project, and of folders that the user's own settings name. Hidden files are none, nor is what leads out.
    """

    verb: ClassVar[str] = "logs_list"
    family: ClassVar[str] = "logs"
    runner: ClassVar[str] = "logs_list"
    when: ClassVar[str] = "Use it to see which logs a program wrote, and which of them is the newest."
    examples: ClassVar[tuple[str, ...]] = ("logs list", "logs list --json")
    recovers: ClassVar[bool] = False
    abbreviates: ClassVar[bool] = False


def listed_logs(logs: Logs) -> Outcome:
    """Answer with the logs that there are.

    Raises:
        ResourceError: no folder is set, or a setting cannot be used.
    """
    found = logs.listed()
    listed = _counted(logs, found)
    lines = [_drawn(each, log) for each, log in zip(listed, found.logs, strict=True)]
    return Outcome(
        status="answer",
        text="\n".join([_head(listed), *lines]),
        warnings=found.notices,
        complete=found.complete,
        found=tuple(listed),
        counts={"logs": len(listed)},
        next_actions=tuple(Call("logs read", log=each.log) for each in listed[:1]),
    )


def _head(listed: list[ListedLog]) -> str:
    if not listed:
        return "(no logs)"
    return f"{counted(len(listed), 'log')}; the newest is {listed[0].log}, changed {listed[0].changed}."


def _counted(logs: Logs, found: Found) -> list[ListedLog]:
    """Return the logs with the lines of small ones."""
    room, listed = _CHEAP_TOGETHER, []
    for each in found.logs:
        lines = None
        if each.readable and each.size <= min(_CHEAP, room):
            room -= each.size
            lines = _lines(logs, each.name)
        listed.append(ListedLog(log=each.name, bytes=each.size, lines=lines, changed=written(each.changed)))
    return listed


def _lines(logs: Logs, name: str) -> int | None:
    try:
        with OpenLog(logs, name) as log:
            return line_count(log, 0, min(log.end, _CHEAP))
    except (ResourceError, OSError):
        return None  # it has gone, or became another


def _drawn(listed: ListedLog, log: Log) -> str:
    lines = "" if listed.lines is None else f", {counted(listed.lines, 'line')}"
    closed = "" if log.readable else ", may not be read by you"
    return f"{listed.log}: {counted(listed.bytes, 'byte')}{lines}, changed {listed.changed}{closed}"
