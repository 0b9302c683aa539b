"""How much a planned change may break."""

from __future__ import annotations

from collections.abc import Sequence

from bae_source.approval.policy import Subject
from bae_source.approval.proposals import Risk
from bae_source.model.plan import Plan
from bae_source.project.workspace import Workspace


def risk_of(plan: Plan, subjects: Sequence[Subject], before: Workspace, after: Workspace) -> Risk:
    """Return how much a change may break."""
    del plan, subjects, before, after
    return Risk()
