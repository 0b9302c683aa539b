"""Answers about hunks: which were moved or fitted, and of those that fit nowhere what stands where they may belong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from bae_source.errors import Refused, ResourceError
from bae_source.model.outcome import Notice
from bae_source.model.text import counted, listed
from bae_source.project.naming.places import Written, spot_at
from bae_source.syntax.patches.fitting import Applied, Fit, Misfit
from bae_source.syntax.patches.view import bare, exact

if TYPE_CHECKING:
    from bae_source.project.workspace import Workspace
    from bae_source.syntax.patches.patch import Hunk
    from bae_source.syntax.patches.view import View

_SHOWN = 6
"""Most lines shown of the text at a place."""
_MOST_PLACES = 5
_MOST_NOTICED = 10
_WIDEST = 160
_MOST_NAMED = 20
_MOST_COMPARED = 50
_MOST_LINES = 100
_MOST_PLACES_OF_LINE = 100
_CLOSENESS = {
    "spaces": "but for white space at the ends of lines",
    "indentation": "but for its indentation, which was taken over",
    "context": "but for its outer lines of context",
}


class Failed(Struct, frozen=True, kw_only=True):
    """A hunk that does not fit, as it is to be shown.

    Parameters:
        address: of its file.
        symbol: the innermost one that stands at the nearest place; the file's address where there is none.
        nearest: the lines there, by their numbers.
    """

    address: str
    hunk: Hunk
    reason: str
    symbol: str
    nearest: tuple[tuple[int, str], ...]
    expected: str = ""

    @property
    def sentence(self) -> str:
        """All of it, without the full stop."""
        stands = "; ".join(f"{number}: {text}" for number, text in self.nearest)
        where = f" in {self.symbol}" if self.symbol != self.address else ""
        there = f". There stands{where}: {stands}" if stands else ""
        wants = f". The hunk has {self.expected!r}" if self.expected and stands else ""
        return (
            f"{self.address}, hunk {self.hunk.number} (line {self.hunk.at} of the patch): {self.reason}{wants}{there}"
        )

    def as_data(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "module": self.address,
            "hunk": self.hunk.number,
            "patch_line": self.hunk.at,
            "reason": self.reason,
            "symbol": self.symbol,
            "nearest": [{"line": number, "text": text} for number, text in self.nearest],
        }


def failed(
    workspace: Workspace, path: str, address: str, view: View, misfit: Misfit, *, before: int, is_present: bool
) -> Failed:
    """Return a hunk that does not fit, with the text at its likely place.

    Parameters:
        before: how many hunks did not fit before it; of many, only the first are compared with what stands there.
        is_present: whether the file is what it is in the workspace, so that its symbols are known.
    """
    reason, hunk = misfit.reason, misfit.hunk
    if len(misfit.places) > 1:
        lines = listed([str(at + 1) for at in misfit.places], _MOST_PLACES)
        reason = f"{reason}, lines {lines}"
    start = misfit.places[0] if misfit.places else _nearest(view, hunk) if before < _MOST_COMPARED else None
    if start is None:
        return Failed(address=address, hunk=hunk, reason=reason, symbol=address, nearest=())
    there, old = view.lines[start:], [line.text for line in hunk.old]
    other = [n for n, (a, b) in enumerate(zip(there, old, strict=False)) if exact(a) != exact(b)]
    differs = other[0] if other else 0
    first = start + max(0, differs - 1)
    nearest = tuple((n + 1, _cut(view.lines[n])) for n in range(first, min(first + _SHOWN, len(view))))
    expected = _cut(old[differs]) if other else ""
    symbol = _symbol(workspace, path, address, start + differs + 1) if is_present else address
    return Failed(address=address, hunk=hunk, reason=reason, symbol=symbol, nearest=nearest, expected=expected)


def refused(
    every: Sequence[Failed], others: Sequence[ResourceError], applied: Sequence[str], count: int
) -> ResourceError:
    """Return the refusal of a patch of which some hunks do not fit, or some files cannot be patched.

    Parameters:
        others: the errors of files, at least one if every hunk fits.
        applied: hunks that are applied already.
        count: of all hunks.
    """
    if not every and len(others) == 1:
        return others[0]
    clauses = list(dict.fromkeys(error.clause for error in others))
    files = f"{counted(len(clauses), 'file')} cannot be patched"
    hints = dict.fromkeys(hint for error in others for hint in error.hints)
    candidates = tuple(dict.fromkeys(one for error in others for one in error.candidates))
    if not every:
        reason = f"{files}: {'; '.join(clauses)}"
        return others[0].altered(subject="", reason=reason, unchanged=True, hints=hints, candidates=candidates)
    verb = "does" if len(every) == 1 else "do"
    verdict = f"{len(every)} of {counted(count, 'hunk')} {verb} not fit"
    which = listed([f"hunk {each.hunk.number} of {each.address}" for each in every], _MOST_NAMED)
    found = [each.sentence for each in every] + clauses
    found += [f"Applied already: {listed(applied, len(applied))}"] if applied else []
    return Refused(
        "stale",
        f"{verdict}, and {files}: {which}" if clauses else f"{verdict}: {which}",
        unchanged=True,
        hints=[*(f"{each}." for each in found), *hints, "Read what stands there, and make the patch anew."],
        candidates=candidates,
        details={"hunks": [each.as_data() for each in every], "applied": list(applied)},
    )


def notices(address: str, fits: Sequence[Fit | Applied]) -> Iterator[Notice]:
    """Yield the notices about hunks that were taken though they name another place or other lines."""
    placed = [each for each in fits if isinstance(each, Fit)]
    moved = [
        f"hunk {each.hunk.number} from line {(each.hunk.start or 0) + 1} to {each.start + 1}"
        for each in placed
        if each.moved_by
    ]
    if moved:
        yield Notice("hunk_moved", f"In {address} hunks fit at another line than they name: {_many(moved)}.")
    fitted = [_fitted(each) for each in placed if each.closeness != "exact" or each.unlike]
    if fitted:
        yield Notice("hunk_fitted", f"In {address} hunks fit not exactly: {_many(fitted)}.")
    applied = [f"hunk {each.hunk.number} at line {each.start + 1}" for each in fits if isinstance(each, Applied)]
    if applied:
        yield Notice("hunk_applied", f"In {address} hunks are applied already: {_many(applied)}.")
    wrong = [f"hunk {each.hunk.number}" for each in fits if each.hunk.miscounted]
    if wrong:
        text = "have other lines than their headers count, and were taken as they stand"
        yield Notice("hunk_miscounted", f"In {address} hunks {text}: {_many(wrong)}.")


def _many(every: Sequence[str]) -> str:
    more = f"; and {len(every) - _MOST_NOTICED:,} more" if len(every) > _MOST_NOTICED else ""
    return "; ".join(every[:_MOST_NOTICED]) + more


def _fitted(fit: Fit) -> str:
    how = [_CLOSENESS[fit.closeness]] if fit.closeness != "exact" and not (fit.unlike and not any(fit.dropped)) else []
    how += [fit.unlike] if fit.unlike else []
    return f"hunk {fit.hunk.number} at line {fit.start + 1}, {'; '.join(how)}"


def _nearest(view: View, hunk: Hunk) -> int | None:
    """Return the line at which most lines of a hunk stand in their places; the one that it names where none do."""
    votes: dict[int, int] = {}
    for number, old in enumerate(hunk.old[:_MOST_LINES]):
        for at in view.places([old.text], bare)[:_MOST_PLACES_OF_LINE] if bare(old.text) else ():
            votes[at - number] = votes.get(at - number, 0) + 1
    best = max(votes, key=lambda at: (votes[at], -abs(at - (hunk.start or 0)))) if votes else None
    if best is None and hunk.start is not None and hunk.start < len(view):
        return hunk.start
    return None if best is None else max(0, best)


def _symbol(workspace: Workspace, path: str, address: str, line: int) -> str:
    try:
        return spot_at(workspace, Written(path=path, line=line)).address
    except ResourceError:
        return address


def _cut(line: str) -> str:
    text = exact(line).encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= _WIDEST else f"{text[:_WIDEST]}…"
