"""Approvers that are killed, or interrupted, anywhere: what was approved is made once, or is still approved."""

from __future__ import annotations

import os
import random
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import bae_source
from bae_source import Source
from bae_source.approval.proposals import State
from bae_source.engine.service import Service
from tests.approval.project import ANA, built, deciding, entries, files, line, plans, proposed

SEED = 20261129
CHANGE = (
    b'[{"do": "edit", "target": "app.core.LIMIT", "old": "3", "new": "1 + 2"},'
    b' {"do": "replace", "text": "two", "replacement": "2"}]'
)
AFTER = {"app/core.py": (b"LIMIT = 3", b"LIMIT = 1 + 2"), "notes.txt": (b"two", b"2")}
_PACKAGE = str(Path(bae_source.__file__).parent)
_ROOMS = tuple(
    f"{_PACKAGE}/{room}"
    for room in ("approval/", "transaction/", "history/record/", "engine/approving/", "engine/making", "state/")
)


class Points:
    """Counts the calls in the rooms that an approval goes through, and does something before one of them.

    Parameters:
        at: the number of that call, from 1; 0 for none.
    """

    def __init__(self, at: int = 0, do: Callable[[], None] = lambda: None) -> None:
        self.calls: list[str] = []
        self._at = at
        self._do = do

    def __enter__(self) -> Points:
        sys.setprofile(self._called)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _called(self, frame: FrameType, event: str, _: object) -> None:
        if event in ("call", "return") and frame.f_code.co_filename.startswith(_ROOMS):
            self.calls.append(f"{event} {frame.f_code.co_qualname}")
            if len(self.calls) == self._at:
                sys.setprofile(None)
                self._do()


def in_child(do: Callable[[], object]) -> tuple[int, str]:
    """Do something in a forked process; return the signal that ended it, or 0, and what it wrote to its pipe."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        os.close(ours)
        status = 1
        try:
            found = str(do())
            status = 0
        except BaseException as error:  # noqa: BLE001 - the parent looks at the files, not at how the child ended
            found = repr(error)
        try:
            with os.fdopen(theirs, "w") as pipe:
                pipe.write(found)
        finally:
            os._exit(status)
    os.close(theirs)
    with os.fdopen(ours) as pipe:
        found = pipe.read()
    _, status = os.waitpid(child, 0)
    return (os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0), found


def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def interrupted() -> None:
    raise KeyboardInterrupt


class Trial:
    """A project on which one change waits.

    Parameters:
        how: options of the proposal.
    """

    def __init__(self, root: Path, *how: str) -> None:
        self.root = built(root)
        self.task = proposed(root, "apply", "-", *how, typed=CHANGE)
        self.before = files(root)
        self.after = {**self.before, **{path: self.before[path].replace(*pair) for path, pair in AFTER.items()}}

    def approve(self) -> str:
        decisions = deciding(self.root)
        return decisions.approve(self.task, decisions.looked(self.task).digest, ANA).text

    def dies(self, at: int, how: Callable[[], None]) -> tuple[int, str]:
        """Have an approver end before a call."""

        def approve() -> str:
            with Points(at, how):
                return self.approve()

        return in_child(approve)

    def calls(self) -> list[str]:
        """Return the calls of an approval, which is made."""

        def counted() -> str:
            with Points() as points:
                self.approve()
            return "\n".join(points.calls)

        status, found = in_child(counted)
        assert status == 0
        return found.splitlines()

    def check(self) -> State:
        """See that what is shown next is true, that the next approval makes it, and that nothing happened twice."""
        shown = line(self.root, "show", self.task).out.decode().splitlines()[0]
        found = plans(self.root).get(self.task)
        made = [entry for entry in self.history() if entry.id == found.operation_id]
        says = {State.AWAITING: "waits for approval", State.APPROVED: "is approved and not made yet"}
        says[State.APPLIED] = "was applied"
        assert says[found.state] in shown
        assert files(self.root) == (self.after if found.state is State.APPLIED else self.before)
        assert len(made) == (found.state is State.APPLIED)
        if found.state is not State.APPLIED:
            self.approve()
        last = plans(self.root).get(self.task)
        assert (last.state, files(self.root)) == (State.APPLIED, self.after)
        assert found.state is State.AWAITING or last.operation_id == found.operation_id
        assert [entry.id for entry in self.history()] == [last.operation_id]
        assert [each["task_id"] for each in entries(self.root, "code_modification_applied")] == [self.task]
        assert line(self.root, "ledger", "verify").status == 0
        Source(self.root).undo(last.operation_id, reload="off")
        assert files(self.root) == self.before
        return found.state

    def history(self) -> list[Any]:
        return [each.entry for each in Source(self.root).history().outcome.found]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Callable[[], Path]]:
    """Folders for projects, one after the other."""
    yield lambda: tmp_path / f"p{len(list(tmp_path.iterdir()))}"


BETWEEN = (
    "call Plans.move",
    "return Plans.move",
    "return Plans._write",
    "call Recording.enter",
    "call Recording.begun",
    "return Recording.begun",
    "call Making.make",
    "call Making._written",
    "call Transactions.commit",
    "return Transactions.commit",
    "call Proposing.check_still_approved",
    "call Proposing.applied",
    "return Proposing.applied",
    "call Gate.check_approved",
)
"""The steps between an approval and what it makes; what lies in between is sampled."""


@pytest.mark.parametrize("end", [killed, interrupted])
def test_an_approval_that_ends_anywhere_is_made_once_or_is_still_there(
    place: Callable[[], Path], end: Callable[[], None]
) -> None:
    calls = Trial(place(), "--reload", "off").calls()
    named = [number for number, call in enumerate(calls, 1) if call in BETWEEN]
    assert {calls[number - 1] for number in named} >= set(BETWEEN) - {"call Making.make"}, sorted(set(calls))
    first = next(number for number, call in enumerate(calls, 1) if call == "call Plans.move")
    chance = random.Random(SEED)
    others = chance.sample(range(first, len(calls) + 1), 30)
    came = set()
    for at in (*named, *others):
        trial = Trial(place(), "--reload", "off")
        status, said = trial.dies(at, end)
        assert status == (signal.SIGKILL if end is killed else 0), (calls[at - 1], said)
        came.add(trial.check())
    assert came == {State.AWAITING, State.APPROVED, State.APPLIED}


@pytest.mark.parametrize("end", [killed, interrupted])
def test_an_approval_that_ends_while_it_is_judged_is_still_there(
    place: Callable[[], Path], end: Callable[[], None]
) -> None:
    for call in ("call Making._judging", "call Making.make", "return Making._reload"):
        trial = Trial(place())
        status, _ = trial.dies(1 + Trial(place()).calls().index(call), end)
        assert status == (signal.SIGKILL if end is killed else 0)
        assert trial.check() is State.APPROVED
