"""The sample of cases that a run of all tests takes of those marked `sampled`, whose cases take long together.

A third of the cases of each such test is drawn by a seed, which is the day unless `BAE_SOURCE_TESTS_SEED` gives another
one: so all of them run within days, and what failed can be drawn again. `--whole`, a path, `-k` and `-m` run all cases.
"""

from __future__ import annotations

import os
import zlib
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime

import pytest

_SEED = "BAE_SOURCE_TESTS_SEED"
_PART = 3


def choose_seed(config: pytest.Config) -> None:
    """Have this process, and those that it starts to run tests, draw cases by one seed, or take all of them."""
    is_all = config.args_source is config.ArgsSource.TESTPATHS
    if is_all and not any(map(config.getoption, ("whole", "keyword", "markexpr"))):
        os.environ.setdefault(_SEED, str(datetime.now(UTC).date().toordinal()))
    else:
        os.environ.pop(_SEED, None)


def described() -> str | None:
    """Return a line about the sample for the head of a run; None where all cases are run."""
    seed = os.environ.get(_SEED)
    return seed and f"sampled tests: a third of their cases, drawn by {_SEED}={seed}; --whole runs all"


def left_out(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Return the tests that the sample leaves out: none where all are run."""
    if _SEED not in os.environ:
        return []
    cases: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sampled") is not None:
            cases[item.nodeid.partition("[")[0]].append(item)
    drawn = (sorted(each, key=_draw)[-(-len(each) // _PART) :] for each in cases.values())
    return [item for each in drawn for item in each]


def _draw(item: pytest.Item) -> int:
    return zlib.crc32(f"{os.environ[_SEED]} {item.nodeid}".encode("utf-8", "surrogatepass"))
