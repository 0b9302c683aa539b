"""The results once worked out from a file's bytes, kept in `.bae-source/` so that no process works them out twice.

    cache = Cache(folders, key="summary 1; cpython-311")
    cache.digests(["pkg/core.py"])            what is known of a path: its stamp, and the digest of the bytes it had
    cache.facts("summary", [digest])          what was worked out from bytes of that digest
    cache.keep(files=…, facts=…)

Invariants:
- every row is true for ever: a path with that stamp had bytes of that digest; bytes of that digest have these facts;
  so a row may be missing, but it cannot be stale, and rows of several processes mix freely;
- every row carries a checksum over itself and the key: what a crash, a full disk or a stranger left behind is no row;
- a cache that is busy, unreadable, unwritable, damaged or deleted while in use is done without; nothing is raised;
- another key is another file: programs of several versions do not meet, and only the newest few files are kept;
- the file's name tells the folder that it was made in, which has to be ours: one that came with a project is not read.
"""

from __future__ import annotations

import os
from _thread import allocate_lock  # what threading's Lock is, without the 3 ms that threading takes to load
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from zlib import crc32

from msgspec import Struct

from bae_source.system.hashing import sha256

if TYPE_CHECKING:
    import _sqlite3 as sqlite3

    from bae_source.state.folders import StateFolders

T = TypeVar("T")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS files (path BLOB PRIMARY KEY, stamp TEXT, digest BLOB, check_sum INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS facts (digest BLOB, kind TEXT, content BLOB, check_sum INTEGER, PRIMARY KEY (digest, kind));
"""
_OLDER = """
DELETE FROM facts WHERE kind = ? AND rowid <= (
    SELECT rowid FROM facts WHERE kind = ? ORDER BY rowid DESC LIMIT 1 OFFSET ?
)
"""
_READING, _WRITING = "PRAGMA cache_size = -256", "PRAGMA cache_size = -2000"
"""Kilobytes of pages in memory: hardly a page is read twice, and memory that is new costs more than to read again."""
_SHARING = "PRAGMA journal_mode = WAL"
"""Readers and a writer do not wait for each other. A new file has none: it would be written twice."""
_BUSY_SECONDS = 0.25
_SEVERAL = 500
_KEPT_FILES = 3
_ORPHANS = 256


class Seen(Struct, frozen=True):
    """The content of a path when it was last read.

    Parameters:
        stamp: the file's stamp as text.
        digest: SHA-256 of its bytes, in hexadecimal.
    """

    stamp: str
    digest: str


class Cache:
    """Facts by digest, and digests by path and stamp, in a file that several processes share.

    Parameters:
        folders: where our state lies; `.bae-source` is made when something is kept.
        key: says everything besides the bytes that facts depend on.
    """

    def __init__(self, folders: StateFolders, *, key: str) -> None:
        self.folders = folders
        self.key = key
        self._seed = crc32(key.encode())
        self._lock = allocate_lock()
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int, int] | None = None
        self._inherited: list[sqlite3.Connection] = []
        self._named: tuple[str, Path] | None = None

    @property
    def path(self) -> Path:
        """The file; its name tells the id of the folder that it was made in, which nothing from elsewhere knows."""
        own = self.folders.local_id or ""
        if self._named is None or self._named[0] != own:
            self._named = own, self.folders.local / f"facts-{sha256(f'{own} {self.key}'.encode())[:24]}.sqlite"
        return self._named[1]

    @property
    def size(self) -> int:
        """Return the size of the file in bytes; 0 where there is no file."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def digests(self, paths: Collection[str]) -> dict[str, Seen]:
        """Return the facts that are kept of some paths."""
        return self._tried(lambda connection: self._digests(connection, paths), {})

    def facts(self, kind: str, digests: Iterable[str]) -> dict[str, bytes]:
        """Return the facts that are kept of some contents, by digest."""
        return self._tried(lambda connection: self._facts(connection, kind, list(dict.fromkeys(digests))), {})

    def keep(
        self,
        *,
        files: Mapping[str, Seen],
        facts: Iterable[tuple[str, str, bytes]] = (),
        present: Collection[str] | None = None,
        newest: Mapping[str, int] | None = None,
    ) -> None:
        """Add rows; drop those of vanished files.

        Parameters:
            files: what was seen, by path.
            facts: kind, digest and content of each.
            present: the paths of all files that there are, if it is time to look for those that there are no more.
            newest: by kind, how many facts of it may stay, those that were kept last; all of other kinds may.
        """
        rows = [(_encoded(path), *self._file_row(_encoded(path), seen)) for path, seen in files.items()]
        more = [
            (digest, kind, blob, self._sum(digest, kind, blob))
            for kind, digest, blob in ((kind, bytes.fromhex(digest), blob) for kind, digest, blob in facts)
        ]
        few = newest or {}
        self._tried(lambda connection: self._keep(connection, rows, more, present, few), None, making=True)

    def close(self) -> None:
        """Let go of the file; the next use opens it again."""
        with self._lock:
            self._drop()

    def _digests(self, connection: sqlite3.Connection, paths: Collection[str]) -> dict[str, Seen]:
        select = "SELECT path, stamp, digest, check_sum FROM files"
        if len(paths) > _SEVERAL:
            rows = connection.execute(select)
        else:
            marks = ",".join("?" * len(paths))
            rows = connection.execute(f"{select} WHERE path IN ({marks})", tuple(map(_encoded, paths)))
        found: dict[str, Seen] = {}
        for path, stamp, digest, check_sum in rows:
            seen = Seen(stamp, digest.hex())
            if self._file_row(path, seen)[2] == check_sum:
                found[os.fsdecode(path)] = seen
        return found

    def _facts(self, connection: sqlite3.Connection, kind: str, digests: list[str]) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        for start in range(0, len(digests), _SEVERAL):
            part = [bytes.fromhex(digest) for digest in digests[start : start + _SEVERAL]]
            marks = ",".join("?" * len(part))
            select = f"SELECT digest, content, check_sum FROM facts WHERE digest IN ({marks}) AND kind = ?"
            for digest, content, check_sum in connection.execute(select, (*part, kind)):
                if self._sum(digest, kind, content) == check_sum:
                    found[digest.hex()] = content
        return found

    def _keep(
        self,
        connection: sqlite3.Connection,
        files: list[tuple[bytes, str, bytes, int]],
        facts: list[tuple[bytes, str, bytes, int]],
        present: Collection[str] | None,
        newest: Mapping[str, int],
    ) -> None:
        with connection:
            connection.execute(_WRITING)
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)", files)
            connection.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?, ?, ?)", facts)
            for kind, many in newest.items():
                connection.execute(_OLDER, (kind, kind, many))
            if present is not None:
                _drop_vanished(connection, {_encoded(path) for path in present})
        connection.execute(_SHARING)  # where it was new

    def _file_row(self, path: bytes, seen: Seen) -> tuple[str, bytes, int]:
        digest = bytes.fromhex(seen.digest)
        return seen.stamp, digest, crc32(digest, crc32(seen.stamp.encode(), crc32(path, self._seed)))

    def _sum(self, digest: bytes, kind: str, content: bytes) -> int:
        return crc32(content, crc32(kind.encode(), crc32(digest, self._seed)))

    def _tried(self, work: Callable[[sqlite3.Connection], T], otherwise: T, *, making: bool = False) -> T:
        """Do some work on the file; where it cannot be done, return `otherwise`."""
        import _sqlite3 as sqlite3  # 0.7 ms; sqlite3 without its dates, for questions about many files alone

        with self._lock:
            try:
                connection = self._opened(making=making)
                return otherwise if connection is None else work(connection)
            except sqlite3.OperationalError as error:
                if "no such" in str(error):
                    self._remove()  # not our tables: whatever it is, it cannot be used
            except (sqlite3.Error, OSError, TypeError, ValueError, AttributeError):
                self._remove()  # damaged, down to values of other types than any of ours
            return otherwise

    def _opened(self, *, making: bool) -> sqlite3.Connection | None:
        """Return the connection, a new one if the file is not the one that it was opened on; None without a file."""
        import _sqlite3 as sqlite3

        if self.folders.local_id is None and not making:
            return None
        path = self.path
        there = _identity(path)
        if self._connection is not None and self._identity == (*(there or (0, 0)), os.getpid()):
            return self._connection
        self._drop()
        if there is None:
            if not making:
                return None
            self.folders.make(self.folders.local)
            _drop_older(self.folders.local)
            path = self.path
        connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        with ExitStack() as unless_ready:
            unless_ready.callback(connection.close)
            connection.execute("PRAGMA page_size = 16384")  # facts take a few thousand bytes
            connection.execute(_READING)
            connection.execute("PRAGMA synchronous = OFF")  # rows prove themselves; nothing of worth can be lost
            if there is not None:
                connection.execute(_SHARING)
            connection.executescript(_SCHEMA)
            unless_ready.pop_all()
        self._connection = connection
        self._identity = (*(_identity(path) or (0, 0)), os.getpid())
        return connection

    def _drop(self) -> None:
        connection, identity = self._connection, self._identity
        self._connection = self._identity = None
        if connection is None:
            return
        if identity is not None and identity[2] != os.getpid():
            self._inherited.append(connection)  # a forked child must not even close what its parent opened
            return
        connection.close()

    def _remove(self) -> None:
        """Delete a file that is of no use; the next request begins a new one."""
        import _sqlite3 as sqlite3

        try:
            self._drop()
        except sqlite3.Error:
            self._connection = None
        _unlink(self.path)


def _drop_vanished(connection: sqlite3.Connection, present: set[bytes]) -> None:
    """Drop the rows of vanished files, and facts that no file has, once they are many: a branch may come back."""
    gone = [row for row in connection.execute("SELECT path FROM files") if row[0] not in present]
    connection.executemany("DELETE FROM files WHERE path = ?", gone)
    kept = connection.execute("SELECT count(*) FROM files").fetchone()[0]
    kinds = connection.execute("SELECT count(DISTINCT kind) FROM facts").fetchone()[0]
    if connection.execute("SELECT count(*) FROM facts").fetchone()[0] > 2 * kept * kinds + _ORPHANS:
        connection.execute(
            "DELETE FROM facts WHERE digest NOT IN (SELECT digest FROM files)"
        )  # whatever else is kept, too


def _drop_older(folder: Path) -> None:
    """Delete the files of other versions, but for the newest few."""
    found = sorted(folder.glob("facts-*.sqlite"), key=lambda path: -path.stat().st_mtime_ns)
    for path in found[_KEPT_FILES - 1 :]:
        _unlink(path)


def _unlink(path: Path) -> None:
    """Delete a file of ours with what belongs to it."""
    for end in ("", "-wal", "-shm", "-journal"):
        try:
            path.with_name(path.name + end).unlink(missing_ok=True)
        except OSError:
            return  # read-only: it stays, and is done without


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _encoded(path: str) -> bytes:
    return os.fsencode(path)
