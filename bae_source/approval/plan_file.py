"""The file of kept plans: drafts and proposals of this user in one place, which processes change one at a time.

    <our folder>/plans-41d0….sqlite                 its name is made of the state's id
    <our folder>/plans-41d0….sqlite.damaged-1       one that could not be read; what could be is in the other

Invariants:
- it is opened when it is needed and closed at once, so nothing of it is open in a forked child or between requests;
- it appears whole, with its tables; so one that is empty or cut off is damaged, and never a store without plans;
- what is damaged is set aside and stays there for a person, and `notices` names it for as long as it does;
- the name tells the folder that it was made in, which has to be ours; a link in its place is not followed;
- a change is durable before `write` returns, or was not made.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from zlib import crc32

import msgspec

from bae_source.errors import Refused
from bae_source.model.outcome import Notice
from bae_source.model.text import listed
from bae_source.state.binding import user
from bae_source.state.folders import ForeignState, StateFolders, foreign, plans_name
from bae_source.state.lock import project_lock
from bae_source.system.descriptors import SAFELY
from bae_source.system.own_files import sync

if TYPE_CHECKING:
    import _sqlite3 as sqlite3

T = TypeVar("T")

_VERSION = 1
_TABLES = f"""
CREATE TABLE drafts (handle TEXT PRIMARY KEY, project TEXT, used REAL, content BLOB, check_sum INTEGER) WITHOUT ROWID;
CREATE TABLE proposals (
    number INTEGER PRIMARY KEY, id TEXT, project TEXT, state TEXT, who TEXT, at TEXT, expires TEXT,
    notified INTEGER, digest TEXT, head BLOB, check_sum INTEGER
);
CREATE TABLE bodies (number INTEGER PRIMARY KEY, content BLOB, diff BLOB, check_sum INTEGER);
PRAGMA user_version = {_VERSION};
"""
"""The heads of proposals lie close together, so that a list of them reads no diff, and ten thousand are looked through
in milliseconds. They have no index, which would hide rows where it is damaged."""
_WHOLE = "SELECT proposals.*, content, diff, bodies.check_sum FROM proposals JOIN bodies USING (number)"
_DURABLE = "PRAGMA journal_mode = PERSIST; PRAGMA synchronous = FULL; PRAGMA cell_size_check = ON"
PATIENCE = 10.0
"""Seconds that one process waits for others."""
_LOCK = "plans-lock"
_ERRORS = {  # by the primary result code of SQLite
    3: errno.EACCES,
    5: errno.EBUSY,
    6: errno.EBUSY,
    8: errno.EACCES,
    10: errno.EIO,
    13: errno.ENOSPC,
    14: errno.EACCES,
    15: errno.EBUSY,
    18: errno.EFBIG,
    23: errno.EACCES,
}
_UNFINISHED = 776
"""SQLite's code where a crash has to be taken back, for which the file would have to be writable."""
_DAMAGED = {11, 24, 26}
"""Malformed, of another format, no database."""


class Damaged(Exception):
    """The refusal of a file whose content differs from what was written there."""


class PlanFile:
    """The file of plans of a folder of state, which several projects of a repository may share.

    Parameters:
        folders: where our state lies; the folder is made when something is written.
    """

    def __init__(self, folders: StateFolders) -> None:
        self.folders = folders
        self.project = os.fsencode(folders.project)

    @property
    def path(self) -> Path:
        """The file of the state as it is bound now."""
        return self.folders.base / plans_name(self.folders.id or "")

    def read(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """Do some reading; return `otherwise` where there is no file.

        Raises:
            OSError: it cannot be read.
            Refused: `forbidden`, where another version wrote it.
        """
        return self._tried(work, otherwise, making=False)

    def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do some work as one change, which is made whole or, where the work raises, not at all.

        Raises:
            OSError: it cannot be written.
            Refused: `forbidden`, where another version wrote it.
        """

        def changing(connection: sqlite3.Connection) -> T:
            for pragma in _DURABLE.split("; "):
                connection.execute(pragma)
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                return work(connection)

        return self._tried(changing, None, making=True)  # type: ignore[return-value]  # it is made, so work was done

    def is_there(self) -> bool:
        """Return whether there is a file."""
        return self.folders.id is not None and _identity(self.path) is not None

    def peek(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """Read without touching anything: nothing is set aside, and what a crash left is not taken back.

        Raises:
            Damaged: it is no file of plans, or not what was written.
            OSError, Refused: as `read`.
        """
        try:
            return _worked(self.path, work, mode="ro") if self.is_there() else otherwise
        except FileNotFoundError:
            return otherwise

    def counts(self) -> Mapping[str, int]:
        """Return the numbers of drafts (`drafts`) and of proposals by state; nothing is touched.

        Raises:
            Damaged, OSError, Refused: as `peek`.
        """
        return self.peek(self._counted, dict[str, int]())

    def is_shared(self) -> bool:
        """Return whether other projects have proposals in it; their drafts end by themselves.

        Raises:
            OSError, Refused: as `read`.
        """
        others = "SELECT 1 FROM proposals WHERE project != ? LIMIT 1"

        def looking(connection: sqlite3.Connection) -> bool:
            return connection.execute(others, (self.project,)).fetchone() is not None

        return self.read(looking, False)

    def is_used(self) -> bool:
        """Return whether this project has plans in it."""
        return any(self.read(self._counted, dict[str, int]()).values())

    def clear(self) -> None:
        """Remove the plans of this project.

        Raises:
            OSError, Refused: as `write`.
        """

        def clearing(connection: sqlite3.Connection) -> None:
            own = "SELECT number FROM proposals WHERE project = ?"
            connection.execute(f"DELETE FROM bodies WHERE number IN ({own})", (self.project,))
            for table in ("proposals", "drafts"):
                connection.execute(f"DELETE FROM {table} WHERE project = ?", (self.project,))

        if self.is_there():
            self.write(clearing)

    def notices(self) -> tuple[Notice, ...]:
        """Name the damaged files beside it, for as long as they lie there."""
        found = set_aside(self.folders)
        if not found:
            return ()
        places = listed(str(path) for path in found)
        what = f"Kept proposals were damaged, and what could not be read of them does not wait any more: see {places}"
        return (Notice("plans_damaged", f"{what}. Remove it when you have looked at it."),)

    def unusable(self, error: OSError) -> Refused:
        """Return the refusal where the file cannot be read or written."""
        try:
            self.folders.check()
        except ForeignState as state:
            return foreign(state.standing, state.place)
        except OSError as state:
            error = state
        if error.errno == errno.EBUSY:
            reason = f"Another process has been changing the proposals for more than {PATIENCE:g} seconds"
            return Refused("busy", reason, unchanged=True, hints=["Try again in a moment."])
        reason = error.strerror or type(error).__name__
        return Refused(
            "forbidden",
            f"The proposals cannot be kept or read: {reason[:1].lower()}{reason[1:]}",
            unchanged=True,
            hints=["doctor says what can be done about it."],
            details={"place": str(error.filename or self.path)},
        )

    def _counted(self, connection: sqlite3.Connection) -> dict[str, int]:
        proposals = "SELECT state, count(*) FROM proposals WHERE project = ? GROUP BY state"
        found = dict(connection.execute(proposals, (self.project,)))
        [drafts] = connection.execute("SELECT count(*) FROM drafts WHERE project = ?", (self.project,)).fetchone()
        return {"drafts": drafts, **found}

    def _tried(self, work: Callable[[sqlite3.Connection], T], otherwise: T, *, making: bool) -> T:
        for is_last in (False, True):
            if making:
                self._make()
            elif not self.is_there():
                return otherwise
            path = self.path
            before = _identity(path)
            try:
                return _worked(path, work)
            except FileNotFoundError:
                if is_last:  # else it was set aside, or forgotten, meanwhile
                    raise
            except Damaged as error:
                self._set_aside(path, before)
                if is_last:
                    raise OSError(errno.EIO, "it is damaged", str(path)) from error
        raise AssertionError("unreachable")

    def _make(self) -> None:
        """Make the file, unless it is there."""
        self.folders.make(self.folders.base)
        if self.is_there():
            return
        with project_lock(self.folders.base / _LOCK, wait=PATIENCE, pid=os.getpid()):
            if not self.is_there():
                _put(_new_file(self.path), self.path)

    def _set_aside(self, path: Path, identity: tuple[int, int] | None) -> None:
        """Put a successor in the place of a damaged file, unless another process did so; there is one at any moment."""
        with project_lock(path.with_name(_LOCK), wait=PATIENCE, pid=os.getpid()):
            if _identity(path) != identity:
                return
            successor, number = _new_file(path, path), 1
            while _identity(aside := Path(f"{path}.damaged-{number}")) not in (None, identity):
                number += 1
            with suppress(FileNotFoundError):
                Path(f"{path}-journal").rename(f"{aside}-journal")
            with suppress(FileExistsError):  # where this was cut short before
                aside.hardlink_to(path)
            _put(successor, path)


def set_aside(folders: StateFolders) -> list[Path]:
    """Return the files of plans that were set aside, in our folder."""
    if folders.id is None:
        return []
    return sorted(path for path in folders.base.glob("plans-*.sqlite.damaged-*") if not path.name.endswith("-journal"))


def encoded(value: object) -> bytes:
    """Return a value as JSON; surrogate escapes, which UTF-8 has no bytes for, stand as JSON's own escapes."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value)).encode("ascii")


def decoded(content: Any, kind: type[T]) -> T:
    """Return the value that was encoded.

    Raises:
        Refused: `forbidden`, where another version wrote it.
    """
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass  # as it may be one that only `json` reads
    try:
        return msgspec.convert(json.loads(content), kind)
    except (ValueError, RecursionError) as error:
        raise _of_another_version() from error


def sum_of(first: bytes, second: bytes = b"") -> int:
    """Return the checksum of the pieces of a row."""
    return crc32(second, crc32(first))


def check_row(checksum: object, first: Any, second: Any = b"") -> None:
    """Check that the pieces of a row are those that were written.

    Raises:
        Damaged: they are not.
    """
    check_rows([(first, second, checksum)])


def check_rows(rows: Iterable[tuple[Any, Any, object]]) -> None:
    """Check that rows of two pieces and their checksum are what was written.

    Raises:
        Damaged: one is not.
    """
    try:
        is_whole = all(crc32(second, crc32(first)) == found for first, second, found in rows)
    except TypeError:  # values of other types than any of ours
        is_whole = False
    if not is_whole:
        raise Damaged("a row is not what was written")


def _worked(path: Path, work: Callable[[sqlite3.Connection], T], *, mode: str = "rw") -> T:
    """Do some work on a file that is there.

    Raises:
        Damaged: it is no file of plans.
        FileNotFoundError: it is gone.
        OSError, Refused: as `PlanFile.read`.
    """
    import _sqlite3 as sqlite3  # 0.7 ms; sqlite3 without its dates, for kept plans alone

    _check_file(path)
    try:
        opened = sqlite3.connect(_address(path, mode), timeout=PATIENCE, isolation_level=None, uri=True)
        with closing(opened) as connection:
            _check_version(connection)
            return work(connection)
    except sqlite3.Error as error:
        raise _translated(error, path) from error


def _translated(error: sqlite3.Error, path: Path) -> Exception:
    """Return an error of SQLite as one of ours, or of the system."""
    whole: int = getattr(error, "sqlite_errorcode", 0)
    code = whole & 0xFF
    if not os.path.lexists(path):
        return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    if code in _DAMAGED or "no such" in str(error):
        return Damaged(str(error))
    if whole == _UNFINISHED:
        return BlockingIOError(errno.EAGAIN, "a write was interrupted, and is not taken back yet", str(path))
    number = _ERRORS.get(code)
    return error if number is None else OSError(number, os.strerror(number), str(path))


def _check_file(path: Path) -> None:
    """Check that a file and its journal are files of this user, and no links; no descriptor of them is opened for that.

    To close one would give up the locks that SQLite holds on the file elsewhere in this process.
    """
    for end in ("", "-journal"):
        try:
            status = os.lstat(f"{path}{end}")
        except FileNotFoundError:
            if end:
                continue
            raise
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.ELOOP, "what stands there is no file of ours", f"{path}{end}")
        if status.st_uid != user():
            raise OSError(errno.EPERM, "it belongs to another user", f"{path}{end}")


def _check_version(connection: sqlite3.Connection) -> None:
    [version] = connection.execute("PRAGMA user_version").fetchone()
    if version > _VERSION:
        raise _of_another_version()
    if version != _VERSION:
        raise Damaged("it has no tables of ours")


def _of_another_version() -> Refused:
    reason = "The drafts and proposals were kept by another version of bae_source"
    return Refused("forbidden", reason, unchanged=True, hints=["Use that version."])


def _new_file(path: Path, damaged: Path | None = None) -> Path:
    """Return a new file beside the place where it belongs, whole and durable; no other process makes one now.

    Parameters:
        damaged: the file in whose place it comes; what can be read of that is in the new one.
    """
    import _sqlite3 as sqlite3

    draft = path.with_name(f"{path.name}.new")
    draft.unlink(missing_ok=True)
    os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | SAFELY, 0o600))
    try:
        with closing(sqlite3.connect(_address(draft), isolation_level=None, uri=True)) as connection:
            connection.execute("PRAGMA journal_mode = OFF")
            connection.executescript(_TABLES)
            if damaged is not None:
                with connection:
                    connection.execute("BEGIN")
                    _rescue(damaged, connection)
        sync(draft)
    except sqlite3.Error as error:
        raise _translated(error, draft) from error
    return draft


def _put(draft: Path, path: Path) -> None:
    """Put a new file where it belongs."""
    Path(f"{path}-journal").unlink(missing_ok=True)  # of a file that is gone; it would be taken for the new one's
    draft.rename(path)
    sync(path.parent)


def _rescue(damaged: Path, connection: sqlite3.Connection) -> None:
    """Copy the proposals that are what was written, from the first on as far as it goes, and from the last on.

    Drafts are not copied: the holder of a handle has its requests, too.
    """
    import _sqlite3 as sqlite3

    for order in ("ASC", "DESC"):
        with suppress(sqlite3.Error, OSError), closing(sqlite3.connect(_address(damaged, "ro"), uri=True)) as old:
            for row in old.execute(f"{_WHOLE} ORDER BY number {order}"):
                number, *head, content, diff, body_sum = row
                with suppress(Damaged, sqlite3.Error):  # of this row
                    check_row(head[-1], f"{head[0]} {head[2]}".encode(), head[-2])
                    check_row(body_sum, content, diff)
                    connection.execute(f"INSERT INTO proposals VALUES ({_marks(11)})", (number, *head))
                    connection.execute(f"INSERT INTO bodies VALUES ({_marks(4)})", (number, content, diff, body_sum))


def _marks(count: int) -> str:
    return ", ".join("?" * count)


def _address(path: Path, mode: str = "rw") -> str:
    """Return an address by which SQLite opens a file that is there, and never makes one."""
    place = str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return f"file://{place}?mode={mode}"


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
