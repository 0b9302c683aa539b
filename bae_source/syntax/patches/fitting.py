"""Hunks fitted into the text of a file: each at the one place where its old lines stand, or not at all.

    named for line 10, and its old lines stand there              taken, if the file is the one that it was made for, or
                                                                  nothing speaks against it
    its old lines stand at one other place                        taken as moved
    they stand there but for white space at the ends of lines     taken, and the file's own lines stay
    they stand there with another indentation, all by the same    taken, and what comes is indented likewise
    they stand there but for the first or last lines of context   taken, if the lines next to the change are there
    its new lines stand there                                     applied already
    anything else, or several places                              a misfit

Where git named the content that a diff was made for, and the file holds another, a line number proves nothing, and a
place counts only if there is no other with the same lines at any indentation.

Invariant: no place is ever chosen because it is near.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from bae_source.syntax.patches.patch import Hunk, Line
from bae_source.syntax.patches.view import MOST_PLACES, View, bare, exact, loose

Closeness = Literal["exact", "spaces", "indentation", "context"]
_FEW = 3
"""Lines below which a block is likely to stand elsewhere, too."""
_MOST_DROPPED = 2
_LEAST_LEFT = 2
_TOP = re.compile(r"[A-Za-z_$]")
_DEFINES = re.compile(r"[ \t]*(?:class|(?:async[ \t]+)?def)[ \t]")


class Fit(Struct, frozen=True, kw_only=True):
    """The place of a hunk.

    Parameters:
        start: the line, from 0, of its first old line.
        closeness: how far its old lines are those of the file.
        added: what the file's lines are indented by more.
        removed: what they are indented by less.
        dropped: how many of its first and last lines are others there.
        unlike: why it is not quite the place that it names; "" if it is.
    """

    hunk: Hunk
    start: int
    closeness: Closeness = "exact"
    added: str = ""
    removed: str = ""
    dropped: tuple[int, int] = (0, 0)
    unlike: str = ""

    @property
    def stop(self) -> int:
        """The line behind its last old line."""
        return self.start + len(self.hunk.old)

    @property
    def moved_by(self) -> int:
        """The number of lines from the one that it names down to where it stands."""
        return 0 if self.hunk.start is None else self.start - self.hunk.start


class Applied(Struct, frozen=True):
    """A hunk whose new lines stand there already."""

    hunk: Hunk
    start: int


class Misfit(Struct, frozen=True):
    """A hunk that does not fit.

    Parameters:
        reason: as a clause.
        places: lines, from 0, at which it may be meant.
    """

    hunk: Hunk
    reason: str
    places: tuple[int, ...] = ()


Fitted = Fit | Applied | Misfit


def fitted(view: View, hunks: Sequence[Hunk], *, known: bool | None) -> list[Fitted]:
    """Fit the hunks of one file.

    Parameters:
        known: whether the file holds what the diff was made for; None where the diff does not say.
    """
    named = [hunk for hunk in hunks if hunk.start is not None and hunk.old]
    tells = any(bare(line.text) for hunk in named for line in hunk.old)
    are_there = tells and all(_closeness(view, hunk.start or 0, hunk.old) == "exact" for hunk in named)
    by_line = known or (known is None and are_there)
    if by_line and any(line.mark == "-" for hunk in named for line in hunk.lines):
        known = True  # what is to go is there, so nothing of it is applied already
    found = [_Search(view, hunk, known=known, by_line=by_line).run() for hunk in hunks]
    return _apart([_at_end(view, each) for each in found])


def _at_end(view: View, fitted: Fitted) -> Fitted:
    """Return the same, or a misfit for a hunk that takes the line feed at the end of the file, and stands before it.

     b              fits only at the end
    -c
    +c
    \\ No newline at end of file
    """
    hunk = fitted.hunk
    takes = bool(hunk.new) and not hunk.new[-1].ended and not (hunk.old and not hunk.old[-1].ended)
    if isinstance(fitted, Fit) and takes and fitted.stop < len(view):
        return Misfit(hunk, "it ends the file without a newline, and its lines stand before the end", (fitted.start,))
    return fitted


def _apart(found: list[Fitted]) -> list[Fitted]:
    """Return the same with a misfit for each hunk that changes what an earlier one changes."""
    taken = sorted(
        (start, stop, number)
        for number, each in enumerate(found)
        if isinstance(each, Fit)
        for start, stop, _ in runs(each)
    )
    end, last = (-1, -1), -1  # of the range that reaches farthest so far
    for start, stop, number in taken:
        each = found[max(number, last)]
        if last >= 0 and number != last and _meet(end, (start, stop)) and isinstance(each, Fit):
            reason = f"it changes the same lines as hunk {found[min(number, last)].hunk.number}"
            found[max(number, last)] = Misfit(each.hunk, reason, (each.start,))
        if stop >= end[1]:
            end, last = (start, stop), number
    return found


def _meet(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Return whether two ranges of lines overlap; what is inserted where a range begins meets it."""
    return one[0] == other[0] or max(one[0], other[0]) < min(one[1], other[1])


def runs(fit: Fit) -> list[tuple[int, int, list[Line]]]:
    """Return the lines of the file that a hunk replaces, from and to, each with what comes instead."""
    found: list[tuple[int, int, list[Line]]] = []
    at, is_open = fit.start, False
    for line in fit.hunk.lines:
        if line.mark == " ":
            at, is_open = at + 1, False
            continue
        if not is_open:
            found.append((at, at, []))
            is_open = True
        start, stop, new = found[-1]
        if line.mark == "+":
            new.append(line)
        else:
            at += 1
            found[-1] = (start, stop + 1, new)
    return found


class _Search:
    """A search for the place of one hunk."""

    def __init__(self, view: View, hunk: Hunk, *, known: bool | None, by_line: bool) -> None:
        self._view = view
        self._hunk = hunk
        self._known = known
        self._by_line = by_line
        self._old = [line.text for line in hunk.old]
        self._new = [line.text for line in hunk.new]
        few = sum(bool(text.strip()) for text in self._old) < _FEW
        self._is_strict = known is False or (hunk.start is not None and few)

    def run(self) -> Fitted:
        hunk, view = self._hunk, self._view
        if not self._old:
            return self._inserted()
        if hunk.start is not None and self._by_line and _closeness(view, hunk.start, hunk.old) == "exact":
            if not self._known and self._stands_at(hunk.start):
                return Applied(hunk, hunk.start)
            return Fit(hunk=hunk, start=hunk.start)
        if not any(map(bare, self._old)):
            return Misfit(hunk, "all its old lines are blank, so nothing tells where it belongs")
        everywhere = view.places(self._old, bare)
        if len(everywhere) == MOST_PLACES:
            return Misfit(hunk, "its old lines stand at very many places", tuple(everywhere))
        found = [at for at in view.places(self._old, exact) if _ends_alike(view, at, hunk.old)]
        chosen = self._narrowed(everywhere if self._is_strict or not found else found)
        if len(chosen) == 1:
            return self._at(chosen[0])
        if chosen:
            return Misfit(hunk, "its old lines stand at several places", tuple(chosen))
        if (at := self._standing()) is not None:
            return Applied(hunk, at)
        return self._with_other_context()

    def _at(self, at: int) -> Fitted:
        """Return the fit, or misfit, at the one place where the old lines stand."""
        hunk = self._hunk
        if self._stands_at(at):
            return Applied(hunk, at)
        closeness, added, removed = _compared(self._view, at, hunk.old)
        if closeness is None or _is_lower(hunk, removed):
            return Misfit(hunk, "its old lines stand there with other indentations", (at,))
        is_doubtful = self._is_strict and hunk.adds and at != hunk.start
        elsewhere = [each for each in self._view.places(self._new, exact) if each != at] if is_doubtful else []
        if elsewhere:
            return Misfit(hunk, "its old lines stand at one place, and its new lines at another", (at, *elsewhere))
        unlike = self._unlike(at)
        if unlike is None:
            return Misfit(hunk, "its old lines stand elsewhere than below its @@ line", (at,))
        return Fit(hunk=hunk, start=at, closeness=closeness, added=added, removed=removed, unlike=unlike)

    def _unlike(self, at: int) -> str | None:
        """Return the difference between a place's surroundings and the hunk's; None where the place is elsewhere."""
        anchors = self._hunk.anchors
        if not anchors or _is_below(self._view, at, anchors):
            return ""
        if self._view.places(anchors[-1:], bare):
            return None
        return f"no line {anchors[-1].strip()!r} is in the file"

    def _narrowed(self, places: list[int]) -> list[int]:
        """Return those of several places that stand where the hunk says."""
        hunk, view = self._hunk, self._view
        if len(places) > 1 and hunk.at_end:
            last = [at for at in places if at + len(self._old) == len(view)]
            places = last or places
        if len(places) > 1 and hunk.anchors:
            places = [at for at in places if _is_below(view, at, hunk.anchors)] or places
        if len(places) > 1 and hunk.heading:
            places = [at for at in places if _has_heading(view, at, hunk.heading)] or places
        return places

    def _inserted(self) -> Fitted:
        """Return the place of lines that come without any line around them."""
        hunk, view = self._hunk, self._view
        if not len(view):
            return Fit(hunk=hunk, start=0)
        if hunk.at_end:
            last = len(view) - len(self._new)
            return Applied(hunk, last) if last >= 0 and self._stands_at(last) else Fit(hunk=hunk, start=len(view))
        if hunk.start is not None and self._by_line and hunk.start <= len(view):
            return Fit(hunk=hunk, start=hunk.start)
        if not hunk.anchors:
            return Misfit(hunk, "it has no line of context, so nothing tells where its lines belong")
        below = [at + 1 for at in view.places(hunk.anchors[-1:], bare) if _is_below(view, at + 1, hunk.anchors)]
        if len(below) != 1:
            reason = "its @@ line stands at several places" if below else "its @@ line is not there"
            return Misfit(hunk, reason, tuple(at - 1 for at in below))
        if self._stands_at(below[0]):
            return Applied(hunk, below[0])
        return Fit(hunk=hunk, start=below[0], closeness="context", unlike="no line around it is given")

    def _with_other_context(self) -> Fitted:
        """Return the place where all but the outer lines of context stand.

         a          dropped, if two lines of context or more stand above the change
         b
        -c          kept
         d
        """
        hunk = self._hunk
        most_above, most_below = _droppable(hunk.lines), _droppable(hunk.lines[::-1])
        old = hunk.old[most_above : len(hunk.old) - most_below]
        texts = [line.text for line in old]
        if not most_above + most_below or sum(bool(text.strip()) for text in texts) < _LEAST_LEFT:
            return Misfit(hunk, "its old lines are not there")
        chosen = self._narrowed([at - most_above for at in self._view.places(texts, bare)])
        if not chosen:
            standing = self._bearing(hunk.new[most_above : len(hunk.new) - most_below]) if hunk.adds else []
            return Applied(hunk, standing[0]) if len(standing) == 1 else Misfit(hunk, "its old lines are not there")
        if len(chosen) > 1:
            inner = tuple(at + most_above for at in chosen)
            return Misfit(hunk, "its old lines are not there, and a part of them stands at several places", inner)
        closeness, added, removed = _compared(self._view, chosen[0] + most_above, old)
        unlike = self._unlike(chosen[0] + most_above)
        if closeness is None or unlike is None or _is_lower(hunk, removed) or chosen[0] < 0:
            return Misfit(hunk, "its old lines are not there", (chosen[0] + most_above,))
        return Fit(
            hunk=hunk,
            start=chosen[0],
            closeness="context",
            added=added,
            removed=removed,
            dropped=(most_above, most_below),
            unlike=unlike,
        )

    def _stands_at(self, at: int) -> bool:
        """Return whether the new lines stand at a place, all of them.

        Where the old ones do as well, with the very ends that lines have there, so have the new ones to.
        """
        view, new = self._view, self._hunk.new
        there = view.lines[at : at + len(new)]
        is_verbatim = view.lines[at : at + len(self._old)] == self._old
        is_same = there == self._new if is_verbatim else list(map(exact, there)) == list(map(exact, self._new))
        return self._hunk.adds and is_same and _ends_alike(view, at, new)

    def _bearing(self, new: Sequence[Line]) -> list[int]:
        """Return the places where new lines stand: context but for white space at line ends, added lines exactly."""
        if not any(bare(line.text) for line in new):
            return []
        places = self._view.places([line.text for line in new], loose)
        return [at for at in places if self._bears(at, new)]

    def _bears(self, at: int, new: Sequence[Line]) -> bool:
        there = self._view.lines[at : at + len(new)]
        is_same = all(exact(a) == exact(b.text) for a, b in zip(there, new, strict=True) if b.mark == "+")
        return is_same and (new[-1].mark != "+" or _ends_alike(self._view, at, new))

    def _standing(self) -> int | None:
        """Return where the new lines stand; None where they do not, or where that says little."""
        hunk = self._hunk
        has_sides = hunk.lines[0].mark == " " and hunk.lines[-1].mark == " "
        if not (hunk.adds or (has_sides and len(self._new) > 1)):
            return None
        found = self._narrowed(self._bearing(hunk.new))
        return found[0] if len(found) == 1 or hunk.start in found else None


def _droppable(lines: Sequence[Line]) -> int:
    """Return how many lines of context may be others at an end, so that the one next to the change is left."""
    context = next((number for number, line in enumerate(lines) if line.mark != " "), 0)
    return max(0, min(_MOST_DROPPED, context - 1))


def _is_lower(hunk: Hunk, removed: str) -> bool:
    """Return whether a line of a hunk has less indentation than the place has less of."""
    return any(bare(each.text) and not each.text.startswith(removed) for each in hunk.new)


def _closeness(view: View, at: int, old: Sequence[Line]) -> Closeness | None:
    return _compared(view, at, old)[0]


def _compared(view: View, at: int, old: Sequence[Line]) -> tuple[Closeness | None, str, str]:
    """Return how far some lines agree with a file's, and the difference of their indentation.

    Returns:
        None for the first where they are others.
    """
    there = view.lines[at : at + len(old)]
    if at < 0 or len(there) < len(old):
        return None, "", ""
    if all(exact(line) == exact(each.text) for line, each in zip(there, old, strict=True)):
        return ("exact" if _ends_alike(view, at, old) else "spaces"), "", ""
    if all(loose(line) == loose(each.text) for line, each in zip(there, old, strict=True)):
        return "spaces", "", ""
    if any(bare(line) != bare(each.text) for line, each in zip(there, old, strict=True)):
        return None, "", ""
    pairs = {(_indent(line), _indent(each.text)) for line, each in zip(there, old, strict=True) if bare(line)}
    for more, less in ((0, 1), (1, 0)):
        shifts = {pair[more].removesuffix(pair[less]) for pair in pairs if pair[more].endswith(pair[less])}
        if len(shifts) == 1 and all(pair[more].endswith(pair[less]) for pair in pairs):
            shift = shifts.pop()
            return "indentation", shift if more == 0 else "", shift if more == 1 else ""
    return None, "", ""


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _ends_alike(view: View, at: int, old: Sequence[Line]) -> bool:
    """Return whether the file ends without a line feed where the lines say so, and only there."""
    return (at + len(old) < len(view) or view.ended) == old[-1].ended


def _is_below(view: View, at: int, anchors: Sequence[str]) -> bool:
    """Return whether a place stands below some lines, in what each of them opens where it opens something.

    @@ class A:         the nearest line above that is `class A:`, with nothing between that is indented less deeply
    @@ def f(self):
    """
    below, lines = at, view.lines
    for anchor in reversed(anchors):
        wanted = bare(anchor)
        above = next((number for number in range(below - 1, -1, -1) if bare(lines[number]) == wanted), None)
        if above is None:
            return False
        depth = len(_indent(lines[above]))
        if wanted.endswith(":") and any(
            bare(line) and len(_indent(line)) <= depth and not bare(line).startswith((")", "]", "}"))
            for line in lines[above + 1 : below]
        ):
            return False
        below = above
    return True


def _has_heading(view: View, at: int, heading: str) -> bool:
    """Return whether git would show a heading above a place, whatever it takes for one in such a file."""
    for opens in (_TOP, _DEFINES):
        found = next((line for line in reversed(view.lines[:at]) if opens.match(line)), None)
        if found is not None and bare(found).startswith(bare(heading)):
            return True
    return False
