"""The doctor's look at what is ours: where it lies and whether it can be written, the journal, history, what is kept.

Invariant: places are named here, because a person must know them to mend what is wrong.
"""

from __future__ import annotations

import os
from pathlib import Path

from bae_source.doctor.health import Part, Trouble
from bae_source.doctor.scene import Scene, counted, megabytes, quoted
from bae_source.state.binding import Standing
from bae_source.state.folders import LOCAL, OURS
from bae_source.transaction.commit.examination import Examined, UnderWay


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
    for place, problem in scene.examined.obstacles.items():
        message = f"{place} {problem}: no change can be made, or none recorded."
        mend = _opened(place, "u+rwX") if "cannot" in problem else f"mv {quoted(place)} {quoted(place)}.moved"
        mend = "Change a copy of the project on a local disk." if "locks" in problem else mend
        troubles.setdefault(place, Trouble(code="state_not_writable", message=message, mend=mend))
    return Part(name="state", lines=tuple(lines), troubles=tuple(troubles.values()))


def transaction(scene: Scene) -> Part:
    """Look at the lock and the journal, and at what an earlier recovery kept."""
    found = scene.examined
    troubles: list[Trouble] = []
    if found.held:
        line = f"process {found.holder or '(unknown)'} is changing the project now"
    elif found.under_way is None:
        line = "none under way"
    else:
        line = "one is not finished"
        troubles.append(_unfinished(found, found.under_way))
    if found.kept:
        where = scene.folders.kept
        message = (
            f"Recovery kept {counted(found.kept, 'old file')} in {where}, because somebody had changed what we wrote: "
            "take from there what you need, and remove it."
        )
        troubles.append(Trouble(code="kept_files", message=message, mend=f"ls -lR {quoted(where)}"))
    return Part(name="transaction", lines=(line,), troubles=tuple(troubles))


def history(scene: Scene) -> Part:
    """Look at what was recorded."""
    past = scene.examined.past
    count = "unknown" if past.operations is None else counted(past.operations, "operation")
    lines = [f"{count}, {megabytes(past.bytes)}{f', the newest {past.newest}' if past.newest else ''}"]
    if past.waiting:
        lines.append(f"{counted(past.waiting, 'operation')} made, and waiting to be recorded")
    troubles = []
    if past.git is None:
        message = "There is no git on the search path: changes are not recorded, and cannot be undone."
        troubles.append(Trouble(code="git_missing", message=message, mend="Install git."))
    elif past.problem:
        message = f"The history cannot be read: {past.problem}."
        troubles.append(Trouble(code="history_unreadable", message=message, mend=past.hint))
    return Part(name="history", lines=tuple(lines), troubles=tuple(troubles))


def cache(scene: Scene) -> Part:
    """Look at what is kept of the project's files; roughly, since it grows from one page of the answer to the next."""
    size = sum(map(_size, scene.folders.local.glob("facts-*.sqlite"))) // 1_000_000
    return Part(name="cache", lines=(f"{size:,} MB" if size else "less than 1 MB",))


def telemetry(scene: Scene) -> Part:
    """Look at whether requests are noted; not at how many, which would be more on each page of the answer."""
    return Part(name="telemetry", lines=("on" if scene.noting else "off",))


def _unfinished(found: Examined, under_way: UnderWay) -> Trouble:
    if under_way.problem:
        place = quoted(found.journal)
        message = (
            f"The journal {found.journal} cannot be read: {under_way.problem}. Out of the way, "
            "it is no obstacle; what it would take back then stays."
        )
        return Trouble(code="journal_unreadable", message=message, mend=f"mv {place} {place}.damaged")
    which = f"{under_way.operation_id} ({under_way.summary})"
    told = {
        True: "was made when its process ended; the next request tidies up behind it.",
        False: "was interrupted; the next request takes it back.",
        None: "was begun; the next request sees whether it was made, and tidies up behind it.",
    }
    message = f"{which} {told[under_way.committed]}"
    return Trouble(code="unfinished_transaction", message=message, mend="history")


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
    """Return what opens a place to us: of what is another's, as after a change that root made, we cannot set modes."""
    try:
        ours = place.lstat().st_uid == os.geteuid()
    except OSError:
        ours = True  # gone meanwhile
    if ours:
        return f"chmod {modes} {quoted(place)}"
    whole = "-R " if place.name in (OURS, LOCAL) else ""  # all that is in it is of us
    return f"sudo chown {whole}{os.geteuid()} {quoted(place)}"


def _nearest(place: Path) -> Path:
    """Return what stands at a place, or at the nearest one above it where something does."""
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
