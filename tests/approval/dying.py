"""A process that has children add and move proposals, kills each at some time, and looks at what is there then.

It prints how many children had begun something, and each thing that is wrong.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path
from select import select

from bae_source.approval.proposals import Proposal, State
from tests.approval.support import NOW, name, plans_of, proposal

DIFF = "".join(f"+line {number}\n" for number in range(8_000))
PLANNED = proposal(diff=DIFF)


def work(root: Path, first: int, pipe: int) -> None:
    """Add, approve and apply proposals without end, and acknowledge each step."""
    plans = plans_of(root)
    for number in range(first, first + 10_000):
        plans.add(proposal(number, diff=DIFF))
        os.write(pipe, f"{number} {State.AWAITING}\n".encode())
        plans.move(name(number), State.APPROVED, digest="d1", decided_by="ana", decided_at=NOW)
        os.write(pipe, f"{number} {State.APPROVED}\n".encode())
        plans.move(name(number), State.APPLIED, operation_id=f"op_{number}")
        os.write(pipe, f"{number} {State.APPLIED}\n".encode())


def wrong(found: Proposal, number: int) -> str:
    """Say what is wrong with a proposal; "" for nothing."""
    approved = {"decided_by": "ana", "decided_at": NOW}
    legal = (
        proposal(number, diff=DIFF),
        proposal(number, diff=DIFF, state=State.APPROVED, **approved),
        proposal(number, diff=DIFF, state=State.APPLIED, operation_id=f"op_{number}", **approved),
    )
    return "" if found in legal else f"{found.id} is half of one: {found.state}"


def killed(root: Path, first: int, seconds: float, *, is_at_work: bool) -> dict[int, str]:
    """Have a child work for some time, kill it, and return the last step of each proposal that it acknowledged.

    Parameters:
        is_at_work: whether the time begins with its first step, and not with the child.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        work(root, first, writing)
    os.close(writing)
    if is_at_work:
        select([reading], [], [])
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(reading) as pipe:
        return {int(number): state for number, state in (line.split() for line in pipe)}


def say(*words: object) -> None:
    sys.stdout.write(f"{' '.join(map(str, words))}\n")
    sys.stdout.flush()


def main() -> None:
    place, rounds, chance = Path(sys.argv[1]), int(sys.argv[2]), random.Random(int(sys.argv[3]))
    begun = 0
    steps = list(State)
    for each in range(rounds):
        first = (each + 1) * 10_000
        root = place / str(each // 4)  # the first of four makes the file
        root.mkdir(exist_ok=True)
        acknowledged = killed(root, first, chance.uniform(0.0, 0.05), is_at_work=each % 4 != 0)
        begun += bool(acknowledged)
        plans = plans_of(root)
        there = {int(one.id.removeprefix("code_mod_"), 16): one.state for one in plans.listed()}
        numbers = {number for number in there if number >= first}
        for number in numbers | acknowledged.keys():
            if number not in numbers:
                say(f"{name(number)} is lost")
                continue
            if problem := wrong(plans.get(name(number)), number):
                say(problem)
            known = acknowledged.get(number)
            if known and steps.index(there[number]) < steps.index(State(known)):
                say(f"{name(number)} was {known} and is {there[number]}")
        if plans.notices():
            say(plans.notices())
    say(begun)


main()
