"""The places of our own files, worked out from the disk alone: git is never run.

Invariants:
- history, lock, journal and staging lie in `<this worktree's git dir>/bae-source`, so `git clean` does not reach them
  and worktrees do not share them; without git, or where its folder cannot be written, in `.bae-source` of the project;
- what was made in `.bae-source` before there was a repository stays there, so that all processes find the same;
- cache and telemetry lie in `.bae-source`, which ignores itself;
- all of it lies in the user's own state folder where the project is another user's, where no state can be bound to
  this user (`binding`), or where the project is one part of a folder that is none, as an installed package is;
- a repository counts only where it belongs to this user, and the search for one ends at a folder of another user;
- nothing is created before `make` is called, and reading never calls it.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from bae_source.errors import Refused
from bae_source.model.outcome import Notice
from bae_source.model.text import listed
from bae_source.state import journal_head
from bae_source.state.binding import IGNORE, IGNORES_ITSELF, Place, Standing, UserState, owned
from bae_source.state.journal_head import STAGING
from bae_source.system.hashing import sha256
from bae_source.system.own_files import beginning_of

OURS = "bae-source"
LOCAL = ".bae-source"
HISTORY = "history.git"
_MOST = 65_536
_NOWHERE = Path(os.devnull) / OURS
"""A folder that cannot be made."""
_NEXT = "doctor says what can be done about it."
_NOT_OURS = (Standing.FOREIGN, Standing.OTHERS)
_WORKTREE = re.compile(r"^\s*worktree\s*=\s*(.+?)\s*$", re.MULTILINE)


class StateFolders:
    """The folders and files of our own state for the project at `root`.

    Parameters:
        root: the project's folder.
        users: the user's own state folder.
        part: the one folder below the root that the state is of; "" for all of it.

    Attributes:
        root: the project's root, without links.
        top: the top of its repository; the root itself where there is none.
        project: the root relative to the top, with forward slashes; "" at the top. Projects of one repository share a
            history, and this tells their operations apart.
        local: the folder of cache and telemetry, `.bae-source` in the project.
        base: the folder of history, lock, journal and staging.
        history: our own bare repository.
        lock: the lock file of the project.
        staging: where transactions keep old and new files while they run.
        pending: operations that were made but are not in the history yet.
        kept: old files that recovery kept for a person, because another program had changed what we wrote.
    """

    def __init__(self, root: Path, users: UserState, part: str = "") -> None:
        self.root = Path(os.path.realpath(root))
        self.users = users
        self.part = part
        served = self.root / part
        outside = users.place_of(served) if part or users.is_temporary or not owned(self.root) else None
        if part and outside is None:
            outside = _NOWHERE
        self.local = outside or self.root / LOCAL
        self._local = Place(self.local, served, users)
        self._base, self.top = self._local, self.root
        if outside is None and (found := _repository(self.root)) is not None:
            top, git_dir = found
            base = Place(git_dir / OURS, top, users)
            if not self._holds_changes(self._local) and (
                base.standing() is not Standing.ABSENT or os.access(git_dir, os.W_OK | os.X_OK)
            ):
                self._base, self.top = base, top
        self.base = self._base.folder
        self.project = self.root.relative_to(self.top).as_posix().removeprefix(".")
        self.history = self.base / HISTORY
        self.lock = self.base / "lock"
        self.staging = self.base / STAGING
        self.pending = self.base / "pending"
        self.kept = self.base / "kept"

    @property
    def id(self) -> str | None:
        """The random id of what is ours in `base`; None where nothing is."""
        return self._base.id

    @property
    def local_id(self) -> str | None:
        """The random id of what is ours in `local`; None where nothing is."""
        return self._local.id

    def is_idle(self) -> bool:
        """Return whether nothing is left to recover, by one short read; True also where nothing tells."""
        return journal_head.is_idle(self.base, self.id)

    def is_open(self) -> bool:
        """Return whether a change is under way that may still be taken back, by one short read."""
        return journal_head.is_open(self.base, self.id)

    @property
    def is_in_project(self) -> bool:
        """Return whether cache and telemetry lie in the project, and not in the user's own state folder."""
        return self.local.parent == self.root

    def standings(self) -> Mapping[Path, Standing]:
        """Look how our folders stand to this user."""
        places = {place.folder: place for place in (self._base, self._local)}
        return {folder: Standing.OURS if place.id else place.standing() for folder, place in places.items()}

    def settle(self) -> None:
        """Make durable that `base` is ours.

        Raises:
            OSError: it could not be done.
        """
        self._base.settle()

    def unused(self) -> tuple[Notice, ...]:
        """Name foreign state in the place of ours, the first time that this user meets it."""
        found = [place for place, each in self.standings().items() if each in _NOT_OURS]
        new = [place for place in found if self.users.is_new(place)]
        return (_unused(new),) if new else ()

    def limits(self) -> tuple[Notice, ...]:
        """Return why the history holds less than it might: it is not ours, or may be gone soon."""
        if self._base.id is None and self._base.standing() in _NOT_OURS:
            return (_unused([self.base]),)
        if self.users.problem:
            what = f"Changes made here are remembered only until temporary files are removed: {self.users.problem}"
            return (Notice("history_temporary", f"{what}. Set XDG_STATE_HOME to a folder that you may write."),)
        return ()

    def places(self) -> tuple[Place, ...]:
        """Return our folders, that of changes first."""
        return tuple({place.folder: place for place in (self._base, self._local)}.values())

    def check(self) -> None:
        """Check that `base` is ours, or not there yet.

        Raises:
            OSError: it is not.
        """
        standing = self._base.standing()
        if standing is Standing.NO_FOLDER:
            raise OSError(errno.ELOOP, "it is no folder", str(self.base))
        if standing in _NOT_OURS:
            raise ForeignState(standing, self.base)

    def make(self, folder: Path) -> Path:
        """Create `folder`, one of ours, and return it; `.bae-source` is made to ignore itself.

        Raises:
            OSError: the folder cannot be created, or lies in one that is not ours.
        """
        place = self._base if folder.is_relative_to(self.base) else self._local
        place.make()
        folder.mkdir(parents=True, exist_ok=True)
        ignore = self.local / IGNORE
        if self.is_in_project and place.folder == self.local and not os.path.lexists(ignore):
            ignore.write_bytes(IGNORES_ITSELF)
        return folder

    @staticmethod
    def _holds_changes(place: Place) -> bool:
        """Return whether a folder is ours, and what is written down of changes is in it."""
        if place.id is None:
            return False
        return journal_head.is_of(place.folder, place.id) or os.path.isdir(place.folder / HISTORY)


def plans_name(state_id: str) -> str:
    """Return the name of the file of kept plans in a folder of state with this id."""
    return f"plans-{sha256(f'plans {state_id}'.encode())[:24]}.sqlite"


def whose_state(*places: Path) -> str:
    """Return the reason why folders in the place of our state are not used."""
    names = listed(each.name if each.name == LOCAL else f"{each.parent.name}/{each.name}" for each in places)
    if all(map(owned, places)):
        return f"{names} {'was' if len(places) == 1 else 'were'} not made here by you, so nothing in it is believed"
    return f"{names} {'belongs' if len(places) == 1 else 'belong'} to another user, so nothing in it is used"


def foreign(standing: Standing, place: Path) -> Refused:
    """Return the refusal where state that this user did not make here stands in the place of ours."""
    hints = ["Work as that user, or move it away."]
    if standing is not Standing.OTHERS:
        hints = [
            "forget --foreign removes it, and then the change can be made.",
            "If you copied or moved the project yourself, type `bae-source adopt` at a terminal to keep its history.",
        ]
    reason = f"The change was refused: {whose_state(place)}, and it stands where ours belongs"
    return Refused("forbidden", reason, unchanged=True, hints=hints, details={"place": str(place)})


def _unused(places: Sequence[Path]) -> Notice:
    return Notice("foreign_state", f"{whose_state(*places)}; it is left alone. {_NEXT}")


class ForeignState(OSError):
    """The refusal of state in the place of ours that was not made here by this user.

    Parameters:
        standing: whose it is.
        place: where it lies.
    """

    def __init__(self, standing: Standing, place: Path) -> None:
        super().__init__(errno.EPERM, "it is not ours", str(place))
        self.standing = standing
        self.place = place


def folders_upwards(start: Path) -> Iterator[Path]:
    """Yield a folder and those above it, up to the first that belongs to another user.

    The first is yielded whomever it belongs to: the caller has chosen it.
    """
    yield start
    if owned(start):
        for folder in start.parents:
            if not owned(folder):
                return
            yield folder


def _repository(root: Path) -> tuple[Path, Path] | None:
    """Find the nearest repository of this user: its top, and the git dir of this very worktree."""
    for folder in folders_upwards(root):
        git_dir = _git_dir(folder)
        if git_dir is not None:
            return folder, git_dir
    return None


def _git_dir(top: Path) -> Path | None:
    """Return the git dir of a worktree: its `.git`, or what the `.git` file of a worktree or submodule names.

    What such a file names has to name this folder in turn: else a file in a project would choose any repository.
    """
    entry = top / ".git"
    try:
        if not owned(entry) or entry.is_symlink():
            return None
        leads = entry.is_file()
        if leads:
            text = os.fsdecode(beginning_of(entry, _MOST))
            if not text.startswith("gitdir:"):
                return None
            entry = top / text.removeprefix("gitdir:").strip()
        if not ((entry / "HEAD").is_file() and ((entry / "objects").is_dir() or (entry / "commondir").is_file())):
            return None
        found = Path(os.path.realpath(entry))
        return found if owned(found) and (not leads or _serves(found, top)) else None
    except OSError:
        return None


def _serves(git_dir: Path, top: Path) -> bool:
    """Return whether a git dir names a folder as its worktree: in `gitdir` one of `git worktree`, else in `config`."""
    with suppress(OSError):
        back = os.fsdecode(beginning_of(git_dir / "gitdir", _MOST)).strip()
        return os.path.realpath(git_dir / back) == os.path.realpath(top / ".git")
    with suppress(OSError):
        found = _WORKTREE.findall(os.fsdecode(beginning_of(git_dir / "config", _MOST)))
        return bool(found) and os.path.realpath(git_dir / found[-1].strip('"')) == str(top)
    return False
