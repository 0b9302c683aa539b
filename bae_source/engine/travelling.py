"""Undo and redo: back and forth in the history, each as an operation of its own; and the history itself, at the door.

Invariants:
- an undo leads to bytes that were there before, or, where a file has changed since, to what is there without the
  change's own symbols, checked like any plan; or it is refused;
- a change from outside is only reported where no transaction of ours is changing the file;
- a state gone back to that does not import is reported, and not refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from bae_source.approval.plan_file import PlanFile
from bae_source.engine.approving.looking import NAME as SETTINGS
from bae_source.engine.approving.recording import Recording
from bae_source.engine.attempts import Crowded, attempted
from bae_source.engine.changing import Changing
from bae_source.engine.lock_files import ABOUT
from bae_source.errors import (
    HistoryError,
    LookupFailed,
    Refused,
    RequestError,
    ResourceError,
    SourceError,
    TransactionError,
)
from bae_source.history.record.adopting import adopt, adoptable
from bae_source.history.record.diff import unified_diff
from bae_source.history.record.entry import Entry
from bae_source.history.record.forgetting import forget, forget_foreign, left, traces
from bae_source.history.record.history import Deleted
from bae_source.history.travel.choosing import moment
from bae_source.history.travel.commands import History, Redo, Undo
from bae_source.history.travel.listing import ListedOperation, draw, draw_whole, select
from bae_source.history.travel.merging import MOST_LINES, merged
from bae_source.history.travel.timeline import Timeline
from bae_source.history.travel.undoing import Travel, later_than, needed_later
from bae_source.history.travel.undoing import plan as plan_travel
from bae_source.history.travel.upkeep import Forget, Prune
from bae_source.model.address import is_selector
from bae_source.model.call import Call
from bae_source.model.changeset import ChangeSet, Obstacle, digest
from bae_source.model.context import Context
from bae_source.model.outcome import Notice, Outcome
from bae_source.model.plan import ModuleFile, Plan, Requirements, in_words, releases_in
from bae_source.model.request import as_mapping
from bae_source.model.text import listed
from bae_source.project.files.data_listing import data_names
from bae_source.project.naming.resolve import resolve
from bae_source.project.naming.select import by_name
from bae_source.project.naming.spans import span_of
from bae_source.project.workspace import Workspace, etag_of
from bae_source.refactoring.planning.still_used import modules_gone
from bae_source.refactoring.planning.taking_back import going, needed, without

__all__ = ("Forget", "History", "Prune", "Redo", "Undo", "forgotten", "listed_operations", "pruned", "travel")

_ID = re.compile(r"op_[0-9a-f]+")


def travel(changing: Changing, request: Undo | Redo, context: Context) -> Outcome:
    """Undo or redo; where another process writes meanwhile, the answer is worked out anew.

    Raises:
        HistoryError: the history cannot do it; nothing was changed.
        TransactionError: it does not hold, or could not be written.
    """

    def attempt(alone: bool) -> Outcome:
        try:
            return _attempt(changing, request, context)
        except HistoryError as error:
            if alone or not _is_unexplained(error) or (context.dry_run and changing.folders().is_idle()):
                raise
            raise (_passing(request, error) if context.dry_run else Crowded) from error

    return attempted(attempt, nullcontext if context.dry_run else changing.transactions.locked)


def listed_operations(changing: Changing, request: History, context: Context) -> Outcome:
    """List what was done, or tell one operation in full.

    Raises:
        RequestError: `invalid_arguments`, `invalid_name`.
        HistoryError: `nothing_to_undo`, if the history cannot be read.
    """
    if is_selector(request.target):
        request = by_name(changing.workspace(None), request)
    if _ID.fullmatch(request.target):
        try:
            return _whole(changing, changing.history.entry(request.target), context)
        except HistoryError as error:
            if error.code != "nothing_to_undo" or not _is_code(changing, request.target):
                raise
    since = None if request.since is None else moment(request.since, changing.now(), parameter="since")
    found = select(
        changing.history,
        limit=request.limit,
        who=request.who,
        since=since,
        target=_canonical(changing, request.target),
        touches=lambda entry, name: _touches(changing, entry, name),
    )
    closed = []
    if request.diff:
        workspace = changing.workspace(None)
        closed = [each.entry.id for each in found if _closed(workspace, each.entry) is not None]
        found = tuple(
            each if each.entry.id in closed else replace(each, diff=_diff(changing, each.entry)) for each in found
        )
    return Outcome(
        status="answer",
        text=draw(found) if found else "(no operations)",
        diff="".join(each.diff for each in found),
        found=found,
        warnings=(*changing.folders().limits(), *_without_diff(closed)),
        complete=not closed,
    )


def pruned(changing: Changing, request: Prune, context: Context) -> Outcome:
    """Delete old operations from the history.

    Raises:
        RequestError: `invalid_arguments`.
        HistoryError: `nothing_to_undo`, if the history cannot be read or written.
        Refused: `forbidden` where a policy is in force.
    """
    if request.keep is None and request.older_than is None:
        raise RequestError(
            "invalid_arguments",
            "prune needs to know what to keep.",
            hints=["prune(keep=1000), or prune(older_than='30d')."],
        )
    _check_records(changing)
    limit = None if request.older_than is None else moment(request.older_than, changing.now(), parameter="older_than")
    oldest = None if limit is None else limit.isoformat(timespec="seconds")
    newest = [entry.id for entry in changing.history.entries(request.keep or 0)]
    kept = frozenset(newest)

    def keep(entry: Entry) -> bool:
        among_newest = request.keep is not None and entry.id in kept
        return among_newest or (oldest is not None and entry.when >= oldest)

    if context.dry_run:
        count = sum(not keep(entry) for entry in changing.history.walk())
        return Outcome(status="planned", text=f"Dry run, nothing was deleted: {_operations(count)} would be.")
    deleted = changing.history.prune(keep)
    notices: tuple[Notice, ...] = ()
    if deleted.operations:
        about = {"who": changing.who(context), "verb": request.verb, "operations": deleted.operations}
        notices = Recording(changing.folders()).enter("history_pruned", about)
    return Outcome(status="applied" if deleted.operations else "unchanged", text=_deleted(deleted), warnings=notices)


def forgotten(changing: Changing, request: Forget, context: Context) -> Outcome:
    """Remove every trace of us, or what stands in the place of our state and is not ours.

    Raises:
        Refused: `busy` while a transaction runs, `unsafe_change` if something of the project's lies among
            it, `forbidden` if it cannot be removed, or where a policy is in force.
    """
    _check_records(changing)
    folders = changing.folders()
    try:
        if request.foreign:
            found = forget_foreign(folders, dry_run=context.dry_run)
        elif context.dry_run:
            found = traces(folders, changing.history, PlanFile(folders))
        else:
            found = forget(folders, changing.history, PlanFile(folders), changing.transactions.locked())
    except OSError as error:
        raise Refused(
            "forbidden",
            f"Not all of it could be removed: {error.strerror}; the project's own files are as they were.",
            hints=["Check who owns our folders, and forget again."],
        ) from error
    nothing = "all state here is yours, or there is none" if request.foreign else "there was no trace of bae_source"
    names = ", ".join(found) if found else f"nothing; {nothing}"
    status: Literal["planned", "applied", "unchanged"] = (
        "planned" if context.dry_run else "applied" if found else "unchanged"
    )
    text = f"Dry run, nothing was removed: {names}." if context.dry_run else f"Removed {names}."
    return Outcome(status=status, text=text, warnings=() if request.foreign else left(folders))


def _check_records(changing: Changing) -> None:
    """Check that no policy, of the project or of a folder in it, keeps its records."""
    paths = data_names(changing.workspace(None)).paths
    changing.gate.check_records([path for path in paths if path.endswith(f"/{SETTINGS}")])


def adopted(changing: Changing, agrees: Callable[[tuple[Path, ...]], bool]) -> Outcome:
    """Make state that was copied or moved with the project the user's own.

    Parameters:
        agrees: asks a person, who is shown the folders.

    Raises:
        Refused: `forbidden` where it cannot be adopted, or the person does not agree; `busy` while it is used.
    """
    folders = changing.folders()
    found = adoptable(folders)
    if not found:
        return Outcome(status="answer", text="Nothing to adopt: all state here is yours, or there is none.")
    if not agrees(found):
        raise Refused("forbidden", "It was not adopted, as it was not agreed to", unchanged=True)
    try:
        places = adopt(folders)
    except OSError as error:
        raise Refused(
            "forbidden",
            f"It could not be adopted: {error.strerror}; the project's own files are as they were.",
            hints=["Mend that, and adopt again."],
        ) from error
    notices = Recording(folders).enter("state_adopted", {"who": changing.who(Context()), "verb": "adopt"})
    text = f"Adopted {listed(place.name for place in places)}: it counts as yours now."
    return Outcome(status="applied", text=text, warnings=notices)


def _attempt(changing: Changing, request: Undo | Redo, context: Context) -> Outcome:
    workspace = changing.workspace(None)
    store = changing.transactions

    def merge(path: str, left: bytes, now: bytes, aim: bytes) -> bytes | Obstacle:
        return _merge(changing.workspace({path: now}), path, left, now, aim)

    def users(travel: Travel) -> list[tuple[Entry, list[tuple[str, str]]]]:
        return list(_users(changing, travel, workspace, who))

    who = changing.who(context)
    found = plan_travel(request, changing.history, who, store.read, store.bits, merge, changing.now(), users)
    for entry in found.entries:
        if (refusal := _closed(workspace, entry)) is not None:
            raise refusal.altered(reason=refusal.reason.removesuffix("."), unchanged=True)
    plan = _with_environment(changing, request, found, _plan(request, found, workspace))
    _check_same(plan, workspace)
    for later, used in users(found):
        raise needed_later(request.verb, found, later, used)
    if context.dry_run:
        return changing.planned(plan, workspace, context)
    return _commit(changing, request, context, workspace, plan, tuple(entry.id for entry in found.entries))


def _is_unexplained(error: HistoryError) -> bool:
    """Return whether a file is not as it was left, and the history does not tell who changed it."""
    return error.code == "undo_conflict" and not error.details.get("later")


def _passing(request: Undo | Redo, error: HistoryError) -> HistoryError:
    """Return the conflict of a dry run with a change that is under way, and not recorded yet."""
    names = listed(error.details["modules"])
    return HistoryError(
        "undo_conflict",
        f"The result of {request.verb} is unknown now: another change is being made, maybe to {names}.",
        hints=["Ask again when it is done."],
        details=error.details,
    )


def _commit(
    changing: Changing, request: Undo | Redo, context: Context, workspace: Workspace, plan: Plan, of: tuple[str, ...]
) -> Outcome:
    kind: Literal["undo", "redo"] = "undo" if isinstance(request, Undo) else "redo"
    given = as_mapping(request)
    requests = ({"do": request.verb, "operation_id": list(of)},)
    commit = partial(changing.commit, verb=request.verb, kind=kind, of=of)
    try:
        return commit(plan, workspace, context, given, requests)
    except (TransactionError, Refused) as error:
        if plan.releases and error.code in ("resolution_failed", "forbidden"):
            names = listed(each.name for each in plan.releases)
            notice = Notice("not_installed", f"The environment stays as it is, also {names}: {error.clause}.")
            summary = plan.summary.removesuffix(f" {in_words(plan.releases)}.")
            plan = replace(plan, releases=(), summary=summary, warnings=(*plan.warnings, notice))
            return _commit(changing, request, context, workspace, plan, of)
        if error.code != "reload_failed":
            raise
        notice = Notice("import_failed", f"{error.clause}; it stands all the same.")
        plan, context = replace(plan, warnings=(*plan.warnings, notice)), replace(context, reload="off")
        return commit(plan, workspace, context, given, requests)


def _merge(workspace: Workspace, path: str, left: bytes, now: bytes, aim: bytes) -> bytes | Obstacle:
    """Take a change back from a file that has changed since: by symbols where it is code, else by lines."""
    if path.endswith((".py", ".pyi")):
        return without(workspace, path, left, aim)
    if any(b"\0" in part or part.count(b"\n") > MOST_LINES for part in (left, now, aim)):
        return Obstacle()
    found = merged(left, now, aim)
    return found.content if found.clean else Obstacle()


def _plan(request: Undo | Redo, found: Travel, workspace: Workspace) -> Plan:
    modules = [workspace.layout.module_at(file.path) for file in found.changes.files]
    return Plan(
        changes=found.changes,
        changed=tuple(dict.fromkeys(address for entry in found.entries for address in entry.changed)),
        modules=tuple(workspace.module_file(module) for module in modules if isinstance(module, ModuleFile)),
        warnings=(*_merged(found.merged), *_left_behind(workspace, found.changes)),
        summary=_summary(request, found.entries),
        passed=found.passed,
    )


def _with_environment(changing: Changing, asked: Undo | Redo, found: Travel, plan: Plan) -> Plan:
    """Return a plan with what the environment had before the changes, or after them."""
    about = [entry for entry in found.entries if any(file.path in ABOUT for file in entry.files)]
    requests = [changing.history.whole(entry).request for entry in about]  # newest first
    is_redo = isinstance(asked, Redo)
    recorded = releases_in(requests if is_redo else requests[::-1])
    releases = recorded if is_redo else tuple(replace(each, before=each.after, after=each.before) for each in recorded)
    build = any(request.get("build") for request in requests)
    if not releases:
        return plan
    summary = f"{plan.summary} {in_words(releases)}."
    return replace(plan, releases=releases, requirements=Requirements(build=build), summary=summary)


def _users(
    changing: Changing, found: Travel, workspace: Workspace, who: str
) -> Iterator[tuple[Entry, list[tuple[str, str]]]]:
    """Yield the later changes of other files that use what would go, each with the names and their users."""
    gone = going(workspace, found.changes)
    if not gone:
        return
    after = workspace.after(found.changes)
    for later in later_than(found, changing.history, who):
        paths = {file.path for file in later.files if file.path.endswith((".py", ".pyi"))}
        if later.kind == "change" and paths:
            before, _ = changing.history.contents(later)
            if used := list(needed(after, gone, [{path: before[path] for path in sorted(paths)}])):
                yield later, used


def _merged(names: Sequence[str]) -> tuple[Notice, ...]:
    if not names:
        return ()
    have = "has" if len(names) == 1 else "have"
    return (Notice("others_kept", f"{listed(names)} {have} changed since; what else is in there stays as it is."),)


def _check_same(plan: Plan, workspace: Workspace) -> None:
    """Refuse if a file was written between the two looks at it, that of the plan and that of the workspace."""
    for file in plan.changes.files:
        content = workspace.content(file.path)
        if file.before != (None if content is None else digest(content)):
            raise Refused(
                "stale", "A file was changed while this was planned; nothing was written.", hints=["Try again."]
            )


def _left_behind(workspace: Workspace, changes: ChangeSet) -> Iterator[Notice]:
    """Yield notices of modules that go with an undo or redo, and are still imported."""
    if any(file.after is None for file in changes.files):
        from bae_source.refactoring.planning.left_behind import (
            left_at_last,  # names across files, which others need not
        )

        later = workspace.after(changes)
        for name in modules_gone(workspace, changes):
            yield from left_at_last(later, name)


def _summary(request: Undo | Redo, entries: Sequence[Entry]) -> str:
    did = "Undid" if isinstance(request, Undo) else "Redid"
    if len(entries) == 1:
        return f"{did} {entries[0].id}: {entries[0].summary}"
    return f"{did} {len(entries)} changes: {', '.join(entry.id for entry in entries)}."


def _closed(workspace: Workspace, entry: Entry) -> Refused | None:
    """Return the refusal to read what an operation changed; None where the caller may."""
    for file in entry.files:
        for path in filter(None, (file.path, file.origin)):
            try:
                workspace.check_readable(path)
            except Refused as error:
                return error.altered(subject=file.name) if error.subject else error
            except FileNotFoundError:
                continue  # there is none that is spelt so now
    return None


def _without_diff(closed: Sequence[str]) -> Iterator[Notice]:
    if closed:
        yield Notice("forbidden", f"Files in it may not be read, so it has no diff: {listed(closed)}.")


def _whole(changing: Changing, entry: Entry, context: Context) -> Outcome:
    history = changing.history
    if (refusal := _closed(changing.workspace(None), entry)) is not None:
        raise refusal
    diff = _diff(changing, entry)
    word = Timeline(history, changing.who(context)).last(entry)
    undone_by = word.id if entry.kind == "change" and word.kind == "undo" else None
    about = ListedOperation(entry=history.whole(entry), undone_by=undone_by, diff=diff)
    verb = "redo" if undone_by else "undo" if entry.kind == "change" else ""
    actions = [Call(verb, operation_id=entry.id)] if verb else []
    return Outcome(
        status="answer",
        operation_id=entry.id,
        text=draw_whole(about),
        diff=diff,
        found=(about,),
        next_actions=tuple(actions),
    )


def _diff(changing: Changing, entry: Entry) -> str:
    before, _ = changing.history.contents(entry)
    contents = {path: content for path, content in before.items() if content is not None}
    modes = {file.path: file.mode for file in entry.files}
    return unified_diff(changing.history.changes(entry), contents, modes.get)


def _canonical(changing: Changing, target: str) -> str:
    """Return the canonical address of what a name means; the name as it is where nothing has it any more."""
    if not target:
        return ""
    try:
        return str(resolve(changing.workspace(None), target).address)
    except (LookupFailed, SourceError):
        return target


def _is_code(changing: Changing, target: str) -> bool:
    try:
        resolve(changing.workspace(None), target)
    except ResourceError:
        return False
    return True


def _touches(changing: Changing, entry: Entry, name: str) -> bool:
    """Return whether an operation on something around it changed a name; True where that is unknown."""
    try:
        before, after = changing.history.contents(entry)
        return _etag(changing.workspace(before), name) != _etag(changing.workspace(after), name)
    except ResourceError:
        return True


def _etag(workspace: Workspace, name: str) -> str | None:
    try:
        resolved = resolve(workspace, name)
    except LookupFailed:
        return None
    return etag_of(span_of(resolved).cut(resolved.tree.text))


def _operations(count: int) -> str:
    return f"{count:,} operation" if count == 1 else f"{count:,} operations"


def _deleted(deleted: Deleted) -> str:
    if not deleted.operations:
        return "Nothing was deleted: the history holds no more than is to be kept."
    return f"Deleted {_operations(deleted.operations)} from the history, {max(deleted.bytes, 0):,} bytes."
