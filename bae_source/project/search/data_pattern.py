"""Patterns over the addresses of data files.

:*.md                 files of the root that end so
:docs/**              everything below docs; :pkg/*.txt matches pkg:a.txt too, as a path from the root
pkg.*:*.html          files directly in the packages below pkg
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import translate

from bae_source.project.files.data_listing import DataFile

_Steps = Sequence[re.Pattern[str] | None]
"""What each component has to match; None for any number of components."""


def matching(files: Iterable[DataFile], pattern: str) -> Iterator[DataFile]:
    """Yield the data files whose addresses match; a pattern without a package is one over paths from the root."""
    package, _, inner = pattern.partition(":")
    outer, path = _steps(package.split(".")), _steps(inner.split("/"))
    for file in files:
        if package:
            fits = file.package and _fits(outer, file.package.split(".")) and _fits(path, file.inner.split("/"))
        else:
            fits = _fits(path, file.path.split("/"))
        if fits:
            yield file


def _steps(components: Iterable[str]) -> _Steps:
    return [None if each == "**" else re.compile(translate(each)) for each in components]


def _fits(steps: _Steps, parts: Iterable[str]) -> bool:
    """Say whether components match; the places in the pattern are walked together, so that many stars take no time."""
    places = _reached(steps, {0})
    for part in parts:
        ahead: set[int] = set()
        for place in places:
            if place < len(steps):
                step = steps[place]
                if step is None:
                    ahead.add(place)
                elif step.match(part):
                    ahead.add(place + 1)
        places = _reached(steps, ahead)
    return len(steps) in places


def _reached(steps: _Steps, places: set[int]) -> set[int]:
    """Return places with those behind them that no component is needed for."""
    for place in sorted(places):
        while place < len(steps) and steps[place] is None:
            place += 1
            places.add(place)
    return places
