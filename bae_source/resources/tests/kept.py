"""The last runs of a project's tests, in our own state.

    .bae-source/tests/runs/run_0197…json        a run; its id rises with time

Invariants:
- what was not written there by us is not believed: each run bears the id of the folder of our state;
- at most `_MOST` runs are kept, and no file of more than `_LARGEST` bytes is written or read;
- what cannot be written is not kept, and a run is no less for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from bae_source.resources.tests.run import Run, TestResult
from bae_source.state.folders import StateFolders
from bae_source.system.own_files import content_of

_MOST = 20
_LARGEST = 8_000_000
_SLOWER = 2.0
_LEAST_SLOWER = 0.1
_ENDING = ".json"


class KeptRun(Struct, frozen=True, kw_only=True):
    """A run that is kept.

    Parameters:
        id: by which it is known.
        owner: the id of our state that it was written in.
        at: nanoseconds since 1970 when it ended.
        is_whole: whether all tests were to be run.
        run: how it went.
    """

    id: str
    owner: str
    at: int
    is_whole: bool
    run: Run

    @property
    def when(self) -> str:
        """The time at which it ended, in UTC."""
        return datetime.fromtimestamp(self.at // 10**9, UTC).strftime("%Y-%m-%d %H:%M:%S")


class Comparison(Struct, frozen=True, kw_only=True):
    """The difference of one run from another, by the tests that both ran.

    Parameters:
        both: how many those are.
        failing: those that failed in the second alone.
        fixed: those that failed in the first alone.
        slower: those that took at least twice as long, and a tenth of a second more, with the seconds of before.
    """

    both: int
    failing: tuple[TestResult, ...]
    fixed: tuple[TestResult, ...]
    slower: tuple[tuple[TestResult, float], ...]


class Runs:
    """The runs that are kept of a project.

    Parameters:
        folders: where our state lies.
    """

    def __init__(self, folders: StateFolders) -> None:
        self._folders = folders

    @property
    def folder(self) -> Path:
        """The folder that they lie in."""
        return self._folders.local / "tests" / "runs"

    def kept(self) -> tuple[KeptRun, ...]:
        """Return the runs, the oldest first."""
        return tuple(self._newest_first())[::-1]

    def last_whole(self) -> KeptRun | None:
        """Return the last run of all tests that came to its end."""
        return next((each for each in self._newest_first() if each.is_whole and each.run.ended == "complete"), None)

    def _newest_first(self) -> Iterator[KeptRun]:
        owner = self._folders.local_id
        for name in reversed(self._names()) if owner else ():
            found = _read(self.folder / name)
            if found is not None and found.owner == owner:
                yield found

    def add(self, run: Run, *, at: int, is_whole: bool) -> str:
        """Keep a run, and return its id; "" where it cannot be kept."""
        try:
            folder = self._folders.make(self.folder)
            owner = self._folders.local_id
            if not owner:
                return ""
            kept = KeptRun(id=f"run_{at:x}", owner=owner, at=at, is_whole=is_whole, run=run)
            content = msgspec.json.encode(kept)
            if len(content) > _LARGEST:
                return ""
            draft = folder / f".{kept.id}.{os.getpid()}"
            draft.write_bytes(content)
            draft.replace(folder / f"{kept.id}{_ENDING}")
            for name in self._names()[:-_MOST]:
                (folder / name).unlink(missing_ok=True)
        except OSError:
            return ""  # read-only, full, or another's
        return kept.id

    def _names(self) -> list[str]:
        try:
            names = os.listdir(self.folder)  # noqa: PTH208
        except OSError:
            return []
        return sorted(name for name in names if name.startswith("run_") and name.endswith(_ENDING))


def _read(path: Path) -> KeptRun | None:
    try:
        content = content_of(path)
        return msgspec.json.decode(content, type=KeptRun) if len(content) <= _LARGEST else None
    except (OSError, msgspec.MsgspecError):
        return None


def compared(before: Run, after: Run) -> Comparison:
    """Compare two runs."""
    then = _by_id(before)
    both = [(each, then[each.id]) for each in _by_id(after).values() if each.id in then]
    return Comparison(
        both=len(both),
        failing=tuple(now for now, old in both if now.is_red and not old.is_red),
        fixed=tuple(now for now, old in both if old.is_red and not now.is_red),
        slower=tuple((now, old.seconds) for now, old in both if _is_slower(now.seconds, old.seconds)),
    )


def _by_id(run: Run) -> Mapping[str, TestResult]:
    return {each.id: each for each in (*run.problems, *run.results)}


def _is_slower(now: float, before: float) -> bool:
    return now >= before * _SLOWER and now - before > _LEAST_SLOWER


def red_of(runs: Sequence[KeptRun]) -> list[TestResult]:
    """Return the tests that failed when they were run last."""
    last: dict[str, TestResult] = {}
    for kept in runs:
        last |= _by_id(kept.run)
    return [each for each in last.values() if each.is_red]
