"""The part of the Python API that reads: source, interfaces, and what stands at a place."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from bae_source.model.outcome import Text


class Reading:
    """Reads a project by name."""

    @abstractmethod
    def _ask(self, verb: str, given: dict[str, Any]) -> Text:
        """Make a reading request and return its answer."""

    def read(
        self,
        target: str = "",
        *,
        full: bool = False,
        dedent: bool = False,
        private: bool = False,
        numbers: bool = False,
    ) -> Text:
        """Return the source of a symbol or a part, the interface of a package or module, or a data file's text.

        Parameters:
            target: dotted name such as `pkg.mod.Class.method`, `pkg.mod.f@body`, `pkg.mod@stub` or `pkg:data.txt`;
                empty for a list of the project.
            full: the whole source of a module, or of a package's `__init__`; a large data file, too.
            dedent: take the symbol's own indentation off.
            private: in an outline, show names that begin with `_` too.
            numbers: put line numbers in front; the etag stays that of the plain text.

        Returns:
            The text, with `.etag` to hand to `if_match` and `.address`, its canonical name.
        """
        given = {"target": target, "full": full, "dedent": dedent, "private": private, "numbers": numbers}
        return self._ask("read", given)

    def outline(
        self,
        target: str = "",
        *,
        depth: int = 1,
        private: bool = False,
        numbers: bool = False,
        attributes: bool = False,
    ) -> Text:
        """Return names, signatures and first docstring lines of what is in the project, a package, module or class.

        Parameters:
            target: dotted name; empty for the project.
            depth: how many levels of members to show: 1 for the direct ones.
            private: show names that begin with `_` too, instead of their number.
            numbers: put line numbers in front.
            attributes: show also what classes set on their instances, and what loops, `with` and `:=` bind.
        """
        given = {"target": target, "depth": depth, "private": private, "numbers": numbers, "attributes": attributes}
        return self._ask("outline", given)

    def where(self, place: str) -> Text:
        """Return the innermost symbol at a place that a traceback, a linter or pytest names by its path.

        Parameters:
            place: such as `app/core.py:12`, `File "app/core.py", line 12`, `tests/test_core.py::test_send`.
        """
        return self._ask("where", {"place": place})
