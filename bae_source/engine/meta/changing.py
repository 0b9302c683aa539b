"""Changes of the engine: planned as those of any project, allowed or refused, and made by a maker of their own.

Invariant: no program is run and nothing is written for a change that is not allowed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from bae_source.engine.changing import Changing
from bae_source.engine.meta.installation import Installation
from bae_source.engine.meta.making import EngineMaking
from bae_source.errors import Refused, RequestError
from bae_source.model.context import Context
from bae_source.model.outcome import Check
from bae_source.model.plan import Plan
from bae_source.project.workspace import Workspace

if TYPE_CHECKING:
    from bae_source.engine.making import Making

_VERIFIED = ("import", "cycles")


class EngineChanging(Changing):
    """Makes changes of an installed engine.

    Parameters:
        installation: the engine.
        stays: whether this process goes on afterwards, and so has to take the change.
        given: what `Changing` takes.
    """

    def __init__(self, installation: Installation, *, stays: bool, **given: Any) -> None:
        super().__init__(installation.root, **given)
        self._installation = installation
        self._stays = stays

    def judged(self, plan: Plan, workspace: Workspace, context: Context) -> tuple[Plan, tuple[Check, ...]]:
        """Return a plan with the checks that need nothing written.

        Raises:
            Refused: `forbidden`, where the engine's files cannot be changed, or not by this; `unsafe_change`.
            RequestError: `invalid_arguments` for what cannot judge an installed package.
        """
        self._installation.check(file.path for file in plan.changes.files)
        self._check_state()
        unfit = [name for name in context.verify if name not in _VERIFIED]
        if unfit:
            raise RequestError(
                "invalid_arguments",
                f"verify names {unfit[0]}, and an installed engine has none of its own to judge a change by.",
                hints=[f"verify takes {', '.join(_VERIFIED)} here; the smoke check judges every change."],
            )
        return super().judged(plan, workspace, context)

    def _check_state(self) -> None:
        """Check that what a change leaves behind has a place that is not the installation.

        Raises:
            Refused: `forbidden`.
        """
        users = self.folders().users
        if users.folder is None:
            hints = ["Set XDG_STATE_HOME to a folder that you may write."]
            reason = f"The engine cannot be changed without a folder for its history: {users.problem}."
            raise Refused("forbidden", reason, unchanged=True, hints=hints)

    def _resolved(self, plan: Plan, workspace: Workspace) -> Plan:
        """Refuse dependencies of a project, as a transaction may declare, before an installer is run for them."""
        self._installation.check(file.path for file in plan.changes.files)
        return super()._resolved(plan, workspace)

    def _maker(self) -> Callable[..., Making]:
        return partial(EngineMaking, stays=self._stays)
