"""A transaction of ours that is not finished: files may be half changed, and should not be committed so."""

from __future__ import annotations

from bae_source.model.finding import UNFINISHED, Finding
from bae_source.project.git.staged import StagedWorkspace


def unfinished_transaction(workspace: StagedWorkspace) -> list[Finding]:
    """Return the finding that a transaction is being made, or was cut short; none where all are finished."""
    if not workspace.unfinished:
        return []
    message = (
        "A transaction of bae_source is being made, or was cut short; `bae-source history` finishes it or takes it "
        "back, and says so."
    )
    return [Finding(address="", line=0, code=UNFINISHED, message=message)]
