"""The questions to a language server and its answers: places and texts, nothing to be trusted with a change.

Invariants:
- places in a question count characters, lines and columns from 1; places in an answer count as the protocol does,
  columns in UTF-16 code units, because only the owner of the text can convert them;
- an answer may be wrong or stale: the merge looks each place up in the project first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from bae_source.model.span import Place


class Question(Struct, frozen=True, kw_only=True):
    """A question to a language server about something that was found without it.

    Parameters:
        path: the module's file, project-relative.
        text: what is in it.
        name: where the definition's name stands; None for a module.
        names: where names stand that are not resolved.
    """

    path: str
    text: str
    name: Place | None
    names: tuple[Place, ...] = ()


class Target(Struct, frozen=True, kw_only=True):
    """The place where, by the server, something is defined.

    Parameters:
        path: the file, project-relative.
        line: from 1.
        units: how many UTF-16 code units stand before it on the line.
    """

    path: str
    line: int
    units: int


class Navigated(Struct, frozen=True, kw_only=True):
    """A server's answer to one question.

    Parameters:
        hover: what it shows about the name.
        targets: where it says that the open names are defined; those outside the project are left out.
        problem: why there is no answer, as half a sentence; None where there is one.
    """

    hover: str = ""
    targets: tuple[Target, ...] = ()
    problem: str | None = None


class Navigator(Protocol):
    """A source of answers: a language server, or its stand-in."""

    def ask(
        self, questions: Sequence[Question | None], stamps: Mapping[str, object], *, seconds: float
    ) -> Sequence[Navigated]:
        """Answer each question; never raise, and never take longer than `seconds` for all of them.

        Parameters:
            stamps: a value for each of the project's files that changes when the file does.
        """
