"""The part of the Python API that asks who uses what."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from bae_source.model.outcome import Text
from bae_source.model.reference import Certainty, Defined, Kind


class Asking:
    """Questions about references; every answer's `.outcome.found` has them as values (`model.reference.Reference`).

    An answer is `.complete` only if every file that could hold more was looked into. Each method has three parameters
    that narrow what is listed: `scope`, a package, module, class or function that the places stand in; `certainty`;
    and `kind`.
    """

    @abstractmethod
    def _ask(self, verb: str, given: dict[str, Any]) -> Text:
        """Make a reading request and return its answer."""

    def definition(self, place: str) -> Text:
        """Return where the names at a place of a file are defined.

        Parameters:
            place: such as `app/core.py:12:5`; without a column, every name of the line.
        """
        return self._ask("definition", {"place": place})

    def references(
        self,
        target: str,
        *,
        scope: str | None = None,
        certainty: Certainty | None = None,
        kind: Kind | None = None,
        mentions: bool = False,
    ) -> Text:
        """Return who refers to a symbol or a module: what is sure, what is not and why, and strings that name it.

        Parameters:
            target: dotted name of a symbol or a module.
            scope, certainty, kind: narrow what is listed.
            mentions: list also where comments, docstrings, longer strings and text files speak of it.
        """
        return self._ask("references", {**_narrowed(target, scope, certainty, kind), "mentions": mentions})

    def callers(
        self, target: str, *, scope: str | None = None, certainty: Certainty | None = None, kind: Kind | None = None
    ) -> Text:
        """Return who calls a function, a method or a class; using a property counts as calling it.

        Parameters:
            target: dotted name of what is called.
            scope, certainty, kind: narrow what is listed.
        """
        return self._ask("callers", _narrowed(target, scope, certainty, kind))

    def callees(
        self, target: str, *, scope: str | None = None, certainty: Certainty | None = None, kind: Kind | None = None
    ) -> Text:
        """Return what a function, a class or a module calls.

        Parameters:
            target: dotted name of what calls.
            scope, certainty, kind: narrow what is listed.
        """
        return self._ask("callees", _narrowed(target, scope, certainty, kind))

    def imports_of(
        self, target: str, *, scope: str | None = None, certainty: Certainty | None = None, kind: Kind | None = None
    ) -> Text:
        """Return what a module imports.

        Parameters:
            target: dotted name of a module.
            scope, certainty, kind: narrow what is listed.
        """
        return self._ask("imports_of", _narrowed(target, scope, certainty, kind))

    def importers_of(
        self, target: str, *, scope: str | None = None, certainty: Certainty | None = None, kind: Kind | None = None
    ) -> Text:
        """Return the import statements that name a module or something in it.

        Parameters:
            target: dotted name of a module.
            scope, certainty, kind: narrow what is listed.
        """
        return self._ask("importers_of", _narrowed(target, scope, certainty, kind))

    def subclasses(
        self, target: str, *, scope: str | None = None, certainty: Certainty | None = None, kind: Kind | None = None
    ) -> Text:
        """Return the classes below a class, direct and indirect ones.

        Parameters:
            target: dotted name of a class.
            scope, certainty, kind: narrow what is listed.
        """
        return self._ask("subclasses", _narrowed(target, scope, certainty, kind))

    def overrides(
        self, target: str, *, scope: str | None = None, certainty: Certainty | None = None, kind: Kind | None = None
    ) -> Text:
        """Return the members of subclasses that override a method or an attribute of a class.

        Parameters:
            target: dotted name of the member.
            scope, certainty, kind: narrow what is listed.
        """
        return self._ask("overrides", _narrowed(target, scope, certainty, kind))

    def unused(
        self, scope: str | None = None, *, certainty: Certainty | None = None, kind: Defined | None = None
    ) -> Text:
        """Return the definitions that nothing in the project uses, and what outside of it may use them all the same.

        Parameters:
            scope: the package, module, class or function whose definitions are looked at; None for all.
            certainty, kind: narrow what is listed.
        """
        return self._ask("unused", {"scope": scope, "certainty": certainty, "kind": kind})


def _narrowed(target: str, scope: str | None, certainty: Certainty | None, kind: Kind | None) -> dict[str, Any]:
    return {"target": target, "scope": scope, "certainty": certainty, "kind": kind}
