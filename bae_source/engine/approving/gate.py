"""The gate that every planned change passes: made at once, waiting for a person, or refused.

    plan -> what it touches -> the policies that govern its files -> made | waits, by these rules | forbidden
    what a person approved -> is it exactly that? -> made | stale

Invariants:
- a change is judged by its planned bytes, whatever the request is, and again before it is written;
- an approval lets a change pass that has its digest, and nothing else; what is denied, no approval lets pass;
- nothing that a request says opens the gate: what was approved is handed over by the code that decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bae_source.approval.policy import Answer, Ruling, Subject
from bae_source.approval.proposals import Proposal, Risk, digest_of
from bae_source.engine.approving.names import Names
from bae_source.engine.approving.recording import POLICY
from bae_source.engine.approving.touching.changed_settings import touches_ours
from bae_source.engine.approving.touching.paths import out_of_reach
from bae_source.engine.approving.touching.risk import risk_of
from bae_source.engine.approving.touching.subjects import forbidden_in, subjects_of
from bae_source.errors import Refused
from bae_source.model.changeset import ChangeSet, FileChange
from bae_source.model.plan import Plan
from bae_source.project.workspace import Workspace
from bae_source.system.hashing import sha256

if TYPE_CHECKING:
    from bae_source.engine.approving.governing import Governed

_NAMED = ("code", "tests", "data")
"""Kinds of things whose names are those of files."""


class Verdict(Struct, frozen=True, kw_only=True):
    """The way in which a planned change passes.

    Parameters:
        waits_for: the rules by which it waits for a person; none where it may be made at once.
        subjects: what it touches; none where no policy is in force, and nothing had to be looked at.
        risk: how much it may break; None where nothing had to be looked at.
    """

    waits_for: tuple[Ruling, ...] = ()
    subjects: tuple[Subject, ...] = ()
    risk: Risk | None = None


class Gate:
    """The gate of one project.

    Parameters:
        root: the project's folder.
        policies: returns what governs some files, by their paths from the root.
        environment: the caller's environment variables, which say where the user's own settings and state are.

    Attributes:
        approved: what a person approved, while that is being made.
        is_in_force: whether a policy forbids or asks for anything where the last change was judged.
    """

    def __init__(
        self,
        root: Path,
        policies: Callable[[Iterable[str]], Sequence[Governed]],
        environment: Mapping[str, str],
    ) -> None:
        self._root = root
        self._environment = environment
        self._policies = policies
        self.approved: Proposal | None = None
        self.is_in_force = False
        self._goes_back = False
        self._is_person = False

    @contextmanager
    def going_back(self) -> Iterator[None]:
        """Let the undo of a change of ours that fails pass, while the context lasts."""
        approved, self.approved, self._goes_back = self.approved, None, True
        try:
            yield
        finally:
            self.approved, self._goes_back = approved, False

    @contextmanager
    def opened_by_person(self) -> Iterator[None]:
        """Let pass what would have to wait, while the context lasts; not what is denied."""
        self._is_person = True
        try:
            yield
        finally:
            self._is_person = False

    @contextmanager
    def opened_for(self, proposal: Proposal) -> Iterator[None]:
        """Let a change pass that a person approved, while the context lasts."""
        self.approved = proposal
        try:
            yield
        finally:
            self.approved = None

    @property
    def approval(self) -> dict[str, Any]:
        """Return the history's record of the approval of the present change."""
        if self.approved is None:
            return {}
        approved = self.approved
        return {"task_id": approved.id, "approved_by": approved.decided_by, "approved_why": approved.decision}

    @property
    def operation_id(self) -> str:
        """The id that the operation gets; "" for any."""
        return "" if self.approved is None else self.approved.operation_id

    def judge(self, plan: Plan, workspace: Workspace, who: str, *, is_proposed: bool = False) -> Verdict:
        """Return the decision on a planned change.

        Parameters:
            workspace: what it was planned on.
            who: the caller.
            is_proposed: whether it is to wait anyway, so that its risk is wanted.

        Raises:
            Refused: `forbidden`, which names the rule.
        """
        if self._goes_back:
            return Verdict()
        paths = [file.path for file in plan.changes.files]
        governed = self._policies(paths)
        after = workspace.after(plan.changes)

        def alters(path: str) -> bool:
            return touches_ours(path, workspace.content(path), after.content(path))

        never = out_of_reach(self._root, self._environment, paths, alters)
        for touched in (*never, *forbidden_in(plan, workspace, after)):
            raise _forbidden(Ruling(answer=Answer.DENY, rule=touched.never, subject=touched.name))
        self.is_in_force = not all(each.policy.is_open for each in governed)
        if not (is_proposed or self.is_in_force):
            return Verdict()
        subjects = subjects_of(plan, workspace, after)
        risk = risk_of(plan, subjects, workspace, after)
        rulings: list[Ruling] = []
        for each in governed:
            rulings += each.policy.change(_as_called(each, subjects, plan, self._root), who)
            rulings.append(each.policy.risk(risk.level, who))
        denied = next((each for each in rulings if each.answer is Answer.DENY), None)
        if denied is not None:
            raise _forbidden(denied)
        waits_for = tuple(each for each in rulings if each.answer is Answer.APPROVE and not self._is_person)
        return Verdict(waits_for=waits_for, subjects=subjects, risk=risk)

    def check_may_plan(self, paths: Sequence[str], who: str) -> None:
        """See that some of these files may be changed, or wait for a person, before code runs that plans a change.

        Parameters:
            paths: Python files, as the root calls them.
            who: the caller.

        Raises:
            Refused: `forbidden`, which names the rule, where each of them is denied.
        """
        governed = self._policies(paths)
        if all(each.policy.is_open for each in governed):
            return
        names = Names(self._root)
        denied: Ruling | None = None
        for path in paths:
            file = FileChange(path=path, before=None, after=None, edits=())
            plan = Plan(changes=ChangeSet((file,)), changed=(), modules=(), summary="")
            subjects = [Subject(kind=kind, name=name) for kind, name in names.of(path)]
            rulings = [
                ruling
                for each in governed
                for ruling in each.policy.change(_as_called(each, subjects, plan, self._root), who)
            ]
            denied = next((each for each in rulings if each.answer is Answer.DENY), None)
            if denied is None:
                return
        if denied is not None:
            raise _forbidden(denied)

    def check_records(self, paths: Sequence[str]) -> None:
        """Check that what was recorded may go: where a policy is in force, only by a person's own hand.

        Parameters:
            paths: files of the project whose folders may have a policy.

        Raises:
            Refused: `forbidden`.
        """
        governed = self._policies(paths)
        if all(each.policy.is_open for each in governed):
            return
        raise Refused(
            "forbidden",
            "A policy is in force here, so what was done, and what waits for a person, stays on record",
            unchanged=True,
            hints=["A person can remove the folder; doctor says where it is."],
            details={POLICY: "what is recorded stays"},
        )

    def check_approved(self, requests: tuple[dict[str, Any], ...], plan: Plan, diff: str) -> None:
        """Check that what is being made is exactly what was approved, if anything was.

        Parameters:
            diff: of the plan; a person was shown that of the proposal, which has to be the same.

        Raises:
            Refused: `stale` where it is not.
        """
        approved = self.approved
        if approved is not None and (digest_of_plan(requests, plan), diff) != (approved.digest, approved.diff):
            raise Refused(
                "stale",
                f"{approved.id} differs now from the approved change; nothing was written.",
                hints=["It is planned anew, and waits for approval as it is now."],
            )


def _as_called(governed: Governed, subjects: Sequence[Subject], plan: Plan, root: Path) -> Iterator[Subject]:
    """Yield subjects as they are called in the folder of a policy, from how the root calls them.

    --root /repo/src/app      secrets.KEY      app.secrets.KEY, and :src/app/secrets.py.KEY, in /repo
    --root /repo              :sub/x.md        :x.md, in /repo/sub; what lies elsewhere is none of its business
    """
    here = Names(root)
    names = {
        name: governed.path(file.path) for file in plan.changes.files for _, name in here.of(file.path)
    }  # what the root calls each file, and its path from the folder
    for each in subjects:
        own = max((name for name in names if _is_in(each.name, name)), key=len, default=None)
        if own is None or each.kind not in _NAMED:
            yield each
        elif (path := names[own]) is not None:
            called = [f"{name}{each.name[len(own) :]}" for _, name in governed.names.of(path)]
            yield replace(each, name=called[0], also=tuple(called[1:]))


def _is_in(name: str, file: str) -> bool:
    return name == file or (name.startswith(file) and name[len(file)] in ".:@[")


def digest_of_plan(requests: tuple[dict[str, Any], ...], plan: Plan) -> str:
    """Return the digest by which exactly this change is approved."""
    return digest_of(requests, base_of(plan), after_of(plan))


def base_of(plan: Plan) -> dict[str, str | None]:
    """Return the digests of the bytes that a change was planned on, by path."""
    return {file.path: file.before for file in plan.changes.files}


def after_of(plan: Plan) -> str:
    """Return the digest of what a change leads to: bytes, permissions, and what is installed."""
    modes = [(file.path, file.executable, file.mode) for file in plan.changes.files]
    return sha256(msgspec.json.encode([plan.changes.digest, modes, plan.releases]))


def _forbidden(ruling: Ruling) -> Refused:
    what = f"{ruling.subject} may not be changed" if ruling.subject else "The change may not be made"
    return Refused(
        "forbidden",
        f"{what}: {ruling.rule}",
        unchanged=True,
        hints=["No request can alter that; ask the person who set the policy, or leave it as it is."],
        details={POLICY: ruling.rule},
    )
