"""A first look at the bytes of files: which of them may hold a match at all, before anything else is asked about them.

Most searches are for something that few files hold. Those that do not need neither a name nor a text.

Invariants:
- every judgement is on the safe side: what cannot be read, is gigantic, or comes too late, may hold a match;
- looking takes at most half of the time that there is, so that what was let through is searched, too;
- the kept contents of files are bounded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from bae_source.errors import ResourceError
from bae_source.project.facts.mentions import haystack_of
from bae_source.project.files.stamps import Stamp, whole
from bae_source.project.search.expression import Expression
from bae_source.project.workspace import Workspace

if TYPE_CHECKING:
    from bae_source.project.facts.haystack import Haystack

MAX_DATA = 10_000_000
"""Bytes; larger files are not searched."""
ROOM = 8_000_000
"""Bytes of files that are kept for the search that follows."""


class Sieve:
    """The choice of files for one search.

    Parameters:
        workspace: where they are read.
        expression: what is searched for.
        seconds: how long looking and matching may take altogether, from the first look on.
        holding: the source files that alone may hold a match, if that is known.
    """

    def __init__(
        self, workspace: Workspace, expression: Expression, *, seconds: float, holding: frozenset[str] | None = None
    ) -> None:
        self._seconds = seconds
        self._holding = holding
        self._deadline: float | None = None
        self._workspace = workspace
        self._expression = expression
        self._contents: dict[str, bytes] = {}
        self._room = ROOM

    @property
    def deadline(self) -> float:
        """Return the time to stop, on the monotonic clock."""
        if self._deadline is None:
            self._deadline = time.monotonic() + self._seconds
        return self._deadline

    def sifted(self, paths: Sequence[str]) -> list[str]:
        """Return those source files of the census that may hold a match, in their order.

        Where a project is searched again, its plain files are looked at in few pieces.
        """
        if self._holding is not None:
            return [path for path in paths if path in self._holding]
        stamps = self._workspace.census.stamps
        found, rest = self._from_haystack(stamps, haystack_of)
        return self._candidates(paths, found, rest, whole(stamps), python=True)

    def sifted_data(self, stamps: Mapping[str, Stamp]) -> list[str]:
        """Return those data files that may hold a match, in their order.

        Parameters:
            stamps: of the data files.
        """
        found, rest = self._from_haystack(stamps, lambda workspace: workspace.kept.haystack("data", lambda _: True))
        return self._candidates(list(stamps), found, rest, whole(stamps), python=False)

    def _from_haystack(
        self, stamps: Mapping[str, Stamp], haystack: Callable[[Workspace], Haystack]
    ) -> tuple[Collection[str], Collection[str]]:
        """Return the files that hold one of the pieces, and those that have to be read."""
        workspace, pieces = self._workspace, self._expression.pieces
        if not pieces or self._expression.ignore_case or workspace.overlay:
            return (), frozenset(stamps)
        found, rest = haystack(workspace).look(workspace, stamps, [(piece, False) for piece in pieces])
        return found, frozenset(rest)

    def _candidates(
        self,
        paths: Sequence[str],
        found: Collection[str],
        rest: Collection[str],
        stamps: Mapping[str, Stamp],
        *,
        python: bool,
    ) -> list[str]:
        """Return those files that may hold a match.

        Thousands are read with each search, so nothing is called for each but what reads it.

        Parameters:
            found: those that do.
            rest: those that have to be read.
            stamps: what the files had when the project was walked.
            python: whether they are source code.
        """
        pieces, may_match = self._expression.pieces, self._expression.may_match
        only = pieces[0] if len(pieces) == 1 and not self._expression.ignore_case else None
        until, now = self.deadline - self._seconds / 2, time.monotonic
        glance, is_read = self._workspace.files.glance, self._workspace.is_read
        result = []
        for path in paths:
            if path in found:
                result.append(path)
            elif path not in rest:
                continue
            else:
                size = stamps[path].size
                if not pieces or size > MAX_DATA or now() > until:
                    result.append(path)
                    continue
                try:
                    content = self._workspace.glance(path) if is_read(path) else glance(path, size)
                except (ResourceError, FileNotFoundError):
                    result.append(path)  # the later reader reports the reason
                    continue
                if content is None or (only is not None and only in content) or may_match(content, python=python):
                    result.append(path)
                    self._keep(path, content)
        return result

    def _keep(self, path: str, content: bytes | None) -> None:
        if content is not None and len(content) <= self._room:
            self._room -= len(content)
            self._contents[path] = content

    def taken(self, path: str) -> bytes | None:
        """Hand over the content of a file that was looked at, if it was kept."""
        return self._contents.pop(path, None)
