"""Drafts that outlive a call: open transactions, and changes that were refused because of unsure places.

    transaction_begin                     draft_3b1e…       edits and renames that carry it are planned in it
    rename app.core.send post             refused: app.web:7 may mean it           draft_9f2c…
    commit draft_9f2c… --unsure leave     makes it, and leaves app.web:7 as it is

Invariants:
- a commit plans everything anew; what comes to something else than the caller was shown is refused, and shown anew;
- a draft ends with its commit, not with a commit that fails;
- any process goes on with a draft; the one that planned it last goes on with its plans.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from bae_source.approval.drafts import MOST, Drafts, Kept
from bae_source.engine.amending import amended, is_worth_keeping
from bae_source.engine.applying import Apply, operation
from bae_source.engine.changing import Changing
from bae_source.engine.drafting import Draft
from bae_source.engine.operations import Operation, changes_of
from bae_source.errors import Refused, RequestError, ResourceError
from bae_source.history.travel.commands import Amend
from bae_source.model.call import Call
from bae_source.model.context import Context, checked, options_in
from bae_source.model.outcome import DRAFT, REPORT, Check, Outcome, with_checks
from bae_source.model.reasons import CHANGES_THEM, has_word
from bae_source.model.request import Effect, Request
from bae_source.system.hashing import sha256


class Keeping:
    """The drafts of one project.

    Parameters:
        changing: plans and makes changes.
        begin: opens a transaction with a message for the history, which is made by a commit of its own.
    """

    def __init__(self, changing: Changing, begin: Callable[[str], Draft]) -> None:
        self._changing = changing
        self._begin = begin
        self._store = Drafts(changing.folders(), seconds=lambda: changing.now().timestamp())
        self._planned: dict[str, Draft] = {}

    def begin(self, message: str) -> str:
        """Begin a transaction and return its handle.

        Raises:
            Refused: `forbidden` where it cannot be kept.
        """
        return self._keep(None, self._begin(message))

    def copied(self, handle: str) -> str:
        """Return the handle of a transaction with the same changes.

        Raises:
            HistoryError: `handle_expired`.
            Refused: `forbidden` where it cannot be kept.
        """
        return self._stored(self._store.get(handle), None)

    def planned(self, request: Request, context: Context, outcome: Outcome) -> Outcome:
        """Return the outcome of a dry run with the handle of a draft that makes it as it was shown, if it is long.

        What is short is given as soon again as its handle.
        """
        requests = changes_of(request)
        if outcome.status != "planned" or not outcome.diff or not is_worth_keeping(requests):
            return outcome
        draft = self._begin(context.why or "")
        try:
            draft.resume(requests)
            handle = self._keep(None, draft, how=options_in(context, _HOW[1:]))  # not `verify`: the checks are kept
        except ResourceError:  # it can be asked for again
            return outcome
        if outcome.checks:
            self._stored(replace(self._store.get(handle), checks=outcome.checks), handle)
        making = Call("commit", draft=handle, then="makes it as it is shown.")
        return replace(outcome, draft=handle, next_actions=(*outcome.next_actions, making))

    def run(self, handle: str, request: Request, context: Context) -> Outcome:
        """Answer from what is planned in a draft, or plan a change on top of it.

        Raises:
            HistoryError: `handle_expired`.
            ResourceError: what the request itself raises; the draft is as before then.
        """
        draft = self._draft(handle)
        outcome = draft.run(request, context)
        if request.effect is not Effect.READS:
            self._keep(handle, draft)
        return outcome

    def preview(self, handle: str, budget: int | None) -> Outcome:
        """Return the present result of a draft.

        Raises:
            HistoryError: `handle_expired`.
        """
        try:
            draft = self._draft(handle)
        except Refused as error:
            if error.code != "stale" or handle not in self._planned:
                raise
            draft = self._planned[handle]
        return draft.preview(budget)

    def refusal(self, request: Request, context: Context, error: ResourceError) -> ResourceError:
        """Return a refusal with the handle of its draft: of one that may be committed all the same, or be amended."""
        if DRAFT in error.details:
            return error
        may_be_committed = error.code == "unsafe_change" and REPORT in error.details and not context.dry_run
        requests, how = changes_of(request), options_in(context, _HOW)
        message = context.why or (request.message if isinstance(request, Apply) else "")
        try:
            if may_be_committed and _comes_to_something(error):
                draft = Kept(requests=requests, message=message, digest=_digest(error), refused=True, how=how)
                return _with_draft(error, self._store.keep(draft), draft)
            if is_worth_keeping(requests):
                draft = Kept(requests=requests, message=message, refused=True, how=how)
                return _with_hints(error, handle := self._store.keep(draft), _amending(handle))
        except (OSError, Refused):  # it cannot be kept
            return error
        return error

    def amend(self, request: Amend, context: Context) -> Outcome:
        """Change a piece of a draft; what was refused is made then, and an open transaction is planned anew.

        Raises:
            HistoryError: `handle_expired`.
            RequestError, LookupFailed: it is not clear what is to change; the draft is as before then.
            ResourceError: it is refused again; the draft is as it was amended then.
        """
        handle, kept = request.draft, self._store.get(request.draft)
        context = _as_wanted(checked(context), kept)
        requests = amended(kept.requests, request)
        if not kept.refused:
            draft = self._begin(kept.message)
            draft.resume(requests)
            self._keep(handle, draft)
            return draft.preview(context.budget)
        self._stored(replace(kept, requests=requests, digest="", checks=()), handle)
        committed_id = self._changing.committed_id
        try:
            outcome = self._changing.change(_joined(kept, requests), context)
        except ResourceError as error:
            raise self._refused_again(handle, kept, requests, error) from error.__cause__
        finally:
            if (now := self._changing.committed_id) != committed_id:
                self._end(handle, f"it was amended and committed as {now}")
        self._end_unwritten(handle, outcome)
        return outcome

    def _end_unwritten(self, handle: str, outcome: Outcome) -> None:
        """End a draft of which nothing is to be written any more, or not by its caller."""
        if outcome.status == "unchanged":
            self._end(handle, "it came to nothing, so nothing was written")
        if outcome.status == "pending":
            self._end(handle, f"it waits for approval as {outcome.task_id}")

    def _refused_again(
        self, handle: str, kept: Kept, requests: tuple[dict[str, Any], ...], error: ResourceError
    ) -> ResourceError:
        """Return the refusal of a draft that was amended, which is kept on."""
        if REPORT not in error.details:
            return _with_hints(error, handle, _amending(handle))
        again = replace(kept, requests=requests, digest=_digest(error), checks=())
        self._stored(again, handle)
        return _with_draft(error, handle, again)

    def commit(self, handle: str, unsure: str, include: Sequence[str], context: Context) -> Outcome:
        """Make a draft, which ends with that.

        Raises:
            HistoryError: `handle_expired`.
            RequestError: the choices are none of this draft's.
            Refused: `unsafe_change` where unsure places are left; `stale` if its result is another now.
        """
        kept = self._store.get(handle)
        context = _as_wanted(checked(context), kept)
        committed_id = self._changing.committed_id
        try:
            if kept.refused:
                outcome = self._commit_refused(handle, kept, unsure, include, context)
            elif include or unsure != "refuse":
                raise RequestError(
                    "invalid_arguments",
                    "unsure and include are for a change that was refused; those of a transaction have their own.",
                    hints=[Call("commit", draft=handle, then="alone makes it.")],
                )
            else:
                outcome = self._commit_open(handle, context)
        finally:
            if (now := self._changing.committed_id) != committed_id:  # also where Ctrl-C came behind its commit point
                self._end(handle, f"it was committed as {now}")
        self._end_unwritten(handle, outcome)
        if not context.dry_run:
            return with_checks(outcome, _still_true(kept.checks, outcome))
        if outcome.checks:
            self._stored(replace(self._store.get(handle), checks=outcome.checks), handle)
        return outcome

    def abandon(self, handle: str) -> Outcome:
        """Forget a draft.

        Raises:
            HistoryError: `handle_expired`.
        """
        planned = len(self._store.get(handle).requests)
        self._end(handle, "it was abandoned, and nothing of it was written")
        changes = f"{planned} planned change{'' if planned == 1 else 's'}"
        return Outcome(status="unchanged", text=f"Forgot {handle}, with {changes}; nothing of it was written.")

    def drop(self, handle: str) -> None:
        """Forget a transaction whose handle no caller received."""
        self._planned.pop(handle, None)
        self._store.drop(handle)

    def _draft(self, handle: str) -> Draft:
        """Return an open transaction, planned here or anew.

        Raises:
            HistoryError: `handle_expired`.
            Refused: `stale` where its result is another now; the next time it is taken as it is.
        """
        kept = self._store.get(handle)
        draft = self._planned.get(handle)
        if draft is not None and _encoded(draft.requests) == _encoded(kept.requests):
            return draft
        try:
            draft = self._resumed(handle, kept)
        except ResourceError as error:
            raise _with_hints(error, handle, _forgetting(handle)) from error.__cause__
        if draft.digest != kept.digest:
            self._keep(handle, draft)
            raise _stale(handle, draft)
        return draft

    def _resumed(self, handle: str, kept: Kept) -> Draft:
        draft = self._begin(kept.message)
        draft.resume(kept.requests)
        self._planned[handle] = draft
        return draft

    def _keep(self, handle: str | None, draft: Draft, *, how: dict[str, Any] | None = None) -> str:
        """Keep the present requests of an open transaction, and return its handle.

        Parameters:
            how: as `Kept` has it, of a new one.
        """
        how = how or (self._store.get(handle).how if handle else {})
        kept = Kept(requests=tuple(draft.requests), message=draft.message, digest=draft.digest, how=how)
        handle = self._stored(kept, handle)
        self._planned[handle] = draft
        for oldest in list(self._planned)[:-MOST]:
            del self._planned[oldest]
        return handle

    def _stored(self, kept: Kept, handle: str | None) -> str:
        try:
            return self._store.keep(kept, handle)
        except OSError as error:
            from bae_source.transaction.commit.failures import no_state  # hardly ever

            raise no_state(error) from error

    def _end(self, handle: str, how: str) -> None:
        self._planned.pop(handle, None)
        self._store.end(handle, how)

    def _commit_open(self, handle: str, context: Context) -> Outcome:
        draft = self._draft(handle)
        try:
            return draft.commit(context)
        except Refused as error:
            if error.code != "stale":
                raise
            kept = Kept(requests=tuple(draft.requests), message=draft.message)
            try:
                draft = self._resumed(handle, kept)
            except ResourceError as why:
                hints = (why.message, _forgetting(handle))
                raise _with_hints(error, handle, *hints) from why
            self._keep(handle, draft)
            raise _stale(handle, draft) from error

    def _commit_refused(
        self, handle: str, kept: Kept, unsure: str, include: Sequence[str], context: Context
    ) -> Outcome:
        if not kept.digest:
            return self._changing.change(_joined(kept, kept.requests), context)
        anew = self._refusal(_joined(kept, kept.requests))
        if _digest(anew) != kept.digest:
            if not context.dry_run:
                self._stored(replace(kept, digest=_digest(anew)), handle)
            message = f"The code changed since the draft was made, and now it comes to something else. {anew.message}"
            raise _with_draft(Refused("stale", message, details=anew.details), handle, kept)
        asked = _joined(kept, [_chosen(each, handle, unsure, include) for each in kept.requests])
        try:
            return self._changing.change(asked, context)
        except ResourceError as error:
            raise (_with_draft(error, handle, kept) if REPORT in error.details else error) from error.__cause__

    def _refusal(self, request: Operation) -> ResourceError:
        """Return the refusal that a change comes to now, or would come to if anything were unsure.

        Raises:
            ResourceError: it comes to another one.
        """
        try:
            plan = request.plan(self._changing.workspace(None))
        except ResourceError as error:
            if REPORT not in error.details:
                raise
            return error
        report = {} if plan.report is None else plan.report.as_data()
        return Refused("unsafe_change", f"{plan.summary} Now nothing is unsure.", details={REPORT: report})


_HOW = ("verify", "tidy", "format", "cascade", "propose", "goal")
"""Parameters of the context that are kept; not `reload`, by which less would be checked than the call says."""


def _as_wanted(context: Context, kept: Kept) -> Context:
    """Return the context of a call that makes a draft, with what the draft's own caller wanted where it says nothing.

    edit app.f --verify tests --source f.py     refused: it does not parse
    amend draft_9f2c --old … --new …            is verified by tests, too
    """
    own = options_in(context, _HOW)
    wanted = {name: tuple(value) if name == "verify" else value for name, value in kept.how.items() if name not in own}
    return replace(context, **wanted, why=context.why or kept.message or None)


def _still_true(checks: Sequence[Check], outcome: Outcome) -> list[Check]:
    """Return the checks of a dry run that are of the text which was written, and were not made again; they say so."""
    names = {each.name for each in outcome.checks}
    digests = {each.digest for each in outcome.checks if each.digest}
    kept = [each for each in checks if each.name not in names and each.digest in digests]
    return [replace(each, detail=", ".join(filter(None, (each.detail, "in the dry run")))) for each in kept]


def _joined(kept: Kept, requests: Sequence[dict[str, Any]]) -> Operation:
    if len(requests) > 1:
        return Apply(requests=tuple(requests), message=kept.message)
    found = operation(requests[0])
    assert isinstance(found, Operation)
    return found


def _chosen(given: dict[str, Any], handle: str, unsure: str, include: Sequence[str]) -> dict[str, Any]:
    """Return a change with what a commit decides of what it leaves open itself."""
    fields = type(operation(given)).__struct_fields__
    if "unsure" not in fields:
        return given
    if "include" in fields:
        own = given.get("unsure", "refuse")
        return {**given, "include": (*given.get("include", ()), *include), "unsure": unsure if own == "refuse" else own}
    if include or unsure == "change":
        raise RequestError(
            "invalid_arguments",
            f"{given['do']} leaves unsure places as they are, or is refused.",
            hints=[Call("commit", draft=handle, unsure="leave", then="makes it."), _forgetting(handle)],
        )
    return {**given, "unsure": unsure}


def _stale(handle: str, draft: Draft) -> Refused:
    """Return the refusal of a transaction whose result is another now, with that result."""
    now = draft.preview()
    return Refused(
        "stale",
        f"The code changed since the transaction was planned, and it was planned anew; nothing was written. {now.text}",
        hints=[Call("commit", draft=handle, then="makes it as it is shown."), _forgetting(handle)],
        details={DRAFT: handle, "preview": now.diff},
    )


def _comes_to_something(error: ResourceError) -> bool:
    """Return whether any choice would change a place of a refused change."""
    report = error.details[REPORT]
    changed = (*report.get("changed", ()), *report.get("probable", ()))
    return bool(changed) or any(has_word(each["reason"]) for each in report.get("unsure", ()))


def _leaves_some(error: ResourceError) -> bool:
    """Return whether a refused change would do anything without its unsure places."""
    report = error.details[REPORT]
    return bool(report.get("changed") or report.get("probable")) or any("leave" in each for each in error.hints)


def _with_draft(error: ResourceError, handle: str, draft: Kept) -> ResourceError:
    lists = (hint for hint in error.hints if hint.startswith("references "))
    has_words = any(has_word(each["reason"]) for each in error.details[REPORT].get("unsure", ()))
    can_change = has_words and all("include" in type(operation(each)).__struct_fields__ for each in draft.requests)
    leaving = Call("commit", draft=handle, unsure="leave", then="makes it, and leaves the unsure places as they are.")
    hints = (
        *([leaving] if _leaves_some(error) or len(draft.requests) > 1 else []),
        *([Call("commit", draft=handle, unsure="change", then=CHANGES_THEM)] if can_change else []),
        _forgetting(handle),
        *lists,
    )
    return _with_hints(error.altered(hints=()), handle, *hints)


def _with_hints(error: ResourceError, handle: str, *more: str) -> ResourceError:
    details = {**error.details, DRAFT: handle}
    return error.altered(hints=(*error.hints, *more), details=details)


def _amending(handle: str) -> Call:
    then = "mends a piece of what was given, and makes it."
    return Call("amend", draft=handle, old="OLD", new="NEW", then=then)


def _forgetting(handle: str) -> Call:
    return Call("abandon", draft=handle, then="forgets it.")


def _digest(error: ResourceError) -> str:
    return sha256(_encoded(error.details[REPORT]))


def _encoded(value: object) -> bytes:
    return msgspec.json.encode(value, order="deterministic")
