"""Every exception of the engine, with its codes and its exit status.

    ResourceError                 abstract: code, message, hints, candidates, details
    |- RequestError       exit 2  the call is malformed; nothing was read
    |- LookupFailed       exit 3  the project has no such thing, or several
    |- SourceError        exit 4  the code is at fault, on disk or as given
    |- Refused            exit 5  it would do harm; nothing was written
    |- TransactionError   exit 6  judging or writing failed; the message names the state
    `- HistoryError       exit 7  the history cannot do it

An error's message is one sentence that says what is wrong, put together here and nowhere else: of its subject, its
reason, and whether nothing was changed. Its hints say what to do next; its candidates are addresses that can be used as
they stand. Errors are data: they pickle, compare by their fields, and never hold an open resource. Foreign exceptions
are translated in the one module that owns their library.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

_UNWRITTEN = frozenset({"verify_failed", "reload_failed", "timed_out"})
"""Codes of what judges a change before it is written."""


class ResourceError(Exception):
    """Abstract base of every error that the engine raises on purpose.

    Parameters:
        code: one of the class's `codes`, lower-case.
        reason: one sentence saying what is wrong; without the subject, where that is given.
        subject: what it is about as far as its origin knows, such as "The code"; others put the name of a module there.
        unchanged: whether nothing was changed, which the message says; None where it does not tell. The reason may lack
            its full stop where it does.
        hints: what the caller can do next, each a sentence or a command.
        candidates: ready addresses of what may have been meant; never chosen for the caller.
        details: JSON-like data for programs, such as `{"line": 3, "column": 5}`; under `warnings` what else the caller
            should know, each with `code` and `message`.
    """

    exit_code: ClassVar[int] = 70
    codes: ClassVar[frozenset[str]] = frozenset()

    def __init__(
        self,
        code: str,
        reason: str,
        *,
        subject: str = "",
        unchanged: bool | None = None,
        hints: Iterable[str] = (),
        candidates: Iterable[str] = (),
        details: Mapping[str, Any] | None = None,
    ) -> None:
        if code not in self.codes:
            raise ValueError(f"{type(self).__name__} has no code {code!r}")
        self.code = code
        self.reason = reason
        self.subject = subject
        self.unchanged = unchanged
        self.hints = tuple(hints)
        self.candidates = tuple(candidates)
        self.details = dict(details or {})
        super().__init__(self.message)

    @property
    def message(self) -> str:
        """The error as one sentence."""
        sentence = self._sentence
        if self.unchanged is None:
            return sentence
        if not self.unchanged:
            return f"{self.clause}."
        nothing = f"othing was {'written' if self.code in _UNWRITTEN else 'changed'}."
        return f"{sentence} N{nothing}" if sentence.endswith(".") else f"{sentence}; n{nothing}"

    @property
    def clause(self) -> str:
        """The error as a part of another sentence."""
        return self._sentence.rstrip(".")

    def clause_about(self, name: str) -> str:
        """The error of something that has a name, likewise."""
        return f"{name} {self.reason}".rstrip(".") if self.subject else f"{name}: {self.clause}"

    @property
    def _sentence(self) -> str:
        return f"{self.subject} {self.reason}" if self.subject else self.reason

    def altered(self, **fields: Any) -> Self:
        """Return the same error with other fields; its traceback still leads to where it was raised first."""
        other = type(self)(self.code, **{**self._fields(), **fields}).with_traceback(self.__traceback__)
        other.__cause__ = self.__cause__
        return other

    def _fields(self) -> dict[str, Any]:
        names = ("reason", "subject", "unchanged", "hints", "candidates", "details")
        return {name: getattr(self, name) for name in names}

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.code, self._fields())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ResourceError) and self.__reduce__() == other.__reduce__()

    def __hash__(self) -> int:
        return hash((type(self), self.code, self.message))


class RequestError(ResourceError):
    """The call itself is malformed; nothing of the project was read."""

    exit_code = 2
    codes = frozenset(
        {"invalid_arguments", "invalid_name", "invalid_selector_syntax", "language_not_supported", "unknown_operation"}
    )


class LookupFailed(ResourceError):
    """The project has no such thing, or has several; candidates are ready addresses."""

    exit_code = 3
    codes = frozenset({"symbol_not_found", "ambiguous_symbol"})


class SourceError(ResourceError):
    """The code is at fault: a file of the project, or the source that was given."""

    exit_code = 4
    codes = frozenset({"syntax_invalid", "encoding_invalid", "not_lossless"})


class Refused(ResourceError):
    """Doing it would do harm; nothing was written."""

    exit_code = 5
    codes = frozenset(
        {"name_collision", "unsafe_change", "stale", "outside_project", "forbidden", "budget_exceeded", "busy"}
    )


class TransactionError(ResourceError):
    """A change does not hold, or could not be written; the message names the step and the state of the project."""

    exit_code = 6
    codes = frozenset(
        {"write_failed", "reload_failed", "verify_failed", "resolution_failed", "timed_out", "rollback_failed"}
    )


class HistoryError(ResourceError):
    """The history cannot carry out the request."""

    exit_code = 7
    codes = frozenset({"nothing_to_undo", "undo_conflict", "handle_expired", "proposal_closed"})


def _rebuild(kind: type[ResourceError], code: str, fields: dict[str, Any]) -> ResourceError:
    return kind(code, **fields)
