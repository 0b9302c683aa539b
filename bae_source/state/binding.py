"""Distinguish state that this user made here from state that came along with a project.

    project/.git/bae-source/id                        3f9c…
    ~/.local/state/bae-source/bound/3f9c…             1181 1170 66 8fb3…      folder, folder served, device, start

A folder of ours is believed only if its `id` is that of a record in the user's own state folder, and the record has the
inode of that folder and of the one that it serves. So neither a clone, nor a pull, an archive or a copy brings state
that counts: each has an id that is not recorded, or another inode. A folder that is renamed stays what it was.

Invariants:
- the user's own state folder is this user's, and closed to other writers; where it cannot be had, one below the
  folder of temporary files is, which is not expected to outlive a restart of the machine;
- no link is followed to a folder of ours, and none of another user is one;
- the device of a folder counts only within one start of the machine, or of a container: it may change with each;
- looking creates nothing.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from enum import Enum, auto
from pathlib import Path

from msgspec import Struct

from bae_source.system.descriptors import CLOSED_IN_CHILDREN, WITHOUT_LINKS
from bae_source.system.hashing import sha256
from bae_source.system.own_files import beginning_of, sync

ID = "id"
IGNORE = ".gitignore"
IGNORES_ITSELF = b"*\n"
_IDS = re.compile(rb"[0-9a-f]{32}\n?")
_MOST = 4_096
_BOOT = "/proc/sys/kernel/random/boot_id"
_FIRST_PROCESS = "/proc/1/stat"
_STARTED = 19  # which field behind the name is the time of its start, see proc(5)


class Standing(Enum):
    """The relation of a folder of state to this user."""

    ABSENT = auto()  # there is none, or an empty one
    OURS = auto()
    FOREIGN = auto()  # this user's by its owner, and not made here
    OTHERS = auto()  # another user's
    NO_FOLDER = auto()  # a link, or a file


class Binding(Struct, frozen=True, kw_only=True):
    """The identity of a folder of state at its creation.

    Parameters:
        folder: its inode.
        serves: the inode of the folder whose state it holds.
        device: the number of the device that both are on.
        boot: what tells that start of the machine from others; empty where the system does not tell.
    """

    folder: int
    serves: int
    device: int
    boot: str = ""

    def fits(self, folder: os.stat_result, serves: os.stat_result) -> bool:
        """Return whether these are the folders that it was made for."""
        if (self.folder, self.serves) != (folder.st_ino, serves.st_ino):
            return False
        return self.device == folder.st_dev or not self.boot or self.boot != _boot()


class UserState:
    """The folder in which a user's programs keep what belongs to this user and machine.

    Parameters:
        environment: `XDG_STATE_HOME` and `HOME` say where it is, `TMPDIR` where temporary files are.

    Attributes:
        folder: where it is; None where none can be had.
        problem: why it is not where the environment has it; empty where it is.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        usual = place_of_user(environment)
        temporary = environment.get("TMPDIR", "")
        temporary = temporary if os.path.isabs(temporary) else "/tmp"
        self.problem = _trouble(usual) if usual else "neither XDG_STATE_HOME nor HOME names a folder"
        self.folder: Path | None = None
        for place in (usual,) if not self.problem else (f"{temporary}/bae-source-{user()}",):
            if not self.problem or not _trouble(place, is_shared=True):
                self.folder = Path(place)

    @property
    def is_temporary(self) -> bool:
        """Return whether what it keeps may be gone after a restart."""
        return bool(self.problem)

    def binding(self, state_id: str) -> Binding | None:
        """Return the record of an id; None for none."""
        if self.folder is None:
            return None
        try:
            found = beginning_of(self.folder / "bound" / state_id, _MOST).decode("ascii").split(" ", 3)
            folder, serves, device = map(int, found[:3])
            return Binding(folder=folder, serves=serves, device=device, boot=found[3])
        except (OSError, ValueError, IndexError):
            return None

    def bind(self, state_id: str, binding: Binding) -> None:
        """Record an id.

        Raises:
            OSError: it could not be written.
        """
        line = f"{binding.folder} {binding.serves} {binding.device} {binding.boot}"
        _create(self.make("bound") / state_id, line.encode("ascii"))

    def settle(self, state_id: str) -> None:
        """Make the record of an id durable.

        Raises:
            OSError: it could not be done.
        """
        bound = self.make("bound")
        for path in (bound / state_id, bound, bound.parent):
            sync(path)

    def make(self, name: str = "") -> Path:
        """Create it, and a folder in it, closed to all others; return that.

        Raises:
            OSError: it cannot be created.
        """
        if self.folder is None:
            raise PermissionError(errno.EPERM, self.problem)
        for folder in (self.folder, self.folder / name):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self.folder / name

    def release(self, state_id: str) -> None:
        """Forget an id; one that is not recorded is nothing to forget."""
        if self.folder is not None:
            with suppress(OSError):
                (self.folder / "bound" / state_id).unlink(missing_ok=True)

    def place_of(self, root: Path) -> Path | None:
        """Return the folder for the state of a project in which nothing of ours can lie; None where none can be had."""
        if self.folder is None:
            return None
        try:
            inode = root.stat().st_ino
        except OSError:
            return None
        return self.folder / "projects" / f"{sha256(os.fsencode(root))[:16]}-{inode}"

    def is_new(self, place: Path) -> bool:
        """Return whether this is the first call about a place of foreign state, and remember it."""
        if self.folder is None:
            return True
        try:
            status = place.lstat()
            seen = self.make("named")
            name = sha256(os.fsencode(place) + f" {status.st_ino} {status.st_mtime_ns}".encode())[:32]
            os.close(os.open(seen / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | CLOSED_IN_CHILDREN, 0o600))
        except FileExistsError:
            return False
        except OSError:
            return True
        return True


class Place:
    """A folder of state, and whether it is ours.

    Parameters:
        folder: where it lies.
        serves: the folder whose state it holds.
        users: the user's own state folder.
    """

    def __init__(self, folder: Path, serves: Path, users: UserState) -> None:
        self.folder = folder
        self._serves = serves
        self._users = users
        self._id: str | None = None

    @property
    def id(self) -> str | None:
        """The random id that stands in what is ours of it; None where the folder is not ours.

        Once known, it is kept: a foreign folder that is put there later does not have it.
        """
        if self._id is None:
            self._look()
        return self._id

    def standing(self) -> Standing:
        """Look how it stands now."""
        self._id = None
        return self._look()

    def make(self) -> None:
        """Create it, and bind it to this user and place, unless it is ours already.

        Raises:
            OSError: it cannot be created, or is not ours.
        """
        standing = self.standing()
        if standing is Standing.ABSENT:
            self._users.make()
            self.folder.mkdir(parents=True, exist_ok=True)
            self._bind()
            standing = self.standing()
        if standing is not Standing.OURS:
            raise FileExistsError(errno.EEXIST, "it is not ours", str(self.folder))

    def settle(self) -> None:
        """Make durable that it is ours; what is written there before would not count after a power cut.

        Raises:
            OSError: it could not be done.
        """
        if self.id is not None:
            self._users.settle(self.id)
            for path in (self.folder / ID, self.folder, self.folder.parent):
                sync(path)

    def adopt(self, stamp: Callable[[str], None]) -> None:
        """Bind a foreign folder of this user's, with a new id.

        Parameters:
            stamp: gives the id to everything in the folder that bears one.

        Raises:
            OSError: it could not be bound.
        """
        (self.folder / ID).unlink(missing_ok=True)
        self._bind(stamp)
        self.settle()

    def release(self) -> None:
        """Forget that it is ours."""
        if self.id is not None:
            self._users.release(self.id)
        self._id = None

    def _bind(self, stamp: Callable[[str], None] = lambda _: None) -> None:
        """Give the folder an id; of several processes that do so at once one comes first, and the others take its."""
        state_id = os.urandom(16).hex()
        status = self.folder.lstat()
        binding = Binding(folder=status.st_ino, serves=self._serves.stat().st_ino, device=status.st_dev, boot=_boot())
        self._users.bind(state_id, binding)
        draft = self.folder / f"{ID}.{state_id[:8]}"
        try:
            with suppress(FileExistsError), ExitStack() as if_it_fails:
                if_it_fails.callback(self._users.release, state_id)
                stamp(state_id)
                _create(draft, f"{state_id}\n".encode())
                os.link(draft, self.folder / ID)
                if_it_fails.pop_all()
        finally:
            with suppress(FileNotFoundError):
                os.unlink(draft)

    def _look(self) -> Standing:
        try:
            status = self.folder.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return Standing.ABSENT
        except OSError:
            return Standing.FOREIGN
        if not stat.S_ISDIR(status.st_mode):
            return Standing.NO_FOLDER
        if status.st_uid != user():
            return Standing.OTHERS
        try:
            content = self._content_of_id()
        except OSError:
            return Standing.FOREIGN
        if content is None:
            return Standing.ABSENT
        found = content.decode("ascii").strip() if _IDS.fullmatch(content) else ""
        binding = self._users.binding(found) if found else None
        try:
            if binding is None or not binding.fits(status, self._serves.stat()):
                return Standing.FOREIGN
        except OSError:
            return Standing.FOREIGN
        self._id = found
        return Standing.OURS

    def _content_of_id(self) -> bytes | None:
        """Return the text of its `id`; None where the folder is empty.

        Raises:
            OSError: it has none, and something else, or it cannot be read.
        """
        for _ in range(2):  # another process may bind and fill it between the two looks of a round
            with suppress(FileNotFoundError):
                return beginning_of(self.folder / ID, _MOST)
            if _is_empty(self.folder):
                return None
        raise FileNotFoundError(errno.ENOENT, "it has no id", str(self.folder))


def place_of_user(environment: Mapping[str, str]) -> str:
    """Return the path of the user's own state folder, whether it exists or not; "" where none is named."""
    home, given = environment.get("HOME", ""), environment.get("XDG_STATE_HOME", "")
    has_home = os.path.isabs(home) and os.path.isdir(home)
    base = given if os.path.isabs(given) else f"{home}/.local/state" if has_home else ""
    return f"{base}/bae-source" if base else ""


def user() -> int:
    """Return the number of this process's user; 0, as of all files, where the system has no such numbers."""
    return os.geteuid() if hasattr(os, "geteuid") else 0


def owned(path: str | Path) -> bool:
    """Return whether something belongs to this user, itself and not what it may link to; False for nothing."""
    try:
        return os.lstat(path).st_uid == user()
    except OSError:
        return False


def _is_empty(folder: Path) -> bool:
    """Return whether a folder holds nothing but what its making may have left there when it was cut short."""
    try:
        names = os.listdir(folder)
        ignore = beginning_of(folder / IGNORE, _MOST) if IGNORE in names else IGNORES_ITSELF
    except OSError:
        return False
    return ignore == IGNORES_ITSELF and all(name == IGNORE or name.startswith(f"{ID}.") for name in names)


def _trouble(place: str, *, is_shared: bool = False) -> str:
    """Return why a folder of the user's own cannot be had; empty where it can.

    Parameters:
        is_shared: whether others may write what is above it, as with a folder of temporary files.
    """
    try:
        status = os.lstat(place)
    except FileNotFoundError:
        above = place
        while not os.path.lexists(above):
            above = os.path.dirname(above)
        if not os.access(above, os.W_OK | os.X_OK) or not os.path.isdir(above):
            return f"{place} cannot be created"
        return "" if is_shared or owned(os.path.realpath(above)) else f"{above} belongs to another user"
    except OSError as error:
        return f"{place} cannot be reached ({error.strerror})"
    if not stat.S_ISDIR(status.st_mode):
        return f"{place} is no folder"
    if status.st_uid != user():
        return f"{place} belongs to another user"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others may write {place}"
    return "" if os.access(place, os.W_OK | os.X_OK) else f"{place} cannot be written"


def _boot() -> str:
    """Return a mark of this start of the machine, and of the container that we may be in."""
    try:
        started = _first(_FIRST_PROCESS).rpartition(b") ")[2].split()[_STARTED].decode("ascii")
        return f"{_first(_BOOT).decode('ascii').strip()} {started}"
    except (OSError, IndexError, UnicodeDecodeError):
        return ""


def _first(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:
        return file.read(_MOST)


def _create(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | CLOSED_IN_CHILDREN | WITHOUT_LINKS, 0o600)
    try:
        os.write(descriptor, content)
    finally:
        os.close(descriptor)
