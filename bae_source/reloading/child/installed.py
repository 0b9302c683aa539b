"""The installed distributions, as they lie on the disk: nothing is imported, and no interpreter is run.

    own_requirements()                  what we need and what our extras bring, with the releases that are there
    installed("pytest", python)         its release for the project's interpreter
    version_of(program, …)              what a program of the system calls itself

Invariants:
- a program that lies inside the project is never run;
- of an environment only names are read, and the beginning of its `pyvenv.cfg`, if that is a regular file.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from bae_source.system.own_files import beginning_of
from bae_source.system.own_path import own_path

_OURS = "bae-source"
_DEVELOPING = ("dev", "test")
_SECONDS = 5.0
_LONGEST_SETTINGS = 1 << 16
"""Bytes that are read of a `pyvenv.cfg`."""
_ENDING = ".dist-info"
_PACKAGES = ("lib/python*/site-packages", "lib64/python*/site-packages", "Lib/site-packages")


class Required(Struct, frozen=True, kw_only=True):
    """Something that we need, or that an extra of ours brings.

    Parameters:
        name: of the distribution.
        wanted: which releases, as written: `>=1.8`.
        extra: which extra brings it; empty for what is always needed.
        found: the release that is installed; None for none.
        fits: whether that is one of those that are wanted.
    """

    name: str
    wanted: str
    extra: str = ""
    found: str | None = None
    fits: bool = False


def own_requirements() -> tuple[Required, ...] | None:
    """Return our requirements and those of our extras, but for development; None if run from a bare checkout."""
    from importlib.metadata import Distribution  # 20 ms, which only callers of this pay

    from packaging.requirements import Requirement  # 40 ms, likewise

    ours = next(iter(Distribution.discover(name=_OURS, path=own_path())), None)
    if ours is None:
        return None
    extras = [each for each in ours.metadata.get_all("Provides-Extra") or () if each not in _DEVELOPING]
    found = []
    for line in ours.requires or ():
        wanted = Requirement(line)
        extra = _extra(wanted, extras)
        if extra is None:
            continue
        release = _release(wanted.name)
        fits = release is not None and wanted.specifier.contains(release, prereleases=True)
        found.append(Required(name=wanted.name, wanted=str(wanted.specifier), extra=extra, found=release, fits=fits))
    return tuple(found)


def installed(name: str, python: str) -> tuple[str | None, bool]:
    """Return the release of a distribution that an interpreter would import, and whether that is known.

    Parameters:
        name: of the distribution.
        python: the interpreter's absolute path; other than a virtual environment's, or ours, it would have to be run.
    """
    if python == sys.executable:
        return _release(name), True
    home = Path(python).parent.parent
    settings = environment_settings(home)
    if settings is None:
        return None, False
    release = next(
        filter(None, (_release_in(each, name) for pattern in _PACKAGES for each in home.glob(pattern))), None
    )
    return release, release is not None or settings.get("include-system-site-packages", "").lower() != "true"


def package_folders(python: str) -> tuple[str, ...]:
    """Return the folders in which an interpreter finds installed packages, as far as the disk tells.

    Parameters:
        python: its absolute path.
    """
    if python == sys.executable:
        return tuple(each for each in sys.path if each.endswith(("site-packages", "dist-packages")))
    home = Path(python).parent.parent
    return tuple(str(each) for pattern in _PACKAGES for each in home.glob(pattern))


def python_version(python: str) -> str:
    """Return the version of an interpreter, as its virtual environment has it; empty where that is unknown.

    Parameters:
        python: its absolute path.
    """
    if python == sys.executable:
        return ".".join(map(str, sys.version_info[:3]))
    settings = environment_settings(Path(python).parent.parent) or {}
    return ".".join((settings.get("version") or settings.get("version_info") or "").split(".")[:3])


def environment_settings(home: Path) -> Mapping[str, str] | None:
    """Return the `pyvenv.cfg` of a folder; None where there is none, and so no virtual environment."""
    try:
        text = beginning_of(home / "pyvenv.cfg", _LONGEST_SETTINGS).decode("utf-8", "replace")
    except OSError:
        return None
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def version_of(program: str, *, root: Path, environment: Mapping[str, str]) -> str:
    """Return the first line that a program answers to `--version`; why not, where it gives none.

    Parameters:
        program: its path.
        root: the project's folder; what lies in it is not run.
    """
    if Path(os.path.realpath(program)).is_relative_to(root):
        return "not asked, since it lies in the project"
    from bae_source.system.child import CannotStart, run, scrubbed  # 5 ms, which only who starts a program pays

    try:
        done = run([program, "--version"], folder=Path("/"), environment=scrubbed(environment), time_limit=_SECONDS)
    except CannotStart as error:
        return f"cannot be started: {error}"
    if done.timed_out:
        return f"does not answer within {_SECONDS:g} seconds"
    lines = done.output.decode("utf-8", "replace").strip().splitlines()
    return lines[0] if lines and not done.status else f"fails with status {done.status}"


def _extra(wanted: Any, extras: Iterable[str]) -> str | None:
    """Return the extra that a requirement is of, "" for none; None if it is of no concern here."""
    if wanted.marker is None or wanted.marker.evaluate({"extra": ""}):
        return ""
    return next((extra for extra in extras if wanted.marker.evaluate({"extra": extra})), None)


def _release(name: str) -> str | None:
    """Return the release that this process would import."""
    from importlib.metadata import Distribution  # as above

    found = next(iter(Distribution.discover(name=name, path=own_path())), None)
    return None if found is None else found.version


def _release_in(packages: Path, name: str) -> str | None:
    """Return the release of which a folder of packages holds the record, by the record's name alone."""
    try:
        records = [each.stem for each in packages.iterdir() if each.suffix == _ENDING]
    except OSError:
        return None
    releases = {_normal(found): release for found, _, release in (each.partition("-") for each in records)}
    return releases.get(_normal(name))


def _normal(name: str) -> str:
    """Return a distribution's name in normalised spelling."""
    return re.sub(r"[-_.]+", "-", name).lower()
