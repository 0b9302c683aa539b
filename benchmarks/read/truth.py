"""What is true of each subject, kept place by place in `benchmarks/truth`, and how an engine's answer fares.

A file has a first line that names the symbol and the release, then one JSON array a place, for every textual
occurrence of the name as a word in a `.py` file, its own definition left out:

    [module, line, column, verdict, reason]        lines and columns from 1, columns in characters

- `reference`: the name means that very symbol, and reading the code shows it: imports, uses, attributes of a module,
  `self` and annotated receivers, entries of `__all__`;
- `dynamic`: it means the symbol when it runs, but no reading of the code can know: the receiver is made while running;
- `not`: a comment, a string, or something else of that name.

Places on which all engines agree are taken as they are. Where they do not agree, somebody read the code; a reason says
what was seen. The reason is left out where there was nothing to decide.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Literal, get_args

from msgspec import Struct

from bae_source.project.files.layout import layout_of
from bae_source.project.files.port import Disk
from benchmarks.read.subjects import Place, Subject

FOLDER = Path(__file__).resolve().parent.parent / "truth"

Verdict = Literal["reference", "dynamic", "not"]


class Spot(Struct, frozen=True, order=True):
    """A place in module notation."""

    module: str
    line: int
    column: int


class Truth(Struct, frozen=True, kw_only=True, dict=True):
    """Every place where a symbol's name stands, with what it means there."""

    target: str
    release: str
    verdicts: dict[Spot, Verdict]

    @cached_property
    def references(self) -> frozenset[Spot]:
        """The places that mean the symbol, and can be known to."""
        return self._of("reference")

    @cached_property
    def dynamic(self) -> frozenset[Spot]:
        """The places that mean the symbol only when they run."""
        return self._of("dynamic")

    def _of(self, verdict: Verdict) -> frozenset[Spot]:
        return frozenset(spot for spot, given in self.verdicts.items() if given == verdict)


class Score(Struct, frozen=True, kw_only=True):
    """How many places of an answer are right.

    Parameters:
        found: references that it has.
        missed: references that it lacks.
        false: places that mean something else.
        dynamic: dynamic ones that it has.
    """

    found: int
    missed: int
    false: int
    dynamic: int


def load(subject: Subject, folder: Path = FOLDER) -> Truth:
    """Return what is true of a subject."""
    head, *lines = (folder / f"{subject.name}.jsonl").read_text(encoding="utf-8").splitlines()
    facts = json.loads(head)
    verdicts: dict[Spot, Verdict] = {}
    for line in lines:
        module, row, column, verdict, *_ = json.loads(line)
        assert verdict in get_args(Verdict), f"{subject.name}.jsonl has the verdict {verdict!r}"
        verdicts[Spot(module, row, column)] = verdict
    assert facts["target"] == subject.target
    return Truth(target=facts["target"], release=facts["release"], verdicts=verdicts)


def score(truth: Truth, found: Iterable[Spot]) -> Score:
    """Compare an answer with the truth; a place that the truth does not list is false."""
    spots = frozenset(found)
    return Score(
        found=len(spots & truth.references),
        missed=len(truth.references - spots),
        false=len(spots - truth.references - truth.dynamic),
        dynamic=len(spots & truth.dynamic),
    )


def spots(root: Path, places: Iterable[Place]) -> set[Spot]:
    """Return places of files as places of modules."""
    layout = layout_of(Disk(root))
    found = ((layout.module_at(place.path), place) for place in places)
    return {Spot(module.name, place.line, place.column) for module, place in found if module}
