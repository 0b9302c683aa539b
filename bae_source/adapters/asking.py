"""The part of the Python API that asks who uses what."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from bae_source.model.outcome import Text


class Asking:
    """Questions about references; every answer's `.outcome.found` has them as values (`model.reference.Reference`).

    An answer is `.complete` only if every file that could hold more was looked into.
    """

    @abstractmethod
    def _ask(self, verb: str, given: dict[str, Any]) -> Text:
        """Make a reading request and return its answer."""

    def references(self, target: str) -> Text:
        """Return who refers to a symbol or a module: what is sure, what is not and why, and strings that name it.

        Parameters:
            target: dotted name of a symbol or a module.
        """
        return self._ask("references", {"target": target})

    def callers(self, target: str) -> Text:
        """Return who calls a function, a method or a class; using a property counts as calling it.

        Parameters:
            target: dotted name of what is called.
        """
        return self._ask("callers", {"target": target})

    def callees(self, target: str) -> Text:
        """Return what a function, a class or a module calls.

        Parameters:
            target: dotted name of what calls.
        """
        return self._ask("callees", {"target": target})

    def imports_of(self, target: str) -> Text:
        """Return what a module imports.

        Parameters:
            target: dotted name of a module.
        """
        return self._ask("imports_of", {"target": target})

    def importers_of(self, target: str) -> Text:
        """Return the import statements that name a module or something in it.

        Parameters:
            target: dotted name of a module.
        """
        return self._ask("importers_of", {"target": target})

    def subclasses(self, target: str) -> Text:
        """Return the classes below a class, direct and indirect ones.

        Parameters:
            target: dotted name of a class.
        """
        return self._ask("subclasses", {"target": target})

    def overrides(self, target: str) -> Text:
        """Return the members of subclasses that override a method or an attribute of a class.

        Parameters:
            target: dotted name of the member.
        """
        return self._ask("overrides", {"target": target})
