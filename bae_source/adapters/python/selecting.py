"""The part of the Python API that looks selectors up."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, overload

from bae_source.model.outcome import Outcome
from bae_source.model.selection import Selected, as_mapping

Answer = dict[str, Any]
"""One selection as JSON has it: `status`, `kind`, `data`, `refs`, `errors`, `next_actions`."""


class Selecting:
    """Look-ups by `sym://` selectors.

    An answer is the very object that the command line prints: a dict for one URI, a list of them for several, in their
    order. What cannot be found is an answer as well, with `status` `error` and no `data`; nothing is raised but for a
    call without any URI. An answer that would be too long is the error `BUDGET_EXCEEDED`, in a list of one where there
    were several URIs.
    """

    @abstractmethod
    def _select(self, verb: str, given: dict[str, Any]) -> Outcome:
        """Make a reading request and return its outcome."""

    @overload
    def symbols(self, uri: str, /, *, exact: bool = False) -> Answer: ...
    @overload
    def symbols(self, uri: str, other: str, /, *more: str, exact: bool = False) -> list[Answer]: ...
    def symbols(self, *uris: str, exact: bool = False) -> Answer | list[Answer]:
        """Return the skeletons of modules, classes and functions: names and signatures.

        Parameters:
            uris: selectors such as `sym://python/mod/app/net` or `sym://python/type/app/net/Client#send`.
            exact: let their paths match from the source root only.
        """
        return _answers(self._select("symbols", {"uris": uris, "exact": exact}), uris)

    @overload
    def snippet(self, uri: str, /, *, exact: bool = False) -> Answer: ...
    @overload
    def snippet(self, uri: str, other: str, /, *more: str, exact: bool = False) -> list[Answer]: ...
    def snippet(self, *uris: str, exact: bool = False) -> Answer | list[Answer]:
        """Return the source of modules, classes and functions, cut where it is long; of five at most.

        Parameters:
            uris: selectors such as `sym://python/type/app/net/Client#send`.
            exact: let their paths match from the source root only.
        """
        return _answers(self._select("snippet", {"uris": uris, "exact": exact}), uris)

    @overload
    def hover(
        self,
        uri: str,
        /,
        *,
        exact: bool = False,
        language_server: str | None = None,
        language_server_seconds: float | None = None,
    ) -> Answer: ...
    @overload
    def hover(
        self,
        uri: str,
        other: str,
        /,
        *more: str,
        exact: bool = False,
        language_server: str | None = None,
        language_server_seconds: float | None = None,
    ) -> list[Answer]: ...
    def hover(
        self,
        *uris: str,
        exact: bool = False,
        language_server: str | None = None,
        language_server_seconds: float | None = None,
    ) -> Answer | list[Answer]:
        """Return signatures, docstrings, and, with a language server, where what they use is defined.

        Parameters:
            uris: selectors such as `sym://python/type/app/net/Client#send`.
            exact: let their paths match from the source root only.
            language_server: `ty`, `basedpyright`, `pyrefly` or `off`; None for what `BAE_SOURCE_LANGUAGE_SERVER` in the
                environment says, or else the project's settings.
            language_server_seconds: how long it may take; None for what the settings say, or two. The answer comes all
                the same.
        """
        given = {
            "uris": uris,
            "exact": exact,
            "language_server": language_server,
            "language_server_seconds": language_server_seconds,
        }
        return _answers(self._select("hover", given), uris)


def _answers(outcome: Outcome, uris: tuple[str, ...]) -> Answer | list[Answer]:
    assert isinstance(outcome, Selected)
    answers = [as_mapping(selection) for selection in outcome.selections]
    return answers if len(uris) > 1 else answers[0]
