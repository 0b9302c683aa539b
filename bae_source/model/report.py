"""The report of a refactoring: its changes, and the places it left; one form for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.model.reference import Reference


class Report(Struct, frozen=True, kw_only=True):
    """The changes of a refactoring, and the places that it left.

    Parameters:
        changed: by the address of each definition, and of each file that is no Python, how many places change there.
        probable: places that are changed as well, though what stands before the dot is not known.
        unsure: places that may refer to it and stay as they are.
        mentions: strings, comments, docstrings and text files that speak of it and stay as they are.
        unparsed: names of files that could not be looked into, each with the reason.
        complete: whether everything was looked into.
    """

    changed: Mapping[str, int]
    probable: tuple[Reference, ...] = ()
    unsure: tuple[Reference, ...] = ()
    mentions: tuple[Reference, ...] = ()
    unparsed: tuple[tuple[str, ResourceError], ...] = ()
    complete: bool = True

    @property
    def places(self) -> int:
        """Return the number of places that change."""
        return sum(self.changed.values())

    @property
    def left(self) -> tuple[Reference, ...]:
        """Return the places for a person to check: unsure ones, changed or not, and mentions."""
        return (*self.probable, *self.unsure, *self.mentions)

    def as_data(self) -> dict[str, Any]:
        """Return the report as the JSON of an outcome has it."""
        return {
            "changed": [{"address": address, "places": places} for address, places in self.changed.items()],
            "probable": [each.as_data() for each in self.probable],
            "unsure": [each.as_data() for each in self.unsure],
            "mentions": [each.as_data() for each in self.mentions],
            "unparsed": [f"{name}: {error.message}" for name, error in self.unparsed],
            "complete": self.complete,
        }


def together(reports: Sequence[Report]) -> Report | None:
    """Return one report for several refactorings that are made as one; None for none."""
    if len(reports) < 2:
        return reports[0] if reports else None
    changed: dict[str, int] = {}
    for each in reports:
        for address, places in each.changed.items():
            changed[address] = changed.get(address, 0) + places
    return Report(
        changed=changed,
        probable=tuple(dict.fromkeys(place for each in reports for place in each.probable)),
        unsure=tuple(dict.fromkeys(place for each in reports for place in each.unsure)),
        mentions=tuple(dict.fromkeys(place for each in reports for place in each.mentions)),
        unparsed=tuple(dict.fromkeys(file for each in reports for file in each.unparsed)),
        complete=all(each.complete for each in reports),
    )
