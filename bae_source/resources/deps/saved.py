"""The files of some distributions as they are, kept aside while an installer changes them, and put back from there.

    Saved.of(site, ["alpha", "beta"], folder)      alpha 1.0 is there, beta is not
    …                                              an installer brings alpha 2.0 and beta 1.0, or is killed on its way
    saved.restore()                                alpha 1.0 is there, byte by byte, and beta is not

No index is needed for it, and nothing is built or run. What goes is what the distributions consist of by then, and what
came since and belongs to no distribution, as an installer that was killed leaves it. What came since with another
distribution stays.

Invariants:
- nothing outside of the environment's own folder is kept, put back or taken out, whatever a RECORD says;
- files are linked, where that can be, since installers replace files and never write into them.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.json import decode, encode

from bae_source.resources.deps.environment import Site
from bae_source.system.own_files import content_of, replace_durably

_FILES, _FACTS = "files", "facts.json"


class Facts(Struct, frozen=True, kw_only=True):
    """Facts on an environment, as they are written down beside the files.

    Parameters:
        names: of the distributions that are kept, or were not there.
        kept: paths of their files, relative to the environment's folder.
        there: paths of all files in its folders of packages.
        note: of the caller, for who finds it.
    """

    names: tuple[str, ...]
    kept: tuple[str, ...]
    there: tuple[str, ...]
    note: Mapping[str, str | None]


class Saved:
    """Distributions of an environment, kept in a folder.

    Parameters:
        site: the environment.
        folder: where it is kept.

    Attributes:
        facts: what was written down.
    """

    def __init__(self, site: Site, folder: Path, facts: Facts) -> None:
        self.facts = facts
        self._site = site
        self._folder = folder

    @classmethod
    def of(cls, site: Site, names: Collection[str], folder: Path, note: Mapping[str, str | None]) -> Saved:
        """Keep distributions as they are now.

        Raises:
            OSError: they cannot be kept.
        """
        folder.mkdir(parents=True, exist_ok=True)
        kept = sorted(_files_of(site, names))
        for path in kept:
            target = folder / _FILES / path
            target.parent.mkdir(parents=True, exist_ok=True)
            _link(site.home / path, target)
        facts = Facts(names=tuple(names), kept=tuple(kept), there=tuple(sorted(_files_in(site))), note=note)
        replace_durably(folder / _FACTS, folder / f"{_FACTS}.new", encode(facts))  # last: without it nothing is kept
        return cls(site, folder, facts)

    @classmethod
    def left_in(cls, site: Site, folder: Path) -> Saved | None:
        """Return the files that a dead process kept in a folder; None where it had not kept everything yet."""
        try:
            return cls(site, folder, decode(content_of(folder / _FACTS), type=Facts))
        except (OSError, ValueError):
            return None

    def restore(self) -> None:
        """Have the environment hold the distributions as they were.

        Raises:
            OSError: it could not be done.
        """
        kept = set(self.facts.kept)
        came = _files_in(self._site) - set(self.facts.there) - self._of_others()
        gone = (came | set(_files_of(self._site, self.facts.names))) - kept
        for path in gone:
            (self._site.home / path).unlink(missing_ok=True)
        for folder in sorted({parent for path in gone for parent in Path(path).parents}, key=str, reverse=True):
            with suppress(OSError):  # something is in it
                (self._site.home / folder).rmdir()
        for path in kept:
            target = self._site.home / path
            target.parent.mkdir(parents=True, exist_ok=True)
            _link(self._folder / _FILES / path, target)

    def forget(self) -> None:
        """Keep nothing any more."""
        (self._folder / _FACTS).unlink(missing_ok=True)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _of_others(self) -> set[str]:
        """Return the files of the other distributions that are there."""
        others = self._site.versions().keys() - set(self.facts.names)
        return set(_files_of(self._site, others))


def _files_of(site: Site, names: Collection[str]) -> Iterator[str]:
    """Yield the files of distributions that lie in the environment's folder, relative to that."""
    for folder, record in site.records(names):
        own = Path(folder, record)
        listed = [record, *site.recorded(own), *(str(each) for each in own.rglob("*") if not each.is_dir())]
        for path in listed:
            relative = _relative(site.home, os.path.normpath(os.path.join(folder, path)))  # noqa: PTH118 - as text
            if relative and os.path.lexists(site.home / relative) and not (site.home / relative).is_dir():
                yield relative


def _files_in(site: Site) -> set[str]:
    """Return the files in the folders of packages and programs, relative to the environment's folder."""
    found = set[str]()
    for top in (*site.folders, str(Path(site.python).parent)):
        for folder, _, names in os.walk(os.path.realpath(top)):
            relative = _relative(site.home, folder)
            found |= {f"{relative}/{name}" for name in names} if relative else set()
    return found


def _relative(home: Path, path: str) -> str:
    """Return a path relative to the environment's folder; "" for one that lies outside of it, links followed."""
    folder, _, name = path.rpartition(os.sep)
    real = os.path.join(os.path.realpath(folder), name)  # noqa: PTH118 - the file itself may be a link
    return os.path.relpath(real, home) if real.startswith(f"{home}{os.sep}") else ""


def _link(source: Path, target: Path) -> None:
    """Have one file be the other, as a link to the same bytes or a copy of them."""
    draft = target.with_name(f".{target.name}.bae-source")
    draft.unlink(missing_ok=True)
    try:
        os.link(source, draft, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, draft, follow_symlinks=False)
    os.replace(draft, target)  # noqa: PTH105
    draft.unlink(missing_ok=True)  # which stays where both are the same file already
