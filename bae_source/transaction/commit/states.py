"""The phases of one transaction, as a table.

    PLANNED -lock-> LOCKED -check-> CHECKED -prepare-> PREPARED -write-> WRITING -verify-> VERIFYING
            -commit-> COMMITTED -record-> RECORDED

    LOCKED, CHECKED, PREPARED   -fail-> REFUSED       nothing of the project was written
    WRITING, VERIFYING          -fail-> ROLLING_BACK -restored-> ROLLED_BACK
                                                     -stuck-> STUCK

The journal is durable when WRITING begins, and so is new content in a folder of ours. COMMITTED is the journal's mark:
a process that dies before it is taken back by recovery, one that dies after it is recorded by it. STUCK is tried again
by the next recovery.

Invariants:
- COMMITTED only leads on: after it there is no error;
- there is no way from PREPARED to ROLLING_BACK, nor from WRITING to REFUSED: who began to write takes back;
- an illegal move raises, and nothing happens.
"""

from __future__ import annotations

from enum import Enum


class Phase(Enum):
    """How far a transaction has come."""

    __hash__ = object.__hash__  # Enum's own hashes the name, in Python

    PLANNED = "planned"
    LOCKED = "locked"
    CHECKED = "checked"
    PREPARED = "prepared"
    WRITING = "writing"
    VERIFYING = "verifying"
    COMMITTED = "committed"
    RECORDED = "recorded"
    REFUSED = "refused"
    ROLLING_BACK = "rolling back"
    ROLLED_BACK = "rolled back"
    STUCK = "stuck"


class Step(Enum):
    """What may happen next."""

    __hash__ = object.__hash__

    LOCK = "lock"
    CHECK = "check"
    PREPARE = "prepare"
    WRITE = "write"
    VERIFY = "verify"
    COMMIT = "commit"
    RECORD = "record"
    FAIL = "fail"
    RESTORED = "restored"
    STICK = "stick"


TRANSITIONS: dict[Phase, dict[Step, Phase]] = {
    Phase.PLANNED: {Step.LOCK: Phase.LOCKED},
    Phase.LOCKED: {Step.CHECK: Phase.CHECKED, Step.FAIL: Phase.REFUSED},
    Phase.CHECKED: {Step.PREPARE: Phase.PREPARED, Step.FAIL: Phase.REFUSED},
    Phase.PREPARED: {Step.WRITE: Phase.WRITING, Step.FAIL: Phase.REFUSED},
    Phase.WRITING: {Step.VERIFY: Phase.VERIFYING, Step.FAIL: Phase.ROLLING_BACK},
    Phase.VERIFYING: {Step.COMMIT: Phase.COMMITTED, Step.FAIL: Phase.ROLLING_BACK},
    Phase.ROLLING_BACK: {Step.RESTORED: Phase.ROLLED_BACK, Step.STICK: Phase.STUCK},
    Phase.COMMITTED: {Step.RECORD: Phase.RECORDED},
    Phase.RECORDED: {},
    Phase.REFUSED: {},
    Phase.ROLLED_BACK: {},
    Phase.STUCK: {},
}


class IllegalMove(RuntimeError):
    """A step that the phase does not allow; a mistake of ours, never the caller's."""


class Progress:
    """The phase that one transaction is in."""

    def __init__(self) -> None:
        self.phase = Phase.PLANNED

    @property
    def is_committed(self) -> bool:
        """Whether the change stands, whatever comes."""
        return self.phase in (Phase.COMMITTED, Phase.RECORDED)

    def advance(self, step: Step) -> Phase:
        """Take a step and return the new phase.

        Raises:
            IllegalMove: the phase does not allow it; it stays what it was.
        """
        try:
            self.phase = TRANSITIONS[self.phase][step]
        except KeyError:
            raise IllegalMove(f"{step.value} is not possible while {self.phase.value}") from None
        return self.phase
