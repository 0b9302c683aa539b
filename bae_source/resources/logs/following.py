"""Lines that come into a log while it is waited for, through rotations of it.

A log is rotated in two ways: it gets another name, and a new file its own; or it is copied and emptied. In the first
case the old file is read to its end before the new one is begun.

    position    1,024 -> 2,048 -> rename, create -> 0 -> 512

Invariants:
- the wait ends with its time, when so many lines have come as are wanted, or when no reader is left;
- every line that was ended comes once, and whole unless it is longer than what is looked through; one that was not
  ended when the wait was over comes as far as it is there.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from bae_source.errors import ResourceError
from bae_source.model.outcome import Notice
from bae_source.model.page import size_of
from bae_source.project.search.expression import Expression
from bae_source.project.search.matching import Stopped
from bae_source.project.search.stoppable import matched
from bae_source.resources.logs.folders import Logs
from bae_source.resources.logs.lines import LOOK, Block, OpenLog, behind_hole, hole_in, last_lines, shown
from bae_source.resources.logs.searching import SECONDS

Arriving = Callable[[str], bool]
"""Takes lines as they come, and says whether there is a reader for more."""
_PAUSE = 0.1
_PIECE = 1 << 20
_KNOWN = 64
"""Bytes before the position that are compared, to notice a file that was emptied and has grown again."""


class Following:
    """A wait for lines.

    Parameters:
        most: how many lines are wanted.
        room: how many bytes they may have together; None for any number.
        expression: which lines are wanted; None for all.
        number: of the line at the position where the wait begins; None where it is not known.

    Attributes:
        lines: what came, as it is shown.
        number: of the line that comes next, in the file that has the log's name now.
        notices: what happened to the log.
        ended: whether the wait was over before its time, since as much came as is wanted.
        is_whole: whether all that came was looked at.
        nuls: how many NULs in long runs are not shown.
    """

    def __init__(
        self,
        logs: Logs,
        *,
        most: int,
        room: int | None,
        expression: Expression | None,
        number: int | None,
        arriving: Arriving | None,
    ) -> None:
        self.lines: list[str] = []
        self.notices: list[Notice] = []
        self.number = number
        self.ended = False
        self.is_whole = True
        self.nuls = 0
        self._logs = logs
        self._most = most
        self._room = room
        self._expression = expression
        self._arriving = arriving
        self._rest = b""
        self._known = b""
        self._position = self._begun = 0
        self._is_skipping = False

    def wait(self, log: OpenLog, position: int, seconds: float) -> None:
        """Wait for lines behind a position, for so long at most; the log is the file then that has its name."""
        until = time.monotonic() + seconds
        self._go_to(log, position)
        while True:
            is_replaced = self._logs.id_of(log.name) not in (None, log.id)
            while not self.ended and self._read(log):
                pass
            if is_replaced and not self.ended and self._reopened(log):
                continue
            left = until - time.monotonic()
            if self.ended or left <= 0:
                break
            time.sleep(min(_PAUSE, left))
        if self._rest and not self.ended and self._position > self._begun:
            before = self.number
            self._take([self._rest])
            self.number = before  # from which it goes on
            self.notices.append(Notice("line_unfinished", "The last line was not ended yet."))
        log.renew()

    def _go_to(self, log: OpenLog, position: int) -> None:
        """Begin to read at a position, or at the beginning of the line that it lies in."""
        self._begun = position
        if position and log.at(position - 1, 1) != b"\n":
            position = last_lines(log, position, 1).start
        self._position, self._rest, self._is_skipping = position, b"", False
        self._known = log.at(max(0, position - _KNOWN), min(position, _KNOWN))

    def _reopened(self, log: OpenLog) -> bool:
        """Go on with the file that has the log's name now, and say whether it can be read."""
        try:
            log.reopen()
        except ResourceError as error:  # another one may come
            notice = Notice("not_followed", error.message)
            self.notices += [notice] if notice not in self.notices else []
            return False
        self._go_to(log, 0)
        self._say("rotated", f"{log.name} was rotated: another file has its name, whose lines follow.")
        return True

    def _read(self, log: OpenLog) -> bool:
        """Take a piece of the new content of the file; return whether there may be more."""
        if log.size < self._position or not self._is_same(log):
            self._say("truncated", f"{log.name} was emptied while it was followed; the lines that it has now follow.")
            self._go_to(log, 0)
        piece = log.at(self._position, _PIECE)
        self._position += len(piece)
        self._known = (self._known + piece)[-_KNOWN:]
        *lines, self._rest = (self._rest + piece).split(b"\n")
        self._pass_hole()
        if self._is_skipping and lines:
            del lines[0]
            self._is_skipping = False
        elif self._is_skipping:
            self._rest = b""
        elif len(self._rest) > LOOK:
            lines.append(self._rest)
            self._rest, self._is_skipping = b"", True
        self._take(lines)
        return bool(piece)

    def _pass_hole(self) -> None:
        """Let go of NULs at the beginning of a line, as stand where a program goes on to write in an emptied file."""
        kept = behind_hole(self._rest)
        self.nuls += len(self._rest) - len(kept)
        self._rest = kept

    def _is_same(self, log: OpenLog) -> bool:
        return log.at(max(0, self._position - len(self._known)), len(self._known)) == self._known

    def _take(self, lines: list[bytes]) -> None:
        """Keep the lines that are wanted of some that came, and hand them on."""
        taken: list[str] = []
        for count, line, column in self._wanted(lines):
            text = shown(line, column)
            if self._room is not None and self.lines and self._room < size_of(text) + 1:
                lines, self.ended = lines[:count], True
                break
            self._room = None if self._room is None else self._room - size_of(text) - 1
            taken.append(text)
            self.lines.append(text)
            self.nuls += hole_in([line])
            if len(self.lines) >= self._most:
                lines, self.ended = lines[: count + 1], True
                break
        self.number = None if self.number is None else self.number + len(lines)
        if taken and self._arriving and not self._arriving("".join(f"{each}\n" for each in taken)):
            self.ended = True

    def _wanted(self, lines: list[bytes]) -> list[tuple[int, bytes, int]]:
        """Return the lines that match, each with how many came before it, and where the match begins."""
        if self._expression is None:
            return [(count, line, 1) for count, line in enumerate(lines)]
        if not lines:
            return []
        block = Block(first=0, offset=0, raw=b"".join(line + b"\n" for line in lines))
        try:
            [(_, hits)] = matched([block], self._expression, time.monotonic() + SECONDS)
        except Stopped:
            self.notices.append(
                Notice("timed_out", f"The search was stopped after {SECONDS:g} s, and the wait with it.")
            )
            self.ended, self.is_whole = True, False
            return []
        return [(line - 1, lines[line - 1], column) for line, column, *_ in hits]

    def _say(self, code: str, message: str) -> None:
        """Note what happened to the log, once for each time that it did."""
        self.number = 1
        self.notices.append(Notice(code, message))
