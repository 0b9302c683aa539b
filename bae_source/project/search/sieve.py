"""A first look at the bytes of files: which of them may hold a match at all, before anything else is asked about them.

Most searches are for something that few files hold. Those that do not need neither a name nor a text.

Invariants:
- every judgement is on the safe side: what cannot be read, is gigantic, or comes too late, may hold a match;
- looking takes at most half of the time that there is, so that what was let through is searched, too;
- what is kept of the files' contents is bounded.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from bae_source.errors import ResourceError
from bae_source.project.facts.mentions import Haystack, Words
from bae_source.project.search.expression import Expression
from bae_source.project.workspace import Workspace

MAX_DATA = 10_000_000
"""Bytes; larger files are not searched."""
_ROOM = 8_000_000


class Sieve:
    """Looks at files for one search.

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
        self._room = _ROOM

    @property
    def deadline(self) -> float:
        """When to stop, on the monotonic clock."""
        if self._deadline is None:
            self._deadline = time.monotonic() + self._seconds
        return self._deadline

    def sifted(self, paths: Sequence[str]) -> list[str]:
        """Return those source files of the census that may hold a match, in their order.

        Where a project is searched again that has not changed, its plain files are looked at in one piece.
        """
        if self._holding is not None:
            return [path for path in paths if path in self._holding]
        stamps, workspace, pieces = self._workspace.census.stamps, self._workspace, self._expression.pieces
        if pieces and not self._expression.ignore_case and not workspace.overlay:
            haystack = workspace.derived.get(Haystack, Haystack)
            found, rest = map(frozenset, haystack.look(workspace, Words([piece.decode("ascii") for piece in pieces])))
        else:
            found, rest = frozenset(), frozenset(paths)
        return [
            path
            for path in paths
            if path in found or (path in rest and self.may_hold(path, stamps[path].size, python=True))
        ]

    def may_hold(self, path: str, size: int, *, python: bool) -> bool:
        """Say whether a file may hold a match.

        Parameters:
            size: what the file had when the project was walked, in bytes.
            python: whether it is source code.
        """
        if not self._expression.pieces or size > MAX_DATA or time.monotonic() > self.deadline - self._seconds / 2:
            return True
        try:
            content = self._glance(path, size)
        except (ResourceError, FileNotFoundError):
            return True  # whoever reads it will say what is the matter
        if content is not None and not self._expression.may_match(content, python=python):
            return False
        if content is not None and len(content) <= self._room:
            self._room -= len(content)
            self._contents[path] = content
        return True

    def taken(self, path: str) -> bytes | None:
        """Hand over the content of a file that was looked at, if it was kept."""
        return self._contents.pop(path, None)

    def _glance(self, path: str, size: int) -> bytes | None:
        if self._workspace.is_read(path):
            return self._workspace.glance(path)
        return self._workspace.files.glance(path, size)
