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
from bae_source.errors import Refused, RequestError, ResourceError
from bae_source.model.context import Context
from bae_source.model.hashing import sha256
from bae_source.model.outcome import DRAFT, REPORT, Outcome
from bae_source.model.request import Request, as_mapping
from bae_source.state.drafts import Drafts, Kept
from bae_source.transaction.commands import Abandon, Commit

_CHANGES = "commit {handle} --unsure change changes them, too; --include ADDRESS:LINE changes single ones."


def kept(changing: Changing, asked: Request, context: Context, error: Refused) -> ResourceError:
    """Return a refusal with the handle of its draft, if it is one that may be committed all the same."""
    if error.code != "unsafe_change" or REPORT not in error.details or DRAFT in error.details or context.dry_run:
        return error
    requests = asked.requests if isinstance(asked, Apply) else ({"do": asked.verb, **_given(asked)},)
    draft = Kept(
        requests=tuple(requests),
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
    anew = _refusal(_operation(draft), changing)
    if _digest(anew) != draft.digest:
        if not context.dry_run:
            drafts.keep(msgspec.structs.replace(draft, digest=_digest(anew)), asked.draft)
        raise _anew(anew, asked.draft, draft)
    try:
        outcome = changing.change(_operation(draft, asked), replace(context, why=context.why or draft.message or None))
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


def _refusal(asked: Operation, changing: Changing) -> ResourceError:
    """Return the refusal that a change comes to now, or would come to if anything were unsure.

    Raises:
        ResourceError: it comes to another one.
    """
    try:
        plan = asked.plan(changing.workspace(None))
    except ResourceError as error:
        if REPORT not in error.details:
            raise
        return error
    report = {} if plan.report is None else plan.report.as_data()
    return Refused("unsafe_change", f"{plan.summary} Now nothing is unsure.", details={REPORT: report})


def _operation(draft: Kept, asked: Commit | None = None) -> Operation:
    """Return what a draft asks for.

    Parameters:
        asked: the commit, which decides what the changes themselves leave open.
    """
    requests = [dict(each) for each in draft.requests]
    for each in requests if asked else ():
        fields = type(operation(each)).__struct_fields__
        if asked and "unsure" in fields and "include" not in fields and (asked.include or asked.unsure == "change"):
            raise RequestError(
                "invalid_arguments",
                f"{each['do']} leaves unsure places as they are, or is refused.",
                hints=[f"commit {asked.draft} --unsure leave makes it; abandon {asked.draft} forgets it."],
            )
        if asked and "unsure" in fields and "include" not in fields:
            each["unsure"] = asked.unsure
        elif asked and "unsure" in fields:
            each["include"] = (*each.get("include", ()), *asked.include)
            if each.get("unsure", "refuse") == "refuse":
                each["unsure"] = asked.unsure
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
    lists = (hint for hint in error.hints if hint.startswith("references "))
    can_change = all("include" in type(operation(each)).__struct_fields__ for each in draft.requests)
    hints = (
        f"commit {handle} --unsure leave makes it, and leaves the unsure places as they are.",
        *([_CHANGES.format(handle=handle)] if can_change else []),
        f"abandon {handle} forgets it.",
        *lists,
    )
    details = {**error.details, DRAFT: handle}
    return type(error)(error.code, error.message, hints=hints, candidates=error.candidates, details=details)


def _digest(error: ResourceError) -> str:
    return sha256(msgspec.json.encode(error.details[REPORT], order="deterministic"))


def _given(asked: Request) -> dict[str, Any]:
    return {key: value for key, value in as_mapping(asked).items() if value not in (None, ())}


def _drafts(changing: Changing) -> Drafts:
    return Drafts(changing.folders(), seconds=lambda: changing.now().timestamp())
