"""The project's environment: the distributions in it, read from their metadata, and what they need of each other.

Invariant: nothing of it is imported or run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import Distribution, MetadataPathFinder, distributions
from pathlib import Path

from packaging.markers import default_environment
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from bae_source.model.plan import Release


class Environment:
    """An environment.

    Parameters:
        python: its interpreter.
        version: of that, such as 3.12.4; empty where it is not known.
        folders: of its installed packages.
    """

    def __init__(self, python: str, *, version: str, folders: Sequence[str]) -> None:
        self.python = python
        self.folders = tuple(folders)
        self._version = version

    @property
    def has_pip(self) -> bool:
        """Whether its interpreter has pip."""
        return any((Path(folder) / "pip" / "__main__.py").is_file() for folder in self.folders)

    def versions(self) -> Mapping[str, str]:
        """Return the version of each distribution, by normalised name, as it is now."""
        return {name: found.version for name, found in self._found().items()}

    def files(self, name: str) -> list[Path]:
        """Return the files that a distribution's `RECORD` lists; none where it is not there."""
        found = self._found().get(name)
        return [] if found is None else [Path(str(found.locate_file(each))) for each in found.files or ()]

    def changes(self, before: Mapping[str, str]) -> tuple[Release, ...]:
        """Return what changed since it had other versions."""
        now = self.versions()
        names = sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
        return tuple(Release(name=name, before=before.get(name), after=now.get(name)) for name in names)

    def unmet(self, releases: Sequence[Release]) -> Iterator[str]:
        """Yield, as clauses, the needs of distributions that releases would leave unmet, and that are met now."""
        before = self.versions()
        after = {**before, **{each.name: each.after for each in releases}}
        for name, found in self._found().items():
            if after[name] != found.version:
                continue  # it goes, or its needs are those of another version
            for need in self._needs(found):
                needed = canonicalize_name(need.name)
                if _meets(need, before.get(needed)) and not _meets(need, after.get(needed)):
                    yield f"{name} {found.version} needs {need}"

    def needed_by(self, name: str) -> list[str]:
        """Return the distributions that need one."""
        return [
            other
            for other, found in self._found().items()
            if other != name and any(canonicalize_name(need.name) == name for need in self._needs(found))
        ]

    def needs(self, name: str) -> list[str]:
        """Return the distributions that one needs, extras aside."""
        found = self._found().get(name)
        return [] if found is None else [canonicalize_name(need.name) for need in self._needs(found)]

    def _found(self) -> dict[str, Distribution]:
        MetadataPathFinder.invalidate_caches()
        found: dict[str, Distribution] = {}
        for each in distributions(path=list(self.folders)):
            if each.metadata is not None and each.metadata["Name"]:
                found.setdefault(canonicalize_name(each.metadata["Name"]), each)
        return found

    def _needs(self, found: Distribution) -> Iterator[Requirement]:
        version = {"python_full_version": self._version, "python_version": ".".join(self._version.split(".")[:2])}
        markers = {**default_environment(), **(version if self._version else {}), "extra": ""}
        for line in found.requires or ():
            try:
                need = Requirement(line)
            except InvalidRequirement:
                continue
            if need.marker is None or need.marker.evaluate(markers):
                yield need


def _meets(need: Requirement, version: str | None) -> bool:
    return version is not None and need.specifier.contains(version, prereleases=True)
