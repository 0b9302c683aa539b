"""The files of a project as the caller of the request that is being carried out may read them.

Where there may be no policy, they are the files themselves; only a file that is requested by its path, and a walk that
meets settings in folders, have these looked at. What understands a policy is loaded where there may be one.

Invariant: the policies are looked for anew for each snapshot, and whose request it is is known by thread.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bae_source.engine.approving.looking import between, may_be_around, may_be_in
from bae_source.errors import Refused
from bae_source.model.context import as_name
from bae_source.project.files.ignored import GIT_INDEX
from bae_source.project.files.port import Disk, Stamp

if TYPE_CHECKING:
    from bae_source.approval.policy import Kind
    from bae_source.engine.approving.governing import Governed, Governing
    from bae_source.engine.approving.hiding import Hidden, Known, Veiled
    from bae_source.project.git.index import GitIndex
    from bae_source.project.git.staged import Staged

_CALLER: ContextVar[str | None] = ContextVar("caller", default=None)
_NAMES = ("BAE_SOURCE_WHO", "USER", "USERNAME")


class Seeing:
    """Gives out the files below a root, and the policies that govern it.

    Parameters:
        root: links followed.
        environment: the caller's environment variables.
    """

    def __init__(self, root: Path, environment: Mapping[str, str]) -> None:
        self.root = root
        self._environment = environment
        self._known: dict[object, dict[str, Known]] = {}

    def files(self) -> Seen:
        """Return the files as the caller may read them now."""
        return Seen(self)

    def policies(self, paths: Iterable[str] = ()) -> list[Governed]:
        """Return the folders whose names a policy is about, as `Governing.policies` does, for a request about files.

        Raises:
            Refused: `forbidden` where a policy cannot be read.
        """
        paths = tuple(paths)
        inner = dict.fromkeys(folder for path in paths for folder in between(path))
        if not self.may_be_around and not any(may_be_in(f"{self.root}/{folder}") for folder in inner):
            return []
        return self.governing.policies(paths)

    @property
    def caller(self) -> str:
        """The caller of the request that is being carried out."""
        return _CALLER.get() or caller(None, self._environment)

    @property
    def may_be_around(self) -> bool:
        """Return whether there may be a policy for all below the root."""
        return may_be_around(self.root, self._environment)

    @cached_property
    def disk(self) -> Disk:
        """The files themselves, which remember questions for stamps."""
        return Disk(self.root)

    @cached_property
    def governing(self) -> Governing:
        """Return the finder of policies."""
        from bae_source.engine.approving.governing import Governing  # 5 ms, where there may be one

        return Governing(self.root, self._environment)

    def hidden(self) -> Hidden:
        """Return the check of which files the caller may not read."""
        from bae_source.engine.approving.hiding import Hidden  # likewise

        return Hidden(self.governing, self.caller, self._known)

    def described(self, folders: Sequence[str]) -> tuple[list[str], list[Refused]]:
        """Return the tables of policies that are in force, each in a line, and why others are unknown.

        Parameters:
            folders: those below the root that have settings.
        """
        return self.governing.described(folders)

    def refusal_of(self, kind: Kind, name: str) -> Refused | None:
        """Return the refusal to read a setting, a distribution or a log now; None where it may be read."""
        return self.hidden().refusal_of(kind, name) if self.may_be_around else None

    def refusal_of_log(self, name: str, path: str) -> Refused | None:
        """Return the refusal to read a log now, by its name and its absolute path; None where it may."""
        found = self.refusal_of("logs", name)
        lead = f"{str(self.root).rstrip(os.sep)}{os.sep}"
        if found is not None or not path.startswith(lead):
            return found
        try:
            self.files().check(path[len(lead) :].replace(os.sep, "/"))
        except Refused as error:
            return error.altered(subject=name) if error.subject else error
        return None

    def staged(self, index: GitIndex) -> Staged:
        """Return the files of git's index as the caller may read them."""
        from bae_source.engine.approving.staged import VeiledStaged  # for the hook alone

        return VeiledStaged(index, self.hidden())


class Seen(Disk):
    """The files below a root, as a caller may read them; a guard of snapshots, too.

    Parameters:
        seeing: gives them out.
    """

    def __init__(self, seeing: Seeing) -> None:
        Disk.__init__(self, seeing.root)  # of which a part has its name besides
        self._seeing = seeing
        self._checked: set[str] = set()
        self._veiled: Veiled | None = self._veil() if seeing.may_be_around else None

    @property
    def hides(self) -> bool:
        """Return whether there may be a file that may not be read, as far as folders were looked at."""
        return self._veiled is not None and self._veiled.hidden.hides

    def take_settings(self, folders: Sequence[str]) -> bool:
        """Look at folders that have settings; say whether more is kept from the caller than before."""
        if self._veiled is not None:
            return self._veiled.take_settings(folders)
        if not any(may_be_in(f"{self.root}/{each}") for folder in folders for each in (*between(folder), folder)):
            return False
        self._veiled = self._veil()
        return self._veiled.take_settings(folders)

    def check(self, path: str) -> None:
        """Check that a file may be read.

        Raises:
            Refused: `forbidden` if not.
        """
        if self._veiled is None:
            new = [each for each in between(path) if each not in self._checked]
            self._checked.update(new)
            if any(may_be_in(f"{self.root}/{each}") for each in new):
                self._veiled = self._veil()
        if self._veiled is not None:
            self._veiled.check(path)

    def refusal_of(self, kind: Kind, name: str) -> Refused | None:
        """Return the refusal to read a setting, a distribution or a log; None where it may be read."""
        return None if self._veiled is None else self._veiled.hidden.refusal_of(kind, name)

    def keeps_back(self, text: str) -> bool:
        """Return whether what ran speaks of a place in a file that may not be read."""
        return self._veiled is not None and self._veiled.hidden.keeps_back(text)

    def read(self, path: str) -> bytes:
        """Return a file's content."""
        if path != GIT_INDEX:  # which says what is ignored, and is no file of the project
            self.check(path)
        return super().read(path)

    def read_stamped(self, path: str) -> tuple[bytes, Stamp]:
        """Return the content of a file that a walk found, and the stamp that belongs to it."""
        if self._veiled is not None:
            return self._veiled.read_stamped(path)
        return super().read_stamped(path)

    def glance(self, path: str, size: int) -> bytes:
        """Return the content of a file that a walk found with a size."""
        if self._veiled is not None:
            return self._veiled.glance(path, size)
        return super().glance(path, size)

    def stamp(self, path: str) -> Stamp | None:
        """Return the stamp of a file or a folder."""
        return super().stamp(path) if self._veiled is None else self._veiled.stamp(path)

    def stamps(self, paths: Sequence[str]) -> Mapping[str, Stamp]:
        """Return the stamps of some files and folders, by path."""
        return self._seeing.disk.stamps(paths) if self._veiled is None else self._veiled.stamps(paths)

    def _veil(self) -> Veiled:
        from bae_source.engine.approving.hiding import Veiled  # where there may be a policy

        return Veiled(self._seeing.disk, self._seeing.hidden())


@contextmanager
def called_by(who: Any) -> Iterator[None]:
    """Carry out what follows for a caller; None for the user."""
    before = _CALLER.set(who)
    try:
        yield
    finally:
        _CALLER.reset(before)


def caller(who: str | None, environment: Mapping[str, str]) -> str:
    """Return a caller's name: as given, else the user's, cut, with escapes for what is not seen."""
    return who or as_name(next(filter(None, map(environment.get, _NAMES)), "anonymous"))
