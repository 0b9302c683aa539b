"""The installed package: where it lies, which of its modules nothing here changes, and why it cannot be written.

    /env/lib/python3.11/site-packages/bae_source      names begin with `bae_source.`; nothing beside it is in reach
    /home/me/checkout/bae_source                      likewise, of a checkout or an editable install

Invariants:
- only what the package's own folder holds is ever a file of it;
- of a package in an archive a copy is read, in the user's own state folder, and nothing is changed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from msgspec import Struct

from bae_source import errors
from bae_source.errors import Refused
from bae_source.model.text import listed
from bae_source.state.binding import UserState, owned
from bae_source.system.hashing import sha256

NAME = "bae_source"
_PACKAGES = ("approval", "adapters/deciding", "adapters/web", "engine/approving", "engine/meta", "state", "transaction")
_MODULES = ("engine/changing", "engine/making", "engine/travelling")
PROTECTED = (*(f"{NAME}/{each}/" for each in (*_PACKAGES, *_MODULES)), *(f"{NAME}/{each}.py" for each in _MODULES))
"""Beginnings of paths that no change of the engine reaches.

`engine/meta` judges a change of the engine, `approval` and `engine/approving` decide which change waits for a person,
whom `adapters/deciding` asks, and through the modules every change comes to them; `state` tells whose state is
believed, and by `transaction` every change is written, recovered and taken back: with these as they were
installed, `meta undo` has what it needs, and no change has taken away what it was to be judged by. The rest of the way
back is tried by the smoke check.
"""


class Installation(Struct, frozen=True, kw_only=True):
    """An installed package.

    Parameters:
        root: the folder above the package.
        archive: the file that it runs from, where that is no folder; it cannot be changed then.
    """

    root: Path
    archive: str = ""

    @property
    def package(self) -> Path:
        """The package's folder."""
        return self.root / NAME

    def check(self, paths: Iterable[str]) -> None:
        """Check that files may be changed.

        Parameters:
            paths: relative to the root.

        Raises:
            Refused: `forbidden`, with the reason.
        """
        paths = tuple(paths)
        if self.archive:
            raise _unwritable("it runs from an archive", "Install it unpacked: pip install bae-source.")
        outside = [path for path in paths if not path.startswith(f"{NAME}/")]
        if outside:
            what = f"{listed(map(_dotted, outside), 3)} is not in {NAME}, which alone meta changes"
            raise Refused("forbidden", f"{what}.", unchanged=True, hints=[f"Names begin with {NAME}."])
        kept = [path for path in paths if path.lower().startswith(PROTECTED)]
        if kept:
            what = f"{listed(map(_dotted, kept), 3)} judges, protects or takes back such changes, and meta changes none"
            hints = ["Change it in a checkout of bae_source, as a project.", f"Protected are {_protected()}."]
            raise Refused("forbidden", f"{what} of it.", unchanged=True, hints=hints)
        for path in paths:
            self._check_file(self.root / path)

    def _check_file(self, file: Path) -> None:
        """Check that a file may be written, and every folder from it up to the package's."""
        for path in (file, *file.parents[: len(file.relative_to(self.root).parts) - 1]):
            if not os.path.lexists(path):
                continue
            if not owned(path):
                raise _unwritable("it belongs to another user", "Work as that user, or install bae_source as yours.")
            if not _may_write(path):
                raise _unwritable("its files are read-only", "Install bae_source where you may write.")


def installed(users: UserState) -> Installation:
    """Return the installation that this process runs.

    Parameters:
        users: where the copy of an archive is kept.

    Raises:
        Refused: `forbidden`, where its source cannot be read.
    """
    place = Path(os.path.realpath(Path(str(errors.__file__)).parent))
    if place.is_dir() and place.name == NAME:
        return Installation(root=place.parent)
    archive = place.parent
    if archive.is_file() and place.name == NAME:
        return Installation(root=_unpacked(archive, users), archive=str(archive))
    raise Refused("forbidden", f"The source of {NAME} lies in no folder of that name, so meta cannot read it.")


def _unpacked(archive: Path, users: UserState) -> Path:
    """Return a folder with the package of an archive, as it was when it was unpacked.

    Raises:
        Refused: `forbidden`, where that cannot be.
    """
    try:
        status = archive.stat()
        name = sha256(f"{archive}\0{status.st_mtime_ns}\0{status.st_size}".encode())[:16]
        target = users.make("archives") / name
        if not target.is_dir():
            unfinished = target.with_name(f"{name}.{os.getpid()}")
            with ZipFile(archive) as packed:
                packed.extractall(unfinished, [each for each in packed.namelist() if each.startswith(f"{NAME}/")])
            unfinished.rename(target)
    except (OSError, BadZipFile) as error:
        reason = getattr(error, "strerror", None) or "it is damaged"
        raise Refused("forbidden", f"The archive that {NAME} runs from cannot be read: {reason}.") from None
    return target


def _may_write(path: Path) -> bool:
    """Return whether something may be written by this user, and is to be; of files that are read-only root may, too."""
    return os.access(path, os.W_OK) and bool(path.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))


def _unwritable(reason: str, hint: str) -> Refused:
    return Refused(
        "forbidden",
        f"This installation of {NAME} cannot be changed: {reason}.",
        unchanged=True,
        hints=[hint, "meta read and all that asks works all the same."],
    )


def _dotted(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _protected() -> str:
    return listed(f"{NAME}.{path.replace('/', '.')}" for path in (*_PACKAGES, *_MODULES))
