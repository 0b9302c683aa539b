"""The entries of the ledger for what is done to a project, and for what was tried.

    change_begun      right before it is written, under the project's lock: who, why, what, and the operation
    change_applied    once it is made; or change_failed, with the code of the error
    change_recovered  what became of one whose process died: it was made, or is taken back
    change_refused    what did not come so far, with the code

Invariants:
- no entry has source text, and none the message of an error, which may quote some;
- a dry run leaves nothing, nor does a call that is malformed, or a refusal where we have no state yet, but for one by
  a policy;
- a ledger that cannot be written is no reason to refuse a change, but where the policy in force wants it to be.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from bae_source.approval.ledger import Ledger
from bae_source.errors import Refused, RequestError, ResourceError
from bae_source.model.call import Call
from bae_source.model.changeset import ChangeSet
from bae_source.model.context import Context
from bae_source.model.outcome import Notice, Outcome
from bae_source.model.plan import Plan, in_words
from bae_source.model.request import Request
from bae_source.system.clock import now

if TYPE_CHECKING:
    from bae_source.approval.listing import Asked
    from bae_source.history.record.entry import Entry
    from bae_source.state.folders import StateFolders

HEAD = "ledger"
"""Key, in what the history has of a request, of the hash of the entry that it was begun with."""
POLICY = "policy"
"""Key, in an error's details, of the rule by which a change is refused."""
_BEGUN = "operation_id"
"""Key, in an error's details, of the operation whose failure is in the ledger."""
_TRY = frozenset({"change", "travel", "commit", "amend", "prune", "forget"})
"""Runners of requests whose refusals are entered."""
_NAMING = ("target", "operation_id", "draft", "key", "requirements", "dependencies")
"""Parameters that name what a request is about, the first that is given; what they hold is no source text."""
_BEHIND_A_NAME = re.compile(r"[^\w.-]")
"""The first character behind the name in a requirement: what follows may be an address with a password."""
_INTERNAL = "internal_error"


class Recording:
    """Enters the changes of a project in its ledger: the witness of its transactions.

    Parameters:
        folders: where our state lies.
        is_required: says whether a change must not be written that cannot be entered.
    """

    def __init__(self, folders: StateFolders, *, is_required: Callable[[], bool] = lambda: False) -> None:
        self._ledger = ledger_of(folders)
        self._is_required = is_required
        self._notices: tuple[Notice, ...] = ()

    def begun(self, entry: Entry, changes: ChangeSet) -> Entry:
        """Enter a change that is about to be written, and return what the history has of it, with the ledger's head.

        Raises:
            Refused: `forbidden` where it cannot be entered, and has to be.
        """
        about = {
            **_facts(entry),
            "why": entry.why,
            "kind": entry.kind,
            "of": entry.of,
            "symbols": entry.changed,
            "approved_by": entry.request.get("approved_by"),
            "digest": changes.digest,
        }
        self._notices = ()
        try:
            head = self._ledger.append("change_begun", _given(about))
        except (OSError, Refused) as error:
            if self._is_required():
                raise _unentered(error) from error
            self._notices = (_unavailable(error),)
            return entry
        return replace(entry, request={**entry.request, HEAD: head})

    def applied(self, entry: Entry) -> tuple[Notice, ...]:
        """Enter that a change is made, and return what the caller should know."""
        return self._notices or self.enter("change_applied", _facts(entry))

    def failed(self, entry: Entry, error: BaseException) -> BaseException:
        """Enter that a change could not be written; the error says so to `enter_refusal`."""
        code = error.code if isinstance(error, ResourceError) else _INTERNAL
        if not self._notices:
            self.enter("change_failed", {**_facts(entry), "code": code})
        if not isinstance(error, ResourceError):
            return error
        return error.altered(details={**error.details, _BEGUN: entry.id})

    def recovered(self, operation_id: str, *, stands: bool) -> None:
        """Enter what became of a change whose process died."""
        came_to = "applied" if stands else "taken_back"
        self.enter("change_recovered", {"operation_id": operation_id, "came_to": came_to})

    def enter(self, event: str, about: Mapping[str, Any], *, makes: bool = False) -> tuple[Notice, ...]:
        """Enter an event, where we have state; return the notices for the caller.

        Parameters:
            makes: whether state is created for it where there is none.
        """
        try:
            if makes or self._ledger.is_there:
                self._ledger.append(event, _given(about))
        except (OSError, Refused) as error:
            return (_unavailable(error),)
        return ()


def enter_refusal(folders: StateFolders, who: str, request: Request, context: Context, error: ResourceError) -> None:
    """Enter that a change was refused, or did not hold, unless it is there as one that failed.

    Parameters:
        who: the caller.
    """
    is_malformed = isinstance(error, RequestError)
    has_place = folders.id is not None or POLICY in error.details
    if is_malformed or not has_place or context.dry_run or request.runner not in _TRY or _BEGUN in error.details:
        return
    about = {"who": who, "verb": request.verb, "target": _target(request), "code": error.code}
    about["project"] = folders.project
    if POLICY in error.details:
        about["rule"] = error.details[POLICY]
    Recording(folders).enter("change_refused", about, makes=POLICY in error.details)


def entered_alone(folders: StateFolders, plan: Plan, *, who: str, verb: str, why: str) -> tuple[Notice, ...]:
    """Enter a change of the environment alone, which is no operation; return what the caller should know."""
    about = {
        "who": who,
        "verb": verb,
        "why": why,
        "target": [in_words((each,)) for each in plan.releases],
        "project": folders.project,
    }
    return Recording(folders).enter("environment_changed", about)


def ledger_of(folders: StateFolders) -> Ledger:
    """Return the ledger of a project."""
    return Ledger(folders, lambda: now().isoformat(timespec="seconds"))


def shown(folders: StateFolders, asked: Asked) -> Outcome:
    """Answer a request about the ledger.

    Raises:
        RequestError: `invalid_arguments`, for what is no time.
        Refused: `forbidden` where it cannot be read.
    """
    from bae_source.approval.listing import answered  # which changes need not
    from bae_source.history.travel.choosing import moment

    since = getattr(asked, "since", None)
    return answered(asked, ledger_of(folders), None if since is None else moment(since, now(), parameter="since"))


def _facts(entry: Entry) -> dict[str, Any]:
    """Return the facts that each entry about an operation has."""
    verb = entry.request.get("do", entry.kind)
    task = entry.request.get("task_id")
    return {"operation_id": entry.id, "who": entry.who, "verb": verb, "project": entry.project, "task_id": task}


def _given(about: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in about.items() if value not in ("", (), [], None)}


def _target(request: Request) -> Any:
    """Return the target of a request; of several requests, a line for each."""
    several = getattr(request, "requests", ())
    if several:
        return [" ".join(str(each.get(key) or "") for key in ("do", "target")).strip() for each in several]
    naming, found = next(((name, each) for name in _NAMING if (each := getattr(request, name, None))), ("", ""))
    if naming == "requirements":
        found = tuple(_BEHIND_A_NAME.split(each.strip(), maxsplit=1)[0] for each in found)
    return found[0] if isinstance(found, tuple) and len(found) == 1 else found


def _reason(error: OSError | Refused) -> str:
    return error.clause if isinstance(error, Refused) else error.strerror or type(error).__name__


def _unavailable(error: OSError | Refused) -> Notice:
    message = f"The ledger could not be written ({_reason(error)}), so it lacks this. doctor says what is in the way."
    return Notice("ledger_unavailable", message)


def _unentered(error: OSError | Refused) -> Refused:
    return Refused(
        "forbidden",
        f"The change cannot be entered in the ledger, as the policy in force wants it: {_reason(error)}",
        unchanged=True,
        hints=[Call("doctor", then="says what is in the way.")],
    )
