"""The folders of logs, and the logs in them: the project's own by its settings, any other by the user's own alone.

    [tool.bae-source] logs = "var/log"              web/access.log is var/log/web/access.log of the project
    logs = ["/srv/app/log"] of the user's           log/worker.log is /srv/app/log/worker.log

Invariants:
- a log is a regular file in its folder or below it, whatever links lead there; what leads out of the folder is none;
- a name with a hidden component, such as `.env` or `.git`, is no log's;
- nothing that is opened is waited for, and no link is followed while it is opened: links are resolved before.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from msgspec import Struct

from bae_source.errors import LookupFailed, Refused, RequestError
from bae_source.model.call import Call
from bae_source.model.closest import closest
from bae_source.model.outcome import Notice
from bae_source.model.settings import TABLE, problems
from bae_source.model.text import counted, is_text, listed
from bae_source.project.files.ignored import never_entered
from bae_source.project.files.port import Disk
from bae_source.project.files.settings import own_settings
from bae_source.project.files.user_settings import UserFile, user_file
from bae_source.system.descriptors import CLOSED_IN_CHILDREN, FOLDER, WITHOUT_LINKS, WITHOUT_WAITING

MOST = 500
"""Logs that are listed: the newest."""
DEPTH = 5
"""The most folders between the folder of logs and a log in it that is listed."""
MOST_ENTRIES = 20_000
"""Files and folders that are visited to list them."""
_FLAGS = os.O_RDONLY | CLOSED_IN_CHILDREN | WITHOUT_WAITING | WITHOUT_LINKS
_HAS_FOLDERS = os.open in os.supports_dir_fd
_EXAMPLE = 'logs = "var/log"'
_SETTINGS = "pyproject.toml"


class Folder(Struct, frozen=True, kw_only=True):
    """A folder of logs.

    Parameters:
        path: absolute, without links.
        lead: the beginning of its logs' names; empty for the project's own.
        named: how the settings name it.
    """

    path: str
    lead: str
    named: str


class Log(Struct, frozen=True, kw_only=True):
    """A log, as it was when it was looked at.

    Parameters:
        name: by which it is read.
        path: absolute, without links.
        size: in bytes.
        changed: nanoseconds since the epoch.
        readable: whether this user may read it.
    """

    name: str
    path: str
    size: int
    changed: int
    readable: bool = True


class Logs:
    """The logs of a project for one user.

    Parameters:
        root: the project's folder.
        environment: the caller's environment variables, which say where the user's own settings are.
        refusal: tells why a log may not be read, by its name and its absolute path; None where it may.
    """

    def __init__(
        self,
        root: Path,
        environment: Mapping[str, str],
        refusal: Callable[[str, str], Refused | None] = lambda _, __: None,
    ) -> None:
        self._files = Disk(root)
        self._environment = environment
        self._refusal = refusal

    @cached_property
    def _users(self) -> UserFile:
        return user_file(self._environment)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """The reason why settings of the user do not count, where they do not."""
        return self._users.notices

    @cached_property
    def folders(self) -> tuple[Folder, ...]:
        """The folders, whether they are there or not.

        Raises:
            RequestError: `invalid_arguments` where a setting is none.
            Refused: `outside_project` where the project names a folder that is not in it.
            LookupFailed: `symbol_not_found` where no folder is set.
        """
        own = _of_project(self._files)
        found = [own] if own else []
        taken = _names(own.path) if own else ()
        named = _absolute(self._users)
        for path in dict.fromkeys(map(os.path.realpath, named)):
            if all(path != each.path for each in found):
                lead = _lead(path, [os.path.realpath(each) for each in named], taken)
                found.append(Folder(path=path, lead=lead, named=path))
        if not found:
            raise LookupFailed(
                "symbol_not_found",
                "No folder of logs is set.",
                hints=[
                    f"Set the project's own in {_SETTINGS}, by hand, below {TABLE}: {_EXAMPLE}",
                    f'Set any other in {self._users.name}: logs = ["/var/log/app"]',
                ],
            )
        return tuple(found)

    def _path(self, name: str) -> tuple[Folder, str] | None:
        """Return the folder that a log's name leads to, and the way from there, with links resolved; None for nowhere.

        Raises:
            Refused: `outside_project` where it leads out of the folder.
        """
        if re.match(r"[/\\]|[A-Za-z]:[/\\]", name) or ".." in re.split(r"[/\\]", name):
            raise outside(name)
        for folder in self.folders:
            way = name.removeprefix(folder.lead)
            if not name.startswith(folder.lead) or not is_text(name) or _is_no_way(way):
                continue
            full = os.path.join(folder.path, way)
            real = os.path.realpath(full)
            if _leads_out(real, folder.path):
                raise outside(name)
            inner = os.path.relpath(real, folder.path)
            if os.path.lexists(full) and not _is_no_way(inner):
                return folder, inner
        return None

    def id_of(self, name: str) -> tuple[int, int] | None:
        """Return the device and inode of what has a log's name now; None for nothing."""
        try:
            found = self._path(name)
            status = os.lstat(os.path.join(found[0].path, found[1])) if found else None
        except (Refused, OSError):
            return None
        return (status.st_dev, status.st_ino) if status else None

    def missing(self, name: str) -> LookupFailed:
        """Return the error of a log that is not there, with those that have such a name."""
        names = [each.name for each in self.listed().logs]
        last = name[:100].rpartition("/")[2]
        close = [each for each in names if each.rpartition("/")[2] == last]
        close += closest(name[:100], names)
        return LookupFailed(
            "symbol_not_found",
            f"Log file not found: {name[:100]}.",
            hints=[Call("logs list", then="lists those that there are.")],
            candidates=dict.fromkeys(close),
            details={"available_logs": names},
        )

    def opened(self, name: str) -> int:
        """Open a log, and return its descriptor.

        Raises:
            LookupFailed: `symbol_not_found` where there is none.
            Refused: `outside_project` where it leads out of its folder, `forbidden` where it is no file or may not be
                read.
        """
        found = self._path(name)
        if found is None:
            raise self.missing(name)
        for each in (name, found[0].lead + found[1].replace(os.sep, "/")):
            refusal = self._refusal(each, os.path.join(found[0].path, found[1]))
            if refusal is not None:
                raise refusal
        try:
            descriptor = _open_below(found[0].path, found[1])
        except FileNotFoundError:
            raise self.missing(name) from None
        except PermissionError:
            raise Refused("forbidden", f"{name} may not be read by you.", hints=["Check its permissions."]) from None
        except OSError as error:  # ENXIO of a socket, ELOOP of a link that was put there meanwhile
            raise Refused("forbidden", f"{name} cannot be opened: {error.strerror}.") from None
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise self._no_file(name)
        return descriptor

    def _no_file(self, name: str) -> Refused:
        inside = [each.name for each in self.listed().logs if each.name.startswith(f"{name}/")]
        hints = [Call("logs list", then="lists those that there are.")]
        return Refused("forbidden", f"{name} is no regular file, so it is no log.", hints=hints, candidates=inside[:10])

    def listed(self) -> Found:
        """Return the logs that there are, the newest first."""
        walk = _Walk()
        for folder in self.folders:
            walk.enter(folder)
        walk.logs.sort(key=lambda each: (-each.changed, each.name))
        missing = [each.named for each in self.folders if not os.path.isdir(each.path)]
        return Found(
            logs=tuple(walk.logs[:MOST]),
            notices=(*self.notices, *walk.notices(), *map(_missing, missing)),
            complete=walk.is_whole and len(walk.logs) <= MOST,
        )


class Found(Struct, frozen=True, kw_only=True):
    """The logs that there are.

    Parameters:
        logs: the newest first.
        notices: what was left out, and why.
        complete: whether these are all of them.
    """

    logs: tuple[Log, ...]
    notices: tuple[Notice, ...]
    complete: bool


def outside(name: str) -> Refused:
    """Return the refusal of a name that leads out of its folder."""
    return Refused(
        "outside_project",
        f"Path traversal detected: {name[:100]!r} leads out of the folder of logs.",
        hints=[Call("logs list", then="lists the names that there are.")],
    )


class _Walk:
    """A walk through folders of logs, with limits."""

    def __init__(self) -> None:
        self.logs: list[Log] = []
        self._entry_count = 0
        self._out: list[str] = []
        self._unnamed = 0
        self._deep: list[str] = []

    @property
    def is_whole(self) -> bool:
        """Return whether nothing was left that may be a log."""
        return self._entry_count <= MOST_ENTRIES and not (self._deep or self._unnamed)

    def enter(self, folder: Folder) -> None:
        """Look at all that lies in a folder of logs."""
        waiting = [""]
        while waiting and self._entry_count <= MOST_ENTRIES:
            way = waiting.pop(0)
            waiting += [f"{way}{name}/" for name in self._folder(folder, way)]

    def notices(self) -> Iterator[Notice]:
        """Yield notices of what was left out, and why."""
        if self._out:
            message = f"Left out, since they lead out of the folder of logs: {listed(sorted(self._out))}."
            yield Notice("links_lead_out", message)
        if self._deep:
            yield Notice("too_deep", f"Not looked into, since they lie too deep: {listed(sorted(self._deep))}.")
        if self._unnamed:
            message = f"Left out, since their names cannot be written: {counted(self._unnamed, 'file')}."
            yield Notice("unnamed", message)
        if self._entry_count > MOST_ENTRIES:
            yield Notice("too_many", f"Only the first {MOST_ENTRIES:,} files and folders were looked at.")
        if len(self.logs) > MOST:
            yield Notice("too_many", f"Of {len(self.logs):,} logs only the newest {MOST:,} are listed.")

    def _folder(self, folder: Folder, way: str) -> list[str]:
        """Take the logs of one folder, and return the folders in it that are to be entered, too."""
        try:
            with os.scandir(os.path.join(folder.path, way)) as entries:
                inner = [entry.name for entry in self._entries(entries) if self._take(folder, way, entry)]
        except OSError:
            return []  # it has gone, or may not be listed
        if inner and way.count("/") >= DEPTH:
            self._deep += [f"{folder.lead}{way}{name}" for name in inner]
            return []
        return sorted(inner)

    def _entries(self, entries: Iterator[os.DirEntry[str]]) -> Iterator[os.DirEntry[str]]:
        for entry in entries:
            self._entry_count += 1
            if self._entry_count > MOST_ENTRIES:
                return
            yield entry

    def _take(self, folder: Folder, way: str, entry: os.DirEntry[str]) -> bool:
        """Take a log, and say whether it is a folder to be entered instead."""
        if entry.name.startswith("."):
            return False
        if not (entry.name.isprintable() and is_text(entry.name)):
            self._unnamed += 1
            return False
        if entry.is_dir(follow_symlinks=False):
            return True
        name, path = f"{folder.lead}{way}{entry.name}", entry.path
        try:
            if entry.is_symlink():
                path = os.path.realpath(path)
                if _leads_out(path, folder.path):
                    self._out.append(name)
                    return False
            status = os.stat(path, follow_symlinks=False)
        except OSError:
            return False
        if stat.S_ISREG(status.st_mode) and not _is_no_way(os.path.relpath(path, folder.path)):
            readable = os.access(path, os.R_OK)
            size, changed = status.st_size, status.st_mtime_ns
            self.logs.append(Log(name=name, path=path, size=size, changed=changed, readable=readable))
        return False


def _of_project(files: Disk) -> Folder | None:
    """Return the folder that a project's own settings name.

    Raises:
        RequestError: `invalid_arguments` where that is no text.
        Refused: `outside_project` where it is not in the project, or what is no part of any project.
    """
    named = own_settings(files, only="logs").get("logs")
    if named is None:
        return None
    for wrong in problems({"logs": named}):
        raise RequestError("invalid_arguments", wrong.message, hints=[wrong.line])
    bare = os.path.normpath(named) if named.strip() else "."
    full = os.path.realpath(os.path.join(files.root, bare)) if "\0" not in named else ""
    inner = os.path.relpath(full, files.root) if full else ""
    if os.path.isabs(named) or ".." in named.split("/") or _leads_out(full, files.root):
        raise _refused(named, "is not in the project", "Any other folder can be named by your own settings alone.")
    if bare == "." or inner == "." or any(map(never_entered, (*bare.split("/"), *inner.split("/")))):
        raise _refused(named, "is no folder of logs", f"Name one in the project, such as {_EXAMPLE}.")
    return Folder(path=full, lead="", named=named)


def _refused(named: str, reason: str, hint: str) -> Refused:
    return Refused("outside_project", f"{TABLE} logs is {named[:100]!r}, which {reason}.", hints=[hint])


def _absolute(users: UserFile) -> Sequence[str]:
    """Return the folders that the user's own settings name.

    Raises:
        RequestError: `invalid_arguments` where one of them is no absolute path.
    """
    named: Sequence[str] = users.value("logs") or ()
    for each in named:
        if not os.path.isabs(each) or "\0" in each:
            message = f"{users.name} logs has {each[:100]!r}, which is no absolute path."
            raise RequestError("invalid_arguments", message, hints=['logs = ["/var/log/app"]'])
    return named


def _lead(path: str, paths: Sequence[str], taken: Sequence[str]) -> str:
    """Return the beginning of the names of the logs of a folder that the user names: its own name, or more of its path.

    log/             of /srv/app/log
    app/log/         where /srv/web/log is another one, or the project's folder of logs has a `log` in it
    """
    parts = path.strip("/").split("/")
    for count in range(1, len(parts)):
        end = parts[-count:]
        alike = [each for each in dict.fromkeys(paths) if each.strip("/").split("/")[-count:] == end]
        if len(alike) == 1 and end[0] not in taken:
            return "/".join([*end, ""])
    return "/".join([*parts, ""]).lstrip("/")


def _names(folder: str) -> Sequence[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return ()


def _missing(named: str) -> Notice:
    return Notice("folder_missing", f"The folder of logs {named} is not there, or may not be looked into.")


def _leads_out(path: str, folder: str) -> bool:
    return path != folder and not path.startswith(folder.rstrip("/") + "/")


def _is_no_way(way: str) -> bool:
    """Return whether a way from a folder leads to no log: a component is hidden, or none."""
    return "\0" in way or any(part.startswith(".") or not part for part in way.split("/"))


def _open_below(folder: str, way: str) -> int:
    """Open a file below a folder, whose path has no links, step by step, so that none is followed that is put there.

    Raises:
        OSError: it cannot be opened, or a link stands in the way.
    """
    if not _HAS_FOLDERS:
        return os.open(os.path.join(folder, way), _FLAGS)
    *between, last = way.split("/")
    here = os.open(folder, FOLDER | CLOSED_IN_CHILDREN | WITHOUT_LINKS)
    try:
        for name in between:
            inner = os.open(name, FOLDER | CLOSED_IN_CHILDREN | WITHOUT_LINKS, dir_fd=here)
            os.close(here)
            here = inner
        return os.open(last, _FLAGS, dir_fd=here)
    finally:
        os.close(here)
