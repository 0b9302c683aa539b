"""How a failed transaction is told: errors of the system as sentences, and what state the project is in.

Invariant: messages name modules; only where old content is kept after a failed rollback is a place named, because a
person needs it.
"""

from __future__ import annotations

import errno
import os

from bae_source.errors import Refused, ResourceError, TransactionError
from bae_source.transaction.names import Speak, listed
from bae_source.transaction.writer import Restored, WriteFailed

_REASONS = {
    errno.ENOSPC: ("the disk is full", "Free some space and try again."),
    errno.EDQUOT: ("the disk quota is used up", "Free some space and try again."),
    errno.EROFS: ("the file system is read-only", "Make it writable and try again."),
    errno.EACCES: ("permission was denied", "Check who owns the files and folders of the project."),
    errno.EPERM: ("permission was denied", "Check who owns the files and folders of the project."),
    errno.EFBIG: ("the file would be larger than allowed", "Raise the limit on file sizes, or make the file smaller."),
    errno.EIO: ("the disk reported an error", "Check the disk before you try again."),
    errno.EMFILE: ("too many files are open", "Try again, or raise the limit of open files."),
    errno.ENAMETOOLONG: ("its name is too long for the file system", "Choose a shorter name."),
}


def unreadable(name: str, error: OSError) -> Refused:
    """Return the refusal of a target that cannot be opened."""
    reason, hint = _reason(error)
    return Refused("forbidden", f"{name} could not be opened: {reason}; nothing was changed.", hints=[hint])


def no_state(error: OSError) -> Refused:
    """Return the refusal where our own files cannot be written."""
    reason, hint = _reason(error)
    return Refused("forbidden", f"bae_source cannot write its own state: {reason}; nothing was changed.", hints=[hint])


def explained(error: BaseException, restored: Restored, trouble: tuple[str, ...], speak: Speak) -> BaseException:
    """Return the error to raise once everything was taken back.

    Parameters:
        restored: with nothing in `failed`.
        trouble: what else the caller must know.
    """
    kept = [
        f"{speak(path)} was changed by somebody else meanwhile, and was left as it is." for path in restored.foreign
    ]
    notes = (*kept, *trouble)
    if isinstance(error, WriteFailed):
        reason, hint = _reason(error.error)
        state = "" if kept else "; nothing was changed"
        message = f"{speak(error.path)} could not be written: {reason}{state}."
        return TransactionError("write_failed", message, hints=[hint, *notes])
    if isinstance(error, ResourceError) and notes:
        hints = (*error.hints, *notes)
        message = error.message.replace("; nothing was changed", "") if kept else error.message
        return type(error)(error.code, message, hints=hints, candidates=error.candidates, details=error.details)
    for note in notes:
        error.add_note(note)
    return error


def stuck(error: BaseException, restored: Restored, speak: Speak) -> TransactionError:
    """Return the error of a rollback that failed: each file, and where its old content is."""
    places = [
        f"{speak(kept.path)}: its old content is in {kept.copy}."
        if kept.copy
        else f"{speak(kept.path)}: it did not exist before; remove it."
        for kept in restored.failed
    ]
    names = listed(speak(kept.path) for kept in restored.failed)
    return TransactionError(
        "rollback_failed",
        f"The change failed ({_said(error)}), and {names} could not be taken back.",
        hints=places,
        details={
            "files": [{"path": kept.path, "old_content": kept.copy} for kept in restored.failed],
            "left": list(restored.foreign),
        },
    )


def _said(error: BaseException) -> str:
    if isinstance(error, WriteFailed):
        return _reason(error.error)[0]
    if isinstance(error, ResourceError):
        return error.message.rstrip(".")
    return type(error).__name__


def _reason(error: OSError) -> tuple[str, str]:
    known = _REASONS.get(error.errno or 0)
    return known or (os.strerror(error.errno) if error.errno else "an error of the system", "Try again.")
