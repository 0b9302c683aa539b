"""Changes of the engine: planned as those of any project, allowed or refused, judged, and put by before they are made.

Invariants:
- no change is written that was not judged, but for an undo, which leads to what was there before;
- before anything is written, the old text lies where a program that needs no engine finds it (`putting_by`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace

from bae_source.engine.changing import Changing
from bae_source.engine.meta.installation import Installation
from bae_source.engine.meta.putting_by import put_by
from bae_source.errors import Refused, RequestError
from bae_source.model.context import Context
from bae_source.model.outcome import Check, Notice, Outcome
from bae_source.model.plan import Plan
from bae_source.project.workspace import Workspace
from bae_source.verification.choosing import contents_of

if TYPE_CHECKING:
    from bae_source.engine.making import Making
    from bae_source.verification.judging import Found

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
        """Return a plan with what can be said of it before anything is written.

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

    def commit(
        self,
        plan: Plan,
        workspace: Workspace,
        context: Context,
        asked: dict[str, Any],
        *,
        verb: str,
        kind: Literal["change", "undo", "redo"] = "change",
        of: tuple[str, ...] = (),
        verdicts: dict[str, Found] | None = None,
    ) -> Outcome:
        """Make a planned change.

        Raises:
            Refused, TransactionError: as `Changing.commit` has them.
        """
        if not (kind == "undo" and context.reload == "off"):
            context = replace(context, reload="patch" if self._stays else "child", cascade=False)
        self._installation.check(file.path for file in plan.changes.files)
        self._check_state()
        before, after = contents_of(workspace, plan)
        old = put_by(self.folders(), before, after)
        try:
            outcome = super().commit(plan, workspace, context, asked, verb=verb, kind=kind, of=of, verdicts=verdicts)
        except BaseException:
            old.drop_if_unchanged()
            raise
        return replace(outcome, warnings=(*outcome.warnings, Notice("way_back", old.way_back)))

    def _check_state(self) -> None:
        """See that what a change leaves behind has a place that is not the installation.

        Raises:
            Refused: `forbidden`.
        """
        users = self.folders().users
        if users.folder is None:
            hints = ["Set XDG_STATE_HOME to a folder that you may write."]
            reason = f"The engine cannot be changed without a folder for its history: {users.problem}."
            raise Refused("forbidden", reason, unchanged=True, hints=hints)

    def _maker(self) -> type[Making]:
        from bae_source.engine.meta.making import EngineMaking  # running code, as in `Changing`

        return EngineMaking
