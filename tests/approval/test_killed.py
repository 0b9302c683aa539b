"""Approvers that are killed, or interrupted, anywhere: what was approved is made once, or is still approved."""

from __future__ import annotations

import os
import random
import signal
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import bae_source
from bae_source import Source
from bae_source.approval.proposals import State
from tests.adapters.mcp.support import is_running, until
from tests.approval.project import ANA, built, deciding, entries, files, line, plans, proposed
from tests.approval.terminal import at_terminal

pytestmark = pytest.mark.sampled

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
        only: the calls that count; all where none is given.
    """

    def __init__(self, at: int = 0, do: Callable[[], None] = lambda: None, only: Collection[str] = ()) -> None:
        self.calls: list[str] = []
        self._at = at
        self._do = do
        self._only = only

    def __enter__(self) -> Points:
        sys.setprofile(self._called)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _called(self, frame: FrameType, event: str, _: object) -> None:
        if event in ("call", "return") and frame.f_code.co_filename.startswith(_ROOMS):
            call = f"{event} {frame.f_code.co_qualname}"
            if self._only and call not in self._only:
                return
            self.calls.append(call)
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
        return decisions.approve(self.task, decisions.current(self.task).digest, ANA).text

    def dies(self, at: int, how: Callable[[], None], only: Collection[str] = ()) -> tuple[int, str]:
        """Have an approver end before a call, and return the signal, and how it ended otherwise."""

        def approve() -> str:
            with Points(at, how, only):
                return self.approve()

        return in_child(approve)

    def calls(self, only: Collection[str] = ()) -> list[str]:
        """Return the calls of an approval, which is made."""

        def counted() -> str:
            with Points(only=only) as points:
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
        for event in ("code_modification_approved", "code_modification_applied"):
            assert {each["task_id"] for each in entries(self.root, event)} == {self.task}, "no step is left out"
        assert line(self.root, "ledger", "verify").status == 0
        Source(self.root).undo(last.operation_id, reload="off")
        assert files(self.root) == self.before
        return found.state

    def history(self) -> list[Any]:
        return [each.entry for each in Source(self.root).history().outcome.found]


@pytest.fixture
def place(tmp_path: Path) -> Callable[[], Path]:
    """Folders for projects, one after the other."""
    return lambda: tmp_path / f"p{len(list(tmp_path.iterdir()))}"


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
    place: Callable[[], Path], end: Callable[[], None], whole: bool
) -> None:
    """Approvers are killed at every other point, and interrupted at the others."""
    steps = Trial(place(), "--reload", "off").calls(BETWEEN)
    assert set(steps) == set(BETWEEN)
    count = len(Trial(place(), "--reload", "off").calls())
    points = [(at, BETWEEN) for at in range(1, len(steps) + 1)]
    points += [(at, ()) for at in random.Random(SEED).sample(range(count // 3, count), 16)]
    points = points if whole else points[end is killed :: 2]
    came, ended = set(), 0
    for at, only in points:
        trial = Trial(place(), "--reload", "off")
        status, output = trial.dies(at, end, only)
        ended += status == signal.SIGKILL if end is killed else output == "KeyboardInterrupt()"
        came.add(trial.check())
    assert came == {State.AWAITING, State.APPROVED, State.APPLIED}
    assert ended > len(points) * 0.8, "how many calls there are differs a little"


@pytest.mark.parametrize("end", [killed, interrupted])
@pytest.mark.parametrize("call", ["call Making.make", "call Making._judging", "return Making._judging"])
def test_an_approval_that_ends_while_it_is_judged_is_still_there(
    place: Callable[[], Path], end: Callable[[], None], call: str
) -> None:
    trial = Trial(place())
    status, output = trial.dies(1, end, (call,))
    assert (status == signal.SIGKILL) if end is killed else (output == "KeyboardInterrupt()")
    assert trial.check() is State.APPROVED


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_an_approver_at_a_terminal_that_ends_while_tests_run_leaves_none_of_them(
    tmp_path: Path, end: signal.Signals
) -> None:
    slow, begun = tmp_path / "slow", tmp_path / "begun"
    program = tmp_path / "check"
    program.write_text(
        f"#!/bin/sh\ntest -e {slow} || exit 0\necho $$ > {begun}.new; mv {begun}.new {begun}; exec sleep 60\n"
    )
    program.chmod(0o755)
    trial = Trial(tmp_path / "project", "--verify", f"command {program}")
    slow.touch()
    with at_terminal(("approve", trial.task, "--who", "ana"), trial.root) as person:
        person.approves()
        until(begun.exists, "the check does not begin")
        if end is signal.SIGKILL:
            os.kill(person.process.pid, end)
        else:
            person.presses("\x03")
        assert person.ends() == (-9 if end is signal.SIGKILL else 130)
        assert end is signal.SIGKILL or "interrupted" in person.shown
    until(lambda: not is_running(int(begun.read_text())), "the check goes on")
    slow.unlink()
    assert trial.check() is State.APPROVED
