"""Fitted hunks as edits of a file's bytes.

What comes gets the line ends of the lines around it, unless the hunk fits with the very line ends that it has; whether
the file ends with a line feed is as the patch says.

Invariant: the lines of context stay as they are in the file, whatever the hunk has in their place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bae_source.model.changeset import Edit
from bae_source.syntax.patches.fitting import Fit, runs
from bae_source.syntax.patches.patch import Line
from bae_source.syntax.patches.view import View, bare, exact


def edits(view: View, fits: Iterable[Fit]) -> list[Edit]:
    """Return the edits of the hunks of one file, sorted.

    Raises:
        UnicodeEncodeError: the file's encoding has no such character.
    """
    found: list[Edit] = []
    for fit in fits:
        verbatim = _is_verbatim(view, fit)
        for start, stop, new in runs(fit):
            text = _text(view, fit, (start, stop), new, verbatim=verbatim)
            found.append(view.edit(start, stop, text))
    return sorted(found)


def joined(lines: Iterable[Line]) -> bytes:
    """Return the content of a file that is made of some lines of a patch."""
    return "".join(line.text + ("\n" if line.ended else "") for line in lines).encode("utf-8", "surrogateescape")


def _is_verbatim(view: View, fit: Fit) -> bool:
    """Return whether the hunk has the file's own line ends, so that those of its new lines are meant."""
    old = fit.hunk.old
    if not old:
        return not view.is_crlf or any(line.text.endswith("\r") for line in fit.hunk.new)
    there = view.lines[fit.start : fit.start + len(old)]
    return fit.closeness == "exact" and all(line == each.text for line, each in zip(there, old, strict=True))


def _text(view: View, fit: Fit, lines: tuple[int, int], new: Sequence[Line], *, verbatim: bool) -> str:
    """Return the new text of some lines of the file, from and to."""
    start, stop = lines
    newline = "\n" if verbatim else view.newline_at(start)
    pieces = []
    if new and start == stop == len(view) and not view.ended and start:
        pieces.append(view.newline_at(start - 1))  # the last line of the file has no end yet
    for number, line in enumerate(new, 1):
        is_last = number == len(new) and stop == len(view)
        text = line.text if verbatim else _indented(exact(line.text), fit)
        pieces += [text, "" if is_last and not line.ended else newline]
    return "".join(pieces)


def _indented(text: str, fit: Fit) -> str:
    return fit.added + text.removeprefix(fit.removed) if bare(text) else text
