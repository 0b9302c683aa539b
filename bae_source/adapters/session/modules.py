"""The packages and modules of a project as a session walks through them, asked through the one door.

Invariant: nothing is remembered, so a module that is added, by a session or otherwise, is there at once.
"""

from __future__ import annotations

from collections.abc import Callable

from bae_source.engine.registry import request
from bae_source.errors import LookupFailed, RequestError
from bae_source.model.context import Context
from bae_source.model.outcome import SHORT_NAME, Outcome
from bae_source.model.request import Request

Run = Callable[[Request, Context], Outcome]
_KINDS = ("package", "module")
_PATTERN = frozenset("*?[]")


class Modules:
    """The packages and modules of the project.

    Parameters:
        run: carries out a request.
    """

    def __init__(self, run: Run) -> None:
        self._run = run

    def has(self, name: str) -> bool:
        """Return whether there is a package or module of a dotted name."""
        return _PATTERN.isdisjoint(name) and bool(self._matching(name))

    def address(self, name: str) -> str:
        """Return a selector of the package or module of a dotted name, and of nothing else such as an attribute."""
        return f"{name}@module" if f"{name}@module" in self._addresses(name) else name

    def inside(self, name: str) -> tuple[str, ...]:
        """Return the dotted names directly in a package, or in the project for an empty name; packages first."""
        return self._matching(f"{name}.*" if name else "*")

    def knows(self, name: str) -> bool:
        """Return whether a dotted name means something, or several things, by itself and not as a short one."""
        try:
            found = self._run(request("outline", {"target": name, "depth": 0}), Context())
        except LookupFailed as error:
            return error.code != "symbol_not_found" and SHORT_NAME not in error.details
        except RequestError as error:
            return error.code != "invalid_name"
        return all(notice.code != SHORT_NAME for notice in found.warnings)

    def line(self, name: str) -> str:
        """Return the line of a package or module: its name, what it says of itself, and what it has."""
        return self._outline(name, 0)[0].strip()

    def lines(self, name: str) -> list[str]:
        """Return the lines of the packages and modules directly in a package, or in the project for an empty name."""
        own = f"{name}." if name else ""
        found = [line.strip() for line in self._outline(name, 1)[1 if name else 0 :]]
        return [line for line in found if line.startswith(own)] if name else found

    def _outline(self, name: str, depth: int) -> list[str]:
        asked = request("outline", {"target": name and f"{name}@module", "depth": depth})
        return self._run(asked, Context()).text.splitlines() or [name]

    def _matching(self, pattern: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(each.removesuffix("@module") for each in self._addresses(pattern)))

    def _addresses(self, pattern: str) -> list[str]:
        asked = (request("glob", {"pattern": pattern, "kind": kind}) for kind in _KINDS)
        return [match.address for each in asked for match in self._run(each, Context()).found]
