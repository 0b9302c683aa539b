"""The doctor's look at what is ours: where it lies and whether it can be written, the journal, history, what is kept.

Invariants:
- places are named here, because a person must know them to mend what is wrong;
- nothing is created, recovered, recorded or waited for; of the project's lock a shared one is tried for a moment;
- nothing in a folder that is not ours counts, whatever it says.
"""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Mapping
from pathlib import Path

from bae_source.approval.plan_file import Damaged, PlanFile, set_aside
from bae_source.doctor.health import Part, Trouble
from bae_source.doctor.scene import Scene, megabytes, quoted
from bae_source.errors import Refused
from bae_source.history.record.entry import Entry
from bae_source.history.record.git import HistoryUnavailable, Repository
from bae_source.history.record.history import HISTORY_LOCK
from bae_source.history.record.pending import Pending
from bae_source.model.text import counted
from bae_source.state.binding import Standing
from bae_source.state.folders import LOCAL, OURS, StateFolders
from bae_source.state.journal_head import NAME
from bae_source.state.ledger_files import FOLDER as LEDGER
from bae_source.state.ledger_files import LOCK as LEDGER_LOCK
from bae_source.state.ledger_files import files_of
from bae_source.state.lock import busy, is_held_now
from bae_source.system.descriptors import SAFELY
from bae_source.transaction.commit.journal import Foreign, Journal, State, Unreadable
from bae_source.transaction.disk.port import RealDisk


def state(scene: Scene) -> Part:
    """Look at whether our own files can be written."""
    folders = scene.folders
    lines: list[str] = []
    troubles: dict[Path, Trouble] = {}
    standings = folders.standings()
    for place, what in ((folders.base, "history, journal and lock"), (folders.local, "cache and telemetry")):
        if standings[place] in (Standing.FOREIGN, Standing.OTHERS):
            problem = "not used"
            troubles.setdefault(place, _foreign(place, standings[place], changes=place == folders.base))
        else:
            above = _nearest(place)
            problem = "is a link" if above == place and place.is_symlink() else _obstacle(above)
            if problem:
                troubles.setdefault(above, _closed(above, problem, changes=place == folders.base))
        lines.append(f"{place}: {what}; {problem or 'writable'}")
    if folders.users.problem:
        lines.append(f"what is made here may be gone after a restart: {folders.users.problem}")
    for place, problem in _obstacles(folders).items():
        message = f"{place} {problem}: no change can be made, or none recorded."
        mend = _opened(place, "u+rwX") if "cannot" in problem else f"mv {quoted(place)} {quoted(place)}.moved"
        mend = "Change a copy of the project on a local disk." if "locks" in problem else mend
        troubles.setdefault(place, Trouble(code="state_not_writable", message=message, mend=mend))
    return Part(name="state", lines=tuple(lines), troubles=tuple(troubles.values()))


def transaction(scene: Scene) -> Part:
    """Look at the lock and the journal, and at what an earlier recovery kept."""
    folders = scene.folders
    troubles: list[Trouble] = []
    if folders.id is not None and is_held_now(folders.lock):
        holder = busy(folders.lock, 0).details["pid"]
        line = f"process {holder or '(unknown)'} is changing the project now"
    elif folders.id is None or (trouble := unfinished(folders)) is None:
        line = "none under way"
    else:
        line = "one is not finished"
        troubles.append(trouble)
    kept = 0 if folders.id is None else sum(len(files) for _, _, files in os.walk(folders.kept))
    if kept:
        message = (
            f"Recovery kept {counted(kept, 'old file')} in {folders.kept}, since what we wrote had been changed: "
            "take from there what you need, and remove it."
        )
        troubles.append(Trouble(code="kept_files", message=message, mend=f"ls -lR {quoted(folders.kept)}"))
    return Part(name="transaction", lines=(line,), troubles=tuple(troubles))


def history(scene: Scene) -> Part:
    """Look at what was recorded, and at what waits for it."""
    folders = scene.folders
    places = (folders.history, folders.history.with_suffix(".1.git")) if folders.id is not None else ()
    found = [Repository(each, scene.programs, lambda: folders.id) for each in places if os.path.lexists(each)]
    waiting = [each.entry for _, each in Pending(folders.pending, lambda: folders.id).waiting()]
    problem = hint = ""
    count: int | None = None
    newest = list[Entry]()
    try:
        if strange := [quoted(each.folder) for each in found if not each.exists]:
            problem, hint = "it is no repository of ours", f"mv {strange[0]} {strange[0]}.moved"
        else:
            count = len(waiting) + sum(each.count() for each in found)
            tips = [(each, tip) for each in found if scene.git and (tip := each.tip()) is not None]
            newest = [entry for each, tip in tips for _, entry in each.operations(tip, 1)[0]]
    except HistoryUnavailable as error:
        problem, hint = error.message, error.hint
    except OSError as error:
        problem, hint = error.strerror or type(error).__name__, f"ls -lR {shlex.quote(str(folders.history))}"
    amount = "unknown" if count is None else counted(count, "operation")
    size = megabytes(sum(sum(each.packs.values()) for each in found))
    lines = [
        f"{amount}, {size}"
        + "".join(f", the newest {entry.id} at {entry.when}" for entry in (waiting[-1:] or newest)[:1])
    ]
    if waiting:
        lines.append(f"{counted(len(waiting), 'operation')} made, and waiting to be recorded")
    troubles = []
    if scene.git is None:
        message = "There is no git on the search path: changes are not recorded, and cannot be undone."
        troubles.append(Trouble(code="git_missing", message=message, mend="Install git."))
    elif problem:
        message = f"The history cannot be read: {problem}."
        troubles.append(Trouble(code="history_unreadable", message=message, mend=hint))
    return Part(name="history", lines=tuple(lines), troubles=tuple(troubles))


def plans(scene: Scene) -> Part:
    """Look at the drafts and proposals that are kept; of damaged ones nothing is set aside."""
    file = PlanFile(scene.folders)
    aside = "was set aside, and what could be read of it goes on in another; remove it when you have looked at it"
    troubles = [_damaged(path, aside, f"rm {quoted(path)}") for path in set_aside(scene.folders)]
    line = "unknown"
    try:
        counts = file.counts()
        proposals = (f"{number:,} {name.replace('_', ' ')}" for name, number in counts.items() if name != "drafts")
        line = ", ".join((counted(counts.get("drafts", 0), "draft"), *proposals))
    except Damaged:
        troubles.append(_damaged(file.path, "is damaged; the next request that needs it sets it aside", "pending"))
    except (OSError, Refused) as error:
        message = error.message if isinstance(error, Refused) else f"{error.strerror}."
        message = f"The drafts and proposals in {file.path} cannot be read: {message}"
        mend = "pending" if isinstance(error, BlockingIOError) else f"ls -l {quoted(file.path)}"
        troubles.append(Trouble(code="plans_unreadable", message=message, mend=mend))
    return Part(name="plans", lines=(line,), troubles=tuple(troubles))


def _damaged(path: Path, what: str, mend: str) -> Trouble:
    message = f"The file of drafts and proposals {path} {what}."
    return Trouble(code="plans_damaged", message=message, mend=mend)


def cache(scene: Scene) -> Part:
    """Look at what is kept of the project's files; roughly, since it grows from one page of the answer to the next."""
    size = sum(map(_size, scene.folders.local.glob("facts-*.sqlite"))) // 1_000_000
    return Part(name="cache", lines=(f"{size:,} MB" if size else "less than 1 MB",))


def telemetry(scene: Scene) -> Part:
    """Look at whether requests are noted; not at how many, which would be more on each page of the answer."""
    return Part(name="telemetry", lines=("on" if scene.noting else "off",))


def _obstacles(folders: StateFolders) -> Mapping[Path, str]:
    """Return the obstacles to making or recording changes; a journal that is none is reported with its text."""
    found: dict[Path, str] = {}
    journal = folders.base / NAME
    files = dict.fromkeys((journal, folders.lock, folders.base / HISTORY_LOCK), stat.S_IFREG)
    ledger = folders.base / LEDGER
    files |= dict.fromkeys(_files_of_ledger(folders, ledger), stat.S_IFREG)
    kinds = files | dict.fromkeys((folders.staging, folders.pending, ledger), stat.S_IFDIR)
    for place, kind in kinds.items() if folders.id is not None else ():
        there = _kind(place)
        if there not in (kind, None):
            found |= {place: "is not what we keep under that name"} if place != journal else {}
        elif there is not None and not os.access(place, os.R_OK | os.W_OK):
            found[place] = "cannot be read and written"
    if is_held_now(folders.lock) is None:
        found[folders.lock] = "cannot be locked, since this system or its file system has no locks"
    return found


def _files_of_ledger(folders: StateFolders, ledger: Path) -> list[Path]:
    try:
        return [ledger / LEDGER_LOCK, *files_of(ledger, folders.id or "")]
    except OSError:
        return []  # its folder is an obstacle itself


def _kind(path: Path) -> int | None:
    """Return the kind of file at a path, without following a link; None where there is none that we may see."""
    try:
        return stat.S_IFMT(path.lstat().st_mode)
    except OSError:
        return None


def unfinished(folders: StateFolders) -> Trouble | None:
    """Return the trouble that a transaction in the journal is, or a journal that cannot be read; None for neither."""
    journal = folders.base / NAME
    try:
        if os.path.lexists(journal) and not journal.is_file():
            return _no_journal(journal, "it is no file")
        if folders.is_idle():
            return None
        descriptor = os.open(journal, os.O_RDONLY | SAFELY)
        try:
            state, record = Journal(descriptor, folders.base, RealDisk(), folders.id or "").read()
        finally:
            os.close(descriptor)
    except (Unreadable, Foreign):
        return _no_journal(journal, "it is damaged, or a newer version wrote it")
    except OSError as error:
        return _no_journal(journal, error.strerror or type(error).__name__)
    if state is State.IDLE or record is None:
        return None
    fate = "was made when its process ended; the next request tidies up behind it."
    if state is State.OPEN:
        fate = "was interrupted; the next request takes it back."
    elif state is State.SINGLE:
        fate = "was begun; the next request sees whether it was made, and tidies up behind it."
    message = f"{record.entry.id} ({record.entry.summary}) {fate}"
    return Trouble(code="unfinished_transaction", message=message, mend="history")


def _no_journal(journal: Path, problem: str) -> Trouble:
    place = quoted(journal)
    message = (
        f"The journal {journal} cannot be read: {problem}. Out of the way, "
        "it is no obstacle; what it would take back then stays."
    )
    return Trouble(code="journal_unreadable", message=message, mend=f"mv {place} {place}.damaged")


def _foreign(place: Path, standing: Standing, *, changes: bool) -> Trouble:
    lost = "no change can be made" if changes else "nothing is remembered from one process to the next"
    if standing is Standing.OTHERS:
        message = f"{place} belongs to another user, so nothing in it is used: {lost}."
        return Trouble(code="foreign_state", message=message, mend=f"mv {quoted(place)} {quoted(place)}.moved")
    message = (
        f"{place} was not made here by you, so nothing in it is believed: {lost}. If you copied or moved the project, "
        "type `bae-source adopt` at a terminal instead of removing it."
    )
    return Trouble(code="foreign_state", message=message, mend="forget --foreign")


def _closed(place: Path, problem: str, *, changes: bool) -> Trouble:
    lost = "no change can be made" if changes else "nothing is remembered from one process to the next"
    mend = (
        _opened(place, "u+rwx")
        if place.is_dir() and not place.is_symlink()
        else f"mv {quoted(place)} {quoted(place)}.moved"
    )
    return Trouble(code="state_not_writable", message=f"{place} {problem}: {lost}.", mend=mend)


def _opened(place: Path, modes: str) -> str:
    """Return the command that opens a place to us: `chmod`, or `chown` of another user's, as after root's change."""
    try:
        ours = place.lstat().st_uid == os.geteuid()
    except OSError:
        ours = True  # gone meanwhile
    if ours:
        return f"chmod {modes} {quoted(place)}"
    whole = "-R " if place.name in (OURS, LOCAL) else ""  # all that is in it is of us
    return f"sudo chown {whole}{os.geteuid()} {quoted(place)}"


def _nearest(place: Path) -> Path:
    """Return a place, or the nearest one above it that exists."""
    return next((each for each in (place, *place.parents) if os.path.lexists(each)), place)


def _obstacle(place: Path) -> str:
    if not place.is_dir():
        return "is no folder"
    return "" if os.access(place, os.W_OK | os.X_OK) else "cannot be written"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # gone meanwhile
