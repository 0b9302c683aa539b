"""The part of the Python API that searches: one method a verb, each a request to the one door."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Literal

from bae_source.model.outcome import Text


class Searching:
    """Searching by name, by text, by code and by words.

    Each answer is a `Text`; `.outcome.found` has the same as values, and `.complete` says whether everything was
    looked at.
    """

    @abstractmethod
    def _ask(self, verb: str, given: dict[str, Any]) -> Text:
        """Make a reading request and return its answer."""

    def glob(
        self,
        pattern: str,
        *,
        kind: Literal[
            "package", "module", "class", "function", "method", "assignment", "type alias", "attribute", "variable"
        ]
        | None = None,
        attributes: bool = False,
    ) -> Text:
        """Return the addresses that match a pattern over dotted names, sorted, one a line.

        Parameters:
            pattern: `*` within one component, `**` for any number of them, `?` for one character, `[ab]` for one of
                some, as in `httpx.*` or `**.Client.send`.
            kind: only what is of this kind.
            attributes: also what classes set on their instances, and what loops, `with` and `:=` bind.
        """
        return self._ask("glob", {"pattern": pattern, "kind": kind, "attributes": attributes})

    def grep(
        self,
        pattern: str,
        scope: str | None = None,
        *,
        ignore_case: bool = False,
        word: bool = False,
        multi_line: bool = False,
        context: int = 0,
        symbols: bool = False,
        data: bool = True,
        time_limit: float = 10.0,
    ) -> Text:
        """Return the lines of source and package data that match a regular expression, as `module:line: text`.

        Parameters:
            pattern: a regular expression of Python's `re`.
            scope: dotted name to search in: a package, module, class, function, or data file.
            ignore_case: take upper and lower case as the same.
            word: match whole words only.
            multi_line: let a match go on over several lines.
            context: lines to show around each match.
            symbols: name the symbol that each match stands in; `.outcome.found` knows it in any case.
            data: search data files of packages, too.
            time_limit: seconds after which the search stops; then `.complete` is false.
        """
        given = {
            "pattern": pattern,
            "scope": scope,
            "ignore_case": ignore_case,
            "word": word,
            "multi_line": multi_line,
            "context": context,
            "symbols": symbols,
            "data": data,
            "time_limit": time_limit,
        }
        return self._ask("grep", given)

    def find(self, pattern: str, scope: str | None = None) -> Text:
        """Return the places where code matches a pattern with holes, and what stands in them.

        Parameters:
            pattern: Python code in which `$NAME` stands for one expression, statement, parameter or name, and
                `$$$NAME` for any number, as in `requests.get($URL, $$$REST)`.
            scope: dotted name to search in: a package, module, class or function.
        """
        return self._ask("find", {"pattern": pattern, "scope": scope})

    def search(self, *words: str, scope: str | None = None, limit: int = 10) -> Text:
        """Return the symbols whose names, docstrings and comments fit some words best, a line each, with why.

        Parameters:
            words: what to look for; several may stand in one text.
            scope: dotted name to search in: a package, module, class or function.
            limit: at most that many.
        """
        return self._ask("search", {"words": words, "scope": scope, "limit": limit})

    def exports_check(self, target: str = "") -> Text:
        """Return what is odd about exports, one a line: names in `__all__` that are not there, or twice, or left out.

        Parameters:
            target: a module, or a package with all in it; empty for the whole project.
        """
        return self._ask("exports_check", {"target": target})

    def check_staged(self, files: Sequence[str] = ()) -> Text:
        """Return what is wrong with what git has staged, one a line; nothing of the working tree is judged.

        Parameters:
            files: paths from the project's folder; nothing for what differs from the last commit.

        Returns:
            The text; `.outcome.found` has the findings as values (`verification.finding.Finding`).
        """
        return self._ask("check_staged", {"files": files})
