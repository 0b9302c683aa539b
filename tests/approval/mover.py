"""A process that moves proposals of a folder as it is told: `ID STATE WHO` a line; it answers a line each."""

from __future__ import annotations

import sys
from pathlib import Path

from bae_source.approval.proposals import State
from bae_source.errors import ResourceError
from tests.approval.support import NOW, plans_of, proposal


def say(*words: object) -> None:
    sys.stdout.write(f"{' '.join(map(str, words))}\n")
    sys.stdout.flush()


def main() -> None:
    plans = plans_of(Path(sys.argv[1]))
    say("ready")
    for line in sys.stdin:
        proposal_id, to, who = line.split()
        try:
            if to == "add":
                plans.add(proposal(int(proposal_id), who=who))
            elif to == "renew":
                plans.renewed(proposal(id=proposal_id, digest=f"by {who}"), digest="d1")
            elif to == "expired":
                plans.move(proposal_id, State.EXPIRED)
            else:
                plans.move(proposal_id, State(to), digest="d1", decided_by=who, decided_at=NOW)
            say("done")
        except ResourceError as error:
            say(error.code, error.message)


main()
