"""Our own side: the command line as whole processes, and a live `Source`.

Invariants:
- "cold" means that `.bae-source` of the project is gone; "warm" that a process before filled it;
- every answer comes through the door that callers use.
"""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

from bae_source import Source
from benchmarks.read.processes import Cost, run
from benchmarks.read.truth import Spot

_STATE = ".bae-source"
_LIMIT = 600.0
_AGE = 2.5
"""Seconds; of younger files nothing is kept, since they could change once more without showing it."""


def let_age() -> None:
    """Wait until what was written just now is old enough for a cache."""
    time.sleep(_AGE)


def forget(root: Path) -> None:
    """Delete the project's cache and telemetry."""
    shutil.rmtree(root / _STATE, ignore_errors=True)


def ask(root: Path, *words: str) -> tuple[Cost, str]:
    """Run one command line on a project in a fresh process; return what it cost and its answer."""
    return run([sys.executable, "-m", "bae_source", *words, "--root", str(root)], cwd=root, limit=_LIMIT)


def references_cold(root: Path, target: str) -> Cost:
    """Ask for references in a fresh process without a cache."""
    forget(root)
    return references_warm(root, target)


def references_warm(root: Path, target: str) -> Cost:
    """Ask for references in a fresh process with the cache that an earlier one left."""
    return ask(root, "references", target)[0]


def found(root: Path, target: str) -> dict[str, set[Spot]]:
    """Return the references that we find, by how sure we are."""
    by_certainty: dict[str, set[Spot]] = {"sure": set(), "probable": set(), "unsure": set(), "mention": set()}
    for reference in Source(root).references(target).outcome.found:
        by_certainty[reference.certainty].add(Spot(reference.module, reference.line, reference.column))
    return by_certainty
