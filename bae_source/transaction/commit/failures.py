"""The message about a failed transaction: errors of the system as sentences, and what state the project is in.

Invariant: messages name modules; only where old content is kept after a rollback or a recovery is a place named,
because a person needs it.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping

from bae_source.errors import Refused, ResourceError, TransactionError
from bae_source.model.outcome import UNRECORDED, Notice
from bae_source.model.text import listed
from bae_source.system.descriptors import NoLocks
from bae_source.transaction.commit.recovery import Recovered
from bae_source.transaction.commit.restoring import Left, Restored
from bae_source.transaction.disk.writer import Owners, WriteFailed

_REASONS = {
    errno.ENOSPC: ("the disk is full", "Free some space and try again."),
    errno.EDQUOT: ("the disk quota is used up", "Free some space and try again."),
    errno.EROFS: ("the file system is read-only", "Make it writable and try again."),
    errno.EACCES: ("permission was denied", "Check who owns the files and folders of the project."),
    errno.EPERM: ("permission was denied", "Check who owns the files and folders of the project."),
    errno.EFBIG: ("the file would be larger than allowed", "Raise the limit on file sizes, or make the file smaller."),
    errno.EIO: ("the disk reported an error", "Check the disk before you try again."),
    errno.EMFILE: ("too many files are open", "Try again, or raise the limit of open files."),
    errno.ENOTDIR: ("a folder above it is a file now", "Move that file away, and try again."),
    errno.ENAMETOOLONG: ("its name is too long for the file system", "Choose a shorter name."),
}
_UNRECORDED = "could not be recorded; the next request tries again, and until then it cannot be undone"
_DAMAGED = ("it is damaged, or a newer version wrote it", "")
_OTHER_KINDS = {errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ELOOP, errno.EMLINK, errno.ENXIO, errno.ESPIPE}
_IN_THE_WAY = ("something else stands where one of its files or folders belongs", "doctor says what to move away.")

_COPY = "Change a copy of the project on a local disk of Linux or macOS; reading and --dry-run work here as well."


def unreadable(name: str, error: OSError) -> Refused:
    """Return the refusal of a target that cannot be opened."""
    reason, hint = _reason(error)
    if error.errno == errno.ENOTDIR and error.filename:
        reason = f"{os.path.basename(error.filename)!r}, a folder above it, is a file now"
    return Refused("forbidden", f"{name} could not be opened: {reason}", unchanged=True, hints=[hint])


def no_state(error: OSError) -> Refused:
    """Return the refusal where our own files cannot be written."""
    reason, hint = _own_reason(error)
    return Refused("forbidden", f"bae_source cannot write its own state: {reason}", unchanged=True, hints=[hint])


def no_recovery(error: Exception, place: str) -> Refused:
    """Return the refusal where an earlier change would have to be recovered first, and cannot be."""
    reason, hint = _own_reason(error) if isinstance(error, OSError) else _DAMAGED
    return Refused(
        "forbidden",
        f"The journal of an earlier change could not be worked off: {reason}",
        unchanged=True,
        hints=[hint] * bool(hint) + [f"If it cannot be mended, remove {place}; what it would take back then stays."],
    )


def explained(error: BaseException, restored: Restored, trouble: tuple[str, ...]) -> BaseException:
    """Return the error to raise once everything was taken back.

    Parameters:
        restored: with nothing in `failed`.
        trouble: what else the caller must know.
    """
    kept = tuple(map(_left_alone, restored.foreign))
    notes = (*kept, *trouble)
    if isinstance(error, WriteFailed):
        reason, hint = _reason(error.error)
        reason = f"{error.name} could not be written: {reason}"
        return TransactionError("write_failed", reason, unchanged=not kept, hints=[hint, *notes])
    if isinstance(error, ResourceError) and notes:
        return error.altered(unchanged=error.unchanged and not kept, hints=(*error.hints, *notes))
    for note in notes:
        error.add_note(note)
    return error


def stuck(what: str, restored: Restored, journal: str) -> TransactionError:
    """Return the error of a rollback that failed: each file, and where its old content is.

    Parameters:
        what: what happened before that, as a sentence without its full stop.
        journal: where the journal is kept.
    """
    names = listed(left.name for left in restored.failed)
    again = f"The next command tries again; if you put the files in order by hand, remove {journal} before it."
    return TransactionError(
        "rollback_failed",
        f"{what}, and {names} could not be taken back.",
        hints=[*(_not_back(left) for left in restored.failed), again],
        details={
            "files": [{"path": left.path, "old_content": left.copy} for left in restored.failed],
            "left": [left.path for left in restored.foreign],
        },
    )


def failed(error: BaseException) -> str:
    """Return the error before a rollback that failed."""
    return f"The change failed ({_message(error)})"


def notices_of(recovered: Recovered) -> tuple[Notice, ...]:
    """Return a notice of what recovery did; nothing if there was nothing to do."""
    if recovered.set_aside:
        what = "The journal was not written by bae_source for this project, and nothing in it was followed"
        return (Notice("journal_set_aside", f"{what}; it lies in {recovered.set_aside} now. Remove it."),)
    if recovered.operation_id is None:
        return ()
    left = {each.name for each in recovered.restored.foreign}
    what = f"{recovered.operation_id} ({recovered.summary})"
    names = listed([name for name in recovered.names if name not in left])
    if recovered.committed:
        ended = f"{what} had been made when its process ended"
        sentence = f"{ended}, and it stands: {names}."
        if recovered.recorded:
            sentence = f"{ended}, and history has it; {names} is left as it is now."
        kept = [f"The old file, which was changed since it was read, is in {place}." for place in recovered.kept]
        return (Notice("recovered", " ".join([sentence, *kept])),)
    if recovered.failed:
        error = stuck(f"{what} was interrupted", recovered.restored, recovered.journal)
        return (Notice("recovery_failed", " ".join((error.message, *error.hints))),)
    foreign = map(_left_alone, recovered.restored.foreign)
    begun = f"{what} was interrupted" + (f", and was taken back: {names}." if names else ".")
    return (Notice("recovered", " ".join([begun, *foreign, *map(saved, recovered.kept)])),)


def interrupted(error: BaseException, *, waits: bool = True) -> tuple[Notice, ...]:
    """Return the notice of an interruption that came too late, with whether the change is in the history."""
    text = f"The change had been made when it was interrupted ({type(error).__name__}), and it stands."
    return (Notice("interrupted", text if waits else f"{text} It {_UNRECORDED}."),)


def saved(place: str) -> str:
    """Return the place of a file that was saved from outside just before ours replaced it, and overtaken since."""
    return f"A version saved from outside just before that, and overwritten since, is in {place}."


def not_kept(error: OSError) -> str:
    """Return the sentence for a file that could not be kept, and so was left where it is."""
    return f"A version saved meanwhile could not be put away: {_own_reason(error)[0]}; the next command tries again."


def disowned(files: Mapping[str, Owners]) -> tuple[Notice, ...]:
    """Name the files that could not be given to their owner, and whose they are now; nothing if there are none."""
    found = []
    for owners in dict.fromkeys(files.values()):
        names = [name for name, its in files.items() if its == owners]
        (user, group), (new_user, new_group) = owners.before, owners.after
        belonged = "belongs" if len(names) == 1 else "belong"
        what = f"{listed(names)} {belonged} to user {new_user} and group {new_group} now"
        was = f"it was user {user} and group {group}, and only root may give a file to another user"
        found.append(Notice("owner_changed", f"{what}: {was}. If that matters, have root set the owner again."))
    return tuple(found)


def unrecorded(why: str, hint: str) -> tuple[Notice, ...]:
    """Return the notice that a change cannot be recorded at present."""
    what = "The change was made, and waits for being recorded; until then it cannot be undone"
    return (Notice(UNRECORDED, f"{what}: {why}. {hint}"),)


def not_taken(error: OSError) -> tuple[Notice, ...]:
    """Return the notice that a change does not even wait to be recorded."""
    reason, hint = _own_reason(error)
    return (Notice(UNRECORDED, f"The change was made, and {_UNRECORDED}: {reason}. {hint}"),)


def _left_alone(left: Left) -> str:
    where = f" What it held before is in {left.copy}." if left.copy else ""
    return f"{left.name} was changed from outside meanwhile, and was left as it is.{where}"


def _not_back(left: Left) -> str:
    if not left.existed:
        return f"{left.name}: it did not exist before; remove it."
    return f"{left.name}: its old content is in {left.copy or 'the journal'}."


def _message(error: BaseException) -> str:
    if isinstance(error, WriteFailed):
        return _reason(error.error)[0]
    if isinstance(error, ResourceError):
        return error.clause
    return type(error).__name__


def _own_reason(error: OSError) -> tuple[str, str]:
    """Return reason and hint of an error that is about a file of our own."""
    if isinstance(error, NoLocks):
        return f"{error.strerror}, without which two changes at the same time could mix", _COPY
    return _IN_THE_WAY if error.errno in _OTHER_KINDS else _reason(error)


def _reason(error: OSError) -> tuple[str, str]:
    known = _REASONS.get(error.errno or 0)
    return known or (os.strerror(error.errno) if error.errno else "an error of the system", "Try again.")
