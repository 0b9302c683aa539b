"""The project's environment while it changes: which releases are in it now, and what they need of each other.

Invariants:
- what is there is read from its files each time, and nothing of it is imported or run;
- the project itself, installed in its own environment, counts for nothing: what it needs stands in pyproject.toml.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from msgspec import Struct
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_version
from packaging.version import InvalidVersion

from bae_source.model.plan import Release
from bae_source.resources.deps.declared import normalised
from bae_source.resources.deps.installed import (
    Environment,
    Installed,
    distributions_in,
    paths_of_record,
    records_in,
    releases,
)

_ADDRESS = "direct_url.json"
"""The file of a record that says that a distribution came from an address or a folder, and not from an index."""
_REQUESTED = "REQUESTED"
"""The file in a record that says so (PEP 376)."""


class Unmet(Struct, frozen=True, kw_only=True):
    """A need that a change would leave unmet.

    Parameters:
        name: of the distribution that is needed.
        clause: who needs which release of it.
    """

    name: str
    clause: str


class Site:
    """The folders of packages that an interpreter has.

    Parameters:
        python: the interpreter.
        version: of that, such as 3.12; "" where it is not known.
        folders: of its packages.
        own: name of the project.
        root: its folder.
    """

    def __init__(self, python: str, *, version: str, folders: Sequence[str], own: str, root: Path) -> None:
        self.python = python
        self.folders = tuple(dict.fromkeys(map(os.path.realpath, folders)))  # lib64 may be a link to lib
        self._version = version
        self._own = own
        self._root = root

    @cached_property
    def home(self) -> Path:
        """The folder of the environment, without links."""
        return Path(os.path.realpath(Path(self.python).parent.parent))

    @property
    def has_pip(self) -> bool:
        """True where its interpreter has pip."""
        return any((Path(folder) / "pip" / "__main__.py").is_file() for folder in self.folders)

    def versions(self) -> dict[str, str]:
        """Return the version of each distribution, by normalised name."""
        return {name: plain_version(version) for name, version in releases(self.folders).items()}

    def environment(self) -> Environment:
        """Return the distributions that are there now."""
        every = {each.name: each for folder in reversed(self.folders) for each in distributions_in(folder)}
        return Environment(folders=self.folders, distributions=every, python=self._version)

    def records(self, names: Collection[str]) -> Iterator[tuple[str, str]]:
        """Yield the folder of packages and the name in it of each record of some distributions."""
        for folder in self.folders:
            yield from ((folder, record) for record, name in records_in(folder) if name in names)

    @staticmethod
    def recorded(record: Path) -> Iterator[str]:
        """Yield the paths that a record lists, relative to the folder of packages, with those that leave it."""
        return paths_of_record(record)

    def direct(self, names: Collection[str]) -> list[str]:
        """Return those of some distributions that came from a folder or an address, and not from an index."""
        found = (each for each in self.records(names) if Path(*each, _ADDRESS).is_file())
        return sorted({normalised(record.partition("-")[0]) for _, record in found})

    def requested(self, names: Collection[str]) -> list[str]:
        """Return those of some distributions that were installed by themselves, and not for others (PEP 376)."""
        found = (each for each in self.records(names) if Path(*each, _REQUESTED).is_file())
        return sorted({normalised(record.partition("-")[0]) for _, record in found})

    def unrequest(self, names: Collection[str]) -> None:
        """Note of some distributions that they were installed for others, which installers of pins cannot know."""
        for each in self.records(names):
            Path(*each, _REQUESTED).unlink(missing_ok=True)

    def changes(self, before: Mapping[str, str]) -> tuple[Release, ...]:
        """Return the changes since it had other versions."""
        now = self.versions()
        names = sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
        return tuple(Release(name=name, before=before.get(name), after=now.get(name)) for name in names)

    def unmet(self, changes: Sequence[Release], declared: Iterable[str] = ()) -> Iterator[Unmet]:
        """Yield the needs of distributions that changes would leave unmet, and that are met now.

        Parameters:
            declared: requirements of the project, of which the extras count.
        """
        before = self.versions()
        after = {**before, **{each.name: each.after for each in changes}}
        for name, need in self._needs(declared):
            if after[name] != before[name]:
                continue  # it goes, or its needs are those of another version
            needed = normalised(need.name)
            if _meets(need, before.get(needed)) and not _meets(need, after.get(needed)):
                yield Unmet(name=needed, clause=f"{name} {before[name]} needs {need}")

    def lacking(self, names: Collection[str], declared: Iterable[str] = ()) -> Iterator[str]:
        """Yield, as clauses, the needs of some distributions that are unmet now."""
        there = self.versions()
        for name, need in self._needs(declared):
            if name in names and not _meets(need, there.get(normalised(need.name))):
                yield f"{name} {there[name]} needs {need}"

    def needs(self, declared: Iterable[str] = ()) -> dict[str, set[str]]:
        """Return the distributions that each one needs, with the extras that it is wanted with."""
        found: dict[str, set[str]] = {}
        for name, need in self._needs(declared):
            found.setdefault(name, set()).add(normalised(need.name))
        return found

    def _needs(self, declared: Iterable[str]) -> Iterator[tuple[str, Requirement]]:
        """Yield the requirements of each installed distribution that count here.

        alpha[x] is declared, alpha needs beta, with its extra x gamma[y]      alpha: beta, gamma; gamma: what y brings
        """
        here = self.environment()
        every = here.distributions.items()
        lines = {name: list(_parsed(each.requires)) for name, each in every if not self._is_own(each)}
        extras: dict[str, set[str]] = {}
        waiting = list(_parsed(declared))
        waiting += (need for several in lines.values() for need in several if here.applies(str(need.marker or "")))
        while waiting:  # an extra may bring what has extras in turn
            one = waiting.pop()
            name, new = normalised(one.name), {normalised(each) for each in one.extras}
            if new := new - extras.setdefault(name, set()):
                extras[name] |= new
                waiting += (need for need in lines.get(name, ()) if here.applies(str(need.marker or ""), new))
        for name, several in lines.items():
            for need in several:
                if here.applies(str(need.marker or ""), extras.get(name, ())):
                    yield name, need

    def _is_own(self, one: Installed) -> bool:
        """Return whether a distribution is the project, or another one that lies in its folder."""
        return one.name == self._own or (bool(one.editable) and Path(one.editable).is_relative_to(self._root))


def plain_version(version: str) -> str:
    """Return a version in the one spelling of it (PEP 440); as it is where it has none."""
    return str(canonicalize_version(version, strip_trailing_zero=False))


def _parsed(lines: Iterable[str]) -> Iterator[Requirement]:
    for line in lines:
        try:
            yield Requirement(line)
        except InvalidRequirement:
            continue


def _meets(need: Requirement, version: str | None) -> bool:
    try:
        return version is not None and need.specifier.contains(version, prereleases=True)
    except InvalidVersion:
        return False
