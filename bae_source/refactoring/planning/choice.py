"""Choice of a refactoring about places that are not sure, and how a refusal mentions them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from bae_source.errors import RequestError
from bae_source.model.reference import Reference
from bae_source.model.text import counted, listed
from bae_source.project.references.search.prose_edits import Wanted

_MOST_SHOWN = 5
_MOST_REASONS = 5


class Choice(Struct, frozen=True, kw_only=True):
    """Choice about places that are not sure.

    Parameters:
        unsure: whether unsure places change.
        include: unsure places and mentions that change, as `ADDRESS:LINE` or `ADDRESS:LINE:COLUMN`.
        text: which mentions in prose change.
        skip_generated: whether files that a program writes stay as they are.
    """

    skip_generated: bool = False
    unsure: bool = False
    include: tuple[str, ...] = ()
    text: Wanted = "none"

    def takes(self, place: Reference) -> bool:
        """Return whether a place that is not sure changes."""
        return (place.certainty == "unsure" and self.unsure) or not named_as(place).isdisjoint(self.include)

    def check_included(self, places: Sequence[Reference]) -> None:
        """Check that what is to be included is there.

        Parameters:
            places: those that are not sure.

        Raises:
            RequestError: `invalid_arguments`, with the places that can be.
        """
        known = {name for each in places for name in named_as(each)}
        if unknown := [each for each in self.include if each not in known]:
            raise RequestError(
                "invalid_arguments",
                f"include has {listed(unknown)}, where no unsure place and no mention stands",
                unchanged=True,
                hints=[
                    f"It takes {listed(f'{each.module}:{each.line}:{each.column}' for each in places) or 'nothing'}."
                ],
            )


def named_as(place: Reference) -> set[str]:
    """Return the names of a place: with and without its column."""
    owners, lines = (place.module, place.address), (f"{place.line}", f"{place.line}:{place.column}")
    return {f"{owner}:{line}" for owner in owners for line in lines}


def by_reason(places: Sequence[Reference]) -> str:
    """Return places as sentences, those with one reason together."""
    reasons: dict[str, list[str]] = {}
    for each in places:
        reasons.setdefault(each.why, []).append(f"{each.module}:{each.line}")
    sentences = [f"{listed(found, _MOST_SHOWN)}: {why}." for why, found in reasons.items()]
    more = f" And {len(sentences) - _MOST_REASONS} more reasons." if len(sentences) > _MOST_REASONS else ""
    return " ".join(sentences[:_MOST_REASONS]) + more


def left_as_they_are(number: int) -> str:
    """Return the end of a summary that says how many unsure places stay; nothing where none does."""
    if not number:
        return ""
    return f"; {counted(number, 'unsure place')} left as {'it is' if number == 1 else 'they are'}"
