"""The project's environment while it changes: which releases are in it now, and what they need of each other.

Invariant: what is there is read from its files each time, and nothing of it is imported or run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion

from bae_source.model.plan import Release
from bae_source.resources.deps.declared import normalised
from bae_source.resources.deps.installed import Environment, distributions_in, releases


class Site:
    """The folders of packages that an interpreter has.

    Parameters:
        python: the interpreter.
        version: of that, such as 3.12; "" where it is not known.
        folders: of its packages.
    """

    def __init__(self, python: str, *, version: str, folders: Sequence[str]) -> None:
        self.python = python
        self.folders = tuple(folders)
        self._version = version

    @property
    def has_pip(self) -> bool:
        """Whether its interpreter has pip."""
        return any((Path(folder) / "pip" / "__main__.py").is_file() for folder in self.folders)

    def versions(self) -> dict[str, str]:
        """Return the version of each distribution, by normalised name."""
        return releases(self.folders)

    def changes(self, before: Mapping[str, str]) -> tuple[Release, ...]:
        """Return what changed since it had other versions."""
        now = self.versions()
        names = sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
        return tuple(Release(name=name, before=before.get(name), after=now.get(name)) for name in names)

    def unmet(self, changes: Sequence[Release]) -> Iterator[str]:
        """Yield, as clauses, the needs of distributions that changes would leave unmet, and that are met now."""
        before = self.versions()
        after = {**before, **{each.name: each.after for each in changes}}
        for name, need in self._needs():
            if after[name] != before[name]:
                continue  # it goes, or its needs are those of another version
            needed = normalised(need.name)
            if _meets(need, before.get(needed)) and not _meets(need, after.get(needed)):
                yield f"{name} {before[name]} needs {need}"

    def needs(self) -> dict[str, set[str]]:
        """Return the distributions that each one needs, extras aside."""
        found: dict[str, set[str]] = {}
        for name, need in self._needs():
            found.setdefault(name, set()).add(normalised(need.name))
        return found

    def _needs(self) -> Iterator[tuple[str, Requirement]]:
        """Yield what each distribution that is there needs here."""
        found = {each.name: each for folder in reversed(self.folders) for each in distributions_in(folder)}
        here = Environment(folders=self.folders, python=self._version)
        for each in found.values():
            for line in each.requires:
                try:
                    need = Requirement(line)
                except InvalidRequirement:
                    continue
                if here.applies(str(need.marker or "")):
                    yield each.name, need


def _meets(need: Requirement, version: str | None) -> bool:
    try:
        return version is not None and need.specifier.contains(version, prereleases=True)
    except InvalidVersion:
        return False
