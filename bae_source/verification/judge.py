"""Judges of a planned change, and the place in which children see the project with it and without it.

    judge.judge(place)    -> place.planned()    the folder now holds the planned text: run what judges it there
                          -> place.present()    it holds the project without the change: what fails there, too?

A place is a shadow of the project in our state, or where a project cannot be judged there, the project itself.
"""

from __future__ import annotations

from typing import Protocol

from bae_source.model.outcome import Check, Notice
from bae_source.reloading.child.import_check import Setting


class Place(Protocol):
    """A folder that holds a project, with a planned change or without it."""

    def planned(self) -> Setting:
        """Have it hold the planned text, and return how code is run there."""

    def present(self) -> Setting:
        """Have it hold the project without the change, and return how code is run there."""


class Judge(Protocol):
    """One way to judge a planned change; used once."""

    def judge(self, place: Place) -> tuple[Notice | Check, ...]:
        """Judge the planned text, and return what came of it.

        Raises:
            TransactionError: the change does not hold; nothing was written.
        """
