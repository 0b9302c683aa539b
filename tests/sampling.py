"""The share that a run of all tests takes of those marked `sampled`: a tenth of all, which takes half of the time.

A third of the cases of each such test, or of the tests of each such module, is run, and the next third on the next day.
`BAE_SOURCE_TESTS_DAY` names another day, to run again what failed. `--whole`, a path, `-k` and `-m` run all of them.
"""

from __future__ import annotations

import os
import zlib
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import islice

import pytest

_DAY = "BAE_SOURCE_TESTS_DAY"
_SHARES = 3


def choose_day(config: pytest.Config) -> None:
    """Have this process, and those that it starts to run tests, take the share of one day, or all tests."""
    is_all = config.args_source is config.ArgsSource.TESTPATHS
    if is_all and not any(map(config.getoption, ("whole", "keyword", "markexpr"))):
        os.environ.setdefault(_DAY, str(datetime.now(UTC).date().toordinal()))
    else:
        os.environ.pop(_DAY, None)


def described() -> str | None:
    """Return a line about the share for the head of a run; None where all tests are run."""
    day = os.environ.get(_DAY)
    return day and f"sampled tests: the third of them for {_DAY}={day}; --whole, or a path, runs all"


def left_out(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Return the tests that are not in the share: none where all are run."""
    if _DAY not in os.environ:
        return []
    groups: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        for node, _ in islice(item.iter_markers_with_node("sampled"), 1):
            groups[node.nodeid.partition("[")[0]].append(item)
    day = int(os.environ[_DAY])
    mixed = (sorted(each, key=_mixed) for each in groups.values())
    return [item for each in mixed for number, item in enumerate(each) if (number + day) % _SHARES]


def _mixed(item: pytest.Item) -> int:
    """Return a number by which cases are in no order of their parameters."""
    return zlib.crc32(item.nodeid.encode("utf-8", "surrogatepass"))
