"""Changes that were refused and kept: commit them with a word on what is unsure, or forget them.

    rename app.core.send post             refused: app.web:7 may mean it           draft_9f2c…
    commit draft_9f2c… --unsure leave     makes it, and leaves app.web:7 as it is

Invariants:
- a commit plans everything anew; what comes to something else than the caller was shown is refused, and shown anew;
- a draft ends with its commit, not with a commit that fails.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from bae_source.applying import Apply, operation
from bae_source.changing import Changing, Operation
from bae_source.errors import Refused, ResourceError
from bae_source.model.context import Context
from bae_source.model.hashing import sha256
from bae_source.model.outcome import DRAFT, REPORT, Outcome
from bae_source.model.request import Request, as_mapping
from bae_source.state.drafts import Drafts, Kept
from bae_source.transaction.commands import Abandon, Commit

_CHOSEN = ("unsure", "include")
"""What a commit says of the changes of a draft that take it."""


def kept(changing: Changing, asked: Request, context: Context, error: Refused) -> ResourceError:
    """Return a refusal with the handle of its draft, if it is one that may be committed all the same."""
    if error.code != "unsafe_change" or REPORT not in error.details or DRAFT in error.details or context.dry_run:
        return error
    requests = asked.requests if isinstance(asked, Apply) else ({"do": asked.verb, **_given(asked)},)
    draft = Kept(
        requests=tuple({key: each[key] for key in each if key not in _CHOSEN} for each in requests),
        message=context.why or (asked.message if isinstance(asked, Apply) else ""),
        who=changing.who(context),
        digest=_digest(error),
    )
    handle = _drafts(changing).keep(draft)
    return error if handle is None else _with_draft(error, handle, draft)


def committed(changing: Changing, asked: Commit, context: Context) -> Outcome:
    """Make a draft.

    Raises:
        HistoryError: `handle_expired`.
        Refused: `unsafe_change` where unsure places are left; `stale` if it comes to something else now.
    """
    drafts = _drafts(changing)
    draft = drafts.get(asked.draft)
    try:
        _operation(draft).plan(changing.workspace(None))
    except ResourceError as error:
        if REPORT not in error.details:
            raise
        if _digest(error) != draft.digest:
            drafts.keep(msgspec.structs.replace(draft, digest=_digest(error)), asked.draft)
            raise _anew(error, asked.draft, draft) from error
    chosen = {"unsure": asked.unsure, "include": asked.include}
    try:
        outcome = changing.change(_operation(draft, chosen), replace(context, why=context.why or draft.message or None))
    except ResourceError as error:
        raise (_with_draft(error, asked.draft, draft) if REPORT in error.details else error) from error.__cause__
    if not context.dry_run:
        drafts.drop(asked.draft)
    return outcome


def abandoned(changing: Changing, asked: Abandon) -> Outcome:
    """Forget a draft.

    Raises:
        HistoryError: `handle_expired`.
    """
    drafts = _drafts(changing)
    drafts.get(asked.draft)
    drafts.drop(asked.draft)
    return Outcome(status="unchanged", text=f"Forgot {asked.draft}; nothing of it was written.")


def _operation(draft: Kept, chosen: dict[str, Any] | None = None) -> Operation:
    """Return what a draft asks for.

    Parameters:
        chosen: what a commit says of those of its changes that take it.
    """
    requests = [dict(each) for each in draft.requests]
    for each in requests if chosen else ():
        fields = type(operation(each)).__struct_fields__
        each.update({name: value for name, value in (chosen or {}).items() if name in fields})
    if len(requests) > 1:
        return Apply(requests=tuple(requests), message=draft.message)
    found = operation(requests[0])
    assert isinstance(found, Operation)
    return found


def _anew(error: ResourceError, handle: str, draft: Kept) -> ResourceError:
    """Return what to say of a draft that comes to something else now."""
    stale = Refused(
        "stale",
        f"The code changed since the draft was made, and now it comes to something else. {error.message}",
        details=error.details,
    )
    return _with_draft(stale, handle, draft)


def _with_draft(error: ResourceError, handle: str, draft: Kept) -> ResourceError:
    change = f"commit {handle} --unsure change changes them, too; --include ADDRESS:LINE changes single ones."
    hints = (
        f"commit {handle} --unsure leave makes it, and leaves the unsure places as they are.",
        *([change] if any("include" in type(operation(each)).__struct_fields__ for each in draft.requests) else []),
        f"abandon {handle} forgets it.",
    )
    details = {**error.details, DRAFT: handle}
    return type(error)(error.code, error.message, hints=hints, candidates=error.candidates, details=details)


def _digest(error: ResourceError) -> str:
    return sha256(msgspec.json.encode(error.details[REPORT], order="deterministic"))


def _given(asked: Request) -> dict[str, Any]:
    return {key: value for key, value in as_mapping(asked).items() if value not in (None, ())}


def _drafts(changing: Changing) -> Drafts:
    return Drafts(changing.folders(), seconds=lambda: changing.now().timestamp())
