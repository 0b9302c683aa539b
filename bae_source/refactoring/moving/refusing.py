"""The refusal of a move that would leave places behind, and how many places one changes, in words."""

from __future__ import annotations

from keyword import iskeyword

from bae_source.errors import Refused, RequestError
from bae_source.model.outcome import REPORT
from bae_source.model.plan import ModuleFile
from bae_source.model.report import Report
from bae_source.refactoring.moving.choice import Choice
from bae_source.refactoring.planning.generated import refusing

_MOST_SHOWN = 10


def check_unsure(names: str, report: Report, choice: Choice, *, several: bool = False) -> None:
    """Check that a move leaves no place behind that is unsure, unless that is chosen.

    Parameters:
        names: of what was to move.
        several: whether these are several.

    Raises:
        Refused: `unsafe_change`, with the places.
    """
    unsure = refusing(report)
    if choice.leaves_unsure or not unsure:
        return
    shown = "; ".join(f"{each.module}:{each.line} ({each.why})" for each in unsure[:_MOST_SHOWN])
    more = f" and {len(unsure) - _MOST_SHOWN} more" if len(unsure) > _MOST_SHOWN else ""
    was, it = ("were", "them") if several else ("was", "it")
    raise Refused(
        "unsafe_change",
        f"{names} {was} not moved, since places may mean {it} that could not be led along: {shown}{more}.",
        hints=["Repeat it with unsure set to leave, which leaves these places as they are."],
        details={REPORT: report.as_data()},
    )


def counted_places(report: Report) -> str:
    """Return how many places change, and in how many files."""
    places, files = report.places, len(report.changed)
    return f"{places:,} {'place' if places == 1 else 'places'} in {files:,} {'file' if files == 1 else 'files'}"


def check_importable(module: ModuleFile) -> None:
    """Check that a module has a name that an import statement takes."""
    if not all(part.isidentifier() and not iskeyword(part) for part in module.name.split(".")):
        raise RequestError(
            "invalid_arguments",
            f"{module.name} has a name that no import statement takes, so its users could not be led there.",
            hints=["Choose another module."],
        )
